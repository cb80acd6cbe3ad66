//! Questions to the atlas.

use expect_test::{Expect, expect};
use waylore_graph::{Atlas, Target};

use crate::kit::graph;

const REPOSITORY: &str = "
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

fn atlas() -> Atlas {
    atlas_of(REPOSITORY)
}

fn atlas_of(script: &str) -> Atlas {
    let graph = graph(script);
    let file = |(id, path): (u32, &str)| {
        (id, path.to_owned(), graph.facts(id).unwrap(), graph.links(id).unwrap())
    };
    Atlas::new(graph.files().map(file).collect())
}

fn name(atlas: &Atlas, node: u32) -> String {
    let it = atlas.symbol(node);
    if it.name.is_empty() { it.path } else { format!("{}:{}", it.path, it.name) }
}

fn nodes(atlas: &Atlas, text: &str) -> Vec<u32> {
    match atlas.find(text) {
        Target::Found(it) => it,
        other => panic!("{text}: {other:?}"),
    }
}

fn impact(target: &str, depth: u32, expect: Expect) {
    let atlas = atlas();
    let line = |it: &waylore_graph::Reached| {
        let is_test = if atlas.symbol(it.node).is_test { " test" } else { "" };
        format!("{} {} {}{is_test}\n", it.depth, it.kind, name(&atlas, it.node))
    };
    let reached = atlas.impact(&nodes(&atlas, target), depth);
    let text = reached.iter().map(line).collect::<Vec<_>>().concat();
    expect.assert_eq(&text);
}

#[test]
fn impact_goes_up_step_by_step() {
    impact(
        "src/auth.ts:verify",
        1,
        expect![[r"
        1 calls src/auth.ts:Token.check
        1 calls src/login.ts:login
        1 imports_symbol src/login.ts
    "]],
    );
    impact(
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
    impact(
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
    let atlas = atlas();
    for (text, expected) in [
        ("src/auth.ts", "src/auth.ts"),
        ("auth.ts", "src/auth.ts"),
        ("auth.ts:verify", "src/auth.ts:verify"),
        ("Token.check", "src/auth.ts:Token.check"),
        ("Token::check", "src/auth.ts:Token.check"),
        ("src/auth.ts:1", "src/auth.ts:Token.check"),
        ("src/auth.ts:99", "src/auth.ts"),
        ("logs in", "test/login.test.ts:logs in"),
        // The class, and not the field of its name.
        ("src/far.ts:Base", "src/far.ts:Base"),
    ] {
        let found = nodes(&atlas, text);
        assert_eq!(
            found.iter().map(|it| name(&atlas, *it)).collect::<Vec<_>>(),
            [expected],
            "{text}"
        );
    }
    assert_eq!(atlas.find("src/auth.ts:gone"), Target::NoSymbol { path: "src/auth.ts".to_owned() });
    assert_eq!(atlas.find("nobody"), Target::Nothing);
}

#[test]
fn dependencies_neighbours_and_ways() {
    let atlas = atlas();
    let needed: Vec<String> = atlas
        .dependencies(&nodes(&atlas, "far"), 3)
        .iter()
        .map(|it| name(&atlas, it.node))
        .collect();
    assert_eq!(
        needed,
        ["src/page.ts:page", "src/login.ts:login", "src/auth.ts:verify", "src/auth.ts:Token"]
    );
    let near: Vec<String> =
        atlas.neighbours(&["src/login.ts"]).into_iter().map(|it| it.path).collect();
    assert_eq!(near, ["src/auth.ts", "src/page.ts", "test/login.test.ts"]);
    let way = atlas.way(&nodes(&atlas, "far"), &nodes(&atlas, "verify")).unwrap();
    let names: Vec<String> = way.iter().map(|it| name(&atlas, it.node)).collect();
    assert_eq!(
        names,
        ["src/far.ts:far", "src/page.ts:page", "src/login.ts:login", "src/auth.ts:verify"]
    );
    assert_eq!(atlas.way(&nodes(&atlas, "verify"), &nodes(&atlas, "far")), None);
}

#[test]
fn a_prototype_and_its_definition_have_the_same_callers() {
    let atlas = atlas_of(
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
        let reached = atlas.impact(&nodes(&atlas, target), 1);
        assert!(reached.iter().any(|it| name(&atlas, it.node) == "main.cc:main"), "{target}");
    }
    assert_eq!(nodes(&atlas, "help"), nodes(&atlas, "store.cc:help"));
}
