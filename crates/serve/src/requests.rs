//! Request handlers: each parses its fields, calls a capability of the engine, and returns wire JSON.

mod hook;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use engine::{
    ContextRequest, DisabledStages, HookEvent, HookMessage, MemoryFilter, PipelineContext, Project,
    SearchPurpose, SearchQuery, StepRequest,
};
use model::{
    Event, EventEnvelope, InjectionTier, Phase, ProjectPath, RecordedNote, SessionEnd, Timestamp,
    ValidationResult, fingerprint_text,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::background_worker::BackgroundTask;
use crate::daemon::Daemon;
use crate::live_session::LiveSession;
use crate::open_projects::{Freshness, OpenProject, lock};
use crate::version::is_newer;
use crate::wire::{
    self, CodeRequest, ContextRequestBody, ErrorCode, FinishRequest, MapRequest, PROTOCOL_VERSION,
    PrefetchRequest, ProjectSelector, RecipeRequest, RecordRequest, RequestBody, RequestFailure,
    RequestKind, SearchRequest, StepContextRequest, StopLimitRequest, StopRequest, ValidateRequest,
};

/// Default and largest number of hits.
const DEFAULT_HITS: u32 = 10;
const MAX_HITS: u32 = 100;
/// Default depth of graph queries.
const DEFAULT_DEPTH: u32 = 3;
/// Default number of predicted files.
const DEFAULT_PREFETCH_FILES: usize = 12;
/// Notes younger than this count as recorded in the current step.
const RECENT_NOTE_MILLIS: i64 = 60_000;
/// The most files one request may name.
const MAX_FILES_PER_REQUEST: usize = 1_000;

type RequestResult = Result<Value, RequestFailure>;

/// Answers one request.
pub(crate) async fn answer_request(
    daemon: &Arc<Daemon>,
    kind: RequestKind,
    body: RequestBody<'_>,
) -> RequestResult {
    daemon.counts.requests.fetch_add(1, Ordering::Relaxed);
    let line = body.line;
    match kind {
        RequestKind::Hello => Ok(version_json(daemon)),
        RequestKind::Ping => Ok(json!({})),
        RequestKind::Status => Ok(json!(daemon.status())),
        RequestKind::Stop => step_down(daemon, &parse_body(line)?),
        RequestKind::Hook => hook::answer_hook(daemon, &body.hook_request()?).await,
        RequestKind::Search => search_memories(daemon, line).await,
        RequestKind::SessionContext => session_context(daemon, line).await,
        RequestKind::FileContext => file_context(daemon, line).await,
        RequestKind::StepContext => step_context(daemon, &parse_body(line)?).await,
        RequestKind::Impact => analyze_impact(daemon, line).await,
        RequestKind::Dependencies => list_dependencies(daemon, line).await,
        RequestKind::Record => record_note(daemon, line).await,
        RequestKind::Validate => record_validation(daemon, &parse_body(line)?).await,
        RequestKind::Finish => finish_session(daemon, &parse_body(line)?).await,
        RequestKind::PlanContext => pipeline_context(daemon, line, PipelineContext::Plan).await,
        RequestKind::QaContext => pipeline_context(daemon, line, PipelineContext::Qa).await,
        RequestKind::RecoveryContext => {
            pipeline_context(daemon, line, PipelineContext::Recovery).await
        }
        RequestKind::SpecContext => pipeline_context(daemon, line, PipelineContext::Spec).await,
        RequestKind::Recipe => find_recipe(daemon, line).await,
        RequestKind::Prefetch => predict_files(daemon, line).await,
        RequestKind::StopLimit => stop_limit(daemon, line).await,
        RequestKind::ModuleMap => module_map(daemon, line).await,
    }
}

fn version_json(daemon: &Daemon) -> Value {
    json!({ "version": daemon.config.version, "protocol": PROTOCOL_VERSION, "pid": std::process::id() })
}

fn step_down(daemon: &Daemon, ask: &StopRequest) -> RequestResult {
    if let Some(version) = &ask.for_version
        && !is_newer(version, &daemon.config.version)
    {
        let what = format!("`{version}` is not newer than `{}`", daemon.config.version);
        return Err(RequestFailure::new(ErrorCode::Refused, what));
    }
    daemon.stop.request_stop();
    Ok(version_json(daemon))
}

async fn search_memories(daemon: &Daemon, line: &str) -> RequestResult {
    let ask: SearchRequest = parse_body(line)?;
    let engine = open_request_project(daemon, line).await?;
    let limit = ask.limit.unwrap_or(DEFAULT_HITS).clamp(1, MAX_HITS);
    let mut at_hand = parse_files(&engine, &ask.files)?;
    if let Some(session) = parse_body::<ProjectSelector>(line)?.session_id
        && let Ok(live_session) = daemon.find_session(session).await
    {
        at_hand.extend(live_session.recent_files());
    }
    let question = SearchQuery {
        text: ask.query,
        files: at_hand,
        filter: MemoryFilter::active(limit),
        scope: None,
        phase: ask.phase.as_deref().map(parse_phase).transpose()?,
        purpose: SearchPurpose::Search,
        disabled_stages: DisabledStages::default(),
    };
    *lock(&daemon.counts.asked) = Some(Instant::now());
    // A failure to embed is no reason to fail: the memory is then found by its words alone.
    engine.embedding_indexer().embed_before_search().await;
    Ok(wire::hits_json(&engine.retriever().search(&question).await?.hits))
}

/// Context at session start; for a session, without notes it has already seen.
async fn session_context(daemon: &Daemon, line: &str) -> RequestResult {
    let engine = open_request_project(daemon, line).await?;
    let request = context_request(&engine, parse_body(line)?, None)?;
    *lock(&daemon.counts.asked) = Some(Instant::now());
    let notice = embed_before(&engine, &request).await;
    let mut context = match session_name(line)? {
        Some(session) => engine.injector().inject_start_context(&session, request).await?,
        None => engine.injector().start_context(&request).await?,
    };
    context.notices.extend(notice);
    Ok(wire::context_json(&context))
}

async fn file_context(daemon: &Daemon, line: &str) -> RequestResult {
    let engine = open_request_project(daemon, line).await?;
    let request = context_request(&engine, parse_body(line)?, None)?;
    Ok(wire::context_json(&match session_name(line)? {
        Some(session) => engine.injector().inject_file_context(&session, request).await?,
        None => engine.injector().file_context(&request).await?,
    }))
}

/// Context of a pipeline stage. Explicit requests get all notes; they are recorded as shown.
async fn pipeline_context(daemon: &Daemon, line: &str, stage: PipelineContext) -> RequestResult {
    let engine = open_request_project(daemon, line).await?;
    let request = context_request(&engine, parse_body(line)?, Some(stage))?;
    *lock(&daemon.counts.asked) = Some(Instant::now());
    let notice = embed_before(&engine, &request).await;
    let mut context = engine.injector().pipeline_context(&request).await?;
    context.notices.extend(notice);
    if let Some(session) = session_name(line)? {
        engine.injector().record_context(&session, &context)?;
    }
    Ok(wire::context_json(&context))
}

async fn module_map(daemon: &Daemon, line: &str) -> RequestResult {
    let ask: MapRequest = parse_body(line)?;
    let map = open_request_project(daemon, line).await?.code_graph().module_map().await?;
    let Some(word) = ask.module else {
        return Ok(wire::module_map_json(&map, map.listed_modules(), map.to_notes()));
    };
    let Some(found) = map.find_module(&word) else {
        let what = format!("no module `{word}`");
        return Err(RequestFailure::new(ErrorCode::Refused, what));
    };
    Ok(wire::module_map_json(&map, std::iter::once(found), found.to_notes()))
}

async fn find_recipe(daemon: &Daemon, line: &str) -> RequestResult {
    let ask: RecipeRequest = parse_body(line)?;
    let engine = open_request_project(daemon, line).await?;
    *lock(&daemon.counts.asked) = Some(Instant::now());
    engine.embedding_indexer().embed_before_search().await;
    Ok(wire::recipe_json(engine.retriever().find_recipe(&ask.task).await?.as_ref()))
}

async fn predict_files(daemon: &Daemon, line: &str) -> RequestResult {
    let ask: PrefetchRequest = parse_body(line)?;
    let engine = open_request_project(daemon, line).await?;
    let first = parse_files(&engine, ask.file.as_slice())?.into_iter().next();
    let limit = ask.limit.unwrap_or(DEFAULT_PREFETCH_FILES).min(MAX_FILES_PER_REQUEST);
    let first = first.as_ref().map(ProjectPath::as_str);
    let found = engine.session_history().rank_task_files(&ask.task, first, limit).await?;
    let costs = engine.session_history().read_costs(&found).await?;
    Ok(json!({ "files": found, "costs": costs, "memories": [] }))
}

async fn stop_limit(daemon: &Daemon, line: &str) -> RequestResult {
    let ask: StopLimitRequest = parse_body(line)?;
    let engine = open_request_project(daemon, line).await?;
    Ok(wire::stop_limit_json(&engine.retriever().stop_limit(ask.base, &ask.module).await?))
}

/// Notes for the current step of a session, each memory once.
async fn step_context(daemon: &Daemon, ask: &StepContextRequest) -> RequestResult {
    let live_session = daemon.find_session(ask.session_id).await?;
    let engine = live_session.project.handle(&daemon.config, Freshness::Current).await;
    if let (Some(number), None) = (ask.step, &ask.error) {
        return decide_step_note(daemon, ask, number, &engine).await;
    }
    let event = if let Some(error) = &ask.error {
        HookEvent::CallFailed {
            tool: ask.tool.clone().unwrap_or_else(|| "other".to_owned()),
            command: ask.command.clone(),
            output: error.clone(),
        }
    } else {
        let paths = parse_files(&engine, &ask.files)?;
        HookEvent::FilesTouched { paths: paths.iter().map(|it| it.as_str().to_owned()).collect() }
    };
    let root = engine.place.root.to_string_lossy().into_owned();
    let message = HookMessage::from_program(ask.session_id.to_string(), root, event);
    if engine.is_memory_disabled() {
        return Ok(json!({ "text": "", "memories": [] }));
    }
    let injection = engine.injector().inject(&message).await?;
    hook::flag_withheld_later(daemon, &engine, &injection);
    Ok(json!({ "text": injection.text, "memories": injection.memories() }))
}

/// Decides the note between two steps.
async fn decide_step_note(
    daemon: &Daemon,
    ask: &StepContextRequest,
    number: u32,
    engine: &Project,
) -> RequestResult {
    let step_files = parse_files(engine, &ask.files)?;
    let mut touched = parse_files(engine, &ask.touched)?;
    touched.extend(step_files.iter().cloned());
    let asked = StepRequest {
        session: ask.session_id.to_string(),
        step_number: number,
        trust_level: engine.policy.injection.level,
        task: ask.task.clone(),
        step_files,
        session_files: touched,
        searches: ask.searches.clone(),
        notes_since: Timestamp((daemon.config.now)().0 - RECENT_NOTE_MILLIS),
    };
    if engine.is_memory_disabled() || !may_get_note(&asked) {
        return Ok(json!({ "text": "", "memories": [] }));
    }
    let context = engine.injector().step_context(&asked).await?;
    engine.injector().record_step(&asked, &context)?;
    let ids = context.selected.iter().filter_map(|it| it.entry.memory_id());
    Ok(json!({ "text": context.text, "memories": ids.collect::<Vec<_>>() }))
}

async fn analyze_impact(daemon: &Daemon, line: &str) -> RequestResult {
    let ask: CodeRequest = parse_body(line)?;
    let engine = open_request_project(daemon, line).await?;
    Ok(wire::impact_json(
        &engine.code_graph().impact(&ask.target, ask.depth.unwrap_or(DEFAULT_DEPTH)).await?,
    ))
}

async fn list_dependencies(daemon: &Daemon, line: &str) -> RequestResult {
    let ask: CodeRequest = parse_body(line)?;
    let engine = open_request_project(daemon, line).await?;
    Ok(wire::dependencies_json(
        &engine.code_graph().dependencies(&ask.target, ask.depth.unwrap_or(DEFAULT_DEPTH)).await?,
    ))
}

/// Records a note in the scratchpad; learning from the session decides whether it is kept.
async fn record_note(daemon: &Daemon, line: &str) -> RequestResult {
    let (ask, note): (RecordRequest, RecordedNote) = (parse_body(line)?, parse_body(line)?);
    let id = format!("record {}", fingerprint_text(&note.content));
    let live_session = daemon.find_session(ask.session_id).await?;
    let event = Event::Record(note);
    journal_event(daemon, &live_session, ask.event_id.unwrap_or(id), event).await?;
    Ok(json!({ "kept": "scratchpad" }))
}

async fn record_validation(daemon: &Daemon, ask: &ValidateRequest) -> RequestResult {
    let live_session = daemon.find_session(ask.session_id).await?;
    let now = (daemon.config.now)();
    let event = Event::Validation(ValidationResult { kind: ask.kind, ok: ask.ok, work_unit: None });
    let id = format!("validate {} {} {}", ask.kind, ask.ok, now.0);
    journal_event(daemon, &live_session, ask.event_id.clone().unwrap_or(id), event).await?;
    Ok(json!({}))
}

async fn finish_session(daemon: &Daemon, ask: &FinishRequest) -> RequestResult {
    let live_session = daemon.find_session(ask.session_id).await?;
    let event = Event::SessionEnd(SessionEnd { outcome: ask.outcome, steps: ask.steps });
    journal_event(daemon, &live_session, "end".to_owned(), event).await?;
    if !ask.wait {
        daemon.end_session(&live_session);
        return Ok(json!({ "learned": null }));
    }
    // The session stays live meanwhile, so that no other job learns from it.
    let done = daemon.background.learn_now(live_session.session, &live_session.project).await;
    daemon.live_sessions.remove(live_session.session);
    daemon.background.enqueue(BackgroundTask::Index, Some(&live_session.project));
    let stopping = |_| RequestFailure::new(ErrorCode::Stopping, "the daemon is shutting down");
    Ok(json!({ "learned": done.map_err(stopping)?? }))
}

async fn journal_event(
    daemon: &Daemon,
    live_session: &LiveSession,
    id: String,
    event: Event,
) -> Result<(), RequestFailure> {
    let mut engine =
        live_session.project.writable_handle(&daemon.config, Freshness::Recent).await?;
    let (session, at) = (live_session.session, (daemon.config.now)());
    daemon.journal_events(live_session, &mut engine, vec![EventEnvelope { id, session, at, event }])
}

/// Opens the project that a request names.
async fn open_request_project(daemon: &Daemon, line: &str) -> Result<Project, RequestFailure> {
    let about: ProjectSelector = parse_body(line)?;
    let project: Arc<OpenProject> = match (&about.project, about.session_id) {
        (Some(folder), _) => daemon.open_project(Path::new(folder)).await?,
        (None, Some(session)) => Arc::clone(&daemon.find_session(session).await?.project),
        (None, None) => {
            let what = "name the project: `project` (a folder) or `session_id`";
            return Err(RequestFailure::new(ErrorCode::NoProject, what));
        }
    };
    Ok(project.handle(&daemon.config, Freshness::Current).await)
}

/// Embeds new memories if the request searches by text. Returns a notice if that failed.
async fn embed_before(engine: &Project, request: &ContextRequest) -> Option<String> {
    if !request.has_search_text() {
        return None;
    }
    engine.embedding_indexer().embed_before_search().await
}

fn context_request(
    engine: &Project,
    ask: ContextRequestBody,
    stage: Option<PipelineContext>,
) -> Result<ContextRequest, RequestFailure> {
    let phase = ask.phase.as_deref().map(parse_phase).transpose()?;
    let files = parse_files(engine, &ask.files)?;
    let base = match stage {
        Some(stage) => ContextRequest::for_pipeline(stage),
        None => ContextRequest::new(phase.unwrap_or(Phase::Implement)),
    };
    let ContextRequestBody { task, budget, modules, report, .. } = ask;
    Ok(ContextRequest {
        task,
        files,
        token_budget: budget,
        modules,
        failure_report: report,
        ..base
    })
}

/// True if the step can get a note at all; otherwise nothing is searched.
fn may_get_note(asked: &StepRequest) -> bool {
    let is_late_enough = asked.step_number >= engine::FIRST_NOTE_STEP;
    is_late_enough && asked.trust_level.row().proactive.contains(&InjectionTier::Step)
}

/// Parses the paths of a client; rejects a path outside the project.
fn parse_files(engine: &Project, given: &[String]) -> Result<Vec<ProjectPath>, RequestFailure> {
    if given.len() > MAX_FILES_PER_REQUEST {
        let what = format!("a request names at most {MAX_FILES_PER_REQUEST} files");
        return Err(RequestFailure::new(ErrorCode::Refused, what));
    }
    let root = engine.place.root.clone();
    given.iter().map(|it| Ok(engine.project_path(Path::new(it), &root)?)).collect()
}

/// The session id of a request, as used by the log of shown notes.
fn session_name(line: &str) -> Result<Option<String>, RequestFailure> {
    Ok(parse_body::<ProjectSelector>(line)?.session_id.map(|it| it.to_string()))
}

fn parse_phase(word: &str) -> Result<Phase, RequestFailure> {
    Phase::parse(word).map_err(|it| RequestFailure::new(ErrorCode::Refused, it.to_string()))
}

fn parse_body<'a, T: Deserialize<'a>>(line: &'a str) -> Result<T, RequestFailure> {
    serde_json::from_str(line)
        .map_err(|it| RequestFailure::new(ErrorCode::Malformed, it.to_string()))
}
