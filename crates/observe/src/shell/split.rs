//! Splits a command line into its simple commands, as far as one needs to know what it does.
//!
//! No shell: variables stay as they are, substitutions are words, here-documents are left out. One pass,
//! whatever is inside.

/// One command with its words, unquoted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simple {
    pub words: Vec<String>,
    /// It reads what the command before it prints.
    pub piped: bool,
}

/// The longest line looked at, in bytes, and the most words of one command.
const MAX_LINE: usize = 4096;
const MAX_WORDS: usize = 64;

/// The simple commands of a line, in order. Assignments before a command are left out.
pub fn split(line: &str) -> Vec<Simple> {
    let line = &line[..line.floor_char_boundary(MAX_LINE)];
    let mut acc = Splitter::default();
    let mut chars = line.chars().peekable();
    while let Some(it) = chars.next() {
        match (acc.quote, it) {
            (Some(quote), it) if it == quote => acc.quote = None,
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
            (None, '\n' | ';') => acc.end_command(false),
            (None, '&') if acc.word.ends_with('>') => acc.word.push(it),
            (None, '&') => {
                if chars.peek() == Some(&'>') {
                    acc.word.push(it);
                } else {
                    chars.next_if_eq(&'&');
                    acc.end_command(false);
                }
            }
            (None, '|') => {
                let or = chars.next_if_eq(&'|').is_some();
                acc.end_command(!or);
            }
            (None, '<') if chars.peek() == Some(&'<') => {
                // What follows is text for the command, not commands.
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
    acc.end_command(false);
    acc.res
}

#[derive(Default)]
struct Splitter {
    res: Vec<Simple>,
    words: Vec<String>,
    word: String,
    has_word: bool,
    quote: Option<char>,
    piped: bool,
}

impl Splitter {
    fn end_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        let quoted = std::mem::take(&mut self.has_word);
        let assigns = |it: &str| {
            it.split_once('=').is_some_and(|(name, _)| {
                !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            })
        };
        if (word.is_empty() && !quoted) || (self.words.is_empty() && assigns(&word)) {
            return;
        }
        if self.words.len() < MAX_WORDS {
            self.words.push(word);
        }
    }

    fn end_command(&mut self, pipes: bool) {
        self.end_word();
        let words = std::mem::take(&mut self.words);
        let before = std::mem::replace(&mut self.piped, pipes);
        if !words.is_empty() {
            self.res.push(Simple { words, piped: before });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    fn check(line: &str, expect: Expect) {
        let show = |it: &Simple| {
            let sign = if it.piped { "| " } else { "" };
            format!("{sign}{}", it.words.join("·"))
        };
        let res: Vec<String> = split(line).iter().map(show).collect();
        expect.assert_eq(&res.join("\n"));
    }

    #[test]
    fn lines_come_apart_into_commands() {
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
        fn any_line_comes_apart(line in "(\\PC|['\"\\\\\n|&;<>#()]){0,300}") {
            for it in split(&line) {
                prop_assert!(!it.words.is_empty() && it.words.len() <= MAX_WORDS);
            }
        }
    }
}
