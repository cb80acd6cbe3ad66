//! Reads transcripts of GitHub Copilot CLI: one `{type, data, id, timestamp}` per line. Each record
//! becomes events of the [`EventLog`], which collects what happened in the session; for example,
//! `tool.execution_start` becomes a tool call. The host reports a failed command as a success; the exit
//! code is part of the output text.

use model::{ContextCompaction, Event};
use serde_json::Value;

use crate::event_log::{CallOutcome, EventLog};
use crate::{parse_time, tool_output};

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
        "user.message" => log.push_user_message(id, text("content")),
        "assistant.message" => {
            log.push_reasoning(id, text("reasoningText"));
            log.push_reasoning(&format!("{id}#1"), text("content"));
        }
        "tool.execution_start" => {
            log.push_call(text("toolCallId"), text("toolName"), &data["arguments"]);
        }
        "tool.execution_complete" => read_completion(log, data),
        "abort" => log.push_interrupt(id, ""),
        "session.compaction_complete" => {
            log.push_event(id, Event::Compaction(ContextCompaction {}));
        }
        _ => log.counts.n_ignored += 1,
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
    } else if text.to_lowercase().contains("denied") {
        CallOutcome::Rejected
    } else {
        CallOutcome::Failed
    };
    log.push_result(data["toolCallId"].as_str().unwrap_or_default(), outcome, text);
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
