//! Errors of the command line. Commands return `anyhow::Error`; [`report_error`] turns it into a
//! [`CliFailure`] (a kind, which sets the exit code, a message, and a hint what to do next) and prints it.

use std::path::PathBuf;
use std::process::ExitCode;

use engine::{Error, StoreError};
use serde_json::json;

use crate::environment::Environment;
use crate::output::Output;

/// Kinds of failure; the number is the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// A finding that needs attention, or no result.
    Finding = 1,
    /// Wrong usage.
    Usage = 2,
    /// A problem of the machine: disk, permissions, damage.
    Environment = 3,
}

impl FailureKind {
    const fn slug(self) -> &'static str {
        match self {
            Self::Finding => "finding",
            Self::Usage => "usage",
            Self::Environment => "environment",
        }
    }
}

/// A failure with its message and hint.
#[derive(Debug)]
pub(crate) struct CliFailure {
    pub(crate) kind: FailureKind,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl std::fmt::Display for CliFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CliFailure {}

/// A usage error with a hint.
pub(crate) fn usage_error(message: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
    CliFailure { kind: FailureKind::Usage, message: message.into(), hint: Some(hint.into()) }.into()
}

/// Context of an error (`anyhow::Error::context`): the file with the text that the user wrote, which was
/// rejected.
#[derive(Debug)]
pub(crate) struct KeptDraft {
    pub(crate) path: PathBuf,
    pub(crate) id: String,
}

impl std::fmt::Display for KeptDraft {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (path, id) = (self.path.display(), &self.id);
        write!(f, "your text is saved in `{path}`; `waylore edit {id}` continues with it")
    }
}

/// Reports wrong arguments as JSON, for a call with `--json`.
pub(crate) fn report_usage_error(error: &clap::Error) -> ExitCode {
    let output = Output::with_modes(true, true);
    let message = error.render().to_string();
    let error = usage_error(message.trim_end(), "`waylore --help` lists the commands");
    output.finish(report_error(&error, &output))
}

/// Prints an error and returns the exit code of its kind.
pub(crate) fn report_error(error: &anyhow::Error, output: &Output) -> u8 {
    let failure = classify_error(error);
    if output.json {
        let mut body = json!({
            "kind": failure.kind.slug(),
            "message": failure.message,
            "hint": failure.hint,
        });
        let places = secret_places(error);
        if !places.is_empty() {
            body["places"] = json!(places);
        }
        output.print_json("error", json!({ "error": body }));
    } else {
        output.error(&failure.message);
        for place in secret_places(error) {
            output.error_detail(&place);
        }
        if let Some(hint) = &failure.hint {
            output.hint(hint);
        }
    }
    failure.kind as u8
}

/// Formats an error with its hint in one line.
pub(crate) fn format_error(error: &anyhow::Error) -> String {
    let failure = classify_error(error);
    match failure.hint {
        Some(hint) => format!("{}; {hint}", failure.message),
        None => failure.message,
    }
}

/// The positions of secrets in the text, for an error about them.
fn secret_places(error: &anyhow::Error) -> Vec<String> {
    let Some(Error::Secret { places }) = error.downcast_ref::<Error>() else {
        return Vec::new();
    };
    let format_place = |it: &engine::SecretLocation| {
        format!("{} line {}, column {}: {} ({})", it.part, it.line, it.column, it.kind, it.hint)
    };
    places.iter().map(format_place).collect()
}

/// The failure of an error. If a draft was saved, the hint ends with its path.
fn classify_error(error: &anyhow::Error) -> CliFailure {
    let mut res = failure_of_cause(error);
    if let Some(draft) = error.downcast_ref::<KeptDraft>() {
        res.hint = Some(match res.hint {
            Some(hint) => format!("{hint}; {draft}"),
            None => draft.to_string(),
        });
    }
    res
}

/// The failure of the cause: a failure of ours, an error of the engine, or anything else.
fn failure_of_cause(error: &anyhow::Error) -> CliFailure {
    if let Some(failure) = error.downcast_ref::<CliFailure>() {
        return CliFailure {
            message: failure.message.clone(),
            hint: failure.hint.clone(),
            kind: failure.kind,
        };
    }
    let Some(engine_error) = error.downcast_ref::<Error>() else {
        // Most others are I/O errors; the alternate form prints the whole chain of causes.
        return CliFailure {
            kind: FailureKind::Environment,
            message: format!("{error:#}"),
            hint: None,
        };
    };
    let (kind, hint) = engine_failure(engine_error);
    CliFailure { kind, message: engine_error.to_string(), hint }
}

/// The hint for an error of the engine.
pub(crate) fn engine_hint(error: &Error) -> Option<String> {
    let (_, hint) = engine_failure(error);
    hint
}

/// Kind and hint of an error of the engine.
fn engine_failure(error: &Error) -> (FailureKind, Option<String>) {
    match error {
        Error::NotFound { .. } => (
            FailureKind::Finding,
            Some(
                "`waylore list` shows active memories, `waylore list --all` also forgotten ones"
                    .to_owned(),
            ),
        ),
        Error::Ambiguous { .. } => {
            (FailureKind::Usage, Some("give a longer prefix of the id".to_owned()))
        }
        Error::Secret { .. } => {
            (FailureKind::Finding, Some("remove it, or replace it with --redact".to_owned()))
        }
        Error::Refused { hint, .. } => (FailureKind::Usage, hint.clone()),
        // Nothing to work on, for example no change to undo.
        Error::Nothing { .. } => (FailureKind::Finding, None),
        Error::SessionFailed { .. } => {
            (FailureKind::Finding, Some("`waylore doctor` lists such sessions".to_owned()))
        }
        // A file or folder that the user named cannot be read.
        Error::Source(_) => (FailureKind::Usage, None),
        Error::Store(error) => store_failure(error),
        // An embedding, reranking or text model; not the data model.
        Error::Model(_) => (
            FailureKind::Environment,
            Some(
                "`waylore config test-provider` tests the provider; nothing was changed".to_owned(),
            ),
        ),
    }
}

/// Kind and hint of an error of the store.
fn store_failure(error: &StoreError) -> (FailureKind, Option<String>) {
    let hint = |text: &str| Some(text.to_owned());
    match error {
        StoreError::DiskFull => (
            FailureKind::Environment,
            hint("free some space and try again; everything saved before is safe"),
        ),
        StoreError::ReadOnly { .. } => (
            FailureKind::Environment,
            hint("reading works; to write, make the folder writable or set WAYLORE_HOME"),
        ),
        StoreError::PermissionDenied { .. } => (
            FailureKind::Environment,
            hint("check who owns the folder, or set WAYLORE_HOME to one of yours"),
        ),
        StoreError::ForeignOwner { .. } => (
            FailureKind::Environment,
            hint("run as its owner, or set WAYLORE_HOME to a folder of yours"),
        ),
        StoreError::NewerSchema { .. } => {
            (FailureKind::Environment, hint("update waylore; nothing was changed"))
        }
        StoreError::Damaged { path, .. } => {
            // The database of the user needs the flag; all others belong to the current project.
            let flag = if path.ends_with("user.db") { " --user" } else { "" };
            let text =
                format!("`waylore restore-backup{flag}` lists the backups that can replace it");
            (FailureKind::Environment, Some(text))
        }
        // An encrypted file that is opened without a key does not look like a database.
        StoreError::WrongKey { .. } | StoreError::NotADatabase { .. } => {
            (FailureKind::Environment, Some(key_hint()))
        }
        StoreError::EncryptionUnavailable => (
            FailureKind::Environment,
            hint("install with `cargo install --locked --path crates/cli --features encryption`"),
        ),
        StoreError::VersionConflict { .. }
        | StoreError::MemoryNotFound { .. }
        | StoreError::MemoryErased { .. } => (FailureKind::Finding, None),
        StoreError::InvalidInput { .. } => (FailureKind::Usage, None),
        StoreError::Io { .. } | StoreError::Internal { .. } => {
            (FailureKind::Environment, hint("`waylore doctor` checks it"))
        }
    }
}

/// The hint for a wrong or missing key: first the key itself, then other remedies.
fn key_hint() -> String {
    let file = Environment::read().map(|it| format!(" `{}`", it.key_file().display()));
    // Without an environment the hint does not name the file.
    format!(
        "`waylore config get encryption.key` shows where the key is expected: the file{}, the keychain or WAYLORE_PASSPHRASE; if the data was never encrypted, `waylore restore-backup` lists the backups",
        file.unwrap_or_default()
    )
}
