//! Who calls whom, against a precise index made by the language's own compiler.
//!
//! `waylore-eval graph --repo FOLDER --scip FILE` reads every call site of the files that the index
//! covers and compares where it leads with what the index says stands there.

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use ::graph::{
    Change, DefKind, Flags, Graph, How, RefKind, ScipFile, extract, language, read_scip,
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
    n_truth: usize,
    n_found: usize,
    n_right: usize,
    n_wrong: usize,
    /// Bound by us, while the index says nothing of the place.
    n_unjudged: usize,
}

impl Score {
    fn line(&self, what: &str) -> String {
        let share = |part: usize, of: usize| part as f64 / of.max(1) as f64;
        format!(
            "{what:<34} precision {:.4}  recall {:.4}  ({} sites; {} right, {} wrong, {} not judged)",
            share(self.n_right, self.n_right + self.n_wrong),
            share(self.n_found, self.n_truth),
            self.n_truth,
            self.n_right,
            self.n_wrong,
            self.n_unjudged
        )
    }
}

pub(crate) fn run(_: &Path) -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let given = |name: &str| args.iter().skip_while(|it| *it != name).nth(1).cloned();
    let (Some(repo), Some(scip)) = (given("--repo"), given("--scip")) else {
        println!("graph: skipped, there is no --repo FOLDER with a --scip FILE");
        return Ok(());
    };
    let samples = given("--show").and_then(|it| it.parse().ok()).unwrap_or(0);
    let index = read_scip(&std::fs::read(&scip)?)
        .ok_or_else(|| anyhow::anyhow!("`{scip}` is no SCIP index"))?;
    // Some tools write paths below the folder they were pointed at.
    let prefix = given("--prefix").unwrap_or_default();
    let placed = |it: ScipFile| ScipFile { path: [prefix.as_str(), &it.path].concat(), ..it };
    let index: Vec<ScipFile> = index.into_iter().map(placed).collect();
    measure(Path::new(&repo), &index, samples);
    Ok(())
}

fn measure(repo: &Path, index: &[ScipFile], samples: usize) {
    let start = Instant::now();
    let walked = source::files(repo, &|it| language(it).is_some());
    let mut changes = Vec::new();
    let mut texts = HashMap::new();
    let mut passed = walked.passed.len();
    for (path, _) in &walked.files {
        let (Some(lang), Ok(text)) = (language(path), source::contents(repo, path)) else {
            passed += 1;
            continue;
        };
        changes.push(Change::Put { path: path.clone(), facts: extract(lang, path, &text) });
        texts.insert(path.clone(), text);
    }
    let n_files = changes.len();
    let read = start.elapsed();
    let mut graph = Graph::default();
    graph.update(changes, 2);
    println!(
        "{n_files} files, {passed} passed over; read in {read:.2?}, resolved in {:.2?}",
        start.elapsed() - read
    );
    let truth = truth(index, &texts);
    let mut sure = Score::default();
    let mut all = Score::default();
    let mut strict = Score::default();
    let mut shown = 0;
    for (path, truth_of_file) in &truth.by_file {
        let (Some(id), Some(text)) = (graph.id(path), texts.get(path)) else { continue };
        let lines: Vec<&[u8]> = text.split(|it| *it == b'\n').collect();
        for site in graph.sites(id) {
            if !matches!(site.kind, RefKind::Call | RefKind::New) {
                continue;
            }
            let at = (site.at.line, utf16(&lines, site.at.line, site.at.column));
            // A constructor that is called by its name is meant itself.
            let by_name = lines
                .get(at.0 as usize)
                .is_some_and(|it| it[site.at.column as usize..].starts_with(b"__init__"));
            let said = truth_of_file.get(&at).map(|it| match it {
                Truth::Constructor(class, _) if !by_name => Truth::Own(class.0.clone(), class.1),
                Truth::Constructor(_, own) => Truth::Own(own.0.clone(), own.1),
                other => other.clone(),
            });
            let said = said.as_ref();
            let bound = site.to.and_then(|(def, how)| {
                let facts = graph.facts(def.file)?;
                let it = &facts.defs[def.def as usize];
                let path = graph.path(def.file)?;
                let lines: Vec<&[u8]> = texts.get(path)?.split(|it| *it == b'\n').collect();
                let at = (it.at.line, utf16(&lines, it.at.line, it.at.column));
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
                Some((path.to_owned(), at, how))
            });
            let is_callable = |path: &str, at: At| truth.is_callable(&graph, &texts, path, at);
            let mut note = |score: &mut Score, counts: bool, bound: Option<&(String, At, How)>| {
                let own = match said {
                    Some(Truth::Own(path, at)) => Some((path, *at)),
                    _ => None,
                };
                let in_truth = own.filter(|_| counts);
                score.n_truth += usize::from(in_truth.is_some());
                let Some((path, at, _)) = bound else { return };
                match said {
                    None => score.n_unjudged += 1,
                    // Right, but of no interest: the index calls it local as well.
                    Some(Truth::Local(Some(truly))) if truly == at => {}
                    _ if own.is_some_and(|it| (it.0, it.1) == (path, *at)) => {
                        score.n_right += 1;
                        score.n_found += usize::from(in_truth.is_some());
                    }
                    _ => score.n_wrong += 1,
                }
            };
            let own = match said {
                Some(Truth::Own(path, at)) => Some((path.clone(), *at)),
                _ => None,
            };
            let callable = own.as_ref().is_some_and(|it| is_callable(&it.0, it.1));
            let is_sure = |it: &&(String, At, How)| it.2 != How::Unique;
            note(&mut sure, callable, bound.as_ref().filter(is_sure));
            note(&mut all, callable, bound.as_ref());
            note(&mut strict, own.is_some(), bound.as_ref().filter(is_sure));
            let sure_bound = bound.as_ref().filter(is_sure).map(|it| (it.0.clone(), it.1));
            let is_local = matches!((said, &sure_bound), (Some(Truth::Local(Some(truly))), Some(it)) if it.1 == *truly);
            let is_wrong = sure_bound.is_some() && said.is_some() && sure_bound != own && !is_local;
            let is_missed = own.is_some() && sure_bound.is_none() && (callable || samples > 1000);
            if (is_wrong || is_missed) && shown < samples {
                shown += 1;
                let line =
                    String::from_utf8_lossy(lines.get(at.0 as usize).copied().unwrap_or_default())
                        .trim()
                        .to_owned();
                let what = if is_wrong { "wrong" } else { "missed" };
                let how = bound.as_ref().map(|it| it.2.slug());
                println!(
                    "{what} {path}:{}:{} → {sure_bound:?} {how:?}, truly {own:?}: {line}",
                    at.0 + 1,
                    at.1 + 1
                );
            }
        }
    }
    println!("{}", sure.line("functions, methods, types"));
    println!("{}", strict.line("any symbol of the repository"));
    println!("{}", all.line("with lone methods (a guess)"));
}

struct Truths {
    by_file: Vec<(String, HashMap<At, Truth>)>,
}

impl Truths {
    /// Whether what is defined at a place is a function, a method or a type to us.
    fn is_callable(
        &self,
        graph: &Graph,
        texts: &HashMap<String, Vec<u8>>,
        path: &str,
        at: At,
    ) -> bool {
        let (Some(id), Some(text)) = (graph.id(path), texts.get(path)) else { return false };
        let Some(facts) = graph.facts(id) else { return false };
        let line = text.split(|it| *it == b'\n').nth(at.0 as usize).unwrap_or_default();
        let lines = [line];
        facts.defs.iter().any(|it| {
            it.at.line == at.0
                && utf16(&lines, 0, it.at.column) == at.1
                && (it.kind.is_callable()
                    || it.kind == DefKind::Class
                    || it.flags.has(Flags::CONSTRUCTOR))
        })
    }
}

/// The index by place: what stands there, and where that is defined.
fn truth(index: &[ScipFile], texts: &HashMap<String, Vec<u8>>) -> Truths {
    let mut defined: HashMap<&str, (&str, At)> = HashMap::new();
    let mut local: HashMap<(&str, &str), At> = HashMap::new();
    for file in index {
        for it in
            file.occurrences.iter().filter(|it| it.is_definition && it.symbol.starts_with("local"))
        {
            local.entry((&file.path, &it.symbol)).or_insert((it.line, it.column));
        }
        for it in
            file.occurrences.iter().filter(|it| it.is_definition && !it.symbol.starts_with("local"))
        {
            defined.entry(&it.symbol).or_insert((&file.path, (it.line, it.column)));
        }
    }
    let mut by_file = Vec::new();
    for file in index.iter().filter(|it| texts.contains_key(&it.path)) {
        let mut places: HashMap<At, Truth> = HashMap::new();
        for it in file.occurrences.iter().filter(|it| !it.is_definition) {
            let said = match judge(&it.symbol, &defined) {
                Truth::Local(None) => Truth::Local(local.get(&(&file.path, &it.symbol)).copied()),
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
    Truths { by_file }
}

fn judge(symbol: &str, defined: &HashMap<&str, (&str, At)>) -> Truth {
    let is_parameter = symbol.ends_with(')') && symbol.contains('(') && !symbol.ends_with("().");
    if symbol.starts_with("local") || is_parameter {
        return Truth::Local(defined.get(symbol).map(|it| it.1));
    }
    let class =
        symbol.strip_suffix("`<constructor>`().").or_else(|| symbol.strip_suffix("__init__()."));
    let place = |it: &(&str, At)| (it.0.to_owned(), it.1);
    match (class.and_then(|it| defined.get(it)), defined.get(symbol)) {
        (Some(class), Some(own)) => Truth::Constructor(place(class), place(own)),
        (Some(it), None) | (None, Some(it)) => Truth::Own(it.0.to_owned(), it.1),
        (None, None) => Truth::Foreign,
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
