//! The module map in JSON.

use engine::{MappedModule, ModuleMap, ProjectTool};
use serde_json::{Value, json};

pub(crate) fn map_json(it: &ModuleMap) -> Value {
    let modules: Vec<Value> = it.modules.iter().map(module_json).collect();
    let tools: Vec<Value> = it.tools.iter().map(tool_json).collect();
    json!({ "modules": modules, "tools": tools })
}

pub(crate) fn module_json(it: &MappedModule) -> Value {
    let found = &it.module;
    json!({
        "id": found.id, "name": found.name, "root": found.root, "description": found.description,
        "confidence": found.coverage().slug(), "edited": it.is_edited, "memories": it.n_memories,
        "files": found.files.len(), "core": found.core_files, "entry_points": found.entry_points, "tests": found.test_files,
        "needs": found.dependencies, "needed_by": found.dependents, "related": found.co_changing, "only_tests": found.is_test,
    })
}

fn tool_json(it: &ProjectTool) -> Value {
    json!({ "kind": it.kind.slug(), "value": it.value, "from": it.declared_in })
}
