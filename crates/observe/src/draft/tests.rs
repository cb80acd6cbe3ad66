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
