//! The module map: what the project is made of.

use std::path::PathBuf;

use engine::{MapEdit, MappedModule};
use serde::Deserialize;
use serde_json::{Value, json};

use super::memory::path;
use super::{Call, Said, Wrong, arguments};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Show {
    module: Option<String>,
}

pub(super) async fn show(call: Call<'_>) -> Result<Said, Wrong> {
    let Show { module } = arguments(call.arguments)?;
    let map = call.engine.module_map().await?;
    let Some(word) = module else {
        let modules: Vec<Value> = map.named().map(module_json).collect();
        let notes = map.told();
        let data = json!({ "notes": notes, "modules": modules });
        return Ok(Said { text: notes, data });
    };
    let Some(found) = map.find(&word) else {
        let ids: Vec<&str> = map.named().map(|it| it.module.id.as_str()).collect();
        let what = format!("no module is called `{word}`; there are: {}", ids.join(", "));
        return Err(Wrong::Refused(what));
    };
    let notes = found.told();
    let data = json!({ "notes": notes, "modules": [module_json(found)] });
    Ok(Said { text: notes, data })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Update {
    module: String,
    name: Option<String>,
    description: Option<String>,
    #[serde(default)]
    files: Vec<PathBuf>,
}

pub(super) async fn update(call: Call<'_>) -> Result<Said, Wrong> {
    let given: Update = arguments(call.arguments)?;
    let mut edits = Vec::new();
    edits.extend(given.name.map(MapEdit::Name));
    edits.extend(given.description.map(MapEdit::Description));
    if !given.files.is_empty() {
        let files: Result<Vec<_>, Wrong> =
            given.files.iter().map(|it| path(call.engine, it)).collect();
        edits.push(MapEdit::Members(files?));
    }
    if edits.is_empty() {
        return Err(Wrong::Arguments("nothing is said about the module".to_owned()));
    }
    let mut ids = Vec::new();
    for edit in edits {
        let memory = call.engine.propose_map(&call.session, &given.module, edit).await?;
        ids.push(memory.id.to_string());
    }
    let text = "Proposed. The map changes when a person has confirmed it.".to_owned();
    Ok(Said { text, data: json!({ "ids": ids }) })
}

fn module_json(mapped: &MappedModule) -> Value {
    let module = &mapped.module;
    json!({
        "id": module.id,
        "root": module.root,
        "n_files": module.files.len(),
        "n_memories": mapped.n_memories,
        "needs": module.needs,
    })
}
