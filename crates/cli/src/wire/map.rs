//! The module map in JSON: the output of `map --json`. A *module* is a part of the project, found by manifests,
//! folders and imports; a *tool* is a build or test command, or a framework, that a manifest declares.

use engine::{MappedModule, ModuleMap, ProjectTool};
use serde_json::{Value, json};

use crate::reader::readable_description;

pub(crate) fn map_json(map: &ModuleMap) -> Value {
    let modules: Vec<Value> = map.modules.iter().map(module_json).collect();
    let tools: Vec<Value> = map.tools.iter().map(tool_json).collect();
    json!({ "modules": modules, "tools": tools })
}

pub(crate) fn module_json(mapped: &MappedModule) -> Value {
    let module = &mapped.module;
    json!({
        "id": module.id,
        "name": module.name,
        "root": module.root,
        "description": readable_description(&module.description),
        // How much is known: its files only, also its references, also a description.
        "confidence": module.coverage().slug(),
        // Name or description were given by the user.
        "edited": mapped.is_edited,
        "memories": mapped.n_memories,
        "files": module.files.len(),
        "core": module.core_files,
        "entry_points": module.entry_points,
        "tests": module.test_files,
        // Ids of other modules.
        "needs": module.dependencies,
        "needed_by": module.dependents,
        // Modules that change together with it, although neither refers to the other.
        "related": module.co_changing,
        "only_tests": module.is_test,
    })
}

fn tool_json(tool: &ProjectTool) -> Value {
    json!({ "kind": tool.kind.slug(), "value": tool.value, "from": tool.declared_in })
}
