//! Tools of the agent's host: an edit that was not applied, a file that was not read.
//!
//! The first line says what went wrong; the lines after it quote the text of the call.

use super::error_kind::{ErrorKind, ToolFamily};
use super::families::FoundError;
use super::output_lines::OutputLines;

/// Messages that say nothing: another call of the same step failed.
const SIBLING_FAILURES: &[&str] = &["Sibling tool call errored", "Cancelled: parallel tool call"];

pub(super) fn find(output: &OutputLines<'_>) -> Option<FoundError> {
    let first = output.filled_from(0).next()?;
    let is_host = output.text.trim_start().starts_with("<tool_use_error>")
        || [
            "File does not exist",
            "Path does not exist",
            "String to replace not found",
            "File has not been read",
        ]
        .iter()
        .any(|it| first.starts_with(it));
    let is_sibling = SIBLING_FAILURES.iter().any(|it| first.starts_with(it));
    if !is_host || is_sibling {
        return None;
    }
    let found = FoundError::new(ToolFamily::HostTool, first);
    Some(if first.starts_with("InputValidationError") || first.contains("No such tool") {
        found.with_kind(ErrorKind::UsageError)
    } else {
        found
    })
}
