//! Reads trajectories of SWE-agent, a research agent: one document with a list of steps, each a
//! thought, an action and an observation. A step becomes three events of the [`EventLog`], which
//! collects what happened in the session:
//!
//! ```text
//! "thought": "Open it."                     text of the model
//! "action": "open \"/r/a.py\""              call of the read tool
//! "observation": "[File: a.py]"             result of that call
//! ```
//!
//! Actions are commands of a small shell of its own; an edit applies to the file that is open.

use model::Tool;
use serde_json::{Value, json};

use crate::event_log::{CallOutcome, EventLog};

/// Phrases of an observation that report a failed edit or command, in lower case.
const FAILURE_PHRASES: &[&str] = &[
    "your proposed edit has introduced",
    "traceback (most recent call last)",
    "command not found",
    "no such file or directory",
    "usage: ",
    "error: ",
];

/// State between two steps.
#[derive(Debug, Default)]
pub(crate) struct SweAgentState {
    n_steps: usize,
    /// Path of the file that is open.
    open_file: String,
}

/// Reads the next step of the list.
pub(crate) fn read_step(log: &mut EventLog, state: &mut SweAgentState, step: &Value) {
    let shell_state = parse_state(step);
    if !log.has_started() {
        log.start_session(None, None, shell_state["working_dir"].as_str().unwrap_or("/"));
    }
    let id = state.n_steps.to_string();
    state.n_steps += 1;
    log.push_reasoning(&format!("{id}~"), step["thought"].as_str().unwrap_or_default());

    let action = step["action"].as_str().unwrap_or_default().trim();
    let (tool, input) = parse_action(action, &state.open_file);
    // An action on a file opens it for the edits that follow.
    if let Some(path) = input["path"].as_str() {
        path.clone_into(&mut state.open_file);
    }
    log.push_tool_call(&id, tool, &input);

    let observation = step["observation"].as_str().unwrap_or_default();
    let lower = observation.to_lowercase();
    let is_success = !FAILURE_PHRASES.iter().any(|it| lower.contains(it));
    log.push_result(&id, CallOutcome::from_success(is_success), observation);

    // The recorded state is the one after the step, so it overrides the path guessed from the
    // action.
    if let Some(file) = shell_state["open_file"].as_str().filter(|it| *it != "n/a") {
        file.clone_into(&mut state.open_file);
    }
}

/// The recorded state, which is an object or JSON in a text.
fn parse_state(step: &Value) -> Value {
    match &step["state"] {
        Value::String(text) => serde_json::from_str(text).unwrap_or(Value::Null),
        other => other.clone(),
    }
}

/// Tool and arguments of an action. A command that is not one of the agent's own goes to the system
/// shell.
fn parse_action(text: &str, open_file: &str) -> (Tool, Value) {
    let mut words = text.split_whitespace();
    let word = words.next().unwrap_or_default();
    let unquoted = |it: Option<&str>| it.unwrap_or_default().trim_matches(['"', '\'']).to_owned();
    match word {
        "open" | "view" => (Tool::Read, json!({ "path": unquoted(words.next()) })),
        "create" => (Tool::Write, json!({ "path": unquoted(words.next()) })),
        "edit" | "append" => (Tool::Edit, json!({ "path": open_file })),
        "search_dir" | "search_file" => (Tool::Search, json!({ "query": unquoted(words.next()) })),
        "find_file" => (Tool::List, json!({ "query": unquoted(words.next()) })),
        "str_replace_editor" => {
            let (verb, path) = (words.next().unwrap_or_default(), unquoted(words.next()));
            let tool = match verb {
                "view" => Tool::Read,
                "create" => Tool::Write,
                // `str_replace`, `insert` or `undo_edit`.
                _ => Tool::Edit,
            };
            (tool, json!({ "path": path }))
        }
        // Moves within the open file, and the end of the task.
        "goto" | "scroll_down" | "scroll_up" | "submit" => (Tool::Other, json!({})),
        _ => (Tool::Shell, json!({ "command": text })),
    }
}
