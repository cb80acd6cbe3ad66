//! What can go wrong, shaped by what the caller can do next.

/// Where a secret stands in a text, without showing it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretPlace {
    /// Which text: `content`, `tag`, …
    pub part: &'static str,
    pub line: usize,
    pub column: usize,
    pub kind: &'static str,
    /// Enough to recognise it, not enough to use it.
    pub hint: String,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Ask again with another id.
    #[error("no memory matches `{id}`")]
    NotFound { id: String },
    /// Ask again with more characters.
    #[error("`{id}` matches {} memories: {}", matches.len(), matches.join(", "))]
    Ambiguous { id: String, matches: Vec<String> },
    /// Take the secret out, or have it redacted.
    #[error("the text holds {} that looks like a secret; nothing was saved", if places.len() == 1 { "something" } else { "several things" })]
    Secret { places: Vec<SecretPlace> },
    /// Say something else; the message says what.
    #[error("{what}")]
    Refused { what: String, hint: Option<String> },
    /// Nothing is wrong: there is simply nothing to do it to. Unlike `NotFound`, nothing was named.
    #[error("{what}")]
    Nothing { what: String },
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    Source(#[from] source::Error),
    /// Look at the provider, or do without it.
    #[error(transparent)]
    Model(#[from] infer::Error),
}

impl Error {
    pub(crate) fn refused(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Refused { what: what.into(), hint: Some(hint.into()) }
    }

    pub(crate) fn nothing(what: impl Into<String>) -> Self {
        Self::Nothing { what: what.into() }
    }
}

/// Whether the right key would help: the file is encrypted, or looks as if it were.
pub fn is_about_key(error: &store::Error) -> bool {
    match error {
        store::Error::WrongKey { .. } => true,
        // The store cannot tell an encrypted file from noise, and says so.
        store::Error::Damaged { what, .. } => what.contains("its key is missing"),
        _ => false,
    }
}

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
