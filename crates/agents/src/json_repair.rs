//! Repairs JSON that its writers consider valid and `serde_json` does not: lone surrogates, as
//! languages with UTF-16 strings write them when they truncate a text, and numbers beyond the range
//! of a float.
//!
//! Only lines that failed to parse come here, so the repair costs nothing for valid ones. Any other
//! error stays in the text.

/// The line with lone surrogates replaced by U+FFFD and out-of-range numbers by `null`.
pub(crate) fn repair_json(line: &str) -> String {
    let mut acc = String::with_capacity(line.len());
    let mut rest = line;
    let starts_string_or_number = |it: char| matches!(it, '"' | '-' | '0'..='9');
    while let Some(start) = rest.find(starts_string_or_number) {
        acc.push_str(&rest[..start]);
        rest = &rest[start..];
        let length = if rest.starts_with('"') {
            copy_string(&mut acc, rest)
        } else {
            copy_number(&mut acc, rest)
        };
        rest = &rest[length..];
    }
    acc.push_str(rest);
    acc
}

/// Copies the string literal at the beginning of `text`, quotes included, and returns its length.
fn copy_string(acc: &mut String, text: &str) -> usize {
    let bytes = text.as_bytes();
    // `position` is behind the opening quote; everything before `copied` is in `acc` already.
    let (mut position, mut copied) = (1, 0);
    while position < bytes.len() && bytes[position] != b'"' {
        if bytes[position] != b'\\' {
            position += 1;
            continue;
        }
        let next_unit = || escaped_unit(bytes, position + UNIT_ESCAPE_BYTES);
        match escaped_unit(bytes, position) {
            // A complete surrogate pair.
            Some(0xd800..=0xdbff) if matches!(next_unit(), Some(0xdc00..=0xdfff)) => {
                position += 2 * UNIT_ESCAPE_BYTES;
            }
            // Everything before the lone surrogate is copied in one piece.
            Some(0xd800..=0xdfff) => {
                acc.push_str(&text[copied..position]);
                acc.push_str("\\ufffd");
                position += UNIT_ESCAPE_BYTES;
                copied = position;
            }
            // Any other character.
            Some(_) => position += UNIT_ESCAPE_BYTES,
            // An escape of two bytes, such as `\n`.
            None => position += 2,
        }
    }
    // An unterminated string may end inside an escape or a character.
    let end = text.floor_char_boundary((position + 1).min(text.len()));
    acc.push_str(&text[copied.min(end)..end]);
    end
}

/// Length of an escape such as `\ud83d`.
const UNIT_ESCAPE_BYTES: usize = 6;

/// The UTF-16 code unit of an escape such as `\ud83d` that begins at `position`.
fn escaped_unit(bytes: &[u8], position: usize) -> Option<u32> {
    let escape = bytes.get(position..position + UNIT_ESCAPE_BYTES)?;
    let digits = escape.strip_prefix(b"\\u")?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Copies the number at the beginning of `text`, or `null` if no float can hold it, and returns its
/// length.
fn copy_number(acc: &mut String, text: &str) -> usize {
    let is_part = |it: char| it.is_ascii_digit() || matches!(it, '-' | '+' | '.' | 'e' | 'E');
    let length = text.find(|it| !is_part(it)).unwrap_or(text.len());
    // A malformed number such as `--1` does not parse as a float and stays, so that the error
    // stays.
    let too_large = text[..length].parse::<f64>().is_ok_and(f64::is_infinite);
    acc.push_str(if too_large { "null" } else { &text[..length] });
    length
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Compares the repaired line, which must parse.
    fn check(line: &str, expected: &str) {
        assert_eq!(repair_json(line), expected);
        assert!(
            serde_json::from_str::<serde_json::Value>(&repair_json(line)).is_ok(),
            "{expected}"
        );
    }

    #[test]
    fn lone_surrogates_are_replaced_and_pairs_stay() {
        check(r#"{"a":"\ud800 lone \u0000 nul"}"#, r#"{"a":"\ufffd lone \u0000 nul"}"#);
        check(r#"{"a":"\ud83d\ude00 \ude00\ud83d"}"#, r#"{"a":"\ud83d\ude00 \ufffd\ufffd"}"#);
        check(
            r#"{"a":"\\ud800 \" \ud800\ud800\udc00é"}"#,
            r#"{"a":"\\ud800 \" \ufffd\ud800\udc00é"}"#,
        );
    }

    #[test]
    fn numbers_out_of_range_become_null() {
        check(
            r#"{"at":1e400,"b":-2E+999,"c":"1e400","d":1e-400}"#,
            r#"{"at":null,"b":null,"c":"1e400","d":1e-400}"#,
        );
    }

    #[test]
    fn other_errors_stay() {
        for line in
            [r#"{"a":"\ud8"#, r#"{"a":"\"#, r#"{"a":1e400"#, r#"{"a":--1}"#, "\"", "{\"a\":\"é\\"]
        {
            assert!(
                serde_json::from_str::<serde_json::Value>(&repair_json(line)).is_err(),
                "{line}"
            );
        }
    }

    proptest! {
        #[test]
        fn valid_json_is_unchanged(text in "\\PC{0,40}", number in proptest::num::f64::NORMAL) {
            let line = serde_json::json!({ "text": text, "number": number, "list": [text, 1, null] }).to_string();
            prop_assert_eq!(repair_json(&line), line);
        }

        /// The reference is the standard library's own decoder.
        #[test]
        fn any_utf16_text_parses_after_the_repair(units in proptest::collection::vec(
            prop_oneof![0xd7f0_u16..0xe010, any::<u16>()], 0..20)) {
            let escapes: Vec<String> = units.iter().map(|it| format!("\\u{it:04x}")).collect();
            let escapes = escapes.concat();
            let repaired = repair_json(&format!("[\"{escapes}\",1e999]"));
            let value: serde_json::Value = serde_json::from_str(&repaired).unwrap();
            let expected = String::from_utf16_lossy(&units);
            prop_assert_eq!(value, serde_json::json!([expected, null]));
        }

        /// A text has nothing to repair twice, and nothing at all without an escape or an exponent.
        #[test]
        fn only_surrogates_and_numbers_are_changed(line in "(\\PC|[\"\\\\u8dDcC-]){0,60}") {
            let repaired = repair_json(&line);
            prop_assert_eq!(repair_json(&repaired), repaired.as_str());
            if !line.contains("\\u") && !line.contains(['e', 'E']) {
                prop_assert_eq!(repaired, line);
            }
        }
    }
}
