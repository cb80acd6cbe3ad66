//! The difference between a command that failed and the one that worked, as far as it is the lesson.
//!
//! `golangci-lint run --enable=x --out-format=tab` was rejected for one option, and the names of the tests in
//! `go test -run TestA` do not matter: what is told is the option, the program, or two short lines.

use crate::episode::{CommandIntent, FailureCause};
use crate::error_line::{ErrorKind, classify_message};

/// Options that choose tests by name, in lower case. A lesson about a command is not about them.
const NAME_OPTIONS: &[&str] =
    &["-run", "-k", "-t", "--testnamepattern", "--grep", "-g", "--fgrep", "--tests"];

/// The shortest word of an option that is recognised in a message, in bytes.
const MIN_OPTION_WORD_BYTES: usize = 3;

/// The difference of the command that worked.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CommandDifference {
    /// It was called without an option that the program does not know.
    UnknownOption {
        command: String,
        option: String,
    },
    /// Another program ran the same.
    OtherProgram {
        missing: String,
        used: String,
    },
    OtherLine {
        failed: String,
        passed: String,
    },
}

impl CommandDifference {
    /// The difference of two command lines; `None` if there is none that can be told.
    pub(super) fn between(
        failed_line: &str,
        passed_line: &str,
        message: &str,
        kind: Option<ErrorKind>,
    ) -> Option<Self> {
        let other_line = |failed: String, passed: String| {
            (failed != passed).then_some(Self::OtherLine { failed, passed })
        };
        let (Some(failed), Some(passed)) =
            (CommandIntent::main_of_line(failed_line), CommandIntent::main_of_line(passed_line))
        else {
            return other_line(failed_line.to_owned(), passed_line.to_owned());
        };
        // The shell was in the folder already, or in another one: the next session may be elsewhere.
        if !failed.folder.is_empty() && message.contains(failed.folder.trim_end_matches('/')) {
            return None;
        }
        let subject = classify_message(message).1;
        let cause = kind.map(|it| FailureCause::new(it, message, subject.as_deref()));
        if let Some(option) = cause.and_then(|it| it.removed_option(&failed, &passed)) {
            let command = failed.launcher.join(" ");
            return Some(Self::UnknownOption { command, option: option.to_owned() });
        }
        if kind == Some(ErrorKind::MissingCommand)
            && let Some(difference) = other_program(&failed, &passed, subject.as_deref())
        {
            return Some(difference);
        }
        let (failed, passed) = strip_names(&failed, &passed, failed_line, passed_line);
        other_line(failed, passed)
    }

    /// Returns whether one session is enough. If the error does not say that the command was called wrongly, another
    /// option can have passed by chance, unless the message names it; another program, assignment or folder
    /// hardly.
    pub(super) fn is_confirmed_by_kind(
        failed_line: &str,
        passed_line: &str,
        message: &str,
        kind: Option<ErrorKind>,
    ) -> bool {
        if !matches!(kind, Some(ErrorKind::Other | ErrorKind::Timeout)) {
            return true;
        }
        let (Some(failed), Some(passed)) =
            (CommandIntent::main_of_line(failed_line), CommandIntent::main_of_line(passed_line))
        else {
            return false;
        };
        let changes_launch = failed.launcher != passed.launcher
            || failed.assignments != passed.assignments
            || failed.folder != passed.folder;
        let mut added = passed.options.iter().filter(|it| !failed.options.contains(it));
        changes_launch || added.any(|it| names_option(message, it))
    }
}

/// Returns whether a message has a word of an option or its value.
fn names_option(message: &str, option: &str) -> bool {
    let is_separator = |it: char| !it.is_alphanumeric() && it != '_';
    let mut words = option.split(is_separator).filter(|it| it.len() >= MIN_OPTION_WORD_BYTES);
    words.any(|word| message.split(is_separator).any(|it| it.eq_ignore_ascii_case(word)))
}

/// The program that ran the rest of the same line.
fn other_program(
    failed: &CommandIntent,
    passed: &CommandIntent,
    missing: Option<&str>,
) -> Option<CommandDifference> {
    let pairs = failed.launcher.iter().rev().zip(passed.launcher.iter().rev());
    let n_same = pairs.take_while(|(a, b)| a == b).count();
    let failed_start = &failed.launcher[..failed.launcher.len() - n_same];
    let passed_start = &passed.launcher[..passed.launcher.len() - n_same];
    let [program] = failed_start else { return None };
    let is_same_rest = failed.target == passed.target && failed.options == passed.options;
    // Without more words, the whole lines say the same.
    let is_part = n_same > 0 || !failed.target.is_empty() || !failed.options.is_empty();
    if missing != Some(program.as_str()) || passed_start.is_empty() || !is_same_rest || !is_part {
        return None;
    }
    let (missing, used) = (program.clone(), passed_start.join(" "));
    Some(CommandDifference::OtherProgram { missing, used })
}

/// The two lines without the test names that both have.
fn strip_names(
    failed: &CommandIntent,
    passed: &CommandIntent,
    failed_line: &str,
    passed_line: &str,
) -> (String, String) {
    let (mut failed_line, mut passed_line) = (failed_line.to_owned(), passed_line.to_owned());
    for option in failed.options.iter().filter(|it| passed.options.contains(it)) {
        let Some((name, value)) = option.split_once([' ', '=']) else { continue };
        if !NAME_OPTIONS.contains(&name.to_ascii_lowercase().as_str()) {
            continue;
        }
        let quoted = format!(" {name} {}", crate::shell::quote_word(value));
        for text in [format!(" {option}"), quoted] {
            if failed_line.contains(&text) && passed_line.contains(&text) {
                failed_line = failed_line.replacen(&text, "", 1);
                passed_line = passed_line.replacen(&text, "", 1);
            }
        }
    }
    (failed_line, passed_line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(failed: &str, passed: &str, message: &str) -> Option<CommandDifference> {
        let kind = classify_message(message).0;
        CommandDifference::between(failed, passed, message, Some(kind))
    }

    #[test]
    fn only_what_matters_of_a_difference_is_told() {
        let option = "unknown flag: --out-format";
        assert_eq!(
            difference(
                "golangci-lint run --enable=x --out-format=tab",
                "golangci-lint run",
                option
            ),
            Some(CommandDifference::UnknownOption {
                command: "golangci-lint run".to_owned(),
                option: "--out-format".to_owned()
            })
        );
        assert_eq!(
            difference("python tools/a.py", "python3 tools/a.py", "command not found: python"),
            Some(CommandDifference::OtherProgram {
                missing: "python".to_owned(),
                used: "python3".to_owned()
            })
        );
        let line = |failed: &str, passed: &str| CommandDifference::OtherLine {
            failed: failed.to_owned(),
            passed: passed.to_owned(),
        };
        assert_eq!(
            difference(
                "go test -run TestA ./it",
                "go test -tags it -run TestA ./it",
                "build constraints exclude all Go files in it"
            ),
            Some(line("go test ./it", "go test -tags it ./it"))
        );
        assert_eq!(
            difference("pytest -q", "python -m pytest -q", "pytest: command not found"),
            Some(line("pytest -q", "python -m pytest -q"))
        );
        // Where the shell is depends on the session.
        let folder = "no such file or directory: src/api";
        assert_eq!(difference("cd src/api && go test", "go test", folder), None);
    }
}
