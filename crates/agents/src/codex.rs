//! Codex: rollouts of `{timestamp, type, payload}`, one a line.
//!
//! What was said stands twice, as an item for the model and as an event for the screen: persons are
//! heard from the events, since the items also hold what the host adds in their name.

use model::{Compaction, Event, TokenUsage, Tool};
use serde_json::Value;

use crate::log::Log;
use crate::{answer, parse_time};

#[derive(Debug, Default)]
pub(crate) struct State {
    last_said: String,
    /// What a person said last, and whether as an item.
    last_heard: Option<(String, bool)>,
    n_records: u64,
}

pub(crate) fn record(log: &mut Log, state: &mut State, record: &Value) {
    log.at(parse_time(&record["timestamp"]));
    state.n_records = log.counts.lines;
    let payload = &record["payload"];
    let id = format!("line:{}", state.n_records);
    match record["type"].as_str().unwrap_or_default() {
        "session_meta" => {
            log.start(payload["id"].as_str(), None, payload["cwd"].as_str().unwrap_or_default());
        }
        "response_item" => item(log, state, &id, payload),
        "event_msg" => event(log, state, &id, payload),
        "compacted" => log.push(&id, Event::Compaction(Compaction {})),
        _ => log.counts.ignored += 1,
    }
}

fn item(log: &mut Log, state: &mut State, id: &str, item: &Value) {
    let call = item["call_id"].as_str().unwrap_or_default();
    match item["type"].as_str().unwrap_or_default() {
        "message" if item["role"] == "assistant" => {
            say(log, state, id, &answer::text(&item["content"]));
        }
        "reasoning" => say(log, state, id, &answer::text(&item["summary"])),
        "function_call" => {
            let text = item["arguments"].as_str().unwrap_or_default();
            let input = serde_json::from_str(text).unwrap_or(Value::Null);
            let name = item["name"].as_str().unwrap_or_default();
            match item["namespace"].as_str().and_then(|it| it.strip_prefix("mcp__")) {
                Some(server) => {
                    log.call_tool(call, Tool::mcp(server, name.trim_start_matches('_')), &input)
                }
                None => log.call(call, name, &input),
            };
        }
        "custom_tool_call" => {
            log.call(call, item["name"].as_str().unwrap_or_default(), &item["input"]);
        }
        "local_shell_call" => {
            log.call_tool(call, Tool::Shell, &item["action"]);
        }
        "web_search_call" => {
            log.call_tool(id, Tool::WebSearch, &item["action"]);
            log.answer(id, true, false, "");
        }
        "function_call_output" | "custom_tool_call_output" => output(log, call, &item["output"]),
        _ => log.counts.ignored += 1,
    }
}

/// The output is text, or JSON in text with the exit code beside it.
fn output(log: &mut Log, call: &str, output: &Value) {
    let text = answer::text(output);
    let inner = serde_json::from_str::<Value>(&text).ok().filter(|it| it["output"].is_string());
    let (text, code) = if let Some(it) = &inner {
        (answer::text(&it["output"]), it["metadata"]["exit_code"].as_i64())
    } else {
        let code = answer::exit_code(&text);
        (text, code)
    };
    let rejected = text.contains("rejected by user");
    let broken = ["apply_patch verification failed", "failed to parse", "execution error:"];
    let ok = code.unwrap_or(0) == 0 && !rejected && !broken.iter().any(|it| text.starts_with(it));
    log.answer(call, ok, rejected, text.split_once("\nOutput:\n").map_or(&text, |it| it.1));
}

fn event(log: &mut Log, state: &mut State, id: &str, event: &Value) {
    match event["type"].as_str().unwrap_or_default() {
        "user_message" => {
            hear(log, state, id, event["message"].as_str().unwrap_or_default(), false);
        }
        "item_completed" if event["item"]["type"] == "UserMessage" => {
            hear(log, state, id, &answer::text(&event["item"]["content"]), true);
        }
        "agent_message" => say(log, state, id, event["message"].as_str().unwrap_or_default()),
        "agent_reasoning" => say(log, state, id, event["text"].as_str().unwrap_or_default()),
        "turn_aborted" => log.hear(id, "", true),
        "token_count" => {
            let usage = &event["info"]["last_token_usage"];
            let tokens = |name: &str| usage[name].as_u64().unwrap_or(0);
            if usage.is_object() {
                let (input, cached) = (tokens("input_tokens"), tokens("cached_input_tokens"));
                log.usage(id, TokenUsage { input, output: tokens("output_tokens"), cached });
            }
        }
        _ => log.counts.ignored += 1,
    }
}

/// What a person says is an event of its own, or an item that was completed, or both.
fn hear(log: &mut Log, state: &mut State, id: &str, text: &str, as_item: bool) {
    let is_echo = |it: &(String, bool)| it.0 == text && it.1 != as_item;
    if state.last_heard.take_if(|it| is_echo(it)).is_none() {
        log.hear(id, text, false);
        state.last_heard = Some((text.to_owned(), as_item));
    }
}

fn say(log: &mut Log, state: &mut State, id: &str, text: &str) {
    if state.last_said != text {
        log.say(id, text);
        text.clone_into(&mut state.last_said);
    }
}
