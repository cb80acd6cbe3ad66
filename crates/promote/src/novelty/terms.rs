//! Parses a statement into terms, each with a class and a key to compare.
//!
//! ```text
//! text      The     timeouts  in      src/wire  are     60 seconds.
//! class     Filler  Word      Filler  Path      Filler  Number
//! key       the     timeout   in      src/wire  are     60000ms
//! ```
//!
//! A *chunk* is the text between two spaces without the punctuation around it (`text_chunks`); `lexicon` has
//! the word lists. A chunk is tried in order as a command in backticks, a common word with a role (filler,
//! negation, …), a path, a number, an identifier; otherwise it is split into words. The key is a canonical
//! form, so that inflections, spellings and units of one thing have equal keys: `60s` and `1 minute`,
//! `verifyJwt` and `verify_jwt`. The file also finds where the *claim* ends, the first assertion of a
//! statement before its reasons and further sentences.

use model::words::{file_extension, identifier_parts};

use super::lexicon::{
    MeasureUnit, REASON_WORDS, canonical_form, canonical_spelling, parse_number_word, parse_unit,
    word_role,
};
use crate::text_chunks::{TextBoundary, TextChunk, split_chunks};

/// Class of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TermClass {
    /// A word without meaning for the comparison: "the", "is".
    Filler,
    /// A word that strengthens or weakens a statement: "always".
    Weak,
    /// A word that limits where a statement holds: "when".
    Condition,
    /// "not", "never"
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
    /// The boundary after the term: none, a comma, the end of a clause or a sentence.
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

    /// The weight of the term in the similarity of two statements, relative to others. Names are the best
    /// evidence that two statements are about the same thing; a condition or a negation says little about it.
    pub(crate) const fn weight(&self) -> usize {
        match self.class {
            TermClass::Filler | TermClass::Weak => 0,
            TermClass::Condition | TermClass::Negation => 1,
            TermClass::Word | TermClass::Number | TermClass::Version => 2,
            TermClass::Name | TermClass::Identifier | TermClass::Path => 3,
        }
    }
}

/// The fewest terms of a claim, fillers and weak words not counted: a subject and a value.
const MIN_CLAIM_TERMS: usize = 2;
/// The key of every negation.
pub(crate) const NEGATION_KEY: &str = "¬";

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
        // A chunk can give several terms: the first one may start a sentence, the last one may end it.
        let first = acc.len();
        push_chunk(&mut acc, text, chunk);
        if let Some(term) = acc.get_mut(first) {
            term.starts_sentence = chunk.starts_sentence;
        }
        if let Some(term) = acc[first..].last_mut() {
            // "Note: the limit is 3": the text after a colon still belongs to the claim, so that a colon
            // is no end of a clause here.
            term.boundary =
                if chunk.tail.contains(':') { TextBoundary::Comma } else { chunk.boundary };
        }
    }
    join_units(acc, text)
}

/// The number of terms of the claim. The rest gives reasons or continues with something else.
pub(crate) fn claim_length(terms: &[StatementTerm<'_>]) -> usize {
    let mut n_content = 0;
    for (nth, term) in terms.iter().enumerate() {
        // "the limit is 3 | because …"
        if n_content >= MIN_CLAIM_TERMS && REASON_WORDS.contains(&term.lower.as_str()) {
            return nth;
        }
        n_content += usize::from(!term.is_neutral());
        // "the limit is 3. | Uploads …"
        if n_content >= MIN_CLAIM_TERMS && term.boundary >= TextBoundary::Clause {
            return nth + 1;
        }
    }
    terms.len()
}

/// Adds the terms of a chunk.
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

/// Adds the words of a chunk that are joined by hyphens, slashes or `=`: `read/write` is two words, `limit=5`
/// is "limit = 5".
fn push_words<'a>(acc: &mut Vec<StatementTerm<'a>>, text: &'a str, chunk: &TextChunk<'a>) {
    let is_separator = |it: char| !it.is_alphanumeric() && !"'’".contains(it);
    let mut next_start = chunk.text_start;
    for piece in chunk.text.split(is_separator) {
        let start = next_start;
        let end = start + piece.len();
        // The next piece begins after the separator.
        let separator_length = text[end..].chars().next().map_or(0, char::len_utf8);
        next_start = end + separator_length;
        // Between two separators in a row.
        if piece.is_empty() {
            continue;
        }
        let raw = &text[start..end];
        let is_later_piece = start > chunk.text_start;
        let follows_equals_sign = is_later_piece && text[..start].ends_with('=');
        if follows_equals_sign {
            // A term of its own with an empty original text, because the sign is outside of both pieces.
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
    /// Any word may have a capital here: at the start of a sentence and after a hyphen or slash.
    AmbiguousCapital,
    Plain,
}

/// Parses a single word: one with a role, a number, a name, or a plain word.
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

/// The key of a common word with a role. All negations have one key.
fn role_key(class: TermClass, lower: &str) -> String {
    if class == TermClass::Negation { NEGATION_KEY.into() } else { canonical_form(lower) }
}

fn new_term(raw: &str, lower: String, key: String, class: TermClass) -> StatementTerm<'_> {
    StatementTerm { raw, lower, key, class, starts_sentence: false, boundary: TextBoundary::None }
}

/// The class and key of a chunk that is one path, number or identifier; `None` if it consists of words.
fn classify_chunk(chunk: &TextChunk<'_>, lower: &str) -> Option<(TermClass, String)> {
    let text = chunk.text;
    if lower.contains("://") || is_path(chunk) {
        // `./src/` and `src` are one folder.
        let key = lower.trim_start_matches("./").trim_end_matches('/').to_owned();
        return Some((TermClass::Path, key));
    }
    if let Some(number) = parse_number(lower) {
        return Some(number);
    }
    // Code in backticks is taken as it is: `&[u8]` is not `u8`.
    let is_unusual = |it: char| !it.is_alphanumeric() && !"_.:-/()=%".contains(it);
    if chunk.is_quoted && text.contains(is_unusual) {
        return Some((TermClass::Identifier, lower.to_owned()));
    }
    // `c++`, `c#`.
    if lower.ends_with("++") || lower.ends_with('#') {
        return Some((TermClass::Identifier, lower.to_owned()));
    }
    // The assignment `limit=5` is several words, the option `--limit=5` is one name.
    if text.contains('=') && !text.starts_with("--") {
        return None;
    }
    if is_identifier(chunk) {
        // `verifyJwt` and `verify_jwt` have the same parts.
        return Some((TermClass::Identifier, canonical_spelling(identifier_parts(text).concat())));
    }
    None
}

fn is_path(chunk: &TextChunk<'_>) -> bool {
    let text = chunk.text;
    // `main.rs`, `src/main.rs`.
    if file_extension(text).is_some() {
        return true;
    }
    // `./build`, `../lib`, `~/bin`.
    if text.starts_with("./") || text.starts_with("../") || text.starts_with("~/") {
        return true;
    }
    // `.env`.
    let is_dot_file = text.starts_with('.')
        && text.len() > 2
        && text[1..].bytes().all(|it| it.is_ascii_lowercase());
    if is_dot_file {
        return true;
    }
    // A single slash can also separate two words: `src/auth` and `auth/` are paths, `read/write` is not.
    let n_slashes = text.bytes().filter(|it| *it == b'/').count();
    let has_project_folder = text.split('/').next().is_some_and(|it| PROJECT_FOLDERS.contains(&it));
    n_slashes > 1
        || (n_slashes == 1 && (chunk.is_quoted || has_project_folder || text.ends_with('/')))
}

/// Returns whether a chunk has a form that plain words do not have.
fn is_identifier(chunk: &TextChunk<'_>) -> bool {
    let text = chunk.text;
    // Tests every two neighbouring characters.
    let has_pair = |test: fn(char, char) -> bool| {
        text.chars().zip(text.chars().skip(1)).any(|(a, b)| test(a, b))
    };
    let is_option = text.starts_with("--");
    // `$HOME`, `@types`, `#[test]`.
    let has_sigil = text.starts_with(['$', '@', '#']);
    // A hyphen in backticks belongs to the name: `us-east`.
    let is_quoted_with_hyphen = chunk.is_quoted && text.contains('-');
    let is_qualified = text.contains("::");
    let is_snake_case = text.contains('_');
    // `verify(token)`.
    let is_call = chunk.tail.starts_with('(');
    let is_camel_case = has_pair(|a, b| a.is_lowercase() && b.is_uppercase());
    // `os.path`: a dot between letters.
    let is_dotted = has_pair(|a, b| a == '.' && b.is_alphabetic())
        && has_pair(|a, b| a.is_alphabetic() && b == '.');
    // `utf8`, but not `step-3`.
    let has_digit_after_letter =
        has_pair(|a, b| a.is_alphabetic() && b.is_ascii_digit()) && !text.contains(['-', '/', '=']);
    is_option
        || has_sigil
        || is_quoted_with_hyphen
        || is_qualified
        || is_snake_case
        || is_call
        || is_camel_case
        || is_dotted
        || has_digit_after_letter
}

/// Parses `200ms`, `1,000`, `10%`, `v1.2`, `three`. The key contains the value and the unit.
fn parse_number(lower: &str) -> Option<(TermClass, String)> {
    if let Some(value) = parse_number_word(lower) {
        return Some((TermClass::Number, value.to_string()));
    }
    // Comparison signs and currencies do not change the value: `~200ms` has the key of `200ms`.
    let text = lower.trim_start_matches(['~', '<', '>', '=', '≤', '≥', '$', '€', '+', '-', '^']);
    let is_digit = |it: char| it.is_ascii_digit();
    // `v2` is a version, `vector` is a word.
    let version = text.strip_prefix('v').filter(|rest| rest.starts_with(is_digit));
    let text = version.unwrap_or(text);
    // The value reaches to the unit, and may contain separators as in `1,000`, `1.2.3` and `12:30`.
    let is_in_value = |it: char| is_digit(it) || ",._:-".contains(it);
    let value_length = text.find(|it: char| !is_in_value(it)).unwrap_or(text.len());
    let (value, suffix) = text.split_at(value_length);
    if !value.starts_with(is_digit) || !value.ends_with(is_digit) {
        return None;
    }
    // `1,000` and `1_000` are 1000.
    let value = value.replace([',', '_'], "");
    if suffix.is_empty() {
        let is_version = version.is_some() || value.matches('.').count() > 1;
        let class = if is_version { TermClass::Version } else { TermClass::Number };
        return Some((class, value));
    }
    // Digits with an unknown suffix are a name: `7zip`. So is `v2` with any suffix.
    let unit = parse_unit(suffix).filter(|_| version.is_none())?;
    Some((TermClass::Number, number_key(&value, unit)))
}

/// Joins a number and the unit after it: `30` and `seconds` become one term.
fn join_units<'a>(terms: Vec<StatementTerm<'a>>, text: &'a str) -> Vec<StatementTerm<'a>> {
    let mut acc: Vec<StatementTerm<'a>> = Vec::with_capacity(terms.len());
    for term in terms {
        // A single letter after a number is more often a name than a unit.
        let unit = if term.lower.len() > 1 { parse_unit(&term.lower) } else { None };
        let number = acc.last_mut().filter(|it| is_bare_number(it));
        if let (Some(unit), Some(number)) = (unit, number) {
            // Both are parts of `text`, so that the addresses give the range.
            let start = number.raw.as_ptr().addr() - text.as_ptr().addr();
            let end = term.raw.as_ptr().addr() - text.as_ptr().addr() + term.raw.len();
            number.raw = &text[start..end];
            number.key = number_key(&number.key, unit);
            number.boundary = term.boundary;
        } else {
            acc.push(term);
        }
    }
    acc
}

/// Returns whether a term is a number without a unit that the next word may complete.
fn is_bare_number(term: &StatementTerm<'_>) -> bool {
    let has_no_unit = term.key.bytes().all(|it| it.is_ascii_digit() || it == b'.');
    term.class == TermClass::Number && term.boundary == TextBoundary::None && has_no_unit
}

/// The key of a number with a unit. Times are converted to milliseconds, so that `60s` and `1 min` both are
/// `60000ms`.
fn number_key(value: &str, unit: MeasureUnit) -> String {
    let MeasureUnit { name, millis } = unit;
    let converted = value.parse::<u64>().ok().filter(|_| millis > 0);
    match converted.and_then(|it| it.checked_mul(millis)) {
        Some(converted) => format!("{converted}{name}"),
        // A fraction such as `1.5 min` is not converted; the factor distinguishes it from `1.5 s`.
        None if millis > 1 => format!("{value}x{millis}{name}"),
        None => format!("{value}{name}"),
    }
}

/// A text in lower case, with `'` in place of the curly apostrophe.
fn lower_plain_quotes(text: &str) -> String {
    text.to_lowercase().replace('’', "'")
}
