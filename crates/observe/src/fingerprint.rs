//! Error fingerprints: the same failure on two machines has the same fingerprint, because paths,
//! positions, versions and times are normalised away.

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
    "total", "note:", "warning:", "chunk id", "# ", "wall time", "[lint] $", "[fmt] $", "[test] $", "[build] $", "process exited", "npm warn", "debug", "info",
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
];

/// Phrases that contain an error word and report no error.
const HARMLESS_PHRASES: &[&str] = &[
    "0 errors",
    "0 error",
    "no errors",
    "0 failed",
    "0 failures",
    "no failures",
    "error_test",
    "errors.go",
    "without error",
];

/// The shortest message that can name an error, in bytes.
const MIN_MESSAGE_BYTES: usize = 4;
/// Lines of an output that are searched for the error.
const MAX_SEARCHED_LINES: usize = 200;
/// Bytes of a line that are compared and normalised.
const MAX_COMPARED_BYTES: usize = 400;
/// The longest line for display, in characters.
const MAX_DISPLAY_CHARS: usize = 180;
/// Distance within which a quote must be closed, in bytes.
const MAX_QUOTED_BYTES: usize = 160;

/// Returns whether a message only says that something failed.
pub fn is_generic_message(line: &str) -> bool {
    starts_generic(&line.to_ascii_lowercase())
}

/// Of a line in lower case. Some runners put their own name in brackets before each line.
fn starts_generic(lower: &str) -> bool {
    let bare = lower.strip_prefix('[').and_then(|it| it.split_once("] ")).map_or(lower, |it| it.1);
    GENERIC_PREFIXES.iter().any(|it| bare.starts_with(it))
}

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

/// The first line that names an error, else the first line with words.
fn find_error_line(output: &str) -> Option<&str> {
    let mut first = None;
    for line in output.lines().take(MAX_SEARCHED_LINES) {
        let line = line
            .trim()
            .trim_start_matches("<tool_use_error>")
            .trim_end_matches("</tool_use_error>");
        let head = line[..line.floor_char_boundary(MAX_COMPARED_BYTES)].to_ascii_lowercase();
        // A runner that prints the command before it runs it: `[lint] $ golangci-lint run`.
        let is_echo = head.starts_with('[') && head.contains("] $ ");
        let is_noise = NOISE_PREFIXES.iter().any(|it| head.starts_with(it));
        if line.len() < MIN_MESSAGE_BYTES || is_echo || is_noise {
            continue;
        }
        let is_harmless = HARMLESS_PHRASES.iter().any(|it| head.contains(it));
        let names_error = ERROR_WORDS.iter().any(|it| head.contains(it));
        if !is_harmless && names_error && !starts_generic(&head) {
            return Some(line);
        }
        // A generic line is better than none, but a later line may name the error.
        if !is_harmless && line.chars().any(char::is_alphabetic) {
            first = first.or(Some(line));
        }
    }
    first
}

/// The line for people: without the folders of one machine and without positions, cut.
fn format_for_display(line: &str) -> String {
    let shorten_path = |word: &str| {
        let bare = word.trim_start_matches(['(', '"', '\'', '`']);
        let is_absolute = bare.starts_with('/') && bare.matches('/').count() > 2;
        if is_absolute {
            word.rsplit('/').next().unwrap_or(word).to_owned()
        } else {
            word.to_owned()
        }
    };
    let words: Vec<String> = strip_position(line).split_whitespace().map(shorten_path).collect();
    model::clean_label(&words.join(" "), MAX_DISPLAY_CHARS)
}

/// `cmd/a.go:221:3: error …` → `error …`: the position differs every time.
fn strip_position(line: &str) -> &str {
    let Some((position, rest)) = line.split_once(": ") else { return line };
    let has_number =
        position.rsplit(':').next().is_some_and(|it| it.bytes().all(|b| b.is_ascii_digit()));
    let has_file = !position.contains(' ') && position.contains('.');
    if has_number && has_file && rest.len() > 8 { rest } else { line }
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

/// Replaces quoted values with `<v>`. An apostrophe inside a word is no quote.
fn replace_quoted(line: &str) -> String {
    let mut acc = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(['"', '\'', '`', '“']) {
        let quote = rest[at..].chars().next().unwrap_or('"');
        let inside_word = rest[..at].chars().next_back().is_some_and(char::is_alphanumeric);
        let after = &rest[at + quote.len_utf8()..];
        let close = if quote == '“' { '”' } else { quote };
        // The search for the closing quote is bounded, so that the whole stays linear.
        let window = &after[..after.floor_char_boundary(MAX_QUOTED_BYTES)];
        if let Some(end) = window.find(close).filter(|_| !inside_word) {
            acc.push_str(&rest[..at]);
            acc.push_str("<v>");
            rest = &after[end + close.len_utf8()..];
        } else {
            acc.push_str(&rest[..at + quote.len_utf8()]);
            rest = after;
        }
    }
    acc + rest
}

/// Replaces a word that differs from run to run with a placeholder.
fn normalise_word(word: &str) -> String {
    let bare = word.trim_matches(|it: char| {
        !it.is_alphanumeric() && !matches!(it, '/' | '.' | '~' | '<' | '>')
    });
    if bare.contains("://") {
        return "<url>".to_owned();
    }
    // `a.go:12:3` is a path, too.
    let is_file = model::words::file_extension(bare.split(':').next().unwrap_or(bare)).is_some();
    if (bare.contains('/') && bare.len() > 2 && !bare.starts_with('<'))
        || is_file
        || bare.starts_with("~/")
    {
        return "<path>".to_owned();
    }
    let is_hex = bare.len() >= 7 && bare.bytes().all(|it| it.is_ascii_hexdigit() || it == b'-');
    if (is_hex && bare.bytes().any(|it| it.is_ascii_digit())) || bare.starts_with("0x") {
        return "<id>".to_owned();
    }
    if !bare.bytes().any(|it| it.is_ascii_digit()) {
        return word.to_owned();
    }
    // Digits anywhere else: counts, ports, versions, durations, temporary names.
    let mut acc = String::new();
    for it in word.chars() {
        match it {
            // A run of digits becomes one `#`, and so does `1.2.3`.
            '0'..='9' if acc.ends_with('#') => {}
            '0'..='9' => acc.push('#'),
            '.' | ':' | '-' | 'T' if acc.ends_with('#') && bare.len() > 4 => {}
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

    fn check(answer: &str, expect: Expect) {
        let error = recognise_error("shell", answer);
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
    fn the_same_failure_on_two_machines_has_one_fingerprint() {
        let one = recognise_error(
            "shell",
            "2026-01-05T13:29:29Z error: cannot open '/home/user/a/x.rs' at 0x7ffe12 port 8080, v1.2.3 (tmp.Xa12f) 550e8400-e29b-41d4-a716-446655440000",
        );
        let two = recognise_error(
            "shell",
            "2025-11-30T01:02:03Z error: cannot open '/Users/me/b/y.rs' at 0x1234ab port 31337, v10.0.12 (tmp.Xa99f) 123e4567-e89b-12d3-a456-426614174000",
        );
        let (one, two) = (one.unwrap(), two.unwrap());
        assert_eq!(one.normalised_message, two.normalised_message);
        assert_eq!(one.fingerprint, two.fingerprint);
        let other = recognise_error("shell", "error: cannot write '/x/y.rs'").unwrap();
        assert_ne!(one.fingerprint, other.fingerprint);
    }

    proptest! {
        #[test]
        fn any_output_is_accepted(answer in "(\\PC|[\"'`\n ]){0,400}") {
            let _ = recognise_error("x", &answer);
        }
    }
}
