//! Servers that take their time: the deadline wins over answers, pauses and further attempts.

use std::time::Duration;

use serde_json::json;
use waylore_infer::{
    EmbeddingApi, EmbeddingConfig, EmbeddingModel, Error, ProviderEndpoint, RerankApi,
};

use crate::kit::{LONG, NOBODY, SHORT, embeddings, fine, reranker};
use crate::server::{Reply, Server};

fn is_slow(error: &Error, budget: Duration) -> bool {
    matches!(error, Error::Slow { within, .. } if *within == budget) && error.is_temporary()
}

#[test]
fn a_server_that_never_answers_is_left_at_the_deadline() {
    let server = Server::start(|_, _| Reply::Silence);
    let error = embeddings(&server).embed_query("why", SHORT).unwrap_err();
    assert!(is_slow(&error, SHORT), "{error}");
    assert_eq!(server.seen().len(), 1, "a slow server is not asked again");
    let error = reranker(&server, RerankApi::Tei).score("why", &["a"], SHORT).unwrap_err();
    assert!(is_slow(&error, SHORT), "{error}");
}

#[test]
fn a_server_that_drips_is_left_at_the_deadline() {
    let head =
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n";
    let server = Server::start(|_, _| Reply::Drip(head.to_vec()));
    let error = embeddings(&server).embed_query("why", SHORT).unwrap_err();
    assert!(is_slow(&error, SHORT), "{error}");
    let server = Server::start(|_, _| Reply::Drip(b"HTTP/1.1 200 OK\r\nx:".to_vec()));
    let error = embeddings(&server).embed_query("why", SHORT).unwrap_err();
    assert!(is_slow(&error, SHORT), "{error}");
}

#[test]
fn all_requests_of_one_call_share_the_deadline() {
    let server = Server::start(|_, number| match number {
        0 => Reply::json(json!({ "logprobs": [{ "token": "yes", "logprob": -0.1 }] })),
        _ => Reply::Silence,
    });
    let error = reranker(&server, RerankApi::Ollama).score("why", &["a", "b"], SHORT).unwrap_err();
    assert!(is_slow(&error, SHORT), "nothing partial: {error}");
}

#[test]
fn no_time_is_no_request() {
    let server = Server::start(|seen, _| fine(seen));
    let error = embeddings(&server).embed_query("why", Duration::ZERO).unwrap_err();
    assert!(is_slow(&error, Duration::ZERO));
    assert!(server.seen().is_empty());
}

#[test]
fn a_server_that_is_overloaded_is_asked_again() {
    for status in [429, 500, 502, 503] {
        let server = Server::start(move |seen, number| match number {
            0 => Reply::Whole(status, "retry-after: 0\r\n".to_owned(), Vec::new()),
            1 => Reply::text(status, "text/html", "<html>sorry"),
            _ => fine(seen),
        });
        assert!(embeddings(&server).embed_query("why", LONG).is_ok());
        assert_eq!(server.seen().len(), 3);
    }
}

#[test]
fn attempts_come_to_an_end() {
    let busy =
        || Reply::Whole(503, "retry-after: 0\r\n".to_owned(), b"{\"error\":\"loading\"}".to_vec());
    let server = Server::start(move |_, _| busy());
    let error = embeddings(&server).embed_query("why", LONG).unwrap_err();
    assert!(
        matches!(&error, Error::Refused { status: 503, said, .. } if said == "loading"),
        "{error}"
    );
    assert!(error.is_temporary());
    assert_eq!(server.seen().len(), 4);
}

#[test]
fn nobody_waits_longer_than_the_deadline_or_their_patience() {
    // Fifteen seconds are more than is left, an hour is more than anybody waits.
    for (after, deadline) in [(15, Duration::from_secs(14)), (3600, LONG)] {
        let server = Server::start(move |_, _| {
            Reply::Whole(429, format!("retry-after: {after}\r\n"), Vec::new())
        });
        let error = embeddings(&server).embed_query("why", deadline).unwrap_err();
        let wanted = Some(Duration::from_secs(after));
        assert!(matches!(&error, Error::Busy { after, .. } if *after == wanted), "{error}");
        assert_eq!(server.seen().len(), 1);
    }
}

#[test]
fn what_is_wrong_with_the_request_is_not_asked_again() {
    for status in [400, 401, 403, 404, 413, 422, 501] {
        let server =
            Server::start(move |_, _| Reply::text(status, "application/json", r#"{"error":"no"}"#));
        let error = embeddings(&server).embed_query("why", LONG).unwrap_err();
        assert!(!error.is_temporary(), "{error}");
        assert_eq!(server.seen().len(), 1);
    }
}

#[test]
fn a_connection_that_breaks_before_the_answer_is_made_again() {
    let server = Server::start(|seen, number| match number {
        0 => Reply::Raw(Vec::new()),
        _ => fine(seen),
    });
    assert!(embeddings(&server).embed_query("why", LONG).is_ok());
    assert_eq!(server.seen().len(), 2);
}

#[test]
fn nobody_there_is_an_error_that_may_pass() {
    let url = NOBODY.to_owned();
    let config = EmbeddingConfig {
        api: EmbeddingApi::Compatible,
        endpoint: ProviderEndpoint { url, key: None, allow_plain_http: false },
        model: "some-model".to_owned(),
        dims: Some(2),
    };
    let error = EmbeddingModel::open(&config).unwrap().embed_query("why", LONG).unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }) && error.is_temporary(), "{error}");
}
