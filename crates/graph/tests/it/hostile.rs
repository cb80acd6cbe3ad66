//! Hostile input: deep nesting, cyclic names, invalid UTF-8, damaged facts. Nothing may panic,
//! overflow the stack or run forever.
//!
//! An overflow aborts the process. The abort message names the thread, and threads are named after
//! the text that they read.

use std::thread;

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

/// Stack of the threads that read deeply nested text: that of most threads, the ones that index
/// among them.
const STACK_BYTES: usize = 2 << 20;

/// Levels of a nest. Without a bound, a recursion over so many levels needs more than the stack.
const N_LEVELS: usize = 20_000;

/// Extracts a text and resolves it. The test is that this ends without a panic.
fn extract_and_resolve(language: SourceLanguage, path: &str, text: &[u8]) {
    let facts = extract_facts(language, path, text);
    let mut graph = SymbolGraph::default();
    graph.update(vec![GraphChange::Put { path: path.to_owned(), facts }], 1);
    assert_eq!(graph.len(), 1);
}

/// Extracts a text as every language and resolves it.
fn extract_in_every_language(text: &[u8]) {
    for (language, path) in LANGUAGE_FILES {
        extract_and_resolve(*language, path, text);
    }
}

/// Runs `work` on a thread with a stack of this size, named `name`.
fn run_with_stack(stack_bytes: usize, name: String, work: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().name(name).stack_size(stack_bytes).spawn(work);
    thread.unwrap().join().unwrap();
}

/// Runs `work` with every language and the path of one of its files, the languages in parallel.
fn for_each_language_in_parallel(work: impl Fn(SourceLanguage, &'static str) + Sync) {
    thread::scope(|scope| {
        for (language, path) in LANGUAGE_FILES {
            scope.spawn(|| work(*language, path));
        }
    });
}

#[test]
fn the_list_of_files_has_every_language() {
    for language in SourceLanguage::ALL {
        assert!(LANGUAGE_FILES.iter().any(|it| it.0 == *language), "{language} is missing");
    }
}

#[test]
fn a_hundred_thousand_brackets_do_not_break_the_stack() {
    const BRACKETS: &[(&str, &str)] = &[
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("f(", ")"),
        ("if (a) {", "}"),
        ("a.b(", ")"),
        ("<a>", "</a>"),
    ];
    // In other languages these are no syntax, only the same brackets as above.
    const MACRO_BRACKETS: &[(&str, &str)] = &[("m!{", "}"), ("m!(a, ", ")")];
    for_each_language_in_parallel(|language, path| {
        let is_rust = language == SourceLanguage::Rust;
        let macros = if is_rust { MACRO_BRACKETS } else { &[] };
        // Without the tag, everything is text to PHP.
        let start = if language == SourceLanguage::Php { "<?php " } else { "" };
        for (open, close) in BRACKETS.iter().chain(macros) {
            let nest = [open.repeat(N_LEVELS), close.repeat(N_LEVELS)].concat();
            let texts = [
                format!("{start}{}", open.repeat(100_000 / open.len())),
                format!("{start}x = {nest}"),
            ];
            for text in texts {
                let name = format!("{path}: {open}");
                run_with_stack(STACK_BYTES, name, move || {
                    extract_and_resolve(language, path, text.as_bytes());
                });
            }
        }
    });
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
fn syntax_that_nests_deeply_does_not_break_the_stack() {
    for_each_language_in_parallel(|language, path| {
        for (_, place, constructs) in NESTED_SYNTAX.iter().filter(|it| it.0 == language) {
            for (opening, innermost, closing) in *constructs {
                let (openings, closings) = (opening.repeat(N_LEVELS), closing.repeat(N_LEVELS));
                let text = place.replace('…', &[&openings, *innermost, &closings].concat());
                let name = format!("{path}: {}", place.replace('…', opening));
                run_with_stack(STACK_BYTES, name, move || {
                    extract_and_resolve(language, path, text.as_bytes());
                });
            }
        }
    });
}

/// A long list of statements does not nest, but terms and values that are made of earlier ones do.
#[test]
fn values_that_nest_deeply_do_not_break_the_stack() {
    const N_STATEMENTS: usize = 10_000;
    // The values of 10,000 statements fill far more than this stack, and the syntax is flat.
    const SMALL_STACK_BYTES: usize = 256 << 10;
    // `#` is the number of the statement, `@` that of the next.
    for (path, start, statement) in [
        ("a.py", "def f():\n  x = 1\n", "  x = g(x)\n  x = h(x)\n"),
        ("a.py", "def f():\n", "  x@ = [x#]\n  x@.append(1)\n"),
        ("a.rb", "x = 1\n", "x = g(x)\nx = h(x)\n"),
        ("a.ts", "", "type T@ = T# & A; let y#: T@; y#.f();\n"),
        ("a.ts", "class C<T> { a: T }\n", "let x@: C<typeof x#>; x@.a();\n"),
    ] {
        let language = LANGUAGE_FILES.iter().find(|it| it.1 == path).unwrap().0;
        let statements = (0..N_STATEMENTS)
            .map(|i| statement.replace('#', &i.to_string()).replace('@', &(i + 1).to_string()));
        let text = [start.to_owned(), statements.collect::<Vec<_>>().concat()].concat();
        run_with_stack(SMALL_STACK_BYTES, format!("{path}: {statement}"), move || {
            extract_and_resolve(language, path, text.as_bytes());
        });
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

/// A nest: what opens each level, what is innermost, what closes each level.
type Nest = (&'static str, &'static str, &'static str);

/// Constructs that nest: a language, a text with `…` in the place of the nest, and the nests. Nearly
/// all are read ahead of the walk, by a recursion of their own.
#[rustfmt::skip]
const NESTED_SYNTAX: &[(SourceLanguage, &str, &[Nest])] = &[
    // Types.
    (SourceLanguage::TypeScript, "let x: … = y;", &[
        ("A<", "B", ">"), ("[", "B", "]"), ("(", "B", ")"), ("A & ", "B", ""), ("A | ", "B", ""), ("a.", "B", ""), ("{ a: ", "B", "}"),
        ("() => ", "B", ""), ("", "B", "[]"), ("A[", "B", "]"), ("typeof f<", "B", ">"),
    ]),
    (SourceLanguage::TypeScript, "type T = …;", &[
        ("A & ", "{ a: B }", ""), ("", "{ a: B }", " & A"), ("(", "{ a: B }", ")"), ("Readonly<", "{ a: B }", ">"), ("readonly ", "{ a: B }", ""),
    ]),
    (SourceLanguage::TypeScript, "class C extends A<…> {}", &[("A<", "B", ">")]),
    (SourceLanguage::TypeScript, "interface I<T extends …> {}", &[("A<", "B", ">")]),
    (SourceLanguage::TypeScript, "f<…>();", &[("A<", "B", ">")]),
    (SourceLanguage::TypeScript, "x = new A<…>();", &[("A<", "B", ">")]),
    (SourceLanguage::TypeScript, "x = y as …;", &[("A<", "B", ">"), ("typeof f<", "B", ">")]),
    (SourceLanguage::Rust, "fn f(x: …) {}", &[
        ("A<", "B", ">"), ("&", "B", ""), ("(", "B", ",)"), ("[", "B", "]"), ("dyn A<", "B", ">"), ("Box<dyn Fn() -> ", "B", ">"), ("a::", "B", ""), ("A<", "B", ">::C"), ("<A as ", "B", ">::C"),
    ]),
    (SourceLanguage::Rust, "impl … {}", &[("A<", "B", ">"), ("&", "B", ""), ("A<", "B", ">::C")]),
    (SourceLanguage::Rust, "impl … for A {}", &[("A<", "B", ">")]),
    (SourceLanguage::Rust, "trait T: … {}", &[("A<", "B", ">")]),
    (SourceLanguage::Rust, "fn f() { A::<…>::b(); }", &[("A<", "B", ">")]),
    (SourceLanguage::Rust, "fn f() { A::<…> { b: 1 }; }", &[("A<", "B", ">")]),
    (SourceLanguage::Go, "package a\nfunc f(x …) {}\n", &[
        ("A[", "B", "]"), ("*", "B", ""), ("(", "B", ")"), ("map[string]", "B", ""), ("[]", "B", ""), ("func() ", "B", ""), ("func() (", "B", ", error)"), ("struct { a ", "B", "}"),
    ]),
    (SourceLanguage::Go, "package a\nfunc (s …) f() {}\n", &[("A[", "B", "]"), ("*", "B", ""), ("(", "B", ")")]),
    (SourceLanguage::Go, "package a\nfunc f() … {}\n", &[("func() ", "B", "")]),
    (SourceLanguage::Go, "package a\ntype T struct { … }\n", &[("A[", "B", "]")]),
    (SourceLanguage::Go, "package a\nfunc f() { x := new(…) }\n", &[("A[", "B", "]"), ("func() ", "B", "")]),
    (SourceLanguage::Java, "class A { … x; }", &[
        ("A<", "B", ">"), ("a.", "B", ""), ("A.B<C>.", "D", ""), ("", "B", "[]"), ("A<? extends ", "B", ">"), ("@X ", "B", ""),
    ]),
    (SourceLanguage::Java, "class A extends … {}", &[("a.", "B", "")]),
    (SourceLanguage::Java, "class A { A x = new …(); }", &[("A<", "B", ">"), ("a.", "B", "")]),
    (SourceLanguage::CSharp, "class A { … x; }", &[("A<", "B", ">"), ("a.", "B", ""), ("", "B", "[]"), ("", "B", "?"), ("(A, ", "B", ")")]),
    (SourceLanguage::CSharp, "class A : … {}", &[("A<", "B", ">"), ("a.", "B", "")]),
    (SourceLanguage::Cpp, "… x;", &[("A<", "B", ">"), ("a::", "B", ""), ("decltype(", "B", ")"), ("struct { ", "int a;", " }")]),
    (SourceLanguage::Cpp, "class A : … {};", &[("a::", "B", "")]),
    (SourceLanguage::Python, "x: … = y\n", &[("A[", "B", "]"), ("A | ", "B", ""), ("(", "B", ")"), ("a.", "B", ""), ("Callable[[], ", "B", "]")]),
    (SourceLanguage::Python, "x: '…' = y\n", &[("a.", "B", "")]),
    (SourceLanguage::Php, "<?php function f(… $x) {}", &[("?", "A", ""), ("A|", "B", ""), ("A\\", "B", "")]),
    (SourceLanguage::Ruby, "class … < A; end\n", &[("A::", "B", "")]),

    // Patterns and declarators.
    (SourceLanguage::TypeScript, "const … = x;", &[("[", "a", "]"), ("{ a: ", "b", "}"), ("[b = ", "a", "]"), ("[...", "a", "]")]),
    (SourceLanguage::TypeScript, "((…) => 1);", &[("[", "a", "]"), ("{ a: ", "b", "}"), ("[b = ", "a", "]"), ("{ a = ", "b", "}")]),
    (SourceLanguage::Rust, "fn f() { let … = x; }", &[("(", "a", ",)"), ("&", "a", ""), ("Some(", "a", ")"), ("A { a: ", "b", "}"), ("a @ ", "b", ""), ("a | ", "b", "")]),
    (SourceLanguage::Rust, "fn f() { let A::<…> { a } = x; }", &[("A<", "B", ">")]),
    (SourceLanguage::Python, "… = y\n", &[("(", "b", ",)"), ("[", "b", "]"), ("(", "b", ")"), ("(a, ", "b", ")"), ("[*", "b", "]")]),
    (SourceLanguage::Python, "for … in y: pass\n", &[("[", "b", "]"), ("(", "b", ",)")]),
    (SourceLanguage::Python, "match x:\n  case …: pass\n", &[("[", "a", "]")]),
    (SourceLanguage::C, "int …;", &[("(*", "x", ")"), ("*", "x", ""), ("", "x", "[1]"), ("", "x", "(int)")]),
    (SourceLanguage::Cpp, "void f(…) {}", &[("int (*f)(", "int", ")")]),
    (SourceLanguage::Ruby, "…, a = b\n", &[("(", "a", ", b)")]),
    (SourceLanguage::Php, "<?php … = $x;", &[("[", "$a", "]")]),

    // Imports, namespaces, manifests.
    (SourceLanguage::Rust, "use …;", &[("a::{", "b", "}"), ("{", "b", "}"), ("a::", "b", ""), ("a::", "*", ""), ("a::", "b as c", ""), ("a::", "{b, c}", ""), ("super::", "b", "")]),
    (SourceLanguage::Python, "import …\n", &[("a.", "b", "")]),
    (SourceLanguage::Java, "import …;", &[("a.", "b", "")]),
    (SourceLanguage::CSharp, "namespace …;", &[("a.", "b", "")]),
    (SourceLanguage::Cpp, "namespace … {}", &[("a::", "b", "")]),
    (SourceLanguage::Cpp, "using …;", &[("a::", "b", "")]),
    (SourceLanguage::Php, "<?php use …;", &[("a\\", "b", "")]),
    (SourceLanguage::Manifest, "{\"exports\": …}", &[("{\"a\": ", "\"b\"", "}"), ("[", "\"b\"", "]")]),

    // Expressions.
    (SourceLanguage::TypeScript, "x = …;", &[
        ("(", "a", " as A)"), ("{ a: ", "b", "}"), ("xs.map(x => ", "a", ")"), ("() => ", "a", ""), ("a ? b : ", "c", ""), ("`${", "a", "}`"), ("class { a = ", "b", "}"), ("new (", "A", ")()"),
    ]),
    (SourceLanguage::Tsx, "x = …;", &[("<A>", "b", "</A>"), ("<A b={", "c", "} />")]),
    (SourceLanguage::Tsx, "x = <… />;", &[("a.", "B", "")]),
    (SourceLanguage::JavaScript, "module.exports = …;", &[("{ a: ", "b", "}"), ("() => ", "a", "")]),
    (SourceLanguage::Python, "x = …\n", &[("lambda: ", "a", ""), ("a if b else ", "c", ""), ("(a := ", "b", ")"), ("[a for a in ", "b", "]"), ("f'{", "a", "}'")]),
    (SourceLanguage::Rust, "fn f() { let x = …; }", &[("A::<", "B", ">::c"), ("|x| ", "a", ""), ("match a { b => ", "c", " }"), ("if a { b } else ", "{ c }", ""), ("Arc::new(", "a", ")"), ("", "a", "?")]),
    (SourceLanguage::Rust, "fn f() { m!(…); }", &[("a.", "b()", ""), ("a::", "b()", ""), ("", "a()", "?"), ("m!(", "a", ")"), ("|", "(a)", "| b"), ("{ fn f() { m!(", "a", ") } }"), ("a::<", "B", ">()")]),
    (SourceLanguage::Go, "package a\nfunc f() { x := … }\n", &[("append(", "a", ")"), ("func() T { return ", "a", " }()"), ("T{a: ", "b", "}"), ("", "a", ".(T)")]),
    (SourceLanguage::Java, "class A { int x = …; }", &[("(A<B>) ", "a", ""), ("new A() { int x = ", "a", "; }"), ("xs.map(x -> ", "a", ")"), ("a + ", "b", ""), ("A.B<C>::", "d", "")]),
    (SourceLanguage::Cpp, "void f() { x = …; }", &[("std::move(", "a", ")"), ("[] { return ", "a", "; }()"), ("(A<B>) ", "a", ""), ("a::", "b", ""), ("new A(", "a", ")")]),
    (SourceLanguage::CSharp, "class A { int x = …; }", &[("(A) ", "a", ""), ("() => ", "a", ""), ("", "a", "?.b"), ("a switch { _ => ", "b", " }")]),
    (SourceLanguage::Ruby, "x = …\n", &[("A::", "B", ""), ("", "a", ".new"), ("f { ", "a", " }"), ("\"#{", "a", "}\"")]),
    (SourceLanguage::Php, "<?php $x = …;", &[("[", "$a", "]"), ("", "$a", "->b()"), ("fn() => ", "$a", ""), ("new A(", "$a", ")")]),

    // Declarations and statements, which only the walk reads.
    (SourceLanguage::TypeScript, "…", &[("class A { m() {", "a", "} }"), ("namespace a {", "b", "}"), ("if (a) {} else ", "b", "")]),
    (SourceLanguage::Rust, "…", &[("mod a {", "", "}"), ("fn f() {", "", "}"), ("trait T { fn f() {", "", "} }")]),
    (SourceLanguage::Go, "package a\nfunc f() { … }\n", &[("if a {} else ", "{ b }", ""), ("go func() { ", "a", " }()")]),
    (SourceLanguage::Java, "…", &[("class A { ", "int a;", " }"), ("class A { void f() { ", "a();", " } }"), ("enum A { B { ", "int a;", " } }")]),
    (SourceLanguage::Cpp, "…", &[("namespace a { ", "int b;", " }"), ("class A { ", "int a;", " };"), ("template <class T> ", "class A {};", "")]),
    (SourceLanguage::CSharp, "…", &[("namespace A { ", "class B {}", " }"), ("class A { void F() { ", "a();", " } }")]),
    (SourceLanguage::Ruby, "…\n", &[("class A; ", "a", "; end"), ("def f; ", "a", "; end")]),
    (SourceLanguage::Php, "<?php …", &[("class A { function f() { ", "a();", " } }"), ("if ($a) ", "b();", "")]),
];
