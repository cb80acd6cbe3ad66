//! Rust: rustc, clippy, cargo, panics in tests and programs.

use super::error_kind::{ErrorKind, ToolFamily};
use super::families::FoundError;
use super::output_lines::OutputLines;

/// Errors that only report the one before them.
#[rustfmt::skip]
const SUMMARIES: &[&str] = &[
    "could not compile", "aborting due to", "test failed", "process didn't exit", "build failed", "recipe for target", "script ", "Recipe `", "failed to push some refs", "doctest failed",
    "target failed", "targets failed",
];

/// The line above the output of a build script that failed.
const BUILD_SCRIPT_HEADING: &str = "error: failed to run custom build command for";

/// Lines of an error that are searched for its place and its lint.
const ERROR_WINDOW_LINES: usize = 24;

/// `thread 'tests::x' panicked at src/lib.rs:5:9:`, then the message.
pub(super) fn find_panic(output: &OutputLines<'_>) -> Option<FoundError> {
    let number = output.position(|it| it.contains("panicked at"))?;
    let line = output.lines[number];
    let (thread, rest) = line.split_once("panicked at ")?;
    // Before Rust 1.73 the message was quoted on the same line.
    let message = if let Some(quoted) = rest.strip_prefix('\'') {
        quoted.rsplit_once("', ").map_or(quoted, |it| it.0).to_owned()
    } else {
        let mut following = output.filled_from(number + 1);
        let mut acc = following.next()?.to_owned();
        let is_value = |it: &&str| it.starts_with("left:") || it.starts_with("right:");
        for value in following.take(2).filter(is_value) {
            acc.push(' ');
            acc.push_str(value);
        }
        acc
    };
    let is_test = output.contains_any(&["test result: ", "---- ", "running ", " FAIL ["]);
    let name = thread.split('\'').nth(1).filter(|it| is_test && *it != "main");
    let family = if is_test { ToolFamily::CargoTest } else { ToolFamily::Rustc };
    let is_assertion = message.starts_with("assertion ");
    let found = FoundError::new(family, &message);
    Some(if is_assertion {
        found.with_kind(ErrorKind::AssertionFailure).with_test(name)
    } else {
        found
    })
}

/// `error[E0425]: …` with a place below it, else the first error of cargo itself.
pub(super) fn find_rustc(output: &OutputLines<'_>) -> Option<FoundError> {
    for (number, line) in output.lines.iter().enumerate() {
        let Some(message) = rustc_message(line) else { continue };
        let end = output.lines.len().min(number + 1 + ERROR_WINDOW_LINES);
        let below = &output.lines[number + 1..end];
        // The error ends at an empty line; bun and other tools print `error: …` without a place.
        let below = &below[..below.iter().position(|it| it.is_empty()).unwrap_or(below.len())];
        let has_place = below.iter().any(|it| it.trim_start().starts_with("--> "));
        if has_place || line.starts_with("error[E") {
            return Some(placed_error(message, line, below));
        }
    }
    find_cargo(output)
}

/// The message of `error: …` or `error[E0425]: …` at the beginning of a line, or after a short place.
fn rustc_message(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("error")?;
    let rest = match rest.strip_prefix('[') {
        Some(code) => code.split_once(']')?.1,
        None => rest,
    };
    let message = rest.strip_prefix(": ")?;
    let is_summary = SUMMARIES.iter().any(|it| message.starts_with(it));
    (!is_summary).then_some(message)
}

fn placed_error(message: &str, line: &str, below: &[&str]) -> FoundError {
    if let Some(rule) = below.iter().find_map(|it| clippy_lint(it)) {
        return FoundError::new(ToolFamily::Clippy, message)
            .with_kind(ErrorKind::LintRule)
            .with_subject(rule);
    }
    let found = FoundError::new(ToolFamily::Rustc, line.trim_start_matches("error: "));
    let is_module = ["unresolved import", "can't find crate", "unresolved module"]
        .iter()
        .any(|it| message.contains(it));
    if is_module { found } else { found.with_kind(ErrorKind::CompileError) }
}

/// The lint in `… /index.html#needless_return` or `` `-D clippy::needless-return` ``.
fn clippy_lint(line: &str) -> Option<&str> {
    let after = line.split_once("index.html#").or_else(|| line.split_once("clippy::"))?.1;
    let end = after.find(|it: char| !it.is_alphanumeric() && !matches!(it, '_' | '-'));
    Some(&after[..end.unwrap_or(after.len())]).filter(|it| !it.is_empty() && *it != "all")
}

/// The error that a build script printed before it failed. The heading is the same for every cause.
fn find_build_script(output: &OutputLines<'_>) -> Option<FoundError> {
    let heading = output.position(|it| it.starts_with(BUILD_SCRIPT_HEADING))?;
    let below = output.lines.get(heading + 1..)?;
    let stderr = below.iter().position(|it| it.trim() == "--- stderr")?;
    // Instructions to cargo, warnings of compilers and echoed commands are no error.
    let is_noise = |it: &&str| {
        ["cargo:", "warning: ", "note: ", "+ "].iter().any(|noise| it.starts_with(noise))
    };
    let message = output.filled_from(heading + 2 + stderr).find(|it| !is_noise(it))?;
    Some(FoundError::new(ToolFamily::Cargo, message))
}

/// An error of cargo: the message, and the last of its causes.
fn find_cargo(output: &OutputLines<'_>) -> Option<FoundError> {
    if let Some(found) = find_build_script(output) {
        return Some(found);
    }
    let is_cargo = output.contains_any(&[
        "cargo",
        "Cargo.toml",
        "crate",
        "package ID",
        "package `",
        "target named",
    ]);
    if !is_cargo || output.contains_any(&["uv ", "pip", "bun "]) {
        return None;
    }
    let number = output.position(|it| rustc_message(it).is_some())?;
    let message = rustc_message(output.lines[number])?;
    let causes = output.lines[number..].iter().skip_while(|it| it.trim() != "Caused by:");
    let is_cause = |it: &&&str| !it.trim().is_empty() && it.trim() != "Caused by:";
    let cause = causes.take(ERROR_WINDOW_LINES).filter(is_cause).last();
    let message =
        cause.map_or_else(|| message.to_owned(), |it| format!("{message}: {}", it.trim()));
    Some(FoundError::new(ToolFamily::Cargo, &message))
}
