//! Files that the grammar cannot parse completely: what comes after an error is still found, and
//! the file says that it was understood in part.

use waylore_graph::{extract_facts, language_of_path};

/// The names of a file's definitions in text order, and whether the grammar understood all of it.
fn definitions(path: &str, text: &str) -> (Vec<String>, bool) {
    let facts = extract_facts(language_of_path(path).unwrap(), path, text.as_bytes());
    let names = facts.defs_with_ids().map(|(id, _)| facts.qualified_name(id)).collect();
    (names, facts.n_syntax_errors == 0)
}

#[track_caller]
fn check(path: &str, text: &str, expected: &[&str], is_complete: bool) {
    let (names, was_complete) = definitions(path, text);
    assert_eq!(names, expected, "definitions of `{path}`");
    assert_eq!(was_complete, is_complete, "`{path}` understood completely");
}

#[test]
fn call_signatures_without_semicolons_lose_nothing() {
    let text = "\
export interface Handlers<E, P> {
  <I extends Input = {}>(handler1: H<E, P, I>): [H<E, P, I>]

  // two handlers
  <
    I extends Input = {},
    R extends Result = any
  >(
    handler1: H<E, P, I>,
    handler2: H<E, P, I, R>
  ): [H<E, P, I>, H<E, P, I, R>]
  <J>(
    ...handlers: H<E, P, J>[]
  ): H<E, P, J>[]
}
export class Factory<E> { run() {} }
export const create = () => {}
";
    check("a.ts", text, &["Handlers", "Factory", "Factory.run", "create"], true);
}

#[test]
fn an_error_spoils_only_the_declaration_it_is_in() {
    let script = "\
export const a = 1
export interface Broken {
  <<< (((
export function b() {}
export class C { d() {} }
";
    // The broken declaration itself may be lost.
    check("a.ts", script, &["a", "b", "C", "C.d"], false);
    let python = "def a():\n    return (1\n\nclass B:\n    def c(self):\n        pass\n";
    check("a.py", python, &["a", "B", "B.c"], false);
    let go = "package a\n\nfunc A() {\n\tif x {\n}\n\nfunc B() {}\n\ntype C struct{}\n";
    check("a.go", go, &["A", "B", "C"], false);
    let rust = "pub fn a() { let x = ; { }\n\npub fn b() {}\n\n#[derive(Debug)]\npub struct C;\n";
    check("a.rs", rust, &["b", "C"], false);
}

#[test]
fn a_conditional_branch_that_cuts_through_a_block_loses_no_function() {
    let text = "\
int first(int x) {
#ifdef FAST
  if (fast(x)) {
#else
  if (slow(x)) {
#endif
    return 1;
  }
  return 0;
}

int second(void) { return 2; }
";
    check("a.c", text, &["first", "second"], true);
}

#[test]
fn a_file_without_errors_is_understood_completely() {
    check("a.ts", "export const a = 1 < 2\n", &["a"], true);
    check("a.php", "<?php\nfunction a() {}\n", &["a"], true);
}
