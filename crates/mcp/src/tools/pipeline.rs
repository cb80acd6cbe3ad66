//! Tools for recipes (steps that worked for a kind of task) and for pipeline contexts (notes for a stage
//! of work: plan, qa, recovery, spec). Notes are texts of memories for an agent; `frame_notes` puts them
//! into the block that marks them as data.

use std::path::PathBuf;

use engine::model_text::{TextOrigin, neutralize_text};
use engine::{ContextRequest, PipelineContext};
use serde::Deserialize;
use serde_json::{Value, json};

use super::memory::parse_path;
use super::{ToolCallContext, ToolError, ToolOutput, frame_notes, parse_arguments};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecipeArgs {
    task: String,
}

pub(super) async fn get_workflow_recipe(
    call: ToolCallContext<'_>,
) -> Result<ToolOutput, ToolError> {
    let RecipeArgs { task } = parse_arguments(call.arguments)?;
    // A failure to embed is no reason to fail: the recipe is then found by its words alone.
    call.project.embedding_indexer().embed_new_memories().await;
    let Some(found) = call.project.retriever().find_recipe(&task).await? else {
        let text = "No recipe fits this task.".to_owned();
        return Ok(ToolOutput { text, data: json!({ "notes": "", "steps": [] }) });
    };
    let notes = frame_notes(&[call.project.injector().format_recipe(&found)]);
    let origin = TextOrigin::of_memory(&found.rated.memory);
    let step_json = |it: &model::RecipeStep| -> Value {
        let description = neutralize_text(&it.description, origin);
        let mut res = json!({ "order": it.order, "description": description });
        if let Some(file) = &it.file {
            res["file"] = json!(file.as_str());
        }
        res
    };
    let steps: Vec<Value> = found.recipe.steps.iter().map(step_json).collect();
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
    let args: ContextToolArgs = parse_arguments(call.arguments)?;
    let stage =
        PipelineContext::parse(&args.stage).map_err(|it| ToolError::Arguments(it.to_string()))?;
    let files: Result<Vec<_>, ToolError> =
        args.files.iter().map(|it| parse_path(call.project, it)).collect();
    let request = ContextRequest {
        task: args.task,
        files: files?,
        modules: args.modules,
        failure_report: args.report,
        ..ContextRequest::for_pipeline(stage)
    };
    if request.has_search_text() {
        // A failure to embed only means that new memories are found by their words alone.
        call.project.embedding_indexer().embed_new_memories().await;
    }
    let context = call.project.injector().pipeline_context(&request).await?;
    let notes: Vec<_> =
        context.placed.iter().map(|it| (it.hit.rated.memory.id, it.tokens)).collect();
    // The agent sees these memories now, so its host need not inject them again.
    call.project.injector().record_requested_memories(&call.session, &notes)?;
    let ids: Vec<String> = notes.iter().map(|it| it.0.to_string()).collect();
    let notes = context.text.trim_end().to_owned();
    let text = if notes.is_empty() { format!("No notes for `{stage}`.") } else { notes.clone() };
    Ok(ToolOutput { text, data: json!({ "notes": notes, "ids": ids }) })
}
