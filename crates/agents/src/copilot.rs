//! Copilot CLI: `{type, data, id, timestamp}`, one a line. A failing command is a success to it; the
//! exit code stands in the text.

use model::{Compaction, Event};
use serde_json::Value;

use crate::log::Log;
use crate::{answer, parse_time};

pub(crate) fn record(log: &mut Log, record: &Value) {
    log.at(parse_time(&record["timestamp"]));
    let data = &record["data"];
    let id = record["id"].as_str().unwrap_or_default();
    let text = |name: &str| data[name].as_str().unwrap_or_default();
    match record["type"].as_str().unwrap_or_default() {
        "session.start" | "session.resume" => {
            let context = &data["context"];
            let cwd = context["gitRoot"].as_str().or(context["cwd"].as_str()).unwrap_or_default();
            log.start(data["sessionId"].as_str(), None, cwd);
        }
        "user.message" => log.hear(id, text("content"), false),
        "assistant.message" => {
            log.say(id, text("reasoningText"));
            log.say(&format!("{id}#1"), text("content"));
        }
        "tool.execution_start" => {
            log.call(text("toolCallId"), text("toolName"), &data["arguments"]);
        }
        "tool.execution_complete" => complete(log, data),
        "abort" => log.hear(id, "", true),
        "session.compaction_complete" => log.push(id, Event::Compaction(Compaction {})),
        _ => log.counts.ignored += 1,
    }
}

fn complete(log: &mut Log, data: &Value) {
    let success = data["success"] == true;
    let said = if success { &data["result"] } else { &data["error"] };
    let message = said["message"].as_str().map(str::to_owned);
    let text = message.unwrap_or_else(|| answer::text(said));
    let text = without_guidance(&text);
    let rejected = !success && text.to_lowercase().contains("denied");
    let ok = success && answer::exit_code(text).unwrap_or(0) == 0;
    log.answer(data["toolCallId"].as_str().unwrap_or_default(), ok, rejected, text);
}

/// An answer without what hooks added to it, and without the words with which the host begins that.
fn without_guidance(text: &str) -> &str {
    const BEGINS: (&str, &str) = ("\n\nTool \"", "Additional guidance from postToolUse hooks:");
    let guidance = text.find(BEGINS.1);
    let begins = guidance.and_then(|it| text[..it].rfind(BEGINS.0));
    begins.map_or(text, |it| &text[..it])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hooks_said_is_no_answer_of_a_tool() {
        let said = "boom\n<shellId: 0 completed with exit code 3>";
        let with = format!(
            "{said}\n\nTool \"bash\" succeeded. Additional guidance from postToolUse hooks:\n<waylore-notes>\nexit code 0\n</waylore-notes>"
        );
        assert_eq!((without_guidance(&with), without_guidance(said)), (said, said));
    }
}
