//! Sends a request until there is an answer, the attempts are used up, or the time is.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;
use ureq::Agent;
use ureq::http::{HeaderName, HeaderValue, Request, header};

use super::answer::{Again, Failure};
use super::deadline::Deadline;
use super::limits::{Call, FIRST_PAUSE, Limits};
use super::{Address, Endpoint, Key, trust};
use crate::error::Error;

/// Talks to one host and no other. Calls wait for the server.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    agent: Agent,
    address: Address,
    auth: Auth,
    key: Option<Key>,
}

/// In which header the key goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Auth {
    Bearer,
    Anthropic,
}

/// The version of Anthropic's interface that is spoken here.
const ANTHROPIC_VERSION: &str = "2023-06-01";

impl Client {
    pub(crate) fn new(endpoint: &Endpoint, auth: Auth) -> Result<Self, Error> {
        let address = Address::parse(&endpoint.url, endpoint.allow_plain_http)?;
        let config = Agent::config_builder()
            .proxy(None)
            .max_redirects(0)
            .https_only(address.secure)
            .http_status_as_error(false)
            .tls_config(trust::tls(address.secure)?)
            .user_agent(concat!("waylore/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Self { agent: config.into(), address, auth, key: endpoint.key.clone() })
    }

    pub(crate) fn get<T: DeserializeOwned>(
        &self,
        call: Call,
        path: &str,
        deadline: &Deadline,
    ) -> Result<T, Error> {
        self.call(call, path, None, deadline)
    }

    pub(crate) fn post<T: DeserializeOwned>(
        &self,
        call: Call,
        path: &str,
        body: &Value,
        deadline: &Deadline,
    ) -> Result<T, Error> {
        self.call(call, path, Some(body.to_string().as_bytes()), deadline)
    }

    /// The host with its port, as errors and model ids name it.
    pub(crate) fn host(&self) -> String {
        self.address.host.clone()
    }

    pub(super) fn key(&self) -> Option<&Key> {
        self.key.as_ref()
    }

    fn call<T: DeserializeOwned>(
        &self,
        call: Call,
        path: &str,
        body: Option<&[u8]>,
        deadline: &Deadline,
    ) -> Result<T, Error> {
        let limits = call.limits();
        let mut attempt = 1;
        loop {
            let Failure { error, again } = match self.attempt(path, body, &limits, deadline) {
                Ok(bytes) => return self.parse(&bytes),
                Err(it) => it,
            };
            let pause = match again {
                Again::No => return Err(error),
                Again::Soon => pause(attempt),
                Again::After(it) => it,
            };
            if attempt == limits.attempts || !deadline.pause(pause) {
                return Err(error);
            }
            attempt += 1;
        }
    }

    fn attempt(
        &self,
        path: &str,
        body: Option<&[u8]>,
        limits: &Limits,
        deadline: &Deadline,
    ) -> Result<Vec<u8>, Failure> {
        let left = deadline.left();
        if left.is_zero() {
            return Err(Error::Slow { host: self.host(), within: deadline.budget }.into());
        }
        let mut request = match body {
            Some(_) => Request::post(self.address.url(path)),
            None => Request::get(self.address.url(path)),
        };
        request = request.header(header::ACCEPT, "application/json");
        for (name, value) in self.credentials()? {
            request = request.header(name, value);
        }
        let sent = match body {
            Some(body) => {
                let request = request.header(header::CONTENT_TYPE, "application/json").body(body);
                self.run(request.map_err(unsendable)?, limits, left)
            }
            None => self.run(request.body(()).map_err(unsendable)?, limits, left),
        };
        let response = sent.map_err(|it| self.failure(it, limits, deadline))?;
        self.receive(response, limits, deadline)
    }

    fn run<S: ureq::AsSendBody>(
        &self,
        request: Request<S>,
        limits: &Limits,
        left: Duration,
    ) -> Result<ureq::http::Response<ureq::Body>, ureq::Error> {
        let request = self
            .agent
            .configure_request(request)
            .timeout_resolve(Some(limits.connect.min(left)))
            .timeout_connect(Some(limits.connect.min(left)))
            .timeout_per_read(Some(limits.silence.min(left)))
            .timeout_global(Some(left))
            .build();
        self.agent.run(request)
    }

    fn credentials(&self) -> Result<Vec<(HeaderName, HeaderValue)>, Error> {
        let mut acc = Vec::new();
        if self.auth == Auth::Anthropic {
            let name = HeaderName::from_static("anthropic-version");
            acc.push((name, HeaderValue::from_static(ANTHROPIC_VERSION)));
        }
        if let Some(key) = &self.key {
            let (name, text) = match self.auth {
                Auth::Bearer => (header::AUTHORIZATION, format!("Bearer {}", key.reveal())),
                Auth::Anthropic => (HeaderName::from_static("x-api-key"), key.reveal().to_owned()),
            };
            let mut value = HeaderValue::from_str(&text).map_err(|_| unsendable(()))?;
            value.set_sensitive(true);
            acc.push((name, value));
        }
        Ok(acc)
    }
}

/// Doubles with every attempt, and is spread over its upper half so that clients part ways.
fn pause(attempt: u32) -> Duration {
    let full = FIRST_PAUSE * 2_u32.saturating_pow(attempt - 1);
    let half = full / 2;
    // A hasher of the standard library is seeded by the system: random enough, and nothing new.
    let random = RandomState::new().hash_one(attempt) % 1000;
    half + half * u32::try_from(random).unwrap_or(0) / 1000
}

/// The error behind it may quote a header, so it is not shown.
fn unsendable<E>(_: E) -> Error {
    Error::config("the address or the key has characters that cannot be sent")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_vary_within_their_upper_half() {
        for (attempt, full) in [(1, 200), (2, 400), (3, 800)] {
            for _ in 0..100 {
                let millis = pause(attempt).as_millis();
                assert!((full / 2..=full).contains(&millis), "{millis}");
            }
        }
    }
}
