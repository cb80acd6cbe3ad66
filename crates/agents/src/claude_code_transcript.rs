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
//!
//! User records also hold texts of the host, see [`typed_text`]; what the user says elsewhere is read by
//! [`rejection`], [`message_queue`] and `user_replies`.

mod message_queue;
pub(crate) mod rejection;
pub(crate) mod typed_text;

use model::{ContextCompaction, Event, TokenUsage, UserMessageKind};
use serde_json::Value;

use crate::event_log::{CallOutcome, EventLog};
use crate::user_replies::{self, AwaitedReply};
use crate::{parse_time, tool_output};
use message_queue::MessageQueue;
use typed_text::{UserText, classify_user_text};

/// State between two records.
#[derive(Debug)]
pub(crate) struct ClaudeCodeState {
    /// Name of the subagent, if the file is that of one.
    subagent: Option<String>,
    /// The last record reported a compaction.
    just_compacted: bool,
    queue: MessageQueue,
}

impl ClaudeCodeState {
    pub(crate) fn new(subagent: Option<String>) -> Self {
        Self { subagent, just_compacted: false, queue: MessageQueue::default() }
    }
}

/// Heading of the plan in the result of a call that asked for its approval.
const PLAN_HEADING: &str = "## Approved Plan";

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
        "user" => read_user(log, state, id, record),
        "assistant" => read_assistant(log, state, id, &record["message"]),
        "queue-operation" => state.queue.read_operation(log, record),
        "attachment" if record["attachment"]["type"] == "queued_command" => {
            if is_from_user(&record["attachment"]) {
                state.queue.read_attachment(log, id, &record["attachment"]);
            }
        }
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

/// Completes the transcript.
pub(crate) fn finish(log: &mut EventLog, state: &mut ClaudeCodeState) {
    state.queue.finish(log);
}

/// Reads a user record: a prompt as one text, or blocks of text and tool results.
fn read_user(log: &mut EventLog, state: &mut ClaudeCodeState, id: &str, record: &Value) {
    state.just_compacted = false;
    // A session that starts with an accepted plan has it in a field, and again in the text.
    let plan = record["planContent"].as_str().unwrap_or_default();
    if !plan.is_empty() {
        user_replies::push_accepted_plan(log, &format!("{id}?"), "", plan);
    }
    let content = &record["message"]["content"];
    if let Some(text) = content.as_str() {
        read_user_text(log, state, id, record, text);
        return;
    }
    // The result as an object belongs to the only result in the record.
    let mut result = &record["toolUseResult"];
    for (nth, block) in content.as_array().into_iter().flatten().enumerate() {
        let id = block_id(id, nth);
        match block["type"].as_str().unwrap_or_default() {
            "text" => {
                let text = block["text"].as_str().unwrap_or_default();
                read_user_text(log, state, &id, record, text);
            }
            "tool_result" => {
                read_result(log, record["toolDenialKind"].as_str(), block, result);
                result = &Value::Null;
            }
            _ => log.counts.n_ignored += 1,
        }
    }
}

/// Reads a text of a user record.
fn read_user_text(
    log: &mut EventLog,
    state: &mut ClaudeCodeState,
    id: &str,
    record: &Value,
    text: &str,
) {
    let was_queued = state.queue.read_prompt(text);
    // Newer versions say who wrote a prompt.
    if !is_from_user(record) || record["promptSource"] == "system" {
        return;
    }
    match classify_user_text(text) {
        UserText::Interrupt => log.push_interrupt(id),
        UserText::AcceptedPlan(_) if record["planContent"].is_string() => {}
        UserText::AcceptedPlan(plan) => user_replies::push_accepted_plan(log, id, "", plan),
        UserText::Typed(_) if was_queued => {}
        UserText::Typed(typed) => {
            let is_queued = record["promptSource"] == "queued";
            let kind = if is_queued { UserMessageKind::Queued } else { UserMessageKind::Prompt };
            log.push_typed(id, kind, &typed);
        }
        UserText::Notice => {}
    }
}

/// True unless the host names another author than the user, such as a background task or another agent.
fn is_from_user(record: &Value) -> bool {
    record["origin"]["kind"].as_str().is_none_or(|it| it == "human")
}

/// Reads the result of a call. `result` is the same as an object, as far as the host writes it.
fn read_result(log: &mut EventLog, denial: Option<&str>, block: &Value, result: &Value) {
    let call = block["tool_use_id"].as_str().unwrap_or_default();
    let text = tool_output::extract_text(&block["content"]);
    let outcome = rejection::find_outcome(block["is_error"] == true, denial, &text);
    log.push_result(call, outcome, &text);
    push_reply(log, call, outcome, &text, result);
}

/// Adds what the user said in the result of a call.
pub(crate) fn push_reply(
    log: &mut EventLog,
    call: &str,
    outcome: CallOutcome,
    text: &str,
    result: &Value,
) {
    let awaited = log.take_awaited_reply(call);
    match (outcome, awaited) {
        (CallOutcome::Rejected, _) => rejection::push_reason(log, call, text),
        (CallOutcome::Ok, Some(AwaitedReply::Answers { questions })) => {
            let asked =
                if result["questions"].is_array() { &result["questions"] } else { &questions };
            let (answers, notes) = (&result["answers"], &result["annotations"]);
            user_replies::push_answers(log, call, asked, answers, notes);
        }
        (CallOutcome::Ok, Some(AwaitedReply::Approval { plan })) => {
            // The user may have edited the plan; then only the result has it.
            let approved = text.split_once(PLAN_HEADING).and_then(|(_, it)| it.split_once('\n'));
            let plan =
                approved.map(|(_, it)| it).or(result["plan"].as_str()).unwrap_or(plan.as_str());
            user_replies::push_accepted_plan(log, &format!("{call}?"), call, plan);
        }
        _ => {}
    }
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
            "thinking" => log.push_thought(&id, block["thinking"].as_str().unwrap_or_default()),
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
