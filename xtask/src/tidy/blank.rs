//! Rust source with its comments and literals blanked out, so that rules match code and nothing else.

/// Same length and same lines as `source`; what is not code is spaces.
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
    let in_word = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
    let length = match rest[0] {
        b'/' if rest.starts_with(b"//") => {
            rest.iter().position(|it| *it == b'\n').unwrap_or(rest.len())
        }
        b'/' if rest.starts_with(b"/*") => block_comment(rest),
        b'"' => 1 + quoted(&rest[1..], b'"'),
        b'r' | b'b' | b'c' if !in_word => raw_string(rest)?,
        b'\'' => char_literal(rest)?,
        _ => return None,
    };
    Some(at + length)
}

/// Comments nest.
fn block_comment(rest: &[u8]) -> usize {
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

/// Length including the closing quote, with escapes.
fn quoted(rest: &[u8], quote: u8) -> usize {
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

/// `r"…"`, `br#"…"#`, `cr"…"`; plain prefixed strings are found at their quote.
fn raw_string(rest: &[u8]) -> Option<usize> {
    let prefix = rest.iter().take(2).position(|it| *it == b'r')? + 1;
    let hashes = rest[prefix..].iter().take_while(|it| **it == b'#').count();
    let open = prefix + hashes;
    if rest.get(open) != Some(&b'"') {
        return None;
    }
    let mut close = vec![b'"'];
    close.resize(1 + hashes, b'#');
    let body = &rest[open + 1..];
    let end = body.windows(close.len()).position(|it| it == close);
    Some(end.map_or(rest.len(), |it| open + 1 + it + close.len()))
}

/// A lifetime also begins with `'`; a character ends with it.
fn char_literal(rest: &[u8]) -> Option<usize> {
    if rest.get(1) == Some(&b'\\') {
        return Some(1 + quoted(&rest[1..], b'\''));
    }
    let text = std::str::from_utf8(&rest[1..rest.len().min(6)]);
    let text = text.or_else(|it| std::str::from_utf8(&rest[1..=it.valid_up_to()])).ok()?;
    let length = 1 + text.chars().next()?.len_utf8();
    (rest.get(length) == Some(&b'\'')).then_some(length + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(source: &str, expect: Expect) {
        assert_eq!(blank(source).len(), source.len());
        let folded: Vec<_> = blank(source).lines().map(|it| words(it).join(" ")).collect();
        expect.assert_eq(&folded.join("\n"));
    }

    fn words(line: &str) -> Vec<&str> {
        line.split_whitespace().collect()
    }

    #[test]
    fn only_code_remains() {
        check("a // b\nc", expect!["a\nc"]);
        check("a /* b /* c */ d */ e", expect!["a e"]);
        check(r#"a("b \" c // d") e"#, expect!["a( ) e"]);
        check("a(r#\"b \" c\"#, br\"d\\\") e", expect!["a( , ) e"]);
        check("a('\"', '\\'', 'é', '→') b", expect!["a( , , , ) b"]);
        check("fn a<'b>(c: &'b str) 'd'", expect!["fn a<'b>(c: &'b str)"]);
        check("number b\"c\" r", expect!["number b r"]);
        check("a \"open\nend", expect!["a\n"]);
    }
}
