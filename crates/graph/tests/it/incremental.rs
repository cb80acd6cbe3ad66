//! Any sequence of edits, renames and deletes gives what starting over gives.

use std::collections::BTreeMap;

use proptest::prelude::*;
use waylore_graph::{Change, EdgeKind, Graph};

use crate::kit::{edges, put};

/// Pieces that files are made of; together they refer to one another in every way.
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

const NAMES: &[&str] = &["f0.ts", "f1.ts", "f2.ts", "f3.ts", "f1/index.ts"];

#[derive(Clone, Debug)]
enum Step {
    Write(usize, Vec<usize>),
    Delete(usize),
    Rename(usize, usize),
}

fn step() -> impl Strategy<Value = Step> {
    let name = 0..NAMES.len();
    prop_oneof![
        4 => (name.clone(), prop::collection::vec(0..PIECES.len(), 0..8)).prop_map(|it| Step::Write(it.0, it.1)),
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_update_is_as_good_as_starting_over(batches in prop::collection::vec(prop::collection::vec(step(), 1..4), 1..12)) {
        let mut files: BTreeMap<&str, String> = BTreeMap::new();
        let mut graph = Graph::default();
        for batch in batches {
            let mut changes = Vec::new();
            for step in batch {
                match step {
                    Step::Write(name, pieces) => {
                        let text: String = pieces.iter().map(|it| PIECES[*it]).collect();
                        changes.push(put(NAMES[name], &text));
                        files.insert(NAMES[name], text);
                    }
                    Step::Delete(name) => {
                        files.remove(NAMES[name]);
                        changes.push(Change::Gone { path: NAMES[name].to_owned() });
                    }
                    Step::Rename(from, to) => {
                        if let Some(text) = files.remove(NAMES[from]) {
                            changes.push(Change::Gone { path: NAMES[from].to_owned() });
                            changes.push(put(NAMES[to], &text));
                            files.insert(NAMES[to], text);
                        }
                    }
                }
            }
            graph.update(changes, 1);
            prop_assert_eq!(edges(&graph, ALL), edges(&rebuilt(&files), ALL));
        }
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
