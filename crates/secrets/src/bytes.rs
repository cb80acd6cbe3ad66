//! Byte classes, word borders and runs, shared by the finders.

/// Replaces text that is already redacted. No finder looks across it, so a text and its redaction
/// give the same findings. A NUL in the input is treated the same way, which does no harm.
pub(crate) const OPAQUE_BYTE: u8 = 0;

pub(crate) const fn is_base64url(it: u8) -> bool {
    it.is_ascii_alphanumeric() || it == b'_' || it == b'-'
}

pub(crate) const fn is_base64(it: u8) -> bool {
    it.is_ascii_alphanumeric() || it == b'+' || it == b'/'
}

/// Bytes of a name in configuration files and code.
pub(crate) const fn is_name(it: u8) -> bool {
    it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-' | b'.')
}

pub(crate) const fn is_quote(it: u8) -> bool {
    matches!(it, b'"' | b'\'' | b'`')
}

/// Most blanks skipped between a name and its value. More separate columns, not assignments.
const MAX_BLANKS: usize = 40;

/// True if a token can start at `start`, because the byte before it does not belong to the same
/// word. The letter of an escape (`\n`) and a percent escape (`%3D`) end a word, too.
pub(crate) fn starts_token(text: &[u8], start: usize) -> bool {
    let Some(&last) = text[..start].last() else { return true };
    if !last.is_ascii_alphanumeric() {
        return true;
    }
    // The byte `n` positions before the token; `last` is the one at 1.
    let byte_before = |n: usize| start.checked_sub(n).map(|it| text[it]);
    let is_escape = matches!(last, b'n' | b'r' | b't') && byte_before(2) == Some(b'\\');
    let is_percent_escape = last.is_ascii_hexdigit()
        && byte_before(2).is_some_and(|it| it.is_ascii_hexdigit())
        && byte_before(3) == Some(b'%');
    is_escape || is_percent_escape
}

/// True if a token can end at `end`, because the byte after it does not belong to the same word.
pub(crate) fn ends_token(text: &[u8], end: usize) -> bool {
    text.get(end).is_none_or(|it| !it.is_ascii_alphanumeric() && *it != b'_')
}

/// End of the run of bytes that satisfy `is`, at most `limit` long.
pub(crate) fn run_end(text: &[u8], start: usize, limit: usize, is: impl Fn(u8) -> bool) -> usize {
    let window = &text[start..text.len().min(start + limit)];
    start + window.iter().position(|it| !is(*it)).unwrap_or(window.len())
}

/// Start of the run of bytes that satisfy `is` and end at `end`, at most `limit` long.
pub(crate) fn run_start(text: &[u8], end: usize, limit: usize, is: impl Fn(u8) -> bool) -> usize {
    let window_start = end.saturating_sub(limit);
    let last_outside = text[window_start..end].iter().rposition(|it| !is(*it));
    last_outside.map_or(window_start, |it| window_start + it + 1)
}

pub(crate) fn skip_blanks(text: &[u8], start: usize) -> usize {
    run_end(text, start, MAX_BLANKS, |it| it == b' ' || it == b'\t')
}

/// True if a text starts with `lower`, in any case.
pub(crate) fn starts_with_ignore_case(text: &[u8], lower: &str) -> bool {
    text.len() >= lower.len() && text[..lower.len()].eq_ignore_ascii_case(lower.as_bytes())
}

pub(crate) fn contains_text(text: &[u8], part: &str) -> bool {
    text.windows(part.len()).any(|it| it == part.as_bytes())
}
