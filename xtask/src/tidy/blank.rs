//! Rust source with its comments and literals blanked out, so that rules match code and nothing else:
//!
//! ```text
//! call("todo!()"); // remove it    becomes
//! call(         );
//! ```

/// Replaces everything that is not code by spaces; length and lines stay the same.
pub(super) fn blank(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut acc = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if let Some(end) = span_end(bytes, at) {
            let blanked = |it: &u8| if *it == b'\n' { b'\n' } else { b' ' };
            acc.extend(bytes[at..end].iter().map(blanked));
            at = end;
        } else {
            acc.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8(acc).expect("spans begin and end at ASCII characters")
}

/// End of the comment or literal that begins at `at`; `None` if none begins there.
fn span_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    // The `r` of `for` begins no raw string.
    let in_word = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
    let length = match rest[0] {
        b'/' if rest.starts_with(b"//") => {
            rest.iter().position(|it| *it == b'\n').unwrap_or(rest.len())
        }
        b'/' if rest.starts_with(b"/*") => block_comment_length(rest),
        b'"' => 1 + quoted_length(&rest[1..], b'"'),
        b'r' | b'b' | b'c' if !in_word => raw_string_length(rest)?,
        b'\'' => char_literal_length(rest)?,
        _ => return None,
    };
    Some(at + length)
}

/// Length of a block comment. Comments nest.
fn block_comment_length(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// Length up to and including the closing quote; a backslash escapes the next byte.
fn quoted_length(rest: &[u8], quote: u8) -> usize {
    let mut at = 0;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            it if it == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// Length of `r"…"`, `br#"…"#` or `cr"…"`; `None` for anything else. A string with another prefix
/// (`b"…"`) is found at its quote.
fn raw_string_length(rest: &[u8]) -> Option<usize> {
    // `r` is the first or the second byte.
    let prefix = rest.iter().take(2).position(|it| *it == b'r')? + 1;
    let hashes = rest[prefix..].iter().take_while(|it| **it == b'#').count();
    let open = prefix + hashes;
    if rest.get(open) != Some(&b'"') {
        return None;
    }
    // A quote and as many hashes as at the beginning.
    let mut close = vec![b'"'];
    close.resize(1 + hashes, b'#');
    let body = &rest[open + 1..];
    let end = body.windows(close.len()).position(|it| it == close);
    Some(end.map_or(rest.len(), |it| open + 1 + it + close.len()))
}

/// Length of a character like `'a'` or `'\n'`; `None` for a lifetime, which also begins with `'` but
/// has no closing one.
fn char_literal_length(rest: &[u8]) -> Option<usize> {
    if rest.get(1) == Some(&b'\\') {
        return Some(1 + quoted_length(&rest[1..], b'\''));
    }
    // A character has one to four bytes; the first tells how many.
    let n_bytes = match rest.get(1)? {
        0x00..0x80 => 1,
        0x80..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..=0xff => 4,
    };
    let is_closed = rest.get(1 + n_bytes) == Some(&b'\'');
    is_closed.then_some(1 + n_bytes + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Compares the code that remains, with runs of spaces written as one.
    fn check(source: &str, expect: Expect) {
        let blanked = blank(source);
        assert_eq!(blanked.len(), source.len());
        let mut lines = Vec::new();
        for line in blanked.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            lines.push(words.join(" "));
        }
        expect.assert_eq(&lines.join("\n"));
    }

    #[test]
    fn only_code_remains() {
        // Comments.
        check("a // b\nc", expect!["a\nc"]);
        check("a /* b /* c */ d */ e", expect!["a e"]);
        // Strings, raw strings and characters.
        check(r#"a("b \" c // d") e"#, expect!["a( ) e"]);
        check("a(r#\"b \" c\"#, br\"d\\\") e", expect!["a( , ) e"]);
        check("a('\"', '\\'', 'é', '→') b", expect!["a( , , , ) b"]);
        // A lifetime, a prefix that is a name, and a string that never ends.
        check("fn a<'b>(c: &'b str) 'd'", expect!["fn a<'b>(c: &'b str)"]);
        check("number b\"c\" r", expect!["number b r"]);
        check("a \"open\nend", expect!["a\n"]);
    }
}
