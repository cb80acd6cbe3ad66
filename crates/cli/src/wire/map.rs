//! The module map on the wire.

use engine::{MappedModule, ModuleMap, Tool};
use serde_json::{Value, json};

pub(crate) fn map(it: &ModuleMap) -> Value {
    let modules: Vec<Value> = it.modules.iter().map(module).collect();
    let tools: Vec<Value> = it.tools.iter().map(tool).collect();
    json!({ "modules": modules, "tools": tools })
}

pub(crate) fn module(it: &MappedModule) -> Value {
    let found = &it.module;
    json!({
        "id": found.id, "name": found.name, "root": found.root, "description": found.description,
        "confidence": found.coverage().slug(), "edited": it.is_edited, "memories": it.n_memories,
        "files": found.files.len(), "core": found.core, "entry_points": found.entries, "tests": found.tests,
        "needs": found.needs, "needed_by": found.needed_by, "related": found.related, "only_tests": found.is_test,
    })
}

fn tool(it: &Tool) -> Value {
    json!({ "kind": it.kind.slug(), "value": it.value, "from": it.from })
}
