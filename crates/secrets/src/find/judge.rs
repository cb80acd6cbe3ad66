//! Decides whether the value of an assignment is a secret.

use super::assign::{Assignment, Link};
use crate::base64::decode;
use crate::bytes::contains;
use crate::placeholder::is_placeholder;
use crate::random::{is_gibberish, is_random, is_soup, is_uuid};
use crate::word::Level;

pub(super) fn is_secret(it: &Assignment, level: Level) -> bool {
    let looks_secret = match (it.scheme, level) {
        (Some(scheme), _) => is_credential(scheme, it.value),
        (None, Level::Password) => is_password(it),
        (None, Level::Secret) => is_generated(it, level) || is_written_secret(it),
        (None, _) => is_generated(it, level),
    };
    // The allow-list is long, so it is asked last.
    looks_secret && !is_placeholder(it.value)
}

fn is_generated(it: &Assignment, level: Level) -> bool {
    // Without digits, what reads as random may still be the name of a variable.
    let could_be_name = !it.value.iter().any(u8::is_ascii_digit)
        && (it.link == Link::Call || (it.quote.is_none() && it.value.len() < 20));
    (is_random(it.value, least(it, level)) && !could_be_name)
        || (it.quote.is_some() && is_soup(it.value))
}

/// Least length of a random value. The looser the link and the word, the longer.
fn least(it: &Assignment, level: Level) -> usize {
    // The bare word, as in `key: …`, names entries of maps more often than keys to doors.
    let bare = it.name.len() <= 6;
    match (level, it.link) {
        (Level::Weak, Link::Equals | Link::Colon | Link::Markup) if !bare => 16,
        (Level::Weak, Link::Call) => 24,
        (Level::Weak | Level::Service, _) => 20,
        (_, Link::Blank | Link::Joint) => 16,
        _ => 12,
    }
}

/// Whether the rest of a run behind a joint is a value. Its first piece must hold a digit, else it
/// is one more word of the name.
pub(super) fn is_joined(value: &[u8]) -> bool {
    let first = value.split(|it| matches!(it, b'-' | b'.')).next().unwrap_or_default();
    first.iter().any(u8::is_ascii_digit) && is_random(value, 20)
}

/// What follows `Bearer`, `Basic` and their like in a header.
fn is_credential(scheme: &str, value: &[u8]) -> bool {
    if scheme == "basic " {
        return decode(value).contains(&b':');
    }
    is_uuid(value)
        || is_random(value, 12)
        || (value.len() >= 10 && has_digit_and_letter(value) && !is_plain_name(value))
}

/// A password as people write it: no randomness asked, but it must not read as code or as prose.
fn is_password(it: &Assignment) -> bool {
    let value = it.value;
    if value.len() > 128 || value.iter().any(u8::is_ascii_whitespace) || looks_like_code(value) {
        return false;
    }
    match (it.link, it.quote.is_some()) {
        (Link::Colon, false) | (Link::Call | Link::Blank | Link::Sentence, _)
            if is_verb(it.name) =>
        {
            false
        }
        (Link::Blank, true) => it.alone && is_strong(value) && value.len() >= 5,
        (Link::Blank, false) => it.name.starts_with(b"-") && is_strong(value) && value.len() >= 6,
        (Link::Joint, _) => is_joined(value),
        (Link::Call, _) => value.len() >= 6 && is_strong(value) && !is_plain_name(value),
        (_, true) => value.len() >= 5 && (is_strong(value) || is_gibberish(value)),
        (_, false) if it.alone => value.len() >= 5 && (is_strong(value) || is_setting(it)),
        (_, false) => value.len() >= 6 && is_strong(value) && !is_plain_name(value),
    }
}

/// The bare word is also a verb and a verdict: `pass "x" on`, `PASS: a_test`.
fn is_verb(name: &[u8]) -> bool {
    let last = name.rsplit(|it| *it == b'.').next().unwrap_or_default();
    last.eq_ignore_ascii_case(b"pass")
}

/// A secret people made up: letters with digits or signs, in quotes or on a line of its own.
fn is_written_secret(it: &Assignment) -> bool {
    let value = it.value;
    (it.quote.is_some() || it.alone)
        && matches!(it.link, Link::Equals | Link::Colon | Link::Markup)
        && value.len() >= 8
        && !value.iter().any(u8::is_ascii_whitespace)
        && !looks_like_code(value)
        && !value.contains(&b'/')
        && is_strong(value)
        && (!is_plain_name(value) || it.alone)
}

/// Letters together with a digit or a sign that names do not contain.
fn is_strong(value: &[u8]) -> bool {
    let sign = |it: &u8| {
        matches!(it, b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'?' | b'~' | b'+')
    };
    let letter = value.iter().any(u8::is_ascii_alphabetic) || !value.is_ascii();
    letter && value.iter().any(|it| it.is_ascii_digit() || sign(it))
}

fn has_digit_and_letter(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic)
}

/// `NAME=word` as environment files write it, or `Key=word;` of a connection string. With blanks
/// around the sign it may be code, so the word must not be an attribute or another such name.
fn is_setting(it: &Assignment) -> bool {
    let lower = it.value.to_ascii_lowercase();
    matches!(it.link, Link::Equals | Link::Colon)
        && it.value.iter().all(u8::is_ascii_graphic)
        && !it.name.contains(&b'.')
        && (it.tight || !(lower.contains(&b'.') || contains(&lower, "pass")))
}

/// A name of code: words joined by `_`, `-` or `.`, with digits at the end of a word at most.
fn is_plain_name(value: &[u8]) -> bool {
    value.split(|it| matches!(it, b'_' | b'-' | b'.')).all(|part| {
        let letters = part.iter().take_while(|it| it.is_ascii_alphabetic()).count();
        part[letters..].iter().all(u8::is_ascii_digit)
            && part.len() - letters <= 3
            && !is_gibberish(part)
    })
}

fn looks_like_code(value: &[u8]) -> bool {
    let call = value.contains(&b'(') && value.contains(&b')');
    let path = ["/", "./", "~/"].iter().any(|it| value.starts_with(it.as_bytes()))
        || contains(value, "://");
    call || path
        || contains(value, "?.")
        || value.starts_with(b"!")
        || value.starts_with(b"=")
        || value.contains(&b'{')
}
