//! From what came back over the wire to JSON of the asked shape, or to what was wrong with it.

use std::io::Read;
use std::time::Duration;

use serde::de::DeserializeOwned;
use ureq::http::{HeaderMap, Response, header};
use ureq::{Body, Timeout};

use super::client::Client;
use super::deadline::Deadline;
use super::limits::{ANSWER_LIMIT, Limits, PATIENCE, REFUSAL_LIMIT};
use super::said;
use crate::error::{Error, Flaw, may_pass};

/// An attempt that failed.
pub(super) struct Failure {
    pub(super) error: Error,
    pub(super) again: Again,
}

/// Whether another attempt may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    No,
    Soon,
    After(Duration),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { error, again: Again::No }
    }
}

impl Client {
    /// The whole body of an answer that is fine so far.
    pub(super) fn receive(
        &self,
        response: Response<Body>,
        limits: &Limits,
        deadline: &Deadline,
    ) -> Result<Vec<u8>, Failure> {
        let (head, body) = response.into_parts();
        let status = head.status.as_u16();
        if !head.status.is_success() {
            let mut acc = Vec::new();
            // A refusal that breaks off is a refusal.
            let _ = body.into_reader().take(REFUSAL_LIMIT).read_to_end(&mut acc);
            return Err(self.refusal(status, &head.headers, &acc));
        }
        self.check_type(&head.headers)?;
        let too_large = || self.flaw(Flaw::TooLarge { limit: ANSWER_LIMIT });
        if body.content_length().is_some_and(|it| it > ANSWER_LIMIT) {
            return Err(too_large().into());
        }
        let mut acc = Vec::new();
        let read = body.into_reader().take(ANSWER_LIMIT + 1).read_to_end(&mut acc);
        match read.map_err(ureq::Error::from) {
            Ok(_) if acc.len() as u64 > ANSWER_LIMIT => Err(too_large().into()),
            Ok(_) => Ok(acc),
            Err(ureq::Error::Timeout(it)) => Err(self.slow(it, limits, deadline).into()),
            Err(_) => Err(self.flaw(Flaw::Truncated).into()),
        }
    }

    pub(super) fn parse<T: DeserializeOwned>(&self, body: &[u8]) -> Result<T, Error> {
        use serde_json::error::Category;
        serde_json::from_slice(body).map_err(|error| {
            self.flaw(match error.classify() {
                _ if body.trim_ascii_start().starts_with(b"<") => Flaw::WebPage,
                Category::Eof => Flaw::Truncated,
                Category::Syntax | Category::Io => Flaw::NotJson,
                Category::Data => Flaw::Shape(said::line(&error.to_string(), self.key())),
            })
        })
    }

    /// What went wrong before there was an answer. Whatever is asked here changes nothing on the
    /// server, so a connection that broke is worth another.
    pub(super) fn failure(
        &self,
        error: ureq::Error,
        limits: &Limits,
        deadline: &Deadline,
    ) -> Failure {
        use ureq::Error as E;
        let soon = |why: String| {
            let why = said::line(&why, self.key());
            Failure { error: Error::Unreachable { host: self.host(), why }, again: Again::Soon }
        };
        match error {
            E::Timeout(Timeout::Connect | Timeout::Resolve) if !deadline.left().is_zero() => {
                soon(format!("no connection within {} ms", limits.connect.as_millis()))
            }
            E::Timeout(it) => self.slow(it, limits, deadline).into(),
            E::HostNotFound => soon("nobody knows the name".to_owned()),
            E::Rustls(why) => self.untrusted(&why.to_string()).into(),
            E::Tls(why) => self.untrusted(why).into(),
            E::Io(error) => match error.get_ref().and_then(|it| it.downcast_ref::<rustls::Error>())
            {
                Some(why) => self.untrusted(&why.to_string()).into(),
                None => soon(error.to_string()),
            },
            E::Protocol(_) | E::LargeResponseHeader(..) => {
                self.flaw(Flaw::NotHttp(said::line(&error.to_string(), self.key()))).into()
            }
            error => Failure { again: Again::No, ..soon(error.to_string()) },
        }
    }

    pub(crate) fn flaw(&self, flaw: Flaw) -> Error {
        Error::Answer { host: self.host(), flaw }
    }

    fn untrusted(&self, why: &str) -> Error {
        Error::Untrusted { host: self.host(), why: said::line(why, self.key()) }
    }

    fn slow(&self, timeout: Timeout, limits: &Limits, deadline: &Deadline) -> Error {
        let within = if timeout == Timeout::PerRead { limits.silence } else { deadline.budget };
        Error::Slow { host: self.host(), within: within.min(deadline.budget) }
    }

    fn refusal(&self, status: u16, headers: &HeaderMap, body: &[u8]) -> Failure {
        let text = |name| headers.get(name).and_then(|it| it.to_str().ok());
        let (host, said) = (self.host(), said::message(body, self.key()));
        // A date instead of seconds would need a clock that the server agrees with.
        let after = text(header::RETRY_AFTER).and_then(|it| it.trim().parse().ok());
        let after = after.map(Duration::from_secs);
        let again = match after {
            _ if !may_pass(status) => Again::No,
            Some(after) if after > PATIENCE => Again::No,
            Some(after) => Again::After(after),
            None => Again::Soon,
        };
        let error = match status {
            300..=399 => {
                let to = said::line(text(header::LOCATION).unwrap_or("nowhere"), self.key());
                Error::Redirected { host, status, to }
            }
            401 | 403 => Error::Denied { host, status, said },
            404 => Error::Missing { host, said },
            429 => Error::Busy { host, said, after },
            _ => Error::Refused { host, status, said },
        };
        Failure { error, again }
    }

    /// A missing type is let through: the shape is checked in any case.
    fn check_type(&self, headers: &HeaderMap) -> Result<(), Error> {
        let Some(value) = headers.get(header::CONTENT_TYPE) else { return Ok(()) };
        let text = String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase();
        let kind = text.split(';').next().unwrap_or_default().trim();
        match kind {
            "application/json" | "text/json" => Ok(()),
            it if it.ends_with("+json") => Ok(()),
            "text/html" | "application/xhtml+xml" => Err(self.flaw(Flaw::WebPage)),
            it => Err(self.flaw(Flaw::WrongType(said::line(it, self.key())))),
        }
    }
}
