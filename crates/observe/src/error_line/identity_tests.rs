//! Which errors are the same and which are not: normalised messages and fingerprints.

use super::tests::{FIXTURES, FixtureCase, cases};
use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;
use std::collections::HashMap;

/// Checks `NORMALISED MESSAGE | DISPLAY LINE`; `–` if no error is recognised.
fn check(output: &str, expect: Expect) {
    let error = recognise_error("shell", output);
    let show = |it: RecognisedError| format!("{} | {}", it.normalised_message, it.display_line);
    expect.assert_eq(&error.map_or("–".to_owned(), show));
}

#[test]
fn the_error_line_is_found_and_cleaned() {
    check(
        "Exit code 1\n[lint] $ golangci-lint run ./...\ncmd/a.go:221:3: error is not nil (line 219) but it returns nil (nilerr)",
        expect![
            "error is not nil (line #) but it returns nil (nilerr) | error is not nil (line 219) but it returns nil (nilerr)"
        ],
    );
    check("Exit code 1", expect!["–"]);
    check("Exit code 1\n12 passed, 0 failed", expect!["–"]);
    check(
        "<tool_use_error>File has not been read yet. Read it first.</tool_use_error>",
        expect![
            "file has not been read yet. read it first. | File has not been read yet. Read it first."
        ],
    );
    check(
        "bash: foo: command not found",
        expect!["foo: command not found | foo: command not found"],
    );
}

#[test]
fn an_error_of_a_child_process_is_known_by_what_the_program_printed() {
    check(
        "node:internal/errors:983\n  const err = new Error(message);\n              ^\n\nError: Command failed: npm run migrate\nE42: no such table `users`\n    at genericNodeError (node:internal/errors:983:15)",
        expect!["e42: no such table 'users' | E42: no such table `users`"],
    );
    check(
        "node:child_process:965\n    throw err;\n    ^\n\nError: Command failed: make",
        expect!["error: command failed: make | Error: Command failed: make"],
    );
    check(
        "  File \"a.py\", line 1\n    raise(error\n         ^\nSyntaxError: '(' was never closed",
        expect!["syntaxerror: '(' was never closed | SyntaxError: '(' was never closed"],
    );
}

#[test]
fn the_address_of_a_machine_does_not_make_another_error() {
    let normalised = |output: &str| recognise_error("psql", output).unwrap().normalised_message;
    let refused = |host: &str| {
        normalised(&format!(
            "error: connection to \"localhost\" ({host}), port 5432 failed: refused"
        ))
    };
    assert_eq!(refused("127.0.0.1"), refused("::1"));
    for address in ["127.0.0.1:5432", "::1:5432", "[::1]:5432", ":::3000", "fe80::1"] {
        let error = normalised(&format!("Error: connect ECONNREFUSED {address}: gave up"));
        assert_eq!(error, "error: connect econnrefused #: gave up");
    }
    // A path of Rust is no address.
    assert_eq!(normalised("error: no `std::fs` at 10:30"), "error: no 'std::fs' at #");
}

#[test]
fn a_failed_build_script_is_known_by_what_it_printed() {
    let output = |cause: &str| {
        format!(
            "error: failed to run custom build command for `proto v0.1.0 (/home/me/proto)`\n\nCaused by:\n  process didn't exit successfully: `/home/me/target/debug/build/proto-5f0c/build-script-build` (exit status: 1)\n  --- stdout\n  cargo:rerun-if-changed=a.proto\n\n  --- stderr\n  warning: unused\n  {cause}\nwarning: build failed, waiting for other jobs to finish..."
        )
    };
    check(
        &output("Error: could not find `protoc`"),
        expect!["error: could not find 'protoc' | Error: could not find `protoc`"],
    );
    check(
        &output("Error: protoc failed: a.proto:12:3: \"Money\" is not defined."),
        expect![[
            r#"error: protoc failed: <path> 'money' is not defined. | Error: protoc failed: a.proto:12:3: "Money" is not defined."#
        ]],
    );
}

#[test]
fn a_gradle_error_that_goes_on_is_read_to_its_end() {
    check(
        "FAILURE: Build failed with an exception.\n\n* What went wrong:\nCould not compile build file '/home/me/build.gradle'.\n> startup failed:\n  General error during conversion: Unsupported class file major version 65\n\n* Try:\n> Run with --stacktrace option to get the stack trace.",
        expect![
            "startup failed: general error during conversion: unsupported class file major version # | startup failed: General error during conversion: Unsupported class file major version 65"
        ],
    );
}

#[test]
fn only_a_count_of_zero_reports_no_error() {
    check("0 errors\n(0 failures), 0 failed", expect!["–"]);
    check("12 passed, 10 failed", expect!["# passed, # failed | 12 passed, 10 failed"]);
    check("found 100 errors", expect!["found # errors | found 100 errors"]);
    check("build of v1.0 failed", expect!["build of v#.# failed | build of v1.0 failed"]);
    check(
        "job 550e8400-e29b-41d4-a716-446655440000 failed",
        expect!["job <id> failed | job 550e8400-e29b-41d4-a716-446655440000 failed"],
    );
}

#[test]
fn the_same_failure_on_two_machines_has_one_fingerprint() {
    let first = recognise_error(
        "shell",
        "2026-01-05T13:29:29Z error: cannot open '/home/user/a/x.rs' at 0x7ffe12 port 8080, v1.2.3 (tmp.Xa12f) 550e8400-e29b-41d4-a716-446655440000",
    );
    let second = recognise_error(
        "shell",
        "2025-11-30T01:02:03Z error: cannot open '/Users/me/b/y.rs' at 0x1234ab port 31337, v10.0.12 (tmp.Xa99f) 123e4567-e89b-12d3-a456-426614174000",
    );
    let (first, second) = (first.unwrap(), second.unwrap());
    assert_eq!(first.normalised_message, second.normalised_message);
    assert_eq!(first.fingerprint, second.fingerprint);
    let other = recognise_error("shell", "error: cannot write '/x/y.rs'").unwrap();
    assert_ne!(first.fingerprint, other.fingerprint);
}

proptest! {
    #[test]
    fn any_output_is_accepted(output in "(\\PC|[\"'`\n ]){0,400}") {
        let _ = recognise_error("x", &output);
    }
}

/// The same output in another folder, at another line and time.
fn on_another_machine(output: &str) -> String {
    output
        .replace("/home/me/", "/Users/someone/src/")
        .replace(":10:", ":77:")
        .replace("0.02s", "1.91s")
        .replace("(0.00s)", "(4.20s)")
        .replace("line 4,", "line 19,")
        .replace("2026-01-05", "2025-11-30")
        .replace("(26197)", "(88)")
}

#[test]
fn different_errors_differ_and_the_same_error_on_another_machine_does_not() {
    // Pairs that are the same error: one tool behind another, one command in two shells.
    const SAME: &[&[&str]] = &[
        &["node/node_missing_module", "npm/npm_lifecycle"],
        &["node_test/node_test_tap", "npm/npm_test"],
        &["node_test/node_test_spec", "mocha/assertion"],
        &["make/make_inner", "native/gcc_undeclared"],
        &["shell/bash_command_not_found", "shell/sh_not_found"],
        &["java/maven_test", "java/gradle_test"],
    ];
    let mut seen: HashMap<String, String> = HashMap::new();
    for (fixture, _) in FIXTURES {
        for FixtureCase { name, command, output } in cases(fixture) {
            let Some(error) = recognise_error(command, output) else { continue };
            let case = format!("{fixture}/{name}");
            let elsewhere = recognise_error(command, &on_another_machine(output)).unwrap();
            assert_eq!(error.fingerprint, elsewhere.fingerprint, "{case}: {elsewhere:?}");
            if let Some(other) = seen.insert(error.fingerprint, case.clone()) {
                let is_same = SAME.iter().any(|it| it.contains(&&*case) && it.contains(&&*other));
                assert!(is_same, "{case} and {other} are different errors");
            }
        }
    }
}

#[test]
fn the_name_that_an_error_is_about_tells_it_from_others() {
    let fingerprint = |output: &str| recognise_error("npm test", output).unwrap().fingerprint;
    let pairs = [
        ("Error: Cannot find module 'a'\n    at x", "Error: Cannot find module 'b'\n    at x"),
        ("Error: A_KEY is not set\n    at x", "Error: B_KEY is not set\n    at x"),
        ("npm error Missing script: \"a\"", "npm error Missing script: \"b\""),
        ("bash: line 1: foo: command not found", "bash: line 1: bar: command not found"),
        (
            "a.ts(1,1): error TS2339: Property 'x1' does not exist on type 'T'.",
            "a.ts(1,1): error TS2339: Property 'x2' does not exist on type 'T'.",
        ),
        (
            "a.ts(1,1): error TS2322: Type 'A' is wrong",
            "a.ts(1,1): error TS2345: Type 'A' is wrong",
        ),
        ("HTTP error: status 404", "HTTP error: status 500"),
        ("error: no such table `users`", "error: no such table `orders`"),
        ("FAILED t/a.py::test_x - assert 3 == 4", "FAILED t/a.py::test_x - assert 3 == 5"),
        (
            "ENOENT: no such file or directory, open '/home/me/a/.env'",
            "ENOENT: no such file or directory, open '/home/me/a/config.json'",
        ),
    ];
    for (first, second) in pairs {
        assert_ne!(fingerprint(first), fingerprint(second), "{first} and {second}");
    }
    // A branch, a port and a folder do not make another error.
    let same = [
        (
            "fatal: The current branch a has no upstream branch.",
            "fatal: The current branch b has no upstream branch.",
        ),
        (
            "Error: connect ECONNREFUSED 127.0.0.1:5432\n    at x",
            "Error: connect ECONNREFUSED 127.0.0.1:6543\n    at x",
        ),
        (
            "open '/home/me/a/.env': ENOENT: no such file or directory, open '/home/me/a/.env'",
            "open '/Users/x/.env': ENOENT: no such file or directory, open '/Users/x/.env'",
        ),
        ("bash: line 1: foo: command not found", "zsh: command not found: foo"),
    ];
    for (first, second) in same {
        assert_eq!(fingerprint(first), fingerprint(second), "{first} and {second}");
    }
}
