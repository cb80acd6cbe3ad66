//! Hostile input: deep nesting, cyclic names, invalid UTF-8, damaged facts. Nothing may panic,
//! overflow the stack or run forever.

use waylore_graph::{
    GraphChange, SourceLanguage, SymbolGraph, decode_body, decode_outline, encode_body,
    encode_outline, extract_facts,
};

/// Every language with the name of one of its files.
const LANGUAGE_FILES: &[(SourceLanguage, &str)] = &[
    (SourceLanguage::TypeScript, "a.ts"),
    (SourceLanguage::Tsx, "a.tsx"),
    (SourceLanguage::JavaScript, "a.js"),
    (SourceLanguage::Python, "a.py"),
    (SourceLanguage::Rust, "a.rs"),
    (SourceLanguage::Go, "a.go"),
    (SourceLanguage::Java, "A.java"),
    (SourceLanguage::C, "a.c"),
    (SourceLanguage::Cpp, "a.cpp"),
    (SourceLanguage::CSharp, "a.cs"),
    (SourceLanguage::Ruby, "a.rb"),
    (SourceLanguage::Php, "a.php"),
    (SourceLanguage::Manifest, "package.json"),
    (SourceLanguage::Manifest, "tsconfig.json"),
    (SourceLanguage::Manifest, "Cargo.toml"),
    (SourceLanguage::Manifest, "go.mod"),
];

/// Extracts a text as every language and resolves it. The test is that this ends without a panic.
fn extract_in_every_language(text: &[u8]) {
    for (lang, path) in LANGUAGE_FILES {
        let facts = extract_facts(*lang, path, text);
        let mut graph = SymbolGraph::default();
        graph.update(vec![GraphChange::Put { path: (*path).to_owned(), facts }], 1);
        assert_eq!(graph.len(), 1);
    }
}

#[test]
fn the_list_of_files_has_every_language() {
    for language in SourceLanguage::ALL {
        assert!(LANGUAGE_FILES.iter().any(|it| it.0 == *language), "{language} is missing");
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
        extract_in_every_language(open.repeat(100_000 / open.len()).as_bytes());
        extract_in_every_language(
            format!("x = {}{}", open.repeat(20_000), close.repeat(20_000)).as_bytes(),
        );
    }
}

#[test]
fn long_chains_do_not_break_the_stack() {
    extract_in_every_language(format!("x = a{}", ".b()".repeat(20_000)).as_bytes());
    extract_in_every_language(format!("x = a{}", " + a".repeat(30_000)).as_bytes());
    extract_in_every_language(format!("type T = A{}", " | A".repeat(20_000)).as_bytes());
    extract_in_every_language(
        format!("{}int{} x;", "A<".repeat(20_000), ">".repeat(20_000)).as_bytes(),
    );
    extract_in_every_language(format!("x = {}f();", "a::".repeat(20_000)).as_bytes());
}

#[test]
fn deeply_nested_patterns_do_not_break_the_stack() {
    for (open, close) in [("[", "]"), ("{a: ", "}"), ("[b = ", "]")] {
        let pattern = format!("{}a{}", open.repeat(20_000), close.repeat(20_000));
        for text in [format!("const {pattern} = x;"), format!("(({pattern}) => 1);")] {
            extract_facts(SourceLanguage::TypeScript, "a.ts", text.as_bytes());
        }
    }
}

#[test]
fn cyclic_imports_and_types_end() {
    extract_in_every_language(b"import a from './a'; export { a as b } from './a'; export * from './a'; const x = x.y; class A extends A {} type T = T; a.b(); x.z();");
    extract_in_every_language(
        b"from a import *\nfrom .a import x\nclass A(A): pass\nx = x\nx.y()\nA().z()\n",
    );
    extract_in_every_language(b"use crate::a::*; use self::b as b; pub use b::c; mod a; trait T: T {} impl T for T { fn f(&self) { self.f(); b::c(); } }");
    extract_in_every_language(b"class A extends B { } class B extends A { void f() { g(); } }");
}

#[test]
fn invalid_utf8_is_skipped() {
    extract_in_every_language(b"\xff\xfe function \xc3\x28() { \xf0\x28\x8c\x28() } class \xff {}");
    extract_in_every_language(&(0..=255_u8).cycle().take(10_000).collect::<Vec<u8>>());
    extract_in_every_language(b"");
    extract_in_every_language("\u{feff}function f() {}".as_bytes());
}

#[test]
fn damaged_facts_are_rejected_or_resolve_without_panic() {
    // Arrange: facts with every kind of entry.
    let text = b"import { a } from './b'; export class C<T> extends D { x = a(); m(p: C): C { return p.m(this.x) } }";
    let facts = extract_facts(SourceLanguage::TypeScript, "a.ts", text);
    let (outline, body) = (encode_outline(&facts), encode_body(&facts));
    assert_eq!(decode_body(decode_outline(&outline).unwrap(), &body), Some(facts));
    // Act: flip a low, a high and the continuation bit of every byte. Most results are rejected;
    // the others are facts that no parser would write.
    for position in 0..body.len() {
        for bit in [1, 0x40, 0x80] {
            let mut damaged = body.clone();
            damaged[position] ^= bit;
            if let Some(facts) = decode_body(decode_outline(&outline).unwrap(), &damaged) {
                let mut graph = SymbolGraph::default();
                graph.update(vec![GraphChange::Put { path: "a.ts".to_owned(), facts }], 1);
            }
        }
    }
}
