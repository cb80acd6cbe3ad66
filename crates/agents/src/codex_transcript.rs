//! Reads rollouts (the transcripts) of Codex: one `{timestamp, type, payload}` per line. Each record
//! becomes events of the [`EventLog`], which collects what happened in the session.
//!
//! Each message appears twice, as an item for the model (`response_item`) and as an event for the
//! screen (`event_msg`). User messages are taken from the events, because the items also hold texts
//! that the host adds in the user's name.

use model::{ContextCompaction, Event, TokenUsage, Tool};
use serde_json::Value;

use crate::event_log::{CallOutcome, EventLog};
use crate::{parse_time, tool_output};

/// Texts by which the second copy of a message is recognised.
#[derive(Debug, Default)]
pub(crate) struct CodexState {
    last_reply: String,
    last_prompt: Option<(String, PromptForm)>,
}

/// The two records in which a prompt may appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PromptForm {
    Event,
    CompletedItem,
}

/// Beginnings of outputs that report a failure without an exit code.
const FAILURE_PREFIXES: &[&str] =
    &["apply_patch verification failed", "failed to parse", "execution error:"];

/// Reads one line of the rollout.
pub(crate) fn read_record(log: &mut EventLog, state: &mut CodexState, record: &Value) {
    log.set_time(parse_time(&record["timestamp"]));
    let payload = &record["payload"];
    // Records have no ids. The line number is stable, because the host only appends.
    let id = format!("line:{}", log.counts.n_lines);
    match record["type"].as_str().unwrap_or_default() {
        "session_meta" => {
            log.start_session(
                payload["id"].as_str(),
                None,
                payload["cwd"].as_str().unwrap_or_default(),
            );
        }
        "response_item" => read_item(log, state, &id, payload),
        "event_msg" => read_event(log, state, &id, payload),
        "compacted" => log.push_event(&id, Event::Compaction(ContextCompaction {})),
        _ => log.counts.n_ignored += 1,
    }
}

/// Reads an item for the model: a message, a tool call or its output.
fn read_item(log: &mut EventLog, state: &mut CodexState, id: &str, item: &Value) {
    let call = item["call_id"].as_str().unwrap_or_default();
    match item["type"].as_str().unwrap_or_default() {
        "message" if item["role"] == "assistant" => {
            push_reply(log, state, id, &tool_output::extract_text(&item["content"]));
        }
        "reasoning" => push_reply(log, state, id, &tool_output::extract_text(&item["summary"])),
        "function_call" => {
            let text = item["arguments"].as_str().unwrap_or_default();
            let input = serde_json::from_str(text).unwrap_or(Value::Null);
            let name = item["name"].as_str().unwrap_or_default();
            // An MCP tool has its server in a field of its own instead of in its name.
            match item["namespace"].as_str().and_then(|it| it.strip_prefix("mcp__")) {
                Some(server) => log.push_tool_call(
                    call,
                    Tool::mcp_tool(server, name.trim_start_matches('_')),
                    &input,
                ),
                None => log.push_call(call, name, &input),
            };
        }
        "custom_tool_call" => {
            log.push_call(call, item["name"].as_str().unwrap_or_default(), &item["input"]);
        }
        "local_shell_call" => {
            log.push_tool_call(call, Tool::Shell, &item["action"]);
        }
        "web_search_call" => {
            // The host writes no record for the result of a web search.
            log.push_tool_call(id, Tool::WebSearch, &item["action"]);
            log.push_result(id, CallOutcome::Ok, "");
        }
        "function_call_output" | "custom_tool_call_output" => {
            read_output(log, call, &item["output"]);
        }
        _ => log.counts.n_ignored += 1,
    }
}

/// The output is a text (`Process exited with code 1\nOutput:\n…`), or a JSON object in a text with the
/// exit code beside it (`{"output": "…", "metadata": {"exit_code": 0}}`).
fn read_output(log: &mut EventLog, call: &str, output: &Value) {
    let text = tool_output::extract_text(output);
    let (text, exit_code) = match serde_json::from_str::<Value>(&text) {
        Ok(object) if object["output"].is_string() => {
            let exit_code = object["metadata"]["exit_code"].as_i64();
            (tool_output::extract_text(&object["output"]), exit_code)
        }
        // No JSON, or JSON that the command itself wrote.
        Ok(_) | Err(_) => {
            let exit_code = tool_output::find_exit_code(&text);
            (text, exit_code)
        }
    };
    let outcome = if text.contains("rejected by user") {
        CallOutcome::Rejected
    } else {
        let is_failure = FAILURE_PREFIXES.iter().any(|it| text.starts_with(it));
        CallOutcome::from_success(exit_code.unwrap_or(0) == 0 && !is_failure)
    };
    // Above `Output:` are lines of the host: exit code and wall time.
    let output = text.split_once("\nOutput:\n").map_or(text.as_str(), |(_, output)| output);
    log.push_result(call, outcome, output);
}

/// Reads an event for the screen: a message, an interrupt or the token usage.
fn read_event(log: &mut EventLog, state: &mut CodexState, id: &str, event: &Value) {
    match event["type"].as_str().unwrap_or_default() {
        "user_message" => {
            let text = event["message"].as_str().unwrap_or_default();
            push_prompt(log, state, id, text, PromptForm::Event);
        }
        "item_completed" if event["item"]["type"] == "UserMessage" => {
            let text = tool_output::extract_text(&event["item"]["content"]);
            push_prompt(log, state, id, &text, PromptForm::CompletedItem);
        }
        "agent_message" => {
            push_reply(log, state, id, event["message"].as_str().unwrap_or_default());
        }
        "agent_reasoning" => push_reply(log, state, id, event["text"].as_str().unwrap_or_default()),
        "turn_aborted" => log.push_interrupt(id, ""),
        "token_count" => {
            let usage = &event["info"]["last_token_usage"];
            let tokens = |name: &str| usage[name].as_u64().unwrap_or(0);
            if usage.is_object() {
                let (input, cached) = (tokens("input_tokens"), tokens("cached_input_tokens"));
                log.record_usage(id, TokenUsage { input, output: tokens("output_tokens"), cached });
            }
        }
        _ => log.counts.n_ignored += 1,
    }
}

/// A prompt is an event, a completed item, or both. The second record of the same text in the other
/// form is skipped.
fn push_prompt(log: &mut EventLog, state: &mut CodexState, id: &str, text: &str, form: PromptForm) {
    let is_copy = state
        .last_prompt
        .as_ref()
        .is_some_and(|(last_text, last_form)| last_text == text && *last_form != form);
    if is_copy {
        // A prompt has one copy at most; the same text again would be a new prompt.
        state.last_prompt = None;
    } else {
        log.push_user_message(id, text);
        state.last_prompt = Some((text.to_owned(), form));
    }
}

/// A text of the model, unless it repeats the one before it.
fn push_reply(log: &mut EventLog, state: &mut CodexState, id: &str, text: &str) {
    if state.last_reply != text {
        log.push_reasoning(id, text);
        text.clone_into(&mut state.last_reply);
    }
}
