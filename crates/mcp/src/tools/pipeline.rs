//! Tools for recipes and pipeline contexts.

use std::path::PathBuf;

use engine::{ContextRequest, PipelineContext, frame};
use serde::Deserialize;
use serde_json::{Value, json};

use super::memory::parse_path;
use super::{ToolCallContext, ToolError, ToolOutput, frame_notes, parse_arguments};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecipeArgs {
    task: String,
}

pub(super) async fn get_recipe(call: ToolCallContext<'_>) -> Result<ToolOutput, ToolError> {
    let RecipeArgs { task } = parse_arguments(call.arguments)?;
    call.project.embedding_indexer().embed_before_search().await;
    let Some(found) = call.project.retriever().find_recipe(&task).await? else {
        let text = "No recipe fits this task.".to_owned();
        return Ok(ToolOutput { text, data: json!({ "notes": "", "steps": [] }) });
    };
    let notes = frame_notes(&[call.project.injector().format_recipe(&found)]);
    let step = |it: &model::RecipeStep| -> Value {
        let mut res =
            json!({ "order": it.order, "description": frame::neutralize_text(&it.description) });
        if let Some(file) = &it.file {
            res["file"] = json!(file.as_str());
        }
        res
    };
    let steps: Vec<Value> = found.recipe.steps.iter().map(step).collect();
    Ok(ToolOutput { text: notes.clone(), data: json!({ "notes": notes, "steps": steps }) })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ContextToolArgs {
    stage: String,
    #[serde(default)]
    task: String,
    #[serde(default)]
    modules: Vec<String>,
    #[serde(default)]
    files: Vec<PathBuf>,
    #[serde(default)]
    report: String,
}

pub(super) async fn get_context(call: ToolCallContext<'_>) -> Result<ToolOutput, ToolError> {
    let given: ContextToolArgs = parse_arguments(call.arguments)?;
    let stage =
        PipelineContext::parse(&given.stage).map_err(|it| ToolError::Arguments(it.to_string()))?;
    let mut request = ContextRequest::for_pipeline(stage);
    for file in &given.files {
        request.files.push(parse_path(call.project, file)?);
    }
    (request.task, request.modules, request.failure_report) =
        (given.task, given.modules, given.report);
    if request.has_search_text() {
        call.project.embedding_indexer().embed_before_search().await;
    }
    let context = call.project.injector().pipeline_context(&request).await?;
    let shown_ids = context.placed.iter().map(|it| it.hit.rated.memory.id);
    call.project.injector().record_requested_memories(&call.session, shown_ids)?;
    let notes = context.text.trim_end().to_owned();
    let ids: Vec<String> =
        context.placed.iter().map(|it| it.hit.rated.memory.id.to_string()).collect();
    let text = if notes.is_empty() { format!("No notes for `{stage}`.") } else { notes.clone() };
    Ok(ToolOutput { text, data: json!({ "notes": notes, "ids": ids }) })
}
