//! Repositories as text: `== path` begins a file.

use expect_test::Expect;
use waylore_graph::{Change, EdgeKind, Graph, extract, language};

/// The files of a script.
pub(crate) fn files(script: &str) -> Vec<(String, String)> {
    let mut res: Vec<(String, String)> = Vec::new();
    for line in script.trim_start_matches('\n').lines() {
        if let Some(path) = line.trim_start().strip_prefix("== ") {
            res.push((path.to_owned(), String::new()));
        } else {
            let (_, text) = res.last_mut().expect("a script begins with `== path`");
            text.push_str(line);
            text.push('\n');
        }
    }
    res
}

pub(crate) fn put(path: &str, text: &str) -> Change {
    let lang = language(path).unwrap();
    Change::Put { path: path.to_owned(), facts: extract(lang, path, text.as_bytes()) }
}

pub(crate) fn graph(script: &str) -> Graph {
    let mut res = Graph::default();
    res.update(files(script).iter().map(|it| put(&it.0, &it.1)).collect(), 1);
    res
}

/// Every edge of the kinds asked for as a line, sorted: `a.ts:f calls b.ts:g (import)`.
pub(crate) fn edges(graph: &Graph, kinds: &[EdgeKind]) -> Vec<String> {
    let mut res = Vec::new();
    for (file, path) in graph.files() {
        let name = |file: u32, def: Option<u32>| match def {
            Some(def) => format!(
                "{}:{}",
                graph.path(file).unwrap(),
                graph.facts(file).unwrap().qualified(def)
            ),
            None => graph.path(file).unwrap().to_owned(),
        };
        let _ = path;
        for it in &graph.links(file).unwrap().edges {
            if kinds.contains(&it.kind) {
                res.push(format!(
                    "{} {} {} ({})",
                    name(file, it.from),
                    it.kind,
                    name(it.to_file, it.to),
                    it.how
                ));
            }
        }
    }
    res.sort();
    res
}

pub(crate) const REFERENCES: &[EdgeKind] = &[
    EdgeKind::Calls,
    EdgeKind::Instantiates,
    EdgeKind::Extends,
    EdgeKind::Implements,
    EdgeKind::Overrides,
];

pub(crate) fn check(script: &str, expect: Expect) {
    check_kinds(script, REFERENCES, expect);
}

pub(crate) fn check_kinds(script: &str, kinds: &[EdgeKind], expect: Expect) {
    let mut text = edges(&graph(script), kinds).join("\n");
    text.push('\n');
    expect.assert_eq(&text);
}
