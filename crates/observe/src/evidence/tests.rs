//! Tests of the stored form: rows of every signal, damaged rows, and the line for people.

use model::SignalKind;

use super::*;
use expect_test::{Expect, expect};

/// Rows as databases of earlier versions hold them: signal, key, evidence.
#[rustfmt::skip]
const STORED: &[(SignalKind, &str, &str)] = &[
    (SignalKind::FileAccess, "src", r#"{"files":["src/a.rs","src/b.rs"],"number":1}"#),
    (SignalKind::CoAccess, "a.rs|b.rs", r#"{"files":["b.rs","a.rs"]}"#),
    (SignalKind::ErrorRetry, "d8fff5f3b283d0f8", r#"{"files":["a.go"],"command":"mise run lint","message":"error: missing t.Parallel","normalised":"<path> error: missing t.parallel","worked":"mise run lint","text":"The linter requires it.","number":2}"#),
    (SignalKind::ErrorRetry, "d8fff5f3b283d0f8", r#"{"command":"make","message":"error: no rule","worked":"make all"}"#),
    (SignalKind::ErrorRetry, "d8fff5f3b283d0f8", r#"{"command":"make","message":"error: no rule"}"#),
    (SignalKind::ErrorRetry, "d8fff5f3b283d0f8", r#"{"files":["src/a.ts"],"command":"npm test","message":"vi is not defined","worked":"npm test","after":"import it from vitest","steps":["npm ci"],"number":3,"ending":"remedy","names":["vi"],"preceding":["npm run build"]}"#),
    (SignalKind::ErrorRetry, "missing src/a.rs", r#"{"files":["src/a.rs","src/deep/a.rs"]}"#),
    (SignalKind::Backtrack, "a.rs", r#"{"files":["a.rs"],"text":"The cache must stay."}"#),
    (SignalKind::Backtrack, "a.rs", r#"{"files":["a.rs"]}"#),
    (SignalKind::ReadAbandon, "a.rs→b.rs", r#"{"files":["a.rs","b.rs"]}"#),
    (SignalKind::RepeatedGrep, "func computetotal", r#"{"files":["src/total.rs"],"before":"getTotals","query":"func computeTotal"}"#),
    (SignalKind::Sequence, "finish a change", r#"{"steps":["mise run test","git commit"]}"#),
    (SignalKind::Sequence, "change api", r#"{"steps":["edit api","edit web","go test","git commit"]}"#),
    (SignalKind::TimeAnomaly, "make e2e", r#"{"command":"make e2e","number":400}"#),
    (SignalKind::SelfCorrection, "7bf05bbaea576780", r#"{"files":["src/total.ts"],"text":"Rounding happens per line.","before":"I was wrong."}"#),
    (SignalKind::ExternalReference, "token scope", r#"{"files":[".goreleaser.yaml"],"query":"Token scope"}"#),
    (SignalKind::GlobIgnore, "**/*.rs", r#"{"files":["src/f7.rs"],"query":"**/*.rs","number":30}"#),
    (SignalKind::ImportChase, "a.ts→b.ts", r#"{"files":["a.ts","b.ts"]}"#),
    (SignalKind::TestOrder, "src first", r#"{"text":"first"}"#),
    (SignalKind::ConfigTouch, "a.rs→Cargo.toml", r#"{"files":["a.rs","Cargo.toml"]}"#),
    (SignalKind::StepOverrun, "src", r#"{"number":12,"other":6}"#),
    (SignalKind::ParallelConflict, "a.rs", r#"{"files":["a.rs"],"number":2}"#),
    (SignalKind::ContextTokenSpike, "big.json", r#"{"files":["big.json"],"number":7500}"#),
    (SignalKind::DeadEnd, "b92d4bb74028f605", r#"{"files":["src/a.rs"],"text":"This approach won't work.","before":"I patched it.","after":"Let me use a fork."}"#),
    (SignalKind::DeadEnd, "taken back 00000000-0005-7101-8101-010101010101", r#"{"files":["a.rs"],"text":"Revert \"x\"","before":"Add a cache"}"#),
    (SignalKind::CausalStatement, "schema.sql→row.rs", r#"{"files":["schema.sql"],"text":"Whenever you change `schema.sql` you must also update `row.rs`.","steps":["schema.sql","row.rs"]}"#),
    (SignalKind::UserCorrection, "e8b2b8e8e5495ab3", r#"{"text":"always run `mise run fmt`"}"#),
    (SignalKind::UserCorrection, "e8b2b8e8e5495ab3", r#"{"text":"staging has no redis","wish":"told"}"#),
    (SignalKind::Recorded, "2f85016ecccfb5e5", r#"{"text":"Totals round per line.","query":"gotcha","steps":["money"]}"#),
    (SignalKind::Recorded, "2f85016ecccfb5e5", r#"{"text":"Totals round per line.","query":"dead_end","modules":["billing"],"scope":"module","payload":{"tried":"a","why_failed":"b"}}"#),
    (SignalKind::Claim, "person 2f85016ecccfb5e5", r#"{"files":["src/upload.ts"],"text":"Uploads are retried at most 5 times.","before":"no, uploads are retried at most 5 times, not forever","after":"the next edits touched src/upload.ts; `npm test` passed","steps":["file src/upload.ts","command npm test"],"number":820,"other":1794700800000}"#),
    (SignalKind::Claim, "agent 2f85016ecccfb5e5", r#"{"text":"Totals round per line.","before":"Totals round per line."}"#),
];

#[test]
fn stored_rows_are_parsed_and_written_unchanged() {
    for (signal, key, stored) in STORED {
        let evidence = Evidence::parse(&PatternKey::from_stored(*signal, *key), stored);
        assert!(!matches!(evidence, Evidence::Other(_)), "{signal}: {stored}");
        assert_eq!(evidence.to_json(), *stored, "{signal}");
    }
    for signal in SignalKind::ALL {
        assert!(STORED.iter().any(|it| it.0 == *signal), "no stored row of {signal}");
    }
}

#[test]
fn masking_reaches_every_text_and_no_path() {
    // The variant and its stored fields are masked separately; both must give the same row.
    for (signal, key, stored) in STORED {
        let key = PatternKey::from_stored(*signal, *key);
        let mut evidence = Evidence::parse(&key, stored);
        let mut fields: EvidenceFields = serde_json::from_str(stored).unwrap();
        // The text of `test_order` is not masked: it is one of our own two words, `first` or `after`.
        if *signal != SignalKind::TestOrder {
            fields.texts_mut().into_iter().for_each(|it| it.push('*'));
            evidence.map_texts(|it| it.push('*'));
        }
        assert_eq!(EvidenceFields::from_evidence(&evidence), fields, "{signal}");
    }
}

#[test]
fn the_type_of_a_note_is_no_query() {
    let stored = r#"{"text":"Totals round per line.","query":"gotcha","steps":["money"]}"#;
    let key = PatternKey::from_stored(SignalKind::Recorded, "2f85016ecccfb5e5");
    let evidence = Evidence::parse(&key, stored);
    assert_eq!(evidence.summary_line(), "Totals round per line. · money");
}

/// Checks the JSON and the summary of a row that does not have the form of its signal.
fn check_other(signal: SignalKind, stored: &str, expect: Expect) {
    let evidence = Evidence::parse(&PatternKey::from_stored(signal, "k"), stored);
    assert!(matches!(evidence, Evidence::Other(_)), "{evidence:?}");
    expect.assert_eq(&format!("{} {}", evidence.to_json(), evidence.summary_line()));
}

#[test]
fn fields_that_do_not_fit_their_signal_are_only_shown() {
    check_other(
        SignalKind::CoAccess,
        r#"{"files":["a.rs"],"text":"said"}"#,
        expect![[r#"{"files":["a.rs"],"text":"said"} said · a.rs"#]],
    );
    check_other(SignalKind::DeadEnd, "not JSON", expect!["{} "]);
    check_other(
        SignalKind::Recorded,
        r#"{"command":"make","added_later":7}"#,
        expect![[r#"{"command":"make"} command: make"#]],
    );
}

#[test]
fn a_summary_line_names_every_detail() {
    // The row with the most fields.
    let (signal, key, stored) = STORED[2];
    let evidence = Evidence::parse(&PatternKey::from_stored(signal, key), stored);
    expect!["The linter requires it. · command: mise run lint · message: error: missing t.Parallel · then: mise run lint · a.go"]
        .assert_eq(&evidence.summary_line());
}
