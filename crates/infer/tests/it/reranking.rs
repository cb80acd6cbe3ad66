//! Rerankers with each API: the request that is sent, and the scores in the order of the documents.
//!
//! Expected texts have three lines: the scores of the two documents, the method and path of the
//! request, and its body.

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use waylore_infer::{RerankApi, ResponseFlaw};

use crate::providers::{GENEROUS_DEADLINE, reranker, response_flaw};
use crate::server::{StubProvider, StubReply};

/// Scores two documents and compares the scores, the path and the request body.
fn check(api: RerankApi, answer: Value, expect: Expect) {
    let server = StubProvider::start(move |_, _| StubReply::json(answer.clone()));
    let scores = reranker(&server, api).score("why", &["a", "b"], GENEROUS_DEADLINE).unwrap();
    let seen = &server.requests()[0];
    expect.assert_eq(&format!("{scores:.3?}\n{}\n{}\n", seen.line, seen.body));
}

#[test]
fn cohere_sorts_its_results_best_first() {
    let answer = json!({ "id": "x", "results": [
        { "index": 1, "relevance_score": 0.9 }, { "index": 0, "relevance_score": 0.1 },
    ], "meta": {} });
    check(
        RerankApi::Cohere,
        answer,
        expect![[r#"
        [0.100, 0.900]
        POST /v2/rerank
        {"documents":["a","b"],"model":"some-reranker","query":"why","top_n":2}
    "#]],
    );
}

#[test]
fn tei_returns_a_bare_list() {
    let answer = json!([{ "index": 1, "score": 0.9 }, { "index": 0, "score": 0.1, "text": "a" }]);
    check(
        RerankApi::Tei,
        answer,
        expect![[r#"
        [0.100, 0.900]
        POST /rerank
        {"query":"why","raw_scores":false,"return_text":false,"texts":["a","b"],"truncate":true}
    "#]],
    );
}

#[test]
fn raw_scores_of_llama_cpp_are_mapped_to_the_unit_range() {
    let answer = json!({ "model": "x", "object": "list", "results": [
        { "index": 0, "relevance_score": -8.5 }, { "index": 1, "relevance_score": 2.2 },
    ] });
    check(
        RerankApi::Compatible,
        answer,
        expect![[r#"
        [0.000, 0.900]
        POST /v1/rerank
        {"documents":["a","b"],"model":"some-reranker","query":"why","top_n":2}
    "#]],
    );
}

#[test]
fn qwen_on_ollama_answers_yes_or_no_for_each_document() {
    let server = StubProvider::start(|seen, _| {
        // Only document `b` is relevant.
        let is_relevant = seen.body["prompt"].as_str().unwrap().contains("<Document>: b<|im_end|>");
        let (first, second) = if is_relevant { ("yes", "no") } else { ("no", "yes") };
        StubReply::json(json!({ "response": first, "logprobs": [{ "token": first, "logprob": -0.1,
            "top_logprobs": [{ "token": first, "logprob": -0.1 }, { "token": second, "logprob": -2.3 }] }] }))
    });
    let scores = reranker(&server, RerankApi::Ollama)
        .score("why", &["a", "b", "c"], GENEROUS_DEADLINE)
        .unwrap();
    assert_eq!(format!("{scores:.2?}"), "[0.10, 0.90, 0.10]");

    // One request per document; the prompt itself is tested beside its code.
    let seen = server.requests();
    assert_eq!(seen.len(), 3);
    assert_eq!(seen[0].line, "POST /api/generate");
    let mut body = seen[0].body.clone();
    body["prompt"].take();
    assert_eq!(
        body,
        json!({
            "model": "some-reranker", "prompt": null, "raw": true, "stream": false, "logprobs": true, "top_logprobs": 20,
            "options": { "num_predict": 1, "temperature": 0 },
        })
    );
}

#[test]
fn a_long_list_is_split_into_several_requests() {
    let server = StubProvider::start(|seen, _| {
        // The score of a document is the number in it, and the results come in reverse order.
        let mut results = Vec::new();
        for (i, text) in seen.body["texts"].as_array().unwrap().iter().enumerate().rev() {
            let number: f32 = text.as_str().unwrap().parse().unwrap();
            results.push(json!({ "index": i, "score": number / 100.0 }));
        }
        StubReply::json(results.into())
    });
    let documents: Vec<String> = (0..40).map(|it| it.to_string()).collect();
    let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
    let scores =
        reranker(&server, RerankApi::Tei).score("why", &documents, GENEROUS_DEADLINE).unwrap();
    assert_eq!((scores.len(), scores.is_sorted(), server.requests().len()), (40, true, 2));
}

#[test]
fn incomplete_and_meaningless_scores_are_rejected() {
    let check = |api: RerankApi, answer: Value, expected: ResponseFlaw| {
        let server = StubProvider::start(move |_, _| StubReply::json(answer.clone()));
        let error =
            reranker(&server, api).score("why", &["a", "b"], GENEROUS_DEADLINE).unwrap_err();
        assert_eq!(response_flaw(error), expected);
    };
    let result = |index: usize, score: f64| json!({ "index": index, "relevance_score": score });
    let results = |all: &[Value]| json!({ "results": all });
    check(
        RerankApi::Cohere,
        results(&[result(0, 0.5)]),
        ResponseFlaw::Count { wanted: 2, found: 1 },
    );
    check(RerankApi::Cohere, results(&[result(0, 0.5), result(0, 0.5)]), ResponseFlaw::Order);
    check(RerankApi::Cohere, results(&[result(0, 0.5), result(2, 0.5)]), ResponseFlaw::Order);
    check(RerankApi::Cohere, results(&[result(0, 0.5), result(1, 1e39)]), ResponseFlaw::NotFinite);
    check(
        RerankApi::Compatible,
        results(&[result(0, 1e-20), result(1, 3e-20)]),
        ResponseFlaw::Flat,
    );
    check(RerankApi::Ollama, json!({ "response": "yes" }), ResponseFlaw::NoVote);
}

#[test]
fn without_documents_nothing_is_sent() {
    let server = StubProvider::start(|_, _| StubReply::Silence);
    assert!(
        reranker(&server, RerankApi::Cohere)
            .score("why", &[], GENEROUS_DEADLINE)
            .unwrap()
            .is_empty()
    );
    assert!(server.requests().is_empty());
}

#[test]
fn a_probe_checks_that_the_answer_scores_higher() {
    for (scores, sane) in [([0.1, 0.9], true), ([0.9, 0.1], false)] {
        let row = move |i: usize| json!({ "index": i, "relevance_score": scores[i] });
        let server = StubProvider::start(move |_, _| {
            StubReply::json(json!({ "results": [row(0), row(1)] }))
        });
        let probe = reranker(&server, RerankApi::Cohere).probe().unwrap();
        assert_eq!((probe.is_sane(), probe.model.as_str()), (sane, "some-reranker"));
    }
}
