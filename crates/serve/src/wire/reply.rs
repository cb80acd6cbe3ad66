//! What is answered.

use engine::{
    Context, Dependency, Freshness, Hit, Impact, MappedModule, Mention, ModuleMap, RecipeFound,
    StopLimit, Symbol,
};
use model::{Memory, RecipeStep, closed};
use serde::Serialize;
use serde_json::{Value, json};

closed! {
    /// Why a line has no better answer.
    pub enum Code : "code" {
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

/// A code for programs, a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub code: Code,
    pub message: String,
}

impl Failure {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl From<engine::Error> for Failure {
    fn from(error: engine::Error) -> Self {
        use engine::Error;
        let code = match &error {
            Error::NotFound { .. }
            | Error::Ambiguous { .. }
            | Error::Secret { .. }
            | Error::Refused { .. }
            | Error::Nothing { .. }
            | Error::Source(_) => Code::Refused,
            Error::Store(_) | Error::Model(_) => Code::Failed,
        };
        Self::new(code, error.to_string())
    }
}

/// A line with an answer.
pub fn reply_ok(id: &Value, answer: Value) -> String {
    json!({ "id": id, "ok": answer }).to_string()
}

/// A line with a failure; `of` names what it is about.
pub fn reply_error(of: Option<(&'static str, &Value)>, why: &Failure) -> String {
    let mut res = json!({ "error": { "code": why.code, "message": why.message } });
    let (name, value) = of.unwrap_or(("id", &Value::Null));
    res[name] = value.clone();
    res.to_string()
}

/// What a search found, best first.
pub fn hits(all: &[Hit]) -> Value {
    let hit = |it: &Hit| {
        let mut res = memory(&it.shown.memory);
        res["score"] = json!((f64::from(it.score) * 1000.0).round() / 1000.0);
        res
    };
    let ids: Vec<String> = all.iter().map(|it| it.shown.memory.id.to_string()).collect();
    json!({ "hits": all.iter().map(hit).collect::<Vec<_>>(), "memories": ids })
}

/// A text for an agent; empty when nothing is worth saying.
pub fn context(it: &Context) -> Value {
    let ids: Vec<String> = it.placed.iter().map(|it| it.hit.shown.memory.id.to_string()).collect();
    json!({ "text": it.text, "tokens": it.used, "memories": ids })
}

/// The recipe for a task, step by step; null when none is known.
pub fn recipe(found: Option<&RecipeFound>) -> Value {
    let Some(RecipeFound { shown, recipe }) = found else {
        return json!({ "recipe": null, "memories": [] });
    };
    let step = |it: &RecipeStep| json!({ "order": it.order, "description": it.description, "file": it.file, "line": it.line });
    let steps: Vec<Value> = recipe.steps.iter().map(step).collect();
    let body = json!({ "task_pattern": recipe.task_pattern, "steps": steps, "success_count": recipe.success_count });
    json!({ "recipe": body, "memories": [shown.memory.id] })
}

pub fn stop_limit(it: &StopLimit) -> Value {
    let calibration = f64::from(it.calibration) / 1000.0;
    json!({ "limit": it.limit, "calibration": calibration, "samples": it.samples, "memories": [] })
}

pub fn impact(it: &Impact) -> Value {
    let memories: Vec<String> = it.memories.iter().map(|it| it.memory.id.to_string()).collect();
    json!({
        "targets": it.targets.iter().map(symbol).collect::<Vec<_>>(),
        "concerned": it.mentions.iter().map(mention).collect::<Vec<_>>(),
        "memories": memories,
        "freshness": freshness(&it.freshness),
    })
}

pub fn dependencies(it: &Dependency) -> Value {
    json!({
        "targets": it.targets.iter().map(symbol).collect::<Vec<_>>(),
        "needed": it.mentions.iter().map(mention).collect::<Vec<_>>(),
        "memories": [],
        "freshness": freshness(&it.freshness),
    })
}

/// Modules of the map, the project's tools, and both as a text for an agent.
pub fn module_map<'a>(
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
            "entries": module.entries,
            "core": module.core,
            "tests": module.tests,
            "needs": module.needs,
            "needed_by": module.needed_by,
            "n_files": module.files.len(),
            "n_memories": it.n_memories,
        })
    };
    let tool = |it: &engine::Tool| json!({ "kind": it.kind.slug(), "value": it.value });
    json!({
        "modules": modules.map(module).collect::<Vec<_>>(),
        "tools": map.tools.iter().map(tool).collect::<Vec<_>>(),
        "text": text,
        "memories": [],
    })
}

/// Enough of a memory to cite it and to act on it.
fn memory(it: &Memory) -> Value {
    json!({
        "id": it.id,
        "type": it.kind.slug(),
        "summary": it.summary,
        "content": it.content,
        "citation": it.citation,
        "files": it.files,
    })
}

fn symbol(it: &Symbol) -> Value {
    let kind = it.kind.map(engine::DefKind::slug);
    json!({ "name": it.name, "kind": kind, "path": it.path, "line": it.lines.0 })
}

fn mention(it: &Mention) -> Value {
    let mut res = symbol(&it.symbol);
    res["depth"] = json!(it.depth);
    res["edge"] = json!(it.kind.slug());
    res["via"] = json!(it.via);
    res
}

fn freshness(it: &Freshness) -> Value {
    json!({ "is_partial": it.is_partial, "waiting": it.n_waiting, "changed": it.changed })
}

/// How the daemon is.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StatusWire {
    pub pid: u32,
    pub version: String,
    pub protocol: u32,
    pub seconds_up: u64,
    pub seconds_idle: u64,
    /// Folders of the projects that are open.
    pub projects: Vec<String>,
    pub sessions: usize,
    pub connections: usize,
    pub events: u64,
    pub requests: u64,
    /// What is being done in the background.
    pub job: Option<JobWire>,
    pub queued: usize,
    /// Jobs done so far, by name.
    pub done: std::collections::BTreeMap<String, u64>,
    /// What went wrong last, if anything did.
    pub last_trouble: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct JobWire {
    pub name: String,
    pub project: String,
    pub seconds: u64,
}
