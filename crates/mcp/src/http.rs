//! The protocol over loopback HTTP (`waylore mcp --http`), for clients that cannot start a process.
//! `rmcp` implements the HTTP transport; this file accepts connections and rejects requests without
//! the token or from a web page.

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

use crate::project_slot::{Config, ProjectSlot};
use crate::server::McpServer;

/// Address and token of the HTTP server.
pub struct HttpConfig {
    pub address: SocketAddr,
    /// At least 32 characters.
    pub token: String,
    /// Called with the bound address once clients can connect.
    pub ready: Box<dyn FnOnce(SocketAddr) + Send>,
}

/// Reasons why the server cannot start.
#[derive(Debug)]
pub enum HttpServeError {
    /// The address is reachable from other machines.
    NotLoopback(IpAddr),
    /// The token could be guessed.
    WeakToken,
    /// Binding failed.
    Bind(std::io::Error),
}

impl std::fmt::Display for HttpServeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotLoopback(address) => {
                write!(f, "`{address}` is reachable from other machines; use a loopback address")
            }
            Self::WeakToken => write!(f, "a token has at least {MIN_TOKEN_CHARS} characters"),
            Self::Bind(error) => write!(f, "the address cannot be used: {error}"),
        }
    }
}

impl std::error::Error for HttpServeError {}

type HttpResponse = Response<BoxBody<Bytes, Infallible>>;

/// The shortest token that is accepted.
const MIN_TOKEN_CHARS: usize = 32;
/// The only endpoint.
const ENDPOINT_PATH: &str = "/mcp";
/// The largest request, in bytes.
const MAX_REQUEST_BYTES: usize = 8 << 20;

/// Serves until the process ends.
pub async fn serve_http(config: Config, http: HttpConfig) -> Result<(), HttpServeError> {
    if !http.address.ip().is_loopback() {
        return Err(HttpServeError::NotLoopback(http.address.ip()));
    }
    if http.token.len() < MIN_TOKEN_CHARS {
        return Err(HttpServeError::WeakToken);
    }
    let listener = TcpListener::bind(http.address).await.map_err(HttpServeError::Bind)?;
    let address = listener.local_addr().map_err(HttpServeError::Bind)?;
    // All clients share one slot, so the project is opened once.
    let slot = ProjectSlot::new(config);
    let service = StreamableHttpService::new(
        move || Ok(McpServer::new(slot.clone())),
        Arc::new(LocalSessionManager::default()),
        loopback_only_config(address.port()),
    );
    let token: Arc<str> = http.token.into();
    (http.ready)(address);

    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of file descriptors: try again, connections may close meanwhile.
            tokio::task::yield_now().await;
            continue;
        };
        // One clone per connection, and inside one per request: each future owns its own.
        let (service, token) = (service.clone(), Arc::clone(&token));
        let answer = service_fn(move |request: Request<Incoming>| {
            let (service, token) = (service.clone(), Arc::clone(&token));
            async move {
                Ok::<HttpResponse, Infallible>(match reject_request(&request, &token) {
                    Some(refusal) => refusal,
                    None => service.handle(request).await,
                })
            }
        });
        tokio::spawn(async move {
            let mut connection = http1::Builder::new();
            // Without a timer, hyper has no timeout for clients that never finish their headers.
            connection.timer(TokioTimer::new());
            // A broken connection concerns only its client.
            let _ = connection.serve_connection(TokioIo::new(stream), answer).await;
        });
    }
}

/// Accepts only a `Host` and an `Origin` of this machine, which stops DNS rebinding: a web page that
/// points its own host name at 127.0.0.1 still sends that name.
fn loopback_only_config(port: u16) -> StreamableHttpServerConfig {
    let names = ["127.0.0.1", "localhost", "[::1]"];
    let hosts = names.map(|it| format!("{it}:{port}"));
    let origins = names.map(|it| format!("http://{it}:{port}"));
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_max_request_body_bytes(MAX_REQUEST_BYTES)
}

/// The response to a request without the token or for another path; `None` if it is accepted.
fn reject_request(request: &Request<Incoming>, token: &str) -> Option<HttpResponse> {
    let header = request.headers().get(AUTHORIZATION).and_then(|it| it.to_str().ok());
    let given_token = header.and_then(|it| it.strip_prefix("Bearer ")).unwrap_or_default();
    if !constant_time_eq(given_token.trim().as_bytes(), token.as_bytes()) {
        let what = "the token is missing or wrong; send it as `Authorization: Bearer …`";
        let mut res = text_response(StatusCode::UNAUTHORIZED, what);
        res.headers_mut()
            .insert(WWW_AUTHENTICATE, hyper::header::HeaderValue::from_static("Bearer"));
        return Some(res);
    }
    if request.uri().path() != ENDPOINT_PATH {
        return Some(text_response(StatusCode::NOT_FOUND, "the protocol is at `/mcp`"));
    }
    None
}

fn text_response(status: StatusCode, what: &str) -> HttpResponse {
    let mut res = Response::new(Full::new(Bytes::from(format!("{what}\n"))).boxed());
    *res.status_mut() = status;
    let plain = hyper::header::HeaderValue::from_static("text/plain; charset=utf-8");
    res.headers_mut().insert(CONTENT_TYPE, plain);
    res
}

/// Compares in a time that does not depend on the content, so that a token cannot be guessed byte by
/// byte by measuring responses.
fn constant_time_eq(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    // No early return: every byte is compared.
    let mut differing_bits = 0;
    for (byte_a, byte_b) in a.iter().zip(b) {
        differing_bits |= byte_a ^ byte_b;
    }
    differing_bits == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_equal_tokens_compare_as_equal() {
        assert!(constant_time_eq(b"abc", b"abc"));
        assert!(!constant_time_eq(b"abc", b"abd"));
        assert!(!constant_time_eq(b"", b"abc"));
    }
}
