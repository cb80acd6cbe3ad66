//! Recipes and contexts of a pipeline.

use std::path::PathBuf;

use engine::{Occasion, Pipeline, frame};
use serde::Deserialize;
use serde_json::{Value, json};

use super::memory::path;
use super::{Call, Said, Wrong, arguments, framed};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Recipe {
    task: String,
}

pub(super) async fn recipe(call: Call<'_>) -> Result<Said, Wrong> {
    let Recipe { task } = arguments(call.arguments)?;
    let Some(found) = call.engine.recipe(&task).await? else {
        let text = "No recipe fits this task.".to_owned();
        return Ok(Said { text, data: json!({ "notes": "", "steps": [] }) });
    };
    let notes = framed(&[call.engine.recipe_note(&found)]);
    let step = |it: &model::RecipeStep| -> Value {
        let mut res = json!({ "order": it.order, "description": frame::neutral(&it.description) });
        if let Some(file) = &it.file {
            res["file"] = json!(file.as_str());
        }
        res
    };
    let steps: Vec<Value> = found.recipe.steps.iter().map(step).collect();
    Ok(Said { text: notes.clone(), data: json!({ "notes": notes, "steps": steps }) })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Context {
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

pub(super) async fn context(call: Call<'_>) -> Result<Said, Wrong> {
    let given: Context = arguments(call.arguments)?;
    let stage = Pipeline::parse(&given.stage).map_err(|it| Wrong::Arguments(it.to_string()))?;
    let mut occasion = Occasion::for_pipeline(stage);
    for file in &given.files {
        occasion.files.push(path(call.engine, file)?);
    }
    (occasion.task, occasion.modules, occasion.report) = (given.task, given.modules, given.report);
    let context = call.engine.context_pipeline(&occasion).await?;
    let told = context.placed.iter().map(|it| it.hit.shown.memory.id);
    call.engine.asked_and_told(&call.session, told)?;
    let notes = context.text.trim_end().to_owned();
    let ids: Vec<String> =
        context.placed.iter().map(|it| it.hit.shown.memory.id.to_string()).collect();
    let text = if notes.is_empty() {
        format!("Nothing is known that a `{stage}` should know.")
    } else {
        notes.clone()
    };
    Ok(Said { text, data: json!({ "notes": notes, "ids": ids }) })
}
