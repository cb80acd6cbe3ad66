//! Sends requests to one provider and retries them until there is an answer, the attempts are used up
//! or the deadline has passed. Responses are read and classified in `response`.

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

/// A client of one host; it contacts no other. Calls block until the server has answered.
#[derive(Clone, Debug)]
pub(crate) struct ProviderClient {
    agent: Agent,
    address: ProviderAddress,
    auth: AuthScheme,
    key: Option<ApiKey>,
}

/// The header that carries the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AuthScheme {
    /// `authorization: Bearer …`
    Bearer,
    /// `x-api-key`, and a header with the version of the API.
    Anthropic,
}

/// The version of Anthropic's API that requests are written for.
const ANTHROPIC_VERSION: &str = "2023-06-01";

impl ProviderClient {
    pub(crate) fn new(endpoint: &ProviderEndpoint, auth: AuthScheme) -> Result<Self, Error> {
        let address = ProviderAddress::parse(&endpoint.url, endpoint.allow_plain_http)?;
        // A proxy or a redirect would pass texts and key to another host.
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

    /// Repeats a call while the failure is temporary, attempts are left and the pause fits into the
    /// deadline.
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
            let failed = match self.attempt_call(path, body, &limits, deadline) {
                // A complete response of the wrong shape would be the same again: no retry.
                Ok(bytes) => return response::parse_response(self, &bytes),
                Err(failed) => failed,
            };
            let FailedAttempt { error, retry } = failed;
            let pause = match retry {
                RetryAdvice::No => return Err(error),
                RetryAdvice::Soon => backoff_pause(attempt),
                RetryAdvice::After(requested) => requested,
            };
            if attempt == limits.attempts || !deadline.sleep_within(pause) {
                return Err(error);
            }
            attempt += 1;
        }
    }

    /// One attempt: sends the request and reads the body of a successful response.
    fn attempt_call(
        &self,
        path: &str,
        body: Option<&[u8]>,
        limits: &CallLimits,
        deadline: &CallDeadline,
    ) -> Result<Vec<u8>, FailedAttempt> {
        let time_left = deadline.time_left();
        if time_left.is_zero() {
            return Err(Error::Slow { host: self.host(), within: deadline.budget }.into());
        }
        let mut request = match body {
            Some(_) => Request::post(self.address.url(path)),
            None => Request::get(self.address.url(path)),
        };
        request = request.header(header::ACCEPT, "application/json");
        // `?` makes a failed attempt of an error, without a retry.
        for (name, value) in self.credentials()? {
            request = request.header(name, value);
        }
        let sent = match body {
            Some(body) => {
                let request = request.header(header::CONTENT_TYPE, "application/json").body(body);
                self.run_request(request.map_err(|_| unsendable_key())?, limits, time_left)
            }
            None => {
                self.run_request(request.body(()).map_err(|_| unsendable_key())?, limits, time_left)
            }
        };
        let response = sent.map_err(|it| response::classify_failure(self, it, limits, deadline))?;
        response::read_response(self, response, limits, deadline)
    }

    /// Runs a request with every timeout within the time that is left.
    fn run_request<S: ureq::AsSendBody>(
        &self,
        request: Request<S>,
        limits: &CallLimits,
        time_left: Duration,
    ) -> Result<ureq::http::Response<ureq::Body>, ureq::Error> {
        let request = self
            .agent
            .configure_request(request)
            .timeout_resolve(Some(limits.connect.min(time_left)))
            .timeout_connect(Some(limits.connect.min(time_left)))
            .timeout_per_read(Some(limits.silence.min(time_left)))
            .timeout_global(Some(time_left))
            .build();
        self.agent.run(request)
    }

    /// The headers of the authentication scheme; without a key only the version.
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
            // The original error may quote the header, so it is not shown.
            let mut value = HeaderValue::from_str(&text).map_err(|_| unsendable_key())?;
            value.set_sensitive(true);
            acc.push((name, value));
        }
        Ok(acc)
    }
}

/// Exponential backoff with jitter: doubles with every attempt, and is random within its upper half so
/// that clients do not retry at the same moment.
fn backoff_pause(attempt: u32) -> Duration {
    let full = FIRST_PAUSE * 2_u32.saturating_pow(attempt - 1);
    let half = full / 2;
    // Random enough without another library: the system seeds the hasher of the standard library.
    let random = RandomState::new().hash_one(attempt) % 1000;
    half + half * u32::try_from(random).unwrap_or(0) / 1000
}

/// The error for an address or a key that does not fit into a request.
fn unsendable_key() -> Error {
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
