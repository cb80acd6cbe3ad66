//! A line for a shell, in which a program may lie anywhere; and its words again.

/// A word as a shell takes it for one.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "/._-+:\\".contains(it);
    if word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The words of a line. Of what a shell knows, only quotes.
pub(super) fn words(line: &str) -> Vec<String> {
    let mut acc = Vec::new();
    let (mut word, mut quote, mut rest) = (None::<String>, None, line);
    while let Some(next) = rest.chars().next() {
        let is_escaped = quote.is_none() && rest.starts_with("\\'");
        rest = &rest[if is_escaped { 2 } else { next.len_utf8() }..];
        match quote {
            _ if is_escaped => word.get_or_insert_default().push('\''),
            Some(it) if it == next => quote = None,
            None if next == '\'' || next == '"' => {
                quote = Some(next);
                word.get_or_insert_default();
            }
            None if next.is_whitespace() => acc.extend(word.take()),
            _ => word.get_or_insert_default().push(next),
        }
    }
    acc.extend(word);
    acc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_again_wherever_it_lies() {
        for program in ["/bin/waylore", "/my tools/waylore", "/o'neil's $HOME/waylore", "C:\\a\\b"]
        {
            let line = format!("{} hook codex", quoted(program));
            assert_eq!(words(&line), [program, "hook", "codex"], "{line}");
        }
        assert_eq!(words("  \"a b\"c '' "), ["a bc", ""]);
    }
}
