//! The table of tools: names, descriptions, schemas and functions. `server.rs` lists them and calls them
//! with [`call_tool`]; the functions are in the files below.
//!
//! All descriptions and schemas together stay within 2,000 tokens, because hosts (the programs that run
//! agents) put them into every conversation.
//!
//! A tool takes a [`ToolCallContext`] and returns a [`ToolOutput`]: a text for the model and data for
//! programs. For example, `search_memory` with `{"query":"login"}` may return
//!
//! ```text
//! text: <the header of a note block> … #1a2b3c4d verify() wants seconds … <its footer>
//! data: {"notes": the same text, "hits": [{"id": "018f…", "type": "gotcha", …}]}
//! ```

mod code;
mod map;
mod memory;
mod pipeline;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use engine::model_text::neutralize_foreign_text;
use engine::{AgentSession, Error, Project};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The result of a tool.
pub(crate) struct ToolOutput {
    /// For models: framed notes, or a message. A frame is a header and a footer line around notes, so
    /// that a model takes them as data and not as instructions.
    pub(crate) text: String,
    /// For programs. Texts of memories occur only in `notes`, framed.
    pub(crate) data: Value,
}

/// The inputs of a tool call.
pub(crate) struct ToolCallContext<'a> {
    pub(crate) project: &'a mut Project,
    pub(crate) session: AgentSession,
    /// Id for a note that the call may record.
    pub(crate) note_id: String,
    pub(crate) arguments: JsonObject,
}

type ToolFunction =
    for<'a> fn(
        ToolCallContext<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<ToolOutput, ToolError>> + Send + 'a>>;

/// One tool.
pub struct McpToolRow {
    pub name: &'static str,
    pub description: &'static str,
    /// The arguments: the `properties` of a JSON schema, as JSON, and the names of the required ones.
    pub input_properties: &'static str,
    pub required: &'static [&'static str],
    /// The `properties` of the structured result. `None` if it has only an id or two, for which a schema
    /// is not worth its tokens.
    pub output_properties: Option<&'static str>,
    /// True if the tool changes anything.
    pub writes: bool,
    function: ToolFunction,
}

/// Failure of a tool; the message says what to do next.
pub(crate) enum ToolError {
    /// The arguments do not fit.
    Arguments(String),
    /// Valid arguments, but the request cannot be fulfilled.
    Refused(String),
}

impl From<Error> for ToolError {
    fn from(error: Error) -> Self {
        let hint = match &error {
            Error::NotFound { .. } => Some("search_memory shows the ids of notes".to_owned()),
            Error::Ambiguous { .. } => Some("give more of the id".to_owned()),
            Error::Refused { hint, .. } => hint.clone(),
            Error::Nothing { .. } | Error::Secret { .. } | Error::Source(_) | Error::Model(_) => {
                None
            }
            Error::Store(_) | Error::SessionFailed { .. } => {
                Some("the user can run `waylore doctor`".to_owned())
            }
        };
        Self::Refused(match hint {
            Some(hint) => format!("{error}; {hint}"),
            None => error.to_string(),
        })
    }
}

/// The tools, in the order in which an agent needs them. Each function has the name of its tool.
const TOOL_TABLE: &[McpToolRow] = &[
    McpToolRow {
        name: "search_memory",
        description: "Search what is known about this project: traps, fixes, decisions, how things work. Use before exploring and on errors.",
        input_properties: r#"{"query":{"type":"string","description":"A question, an identifier or an error message"},"type":{"type":"string","description":"e.g. gotcha, decision"},"file":{"type":"string","description":"Only about this file"},"limit":{"type":"integer"}}"#,
        required: &["query"],
        output_properties: Some(r#"{"notes":{"type":"string"},"hits":{"type":"array"}}"#),
        writes: false,
        function: |call| Box::pin(memory::search_memory(call)),
    },
    McpToolRow {
        name: "record_memory",
        description: "Record one self-contained statement that a later session should know, when you found a trap or a fix. It becomes a memory if evidence confirms it.",
        input_properties: r#"{"content":{"type":"string"},"type":{"type":"string","description":"gotcha, decision, preference, requirement, error_pattern, dead_end …; suggested when absent"},"files":{"type":"array","items":{"type":"string"}},"modules":{"type":"array","items":{"type":"string"}},"tags":{"type":"array","items":{"type":"string"}},"scope":{"type":"string"},"payload":{"type":"object","description":"fields of the type"}}"#,
        required: &["content"],
        output_properties: Some(
            r#"{"recorded_in":{"type":"string"},"session":{"type":"string"},"type":{"type":"string"},"needs_review":{"type":"boolean"}}"#,
        ),
        writes: true,
        function: |call| Box::pin(memory::record_memory(call)),
    },
    McpToolRow {
        name: "get_workflow_recipe",
        description: "Get the steps that worked for this kind of task, before starting it.",
        input_properties: r#"{"task":{"type":"string"}}"#,
        required: &["task"],
        output_properties: Some(r#"{"notes":{"type":"string"},"steps":{"type":"array"}}"#),
        writes: false,
        function: |call| Box::pin(pipeline::get_workflow_recipe(call)),
    },
    McpToolRow {
        name: "get_context",
        description: "Get the notes for a stage, before it begins: plan (recipes, dead ends, effort, files that change together), qa (what to verify), recovery (what failed), spec (preferences, decisions).",
        input_properties: r#"{"stage":{"type":"string","enum":["plan","qa","recovery","spec"]},"task":{"type":"string"},"modules":{"type":"array","items":{"type":"string"}},"files":{"type":"array","items":{"type":"string"}},"report":{"type":"string","description":"recovery: what reported the failure"}}"#,
        required: &["stage"],
        output_properties: Some(r#"{"notes":{"type":"string"},"ids":{"type":"array"}}"#),
        writes: false,
        function: |call| Box::pin(pipeline::get_context(call)),
    },
    McpToolRow {
        name: "analyze_impact",
        description: "List the code affected by a change to a file or symbol, with notes, before changing it.",
        input_properties: r#"{"target":{"type":"string","description":"path, path:symbol, path:line or symbol"},"depth":{"type":"integer"}}"#,
        required: &["target"],
        output_properties: Some(
            r#"{"targets":{"type":"array"},"affected":{"type":"array"},"notes":{"type":"string"}}"#,
        ),
        writes: false,
        function: |call| Box::pin(code::analyze_impact(call)),
    },
    McpToolRow {
        name: "get_dependencies",
        description: "List the dependencies of a file or symbol, before moving it.",
        input_properties: r#"{"target":{"type":"string"},"depth":{"type":"integer"}}"#,
        required: &["target"],
        output_properties: Some(r#"{"targets":{"type":"array"},"needs":{"type":"array"}}"#),
        writes: false,
        function: |call| Box::pin(code::get_dependencies(call)),
    },
    McpToolRow {
        name: "get_module_map",
        description: "List the modules of the project, or one, when you look for a place.",
        input_properties: r#"{"module":{"type":"string"}}"#,
        required: &[],
        output_properties: Some(r#"{"notes":{"type":"string"},"modules":{"type":"array"}}"#),
        writes: false,
        function: |call| Box::pin(map::get_module_map(call)),
    },
    McpToolRow {
        name: "update_module_map",
        description: "Propose a name, a purpose or more files for a module when the map is wrong; the user confirms it.",
        input_properties: r#"{"module":{"type":"string"},"name":{"type":"string"},"description":{"type":"string"},"files":{"type":"array","items":{"type":"string"}}}"#,
        required: &["module"],
        output_properties: None,
        writes: true,
        function: |call| Box::pin(map::update_module_map(call)),
    },
    McpToolRow {
        name: "relate",
        description: "Register a relation from a memory to another memory or to a file, when they depend or conflict.",
        input_properties: r#"{"memory":{"type":"string","description":"id"},"relation":{"type":"string","enum":["required_with","conflicts_with","validates","derived_from"]},"target":{"type":"string","description":"id or path"}}"#,
        required: &["memory", "relation", "target"],
        output_properties: None,
        writes: true,
        function: |call| Box::pin(memory::relate(call)),
    },
    McpToolRow {
        name: "flag_memory",
        description: "Report a memory when it is wrong or outdated. The user then reviews it.",
        input_properties: r#"{"memory":{"type":"string","description":"id"},"reason":{"type":"string"}}"#,
        required: &["memory", "reason"],
        output_properties: None,
        writes: true,
        function: |call| Box::pin(memory::flag_memory(call)),
    },
];

/// All tools.
pub fn tool_rows() -> &'static [McpToolRow] {
    TOOL_TABLE
}

/// Tokens of all tool descriptions and schemas.
pub fn schema_tokens() -> u32 {
    let all = serde_json::to_string(&list_tools()).expect("tools are plain JSON");
    engine::estimate_tokens(&all)
}

pub(crate) fn list_tools() -> Vec<Tool> {
    TOOL_TABLE.iter().map(to_mcp_tool).collect()
}

pub(crate) fn find_tool(name: &str) -> Option<Tool> {
    TOOL_TABLE.iter().find(|it| it.name == name).map(to_mcp_tool)
}

fn to_mcp_tool(row: &McpToolRow) -> Tool {
    let input_schema = object_schema(row.input_properties, row.required);
    let mut res = Tool::new(row.name, row.description, Arc::new(input_schema));
    res.output_schema = row.output_properties.map(|it| Arc::new(object_schema(it, &[])));
    // Hosts may ask the user before a tool that is not read-only. Every change can be undone, so no
    // tool is destructive.
    let annotations = ToolAnnotations::new();
    res.annotations =
        Some(if row.writes { annotations.destructive(false) } else { annotations.read_only(true) });
    res
}

/// The JSON schema of an object with these properties.
fn object_schema(properties: &str, required: &[&str]) -> JsonObject {
    let mut res = JsonObject::new();
    res.insert("type".to_owned(), json!("object"));
    res.insert("properties".to_owned(), parse_properties(properties));
    if !required.is_empty() {
        res.insert("required".to_owned(), json!(required));
    }
    res
}

fn parse_properties(properties: &str) -> Value {
    serde_json::from_str(properties).expect("the table holds JSON")
}

/// Calls a tool. Failures are tool results, not protocol errors, so that the model sees them.
pub(crate) async fn call_tool(row: &McpToolRow, call: ToolCallContext<'_>) -> CallToolResult {
    let message = match (row.function)(call).await {
        Ok(ToolOutput { text, mut data }) => {
            // Some hosts pass only the data to the model: it must then contain the text.
            if !has_content(&data) {
                data["says"] = json!(text);
            }
            let mut res = CallToolResult::structured(data);
            res.content = vec![ContentBlock::text(text)];
            return res;
        }
        Err(ToolError::Refused(what)) => what,
        Err(ToolError::Arguments(what)) => {
            let properties = parse_properties(row.input_properties);
            let names: Vec<&str> = properties
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, _)| name.as_str())
                .collect();
            let names = names.join(", ");
            format!("the arguments of `{}` do not fit: {what}; it takes {names}", row.name)
        }
    };
    // A message may quote names of modules, files and symbols.
    CallToolResult::error(vec![ContentBlock::text(neutralize_foreign_text(&message))])
}

/// True if the data is useful without the text: it has notes or looked-up symbols.
fn has_content(data: &Value) -> bool {
    let has_notes = data["notes"].as_str().is_some_and(|it| !it.is_empty());
    let has_symbols = data.get("targets").is_some();
    has_notes || has_symbols
}

/// Parses the arguments of a tool.
fn parse_arguments<T: DeserializeOwned>(given: JsonObject) -> Result<T, ToolError> {
    serde_json::from_value(Value::Object(given)).map_err(|it| ToolError::Arguments(it.to_string()))
}

/// Frames notes; empty if there are none.
fn frame_notes(lines: &[String]) -> String {
    use engine::model_text::{NOTES_FOOTER, NOTES_HEADER};
    if lines.is_empty() {
        String::new()
    } else {
        format!("{NOTES_HEADER}\n{}\n{NOTES_FOOTER}", lines.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hosts put the schemas into every conversation.
    const MAX_SCHEMA_TOKENS: u32 = 2_050;

    #[test]
    fn learning_knows_every_tool_as_our_own() {
        let names: Vec<&str> = TOOL_TABLE.iter().map(|it| it.name).collect();
        assert_eq!(names, model::OWN_SERVER_TOOLS);
    }

    #[test]
    fn all_schemas_together_are_small() {
        let n_tokens = schema_tokens();
        assert!(n_tokens <= MAX_SCHEMA_TOKENS, "{n_tokens} tokens");
    }

    #[test]
    fn no_schema_contains_null_and_every_required_property_exists() {
        for row in TOOL_TABLE {
            let schemas = [Some(row.input_properties), row.output_properties];
            for properties in schemas.into_iter().flatten() {
                assert!(!properties.contains("null"), "{}: {properties}", row.name);
                assert!(parse_properties(properties).is_object(), "{}", row.name);
            }
            let properties = parse_properties(row.input_properties);
            for name in row.required {
                assert!(properties.get(name).is_some(), "{}: {name}", row.name);
            }
        }
    }

    #[test]
    fn tool_names_are_unique() {
        for (i, row) in TOOL_TABLE.iter().enumerate() {
            assert!(TOOL_TABLE[..i].iter().all(|it| it.name != row.name), "{}", row.name);
        }
    }
}
