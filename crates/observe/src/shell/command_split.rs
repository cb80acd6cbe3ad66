//! Splits a command line into its simple commands, as far as their effects require.
//!
//! Not a shell: variables stay as they are, substitutions are words, here-documents are left out. One
//! pass over any input.

/// A simple command (POSIX, Shell Command Language, 2.9.1) with its words, unquoted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    pub words: Vec<String>,
    /// It reads the output of the command before it.
    pub is_piped: bool,
}

/// The longest part of a line that is split, in bytes.
const MAX_LINE_BYTES: usize = 4096;
/// Words of one command; further ones are dropped.
const MAX_WORDS: usize = 64;

/// The simple commands of a line, in order. Leading assignments are left out.
pub fn split_commands(line: &str) -> Vec<SimpleCommand> {
    let line = &line[..line.floor_char_boundary(MAX_LINE_BYTES)];
    let mut acc = CommandSplitter::default();
    let mut chars = line.chars().peekable();
    while let Some(it) = chars.next() {
        match (acc.quote, it) {
            (Some(quote), it) if it == quote => acc.quote = None,
            // Within single quotes a backslash is a character like any other.
            (Some('\''), it) if it != '\'' => acc.word.push(it),
            (_, '\\') => match chars.next() {
                Some('\n') | None => {}
                // Inside double quotes most characters keep their backslash.
                Some(next) => {
                    if acc.quote.is_some() && !matches!(next, '"' | '\\' | '$' | '`') {
                        acc.word.push('\\');
                    }
                    acc.word.push(next);
                    acc.has_word = true;
                }
            },
            (None, '\'' | '"') => (acc.quote, acc.has_word) = (Some(it), true),
            (None, '\n' | ';') => acc.end_command(CommandSeparator::Sequence),
            // `2>&1` and `&>` are redirections, not separators.
            (None, '&') if acc.word.ends_with('>') => acc.word.push(it),
            (None, '&') if chars.peek() == Some(&'>') => acc.word.push(it),
            (None, '&') => {
                chars.next_if_eq(&'&');
                acc.end_command(CommandSeparator::Sequence);
            }
            (None, '|') => {
                let is_or = chars.next_if_eq(&'|').is_some();
                acc.end_command(if is_or {
                    CommandSeparator::Sequence
                } else {
                    CommandSeparator::Pipe
                });
            }
            (None, '<') if chars.peek() == Some(&'<') => {
                // A here-document: the rest is input of the command, not commands.
                break;
            }
            (None, '#') if acc.word.is_empty() && !acc.has_word => {
                while chars.next_if(|it| *it != '\n').is_some() {}
            }
            (None, it)
                if it.is_whitespace()
                    || matches!(it, '(' | ')' | '{' | '}') && acc.word.is_empty() =>
            {
                acc.end_word();
            }
            (_, it) => acc.word.push(it),
        }
    }
    acc.end_command(CommandSeparator::Sequence);
    acc.commands
}

/// Separator after a simple command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CommandSeparator {
    /// A line end, `;`, `&`, `&&` or `||`.
    Sequence,
    Pipe,
}

/// State of the split.
#[derive(Default)]
struct CommandSplitter {
    commands: Vec<SimpleCommand>,
    words: Vec<String>,
    word: String,
    /// The word was quoted, so that it counts even if it is empty.
    has_word: bool,
    /// The quote that is open.
    quote: Option<char>,
    /// The current command follows a pipe.
    is_piped: bool,
}

impl CommandSplitter {
    fn end_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        let is_quoted = std::mem::take(&mut self.has_word);
        let is_assignment = |it: &str| {
            it.split_once('=').is_some_and(|(name, _)| {
                !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            })
        };
        if (word.is_empty() && !is_quoted) || (self.words.is_empty() && is_assignment(&word)) {
            return;
        }
        // The effects are decided by the first words.
        if self.words.len() < MAX_WORDS {
            self.words.push(word);
        }
    }

    fn end_command(&mut self, separator: CommandSeparator) {
        self.end_word();
        let words = std::mem::take(&mut self.words);
        // A pipe makes the next command a piped one, not this one.
        let next_is_piped = separator == CommandSeparator::Pipe;
        let is_piped = std::mem::replace(&mut self.is_piped, next_is_piped);
        if !words.is_empty() {
            self.commands.push(SimpleCommand { words, is_piped });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    fn check(line: &str, expect: Expect) {
        let show = |it: &SimpleCommand| {
            let pipe = if it.is_piped { "| " } else { "" };
            format!("{pipe}{}", it.words.join("·"))
        };
        let commands: Vec<String> = split_commands(line).iter().map(show).collect();
        expect.assert_eq(&commands.join("\n"));
    }

    #[test]
    fn a_line_is_split_into_commands() {
        check(
            "cd /p && RUST_LOG=1 cargo test -p 'my crate' 2>&1 | tail -5; echo \"a && b\"",
            expect![[r"
                cd·/p
                cargo·test·-p·my crate·2>&1
                | tail·-5
                echo·a && b"]],
        );
        check(
            "git commit -m \"$(cat <<'EOF'\nrm -rf x; y\nEOF\n)\"",
            expect![[r"
            git·commit·-m·$(cat <<'EOF'
            rm -rf x; y
            EOF
            )"]],
        );
        check("cat > a.sh <<EOF\nrm x\nEOF", expect!["cat·>·a.sh"]);
        check(
            "a || b & c # d; e\nf",
            expect![[r"
            a
            b
            c
            f"]],
        );
        check("", expect![""]);
    }

    proptest! {
        #[test]
        fn any_line_is_split(line in "(\\PC|['\"\\\\\n|&;<>#()]){0,300}") {
            for it in split_commands(&line) {
                prop_assert!(!it.words.is_empty() && it.words.len() <= MAX_WORDS);
            }
        }
    }
}
