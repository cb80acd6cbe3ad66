//! Errors of providers. The variants differ by the reaction of the caller:
//!
//! - mend the configuration: `Config`, `Untrusted`, `Redirected`, `Denied`, `Missing`;
//! - try again later: `Unreachable`, `Slow`, `Busy`, and `Refused` with a temporary status;
//! - check the server or choose another model: `UnusableResponse` (try again if it is `Truncated`), and `Refused`
//!   with any other status;
//! - compute all vectors again: `Changed`.
//!
//! No variant contains an API key; messages of servers are cleaned to one short line.

use std::time::Duration;

/// A failed call of a provider. `message` is the cleaned text of the server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Rejected before anything was sent.
    #[error("{what}")]
    Config { what: String },
    #[error("`{host}` cannot be reached: {why}")]
    Unreachable { host: String, why: String },
    /// Unlike `Unreachable`, a server answers, but its identity is not verified.
    #[error("`{host}` is not trusted: {why}; add its authority to the system's certificates")]
    Untrusted { host: String, why: String },
    #[error("`{host}` did not answer within {} ms", within.as_millis())]
    Slow { host: String, within: Duration },
    #[error(
        "`{host}` redirects to `{to}` ({status}); redirects are not followed, configure the final address"
    )]
    Redirected { host: String, status: u16, to: String },
    /// Status 401 or 403: the key is wrong or lacks a permission.
    #[error(
        "`{host}` does not accept the key ({status}): {message}; check the key and what it may do"
    )]
    Denied { host: String, status: u16, message: String },
    /// Status 404.
    #[error(
        "`{host}` has no such model or path: {message}; check the name of the model and the address"
    )]
    Missing { host: String, message: String },
    /// Status 429, after the retries, or at once if the server requests too long a wait. `after` is the wait
    /// that it requested.
    #[error("`{host}` wants fewer requests: {message}; try again later")]
    Busy { host: String, message: String, after: Option<Duration> },
    /// Every other status of an error, for example 400 or 500.
    #[error("`{host}` answered {status}: {message}")]
    Refused { host: String, status: u16, message: String },
    #[error("`{host}` gave an answer that cannot be used: {flaw}")]
    UnusableResponse { host: String, flaw: ResponseFlaw },
    /// The name is the same but the weights are not, so older vectors are not comparable.
    #[error("the model is now `{now}` instead of `{was}`; open it again and embed everything anew")]
    Changed { was: String, now: String },
}

/// Flaws of a response. No part of such a response is used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResponseFlaw {
    #[error("it is not HTTP ({0}); check host and port")]
    NotHttp(String),
    #[error("it is a web page; check the address, and whether a proxy stands in between")]
    WebPage,
    #[error("it is `{0}` instead of JSON; check the address")]
    WrongType(String),
    #[error("it is not JSON; check the address")]
    NotJson,
    #[error("it breaks off in the middle; try again")]
    Truncated,
    #[error("it is larger than {} MB; check the address", limit >> 20)]
    TooLarge { limit: u64 },
    #[error("its shape is another ({0}); check which provider stands at the address")]
    Shape(String),
    #[error("it has {found} results for {wanted} texts; check the version of the server")]
    Count { wanted: usize, found: usize },
    /// The indexes of the results are missing, repeated or too large, so a result cannot be assigned
    /// to its text.
    #[error("its results do not say which text they belong to; check the version of the server")]
    Order,
    #[error(
        "its vectors have {found} numbers instead of {wanted}; set the dimensions to {found} or choose another model"
    )]
    Dims { wanted: usize, found: usize },
    #[error("a number in it is not finite; check the model on the server")]
    NotFinite,
    #[error("a vector in it is all zeros; check the model on the server")]
    Zero,
    /// A model that was not made for reranking gives every text the score 0.
    #[error("all scores are zero; choose a model that was made for reranking")]
    Flat,
    /// A text model reranks by the probability of its answer `yes` or `no`, and the server gave none.
    #[error(
        "it has no probability of `yes` or `no`; update the server or choose a reranking model"
    )]
    NoVote,
    #[error("it has no text; allow more tokens or choose another model")]
    Empty,
}

impl Error {
    /// True if the same call may succeed later.
    pub const fn is_temporary(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Slow { .. } | Self::Busy { .. } => true,
            Self::Refused { status, .. } => is_temporary_status(*status),
            Self::UnusableResponse { flaw, .. } => matches!(flaw, ResponseFlaw::Truncated),
            Self::Config { .. }
            | Self::Untrusted { .. }
            | Self::Redirected { .. }
            | Self::Denied { .. }
            | Self::Missing { .. }
            | Self::Changed { .. } => false,
        }
    }

    pub(crate) fn bad_config(what: impl Into<String>) -> Self {
        Self::Config { what: what.into() }
    }
}

/// True if the status is temporary. 501 and 505 are permanent; an unknown status from 506 on counts as
/// temporary. 429 is listed because `response.rs` asks before it makes an error of the status, by which 429
/// is `Busy`.
pub(crate) const fn is_temporary_status(status: u16) -> bool {
    matches!(status, 429 | 500 | 502..=504 | 506..)
}
