//! Shell commands in the settings of hosts: our program may be installed under any path, and may be
//! gone when the host runs it.

/// Quotes a word for a POSIX shell where that is needed.
pub(super) fn quote_word(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "/._-+:\\".contains(it);
    if word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The shell command of a hook: runs our program with these arguments, and does nothing if that fails.
///
/// Settings outlive the program: it is uninstalled, moved, or missing on another machine with the same
/// settings. Hosts report a failing hook at every event, and Gemini CLI ends the session. `cat` also
/// reads the message to its end, because a host may take a closed pipe for an error of the hook. POSIX
/// shells and fish understand the command. On Windows hosts use shells that do not; there the program
/// runs unguarded.
pub(super) fn hook_command(program: &str, arguments: &str) -> String {
    let command = format!("{} {arguments}", quote_word(program));
    if is_windows_program(program) {
        command
    } else {
        format!("{command} 2>/dev/null || cat >/dev/null")
    }
}

/// True for an absolute path of Windows; the name of a program without a folder is not one.
pub(super) fn is_windows_program(program: &str) -> bool {
    program.contains('\\')
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
    fn a_hook_command_does_nothing_without_the_program() {
        for (program, command) in [
            ("/bin/waylore", "/bin/waylore hook codex 2>/dev/null || cat >/dev/null"),
            ("waylore", "waylore hook codex 2>/dev/null || cat >/dev/null"),
            ("/my tools/waylore", "'/my tools/waylore' hook codex 2>/dev/null || cat >/dev/null"),
            ("C:\\x\\waylore.exe", "C:\\x\\waylore.exe hook codex"),
        ] {
            assert_eq!(hook_command(program, "hook codex"), command);
        }
    }

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
