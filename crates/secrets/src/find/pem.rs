//! Private keys in blocks: PEM and PGP armour, `PuTTY` files, and PEM that is Base64-encoded again.

use super::SecretClaim;
use crate::base64::decode_base64;
use crate::bytes::{OPAQUE_BYTE, contains_text, is_base64, run_end, starts_token};

const BLOCK_KIND: &str = "private-key-block";

/// Longest block searched for its end line.
const MAX_BLOCK_BYTES: usize = 64 * 1024;

/// Least Base64 characters of a key; fewer are a mention of a header.
const MIN_BODY_BYTES: usize = 24;

/// Claims a block from `-----BEGIN … PRIVATE KEY-----` to its end line. Without one, claims the
/// whole body, so that a key that a pager or a limit truncated is found, too.
pub(super) fn claim_pem(acc: &mut Vec<SecretClaim>, text: &[u8], at: usize) {
    let after_begin = at + "-----BEGIN ".len();
    let label_end = run_end(text, after_begin, 64, |it| {
        it.is_ascii_uppercase() || it.is_ascii_digit() || it == b' '
    });
    let label = &text[after_begin..label_end];
    if !contains_text(label, "PRIVATE KEY") || !text[label_end..].starts_with(b"-----") {
        return;
    }
    let body = label_end + 5;
    // A body ends with its last Base64 character, not with the blanks and quotes after it.
    let (body_end, end) = find_end(text, body).unwrap_or_else(|| {
        let end = run_end(text, body, MAX_BLOCK_BYTES, is_body);
        let last = text[body..end].iter().rposition(|it| is_base64(*it) || *it == b'=');
        let end = last.map_or(body, |it| body + it + 1);
        (end, end)
    });
    let n_base64 = text[body..body_end].iter().filter(|it| is_base64(**it)).count();
    if n_base64 >= MIN_BODY_BYTES {
        acc.push(SecretClaim { kind: BLOCK_KIND, start: at, end });
    }
}

/// Start and end of the `-----END …-----` line of a body. The next `-----BEGIN` ends the search.
fn find_end(text: &[u8], body: usize) -> Option<(usize, usize)> {
    let window = &text[body..text.len().min(body + MAX_BLOCK_BYTES)];
    let is_stop = |it: &[u8]| it[0] == OPAQUE_BYTE || it == b"-----END" || it == b"-----BEG";
    let dashes = window.windows(8).position(is_stop)?;
    if !window[dashes..].starts_with(b"-----END") {
        return None;
    }
    let label_end = run_end(window, dashes + 8, 64, |it| {
        it.is_ascii_uppercase() || it.is_ascii_digit() || it == b' '
    });
    window[label_end..].starts_with(b"-----").then_some((body + dashes, body + label_end + 5))
}

/// True for Base64 and for bytes that join its lines in files, strings and source code.
const fn is_body(it: u8) -> bool {
    is_base64(it) || matches!(it, b'=' | b'\n' | b'\r' | b' ' | b'\t' | b'\\' | b'"' | b'\'')
}

/// Claims a PEM block that is Base64-encoded as a whole, as environment variables hold it.
pub(super) fn claim_encoded(acc: &mut Vec<SecretClaim>, text: &[u8], at: usize) {
    if !starts_token(text, at) {
        return;
    }
    let end = run_end(text, at, MAX_BLOCK_BYTES, |it| is_base64(it) || it == b'=');
    let head = decode_base64(&text[at..end.min(at + 80)]);
    if contains_text(&head, "PRIVATE KEY") && end - at >= 80 {
        acc.push(SecretClaim { kind: BLOCK_KIND, start: at, end });
    }
}

/// Claims the lines after `Private-Lines: n` of a `PuTTY` key file.
pub(super) fn claim_putty(acc: &mut Vec<SecretClaim>, text: &[u8], at: usize) {
    let count = at + "Private-Lines: ".len();
    let start = run_end(text, count, 8, |it| it.is_ascii_digit());
    let start = run_end(text, start, 2, |it| it == b'\r' || it == b'\n');
    let end = run_end(text, start, MAX_BLOCK_BYTES, |it| {
        is_base64(it) || matches!(it, b'=' | b'\r' | b'\n')
    });
    // The run includes the next header up to its dash or colon; the last line break is the real
    // end.
    let end = text[start..end].iter().rposition(|it| *it == b'\n').map_or(end, |it| start + it);
    if end - start >= MIN_BODY_BYTES {
        acc.push(SecretClaim { kind: BLOCK_KIND, start, end });
    }
}
