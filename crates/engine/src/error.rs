//! Errors of the engine, shaped by what the caller can do next.

/// Location of a secret in a text, without the secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretLocation {
    /// Name of the text: `content`, `tag`, …
    pub part: &'static str,
    pub line: usize,
    pub column: usize,
    pub kind: &'static str,
    /// Its first characters: enough to recognise it, not enough to use it.
    pub hint: String,
}

/// An error of the engine. Each variant says what the caller can do.
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
    /// Call again with other input; the message says what is wrong with this.
    #[error("{what}")]
    Refused { what: String, hint: Option<String> },
    /// There is nothing to work on, and nothing is wrong. Unlike `NotFound`, the caller named
    /// nothing.
    #[error("{what}")]
    Nothing { what: String },
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    Source(#[from] source::Error),
    /// Check the provider, or turn it off.
    #[error(transparent)]
    Model(#[from] infer::Error),
}

impl Error {
    pub(crate) fn refuse(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Refused { what: what.into(), hint: Some(hint.into()) }
    }

    pub(crate) fn nothing_to_do(what: impl Into<String>) -> Self {
        Self::Nothing { what: what.into() }
    }
}

/// Returns whether the right key may help: the file is encrypted, or cannot be told from an
/// encrypted one.
pub fn is_about_key(error: &store::Error) -> bool {
    matches!(error, store::Error::WrongKey { .. } | store::Error::NotADatabase { .. })
}

// Input errors of the model become refusals: the caller can only call again with other input.
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
