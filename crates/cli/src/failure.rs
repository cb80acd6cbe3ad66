//! How a failure reaches a person: its kind fixes the exit code, and it says what to do next.

use std::path::PathBuf;
use std::process::ExitCode;

use engine::{Error, StoreError};
use serde_json::json;

use crate::environment::Environment;
use crate::output::Output;

/// The kinds of failure; the number is the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Something was found that needs attention, or nothing was found.
    Finding = 1,
    /// The command was not said right.
    Usage = 2,
    /// The machine is in the way: disk, permissions, damage.
    Environment = 3,
}

impl Kind {
    const fn slug(self) -> &'static str {
        match self {
            Self::Finding => "finding",
            Self::Usage => "usage",
            Self::Environment => "environment",
        }
    }
}

/// A failure of the command line itself, already worded.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) kind: Kind,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// A usage error with its way out.
pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
    Failure { kind: Kind::Usage, message: message.into(), hint: Some(hint.into()) }.into()
}

/// Said with a failure that would otherwise have cost the person a text they had written.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) path: PathBuf,
    pub(crate) id: String,
}

impl std::fmt::Display for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (path, id) = (self.path.display(), &self.id);
        write!(f, "your text is kept in `{path}`; `waylore edit {id}` goes on with it")
    }
}

/// A command line that cannot be understood, for those who asked for JSON.
pub(crate) fn misused(error: &clap::Error) -> ExitCode {
    let output = Output { json: true, quiet: true };
    let message = error.render().to_string();
    report(&usage(message.trim_end(), "`waylore --help` lists the commands"), &output)
}

pub(crate) fn report(error: &anyhow::Error, output: &Output) -> ExitCode {
    let failure = explain(error);
    if output.json {
        let places = secret_places(error);
        let mut body = json!({ "kind": failure.kind.slug(), "message": failure.message, "hint": failure.hint });
        if !places.is_empty() {
            body["places"] = json!(places);
        }
        output.data_json("error", json!({ "error": body }));
    } else {
        output.error(&failure.message);
        for place in secret_places(error) {
            output.error_detail(&place);
        }
        if let Some(hint) = &failure.hint {
            output.hint(hint);
        }
    }
    ExitCode::from(failure.kind as u8)
}

/// A failure in one line, for those who are told in no other way.
pub(crate) fn told(error: &anyhow::Error) -> String {
    let failure = explain(error);
    match failure.hint {
        Some(hint) => format!("{}; {hint}", failure.message),
        None => failure.message,
    }
}

fn secret_places(error: &anyhow::Error) -> Vec<String> {
    let Some(Error::Secret { places }) = error.downcast_ref::<Error>() else {
        return Vec::new();
    };
    let say = |it: &engine::SecretPlace| {
        format!("{} line {}, column {}: {} ({})", it.part, it.line, it.column, it.kind, it.hint)
    };
    places.iter().map(say).collect()
}

fn explain(error: &anyhow::Error) -> Failure {
    let mut res = explain_cause(error);
    if let Some(kept) = error.downcast_ref::<Kept>() {
        let hint = res.hint.map(|it| format!("{it}; ")).unwrap_or_default();
        res.hint = Some(format!("{hint}{kept}"));
    }
    res
}

fn explain_cause(error: &anyhow::Error) -> Failure {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return Failure {
            message: failure.message.clone(),
            hint: failure.hint.clone(),
            kind: failure.kind,
        };
    }
    let Some(known) = error.downcast_ref::<Error>() else {
        return Failure { kind: Kind::Environment, message: format!("{error:#}"), hint: None };
    };
    let (kind, hint) = judged(known);
    Failure { kind, message: known.to_string(), hint }
}

/// What to do about an error of the engine.
pub(crate) fn way_out(error: &Error) -> Option<String> {
    judged(error).1
}

fn judged(error: &Error) -> (Kind, Option<String>) {
    match error {
        Error::NotFound { .. } => (
            Kind::Finding,
            Some(
                "`waylore list` shows what there is, `waylore list --all` the forgotten too"
                    .to_owned(),
            ),
        ),
        Error::Ambiguous { .. } => (Kind::Usage, Some("give more of the id".to_owned())),
        Error::Secret { .. } => {
            (Kind::Finding, Some("take it out, or let it be replaced with --redact".to_owned()))
        }
        Error::Refused { hint, .. } => (Kind::Usage, hint.clone()),
        Error::Nothing { .. } => (Kind::Finding, None),
        Error::Source(_) => (Kind::Usage, None),
        Error::Store(error) => store_hint(error),
        Error::Model(_) => (
            Kind::Environment,
            Some("`waylore config test-provider` looks closer; nothing was changed".to_owned()),
        ),
    }
}

fn store_hint(error: &StoreError) -> (Kind, Option<String>) {
    let said = |text: &str| Some(text.to_owned());
    if engine::is_about_key(error) {
        return (Kind::Environment, Some(where_keys_are()));
    }
    match error {
        StoreError::Full => (
            Kind::Environment,
            said("free some space and try again; everything saved before is safe"),
        ),
        StoreError::ReadOnly { .. } => (
            Kind::Environment,
            said("reading works; to write, make the folder writable or set WAYLORE_HOME"),
        ),
        StoreError::Denied { .. } => (
            Kind::Environment,
            said("check who owns the folder, or set WAYLORE_HOME to one of yours"),
        ),
        StoreError::ForeignOwner { .. } => {
            (Kind::Environment, said("run as its owner, or set WAYLORE_HOME to a folder of yours"))
        }
        StoreError::TooNew { .. } => {
            (Kind::Environment, said("update waylore; nothing was changed"))
        }
        StoreError::Damaged { path, .. } => {
            let whose = if path.ends_with("user.db") { " --user" } else { "" };
            let hint = format!(
                "`waylore restore-backup{whose}` lists the backups that can take its place"
            );
            (Kind::Environment, Some(hint))
        }
        StoreError::WrongKey { .. } => (Kind::Environment, Some(where_keys_are())),
        StoreError::NoEncryption => (
            Kind::Environment,
            said("install with `cargo install --locked --path crates/cli --features encryption`"),
        ),
        StoreError::Conflict { .. } | StoreError::Missing { .. } | StoreError::Erased { .. } => {
            (Kind::Finding, None)
        }
        StoreError::Invalid { .. } => (Kind::Usage, None),
        StoreError::Io { .. } | StoreError::Engine { .. } => {
            (Kind::Environment, said("`waylore doctor` looks closer"))
        }
    }
}

/// Where the key may be, and only then what helps when it is not the key.
fn where_keys_are() -> String {
    let file = Environment::read().map(|it| format!(" `{}`", it.key_file().display()));
    format!(
        "`waylore config get encryption.key` says where the key is looked for: the file{}, the keychain or WAYLORE_PASSPHRASE; if the data was never encrypted, `waylore restore-backup` lists the backups",
        file.unwrap_or_default()
    )
}
