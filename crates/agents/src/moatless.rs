//! Moatless: one document, a list of nodes with an action and what was observed.

use model::Tool;
use serde_json::{Value, json};

use crate::answer;
use crate::log::Log;

/// The last word of the action's class → tool. Order is the order of the search.
#[rustfmt::skip]
const ACTIONS: &[(&str, Tool)] = &[
    ("ViewCode",       Tool::Read),
    ("StringReplace",  Tool::Edit),
    ("InsertLine",     Tool::Edit),
    ("RequestCodeChange", Tool::Edit),
    ("CreateFile",     Tool::Write),
    ("RunTests",       Tool::Shell),
    ("Find",           Tool::Search),
    ("Search",         Tool::Search),
];

/// Begins the session with what stands before the list of nodes.
pub(crate) fn head(log: &mut Log, head: &Value) {
    log.start(head["metadata"]["instance_id"].as_str(), None, "");
}

/// Takes the next node of the list.
pub(crate) fn node(log: &mut Log, node: &Value) {
    let id = format!("node:{}", node["node_id"]);
    log.hear(&format!("{id}?"), node["message"].as_str().unwrap_or_default(), false);
    let action = &node["action"];
    if !action.is_object() {
        return;
    }
    log.say(&format!("{id}~"), action["scratch_pad"].as_str().unwrap_or_default());
    let class = action["action_args_class"].as_str().unwrap_or_default();
    let found = ACTIONS.iter().find(|it| class.contains(it.0));
    let input = match found {
        Some((_, Tool::Shell)) => json!({ "command": "run tests" }),
        Some((_, Tool::Read)) => json!({ "path": action["files"][0]["file_path"] }),
        Some((_, Tool::Search)) => {
            let words = ["query", "code_snippet", "class_name", "function_name"];
            json!({ "query": words.iter().find_map(|it| action[it].as_str()) })
        }
        _ => action.clone(),
    };
    log.call_tool(&id, found.map_or(Tool::Other, |it| it.1.clone()), &input);
    let observed = &node["observation"];
    let ok = observed["expect_correction"] != true;
    log.answer(&id, ok, false, &answer::text(&observed["message"]));
}
