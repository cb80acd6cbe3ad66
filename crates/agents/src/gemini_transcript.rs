//! Reads chats of Gemini CLI: a header and messages, one per line. Earlier versions wrote one document
//! with the same fields, whose head and messages come here one by one as well. Each record becomes
//! events of the [`EventLog`], which collects what happened in the session:
//!
//! ```text
//! {"sessionId":"s","projectHash":"h"}                       session start
//! {"id":"u1","type":"user","content":"hi"}                  user message
//! {"type":"gemini","content":"Done.","toolCalls":[…]}       text of the model, calls and results
//! ```

use model::TokenUsage;
use serde_json::Value;

use crate::event_log::{CallOutcome, EventLog};
use crate::user_replies::{self, AwaitedReply};
use crate::{parse_time, tool_output};

/// The notice that the host records when the user stops the agent.
const INTERRUPT_NOTICE: &str = "Request cancelled.";
/// Words of the host before the reason why the user did not accept a plan, and behind it.
const PLAN_REJECTION_PREFIX: &str = "Plan rejected.";
const PLAN_REASON_MARK: &str = "User feedback: ";
const PLAN_REASON_END: &str = "\n\nThe plan is stored at:";

/// Reads the header or a message.
pub(crate) fn read_record(log: &mut EventLog, record: &Value) {
    // The header. A line may hold the messages, too; the header of a document comes here with an empty
    // list, and its messages follow one by one.
    if record["projectHash"].is_string() || record["messages"].is_array() {
        log.set_time(parse_time(&record["startTime"]));
        let cwd = record["cwd"].as_str().or(record["projectRoot"].as_str()).unwrap_or_default();
        log.start_session(record["sessionId"].as_str(), None, cwd);
        for message in record["messages"].as_array().into_iter().flatten() {
            read_message(log, message);
        }
    } else {
        read_message(log, record);
    }
}

fn read_message(log: &mut EventLog, message: &Value) {
    log.set_time(parse_time(&message["timestamp"]));
    let id = message["id"].as_str().unwrap_or_default();
    let text = tool_output::extract_text(&message["content"]);
    match message["type"].as_str().unwrap_or_default() {
        // Tool results are passed to the model as user messages.
        "user" if is_tool_response(&message["content"]) => log.counts.n_ignored += 1,
        "user" => log.push_user_message(id, &strip_host_wrappers(&text)),
        "gemini" => {
            for (nth, thought) in message["thoughts"].as_array().into_iter().flatten().enumerate() {
                let text = thought["description"].as_str().unwrap_or_default();
                log.push_thought(&format!("{id}~{nth}"), text);
            }
            log.push_reasoning(id, &text);
            for call in message["toolCalls"].as_array().into_iter().flatten() {
                read_call(log, call);
            }
            let tokens = |name: &str| message["tokens"][name].as_u64().unwrap_or(0);
            if message["tokens"].is_object() {
                let (input, cached) = (tokens("input"), tokens("cached"));
                log.record_usage(id, TokenUsage { input, output: tokens("output"), cached });
            }
        }
        "info" if text.trim() == INTERRUPT_NOTICE => log.push_interrupt(id),
        _ => log.counts.n_ignored += 1,
    }
}

fn read_call(log: &mut EventLog, call: &Value) {
    log.set_time(parse_time(&call["timestamp"]));
    let id = call["id"].as_str().unwrap_or_default();
    log.push_call(id, call["name"].as_str().unwrap_or_default(), &call["args"]);
    let text = strip_host_wrappers(&tool_output::extract_text(&call["result"]));
    let outcome = match call["status"].as_str().unwrap_or_default() {
        "success" if text.starts_with(PLAN_REJECTION_PREFIX) => CallOutcome::Rejected,
        "success" => {
            // A command that ran and failed is a success to the host.
            let is_failure = tool_output::find_exit_code(&text).is_some_and(|it| it != 0);
            CallOutcome::from_success(!is_failure)
        }
        "cancelled" => CallOutcome::Rejected,
        // `error`, or a call that never ended.
        _ => CallOutcome::Failed,
    };
    log.push_result(id, outcome, &text);
    match log.take_awaited_reply(id) {
        Some(AwaitedReply::Answers { questions }) => {
            let answers: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
            user_replies::push_answers(log, id, &questions, &answers["answers"], &Value::Null);
        }
        // The plan itself is in a file that the agent wrote; only a reason against it is in the result.
        Some(AwaitedReply::Approval { .. }) if outcome == CallOutcome::Rejected => {
            if let Some((_, reason)) = text.split_once(PLAN_REASON_MARK) {
                let reason = reason.split_once(PLAN_REASON_END).map_or(reason, |(it, _)| it);
                user_replies::push_refusal(log, id, reason);
            }
        }
        Some(AwaitedReply::Approval { .. }) | None => {}
    }
}

fn is_tool_response(content: &Value) -> bool {
    let mut parts = content.as_array().into_iter().flatten();
    parts.any(|it| it["functionResponse"].is_object())
}

/// A text without the context that hooks added and without the tags that the host wraps around
/// output.
pub(crate) fn strip_host_wrappers(text: &str) -> String {
    const CONTEXT_OPEN: &str = "<hook_context>";
    const CONTEXT_CLOSE: &str = "</hook_context>";
    let mut acc = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(CONTEXT_OPEN) {
        acc.push_str(&rest[..start]);
        let block = &rest[start + CONTEXT_OPEN.len()..];
        // A block without an end was truncated by the host, so the rest belongs to it.
        rest = block.find(CONTEXT_CLOSE).map_or("", |end| &block[end + CONTEXT_CLOSE.len()..]);
    }
    acc.push_str(rest);
    let text = acc.trim();
    let text = text.strip_prefix("<untrusted_context>").unwrap_or(text);
    let text = text.strip_suffix("</untrusted_context>").unwrap_or(text).trim();
    text.strip_prefix("Output: ").unwrap_or(text).to_owned()
}
