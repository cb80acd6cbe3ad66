//! Searching, recording, relating and flagging.

use std::path::{Path, PathBuf};

use engine::{AgentNote, Filter, Hit, Purpose, Question, Verdict, Without};
use model::RelationKind;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Call, Said, Wrong, arguments, framed};

/// How many hits are given when nobody says, and at most.
const USUAL: u32 = 8;
const MOST: u32 = 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    query: String,
    r#type: Option<String>,
    file: Option<PathBuf>,
    limit: Option<u32>,
}

pub(super) async fn search(call: Call<'_>) -> Result<Said, Wrong> {
    let given: Search = arguments(call.arguments)?;
    let engine = call.engine;
    let limit = given.limit.unwrap_or(USUAL).clamp(1, MOST);
    let mut filter = Filter::standing(limit);
    if let Some(kind) = given.r#type {
        let kind = model::MemoryType::parse(&kind, &engine.config.types);
        filter.kind = Some(kind.map_err(engine::Error::from)?.slug().to_owned());
    }
    if let Some(file) = given.file {
        filter.file = Some(path(engine, &file)?);
    }
    let (phase, purpose, without) = (None, Purpose::Search, Without::default());
    // Who names a file means that one; else what the session went over last is at hand.
    let files = filter.file.clone().map_or_else(|| engine.went_over(&call.session), |it| vec![it]);
    let question =
        Question { text: given.query, files, filter, reach: None, phase, purpose, without };
    let answer = engine.recall(&question).await?;
    engine.asked_and_told(&call.session, answer.hits.iter().map(|it| it.shown.memory.id))?;
    let lines: Vec<String> =
        answer.hits.iter().map(|it| engine.framed_note(&it.shown.memory)).collect();
    let notes = framed(&lines);
    let hits: Vec<Value> = answer.hits.iter().map(hit_json).collect();
    let text = match answer.verdict {
        _ if !notes.is_empty() => notes.clone(),
        Verdict::Nothing { .. } => "Nothing that is remembered is relevant.".to_owned(),
        Verdict::Answered { .. } | Verdict::Open => "Nothing is remembered.".to_owned(),
    };
    let text = answer.notices.iter().fold(text, |acc, it| format!("{acc}\n({it})"));
    Ok(Said { text, data: json!({ "notes": notes, "hits": hits }) })
}

fn hit_json(hit: &Hit) -> Value {
    let memory = &hit.shown.memory;
    json!({
        "id": memory.id.to_string(),
        "type": memory.kind.slug(),
        "status": memory.status().slug(),
        "confidence": hit.shown.current.fraction(),
        "files": memory.files.iter().map(model::ProjectPath::as_str).collect::<Vec<_>>(),
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    content: String,
    r#type: Option<String>,
    #[serde(default)]
    files: Vec<PathBuf>,
    #[serde(default)]
    modules: Vec<String>,
    #[serde(default)]
    tags: Vec<String>,
}

pub(super) async fn record(call: Call<'_>) -> Result<Said, Wrong> {
    let given: Record = arguments(call.arguments)?;
    let Record { content, r#type: kind, files, modules, tags } = given;
    let note = AgentNote { content, kind, tags, files, modules };
    let noted = call.engine.record_note(&call.session, note, call.note).await?;
    let mut text = format!(
        "Recorded as `{}` in the scratchpad of this session, not as a memory yet: it becomes one when \
         the session is learned from and it proves itself.",
        noted.kind
    );
    if noted.redacted > 0 {
        text.push_str(" What looked like a secret was masked.");
    }
    if !noted.absent.is_empty() {
        let names: Vec<&str> = noted.absent.iter().map(model::ProjectPath::as_str).collect();
        text = format!("{text} These files do not exist here: {}.", names.join(", "));
    }
    let data = json!({
        "recorded_in": "scratchpad",
        "session": noted.session.to_string(),
        "type": noted.kind.slug(),
    });
    Ok(Said { text, data })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Relate {
    memory: String,
    relation: String,
    target: String,
}

pub(super) async fn relate(call: Call<'_>) -> Result<Said, Wrong> {
    let Relate { memory, relation, target } = arguments(call.arguments)?;
    let kind = RelationKind::parse(&relation).map_err(|it| Wrong::Arguments(it.to_string()))?;
    let related = call.engine.relate(&call.session, &memory, kind, &target).await?;
    let id = related.id.short();
    let text = format!("#{id} is now registered as `{relation}` `{target}`.");
    Ok(Said { text, data: json!({ "memory": related.id.to_string() }) })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Flag {
    memory: String,
    reason: String,
}

pub(super) async fn flag(call: Call<'_>) -> Result<Said, Wrong> {
    let Flag { memory, reason } = arguments(call.arguments)?;
    let flagged = call.engine.doubt(&call.session, &memory, &reason).await?;
    let text = format!(
        "#{} waits for a person's review and is no longer told unasked. Record what is right with \
         record_memory.",
        flagged.id.short()
    );
    let data = json!({ "memory": flagged.id.to_string(), "status": flagged.status().slug() });
    Ok(Said { text, data })
}

/// A path as an agent writes it: absolute, or from the root of the project.
pub(super) fn path(engine: &engine::Engine, given: &Path) -> Result<model::ProjectPath, Wrong> {
    Ok(engine.path(given, &engine.place.root)?)
}
