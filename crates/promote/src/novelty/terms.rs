//! Reads a statement into terms: what each word is, and what it is compared by.

use model::words::{file_extension, identifier_parts};

use super::lexicon::{
    REASON_WORDS, canonical_form, canonical_spelling, parse_number_word, parse_unit, word_role,
};
use crate::text_chunks::{TextBoundary, TextChunk, split_chunks};

/// What a term is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TermClass {
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
pub(crate) struct StatementTerm<'a> {
    /// As written, for people.
    pub raw: &'a str,
    pub lower: String,
    /// Two terms are the same when their keys are.
    pub key: String,
    pub class: TermClass,
    /// First of its sentence.
    pub starts_sentence: bool,
    pub boundary: TextBoundary,
}

impl StatementTerm<'_> {
    /// Carries a fact that cannot be said in other words.
    pub(crate) const fn is_fact(&self) -> bool {
        use TermClass::{Identifier, Name, Number, Path, Version};
        matches!(self.class, Name | Identifier | Path | Number | Version)
    }

    /// Says nothing that could be true or false.
    pub(crate) const fn is_neutral(&self) -> bool {
        matches!(self.class, TermClass::Filler | TermClass::Weak)
    }

    /// What it adds to the likeness of two statements.
    pub(crate) const fn weight(&self) -> usize {
        match self.class {
            TermClass::Filler | TermClass::Weak => 0,
            TermClass::Condition | TermClass::Negation => 1,
            TermClass::Word | TermClass::Number | TermClass::Version => 2,
            TermClass::Name | TermClass::Identifier | TermClass::Path => 3,
        }
    }
}

/// First folders of projects: `src/auth` is a path, `read/write` is two words.
#[rustfmt::skip]
const PROJECT_FOLDERS: &[&str] = &[
    "src", "lib", "crates", "tests", "test", "docs", "app", "apps", "packages", "bin", "cmd", "internal", "pkg", "scripts",
    "config", "examples", "tools", "server", "client", "public", "assets", "migrations", "spec", "benches", "target", "dist",
    "build", "etc",
];

pub(crate) fn parse_terms(text: &str) -> Vec<StatementTerm<'_>> {
    let mut acc: Vec<StatementTerm<'_>> = Vec::new();
    for chunk in split_chunks(text).iter().filter(|it| it.list_number.is_none()) {
        let first = acc.len();
        push_chunk(&mut acc, text, chunk);
        if let Some(term) = acc.get_mut(first) {
            term.starts_sentence = chunk.starts_sentence;
        }
        if let Some(term) = acc[first..].last_mut() {
            // A colon introduces; what follows still belongs to the claim.
            term.boundary =
                if chunk.tail.contains(':') { TextBoundary::Comma } else { chunk.boundary };
        }
    }
    join_units(acc, text)
}

/// How many terms the claim takes; the rest gives reasons or goes on to something else.
pub(crate) fn claim_length(terms: &[StatementTerm<'_>]) -> usize {
    let mut n_content = 0;
    for (at, term) in terms.iter().enumerate() {
        if n_content > 1 && REASON_WORDS.contains(&term.lower.as_str()) {
            return at;
        }
        n_content += usize::from(!term.is_neutral());
        if n_content > 1 && term.boundary >= TextBoundary::Clause {
            return at + 1;
        }
    }
    terms.len()
}

fn push_chunk<'a>(acc: &mut Vec<StatementTerm<'a>>, text: &'a str, chunk: &TextChunk<'a>) {
    let lower = lower_plain_quotes(chunk.text);
    if chunk.is_quoted && lower.contains(char::is_whitespace) {
        let key = lower.split_whitespace().collect();
        acc.push(new_term(chunk.text, lower, key, TermClass::Identifier));
    } else if let Some(class) = word_role(&lower) {
        let key = if class == TermClass::Negation { "¬".into() } else { canonical_form(&lower) };
        acc.push(new_term(chunk.text, lower, key, class));
    } else if let Some(rest) = lower.strip_prefix("non-") {
        let lower = format!("non{rest}");
        acc.push(new_term(chunk.text, lower.clone(), canonical_form(&lower), TermClass::Word));
    } else if let Some((class, key)) = classify_chunk(chunk, &lower) {
        acc.push(new_term(chunk.text, lower, key, class));
    } else {
        push_words(acc, text, chunk);
    }
}

/// A chunk that is no single thing: words joined by hyphens, slashes, `=`.
fn push_words<'a>(acc: &mut Vec<StatementTerm<'a>>, text: &'a str, chunk: &TextChunk<'a>) {
    let separates = |it: char| !it.is_alphanumeric() && !"'’".contains(it);
    let mut at = chunk.text_start;
    for piece in chunk.text.split(separates) {
        let raw = &text[at..at + piece.len()];
        let inside = at > chunk.text_start;
        let separator = text[..at].chars().next_back().filter(|_| inside);
        at += piece.len() + text[at + piece.len()..].chars().next().map_or(0, char::len_utf8);
        if piece.is_empty() {
            continue;
        }
        if separator == Some('=') {
            acc.push(new_term(&raw[..0], "=".into(), "=".into(), TermClass::Filler));
        }
        acc.push(parse_word(raw, chunk.starts_sentence || inside, chunk.is_quoted));
    }
}

/// `uncertain`: a capital says nothing here, as at the start of a sentence.
fn parse_word(raw: &str, uncertain: bool, quoted: bool) -> StatementTerm<'_> {
    let lower = lower_plain_quotes(raw);
    if let Some(class) = word_role(&lower) {
        let key = if class == TermClass::Negation { "¬".into() } else { canonical_form(&lower) };
        return new_term(raw, lower, key, class);
    }
    if let Some((class, key)) = parse_number(&lower) {
        return new_term(raw, lower, key, class);
    }
    let capital = raw.starts_with(char::is_uppercase);
    let acronym = raw.len() > 1 && !raw.contains(char::is_lowercase);
    let class = if quoted || (capital && (acronym || !uncertain)) {
        TermClass::Name
    } else {
        TermClass::Word
    };
    let key = canonical_form(&lower);
    new_term(raw, lower, key, class)
}

fn new_term(raw: &str, lower: String, key: String, class: TermClass) -> StatementTerm<'_> {
    StatementTerm { raw, lower, key, class, starts_sentence: false, boundary: TextBoundary::None }
}

fn classify_chunk(chunk: &TextChunk<'_>, lower: &str) -> Option<(TermClass, String)> {
    let text = chunk.text;
    if lower.contains("://") || is_path(text, chunk.is_quoted) {
        return Some((
            TermClass::Path,
            lower.trim_start_matches("./").trim_end_matches('/').to_owned(),
        ));
    }
    if let Some(res) = parse_number(lower) {
        return Some(res);
    }
    let has = |test: fn(char, char) -> bool| {
        text.chars().zip(text.chars().skip(1)).any(|(a, b)| test(a, b))
    };
    // Code in backticks: `&[u8]` is not `u8`.
    let odd = |it: char| !it.is_alphanumeric() && !"_.:-/()=%".contains(it);
    if chunk.is_quoted && text.contains(odd) {
        return Some((TermClass::Identifier, lower.to_owned()));
    }
    if lower.ends_with("++") || lower.ends_with('#') {
        return Some((TermClass::Identifier, lower.to_owned()));
    }
    if text.contains('=') && !text.starts_with("--") {
        return None;
    }
    let call = chunk.tail.starts_with('(');
    let is_identifier = text.starts_with("--")
        || (chunk.is_quoted && text.contains('-'))
        || text.starts_with(['$', '@', '#'])
        || text.contains("::")
        || text.contains('_')
        || call
        || has(|a, b| a.is_lowercase() && b.is_uppercase())
        || (has(|a, b| a == '.' && b.is_alphabetic()) && has(|a, b| a.is_alphabetic() && b == '.'))
        || (has(|a, b| a.is_alphabetic() && b.is_ascii_digit()) && !text.contains(['-', '/', '=']));
    is_identifier
        .then(|| (TermClass::Identifier, canonical_spelling(identifier_parts(text).concat())))
}

fn is_path(text: &str, quoted: bool) -> bool {
    let root = text.split('/').next().is_some_and(|it| PROJECT_FOLDERS.contains(&it));
    let slashes = text.bytes().filter(|it| *it == b'/').count();
    file_extension(text).is_some()
        || (slashes > 0 && (quoted || root || slashes > 1 || text.ends_with('/')))
        || text.starts_with("./")
        || text.starts_with("../")
        || text.starts_with("~/")
        || (text.starts_with('.')
            && text.len() > 2
            && text[1..].bytes().all(|it| it.is_ascii_lowercase()))
}

/// `200ms`, `1,000`, `10%`, `v1.2`, `three`; the key holds value and unit.
fn parse_number(lower: &str) -> Option<(TermClass, String)> {
    if let Some(value) = parse_number_word(lower) {
        return Some((TermClass::Number, value.to_string()));
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
    match (suffix, parse_unit(suffix)) {
        ("", _) if versioned.is_some() || value.matches('.').count() > 1 => {
            Some((TermClass::Version, value))
        }
        ("", _) => Some((TermClass::Number, value)),
        (_, Some((name, factor))) if versioned.is_none() => {
            Some((TermClass::Number, number_key(&value, name, factor)))
        }
        _ => None,
    }
}

/// `30` and `seconds` become one term.
fn join_units<'a>(terms: Vec<StatementTerm<'a>>, text: &'a str) -> Vec<StatementTerm<'a>> {
    let mut acc: Vec<StatementTerm<'a>> = Vec::with_capacity(terms.len());
    for term in terms {
        let bare = |it: &&mut StatementTerm<'_>| {
            let plain = it.key.bytes().all(|b| b.is_ascii_digit() || b == b'.');
            it.class == TermClass::Number && it.boundary == TextBoundary::None && plain
        };
        match (parse_unit(&term.lower), acc.last_mut().filter(bare)) {
            (Some((name, factor)), Some(number)) if term.lower.len() > 1 => {
                let from = number.raw.as_ptr().addr() - text.as_ptr().addr();
                let to = term.raw.as_ptr().addr() - text.as_ptr().addr() + term.raw.len();
                number.raw = &text[from..to];
                number.key = number_key(&number.key, name, factor);
                number.boundary = term.boundary;
            }
            _ => acc.push(term),
        }
    }
    acc
}

fn number_key(value: &str, unit: &str, factor: u64) -> String {
    match value.parse::<u64>().ok().and_then(|it| it.checked_mul(factor)).filter(|_| factor > 0) {
        Some(value) => format!("{value}{unit}"),
        None if factor > 1 => format!("{value}x{factor}{unit}"),
        None => format!("{value}{unit}"),
    }
}

fn lower_plain_quotes(text: &str) -> String {
    text.to_lowercase().replace('’', "'")
}
