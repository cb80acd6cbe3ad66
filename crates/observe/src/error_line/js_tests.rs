//! Test runners of JavaScript: vitest, jest, bun test, mocha, node:test.

use super::error_kind::{ErrorKind, ToolFamily};
use super::families::{FoundError, is_exception, join_open_end};
use super::output_lines::OutputLines;

/// Lines after a test's name within which its message stands.
const MESSAGE_WINDOW_LINES: usize = 12;

/// `FAIL  test/a.test.ts > adds`, then the message on the next line.
pub(super) fn find_vitest(output: &OutputLines<'_>) -> Option<FoundError> {
    let family = ToolFamily::Vitest;
    let mut heading = None;
    for (number, line) in output.lines.iter().enumerate() {
        let line = line.trim();
        if let Some(place) = line.strip_prefix("FAIL  ") {
            heading = Some(place);
            continue;
        }
        // `CACError: Unknown option` and `No test files found` have no heading.
        if line.starts_with("CACError: ") || line.starts_with("No test files found") {
            return Some(FoundError::new(family, line));
        }
        let is_banner = line.is_empty() || line.contains("⎯⎯");
        // Several suites can have failed for the same reason: their headings follow each other.
        if let Some(place) = heading.filter(|_| !is_banner) {
            return Some(test_error(
                family,
                output,
                number,
                place.contains(" > ").then(|| last_part(place, " > ")),
            ));
        }
        // Errors outside of tests: `⎯⎯ Unhandled Errors ⎯⎯`, `⎯⎯ Startup Error ⎯⎯`.
        let follows_banner =
            output.lines[..number].iter().rev().take(4).any(|it| it.contains("⎯⎯"));
        if follows_banner && is_exception(line) {
            return Some(test_error(family, output, number, None));
        }
    }
    // `| tail` can cut the report of the failures: `→ expected 3 to be 4` is in the list of tests.
    let number = output.position(|it| it.trim_start().starts_with("→ "))?;
    if !output.contains_any(&["Test Files ", "❯ "]) {
        return None;
    }
    let name = number.checked_sub(1).map(|it| output.lines[it].trim());
    let message = output.lines[number].trim().trim_start_matches("→ ");
    Some(FoundError::new(family, message).with_test(name.map(|it| last_part(it, " > "))))
}

/// `● suite › adds two`, then the message after an empty line.
pub(super) fn find_jest(output: &OutputLines<'_>) -> Option<FoundError> {
    let family = ToolFamily::Jest;
    let is_heading = |line: &str| {
        let name = line.trim_start().strip_prefix("● ");
        name.is_some_and(|it| !it.starts_with("Console") && !it.starts_with("Cannot log"))
    };
    let number = output.position(is_heading)?;
    let heading = output.lines[number].trim().trim_start_matches("● ");
    let is_suite = heading.starts_with("Test suite failed to run");
    let first = number + 1;
    let at = (first..output.lines.len()).find(|it| !output.lines[*it].trim().is_empty())?;
    Some(test_error(family, output, at, (!is_suite).then(|| last_part(heading, " › "))))
}

/// The message, then `(fail) suite > adds [0.20ms]`.
pub(super) fn find_bun_test(output: &OutputLines<'_>) -> Option<FoundError> {
    let is_message = |line: &str| line.starts_with("error: ") || is_exception(line);
    let number = output.position(|it| is_message(it.trim_start()))?;
    let failed = output.lines[number..].iter().find_map(|it| it.trim().strip_prefix("(fail) "));
    let name = failed.map(|it| it.rsplit_once(" [").map_or(it, |it| it.0));
    Some(test_error(ToolFamily::BunTest, output, number, name.map(|it| last_part(it, " > "))))
}

/// `1 failing`, then `1) suite`, the name of the test with a colon, and the message.
pub(super) fn find_mocha(output: &OutputLines<'_>) -> Option<FoundError> {
    let is_count = |line: &str| {
        let count = line.trim().strip_suffix(" failing");
        count.is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()))
    };
    let count = output.position(is_count)?;
    let is_first = |it: &str| it.trim_start().starts_with("1) ");
    let heading = count + output.lines[count..].iter().position(|it| is_first(it))?;
    // The name ends with a colon, on this line or one of the next.
    let name = heading + output.lines[heading..].iter().position(|it| it.ends_with(':'))?;
    let at = (name + 1..output.lines.len()).find(|it| !output.lines[*it].trim().is_empty())?;
    let test = output.lines[name].trim().trim_start_matches("1) ").trim_end_matches(':');
    Some(test_error(ToolFamily::Mocha, output, at, Some(test)))
}

/// The spec reporter repeats failures below `✖ failing tests:`; the TAP reporter has `not ok 1 - adds`.
pub(super) fn find_node_test(output: &OutputLines<'_>) -> Option<FoundError> {
    let family = ToolFamily::NodeTest;
    if let Some(list) = output.position(|it| it.trim() == "✖ failing tests:") {
        let is_name = |it: &str| it.trim_start().starts_with("✖ ");
        let name = list + 1 + output.lines[list + 1..].iter().position(|it| is_name(it))?;
        let at = (name + 1..output.lines.len()).find(|it| !output.lines[*it].trim().is_empty())?;
        let test = output.lines[name].trim().trim_start_matches("✖ ");
        let test = test.rsplit_once(" (").map_or(test, |it| it.0);
        return Some(test_error(family, output, at, Some(test)));
    }
    let name = output.position(|it| it.trim_start().starts_with("not ok "))?;
    let test = Some(last_part(output.lines[name].trim(), " - "));
    let error = output.lines[name..].iter().position(|it| it.trim().starts_with("error: "))?;
    let message = output.lines[name + error].trim().trim_start_matches("error: ");
    // A block of YAML has its text on the next lines.
    if message.starts_with('|') {
        return Some(test_error(family, output, name + error + 1, test));
    }
    Some(FoundError::new(family, message.trim_matches('\'')).with_test(test))
}

/// The error whose message begins at a line: two compared values are joined to it.
fn test_error(
    family: ToolFamily,
    output: &OutputLines<'_>,
    number: usize,
    test: Option<&str>,
) -> FoundError {
    let message = output.lines[number].trim().trim_start_matches("error: ");
    let following = output.filled_from(number + 1).take(MESSAGE_WINDOW_LINES);
    let mut joined = join_open_end(message, following.clone());
    let mut is_assertion = message.contains("AssertionError") || message.starts_with("expect(");
    if message.starts_with("expect(") || message.ends_with("Failed!") {
        for value in following.filter(|it| is_compared_value(it)).take(2) {
            joined.push(' ');
            joined.push_str(value);
            is_assertion = true;
        }
    }
    let found = FoundError::new(family, &joined).with_test(test);
    if is_assertion { found.with_kind(ErrorKind::AssertionFailure) } else { found }
}

fn is_compared_value(line: &str) -> bool {
    ["Expected", "Received"].iter().any(|it| line.starts_with(it)) && line.contains(':')
}

/// The part after the last separator, or the whole text without one.
fn last_part<'a>(text: &'a str, separator: &str) -> &'a str {
    text.rsplit_once(separator).map_or(text, |it| it.1)
}
