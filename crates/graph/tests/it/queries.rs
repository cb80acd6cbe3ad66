//! Queries on the graph: lookup of targets, impact, dependencies, neighbours, shortest paths.
//!
//! A *node* is a file or a symbol. *Impact* is what a change of a node may affect: its users, and
//! theirs. An expected line of an impact is `depth kind node`, with ` test` after a test:
//! `2 calls src/page.ts:page` is two steps away, reached by a call.

use expect_test::{Expect, expect};
use waylore_graph::{
    FileId, NodeId, QueryGraph, ReachedNode, TargetLookup, find_dependencies, find_impact,
    find_neighbours, find_target, shortest_path,
};

use crate::fixture::build_graph;

/// A chain of calls across files: `far` → `page` → `login` → `verify`, and a test of `login`. The
/// class `Base` has a field of its own name.
const PROJECT: &str = "
== src/auth.ts
export class Token { check() { return verify(this) } }
export function verify(token: Token) { return true }
== src/login.ts
import { verify, Token } from './auth'
export function login(token: Token) { return verify(token) }
== src/page.ts
import { login } from './login'
export const page = () => login(null)
== src/far.ts
import { page } from './page'
export const far = () => page()
export class Base { Base = 1 }
== test/login.test.ts
import { login } from '../src/login'
it('logs in', () => { login(null) })
";

fn project_graph() -> QueryGraph {
    query_graph(PROJECT)
}

/// The graph of a script in the form that queries read.
fn query_graph(script: &str) -> QueryGraph {
    let graph = build_graph(script);
    let file = |(id, path): (FileId, &str)| {
        (id, path.to_owned(), graph.facts(id).unwrap(), graph.file_edges(id).unwrap())
    };
    QueryGraph::new(graph.files().map(file).collect())
}

/// `path:symbol`, or the path of a file.
fn name(graph: &QueryGraph, node: NodeId) -> String {
    let symbol = graph.symbol_info(node);
    if symbol.name.is_empty() { symbol.path } else { format!("{}:{}", symbol.path, symbol.name) }
}

/// The nodes of a target that must exist.
fn nodes(graph: &QueryGraph, text: &str) -> Vec<NodeId> {
    match find_target(graph, text) {
        TargetLookup::Found(nodes) => nodes,
        other => panic!("{text}: {other:?}"),
    }
}

/// Compares the impact of a change, one line per node: depth, kind of the last edge, name.
fn check_impact(target: &str, depth: u32, expect: Expect) {
    let graph = project_graph();
    let line = |it: &ReachedNode| {
        let is_test = if graph.symbol_info(it.node).is_test { " test" } else { "" };
        format!("{} {} {}{is_test}\n", it.depth, it.kind, name(&graph, it.node))
    };
    let reached = find_impact(&graph, &nodes(&graph, target), depth);
    let text = reached.iter().map(line).collect::<Vec<_>>().concat();
    expect.assert_eq(&text);
}

#[test]
fn impact_spreads_to_callers_step_by_step() {
    // One step: the direct users only.
    check_impact(
        "src/auth.ts:verify",
        1,
        expect![[r"
        1 calls src/auth.ts:Token.check
        1 calls src/login.ts:login
        1 imports_symbol src/login.ts
    "]],
    );
    // Three steps: the whole chain, and the test of `login`.
    check_impact(
        "verify",
        3,
        expect![[r"
        1 calls src/auth.ts:Token.check
        1 calls src/login.ts:login
        1 imports_symbol src/login.ts
        2 calls src/page.ts:page
        2 calls test/login.test.ts:logs in test
        2 imports_symbol src/page.ts
        2 imports_symbol test/login.test.ts test
        3 calls src/far.ts:far
        3 imports_symbol src/far.ts
    "]],
    );
    // A file: the users of all its symbols, without the file itself.
    check_impact(
        "src/auth.ts",
        1,
        expect![[r"
        1 calls src/login.ts:login
        1 imports_symbol src/login.ts
    "]],
    );
}

#[test]
fn a_target_is_a_path_a_symbol_a_member_or_a_line() {
    let graph = project_graph();
    for (text, expected) in [
        ("src/auth.ts", "src/auth.ts"),
        ("auth.ts", "src/auth.ts"),
        ("auth.ts:verify", "src/auth.ts:verify"),
        ("Token.check", "src/auth.ts:Token.check"),
        ("Token::check", "src/auth.ts:Token.check"),
        // The class `Token` and its method are both on line 1: the innermost symbol is taken.
        ("src/auth.ts:1", "src/auth.ts:Token.check"),
        // No symbol is on line 99.
        ("src/auth.ts:99", "src/auth.ts"),
        ("logs in", "test/login.test.ts:logs in"),
        // The class, not its field of the same name.
        ("src/far.ts:Base", "src/far.ts:Base"),
    ] {
        let found = nodes(&graph, text);
        assert_eq!(
            found.iter().map(|it| name(&graph, *it)).collect::<Vec<_>>(),
            [expected],
            "{text}"
        );
    }
    assert_eq!(
        find_target(&graph, "src/auth.ts:gone"),
        TargetLookup::NoSymbol { path: "src/auth.ts".to_owned() }
    );
    assert_eq!(find_target(&graph, "missing"), TargetLookup::NotFound);
}

#[test]
fn dependencies_neighbours_and_the_shortest_path_are_found() {
    let graph = project_graph();
    let dependencies: Vec<String> = find_dependencies(&graph, &nodes(&graph, "far"), 3)
        .iter()
        .map(|it| name(&graph, it.node))
        .collect();
    assert_eq!(
        dependencies,
        ["src/page.ts:page", "src/login.ts:login", "src/auth.ts:verify", "src/auth.ts:Token"]
    );

    let neighbours: Vec<String> =
        find_neighbours(&graph, &["src/login.ts"]).into_iter().map(|it| it.path).collect();
    assert_eq!(neighbours, ["src/auth.ts", "src/page.ts", "test/login.test.ts"]);

    let path = shortest_path(&graph, &nodes(&graph, "far"), &nodes(&graph, "verify")).unwrap();
    let names: Vec<String> = path.iter().map(|it| name(&graph, it.node)).collect();
    assert_eq!(
        names,
        ["src/far.ts:far", "src/page.ts:page", "src/login.ts:login", "src/auth.ts:verify"]
    );
    // Edges are followed forwards only.
    assert_eq!(shortest_path(&graph, &nodes(&graph, "verify"), &nodes(&graph, "far")), None);
}

#[test]
fn a_prototype_and_its_definition_have_the_same_callers() {
    let graph = query_graph(
        r#"
== store.h
namespace a { class Store { public: void put(int n = 1); }; void help(); }
== store.cc
#include "store.h"
namespace a { void Store::put(int n) { help(); } void help() {} }
== main.cc
#include "store.h"
int main() { a::Store store; store.put(); }
"#,
    );
    for target in ["store.h:Store.put", "store.cc:Store.put", "a::Store::put"] {
        let reached = find_impact(&graph, &nodes(&graph, target), 1);
        assert!(reached.iter().any(|it| name(&graph, it.node) == "main.cc:main"), "{target}");
    }
    // A name means the definition, not also its prototype.
    assert_eq!(nodes(&graph, "help"), nodes(&graph, "store.cc:help"));
}
