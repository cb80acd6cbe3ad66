//! The protocol over loopback HTTP, for clients that cannot start a process. Only with the token, only
//! for this machine, never for a web page.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use http_body_util::{BodyExt, Full, combinators::BoxBody};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use crate::desk::{Config, Desk};
use crate::server::Server;

/// Where it is served, and what a client must show.
pub struct HttpConfig {
    pub address: SocketAddr,
    /// At least 32 characters.
    pub token: String,
    /// Told the address once clients can come.
    pub ready: Box<dyn FnOnce(SocketAddr) + Send>,
}

/// Why nothing is served.
#[derive(Debug)]
pub enum NotServed {
    /// The address can be reached from elsewhere.
    NotLoopback(IpAddr),
    /// The token could be guessed.
    WeakToken,
    /// The address cannot be had.
    Address(std::io::Error),
}

impl std::fmt::Display for NotServed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotLoopback(address) => {
                write!(f, "`{address}` can be reached from elsewhere; only this machine is served")
            }
            Self::WeakToken => write!(f, "a token has at least {SHORTEST} characters"),
            Self::Address(error) => write!(f, "the address cannot be used: {error}"),
        }
    }
}

impl std::error::Error for NotServed {}

type Answer = Response<BoxBody<Bytes, Infallible>>;

/// The shortest token that is accepted.
const SHORTEST: usize = 32;
/// The only path that is served.
const PATH: &str = "/mcp";
/// The largest request, in bytes.
const LARGEST: usize = 8 << 20;

/// Serves until the process ends.
pub async fn serve_http(config: Config, http: HttpConfig) -> Result<(), NotServed> {
    if !http.address.ip().is_loopback() {
        return Err(NotServed::NotLoopback(http.address.ip()));
    }
    if http.token.len() < SHORTEST {
        return Err(NotServed::WeakToken);
    }
    let listener = TcpListener::bind(http.address).await.map_err(NotServed::Address)?;
    let address = listener.local_addr().map_err(NotServed::Address)?;
    let desk = Desk::new(config);
    let service = StreamableHttpService::new(
        move || Ok(Server::new(desk.clone())),
        Arc::new(LocalSessionManager::default()),
        rules(address.port()),
    );
    let token: Arc<str> = http.token.into();
    (http.ready)(address);
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Too many are connected; others may leave.
            tokio::task::yield_now().await;
            continue;
        };
        let (service, token) = (service.clone(), Arc::clone(&token));
        let answer = service_fn(move |request: Request<Incoming>| {
            let (service, token) = (service.clone(), Arc::clone(&token));
            async move {
                Ok::<Answer, Infallible>(match refusal(&request, &token) {
                    Some(refusal) => refusal,
                    None => service.handle(request).await,
                })
            }
        });
        tokio::spawn(async move {
            let mut connection = http1::Builder::new();
            connection.timer(TokioTimer::new());
            // A connection that breaks is the client's affair.
            let _ = connection.serve_connection(TokioIo::new(stream), answer).await;
        });
    }
}

/// A page in a browser may make a name of its own point here: it is told by its host and its origin.
fn rules(port: u16) -> StreamableHttpServerConfig {
    let names = ["127.0.0.1", "localhost", "[::1]"];
    let hosts = names.map(|it| format!("{it}:{port}"));
    let origins = names.map(|it| format!("http://{it}:{port}"));
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_max_request_body_bytes(LARGEST)
}

/// What is said to a request that is not for us, or that shows no token.
fn refusal(request: &Request<Incoming>, token: &str) -> Option<Answer> {
    let shown = request.headers().get(AUTHORIZATION).and_then(|it| it.to_str().ok());
    let shown = shown.and_then(|it| it.strip_prefix("Bearer ")).unwrap_or_default();
    if !is_same(shown.trim().as_bytes(), token.as_bytes()) {
        let what = "the token is missing or wrong; send it as `Authorization: Bearer …`";
        let mut res = told(StatusCode::UNAUTHORIZED, what);
        res.headers_mut()
            .insert(WWW_AUTHENTICATE, hyper::header::HeaderValue::from_static("Bearer"));
        return Some(res);
    }
    (request.uri().path() != PATH).then(|| told(StatusCode::NOT_FOUND, "the protocol is at `/mcp`"))
}

fn told(status: StatusCode, what: &str) -> Answer {
    let mut res = Response::new(Full::new(Bytes::from(format!("{what}\n"))).boxed());
    *res.status_mut() = status;
    let plain = hyper::header::HeaderValue::from_static("text/plain; charset=utf-8");
    res.headers_mut().insert(CONTENT_TYPE, plain);
    res
}

/// Compares without telling by its time how much was right.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |acc, (a, b)| acc | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_the_same_or_not() {
        assert!(is_same(b"abc", b"abc") && !is_same(b"abc", b"abd") && !is_same(b"", b"abc"));
    }
}
