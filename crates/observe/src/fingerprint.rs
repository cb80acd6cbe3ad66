//! Recognises the error in the output of a failed call, and gives it a fingerprint.
//!
//! Two steps: find the line that names the error, then replace everything in it that differs from run to
//! run (paths, positions, versions, times, quoted values) with placeholders:
//!
//! ```text
//! Exit code 1
//! cmd/a.go:221:3: cannot open '/home/me/x.rs' at port 8080    the error line
//! <path> cannot open <v> at port #                            the normalised message
//! ```
//!
//! The fingerprint is a hash of the normalised message and the class (the command or tool). So the same
//! failure on two machines has the same fingerprint, by which sessions are compared. The scratchpad (the log
//! of one session) calls [`recognise_error`] for every failed call.

/// An error found in the output of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecognisedError {
    /// Hash of the class and the normalised message.
    pub fingerprint: String,
    /// The message without accidental parts.
    pub normalised_message: String,
    /// The line that names the error, for people.
    pub display_line: String,
}

/// Beginnings of lines that every run prints, in lower case.
#[rustfmt::skip]
const NOISE_PREFIXES: &[&str] = &[
    "exit code", "=== run", "=== pause", "=== cont", "--- pass", "ok ", "ok\t", "pass", "> ", "$ ", "?   ", "running ", "compiling ", "finished ", "downloading ", "checking ",
    "total", "note:", "warning:", "chunk id", "# ", "wall time", "[lint] $", "[fmt] $", "[test] $", "[build] $", "process exited", "npm warn", "debug", "info", "node:",
];

/// Words of lines that name an error, in lower case.
#[rustfmt::skip]
const ERROR_WORDS: &[&str] = &[
    "error", "fail", "panic", "fatal", "undefined", "cannot", "can't", "could not", "couldn't", "not found", "no such", "denied", "exception", "invalid", "unexpected", "missing",
    "mismatch", "unable", "not enough", "too many", "unknown", "conflict", "refused", "unused", "expected", "has not been", "is not", "must", "no matching", "timed out", "timeout", "not a ", "did not",
];

/// Beginnings of lines that only say that something failed; a line that names the error is preferred.
const GENERIC_PREFIXES: &[&str] = &[
    "fail",
    "--- fail",
    "error task failed",
    "make: ***",
    "npm err! code",
    "elifecycle",
    "error: test failed",
    "error: command failed",
    "command failed",
];

/// Phrases that contain an error word and report no error, in lower case.
const HARMLESS_PHRASES: &[&str] =
    &["no errors", "no failures", "error_test", "errors.go", "without error"];

/// Counts that report no error, in lower case. The `0` must be the whole number: `10 failed` reports
/// ten failures.
const ZERO_COUNTS: &[&str] = &["0 error", "0 failed", "0 failures"];

/// The shortest message that can name an error, in bytes.
const MIN_MESSAGE_BYTES: usize = 4;
/// A shorter message is displayed with its position, because it does not say enough alone.
const MIN_POSITIONED_MESSAGE_BYTES: usize = 9;
/// Shorter words of hexadecimal digits can be ordinary words or numbers.
const MIN_HASH_BYTES: usize = 7;
/// Words up to this length keep their separators: `3:1` is not a version.
const MAX_SHORT_NUMBER_BYTES: usize = 4;
/// Lines of an output that are searched for the error.
const MAX_SEARCHED_LINES: usize = 200;
/// Bytes of a line that are compared and normalised.
const MAX_COMPARED_BYTES: usize = 400;
/// The longest line for display, in characters.
const MAX_DISPLAY_CHARS: usize = 180;
/// Distance within which a quote must be closed, in bytes.
const MAX_QUOTED_BYTES: usize = 160;

/// Finds the error in the output of a failed tool. `class` is the command or tool. `None` if the output
/// names no error, as a search without a match does.
pub fn recognise_error(class: &str, output: &str) -> Option<RecognisedError> {
    let line = find_error_line(output)?;
    // A line can have megabytes.
    let line = &line[..line.floor_char_boundary(model::MAX_EXCERPT)];
    let normalised_message = normalise_message(line);
    if normalised_message.len() < MIN_MESSAGE_BYTES {
        return None;
    }
    let fingerprint = model::fingerprint_text(&format!("{class}\n{normalised_message}"));
    let display_line = format_for_display(line);
    Some(RecognisedError { fingerprint, normalised_message, display_line })
}

/// Returns whether a message only reports that something failed, and not what.
pub fn is_generic_message(line: &str) -> bool {
    starts_generic(&line.to_ascii_lowercase())
}

/// A message without paths, positions, addresses, versions, times, hashes, ports and quoted values.
pub fn normalise_message(line: &str) -> String {
    let line = &line[..line.floor_char_boundary(MAX_COMPARED_BYTES)];
    let mut acc = String::new();
    for word in replace_quoted(line).split_whitespace() {
        if !acc.is_empty() {
            acc.push(' ');
        }
        acc.push_str(&normalise_word(word));
    }
    acc.to_lowercase()
}

/// The first line that names an error, else the first line with words.
fn find_error_line(output: &str) -> Option<&str> {
    let mut first_line_with_words = None;
    let mut lines = output.lines().take(MAX_SEARCHED_LINES).peekable();
    while let Some(line) = lines.next() {
        // Quoted source, with a mark below the place of the error: the message is another line.
        if lines.peek().is_some_and(|it| is_caret_line(it)) {
            continue;
        }
        let line = line
            .trim()
            .trim_start_matches("<tool_use_error>")
            .trim_end_matches("</tool_use_error>");
        let lower = line[..line.floor_char_boundary(MAX_COMPARED_BYTES)].to_ascii_lowercase();
        // Some runners print the command before they run it: `[lint] $ golangci-lint run`.
        let is_echo = lower.starts_with('[') && lower.contains("] $ ");
        let is_noise = NOISE_PREFIXES.iter().any(|it| lower.starts_with(it));
        if line.len() < MIN_MESSAGE_BYTES || is_echo || is_noise || is_harmless(&lower) {
            continue;
        }
        let names_error = ERROR_WORDS.iter().any(|it| lower.contains(it));
        if names_error && !starts_generic(&lower) {
            return Some(line);
        }
        // A generic line is better than none, but a later line may name the error.
        if line.chars().any(char::is_alphabetic) {
            first_line_with_words = first_line_with_words.or(Some(line));
        }
    }
    first_line_with_words
}

/// Returns whether a line only marks a place in the line above it.
fn is_caret_line(line: &str) -> bool {
    let marks = line.trim();
    marks.starts_with('^') && marks.chars().all(|it| matches!(it, '^' | '~'))
}

/// Returns whether a line in lower case reports that there was no error.
fn is_harmless(lower: &str) -> bool {
    if HARMLESS_PHRASES.iter().any(|it| lower.contains(it)) {
        return true;
    }
    // Directly before the `0`, these make it the end of a larger number (`10 failed`), of a version
    // (`1.0 failed`) or of an id (`a-0 failed`).
    let is_part_of_word = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '-' | '_');
    for count in ZERO_COUNTS {
        for (start, _) in lower.match_indices(count) {
            if !lower[..start].ends_with(is_part_of_word) {
                return true;
            }
        }
    }
    false
}

/// Returns whether a line in lower case begins with a generic phrase. Some runners put their own name in
/// brackets before each line.
fn starts_generic(lower: &str) -> bool {
    let bare = lower.strip_prefix('[').and_then(|it| it.split_once("] ")).map_or(lower, |it| it.1);
    GENERIC_PREFIXES.iter().any(|it| bare.starts_with(it))
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

/// Replaces quoted values with `<v>`. An apostrophe inside a word is no quote.
fn replace_quoted(line: &str) -> String {
    let mut acc = String::new();
    let mut rest = line;
    while let Some(quote_start) = rest.find(['"', '\'', '`', '“']) {
        let before = &rest[..quote_start];
        let open = rest[quote_start..].chars().next().unwrap_or('"');
        let close = if open == '“' { '”' } else { open };
        let after = &rest[quote_start + open.len_utf8()..];
        let is_apostrophe = before.ends_with(char::is_alphanumeric);
        // The search for the closing quote is bounded, so that the whole takes linear time.
        let window = &after[..after.floor_char_boundary(MAX_QUOTED_BYTES)];
        acc.push_str(before);
        if let Some(end) = window.find(close).filter(|_| !is_apostrophe) {
            acc.push_str("<v>");
            rest = &after[end + close.len_utf8()..];
        } else {
            acc.push(open);
            rest = after;
        }
    }
    acc + rest
}

/// Replaces a word that differs from run to run with a placeholder: `<url>`, `<path>`, `<id>`, or `#` for a
/// number. Other words stay.
fn normalise_word(word: &str) -> String {
    // Without punctuation around it; characters that begin or end a path or a placeholder stay.
    let bare = word.trim_matches(|it: char| {
        !it.is_alphanumeric() && !matches!(it, '/' | '.' | '~' | '<' | '>')
    });
    if bare.contains("://") {
        return "<url>".to_owned();
    }
    // `src/a`, but neither `/` nor `<v>/a`, whose folder is a placeholder already.
    let has_folder = bare.contains('/') && bare.len() > 2 && !bare.starts_with('<');
    // `a.go`, also with a position after it: `a.go:12:3`.
    let is_file = model::words::file_extension(bare.split(':').next().unwrap_or(bare)).is_some();
    if has_folder || is_file || bare.starts_with("~/") {
        return "<path>".to_owned();
    }
    let has_digit = bare.bytes().any(|it| it.is_ascii_digit());
    let is_hex =
        bare.len() >= MIN_HASH_BYTES && bare.bytes().all(|it| it.is_ascii_hexdigit() || it == b'-');
    // `550e8400-e29b`, but not `defaced`, which is a word.
    if (is_hex && has_digit) || bare.starts_with("0x") {
        return "<id>".to_owned();
    }
    if !has_digit {
        return word.to_owned();
    }
    // Digits anywhere else: counts, ports, versions, durations, temporary names.
    let mut acc = String::new();
    for it in word.chars() {
        match it {
            // A run of digits becomes one `#`, and so does `1.2.3`.
            '0'..='9' if acc.ends_with('#') => {}
            '0'..='9' => acc.push('#'),
            // The separators of versions, times and dates; `T` is in `2026-01-05T13:29`.
            '.' | ':' | '-' | 'T' if acc.ends_with('#') && bare.len() > MAX_SHORT_NUMBER_BYTES => {}
            it => acc.push(it),
        }
    }
    acc
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
            expect!["e#: no such table <v> | E42: no such table `users`"],
        );
        check(
            "node:child_process:965\n    throw err;\n    ^\n\nError: Command failed: make",
            expect!["error: command failed: make | Error: Command failed: make"],
        );
        check(
            "  File \"a.py\", line 1\n    raise(error\n         ^\nSyntaxError: '(' was never closed",
            expect!["syntaxerror: <v> was never closed | SyntaxError: '(' was never closed"],
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
