//! Review sheet: calls to be checked by hand, some of them resolved by the graph, some found in the
//! text.
//!
//! `waylore-eval graph --repo FOLDER --lang rust --review-sheet 30 --seed 7` prints both lists as tables.
//! The second is drawn from the text by a scan that knows no syntax, so it contains what the graph
//! misses.

use std::collections::HashMap;

use ::graph::{DefRef, RefKind, ResolutionKind, ResolvedReference, SymbolGraph, language_of_path};

/// Words before a parenthesis that are not calls.
#[rustfmt::skip]
const NON_CALL_WORDS: &[&str] = &[
    "if", "for", "while", "switch", "match", "return", "catch", "elif", "and", "or", "not", "in", "assert", "with", "yield",
    "lambda", "func", "fn", "def", "class", "synchronized", "try", "super", "this", "crate", "self", "except", "import", "del",
    "var", "const", "type", "case", "await", "print", "pub", "is", "move", "Fn", "FnOnce", "FnMut",
];

/// Words that may stand before a called name; after any other word, a name is declared.
#[rustfmt::skip]
const WORDS_BEFORE_CALLS: &[&str] = &[
    "return", "new", "throw", "else", "in", "await", "case", "yield", "and", "or", "not", "if", "elif", "while", "go", "defer",
    "assert", "do", "match", "is", "mut", "ref", "move", "raise", "from", "lambda", "unsafe", "range",
];

/// File, line, column in bytes, name.
type CallPlace<'a> = (&'a str, u32, u32, &'a str);

pub(super) fn print_review_sheet(
    graph: &SymbolGraph,
    texts: &HashMap<String, Vec<u8>>,
    lang: &str,
    n: usize,
    seed: u64,
) {
    let is_lang = |it: &&String| language_of_path(it).is_some_and(|it| it.slug() == lang);
    let mut paths: Vec<&String> = texts.keys().filter(is_lang).collect();
    paths.sort_unstable();
    let (mut resolved, mut places) = (Vec::new(), Vec::new());
    let mut sites: HashMap<&str, HashMap<(u32, u32), ResolvedReference>> = HashMap::new();
    for path in paths {
        let Some(id) = graph.file_id(path) else { continue };
        let calls = |it: &ResolvedReference| matches!(it.kind, RefKind::Call | RefKind::New);
        for site in graph.resolve_references(id).into_iter().filter(calls) {
            let leaves_file = |it: &(DefRef, ResolutionKind)| it.0.file != id;
            resolved.extend(
                site.target.filter(leaves_file).map(|it| (path.as_str(), site.position.line, it)),
            );
            sites.entry(path).or_default().insert((site.position.line, site.position.column), site);
        }
        places.extend(
            std::str::from_utf8(&texts[path])
                .into_iter()
                .flat_map(|it| find_call_candidates(path, it)),
        );
    }
    let line = |path: &str, line: u32| {
        let text = String::from_utf8_lossy(&texts[path]).into_owned();
        let line = text.lines().nth(line as usize).unwrap_or_default().trim().to_owned();
        line.chars().take(100).collect::<String>().replace('|', "\\|").replace('`', "'")
    };
    println!(
        "\n{} resolved calls that leave their file; {n} of them, seed {seed}\n",
        resolved.len()
    );
    println!("| call | found by | target | line | right |\n|---|---|---|---|---|");
    for (path, at, to) in draw_sample(resolved, n, seed) {
        let (name, how) = (format_target(graph, to), to.1.slug());
        println!("| {path}:{} | {how} | `{name}` | `{}` | |", at + 1, line(path, at));
    }
    // Three times as many, because most places in the text lead out of the repository.
    println!("\n{} places in the text; {} of them, seed {seed}\n", places.len(), n * 3);
    println!("| call | name | resolved to | line | found |\n|---|---|---|---|---|");
    for (path, at, column, name) in draw_sample(places, n * 3, seed) {
        let site = sites.get(path).and_then(|it| it.get(&(at, column)));
        let answer = match site {
            None => "–".to_owned(),
            Some(ResolvedReference { target: Some(to), .. }) => {
                format!("`{}` ({})", format_target(graph, *to), to.1.slug())
            }
            Some(it) if it.is_external => "external".to_owned(),
            Some(_) => "nothing".to_owned(),
        };
        println!("| {path}:{} | {name} | {answer} | `{}` | |", at + 1, line(path, at));
    }
}

fn format_target(graph: &SymbolGraph, to: (DefRef, ResolutionKind)) -> String {
    let name = graph.facts(to.0.file).map(|it| it.qualified_name(to.0.def));
    let line = graph.facts(to.0.file).map_or(0, |it| it.def(to.0.def).position.line + 1);
    let path = graph.path(to.0.file).unwrap_or_default();
    format!("{path}:{line} {}", name.unwrap_or_default())
}

/// Names before an opening parenthesis that are not declarations and not in a line comment.
fn find_call_candidates<'a>(path: &'a str, text: &'a str) -> Vec<CallPlace<'a>> {
    let mut places = Vec::new();
    let is_word = |it: u8| it.is_ascii_alphanumeric() || it == b'_';
    for (at, line) in text.lines().enumerate() {
        let start = line.trim_start();
        // Comments, attributes and Go declarations.
        if ["//", "*", "/*", "#", "func ", "@"].iter().any(|it| start.starts_with(it)) {
            continue;
        }
        for (open, _) in line.match_indices('(') {
            let bytes = line.as_bytes();
            let from = bytes[..open].iter().rposition(|it| !is_word(*it)).map_or(0, |it| it + 1);
            let name = &line[from..open];
            if name.starts_with(|it: char| it.is_ascii_digit()) || NON_CALL_WORDS.contains(&name) {
                continue;
            }
            let before = line[..from].trim_end();
            let word = before.rsplit(|it: char| !it.is_alphanumeric() && it != '_').next();
            // `int total(` declares, `return total(` calls; `<T>(` and `](` are types.
            let is_declaration = word
                .is_some_and(|it| !it.is_empty() && !WORDS_BEFORE_CALLS.contains(&it))
                || before.ends_with(['>', ']']);
            if !name.is_empty() && !is_declaration {
                let number = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
                places.push((path, number(at), number(from), name));
            }
        }
    }
    places
}

/// A sample, the same for the same seed (Fisher–Yates shuffle with `SplitMix64`).
fn draw_sample<T>(mut all: Vec<T>, n: usize, seed: u64) -> Vec<T> {
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
