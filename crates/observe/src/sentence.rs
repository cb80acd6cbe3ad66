//! Sentences of what was said, in one pass: code fences are left out, code in backticks is not cut.

/// The longest sentence handed on, in bytes.
pub(crate) const MAX_SENTENCE: usize = 400;

/// The sentences of a text, in order, as they stand. Text in fences is code, not speech.
pub fn sentences(text: &str) -> Vec<&str> {
    let mut acc = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if !fenced {
            split_line(&mut acc, line);
        }
    }
    acc
}

fn split_line<'a>(acc: &mut Vec<&'a str>, line: &'a str) {
    let bytes = line.as_bytes();
    let (mut start, mut code) = (0, false);
    for (at, it) in bytes.iter().enumerate() {
        match it {
            b'`' => code = !code,
            b'.' | b'!' | b'?' if !code => {
                let ends = bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace);
                // "e.g. " and "1. " end no sentence.
                let short = at - start < 3 || bytes[start..=at].ends_with(b".g.");
                // Said without a blank: "…mistake.Let me" is how streamed blocks are joined.
                let joined = !ends && it == &b'.' && opens_sentence(&line[at + 1..]);
                if (ends && !short) || joined {
                    push(acc, &line[start..=at]);
                    start = at + 1;
                }
            }
            _ => {}
        }
    }
    push(acc, &line[start..]);
}

/// Whether a text begins with a word that often begins a sentence, as a word of its own.
fn opens_sentence(text: &str) -> bool {
    const WORDS: &[&str] =
        &["Let", "Wait", "Actually", "Now", "I", "The", "But", "So", "This", "We", "Looking"];
    let end = text.find(|it: char| !it.is_ascii_alphabetic()).unwrap_or(text.len());
    text[end..].starts_with([' ', ',', '\'']) && WORDS.contains(&&text[..end])
}

fn push<'a>(acc: &mut Vec<&'a str>, sentence: &'a str) {
    let trimmed = sentence.trim().trim_start_matches(['-', '*', '>', '#', '•']).trim_start();
    if trimmed.len() > 2 {
        acc.push(trimmed);
    }
}

/// The beginning of a sentence in lower case with plain quotes, for comparing with cues.
pub(crate) fn opening(sentence: &str) -> String {
    let head = &sentence[..sentence.floor_char_boundary(160)];
    head.chars().map(|it| if it == '’' { '\'' } else { it.to_ascii_lowercase() }).collect()
}

/// Whether the sentence names code: something in backticks, a path, or an identifier.
pub fn names_code(sentence: &str) -> bool {
    sentence.contains('`') || sentence.split_whitespace().any(is_code)
}

/// Whether a word can only be code: `snake_case`, `camelCase`, `a.b()`, `src/a.rs`.
pub(crate) fn is_code(word: &str) -> bool {
    let word = word.trim_matches(|it: char| !it.is_alphanumeric() && it != '_' && it != '/');
    if word.len() < 4 || word.contains("://") {
        return false;
    }
    let mut chars = word.chars();
    let humps = chars.next().is_some_and(char::is_alphabetic)
        && word
            .chars()
            .zip(word.chars().skip(1))
            .any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    let snake = word.contains('_') && word.chars().any(char::is_alphabetic);
    let path = word.contains('/') && model::words::extension(word).is_some();
    let file = model::words::extension(word).is_some() && !word.ends_with('.');
    humps || snake || path || file || word.ends_with("()")
}

/// What stands in backticks, and words that can only be code.
pub fn code_words(sentence: &str) -> Vec<&str> {
    let quoted =
        sentence.split('`').skip(1).step_by(2).filter(|it| !it.is_empty() && it.len() < 120);
    let plain =
        sentence.split('`').step_by(2).flat_map(str::split_whitespace).filter(|it| is_code(it));
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
    fn text_comes_apart_into_sentences() {
        let text = "I see. The file `a.rs` is fine, e.g. here!\n- Wait, I made a mistake.Let me look at v1.2 of src/a.rs.\n```go\nx := 1. y\n```\n1. First";
        expect![[r"
            I see.
            The file `a.rs` is fine, e.g. here!
            Wait, I made a mistake.
            Let me look at v1.2 of src/a.rs.
            1. First"]]
        .assert_eq(&sentences(text).join("\n"));
    }

    #[test]
    fn code_is_told_from_prose() {
        assert!(
            names_code("use `x`") && names_code("the verifyJwt call") && names_code("see src/a.rs")
        );
        assert!(!names_code("All tests pass. Let me go on, and/or wait."));
        assert_eq!(code_words("`a b` and get_x() in src/a.rs."), ["a b", "get_x", "src/a.rs"]);
    }

    proptest! {
        #[test]
        fn any_text_comes_apart(text in "(\\PC|[`.!?\n ]){0,300}") {
            for it in sentences(&text) {
                prop_assert!(!it.is_empty());
                code_words(it);
                opening(it);
            }
        }
    }
}
