//! Runs one row of the rule tables at one keyword.

use super::Claim;
use crate::bytes::{OPAQUE, ends_token, run_back, starts_token};
use crate::placeholder::{is_filler, is_placeholder, is_sample};
use crate::random::entropy;
use crate::rules::COMPILED;

/// No pattern sees further than this from where it starts, which keeps the whole scan linear.
const WINDOW: usize = 4096;

pub(super) fn claim(acc: &mut Vec<Claim>, text: &[u8], at: usize, index: usize) {
    let compiled = &COMPILED[index];
    let rule = compiled.rule;
    let start = run_back(text, at, rule.back, |it| it.is_ascii_graphic() && !is_border(it));
    if start == at && rule.back > 0 {
        return;
    }
    // A row without a group is a token of its own, so it must start and end like one.
    let regex = compiled.regex();
    let whole = regex.captures_len() == 1;
    if whole && !starts_token(text, start) {
        return;
    }
    let window = &text[start..text.len().min(start + WINDOW)];
    let secret = if whole {
        regex.find(window).map(|it| it.range())
    } else {
        regex.captures(window).and_then(|it| it.get(1)).map(|it| it.range())
    };
    let Some(secret) = secret.filter(|it| !window[..it.end].contains(&OPAQUE)) else { return };
    let value = &window[secret.clone()];
    // Entropy nought says that the shape alone is telling, filled or not.
    let filled = rule.entropy > 0 && if whole { is_filler(value) } else { is_placeholder(value) };
    if ends_token(text, start + secret.end)
        && entropy(value) >= rule.entropy
        && !filled
        && !is_sample(value)
    {
        acc.push(Claim { kind: rule.kind, start: start + secret.start, end: start + secret.end });
    }
}

/// Bytes that no token of the tables contains before its mark.
const fn is_border(it: u8) -> bool {
    matches!(
        it,
        b'"' | b'\'' | b'`' | b'=' | b',' | b';' | b'/' | b'(' | b'<' | b'>' | b'\\' | b'@'
    )
}
