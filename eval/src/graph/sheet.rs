//! Calls to be checked by hand: some that we bind, and some as they stand in the text.
//!
//! `waylore-eval graph --repo FOLDER --lang rust --sheet 30 --seed 7` prints both lists as tables. The
//! second is drawn from the text alone, by a scan that knows no syntax, so that what we overlook is in it.

use std::collections::HashMap;

use ::graph::{DefRef, Graph, How, RefKind, Site, language};

/// Words before parentheses that call nothing.
#[rustfmt::skip]
const NO_CALLS: &[&str] = &[
    "if", "for", "while", "switch", "match", "return", "catch", "elif", "and", "or", "not", "in", "assert", "with", "yield",
    "lambda", "func", "fn", "def", "class", "synchronized", "try", "super", "this", "crate", "self", "except", "import", "del",
    "var", "const", "type", "case", "await", "print", "pub", "is", "move", "Fn", "FnOnce", "FnMut",
];

/// Words before a name that is called all the same; after any other, a name is being declared.
#[rustfmt::skip]
const BEFORE_CALLS: &[&str] = &[
    "return", "new", "throw", "else", "in", "await", "case", "yield", "and", "or", "not", "if", "elif", "while", "go", "defer",
    "assert", "do", "match", "is", "mut", "ref", "move", "raise", "from", "lambda", "unsafe", "range",
];

/// A place of a text: file, line, column in bytes, name.
type Place<'a> = (&'a str, u32, u32, &'a str);

pub(super) fn print(
    graph: &Graph,
    texts: &HashMap<String, Vec<u8>>,
    lang: &str,
    n: usize,
    seed: u64,
) {
    let is_it = |it: &&String| language(it).is_some_and(|it| it.slug() == lang);
    let mut paths: Vec<&String> = texts.keys().filter(is_it).collect();
    paths.sort_unstable();
    let (mut bound, mut places) = (Vec::new(), Vec::new());
    let mut sites: HashMap<&str, HashMap<(u32, u32), Site>> = HashMap::new();
    for path in paths {
        let Some(id) = graph.id(path) else { continue };
        let calls = |it: &Site| matches!(it.kind, RefKind::Call | RefKind::New);
        for site in graph.sites(id).into_iter().filter(calls) {
            let leaves = |it: &(DefRef, How)| it.0.file != id;
            bound.extend(site.to.filter(leaves).map(|it| (path.as_str(), site.at.line, it)));
            sites.entry(path).or_default().insert((site.at.line, site.at.column), site);
        }
        places
            .extend(std::str::from_utf8(&texts[path]).into_iter().flat_map(|it| called(path, it)));
    }
    let line = |path: &str, line: u32| {
        let text = String::from_utf8_lossy(&texts[path]).into_owned();
        let line = text.lines().nth(line as usize).unwrap_or_default().trim().to_owned();
        line.chars().take(100).collect::<String>().replace('|', "\\|").replace('`', "'")
    };
    println!("\n{} bound calls that leave their file; {n} of them, seed {seed}\n", bound.len());
    println!("| call | found by | leads to | the line | right |\n|---|---|---|---|---|");
    for (path, at, to) in drawn(bound, n, seed) {
        let (name, how) = (shown(graph, to), to.1.slug());
        println!("| {path}:{} | {how} | `{name}` | `{}` | |", at + 1, line(path, at));
    }
    println!("\n{} places in the text; {} of them, seed {seed}\n", places.len(), n * 3);
    println!("| call | name | we say | the line | found |\n|---|---|---|---|---|");
    for (path, at, column, name) in drawn(places, n * 3, seed) {
        let site = sites.get(path).and_then(|it| it.get(&(at, column)));
        let said = match site {
            None => "–".to_owned(),
            Some(Site { to: Some(to), .. }) => format!("`{}` ({})", shown(graph, *to), to.1.slug()),
            Some(it) if it.is_foreign => "foreign".to_owned(),
            Some(_) => "nothing".to_owned(),
        };
        println!("| {path}:{} | {name} | {said} | `{}` | |", at + 1, line(path, at));
    }
}

fn shown(graph: &Graph, to: (DefRef, How)) -> String {
    let name = graph.facts(to.0.file).map(|it| it.qualified(to.0.def));
    let line = graph.facts(to.0.file).map_or(0, |it| it.defs[to.0.def as usize].at.line + 1);
    let path = graph.path(to.0.file).unwrap_or_default();
    format!("{path}:{line} {}", name.unwrap_or_default())
}

/// Names before an opening parenthesis that neither declare nor stand in a comment of a whole line.
fn called<'a>(path: &'a str, text: &'a str) -> Vec<Place<'a>> {
    let mut res = Vec::new();
    let is_word = |it: u8| it.is_ascii_alphanumeric() || it == b'_';
    for (at, line) in text.lines().enumerate() {
        let start = line.trim_start();
        if ["//", "*", "/*", "#", "func ", "@"].iter().any(|it| start.starts_with(it)) {
            continue;
        }
        for (open, _) in line.match_indices('(') {
            let bytes = line.as_bytes();
            let from = bytes[..open].iter().rposition(|it| !is_word(*it)).map_or(0, |it| it + 1);
            let name = &line[from..open];
            if name.starts_with(|it: char| it.is_ascii_digit()) || NO_CALLS.contains(&name) {
                continue;
            }
            let before = line[..from].trim_end();
            let word = before.rsplit(|it: char| !it.is_alphanumeric() && it != '_').next();
            let declares = word.is_some_and(|it| !it.is_empty() && !BEFORE_CALLS.contains(&it))
                || before.ends_with(['>', ']']);
            if !name.is_empty() && !declares {
                let number = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
                res.push((path, number(at), number(from), name));
            }
        }
    }
    res
}

/// Some of many, the same for the same seed.
fn drawn<T>(mut all: Vec<T>, n: usize, seed: u64) -> Vec<T> {
    let mut state = seed;
    for i in (1..all.len()).rev() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let at = usize::try_from((mixed ^ (mixed >> 31)) % (i as u64 + 1)).unwrap_or(0);
        all.swap(i, at);
    }
    all.truncate(n);
    all
}
