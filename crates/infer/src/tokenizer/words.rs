//! Cuts a text into words, as `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+` does.
//!
//! By hand, because it is the only pattern and every text passes it. A word is never empty and
//! the words together are the text.

use super::letters::{CodePointRange, LETTER_RANGES, NUMBER_RANGES};

/// English endings that are words of their own.
const ENGLISH_SUFFIXES: &[&str] = &["'s", "'t", "'re", "'ve", "'m", "'ll", "'d"];

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
    let blank = usize::from(start == ' ');
    let class = text[blank..].chars().next().map_or(CharClass::Space, char_class);
    if class != CharClass::Space {
        return Some(blank + run_len(&text[blank..], class));
    }
    let spaces = run_len(text, CharClass::Space);
    let last = text[..spaces].chars().next_back().map_or(0, char::len_utf8);
    // The last space before a word is left to it, unless there is no other.
    let all = spaces == text.len() || spaces == last;
    Some(if all { spaces } else { spaces - last })
}

/// Length of the run of this class.
fn run_len(text: &str, wanted: CharClass) -> usize {
    text.char_indices().find(|(_, it)| char_class(*it) != wanted).map_or(text.len(), |(at, _)| at)
}

fn char_class(it: char) -> CharClass {
    if it.is_ascii() {
        return match it {
            'a'..='z' | 'A'..='Z' => CharClass::Letter,
            '0'..='9' => CharClass::Number,
            '\t'..='\r' | ' ' => CharClass::Space,
            _ => CharClass::Other,
        };
    }
    if it.is_whitespace() {
        CharClass::Space
    } else if in_ranges(LETTER_RANGES, it) {
        CharClass::Letter
    } else if in_ranges(NUMBER_RANGES, it) {
        CharClass::Number
    } else {
        CharClass::Other
    }
}

fn in_ranges(ranges: &[CodePointRange], it: char) -> bool {
    let code = u32::from(it);
    let next = ranges.partition_point(|(from, _)| *from <= code);
    next > 0 && code <= ranges[next - 1].1
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, expect: Expect) {
        expect.assert_eq(&split_words(text).collect::<Vec<_>>().join("|"));
    }

    #[test]
    fn words_are_letters_numbers_or_neither() {
        check("fn parse_header2(x)", expect!["fn| parse|_|header|2|(|x|)"]);
        check("don't we'll 'tis x's", expect!["don|'t| we|'ll| '|tis| x|'s"]);
        check("!'s DON'T", expect!["!'|s| DON|'|T"]);
        check("naïve 東京 ½x ⅷ Ⓐ", expect!["naïve| 東京| ½|x| ⅷ| Ⓐ"]);
        check("🙂🙂 a👍b", expect!["🙂🙂| a|👍|b"]);
    }

    #[test]
    fn a_mark_on_a_letter_is_no_letter() {
        check("e\u{301}a की", expect!["e|\u{301}|a| क|ी"]);
    }

    #[test]
    fn the_last_space_goes_with_the_word() {
        check("a  b", expect!["a| | b"]);
        check("a\n\n  b\n", expect!["a|\n\n | b|\n"]);
        check("a\n\tb", expect!["a|\n|\t|b"]);
        check("a\u{3000}b \u{a0}", expect!["a|\u{3000}|b| \u{a0}"]);
        check("   ", expect!["   "]);
        check("", expect![""]);
    }

    #[test]
    fn the_tables_are_in_order() {
        for table in [LETTER_RANGES, NUMBER_RANGES] {
            assert!(table.iter().all(|(from, to)| from <= to));
            assert!(table.windows(2).all(|it| it[0].1 + 1 < it[1].0));
        }
    }
}
