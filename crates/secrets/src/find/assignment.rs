//! Values beside a name that suggests a secret: assignments in configuration and code, headers,
//! flags, sentences.
//!
//! The keyword is a word inside the name, such as `token` in `GITHUB_TOKEN=…`. `find.rs` calls this
//! file at every such word. It finds the whole name around the word. `assignment_parser` then
//! parses what links the name to a value, and `value_check` decides whether the value is a secret:
//!
//! ```text
//! text    "github_token": "x7Kq…"
//! word    `token`, of strength `Key`               from the table in `words.rs`
//! parts   name `github_token`, link `Colon`, value `x7Kq…` in quotes
//! claim   the value, of kind `token`, if it looks random
//! ```

use std::ops::Range;

use super::{SecretClaim, assignment_parser, value_check};
use crate::bytes::{contains_text, is_name, run_end, run_start};
use crate::words::{HARMLESS_LAST_WORDS, HARMLESS_NAME_PARTS, SecretWord, WordEnd, WordStrength};

/// The text that links a name to its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameLink {
    /// `name = value`, `name := value`, `name => value`, and comparisons: `name == value`.
    Equals,
    /// `name: value`, which prose and reports use, too.
    Colon,
    /// `name("value"`, `"name", "value"`.
    Call,
    /// `<name>value</`, `key="name" value="value"`.
    Markup,
    /// `the password is "value"`.
    Sentence,
    /// `name value`.
    Blank,
    /// `name-value`, `name.value`.
    Joint,
}

/// A value with the evidence around it.
#[derive(Debug)]
pub(super) struct Assignment<'a> {
    pub(super) name: &'a [u8],
    pub(super) link: NameLink,
    /// The byte that ends the value; `None` for a bare one.
    pub(super) quote: Option<u8>,
    /// Only the sign separates name and value.
    pub(super) is_tight: bool,
    /// Name and value fill a line, or an item in a list of settings.
    pub(super) is_own_setting: bool,
    /// `Bearer`, `Basic` or the like before the value.
    pub(super) scheme: Option<&'static str>,
    pub(super) value: &'a [u8],
    /// Position of the value in the text.
    pub(super) start: usize,
}

// The limits below keep the time per keyword constant, so that a scan is linear in the text.

/// Longest part of a name before the secret word.
const MAX_BYTES_BEFORE_WORD: usize = 48;
/// Longest part of a name after the secret word; it may contain a joined value.
const MAX_BYTES_AFTER_WORD: usize = 160;
/// Latest claims that are compared with a new word. Finders of other kinds may have added a few
/// since the claim that contains the word.
const MAX_COMPARED_CLAIMS: usize = 4;
/// Most joints (`-` or `.`) of a name after which a value is looked for.
const MAX_JOINTS: usize = 4;

/// Claims the value of a name that contains a secret word at `word_span`.
pub(super) fn claim_word(
    acc: &mut Vec<SecretClaim>,
    text: &[u8],
    word_span: Range<usize>,
    word: &SecretWord,
) {
    if word.end == WordEnd::Whole && continues_word(text, word_span.end) {
        return;
    }
    claim_beside(acc, text, word_span, word.strength, word.kind);
}

/// Claims the value of a name that contains the name of a service at `word_span`.
pub(super) fn claim_service(acc: &mut Vec<SecretClaim>, text: &[u8], word_span: Range<usize>) {
    // A service must be a word of its own: `okta_key` and `oktaKey`, but not `rookTable`.
    let is_inside_word = word_span.start > 0 && text[word_span.start - 1].is_ascii_alphabetic();
    if !is_inside_word && !continues_word(text, word_span.end) {
        claim_beside(acc, text, word_span, WordStrength::Service, "service-key");
    }
}

/// Claims the value of the name that contains `word`, if it looks like a secret.
fn claim_beside(
    acc: &mut Vec<SecretClaim>,
    text: &[u8],
    word: Range<usize>,
    strength: WordStrength,
    kind: &'static str,
) {
    // A word inside a value that is already claimed adds nothing. The latest claims suffice,
    // because the keywords come in order.
    let mut latest_claims = acc.iter().rev().take(MAX_COMPARED_CLAIMS);
    if latest_claims.any(|claim| claim.start <= word.start && word.end <= claim.end) {
        return;
    }
    let name_start = run_start(text, word.start, MAX_BYTES_BEFORE_WORD, is_name);
    let name = name_start..run_end(text, word.end, MAX_BYTES_AFTER_WORD, is_name);
    let is_secret = |it: &Assignment| value_check::is_secret(it, strength);
    // First a value after the name, then one that the name itself contains: `token-x7Kq…`.
    let assignment = assignment_parser::parse_assignment(text, name.clone(), word.end)
        .filter(is_secret)
        .or_else(|| joined_value(text, name, word.end).filter(is_secret));
    let Some(assignment) = assignment else { return };
    if is_harmless(assignment.name) {
        return;
    }
    let end = assignment_parser::full_value_end(text, &assignment);
    acc.push(SecretClaim { kind, start: assignment.start, end });
}

/// True if a word continues after `end`: `passed` and `PASSED` do, `passKey` and `PASS_` do not.
fn continues_word(text: &[u8], end: usize) -> bool {
    let Some(next) = text.get(end) else { return false };
    // After a capital a further capital continues the word; after a small letter it starts one.
    let ends_with_capital = text[end - 1].is_ascii_uppercase();
    next.is_ascii_lowercase() || (ends_with_capital && next.is_ascii_uppercase())
}

/// A value that is only joined to its name: the first part after a `-` or `.` that looks random.
fn joined_value(text: &[u8], name: Range<usize>, word_end: usize) -> Option<Assignment<'_>> {
    let end = name.end;
    let is_joint = |position: &usize| matches!(text[*position], b'-' | b'.');
    let mut value_starts =
        (word_end..end).filter(is_joint).take(MAX_JOINTS).map(|position| position + 1);
    let start = value_starts.find(|start| value_check::is_joined(&text[*start..end]))?;
    Some(Assignment {
        name: &text[name.start..start - 1],
        link: NameLink::Joint,
        quote: None,
        is_tight: true,
        is_own_setting: false,
        scheme: None,
        value: &text[start..end],
        start,
    })
}

/// True if a part of the name, or its last word, shows that its value is no secret.
fn is_harmless(name: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    HARMLESS_NAME_PARTS.iter().any(|it| contains_text(&lower, it)) || describes_secret(name)
}

/// True if the name is that of a property of a secret: `credentialsId`, `SECRET_NAME`,
/// `token.length`. The `secret_id` of an application is half of its login, so it counts as a
/// secret.
fn describes_secret(name: &[u8]) -> bool {
    let last = last_word(name);
    let before = &name[..name.len() - last.len()];
    let is_secret_id = last == b"id" && before.to_ascii_lowercase().ends_with(b"secret_");
    // A name of one word has nothing that the word could be a property of.
    if before.is_empty() || is_secret_id {
        return false;
    }
    HARMLESS_LAST_WORDS.iter().any(|it| last.eq_ignore_ascii_case(it.as_bytes()))
}

/// The last word of a name: `Id` of `credentialsId`, `NAME` of `SECRET_NAME`.
fn last_word(name: &[u8]) -> &[u8] {
    let is_word_start = |position: &usize| {
        let (before, first) = (name[*position - 1], name[*position]);
        let follows_separator = matches!(before, b'_' | b'-' | b'.');
        let starts_camel_word = before.is_ascii_lowercase() && first.is_ascii_uppercase();
        follows_separator || starts_camel_word
    };
    let start = (1..name.len()).rev().find(is_word_start).unwrap_or(0);
    &name[start..]
}
