//! Tools to search, record, relate and flag memories (conclusions about the project). An agent never
//! changes a memory directly: a recorded note goes to the scratchpad of its session, the state from
//! which learning may later make a memory, and a flag waits for the user.

use std::path::{Path, PathBuf};

use engine::{
    AgentNote, DisabledStages, MemoryFilter, RelevanceVerdict, SearchHit, SearchPurpose,
    SearchQuery,
};
use model::{MemoryScope, RelationKind, StatedPayload};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ToolCallContext, ToolError, ToolOutput, frame_notes, parse_arguments};

/// Hits of a search: the default and the maximum.
const DEFAULT_HITS: u32 = 8;
const MAX_HITS: u32 = 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchToolArgs {
    query: String,
    r#type: Option<String>,
    file: Option<PathBuf>,
    limit: Option<u32>,
}

pub(super) async fn search_memory(call: ToolCallContext<'_>) -> Result<ToolOutput, ToolError> {
    let args: SearchToolArgs = parse_arguments(call.arguments)?;
    let project = call.project;

    let limit = args.limit.unwrap_or(DEFAULT_HITS).clamp(1, MAX_HITS);
    let mut filter = MemoryFilter::active(limit);
    if let Some(memory_type) = args.r#type {
        let parsed = model::MemoryType::parse(&memory_type, &project.config.types);
        filter.kind = Some(parsed.map_err(engine::Error::from)?.slug().to_owned());
    }
    if let Some(file) = args.file {
        filter.file = Some(parse_path(project, &file)?);
    }
    // Memories near these files rank higher. An explicit file wins over those of the session.
    let files = match &filter.file {
        Some(file) => vec![file.clone()],
        None => project.injector().recent_files_of_agent(&call.session),
    };
    let query = SearchQuery {
        text: args.query,
        files,
        filter,
        scope: None,
        phase: None,
        purpose: SearchPurpose::Search,
        disabled_stages: DisabledStages::default(),
    };

    // New memories have no vector yet. If computing it fails, they are found by their words alone, and
    // the notice says so.
    let notice = project.embedding_indexer().embed_new_memories().await;
    let mut answer = project.retriever().search(&query).await?;
    answer.notices.extend(notice);
    // The agent sees these memories now, so its host need not inject them again.
    let injector = project.injector();
    let (mut lines, mut shown) = (Vec::new(), Vec::new());
    for hit in &answer.hits {
        let line = injector.format_note(&hit.rated.memory);
        shown.push((hit.rated.memory.id, engine::estimate_tokens(&line)));
        lines.push(line);
    }
    injector.record_requested_memories(&call.session, &shown)?;
    let notes = frame_notes(&lines);
    let hits: Vec<Value> = answer.hits.iter().map(hit_json).collect();
    let mut text = match notes.as_str() {
        "" => describe_no_hits(&answer.verdict).to_owned(),
        notes => notes.to_owned(),
    };
    for notice in &answer.notices {
        text = format!("{text}\n({notice})");
    }
    Ok(ToolOutput { text, data: json!({ "notes": notes, "hits": hits }) })
}

const fn describe_no_hits(verdict: &RelevanceVerdict) -> &'static str {
    match verdict {
        // There were candidates, but none was relevant enough.
        RelevanceVerdict::Nothing { .. } => "No relevant memory.",
        // The filter (type or file) left no candidate.
        RelevanceVerdict::Answered { .. } | RelevanceVerdict::Open => "No memory matches.",
    }
}

fn hit_json(hit: &SearchHit) -> Value {
    let memory = &hit.rated.memory;
    json!({
        "id": memory.id.to_string(),
        "type": memory.kind.slug(),
        "status": memory.status().slug(),
        "confidence": hit.rated.current_confidence.as_fraction(),
        "files": memory.files.iter().map(model::ProjectPath::as_str).collect::<Vec<_>>(),
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordArgs {
    content: String,
    r#type: Option<String>,
    #[serde(default)]
    files: Vec<PathBuf>,
    #[serde(default)]
    modules: Vec<String>,
    #[serde(default)]
    tags: Vec<String>,
    scope: Option<String>,
    payload: Option<Value>,
}

pub(super) async fn record_memory(call: ToolCallContext<'_>) -> Result<ToolOutput, ToolError> {
    let RecordArgs { content, r#type: kind, files, modules, tags, scope, payload } =
        parse_arguments(call.arguments)?;
    let scope = scope.map(|it| MemoryScope::parse(&it)).transpose();
    let scope = scope.map_err(|it| ToolError::Arguments(it.to_string()))?;
    let payload = payload.map(StatedPayload);
    let note = AgentNote { content, kind, tags, files, modules, scope, payload };
    let recorded =
        call.project.session_journal().record_note(&call.session, note, call.note_id).await?;
    let mut text = format!(
        "Recorded as `{}` in the scratchpad of this session, not as a memory yet: it becomes one if \
         learning from the session confirms it.",
        recorded.kind
    );
    if let Some(source) = &recorded.external_source {
        text = format!(
            "{text} This session has read outside content ({source}), so the note is not used until \
             the user approves it with `waylore review`."
        );
    }
    if recorded.n_redacted > 0 {
        text.push_str(" Text that looked like a secret was masked.");
    }
    if !recorded.missing_files.is_empty() {
        let names: Vec<&str> =
            recorded.missing_files.iter().map(model::ProjectPath::as_str).collect();
        text = format!("{text} These files do not exist here: {}.", names.join(", "));
    }
    let data = json!({
        "recorded_in": "scratchpad",
        "session": recorded.session.to_string(),
        "type": recorded.kind.slug(),
        "needs_review": recorded.external_source.is_some(),
    });
    Ok(ToolOutput { text, data })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RelateArgs {
    memory: String,
    relation: String,
    target: String,
}

pub(super) async fn relate(call: ToolCallContext<'_>) -> Result<ToolOutput, ToolError> {
    let RelateArgs { memory, relation, target } = parse_arguments(call.arguments)?;
    let kind = RelationKind::parse(&relation).map_err(|it| ToolError::Arguments(it.to_string()))?;
    let related = call.project.editor().relate(&call.session, &memory, kind, &target).await?;
    let id = related.id.short();
    let text = format!("#{id} is now registered as `{relation}` `{target}`.");
    Ok(ToolOutput { text, data: json!({ "memory": related.id.to_string() }) })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FlagToolArgs {
    memory: String,
    reason: String,
}

pub(super) async fn flag_memory(call: ToolCallContext<'_>) -> Result<ToolOutput, ToolError> {
    let FlagToolArgs { memory, reason } = parse_arguments(call.arguments)?;
    let flagged = match call.project.editor().flag_for_review(&call.session, &memory, &reason).await
    {
        // The note "seen once" carries the id of a finding, which is no memory yet.
        Err(engine::Error::NotFound { .. }) => {
            return dismiss_finding(call.project, &call.session, &memory, &reason).await;
        }
        flagged => flagged?,
    };
    let text = format!(
        "#{} waits for review by the user and is no longer injected. Record the correction with \
         record_memory.",
        flagged.id.short()
    );
    let data = json!({ "memory": flagged.id.to_string(), "status": flagged.status().slug() });
    Ok(ToolOutput { text, data })
}

/// Rejects the fix of an error that is no memory yet.
async fn dismiss_finding(
    project: &mut engine::Project,
    session: &engine::AgentSession,
    id: &str,
    reason: &str,
) -> Result<ToolOutput, ToolError> {
    let finding = project.editor().dismiss_finding(Some(session), id, reason).await?;
    let id = finding.id;
    let text = format!(
        "#{id} was a fix seen once, not a memory yet; it is no longer told. Record what is right with \
         record_memory."
    );
    Ok(ToolOutput { text, data: json!({ "finding": id, "status": "dismissed" }) })
}

/// Parses a path given by an agent: absolute, or relative to the project root.
pub(super) fn parse_path(
    project: &engine::Project,
    path: &Path,
) -> Result<model::ProjectPath, ToolError> {
    Ok(project.project_path(path, &project.place.root)?)
}
