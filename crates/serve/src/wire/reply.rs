//! Replies of the protocol: the reply line, and the JSON of each result. `requests.rs` calls these
//! functions with the structs of the engine.
//!
//! ```text
//! {"id":7,"ok":{…}}                                                   a result
//! {"error":{"code":"unknown_request","message":"…"},"id":7}           an error
//! {"error":{"code":"unknown_event","message":"…"},"event_id":"e1"}    an error for an event
//! ```
//!
//! In most results `memories` has the ids of the memories (conclusions about the project) that the
//! result is based on, so that a client can cite them.

use engine::model_text::{
    TextOrigin, neutralize_description, neutralize_foreign_text, neutralize_text,
};
use engine::{
    ContextBlock, DependencyReport, ImpactReport, IndexFreshness, MappedModule, MatchedRecipe,
    ModuleMap, ReachedSymbol, SearchHit, StopLimit, SymbolInfo,
};
use model::{Memory, RecipeStep, closed};
use serde::Serialize;
use serde_json::{Value, json};

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
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
        // `Refused`: the client can change its request. `Failed`: no change of the request would help.
        let code = match &error {
            Error::NotFound { .. }
            | Error::Ambiguous { .. }
            | Error::Secret { .. }
            | Error::Refused { .. }
            | Error::Nothing { .. }
            | Error::Source(_) => ErrorCode::Refused,
            Error::SessionFailed { .. } | Error::Store(_) | Error::Model(_) => ErrorCode::Failed,
        };
        let message = match &error {
            Error::Refused { hint: Some(hint), .. } => format!("{error}; {hint}"),
            _ => error.to_string(),
        };
        Self::new(code, message)
    }
}

/// The line that an error reply refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplyTarget {
    /// The `id` of a request.
    Request(Value),
    /// The `event_id` of an event.
    Event(Value),
    /// The line has no readable id.
    Unknown,
}

/// A reply line with a result.
pub fn reply_ok(id: &Value, answer: Value) -> String {
    json!({ "id": id, "ok": answer }).to_string()
}

/// A reply line with an error.
pub fn reply_error(target: &ReplyTarget, why: &RequestFailure) -> String {
    let mut res = json!({ "error": { "code": why.code, "message": why.message } });
    match target {
        ReplyTarget::Request(id) => res["id"] = id.clone(),
        ReplyTarget::Event(id) => res["event_id"] = id.clone(),
        ReplyTarget::Unknown => res["id"] = Value::Null,
    }
    res.to_string()
}

/// Search results, best first.
pub fn hits_json(hits: &[SearchHit]) -> Value {
    let hit_json = |hit: &SearchHit| {
        let mut res = memory_json(&hit.rated.memory);
        // Three decimals are enough to compare hits.
        res["score"] = json!((f64::from(hit.score) * 1000.0).round() / 1000.0);
        res
    };
    let ids: Vec<String> = hits.iter().map(|it| it.rated.memory.id.to_string()).collect();
    json!({ "hits": hits.iter().map(hit_json).collect::<Vec<_>>(), "memories": ids })
}

/// A context; its text is empty if there are no notes.
pub fn context_json(context: &ContextBlock) -> Value {
    let ids: Vec<String> =
        context.placed.iter().map(|it| it.hit.rated.memory.id.to_string()).collect();
    json!({ "text": context.text, "tokens": context.used_tokens, "memories": ids })
}

/// The recipe for a task; null if there is none.
pub fn recipe_json(found: Option<&MatchedRecipe>) -> Value {
    let Some(MatchedRecipe { rated, recipe }) = found else {
        return json!({ "recipe": null, "memories": [] });
    };
    let origin = TextOrigin::of_memory(&rated.memory);
    let step_json = |it: &RecipeStep| {
        json!({
            "order": it.order,
            "description": neutralize_text(&it.description, origin),
            "file": it.file,
            "line": it.line,
        })
    };
    let steps: Vec<Value> = recipe.steps.iter().map(step_json).collect();
    let recipe_json = json!({
        "task_pattern": neutralize_text(&recipe.task_pattern, origin),
        "steps": steps,
        "success_count": recipe.success_count,
    });
    json!({ "recipe": recipe_json, "memories": [rated.memory.id] })
}

/// The number of steps after which an agent should stop.
pub fn stop_limit_json(stop_limit: &StopLimit) -> Value {
    json!({
        "limit": stop_limit.limit,
        // Actual steps per planned step: per mille in the engine, a factor on the wire.
        "calibration": f64::from(stop_limit.calibration) / 1000.0,
        "samples": stop_limit.samples,
        "memories": [],
    })
}

/// The code that a change to the targets affects.
pub fn impact_json(report: &ImpactReport) -> Value {
    let memories: Vec<String> = report.memories.iter().map(|it| it.memory.id.to_string()).collect();
    json!({
        "targets": report.targets.iter().map(symbol_json).collect::<Vec<_>>(),
        "concerned": report.reached.iter().map(reached_json).collect::<Vec<_>>(),
        // Calls of the target's name whose receiver is unknown, so that they may reach it.
        "unknown_receivers": report.unknown_receivers.n_calls(),
        "memories": memories,
        "freshness": freshness_json(&report.freshness),
    })
}

/// The code that the targets need.
pub fn dependencies_json(report: &DependencyReport) -> Value {
    json!({
        "targets": report.targets.iter().map(symbol_json).collect::<Vec<_>>(),
        "needed": report.reached.iter().map(reached_json).collect::<Vec<_>>(),
        "memories": [],
        "freshness": freshness_json(&report.freshness),
    })
}

/// The given modules of the map and the tools of the project; `text` has the same as notes for an agent.
pub fn module_map_json<'a>(
    map: &ModuleMap,
    modules: impl Iterator<Item = &'a MappedModule>,
    text: String,
) -> Value {
    let mapped_module_json = |mapped: &MappedModule| {
        let module = &mapped.module;
        json!({
            "id": module.id,
            "name": module.name,
            "root": module.root,
            "description": neutralize_description(&module.description),
            "entries": module.entry_points,
            "core": module.core_files,
            "tests": module.test_files,
            "needs": module.dependencies,
            "needed_by": module.dependents,
            "n_files": module.files.len(),
            "n_memories": mapped.n_memories,
        })
    };
    let tool_json = |it: &engine::ProjectTool| json!({ "kind": it.kind.slug(), "value": neutralize_foreign_text(&it.value) });
    json!({
        "modules": modules.map(mapped_module_json).collect::<Vec<_>>(),
        "tools": map.tools.iter().map(tool_json).collect::<Vec<_>>(),
        "text": text,
        "memories": [],
    })
}

/// The fields of a memory that a client needs to cite it and act on it.
fn memory_json(memory: &Memory) -> Value {
    let origin = TextOrigin::of_memory(memory);
    json!({
        "id": memory.id,
        "type": memory.kind.slug(),
        "summary": neutralize_text(&memory.summary, origin),
        "content": neutralize_text(&memory.content, origin),
        "citation": neutralize_text(&memory.citation, origin),
        "files": memory.files,
    })
}

fn symbol_json(symbol: &SymbolInfo) -> Value {
    let kind = symbol.kind.map(engine::DefKind::slug);
    let (first_line, _) = symbol.lines;
    let (name, path) =
        (neutralize_foreign_text(&symbol.name), neutralize_foreign_text(&symbol.path));
    json!({ "name": name, "kind": kind, "path": path, "line": first_line })
}

/// A symbol found by following edges from a target: the number of edges, the kind of the last edge, and
/// the symbol before it.
fn reached_json(reached: &ReachedSymbol) -> Value {
    let mut res = symbol_json(&reached.symbol);
    res["depth"] = json!(reached.depth);
    res["edge"] = json!(reached.kind.slug());
    res["via"] = json!(reached.via);
    res
}

/// Says how far the index of the code can be trusted: whether it is partial, references that are not
/// resolved yet, and files that changed since.
fn freshness_json(freshness: &IndexFreshness) -> Value {
    json!({
        "is_partial": freshness.is_partial,
        "waiting": freshness.n_unresolved,
        "changed": freshness.changed_files,
        "understood_in_part": freshness.n_partly_parsed,
    })
}

/// Status of the daemon, the result of a `status` request.
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

/// The running background job.
#[derive(Clone, Debug, Default, Serialize)]
pub struct JobWire {
    pub name: String,
    pub project: String,
    pub seconds: u64,
}
