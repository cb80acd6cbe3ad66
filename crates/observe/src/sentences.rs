//! Splits text into sentences, and finds code in a sentence.
//!
//! The text comes from agents and users: prose with Markdown, lists and code. The statement detectors
//! (`statements/`) and the drafts work on the sentences that this file returns. A sentence is a slice of
//! the text, so that it can be quoted word for word. Example: "- I see. The file `a.rs` is fine" → "I see."
//! and "The file `a.rs` is fine", of which the second names the code `a.rs`.
//!
//! A *cue*, to which the detectors compare the beginning of a sentence, is a phrase such as "wait, no".

/// A `.`, `!` or `?` after fewer bytes ends a list number or an initial, not a sentence: `1.`, `J.`.
const MIN_BYTES_BEFORE_END: usize = 3;
/// Shorter pieces are leftover punctuation.
const MIN_SENTENCE_BYTES: usize = 3;
/// The beginning of a sentence that is compared with cues, in bytes. Cues are short.
const MAX_OPENING_BYTES: usize = 160;
/// Shorter words with dots are abbreviations, such as `e.g`.
const MIN_CODE_WORD_BYTES: usize = 4;
/// Longer texts in backticks are snippets and not names.
const MAX_QUOTED_CODE_BYTES: usize = 120;

/// The sentences of a text, in order, word for word. Fenced code blocks are left out.
pub fn split_sentences(text: &str) -> Vec<&str> {
    let mut acc = Vec::new();
    let mut in_fence = false;
    // A line end always ends a sentence: agents write lists without full stops.
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_fence = !in_fence;
            continue;
        }
        if !in_fence {
            split_line(&mut acc, line);
        }
    }
    acc
}

/// Splits one line at `.`, `!` and `?`, except inside backticks.
fn split_line<'a>(acc: &mut Vec<&'a str>, line: &'a str) {
    let bytes = line.as_bytes();
    let mut sentence_start = 0;
    let mut in_backticks = false;
    for (position, byte) in bytes.iter().enumerate() {
        match byte {
            b'`' => in_backticks = !in_backticks,
            b'.' | b'!' | b'?' if !in_backticks => {
                let sentence = &line[sentence_start..=position];
                let is_before_blank = bytes.get(position + 1).is_none_or(u8::is_ascii_whitespace);
                let is_abbreviation =
                    sentence.len() <= MIN_BYTES_BEFORE_END || sentence.ends_with(".g.");
                // Hosts join streamed blocks without a blank: "…mistake.Let me".
                let is_joined_block = !is_before_blank
                    && *byte == b'.'
                    && starts_with_opening_word(&line[position + 1..]);
                let is_full_stop = is_before_blank && !is_abbreviation;
                if is_full_stop || is_joined_block {
                    push_sentence(acc, sentence);
                    sentence_start = position + 1;
                }
            }
            _ => {}
        }
    }
    // The last sentence of a line often has no full stop.
    push_sentence(acc, &line[sentence_start..]);
}

/// Returns whether a text begins with a whole word that often begins a sentence.
fn starts_with_opening_word(text: &str) -> bool {
    const OPENING_WORDS: &[&str] =
        &["Let", "Wait", "Actually", "Now", "I", "The", "But", "So", "This", "We", "Looking"];
    let end = text.find(|it: char| !it.is_ascii_alphabetic()).unwrap_or(text.len());
    text[end..].starts_with([' ', ',', '\'']) && OPENING_WORDS.contains(&&text[..end])
}

fn push_sentence<'a>(acc: &mut Vec<&'a str>, sentence: &'a str) {
    // Bullets, quote marks and headings are markup.
    let trimmed = sentence.trim().trim_start_matches(['-', '*', '>', '#', '•']).trim_start();
    if trimmed.len() >= MIN_SENTENCE_BYTES {
        acc.push(trimmed);
    }
}

/// The beginning of a sentence as cues are written: in lower case, with plain quotes.
pub(crate) fn lowercase_opening(sentence: &str) -> String {
    lowercase_plain_quotes(&sentence[..sentence.floor_char_boundary(MAX_OPENING_BYTES)])
}

/// A text in lower case, with `'` in place of the curly apostrophe.
pub(crate) fn lowercase_plain_quotes(text: &str) -> String {
    text.chars().map(|it| if it == '’' { '\'' } else { it.to_ascii_lowercase() }).collect()
}

/// Returns whether the sentence names code: something in backticks, a path, or an identifier.
pub fn names_code(sentence: &str) -> bool {
    sentence.contains('`') || sentence.split_whitespace().any(is_code_word)
}

/// The texts in backticks, then the words outside them that can only be code, without punctuation.
pub fn code_words(sentence: &str) -> Vec<&str> {
    // Split at backticks, every second piece is quoted.
    let quoted = sentence.split('`').skip(1).step_by(2);
    let names = quoted.filter(|it| !it.is_empty() && it.len() <= MAX_QUOTED_CODE_BYTES);
    let prose = sentence.split('`').step_by(2);
    let plain_words = prose.flat_map(str::split_whitespace).filter(|it| is_code_word(it));
    names.chain(plain_words.map(|it| it.trim_matches(is_punctuation))).collect()
}

/// Returns whether a word can only be code: `snake_case`, `camelCase`, `a.b()`, `src/a.rs`.
pub(crate) fn is_code_word(word: &str) -> bool {
    let name = word.trim_matches(is_punctuation);
    // The path of an address looks like a file.
    if name.contains("://") {
        return false;
    }
    if is_call(word) {
        return true;
    }
    if name.len() < MIN_CODE_WORD_BYTES {
        return false;
    }
    // A small letter directly before a capital one.
    let mut neighbours = name.chars().zip(name.chars().skip(1));
    let is_camel_case = name.starts_with(char::is_alphabetic)
        && neighbours.any(|(char, next)| char.is_lowercase() && next.is_uppercase());
    let is_snake_case = name.contains('_') && name.chars().any(char::is_alphabetic);
    let is_file = model::words::file_extension(name).is_some();
    is_camel_case || is_snake_case || is_file
}

/// Returns whether a word is a call without arguments, such as `total()`. Punctuation may surround it.
fn is_call(word: &str) -> bool {
    let name_and_rest = word.trim_start_matches(is_punctuation);
    let name = name_and_rest.trim_end_matches(is_punctuation);
    name.starts_with(|it: char| it.is_alphabetic() || it == '_')
        && name_and_rest[name.len()..].starts_with("()")
}

/// Characters around a word that do not belong to it. An identifier can begin with `_`, a path with `/`.
fn is_punctuation(char: char) -> bool {
    !char.is_alphanumeric() && char != '_' && char != '/'
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use proptest::prelude::*;

    #[test]
    fn text_is_split_into_sentences() {
        let text = "I see. The file `a.rs` is fine, e.g. here!\n- Wait, I made a mistake.Let me look at v1.2 of src/a.rs.\n```go\nx := 1. y\n```\n1. First";
        expect![[r"
            I see.
            The file `a.rs` is fine, e.g. here!
            Wait, I made a mistake.
            Let me look at v1.2 of src/a.rs.
            1. First"]]
        .assert_eq(&split_sentences(text).join("\n"));
    }

    #[test]
    fn code_is_distinguished_from_prose() {
        assert!(
            names_code("use `x`") && names_code("the verifyJwt call") && names_code("see src/a.rs")
        );
        assert!(!names_code("All tests pass. Let me go on, and/or wait."));
        assert_eq!(code_words("`a b` and get_x() in src/a.rs."), ["a b", "get_x", "src/a.rs"]);
    }

    #[test]
    fn a_call_without_arguments_is_code() {
        assert!(names_code("Wait, total() is wrong") && names_code("see a.b(), then go on"));
        assert!(names_code("(it ends in total())."));
        assert!(!names_code("two file(s) () and (more)"));
        assert_eq!(code_words("First total(), then run() again."), ["total", "run"]);
    }

    proptest! {
        #[test]
        fn any_text_is_split(text in "(\\PC|[`.!?\n ]){0,300}") {
            for it in split_sentences(&text) {
                prop_assert!(!it.is_empty());
                code_words(it);
                lowercase_opening(it);
            }
        }
    }
}
