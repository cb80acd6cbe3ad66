//! JSON output that users can rely on: separate types, converted explicitly, so that a change inside the
//! program does not change the JSON. This file has the memory, one note that Waylore keeps about a project;
//! the files below have search results, contexts, results of code queries and the module map.
//!
//! `import` reads memories in the same form. They may be written by hand, so most fields have defaults. The
//! shortest one: `{"id": "…", "type": "gotcha", "content": "…", "confidence": 0.8, "created_at": 1700000000000}`.

pub(crate) mod context;
pub(crate) mod graph;
pub(crate) mod map;
pub(crate) mod search_results;

use engine::{NotebookScope, RatedMemory};
use model::{
    Actor, HybridTimestamp, Memory, MemoryFlags, MemoryId, MemoryScope, MemorySource, MemoryType,
    Payload, PerMille, ProjectId, ProjectPath, Relation, RelationKind, RelationTarget, SessionId,
    SoftStates, SymbolAnchor, Timestamp, UsageCounters, Visibility, WorkUnit,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::reader::readable_memory;

/// Amount of detail in printed results, as JSON or as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputDetail {
    Results,
    /// With excluded candidates and their reasons (`--explain`).
    Explained,
}

impl OutputDetail {
    /// The detail requested by the flag `--explain`.
    pub(crate) const fn from_explain_flag(is_set: bool) -> Self {
        if is_set { Self::Explained } else { Self::Results }
    }
}

/// A memory in JSON. Fractions are between 0 and 1, times are milliseconds since the epoch.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemoryWire {
    pub(crate) id: MemoryId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    project_id: Option<ProjectId>,
    /// A built-in kind (`gotcha`, `decision` …), or a type that the user declared: `custom:acme.ritual`.
    #[serde(rename = "type")]
    kind: String,
    #[serde(default = "user_taught")]
    source: MemorySource,
    #[serde(default = "default_scope")]
    scope: MemoryScope,
    #[serde(default = "default_visibility")]
    visibility: Visibility,
    content: String,
    #[serde(default)]
    summary: String,
    #[serde(default)]
    citation: String,
    confidence: f64,
    /// The confidence now: it halves with every half-life in which the memory is not used. Output only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    current_confidence: Option<f64>,
    /// `live`, `needs_review` …; derived, output only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    /// `project` or `user`; output only. Exports of schema 1 call it `reach`.
    #[serde(default, alias = "reach", skip_serializing_if = "Option::is_none")]
    notebook: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    files: Vec<ProjectPath>,
    #[serde(default)]
    modules: Vec<String>,
    /// Symbols of the code that the memory refers to.
    #[serde(default)]
    anchors: Vec<SymbolAnchor>,
    #[serde(default)]
    work_unit: Option<WorkUnit>,
    /// The session in which it was learned or recorded.
    #[serde(default)]
    session_id: Option<SessionId>,
    /// Sessions that confirmed it.
    #[serde(default)]
    provenance: Vec<SessionId>,
    /// Commit and branch at that time.
    #[serde(default)]
    commit: Option<String>,
    #[serde(default)]
    branch: Option<String>,
    #[serde(default)]
    relations: Vec<RelationWire>,
    /// `None`: that of its type.
    #[serde(default)]
    half_life_days: Option<u32>,
    #[serde(default)]
    needs_review: bool,
    #[serde(default)]
    user_verified: bool,
    #[serde(default)]
    pinned: bool,
    /// Derived from text from outside the project; not shown to agents until the user confirms it.
    #[serde(default)]
    tainted: bool,
    /// A claim that is not sure; not shown to agents until it is confirmed. Absent if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    candidate: bool,
    #[serde(default)]
    deprecated_at: Option<i64>,
    #[serde(default)]
    deprecated_reason: Option<String>,
    #[serde(default)]
    stale_at: Option<i64>,
    #[serde(default)]
    deleted_at: Option<i64>,
    /// Structured data beside the text; its fields depend on the kind.
    #[serde(default)]
    payload: Option<Value>,
    #[serde(default = "by_user")]
    created_by: String,
    created_at: i64,
    /// Absent in a hand-written memory, which was never updated.
    #[serde(default)]
    updated_at: Option<i64>,
    #[serde(default)]
    version: u32,
    /// Hybrid logical clock of the last change: orders changes that several databases made.
    #[serde(default)]
    hlc: i64,
    /// Times that it was shown.
    #[serde(default)]
    access_count: u64,
    /// Times that an agent followed or cited it.
    #[serde(default)]
    used_count: u64,
    #[serde(default)]
    last_accessed_at: Option<i64>,
    #[serde(default)]
    last_used_at: Option<i64>,
}

/// A relation in JSON; exactly one of `memory` and `file` is set.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RelationWire {
    kind: RelationKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    memory: Option<MemoryId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<ProjectPath>,
    confidence: f64,
    /// Found by Waylore; otherwise stated by a user or an agent.
    #[serde(default)]
    auto: bool,
}

// Defaults of fields that a hand-written import may leave out.
fn user_taught() -> MemorySource {
    MemorySource::UserTaught
}
fn default_scope() -> MemoryScope {
    MemoryScope::Global
}
fn default_visibility() -> Visibility {
    Visibility::Personal
}
fn by_user() -> String {
    Actor::User.to_string()
}

/// The word for a notebook in JSON and messages.
pub(crate) fn notebook_word(scope: NotebookScope) -> &'static str {
    match scope {
        NotebookScope::Project => "project",
        NotebookScope::User => "user",
    }
}

impl From<&RatedMemory> for MemoryWire {
    fn from(rated: &RatedMemory) -> Self {
        Self {
            current_confidence: Some(rated.current_confidence.as_fraction()),
            notebook: Some(notebook_word(rated.scope).to_owned()),
            ..Self::from(&rated.memory)
        }
    }
}

impl From<&Memory> for MemoryWire {
    fn from(memory: &Memory) -> Self {
        let memory = &*readable_memory(memory);
        let to_millis = |it: Option<Timestamp>| it.map(|it| it.0);
        Self {
            id: memory.id,
            project_id: memory.project,
            kind: memory.kind.slug().to_owned(),
            source: memory.source,
            scope: memory.scope,
            visibility: memory.visibility,
            content: memory.content.clone(),
            summary: memory.summary.clone(),
            citation: memory.citation.clone(),
            confidence: memory.confidence.as_fraction(),
            current_confidence: None,
            // Derived from the flags and states below; for readers only.
            status: Some(memory.status().slug().to_owned()),
            notebook: None,
            tags: memory.tags.clone(),
            files: memory.files.clone(),
            modules: memory.modules.clone(),
            anchors: memory.anchors.clone(),
            work_unit: memory.work_unit.clone(),
            session_id: memory.session,
            provenance: memory.provenance.clone(),
            commit: memory.commit.clone(),
            branch: memory.branch.clone(),
            relations: memory.relations.iter().map(RelationWire::from).collect(),
            half_life_days: memory.half_life_days,
            needs_review: memory.flags.needs_review,
            user_verified: memory.flags.user_verified,
            pinned: memory.flags.pinned,
            tainted: memory.flags.tainted,
            candidate: memory.flags.candidate,
            deprecated_at: to_millis(memory.states.deprecated_at),
            deprecated_reason: memory.states.deprecated_reason.clone(),
            stale_at: to_millis(memory.states.stale_at),
            deleted_at: to_millis(memory.states.deleted_at),
            payload: memory.payload.as_ref().map(Payload::to_json),
            created_by: memory.created_by.to_string(),
            created_at: memory.created_at.0,
            updated_at: Some(memory.updated_at.0),
            version: memory.version,
            hlc: memory.hlc.0,
            access_count: memory.counters.access_count,
            used_count: memory.counters.used_count,
            last_accessed_at: to_millis(memory.counters.last_accessed_at),
            last_used_at: to_millis(memory.counters.last_used_at),
        }
    }
}

impl MemoryWire {
    /// Converts imported JSON; the error names the field and the reason. Custom types have no payload.
    /// Output-only fields are ignored.
    pub(crate) fn into_memory(self) -> Result<Memory, String> {
        let kind = MemoryType::from_slug(&self.kind).map_err(|it| it.to_string())?;
        let payload = match (&self.payload, kind.core_kind()) {
            (None | Some(Value::Null), _) => None,
            // The kind decides which fields the payload has.
            (Some(json), Some(built_in)) => {
                Some(Payload::parse(built_in, json).map_err(|it| it.to_string())?)
            }
            // A custom type.
            (Some(_), None) => return Err(format!("a `{kind}` carries no payload")),
        };
        let confidence = parse_fraction("confidence", self.confidence)?;
        let relations: Result<Vec<_>, _> =
            self.relations.into_iter().map(RelationWire::into_relation).collect();
        let to_timestamp = |it: Option<i64>| it.map(Timestamp);
        Ok(Memory {
            id: self.id,
            project: self.project_id,
            kind,
            source: self.source,
            scope: self.scope,
            visibility: self.visibility,
            content: self.content,
            summary: self.summary,
            citation: self.citation,
            confidence,
            tags: self.tags,
            files: self.files,
            modules: self.modules,
            anchors: self.anchors,
            work_unit: self.work_unit,
            session: self.session_id,
            provenance: self.provenance,
            commit: self.commit,
            branch: self.branch,
            relations: relations?,
            half_life_days: self.half_life_days,
            flags: MemoryFlags {
                needs_review: self.needs_review,
                user_verified: self.user_verified,
                pinned: self.pinned,
                tainted: self.tainted,
                candidate: self.candidate,
            },
            states: SoftStates {
                deprecated_at: to_timestamp(self.deprecated_at),
                deprecated_reason: self.deprecated_reason,
                stale_at: to_timestamp(self.stale_at),
                deleted_at: to_timestamp(self.deleted_at),
            },
            payload,
            created_by: Actor::parse(&self.created_by).ok_or_else(|| {
                format!("`created_by` is not a known author: `{}`", self.created_by)
            })?,
            created_at: Timestamp(self.created_at),
            updated_at: Timestamp(self.updated_at.unwrap_or(self.created_at)),
            version: self.version,
            hlc: HybridTimestamp(self.hlc),
            counters: UsageCounters {
                access_count: self.access_count,
                used_count: self.used_count,
                last_accessed_at: to_timestamp(self.last_accessed_at),
                last_used_at: to_timestamp(self.last_used_at),
            },
        })
    }
}

impl From<&Relation> for RelationWire {
    fn from(relation: &Relation) -> Self {
        let (memory, file) = match &relation.target {
            RelationTarget::Memory(id) => (Some(*id), None),
            RelationTarget::File(path) => (None, Some(path.clone())),
        };
        Self {
            kind: relation.kind,
            memory,
            file,
            confidence: relation.confidence.as_fraction(),
            auto: relation.auto,
        }
    }
}

impl RelationWire {
    fn into_relation(self) -> Result<Relation, String> {
        let target = match (self.memory, self.file) {
            (Some(id), None) => RelationTarget::Memory(id),
            (None, Some(path)) => RelationTarget::File(path),
            (None, None) | (Some(_), Some(_)) => {
                return Err("a relation needs a `memory` or a `file` as target".to_owned());
            }
        };
        let confidence = parse_fraction("confidence of a relation", self.confidence)?;
        Ok(Relation { kind: self.kind, target, confidence, auto: self.auto })
    }
}

fn parse_fraction(what: &str, value: f64) -> Result<PerMille, String> {
    PerMille::from_fraction(value)
        .ok_or_else(|| format!("the {what} is not between 0 and 1: {value}"))
}
