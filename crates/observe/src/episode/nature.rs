//! The nature of a failure: how far its error allows another command to be the fix.

use crate::scratchpad::ErrorOccurrence;

/// How far the error of a failure allows another command to be its fix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailureNature {
    /// The command itself was wrong: an unknown option, a missing program, a missing variable, a wrong folder.
    Usage,
    /// A success that ran nothing.
    NothingRan,
    /// The command did its work and found something wrong, or its error says nothing of either.
    Work,
}

pub(super) fn nature_of(error: &ErrorOccurrence) -> FailureNature {
    const USAGE: &[&str] = &[
        "not found",
        "unknown",
        "unrecognized",
        "unrecognised",
        "no such",
        "missing script",
        "no module named",
        "cannot find module",
        "is not set",
        "not set",
        "required",
        "usage",
        "invalid option",
        "unexpected argument",
        "no upstream",
        "not a git",
        "permission denied",
        "could not find",
        "couldn't find",
        "eaddrinuse",
        "address already in use",
        "econnrefused",
        "connection refused",
        "unsupported",
        "not recognized",
        "no rule to make",
        "can't open file",
        "must specify",
        "enoent",
        "does not exist",
        "flag provided but not defined",
    ];
    const NOTHING_RAN: &[&str] =
        &["no tests", "no test files", "0 tests", "nothing to run", "collected 0 items"];
    let message = error.normalised_message.to_lowercase();
    if NOTHING_RAN.iter().any(|it| message.contains(it)) {
        FailureNature::NothingRan
    } else if USAGE.iter().any(|it| message.contains(it)) {
        FailureNature::Usage
    } else {
        FailureNature::Work
    }
}

/// Returns whether a program or script does not exist here.
pub(super) fn is_missing_program(error: &ErrorOccurrence) -> bool {
    let message = error.normalised_message.to_lowercase();
    ["command not found", "missing script", "no module named", "not recognized"]
        .iter()
        .any(|it| message.contains(it))
}
