//! Splits a text into words by the pattern of GPT-2:
//! `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`.
//!
//! In words: an English ending such as `'s` is a word; so is a run of letters, of numbers or of other
//! characters, each with one space before it; so is white space, without its last character if a word
//! follows. `don't  parse_2` becomes `don|'t| | parse|_|2`.
//!
//! Written by hand instead of with a regex engine, because it is the only pattern and every text
//! passes it. A word is never empty, and the words together are the text.

use super::letters::{CodePointRange, LETTER_RANGES, NUMBER_RANGES};

/// English endings that are words of their own.
const ENGLISH_SUFFIXES: &[&str] = &["'s", "'t", "'re", "'ve", "'m", "'ll", "'d"];

/// The classes of the pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CharClass {
    Space,
    Letter,
    Number,
    Other,
}

pub(super) fn split_words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (word, after) = rest.split_at(first_word_len(rest)?);
        rest = after;
        Some(word)
    })
}

/// The length of the first word.
fn first_word_len(text: &str) -> Option<usize> {
    let start = text.chars().next()?;
    if start == '\''
        && let Some(ending) = ENGLISH_SUFFIXES.iter().find(|it| text.starts_with(**it))
    {
        return Some(ending.len());
    }
    // A single space belongs to the following word.
    let space_len = usize::from(start == ' ');
    let class = text[space_len..].chars().next().map_or(CharClass::Space, char_class);
    if class != CharClass::Space {
        return Some(space_len + run_len(&text[space_len..], class));
    }
    // White space. Its last character is left to the next word, unless there is no other or no
    // next word.
    let blank_len = run_len(text, CharClass::Space);
    let last_len = text[..blank_len].chars().next_back().map_or(0, char::len_utf8);
    let takes_all = blank_len == text.len() || blank_len == last_len;
    Some(if takes_all { blank_len } else { blank_len - last_len })
}

/// Length in bytes of the characters of this class at the beginning of a text.
fn run_len(text: &str, class: CharClass) -> usize {
    text.char_indices().find(|(_, it)| char_class(*it) != class).map_or(text.len(), |(end, _)| end)
}

fn char_class(character: char) -> CharClass {
    // Most text is ASCII, which needs no table.
    if character.is_ascii() {
        return match character {
            'a'..='z' | 'A'..='Z' => CharClass::Letter,
            '0'..='9' => CharClass::Number,
            '\t'..='\r' | ' ' => CharClass::Space,
            _ => CharClass::Other,
        };
    }
    if character.is_whitespace() {
        CharClass::Space
    } else if in_ranges(LETTER_RANGES, character) {
        CharClass::Letter
    } else if in_ranges(NUMBER_RANGES, character) {
        CharClass::Number
    } else {
        CharClass::Other
    }
}

/// Binary search in a sorted table.
fn in_ranges(ranges: &[CodePointRange], character: char) -> bool {
    let code = u32::from(character);
    // Of the ranges that begin at or before the character, only the last may contain it.
    let n_before = ranges.partition_point(|(first, _)| *first <= code);
    ranges[..n_before].last().is_some_and(|(_, last)| code <= *last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Compares the words of a text, separated by bars.
    fn check(text: &str, expect: Expect) {
        expect.assert_eq(&split_words(text).collect::<Vec<_>>().join("|"));
    }

    #[test]
    fn words_are_runs_of_letters_numbers_or_other_characters() {
        check("fn parse_header2(x)", expect!["fn| parse|_|header|2|(|x|)"]);
        check("don't we'll 'tis x's", expect!["don|'t| we|'ll| '|tis| x|'s"]);
        check("!'s DON'T", expect!["!'|s| DON|'|T"]);
        check("naïve 東京 ½x ⅷ Ⓐ", expect!["naïve| 東京| ½|x| ⅷ| Ⓐ"]);
        check("🙂🙂 a👍b", expect!["🙂🙂| a|👍|b"]);
    }

    #[test]
    fn combining_marks_are_not_letters() {
        check("e\u{301}a की", expect!["e|\u{301}|a| क|ी"]);
    }

    #[test]
    fn the_last_space_belongs_to_the_next_word() {
        check("a  b", expect!["a| | b"]);
        check("a\n\n  b\n", expect!["a|\n\n | b|\n"]);
        check("a\n\tb", expect!["a|\n|\t|b"]);
        check("a\u{3000}b \u{a0}", expect!["a|\u{3000}|b| \u{a0}"]);
        check("   ", expect!["   "]);
        check("", expect![""]);
    }

    #[test]
    fn the_tables_are_sorted_and_their_ranges_do_not_touch() {
        for table in [LETTER_RANGES, NUMBER_RANGES] {
            assert!(table.iter().all(|(from, to)| from <= to));
            for pair in table.windows(2) {
                let [(_, last_of_first), (first_of_second, _)] = pair else { unreachable!() };
                assert!(last_of_first + 1 < *first_of_second);
            }
        }
    }
}
