//! Splits text into sentences, and finds code in them. One pass: fenced code is left out, code in
//! backticks is not cut.

/// The longest sentence that is stored or compared, in bytes.
pub(crate) const MAX_SENTENCE_BYTES: usize = 400;

/// The sentences of a text, in order, word for word. Fenced text is code and left out.
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

fn split_line<'a>(acc: &mut Vec<&'a str>, line: &'a str) {
    let bytes = line.as_bytes();
    let (mut start, mut in_code) = (0, false);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'`' => in_code = !in_code,
            b'.' | b'!' | b'?' if !in_code => {
                let is_end = bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace);
                // "e.g. " and "1. " end no sentence.
                let is_abbreviation = at - start < 3 || bytes[start..=at].ends_with(b".g.");
                // Hosts join streamed blocks without a blank: "…mistake.Let me".
                let is_joint = !is_end && byte == &b'.' && opens_sentence(&line[at + 1..]);
                if (is_end && !is_abbreviation) || is_joint {
                    push_sentence(acc, &line[start..=at]);
                    start = at + 1;
                }
            }
            _ => {}
        }
    }
    push_sentence(acc, &line[start..]);
}

/// Returns whether a text begins with a whole word that often begins a sentence.
fn opens_sentence(text: &str) -> bool {
    const OPENING_WORDS: &[&str] =
        &["Let", "Wait", "Actually", "Now", "I", "The", "But", "So", "This", "We", "Looking"];
    let end = text.find(|it: char| !it.is_ascii_alphabetic()).unwrap_or(text.len());
    text[end..].starts_with([' ', ',', '\'']) && OPENING_WORDS.contains(&&text[..end])
}

fn push_sentence<'a>(acc: &mut Vec<&'a str>, sentence: &'a str) {
    // Bullets, quote marks and headings are markup.
    let trimmed = sentence.trim().trim_start_matches(['-', '*', '>', '#', '•']).trim_start();
    if trimmed.len() > 2 {
        acc.push(trimmed);
    }
}

/// The beginning of a sentence in lower case with plain quotes, for comparison with cues.
pub(crate) fn lowercase_opening(sentence: &str) -> String {
    let head = &sentence[..sentence.floor_char_boundary(160)];
    head.chars().map(|it| if it == '’' { '\'' } else { it.to_ascii_lowercase() }).collect()
}

/// Returns whether the sentence names code: something in backticks, a path, or an identifier.
pub fn names_code(sentence: &str) -> bool {
    sentence.contains('`') || sentence.split_whitespace().any(is_code_word)
}

/// Returns whether a word can only be code: `snake_case`, `camelCase`, `a.b()`, `src/a.rs`.
pub(crate) fn is_code_word(word: &str) -> bool {
    let word = word.trim_matches(|it: char| !it.is_alphanumeric() && it != '_' && it != '/');
    // Short words with dots are abbreviations, and addresses are no code.
    if word.len() < 4 || word.contains("://") {
        return false;
    }
    let mut chars = word.chars();
    let is_camel_case = chars.next().is_some_and(char::is_alphabetic)
        && word
            .chars()
            .zip(word.chars().skip(1))
            .any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    let is_snake_case = word.contains('_') && word.chars().any(char::is_alphabetic);
    let is_path = word.contains('/') && model::words::file_extension(word).is_some();
    let is_file = model::words::file_extension(word).is_some() && !word.ends_with('.');
    is_camel_case || is_snake_case || is_path || is_file || word.ends_with("()")
}

/// The texts in backticks, then the words that can only be code.
pub fn code_words(sentence: &str) -> Vec<&str> {
    let quoted =
        sentence.split('`').skip(1).step_by(2).filter(|it| !it.is_empty() && it.len() < 120);
    let plain = sentence
        .split('`')
        .step_by(2)
        .flat_map(str::split_whitespace)
        .filter(|it| is_code_word(it));
    let plain =
        plain.map(|it| it.trim_matches(|it: char| !it.is_alphanumeric() && it != '_' && it != '/'));
    quoted.chain(plain).collect()
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
