//! Discovery of an Ollama server: its version and models, and a quick answer if there is none.

use serde_json::json;
use waylore_infer::{Error, ProviderEndpoint, ollama};

use crate::providers::{CLOSED_PORT_URL, endpoint};
use crate::server::{StubProvider, StubReply};

/// Bytes of a gibibyte.
const GIB: u64 = 1 << 30;

#[test]
fn version_and_models_of_a_server_are_found() {
    let server = StubProvider::start(|seen, _| match seen.line.as_str() {
        "GET /api/version" => StubReply::json(json!({ "version": "0.33.0" })),
        _ => StubReply::json(json!({ "models": [
            { "name": "qwen3-embedding:0.6b", "model": "qwen3-embedding:0.6b", "digest": "ab", "size": 7,
              "details": { "family": "qwen3" }, "capabilities": ["embedding"] },
            { "name": "qwen3-embedding:8b", "digest": "cd", "size": 9 },
        ] })),
    });
    // On a busy machine even this server may need more than 300 ms, but not every time.
    let version = (0..20).find_map(|_| ollama::server_version(&endpoint(&server)).ok());
    assert_eq!(version.as_deref(), Some("0.33.0"));
    let models = ollama::list_models(&endpoint(&server)).unwrap();
    // The larger model needs more than 32 GiB of free memory.
    let (small_memory, large_memory) = (16 * GIB, 64 * GIB);
    assert_eq!(ollama::choose_model(&models, small_memory).unwrap().name, "qwen3-embedding:0.6b");
    assert_eq!(ollama::choose_model(&models, large_memory).unwrap().name, "qwen3-embedding:8b");
}

#[test]
fn a_closed_port_is_reported_as_unreachable() {
    // `0.0.0.0` is an address to listen on; to connect, it is replaced by that of this machine.
    let url = ollama::parse_host("0.0.0.0:1").unwrap();
    assert_eq!(url, CLOSED_PORT_URL);
    let error =
        ollama::server_version(&ProviderEndpoint { url, key: None, allow_plain_http: false })
            .unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }) && error.is_temporary(), "{error}");
}

#[test]
fn a_silent_server_is_given_up_after_300_ms() {
    let server = StubProvider::start(|_, _| StubReply::Silence);
    let error = ollama::server_version(&endpoint(&server)).unwrap_err();
    assert!(matches!(&error, Error::Slow { within, .. } if within.as_millis() == 300), "{error}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn another_program_on_the_port_is_an_error() {
    let server = StubProvider::start(|_, _| StubReply::text(200, "text/html", "<html>"));
    assert!(matches!(ollama::list_models(&endpoint(&server)), Err(Error::UnusableResponse { .. })));
}
