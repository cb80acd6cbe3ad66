//! The rule tables as data: every rule has a sample that it finds and a near miss that it ignores.
//!
//! Texts are written in the notation of `notation.rs`: `AK|IA{U16}` expands to `AKIA` and 16
//! upper-case letters and digits.

use std::collections::BTreeSet;

use crate::notation::expand;
use crate::samples::SAMPLES;

/// `redaction_mask` looks for the `]` of `[REDACTED: slug]` in the 40 bytes after the space.
const MAX_SLUG_LENGTH: usize = 39;
/// A single letter occurs everywhere, so its pattern would be tried at almost every byte.
const MIN_KEYWORD_LENGTH: usize = 2;

/// Kinds of the secrets in an expanded text.
fn kinds_in(text: &str) -> Vec<&'static str> {
    waylore_secrets::scan(&expand(text)).iter().map(|it| it.kind).collect()
}

#[test]
fn every_rule_fires_on_its_sample() {
    let failing: Vec<_> =
        SAMPLES.iter().filter(|(kind, sample, _)| kinds_in(sample) != [*kind]).collect();
    assert!(failing.is_empty(), "{failing:#?}");
}

#[test]
fn every_rule_is_silent_on_its_near_miss() {
    let failing: Vec<_> =
        SAMPLES.iter().filter(|(kind, _, near_miss)| kinds_in(near_miss).contains(kind)).collect();
    assert!(failing.is_empty(), "{failing:#?}");
}

#[test]
fn every_rule_has_one_sample() {
    let rules: Vec<_> =
        waylore_secrets::RULE_TABLES.iter().flat_map(|it| it.iter()).map(|it| it.kind).collect();
    let samples: Vec<_> = SAMPLES.iter().map(|it| it.0).collect();
    assert_eq!(rules, samples);
}

#[test]
fn kinds_are_unique_slugs_with_a_label() {
    let kinds = waylore_secrets::all_kinds();
    let slugs: BTreeSet<_> = kinds.iter().map(|it| it.slug).collect();
    assert_eq!(slugs.len(), kinds.len());
    for it in kinds {
        assert!(
            it.slug.len() <= MAX_SLUG_LENGTH
                && it
                    .slug
                    .bytes()
                    .all(|it| it == b'-' || it.is_ascii_lowercase() || it.is_ascii_digit()),
            "{}",
            it.slug
        );
        assert!(!it.label.is_empty() && !it.label.ends_with('.'), "{}", it.slug);
    }
}

#[test]
fn every_pattern_compiles() {
    waylore_secrets::compile_all();
}

#[test]
fn every_keyword_is_long_enough_to_be_rare() {
    for rule in waylore_secrets::RULE_TABLES.iter().flat_map(|it| it.iter()) {
        assert!(rule.keywords.iter().all(|it| it.len() >= MIN_KEYWORD_LENGTH), "{}", rule.kind);
    }
}

#[test]
fn a_token_inside_a_longer_word_is_not_found() {
    assert!(kinds_in("xAK|IA{U16}").is_empty());
    assert!(kinds_in("AK|IA{U16}Z").is_empty());
}

#[test]
fn escapes_end_a_word() {
    assert_eq!(kinds_in(r"first\nAK|IA{U16}\nlast"), ["aws-access-key-id"]);
    assert_eq!(kinds_in("id%3DAK|IA{U16}"), ["aws-access-key-id"]);
}
