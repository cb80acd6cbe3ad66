//! Recognises the error in the output of a failed call, and gives it a fingerprint.
//!
//! Three steps: find the line that says what went wrong, classify it (kind and subject), and replace
//! everything in it that differs from run to run (paths, positions, versions, times) with placeholders:
//!
//! ```text
//! Exit code 1
//! Error: Cannot find module 'zod' imported from /home/me/x.ts    the error line
//! missing_module, zod                                            its kind and subject
//! error: cannot find module 'zod' imported from <path>           the normalised message
//! ```
//!
//! The fingerprint is a hash of the normalised message and, if the message does not say which tool it is
//! from, the program. So the same failure on two machines has the same fingerprint, by which sessions are
//! compared. The scratchpad (the log of one session) calls [`recognise_error`] for every failed call.

mod error_kind;
mod families;
mod message_shapes;
mod normalise;
mod output_lines;

mod coded_compilers;
mod fallback;
mod git;
mod go;
mod host_tools;
mod js_tests;
mod jvm;
mod linters;
mod native;
mod node;
mod other_tests;
mod packages;
mod python;
mod rust;
mod shells;

mod verdicts;

pub use error_kind::{ErrorKind, ToolFamily};
pub(crate) use message_shapes::classify_message;
pub use normalise::normalise_message;
pub use verdicts::ran_nothing;
pub(crate) use verdicts::{finds_nothing, reports_failure};

use std::borrow::Cow;

use families::FoundError;
use output_lines::OutputLines;

use crate::shell;

/// The shortest message that can name an error, in bytes.
const MIN_MESSAGE_BYTES: usize = 4;
/// A shorter message is displayed with its position, because it does not say enough alone.
const MIN_POSITIONED_MESSAGE_BYTES: usize = 9;
/// The longest line for display, in characters.
const MAX_DISPLAY_CHARS: usize = 180;

/// An error found in the output of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecognisedError {
    /// Hash by which the same error is known again.
    pub fingerprint: String,
    /// The message without accidental parts.
    pub normalised_message: String,
    /// The line that names the error, for people.
    pub display_line: String,
    /// The tool that printed it, which may be another than the one that was called.
    pub family: ToolFamily,
    pub kind: ErrorKind,
    /// The name that the error is about: a module, variable, command, option, rule or test.
    pub subject: Option<String>,
}

/// Finds the error in the output of a failed call. `command` is the command line, its program, or the tool of
/// the host. `None` if the output names no error, as a search without a match does.
pub fn recognise_error(command: &str, output: &str) -> Option<RecognisedError> {
    // A hook sees more of a long output than the log of the session has; both must find the same line.
    let excerpt = model::elide_middle(output, model::MAX_EXCERPT, model::EXCERPT_TAIL_BYTES);
    let text = output_lines::strip_escapes(&excerpt);
    let lines = OutputLines::new(&text);
    let found = families::find_error(&lines).or_else(|| fallback::find_error(&lines))?;
    describe_error(command, found)
}

/// The error of a run that found nothing to do, in the words of its tool.
pub(crate) fn recognise_empty_run(command: &str, output: &str) -> Option<RecognisedError> {
    let phrase = verdicts::empty_run_phrase(output)?;
    let found = FoundError::new(ToolFamily::Generic, phrase).with_kind(ErrorKind::NotRun);
    describe_error(command, found)
}

/// Completes what a family found: kind and subject by the shape of the message, and the fingerprint.
fn describe_error(command: &str, found: FoundError) -> Option<RecognisedError> {
    let FoundError { family, message, kind, subject, test } = found;
    let (shape_kind, shape_subject) = message_shapes::classify_message(&message);
    let kind = match kind.unwrap_or(shape_kind) {
        ErrorKind::Other if families::is_exception(&message) => ErrorKind::Exception,
        it => it,
    };
    let subject = match kind {
        ErrorKind::AssertionFailure => test,
        _ => subject.or_else(|| shape_subject.filter(|_| shape_kind == kind)),
    };
    let normalised_message = normalise::normalise_error(&message, kind, subject.as_deref());
    if normalised_message.len() < MIN_MESSAGE_BYTES {
        return None;
    }
    let subject = subject.map(|it| normalise::localise_subject(&it));
    let identity =
        ErrorIdentity { family, kind, message: &normalised_message, subject: subject.as_deref() };
    let fingerprint = identity.fingerprint(command);
    let display_line = format_for_display(&message);
    Some(RecognisedError { fingerprint, normalised_message, display_line, family, kind, subject })
}

/// The parts of an error by which it is known again.
struct ErrorIdentity<'a> {
    family: ToolFamily,
    kind: ErrorKind,
    message: &'a str,
    subject: Option<&'a str>,
}

impl ErrorIdentity<'_> {
    fn fingerprint(&self, command: &str) -> String {
        let subject = self.subject.unwrap_or_default();
        let kind = self.kind.slug();
        let is_named = matches!(self.kind, ErrorKind::MissingCommand | ErrorKind::MissingVariable);
        // The name says all, in whatever words: each shell and each program has its own.
        if is_named && !subject.is_empty() {
            return model::fingerprint_text(&format!("{kind}\n{subject}"));
        }
        // A message that does not say which program it is from is another error in another program.
        let is_anonymous = matches!(self.family, ToolFamily::Generic | ToolFamily::HostTool)
            || (self.kind == ErrorKind::UsageError && self.family == ToolFamily::Shell);
        let program = if is_anonymous { shell::command_head(command) } else { String::new() };
        model::fingerprint_text(&format!("{program}\n{kind}\n{}\n{subject}", self.message))
    }
}

/// Returns whether a message only reports that something failed, and not what.
pub fn is_generic_message(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    fallback::starts_generic(&lower) || fallback::counts_errors(&lower)
}

/// The line as people read it: without positions and without the folders of one machine, truncated.
fn format_for_display(line: &str) -> String {
    let words: Vec<Cow<'_, str>> =
        strip_position(line).split_whitespace().map(shorten_path).collect();
    model::clean_label(&words.join(" "), MAX_DISPLAY_CHARS)
}

/// The file name of a path of one machine: `/home/me/x.rs` becomes `x.rs`. A short path such as `/dev/null`
/// is the same on all machines and stays.
fn shorten_path(word: &str) -> Cow<'_, str> {
    let bare = word.trim_start_matches(['(', '"', '\'', '`']);
    let is_local = bare.starts_with('/') && bare.matches('/').count() > 2;
    if !is_local {
        return Cow::Borrowed(word);
    }
    let opening = &word[..word.len() - bare.len()];
    Cow::Owned(format!("{opening}{}", bare.rsplit('/').next().unwrap_or(bare)))
}

/// Removes the position before a message: `cmd/a.go:221:3: error …` becomes `error …`.
fn strip_position(line: &str) -> &str {
    let Some((position, message)) = line.split_once(": ") else { return line };
    let last_part = position.rsplit(':').next().unwrap_or_default();
    let ends_in_number = last_part.bytes().all(|it| it.is_ascii_digit());
    let is_file = position.contains('.') && !position.contains(' ');
    let is_clear_alone = message.len() >= MIN_POSITIONED_MESSAGE_BYTES;
    if is_file && ends_in_number && is_clear_alone { message } else { line }
}

#[cfg(test)]
mod identity_tests;
#[cfg(test)]
mod tests;
