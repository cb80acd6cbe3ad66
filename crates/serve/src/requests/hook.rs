//! The `hook` request: journals the events of a hook message, answers with the context to inject,
//! and then follows the host's transcript.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::{HookEvent, HookMessage, Injection, Project, SessionSource, StepRequest};
use model::{Event, Timestamp};
use serde_json::json;
use tokio::time::Instant;

use super::{RECENT_NOTE_MILLIS, RequestResult, may_get_note};
use crate::daemon::Daemon;
use crate::live_session::{FollowMode, LiveSession, StepProgress};
use crate::open_projects::{Freshness, lock};
use crate::wire::{ErrorCode, HookRequest, RequestFailure};

/// Answers a hook message. This is where the daemon parses it, once; everything below works on
/// the parsed message.
pub(super) async fn answer_hook(daemon: &Arc<Daemon>, request: &HookRequest<'_>) -> RequestResult {
    let empty = || Ok(json!({ "text": null, "version": daemon.config.version }));
    let host = engine::find_host(&request.host);
    let parsed = host.and_then(|it| Some((it, it.parse(request.message.get().as_bytes(), None)?)));
    let Some((host, message)) = parsed else {
        return Err(RequestFailure::new(
            ErrorCode::Malformed,
            "it is no message of a host that is known",
        ));
    };
    let project = daemon.open_project(Path::new(&message.cwd)).await?;
    // The settings must be current: a user who has just disabled memory must not be answered.
    let mut engine = project.writable_handle(&daemon.config, Freshness::Current).await?;
    if engine.is_memory_disabled() {
        return empty();
    }
    let root = project.root.to_string_lossy();
    let events = host.events(&message, Some(&root), (daemon.config.now)());
    let Some(first) = events.first() else { return empty() };
    let (live_session, _) = daemon.live_sessions.get_or_start(first.session, &project);
    let is_subagent = matches!(&first.event, Event::SessionStart(it) if it.parent.is_some());
    let is_repetition = live_session.is_repetition(&message);
    // The journal drops repeated events by their ids.
    daemon.journal_events(&live_session, &mut engine, events)?;
    if is_repetition {
        return empty();
    }
    let text = hook_context(daemon, &engine, &message, &live_session).await?;
    // A subagent ends within its parent's session, which is learned as a whole.
    if !is_subagent {
        follow_transcript(daemon, &live_session, &engine, &message);
    }
    Ok(json!({ "text": text, "version": daemon.config.version }))
}

/// The text to inject at an event, if any.
async fn hook_context(
    daemon: &Daemon,
    engine: &Project,
    message: &HookMessage,
    live_session: &LiveSession,
) -> Result<Option<String>, RequestFailure> {
    if let HookEvent::Prompt { text } = &message.event {
        live_session.set_task(text);
    }
    match message.event {
        HookEvent::SessionEnd | HookEvent::Other => return Ok(None),
        HookEvent::Prompt { .. } | HookEvent::SessionStart { .. } => {
            // The first search of the session finds the models loaded.
            daemon.config.models.preload();
            *lock(&daemon.counts.asked) = Some(Instant::now());
        }
        HookEvent::FilesTouched { .. }
        | HookEvent::CallFailed { .. }
        | HookEvent::CommandEnded { .. }
        | HookEvent::StepEnded { .. } => {}
    }
    if engine.injector().has_search_text(message) {
        // A failure to embed is no reason to inject nothing.
        engine.embedding_indexer().embed_before_search().await;
    }
    let injection = engine.injector().inject(message).await?;
    flag_withheld_later(daemon, engine, &injection);
    // Steps are counted even if something else is injected now.
    let step = step_request(daemon, engine, message, live_session);
    if !injection.text.is_empty() {
        return Ok(Some(injection.text));
    }
    let Some(request) = step.filter(may_get_note) else { return Ok(None) };
    let context = engine.injector().step_context(&request).await?;
    engine.injector().record_step(&request, &context)?;
    Ok((!context.text.is_empty()).then_some(context.text))
}

/// Counts the end of a step and describes it for the decision about a note.
fn step_request(
    daemon: &Daemon,
    engine: &Project,
    message: &HookMessage,
    live_session: &LiveSession,
) -> Option<StepRequest> {
    let HookEvent::StepEnded { paths, searches, commands, .. } = &message.event else {
        return None;
    };
    // Agents also read files and search through the shell.
    let (shell_paths, shell_searches) = engine::shell_files_and_searches(commands);
    let paths = [paths.as_slice(), &shell_paths].concat();
    let files = engine.injector().resolve_paths(&paths, &message.cwd);
    let StepProgress { number, task, touched } = live_session.next_step(&files);
    Some(StepRequest {
        session: message.session.clone(),
        step_number: number,
        trust_level: engine.policy.injection.level,
        task,
        step_files: files,
        session_files: touched,
        searches: [searches.as_slice(), &shell_searches].concat(),
        notes_since: Timestamp((daemon.config.now)().0 - RECENT_NOTE_MILLIS),
    })
}

/// Puts memories up for review, after the answer, that were withheld because the code they name
/// no longer exists.
pub(super) fn flag_withheld_later(daemon: &Daemon, engine: &Project, injection: &Injection) {
    let withheld = injection.withheld();
    if withheld.is_empty() {
        return;
    }
    let (mut engine, background) = (engine.clone(), Arc::clone(&daemon.background));
    tokio::spawn(async move {
        if let Err(error) = engine.editor().flag_missing_references(&withheld).await {
            background.record_trouble(format!("a memory of something that is gone stays: {error}"));
        }
    });
}

/// Reads on in the host's transcript after the answer. When the session has ended, reads it to
/// its end and schedules learning.
fn follow_transcript(
    daemon: &Arc<Daemon>,
    live_session: &Arc<LiveSession>,
    engine: &Project,
    message: &HookMessage,
) {
    let has_ended = message.event == HookEvent::SessionEnd;
    let mode = if has_ended { FollowMode::ToEnd } else { FollowMode::IfIdle };
    let transcript = match &message.source {
        SessionSource::HostTranscript { path } => Some(PathBuf::from(path)),
        // A database has no end to read on from; learning reads the session as a whole.
        SessionSource::HostDatabase { .. } | SessionSource::JournalOnly => None,
    };
    let (daemon, live_session) = (Arc::clone(daemon), Arc::clone(live_session));
    let mut engine = engine.clone();
    tokio::task::spawn_blocking(move || {
        let followed = transcript.map(|it| live_session.follow_transcript(&mut engine, &it, mode));
        match followed {
            Some(Ok(true)) => daemon.sync_soon(live_session.session, &engine),
            Some(Err(why)) => daemon.background.record_trouble(why.message),
            Some(Ok(false)) | None => {}
        }
        if has_ended {
            daemon.end_session(&live_session);
        }
    });
}
