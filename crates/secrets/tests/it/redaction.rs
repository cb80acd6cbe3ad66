//! Redaction is idempotent, exact, and safe on any text.
//!
//! Samples are written in the notation of `notation.rs`: `AK|IA{U16}` expands to `AKIA` and 16
//! upper-case letters and digits. `check` expands a text, redacts it and compares.

use expect_test::expect;
use proptest::prelude::*;

use crate::notation::{check, expand};
use crate::samples::SAMPLES;

#[test]
fn redacting_twice_changes_nothing() {
    for (kind, sample, _) in SAMPLES {
        let once = waylore_secrets::redact(&expand(sample)).text;
        assert_eq!(waylore_secrets::redact(&once).text, once, "{kind}");
    }
}

#[test]
fn letters_of_any_script_around_a_secret_stay() {
    check(
        "пароль: é AK|IA{U16} 🔑 password=\"pä{A8}ß1\" 終",
        expect![[
            r#"пароль: é [REDACTED: aws-access-key-id] 🔑 password="[REDACTED: password]" 終"#
        ]],
    );
}

#[test]
fn overlapping_claims_become_one_finding() {
    check(
        "Authorization: Bearer gh|p_{A36}",
        expect!["Authorization: Bearer [REDACTED: github-token]"],
    );
    check(
        "token = \"ey|JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{A43}\"",
        expect![[r#"token = "[REDACTED: jwt]""#]],
    );
}

#[test]
fn positions_do_not_reveal_the_secret() {
    let text = expand("one\nтокен gh|p_{A36}\npassword=hunter2!");
    let positions = waylore_secrets::locate_findings(&text, &waylore_secrets::scan(&text));
    let lines: Vec<_> = positions
        .iter()
        .map(|it| format!("{}:{} {} {}", it.line, it.column, it.kind, it.hint))
        .collect();
    expect![[r#"
        2:7 github-token ghp_…(40 characters)
        3:10 password …(8 characters)"#]]
    .assert_eq(&lines.join("\n"));
}

/// Texts made of parts that finders look for, so that borders and overlaps occur often.
fn fragments() -> impl Strategy<Value = String> {
    let samples: Vec<String> = SAMPLES.iter().map(|it| expand(it.1)).collect();
    let glue: Vec<String> = [
        "password",
        "token",
        "key",
        "secret",
        "=",
        ": ",
        "\"",
        "'",
        "\\n",
        "\n",
        " ",
        "-",
        ".",
        "@",
        "://",
        "ü",
        "🔑",
        "{",
        "}",
        "<",
        ">",
        "[REDACTED: jwt]",
        "[REDACTED: ",
        "]",
        ";",
        ",",
        "\u{0}",
        "Basic ",
        "Bearer ",
        "eyJ",
        "-----BEGIN ",
        "PRIVATE KEY-----",
        "a1B2c3D4e5F6g7H8",
        "hunter2!",
    ]
    .map(str::to_owned)
    .into();
    let any = prop_oneof![
        3 => proptest::sample::select(glue),
        1 => proptest::sample::select(samples),
        1 => "\\PC{0,12}",
    ];
    proptest::collection::vec(any, 0..24).prop_map(|it| it.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_redacted_text_holds_no_secret(text in fragments()) {
        let once = waylore_secrets::redact(&text);
        prop_assert_eq!(waylore_secrets::scan(&once.text), vec![]);
    }

    #[test]
    fn findings_are_sorted_disjoint_and_on_character_boundaries(text in fragments()) {
        let mut last_end = 0;
        for finding in waylore_secrets::scan(&text) {
            let (start, end) = (finding.start, finding.end);
            prop_assert!(start >= last_end && start < end);
            prop_assert!(text.is_char_boundary(start) && text.is_char_boundary(end));
            last_end = end;
        }
    }

    #[test]
    fn text_outside_of_findings_is_kept(text in any::<String>()) {
        let redacted = waylore_secrets::redact(&text);
        let mut rest = redacted.text.as_str();
        let mut compared_end = 0;
        for finding in &redacted.findings {
            let before = &text[compared_end..finding.start];
            let expected = format!("{before}[REDACTED: {}]", finding.kind);
            prop_assert!(rest.starts_with(&expected), "{rest}");
            (rest, compared_end) = (&rest[expected.len()..], finding.end);
        }
        prop_assert_eq!(rest, &text[compared_end..]);
    }
}
