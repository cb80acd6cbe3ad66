//! Incremental updates: after any sequence of edits, renames and deletions the graph equals one
//! that is built from scratch.
//!
//! Property tests (proptest) make random files from snippets and edit them at random.

use std::collections::BTreeMap;

use proptest::prelude::*;
use waylore_graph::{EdgeKind, GraphChange, SymbolGraph};

use crate::fixture::{format_edges, put_file};

/// A language with the file names and the snippets of which random files consist. The snippets refer
/// to one another by imports, members, types and overloads.
struct LanguageSample {
    paths: &'static [&'static str],
    snippets: &'static [&'static str],
}

/// Imports, re-exports and inheritance. `f1.ts` and `f1/index.ts` are the same module to an import.
const ECMASCRIPT: LanguageSample = LanguageSample {
    paths: &["f0.ts", "f1.ts", "f2.ts", "f3.ts", "f1/index.ts"],
    snippets: &[
        "export function f0() { g0(); h0() }\n",
        "export function g0() {}\n",
        "export class A0 { m0() { this.m1() } m1() {} }\n",
        "export class B0 extends A0 { m1() { super.m1() } }\n",
        "import { f0, A0 } from './f1'\n",
        "import { g0, B0 } from './f2'\n",
        "import * as ns from './f0'\n",
        "export * from './f1'\n",
        "export * from './f2'\n",
        "export { f0 as h0 } from './f0'\n",
        "export const make = () => new A0()\n",
        "export const use = (a: A0, b: B0, c) => { a.m0(); b.m1(); make().m0(); ns.f0(); c.only0() }\n",
        "export class Lone { only0() {} }\n",
        "// a comment that changes nothing\n",
        "f0(); g0(); ns.g0()\n",
    ],
};

/// Overloads, own and inherited.
const JAVA: LanguageSample = LanguageSample {
    paths: &["p/F0.java", "p/F1.java", "p/F2.java", "q/F3.java"],
    snippets: &[
        "package p;\n",
        "import p.*;\n",
        "class A0 { void f(String s) {} void f(int n) {} void f(A0 a) {} }\n",
        "class A0 { void f(Object o) {} A0 g() { return this; } }\n",
        "class B0 extends A0 { void f(B0 b) {} void f(Number n) {} }\n",
        "class B0 { B0 f(A0 a) { return this; } }\n",
        "class C0 extends B0 { void t(A0 a, B0 b) { a.f(1); b.f(b); b.f(a); b.f(\"x\"); a.g().f(b); f(null); } }\n",
    ],
};

/// Items in macros, which make modules appear and disappear.
const RUST: LanguageSample = LanguageSample {
    paths: &["src/lib.rs", "src/a.rs", "src/b.rs", "src/a/c.rs", "Cargo.toml"],
    snippets: &[
        "mod a; mod b;\n",
        "cfg! { mod a; pub use a::A0; }\n",
        "cfg! { if x { pub mod b; } else { mod c; } }\n",
        "cfg! { pub struct A0; impl A0 { pub fn m0(&self) -> A0 { A0 } } }\n",
        "cfg! { broken ( pub struct B0 }\n",
        "use crate::{A0, b::f0};\n",
        "pub fn f0(a: A0) { assert!(a.m0().m0(), \"{}\", f1()); select! { x => { f0(A0); } } }\n",
        "pub fn f1() { crate::a::f0(crate::A0) }\n",
    ],
};

/// Namespaces, and headers that declare what other files define.
const CPP: LanguageSample = LanguageSample {
    paths: &["a.cpp", "b.cpp", "a.h", "c/d.cpp"],
    snippets: &[
        "#include \"a.h\"\n",
        "namespace n0 { void f0(); class A0 { public: void m0(); void m0(int a); }; }\n",
        "namespace n0::n1 { void f1() { f0(); } }\n",
        "namespace n2 { namespace n0 { void f0() {} } void f2() { n0::f0(); } }\n",
        "void n0::f0() {}\n",
        "void n0::A0::m0() { f0(); m0(1); }\n",
        "using namespace n0;\n",
        "using n0::f0;\n",
        "namespace m0 = n0::n1;\n",
        "namespace { void f0(int a) {} }\n",
        "void f3(int a) { f0(); n0::f0(); m0::f1(); f0(1); f1(); }\n",
        "void f4(n0::A0 a) { a.m0(); a.m0(1); n0::n1::f1(); n2::f2(); }\n",
    ],
};

/// One edit. Paths and snippets are indices into the sample.
#[derive(Clone, Debug)]
enum EditStep {
    Write { path: usize, snippets: Vec<usize> },
    Delete { path: usize },
    Rename { from: usize, to: usize },
}

/// Random edits, most of them writes.
fn edit_step(sample: &LanguageSample) -> impl Strategy<Value = EditStep> + use<> {
    let (path, snippet) = (0..sample.paths.len(), 0..sample.snippets.len());
    let write = (path.clone(), prop::collection::vec(snippet, 0..8));
    let rename = (path.clone(), path.clone());
    prop_oneof![
        4 => write.prop_map(|(path, snippets)| EditStep::Write { path, snippets }),
        1 => path.prop_map(|path| EditStep::Delete { path }),
        1 => rename.prop_map(|(from, to)| EditStep::Rename { from, to }),
    ]
}

/// The graph of these files, built from scratch.
fn rebuild(files: &BTreeMap<&str, String>) -> SymbolGraph {
    let mut graph = SymbolGraph::default();
    graph.update(files.iter().map(|it| put_file(it.0, it.1)).collect(), 1);
    graph
}

/// Random batches of edits; a batch is one update of the graph.
fn edit_batches(sample: &LanguageSample) -> impl Strategy<Value = Vec<Vec<EditStep>>> + use<> {
    prop::collection::vec(prop::collection::vec(edit_step(sample), 1..4), 1..12)
}

/// Applies batch after batch and compares with a rebuilt graph after each.
fn check_batches(
    sample: &LanguageSample,
    batches: Vec<Vec<EditStep>>,
) -> Result<(), TestCaseError> {
    let mut files: BTreeMap<&str, String> = BTreeMap::new();
    let mut graph = SymbolGraph::default();
    for batch in batches {
        let mut changes = Vec::new();
        for step in batch {
            match step {
                EditStep::Write { path, snippets } => {
                    let text: String = snippets.iter().map(|it| sample.snippets[*it]).collect();
                    changes.push(put_file(sample.paths[path], &text));
                    files.insert(sample.paths[path], text);
                }
                EditStep::Delete { path } => {
                    files.remove(sample.paths[path]);
                    changes.push(GraphChange::Removed { path: sample.paths[path].to_owned() });
                }
                // Renaming a file that does not exist does nothing.
                EditStep::Rename { from, to } => {
                    if let Some(text) = files.remove(sample.paths[from]) {
                        changes.push(GraphChange::Removed { path: sample.paths[from].to_owned() });
                        changes.push(put_file(sample.paths[to], &text));
                        files.insert(sample.paths[to], text);
                    }
                }
            }
        }
        graph.update(changes, 1);
        prop_assert_eq!(
            format_edges(&graph, EdgeKind::ALL),
            format_edges(&rebuild(&files), EdgeKind::ALL)
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_update_equals_a_rebuild(batches in edit_batches(&ECMASCRIPT)) {
        check_batches(&ECMASCRIPT, batches)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_update_with_overloads_equals_a_rebuild(batches in edit_batches(&JAVA)) {
        check_batches(&JAVA, batches)?;
    }

    #[test]
    fn an_update_with_namespaces_equals_a_rebuild(batches in edit_batches(&CPP)) {
        check_batches(&CPP, batches)?;
    }

    #[test]
    fn an_update_with_items_in_macros_equals_a_rebuild(batches in edit_batches(&RUST)) {
        check_batches(&RUST, batches)?;
    }
}

#[test]
fn only_a_change_of_the_interface_affects_other_files() {
    let mut graph = SymbolGraph::default();
    let text = "export function f() { return 1 }\n";
    graph.update(vec![put_file("a.ts", text), put_file("b.ts", "import { f } from './a'; f()")], 1);
    let (a, b) = (graph.file_id("a.ts").unwrap(), graph.file_id("b.ts").unwrap());

    // A comment moves `f` to another line, but is not part of the interface.
    let updated = graph.update(vec![put_file("a.ts", &format!("// why\n{text}"))], 1);
    assert_eq!(updated.resolved, [a]);

    // Another exported name is: the importer is resolved again.
    let updated = graph.update(vec![put_file("a.ts", "export function g() {}")], 1);
    assert_eq!(updated.resolved, [a, b]);
}

#[test]
fn a_new_file_resolves_earlier_imports_of_it() {
    let mut graph = SymbolGraph::default();
    // The imported file does not exist.
    graph.update(vec![put_file("b.ts", "import { f } from './a'; export const g = () => f()")], 1);
    assert_eq!(format_edges(&graph, EdgeKind::ALL).len(), 0);

    // It is added: the call in the unchanged file gets its target.
    graph.update(vec![put_file("a.ts", "export function f() {}")], 1);
    assert_eq!(format_edges(&graph, &[EdgeKind::Calls]), ["b.ts:g calls a.ts:f (import)"]);

    // It is removed: so is the edge.
    graph.update(vec![GraphChange::Removed { path: "a.ts".to_owned() }], 1);
    assert_eq!(format_edges(&graph, EdgeKind::ALL).len(), 0);
}

#[test]
fn a_path_is_resolved_again_when_a_missing_segment_of_it_appears() {
    // Every step adds a file that defines one more segment of an earlier import path.
    let (mut graph, mut files) = (SymbolGraph::default(), BTreeMap::new());
    let steps = [
        (
            "app/Cargo.toml",
            "[package]\nname = \"app\"\n[dependencies]\nfar = { path = \"../far\" }\n",
        ),
        (
            "app/src/main.rs",
            "use far::deep::below::reach;\nfn main() { reach(); near::inner::go() }\nmod near;\n",
        ),
        ("far/Cargo.toml", "[package]\nname = \"far\"\n"),
        ("far/src/lib.rs", "pub mod deep;\n"),
        ("far/src/deep.rs", "pub mod below { pub fn reach() {} }\n"),
        ("app/src/near.rs", "pub mod inner { pub fn go() {} }\n"),
        (
            "a/Main.java",
            "package a;\nimport b.Outer.Inner.*;\nclass Main { void run() { new Deep(); } }\n",
        ),
        (
            "b/Outer.java",
            "package b;\npublic class Outer { public static class Inner { public static class Deep {} } }\n",
        ),
    ];
    for (path, text) in steps {
        files.insert(path, text.to_owned());
        graph.update(vec![put_file(path, text)], 1);
        assert_eq!(
            format_edges(&graph, EdgeKind::ALL),
            format_edges(&rebuild(&files), EdgeKind::ALL),
            "after {path}"
        );
    }
}
