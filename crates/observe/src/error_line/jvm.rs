//! Java and Kotlin: javac, kotlinc, `JUnit` in maven and gradle, and these two themselves.
//!
//! Example: `A.java:3: error: cannot find symbol` with `symbol:   class Clock` below it gives the message
//! `cannot find symbol: class Clock` with the subject `Clock`. Compilers are tried first, then tests, then the
//! build, because the build only sums up the other two.

use super::error_kind::{ErrorKind, ToolFamily};
use super::families::{FoundError, PlacedLine, is_exception, join_open_end};
use super::output_lines::OutputLines;

/// Lines after a compiler error, blank ones not counted, in which its `symbol:` is searched. Javac prints the
/// line of code and a caret before it.
const SYMBOL_WINDOW_LINES: usize = 6;
/// Lines below the heading of a failed test, blank ones not counted, in which its exception is searched. Lines
/// further down belong to the stack trace or to the next test.
const EXCEPTION_WINDOW_LINES: usize = 2;

/// Beginnings of lines by which maven only sums up a failure, after their `[ERROR] ` is removed.
#[rustfmt::skip]
const MAVEN_SUMMARIES: &[&str] = &[
    "Tests run:", "Failures:", "Errors:", "COMPILATION ERROR", "There are test failures", "-> [Help", "To see the full stack", "Re-run Maven", "For more information", "[Help 1]", "See ", "Please refer", "After correcting",
];

pub(super) fn find(output: &OutputLines<'_>) -> Option<FoundError> {
    find_compiler(output).or_else(|| find_test(output)).or_else(|| find_build(output))
}

/// `A.java:3: error: cannot find symbol`, `[ERROR] /p/A.java:[3,5] cannot find symbol` or
/// `e: file:///p/A.kt:3:5 Unresolved reference 'x'.`
fn find_compiler(output: &OutputLines<'_>) -> Option<FoundError> {
    for (number, line) in output.lines.iter().enumerate() {
        // `?` ends the search: a place without a message is not a line of these compilers.
        let (family, message) = if let Some(rest) = line.strip_prefix("e: ") {
            // The place ends with `:3:5 ` or, in older versions, with `: (3, 5): `.
            let message = rest.split_once("): ").or_else(|| rest.split_once(' '))?.1;
            (ToolFamily::Kotlinc, message)
        } else if let Some((_, rest)) = line.split_once(".java:[") {
            (ToolFamily::Javac, rest.split_once("] ")?.1)
        } else if let Some(placed) = PlacedLine::parse(line)
            && placed.extension() == "java"
            && let Some(message) = placed.message.strip_prefix("error: ")
        {
            (ToolFamily::Javac, message)
        } else {
            continue;
        };
        // `cannot find symbol` has the name on a line of its own.
        let symbol = output
            .filled_from(number + 1)
            .take(SYMBOL_WINDOW_LINES)
            .find_map(|it| it.trim_start_matches("[ERROR]").trim_start().strip_prefix("symbol:"));
        let found = match symbol.filter(|_| message.starts_with("cannot find symbol")) {
            Some(symbol) => {
                let symbol = symbol.trim();
                FoundError::new(family, &format!("cannot find symbol: {symbol}"))
                    .with_subject(symbol.rsplit(' ').next().unwrap_or(symbol))
            }
            None => FoundError::new(family, message),
        };
        // A missing package gets no kind here: the shapes of messages make it a missing module.
        let is_module = message.starts_with("package ") && message.ends_with("does not exist");
        return Some(if is_module { found } else { found.with_kind(ErrorKind::CompileError) });
    }
    None
}

/// The exception below `ATest > adds() FAILED` (gradle) or `ATest.adds … <<< FAILURE!` (maven).
fn find_test(output: &OutputLines<'_>) -> Option<FoundError> {
    let is_heading = |line: &str| {
        let is_gradle =
            line.ends_with(" FAILED") && line.contains(" > ") && !line.starts_with("> ");
        let is_maven = line.contains("<<< ") && !line.contains("Tests run:");
        is_gradle || is_maven
    };
    let number = output.position(is_heading)?;
    let heading = output.lines[number].trim_start_matches("[ERROR] ").trim();
    let name = match heading.strip_suffix(" FAILED") {
        Some(gradle) => gradle.rsplit(" > ").next(),
        None => heading.split(' ').next().and_then(|it| it.rsplit('.').next()),
    };
    let message = output
        .filled_from(number + 1)
        .take(EXCEPTION_WINDOW_LINES)
        .find(|it| names_exception(it))?;
    let is_assertion = message.contains("Assert") || message.contains("ComparisonFailure");
    // Only the failure of an assertion is about its test; see `error_line`, which makes the test its subject.
    // Another exception is an error of the code, the same in each test that meets it.
    let found = FoundError::new(ToolFamily::Junit, message);
    Some(if is_assertion {
        found.with_test(name).with_kind(ErrorKind::AssertionFailure)
    } else {
        found
    })
}

/// `a.b.SomeError: message`, or `a.b.SomeError at ATest.java:10`.
fn names_exception(line: &str) -> bool {
    is_exception(line) || line.split_once(" at ").is_some_and(|it| is_exception(it.0))
}

/// The innermost `> ` line below `* What went wrong:` (gradle), or the first `[ERROR] ` that is no summary
/// (maven).
fn find_build(output: &OutputLines<'_>) -> Option<FoundError> {
    if let Some(at) = output.position(|it| it == "* What went wrong:") {
        let lines = output.filled_from(at + 1).take_while(|it| !it.starts_with("* "));
        let last_cause = lines.clone().enumerate().filter(|it| it.1.starts_with("> ")).last();
        // Without a `> ` line, the first line is the only one that says something.
        let nth = last_cause.map_or(0, |it| it.0);
        let innermost = lines.clone().nth(nth)?.trim_start_matches("> ");
        // `startup failed:` has its reason on the next line.
        let message = join_open_end(innermost, lines.skip(nth + 1));
        let is_summary = message.starts_with("There were failing tests")
            || message.starts_with("Compilation failed");
        return (!is_summary).then(|| FoundError::new(ToolFamily::Gradle, &message));
    }
    let errors = output.lines.iter().filter_map(|it| it.strip_prefix("[ERROR] "));
    let is_summary =
        |it: &&str| MAVEN_SUMMARIES.iter().any(|summary| it.trim().starts_with(summary));
    let message = errors.filter(|it| !it.trim().is_empty()).find(|it| !is_summary(it))?;
    let is_maven = output.contains_any(&["BUILD FAILURE", "[INFO]", "[Help 1]"]);
    // `Failed to execute goal …: Could not resolve … -> [Help 1]`: the end points to maven's help.
    let message = message.split(" -> [Help").next().unwrap_or(message);
    is_maven.then(|| FoundError::new(ToolFamily::Maven, message))
}
