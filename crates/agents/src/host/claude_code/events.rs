//! What a message of Claude Code says happened, as our events.
//!
//! Their ids are those that reading the host's transcript gives, so that both together count once. What
//! a person said is left to the transcript where there is one: only there it has an id.

use model::{Envelope, Event, SessionEnd, Timestamp, fingerprint};
use serde_json::Value;

use crate::answer;
use crate::heard::EVENT;
use crate::log::Log;

/// How the host begins what it answers to a call that it did not even try.
const NOT_TRIED: &str = "<tool_use_error>";

/// The events of a message that came at `at`, after the one that begins their session. Nothing when it
/// is no message.
pub(super) fn events(input: &[u8], project: Option<&str>, at: Timestamp) -> Vec<Envelope> {
    let Ok(value) = serde_json::from_slice::<Value>(input) else { return Vec::new() };
    let text = |name: &str| value[name].as_str();
    let (Some(event), Some(session), Some(cwd)) = (text(EVENT), text("session_id"), text("cwd"))
    else {
        return Vec::new();
    };
    let mut log = Log::new("claude_code", project.map(str::to_owned), String::new());
    log.at(Some(at));
    let subagent = text("agent_id").map(file_name);
    let own = if subagent.is_some() { "agent_transcript_path" } else { "transcript_path" };
    log.transcript = text(own).map(str::to_owned);
    log.start(Some(session), subagent.as_deref(), cwd);
    log.planning = text("permission_mode") == Some("plan");
    match event {
        "UserPromptSubmit" if log.transcript.is_none() => prompt(&mut log, &value, at),
        "PreToolUse" => call(&mut log, &value),
        "PostToolUse" => done(&mut log, &value, true, &value["tool_response"]),
        "PostToolUseFailure" if value["is_interrupt"] != true => {
            done(&mut log, &value, false, &value["error"]);
        }
        "PostToolBatch" => {
            for it in value["tool_calls"].as_array().into_iter().flatten() {
                let said = answer::text(&it["tool_response"]);
                done(&mut log, it, !said.starts_with(NOT_TRIED), &it["tool_response"]);
            }
        }
        "SessionEnd" => {
            log.push("end", Event::SessionEnd(SessionEnd { outcome: None, steps: None }));
        }
        _ => {}
    }
    log.acc
}

/// A subagent is called like the file that holds its work.
fn file_name(agent: &str) -> String {
    if agent.starts_with("agent-") { agent.to_owned() } else { format!("agent-{agent}") }
}

fn prompt(log: &mut Log, value: &Value, at: Timestamp) {
    let text = value["prompt"].as_str().unwrap_or_default();
    let id = value["prompt_id"].as_str();
    let id = id.map_or_else(|| fingerprint(&format!("{} {text}", at.0)), str::to_owned);
    log.hear(&format!("prompt {id}"), text, false);
}

fn call(log: &mut Log, value: &Value) {
    if let Some(id) = value["tool_use_id"].as_str() {
        log.call(id, value["tool_name"].as_str().unwrap_or_default(), &value["tool_input"]);
    }
}

fn done(log: &mut Log, value: &Value, ok: bool, said: &Value) {
    call(log, value);
    if let Some(id) = value["tool_use_id"].as_str() {
        log.answer(id, ok, false, &answer::text(said));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(body: &str, expect: Expect) {
        let input = format!(r#"{{"session_id":"s1","cwd":"/p/sub",{body}}}"#);
        let line = |it: &Envelope| {
            let line = it.line();
            let rest = line.split_once("\"event\":").map_or("", |it| it.1);
            format!("{} {rest}\n", it.id)
        };
        let res: String =
            events(input.as_bytes(), Some("/p"), Timestamp(7)).iter().map(line).collect();
        expect.assert_eq(&res);
    }

    #[test]
    fn a_session_begins_with_every_message() {
        check(
            r#""transcript_path":"/t.jsonl","hook_event_name":"SessionStart","source":"startup""#,
            expect![[r#"
                start "session_start","project_root":"/p/sub","agent":"claude_code","host_session":"s1","transcript":"/t.jsonl"}
            "#]],
        );
        check(
            r#""hook_event_name":"UserPromptSubmit","prompt":"fix it","prompt_id":"9""#,
            expect![[r#"
                start "session_start","project_root":"/p/sub","agent":"claude_code","host_session":"s1"}
                prompt 9 "user_message","text":"fix it"}
            "#]],
        );
    }

    #[test]
    fn calls_and_answers_have_the_ids_of_the_transcript() {
        check(
            r#""transcript_path":"/t.jsonl","hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_use_id":"toolu_1","tool_input":{"command":"make"},"error":"Exit code 2\nboom""#,
            expect![[r#"
                start "session_start","project_root":"/p/sub","agent":"claude_code","host_session":"s1","transcript":"/t.jsonl"}
                toolu_1 "tool_call","call_id":"toolu_1","tool":"shell","args":{"command":"make"}}
                toolu_1! "tool_result","call_id":"toolu_1","tool":"shell","ok":false,"size":16,"excerpt":"Exit code 2\nboom"}
            "#]],
        );
        check(
            r#""hook_event_name":"PostToolBatch","tool_calls":[{"tool_name":"Edit","tool_use_id":"t2","tool_input":{"file_path":"/p/a.rs"},"tool_response":"<tool_use_error>String to replace not found"},{"tool_name":"Read"}]"#,
            expect![[r#"
                start "session_start","project_root":"/p/sub","agent":"claude_code","host_session":"s1"}
                t2 "tool_call","call_id":"t2","tool":"edit","args":{"paths":["a.rs"]}}
                t2! "tool_result","call_id":"t2","tool":"edit","ok":false,"size":43,"excerpt":"<tool_use_error>String to replace not found"}
            "#]],
        );
    }

    #[test]
    fn a_subagent_is_a_session_of_its_own_under_the_name_of_its_file() {
        let input = r#"{"session_id":"s1","cwd":"/p","agent_id":"a7","hook_event_name":"SubagentStart","transcript_path":"/t.jsonl"}"#;
        let res = events(input.as_bytes(), None, Timestamp(7));
        let of_file = crate::log::session_id("s1/agent-a7");
        assert_eq!((res[0].session, res.len()), (of_file, 1));
        assert!(!res[0].line().contains("t.jsonl"), "that is the log of another");
    }
}
