//! The cause of a failure: how far its error allows another command, or a step before it, to be the fix.
//!
//! An error about how a command was called (an unknown option, a missing program, a wrong folder) is mended
//! by other words. An error that reports findings of the work (a lint rule, a wrong type, a failed
//! assertion) is mended by an edit; a command that passes afterwards shows only that it looked elsewhere.

use super::command_tables as tables;
use super::ending::has_option;
use super::intent::CommandIntent;
use crate::error_line::{ErrorKind, classify_message};
use crate::scratchpad::ErrorOccurrence;

/// The shortest word of a step that can be recognised in a message, in bytes.
const MIN_NAMED_WORD_BYTES: usize = 5;

/// Words of messages about something that is not there, in lower case.
#[rustfmt::skip]
const MISSING_WORDS: &[&str] = &[
    "not found", "cannot find", "can't find", "could not find", "couldn't find", "no such", "not exist", "n't exist", "undefined", "unresolved", "not installed", "missing", "not defined",
    "n't defined", "not built", "no exported member", "not set", "not initialized", "not initialised", "not running", "no module", "could not resolve", "failed to resolve", "out of date", "outdated",
    "not generated", "refused", "not declared", "no field or method", "not provide",
];

/// Words of messages about something that was made before its source changed, in lower case. A failed assertion
/// uses the same words of its values.
const STALE_WORDS: &[&str] =
    &["stale", "not up to date", "does not match", "do not match", "doesn't match", "mismatch"];

/// Errors that are about one thing, by words of the message, and the words of the steps that provide it.
#[rustfmt::skip]
const STEP_THEMES: &[(&[&str], &[&str])] = &[
    (&["credential", "sso", "unauthorized", "unauthenticated", "not logged in", "log in", "login", "token", "authenticat"], &["login", "auth", "authenticate"]),
    (&["migration", "no such table", "unapplied", "relation \""], &["migrate", "migration", "migrations"]),
];

/// How far the error of a failure allows another command to be its fix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailureNature {
    /// The command was rejected as it was given: an unknown option, script or argument.
    Usage,
    /// Something that the command needs is not there: a program, a module, a variable, a file, a service.
    Missing,
    /// A success that ran nothing.
    NothingRan,
    /// The error does not say whether the command or its work was wrong.
    Unclear,
    /// The command did its work and found something wrong, or two states disagree.
    Work,
}

/// The cause of a failure, as its error tells it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FailureCause<'a> {
    pub(super) kind: ErrorKind,
    message: &'a str,
    subject: Option<&'a str>,
}

impl<'a> FailureCause<'a> {
    pub(super) fn of_error(error: &'a ErrorOccurrence) -> Self {
        Self::new(error.kind, &error.display_line, error.subject.as_deref())
    }

    /// A runner reports every error of a test as a failed assertion, and an uncaught error as an exception.
    /// If the message says that something is missing, that is the cause.
    pub(crate) fn new(kind: ErrorKind, message: &'a str, subject: Option<&'a str>) -> Self {
        let by_shape = || classify_message(message).0;
        let kind = match kind {
            ErrorKind::AssertionFailure => match by_shape() {
                it @ (ErrorKind::MissingVariable
                | ErrorKind::MissingCommand
                | ErrorKind::Network) => it,
                _ => kind,
            },
            ErrorKind::Exception => match by_shape() {
                it if nature_of(it) == FailureNature::Missing => it,
                _ => kind,
            },
            _ => kind,
        };
        Self { kind, message, subject }
    }

    pub(super) const fn nature(&self) -> FailureNature {
        nature_of(self.kind)
    }

    /// The option that the command does not know.
    pub(super) fn unknown_option(&self) -> Option<&'a str> {
        let is_usage = self.kind == ErrorKind::UsageError;
        self.subject.filter(|it| is_usage && it.starts_with('-'))
    }

    /// The unknown option, if the command that passed has it no more, and no other option in its place.
    pub(crate) fn removed_option(
        &self,
        failed: &CommandIntent,
        passed: &CommandIntent,
    ) -> Option<&'a str> {
        let option = self.unknown_option()?;
        let is_replaced = failed.target == passed.target
            && passed.options.iter().any(|it| !failed.options.contains(it));
        let is_removed = has_option(failed, option) && !has_option(passed, option);
        (is_removed && !is_replaced).then_some(option)
    }

    /// Returns whether the error is about a name: the module, file or variable that is missing.
    pub(super) fn is_about(&self, name: &str) -> bool {
        let Some(subject) = self.subject else { return false };
        let last = subject.rsplit(['/', '\\', ':']).next().unwrap_or(subject);
        let stem = last.split('.').next().filter(|it| !it.is_empty()).unwrap_or(last);
        !stem.is_empty() && name.rsplit('/').next().is_some_and(|it| it.contains(stem))
    }

    /// Returns whether the command can have been missing before the failure. A fixer ends findings of a
    /// linter; what makes, installs or starts something ends errors about something missing.
    pub(super) fn allows_step(&self, step: &CommandIntent) -> bool {
        if self.names_step(step) || self.shares_theme(step) {
            return true;
        }
        let (makes, prepares) = (has_word(step, tables::MAKING_WORDS), is_preparing(step));
        match self.kind {
            ErrorKind::LintRule => is_fixer(step),
            ErrorKind::MissingModule
            | ErrorKind::MissingCommand
            | ErrorKind::MissingVariable
            | ErrorKind::MissingFile
            | ErrorKind::Network
            | ErrorKind::Permission => prepares && !is_fixer(step),
            ErrorKind::CompileError | ErrorKind::Exception | ErrorKind::AssertionFailure => {
                makes && self.says_missing()
            }
            ErrorKind::UsageError | ErrorKind::Other => {
                makes && (self.says_missing() || self.contains_any(STALE_WORDS))
            }
            ErrorKind::NotRun | ErrorKind::Conflict | ErrorKind::Timeout => false,
        }
    }

    /// Returns whether the step provides what the message is about: a login, a migration.
    fn shares_theme(&self, step: &CommandIntent) -> bool {
        let lower = self.message.to_ascii_lowercase();
        STEP_THEMES.iter().any(|(errors, steps)| {
            errors.iter().any(|it| lower.contains(it)) && has_word(step, steps)
        })
    }

    fn says_missing(&self) -> bool {
        self.contains_any(MISSING_WORDS)
    }

    fn contains_any(&self, words: &[&str]) -> bool {
        let lower = self.message.to_ascii_lowercase();
        words.iter().any(|it| lower.contains(it))
    }

    /// Returns whether the message itself names the step: "run `prisma generate`".
    fn names_step(&self, step: &CommandIntent) -> bool {
        let lower = self.message.to_ascii_lowercase();
        let last = step.family.rsplit(' ').next().unwrap_or_default().to_ascii_lowercase();
        let is_word = |it: &str| it.trim_matches(|it: char| !it.is_alphanumeric()) == last;
        (step.family.contains(' ') && lower.contains(&step.family.to_ascii_lowercase()))
            || (last.len() >= MIN_NAMED_WORD_BYTES
                && last.contains(['-', ':', '_'])
                && lower.split_whitespace().any(is_word))
    }
}

const fn nature_of(kind: ErrorKind) -> FailureNature {
    match kind {
        ErrorKind::UsageError => FailureNature::Usage,
        ErrorKind::MissingModule
        | ErrorKind::MissingCommand
        | ErrorKind::MissingVariable
        | ErrorKind::MissingFile
        | ErrorKind::Permission
        | ErrorKind::Network => FailureNature::Missing,
        ErrorKind::NotRun => FailureNature::NothingRan,
        ErrorKind::Other | ErrorKind::Timeout => FailureNature::Unclear,
        ErrorKind::Conflict
        | ErrorKind::AssertionFailure
        | ErrorKind::CompileError
        | ErrorKind::LintRule
        | ErrorKind::Exception => FailureNature::Work,
    }
}

/// Returns whether a program, or a script that starts one, does not exist here.
pub(super) const fn is_missing_program(error: &ErrorOccurrence) -> bool {
    matches!(
        error.kind,
        ErrorKind::MissingCommand | ErrorKind::MissingModule | ErrorKind::UsageError
    )
}

/// Returns whether a command is of a kind that prepares something for others.
pub(super) fn is_preparing(step: &CommandIntent) -> bool {
    step.family == "." || has_word(step, tables::PREPARING_WORDS) || is_fixer(step)
}

/// Returns whether a command formats or mends source files by itself.
fn is_fixer(step: &CommandIntent) -> bool {
    let is_option = |it: &String| matches!(it.as_str(), "--fix" | "--write" | "-w" | "-i");
    has_word(step, tables::FIXING_WORDS) || step.options.iter().any(is_option)
}

/// Returns whether one of the words of a family is listed.
fn has_word(step: &CommandIntent, listed: &[&str]) -> bool {
    let mut words = step.family.split([' ', ':', '-', '_', '.', '/']).map(str::to_lowercase);
    words.any(|it| listed.contains(&it.as_str()))
}
