//! Reads sessions of `OpenCode`, which keeps them in a database.
//!
//! The caller opens the database and passes the rows in as values: a session has messages, a message
//! has parts (text, reasoning, tool calls). Each row has a `data` column with JSON. A part becomes
//! events of the [`EventLog`], which collects what happened in the session: the part
//! `{"type":"tool","tool":"bash","state":{"status":"completed", …}}` becomes a call and its result.

use std::borrow::Cow;

use model::{ContextCompaction, Event, EventEnvelope, Timestamp, TokenUsage};
use serde_json::Value;

use crate::event_log::{CallOutcome, EventLog, ReadCounts};
use crate::tool_output;
use crate::user_replies::{self, AwaitedReply};

/// Parts of the host's error for a call that the user did not allow, or a question that was not answered.
const REJECTED_PHRASES: &[&str] =
    &["The user rejected permission to use", "The user dismissed this question"];
/// Words of the host before the reason of the user.
const REASON_MARK: &str = " with the following feedback: ";

/// A row of the session table.
#[derive(Clone, Debug)]
pub struct OpenCodeSession {
    pub id: String,
    /// The folder the session was started in.
    pub directory: String,
    /// The session that started this one.
    pub parent: Option<String>,
    pub created: Timestamp,
}

/// A row of the message table.
#[derive(Clone, Debug)]
pub struct OpenCodeMessage {
    pub id: String,
    pub created: Timestamp,
    /// The `data` column.
    pub data: String,
}

/// A row of the table of message parts.
#[derive(Clone, Debug)]
pub struct OpenCodePart {
    pub id: String,
    /// The `data` column.
    pub data: String,
}

/// Reads one session, message by message, in the order of creation.
pub struct OpenCodeReader {
    log: EventLog,
}

impl OpenCodeReader {
    pub fn new(project: Option<&str>, session: &OpenCodeSession) -> Self {
        let mut log = EventLog::new("opencode", project.map(str::to_owned), session.id.clone());
        log.set_time(Some(session.created));
        // A subagent's session id is derived from that of its parent, as in hook messages.
        let main_session = session.parent.as_deref().unwrap_or(&session.id);
        let subagent = session.parent.as_ref().map(|_| session.id.as_str());
        log.start_session(Some(main_session), subagent, &session.directory);
        Self { log }
    }

    /// Reads a message and its parts; the events are added to `acc`.
    pub fn read_message(
        &mut self,
        acc: &mut Vec<EventEnvelope>,
        row: &OpenCodeMessage,
        parts: &[OpenCodePart],
    ) {
        let log = &mut self.log;
        log.counts.n_lines += 1;
        log.set_time(Some(row.created));
        if let Ok(message) = serde_json::from_str::<Value>(&row.data) {
            push_message(log, row, &message, parts);
        } else {
            log.counts.n_damaged += 1;
        }
        acc.append(&mut log.acc);
    }

    /// Completes the last step of the session.
    pub fn finish(mut self, acc: &mut Vec<EventEnvelope>) -> ReadCounts {
        self.log.end_step();
        acc.append(&mut self.log.acc);
        self.log.counts
    }
}

fn push_message(
    log: &mut EventLog,
    row: &OpenCodeMessage,
    message: &Value,
    parts: &[OpenCodePart],
) {
    let role = if message["role"] == "user" { Role::User } else { Role::Model };
    for part in parts {
        match serde_json::from_str::<Value>(&part.data) {
            Ok(value) => push_part(log, &part.id, role, &value),
            Err(_) => log.counts.n_damaged += 1,
        }
    }
    // The user stopped the agent while it wrote this message.
    if message["error"]["name"] == "MessageAbortedError" {
        log.push_interrupt(&format!("{}!", row.id));
    }
    let tokens = |name: &str| message["tokens"][name].as_u64().unwrap_or(0);
    if message["tokens"].is_object() {
        // The host counts cached tokens apart from `input`; our `input` includes them.
        let cached = message["tokens"]["cache"]["read"].as_u64().unwrap_or(0);
        let input = tokens("input") + cached;
        log.record_usage(&row.id, TokenUsage { input, output: tokens("output"), cached });
    }
}

/// Returns whether an error says that the user did not allow a call.
pub(crate) fn is_rejection(error: &str) -> bool {
    REJECTED_PHRASES.iter().any(|it| error.contains(it))
}

/// Adds what the user said in the result of a call: why it was not allowed, or the answers to its questions.
pub(crate) fn push_reply(
    log: &mut EventLog,
    call: &str,
    outcome: CallOutcome,
    output: &str,
    answers: &Value,
) {
    let awaited = log.take_awaited_reply(call);
    match (outcome, awaited) {
        (CallOutcome::Rejected, _) => {
            if let Some((_, reason)) = output.split_once(REASON_MARK) {
                user_replies::push_refusal(log, call, reason);
            }
        }
        (CallOutcome::Ok, Some(AwaitedReply::Answers { questions })) => {
            user_replies::push_answers(log, call, &questions, answers, &Value::Null);
        }
        _ => {}
    }
}

/// The text that the user wrote. `opencode run` puts an argument with a blank in it into quotes.
pub(crate) fn unquote_prompt(text: &str) -> Cow<'_, str> {
    let inner = text.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    match inner.map(|it| (it.replace("\\\"", "\""), it)) {
        // A quote without a backslash: the text is more than one argument, or the user's own quote.
        Some((_, inner)) if inner.replace("\\\"", "").contains('"') => Cow::Borrowed(text),
        Some((unescaped, inner)) if inner.contains(' ') => Cow::Owned(unescaped),
        Some(_) | None => Cow::Borrowed(text),
    }
}

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    User,
    Model,
}

fn push_part(log: &mut EventLog, id: &str, role: Role, part: &Value) {
    let text = part["text"].as_str().unwrap_or_default();
    match part["type"].as_str().unwrap_or_default() {
        // Text that the host generated in the name of the user.
        "text" if part["synthetic"] == true => log.counts.n_ignored += 1,
        "text" if role == Role::User => log.push_user_message(id, &unquote_prompt(text)),
        "text" => log.push_reasoning(id, text),
        "reasoning" => log.push_thought(id, text),
        "compaction" => log.push_event(id, Event::Compaction(ContextCompaction {})),
        "tool" => {
            let (call, state) = (part["callID"].as_str().unwrap_or(id), &part["state"]);
            log.push_call(call, part["tool"].as_str().unwrap_or_default(), &state["input"]);
            push_call_result(log, call, state);
        }
        _ => log.counts.n_ignored += 1,
    }
}

/// Adds the result of a call once it has ended.
fn push_call_result(log: &mut EventLog, call: &str, state: &Value) {
    let is_error = match state["status"].as_str() {
        Some("error") => true,
        Some("completed") => false,
        // The call is still running.
        _ => return,
    };
    let output = tool_output::extract_text(&state[if is_error { "error" } else { "output" }]);
    let exit_code = state["metadata"]["exit"].as_i64().unwrap_or(0);
    let outcome = if !is_error && exit_code == 0 {
        CallOutcome::Ok
    } else if is_rejection(&output) {
        CallOutcome::Rejected
    } else {
        CallOutcome::Failed
    };
    log.push_result(call, outcome, &output);
    push_reply(log, call, outcome, &output, &state["metadata"]["answers"]);
}
