//! Any sequence of edits, renames and deletes gives what starting over gives.

use std::collections::BTreeMap;

use proptest::prelude::*;
use waylore_graph::{Change, EdgeKind, Graph};

use crate::kit::{edges, put};

/// The files of a language and the pieces they are made of; together these refer to one another in
/// every way.
struct Kind {
    names: &'static [&'static str],
    pieces: &'static [&'static str],
}

const SCRIPT: Kind =
    Kind { names: &["f0.ts", "f1.ts", "f2.ts", "f3.ts", "f1/index.ts"], pieces: PIECES };

/// Overloads, here and inherited.
const JAVA: Kind = Kind {
    names: &["p/F0.java", "p/F1.java", "p/F2.java", "q/F3.java"],
    pieces: &[
        "package p;\n",
        "import p.*;\n",
        "class A0 { void f(String s) {} void f(int n) {} void f(A0 a) {} }\n",
        "class A0 { void f(Object o) {} A0 g() { return this; } }\n",
        "class B0 extends A0 { void f(B0 b) {} void f(Number n) {} }\n",
        "class B0 { B0 f(A0 a) { return this; } }\n",
        "class C0 extends B0 { void t(A0 a, B0 b) { a.f(1); b.f(b); b.f(a); b.f(\"x\"); a.g().f(b); f(null); } }\n",
    ],
};

/// Items in macros, which make modules come and go.
const RUST: Kind = Kind {
    names: &["src/lib.rs", "src/a.rs", "src/b.rs", "src/a/c.rs", "Cargo.toml"],
    pieces: &[
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

/// Namespaces, and headers that announce what stands elsewhere.
const CPP: Kind = Kind {
    names: &["a.cpp", "b.cpp", "a.h", "c/d.cpp"],
    pieces: &[
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

const PIECES: &[&str] = &[
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
];

#[derive(Clone, Debug)]
enum Step {
    Write(usize, Vec<usize>),
    Delete(usize),
    Rename(usize, usize),
}

fn step(kind: &Kind) -> impl Strategy<Value = Step> + use<> {
    let (name, piece) = (0..kind.names.len(), 0..kind.pieces.len());
    prop_oneof![
        4 => (name.clone(), prop::collection::vec(piece, 0..8)).prop_map(|it| Step::Write(it.0, it.1)),
        1 => name.clone().prop_map(Step::Delete),
        1 => (name.clone(), name).prop_map(|it| Step::Rename(it.0, it.1)),
    ]
}

const ALL: &[EdgeKind] = EdgeKind::ALL;

fn rebuilt(files: &BTreeMap<&str, String>) -> Graph {
    let mut res = Graph::default();
    res.update(files.iter().map(|it| put(it.0, it.1)).collect(), 1);
    res
}

fn batches(kind: &Kind) -> impl Strategy<Value = Vec<Vec<Step>>> + use<> {
    prop::collection::vec(prop::collection::vec(step(kind), 1..4), 1..12)
}

/// Applies batch after batch and compares with a graph made anew each time.
fn run(kind: &Kind, batches: Vec<Vec<Step>>) -> Result<(), TestCaseError> {
    let mut files: BTreeMap<&str, String> = BTreeMap::new();
    let mut graph = Graph::default();
    for batch in batches {
        let mut changes = Vec::new();
        for step in batch {
            match step {
                Step::Write(name, pieces) => {
                    let text: String = pieces.iter().map(|it| kind.pieces[*it]).collect();
                    changes.push(put(kind.names[name], &text));
                    files.insert(kind.names[name], text);
                }
                Step::Delete(name) => {
                    files.remove(kind.names[name]);
                    changes.push(Change::Gone { path: kind.names[name].to_owned() });
                }
                Step::Rename(from, to) => {
                    if let Some(text) = files.remove(kind.names[from]) {
                        changes.push(Change::Gone { path: kind.names[from].to_owned() });
                        changes.push(put(kind.names[to], &text));
                        files.insert(kind.names[to], text);
                    }
                }
            }
        }
        graph.update(changes, 1);
        prop_assert_eq!(edges(&graph, ALL), edges(&rebuilt(&files), ALL));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_update_is_as_good_as_starting_over(batches in batches(&SCRIPT)) {
        run(&SCRIPT, batches)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn so_it_is_with_overloads(batches in batches(&JAVA)) {
        run(&JAVA, batches)?;
    }

    #[test]
    fn so_it_is_with_namespaces(batches in batches(&CPP)) {
        run(&CPP, batches)?;
    }

    #[test]
    fn so_it_is_with_items_in_macros(batches in batches(&RUST)) {
        run(&RUST, batches)?;
    }
}

#[test]
fn a_comment_concerns_nobody_else() {
    let mut graph = Graph::default();
    let text = "export function f() { return 1 }\n";
    graph.update(vec![put("a.ts", text), put("b.ts", "import { f } from './a'; f()")], 1);
    let (a, b) = (graph.id("a.ts").unwrap(), graph.id("b.ts").unwrap());
    let updated = graph.update(vec![put("a.ts", &format!("// why\n{text}"))], 1);
    assert_eq!(updated.resolved, [a]);
    let updated = graph.update(vec![put("a.ts", "export function g() {}")], 1);
    assert_eq!(updated.resolved, [a, b]);
}

#[test]
fn a_new_file_binds_those_who_waited_for_it() {
    let mut graph = Graph::default();
    graph.update(vec![put("b.ts", "import { f } from './a'; export const g = () => f()")], 1);
    assert_eq!(edges(&graph, ALL).len(), 0);
    graph.update(vec![put("a.ts", "export function f() {}")], 1);
    assert_eq!(edges(&graph, &[EdgeKind::Calls]), ["b.ts:g calls a.ts:f (import)"]);
    graph.update(vec![Change::Gone { path: "a.ts".to_owned() }], 1);
    assert_eq!(edges(&graph, ALL).len(), 0);
}

#[test]
fn a_part_of_a_path_is_waited_for_although_nobody_bears_its_name() {
    let (mut graph, mut files) = (Graph::default(), BTreeMap::new());
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
        graph.update(vec![put(path, text)], 1);
        assert_eq!(edges(&graph, ALL), edges(&rebuilt(&files), ALL), "after {path}");
    }
}
