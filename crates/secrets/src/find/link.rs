//! Reads what stands behind a name: the sign, the quotes, the value.

use std::ops::Range;

use super::assign::{Assignment, Link};
use crate::bytes::{
    OPAQUE, is_name, is_quote, run, run_back, skip_blanks, starts_with_ignore_case,
};

/// This much of a value is read to judge it.
const VALUE: usize = 2048;

/// Words that may stand before the value of a header.
const SCHEMES: &[&str] =
    &["bearer ", "basic ", "token ", "bot ", "apikey ", "api-token ", "api-key "];

/// The value behind a name whose telling word ends at `word_end`.
pub(super) fn linked(text: &[u8], name: Range<usize>, word_end: usize) -> Option<Assignment<'_>> {
    let (link, after) = link(text, name.clone(), word_end)?;
    let (open, mut quote) = open_quotes(text, skip_blanks(text, after));
    if link == Link::Markup && text[after - 1] == b'>' {
        quote = Some(b'<');
    }
    if quote.is_none() && matches!(link, Link::Call | Link::Sentence) {
        return None;
    }
    let scheme = SCHEMES.iter().find(|it| starts_with_ignore_case(&text[open..], it)).copied();
    let start = scheme.map_or(open, |it| skip_blanks(text, open + it.len()));
    let end = value_end(text, start, quote)?;
    Some(Assignment {
        name: &text[name.clone()],
        link,
        quote,
        tight: after == name.end + 1 && after == start,
        alone: stands_alone(text, name.start, end),
        scheme,
        value: &text[start..end],
        start,
    })
}

/// The link behind a name, and where the value may start.
fn link(text: &[u8], name: Range<usize>, word_end: usize) -> Option<(Link, usize)> {
    let closed = run(text, name.end, 4, |it| is_quote(it) || matches!(it, b'\\' | b']'));
    let in_quotes = text[name.end..closed].iter().any(|it| is_quote(*it));
    let at = skip_blanks(text, closed);
    let rest = &text[at..];
    let tagged = name.start > 0 && text[name.start - 1] == b'<';
    // `password.encode("…")` calls a method and gives no password.
    let method = text[word_end..name.end].contains(&b'.');
    match rest {
        [b'=' | b'!' | b':', b'=', ..] | [b'=', b'>', ..] => {
            Some((Link::Equals, run(text, at, 3, |it| matches!(it, b'=' | b'>' | b'!' | b':'))))
        }
        [b':', b':' | b'/', ..] => None,
        [b'=', ..] => Some((Link::Equals, at + 1)),
        [b':', ..] => Some((Link::Colon, at + 1)),
        [b',', ..] if in_quotes && word_end == name.end => Some((Link::Call, at + 1)),
        [b'(', ..] if closed == name.end && !method => Some((Link::Call, at + 1)),
        [b'>', ..] if tagged => Some((Link::Markup, at + 1)),
        _ if tagged && at > closed => {
            let close = run(text, at, 48, |it| !matches!(it, b'>' | b'<' | b'\n' | b'/' | OPAQUE));
            (text.get(close) == Some(&b'>')).then_some((Link::Markup, close + 1))
        }
        _ if in_quotes && starts_with_ignore_case(rest, "value=") => Some((Link::Markup, at + 6)),
        _ if at > closed && starts_with_ignore_case(rest, "is ") => Some((Link::Sentence, at + 3)),
        _ if at > closed && !in_quotes && text[name.end - 1].is_ascii_alphanumeric() => {
            Some((Link::Blank, at))
        }
        _ => None,
    }
}

/// Steps over up to two quotes (a string may hold a quoted string) and returns the inner one.
fn open_quotes(text: &[u8], start: usize) -> (usize, Option<u8>) {
    let (mut at, mut quote) = (start, None);
    for _ in 0..2 {
        // A letter right before a quote is a prefix, backslashes are an escape.
        let after_prefix = match text.get(at..at + 2) {
            Some([b'b' | b'r' | b'f' | b'u' | b'L' | b'@', mark]) if is_quote(*mark) => at + 1,
            _ => at,
        };
        let mark_at = run(text, after_prefix, 3, |it| it == b'\\');
        match text.get(mark_at) {
            Some(mark) if is_quote(*mark) => (at, quote) = (mark_at + 1, Some(*mark)),
            _ => break,
        }
    }
    (at, quote)
}

/// Where a value ends that was judged by its first bytes. Values do not overlap, so this walks over
/// every byte of a text once at most.
pub(super) fn whole_end(text: &[u8], it: &Assignment) -> usize {
    let end = it.start + it.value.len();
    match it.link {
        Link::Joint => run(text, end, text.len(), is_name),
        // One less than was read: a closing backslash is not part of the value.
        _ if it.value.len() + 1 < VALUE => end,
        _ => value_run(text, end, text.len(), it.quote),
    }
}

fn value_run(text: &[u8], start: usize, limit: usize, quote: Option<u8>) -> usize {
    match quote {
        Some(mark) => {
            run(text, start, limit, |it| it != mark && !matches!(it, b'\n' | b'\r' | OPAQUE))
        }
        None => run(text, start, limit, |it| !ends_bare_value(it)),
    }
}

/// Where a value ends, as far as it is read; none when it is empty or the start of an expression.
fn value_end(text: &[u8], start: usize, quote: Option<u8>) -> Option<usize> {
    let end = value_run(text, start, VALUE, quote);
    let in_code = quote.is_none() && matches!(text.get(end), Some(b'(' | b'[' | b'{' | b'<'));
    let tag_stays_open = quote == Some(b'<') && !text[end..].starts_with(b"</");
    if end == start || in_code || tag_stays_open {
        return None;
    }
    let end = if text[end - 1] == b'\\' { end - 1 } else { end };
    (end > start).then_some(end)
}

const fn ends_bare_value(it: u8) -> bool {
    it.is_ascii_whitespace()
        || is_quote(it)
        || matches!(it, b',' | b';' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>')
        || matches!(it, b'|' | b'\\' | b'&' | OPAQUE)
}

/// Whether name and value are a setting of their own: a line of a file, or a part between `;`.
fn stands_alone(text: &[u8], name_start: usize, end: usize) -> bool {
    let line = run_back(text, name_start, 24, |it| !matches!(it, b'\n' | b';' | OPAQUE));
    let lead = &text[line..name_start];
    let clean = lead.iter().all(|it| matches!(it, b' ' | b'\t' | b'#' | b'$' | b'/'));
    let after = skip_blanks(text, end);
    let ends = text.get(after).is_none_or(|it| matches!(it, b'\n' | b'\r' | b'#' | b';'));
    ends && (clean || lead.ends_with(b"export "))
}
