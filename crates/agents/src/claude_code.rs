//! Claude Code: one JSON record a line, one record per content block.
//!
//! Results are user records; a subagent's records lie in a file of their own, in older versions among
//! the others and marked as a sidechain, which is then another session's work and left out.

use model::{Compaction, Event, TokenUsage};
use serde_json::Value;

use crate::log::Log;
use crate::{answer, parse_time};

#[derive(Debug)]
pub(crate) struct State {
    subagent: Option<String>,
    just_compacted: bool,
}

impl State {
    pub(crate) const fn new(subagent: Option<String>) -> Self {
        Self { subagent, just_compacted: false }
    }
}

/// What the host answers in place of a result when a person refused the call.
const REJECTED: &str = "doesn't want to proceed";
const INTERRUPTED: &str = "[Request interrupted";
/// Beginnings of user records that no person wrote.
const NOT_SAID: &[&str] = &[
    "<command-",
    "<local-command",
    "<bash-",
    "<system-reminder>",
    "<task-notification>",
    "Caveat: The messages below",
    "This session is being continued",
];

pub(crate) fn record(log: &mut Log, state: &mut State, record: &Value) {
    log.at(parse_time(&record["timestamp"]));
    if !log.has_started() {
        let Some(cwd) = record["cwd"].as_str() else {
            log.counts.ignored += 1;
            return;
        };
        let agent = state.subagent.clone();
        log.start(record["sessionId"].as_str(), agent.as_deref(), cwd);
    }
    let flag = |name: &str| record[name] == true;
    if (flag("isSidechain") && state.subagent.is_none()) || flag("isMeta") {
        return;
    }
    if let Some(mode) = record["permissionMode"].as_str() {
        log.planning = mode == "plan";
    }
    let id = record["uuid"].as_str().unwrap_or_default();
    match record["type"].as_str().unwrap_or_default() {
        "system" if record["subtype"] == "compact_boundary" => compact(log, state, id),
        "user" if flag("isCompactSummary") => compact(log, state, id),
        "user" => user(log, state, id, &record["message"]["content"]),
        "assistant" => assistant(log, state, id, &record["message"]),
        _ => log.counts.ignored += 1,
    }
}

/// A boundary and its summary are two records of one compaction.
fn compact(log: &mut Log, state: &mut State, id: &str) {
    if !std::mem::replace(&mut state.just_compacted, true) {
        log.push(id, Event::Compaction(Compaction {}));
    }
}

fn user(log: &mut Log, state: &mut State, id: &str, content: &Value) {
    state.just_compacted = false;
    if let Some(text) = content.as_str() {
        hear(log, id, text);
        return;
    }
    for (nth, block) in content.as_array().into_iter().flatten().enumerate() {
        let id = numbered(id, nth);
        match block["type"].as_str().unwrap_or_default() {
            "text" => hear(log, &id, block["text"].as_str().unwrap_or_default()),
            "tool_result" => {
                let text = answer::text(&block["content"]);
                let ok = block["is_error"] != true;
                let call = block["tool_use_id"].as_str().unwrap_or_default();
                log.answer(call, ok, !ok && text.contains(REJECTED), &text);
            }
            _ => log.counts.ignored += 1,
        }
    }
}

fn hear(log: &mut Log, id: &str, text: &str) {
    let interrupts = text.starts_with(INTERRUPTED);
    if interrupts || is_said(text) {
        log.hear(id, text, interrupts);
    }
}

/// Whether a person wrote it: hosts put their own notices where prompts stand.
pub(crate) fn is_said(text: &str) -> bool {
    !NOT_SAID.iter().any(|it| text.trim_start().starts_with(it))
}

fn assistant(log: &mut Log, state: &mut State, id: &str, message: &Value) {
    state.just_compacted = false;
    let usage = &message["usage"];
    if usage.is_object() {
        let tokens = |name: &str| usage[name].as_u64().unwrap_or(0);
        let cached = tokens("cache_read_input_tokens");
        let input = tokens("input_tokens") + tokens("cache_creation_input_tokens") + cached;
        let step = message["id"].as_str().unwrap_or(id);
        log.usage(step, TokenUsage { input, output: tokens("output_tokens"), cached });
    }
    for (nth, block) in message["content"].as_array().into_iter().flatten().enumerate() {
        let id = numbered(id, nth);
        match block["type"].as_str().unwrap_or_default() {
            "text" => log.say(&id, block["text"].as_str().unwrap_or_default()),
            "thinking" => log.say(&id, block["thinking"].as_str().unwrap_or_default()),
            "tool_use" => {
                let name = block["name"].as_str().unwrap_or_default();
                log.call(block["id"].as_str().unwrap_or_default(), name, &block["input"]);
            }
            _ => log.counts.ignored += 1,
        }
    }
}

/// The first block has the record's own id.
fn numbered(id: &str, nth: usize) -> String {
    if nth == 0 || id.is_empty() { id.to_owned() } else { format!("{id}#{nth}") }
}
