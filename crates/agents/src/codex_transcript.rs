//! Reads rollouts (the transcripts) of Codex: one `{timestamp, type, payload}` per line. Each record
//! becomes events of the [`EventLog`], which collects what happened in the session.
//!
//! Each message appears twice, as an item for the model (`response_item`) and as an event for the
//! screen (`event_msg`). User messages are taken from the events, because the items also hold texts
//! that the host adds in the user's name.
//!
//! A command that takes long goes on in further calls, see [`running_command`].

mod running_command;

use std::collections::HashSet;

use model::{ContextCompaction, Event, TokenUsage, Tool, UserMessageKind, fingerprint_text};
use serde_json::Value;

use crate::event_log::{CallOutcome, EventLog};
use crate::user_replies::{self, AwaitedReply};
use crate::{parse_time, tool_output};
use running_command::RunningCommands;

/// State between two records.
#[derive(Debug, Default)]
pub(crate) struct CodexState {
    /// Texts by which the second copy of a message is recognised.
    last_reply: String,
    last_prompt: Option<(String, PromptForm)>,
    /// Fingerprints of all prompts so far.
    prompts: HashSet<String>,
    /// The plan that the agent proposed last.
    proposed_plan: String,
    turn: TurnState,
    commands: RunningCommands,
}

/// The turn of the agent, between a prompt and the end of the work on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum TurnState {
    #[default]
    Ended,
    /// The turn has begun, its prompt follows.
    Started,
    /// A further prompt comes while the agent works.
    Working,
}

/// The two records in which a prompt may appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PromptForm {
    Event,
    CompletedItem,
}

/// Beginnings of outputs that report a failure without an exit code.
const FAILURE_PREFIXES: &[&str] =
    &["apply_patch verification failed", "failed to parse", "execution error:"];

/// Outputs of calls that the user did not allow.
const REJECTED_OUTPUTS: &[&str] = &[
    "exec command rejected by user",
    "patch rejected by user",
    "rejected by user",
    "user rejected MCP tool call",
];
/// The prompt that the host sends when the user accepts the proposed plan.
const PLAN_ACCEPTANCE: &str = "Implement the plan.";
/// Beginnings of the prompt by which the host starts a conversation with an accepted plan.
const PLAN_PREFIXES: &[&str] =
    &["PLEASE IMPLEMENT THIS PLAN:", "A previous agent produced the plan below"];
/// Beginnings of texts in the history that the host wrote.
const HOST_TEXT_PREFIXES: &[&str] =
    &["<", "# AGENTS.md instructions", "Another language model started to solve this problem"];
/// Most prompts that are remembered.
const MAX_PROMPTS: usize = 10_000;

/// Reads one line of the rollout.
pub(crate) fn read_record(log: &mut EventLog, state: &mut CodexState, record: &Value) {
    log.set_time(parse_time(&record["timestamp"]));
    let payload = &record["payload"];
    // Records have no ids. The line number is stable, because the host only appends.
    let id = format!("line:{}", log.counts.n_lines);
    match record["type"].as_str().unwrap_or_default() {
        "session_meta" => {
            log.start_session(
                payload["id"].as_str(),
                None,
                payload["cwd"].as_str().unwrap_or_default(),
            );
        }
        "response_item" => read_item(log, state, &id, payload),
        "event_msg" => read_event(log, state, &id, payload),
        "compacted" => {
            read_history(log, state, &id, &payload["replacement_history"]);
            log.push_event(&id, Event::Compaction(ContextCompaction {}));
        }
        _ => log.counts.n_ignored += 1,
    }
}

/// Completes the calls that the transcript leaves open.
pub(crate) fn finish(log: &mut EventLog, state: &mut CodexState) {
    state.commands.finish(log);
}

/// Adds the prompts of a compacted history that the rollout lacks: those of a conversation that began in
/// another file.
fn read_history(log: &mut EventLog, state: &mut CodexState, id: &str, history: &Value) {
    for (nth, item) in history.as_array().into_iter().flatten().enumerate() {
        let text = tool_output::extract_text(&item["content"]);
        let is_typed = item["role"] == "user"
            && !HOST_TEXT_PREFIXES.iter().any(|it| text.trim_start().starts_with(it));
        if is_typed && state.is_new_prompt(&text) {
            log.push_user_message(&format!("{id}~{nth}"), &text);
        }
    }
}

impl CodexState {
    /// Remembers a prompt; `false` if it is known.
    fn is_new_prompt(&mut self, text: &str) -> bool {
        self.prompts.len() < MAX_PROMPTS && self.prompts.insert(fingerprint_text(text.trim()))
    }
}

/// Reads an item for the model: a message, a tool call or its output.
fn read_item(log: &mut EventLog, state: &mut CodexState, id: &str, item: &Value) {
    let call = item["call_id"].as_str().unwrap_or_default();
    match item["type"].as_str().unwrap_or_default() {
        "message" if item["role"] == "assistant" => {
            push_reply(log, state, id, &tool_output::extract_text(&item["content"]));
        }
        "reasoning" => push_thought(log, state, id, &tool_output::extract_text(&item["summary"])),
        "function_call" => {
            let text = item["arguments"].as_str().unwrap_or_default();
            let input: Value = serde_json::from_str(text).unwrap_or(Value::Null);
            let name = item["name"].as_str().unwrap_or_default();
            // The call only waits for a command that an earlier one started.
            if name == "write_stdin" && state.commands.continue_call(call, &input) {
                return;
            }
            // An MCP tool has its server in a field of its own instead of in its name.
            match item["namespace"].as_str().and_then(|it| it.strip_prefix("mcp__")) {
                Some(server) => log.push_tool_call(
                    call,
                    Tool::mcp_tool(server, name.trim_start_matches('_')),
                    &input,
                ),
                None => log.push_call(call, name, &input),
            };
        }
        "custom_tool_call" => {
            log.push_call(call, item["name"].as_str().unwrap_or_default(), &item["input"]);
        }
        "local_shell_call" => {
            log.push_tool_call(call, Tool::Shell, &item["action"]);
        }
        "web_search_call" => {
            // The host writes no record for the result of a web search.
            log.push_tool_call(id, Tool::WebSearch, &item["action"]);
            log.push_result(id, CallOutcome::Ok, "");
        }
        "function_call_output" | "custom_tool_call_output" => {
            read_output(log, state, call, &item["output"]);
        }
        _ => log.counts.n_ignored += 1,
    }
}

/// The output is a text (`Process exited with code 1\nOutput:\n…`), or a JSON object in a text with the
/// exit code beside it (`{"output": "…", "metadata": {"exit_code": 0}}`).
fn read_output(log: &mut EventLog, state: &mut CodexState, call: &str, output: &Value) {
    let text = tool_output::extract_text(output);
    let (text, exit_code) = match serde_json::from_str::<Value>(&text) {
        Ok(object) if object["output"].is_string() => {
            let exit_code = object["metadata"]["exit_code"].as_i64();
            (tool_output::extract_text(&object["output"]), exit_code)
        }
        // No JSON, or JSON that the command itself wrote.
        Ok(_) | Err(_) => {
            let exit_code = tool_output::find_exit_code(&text);
            (text, exit_code)
        }
    };
    let outcome = if REJECTED_OUTPUTS.iter().any(|it| text.starts_with(it)) {
        CallOutcome::Rejected
    } else {
        let is_failure = FAILURE_PREFIXES.iter().any(|it| text.starts_with(it));
        CallOutcome::from_success(exit_code.unwrap_or(0) == 0 && !is_failure)
    };
    // Above `Output:` are lines of the host: exit code and wall time.
    let (head, output) = text.split_once("\nOutput:\n").unwrap_or((&text, &text));
    if let Some(AwaitedReply::Answers { questions }) = log.take_awaited_reply(call) {
        let answers: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
        log.push_result(call, outcome, output);
        user_replies::push_answers(log, call, &questions, &answers["answers"], &Value::Null);
        return;
    }
    state.commands.push_output(log, call, head, outcome, output);
}

/// Reads an event for the screen: a message, an interrupt or the token usage.
fn read_event(log: &mut EventLog, state: &mut CodexState, id: &str, event: &Value) {
    match event["type"].as_str().unwrap_or_default() {
        "user_message" => {
            let text = event["message"].as_str().unwrap_or_default();
            push_prompt(log, state, id, text, PromptForm::Event);
        }
        "item_completed" if event["item"]["type"] == "UserMessage" => {
            let text = tool_output::extract_text(&event["item"]["content"]);
            push_prompt(log, state, id, &text, PromptForm::CompletedItem);
        }
        "agent_message" => {
            push_reply(log, state, id, event["message"].as_str().unwrap_or_default());
        }
        "item_completed" if event["item"]["type"] == "Plan" => {
            state.proposed_plan = tool_output::extract_text(&event["item"]);
        }
        "agent_reasoning" => {
            push_thought(log, state, id, event["text"].as_str().unwrap_or_default());
        }
        "task_started" | "turn_started" => state.turn = TurnState::Started,
        "task_complete" | "turn_complete" => state.turn = TurnState::Ended,
        "turn_aborted" => {
            state.turn = TurnState::Ended;
            // A turn also ends because another replaces it.
            if event["reason"].as_str().is_none_or(|it| it == "interrupted") {
                log.push_interrupt(id);
            }
        }
        "token_count" => {
            let usage = &event["info"]["last_token_usage"];
            let tokens = |name: &str| usage[name].as_u64().unwrap_or(0);
            if usage.is_object() {
                let (input, cached) = (tokens("input_tokens"), tokens("cached_input_tokens"));
                log.record_usage(id, TokenUsage { input, output: tokens("output_tokens"), cached });
            }
        }
        _ => log.counts.n_ignored += 1,
    }
}

/// A prompt is an event, a completed item, or both. The second record of the same text in the other
/// form is skipped.
fn push_prompt(log: &mut EventLog, state: &mut CodexState, id: &str, text: &str, form: PromptForm) {
    let is_copy = state
        .last_prompt
        .as_ref()
        .is_some_and(|(last_text, last_form)| last_text == text && *last_form != form);
    if is_copy {
        // A prompt has one copy at most; the same text again would be a new prompt.
        state.last_prompt = None;
        return;
    }
    state.last_prompt = Some((text.to_owned(), form));
    state.is_new_prompt(text);
    let kind = match state.turn {
        TurnState::Working => UserMessageKind::Queued,
        TurnState::Started | TurnState::Ended => UserMessageKind::Prompt,
    };
    if state.turn == TurnState::Started {
        state.turn = TurnState::Working;
    }
    let plan = if text.trim() == PLAN_ACCEPTANCE {
        Some(std::mem::take(&mut state.proposed_plan)).filter(|it| !it.is_empty())
    } else if PLAN_PREFIXES.iter().any(|it| text.starts_with(it)) {
        Some(text.split_once('\n').map_or("", |(_, plan)| plan).to_owned())
    } else {
        None
    };
    match plan {
        Some(plan) => user_replies::push_accepted_plan(log, id, "", &plan),
        None => log.push_typed(id, kind, text),
    }
}

/// A text of the model, unless it repeats the one before it.
fn push_reply(log: &mut EventLog, state: &mut CodexState, id: &str, text: &str) {
    if state.last_reply != text {
        if let Some(plan) = find_proposed_plan(text) {
            plan.clone_into(&mut state.proposed_plan);
        }
        log.push_reasoning(id, text);
        text.clone_into(&mut state.last_reply);
    }
}

/// A thought of the model, unless it repeats the text before it.
fn push_thought(log: &mut EventLog, state: &mut CodexState, id: &str, text: &str) {
    if state.last_reply != text {
        log.push_thought(id, text);
        text.clone_into(&mut state.last_reply);
    }
}

/// The plan that a message of the agent asks the user to accept.
fn find_proposed_plan(text: &str) -> Option<&str> {
    let (_, behind) = text.split_once("<proposed_plan>")?;
    behind.split_once("</proposed_plan>").map(|(plan, _)| plan.trim())
}
