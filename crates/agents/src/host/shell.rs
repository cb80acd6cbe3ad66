//! Quoting for shell commands in settings: a program may be installed under any path.

/// Quotes a word for a POSIX shell where that is needed.
pub(super) fn quote_word(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "/._-+:\\".contains(it);
    if word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Splits a command into words. Understands quotes and the escape that [`quote_word`] writes,
/// nothing else of a shell.
pub(super) fn split_words(line: &str) -> Vec<String> {
    let mut acc = Vec::new();
    // `None` between two words; an empty word is possible, as in `''`.
    let mut word: Option<String> = None;
    // The quote that is open.
    let mut quote = None;
    let mut rest = line;
    while let Some(next) = rest.chars().next() {
        // A single quote inside single quotes is written as `'\''`.
        let is_escaped = quote.is_none() && rest.starts_with("\\'");
        rest = &rest[if is_escaped { 2 } else { next.len_utf8() }..];
        match quote {
            _ if is_escaped => word.get_or_insert_default().push('\''),
            Some(open) if open == next => quote = None,
            None if next == '\'' || next == '"' => {
                quote = Some(next);
                word.get_or_insert_default();
            }
            None if next.is_whitespace() => acc.extend(word.take()),
            // Any other character, with or without quotes around it.
            Some(_) | None => word.get_or_insert_default().push(next),
        }
    }
    acc.extend(word);
    acc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_program_is_split_back() {
        for program in ["/bin/waylore", "/my tools/waylore", "/o'neil's $HOME/waylore", "C:\\a\\b"]
        {
            let line = format!("{} hook codex", quote_word(program));
            assert_eq!(split_words(&line), [program, "hook", "codex"], "{line}");
        }
        assert_eq!(split_words("  \"a b\"c '' "), ["a bc", ""]);
    }
}
