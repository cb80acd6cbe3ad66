//! Errors of the engine. There is one variant per reaction of the caller: another id, other input,
//! nothing to do, or a problem of the store, the files or a provider.

/// Location of a secret in a text, without the secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretLocation {
    /// The part of the input that holds it: `content`, `tag`, …
    pub part: &'static str,
    pub line: usize,
    pub column: usize,
    pub kind: &'static str,
    /// Its first characters: enough to recognise it, not enough to use it.
    pub hint: String,
}

/// An error of the engine. The doc of each variant is what the caller can do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Call again with another id.
    #[error("no memory matches `{id}`")]
    NotFound { id: String },
    /// Call again with more characters.
    #[error("`{id}` matches {} memories: {}", matches.len(), matches.join(", "))]
    Ambiguous { id: String, matches: Vec<String> },
    /// Remove the secret, or have it redacted.
    #[error("the text holds {} that looks like a secret; nothing was saved", if places.len() == 1 { "something" } else { "several things" })]
    Secret { places: Vec<SecretLocation> },
    /// Call again with other input; the message names the problem.
    #[error("{what}")]
    Refused { what: String, hint: Option<String> },
    /// Do nothing: there is nothing to work on, and nothing is wrong. Unlike `NotFound`, the caller
    /// named no id.
    #[error("{what}")]
    Nothing { what: String },
    /// Continue with the next session; this one is listed by the doctor and tried again after an
    /// upgrade.
    #[error("session {} could not be learned: {reason}", session.short())]
    SessionFailed { session: model::SessionId, reason: String },
    /// Run the doctor, or fix the key or the disk; the inner error has the details.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// Check the files of the project.
    #[error(transparent)]
    Source(#[from] source::Error),
    /// Check the provider, or turn it off.
    #[error(transparent)]
    Model(#[from] infer::Error),
}

impl Error {
    /// A refusal with a hint: what is wrong, and what helps.
    pub(crate) fn refuse(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Refused { what: what.into(), hint: Some(hint.into()) }
    }

    pub(crate) fn nothing_to_do(what: impl Into<String>) -> Self {
        Self::Nothing { what: what.into() }
    }
}

/// Returns whether the right key may solve the problem: the file is encrypted, or cannot be
/// distinguished from an encrypted one.
pub fn is_about_key(error: &store::Error) -> bool {
    matches!(error, store::Error::WrongKey { .. } | store::Error::NotADatabase { .. })
}

// Input errors of `model` become refusals: the caller can only call again with other input.
macro_rules! refused_from {
    ($($type:ty),+) => {
        $(impl From<$type> for Error {
            fn from(error: $type) -> Self {
                Self::Refused { what: error.to_string(), hint: None }
            }
        })+
    };
}
refused_from!(
    model::TextError,
    model::PathError,
    model::CustomTypeError,
    model::PayloadError,
    model::UnknownWord
);
