//! Go: compiler and vet, modules, golangci-lint, tests.

use super::error_kind::{ErrorKind, ToolFamily};
use super::families::{FoundError, PlacedLine, join_open_end};
use super::output_lines::OutputLines;

/// Messages of the go command that are no errors.
const PROGRESS: &[&str] =
    &["downloading ", "finding ", "added ", "upgraded ", "extracting ", "removed ", "creating new"];

/// Words of a test's log that tell of a failure, in lower case. Errors and logs look the same.
#[rustfmt::skip]
const FAILURE_WORDS: &[&str] = &[
    "expected", "want", "got", "should", "must", "fail", "error", "not ", "missing", "unexpected", "mismatch", "invalid", "cannot", "incorrect", "differ", "timed out",
];

/// `cmd/a.go:3:5: undefined: x` of the compiler and of linters, `go: …` of the go command.
pub(super) fn find_build(output: &OutputLines<'_>) -> Option<FoundError> {
    for (number, line) in output.lines.iter().enumerate() {
        let line = line.strip_prefix("vet: ").unwrap_or(line);
        if let Some(message) = line.strip_prefix("go: ") {
            if !PROGRESS.iter().any(|it| message.starts_with(it)) {
                let message = join_open_end(message, output.filled_from(number + 1));
                return Some(FoundError::new(ToolFamily::GoMod, &message));
            }
        } else if let Some(placed) = PlacedLine::parse(line)
            && placed.extension() == "go"
            && placed.has_column
        {
            return Some(placed_error(output, number, placed.message));
        } else if line.ends_with("import cycle not allowed") {
            return Some(
                FoundError::new(ToolFamily::GoBuild, line.trim())
                    .with_kind(ErrorKind::CompileError),
            );
        }
    }
    None
}

/// The error of a compiler, or of a linter whose name is in parentheses at the end.
fn placed_error(output: &OutputLines<'_>, number: usize, message: &str) -> FoundError {
    let linter = message.rsplit_once(" (").and_then(|(_, it)| it.strip_suffix(')'));
    let is_name = |it: &&str| it.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit());
    match linter.filter(is_name) {
        Some("typecheck") => {
            let message = message.trim_end_matches(" (typecheck)");
            compile_error(ToolFamily::GolangciLint, message)
        }
        // No message of the compiler ends with one word in parentheses.
        Some(linter) if !linter.is_empty() => FoundError::new(ToolFamily::GolangciLint, message)
            .with_kind(ErrorKind::LintRule)
            .with_subject(linter),
        _ => {
            // The last message of several carries the name of the linter.
            let is_lint = output.lines[number..].iter().any(|it| it.ends_with(" (typecheck)"));
            let family = if is_lint { ToolFamily::GolangciLint } else { ToolFamily::GoBuild };
            compile_error(family, message)
        }
    }
}

fn compile_error(family: ToolFamily, message: &str) -> FoundError {
    // A module that is not required is found by its shape.
    let found = FoundError::new(family, message);
    let is_module = message.contains("no required module")
        || message.contains("is not in std")
        || message.contains("cannot find package")
        || message.contains("missing go.sum");
    if is_module { found } else { found.with_kind(ErrorKind::CompileError) }
}

/// A panic, or the message of the first failed test.
pub(super) fn find_test(output: &OutputLines<'_>) -> Option<FoundError> {
    let family = ToolFamily::GoTest;
    let is_go = output.contains_any(&["--- FAIL", "goroutine ", "FAIL\t", "exit status 2"]);
    if let Some(panic) = output.lines.iter().find_map(|it| it.strip_prefix("panic: "))
        && is_go
    {
        let message = panic.split(" [recovered").next().unwrap_or(panic);
        return Some(
            FoundError::new(family, &format!("panic: {message}")).with_kind(panic_kind(message)),
        );
    }
    if output.text.contains("WARNING: DATA RACE") {
        return Some(FoundError::new(family, "WARNING: DATA RACE").with_kind(ErrorKind::Exception));
    }
    // Subtests are listed below their test, the deepest has the message.
    let is_failure = |it: &&&str| it.trim_start().starts_with("--- FAIL: ");
    let number = output.lines.iter().position(|it| is_failure(&it))?;
    let n_nested = output.lines[number..].iter().take_while(|it| is_failure(it)).count();
    let last = number + n_nested - 1;
    let name = output.lines[last].trim().trim_start_matches("--- FAIL: ");
    let name = name.split(" (").next().unwrap_or(name);
    let message = message_below(output, last).or_else(|| message_above(output, number, name));
    let message = message.unwrap_or_else(|| format!("{name} failed"));
    let is_timeout = message.contains("timed out");
    let found = FoundError::new(family, &message).with_test(Some(name));
    Some(if is_timeout { found } else { found.with_kind(ErrorKind::AssertionFailure) })
}

fn panic_kind(message: &str) -> ErrorKind {
    if message.contains("timed out") { ErrorKind::Timeout } else { ErrorKind::Exception }
}

/// The message in the lines below the name of a test, as `go test` prints them.
fn message_below(output: &OutputLines<'_>, number: usize) -> Option<String> {
    let rest = &output.lines[number + 1..];
    let end = rest.iter().position(|it| !it.starts_with(' ') || it.trim_start().starts_with("---"));
    test_message(&rest[..end.unwrap_or(rest.len())])
}

/// The message in the lines above, as `go test -v` prints them.
fn message_above(output: &OutputLines<'_>, number: usize, name: &str) -> Option<String> {
    let before = &output.lines[..number];
    let start = before
        .iter()
        .rposition(|it| it.strip_prefix("=== RUN").is_some_and(|it| it.trim() == name));
    test_message(&before[start.map_or(0, |it| it + 1)..])
}

/// The last message of a test's log that tells of a failure, else the last message.
fn test_message(lines: &[&str]) -> Option<String> {
    // Testify: `Error:  Not equal:` with the values on the next lines.
    if let Some(at) = lines.iter().position(|it| it.trim_start().starts_with("Error:")) {
        let message = lines[at].trim().trim_start_matches("Error:").trim();
        let following = lines[at + 1..].iter().map(|it| it.trim());
        let values = following.take_while(|it| !it.starts_with("Test:")).take(2);
        let values = values.filter(|it| it.starts_with("expected") || it.starts_with("actual"));
        return Some(values.fold(message.to_owned(), |acc, it| acc + " " + it));
    }
    let is_message = |line: &&str| line.starts_with("    ") && log_message(line).is_some();
    let tells_failure = |line: &&str| {
        let lower = log_message(line).unwrap_or_default().to_ascii_lowercase();
        FAILURE_WORDS.iter().any(|it| lower.contains(it))
    };
    let messages = || (0..lines.len()).rev().filter(|it| is_message(&lines[*it]));
    let at = messages().find(|it| tells_failure(&lines[*it])).or_else(|| messages().next())?;
    let message = log_message(lines[at])?;
    Some(join_open_end(message, lines[at + 1..].iter().map(|it| it.trim())))
}

/// The text of a line of a test's log: `    a_test.go:12: want 3` has `want 3`.
fn log_message(line: &str) -> Option<&str> {
    let placed = PlacedLine::parse(line.trim_start())?;
    (placed.extension() == "go").then_some(placed.message)
}
