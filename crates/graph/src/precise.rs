//! What a precise index says about the references of a file, brought to our own terms.
//!
//! Kept beside the facts of a file and dropped with them when the file changes. A target is kept by
//! its path and name, so it may move inside its file; where it is gone, the resolver finds what it can.

use std::collections::{HashMap, HashSet};

use crate::facts::{Facts, Pos, Reader, Writer};
use crate::graph::Graph;
use crate::scip::{Occurrence, ScipFile};
use crate::world::FileId;

/// What is known of some references of one file, by place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Precise {
    /// Sorted by place.
    sites: Vec<(Pos, Option<u32>)>,
    pub(crate) symbols: Vec<Symbol>,
}

/// A definition by name. Several may share one: `nth` counts them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Symbol {
    pub(crate) path: Box<str>,
    pub(crate) name: Box<str>,
    pub(crate) nth: u32,
}

/// What became of the files of a precise index.
#[derive(Debug, Default)]
pub struct Fitted {
    pub files: Vec<(FileId, Precise)>,
    /// Files that are not what they were when the index was made.
    pub stale: Vec<String>,
    /// Files that the graph does not have.
    pub n_unknown: usize,
}

impl Precise {
    pub fn len(&self) -> usize {
        self.sites.len()
    }

    pub fn is_empty(&self) -> bool {
        self.sites.is_empty()
    }

    /// What stands at a place: a symbol, or `Some(None)` for what is none of ours.
    #[expect(clippy::option_option, reason = "nothing is known, and known to be nothing of ours")]
    pub(crate) fn at(&self, at: Pos) -> Option<Option<u32>> {
        self.sites.binary_search_by_key(&at, |it| it.0).ok().map(|it| self.sites[it].1)
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut to = Writer::default();
        to.size(self.symbols.len());
        for it in &self.symbols {
            to.text(&it.path);
            to.text(&it.name);
            to.small(it.nth);
        }
        to.size(self.sites.len());
        for (at, symbol) in &self.sites {
            to.small(at.line);
            to.small(at.column);
            to.maybe(*symbol);
        }
        to.0
    }

    /// `None` for bytes that nobody wrote so.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut from = Reader(bytes);
        let mut res = Self::default();
        for _ in 0..from.size()? {
            let (path, name) = (from.text()?.into(), from.text()?.into());
            res.symbols.push(Symbol { path, name, nth: from.small()? });
        }
        for _ in 0..from.size()? {
            let at = Pos { line: from.small()?, column: from.small()? };
            let symbol = from.maybe()?;
            if symbol.is_some_and(|it| it as usize >= res.symbols.len()) {
                return None;
            }
            res.sites.push((at, symbol));
        }
        (from.0.is_empty() && res.sites.is_sorted_by_key(|it| it.0)).then_some(res)
    }
}

/// Of the named places of a file, so many in a hundred must bear their names: definitions, and all.
const DEFINITIONS: usize = 95;
const ALL: usize = 70;

/// One file of the index that is still what it was.
struct Fresh<'a> {
    id: FileId,
    /// With columns in bytes.
    places: Vec<(Pos, &'a Occurrence<'a>)>,
}

/// Fits a precise index to the graph. `text` gives what was read of a file, or nothing if that is not
/// to be had any more.
pub fn fit(
    graph: &Graph,
    index: &[ScipFile<'_>],
    text: &dyn Fn(FileId, &str) -> Option<Vec<u8>>,
) -> Fitted {
    let mut res = Fitted::default();
    let mut fresh = Vec::new();
    // Definitions by symbol; those inside functions by their file, too.
    let mut defined: HashMap<(Option<FileId>, &str), Symbol> = HashMap::new();
    let mut known: HashSet<&str> = HashSet::new();
    for file in index {
        known.extend(file.occurrences.iter().filter(|it| it.is_definition).map(|it| it.symbol));
        let Some((id, facts)) = graph.id(&file.path).and_then(|id| Some((id, graph.facts(id)?)))
        else {
            res.n_unknown += 1;
            continue;
        };
        let Some(places) = text(id, &file.path).and_then(|it| placed(file, &it)) else {
            res.stale.push(file.path.clone());
            continue;
        };
        let mut symbols = symbols(&facts, &file.path);
        for (at, it) in places.iter().filter(|it| it.1.is_definition) {
            if let Some(symbol) = symbols.remove(at) {
                let whose = is_local(it.symbol).then_some(id);
                defined.entry((whose, it.symbol)).or_insert(symbol);
            }
        }
        fresh.push(Fresh { id, places });
    }
    res.files = fresh.iter().map(|it| (it.id, said(it, &defined, &known))).collect();
    res
}

/// The occurrences of a file with their columns in bytes; `None` if they are of another text.
fn placed<'a>(file: &'a ScipFile<'a>, text: &[u8]) -> Option<Vec<(Pos, &'a Occurrence<'a>)>> {
    let lines: Vec<&[u8]> = text.split(|it| *it == b'\n').collect();
    let mut res = Vec::with_capacity(file.occurrences.len());
    let mut share = [(0, 0); 2];
    for it in &file.occurrences {
        let line = lines.get(it.line as usize).copied();
        let column = line.and_then(|line| file.encoding.bytes(line, it.column));
        let is_right = name_of(it.symbol).map(|name| {
            line.zip(column)
                .is_some_and(|(line, at)| line[at as usize..].starts_with(name.as_bytes()))
        });
        for (of, counts) in [(0, it.is_definition), (1, true)] {
            if let Some(is_right) = is_right.filter(|_| counts) {
                share[of].0 += usize::from(is_right);
                share[of].1 += 1;
            }
        }
        if let Some(column) = column {
            res.push((Pos { line: it.line, column }, it));
        }
    }
    let [definitions, all] = share;
    let fits = definitions.0 * 100 >= definitions.1 * DEFINITIONS && all.0 * 100 >= all.1 * ALL;
    fits.then_some(res)
}

fn said<'a>(
    file: &Fresh<'a>,
    defined: &HashMap<(Option<FileId>, &'a str), Symbol>,
    known: &HashSet<&str>,
) -> Precise {
    let mut sites: HashMap<Pos, Option<&Symbol>> = HashMap::new();
    let of = |symbol| defined.get(&(is_local(symbol).then_some(file.id), symbol));
    for (at, it) in file.places.iter().filter(|it| !it.1.is_definition) {
        // A constructor stands for its class.
        let class = it.symbol.strip_suffix("`<constructor>`().");
        let class = class.or_else(|| it.symbol.strip_suffix("__init__()."));
        match class.and_then(of).or_else(|| of(it.symbol)) {
            Some(symbol) => _ = sites.insert(*at, Some(symbol)),
            // It is defined in a file that changed since, or as something that is no symbol of ours:
            // in the first case nothing is known.
            None if known.contains(it.symbol) && !is_local(it.symbol) => {}
            None => _ = sites.entry(*at).or_insert(None),
        }
    }
    let mut res = Precise::default();
    let mut numbers: HashMap<&Symbol, u32> = HashMap::new();
    let mut places: Vec<(Pos, Option<&Symbol>)> = sites.into_iter().collect();
    places.sort_unstable();
    for (at, symbol) in places {
        let number = symbol.map(|it| {
            *numbers.entry(it).or_insert_with(|| {
                res.symbols.push(it.clone());
                crate::sketch::index(res.symbols.len() - 1)
            })
        });
        res.sites.push((at, number));
    }
    res
}

/// The definitions of a file by place.
fn symbols(facts: &Facts, path: &str) -> HashMap<Pos, Symbol> {
    let mut n_namesakes: HashMap<String, u32> = HashMap::new();
    let mut res = HashMap::with_capacity(facts.defs.len());
    for (def, it) in (0..).zip(&facts.defs) {
        let name = facts.qualified(def);
        let symbol = Symbol { path: path.into(), name: name.as_str().into(), nth: 0 };
        let count = n_namesakes.entry(name).or_default();
        // Of several at one place, the first is meant.
        res.entry(it.at).or_insert(Symbol { nth: *count, ..symbol });
        *count += 1;
    }
    res
}

/// The definitions of a qualified name, in their order.
pub(crate) fn namesakes<'a>(facts: &'a Facts, name: &'a str) -> impl Iterator<Item = u32> + 'a {
    let last = move |word: &str| {
        name.strip_suffix(word).is_some_and(|it| it.is_empty() || it.ends_with('.'))
    };
    (0_u32..)
        .zip(&facts.defs)
        .filter(move |it| last(facts.word(it.1.name)))
        .map(|it| it.0)
        .filter(move |it| facts.qualified(*it) == name)
}

/// Something inside a function, numbered file by file.
fn is_local(symbol: &str) -> bool {
    symbol.starts_with("local ")
}

/// The name that a symbol should bear in the text, if it has one that can be compared.
fn name_of(symbol: &str) -> Option<&str> {
    if is_local(symbol) {
        return None;
    }
    // Members of unnamed objects are numbered: `black0:`.
    let symbol = match symbol.strip_suffix(':') {
        Some(numbered) => numbered.trim_end_matches(|it: char| it.is_ascii_digit()),
        None => symbol,
    };
    let symbol = symbol.trim_end_matches(['.', '#', '/', '!']);
    let symbol = match symbol.strip_suffix(')') {
        Some(inner) => inner.rsplit_once('(')?.0,
        None => symbol,
    };
    let is_word = |it: char| it.is_alphanumeric() || it == '_' || it == '$';
    let start = symbol.rfind(|it| !is_word(it)).map_or(0, |it| it + 1);
    let name = symbol.get(start..)?;
    (!name.is_empty() && name != "__init__").then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_names_what_stands_in_the_text() {
        let names = [
            ("scip-typescript npm p 1 src/`a.ts`/run().", Some("run")),
            ("scip-typescript npm p 1 src/`a.ts`/Shape#area.", Some("area")),
            ("scip-typescript npm p 1 src/`a.ts`/black0:", Some("black")),
            ("scip-typescript npm p 1 src/`a.ts`/level12:", Some("level")),
            ("scip-typescript npm p 1 src/`a.ts`/", None),
            ("local 3", None),
        ];
        for (symbol, name) in names {
            assert_eq!(name_of(symbol), name, "{symbol}");
        }
    }
}
