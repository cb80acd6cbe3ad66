//! Python: pytest, unittest and tracebacks of other programs.

use super::error_kind::{ErrorKind, ToolFamily};
use super::families::{FoundError, is_exception, join_open_end};
use super::output_lines::OutputLines;

/// `E   AssertionError: …` below the name of the test, else the line of the summary:
/// `FAILED tests/test_a.py::test_adds - assert 3 == 4`.
pub(super) fn find_pytest(output: &OutputLines<'_>) -> Option<FoundError> {
    let mut test = None;
    let mut found: Option<(usize, &str)> = None;
    for (number, line) in output.lines.iter().enumerate() {
        if let Some(name) = section_name(line) {
            // The first section with a message decides.
            if found.is_some() {
                break;
            }
            test = (!name.starts_with("ERROR ")).then_some(name);
        } else if let Some(message) = explained_line(line) {
            // The first line can quote source; an exception says more.
            let is_better = found.is_none_or(|(_, it)| !is_exception(it) && is_exception(message));
            if is_better {
                found = Some((number, message));
            }
        }
    }
    if let Some((number, message)) = found {
        let following = output.lines[number + 1..].iter().filter_map(|it| explained_line(it));
        let message = join_open_end(message, following);
        let test = test.map(|it| it.rsplit('.').next().unwrap_or(it));
        return Some(environment_error(pytest_error(&message, test), output));
    }
    output.lines.iter().find_map(|line| summary_error(line))
}

/// The name in `_____ test_adds _____`.
fn section_name(line: &str) -> Option<&str> {
    let name = line.strip_prefix("__")?.strip_suffix("__")?;
    Some(name.trim_matches('_').trim()).filter(|it| !it.is_empty())
}

/// The text of a line with which pytest explains a failure: `E       assert 3 == 4`.
fn explained_line(line: &str) -> Option<&str> {
    let text = line.strip_prefix("E ")?.trim();
    (!text.is_empty()).then_some(text)
}

fn pytest_error(message: &str, test: Option<&str>) -> FoundError {
    let found = FoundError::new(ToolFamily::Pytest, message).with_test(test);
    let is_assertion = message.starts_with("assert ") || message.starts_with("AssertionError");
    if is_assertion { found.with_kind(ErrorKind::AssertionFailure) } else { found }
}

/// The error in a line of the summary, or in a message about the command line.
fn summary_error(line: &str) -> Option<FoundError> {
    let line = line.trim();
    let result = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR "));
    if let Some((place, message)) = result.and_then(|it| it.split_once(" - "))
        && place.contains(".py")
    {
        return Some(pytest_error(message, place.rsplit_once("::").map(|it| it.1)));
    }
    let family = ToolFamily::Pytest;
    if let Some(usage) =
        line.split_once("pytest: error: ").or_else(|| line.split_once("pytest.py: error: "))
    {
        return Some(FoundError::new(family, usage.1).with_kind(ErrorKind::UsageError));
    }
    let missing = line.strip_prefix("ERROR: file or directory not found: ");
    if let Some(path) = missing {
        return Some(
            FoundError::new(family, line).with_kind(ErrorKind::MissingFile).with_subject(path),
        );
    }
    let unmatched = line.starts_with("ERROR: not found: ");
    unmatched.then(|| FoundError::new(family, line).with_kind(ErrorKind::NotRun))
}

/// `FAIL: test_adds (test_a.T.test_adds)` between two rules, then a traceback.
pub(super) fn find_unittest(output: &OutputLines<'_>) -> Option<FoundError> {
    let is_heading = |pair: &[&str]| {
        (pair[0].starts_with("FAIL: ") || pair[0].starts_with("ERROR: "))
            && pair[1].starts_with("-----")
    };
    let number = output.lines.windows(2).position(is_heading)?;
    let name = output.lines[number].split_once(": ").map_or("", |it| it.1);
    let test = name.split(" (").next().unwrap_or(name);
    // The traceback of this test ends before the next heading.
    let rest = &output.lines[number + 2..];
    let end = rest.iter().position(|it| it.starts_with("=====")).unwrap_or(rest.len());
    let (at, message) = last_traceback_line(&rest[..end])?;
    let message = join_open_end(message, rest[at + 1..end].iter().map(|it| it.trim()));
    let found = FoundError::new(ToolFamily::Unittest, &message).with_test(Some(test));
    let is_assertion = message.starts_with("AssertionError");
    if is_assertion {
        return Some(found.with_kind(ErrorKind::AssertionFailure));
    }
    Some(environment_error(found, output))
}

/// The last line of the last traceback: the exception that ended the program.
pub(super) fn find_traceback(output: &OutputLines<'_>) -> Option<FoundError> {
    let (at, message) = last_traceback_line(&output.lines)?;
    // The output of the process that failed says why.
    if message.starts_with("subprocess.CalledProcessError") {
        return None;
    }
    let message = join_open_end(message, output.filled_from(at + 1));
    Some(environment_error(FoundError::new(ToolFamily::Python, &message), output))
}

/// A missing key of `os.environ` is a missing variable.
fn environment_error(found: FoundError, output: &OutputLines<'_>) -> FoundError {
    let key = found.message.strip_prefix("KeyError: '").and_then(|it| it.strip_suffix('\''));
    match key.map(str::to_owned).filter(|_| output.text.contains("environ")) {
        Some(key) => found.with_kind(ErrorKind::MissingVariable).with_subject(&key),
        None => found,
    }
}

/// The number and text of the line that ends the last traceback: the first line after a `File "…"` line that
/// is not indented more than its heading.
fn last_traceback_line<'a>(lines: &[&'a str]) -> Option<(usize, &'a str)> {
    let last_frame = lines.iter().rposition(|it| it.trim_start().starts_with("File \""))?;
    let indent = |line: &str| line.len() - line.trim_start().len();
    let frame_indent = indent(lines[last_frame]);
    let is_end = |line: &str| !line.trim().is_empty() && indent(line) < frame_indent;
    let at = last_frame + 1 + lines[last_frame + 1..].iter().position(|it| is_end(it))?;
    let message = lines[at].trim();
    let name = message.split([':', ' ']).next().unwrap_or(message);
    let is_name = name.chars().all(|it| it.is_alphanumeric() || matches!(it, '.' | '_'));
    (is_name && name.contains(char::is_uppercase)).then_some((at, message))
}
