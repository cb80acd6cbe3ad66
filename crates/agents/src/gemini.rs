//! Gemini CLI: a chat as one document, or its head and messages one a line.

use model::TokenUsage;
use serde_json::Value;

use crate::log::Log;
use crate::{answer, parse_time};

pub(crate) fn record(log: &mut Log, record: &Value) {
    if record["projectHash"].is_string() || record["messages"].is_array() {
        log.at(parse_time(&record["startTime"]));
        let cwd = record["cwd"].as_str().or(record["projectRoot"].as_str()).unwrap_or_default();
        log.start(record["sessionId"].as_str(), None, cwd);
        record["messages"].as_array().into_iter().flatten().for_each(|it| message(log, it));
    } else {
        message(log, record);
    }
}

fn message(log: &mut Log, message: &Value) {
    log.at(parse_time(&message["timestamp"]));
    let id = message["id"].as_str().unwrap_or_default();
    let text = answer::text(&message["content"]);
    match message["type"].as_str().unwrap_or_default() {
        // The answers of tools go to the model as if a person had said them.
        "user" if answers_a_tool(&message["content"]) => log.counts.ignored += 1,
        "user" => log.hear(id, &without_context(&text), false),
        "gemini" => {
            for (nth, thought) in message["thoughts"].as_array().into_iter().flatten().enumerate() {
                let said = thought["description"].as_str().unwrap_or_default();
                log.say(&format!("{id}~{nth}"), said);
            }
            log.say(id, &text);
            message["toolCalls"].as_array().into_iter().flatten().for_each(|it| call(log, it));
            let tokens = |name: &str| message["tokens"][name].as_u64().unwrap_or(0);
            if message["tokens"].is_object() {
                let (input, cached) = (tokens("input"), tokens("cached"));
                log.usage(id, TokenUsage { input, output: tokens("output"), cached });
            }
        }
        _ => log.counts.ignored += 1,
    }
}

fn call(log: &mut Log, call: &Value) {
    log.at(parse_time(&call["timestamp"]));
    let id = call["id"].as_str().unwrap_or_default();
    log.call(id, call["name"].as_str().unwrap_or_default(), &call["args"]);
    let text = without_context(&answer::text(&call["result"]));
    let status = call["status"].as_str().unwrap_or_default();
    let failed = answer::exit_code(&text).is_some_and(|it| it != 0);
    log.answer(id, status == "success" && !failed, status == "cancelled", &text);
}

fn answers_a_tool(content: &Value) -> bool {
    let mut parts = content.as_array().into_iter().flatten();
    parts.any(|it| it["functionResponse"].is_object())
}

/// A text without what hooks have added to it, and out of what the host wraps around it.
pub(crate) fn without_context(text: &str) -> String {
    const OPEN: &str = "<hook_context>";
    const CLOSE: &str = "</hook_context>";
    let mut acc = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(OPEN) {
        acc.push_str(&rest[..at]);
        let block = &rest[at + OPEN.len()..];
        rest = block.find(CLOSE).map_or("", |end| &block[end + CLOSE.len()..]);
    }
    acc.push_str(rest);
    let bare = acc.trim();
    let bare = bare.strip_prefix("<untrusted_context>").unwrap_or(bare);
    let bare = bare.strip_suffix("</untrusted_context>").unwrap_or(bare).trim();
    bare.strip_prefix("Output: ").unwrap_or(bare).to_owned()
}
