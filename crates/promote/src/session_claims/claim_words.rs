//! Words and names of a claim, as the checks compare them.

use std::collections::BTreeSet;

/// Letters of a word that are compared, so that inflections are equal: `commits`, `committed`.
const STEM_CHARS: usize = 5;
/// Shorter words carry no meaning by themselves.
const MIN_WORD_CHARS: usize = 4;

/// The beginnings of the words that carry meaning.
pub(super) fn content_stems(text: &str) -> BTreeSet<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|it: char| !it.is_alphanumeric());
    words
        .filter(|it| it.chars().count() >= MIN_WORD_CHARS && !model::words::is_stop_word(it))
        .map(|it| it.chars().take(STEM_CHARS).collect())
        .collect()
}

/// The share of `of` that is also in `within`, per mille; 0 without words.
pub(super) fn shared_words_per_mille(of: &BTreeSet<String>, within: &BTreeSet<String>) -> usize {
    match of.len() {
        0 => 0,
        n_words => of.intersection(within).count() * 1000 / n_words,
    }
}

/// Names of code in a text: everything in backticks, and words outside that can only be code.
pub(super) fn code_names(text: &str) -> Vec<&str> {
    let quoted = backticked_spans(text);
    let prose = text.split('`').step_by(2).flat_map(str::split_whitespace);
    let plain =
        prose.map(|it| it.trim_matches(|c: char| !c.is_alphanumeric() && !"_/.".contains(c)));
    let plain = plain.map(|it| it.trim_end_matches('.')).filter(|it| is_code_word(it));
    quoted.chain(plain).collect()
}

/// The texts in backticks.
pub(super) fn backticked_spans(text: &str) -> impl Iterator<Item = &str> {
    // Of the pieces between backticks every second one is inside: a `b` c `d`.
    text.split('`').skip(1).step_by(2).map(str::trim).filter(|it| !it.is_empty())
}

/// A word that can only be code: `snake_case`, `camelCase`, `src/a.rs`.
fn is_code_word(word: &str) -> bool {
    if word.chars().count() < MIN_WORD_CHARS || word.contains("://") {
        return false;
    }
    let mut neighbours = word.chars().zip(word.chars().skip(1));
    let is_camel_case = neighbours.any(|(char, next)| char.is_lowercase() && next.is_uppercase());
    let is_file = model::words::file_extension(word).is_some();
    is_camel_case || is_file || (word.contains('_') && word.chars().any(char::is_alphabetic))
}

/// The runs of digits of a text: 1 and 5 of "1.5 s".
pub(super) fn digit_runs(text: &str) -> Vec<&str> {
    text.split(|it: char| !it.is_ascii_digit()).filter(|it| !it.is_empty()).collect()
}

/// The text with single blanks and plain quotation marks, for comparing word by word.
pub(super) fn fold_text(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|it| match it {
            '‘' | '’' => '\'',
            '“' | '”' => '"',
            '–' | '—' => '-',
            it => it,
        })
        .collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}
