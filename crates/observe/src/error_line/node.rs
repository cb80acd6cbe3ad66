//! Uncaught exceptions of Node.js and of bundlers that run in it.

use super::error_kind::{ErrorKind, ToolFamily};
use super::families::{FoundError, is_exception, join_open_end};
use super::output_lines::OutputLines;

/// Lines after an exception within which its stack begins.
const STACK_WINDOW_LINES: usize = 12;

/// The first exception with a stack below it, or `✘ [ERROR] …` of esbuild.
pub(super) fn find_exception(output: &OutputLines<'_>) -> Option<FoundError> {
    for (number, line) in output.lines.iter().enumerate() {
        let line = line.trim();
        if let Some(message) = line.strip_prefix("✘ [ERROR] ") {
            return Some(FoundError::new(ToolFamily::Node, message));
        }
        if let Some((_, option)) = line.split_once("node: bad option: ") {
            let message = format!("bad option: {option}");
            return Some(
                FoundError::new(ToolFamily::Node, &message).with_kind(ErrorKind::UsageError),
            );
        }
        let line = line.trim_start_matches("Uncaught ").trim_start_matches("[cause]: ");
        if !is_exception(line) {
            continue;
        }
        let mut following = output.filled_from(number + 1);
        let has_stack = following.clone().take(STACK_WINDOW_LINES).any(|it| it.starts_with("at "));
        if !has_stack {
            continue;
        }
        // The output of the process that failed says why.
        if line.contains(": Command failed") {
            let inner = following.next().filter(|it| !it.starts_with("at "));
            let message = inner.unwrap_or(line);
            return Some(FoundError::new(ToolFamily::Node, message));
        }
        return Some(node_error(&join_open_end(line, following)));
    }
    None
}

fn node_error(message: &str) -> FoundError {
    let found = FoundError::new(ToolFamily::Node, message);
    if message.starts_with("AssertionError") {
        return found.with_kind(ErrorKind::AssertionFailure);
    }
    found
}
