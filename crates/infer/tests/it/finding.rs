//! Whether an Ollama server is there, what it has, and that nobody waits long for the answer.

use serde_json::json;
use waylore_infer::{Error, ProviderEndpoint, ollama};

use crate::kit::{NOBODY, endpoint};
use crate::server::{Reply, Server};

#[test]
fn a_server_tells_its_version_and_its_models() {
    let server = Server::start(|seen, _| match seen.line.as_str() {
        "GET /api/version" => Reply::json(json!({ "version": "0.33.0" })),
        _ => Reply::json(json!({ "models": [
            { "name": "qwen3-embedding:0.6b", "model": "qwen3-embedding:0.6b", "digest": "ab", "size": 7,
              "details": { "family": "qwen3" }, "capabilities": ["embedding"] },
            { "name": "qwen3-embedding:8b", "digest": "cd", "size": 9 },
        ] })),
    });
    // On a busy machine even this server may need more than 300 ms, but not every time.
    let version = (0..20).find_map(|_| ollama::server_version(&endpoint(&server)).ok());
    assert_eq!(version.as_deref(), Some("0.33.0"));
    let models = ollama::list_models(&endpoint(&server)).unwrap();
    assert_eq!(ollama::choose_model(&models, 16 << 30).unwrap().name, "qwen3-embedding:0.6b");
    assert_eq!(ollama::choose_model(&models, 64 << 30).unwrap().name, "qwen3-embedding:8b");
}

#[test]
fn nobody_there_is_known_at_once() {
    let url = ollama::parse_host("0.0.0.0:1").unwrap();
    assert_eq!(url, NOBODY);
    let error =
        ollama::server_version(&ProviderEndpoint { url, key: None, allow_plain_http: false })
            .unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }) && error.is_temporary(), "{error}");
}

#[test]
fn somebody_who_says_nothing_is_nobody_after_300_ms() {
    let server = Server::start(|_, _| Reply::Silence);
    let error = ollama::server_version(&endpoint(&server)).unwrap_err();
    assert!(matches!(&error, Error::Slow { within, .. } if within.as_millis() == 300), "{error}");
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn another_program_on_the_port_is_not_taken_for_ollama() {
    let server = Server::start(|_, _| Reply::text(200, "text/html", "<html>"));
    assert!(matches!(ollama::list_models(&endpoint(&server)), Err(Error::Answer { .. })));
}
