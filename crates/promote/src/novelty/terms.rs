//! Reads a statement into terms: what each word is, and what it is compared by.

use model::words::{extension, parts};

use super::lexicon::{REASONS, canonical, number_word, role, spelled, unit};
use crate::chunk::{Chunk, End, chunks};

/// What a term is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Filler,
    Weak,
    Condition,
    Negation,
    Word,
    /// Capitalised inside a sentence, in capitals, or a plain word in backticks.
    Name,
    Identifier,
    Path,
    Number,
    /// A number with several dots, or `v2`; unlike [`Class::Number`] it is never an amount.
    Version,
}

#[derive(Clone, Debug)]
pub(crate) struct Term<'a> {
    /// As written, for people.
    pub raw: &'a str,
    pub lower: String,
    /// Two terms are the same when their keys are.
    pub key: String,
    pub class: Class,
    /// First of its sentence.
    pub opens: bool,
    pub ends: End,
}

impl Term<'_> {
    /// Carries a fact that cannot be said in other words.
    pub(crate) const fn is_hard(&self) -> bool {
        use Class::{Identifier, Name, Number, Path, Version};
        matches!(self.class, Name | Identifier | Path | Number | Version)
    }

    /// Says nothing that could be true or false.
    pub(crate) const fn is_free(&self) -> bool {
        matches!(self.class, Class::Filler | Class::Weak)
    }

    /// What it adds to the likeness of two statements.
    pub(crate) const fn weight(&self) -> usize {
        match self.class {
            Class::Filler | Class::Weak => 0,
            Class::Condition | Class::Negation => 1,
            Class::Word | Class::Number | Class::Version => 2,
            Class::Name | Class::Identifier | Class::Path => 3,
        }
    }
}

/// First folders of projects: `src/auth` is a path, `read/write` is two words.
#[rustfmt::skip]
const ROOTS: &[&str] = &[
    "src", "lib", "crates", "tests", "test", "docs", "app", "apps", "packages", "bin", "cmd", "internal", "pkg", "scripts",
    "config", "examples", "tools", "server", "client", "public", "assets", "migrations", "spec", "benches", "target", "dist",
    "build", "etc",
];

pub(crate) fn read(text: &str) -> Vec<Term<'_>> {
    let mut acc: Vec<Term<'_>> = Vec::new();
    for chunk in chunks(text).iter().filter(|it| it.marker.is_none()) {
        let first = acc.len();
        push_chunk(&mut acc, text, chunk);
        if let Some(term) = acc.get_mut(first) {
            term.opens = chunk.opens;
        }
        if let Some(term) = acc[first..].last_mut() {
            // A colon introduces; what follows still belongs to the claim.
            term.ends = if chunk.tail.contains(':') { End::Comma } else { chunk.ends };
        }
    }
    join_units(acc, text)
}

/// How many terms the claim takes; the rest gives reasons or goes on to something else.
pub(crate) fn claim_length(terms: &[Term<'_>]) -> usize {
    let mut n_content = 0;
    for (at, term) in terms.iter().enumerate() {
        if n_content > 1 && REASONS.contains(&term.lower.as_str()) {
            return at;
        }
        n_content += usize::from(!term.is_free());
        if n_content > 1 && term.ends >= End::Clause {
            return at + 1;
        }
    }
    terms.len()
}

fn push_chunk<'a>(acc: &mut Vec<Term<'a>>, text: &'a str, chunk: &Chunk<'a>) {
    let lower = lowered(chunk.text);
    if chunk.quoted && lower.contains(char::is_whitespace) {
        let key = lower.split_whitespace().collect();
        acc.push(term(chunk.text, lower, key, Class::Identifier));
    } else if let Some(class) = role(&lower) {
        let key = if class == Class::Negation { "¬".into() } else { canonical(&lower) };
        acc.push(term(chunk.text, lower, key, class));
    } else if let Some(rest) = lower.strip_prefix("non-") {
        let lower = format!("non{rest}");
        acc.push(term(chunk.text, lower.clone(), canonical(&lower), Class::Word));
    } else if let Some((class, key)) = shape(chunk, &lower) {
        acc.push(term(chunk.text, lower, key, class));
    } else {
        push_words(acc, text, chunk);
    }
}

/// A chunk that is no single thing: words joined by hyphens, slashes, `=`.
fn push_words<'a>(acc: &mut Vec<Term<'a>>, text: &'a str, chunk: &Chunk<'a>) {
    let separates = |it: char| !it.is_alphanumeric() && !"'’".contains(it);
    let mut at = chunk.at;
    for piece in chunk.text.split(separates) {
        let raw = &text[at..at + piece.len()];
        let inside = at > chunk.at;
        let separator = text[..at].chars().next_back().filter(|_| inside);
        at += piece.len() + text[at + piece.len()..].chars().next().map_or(0, char::len_utf8);
        if piece.is_empty() {
            continue;
        }
        if separator == Some('=') {
            acc.push(term(&raw[..0], "=".into(), "=".into(), Class::Filler));
        }
        acc.push(word(raw, chunk.opens || inside, chunk.quoted));
    }
}

/// `uncertain`: a capital says nothing here, as at the start of a sentence.
fn word(raw: &str, uncertain: bool, quoted: bool) -> Term<'_> {
    let lower = lowered(raw);
    if let Some(class) = role(&lower) {
        let key = if class == Class::Negation { "¬".into() } else { canonical(&lower) };
        return term(raw, lower, key, class);
    }
    if let Some((class, key)) = number(&lower) {
        return term(raw, lower, key, class);
    }
    let capital = raw.starts_with(char::is_uppercase);
    let acronym = raw.len() > 1 && !raw.contains(char::is_lowercase);
    let class =
        if quoted || (capital && (acronym || !uncertain)) { Class::Name } else { Class::Word };
    let key = canonical(&lower);
    term(raw, lower, key, class)
}

fn term(raw: &str, lower: String, key: String, class: Class) -> Term<'_> {
    Term { raw, lower, key, class, opens: false, ends: End::Nothing }
}

fn shape(chunk: &Chunk<'_>, lower: &str) -> Option<(Class, String)> {
    let text = chunk.text;
    if lower.contains("://") || is_path(text, chunk.quoted) {
        return Some((
            Class::Path,
            lower.trim_start_matches("./").trim_end_matches('/').to_owned(),
        ));
    }
    if let Some(res) = number(lower) {
        return Some(res);
    }
    let has = |test: fn(char, char) -> bool| {
        text.chars().zip(text.chars().skip(1)).any(|(a, b)| test(a, b))
    };
    // Code in backticks: `&[u8]` is not `u8`.
    let odd = |it: char| !it.is_alphanumeric() && !"_.:-/()=%".contains(it);
    if chunk.quoted && text.contains(odd) {
        return Some((Class::Identifier, lower.to_owned()));
    }
    if lower.ends_with("++") || lower.ends_with('#') {
        return Some((Class::Identifier, lower.to_owned()));
    }
    if text.contains('=') && !text.starts_with("--") {
        return None;
    }
    let call = chunk.tail.starts_with('(');
    let is_identifier = text.starts_with("--")
        || (chunk.quoted && text.contains('-'))
        || text.starts_with(['$', '@', '#'])
        || text.contains("::")
        || text.contains('_')
        || call
        || has(|a, b| a.is_lowercase() && b.is_uppercase())
        || (has(|a, b| a == '.' && b.is_alphabetic()) && has(|a, b| a.is_alphabetic() && b == '.'))
        || (has(|a, b| a.is_alphabetic() && b.is_ascii_digit()) && !text.contains(['-', '/', '=']));
    is_identifier.then(|| (Class::Identifier, spelled(parts(text).concat())))
}

fn is_path(text: &str, quoted: bool) -> bool {
    let root = text.split('/').next().is_some_and(|it| ROOTS.contains(&it));
    let slashes = text.bytes().filter(|it| *it == b'/').count();
    extension(text).is_some()
        || (slashes > 0 && (quoted || root || slashes > 1 || text.ends_with('/')))
        || text.starts_with("./")
        || text.starts_with("../")
        || text.starts_with("~/")
        || (text.starts_with('.')
            && text.len() > 2
            && text[1..].bytes().all(|it| it.is_ascii_lowercase()))
}

/// `200ms`, `1,000`, `10%`, `v1.2`, `three`; the key holds value and unit.
fn number(lower: &str) -> Option<(Class, String)> {
    if let Some(value) = number_word(lower) {
        return Some((Class::Number, value.to_string()));
    }
    let text = lower.trim_start_matches(['~', '<', '>', '=', '≤', '≥', '$', '€', '+', '-', '^']);
    let versioned =
        text.strip_prefix('v').filter(|it| it.starts_with(|it: char| it.is_ascii_digit()));
    let text = versioned.unwrap_or(text);
    let digits =
        text.find(|it: char| !it.is_ascii_digit() && !",._:-".contains(it)).unwrap_or(text.len());
    let (value, suffix) = text.split_at(digits);
    if !value.starts_with(|it: char| it.is_ascii_digit())
        || !value.ends_with(|it: char| it.is_ascii_digit())
    {
        return None;
    }
    let value = value.replace([',', '_'], "");
    match (suffix, unit(suffix)) {
        ("", _) if versioned.is_some() || value.matches('.').count() > 1 => {
            Some((Class::Version, value))
        }
        ("", _) => Some((Class::Number, value)),
        (_, Some((name, factor))) if versioned.is_none() => {
            Some((Class::Number, measured(&value, name, factor)))
        }
        _ => None,
    }
}

/// `30` and `seconds` become one term.
fn join_units<'a>(terms: Vec<Term<'a>>, text: &'a str) -> Vec<Term<'a>> {
    let mut acc: Vec<Term<'a>> = Vec::with_capacity(terms.len());
    for term in terms {
        let bare = |it: &&mut Term<'_>| {
            let plain = it.key.bytes().all(|b| b.is_ascii_digit() || b == b'.');
            it.class == Class::Number && it.ends == End::Nothing && plain
        };
        match (unit(&term.lower), acc.last_mut().filter(bare)) {
            (Some((name, factor)), Some(number)) if term.lower.len() > 1 => {
                let from = number.raw.as_ptr().addr() - text.as_ptr().addr();
                let to = term.raw.as_ptr().addr() - text.as_ptr().addr() + term.raw.len();
                number.raw = &text[from..to];
                number.key = measured(&number.key, name, factor);
                number.ends = term.ends;
            }
            _ => acc.push(term),
        }
    }
    acc
}

fn measured(value: &str, unit: &str, factor: u64) -> String {
    match value.parse::<u64>().ok().and_then(|it| it.checked_mul(factor)).filter(|_| factor > 0) {
        Some(value) => format!("{value}{unit}"),
        None if factor > 1 => format!("{value}x{factor}{unit}"),
        None => format!("{value}{unit}"),
    }
}

fn lowered(text: &str) -> String {
    text.to_lowercase().replace('’', "'")
}
