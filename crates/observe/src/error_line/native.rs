//! Compilers that print like gcc (gcc, clang, swiftc), linkers, and ctest.

use super::error_kind::{ErrorKind, ToolFamily};
use super::families::{FoundError, PlacedLine};
use super::output_lines::OutputLines;

/// Extensions of sources whose compilers print `place: error: message`.
const EXTENSIONS: &[&str] =
    &["c", "cc", "cpp", "cxx", "h", "hh", "hpp", "m", "mm", "swift", "cu", "zig", "rs", "scala"];

/// `a.c:3:5: error: …`, else the first symbol that the linker misses.
pub(super) fn find_compiler(output: &OutputLines<'_>) -> Option<FoundError> {
    output.lines.iter().find_map(|it| placed_error(it)).or_else(|| find_linker(output))
}

fn placed_error(line: &str) -> Option<FoundError> {
    let placed = PlacedLine::parse(line).filter(|it| EXTENSIONS.contains(&it.extension()))?;
    let is_rust = placed.extension() == "rs";
    let family = if is_rust { ToolFamily::Rustc } else { ToolFamily::Clang };
    if let Some(message) = placed.message.strip_prefix("fatal error: ") {
        // A header that is not there is found by its shape.
        let message = format!("fatal error: {message}");
        return Some(FoundError::new(family, &message));
    }
    // `cargo --message-format short` prints the code: `error[E0425]: …`.
    let message = placed
        .message
        .strip_prefix("error: ")
        .or_else(|| placed.message.strip_prefix("error[").is_some().then_some(placed.message))?;
    let found = FoundError::new(family, message);
    let is_module = message.contains("no such module") || message.contains("unresolved import");
    Some(if is_module { found } else { found.with_kind(ErrorKind::CompileError) })
}

fn find_linker(output: &OutputLines<'_>) -> Option<FoundError> {
    if let Some(line) = output.lines.iter().find(|it| it.contains("undefined reference to")) {
        let message = &line[line.find("undefined reference")?..];
        return Some(linker_error(message));
    }
    // macOS prints the symbols on the next lines.
    let number = output.position(|it| it.starts_with("Undefined symbols"))?;
    let symbol = output.filled_from(number + 1).next()?.split(',').next()?;
    Some(linker_error(&format!("undefined reference to {symbol}")))
}

fn linker_error(message: &str) -> FoundError {
    FoundError::new(ToolFamily::Clang, message).with_kind(ErrorKind::CompileError)
}

/// The first test below `The following tests FAILED:`. With `--output-on-failure` an earlier family has found
/// the message of the test.
pub(super) fn find_ctest(output: &OutputLines<'_>) -> Option<FoundError> {
    let number = output.position(|it| it.trim() == "The following tests FAILED:")?;
    let line = output.filled_from(number + 1).next()?;
    // `1 - adds (Failed)`
    let (_, rest) = line.split_once(" - ")?;
    let (name, reason) = rest.rsplit_once(" (").unwrap_or((rest, "Failed"));
    let reason = reason.trim_end_matches(')');
    let found = FoundError::new(ToolFamily::Ctest, &format!("{name}: {reason}"));
    Some(match reason {
        "Timeout" => found.with_kind(ErrorKind::Timeout).with_subject(name),
        "Not Run" => found.with_kind(ErrorKind::NotRun).with_subject(name),
        _ => found.with_kind(ErrorKind::AssertionFailure).with_test(Some(name)),
    })
}
