//! Small projects written as text: a line `== path` begins a file, the lines after it are its
//! content. The checks build the graph of a project and compare its edges with an expected list.

use expect_test::Expect;
use waylore_graph::{
    DefId, EdgeKind, FileId, GraphChange, SymbolGraph, extract_facts, language_of_path,
};

/// The files of a project: path and text.
pub(crate) fn parse_files(script: &str) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = Vec::new();
    for line in script.trim_start_matches('\n').lines() {
        if let Some(path) = line.trim_start().strip_prefix("== ") {
            files.push((path.to_owned(), String::new()));
        } else {
            let (_, text) = files.last_mut().expect("a script begins with `== path`");
            text.push_str(line);
            text.push('\n');
        }
    }
    files
}

/// The change that writes a file.
pub(crate) fn put_file(path: &str, text: &str) -> GraphChange {
    let lang = language_of_path(path).unwrap();
    GraphChange::Put { path: path.to_owned(), facts: extract_facts(lang, path, text.as_bytes()) }
}

/// The resolved graph of a project.
pub(crate) fn build_graph(script: &str) -> SymbolGraph {
    let mut graph = SymbolGraph::default();
    graph.update(parse_files(script).iter().map(|it| put_file(&it.0, &it.1)).collect(), 1);
    graph
}

/// The edges of these kinds, one per line and sorted: `a.ts:f calls b.ts:g (import)`.
pub(crate) fn format_edges(graph: &SymbolGraph, kinds: &[EdgeKind]) -> Vec<String> {
    let name = |file: FileId, def: Option<DefId>| {
        let path = graph.path(file).unwrap();
        match def {
            Some(def) => format!("{path}:{}", graph.facts(file).unwrap().qualified_name(def)),
            None => path.to_owned(),
        }
    };
    let mut lines = Vec::new();
    for (file, _) in graph.files() {
        for edge in graph.file_edges(file).unwrap().edges {
            if kinds.contains(&edge.kind) {
                let (from, to) = (name(file, edge.from), name(edge.to_file, edge.to));
                lines.push(format!("{from} {} {to} ({})", edge.kind, edge.resolution));
            }
        }
    }
    lines.sort();
    lines
}

/// The kinds that most tests compare. Uses, types and imports would double the lists.
pub(crate) const REFERENCE_EDGE_KINDS: &[EdgeKind] = &[
    EdgeKind::Calls,
    EdgeKind::Instantiates,
    EdgeKind::Extends,
    EdgeKind::Implements,
    EdgeKind::Overrides,
];

/// Compares all calls, instantiations and inheritance of a project.
pub(crate) fn check_edges(script: &str, expect: Expect) {
    check_edge_kinds(script, REFERENCE_EDGE_KINDS, expect);
}

/// Compares all edges of these kinds.
pub(crate) fn check_edge_kinds(script: &str, kinds: &[EdgeKind], expect: Expect) {
    let mut text = format_edges(&build_graph(script), kinds).join("\n");
    text.push('\n');
    expect.assert_eq(&text);
}
