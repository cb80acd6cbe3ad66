//! Byte classes and borders shared by the finders.

/// Stands for something that was already redacted. No finder looks across it, so a text and its
/// redaction are searched alike. A NUL of the input is treated the same way, which does no harm.
pub(crate) const OPAQUE: u8 = 0;

pub(crate) const fn is_base64url(it: u8) -> bool {
    it.is_ascii_alphanumeric() || it == b'_' || it == b'-'
}

pub(crate) const fn is_base64(it: u8) -> bool {
    it.is_ascii_alphanumeric() || it == b'+' || it == b'/'
}

/// Bytes of a name as configuration files and code write it.
pub(crate) const fn is_name(it: u8) -> bool {
    it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-' | b'.')
}

pub(crate) const fn is_quote(it: u8) -> bool {
    matches!(it, b'"' | b'\'' | b'`')
}

/// Whether a token can start at `at`: what stands before it is not part of the same word. The
/// letter of an escape (`\n`) and a percent escape (`%3D`) end a word too.
pub(crate) fn starts_token(text: &[u8], at: usize) -> bool {
    let Some(&last) = text[..at].last() else { return true };
    if !last.is_ascii_alphanumeric() {
        return true;
    }
    let before = |n: usize| at.checked_sub(n).map(|it| text[it]);
    let escape = matches!(last, b'n' | b'r' | b't') && before(2) == Some(b'\\');
    let percent = last.is_ascii_hexdigit()
        && before(2).is_some_and(|it| it.is_ascii_hexdigit())
        && before(3) == Some(b'%');
    escape || percent
}

pub(crate) fn ends_token(text: &[u8], end: usize) -> bool {
    text.get(end).is_none_or(|it| !it.is_ascii_alphanumeric() && *it != b'_')
}

/// End of the run of bytes that satisfy `is`, at most `limit` long.
pub(crate) fn run(text: &[u8], start: usize, limit: usize, is: impl Fn(u8) -> bool) -> usize {
    let window = &text[start..text.len().min(start + limit)];
    start + window.iter().position(|it| !is(*it)).unwrap_or(window.len())
}

/// Start of the run of bytes that satisfy `is` and end at `end`, at most `limit` long.
pub(crate) fn run_back(text: &[u8], end: usize, limit: usize, is: impl Fn(u8) -> bool) -> usize {
    let from = end.saturating_sub(limit);
    text[from..end].iter().rposition(|it| !is(*it)).map_or(from, |it| from + it + 1)
}

pub(crate) fn skip_blanks(text: &[u8], start: usize) -> usize {
    run(text, start, 40, |it| it == b' ' || it == b'\t')
}

pub(crate) fn starts_with_ignore_case(text: &[u8], lower: &str) -> bool {
    text.len() >= lower.len() && text[..lower.len()].eq_ignore_ascii_case(lower.as_bytes())
}

pub(crate) fn contains(text: &[u8], part: &str) -> bool {
    text.windows(part.len()).any(|it| it == part.as_bytes())
}
