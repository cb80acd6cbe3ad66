//! The events that a hook message of Claude Code adds to the journal, Waylore's own record of a
//! session. A message `PostToolUse` becomes the start of its session, a tool call and its result.
//!
//! Their ids are those that reading the host's transcript gives, so that an event read from both
//! counts once. Prompts are left to the transcript where there is one, because only there they have
//! an id.

use model::{EventEnvelope, Timestamp, fingerprint_text};
use serde_json::Value;

use super::REFUSED_CALL_PREFIX;
use crate::claude_code_transcript::typed_text::{UserText, classify_user_text};
use crate::claude_code_transcript::{push_reply, rejection};
use crate::event_log::{CallOutcome, EventLog};
use crate::hook_message::{HookMessage, SessionSource};
use crate::tool_output;
use crate::user_replies::push_accepted_plan;

/// The session start and the events of a message that arrived at `at`.
pub(super) fn build_events(
    message: &HookMessage,
    project: Option<&str>,
    at: Timestamp,
) -> Vec<EventEnvelope> {
    let body = &message.body;
    let text = |name: &str| body[name].as_str();
    let mut log = EventLog::new("claude_code", project.map(str::to_owned), String::new());
    log.set_time(Some(at));
    log.transcript = message.source.path().map(str::to_owned);
    // `message.host_session` joins the ids of session and subagent into one, for the shown log. The
    // journal needs the two apart: its session id is derived from the name of the subagent's file.
    let subagent = text("agent_id").map(subagent_name);
    log.start_session(text("session_id"), subagent.as_deref(), &message.cwd);
    log.planning = text("permission_mode") == Some("plan");
    match message.event_name.as_str() {
        "UserPromptSubmit" if message.source == SessionSource::JournalOnly => {
            push_prompt(&mut log, body, at);
        }
        // We install no hook for this event; a user who adds one by hand gets its calls journalled.
        "PreToolUse" => push_call(&mut log, body),
        "PostToolUse" => push_result(&mut log, body, CallOutcome::Ok, &body["tool_response"]),
        "PostToolUseFailure" if body["is_interrupt"] != true => {
            push_result(&mut log, body, CallOutcome::Failed, &body["error"]);
        }
        "PostToolBatch" => {
            for call in body["tool_calls"].as_array().into_iter().flatten() {
                let response = &call["tool_response"];
                let output = tool_output::extract_text(response);
                // A call that ran and failed was reported before, as `PostToolUseFailure`. Its result
                // here has the same event id, so it is dropped as a repetition.
                let is_refused = output.starts_with(REFUSED_CALL_PREFIX);
                let is_error = is_refused || rejection::is_rejection(&output);
                let outcome = rejection::find_outcome(is_error, None, &output);
                push_result(&mut log, call, outcome, response);
            }
        }
        "SessionEnd" => log.push_session_end(),
        // The session start is all that other events add.
        _ => {}
    }
    log.acc
}

/// Name of a subagent as in the file name of its transcript, from which its session id is derived.
fn subagent_name(agent: &str) -> String {
    if agent.starts_with("agent-") { agent.to_owned() } else { format!("agent-{agent}") }
}

fn push_prompt(log: &mut EventLog, body: &Value, at: Timestamp) {
    let text = body["prompt"].as_str().unwrap_or_default();
    let id = body["prompt_id"].as_str();
    // The time distinguishes two prompts with the same text.
    let id = id.map_or_else(|| fingerprint_text(&format!("{} {text}", at.0)), str::to_owned);
    let id = format!("prompt {id}");
    match classify_user_text(text) {
        UserText::Typed(typed) => log.push_user_message(&id, &typed),
        UserText::AcceptedPlan(plan) => push_accepted_plan(log, &id, "", plan),
        UserText::Interrupt | UserText::Notice => {}
    }
}

/// A call; without an id it could not be matched with the transcript.
fn push_call(log: &mut EventLog, call: &Value) {
    if let Some(id) = call["tool_use_id"].as_str() {
        log.push_call(id, call["tool_name"].as_str().unwrap_or_default(), &call["tool_input"]);
    }
}

/// A call and its result: `PreToolUse` may not have reported the call.
fn push_result(log: &mut EventLog, call: &Value, outcome: CallOutcome, output: &Value) {
    push_call(log, call);
    if let Some(id) = call["tool_use_id"].as_str() {
        let text = tool_output::extract_text(output);
        log.push_result(id, outcome, &text);
        push_reply(log, id, outcome, &text, output);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::claude_code::CLAUDE_CODE;
    use expect_test::{Expect, expect};

    fn events(input: &str, project: Option<&str>) -> Vec<EventEnvelope> {
        let message = CLAUDE_CODE.parse_message(input.as_bytes(), None).unwrap();
        CLAUDE_CODE.build_journal_events(&message, project, Timestamp(7))
    }

    /// Compares the events of a message with these fields, one per line: its id, then the line of the
    /// journal from the name of the event on.
    fn check(body: &str, expect: Expect) {
        let input = format!(r#"{{"session_id":"s1","cwd":"/p/sub",{body}}}"#);
        let line = |it: &EventEnvelope| {
            let line = it.to_line();
            let rest = line.split_once("\"event\":").map_or("", |it| it.1);
            format!("{} {rest}\n", it.id)
        };
        let lines: String = events(&input, Some("/p")).iter().map(line).collect();
        expect.assert_eq(&lines);
    }

    #[test]
    fn every_message_starts_its_session() {
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
    fn calls_and_results_have_the_ids_of_the_transcript() {
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
    fn replies_of_the_user_have_the_ids_of_the_transcript() {
        check(
            r#""hook_event_name":"PostToolUse","tool_name":"AskUserQuestion","tool_use_id":"q1","tool_input":{"questions":[{"question":"Per line?"}]},"tool_response":{"questions":[{"question":"Per line?"}],"answers":{"Per line?":"Yes"}}"#,
            expect![[r#"
                start "session_start","project_root":"/p/sub","agent":"claude_code","host_session":"s1"}
                q1 "tool_call","call_id":"q1","tool":"other","args":{}}
                q1! "tool_result","call_id":"q1","tool":"other","ok":true,"size":0}
                q1?0 "user_message","text":"Yes","kind":"answer","reply_to":"Per line?"}
            "#]],
        );
        check(
            r##""hook_event_name":"PostToolUse","tool_name":"ExitPlanMode","tool_use_id":"p1","tool_input":{"plan":"# Rounding"},"tool_response":{"plan":"# Rounding, edited"}"##,
            expect![[r##"
                start "session_start","project_root":"/p/sub","agent":"claude_code","host_session":"s1"}
                p1 "tool_call","call_id":"p1","tool":"other","args":{}}
                p1! "tool_result","call_id":"p1","tool":"other","ok":true,"size":0}
                p1? "user_message","text":"# Rounding, edited","kind":"accepted_plan","reply_to":"p1"}
            "##]],
        );
        check(
            r#""hook_event_name":"PostToolBatch","tool_calls":[{"tool_name":"Bash","tool_use_id":"t3","tool_input":{"command":"make"},"tool_response":"The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse the cache"}]"#,
            expect![[r#"
                start "session_start","project_root":"/p/sub","agent":"claude_code","host_session":"s1"}
                t3 "tool_call","call_id":"t3","tool":"shell","args":{"command":"make"}}
                t3! "tool_result","call_id":"t3","tool":"shell","ok":false,"rejected":true,"size":109,"excerpt":"The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse the cache"}
                t3? "user_message","text":"use the cache","kind":"refusal","reply_to":"t3"}
            "#]],
        );
        // Prompts without a transcript: a notice of the host is none, a plan is no prompt.
        check(
            r#""hook_event_name":"UserPromptSubmit","prompt":"Implement the following plan:\n# Rounding","prompt_id":"9""#,
            expect![[r##"
                start "session_start","project_root":"/p/sub","agent":"claude_code","host_session":"s1"}
                prompt 9 "user_message","text":"# Rounding","kind":"accepted_plan"}
            "##]],
        );
    }

    #[test]
    fn a_subagent_has_the_session_id_that_its_transcript_gives() {
        let input = r#"{"session_id":"s1","cwd":"/p","agent_id":"a7","hook_event_name":"SubagentStart","transcript_path":"/t.jsonl"}"#;
        let events = events(input, None);
        let id_of_transcript = crate::event_log::derive_session_id("s1/agent-a7");
        assert_eq!((events[0].session, events.len()), (id_of_transcript, 1));
        assert!(!events[0].to_line().contains("t.jsonl"), "that transcript is the parent's");
    }
}
