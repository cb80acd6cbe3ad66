//! The nature of a failure: how far its error allows another command to be the fix.

use crate::error_line::ErrorKind;
use crate::scratchpad::ErrorOccurrence;

/// How far the error of a failure allows another command to be its fix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailureNature {
    /// The command itself was wrong: an unknown option, a missing program, a missing variable, a wrong folder.
    Usage,
    /// A success that ran nothing.
    NothingRan,
    /// The error does not say whether the command or its work was wrong.
    Unclear,
    /// The command did its work and found something wrong.
    Work,
}

pub(super) const fn nature_of(error: &ErrorOccurrence) -> FailureNature {
    match error.kind {
        ErrorKind::MissingModule
        | ErrorKind::MissingCommand
        | ErrorKind::MissingVariable
        | ErrorKind::MissingFile
        | ErrorKind::UsageError
        | ErrorKind::Permission
        | ErrorKind::Network => FailureNature::Usage,
        ErrorKind::NotRun => FailureNature::NothingRan,
        ErrorKind::Conflict | ErrorKind::Other => FailureNature::Unclear,
        ErrorKind::AssertionFailure
        | ErrorKind::CompileError
        | ErrorKind::LintRule
        | ErrorKind::Exception
        | ErrorKind::Timeout => FailureNature::Work,
    }
}

/// Returns whether a program, or a script that starts one, does not exist here.
pub(super) const fn is_missing_program(error: &ErrorOccurrence) -> bool {
    matches!(
        error.kind,
        ErrorKind::MissingCommand | ErrorKind::MissingModule | ErrorKind::UsageError
    )
}
