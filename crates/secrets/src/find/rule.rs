//! Applies one row of the rule tables at one keyword: the pattern, then the tests that a token of a
//! known shape must also pass (word borders, entropy, no placeholder).
//!
//! For example, the row of GitHub tokens has the keyword `ghp_` and, simplified, the pattern
//! `ghp_[A-Za-z0-9]{36,255}`. `ghp_x7Kq…` is claimed, `ghp_xxxxxxxx…` of a manual is not. The rows
//! are under `rules/`; `find.rs` calls this file where the keyword of a row occurs.

use super::SecretClaim;
use crate::bytes::{OPAQUE_BYTE, ends_token, run_start, starts_token};
use crate::placeholder::{is_alphabet, is_filler, is_placeholder, is_sample};
use crate::random::shannon_entropy;
use crate::rules::COMPILED_RULES;

/// Longest text that a pattern sees. The limit keeps the whole scan linear.
const MAX_MATCH_BYTES: usize = 4096;

/// Claims the token of rule `index` whose keyword is at `keyword_start`.
pub(super) fn claim_rule(
    acc: &mut Vec<SecretClaim>,
    text: &[u8],
    keyword_start: usize,
    index: usize,
) {
    let compiled = &COMPILED_RULES[index];
    let rule = compiled.rule;
    // The token may start before its keyword.
    let start = run_start(text, keyword_start, rule.max_bytes_before, |it| {
        it.is_ascii_graphic() && !is_border(it)
    });
    // A token that may have bytes before its keyword never starts with it.
    if start == keyword_start && rule.max_bytes_before > 0 {
        return;
    }
    // A pattern without a group matches the whole token, which must start and end like one.
    let regex = compiled.regex();
    let is_whole = regex.captures_len() == 1;
    if is_whole && !starts_token(text, start) {
        return;
    }
    let window = &text[start..text.len().min(start + MAX_MATCH_BYTES)];
    let secret = if is_whole {
        regex.find(window).map(|it| it.range())
    } else {
        regex.captures(window).and_then(|it| it.get(1)).map(|it| it.range())
    };
    // A match across a redaction is none.
    let Some(secret) = secret.filter(|it| !window[..it.end].contains(&OPAQUE_BYTE)) else { return };
    let (secret_start, secret_end) = (start + secret.start, start + secret.end);
    let value = &text[secret_start..secret_end];
    if !ends_token(text, secret_end) || shannon_entropy(value) < rule.min_entropy {
        return;
    }
    // An entropy of 0 means that the shape alone is sufficient, whatever the content. A whole token
    // has a known format, which only few placeholders share; a group is a value like any other.
    let is_stand_in = rule.min_entropy > 0
        && if is_whole { is_filler(value) || is_alphabet(value) } else { is_placeholder(value) };
    if !is_stand_in && !is_sample(value) {
        acc.push(SecretClaim { kind: rule.kind, start: secret_start, end: secret_end });
    }
}

/// True for bytes that no token of the tables contains before its keyword.
const fn is_border(it: u8) -> bool {
    matches!(
        it,
        b'"' | b'\'' | b'`' | b'=' | b',' | b';' | b'/' | b'(' | b'<' | b'>' | b'\\' | b'@'
    )
}
