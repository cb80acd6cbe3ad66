//! Reads transcripts of GitHub Copilot CLI: one `{type, data, id, timestamp}` per line. Each record
//! becomes events of the [`EventLog`], which collects what happened in the session; for example,
//! `tool.execution_start` becomes a tool call. The host reports a failed command as a success; the exit
//! code is part of the output text.
//!
//! An answer of the user is the result of the tool `ask_user`; the reason of a refusal is in the record that
//! closes the request for a permission.

use model::{ContextCompaction, Event};
use serde_json::Value;

use crate::event_log::{CallOutcome, EventLog};
use crate::user_replies::{self, AwaitedReply};
use crate::{parse_time, tool_output};

/// Words of the host before an answer of the user.
const ANSWER_PREFIXES: &[&str] = &["User responded: ", "User selected: ", "User answered: "];
/// The user's own refusals among the results of a request for a permission; the others are those of rules.
const REFUSAL_KINDS: &[&str] = &["denied-interactively-by-user", "reject"];

pub(crate) fn read_record(log: &mut EventLog, record: &Value) {
    log.set_time(parse_time(&record["timestamp"]));
    let data = &record["data"];
    let id = record["id"].as_str().unwrap_or_default();
    let text = |name: &str| data[name].as_str().unwrap_or_default();
    match record["type"].as_str().unwrap_or_default() {
        "session.start" | "session.resume" => {
            // Paths are relative to the repository, not to the folder that the host was started in.
            let context = &data["context"];
            let cwd = context["gitRoot"].as_str().or(context["cwd"].as_str()).unwrap_or_default();
            log.start_session(data["sessionId"].as_str(), None, cwd);
        }
        "user.message" if is_typed(data) => log.push_user_message(id, text("content")),
        "assistant.message" => {
            log.push_thought(id, text("reasoningText"));
            log.push_reasoning(&format!("{id}#1"), text("content"));
        }
        "tool.execution_start" => {
            log.push_call(text("toolCallId"), text("toolName"), &data["arguments"]);
        }
        "tool.execution_complete" => read_completion(log, data),
        "permission.completed" => read_permission(log, data),
        "abort" => log.push_interrupt(id),
        "session.compaction_complete" => {
            log.push_event(id, Event::Compaction(ContextCompaction {}));
        }
        _ => log.counts.n_ignored += 1,
    }
}

/// True for a message of the user. The host names the source of messages that a skill or itself adds.
fn is_typed(data: &Value) -> bool {
    data["source"].as_str().is_none_or(|it| it.is_empty() || it == "user")
}

/// Reads the result of a request for a permission. The call itself is completed in a record of its own.
fn read_permission(log: &mut EventLog, data: &Value) {
    let result = &data["result"];
    let is_refusal = result["kind"].as_str().is_some_and(|it| REFUSAL_KINDS.contains(&it));
    match result["feedback"].as_str().filter(|_| is_refusal) {
        Some(reason) => {
            let call = data["toolCallId"].as_str().unwrap_or_default();
            user_replies::push_refusal(log, call, reason);
        }
        None => log.counts.n_ignored += 1,
    }
}

/// Adds the answer to the question of a call, if it asked one.
fn push_answer(log: &mut EventLog, call: &str, text: &str) {
    if let Some(AwaitedReply::Answers { questions }) = log.take_awaited_reply(call)
        && let Some(answer) = ANSWER_PREFIXES.iter().find_map(|it| text.strip_prefix(it))
    {
        let question = questions[0]["question"].as_str().unwrap_or_default();
        user_replies::push_answer(log, call, 0, question, answer);
    }
}

fn read_completion(log: &mut EventLog, data: &Value) {
    let success = data["success"] == true;
    let result = if success { &data["result"] } else { &data["error"] };
    // An error has a `message`; other results have one of several shapes.
    let text = match result["message"].as_str() {
        Some(message) => message.to_owned(),
        None => tool_output::extract_text(result),
    };
    let text = strip_hook_guidance(&text);
    // A command that ran and failed is a success to the host.
    let outcome = if success {
        CallOutcome::from_success(tool_output::find_exit_code(text).unwrap_or(0) == 0)
    } else if is_refused(&result["code"], text) {
        CallOutcome::Rejected
    } else {
        CallOutcome::Failed
    };
    let call = data["toolCallId"].as_str().unwrap_or_default();
    log.push_result(call, outcome, text);
    push_answer(log, call, text);
}

/// Returns whether an error says that a call was not allowed.
fn is_refused(code: &Value, text: &str) -> bool {
    let text = text.to_lowercase();
    matches!(code.as_str(), Some("denied" | "rejected"))
        || text.contains("denied")
        || text.starts_with("the user rejected")
}

/// A result without the context that hooks added to it and the sentence that introduces it.
fn strip_hook_guidance(text: &str) -> &str {
    const SENTENCE_START: &str = "\n\nTool \"";
    const SENTENCE_END: &str = "Additional guidance from postToolUse hooks:";
    let Some(guidance) = text.find(SENTENCE_END) else { return text };
    let sentence = text[..guidance].rfind(SENTENCE_START);
    sentence.map_or(text, |start| &text[..start])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_that_hooks_added_is_removed_from_tool_output() {
        let output = "boom\n<shellId: 0 completed with exit code 3>";
        let with_context = format!(
            "{output}\n\nTool \"bash\" succeeded. Additional guidance from postToolUse hooks:\n<waylore-notes>\nexit code 0\n</waylore-notes>"
        );
        assert_eq!(strip_hook_guidance(&with_context), output);
        assert_eq!(strip_hook_guidance(output), output);
    }
}
