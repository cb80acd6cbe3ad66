//! Reads and parses an HTTP response, or classifies the failure: which error it is, and whether another
//! attempt may help.

use std::io::Read;
use std::time::Duration;

use serde::de::DeserializeOwned;
use ureq::http::{HeaderMap, Response, header};
use ureq::{Body, Timeout};

use super::client::ProviderClient;
use super::deadline::CallDeadline;
use super::error_text;
use super::limits::{CallLimits, MAX_ANSWER_BYTES, MAX_REFUSAL_BYTES, MAX_RETRY_WAIT};
use crate::error::{Error, ResponseFlaw, is_temporary_status};

/// An attempt that failed.
pub(super) struct FailedAttempt {
    pub(super) error: Error,
    pub(super) retry: RetryAdvice,
}

/// Retry advice after a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RetryAdvice {
    /// Another attempt would fail in the same way.
    No,
    /// After the usual pause.
    Soon,
    /// After the pause that the server requested.
    After(Duration),
}

impl From<Error> for FailedAttempt {
    fn from(error: Error) -> Self {
        Self { error, retry: RetryAdvice::No }
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
        let _ = body.into_reader().take(MAX_REFUSAL_BYTES).read_to_end(&mut acc);
        return Err(refusal_error(client, status, &head.headers, &acc));
    }
    check_type(client, &head.headers)?;
    let too_large = || flawed_response(client, ResponseFlaw::TooLarge { limit: MAX_ANSWER_BYTES });
    if body.content_length().is_some_and(|it| it > MAX_ANSWER_BYTES) {
        return Err(too_large().into());
    }
    // One byte more than allowed shows that the answer is too large; the announced length may be
    // missing or wrong.
    let mut acc = Vec::new();
    let read = body.into_reader().take(MAX_ANSWER_BYTES + 1).read_to_end(&mut acc);
    match read.map_err(ureq::Error::from) {
        Ok(_) if acc.len() as u64 > MAX_ANSWER_BYTES => Err(too_large().into()),
        Ok(_) => Ok(acc),
        Err(ureq::Error::Timeout(it)) => Err(timeout_error(client, it, limits, deadline).into()),
        Err(_) => Err(flawed_response(client, ResponseFlaw::Truncated).into()),
    }
}

/// Parses the body of a response into the type that the caller expects.
pub(super) fn parse_response<T: DeserializeOwned>(
    client: &ProviderClient,
    body: &[u8],
) -> Result<T, Error> {
    use serde_json::error::Category;
    serde_json::from_slice(body).map_err(|error| {
        if body.trim_ascii_start().starts_with(b"<") {
            return flawed_response(client, ResponseFlaw::WebPage);
        }
        let flaw = match error.classify() {
            Category::Eof => ResponseFlaw::Truncated,
            Category::Syntax | Category::Io => ResponseFlaw::NotJson,
            Category::Data => {
                ResponseFlaw::Shape(error_text::clean_line(&error.to_string(), client.key()))
            }
        };
        flawed_response(client, flaw)
    })
}

/// Classifies an error that occurred before the response. Requests change nothing on the server, so
/// after a broken connection another attempt is safe.
pub(super) fn classify_failure(
    client: &ProviderClient,
    error: ureq::Error,
    limits: &CallLimits,
    deadline: &CallDeadline,
) -> FailedAttempt {
    use ureq::Error as E;
    let unreachable = |why: String| {
        let why = error_text::clean_line(&why, client.key());
        FailedAttempt {
            error: Error::Unreachable { host: client.host(), why },
            retry: RetryAdvice::Soon,
        }
    };
    match error {
        // The limit of the connection was reached, not that of the call: another attempt may connect.
        E::Timeout(Timeout::Connect | Timeout::Resolve) if !deadline.time_left().is_zero() => {
            unreachable(format!("no connection within {} ms", limits.connect.as_millis()))
        }
        E::Timeout(timeout) => timeout_error(client, timeout, limits, deadline).into(),
        E::HostNotFound => unreachable("the host name is unknown".to_owned()),
        E::Rustls(why) => untrusted_error(client, &why.to_string()).into(),
        E::Tls(why) => untrusted_error(client, why).into(),
        // A failed TLS handshake comes wrapped in an I/O error.
        E::Io(error) => match error.get_ref().and_then(|it| it.downcast_ref::<rustls::Error>()) {
            Some(why) => untrusted_error(client, &why.to_string()).into(),
            None => unreachable(error.to_string()),
        },
        E::Protocol(_) | E::LargeResponseHeader(..) => flawed_response(
            client,
            ResponseFlaw::NotHttp(error_text::clean_line(&error.to_string(), client.key())),
        )
        .into(),
        // Errors of the client itself, such as an invalid request: they would occur again.
        error => FailedAttempt { retry: RetryAdvice::No, ..unreachable(error.to_string()) },
    }
}

pub(crate) fn flawed_response(client: &ProviderClient, flaw: ResponseFlaw) -> Error {
    Error::UnusableResponse { host: client.host(), flaw }
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

/// Classifies an error response by its status.
fn refusal_error(
    client: &ProviderClient,
    status: u16,
    headers: &HeaderMap,
    body: &[u8],
) -> FailedAttempt {
    let text = |name| headers.get(name).and_then(|it| it.to_str().ok());
    let (host, message) = (client.host(), error_text::server_message(body, client.key()));
    // A date instead of seconds would need a clock that the server agrees with.
    let after = text(header::RETRY_AFTER).and_then(|it| it.trim().parse().ok());
    let after = after.map(Duration::from_secs);
    let retry = if is_temporary_status(status) {
        match after {
            Some(after) if after > MAX_RETRY_WAIT => RetryAdvice::No,
            Some(after) => RetryAdvice::After(after),
            None => RetryAdvice::Soon,
        }
    } else {
        RetryAdvice::No
    };
    let error = match status {
        300..=399 => {
            let to =
                error_text::clean_line(text(header::LOCATION).unwrap_or("nowhere"), client.key());
            Error::Redirected { host, status, to }
        }
        401 | 403 => Error::Denied { host, status, message },
        404 => Error::Missing { host, message },
        429 => Error::Busy { host, message, after },
        _ => Error::Refused { host, status, message },
    };
    FailedAttempt { error, retry }
}

/// Rejects a content type other than JSON. A missing type is accepted: the shape is checked in any
/// case.
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
