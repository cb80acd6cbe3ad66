//! Slow and overloaded servers: the deadline limits answers, pauses and further attempts.

use std::time::Duration;

use serde_json::json;
use waylore_infer::{
    EmbeddingApi, EmbeddingConfig, EmbeddingModel, Error, ProviderEndpoint, RerankApi,
};

use crate::providers::{
    CLOSED_PORT_URL, GENEROUS_DEADLINE, SHORT_DEADLINE, reply_with_vectors, reranker, two_dim_model,
};
use crate::server::{StubProvider, StubReply};

/// True for a temporary error that reports a timeout after `budget`.
fn is_slow(error: &Error, budget: Duration) -> bool {
    matches!(error, Error::Slow { within, .. } if *within == budget) && error.is_temporary()
}

#[test]
fn a_silent_server_is_given_up_at_the_deadline() {
    let server = StubProvider::start(|_, _| StubReply::Silence);
    let error = two_dim_model(&server).embed_query("why", SHORT_DEADLINE).unwrap_err();
    assert!(is_slow(&error, SHORT_DEADLINE), "{error}");
    assert_eq!(server.requests().len(), 1, "a slow server gets no second request");
    let error = reranker(&server, RerankApi::Tei).score("why", &["a"], SHORT_DEADLINE).unwrap_err();
    assert!(is_slow(&error, SHORT_DEADLINE), "{error}");
}

#[test]
fn a_server_that_sends_single_bytes_is_given_up_at_the_deadline() {
    let head =
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n";
    let server = StubProvider::start(|_, _| StubReply::Drip(head.to_vec()));
    let error = two_dim_model(&server).embed_query("why", SHORT_DEADLINE).unwrap_err();
    assert!(is_slow(&error, SHORT_DEADLINE), "{error}");
    let server = StubProvider::start(|_, _| StubReply::Drip(b"HTTP/1.1 200 OK\r\nx:".to_vec()));
    let error = two_dim_model(&server).embed_query("why", SHORT_DEADLINE).unwrap_err();
    assert!(is_slow(&error, SHORT_DEADLINE), "{error}");
}

#[test]
fn all_requests_of_one_call_share_the_deadline() {
    let server = StubProvider::start(|_, number| match number {
        0 => StubReply::json(json!({ "logprobs": [{ "token": "yes", "logprob": -0.1 }] })),
        _ => StubReply::Silence,
    });
    let error =
        reranker(&server, RerankApi::Ollama).score("why", &["a", "b"], SHORT_DEADLINE).unwrap_err();
    assert!(is_slow(&error, SHORT_DEADLINE), "nothing partial: {error}");
}

#[test]
fn a_deadline_of_zero_sends_nothing() {
    let server = StubProvider::start(|seen, _| reply_with_vectors(seen));
    let error = two_dim_model(&server).embed_query("why", Duration::ZERO).unwrap_err();
    assert!(is_slow(&error, Duration::ZERO));
    assert!(server.requests().is_empty());
}

#[test]
fn an_overloaded_server_is_tried_again() {
    for status in [429, 500, 502, 503] {
        let server = StubProvider::start(move |seen, number| match number {
            0 => StubReply::Whole(status, "retry-after: 0\r\n".to_owned(), Vec::new()),
            1 => StubReply::text(status, "text/html", "<html>sorry"),
            _ => reply_with_vectors(seen),
        });
        assert!(two_dim_model(&server).embed_query("why", GENEROUS_DEADLINE).is_ok());
        assert_eq!(server.requests().len(), 3);
    }
}

#[test]
fn the_number_of_attempts_is_limited() {
    let busy = || {
        StubReply::Whole(503, "retry-after: 0\r\n".to_owned(), b"{\"error\":\"loading\"}".to_vec())
    };
    let server = StubProvider::start(move |_, _| busy());
    let error = two_dim_model(&server).embed_query("why", GENEROUS_DEADLINE).unwrap_err();
    assert!(
        matches!(&error, Error::Refused { status: 503, message, .. } if message == "loading"),
        "{error}"
    );
    assert!(error.is_temporary());
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn a_requested_wait_beyond_the_deadline_or_the_limit_is_an_error_at_once() {
    // Fifteen seconds exceed the deadline, an hour exceeds the longest accepted wait.
    for (after, deadline) in [(15, Duration::from_secs(14)), (3600, GENEROUS_DEADLINE)] {
        let server = StubProvider::start(move |_, _| {
            StubReply::Whole(429, format!("retry-after: {after}\r\n"), Vec::new())
        });
        let error = two_dim_model(&server).embed_query("why", deadline).unwrap_err();
        let requested = Some(Duration::from_secs(after));
        assert!(matches!(&error, Error::Busy { after, .. } if *after == requested), "{error}");
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn a_rejected_request_is_not_repeated() {
    for status in [400, 401, 403, 404, 413, 422, 501] {
        let server = StubProvider::start(move |_, _| {
            StubReply::text(status, "application/json", r#"{"error":"no"}"#)
        });
        let error = two_dim_model(&server).embed_query("why", GENEROUS_DEADLINE).unwrap_err();
        assert!(!error.is_temporary(), "{error}");
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn a_connection_that_breaks_before_the_answer_is_tried_again() {
    let server = StubProvider::start(|seen, number| match number {
        0 => StubReply::Raw(Vec::new()),
        _ => reply_with_vectors(seen),
    });
    assert!(two_dim_model(&server).embed_query("why", GENEROUS_DEADLINE).is_ok());
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_closed_port_is_a_temporary_error() {
    let url = CLOSED_PORT_URL.to_owned();
    let config = EmbeddingConfig {
        api: EmbeddingApi::Compatible,
        endpoint: ProviderEndpoint { url, key: None, allow_plain_http: false },
        model: "some-model".to_owned(),
        dims: Some(2),
    };
    let error =
        EmbeddingModel::open(&config).unwrap().embed_query("why", GENEROUS_DEADLINE).unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }) && error.is_temporary(), "{error}");
}
