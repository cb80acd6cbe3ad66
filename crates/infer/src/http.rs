//! One careful way to ask a provider for JSON, shared by everything that leaves the machine.
//!
//! Only the configured host is contacted: no redirects, no proxies from the environment, no plain
//! HTTP beyond this machine unless told. What comes back is small enough, JSON, and of the asked
//! shape, or it is an error. What the answer means is left to the callers.

mod address;
mod answer;
mod client;
mod deadline;
mod key;
mod limits;
mod said;
mod trust;

pub(crate) use address::Address;
pub(crate) use client::{Auth, Client};
pub(crate) use deadline::{Deadline, now};
pub(crate) use limits::Call;

pub use key::Key;

use crate::error::Error;

/// Where a provider is and how it knows us.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// With or without the version that all paths begin with: `https://api.openai.com/v1`.
    pub url: String,
    pub key: Option<Key>,
    /// Texts and key may travel unencrypted to another machine.
    pub allow_plain_http: bool,
}

impl Endpoint {
    /// Whether the address can be used at all; nothing is sent.
    pub fn check(&self) -> Result<(), Error> {
        Address::parse(&self.url, self.allow_plain_http).map(|_| ())
    }

    /// Whether the address is on this machine, so that nothing sent there leaves it.
    pub fn is_local(&self) -> bool {
        Address::parse(&self.url, true).is_ok_and(|it| it.is_local())
    }
}
