//! The texts of drafts, and the cases without a draft.
//!
//! A test gives sessions as a script (one event per line, sessions separated by `---`) and the expected
//! drafts, one per line: `TYPE: TEXT`. An empty expectation means that the evidence is not enough.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use expect_test::{Expect, expect};
use model::{Payload, SignalKind, Timestamp};

use super::*;
use crate::detect_sightings;
use crate::test_script::pad_from_script;

/// Checks the drafts of one signal, one per line: type and text. The script has several sessions in the
/// notation of `test_script`, separated by `---`.
fn check(signal: SignalKind, script: &str, expect: Expect) {
    let modules = ModuleLookup::default();

    // Detect the sightings of each session, grouped by pattern.
    let mut seen: BTreeMap<PatternKey, Vec<SessionSighting>> = BTreeMap::new();
    for (nth, script) in (0_u8..).zip(script.split("---")) {
        let session = SessionId::new(Timestamp(1), [nth; 10]);
        let sightings = detect_sightings(&pad_from_script(script), &modules);
        for it in sightings.into_iter().filter(|it| it.signal() == signal) {
            let (at, occurrences) = (Timestamp(i64::from(nth)), it.occurrences);
            let sighting = SessionSighting { session, at, occurrences, evidence: it.evidence };
            seen.entry(it.key).or_default().push(sighting);
        }
    }

    // Compose the draft of each pattern.
    let mut acc = String::new();
    for (key, seen) in seen {
        if let Some(draft) = compose_draft(&key, &seen, &modules) {
            // A payload must be readable as the type of its memory.
            if let (Some(payload), Some(kind)) = (&draft.payload, draft.kind.core_kind()) {
                assert_eq!(Payload::parse(kind, &payload.to_json()).unwrap(), *payload);
            }
            let _ = writeln!(acc, "{}: {}", draft.kind, draft.content);
        }
    }
    expect.assert_eq(&acc);
}

#[test]
fn an_error_is_drafted_only_with_its_fix() {
    let retry = SignalKind::ErrorRetry;
    check(
        retry,
        "fail gh pr diff 104 --stat: unknown flag: --stat\nrun gh pr diff 104 --name-only",
        expect![[r"
            error_pattern: Use `gh pr diff 104 --name-only` instead of `gh pr diff 104 --stat`, which fails here with “unknown flag: --stat”.
        "]],
    );
    check(
        retry,
        "fail make: a.c:3:1: error: implicit declaration of foo\nsay `foo` must be declared in `a.h` before `a.c` includes it.\nedit a.h\nrun make",
        expect![[r"
            error_pattern: `make` fails here with “implicit declaration of foo”. `foo` must be declared in `a.h` before `a.c` includes it. It was fixed in `a.h`.
        "]],
    );
    // The agent did not explain the edit.
    check(retry, "fail make: error: implicit declaration of foo\nedit a.h\nrun make", expect![""]);
    // No fix was found.
    check(retry, "fail make: error: no rule\nread a.h", expect![""]);
    // Another subcommand is not a variant.
    check(retry, "fail mise run lint: error: unused x\nrun mise run fmt", expect![""]);
}

/// Checks the drafts about errors of several sessions.
fn check_errors(script: &str, expect: Expect) {
    check(SignalKind::ErrorRetry, script, expect);
}

#[test]
fn a_smaller_run_and_an_unrelated_step_are_no_fix() {
    // A part of the folder passes.
    check_errors(
        "fail dart analyze lib/vpn/: error - a.dart:6:6 - Target of URI doesn't exist: 'b.dart'. Try it. - uri_does_not_exist\nrun dart analyze lib/vpn/domain/",
        expect![""],
    );
    // A build ends no finding of a linter.
    let lint = "fail npx eslint src/: /p/a.ts  3:7  error  'x' is never used  no-unused-vars";
    check_errors(&format!("{lint}\nrun npm run build\nrun npx eslint src/"), expect![""]);
    // A line of quoted source is no message.
    check_errors(
        "fail npx eslint src/: 111 | ^^^^ functions that cannot be memoized\nrun npm run build\nrun npx eslint src/",
        expect![""],
    );
    // A failed test that passes with another option, or by itself.
    let test = "fail npm test: AssertionError: expected 3 to be 4";
    check_errors(&format!("{test}\nrun CI=1 npm test"), expect![""]);
    check_errors(&format!("{test}\nrun npm run build\nrun npm test"), expect![""]);
}

#[test]
fn a_step_is_named_if_it_can_have_made_what_is_missing() {
    check_errors(
        "fail go build ./...: api/a.go:14:9: undefined: pb.Order\nrun buf generate\nrun go build ./...",
        expect![[r"
            error_pattern: `go build ./...` fails here with “undefined: pb.Order”: run `buf generate` first.
        "]],
    );
    // Then the command does its work and finds something.
    check_errors(
        "fail bun run typecheck: bash: tsc: command not found\nedit a.ts\nrun bun install\nfail bun run typecheck: a.ts(3,1): error TS2322: Type 'A' is not assignable to type 'B'.",
        expect![[r"
            error_pattern: `bun run typecheck` fails here with “tsc: command not found”: run `bun install` first.
        "]],
    );
    check_errors(
        "fail git commit -m 'add cart': ✖ Code style issues found in 2 files. Run Prettier with --write to fix.\nrun npm run format\nrun git add -A\nrun git commit -m 'add cart'",
        expect![[r"
            error_pattern: `git commit` fails here in a hook with “✖ Code style issues found in 2 files. Run Prettier with --write to fix.”: run `npm run format` first.
        "]],
    );
}

#[test]
fn a_run_of_nothing_is_a_failure_that_another_call_ends() {
    check_errors(
        "print go test ./it: ok  shop/it  0.2s [no tests to run]\nrun go test -tags it ./it",
        expect![[r"
            error_pattern: Use `go test -tags it ./it` instead of `go test ./it`, which runs nothing here: “no tests to run”.
        "]],
    );
    // Another test was meant.
    check_errors(
        "print go test -run TestA ./it: ok  shop/it  0.2s [no tests to run]\nrun go test -run TestB ./it",
        expect![""],
    );
}

#[test]
fn a_rule_that_sessions_break_again_and_again_is_named() {
    let breach = "fail golangci-lint run: a.go:3:1: error is not nil but it returns nil (nilerr)\nswap a.go x y\nrun golangci-lint run";
    check_errors(breach, expect![""]);
    check_errors(
        &format!("{breach}\n---\n{breach}"),
        expect![[r"
            error_pattern: Keep to the rule `nilerr` of `golangci-lint run`: “error is not nil but it returns nil” (2 sessions). It was fixed in `a.go`.
        "]],
    );
}

#[test]
fn an_error_of_many_sessions_is_told_if_there_is_something_to_do() {
    // The message says by itself what to do.
    let unread = "failedit a.rs: File has not been read yet. Read it first before writing to it.\n";
    let read_first = format!("{unread}read a.rs\nedit a.rs\n");
    check_errors(&format!("{read_first}---\n{read_first}---\n{read_first}"), expect![""]);
    let stale = "failedit a.rs: String to replace not found in file.\n";
    let read_again = format!("{stale}read a.rs\nedit a.rs\n");
    check_errors(
        &format!("{read_again}---\n{read_again}---\n{read_again}"),
        expect![[r"
            error_pattern: `edit` fails with “String to replace not found in file.” (3 sessions): `read` the file first.
        "]],
    );
    check_errors(&format!("{stale}\n---\n{read_again}\n---\n{stale}"), expect![""]);
    check_errors(&format!("{read_again}---\n{read_again}"), expect![""]);
    let docker = "fail docker compose up: bash: docker: command not found\n";
    check_errors(
        &format!("{docker}---\n{docker}---\n{docker}"),
        expect![[r"
            error_pattern: `docker` is missing here (“docker: command not found”, 3 sessions), and no session got past it: do without it, or ask for it.
        "]],
    );
    check_errors(&format!("{docker}---\n{docker}"), expect![""]);
    // The packages of the project are not installed.
    let script = "fail npm run lint: sh: eslint: command not found\n";
    check_errors(&format!("{script}---\n{script}---\n{script}"), expect![""]);
}

#[test]
fn a_missing_program_is_one_error_whatever_it_was_to_run() {
    let session = |script: &str| {
        format!("fail python {script}: bash: python: command not found\nrun python3 {script}\n")
    };
    check_errors(
        &format!("{}---\n{}", session("a.py"), session("tools/b.py")),
        expect![[r"
            error_pattern: Use `python3` instead of `python`, which is missing here (“python: command not found”, 2 sessions).
        "]],
    );
}

#[test]
fn statements_are_quoted_word_for_word() {
    check(
        SignalKind::SelfCorrection,
        "read total.ts\nsay Actually, `total.ts` rounds per line, never on the sum.",
        expect![[r"
            gotcha: `total.ts` rounds per line, never on the sum.
        "]],
    );
    check(
        SignalKind::UserCorrection,
        "user please always run `mise run fmt` before committing",
        expect![[r"
            preference: please always run `mise run fmt` before committing
        "]],
    );
    // A dead end counts only after a longer exploration.
    let work = "read x.rs\n".repeat(21);
    check(
        SignalKind::DeadEnd,
        &format!(
            "{work}say I patched `vendor/x.go` by hand first. This approach won't work because `go mod vendor` overwrites it. Use a replace directive in go.mod instead."
        ),
        expect![[r"
            dead_end: I patched `vendor/x.go` by hand first. This approach won't work because `go mod vendor` overwrites it. Use a replace directive in go.mod instead.
        "]],
    );
    // No reason is given.
    check(SignalKind::DeadEnd, &format!("{work}say Let me try a different approach."), expect![""]);
}
