//! Files that nobody should write, and somebody does.

use waylore_graph::{
    Change, Graph, Lang, complete, decode_outline, encode_body, encode_outline, extract,
};

const LANGS: &[(Lang, &str)] = &[
    (Lang::TypeScript, "a.ts"),
    (Lang::Tsx, "a.tsx"),
    (Lang::JavaScript, "a.js"),
    (Lang::Python, "a.py"),
    (Lang::Rust, "a.rs"),
    (Lang::Go, "a.go"),
    (Lang::Java, "A.java"),
    (Lang::C, "a.c"),
    (Lang::Cpp, "a.cpp"),
    (Lang::CSharp, "a.cs"),
    (Lang::Ruby, "a.rb"),
    (Lang::Php, "a.php"),
    (Lang::Manifest, "package.json"),
    (Lang::Manifest, "tsconfig.json"),
    (Lang::Manifest, "Cargo.toml"),
    (Lang::Manifest, "go.mod"),
];

/// Reads a text as every language, and resolves it.
fn survive(text: &[u8]) {
    for (lang, path) in LANGS {
        let facts = extract(*lang, path, text);
        let mut graph = Graph::default();
        graph.update(vec![Change::Put { path: (*path).to_owned(), facts }], 1);
        assert_eq!(graph.len(), 1);
    }
}

#[test]
fn a_hundred_thousand_brackets_do_not_break_the_stack() {
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("f(", ")"),
        ("if (a) {", "}"),
        ("a.b(", ")"),
        ("<a>", "</a>"),
        ("m!{", "}"),
        ("m!(a, ", ")"),
    ] {
        survive(open.repeat(100_000 / open.len()).as_bytes());
        survive(format!("x = {}{}", open.repeat(20_000), close.repeat(20_000)).as_bytes());
    }
}

#[test]
fn long_chains_do_not_break_the_stack() {
    survive(format!("x = a{}", ".b()".repeat(20_000)).as_bytes());
    survive(format!("x = a{}", " + a".repeat(30_000)).as_bytes());
    survive(format!("type T = A{}", " | A".repeat(20_000)).as_bytes());
    survive(format!("{}int{} x;", "A<".repeat(20_000), ">".repeat(20_000)).as_bytes());
    survive(format!("x = {}f();", "a::".repeat(20_000)).as_bytes());
}

#[test]
fn names_that_lead_in_circles_end() {
    survive(b"import a from './a'; export { a as b } from './a'; export * from './a'; const x = x.y; class A extends A {} type T = T; a.b(); x.z();");
    survive(b"from a import *\nfrom .a import x\nclass A(A): pass\nx = x\nx.y()\nA().z()\n");
    survive(b"use crate::a::*; use self::b as b; pub use b::c; mod a; trait T: T {} impl T for T { fn f(&self) { self.f(); b::c(); } }");
    survive(b"class A extends B { } class B extends A { void f() { g(); } }");
}

#[test]
fn bytes_that_are_no_text_are_read_over() {
    survive(b"\xff\xfe function \xc3\x28() { \xf0\x28\x8c\x28() } class \xff {}");
    survive(&(0..=255_u8).cycle().take(10_000).collect::<Vec<u8>>());
    survive(b"");
    survive("\u{feff}function f() {}".as_bytes());
}

#[test]
fn damaged_bytes_of_facts_are_refused_or_sound() {
    let text = b"import { a } from './b'; export class C<T> extends D { x = a(); m(p: C): C { return p.m(this.x) } }";
    let facts = extract(Lang::TypeScript, "a.ts", text);
    let (outline, body) = (encode_outline(&facts), encode_body(&facts));
    assert_eq!(complete(decode_outline(&outline).unwrap(), &body), Some(facts));
    for i in 0..body.len() {
        for bit in [1, 0x40, 0x80] {
            let mut damaged = body.clone();
            damaged[i] ^= bit;
            if let Some(facts) = complete(decode_outline(&outline).unwrap(), &damaged) {
                let mut graph = Graph::default();
                graph.update(vec![Change::Put { path: "a.ts".to_owned(), facts }], 1);
            }
        }
    }
}
