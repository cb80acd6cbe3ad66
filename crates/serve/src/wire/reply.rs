//! Replies of the protocol.

use engine::{
    ContextBlock, DependencyReport, ImpactReport, IndexFreshness, MappedModule, MatchedRecipe,
    ModuleMap, ReachedSymbol, SearchHit, StopLimit, SymbolInfo,
};
use model::{Memory, RecipeStep, closed};
use serde::Serialize;
use serde_json::{Value, json};

closed! {
    /// Error codes of replies.
    pub enum ErrorCode : "code" {
        Malformed = "malformed",
        TooLong = "too_long",
        TooDeep = "too_deep",
        UnknownEvent = "unknown_event",
        UnknownRequest = "unknown_request",
        NoProject = "no_project",
        UnknownSession = "unknown_session",
        Refused = "refused",
        Failed = "failed",
        Stopping = "stopping",
    }
}

/// A failed request: a code for programs and a message for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestFailure {
    pub code: ErrorCode,
    pub message: String,
}

impl RequestFailure {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl From<engine::Error> for RequestFailure {
    fn from(error: engine::Error) -> Self {
        use engine::Error;
        let code = match &error {
            Error::NotFound { .. }
            | Error::Ambiguous { .. }
            | Error::Secret { .. }
            | Error::Refused { .. }
            | Error::Nothing { .. }
            | Error::Source(_) => ErrorCode::Refused,
            Error::Store(_) | Error::Model(_) => ErrorCode::Failed,
        };
        Self::new(code, error.to_string())
    }
}

/// A reply line with a result.
pub fn reply_ok(id: &Value, answer: Value) -> String {
    json!({ "id": id, "ok": answer }).to_string()
}

/// A reply line with an error; `of` is the id it refers to.
pub fn reply_error(of: Option<(&'static str, &Value)>, why: &RequestFailure) -> String {
    let mut res = json!({ "error": { "code": why.code, "message": why.message } });
    let (name, value) = of.unwrap_or(("id", &Value::Null));
    res[name] = value.clone();
    res.to_string()
}

/// Search results, best first.
pub fn hits_json(all: &[SearchHit]) -> Value {
    let hit = |it: &SearchHit| {
        let mut res = memory_json(&it.rated.memory);
        res["score"] = json!((f64::from(it.score) * 1000.0).round() / 1000.0);
        res
    };
    let ids: Vec<String> = all.iter().map(|it| it.rated.memory.id.to_string()).collect();
    json!({ "hits": all.iter().map(hit).collect::<Vec<_>>(), "memories": ids })
}

/// A context; its text is empty if there are no notes.
pub fn context_json(it: &ContextBlock) -> Value {
    let ids: Vec<String> = it.placed.iter().map(|it| it.hit.rated.memory.id.to_string()).collect();
    json!({ "text": it.text, "tokens": it.used_tokens, "memories": ids })
}

/// The recipe for a task; null if there is none.
pub fn recipe_json(found: Option<&MatchedRecipe>) -> Value {
    let Some(MatchedRecipe { rated: shown, recipe }) = found else {
        return json!({ "recipe": null, "memories": [] });
    };
    let step = |it: &RecipeStep| json!({ "order": it.order, "description": it.description, "file": it.file, "line": it.line });
    let steps: Vec<Value> = recipe.steps.iter().map(step).collect();
    let body = json!({ "task_pattern": recipe.task_pattern, "steps": steps, "success_count": recipe.success_count });
    json!({ "recipe": body, "memories": [shown.memory.id] })
}

pub fn stop_limit_json(it: &StopLimit) -> Value {
    let calibration = f64::from(it.calibration) / 1000.0;
    json!({ "limit": it.limit, "calibration": calibration, "samples": it.samples, "memories": [] })
}

pub fn impact_json(it: &ImpactReport) -> Value {
    let memories: Vec<String> = it.memories.iter().map(|it| it.memory.id.to_string()).collect();
    json!({
        "targets": it.targets.iter().map(symbol_json).collect::<Vec<_>>(),
        "concerned": it.reached.iter().map(reached_json).collect::<Vec<_>>(),
        "memories": memories,
        "freshness": freshness_json(&it.freshness),
    })
}

pub fn dependencies_json(it: &DependencyReport) -> Value {
    json!({
        "targets": it.targets.iter().map(symbol_json).collect::<Vec<_>>(),
        "needed": it.reached.iter().map(reached_json).collect::<Vec<_>>(),
        "memories": [],
        "freshness": freshness_json(&it.freshness),
    })
}

/// Modules, tools, and both as text for an agent.
pub fn module_map_json<'a>(
    map: &ModuleMap,
    modules: impl Iterator<Item = &'a MappedModule>,
    text: String,
) -> Value {
    let module = |it: &MappedModule| {
        let module = &it.module;
        json!({
            "id": module.id,
            "name": module.name,
            "root": module.root,
            "description": module.description,
            "entries": module.entry_points,
            "core": module.core_files,
            "tests": module.test_files,
            "needs": module.dependencies,
            "needed_by": module.dependents,
            "n_files": module.files.len(),
            "n_memories": it.n_memories,
        })
    };
    let tool = |it: &engine::ProjectTool| json!({ "kind": it.kind.slug(), "value": it.value });
    json!({
        "modules": modules.map(module).collect::<Vec<_>>(),
        "tools": map.tools.iter().map(tool).collect::<Vec<_>>(),
        "text": text,
        "memories": [],
    })
}

/// The fields of a memory that a client needs to cite it and act on it.
fn memory_json(it: &Memory) -> Value {
    json!({
        "id": it.id,
        "type": it.kind.slug(),
        "summary": it.summary,
        "content": it.content,
        "citation": it.citation,
        "files": it.files,
    })
}

fn symbol_json(it: &SymbolInfo) -> Value {
    let kind = it.kind.map(engine::DefKind::slug);
    json!({ "name": it.name, "kind": kind, "path": it.path, "line": it.lines.0 })
}

fn reached_json(it: &ReachedSymbol) -> Value {
    let mut res = symbol_json(&it.symbol);
    res["depth"] = json!(it.depth);
    res["edge"] = json!(it.kind.slug());
    res["via"] = json!(it.via);
    res
}

fn freshness_json(it: &IndexFreshness) -> Value {
    json!({ "is_partial": it.is_partial, "waiting": it.n_unresolved, "changed": it.changed_files })
}

/// Status of the daemon.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StatusWire {
    pub pid: u32,
    pub version: String,
    pub protocol: u32,
    pub seconds_up: u64,
    pub seconds_idle: u64,
    /// Roots of the open projects.
    pub projects: Vec<String>,
    pub sessions: usize,
    pub connections: usize,
    pub events: u64,
    pub requests: u64,
    /// The running background job.
    pub job: Option<JobWire>,
    pub queued: usize,
    /// Finished jobs by name.
    pub done: std::collections::BTreeMap<String, u64>,
    /// The last error of a background job.
    pub last_trouble: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct JobWire {
    pub name: String,
    pub project: String,
    pub seconds: u64,
}
