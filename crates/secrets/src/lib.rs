//! Finds and redacts secrets in text.
//!
//! Pure: a text goes in, the positions of secrets come out; the crate depends on no other of ours.
//! An Aho-Corasick automaton searches for keywords, and only at a keyword a pattern or a small
//! parser looks closer. The crate deliberately does not ask a provider whether a token is valid,
//! reads no files, and does not decide what happens to a text that contains a secret.

mod base64;
mod bytes;
mod find;
mod keyword_index;
mod kind;
mod location;
mod placeholder;
mod random;
mod redaction_mask;
mod rules;
mod words;

use find::FinderScope;

pub use kind::{SecretKind, all_kinds};
pub use location::{FindingPosition, locate_findings};
pub use rules::{RULE_TABLES, TokenRule};

/// A secret in a text: bytes `start..end`, on character boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecretFinding {
    /// Slug of the kind, see [`all_kinds`].
    pub kind: &'static str,
    pub start: usize,
    pub end: usize,
}

/// A text without its secrets, and their positions in the original.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedactedText {
    pub text: String,
    pub findings: Vec<SecretFinding>,
}

/// All secrets in a text, in order and without overlap. A span covers the value, not its name.
pub fn scan(text: &str) -> Vec<SecretFinding> {
    find::find_secrets(text, FinderScope::All)
}

/// The secrets of a known format in a path or an id. Unlike [`scan`] it ignores the names around a
/// value: folders named by a hash, and files such as `token=abc.rs`, are no secrets.
pub fn scan_path(text: &str) -> Vec<SecretFinding> {
    find::find_secrets(text, FinderScope::KnownFormats)
}

/// Replaces every secret by `[REDACTED: kind]`. Redacting the result again changes nothing.
pub fn redact(text: &str) -> RedactedText {
    replace_findings(text, scan(text))
}

/// Replaces the secrets that [`scan_path`] finds. The result is a path if the text was one.
pub fn redact_path(text: &str) -> RedactedText {
    replace_findings(text, scan_path(text))
}

fn replace_findings(text: &str, findings: Vec<SecretFinding>) -> RedactedText {
    let mut redacted = String::with_capacity(text.len());
    let mut copied_end = 0;
    for finding in &findings {
        redacted.push_str(&text[copied_end..finding.start]);
        redacted.push_str(redaction_mask::REDACTION_START);
        redacted.push_str(finding.kind);
        redacted.push(']');
        copied_end = finding.end;
    }
    redacted.push_str(&text[copied_end..]);
    RedactedText { text: redacted, findings }
}

/// Compiles all patterns, so that no later call pays for it. For long-lived processes.
pub fn compile_all() {
    keyword_index::KEYWORD_INDEX.automaton.find(b"");
    for rule in rules::COMPILED_RULES.iter() {
        // The first search also allocates the caches of the pattern.
        rule.regex().is_match(b"");
    }
}
