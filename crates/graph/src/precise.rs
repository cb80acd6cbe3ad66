//! What a precise index says about the references of a file, brought to our own terms.
//!
//! Kept beside the facts of a file and dropped with them when the file changes. A target is kept by
//! its path and name, so it may move inside its file; where it is gone, the resolver finds what it can.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

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
const ALL: usize = 50;
/// And so many must bear their name or be some other whole word: what is imported may be called otherwise.
const WORDS: usize = 70;

/// Definitions by symbol, seen from a file and from anywhere. Some indexes give one symbol to things of
/// different programs, such as tests: from anywhere, nothing is known of it then.
type Defined<'a> = HashMap<(Option<FileId>, &'a str), Option<Symbol>>;

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
    let mut defined = Defined::new();
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
            let Some(symbol) = symbols.remove(at) else { continue };
            if !is_local(it.symbol) {
                let known =
                    defined.entry((None, it.symbol)).or_insert_with(|| Some(symbol.clone()));
                if known.as_ref().is_some_and(|it| it.path != symbol.path) {
                    *known = None;
                }
            }
            // Overloads share a symbol and a name; what shares a symbol only is something else.
            let known =
                defined.entry((Some(id), it.symbol)).or_insert_with(|| Some(symbol.clone()));
            if known.as_ref().is_some_and(|it| it.name != symbol.name) {
                *known = None;
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
    let mut share = [(0, 0, DEFINITIONS), (0, 0, ALL), (0, 0, WORDS)];
    for it in &file.occurrences {
        let line = lines.get(it.line as usize).copied();
        let column = line.and_then(|line| file.encoding.bytes(line, it.column));
        // What goes over several lines is a whole file, and bears no name there.
        if let Some(name) = name_of(it.symbol).filter(|_| it.end.is_some()) {
            let has_name = line
                .zip(column)
                .is_some_and(|(line, at)| line[at as usize..].starts_with(name.as_bytes()));
            let end = line.zip(it.end).and_then(|(line, end)| file.encoding.bytes(line, end));
            let place = column.zip(end).map(|it| it.0 as usize..it.1 as usize);
            let is_word = has_name || line.zip(place).is_some_and(|it| is_word(it.0, it.1));
            let rows = [(it.is_definition, has_name), (true, has_name), (true, is_word)];
            for (of, (_, is_right)) in rows.into_iter().enumerate().filter(|it| it.1.0) {
                share[of].0 += usize::from(is_right);
                share[of].1 += 1;
            }
        }
        if let Some(column) = column {
            res.push((Pos { line: it.line, column }, it));
        }
    }
    share.iter().all(|(right, of, least)| right * 100 >= of * least).then_some(res)
}

/// Whether a piece of a line is a word by itself.
fn is_word(line: &[u8], place: Range<usize>) -> bool {
    let in_word = |it: Option<&u8>| {
        it.is_some_and(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'$') || *it >= 0x80)
    };
    let before = place.start.checked_sub(1).and_then(|it| line.get(it));
    let inside = line.get(place.clone()).unwrap_or_default();
    let apart = !in_word(before) && !in_word(line.get(place.end));
    apart && !inside.is_empty() && inside.iter().all(|it| in_word(Some(it)))
}

fn said<'a>(file: &Fresh<'a>, defined: &Defined<'a>, known: &HashSet<&str>) -> Precise {
    let mut sites: HashMap<Pos, Option<&Symbol>> = HashMap::new();
    let of = |symbol: &'a str| {
        let anywhere = || defined.get(&(None, symbol)).filter(|_| !is_local(symbol));
        defined.get(&(Some(file.id), symbol)).or_else(anywhere)?.as_ref()
    };
    let tells = |it: &&(Pos, &Occurrence<'a>)| !it.1.is_definition && !is_self(it.1.symbol);
    for (at, it) in file.places.iter().filter(tells) {
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

/// `Self` in Rust: the block that implements something, which is nobody's symbol.
fn is_self(symbol: &str) -> bool {
    symbol.ends_with(']') && symbol.contains("impl#[")
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
            ("rust-analyzer cargo p 1 q/impl#[`Queue<T>`]new().", Some("new")),
            ("rust-analyzer cargo p 1 q/impl#[`Queue<T>`]", None),
            ("local 3", None),
        ];
        for (symbol, name) in names {
            assert_eq!(name_of(symbol), name, "{symbol}");
        }
    }

    fn occurrence(symbol: &str, line: u32, (column, end): (u32, u32)) -> Occurrence<'_> {
        Occurrence { line, column, end: Some(end), symbol, is_definition: false }
    }

    fn fits(text: &str, occurrences: &[Occurrence<'_>]) -> bool {
        let file = ScipFile { occurrences: occurrences.to_vec(), ..ScipFile::default() };
        placed(&file, text.as_bytes()).is_some()
    }

    #[test]
    fn what_is_imported_may_be_called_otherwise_and_what_was_edited_does_not_fit() {
        let text = "import Virgil from './a.woff2'\nexport const faces: Face[] = [Virgil]\n";
        let said = [
            occurrence("s vite 5 `client.d.ts`/src.", 0, (7, 13)),
            occurrence("s p 1 `Fonts.ts`/Face#", 1, (20, 24)),
            occurrence("s p 1 `b.ts`/faces.", 1, (13, 18)),
            occurrence("s vite 5 `client.d.ts`/src.", 1, (30, 36)),
        ];
        assert!(fits(text, &said));
        let whole =
            Occurrence { end: None, is_definition: true, ..occurrence("r p 1 crate/", 0, (0, 0)) };
        assert!(fits(text, &[&said[..], &[whole]].concat()));
        assert!(!fits(&format!("// edited\n{text}"), &said));
        assert!(!fits(&text.replace("faces", "all"), &said));
    }

    #[test]
    fn a_symbol_that_two_files_define_is_known_in_each_of_them_only() {
        let (one, two) = ("fn rt() {}\nfn a() { rt() }\n", "fn rt() {}\nfn b() { rt() }\n");
        let three = "fn c() { rt() }\n";
        let mut graph = Graph::default();
        let texts = [("one.rs", one), ("two.rs", two), ("three.rs", three)];
        let put = |it: &(&str, &str)| crate::Change::Put {
            path: it.0.to_owned(),
            facts: crate::extract(crate::language(it.0).unwrap(), it.0, it.1.as_bytes()),
        };
        graph.update(texts.iter().map(put).collect(), 1);
        let symbol = "rust-analyzer cargo p 1 rt().";
        let definition = Occurrence { is_definition: true, ..occurrence(symbol, 0, (3, 5)) };
        let file = |path: &str, occurrences| ScipFile {
            path: path.to_owned(),
            occurrences,
            ..ScipFile::default()
        };
        let index = [
            file("one.rs", vec![definition.clone(), occurrence(symbol, 1, (9, 11))]),
            file("two.rs", vec![definition, occurrence(symbol, 1, (9, 11))]),
            file("three.rs", vec![occurrence(symbol, 0, (9, 11))]),
        ];
        let text =
            |_, path: &str| texts.iter().find(|it| it.0 == path).map(|it| it.1.as_bytes().to_vec());
        let fitted = fit(&graph, &index, &text);
        let paths = |it: &Precise| it.symbols.iter().map(|it| it.path.to_string()).collect();
        let told: Vec<Vec<String>> = fitted.files.iter().map(|it| paths(&it.1)).collect();
        assert_eq!(told, [vec!["one.rs"], vec!["two.rs"], vec![]]);
    }
}
