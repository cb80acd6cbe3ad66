//! HTTP client for providers, the only network access of this crate.
//!
//! Only the configured host is contacted: no redirects, no proxies from the environment, no plain
//! HTTP beyond this machine unless allowed. A response must be small enough, JSON, and of the
//! requested shape; otherwise it is an error. Its meaning is left to the callers.

mod address;
mod api_key;
mod client;
mod deadline;
mod error_text;
mod limits;
mod response;
mod tls;

pub(crate) use address::ProviderAddress;
pub(crate) use client::{AuthScheme, ProviderClient};
pub(crate) use deadline::{CallDeadline, instant_now};
pub(crate) use limits::CallKind;
pub(crate) use response::flawed_response;

pub use api_key::ApiKey;

use crate::error::Error;

/// Address and credentials of a provider.
#[derive(Clone, Debug)]
pub struct ProviderEndpoint {
    /// Base address, with or without the version: `https://api.openai.com/v1`.
    pub url: String,
    pub key: Option<ApiKey>,
    /// Allows sending texts and key unencrypted to another machine.
    pub allow_plain_http: bool,
}

impl ProviderEndpoint {
    /// Validates the address without sending anything.
    pub fn check(&self) -> Result<(), Error> {
        ProviderAddress::parse(&self.url, self.allow_plain_http).map(|_| ())
    }

    /// True if the address is on this machine.
    pub fn is_local(&self) -> bool {
        // Plain HTTP is allowed here, because only the host matters.
        ProviderAddress::parse(&self.url, true).is_ok_and(|it| it.is_local())
    }
}
