//! What drafts say, and when they say nothing.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use model::{Payload, SignalKind, Timestamp};

use super::*;
use crate::script::pad;
use crate::sightings;

/// Sessions separated by `---`; the drafts of one signal, with the support given.
fn check(signal: SignalKind, support: Support, script: &str, expect: Expect) {
    let mut seen: Vec<(String, Seen)> = Vec::new();
    for (nth, script) in (0_u8..).zip(script.split("---")) {
        let session = SessionId::new(Timestamp(1), [nth; 10]);
        for it in sightings(&pad(script), &Modules::default())
            .into_iter()
            .filter(|it| it.signal == signal)
        {
            let at = Timestamp(i64::from(nth));
            seen.push((it.key, Seen { session, at, n: it.n, evidence: it.evidence }));
        }
    }
    let mut keys: Vec<String> = seen.iter().map(|it| it.0.clone()).collect();
    keys.sort();
    keys.dedup();
    let mut acc = String::new();
    for key in keys {
        let of: Vec<Seen> = seen.iter().filter(|it| it.0 == key).map(|it| it.1.clone()).collect();
        if let Some(it) = draft(signal, &key, &of, support, &Modules::default()) {
            if let (Some(payload), Some(kind)) = (&it.payload, it.kind.core()) {
                let json = payload.to_json();
                assert_eq!(
                    Payload::parse(kind, &json).unwrap(),
                    *payload,
                    "reads back as its type"
                );
            }
            let _ = writeln!(acc, "{}: {}", it.kind, it.content);
        }
    }
    expect.assert_eq(&acc);
}

fn two_of(first: u32) -> Support {
    Support { first, second: 9, ..Support::default() }
}

#[test]
fn a_coupling_names_both_files_and_what_to_do() {
    let script =
        "edit api.rs\nedit wire.ts --- edit api.rs\nedit wire.ts --- edit api.rs\nedit wire.ts";
    check(
        SignalKind::CoAccess,
        two_of(4),
        script,
        expect![[r"
        causal_dependency: A change to `api.rs` usually needs one in `wire.ts` as well: 3 of the 4 sessions that edited `api.rs` edited both. Check `wire.ts` before you finish.
    "]],
    );
    check(SignalKind::CoAccess, two_of(8), script, expect![""]);
}

#[test]
fn an_error_is_told_with_its_fix_or_not_at_all() {
    let retry = SignalKind::ErrorRetry;
    check(
        retry,
        Support::default(),
        "fail gh pr diff 104 --stat: unknown flag: --stat\nrun gh pr diff 104 --name-only",
        expect![[r"
            error_pattern: `gh pr diff 104 --stat` fails with “unknown flag: --stat”. What worked: `gh pr diff 104 --name-only`.
        "]],
    );
    check(
        retry,
        Support::default(),
        "fail make: a.c:3:1: error: implicit declaration of foo\nsay `foo` must be declared in `a.h` before `a.c` includes it.\nedit a.h\nrun make",
        expect![[r"
            error_pattern: `make` fails with “error: implicit declaration of foo”. `foo` must be declared in `a.h` before `a.c` includes it. It was fixed in `a.h`.
        "]],
    );
    // Nothing is known about the way out.
    check(
        retry,
        Support::default(),
        "fail make: error: implicit declaration of foo\nedit a.h\nrun make",
        expect![""],
    );
    check(retry, Support::default(), "fail make: error: no rule\nread a.h", expect![""]);
    // Another task is no variant of this one.
    check(
        retry,
        Support::default(),
        "fail mise run lint: error: unused x\nrun mise run fmt",
        expect![""],
    );
}

#[test]
fn the_right_place_is_named() {
    check(
        SignalKind::ReadAbandon,
        Support::default(),
        "read a.rs\nread a.rs\nedit b.rs",
        expect![[r"
            gotcha: Start in `b.rs`, not in `a.rs`: sessions read `a.rs` several times and then made their change in `b.rs`.
        "]],
    );
    check(
        SignalKind::RepeatedGrep,
        Support::default(),
        "grep fn computeTotal → src/total.rs --- grep getTotals\ngrep fn computeTotal → src/total.rs",
        expect![[r"
            module_insight: `computeTotal` is in `src/total.rs`; open it there instead of searching for `fn computeTotal`. A search for `getTotals` finds nothing.
        "]],
    );
    check(
        SignalKind::RepeatedGrep,
        Support::default(),
        "grep fn computeTotal → a.rs --- grep fn computeTotal → b.rs",
        expect![""],
    );
}

#[test]
fn a_recipe_has_the_steps_most_sessions_had() {
    check(
        SignalKind::Sequence,
        Support::default(),
        "edit a\nrun mise run fmt\nrun mise run lint\ncommit --- edit a\nrun mise run fmt\nrun mise run lint\nrun go vet\ncommit --- edit a\nrun mise run fmt\nrun mise run lint\ncommit",
        expect![[r"
            workflow_recipe: Before a commit run `mise run fmt`, then `mise run lint`: that is how sessions finish a change here.
        "]],
    );
}

#[test]
fn what_was_said_is_told_as_it_was_said() {
    check(
        SignalKind::SelfCorrection,
        Support::default(),
        "read total.ts\nsay Actually, `total.ts` rounds per line, never on the sum.",
        expect![[r"
            gotcha: `total.ts` rounds per line, never on the sum.
        "]],
    );
    check(
        SignalKind::UserCorrection,
        Support::default(),
        "user please always run `mise run fmt` before committing",
        expect![[r"
            preference: Always run `mise run fmt` before committing.
        "]],
    );
    let work = "read x.rs\n".repeat(21);
    check(
        SignalKind::DeadEnd,
        Support::default(),
        &format!(
            "{work}say I patched `vendor/x.go` by hand first. This approach won't work because `go mod vendor` overwrites it. Use a replace directive in go.mod instead."
        ),
        expect![[r"
            dead_end: I patched `vendor/x.go` by hand first. This approach won't work because `go mod vendor` overwrites it. Use a replace directive in go.mod instead.
        "]],
    );
    check(
        SignalKind::DeadEnd,
        Support::default(),
        &format!("{work}say Let me try a different approach."),
        expect![""],
    );
}
