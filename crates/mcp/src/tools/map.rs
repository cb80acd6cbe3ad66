//! The module map: what the project is made of.

use std::path::PathBuf;

use engine::{MapEdit, MappedModule, ModuleMap, frame};
use model::Source;
use serde::Deserialize;
use serde_json::{Value, json};

use super::memory::path;
use super::{Call, Said, Wrong, arguments, framed};

/// How many modules are named; the rest is counted.
const NAMED: usize = 60;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Show {
    module: Option<String>,
}

pub(super) async fn show(call: Call<'_>) -> Result<Said, Wrong> {
    let Show { module } = arguments(call.arguments)?;
    let map = call.engine.module_map().await?;
    let Some(word) = module else {
        let modules: Vec<Value> = named(&map).map(module_json).collect();
        let notes = told(&map);
        let data = json!({ "notes": notes, "modules": modules });
        return Ok(Said { text: notes, data });
    };
    let Some(found) = map.find(&word) else {
        let ids: Vec<&str> = named(&map).map(|it| it.module.id.as_str()).collect();
        let what = format!("no module is called `{word}`; there are: {}", ids.join(", "));
        return Err(Wrong::Refused(what));
    };
    let notes = framed(&details(found));
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
        let by = Source::AgentExplicit;
        let memory = call.engine.update_module_map(&given.module, edit, by).await?;
        ids.push(memory.id.to_string());
    }
    let text = "The map is corrected; a person can undo it.".to_owned();
    Ok(Said { text, data: json!({ "ids": ids }) })
}

/// The whole map as notes.
pub(crate) fn told(map: &ModuleMap) -> String {
    let line = |it: &MappedModule| {
        let module = &it.module;
        let about = match module.description.as_str() {
            "" => String::new(),
            about => format!(" — {}", frame::neutral(about)),
        };
        let needs = match module.needs.as_slice() {
            [] => String::new(),
            needs => format!(" (needs {})", frame::neutral(&needs.join(", "))),
        };
        format!("- {}{about}{needs}", frame::neutral(&module.id))
    };
    let mut lines: Vec<String> = named(map).map(line).collect();
    let n_all = map.modules.iter().filter(|it| !it.module.is_test).count();
    if n_all > lines.len() {
        lines.push(format!("- and {} more", n_all - lines.len()));
    }
    lines.extend(
        map.tools.iter().map(|it| format!("- {}: {}", it.kind.slug(), frame::neutral(&it.value))),
    );
    framed(&lines)
}

fn named(map: &ModuleMap) -> impl Iterator<Item = &MappedModule> {
    map.modules.iter().filter(|it| !it.module.is_test).take(NAMED)
}

fn details(found: &MappedModule) -> Vec<String> {
    let module = &found.module;
    let mut res = vec![format!("- {}", frame::neutral(&module.name))];
    if !module.description.is_empty() {
        res.push(format!("about: {}", frame::neutral(&module.description)));
    }
    let rows = [
        ("comes in at", &module.entries),
        ("core", &module.core),
        ("tests", &module.tests),
        ("needs", &module.needs),
        ("needed by", &module.needed_by),
        ("changes with", &module.related),
    ];
    for (title, names) in rows.into_iter().filter(|it| !it.1.is_empty()) {
        res.push(format!("{title}: {}", frame::neutral(&names.join(", "))));
    }
    res
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
