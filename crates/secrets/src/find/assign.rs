//! Values beside a telling name: assignments in configuration and code, headers, flags, sentences.

use std::ops::Range;

use super::{Claim, judge, link};
use crate::bytes::{contains, is_name, run, run_back};
use crate::word::{HARMLESS, Level, Word};

/// How a name and its value hang together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    /// `name = value`, `name := value`, `name => value`, `name == value`.
    Equals,
    /// `name: value`, which prose and reports write too.
    Colon,
    /// `name("value"`, `"name", "value"`.
    Call,
    /// `<name>value</`, `key="name" value="value"`.
    Markup,
    /// `the password is "value"`.
    Sentence,
    /// `name value`.
    Blank,
    /// `name-value`, `name.value`.
    Joint,
}

/// A value and what its surroundings say about it.
#[derive(Debug)]
pub(super) struct Assignment<'a> {
    pub(super) name: &'a [u8],
    pub(super) link: Link,
    /// The byte that ends the value; none for a bare one.
    pub(super) quote: Option<u8>,
    /// Nothing but the sign stands between name and value.
    pub(super) tight: bool,
    /// The name starts its line or stands in a list of settings, and the value ends it.
    pub(super) alone: bool,
    /// `Bearer`, `Basic` and the like stood before the value.
    pub(super) scheme: Option<&'static str>,
    pub(super) value: &'a [u8],
    pub(super) start: usize,
}

/// Name and value are looked for this far on either side of the word.
const BEFORE: usize = 48;
const AFTER: usize = 160;

pub(super) fn claim(acc: &mut Vec<Claim>, text: &[u8], at: Range<usize>, word: &Word) {
    if word.whole && continues(text, at.end) {
        return;
    }
    claim_beside(acc, text, at, word.level, word.kind);
}

pub(super) fn claim_service(acc: &mut Vec<Claim>, text: &[u8], at: Range<usize>) {
    // A service is a word of its own: `okta_key` and `oktaKey`, but not `rookTable`.
    let inside = at.start > 0 && text[at.start - 1].is_ascii_alphabetic();
    if !inside && !continues(text, at.end) {
        claim_beside(acc, text, at, Level::Service, "service-key");
    }
}

fn claim_beside(
    acc: &mut Vec<Claim>,
    text: &[u8],
    word: Range<usize>,
    level: Level,
    kind: &'static str,
) {
    // A word inside a value that is claimed already tells nothing new.
    if acc.iter().rev().take(4).any(|it| it.start <= word.start && word.end <= it.end) {
        return;
    }
    let name = run_back(text, word.start, BEFORE, is_name)..run(text, word.end, AFTER, is_name);
    let found = link::linked(text, name.clone(), word.end)
        .filter(|it| judge::is_secret(it, level))
        .or_else(|| joined(text, name, word.end).filter(|it| judge::is_secret(it, level)));
    if let Some(it) = found
        && !is_harmless(it.name)
    {
        acc.push(Claim { kind, start: it.start, end: link::whole_end(text, &it) });
    }
}

/// Whether a word goes on behind `end`: `passed` and `PASSED` do, `passKey` and `PASS_` do not.
fn continues(text: &[u8], end: usize) -> bool {
    let upper = text[end - 1].is_ascii_uppercase();
    text.get(end).is_some_and(|it| it.is_ascii_lowercase() || (upper && it.is_ascii_uppercase()))
}

/// A value that hangs on its name by a joint only: the first rest of the run that looks random.
fn joined(text: &[u8], name: Range<usize>, word_end: usize) -> Option<Assignment<'_>> {
    let end = name.end;
    let joints = (word_end..end).filter(|it| matches!(text[*it], b'-' | b'.'));
    let start = joints.map(|it| it + 1).take(4).find(|it| judge::is_joined(&text[*it..end]))?;
    Some(Assignment {
        name: &text[name.start..start - 1],
        link: Link::Joint,
        quote: None,
        tight: true,
        alone: false,
        scheme: None,
        value: &text[start..end],
        start,
    })
}

fn is_harmless(name: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    HARMLESS.iter().any(|it| contains(&lower, it))
}
