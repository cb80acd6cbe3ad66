//! Parses the text after a name: the link (`=`, `:`, a call, markup, a sentence), the quotes, the
//! value.
//!
//! `assignment.rs` passes the span of a name that contains a secret word, and hands the result to
//! `value_check`:
//!
//! ```text
//! text        config["token"] = "Bearer x7Kq…"    the name is `token`
//! assignment  link `Equals`, quote `"`, scheme `bearer `, value `x7Kq…`
//! ```
//!
//! The forms of many languages are accepted at once, so nothing is parsed exactly: a wrong guess
//! only yields a value that `value_check` rejects. Every search is bounded, which keeps the scan
//! linear.

use std::ops::Range;

use super::assignment::{Assignment, NameLink};
use crate::bytes::{
    OPAQUE_BYTE, is_name, is_quote, run_end, run_start, skip_blanks, starts_with_ignore_case,
};

/// Longest part of a value that is judged.
const MAX_VALUE_BYTES: usize = 2048;

/// Most bytes that close a name, as in `config[\"token\"]`: an escaped quote, and a bracket.
const MAX_CLOSING_BYTES: usize = 4;
/// Longest sign that assigns or compares: `===`.
const MAX_SIGN_BYTES: usize = 3;
/// Most quotes around a value: a string may contain a quoted string.
const MAX_QUOTE_DEPTH: usize = 2;
/// Most backslashes before a quote: a string inside a string inside a string.
const MAX_ESCAPES: usize = 3;
/// Longest text between the name of a tag and its closing bracket.
const MAX_TAG_BYTES: usize = 48;
/// Longest text before a name that is checked for the start of its line.
const MAX_LINE_LEAD_BYTES: usize = 24;

/// Authentication schemes before the value of a header.
const AUTH_SCHEMES: &[&str] =
    &["bearer ", "basic ", "token ", "bot ", "apikey ", "api-token ", "api-key "];

/// The assignment to a name whose secret word ends at `word_end`.
pub(super) fn parse_assignment(
    text: &[u8],
    name: Range<usize>,
    word_end: usize,
) -> Option<Assignment<'_>> {
    let (link, after) = find_link(text, name.clone(), word_end)?;
    let (open, mut quote) = open_quotes(text, skip_blanks(text, after));
    // The text of an element ends where the closing tag begins.
    if link == NameLink::Markup && text[after - 1] == b'>' {
        quote = Some(b'<');
    }
    // Without quotes the argument of a call is a variable, and the rest of a sentence is prose.
    if quote.is_none() && matches!(link, NameLink::Call | NameLink::Sentence) {
        return None;
    }
    // The value starts after the scheme of a header, if there is one.
    let scheme = AUTH_SCHEMES.iter().find(|it| starts_with_ignore_case(&text[open..], it)).copied();
    let mut start = scheme.map_or(open, |it| open + it.len());
    if quote.is_some() || scheme.is_some() {
        start = skip_blanks(text, start);
    }
    let mut end = value_end(text, start, quote)?;
    let is_element_text = quote == Some(b'<');
    if is_element_text {
        (start, end) = longest_word(text, start..end);
    }
    Some(Assignment {
        name: &text[name.clone()],
        link,
        quote,
        is_tight: after == name.end + 1 && after == start,
        is_own_setting: is_own_setting(text, name.start, end),
        scheme,
        value: &text[start..end],
        start,
    })
}

/// The link after a name, and the first position of the value.
fn find_link(text: &[u8], name: Range<usize>, word_end: usize) -> Option<(NameLink, usize)> {
    // The name may be quoted or an index, as in `config["token"]`.
    let is_closing = |it: u8| is_quote(it) || matches!(it, b'\\' | b']');
    let closed = run_end(text, name.end, MAX_CLOSING_BYTES, is_closing);
    let in_quotes = text[name.end..closed].iter().any(|it| is_quote(*it));
    let link_start = skip_blanks(text, closed);
    let follows_blank = link_start > closed;
    let rest = &text[link_start..];
    let is_tag = name.start > 0 && text[name.start - 1] == b'<';
    // `password.encode("…")` calls a method and passes no password.
    let is_method = text[word_end..name.end].contains(&b'.');
    // The forms overlap, so their order matters: `==` before `=`, `::` before `:`.
    match rest {
        // `==`, `!=`, `:=`, `=>`
        [b'=' | b'!' | b':', b'=', ..] | [b'=', b'>', ..] => {
            let is_sign = |it: u8| matches!(it, b'=' | b'>' | b'!' | b':');
            Some((NameLink::Equals, run_end(text, link_start, MAX_SIGN_BYTES, is_sign)))
        }
        // A path of code (`key::new`) or a URL.
        [b':', b':' | b'/', ..] => None,
        [b'=', ..] => Some((NameLink::Equals, link_start + 1)),
        [b':', ..] => Some((NameLink::Colon, link_start + 1)),
        // `set("token", "x7Kq…")`
        [b',', ..] if in_quotes && word_end == name.end => Some((NameLink::Call, link_start + 1)),
        // `setToken("x7Kq…")`
        [b'(', ..] if closed == name.end && !is_method => Some((NameLink::Call, link_start + 1)),
        // `<token>x7Kq…</token>`
        [b'>', ..] if is_tag => Some((NameLink::Markup, link_start + 1)),
        // `<token type="x">x7Kq…</token>`: the value follows the closing bracket of the tag.
        _ if is_tag && follows_blank => {
            let is_in_tag = |it: u8| !matches!(it, b'>' | b'<' | b'\n' | b'/' | OPAQUE_BYTE);
            let close = run_end(text, link_start, MAX_TAG_BYTES, is_in_tag);
            (text.get(close) == Some(&b'>')).then_some((NameLink::Markup, close + 1))
        }
        // `<add key="token" value="x7Kq…"/>`
        _ if in_quotes && starts_with_ignore_case(rest, "value=") => {
            Some((NameLink::Markup, link_start + "value=".len()))
        }
        // A cell of a table: `| apiKey | x7Kq… |`.
        [b'|', next, ..] if *next != b'|' => Some((NameLink::Colon, link_start + 1)),
        // A list of accounts in notes: `token - "x7Kq…"`.
        [b'-', b' ', ..] if follows_blank => Some((NameLink::Sentence, link_start + 1)),
        // `the token is "x7Kq…"`
        _ if follows_blank && starts_with_ignore_case(rest, "is ") => {
            Some((NameLink::Sentence, link_start + "is ".len()))
        }
        // `--token x7Kq…`
        _ if follows_blank && !in_quotes && text[name.end - 1].is_ascii_alphanumeric() => {
            Some((NameLink::Blank, link_start))
        }
        _ => None,
    }
}

/// Skips up to two quotes, because a string may contain a quoted string, and returns the inner one.
fn open_quotes(text: &[u8], start: usize) -> (usize, Option<u8>) {
    let (mut value_start, mut quote) = (start, None);
    for _ in 0..MAX_QUOTE_DEPTH {
        // A letter directly before a quote is a prefix of the string, backslashes are an escape.
        let after_prefix = match text.get(value_start..value_start + 2) {
            Some([b'b' | b'r' | b'f' | b'u' | b'L' | b'@', mark]) if is_quote(*mark) => {
                value_start + 1
            }
            _ => value_start,
        };
        let mark_at = run_end(text, after_prefix, MAX_ESCAPES, |it| it == b'\\');
        match text.get(mark_at) {
            Some(mark) if is_quote(*mark) => (value_start, quote) = (mark_at + 1, Some(*mark)),
            _ => break,
        }
    }
    (value_start, quote)
}

/// End of a value that was judged by its first bytes. Values do not overlap, so every byte of a
/// text is visited at most once.
pub(super) fn full_value_end(text: &[u8], assignment: &Assignment) -> usize {
    let end = assignment.start + assignment.value.len();
    match assignment.link {
        NameLink::Joint => run_end(text, end, text.len(), is_name),
        // One less than the limit, because a closing backslash is not part of the value.
        _ if assignment.value.len() + 1 < MAX_VALUE_BYTES => end,
        _ => value_run(text, end, text.len(), assignment.quote),
    }
}

/// End of the run of bytes that can belong to a value, at most `limit` long.
fn value_run(text: &[u8], start: usize, limit: usize, quote: Option<u8>) -> usize {
    match quote {
        Some(mark) => run_end(text, start, limit, |it| {
            it != mark && !matches!(it, b'\n' | b'\r' | OPAQUE_BYTE)
        }),
        None => run_end(text, start, limit, |it| !ends_bare_value(it)),
    }
}

/// End of the judged part of a value; `None` if it is empty or the start of an expression.
fn value_end(text: &[u8], start: usize, quote: Option<u8>) -> Option<usize> {
    let end = value_run(text, start, MAX_VALUE_BYTES, quote);
    let in_code = quote.is_none() && matches!(text.get(end), Some(b'(' | b'[' | b'{' | b'<'));
    let tag_stays_open = quote == Some(b'<') && !text[end..].starts_with(b"</");
    if end == start || in_code || tag_stays_open {
        return None;
    }
    // The backslash escapes the closing quote.
    let end = if text[end - 1] == b'\\' { end - 1 } else { end };
    // Blanks before the closing quote do not belong to the value.
    let end = run_start(text, end, end - start, |it| it == b' ');
    (end > start).then_some(end)
}

/// The longest word of the text of an element. A label or the braces of an encrypted credential
/// may surround the secret: `<secret>{AQAAABAAAA…}</secret>`.
fn longest_word(text: &[u8], span: Range<usize>) -> (usize, usize) {
    let is_border = |it: &u8| it.is_ascii_whitespace() || matches!(it, b'{' | b'}');
    let mut longest = span.start..span.start;
    let mut word_start = span.start;
    for word in text[span.clone()].split(is_border) {
        if word.len() > longest.len() {
            longest = word_start..word_start + word.len();
        }
        // One byte of a border separates two words.
        word_start += word.len() + 1;
    }
    // A text of borders alone has no word; it is judged as it is.
    if longest.is_empty() { (span.start, span.end) } else { (longest.start, longest.end) }
}

/// True for bytes that a value without quotes does not contain.
const fn ends_bare_value(it: u8) -> bool {
    it.is_ascii_whitespace()
        || is_quote(it)
        || matches!(it, b',' | b';' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>')
        || matches!(it, b'|' | b'\\' | b'&' | OPAQUE_BYTE)
}

/// True if name and value fill a line of a file, or an item between `;`.
fn is_own_setting(text: &[u8], name_start: usize, end: usize) -> bool {
    let line_start = run_start(text, name_start, MAX_LINE_LEAD_BYTES, |it| {
        !matches!(it, b'\n' | b';' | OPAQUE_BYTE)
    });
    // Comment signs and the prompt of a shell may precede a setting.
    let lead = &text[line_start..name_start];
    let has_clean_lead = lead.iter().all(|it| matches!(it, b' ' | b'\t' | b'#' | b'$' | b'/'));
    let after = skip_blanks(text, end);
    let is_at_end = text.get(after).is_none_or(|it| matches!(it, b'\n' | b'\r' | b'#' | b';'));
    is_at_end && (has_clean_lead || lead.ends_with(b"export "))
}
