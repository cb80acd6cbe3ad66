//! Who calls whom, against a precise index made by the language's own compiler.
//!
//! `waylore-eval graph --repo FOLDER --scip FILE` reads every call site of the files that the index
//! covers and compares where it leads with what the index says stands there.

mod sheet;

use std::collections::HashMap;
use std::path::Path;

use ::graph::{
    Change, DefKind, Flags, Graph, How, RefKind, ScipFile, Site, extract, language, read_scip,
};

/// A place in a file: line and column, the column in UTF-16.
type At = (u32, u32);

/// What the precise index says about a place.
#[derive(Clone, PartialEq, Eq)]
enum Truth {
    /// A symbol of the repository, by where it is defined.
    Own(String, At),
    /// A class whose constructor the index names, and that constructor.
    Constructor((String, At), (String, At)),
    Foreign,
    /// Something inside a function, which is nobody else's business: a parameter, a variable.
    Local(Option<At>),
}

#[derive(Default)]
struct Score {
    sites: usize,
    found: usize,
    right: usize,
    wrong: usize,
    /// Bound by us, while the index says nothing of the place.
    unjudged: usize,
}

impl Truth {
    /// What is meant by a name: a constructor that is called by its own name is itself.
    fn meant(&self, text: &[u8]) -> Self {
        match self {
            Self::Constructor(_, own) if text.starts_with(b"__init__") => {
                Self::Own(own.0.clone(), own.1)
            }
            Self::Constructor(class, _) => Self::Own(class.0.clone(), class.1),
            other => other.clone(),
        }
    }

    fn own(&self) -> Option<(&str, At)> {
        match self {
            Self::Own(path, at) => Some((path, *at)),
            _ => None,
        }
    }
}

impl Score {
    /// Adds a site; `counts` says whether it is one we ought to find.
    fn add(&mut self, said: Option<&Truth>, counts: bool, bound: Option<&BoundTo>) {
        let own = said.and_then(Truth::own);
        let ought = own.is_some() && counts;
        self.sites += usize::from(ought);
        let Some((path, at, _)) = bound else { return };
        match said {
            None => self.unjudged += 1,
            // Right, but of no interest: the index calls it local as well.
            Some(Truth::Local(Some(truly))) if truly == at => {}
            _ if own == Some((path.as_str(), *at)) => {
                self.right += 1;
                self.found += usize::from(ought);
            }
            _ => self.wrong += 1,
        }
    }

    fn line(&self, what: &str) -> String {
        let share = |part: usize, of: usize| part as f64 / of.max(1) as f64;
        format!(
            "{what:<34} precision {:.4}  recall {:.4}  ({} sites; {} right, {} wrong, {} not judged)",
            share(self.right, self.right + self.wrong),
            share(self.found, self.sites),
            self.sites,
            self.right,
            self.wrong,
            self.unjudged
        )
    }
}

pub(crate) fn run(_: &Path) -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let given = |name: &str| args.iter().skip_while(|it| *it != name).nth(1).cloned();
    if let (Some(repo), Some(n)) = (given("--repo"), given("--sheet")) {
        let (graph, texts) = read(Path::new(&repo));
        let seed = given("--seed").map_or(Ok(1), |it| it.parse())?;
        sheet::print(&graph, &texts, &given("--lang").unwrap_or_default(), n.parse()?, seed);
        return Ok(());
    }
    let (Some(repo), Some(scip)) = (given("--repo"), given("--scip")) else {
        println!("graph: skipped, there is no --repo FOLDER with a --scip FILE");
        return Ok(());
    };
    let samples = given("--show").and_then(|it| it.parse().ok()).unwrap_or(0);
    let bytes = std::fs::read(&scip)?;
    let index = read_scip(&bytes).ok_or_else(|| anyhow::anyhow!("`{scip}` is no SCIP index"))?;
    // Some tools write paths below the folder they were pointed at.
    let prefix = given("--prefix").unwrap_or_default();
    let mut index = index;
    for it in &mut index {
        it.path.insert_str(0, &prefix);
    }
    measure(Path::new(&repo), &index, samples);
    Ok(())
}

/// Reads a repository into a graph; the texts are needed to count columns.
fn read(repo: &Path) -> (Graph, HashMap<String, Vec<u8>>) {
    let walked = source::files(repo, &|it| language(it).is_some());
    let (mut changes, mut texts) = (Vec::new(), HashMap::new());
    for (path, _) in &walked.files {
        let (Some(lang), Ok(text)) = (language(path), source::contents(repo, path)) else {
            continue;
        };
        changes.push(Change::Put { path: path.clone(), facts: extract(lang, path, &text) });
        texts.insert(path.clone(), text);
    }
    println!("{} files read, {} passed over", changes.len(), walked.passed.len());
    let mut graph = Graph::default();
    graph.update(changes, 2);
    (graph, texts)
}

fn measure(repo: &Path, index: &[ScipFile<'_>], samples: usize) {
    let (graph, texts) = read(repo);
    let (mut sure, mut all, mut strict) = (Score::default(), Score::default(), Score::default());
    let (mut guessed, mut overload) = (Score::default(), Score::default());
    let mut shown = 0;
    for (path, truth) in truth(index, &texts) {
        let (Some(id), Some(text)) = (graph.id(&path), texts.get(&path)) else { continue };
        let lines: Vec<&[u8]> = text.split(|it| *it == b'\n').collect();
        let calls = |it: &Site| matches!(it.kind, RefKind::Call | RefKind::New);
        for site in graph.sites(id).into_iter().filter(calls) {
            let at = (site.at.line, utf16(&lines, site.at.line, site.at.column));
            let line = lines.get(at.0 as usize).copied().unwrap_or_default();
            let said = truth.get(&at).map(|it| it.meant(&line[site.at.column as usize..]));
            let bound = bound(&graph, &texts, &site, said.as_ref());
            let by = |how: How| bound.as_ref().filter(|it| it.2 == how);
            guessed.add(said.as_ref(), false, by(How::Unique));
            overload.add(said.as_ref(), false, by(How::Overload));
            let is_sure = |it: &&BoundTo| !matches!(it.2, How::Unique | How::Overload);
            let sure_bound = bound.as_ref().filter(is_sure);
            let own = said.as_ref().and_then(Truth::own);
            let callable = own.is_some_and(|it| is_callable(&graph, &texts, it.0, it.1));
            sure.add(said.as_ref(), callable, sure_bound);
            all.add(said.as_ref(), callable, bound.as_ref());
            strict.add(said.as_ref(), true, sure_bound);
            let is_fine = match (&said, sure_bound) {
                (Some(Truth::Local(Some(truly))), Some(it)) => it.1 == *truly,
                (Some(_), Some(it)) => own == Some((it.0.as_str(), it.1)),
                _ => !callable,
            };
            if !is_fine && shown < samples {
                shown += 1;
                let line = String::from_utf8_lossy(line);
                println!(
                    "{path}:{}:{} → {sure_bound:?}, truly {own:?}: {}",
                    at.0 + 1,
                    at.1 + 1,
                    line.trim()
                );
            }
        }
    }
    println!("{}", sure.line("functions, methods, types"));
    println!("{}", strict.line("any symbol of the repository"));
    println!("{}", all.line("with guesses"));
    for (what, it) in [("lone methods", guessed), ("undecided overloads, the first", overload)] {
        println!("{what}: {} right, {} wrong, {} not judged", it.right, it.wrong, it.unjudged);
    }
}

/// Where we say a call leads: path, place and how that was found.
type BoundTo = (String, At, How);

fn bound(
    graph: &Graph,
    texts: &HashMap<String, Vec<u8>>,
    site: &Site,
    said: Option<&Truth>,
) -> Option<BoundTo> {
    let (def, how) = site.to?;
    let facts = graph.facts(def.file)?;
    let it = &facts.defs[def.def as usize];
    let path = graph.path(def.file)?;
    let lines: Vec<&[u8]> = texts.get(path)?.split(|it| *it == b'\n').collect();
    // What stands inside a function is local to most indexes.
    let mut around = it.parent;
    while let Some(parent) = around {
        let parent = &facts.defs[parent as usize];
        let is_inside = parent.kind.is_callable() || parent.kind == DefKind::Test;
        if is_inside && !matches!(said, Some(Truth::Own(..))) {
            return None;
        }
        around = parent.parent;
    }
    Some((path.to_owned(), (it.at.line, utf16(&lines, it.at.line, it.at.column)), how))
}

/// Whether what is defined at a place is a function, a method or a class to us.
fn is_callable(graph: &Graph, texts: &HashMap<String, Vec<u8>>, path: &str, at: At) -> bool {
    let (Some(id), Some(text)) = (graph.id(path), texts.get(path)) else { return false };
    let Some(facts) = graph.facts(id) else { return false };
    let lines = [text.split(|it| *it == b'\n').nth(at.0 as usize).unwrap_or_default()];
    facts.defs.iter().any(|it| {
        it.at.line == at.0
            && utf16(&lines, 0, it.at.column) == at.1
            && (it.kind.is_callable()
                || it.kind == DefKind::Class
                || it.flags.has(Flags::CONSTRUCTOR))
    })
}

/// The index by place: what stands there, and where that is defined.
fn truth(
    index: &[ScipFile<'_>],
    texts: &HashMap<String, Vec<u8>>,
) -> Vec<(String, HashMap<At, Truth>)> {
    let mut defined: HashMap<&str, Vec<(&str, At)>> = HashMap::new();
    let mut local: HashMap<(&str, &str), At> = HashMap::new();
    for file in index {
        for it in
            file.occurrences.iter().filter(|it| it.is_definition && it.symbol.starts_with("local"))
        {
            local.entry((&file.path, it.symbol)).or_insert((it.line, it.column));
        }
        for it in
            file.occurrences.iter().filter(|it| it.is_definition && !it.symbol.starts_with("local"))
        {
            defined.entry(it.symbol).or_default().push((&file.path, (it.line, it.column)));
        }
    }
    let mut by_file = Vec::new();
    for file in index.iter().filter(|it| texts.contains_key(&it.path)) {
        let mut places: HashMap<At, Truth> = HashMap::new();
        for it in file.occurrences.iter().filter(|it| !it.is_definition) {
            let Some(said) = judge(it.symbol, &file.path, &defined) else { continue };
            let said = match said {
                Truth::Local(None) => {
                    Truth::Local(local.get(&(file.path.as_str(), it.symbol)).copied())
                }
                other => other,
            };
            let known = places.entry((it.line, it.column)).or_insert_with(|| said.clone());
            let is_own = |it: &Truth| matches!(it, Truth::Own(..) | Truth::Constructor(..));
            if is_own(&said) && !is_own(known) {
                *known = said;
            }
        }
        by_file.push((file.path.clone(), places));
    }
    by_file
}

/// What a symbol is, seen from a file. Several definitions are overloads, of which the first counts; but
/// `rust-analyzer` gives one symbol to things of different programs, such as tests: the one of the same file
/// is meant, if it is the only one there, else nothing is known.
fn judge(symbol: &str, from: &str, defined: &HashMap<&str, Vec<(&str, At)>>) -> Option<Truth> {
    let find = |symbol: &str| match defined.get(symbol)?.as_slice() {
        many if many.len() > 1 && symbol.starts_with("rust-analyzer") => {
            let mut own = many.iter().filter(|it| it.0 == from);
            let only = own.next().filter(|_| own.next().is_none());
            Some(only.copied().ok_or(()))
        }
        many => many.first().copied().map(Ok),
    };
    let is_parameter = symbol.ends_with(')') && symbol.contains('(') && !symbol.ends_with("().");
    if symbol.starts_with("local") || is_parameter {
        return Some(Truth::Local(find(symbol).and_then(Result::ok).map(|it| it.1)));
    }
    // `Self`, as what is implemented there; the type is not always in reach.
    if symbol.ends_with(']') && symbol.contains("impl#[") {
        return None;
    }
    let class =
        symbol.strip_suffix("`<constructor>`().").or_else(|| symbol.strip_suffix("__init__()."));
    let place = |it: (&str, At)| (it.0.to_owned(), it.1);
    match (class.and_then(find), find(symbol)) {
        (Some(Err(())), _) | (_, Some(Err(()))) => None,
        (Some(Ok(class)), Some(Ok(own))) => Some(Truth::Constructor(place(class), place(own))),
        (Some(Ok(it)), None) | (None, Some(Ok(it))) => Some(Truth::Own(it.0.to_owned(), it.1)),
        (None, None) => Some(Truth::Foreign),
    }
}

/// A column in bytes as one in UTF-16.
fn utf16(lines: &[&[u8]], line: u32, column: u32) -> u32 {
    let line = lines.get(line as usize).copied().unwrap_or_default();
    let before = &line[..line.len().min(column as usize)];
    if before.is_ascii() {
        return column;
    }
    u32::try_from(String::from_utf8_lossy(before).encode_utf16().count()).unwrap_or(column)
}
