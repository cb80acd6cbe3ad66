//! Private keys in blocks: PEM and PGP armour, `PuTTY` files, and PEM that was Base64-encoded again.

use super::Claim;
use crate::base64::decode;
use crate::bytes::{OPAQUE, contains, is_base64, run, starts_token};

const KIND: &str = "private-key-block";

/// Longest block that is followed to its end line.
const BLOCK: usize = 64 * 1024;

/// Fewer Base64 characters than this are a mention of a header, not a key.
const LEAST_BODY: usize = 24;

/// From `-----BEGIN … PRIVATE KEY-----` to its end line; without one, as far as a body reaches, so
/// that a key cut off by a pager or a limit is found too.
pub(super) fn claim(acc: &mut Vec<Claim>, text: &[u8], at: usize) {
    let after_begin = at + "-----BEGIN ".len();
    let label_end = run(text, after_begin, 64, |it| {
        it.is_ascii_uppercase() || it.is_ascii_digit() || it == b' '
    });
    let label = &text[after_begin..label_end];
    if !contains(label, "PRIVATE KEY") || !text[label_end..].starts_with(b"-----") {
        return;
    }
    let body = label_end + 5;
    let (body_end, end) = find_end(text, body).unwrap_or_else(|| {
        let end = run(text, body, BLOCK, is_body);
        let last = text[body..end].iter().rposition(|it| is_base64(*it) || *it == b'=');
        let end = last.map_or(body, |it| body + it + 1);
        (end, end)
    });
    let n_base64 = text[body..body_end].iter().filter(|it| is_base64(**it)).count();
    if n_base64 >= LEAST_BODY {
        acc.push(Claim { kind: KIND, start: at, end });
    }
}

/// Where the `-----END …-----` that belongs to a body starts and ends. The next `-----BEGIN` ends the search.
fn find_end(text: &[u8], body: usize) -> Option<(usize, usize)> {
    let window = &text[body..text.len().min(body + BLOCK)];
    let is_stop = |it: &[u8]| it[0] == OPAQUE || it == b"-----END" || it == b"-----BEG";
    let dashes = window.windows(8).position(is_stop)?;
    if !window[dashes..].starts_with(b"-----END") {
        return None;
    }
    let label_end = run(window, dashes + 8, 64, |it| {
        it.is_ascii_uppercase() || it.is_ascii_digit() || it == b' '
    });
    window[label_end..].starts_with(b"-----").then_some((body + dashes, body + label_end + 5))
}

/// Base64 and what joins its lines in files, strings and source code.
const fn is_body(it: u8) -> bool {
    is_base64(it) || matches!(it, b'=' | b'\n' | b'\r' | b' ' | b'\t' | b'\\' | b'"' | b'\'')
}

pub(super) fn claim_encoded(acc: &mut Vec<Claim>, text: &[u8], at: usize) {
    if !starts_token(text, at) {
        return;
    }
    let end = run(text, at, BLOCK, |it| is_base64(it) || it == b'=');
    let head = decode(&text[at..end.min(at + 80)]);
    if contains(&head, "PRIVATE KEY") && end - at >= 80 {
        acc.push(Claim { kind: KIND, start: at, end });
    }
}

/// The lines behind `Private-Lines: n` of a `PuTTY` key file.
pub(super) fn claim_putty(acc: &mut Vec<Claim>, text: &[u8], at: usize) {
    let count = at + "Private-Lines: ".len();
    let start = run(text, count, 8, |it| it.is_ascii_digit());
    let start = run(text, start, 2, |it| it == b'\r' || it == b'\n');
    let end = run(text, start, BLOCK, |it| is_base64(it) || matches!(it, b'=' | b'\r' | b'\n'));
    // The run takes in the next header up to its dash or colon; a line break is where it ends.
    let end = text[start..end].iter().rposition(|it| *it == b'\n').map_or(end, |it| start + it);
    if end - start >= LEAST_BODY {
        acc.push(Claim { kind: KIND, start, end });
    }
}
