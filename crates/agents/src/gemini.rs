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
        "user" => log.hear(id, &text, false),
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
    let text = answer::text(&call["result"]);
    let status = call["status"].as_str().unwrap_or_default();
    let failed = answer::exit_code(&text).is_some_and(|it| it != 0);
    log.answer(id, status == "success" && !failed, status == "cancelled", &text);
}
