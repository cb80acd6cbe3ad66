//! Text generation with each API: the request that is sent, and the text that is returned.
//!
//! Expected texts have three lines: the completion, the method and path of the request, and its body.

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use waylore_infer::{Error, ResponseFlaw, TextApi, TextConfig, TextGenerator, TextPrompt};

use crate::providers::{GENEROUS_DEADLINE, KEY, endpoint, response_flaw};
use crate::server::{StubProvider, StubReply, StubRequest};

/// Completes a prompt at a server with this reply. Returns the result and the request.
fn complete(api: TextApi, answer: Value, system: &str) -> (Result<String, Error>, StubRequest) {
    let server = StubProvider::start(move |_, _| StubReply::json(answer.clone()));
    let config = TextConfig { api, endpoint: endpoint(&server), model: "some-model".to_owned() };
    let prompt = TextPrompt { system, user: "why?", max_tokens: 50 };
    let res = TextGenerator::new(&config).unwrap().complete(&prompt, GENEROUS_DEADLINE);
    (res, server.requests().remove(0))
}

/// Compares the text, the path and the request body.
fn check(api: TextApi, answer: Value, expect: Expect) {
    let (res, seen) = complete(api, answer, "be brief");
    expect.assert_eq(&format!("{}\n{}\n{}\n", res.unwrap(), seen.line, seen.body));
}

#[test]
fn ollama_chats_without_streaming_or_thinking() {
    let answer = json!({ "model": "m", "message": { "role": "assistant", "content": " because \n" }, "done": true });
    check(
        TextApi::Ollama,
        answer,
        expect![[r#"
        because
        POST /api/chat
        {"messages":[{"content":"be brief","role":"system"},{"content":"why?","role":"user"}],"model":"some-model","options":{"num_predict":50,"temperature":0},"stream":false,"think":false}
    "#]],
    );
}

#[test]
fn openai_and_compatible_servers_get_different_names_of_the_token_limit() {
    let answer = json!({ "choices": [{ "index": 0, "message": { "role": "assistant", "content": "<think>hm</think>because" } }] });
    check(
        TextApi::OpenAi,
        answer.clone(),
        expect![[r#"
        because
        POST /v1/chat/completions
        {"max_completion_tokens":50,"messages":[{"content":"be brief","role":"system"},{"content":"why?","role":"user"}],"model":"some-model","stream":false}
    "#]],
    );
    check(
        TextApi::Compatible,
        answer,
        expect![[r#"
        because
        POST /v1/chat/completions
        {"max_tokens":50,"messages":[{"content":"be brief","role":"system"},{"content":"why?","role":"user"}],"model":"some-model","stream":false,"temperature":0}
    "#]],
    );
}

#[test]
fn anthropic_has_its_own_headers_and_blocks() {
    let answer = json!({ "type": "message", "content": [
        { "type": "thinking", "thinking": "hm" }, { "type": "text", "text": "be" }, { "type": "text", "text": "cause" },
    ] });
    check(
        TextApi::Anthropic,
        answer.clone(),
        expect![[r#"
        because
        POST /v1/messages
        {"max_tokens":50,"messages":[{"content":"why?","role":"user"}],"model":"some-model","system":"be brief"}
    "#]],
    );
    let (_, seen) = complete(TextApi::Anthropic, answer, "");
    assert_eq!(seen.header("x-api-key"), Some(KEY));
    assert_eq!(seen.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!((seen.header("authorization"), seen.body.get("system")), (None, None));
}

#[test]
fn a_reply_without_text_is_an_error() {
    let message = |content: Value| json!({ "message": { "content": content } });
    let rows = [
        (TextApi::Ollama, message(json!(" \n"))),
        (TextApi::Ollama, message(json!("<think>and so on"))),
        (TextApi::OpenAi, json!({ "choices": [message(Value::Null)] })),
        (TextApi::Compatible, json!({ "choices": [] })),
        (TextApi::Anthropic, json!({ "content": [] })),
    ];
    for (api, answer) in rows {
        let (res, _) = complete(api, answer, "");
        assert_eq!(response_flaw(res.unwrap_err()), ResponseFlaw::Empty);
    }
    // The answer of another API.
    let (res, _) = complete(TextApi::Anthropic, json!({ "message": { "content": "because" } }), "");
    assert!(matches!(response_flaw(res.unwrap_err()), ResponseFlaw::Shape(_)));
}
