//! Private keys in blocks: PEM and PGP armour, `PuTTY` files, and PEM that is Base64-encoded again.
//!
//! ```text
//! -----BEGIN RSA PRIVATE KEY-----   keyword `-----BEGIN `, then the label
//! x7Kq…                             the body, in Base64
//! -----END RSA PRIVATE KEY-----     the claim ends here
//! ```

use super::SecretClaim;
use crate::base64::decode_base64;
use crate::bytes::{OPAQUE_BYTE, contains_text, is_base64, run_end, starts_token};

/// Kind of all three forms.
const BLOCK_KIND: &str = "private-key-block";

/// Longest block searched for its end line.
const MAX_BLOCK_BYTES: usize = 64 * 1024;

/// Longest label between the dashes, such as `RSA PRIVATE KEY`.
const MAX_LABEL_BYTES: usize = 64;
/// Five dashes stand on each side of a label.
const LABEL_DASHES: &[u8] = b"-----";
/// Characters of a Base64-encoded block that hold its label. A real block is longer.
const ENCODED_LABEL_BYTES: usize = 80;

/// Least Base64 characters of a key; fewer are a mention of a header.
const MIN_BODY_BYTES: usize = 24;
/// Most digits of the number of lines in a `PuTTY` file.
const MAX_LINE_COUNT_DIGITS: usize = 8;
/// Longest line break: `\r\n`.
const MAX_LINE_BREAK_BYTES: usize = 2;

/// Claims a block from `-----BEGIN … PRIVATE KEY-----` to its end line. Without one, claims the
/// whole body, so that a key that a pager or a limit truncated is found, too.
pub(super) fn claim_pem(acc: &mut Vec<SecretClaim>, text: &[u8], keyword_start: usize) {
    let after_begin = keyword_start + "-----BEGIN ".len();
    let label_end = run_end(text, after_begin, MAX_LABEL_BYTES, is_label);
    let label = &text[after_begin..label_end];
    if !contains_text(label, "PRIVATE KEY") || !text[label_end..].starts_with(LABEL_DASHES) {
        return;
    }
    let body = label_end + LABEL_DASHES.len();
    let (body_end, end) = find_end(text, body).unwrap_or_else(|| {
        // No end line: the block was cut off. The body ends with its last Base64 character, not
        // with the blanks and quotes after it.
        let run_end = run_end(text, body, MAX_BLOCK_BYTES, is_body);
        let last = text[body..run_end].iter().rposition(|it| is_base64(*it) || *it == b'=');
        let body_end = last.map_or(body, |it| body + it + 1);
        (body_end, body_end)
    });
    let n_base64 = text[body..body_end].iter().filter(|it| is_base64(**it)).count();
    if n_base64 >= MIN_BODY_BYTES {
        acc.push(SecretClaim { kind: BLOCK_KIND, start: keyword_start, end });
    }
}

/// Start and end of the `-----END …-----` line of a body. The next `-----BEGIN` ends the search.
fn find_end(text: &[u8], body: usize) -> Option<(usize, usize)> {
    let window = &text[body..text.len().min(body + MAX_BLOCK_BYTES)];
    // `-----BEGIN`, cut to the length of `-----END`, so that one window finds both.
    let is_stop = |it: &[u8]| it[0] == OPAQUE_BYTE || it == b"-----END" || it == b"-----BEG";
    let line_start = window.windows(b"-----END".len()).position(is_stop)?;
    if !window[line_start..].starts_with(b"-----END") {
        return None;
    }
    let label_end = run_end(window, line_start + b"-----END".len(), MAX_LABEL_BYTES, is_label);
    let end = body + label_end + LABEL_DASHES.len();
    window[label_end..].starts_with(LABEL_DASHES).then_some((body + line_start, end))
}

const fn is_label(it: u8) -> bool {
    it.is_ascii_uppercase() || it.is_ascii_digit() || it == b' '
}

/// True for Base64 and for bytes that join its lines in files, strings and source code.
const fn is_body(it: u8) -> bool {
    is_base64(it) || matches!(it, b'=' | b'\n' | b'\r' | b' ' | b'\t' | b'\\' | b'"' | b'\'')
}

/// Claims a PEM block that is Base64-encoded as a whole, as environment variables hold it.
pub(super) fn claim_encoded(acc: &mut Vec<SecretClaim>, text: &[u8], keyword_start: usize) {
    if !starts_token(text, keyword_start) {
        return;
    }
    let end = run_end(text, keyword_start, MAX_BLOCK_BYTES, |it| is_base64(it) || it == b'=');
    let head = decode_base64(&text[keyword_start..end.min(keyword_start + ENCODED_LABEL_BYTES)]);
    if contains_text(&head, "PRIVATE KEY") && end - keyword_start >= ENCODED_LABEL_BYTES {
        acc.push(SecretClaim { kind: BLOCK_KIND, start: keyword_start, end });
    }
}

/// Claims the lines after `Private-Lines: n` of a `PuTTY` key file.
pub(super) fn claim_putty(acc: &mut Vec<SecretClaim>, text: &[u8], keyword_start: usize) {
    // The number of lines, and the line break after it.
    let count_start = keyword_start + "Private-Lines: ".len();
    let count_end = run_end(text, count_start, MAX_LINE_COUNT_DIGITS, |it| it.is_ascii_digit());
    let start = run_end(text, count_end, MAX_LINE_BREAK_BYTES, |it| matches!(it, b'\r' | b'\n'));
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
