//! Parses a statement into terms, each with a class and a key to compare.

use model::words::{file_extension, identifier_parts};

use super::lexicon::{
    REASON_WORDS, canonical_form, canonical_spelling, parse_number_word, parse_unit, word_role,
};
use crate::text_chunks::{TextBoundary, TextChunk, split_chunks};

/// Class of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TermClass {
    /// A word without meaning for the comparison.
    Filler,
    /// A word that strengthens or weakens a statement.
    Weak,
    /// A word that limits where a statement holds.
    Condition,
    Negation,
    Word,
    /// A capitalised word inside a sentence, an acronym, or a plain word in backticks.
    Name,
    Identifier,
    Path,
    Number,
    /// A number with several dots, or `v2`; unlike [`TermClass::Number`] it is never an amount.
    Version,
}

/// A term of a statement.
#[derive(Clone, Debug)]
pub(crate) struct StatementTerm<'a> {
    /// The original text.
    pub raw: &'a str,
    pub lower: String,
    /// Two terms are equal if their keys are.
    pub key: String,
    pub class: TermClass,
    /// The first term of its sentence.
    pub starts_sentence: bool,
    pub boundary: TextBoundary,
}

impl StatementTerm<'_> {
    /// Returns whether the term is a fact that has no synonym.
    pub(crate) const fn is_fact(&self) -> bool {
        use TermClass::{Identifier, Name, Number, Path, Version};
        matches!(self.class, Name | Identifier | Path | Number | Version)
    }

    /// Returns whether the term does not change what the statement claims.
    pub(crate) const fn is_neutral(&self) -> bool {
        matches!(self.class, TermClass::Filler | TermClass::Weak)
    }

    /// The weight of the term in the similarity of two statements.
    pub(crate) const fn weight(&self) -> usize {
        match self.class {
            TermClass::Filler | TermClass::Weak => 0,
            TermClass::Condition | TermClass::Negation => 1,
            TermClass::Word | TermClass::Number | TermClass::Version => 2,
            TermClass::Name | TermClass::Identifier | TermClass::Path => 3,
        }
    }
}

/// Usual top folders of projects: `src/auth` is a path, `read/write` is two words.
#[rustfmt::skip]
const PROJECT_FOLDERS: &[&str] = &[
    "src", "lib", "crates", "tests", "test", "docs", "app", "apps", "packages", "bin", "cmd", "internal", "pkg", "scripts",
    "config", "examples", "tools", "server", "client", "public", "assets", "migrations", "spec", "benches", "target", "dist",
    "build", "etc",
];

/// Parses a text into terms. List numbers are left out.
pub(crate) fn parse_terms(text: &str) -> Vec<StatementTerm<'_>> {
    let mut acc: Vec<StatementTerm<'_>> = Vec::new();
    for chunk in split_chunks(text).iter().filter(|it| it.list_number.is_none()) {
        let first = acc.len();
        push_chunk(&mut acc, text, chunk);
        if let Some(term) = acc.get_mut(first) {
            term.starts_sentence = chunk.starts_sentence;
        }
        if let Some(term) = acc[first..].last_mut() {
            // The text after a colon still belongs to the claim.
            term.boundary =
                if chunk.tail.contains(':') { TextBoundary::Comma } else { chunk.boundary };
        }
    }
    join_units(acc, text)
}

/// The number of terms of the claim. The rest gives reasons or continues with something else.
pub(crate) fn claim_length(terms: &[StatementTerm<'_>]) -> usize {
    let mut n_content = 0;
    for (at, term) in terms.iter().enumerate() {
        if n_content > 1 && REASON_WORDS.contains(&term.lower.as_str()) {
            return at;
        }
        // A claim has at least two content terms: a subject and a value.
        n_content += usize::from(!term.is_neutral());
        if n_content > 1 && term.boundary >= TextBoundary::Clause {
            return at + 1;
        }
    }
    terms.len()
}

fn push_chunk<'a>(acc: &mut Vec<StatementTerm<'a>>, text: &'a str, chunk: &TextChunk<'a>) {
    let lower = lower_plain_quotes(chunk.text);
    // A command in backticks is one term.
    if chunk.is_quoted && lower.contains(char::is_whitespace) {
        let key = lower.split_whitespace().collect();
        acc.push(new_term(chunk.text, lower, key, TermClass::Identifier));
    } else if let Some(class) = word_role(&lower) {
        let key = role_key(class, &lower);
        acc.push(new_term(chunk.text, lower, key, class));
    } else if let Some(rest) = lower.strip_prefix("non-") {
        // "non-blocking" and "nonblocking" are one word, not a negation.
        let lower = format!("non{rest}");
        acc.push(new_term(chunk.text, lower.clone(), canonical_form(&lower), TermClass::Word));
    } else if let Some((class, key)) = classify_chunk(chunk, &lower) {
        acc.push(new_term(chunk.text, lower, key, class));
    } else {
        push_words(acc, text, chunk);
    }
}

/// Adds the words of a chunk that are joined by hyphens, slashes or `=`.
fn push_words<'a>(acc: &mut Vec<StatementTerm<'a>>, text: &'a str, chunk: &TextChunk<'a>) {
    let is_separator = |it: char| !it.is_alphanumeric() && !"'’".contains(it);
    let mut at = chunk.text_start;
    for piece in chunk.text.split(is_separator) {
        let raw = &text[at..at + piece.len()];
        let is_later_piece = at > chunk.text_start;
        let separator = text[..at].chars().next_back().filter(|_| is_later_piece);
        at += piece.len() + text[at + piece.len()..].chars().next().map_or(0, char::len_utf8);
        if piece.is_empty() {
            continue;
        }
        // `limit=5` is read as "limit = 5".
        if separator == Some('=') {
            acc.push(new_term(&raw[..0], "=".into(), "=".into(), TermClass::Filler));
        }
        let context = if chunk.is_quoted {
            WordContext::Backticks
        } else if chunk.starts_sentence || is_later_piece {
            WordContext::AmbiguousCapital
        } else {
            WordContext::Plain
        };
        acc.push(parse_word(raw, context));
    }
}

/// Context of a word, which decides whether it is a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WordContext {
    Backticks,
    /// A capital means nothing here, as at the start of a sentence.
    AmbiguousCapital,
    Plain,
}

fn parse_word(raw: &str, context: WordContext) -> StatementTerm<'_> {
    let lower = lower_plain_quotes(raw);
    if let Some(class) = word_role(&lower) {
        let key = role_key(class, &lower);
        return new_term(raw, lower, key, class);
    }
    if let Some((class, key)) = parse_number(&lower) {
        return new_term(raw, lower, key, class);
    }
    let is_capitalised = raw.starts_with(char::is_uppercase);
    let is_acronym = is_capitalised && raw.len() > 1 && !raw.contains(char::is_lowercase);
    let is_name = match context {
        WordContext::Backticks => true,
        WordContext::AmbiguousCapital => is_acronym,
        WordContext::Plain => is_capitalised,
    };
    let class = if is_name { TermClass::Name } else { TermClass::Word };
    let key = canonical_form(&lower);
    new_term(raw, lower, key, class)
}

/// All negations have one key.
fn role_key(class: TermClass, lower: &str) -> String {
    if class == TermClass::Negation { "¬".into() } else { canonical_form(lower) }
}

fn new_term(raw: &str, lower: String, key: String, class: TermClass) -> StatementTerm<'_> {
    StatementTerm { raw, lower, key, class, starts_sentence: false, boundary: TextBoundary::None }
}

/// The class and key of a chunk that is one thing; `None` for words.
fn classify_chunk(chunk: &TextChunk<'_>, lower: &str) -> Option<(TermClass, String)> {
    let text = chunk.text;
    if lower.contains("://") || is_path(chunk) {
        return Some((
            TermClass::Path,
            lower.trim_start_matches("./").trim_end_matches('/').to_owned(),
        ));
    }
    if let Some(number) = parse_number(lower) {
        return Some(number);
    }
    let has_pair = |test: fn(char, char) -> bool| {
        text.chars().zip(text.chars().skip(1)).any(|(a, b)| test(a, b))
    };
    // Code in backticks: `&[u8]` is not `u8`.
    let is_unusual = |it: char| !it.is_alphanumeric() && !"_.:-/()=%".contains(it);
    if chunk.is_quoted && text.contains(is_unusual) {
        return Some((TermClass::Identifier, lower.to_owned()));
    }
    if lower.ends_with("++") || lower.ends_with('#') {
        return Some((TermClass::Identifier, lower.to_owned()));
    }
    // An assignment is several words, an option with a value is one name.
    if text.contains('=') && !text.starts_with("--") {
        return None;
    }
    let is_call = chunk.tail.starts_with('(');
    let is_identifier = text.starts_with("--")
        || (chunk.is_quoted && text.contains('-'))
        || text.starts_with(['$', '@', '#'])
        || text.contains("::")
        || text.contains('_')
        || is_call
        || has_pair(|a, b| a.is_lowercase() && b.is_uppercase())
        || (has_pair(|a, b| a == '.' && b.is_alphabetic())
            && has_pair(|a, b| a.is_alphabetic() && b == '.'))
        || (has_pair(|a, b| a.is_alphabetic() && b.is_ascii_digit())
            && !text.contains(['-', '/', '=']));
    is_identifier
        .then(|| (TermClass::Identifier, canonical_spelling(identifier_parts(text).concat())))
}

fn is_path(chunk: &TextChunk<'_>) -> bool {
    let text = chunk.text;
    let has_root = text.split('/').next().is_some_and(|it| PROJECT_FOLDERS.contains(&it));
    let n_slashes = text.bytes().filter(|it| *it == b'/').count();
    file_extension(text).is_some()
        || (n_slashes > 0
            && (chunk.is_quoted || has_root || n_slashes > 1 || text.ends_with('/')))
        || text.starts_with("./")
        || text.starts_with("../")
        || text.starts_with("~/")
        // A dot file: `.env`.
        || (text.starts_with('.')
            && text.len() > 2
            && text[1..].bytes().all(|it| it.is_ascii_lowercase()))
}

/// Parses `200ms`, `1,000`, `10%`, `v1.2`, `three`. The key contains the value and the unit.
fn parse_number(lower: &str) -> Option<(TermClass, String)> {
    if let Some(value) = parse_number_word(lower) {
        return Some((TermClass::Number, value.to_string()));
    }
    // Comparison signs and currencies do not change the value.
    let text = lower.trim_start_matches(['~', '<', '>', '=', '≤', '≥', '$', '€', '+', '-', '^']);
    let version =
        text.strip_prefix('v').filter(|it| it.starts_with(|it: char| it.is_ascii_digit()));
    let text = version.unwrap_or(text);
    let n_digits =
        text.find(|it: char| !it.is_ascii_digit() && !",._:-".contains(it)).unwrap_or(text.len());
    let (value, suffix) = text.split_at(n_digits);
    if !value.starts_with(|it: char| it.is_ascii_digit())
        || !value.ends_with(|it: char| it.is_ascii_digit())
    {
        return None;
    }
    // `1,000` and `1_000` are 1000.
    let value = value.replace([',', '_'], "");
    match (suffix, parse_unit(suffix)) {
        ("", _) if version.is_some() || value.matches('.').count() > 1 => {
            Some((TermClass::Version, value))
        }
        ("", _) => Some((TermClass::Number, value)),
        (_, Some((name, factor))) if version.is_none() => {
            Some((TermClass::Number, number_key(&value, name, factor)))
        }
        // Digits with an unknown suffix are a name: `7zip`.
        _ => None,
    }
}

/// Joins a number and the unit after it: `30` and `seconds` become one term.
fn join_units<'a>(terms: Vec<StatementTerm<'a>>, text: &'a str) -> Vec<StatementTerm<'a>> {
    let mut acc: Vec<StatementTerm<'a>> = Vec::with_capacity(terms.len());
    for term in terms {
        let is_bare_number = |it: &&mut StatementTerm<'_>| {
            let has_no_unit = it.key.bytes().all(|b| b.is_ascii_digit() || b == b'.');
            it.class == TermClass::Number && it.boundary == TextBoundary::None && has_no_unit
        };
        match (parse_unit(&term.lower), acc.last_mut().filter(is_bare_number)) {
            // A single letter after a number is more often a name than a unit.
            (Some((name, factor)), Some(number)) if term.lower.len() > 1 => {
                // Both are parts of `text`, so that the addresses give the range.
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

/// The key of a number with a unit. Times are converted to milliseconds, so that `60s` equals `1 min`.
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
