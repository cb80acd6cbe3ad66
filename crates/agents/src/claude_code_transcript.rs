//! Reads transcripts of Claude Code: one JSON record per line, one record per content block. Each
//! becomes events of the [`EventLog`], which collects what happened in the session:
//!
//! ```text
//! {"type":"user","uuid":"u1","message":{"content":"fix it"}}              user message
//! {"type":"assistant","message":{"content":[{"type":"tool_use", …}]}}     tool call
//! {"type":"user","message":{"content":[{"type":"tool_result", …}]}}       tool result
//! ```
//!
//! A subagent (an agent that the agent started) has a file of its own; older versions wrote its records
//! into the parent's file, marked as a sidechain. Those are skipped there, because they belong to
//! another session. A compaction replaces the conversation so far by a summary.

use model::{ContextCompaction, Event, TokenUsage};
use serde_json::Value;

use crate::event_log::{CallOutcome, EventLog};
use crate::{parse_time, tool_output};

/// State between two records.
#[derive(Debug)]
pub(crate) struct ClaudeCodeState {
    /// Name of the subagent, if the file is that of one.
    subagent: Option<String>,
    /// The last record reported a compaction.
    just_compacted: bool,
}

impl ClaudeCodeState {
    pub(crate) const fn new(subagent: Option<String>) -> Self {
        Self { subagent, just_compacted: false }
    }
}

/// Part of the result of a call that the user rejected.
const REJECTED_PHRASE: &str = "doesn't want to proceed";
const INTERRUPT_PREFIX: &str = "[Request interrupted";
/// Beginnings of user records that the host wrote, not the user.
const HOST_NOTICE_PREFIXES: &[&str] = &[
    "<command-",
    "<local-command",
    "<bash-",
    "<system-reminder>",
    "<task-notification>",
    "Caveat: The messages below",
    "This session is being continued",
];

/// Reads one line of the transcript.
pub(crate) fn read_record(log: &mut EventLog, state: &mut ClaudeCodeState, record: &Value) {
    log.set_time(parse_time(&record["timestamp"]));
    // The first records (summaries, snapshots) have no working directory, which paths are relative
    // to.
    if !log.has_started() {
        let Some(cwd) = record["cwd"].as_str() else {
            log.counts.n_ignored += 1;
            return;
        };
        log.start_session(record["sessionId"].as_str(), state.subagent.as_deref(), cwd);
    }
    let has_flag = |name: &str| record[name] == true;
    // In the file of a subagent every record is a sidechain. In that of the main agent, a sidechain is
    // the work of a subagent, which is another session.
    let is_main_file = state.subagent.is_none();
    if is_main_file && has_flag("isSidechain") {
        return;
    }
    // Meta records are texts of the host that its own screen hides.
    if has_flag("isMeta") {
        return;
    }
    if let Some(mode) = record["permissionMode"].as_str() {
        log.planning = mode == "plan";
    }
    let id = record["uuid"].as_str().unwrap_or_default();
    match record["type"].as_str().unwrap_or_default() {
        "system" if record["subtype"] == "compact_boundary" => push_compaction(log, state, id),
        "user" if has_flag("isCompactSummary") => push_compaction(log, state, id),
        "user" => read_user(log, state, id, &record["message"]["content"]),
        "assistant" => read_assistant(log, state, id, &record["message"]),
        _ => log.counts.n_ignored += 1,
    }
}

/// The boundary and the summary of one compaction are two records; the second is skipped.
fn push_compaction(log: &mut EventLog, state: &mut ClaudeCodeState, id: &str) {
    if !state.just_compacted {
        log.push_event(id, Event::Compaction(ContextCompaction {}));
    }
    state.just_compacted = true;
}

/// Reads a user record: a prompt as one text, or blocks of text and tool results.
fn read_user(log: &mut EventLog, state: &mut ClaudeCodeState, id: &str, content: &Value) {
    state.just_compacted = false;
    if let Some(text) = content.as_str() {
        push_user_text(log, id, text);
        return;
    }
    for (nth, block) in content.as_array().into_iter().flatten().enumerate() {
        let id = block_id(id, nth);
        match block["type"].as_str().unwrap_or_default() {
            "text" => push_user_text(log, &id, block["text"].as_str().unwrap_or_default()),
            "tool_result" => {
                let text = tool_output::extract_text(&block["content"]);
                let is_error = block["is_error"] == true;
                let outcome = if is_error && text.contains(REJECTED_PHRASE) {
                    CallOutcome::Rejected
                } else {
                    CallOutcome::from_success(!is_error)
                };
                log.push_result(block["tool_use_id"].as_str().unwrap_or_default(), outcome, &text);
            }
            _ => log.counts.n_ignored += 1,
        }
    }
}

fn push_user_text(log: &mut EventLog, id: &str, text: &str) {
    if text.starts_with(INTERRUPT_PREFIX) {
        log.push_interrupt(id, text);
    } else if is_user_written(text) {
        log.push_user_message(id, text);
    }
}

/// True if the user wrote a text; the host puts its own notices into user records, too.
pub(crate) fn is_user_written(text: &str) -> bool {
    !HOST_NOTICE_PREFIXES.iter().any(|it| text.trim_start().starts_with(it))
}

/// Reads a record of the model: its token usage, then its texts and tool calls.
fn read_assistant(log: &mut EventLog, state: &mut ClaudeCodeState, id: &str, message: &Value) {
    state.just_compacted = false;
    let usage = &message["usage"];
    if usage.is_object() {
        let tokens = |name: &str| usage[name].as_u64().unwrap_or(0);
        let cached = tokens("cache_read_input_tokens");
        // The host reports the three kinds of input tokens separately; our `input` is their sum.
        let input = tokens("input_tokens") + tokens("cache_creation_input_tokens") + cached;
        // All records of one model call share the id of its message.
        let step = message["id"].as_str().unwrap_or(id);
        log.record_usage(step, TokenUsage { input, output: tokens("output_tokens"), cached });
    }
    for (nth, block) in message["content"].as_array().into_iter().flatten().enumerate() {
        let id = block_id(id, nth);
        match block["type"].as_str().unwrap_or_default() {
            "text" => log.push_reasoning(&id, block["text"].as_str().unwrap_or_default()),
            "thinking" => log.push_reasoning(&id, block["thinking"].as_str().unwrap_or_default()),
            "tool_use" => {
                let name = block["name"].as_str().unwrap_or_default();
                log.push_call(block["id"].as_str().unwrap_or_default(), name, &block["input"]);
            }
            _ => log.counts.n_ignored += 1,
        }
    }
}

/// Id of a content block: the record's own for the first one, numbered for the others.
fn block_id(id: &str, nth: usize) -> String {
    if nth == 0 || id.is_empty() { id.to_owned() } else { format!("{id}#{nth}") }
}
