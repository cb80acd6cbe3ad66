//! Reads trajectories of Moatless, a research agent: one document with a list of nodes, each an action
//! and its observation. A node becomes events of the [`EventLog`], which collects what happened in the
//! session: the model's note (`scratch_pad`), a tool call and its result.

use model::Tool;
use serde_json::{Value, json};

use crate::event_log::{CallOutcome, EventLog};
use crate::tool_output;

/// Part of the action's class name → tool. The first row that matches counts.
#[rustfmt::skip]
const ACTION_TOOLS: &[(&str, Tool)] = &[
    ("ViewCode",          Tool::Read),
    ("StringReplace",     Tool::Edit),
    ("InsertLine",        Tool::Edit),
    ("RequestCodeChange", Tool::Edit),
    ("CreateFile",        Tool::Write),
    ("RunTests",          Tool::Shell),
    ("Find",              Tool::Search),
    ("Search",            Tool::Search),
];

/// Starts the session from the fields before the list of nodes.
pub(crate) fn read_head(log: &mut EventLog, head: &Value) {
    log.start_session(head["metadata"]["instance_id"].as_str(), None, "");
}

/// Reads the next node of the list.
pub(crate) fn read_node(log: &mut EventLog, node: &Value) {
    let id = format!("node:{}", node["node_id"]);
    log.push_user_message(&format!("{id}?"), node["message"].as_str().unwrap_or_default());
    let action = &node["action"];
    // The root node has the task and no action.
    if !action.is_object() {
        return;
    }
    log.push_reasoning(&format!("{id}~"), action["scratch_pad"].as_str().unwrap_or_default());
    let class = action["action_args_class"].as_str().unwrap_or_default();
    let row = ACTION_TOOLS.iter().find(|(name_part, _)| class.contains(name_part));
    let tool = row.map_or(Tool::Other, |(_, tool)| tool.clone());
    let input = match tool {
        // The trajectory does not name the test command.
        Tool::Shell => json!({ "command": "run tests" }),
        Tool::Read => json!({ "path": action["files"][0]["file_path"] }),
        Tool::Search => {
            let query_keys = ["query", "code_snippet", "class_name", "function_name"];
            json!({ "query": query_keys.iter().find_map(|it| action[it].as_str()) })
        }
        // Edits name their arguments as other hosts do.
        _ => action.clone(),
    };
    log.push_tool_call(&id, tool, &input);
    let observation = &node["observation"];
    let outcome = CallOutcome::from_success(observation["expect_correction"] != true);
    log.push_result(&id, outcome, &tool_output::extract_text(&observation["message"]));
}
