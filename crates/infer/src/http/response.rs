//! Parses an HTTP response into the requested type, or classifies what is wrong with it.

use std::io::Read;
use std::time::Duration;

use serde::de::DeserializeOwned;
use ureq::http::{HeaderMap, Response, header};
use ureq::{Body, Timeout};

use super::client::ProviderClient;
use super::deadline::CallDeadline;
use super::error_text;
use super::limits::{ANSWER_LIMIT, CallLimits, MAX_RETRY_WAIT, REFUSAL_LIMIT};
use crate::error::{Error, ResponseFlaw, may_pass};

/// An attempt that failed.
pub(super) struct FailedAttempt {
    pub(super) error: Error,
    pub(super) again: RetryAdvice,
}

/// Retry advice after a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RetryAdvice {
    No,
    Soon,
    After(Duration),
}

impl From<Error> for FailedAttempt {
    fn from(error: Error) -> Self {
        Self { error, again: RetryAdvice::No }
    }
}

/// Reads the body of a successful response.
pub(super) fn read_response(
    client: &ProviderClient,
    response: Response<Body>,
    limits: &CallLimits,
    deadline: &CallDeadline,
) -> Result<Vec<u8>, FailedAttempt> {
    let (head, body) = response.into_parts();
    let status = head.status.as_u16();
    if !head.status.is_success() {
        let mut acc = Vec::new();
        // A truncated error response is still an error response.
        let _ = body.into_reader().take(REFUSAL_LIMIT).read_to_end(&mut acc);
        return Err(refusal_error(client, status, &head.headers, &acc));
    }
    check_type(client, &head.headers)?;
    let too_large = || flawed_response(client, ResponseFlaw::TooLarge { limit: ANSWER_LIMIT });
    if body.content_length().is_some_and(|it| it > ANSWER_LIMIT) {
        return Err(too_large().into());
    }
    let mut acc = Vec::new();
    let read = body.into_reader().take(ANSWER_LIMIT + 1).read_to_end(&mut acc);
    match read.map_err(ureq::Error::from) {
        Ok(_) if acc.len() as u64 > ANSWER_LIMIT => Err(too_large().into()),
        Ok(_) => Ok(acc),
        Err(ureq::Error::Timeout(it)) => Err(timeout_error(client, it, limits, deadline).into()),
        Err(_) => Err(flawed_response(client, ResponseFlaw::Truncated).into()),
    }
}

pub(super) fn parse_response<T: DeserializeOwned>(
    client: &ProviderClient,
    body: &[u8],
) -> Result<T, Error> {
    use serde_json::error::Category;
    serde_json::from_slice(body).map_err(|error| {
        flawed_response(
            client,
            match error.classify() {
                _ if body.trim_ascii_start().starts_with(b"<") => ResponseFlaw::WebPage,
                Category::Eof => ResponseFlaw::Truncated,
                Category::Syntax | Category::Io => ResponseFlaw::NotJson,
                Category::Data => {
                    ResponseFlaw::Shape(error_text::clean_line(&error.to_string(), client.key()))
                }
            },
        )
    })
}

/// Classifies an error before the response. Requests change nothing on the
/// server, so a connection that broke is worth another.
pub(super) fn classify_failure(
    client: &ProviderClient,
    error: ureq::Error,
    limits: &CallLimits,
    deadline: &CallDeadline,
) -> FailedAttempt {
    use ureq::Error as E;
    let soon = |why: String| {
        let why = error_text::clean_line(&why, client.key());
        FailedAttempt {
            error: Error::Unreachable { host: client.host(), why },
            again: RetryAdvice::Soon,
        }
    };
    match error {
        E::Timeout(Timeout::Connect | Timeout::Resolve) if !deadline.time_left().is_zero() => {
            soon(format!("no connection within {} ms", limits.connect.as_millis()))
        }
        E::Timeout(it) => timeout_error(client, it, limits, deadline).into(),
        E::HostNotFound => soon("the host name is unknown".to_owned()),
        E::Rustls(why) => untrusted_error(client, &why.to_string()).into(),
        E::Tls(why) => untrusted_error(client, why).into(),
        E::Io(error) => match error.get_ref().and_then(|it| it.downcast_ref::<rustls::Error>()) {
            Some(why) => untrusted_error(client, &why.to_string()).into(),
            None => soon(error.to_string()),
        },
        E::Protocol(_) | E::LargeResponseHeader(..) => flawed_response(
            client,
            ResponseFlaw::NotHttp(error_text::clean_line(&error.to_string(), client.key())),
        )
        .into(),
        error => FailedAttempt { again: RetryAdvice::No, ..soon(error.to_string()) },
    }
}

pub(crate) fn flawed_response(client: &ProviderClient, flaw: ResponseFlaw) -> Error {
    Error::Answer { host: client.host(), flaw }
}

fn untrusted_error(client: &ProviderClient, why: &str) -> Error {
    Error::Untrusted { host: client.host(), why: error_text::clean_line(why, client.key()) }
}

fn timeout_error(
    client: &ProviderClient,
    timeout: Timeout,
    limits: &CallLimits,
    deadline: &CallDeadline,
) -> Error {
    let within = if timeout == Timeout::PerRead { limits.silence } else { deadline.budget };
    Error::Slow { host: client.host(), within: within.min(deadline.budget) }
}

fn refusal_error(
    client: &ProviderClient,
    status: u16,
    headers: &HeaderMap,
    body: &[u8],
) -> FailedAttempt {
    let text = |name| headers.get(name).and_then(|it| it.to_str().ok());
    let (host, said) = (client.host(), error_text::server_message(body, client.key()));
    // A date instead of seconds would need a clock that the server agrees with.
    let after = text(header::RETRY_AFTER).and_then(|it| it.trim().parse().ok());
    let after = after.map(Duration::from_secs);
    let again = match after {
        _ if !may_pass(status) => RetryAdvice::No,
        Some(after) if after > MAX_RETRY_WAIT => RetryAdvice::No,
        Some(after) => RetryAdvice::After(after),
        None => RetryAdvice::Soon,
    };
    let error = match status {
        300..=399 => {
            let to =
                error_text::clean_line(text(header::LOCATION).unwrap_or("nowhere"), client.key());
            Error::Redirected { host, status, to }
        }
        401 | 403 => Error::Denied { host, status, said },
        404 => Error::Missing { host, said },
        429 => Error::Busy { host, said, after },
        _ => Error::Refused { host, status, said },
    };
    FailedAttempt { error, again }
}

/// A missing type is let through: the shape is checked in any case.
fn check_type(client: &ProviderClient, headers: &HeaderMap) -> Result<(), Error> {
    let Some(value) = headers.get(header::CONTENT_TYPE) else { return Ok(()) };
    let text = String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase();
    let kind = text.split(';').next().unwrap_or_default().trim();
    match kind {
        "application/json" | "text/json" => Ok(()),
        it if it.ends_with("+json") => Ok(()),
        "text/html" | "application/xhtml+xml" => {
            Err(flawed_response(client, ResponseFlaw::WebPage))
        }
        it => Err(flawed_response(
            client,
            ResponseFlaw::WrongType(error_text::clean_line(it, client.key())),
        )),
    }
}
