//! Recognises the error in the output of a failed call, and gives it a fingerprint.
//!
//! Three steps: find the line that says what went wrong, classify it (kind and subject), and replace
//! everything in it that differs from run to run (paths, positions, versions, times) with placeholders:
//!
//! ```text
//! Exit code 1
//! Error: Cannot find module 'zod' imported from /home/me/x.ts    the error line
//! missing_module, zod                                            its kind and subject
//! error: cannot find module 'zod' imported from <path>           the normalised message
//! ```
//!
//! The fingerprint is a hash of the normalised message and, if the message does not say which tool it is
//! from, the program. So the same failure on two machines has the same fingerprint, by which sessions are
//! compared. The scratchpad (the log of one session) calls [`recognise_error`] for every failed call.

mod error_kind;
mod fallback;
mod message_shapes;
mod normalise;

pub use error_kind::{ErrorKind, ToolFamily};
pub use normalise::normalise_message;

use crate::shell;

/// The shortest message that can name an error, in bytes.
const MIN_MESSAGE_BYTES: usize = 4;
/// A shorter message is displayed with its position, because it does not say enough alone.
const MIN_POSITIONED_MESSAGE_BYTES: usize = 9;
/// The longest line for display, in characters.
const MAX_DISPLAY_CHARS: usize = 180;

/// An error found in the output of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecognisedError {
    /// Hash by which the same error is known again.
    pub fingerprint: String,
    /// The message without accidental parts.
    pub normalised_message: String,
    /// The line that names the error, for people.
    pub display_line: String,
    /// The tool that printed it, which may be another than the one that was called.
    pub family: ToolFamily,
    pub kind: ErrorKind,
    /// The name that the error is about: a module, variable, command, option, rule or test.
    pub subject: Option<String>,
}

/// Finds the error in the output of a failed call. `command` is the command line, its program, or the tool of
/// the host. `None` if the output names no error, as a search without a match does.
pub fn recognise_error(command: &str, output: &str) -> Option<RecognisedError> {
    let line = fallback::find_error_line(output)?;
    // A line can have megabytes.
    let line = &line[..line.floor_char_boundary(model::MAX_EXCERPT)];
    let (kind, subject) = message_shapes::classify_message(line);
    let normalised_message = normalise::normalise_error(line, kind, subject.as_deref());
    if normalised_message.len() < MIN_MESSAGE_BYTES {
        return None;
    }
    let class = shell::command_head(command);
    let fingerprint = model::fingerprint_text(&format!("{class}\n{normalised_message}"));
    let display_line = format_for_display(line);
    let family = ToolFamily::Generic;
    Some(RecognisedError { fingerprint, normalised_message, display_line, family, kind, subject })
}

/// Returns whether a message only reports that something failed, and not what.
pub fn is_generic_message(line: &str) -> bool {
    fallback::starts_generic(&line.to_ascii_lowercase())
}

/// The line as people read it: without positions and without the folders of one machine, truncated.
fn format_for_display(line: &str) -> String {
    let words: Vec<&str> = strip_position(line).split_whitespace().map(shorten_path).collect();
    model::clean_label(&words.join(" "), MAX_DISPLAY_CHARS)
}

/// The file name of a path of one machine: `/home/me/x.rs` becomes `x.rs`. A short path such as `/dev/null`
/// is the same on all machines and stays.
fn shorten_path(word: &str) -> &str {
    let bare = word.trim_start_matches(['(', '"', '\'', '`']);
    let is_local = bare.starts_with('/') && bare.matches('/').count() > 2;
    if is_local { word.rsplit('/').next().unwrap_or(word) } else { word }
}

/// Removes the position before a message: `cmd/a.go:221:3: error …` becomes `error …`.
fn strip_position(line: &str) -> &str {
    let Some((position, message)) = line.split_once(": ") else { return line };
    let last_part = position.rsplit(':').next().unwrap_or_default();
    let ends_in_number = last_part.bytes().all(|it| it.is_ascii_digit());
    let is_file = position.contains('.') && !position.contains(' ');
    let is_clear_alone = message.len() >= MIN_POSITIONED_MESSAGE_BYTES;
    if is_file && ends_in_number && is_clear_alone { message } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    /// Checks `NORMALISED MESSAGE | DISPLAY LINE`; `–` if no error is recognised.
    fn check(output: &str, expect: Expect) {
        let error = recognise_error("shell", output);
        let show = |it: RecognisedError| format!("{} | {}", it.normalised_message, it.display_line);
        expect.assert_eq(&error.map_or("–".to_owned(), show));
    }

    #[test]
    fn the_error_line_is_found_and_cleaned() {
        check(
            "Exit code 1\n[lint] $ golangci-lint run ./...\ncmd/a.go:221:3: error is not nil (line 219) but it returns nil (nilerr)",
            expect![
                "<path> error is not nil (line #) but it returns nil (nilerr) | error is not nil (line 219) but it returns nil (nilerr)"
            ],
        );
        check("Exit code 1", expect!["–"]);
        check("Exit code 1\n12 passed, 0 failed", expect!["–"]);
        check(
            "<tool_use_error>File has not been read yet. Read it first.</tool_use_error>",
            expect![
                "file has not been read yet. read it first. | File has not been read yet. Read it first."
            ],
        );
        check(
            "bash: foo: command not found",
            expect!["bash: foo: command not found | bash: foo: command not found"],
        );
    }

    #[test]
    fn an_error_of_a_child_process_is_known_by_what_the_program_printed() {
        check(
            "node:internal/errors:983\n  const err = new Error(message);\n              ^\n\nError: Command failed: npm run migrate\nE42: no such table `users`\n    at genericNodeError (node:internal/errors:983:15)",
            expect!["e42: no such table 'users' | E42: no such table `users`"],
        );
        check(
            "node:child_process:965\n    throw err;\n    ^\n\nError: Command failed: make",
            expect!["error: command failed: make | Error: Command failed: make"],
        );
        check(
            "  File \"a.py\", line 1\n    raise(error\n         ^\nSyntaxError: '(' was never closed",
            expect!["syntaxerror: '(' was never closed | SyntaxError: '(' was never closed"],
        );
    }

    #[test]
    fn only_a_count_of_zero_reports_no_error() {
        check("0 errors\n(0 failures), 0 failed", expect!["–"]);
        check("12 passed, 10 failed", expect!["# passed, # failed | 12 passed, 10 failed"]);
        check("found 100 errors", expect!["found # errors | found 100 errors"]);
        check("build of v1.0 failed", expect!["build of v#.# failed | build of v1.0 failed"]);
        check(
            "job 550e8400-e29b-41d4-a716-446655440000 failed",
            expect!["job <id> failed | job 550e8400-e29b-41d4-a716-446655440000 failed"],
        );
    }

    #[test]
    fn the_same_failure_on_two_machines_has_one_fingerprint() {
        let first = recognise_error(
            "shell",
            "2026-01-05T13:29:29Z error: cannot open '/home/user/a/x.rs' at 0x7ffe12 port 8080, v1.2.3 (tmp.Xa12f) 550e8400-e29b-41d4-a716-446655440000",
        );
        let second = recognise_error(
            "shell",
            "2025-11-30T01:02:03Z error: cannot open '/Users/me/b/y.rs' at 0x1234ab port 31337, v10.0.12 (tmp.Xa99f) 123e4567-e89b-12d3-a456-426614174000",
        );
        let (first, second) = (first.unwrap(), second.unwrap());
        assert_eq!(first.normalised_message, second.normalised_message);
        assert_eq!(first.fingerprint, second.fingerprint);
        let other = recognise_error("shell", "error: cannot write '/x/y.rs'").unwrap();
        assert_ne!(first.fingerprint, other.fingerprint);
    }

    proptest! {
        #[test]
        fn any_output_is_accepted(output in "(\\PC|[\"'`\n ]){0,400}") {
            let _ = recognise_error("x", &output);
        }
    }
}
