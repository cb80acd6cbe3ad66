//! Request handlers, named `answer_` and the request: each parses its fields from the line, calls a
//! capability of the engine, and returns the JSON of the result. [`answer_request`] is the entry;
//! `hook` requests have a file of their own.
//!
//! A request line is parsed more than once: each handler takes the fields of its request, and
//! [`project_of_request`] takes `project` or `session_id`, which most requests share. For example
//!
//! ```text
//! {"id":4,"request":"search","project":"/home/me/shop","query":"login"}
//! ```
//!
//! goes to [`answer_search`], which returns `{"hits":[…],"memories":["018f…"]}`.
//!
//! A *memory* is one conclusion about a project; a *note* is the text of a memory for an agent, and a
//! *context* several notes packed into a token budget. The *shown log* of a session has the notes that
//! its agent has already seen. A *step* is one answer of the model with its tool calls. To *embed* a
//! memory is to compute the vector by which a search finds similar texts.

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

use crate::background_worker::BackgroundTask;
use crate::daemon::Daemon;
use crate::live_session::LiveSession;
use crate::open_projects::PolicyFreshness;
use crate::version::is_newer;
use crate::wire::{
    self, CodeRequest, ContextRequestBody, ErrorCode, FinishRequest, MapRequest, PROTOCOL_VERSION,
    PrefetchRequest, ProjectSelector, RecipeRequest, RecordRequest, RequestBody, RequestFailure,
    RequestKind, SearchRequest, StepContextRequest, StopLimitRequest, StopRequest, ValidateRequest,
};

/// Hits of a search: the default and the maximum.
const DEFAULT_HITS: u32 = 10;
const MAX_HITS: u32 = 100;
/// Default depth of graph queries.
const DEFAULT_DEPTH: u32 = 3;
/// Default number of predicted files.
const DEFAULT_PREFETCH_FILES: usize = 12;
/// A note that a subagent recorded within this time (one minute) may be shown at the end of a step, so
/// that other subagents of the same parent learn of it at once.
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
        RequestKind::Stop => answer_stop(daemon, &parse_fields(line)?),
        RequestKind::Hook => hook::answer_hook_request(daemon, &body.parse_hook_request()?).await,
        RequestKind::Search => answer_search(daemon, line).await,
        RequestKind::SessionContext => answer_session_context(daemon, line).await,
        RequestKind::FileContext => answer_file_context(daemon, line).await,
        RequestKind::StepContext => answer_step_context(daemon, &parse_fields(line)?).await,
        RequestKind::Impact => answer_impact(daemon, line).await,
        RequestKind::Dependencies => answer_dependencies(daemon, line).await,
        RequestKind::Record => answer_record(daemon, line).await,
        RequestKind::Validate => answer_validate(daemon, &parse_fields(line)?).await,
        RequestKind::Finish => answer_finish(daemon, &parse_fields(line)?).await,
        RequestKind::PlanContext => {
            answer_pipeline_context(daemon, line, PipelineContext::Plan).await
        }
        RequestKind::QaContext => answer_pipeline_context(daemon, line, PipelineContext::Qa).await,
        RequestKind::RecoveryContext => {
            answer_pipeline_context(daemon, line, PipelineContext::Recovery).await
        }
        RequestKind::SpecContext => {
            answer_pipeline_context(daemon, line, PipelineContext::Spec).await
        }
        RequestKind::Recipe => answer_recipe(daemon, line).await,
        RequestKind::Prefetch => answer_prefetch(daemon, line).await,
        RequestKind::StopLimit => answer_stop_limit(daemon, line).await,
        RequestKind::ModuleMap => answer_module_map(daemon, line).await,
        RequestKind::Command | RequestKind::Run | RequestKind::Mcp => {
            unreachable!("the connection answers these, because they change its state")
        }
    }
}

fn version_json(daemon: &Daemon) -> Value {
    json!({
        "version": daemon.config.version,
        "protocol": PROTOCOL_VERSION,
        "pid": std::process::id(),
    })
}

/// Stops the daemon after this reply. A request for the sake of another version (a newer program that
/// wants to take over) is refused if that version is not newer.
fn answer_stop(daemon: &Daemon, request: &StopRequest) -> RequestResult {
    if let Some(version) = &request.for_version
        && !is_newer(version, &daemon.config.version)
    {
        let what = format!("`{version}` is not newer than `{}`", daemon.config.version);
        return Err(RequestFailure::new(ErrorCode::Refused, what));
    }
    daemon.stop.request_stop();
    Ok(version_json(daemon))
}

async fn answer_search(daemon: &Daemon, line: &str) -> RequestResult {
    let request: SearchRequest = parse_fields(line)?;
    let project = project_of_request(daemon, line).await?;
    // Memories near the files at hand rank higher: those of the request, then those that the
    // session touched last.
    let mut files = parse_files(&project, &request.files)?;
    if let Some(session) = parse_fields::<ProjectSelector>(line)?.session_id
        && let Ok(live_session) = daemon.get_or_restore_session(session).await
    {
        files.extend(live_session.recent_files());
    }
    let limit = request.limit.unwrap_or(DEFAULT_HITS).clamp(1, MAX_HITS);
    let query = SearchQuery {
        text: request.query,
        files,
        filter: MemoryFilter::active(limit),
        scope: None,
        phase: request.phase.as_deref().map(parse_phase).transpose()?,
        purpose: SearchPurpose::Search,
        disabled_stages: DisabledStages::default(),
    };
    daemon.mark_models_used();
    // A failure to embed is no reason to fail: the memory is then found by its words alone.
    project.embedding_indexer().embed_new_memories().await;
    Ok(wire::hits_json(&project.retriever().search(&query).await?.hits))
}

/// Context at session start; for a session, without notes it has already seen.
async fn answer_session_context(daemon: &Daemon, line: &str) -> RequestResult {
    let project = project_of_request(daemon, line).await?;
    let request = build_context_request(&project, parse_fields(line)?, None)?;
    daemon.mark_models_used();
    let notice = embed_if_searching(&project, &request).await;
    let mut context = match shown_log_session(line)? {
        Some(session) => project.injector().inject_start_context(&session, request).await?,
        None => project.injector().start_context(&request).await?,
    };
    context.notices.extend(notice);
    Ok(wire::context_json(&context))
}

/// Context about files; for a session, without notes it has already seen.
async fn answer_file_context(daemon: &Daemon, line: &str) -> RequestResult {
    let project = project_of_request(daemon, line).await?;
    let request = build_context_request(&project, parse_fields(line)?, None)?;
    let context = match shown_log_session(line)? {
        Some(session) => project.injector().inject_file_context(&session, request).await?,
        None => project.injector().file_context(&request).await?,
    };
    Ok(wire::context_json(&context))
}

/// Context of a pipeline stage (plan, qa, recovery or spec). It was requested explicitly, so notes that
/// the session has seen are not left out; but all are recorded as shown.
async fn answer_pipeline_context(
    daemon: &Daemon,
    line: &str,
    stage: PipelineContext,
) -> RequestResult {
    let project = project_of_request(daemon, line).await?;
    let request = build_context_request(&project, parse_fields(line)?, Some(stage))?;
    daemon.mark_models_used();
    let notice = embed_if_searching(&project, &request).await;
    let mut context = project.injector().pipeline_context(&request).await?;
    context.notices.extend(notice);
    if let Some(session) = shown_log_session(line)? {
        project.injector().record_requested_context(&session, &context)?;
    }
    Ok(wire::context_json(&context))
}

async fn answer_module_map(daemon: &Daemon, line: &str) -> RequestResult {
    let request: MapRequest = parse_fields(line)?;
    let map = project_of_request(daemon, line).await?.code_graph().module_map().await?;
    let Some(module) = request.module else {
        return Ok(wire::module_map_json(&map, map.listed_modules(), map.to_notes()));
    };
    let Some(found) = map.find_module(&module) else {
        return Err(map.unknown_module(&module).into());
    };
    Ok(wire::module_map_json(&map, std::iter::once(found), found.to_notes()))
}

/// The recipe for a task: the steps that worked for such tasks before.
async fn answer_recipe(daemon: &Daemon, line: &str) -> RequestResult {
    let request: RecipeRequest = parse_fields(line)?;
    let project = project_of_request(daemon, line).await?;
    daemon.mark_models_used();
    // A failure to embed is no reason to fail: the recipe is then found by its words alone.
    project.embedding_indexer().embed_new_memories().await;
    Ok(wire::recipe_json(project.retriever().find_recipe(&request.task).await?.as_ref()))
}

/// Predicts the files of a task; `costs` has the tokens of those that are expensive to read.
async fn answer_prefetch(daemon: &Daemon, line: &str) -> RequestResult {
    let request: PrefetchRequest = parse_fields(line)?;
    let project = project_of_request(daemon, line).await?;
    let known_files = parse_files(&project, request.file.as_slice())?;
    let known_file = known_files.first().map(ProjectPath::as_str);
    let limit = request.limit.unwrap_or(DEFAULT_PREFETCH_FILES).min(MAX_FILES_PER_REQUEST);
    let history = project.session_history();
    let predicted = history.rank_task_files(&request.task, known_file, limit).await?;
    let costs = history.read_costs(&predicted).await?;
    Ok(json!({ "files": predicted, "costs": costs, "memories": [] }))
}

/// The number of steps after which an agent should stop, corrected by how long past sessions took.
async fn answer_stop_limit(daemon: &Daemon, line: &str) -> RequestResult {
    let request: StopLimitRequest = parse_fields(line)?;
    let project = project_of_request(daemon, line).await?;
    let stop_limit = project.retriever().stop_limit(request.base, &request.module).await?;
    Ok(wire::stop_limit_json(&stop_limit))
}

/// Notes for the current step of a session, each memory once per session. A request has one of three
/// forms: with `error` it is about a failed call, with `step` about the end of a step, and otherwise
/// about the files it names.
async fn answer_step_context(daemon: &Daemon, request: &StepContextRequest) -> RequestResult {
    let live_session = daemon.get_or_restore_session(request.session_id).await?;
    let project = live_session.open_project.handle(&daemon.config, PolicyFreshness::Current).await;
    let event = if let Some(error) = &request.error {
        HookEvent::CallFailed {
            tool: request.tool.clone().unwrap_or_else(|| "other".to_owned()),
            command: request.command.clone(),
            output: error.clone(),
        }
    } else if let Some(step_number) = request.step {
        return answer_step_end(daemon, request, step_number, &project).await;
    } else {
        let files = parse_files(&project, &request.files)?;
        HookEvent::FilesTouched { paths: files.iter().map(|it| it.as_str().to_owned()).collect() }
    };
    if project.is_memory_disabled() {
        return Ok(json!({ "text": "", "memories": [] }));
    }
    // From here on the same as for a hook message, which a host sends at such an event.
    let root = project.place.root.to_string_lossy().into_owned();
    let message = HookMessage::from_program(request.session_id.to_string(), root, event);
    let injection = project.injector().inject(&message).await?;
    hook::flag_withheld_later(daemon, &project, &injection);
    Ok(json!({ "text": injection.text, "memories": injection.memories() }))
}

/// A `step_context` request about the end of a step: the note for the next step, if there is one.
async fn answer_step_end(
    daemon: &Daemon,
    request: &StepContextRequest,
    step_number: u32,
    project: &Project,
) -> RequestResult {
    let step_files = parse_files(project, &request.files)?;
    let mut session_files = parse_files(project, &request.touched)?;
    session_files.extend(step_files.iter().cloned());
    let step = StepRequest {
        session: request.session_id.to_string(),
        session_id: request.session_id,
        host: String::new(),
        step_number,
        trust_level: project.policy.injection.level,
        task: request.task.clone(),
        step_files,
        session_files,
        searches: request.searches.clone(),
        notes_since: Timestamp((daemon.config.now)().0 - RECENT_NOTE_MILLIS),
    };
    if project.is_memory_disabled() || !may_get_note(&step) {
        return Ok(json!({ "text": "", "memories": [] }));
    }
    let context = project.injector().step_context(&step).await?;
    project.injector().record_step(&step, &context)?;
    let ids = context.selected.iter().filter_map(|it| it.entry.memory_id());
    Ok(json!({ "text": context.text, "memories": ids.collect::<Vec<_>>() }))
}

async fn answer_impact(daemon: &Daemon, line: &str) -> RequestResult {
    let request: CodeRequest = parse_fields(line)?;
    let project = project_of_request(daemon, line).await?;
    let depth = request.depth.unwrap_or(DEFAULT_DEPTH);
    Ok(wire::impact_json(&project.code_graph().impact(&request.target, depth).await?))
}

async fn answer_dependencies(daemon: &Daemon, line: &str) -> RequestResult {
    let request: CodeRequest = parse_fields(line)?;
    let project = project_of_request(daemon, line).await?;
    let depth = request.depth.unwrap_or(DEFAULT_DEPTH);
    Ok(wire::dependencies_json(&project.code_graph().dependencies(&request.target, depth).await?))
}

/// Records a note in the scratchpad; learning from the session decides whether it is kept.
async fn answer_record(daemon: &Daemon, line: &str) -> RequestResult {
    let request: RecordRequest = parse_fields(line)?;
    let note: RecordedNote = parse_fields(line)?;
    let note = engine::admit_note(note, (daemon.config.now)())?;
    // The same note sent twice gets the same id, and the journal drops the second.
    let default_id = format!("record {}", fingerprint_text(&note.content));
    let live_session = daemon.get_or_restore_session(request.session_id).await?;
    let event_id = request.event_id.unwrap_or(default_id);
    journal_event(daemon, &live_session, event_id, Event::Record(note)).await?;
    let mut project =
        live_session.open_project.writable_handle(&daemon.config, PolicyFreshness::Recent).await?;
    let needs_review = project.session_journal().external_source(request.session_id).is_some();
    Ok(json!({ "kept": "scratchpad", "needs_review": needs_review }))
}

async fn answer_validate(daemon: &Daemon, request: &ValidateRequest) -> RequestResult {
    let live_session = daemon.get_or_restore_session(request.session_id).await?;
    let ValidateRequest { kind, ok, .. } = *request;
    // With the time, because the same check may run again with the same result.
    let default_id = format!("validate {kind} {ok} {}", (daemon.config.now)().0);
    let event_id = request.event_id.clone().unwrap_or(default_id);
    let event = Event::Validation(ValidationResult { kind, ok, work_unit: None });
    journal_event(daemon, &live_session, event_id, event).await?;
    Ok(json!({}))
}

/// Ends a session. With `wait`, the reply comes after learning from it and has the number of
/// memories kept.
async fn answer_finish(daemon: &Daemon, request: &FinishRequest) -> RequestResult {
    let live_session = daemon.get_or_restore_session(request.session_id).await?;
    let event = Event::SessionEnd(SessionEnd { outcome: request.outcome, steps: request.steps });
    journal_event(daemon, &live_session, "end".to_owned(), event).await?;
    if !request.wait {
        daemon.end_session(&live_session);
        return Ok(json!({ "learned": null }));
    }
    // The session stays live meanwhile, so that no other job learns from it.
    let (session, open_project) = (live_session.session, &live_session.open_project);
    let learned = daemon.background.learn_now(session, open_project).await;
    daemon.live_sessions.remove(session);
    daemon.background.enqueue(BackgroundTask::Index, Some(open_project));
    match learned {
        Ok(Ok(n_kept)) => Ok(json!({ "learned": n_kept })),
        Ok(Err(why)) => Err(why),
        // The worker dropped the job without a result, which it does only when it shuts down.
        Err(_) => Err(RequestFailure::new(ErrorCode::Stopping, "the daemon is shutting down")),
    }
}

/// Journals one event that happens now.
async fn journal_event(
    daemon: &Daemon,
    live_session: &LiveSession,
    event_id: String,
    event: Event,
) -> Result<(), RequestFailure> {
    let mut project =
        live_session.open_project.writable_handle(&daemon.config, PolicyFreshness::Recent).await?;
    let envelope = EventEnvelope {
        id: event_id,
        session: live_session.session,
        at: (daemon.config.now)(),
        event,
    };
    daemon.journal_events(live_session, &mut project, vec![envelope])
}

/// A handle of the project that a request names, by its folder or by a session.
async fn project_of_request(daemon: &Daemon, line: &str) -> Result<Project, RequestFailure> {
    let selector: ProjectSelector = parse_fields(line)?;
    let open_project = if let Some(folder) = &selector.project {
        daemon.get_or_open_project(Path::new(folder)).await?
    } else if let Some(session) = selector.session_id {
        Arc::clone(&daemon.get_or_restore_session(session).await?.open_project)
    } else {
        let what = "name the project: `project` (a folder) or `session_id`";
        return Err(RequestFailure::new(ErrorCode::NoProject, what));
    };
    Ok(open_project.handle(&daemon.config, PolicyFreshness::Current).await)
}

/// Embeds new memories if the request searches by text. Returns a notice if that failed.
async fn embed_if_searching(project: &Project, request: &ContextRequest) -> Option<String> {
    if !request.has_search_text() {
        return None;
    }
    project.embedding_indexer().embed_new_memories().await
}

/// The engine's request for a context. `stage` is given for a pipeline context only.
fn build_context_request(
    project: &Project,
    body: ContextRequestBody,
    stage: Option<PipelineContext>,
) -> Result<ContextRequest, RequestFailure> {
    let ContextRequestBody { task, files, phase, budget, modules, report } = body;
    let phase = phase.as_deref().map(parse_phase).transpose()?;
    let files = parse_files(project, &files)?;
    let base = match stage {
        // A stage fixes its phase; the request cannot change it.
        Some(stage) => ContextRequest::for_pipeline(stage),
        None => ContextRequest::new(phase.unwrap_or(Phase::Implement)),
    };
    Ok(ContextRequest {
        task,
        files,
        token_budget: budget,
        modules,
        failure_report: report,
        ..base
    })
}

/// True if the step can get a note at all; otherwise the search can be skipped. The first steps never
/// get one, and the trust level of a project may exclude notes between steps.
fn may_get_note(step: &StepRequest) -> bool {
    let is_late_enough = step.step_number >= engine::FIRST_NOTE_STEP;
    is_late_enough && step.trust_level.row().proactive.contains(&InjectionTier::Step)
}

/// Parses the paths of a client; rejects a path outside the project.
fn parse_files(project: &Project, paths: &[String]) -> Result<Vec<ProjectPath>, RequestFailure> {
    if paths.len() > MAX_FILES_PER_REQUEST {
        let what = format!("a request names at most {MAX_FILES_PER_REQUEST} files");
        return Err(RequestFailure::new(ErrorCode::Refused, what));
    }
    let root = &project.place.root;
    paths.iter().map(|it| Ok(project.project_path(Path::new(it), root)?)).collect()
}

/// The session id of a request, in the form that the log of shown notes uses.
fn shown_log_session(line: &str) -> Result<Option<String>, RequestFailure> {
    Ok(parse_fields::<ProjectSelector>(line)?.session_id.map(|it| it.to_string()))
}

fn parse_phase(word: &str) -> Result<Phase, RequestFailure> {
    Phase::parse(word).map_err(|it| RequestFailure::new(ErrorCode::Refused, it.to_string()))
}

/// Parses the fields that a handler needs from the whole request line.
pub(crate) fn parse_fields<'a, T: Deserialize<'a>>(line: &'a str) -> Result<T, RequestFailure> {
    serde_json::from_str(line)
        .map_err(|it| RequestFailure::new(ErrorCode::Malformed, it.to_string()))
}
