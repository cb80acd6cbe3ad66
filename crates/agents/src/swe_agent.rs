//! SWE-agent: one document, a list of steps with a thought, an action and what was observed.
//!
//! Actions are lines of a small shell of its own; an edit means the file that is open.

use model::Tool;
use serde_json::{Value, json};

use crate::log::Log;

/// Words in an observation that say an edit or a command was refused.
const REFUSED: &[&str] = &[
    "your proposed edit has introduced",
    "traceback (most recent call last)",
    "command not found",
    "no such file or directory",
    "usage: ",
    "error: ",
];

/// What is known between two steps.
#[derive(Debug, Default)]
pub(crate) struct State {
    n_steps: usize,
    /// The file that is open.
    open: String,
}

/// Takes the next step of the list.
pub(crate) fn step(log: &mut Log, state: &mut State, step: &Value) {
    let now = state_of(step);
    if !log.has_started() {
        log.start(None, None, now["working_dir"].as_str().unwrap_or("/"));
    }
    let id = state.n_steps.to_string();
    state.n_steps += 1;
    log.say(&format!("{id}~"), step["thought"].as_str().unwrap_or_default());
    let (tool, input) = action(step["action"].as_str().unwrap_or_default().trim(), &state.open);
    if let Some(path) = input["path"].as_str().filter(|_| tool != Tool::List) {
        path.clone_into(&mut state.open);
    }
    log.call_tool(&id, tool, &input);
    let observed = step["observation"].as_str().unwrap_or_default();
    let lower = observed.to_lowercase();
    let ok = !REFUSED.iter().any(|it| lower.contains(it));
    log.answer(&id, ok, false, observed);
    if let Some(file) = now["open_file"].as_str().filter(|it| *it != "n/a") {
        file.clone_into(&mut state.open);
    }
}

/// The state is an object, or JSON in text.
fn state_of(step: &Value) -> Value {
    match &step["state"] {
        Value::String(text) => serde_json::from_str(text).unwrap_or(Value::Null),
        other => other.clone(),
    }
}

fn action(text: &str, open: &str) -> (Tool, Value) {
    let mut words = text.split_whitespace();
    let word = words.next().unwrap_or_default();
    let unquoted = |it: Option<&str>| it.unwrap_or_default().trim_matches(['"', '\'']).to_owned();
    match word {
        "open" | "view" => (Tool::Read, json!({ "path": unquoted(words.next()) })),
        "create" => (Tool::Write, json!({ "path": unquoted(words.next()) })),
        "edit" | "append" => (Tool::Edit, json!({ "path": open })),
        "search_dir" | "search_file" => (Tool::Search, json!({ "query": unquoted(words.next()) })),
        "find_file" => (Tool::List, json!({ "query": unquoted(words.next()) })),
        "str_replace_editor" => {
            let (verb, path) = (words.next().unwrap_or_default(), unquoted(words.next()));
            let tool = match verb {
                "view" => Tool::Read,
                "create" => Tool::Write,
                _ => Tool::Edit,
            };
            (tool, json!({ "path": path }))
        }
        "goto" | "scroll_down" | "scroll_up" | "submit" => (Tool::Other, json!({})),
        _ => (Tool::Shell, json!({ "command": text })),
    }
}
