//! Makes the error text of a server safe to show: one short line, without control characters and
//! without any part of the API key, which some servers repeat. With the key `sk-live-0123456789abcdef`,
//! the body `{"error":"wrong key sk-live-…89abcdef"}` becomes `wrong key ***…***`.

use serde_json::Value;

use super::api_key::ApiKey;

/// Characters that are shown.
const MAX_MESSAGE_CHARS: usize = 200;

/// Characters that are read, before white space is joined and the key masked.
const MAX_SCANNED_CHARS: usize = 4 * MAX_MESSAGE_CHARS;

/// Parts of the key at least this long are masked; shorter ones reveal nothing.
const MIN_KEY_PART: usize = 6;

/// A shorter key is no secret but a placeholder that some local servers require. Characters of a key are
/// bytes: `ApiKey` accepts ASCII only.
const MIN_SECRET_CHARS: usize = 4;

/// Cleans a text from a server, or from an error that quotes one.
pub(super) fn clean_line(text: &str, key: Option<&ApiKey>) -> String {
    // One line of visible characters; line breaks and tabs become spaces.
    let mut visible = String::new();
    for character in text.chars().take(MAX_SCANNED_CHARS) {
        if character.is_whitespace() {
            visible.push(' ');
        } else if !character.is_control() && !is_invisible(character) {
            visible.push(character);
        }
    }
    let words: Vec<&str> = visible.split(' ').filter(|it| !it.is_empty()).collect();
    let line = words.join(" ");

    // Masked after invisible characters are gone, which could split the key.
    let masked = match key {
        Some(key) => mask_key(&line, key.reveal()),
        None => line,
    };
    match masked.char_indices().nth(MAX_MESSAGE_CHARS) {
        Some((end, _)) => format!("{}…", &masked[..end]),
        None => masked,
    }
}

/// The message within the body of a refusal.
pub(super) fn server_message(body: &[u8], key: Option<&ApiKey>) -> String {
    let text = String::from_utf8_lossy(body);
    if text.trim_start().starts_with('<') {
        return "(a web page)".to_owned();
    }
    let message = serde_json::from_slice::<Value>(body).ok().and_then(|it| find_message(&it));
    let line = clean_line(message.as_deref().unwrap_or(&text), key);
    if line.is_empty() { "(no reason given)".to_owned() } else { line }
}

/// The message in a JSON body: `error` for Ollama and TEI, `error.message` for `OpenAI` and Anthropic,
/// `message` for Cohere, `detail` for Voyage.
fn find_message(body: &Value) -> Option<String> {
    let places = ["/error/message", "/error", "/message", "/detail"];
    places.iter().find_map(|it| body.pointer(it)?.as_str()).map(str::to_owned)
}

/// Replaces every run of `MIN_KEY_PART` or more characters that also occurs in the key, so that a key
/// cut by the server or by a limit is masked as well. Of a key shorter than that, the whole is replaced;
/// below `MIN_SECRET_CHARS` nothing is.
fn mask_key(text: &str, key: &str) -> String {
    if key.len() < MIN_SECRET_CHARS {
        return text.to_owned();
    }
    let (text, key): (Vec<char>, Vec<char>) = (text.chars().collect(), key.chars().collect());
    // Length of the longest run from `text_start` that occurs anywhere in the key.
    let longest_run = |text_start: usize| {
        let run_from = |key_start: usize| {
            let pairs = text[text_start..].iter().zip(&key[key_start..]);
            pairs.take_while(|(a, b)| a == b).count()
        };
        (0..key.len()).map(run_from).max().unwrap_or(0)
    };
    let mut acc = String::new();
    let mut i = 0;
    while i < text.len() {
        let n_shared = longest_run(i);
        if n_shared >= MIN_KEY_PART.min(key.len()) {
            acc.push_str("***");
            i += n_shared;
        } else {
            acc.push(text[i]);
            i += 1;
        }
    }
    acc
}

/// Zero-width and bidi characters, which change how the line is displayed.
fn is_invisible(it: char) -> bool {
    matches!(it, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// Compares the line made from the body of an error response.
    fn check(body: &str, expect: Expect) {
        let key = ApiKey::new("sk-live-0123456789abcdef").unwrap();
        expect.assert_eq(&server_message(body.as_bytes(), Some(&key)));
    }

    #[test]
    fn the_message_is_found_wherever_providers_put_it() {
        check(r#"{"error":"model not found"}"#, expect!["model not found"]);
        check(r#"{"error":{"message":"bad model","type":"x"}}"#, expect!["bad model"]);
        check(r#"{"message":"invalid api token"}"#, expect!["invalid api token"]);
        check(r#"{"detail":"no such argument"}"#, expect!["no such argument"]);
        check("plain\r\n\ttext", expect!["plain text"]);
        check("<!doctype html><title>502", expect!["(a web page)"]);
        check("", expect!["(no reason given)"]);
        check("\u{1b}[31mred\u{7} \u{202e}desrever", expect!["[31mred desrever"]);
    }

    #[test]
    fn parts_of_the_key_are_masked() {
        check(r#"{"error":"wrong key sk-live-0123456789abcdef!"}"#, expect!["wrong key ***!"]);
        check("wrong key sk-live-…89abcdef", expect!["wrong key ***…***"]);
        check("Bearer sk-live-0123\n456789abcdef", expect!["Bearer *** ***"]);
        check("sk\u{0}-live-0123456789abcdef", expect!["***"]);
    }

    proptest! {
        #[test]
        fn no_long_run_of_the_key_remains(key in "[a-z0-9-]{4,20}", text in "[a-z0-9\\- ]{0,30}", key_parts in vec((0_usize..20, 0_usize..20), 0..4)) {
            // The text with parts of the key in it, given by start and length.
            let pieces = key_parts.iter().map(|(start, length)| {
                let start = (*start).min(key.len());
                &key[start..(start + length).min(key.len())]
            });
            let text = pieces.collect::<Vec<_>>().join(&text);
            let line = clean_line(&text, Some(&ApiKey::new(&key).unwrap()));
            let length = MIN_KEY_PART.min(key.len());
            prop_assert!((0..=key.len() - length).all(|it| !line.contains(&key[it..it + length])), "{line}");
        }
    }

    #[test]
    fn a_long_message_is_cut() {
        let text = clean_line(&"é ".repeat(10_000), None);
        assert_eq!(text.chars().count(), MAX_MESSAGE_CHARS + 1);
        // The 800 characters that are read hold the key three times, the last time cut off.
        let key = ApiKey::new(&"x".repeat(300)).unwrap();
        assert_eq!(clean_line(&"x".repeat(10_000), Some(&key)), "*********");
    }
}
