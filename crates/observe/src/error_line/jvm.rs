//! Java and Kotlin: javac, kotlinc, `JUnit` in maven and gradle, and these two themselves.

use super::error_kind::{ErrorKind, ToolFamily};
use super::families::{FoundError, PlacedLine, is_exception, join_open_end};
use super::output_lines::OutputLines;

/// Beginnings of maven's lines that only report a failure, without `[ERROR] `.
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
            .take(6)
            .find_map(|it| it.trim_start_matches("[ERROR]").trim_start().strip_prefix("symbol:"));
        let found = match symbol.filter(|_| message.starts_with("cannot find symbol")) {
            Some(symbol) => {
                let symbol = symbol.trim();
                FoundError::new(family, &format!("cannot find symbol: {symbol}"))
                    .with_subject(symbol.rsplit(' ').next().unwrap_or(symbol))
            }
            None => FoundError::new(family, message),
        };
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
    let message = output.filled_from(number + 1).take(2).find(|it| names_exception(it))?;
    let is_assertion = message.contains("Assert") || message.contains("ComparisonFailure");
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

/// The innermost `> ` line below `* What went wrong:` (gradle), or the first `[ERROR] ` (maven).
fn find_build(output: &OutputLines<'_>) -> Option<FoundError> {
    if let Some(at) = output.position(|it| it == "* What went wrong:") {
        let lines = output.filled_from(at + 1).take_while(|it| !it.starts_with("* "));
        let number = lines.clone().enumerate().filter(|it| it.1.starts_with("> ")).last();
        let number = number.map_or(0, |it| it.0);
        let innermost = lines.clone().nth(number)?.trim_start_matches("> ");
        // `startup failed:` has its reason on the next line.
        let message = join_open_end(innermost, lines.skip(number + 1));
        let is_summary = message.starts_with("There were failing tests")
            || message.starts_with("Compilation failed");
        return (!is_summary).then(|| FoundError::new(ToolFamily::Gradle, &message));
    }
    let errors = output.lines.iter().filter_map(|it| it.strip_prefix("[ERROR] "));
    let is_summary =
        |it: &&str| MAVEN_SUMMARIES.iter().any(|summary| it.trim().starts_with(summary));
    let message = errors.filter(|it| !it.trim().is_empty()).find(|it| !is_summary(it))?;
    let is_maven = output.contains_any(&["BUILD FAILURE", "[INFO]", "[Help 1]"]);
    // The reason comes after the goal: `Failed to execute goal …: Could not resolve …`.
    let message = message.split(" -> [Help").next().unwrap_or(message);
    is_maven.then(|| FoundError::new(ToolFamily::Maven, message))
}
