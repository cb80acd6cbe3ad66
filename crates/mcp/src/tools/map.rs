//! Tools for the module map (the parts of the project, with their files and dependencies): reading it,
//! and proposing corrections. A proposal is a memory that the user confirms or rejects; no tool changes
//! the map by itself.

use std::path::PathBuf;

use engine::model_text::neutralize_foreign_text;
use engine::{MapEdit, MappedModule};
use serde::Deserialize;
use serde_json::{Value, json};

use super::memory::parse_path;
use super::{ToolCallContext, ToolError, ToolOutput, parse_arguments};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShowMapArgs {
    module: Option<String>,
}

pub(super) async fn get_module_map(call: ToolCallContext<'_>) -> Result<ToolOutput, ToolError> {
    let ShowMapArgs { module } = parse_arguments(call.arguments)?;
    let map = call.project.code_graph().module_map().await?;
    let Some(name) = module else {
        let modules: Vec<Value> = map.listed_modules().map(module_json).collect();
        let notes = map.to_notes();
        let data = json!({ "notes": notes, "modules": modules });
        return Ok(ToolOutput { text: notes, data });
    };
    let Some(found) = map.find_module(&name) else {
        return Err(map.unknown_module(&name).into());
    };
    let notes = found.to_notes();
    let data = json!({ "notes": notes, "modules": [module_json(found)] });
    Ok(ToolOutput { text: notes, data })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UpdateMapArgs {
    module: String,
    name: Option<String>,
    description: Option<String>,
    #[serde(default)]
    files: Vec<PathBuf>,
}

pub(super) async fn update_module_map(call: ToolCallContext<'_>) -> Result<ToolOutput, ToolError> {
    let UpdateMapArgs { module, name, description, files } = parse_arguments(call.arguments)?;
    // One edit per given field, so that the user can confirm each on its own.
    let mut edits = Vec::new();
    edits.extend(name.map(MapEdit::Name));
    edits.extend(description.map(MapEdit::Description));
    if !files.is_empty() {
        let files: Result<Vec<_>, ToolError> =
            files.iter().map(|it| parse_path(call.project, it)).collect();
        edits.push(MapEdit::Members(files?));
    }
    if edits.is_empty() {
        return Err(ToolError::Arguments("name, description and files are all missing".to_owned()));
    }
    let mut ids = Vec::new();
    for edit in edits {
        let memory = call.project.code_indexer().propose_map(&call.session, &module, edit).await?;
        ids.push(memory.id.to_string());
    }
    let text = "Proposed. The map changes when the user confirms it.".to_owned();
    Ok(ToolOutput { text, data: json!({ "ids": ids }) })
}

fn module_json(mapped: &MappedModule) -> Value {
    let module = &mapped.module;
    json!({
        "id": neutralize_foreign_text(&module.id),
        "root": neutralize_foreign_text(&module.root),
        "n_files": module.files.len(),
        "n_memories": mapped.n_memories,
        "needs": module.dependencies.iter().map(|it| neutralize_foreign_text(it)).collect::<Vec<_>>(),
    })
}
