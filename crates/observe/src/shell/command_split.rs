//! Splits a command line into its simple commands, as far as their effects require:
//! `cd /p && A=1 cargo test 2>&1 | tail -5` → `cd /p`, `cargo test 2>&1`, and the piped `tail -5`.
//!
//! A state machine in one pass over the characters: it collects the current word, and ends the word at
//! white space and the command at a separator. A here-document belongs to its command and is not split.
//! It is not a shell: variables are not expanded, and substitutions are ordinary words. Every input is
//! accepted.

use std::iter::Peekable;
use std::str::Chars;

/// A simple command (POSIX, Shell Command Language, 2.9.1) with its words, unquoted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    pub words: Vec<String>,
    /// The assignments before the program, as they were written: `A=1` of `A=1 make`.
    pub assignments: Vec<String>,
    /// It reads the output of the command before it.
    pub is_piped: bool,
    /// It runs only if the command before it fails: `true` of `make || true`.
    pub is_fallback: bool,
    /// The text of its here-documents and here-strings.
    pub here_document: Option<String>,
}

/// The longest part of a line that is split, in bytes.
pub(super) const MAX_LINE_BYTES: usize = 32 << 10;
/// Words of one command; further ones are dropped.
const MAX_WORDS: usize = 256;

/// The simple commands of a line, in order. A command that only assigns is left out.
pub fn split_commands(line: &str) -> Vec<SimpleCommand> {
    let line = &line[..line.floor_char_boundary(MAX_LINE_BYTES)];
    let mut acc = CommandSplitter::default();
    let mut chars = line.chars().peekable();
    while let Some(char) = chars.next() {
        // The open quote, if there is one, and the character. The first arm that matches counts.
        match (acc.open_quote, char) {
            (Some(quote), char) if char == quote => acc.open_quote = None,
            // Within single quotes every character stands for itself, also a backslash.
            (Some('\''), char) => acc.word.push(char),
            (_, '\\') => match chars.next() {
                // An escaped line end continues the line.
                Some('\n') | None => {}
                Some(next) => acc.push_escaped(next),
            },
            (None, '\'' | '"') => {
                acc.open_quote = Some(char);
                acc.is_word_quoted = true;
            }
            (None, '\n' | ';') => {
                acc.end_command(CommandSeparator::Sequence);
                if char == '\n' {
                    acc.take_here_documents(&mut chars);
                }
            }
            // `2>&1` and `&>` are redirections, not separators.
            (None, '&') if acc.word.ends_with('>') => acc.word.push(char),
            (None, '&') if chars.peek() == Some(&'>') => acc.word.push(char),
            // `&` and `&&` both end the command.
            (None, '&') => {
                chars.next_if_eq(&'&');
                acc.end_command(CommandSeparator::Sequence);
            }
            (None, '|') => {
                let is_or = chars.next_if_eq(&'|').is_some();
                acc.end_command(if is_or { CommandSeparator::Or } else { CommandSeparator::Pipe });
            }
            (None, '<') if chars.peek() == Some(&'<') => {
                chars.next();
                acc.begin_here_input(&mut chars);
            }
            // A comment begins only where a word can begin.
            (None, '#') if acc.word.is_empty() && !acc.is_word_quoted => {
                while chars.next_if(|it| *it != '\n').is_some() {}
            }
            (None, char) if char.is_whitespace() => acc.end_word(),
            // Brackets around commands group them; inside a word they belong to it.
            (None, '(' | ')' | '{' | '}') if acc.word.is_empty() => acc.end_word(),
            // Any other character, outside of quotes or within double quotes.
            (_, char) => acc.word.push(char),
        }
    }
    acc.end_command(CommandSeparator::Sequence);
    acc.commands
}

/// Separator after a simple command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CommandSeparator {
    /// A line end, `;`, `&` or `&&`.
    Sequence,
    /// `||`
    Or,
    Pipe,
}

/// State of the split: finished commands, and the command and word that are being read.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent states of the scan")]
struct CommandSplitter {
    commands: Vec<SimpleCommand>,
    words: Vec<String>,
    assignments: Vec<String>,
    word: String,
    /// A part of the word was quoted or escaped, so that the word counts even if it is empty.
    is_word_quoted: bool,
    /// The quote that the next character is inside of.
    open_quote: Option<char>,
    /// The current command follows a pipe.
    is_piped: bool,
    /// The current command follows `||`.
    is_fallback: bool,
    /// The next word is the input of the current command.
    expects_here_string: bool,
    here_string: Option<String>,
    /// Here-documents that begin after this line: the number of their command, and the line that ends them.
    open_here_documents: Vec<(usize, String)>,
}

impl CommandSplitter {
    /// Adds a character that follows a backslash. Inside double quotes most characters keep the backslash.
    fn push_escaped(&mut self, char: char) {
        if self.open_quote.is_some() && !matches!(char, '"' | '\\' | '$' | '`') {
            self.word.push('\\');
        }
        self.word.push(char);
        self.is_word_quoted = true;
    }

    fn end_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        let is_quoted = std::mem::take(&mut self.is_word_quoted);
        // Several blanks in a row; only a quoted word can be empty.
        if word.is_empty() && !is_quoted {
            return;
        }
        if std::mem::take(&mut self.expects_here_string) {
            self.here_string = Some(word);
            return;
        }
        // Assignments before the program, as in `A=1 make`, are no words of the command.
        if self.words.is_empty() && is_assignment(&word) {
            if self.assignments.len() < MAX_WORDS {
                self.assignments.push(word);
            }
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
        let next_is_fallback = separator == CommandSeparator::Or;
        let is_fallback = std::mem::replace(&mut self.is_fallback, next_is_fallback);
        let assignments = std::mem::take(&mut self.assignments);
        let here_document = self.here_string.take();
        if !words.is_empty() {
            let command =
                SimpleCommand { words, assignments, is_piped, is_fallback, here_document };
            self.commands.push(command);
        }
    }

    /// Begins the input after `<<`. After a third `<`, the next word is the input; otherwise it ends it.
    fn begin_here_input(&mut self, chars: &mut Peekable<Chars<'_>>) {
        if chars.next_if_eq(&'<').is_some() {
            self.end_word();
            self.expects_here_string = true;
        } else {
            self.begin_here_document(chars);
        }
    }

    /// Reads the word after `<<`, which ends the here-document.
    fn begin_here_document(&mut self, chars: &mut Peekable<Chars<'_>>) {
        self.end_word();
        chars.next_if_eq(&'-');
        while chars.next_if(|it| matches!(it, ' ' | '\t')).is_some() {}
        let mut delimiter = String::new();
        while let Some(char) = chars
            .next_if(|it| !it.is_whitespace() && !matches!(it, ';' | '|' | '&' | '>' | '<' | ')'))
        {
            if !matches!(char, '\'' | '"' | '\\') {
                delimiter.push(char);
            }
        }
        self.open_here_documents.push((self.commands.len(), delimiter));
    }

    /// Reads the here-documents of the line that has just ended.
    fn take_here_documents(&mut self, chars: &mut Peekable<Chars<'_>>) {
        for (command, delimiter) in std::mem::take(&mut self.open_here_documents) {
            let mut body = String::new();
            while chars.peek().is_some() {
                let line: String = chars.by_ref().take_while(|it| *it != '\n').collect();
                // `<<-` allows tabs before the delimiter; blanks are tolerated as well.
                if line.trim() == delimiter {
                    break;
                }
                body.push_str(&line);
                body.push('\n');
            }
            if let Some(command) = self.commands.get_mut(command) {
                command.here_document.get_or_insert_default().push_str(&body);
            }
        }
    }
}

/// Returns whether a word assigns a value to a variable: `A=1`, `A=`.
pub(crate) fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    /// Checks the commands of a line, one per line: words joined by `·`, piped commands after `| `.
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
            "cat <<'A' > x | tee y\nrm x; z\nA\nmake",
            expect![[r"
                cat·>·x
                | tee·y
                make"]],
        );
        let here_documents: Vec<Option<String>> =
            split_commands("a <<X <<-\"Y\"; b <<< 'c d'\n1\nX\n2\n\tY\ne")
                .into_iter()
                .map(|it| it.here_document)
                .collect();
        assert_eq!(here_documents, [Some("1\n2\n".to_owned()), Some("c d".to_owned()), None]);
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
