//! Mends JSON that its writers take for valid and ours does not: half of a surrogate pair, as languages
//! with UTF-16 strings write it when they cut a text, and numbers beyond what a float can hold.
//!
//! Only what could not be read comes here, so that the rule costs nothing where all is well. Anything
//! else that is wrong stays wrong.

/// The line with what is no character replaced by the mark for that, and what is no number by nothing.
pub(crate) fn mended(line: &str) -> String {
    let mut acc = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['"', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']) {
        acc.push_str(&rest[..at]);
        rest = &rest[at..];
        let length =
            if rest.starts_with('"') { string(&mut acc, rest) } else { number(&mut acc, rest) };
        rest = &rest[length..];
    }
    acc.push_str(rest);
    acc
}

/// Copies a string, quotes included; how many bytes it took.
fn string(acc: &mut String, text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut copied) = (1, 0);
    while at < bytes.len() && bytes[at] != b'"' {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        match unit(bytes, at) {
            Some(0xd800..=0xdbff) if matches!(unit(bytes, at + 6), Some(0xdc00..=0xdfff)) => {
                at += 12;
            }
            Some(0xd800..=0xdfff) => {
                acc.push_str(&text[copied..at]);
                acc.push_str("\\ufffd");
                at += 6;
                copied = at;
            }
            Some(_) => at += 6,
            None => at += 2,
        }
    }
    let end = text.floor_char_boundary((at + 1).min(text.len()));
    acc.push_str(&text[copied.min(end)..end]);
    end
}

/// The number of an escape like `\ud83d` that begins here.
fn unit(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Copies a number, or `null` in place of one that no float can hold.
fn number(acc: &mut String, text: &str) -> usize {
    let is_part = |it: char| it.is_ascii_digit() || matches!(it, '-' | '+' | '.' | 'e' | 'E');
    let length = text.find(|it| !is_part(it)).unwrap_or(text.len());
    let too_large = text[..length].parse::<f64>().is_ok_and(f64::is_infinite);
    acc.push_str(if too_large { "null" } else { &text[..length] });
    length
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(line: &str, expected: &str) {
        assert_eq!(mended(line), expected);
        assert!(serde_json::from_str::<serde_json::Value>(&mended(line)).is_ok(), "{expected}");
    }

    #[test]
    fn half_a_pair_is_no_character_and_a_whole_one_stays() {
        check(r#"{"a":"\ud800 lone \u0000 nul"}"#, r#"{"a":"\ufffd lone \u0000 nul"}"#);
        check(r#"{"a":"\ud83d\ude00 \ude00\ud83d"}"#, r#"{"a":"\ud83d\ude00 \ufffd\ufffd"}"#);
        check(
            r#"{"a":"\\ud800 \" \ud800\ud800\udc00é"}"#,
            r#"{"a":"\\ud800 \" \ufffd\ud800\udc00é"}"#,
        );
    }

    #[test]
    fn a_number_beyond_all_bounds_is_nothing() {
        check(
            r#"{"at":1e400,"b":-2E+999,"c":"1e400","d":1e-400}"#,
            r#"{"at":null,"b":null,"c":"1e400","d":1e-400}"#,
        );
    }

    #[test]
    fn what_is_broken_stays_broken() {
        for line in
            [r#"{"a":"\ud8"#, r#"{"a":"\"#, r#"{"a":1e400"#, r#"{"a":--1}"#, "\"", "{\"a\":\"é\\"]
        {
            assert!(serde_json::from_str::<serde_json::Value>(&mended(line)).is_err(), "{line}");
        }
    }

    proptest! {
        #[test]
        fn what_can_be_read_is_left_as_it_is(text in "\\PC{0,40}", number in proptest::num::f64::NORMAL) {
            let line = serde_json::json!({ "text": text, "number": number, "list": [text, 1, null] }).to_string();
            prop_assert_eq!(mended(&line), line);
        }

        #[test]
        fn any_text_is_mended(line in "(\\PC|[\"\\\\u8dDcC-]){0,60}") {
            mended(&line);
        }
    }
}
