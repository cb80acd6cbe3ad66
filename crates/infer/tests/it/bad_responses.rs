//! Invalid responses of embedding providers: each is an error that names the flaw, and no part of the
//! response is used.

use waylore_infer::{EmbeddingApi, ResponseFlaw};

use crate::providers::{GENEROUS_DEADLINE, open_model, response_flaw, two_dim_model};
use crate::server::{StubProvider, StubReply};

/// The flaw of a reply to a request for two vectors of two numbers.
fn flaw_of_reply(reply: impl Fn() -> StubReply + Send + Sync + 'static) -> ResponseFlaw {
    let server = StubProvider::start(move |_, _| reply());
    let error = two_dim_model(&server).embed_documents(&["a", "b"]).unwrap_err();
    assert_eq!(server.requests().len(), 1, "another attempt would not help");
    response_flaw(error)
}

/// The flaw of a successful response with this body, valid JSON or not.
fn flaw_of_json(body: &'static str) -> ResponseFlaw {
    flaw_of_reply(move || StubReply::text(200, "application/json; charset=utf-8", body))
}

/// The flaw of these bytes instead of an HTTP response.
fn flaw_of_bytes(text: &'static str) -> ResponseFlaw {
    flaw_of_reply(move || StubReply::Raw(text.as_bytes().to_vec()))
}

/// The flaw of an answer with these two vectors, written as JSON.
fn flaw_of_vectors(first: &str, second: &str) -> ResponseFlaw {
    let row = |i: usize, it: &str| format!(r#"{{"index":{i},"embedding":{it}}}"#);
    let body = format!(r#"{{"data":[{},{}]}}"#, row(0, first), row(1, second));
    flaw_of_reply(move || StubReply::text(200, "application/json", &body))
}

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";

#[test]
fn an_answer_that_breaks_off_is_truncated() {
    // The JSON ends too early.
    assert_eq!(flaw_of_json(r#"{"data":[{"index":0,"embed"#), ResponseFlaw::Truncated);
    assert_eq!(flaw_of_json(""), ResponseFlaw::Truncated);

    // The rest of the headers and the body.
    for rest in [
        // The announced length is larger, then smaller, than the body.
        "content-length: 5000\r\n\r\n{\"data\":[]}",
        "content-length: 5\r\n\r\n{\"data\":[]}",
        // A chunk is incomplete, then its length is no number.
        "transfer-encoding: chunked\r\n\r\n5\r\n{\"dat",
        "transfer-encoding: chunked\r\n\r\nzz\r\n{}",
    ] {
        let reply = move || StubReply::Raw(format!("{HEAD}{rest}").into_bytes());
        assert_eq!(flaw_of_reply(reply), ResponseFlaw::Truncated, "{rest}");
    }
}

#[test]
fn a_response_that_is_not_the_expected_json_is_classified() {
    // A web page, by its body or by its type.
    assert_eq!(flaw_of_json("<html>captive portal</html>"), ResponseFlaw::WebPage);
    assert_eq!(flaw_of_reply(|| StubReply::text(200, "text/html", "{}")), ResponseFlaw::WebPage);
    assert_eq!(
        flaw_of_reply(|| StubReply::text(200, "text/plain", "{}")),
        ResponseFlaw::WrongType("text/plain".to_owned())
    );

    // No JSON, or more than one value.
    assert_eq!(flaw_of_json("data: {}"), ResponseFlaw::NotJson);
    assert_eq!(flaw_of_json(r#"{"data":[]} and more"#), ResponseFlaw::NotJson);

    // JSON of another API, JSON of another type, and no HTTP at all.
    assert!(matches!(flaw_of_json(r#"{"embeddings":[[1,0],[0,1]]}"#), ResponseFlaw::Shape(_)));
    assert!(matches!(flaw_of_json("[]"), ResponseFlaw::Shape(_)));
    assert!(matches!(flaw_of_bytes("SSH-2.0-OpenSSH_9.9\r\n\r\n"), ResponseFlaw::NotHttp(_)));
}

#[test]
fn vectors_with_invalid_numbers_are_rejected() {
    assert_eq!(flaw_of_vectors("[1,0]", "[NaN,0]"), ResponseFlaw::NotJson);
    assert_eq!(flaw_of_vectors("[1,0]", "[1e39,0]"), ResponseFlaw::NotFinite);
    assert_eq!(flaw_of_vectors("[1,0]", "[0,0]"), ResponseFlaw::Zero);

    // Vectors that are no lists of numbers; the third is a vector in base 64.
    for vector in
        ["[null,0]", r#"["1","0"]"#, r#""AACAPwAAAAA=""#, "null", "{}", "[[1,0]]", "[true,0]"]
    {
        assert!(matches!(flaw_of_vectors("[1,0]", vector), ResponseFlaw::Shape(_)), "{vector}");
    }
}

#[test]
fn a_wrong_length_or_number_of_vectors_is_rejected() {
    assert_eq!(flaw_of_vectors("[1,0]", "[1,0,0]"), ResponseFlaw::Dims { wanted: 2, found: 3 });
    assert_eq!(flaw_of_vectors("[1,0]", "[1]"), ResponseFlaw::Dims { wanted: 2, found: 1 });
    assert_eq!(flaw_of_vectors("[1,0]", "[]"), ResponseFlaw::Dims { wanted: 2, found: 0 });
    assert_eq!(
        flaw_of_json(r#"{"data":[{"index":0,"embedding":[1,0]}]}"#),
        ResponseFlaw::Count { wanted: 2, found: 1 }
    );
    assert_eq!(flaw_of_json(r#"{"data":[]}"#), ResponseFlaw::Count { wanted: 2, found: 0 });
    let twice = r#"{"data":[{"index":0,"embedding":[1,0]},{"index":0,"embedding":[0,1]}]}"#;
    assert_eq!(flaw_of_json(twice), ResponseFlaw::Order);
    assert!(matches!(
        flaw_of_json(r#"{"data":[{"index":-1,"embedding":[1,0]}]}"#),
        ResponseFlaw::Shape(_)
    ));
}

#[test]
fn one_failed_request_of_many_fails_the_whole_call() {
    let server = StubProvider::start(|seen, number| match number {
        0 => crate::providers::reply_with_vectors(seen),
        _ => StubReply::json(serde_json::json!({ "data": [] })),
    });
    let error = two_dim_model(&server).embed_documents(&["a"; 40]).unwrap_err();
    assert_eq!(response_flaw(error), ResponseFlaw::Count { wanted: 8, found: 0 });
}

#[test]
fn a_model_without_measurable_dimensions_is_not_opened() {
    for body in [r#"{"data":[]}"#, r#"{"data":[{"index":0,"embedding":[]}]}"#] {
        let server =
            StubProvider::start(move |_, _| StubReply::text(200, "application/json", body));
        let error =
            open_model(&server, EmbeddingApi::Compatible, "some-model", None).err().unwrap();
        assert!(matches!(response_flaw(error), ResponseFlaw::Count { .. }));
    }
}

#[test]
fn the_vector_of_a_query_is_checked_like_those_of_documents() {
    let server = StubProvider::start(|_, _| {
        StubReply::json(crate::providers::openai_body(&[vec![1.0, 0.0], vec![0.0, 1.0]]))
    });
    let error = two_dim_model(&server).embed_query("why", GENEROUS_DEADLINE).unwrap_err();
    assert_eq!(response_flaw(error), ResponseFlaw::Count { wanted: 1, found: 2 });
}
