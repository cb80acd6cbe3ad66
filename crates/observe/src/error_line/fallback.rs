//! Finds the error line of a tool that no family describes: the first line with a word that names an error.

use super::error_kind::ToolFamily;
use super::families::{FoundError, join_open_end};
use super::output_lines::OutputLines;

/// Bytes of a line that are compared.
const MAX_COMPARED_BYTES: usize = 400;

/// Beginnings of lines that every run prints, in lower case.
#[rustfmt::skip]
const NOISE_PREFIXES: &[&str] = &[
    "exit code", "=== run", "=== pause", "=== cont", "=== name", "usage:", "try '", "try \"", "--- pass", "ok ", "ok\t", "pass", "> ", "$ ", "?   ", "running ", "compiling ", "finished ", "downloading ", "checking ",
    "total", "note:", "warning:", "chunk id", "# ", "wall time", "process exited", "npm warn", "debug", "info", "node:", "sibling tool call errored", "cancelled: parallel",
];

/// Words of lines that name an error, in lower case.
#[rustfmt::skip]
const ERROR_WORDS: &[&str] = &[
    "error", "fail", "panic", "fatal", "undefined", "cannot", "can't", "could not", "couldn't", "not found", "no such", "denied", "exception", "invalid", "unexpected", "missing",
    "mismatch", "unable", "not enough", "too many", "unknown", "conflict", "refused", "unused", "expected", "has not been", "is not", "must", "no matching", "corrupt", "illegal", "timed out", "timeout", "not a ", "did not",
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

/// The first line that names an error, else the first line with words.
pub(super) fn find_error(output: &OutputLines<'_>) -> Option<FoundError> {
    let (mut first_line_with_words, mut first_count) = (None, None);
    for (number, line) in output.lines.iter().enumerate() {
        // Quoted source, with a mark below the place of the error: the message is another line.
        if output.lines.get(number + 1).is_some_and(|it| is_caret_line(it)) || is_code_frame(line) {
            continue;
        }
        let line = line.trim();
        let lower = line[..line.floor_char_boundary(MAX_COMPARED_BYTES)].to_ascii_lowercase();
        let is_noise = NOISE_PREFIXES.iter().any(|it| lower.starts_with(it));
        if line.len() < super::MIN_MESSAGE_BYTES
            || is_noise
            || is_banner(line)
            || is_harmless(&lower)
        {
            continue;
        }
        // A count is known only to say how many errors there are.
        if is_count(&lower) || is_linter_count(&lower) {
            first_count = first_count.or(Some(line));
            continue;
        }
        let names_error = ERROR_WORDS.iter().any(|it| lower.contains(it));
        if names_error && !starts_generic(&lower) {
            let message = join_open_end(line, output.filled_from(number + 1));
            return Some(FoundError::new(ToolFamily::Generic, &message));
        }
        // A generic line is better than none, but a later line may name the error.
        if line.chars().any(char::is_alphabetic) {
            first_line_with_words = first_line_with_words.or(Some(line));
        }
    }
    let line = first_line_with_words.or(first_count);
    line.map(|it| FoundError::new(ToolFamily::Generic, it))
}

/// Returns whether a line is a heading between rules: `==== ERRORS ====`, `⎯⎯ Failed Suites 1 ⎯⎯`, `-----`.
fn is_banner(line: &str) -> bool {
    let is_rule = |it: char| !it.is_alphanumeric() && !it.is_whitespace();
    let first = line.chars().next().unwrap_or(' ');
    let n_same = line.chars().take_while(|it| *it == first).count();
    // A heading of Markdown names the section only, and so does the top of a box: `╭─ Error ──╮`.
    let is_box = matches!(first, '╭' | '╰' | '┌' | '└' | '╔' | '╚');
    first == '#' || is_box || (is_rule(first) && n_same >= 3 && line.ends_with(first))
}

/// Returns whether a line in lower case is a summary of counts: `12 passed, 10 failed`, `found 3 errors`.
fn is_count(lower: &str) -> bool {
    #[rustfmt::skip]
    const COUNTED: &[&str] = &[
        "passed", "failed", "errors", "error", "failures", "failure", "tests", "test", "warnings", "warning", "problems", "problem", "skipped", "found", "and", "in", "files", "file", "total", "issues", "issue",
    ];
    let mut has_number = false;
    for word in lower.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()) {
        let is_number = word.bytes().all(|it| it.is_ascii_digit());
        has_number |= is_number;
        if !is_number && !COUNTED.contains(&word) {
            return false;
        }
    }
    has_number
}

/// Returns whether a line belongs to a frame of quoted source: `> 12 | const a`, `   | ^^^^ note`.
fn is_code_frame(line: &str) -> bool {
    let Some((margin, _)) = line.split_once('|') else { return false };
    let is_margin = |it: char| it.is_ascii_digit() || it.is_whitespace() || it == '>';
    margin.chars().all(is_margin) && margin.len() > 1
}

/// Returns whether a line in lower case counts the findings of one linter: `* noctx: 2`.
fn is_linter_count(lower: &str) -> bool {
    let Some((name, count)) = lower.strip_prefix("* ").and_then(|it| it.split_once(": ")) else {
        return false;
    };
    !name.contains(' ') && !count.is_empty() && count.bytes().all(|it| it.is_ascii_digit())
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
pub(super) fn starts_generic(lower: &str) -> bool {
    let bare = lower.strip_prefix('[').and_then(|it| it.split_once("] ")).map_or(lower, |it| it.1);
    GENERIC_PREFIXES.iter().any(|it| bare.starts_with(it))
}

/// Returns whether a line in lower case only counts errors.
pub(super) fn counts_errors(lower: &str) -> bool {
    is_count(lower) || is_linter_count(lower)
}
