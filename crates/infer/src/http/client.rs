//! Sends a request until there is an answer, the attempts are used up, or the time is.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;
use ureq::Agent;
use ureq::http::{HeaderName, HeaderValue, Request, header};

use super::deadline::CallDeadline;
use super::limits::{CallKind, CallLimits, FIRST_PAUSE};
use super::response;
use super::response::{FailedAttempt, RetryAdvice};
use super::{ApiKey, ProviderAddress, ProviderEndpoint, tls};
use crate::error::Error;

/// Talks to one host and no other. Calls wait for the server.
#[derive(Clone, Debug)]
pub(crate) struct ProviderClient {
    agent: Agent,
    address: ProviderAddress,
    auth: AuthScheme,
    key: Option<ApiKey>,
}

/// In which header the key goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AuthScheme {
    Bearer,
    Anthropic,
}

/// The version of Anthropic's interface that is spoken here.
const ANTHROPIC_VERSION: &str = "2023-06-01";

impl ProviderClient {
    pub(crate) fn new(endpoint: &ProviderEndpoint, auth: AuthScheme) -> Result<Self, Error> {
        let address = ProviderAddress::parse(&endpoint.url, endpoint.allow_plain_http)?;
        let config = Agent::config_builder()
            .proxy(None)
            .max_redirects(0)
            .https_only(address.secure)
            .http_status_as_error(false)
            .tls_config(tls::tls_config(address.secure)?)
            .user_agent(concat!("waylore/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Self { agent: config.into(), address, auth, key: endpoint.key.clone() })
    }

    pub(crate) fn get<T: DeserializeOwned>(
        &self,
        call: CallKind,
        path: &str,
        deadline: &CallDeadline,
    ) -> Result<T, Error> {
        self.call_with_retries(call, path, None, deadline)
    }

    pub(crate) fn post<T: DeserializeOwned>(
        &self,
        call: CallKind,
        path: &str,
        body: &Value,
        deadline: &CallDeadline,
    ) -> Result<T, Error> {
        self.call_with_retries(call, path, Some(body.to_string().as_bytes()), deadline)
    }

    /// The host with its port, as errors and model ids name it.
    pub(crate) fn host(&self) -> String {
        self.address.host.clone()
    }

    pub(super) fn key(&self) -> Option<&ApiKey> {
        self.key.as_ref()
    }

    fn call_with_retries<T: DeserializeOwned>(
        &self,
        call: CallKind,
        path: &str,
        body: Option<&[u8]>,
        deadline: &CallDeadline,
    ) -> Result<T, Error> {
        let limits = call.limits();
        let mut attempt = 1;
        loop {
            let FailedAttempt { error, again } =
                match self.attempt_call(path, body, &limits, deadline) {
                    Ok(bytes) => return response::parse_response(self, &bytes),
                    Err(it) => it,
                };
            let pause = match again {
                RetryAdvice::No => return Err(error),
                RetryAdvice::Soon => backoff_pause(attempt),
                RetryAdvice::After(it) => it,
            };
            if attempt == limits.attempts || !deadline.sleep_within(pause) {
                return Err(error);
            }
            attempt += 1;
        }
    }

    fn attempt_call(
        &self,
        path: &str,
        body: Option<&[u8]>,
        limits: &CallLimits,
        deadline: &CallDeadline,
    ) -> Result<Vec<u8>, FailedAttempt> {
        let left = deadline.time_left();
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
                self.run_request(request.map_err(unsendable_key)?, limits, left)
            }
            None => self.run_request(request.body(()).map_err(unsendable_key)?, limits, left),
        };
        let response = sent.map_err(|it| response::classify_failure(self, it, limits, deadline))?;
        response::read_response(self, response, limits, deadline)
    }

    fn run_request<S: ureq::AsSendBody>(
        &self,
        request: Request<S>,
        limits: &CallLimits,
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
        if self.auth == AuthScheme::Anthropic {
            let name = HeaderName::from_static("anthropic-version");
            acc.push((name, HeaderValue::from_static(ANTHROPIC_VERSION)));
        }
        if let Some(key) = &self.key {
            let (name, text) = match self.auth {
                AuthScheme::Bearer => (header::AUTHORIZATION, format!("Bearer {}", key.reveal())),
                AuthScheme::Anthropic => {
                    (HeaderName::from_static("x-api-key"), key.reveal().to_owned())
                }
            };
            let mut value = HeaderValue::from_str(&text).map_err(|_| unsendable_key(()))?;
            value.set_sensitive(true);
            acc.push((name, value));
        }
        Ok(acc)
    }
}

/// Doubles with every attempt, and is spread over its upper half so that clients part ways.
fn backoff_pause(attempt: u32) -> Duration {
    let full = FIRST_PAUSE * 2_u32.saturating_pow(attempt - 1);
    let half = full / 2;
    // A hasher of the standard library is seeded by the system: random enough, and nothing new.
    let random = RandomState::new().hash_one(attempt) % 1000;
    half + half * u32::try_from(random).unwrap_or(0) / 1000
}

/// The error behind it may quote a header, so it is not shown.
fn unsendable_key<E>(_: E) -> Error {
    Error::bad_config("the address or the key has characters that cannot be sent")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_vary_within_their_upper_half() {
        for (attempt, full) in [(1, 200), (2, 400), (3, 800)] {
            for _ in 0..100 {
                let millis = backoff_pause(attempt).as_millis();
                assert!((full / 2..=full).contains(&millis), "{millis}");
            }
        }
    }
}
