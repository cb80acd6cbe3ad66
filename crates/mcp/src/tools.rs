//! The tools: a table of names, schemas and functions. All of them together stay within 2,000 tokens,
//! since hosts put them before every conversation.

mod code;
mod map;
mod memory;
mod pipeline;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use engine::{AgentSession, Engine, Error};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// What a tool says.
pub(crate) struct Said {
    /// For models: notes framed, or a sentence of ours.
    pub(crate) text: String,
    /// For programs. Texts of memories stand only in `notes`, framed.
    pub(crate) data: Value,
}

/// What a tool works with.
pub(crate) struct Call<'a> {
    pub(crate) engine: &'a mut Engine,
    pub(crate) session: AgentSession,
    /// The name of a note, should one be recorded.
    pub(crate) note: String,
    pub(crate) arguments: JsonObject,
}

type Run = for<'a> fn(Call<'a>) -> Pin<Box<dyn Future<Output = Result<Said, Wrong>> + Send + 'a>>;

/// One tool.
pub struct ToolRow {
    pub name: &'static str,
    pub about: &'static str,
    /// JSON schemas of the arguments and of the structured answer; none where that is an id or two.
    pub takes: &'static str,
    pub gives: &'static str,
    /// Whether it changes anything.
    pub writes: bool,
    run: Run,
}

/// Why a tool could not do it, in words that say what to do next.
pub(crate) enum Wrong {
    /// The arguments do not fit.
    Arguments(String),
    /// They fit, and it cannot be done.
    Refused(String),
}

impl From<Error> for Wrong {
    fn from(error: Error) -> Self {
        let hint = match &error {
            Error::NotFound { .. } => Some("search_memory shows the ids of notes".to_owned()),
            Error::Ambiguous { .. } => Some("give more of the id".to_owned()),
            Error::Refused { hint, .. } => hint.clone(),
            Error::Nothing { .. } | Error::Secret { .. } | Error::Source(_) | Error::Model(_) => {
                None
            }
            Error::Store(_) => Some("a person can run `waylore doctor`".to_owned()),
        };
        Self::Refused(match hint {
            Some(hint) => format!("{error}; {hint}"),
            None => error.to_string(),
        })
    }
}

/// In the order in which an agent needs them.
const TOOLS: &[ToolRow] = &[
    ToolRow {
        name: "search_memory",
        about: "Search what is known about this project: traps, fixes, decisions, how things work. Empty when nothing is relevant.",
        takes: r#"{"query":{"type":"string","description":"A question, an identifier or an error message"},"type":{"type":"string","description":"Only this type, e.g. gotcha, decision, error_pattern"},"file":{"type":"string","description":"Only about this file"},"limit":{"type":"integer"}}|query"#,
        gives: r#"{"notes":{"type":"string"},"hits":{"type":"array"}}|"#,
        writes: false,
        run: |call| Box::pin(memory::search(call)),
    },
    ToolRow {
        name: "record_memory",
        about: "Record something a later session should know, as one self-contained statement. It goes to the scratchpad and becomes a memory only if it proves itself.",
        takes: r#"{"content":{"type":"string"},"type":{"type":"string","description":"gotcha, decision, preference, pattern, requirement, error_pattern, module_insight, dead_end; suggested when absent"},"files":{"type":"array","items":{"type":"string"}},"modules":{"type":"array","items":{"type":"string"}},"tags":{"type":"array","items":{"type":"string"}}}|content"#,
        gives: r#"{"recorded_in":{"type":"string"},"session":{"type":"string"},"type":{"type":"string"}}|"#,
        writes: true,
        run: |call| Box::pin(memory::record(call)),
    },
    ToolRow {
        name: "get_workflow_recipe",
        about: "Get the steps by which a kind of task went well before. Empty when none fits.",
        takes: r#"{"task":{"type":"string"}}|task"#,
        gives: r#"{"notes":{"type":"string"},"steps":{"type":"array"}}|"#,
        writes: false,
        run: |call| Box::pin(pipeline::recipe(call)),
    },
    ToolRow {
        name: "get_context",
        about: "Get what should be known before a stage of work: plan (recipes, dead ends, effort, what changes along), qa (what to verify), recovery (what failed), spec (preferences, decisions).",
        takes: r#"{"stage":{"type":"string","enum":["plan","qa","recovery","spec"]},"task":{"type":"string"},"modules":{"type":"array","items":{"type":"string"}},"files":{"type":"array","items":{"type":"string"}},"report":{"type":"string","description":"recovery: what said that the work failed"}}|stage"#,
        gives: r#"{"notes":{"type":"string"},"ids":{"type":"array"}}|"#,
        writes: false,
        run: |call| Box::pin(pipeline::context(call)),
    },
    ToolRow {
        name: "analyze_impact",
        about: "List who would notice a change of a file or symbol, and what is known about it.",
        takes: r#"{"target":{"type":"string","description":"path, path:symbol, path:line or symbol"},"depth":{"type":"integer"}}|target"#,
        gives: r#"{"targets":{"type":"array"},"affected":{"type":"array"},"notes":{"type":"string"}}|"#,
        writes: false,
        run: |call| Box::pin(code::impact(call)),
    },
    ToolRow {
        name: "get_dependencies",
        about: "List what a file or symbol needs.",
        takes: r#"{"target":{"type":"string"},"depth":{"type":"integer"}}|target"#,
        gives: r#"{"targets":{"type":"array"},"needs":{"type":"array"}}|"#,
        writes: false,
        run: |call| Box::pin(code::dependencies(call)),
    },
    ToolRow {
        name: "get_module_map",
        about: "List the modules of the project, or everything about one.",
        takes: r#"{"module":{"type":"string"}}|"#,
        gives: r#"{"notes":{"type":"string"},"modules":{"type":"array"}}|"#,
        writes: false,
        run: |call| Box::pin(map::show(call)),
    },
    ToolRow {
        name: "update_module_map",
        about: "Propose another name, purpose or more files of a module. The map changes when a person confirms it.",
        takes: r#"{"module":{"type":"string"},"name":{"type":"string"},"description":{"type":"string"},"files":{"type":"array","items":{"type":"string"}}}|module"#,
        gives: "",
        writes: true,
        run: |call| Box::pin(map::update(call)),
    },
    ToolRow {
        name: "relate",
        about: "Register how a memory stands to another memory or to a file.",
        takes: r#"{"memory":{"type":"string","description":"id"},"relation":{"type":"string","enum":["required_with","conflicts_with","validates","derived_from"]},"target":{"type":"string","description":"id or path"}}|memory,relation,target"#,
        gives: "",
        writes: true,
        run: |call| Box::pin(memory::relate(call)),
    },
    ToolRow {
        name: "flag_memory",
        about: "Say that a memory is wrong or outdated. It is no longer told unasked until a person has looked at it.",
        takes: r#"{"memory":{"type":"string","description":"id"},"reason":{"type":"string"}}|memory,reason"#,
        gives: "",
        writes: true,
        run: |call| Box::pin(memory::flag(call)),
    },
];

/// The tools there are.
pub fn tool_rows() -> &'static [ToolRow] {
    TOOLS
}

/// Tokens of everything a host is told about the tools.
pub fn schema_tokens() -> u32 {
    let all = serde_json::to_string(&list()).expect("tools are plain JSON");
    engine::tokens(&all)
}

pub(crate) fn list() -> Vec<Tool> {
    TOOLS.iter().map(tool).collect()
}

pub(crate) fn get(name: &str) -> Option<Tool> {
    TOOLS.iter().find(|it| it.name == name).map(tool)
}

fn tool(row: &ToolRow) -> Tool {
    let mut res = Tool::new(row.name, row.about, Arc::new(schema(row.takes)));
    res.output_schema = (!row.gives.is_empty()).then(|| Arc::new(schema(row.gives)));
    let hints = ToolAnnotations::new();
    res.annotations =
        Some(if row.writes { hints.destructive(false) } else { hints.read_only(true) });
    res
}

/// A schema from the short form of the table: the properties, then what is required, if anything.
fn schema(short: &str) -> JsonObject {
    let (properties, required) = short.rsplit_once('|').expect("the table says what is required");
    let properties: Value = serde_json::from_str(properties).expect("the table holds JSON");
    let mut res = JsonObject::new();
    res.insert("type".to_owned(), json!("object"));
    res.insert("properties".to_owned(), properties);
    if !required.is_empty() {
        let required: Vec<&str> = required.split(',').collect();
        res.insert("required".to_owned(), json!(required));
    }
    res
}

/// Calls a tool. What is wrong is an answer, too: only then does the model see it and do better.
pub(crate) async fn call(row: &ToolRow, call: Call<'_>) -> CallToolResult {
    let what = match (row.run)(call).await {
        Ok(Said { text, mut data }) => {
            // Some hosts show a model only one of the two.
            if is_silent(&data) {
                data["says"] = json!(text);
            }
            let mut res = CallToolResult::structured(data);
            res.content = vec![ContentBlock::text(text)];
            return res;
        }
        Err(Wrong::Refused(what)) => what,
        Err(Wrong::Arguments(what)) => {
            let takes = schema(row.takes);
            let names: Vec<&String> =
                takes["properties"].as_object().into_iter().flatten().map(|it| it.0).collect();
            let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
            let names = names.join(", ");
            format!("the arguments of `{}` do not fit: {what}; it takes {names}", row.name)
        }
    };
    CallToolResult::error(vec![ContentBlock::text(what)])
}

/// Whether an answer says nothing without its text: no notes, and nothing that was looked up.
fn is_silent(data: &Value) -> bool {
    let has_notes = data["notes"].as_str().is_some_and(|it| !it.is_empty());
    !has_notes && data.get("targets").is_none()
}

/// Reads the arguments of a tool.
fn arguments<T: DeserializeOwned>(given: JsonObject) -> Result<T, Wrong> {
    serde_json::from_value(Value::Object(given)).map_err(|it| Wrong::Arguments(it.to_string()))
}

/// Notes inside their frame; no text at all when there are none.
fn framed(lines: &[String]) -> String {
    use engine::frame::{FOOT, HEAD};
    if lines.is_empty() { String::new() } else { format!("{HEAD}\n{}\n{FOOT}", lines.join("\n")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What hosts put before every conversation.
    const MOST: u32 = 2_000;

    #[test]
    fn all_schemas_together_are_small() {
        let n_tokens = schema_tokens();
        assert!(n_tokens <= MOST, "{n_tokens} tokens");
    }

    #[test]
    fn no_schema_takes_null_and_every_property_required_is_there() {
        for row in TOOLS {
            let all = [row.takes, row.gives].into_iter().filter(|it| !it.is_empty());
            for schema in all.map(schema) {
                let text = Value::Object(schema.clone()).to_string();
                assert!(!text.contains("null"), "{}: {text}", row.name);
                for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
                    assert!(schema["properties"].get(name.as_str().unwrap()).is_some(), "{name}");
                }
            }
        }
    }

    #[test]
    fn names_are_unique() {
        for (i, row) in TOOLS.iter().enumerate() {
            assert!(TOOLS[..i].iter().all(|it| it.name != row.name), "{}", row.name);
        }
    }
}
