//! Tools to search, record, relate and flag memories.

use std::path::{Path, PathBuf};

use engine::{
    AgentNote, DisabledStages, MemoryFilter, RelevanceVerdict, SearchHit, SearchPurpose,
    SearchQuery,
};
use model::RelationKind;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ToolCallContext, ToolError, ToolOutput, frame_notes, parse_arguments};

/// Default and largest number of hits.
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
    let given: SearchToolArgs = parse_arguments(call.arguments)?;
    let engine = call.project;
    let limit = given.limit.unwrap_or(DEFAULT_HITS).clamp(1, MAX_HITS);
    let mut filter = MemoryFilter::active(limit);
    if let Some(kind) = given.r#type {
        let kind = model::MemoryType::parse(&kind, &engine.config.types);
        filter.kind = Some(kind.map_err(engine::Error::from)?.slug().to_owned());
    }
    if let Some(file) = given.file {
        filter.file = Some(parse_path(engine, &file)?);
    }
    let (phase, purpose, without) = (None, SearchPurpose::Search, DisabledStages::default());
    // An explicit file wins; otherwise the recent files of the session give the context.
    let files = filter
        .file
        .clone()
        .map_or_else(|| engine.injector().recent_files_of_agent(&call.session), |it| vec![it]);
    let question = SearchQuery {
        text: given.query,
        files,
        filter,
        scope: None,
        phase,
        purpose,
        disabled_stages: without,
    };
    let notice = engine.embedding_indexer().embed_before_search().await;
    let mut answer = engine.retriever().search(&question).await?;
    answer.notices.extend(notice);
    engine.injector().record_requested_memories(
        &call.session,
        answer.hits.iter().map(|it| it.rated.memory.id),
    )?;
    let lines: Vec<String> =
        answer.hits.iter().map(|it| engine.injector().format_note(&it.rated.memory)).collect();
    let notes = frame_notes(&lines);
    let hits: Vec<Value> = answer.hits.iter().map(hit_json).collect();
    let text = match answer.verdict {
        _ if !notes.is_empty() => notes.clone(),
        RelevanceVerdict::Nothing { .. } => "No relevant memory.".to_owned(),
        RelevanceVerdict::Answered { .. } | RelevanceVerdict::Open => {
            "No memory matches.".to_owned()
        }
    };
    let text = answer.notices.iter().fold(text, |acc, it| format!("{acc}\n({it})"));
    Ok(ToolOutput { text, data: json!({ "notes": notes, "hits": hits }) })
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
}

pub(super) async fn record_memory(call: ToolCallContext<'_>) -> Result<ToolOutput, ToolError> {
    let given: RecordArgs = parse_arguments(call.arguments)?;
    let RecordArgs { content, r#type: kind, files, modules, tags } = given;
    let note = AgentNote { content, kind, tags, files, modules };
    let noted =
        call.project.session_journal().record_note(&call.session, note, call.note_id).await?;
    let mut text = format!(
        "Recorded as `{}` in the scratchpad of this session, not as a memory yet: it becomes one if \
         learning from the session confirms it.",
        noted.kind
    );
    if noted.n_redacted > 0 {
        text.push_str(" Text that looked like a secret was masked.");
    }
    if !noted.missing_files.is_empty() {
        let names: Vec<&str> = noted.missing_files.iter().map(model::ProjectPath::as_str).collect();
        text = format!("{text} These files do not exist here: {}.", names.join(", "));
    }
    let data = json!({
        "recorded_in": "scratchpad",
        "session": noted.session.to_string(),
        "type": noted.kind.slug(),
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

pub(super) async fn relate_memory(call: ToolCallContext<'_>) -> Result<ToolOutput, ToolError> {
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
    let flagged = call.project.editor().flag_for_review(&call.session, &memory, &reason).await?;
    let text = format!(
        "#{} waits for review by the user and is no longer injected. Record the correction with \
         record_memory.",
        flagged.id.short()
    );
    let data = json!({ "memory": flagged.id.to_string(), "status": flagged.status().slug() });
    Ok(ToolOutput { text, data })
}

/// Parses a path given by an agent: absolute, or relative to the project root.
pub(super) fn parse_path(
    engine: &engine::Project,
    given: &Path,
) -> Result<model::ProjectPath, ToolError> {
    Ok(engine.project_path(given, &engine.place.root)?)
}
