//! The `hook` request: journals the events of a hook message, answers with the text to inject, and
//! then reads on in the host's transcript.
//!
//! A *host* is the program that runs an agent, for example Claude Code. At each event of a session it
//! starts `waylore hook` with a JSON message. That process sends the message here
//! (`client::format_hook_request`) and prints the text of the reply, which the host adds to the
//! conversation: the text is *injected*. If no daemon runs, `waylore hook` selects the text in its own
//! process. For example, a message that `src/auth.rs` was read may get a note about that file.
//!
//! The *transcript* is the host's own log of the session. It has events that no hook reports, so it is
//! read as well. All events go to the *journal*, the daemon's file that learning reads later.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::{HookEvent, HookMessage, Injection, Project, SessionSource, StepRequest};
use model::{Event, Timestamp};
use serde_json::json;

use super::{RECENT_NOTE_MILLIS, RequestResult, may_get_note};
use crate::daemon::Daemon;
use crate::live_session::{FollowMode, LiveSession, StepProgress};
use crate::open_projects::PolicyFreshness;
use crate::wire::{ErrorCode, HookRequest, RequestFailure};

/// Answers a hook message. `text` is null if there is nothing to inject.
pub(super) async fn answer_hook_request(
    daemon: &Arc<Daemon>,
    request: &HookRequest<'_>,
) -> RequestResult {
    let reply = |text: Option<String>| {
        // The hook compares the version with its own and may start a newer daemon.
        Ok(json!({ "text": text, "version": daemon.config.version }))
    };

    // The hook process has parsed the message too, but sends it as the host wrote it (`client.rs` has
    // the reason).
    let unknown_message =
        || RequestFailure::new(ErrorCode::Malformed, "it is no message of a host that is known");
    let host = engine::find_host(&request.host).ok_or_else(unknown_message)?;
    let message =
        host.parse_message(request.message.get().as_bytes(), None).ok_or_else(unknown_message)?;

    let open_project = daemon.get_or_open_project(Path::new(&message.cwd)).await?;
    // The settings must be current: a user who has just disabled memory must not be answered.
    let mut project =
        open_project.writable_handle(&daemon.config, PolicyFreshness::Current).await?;
    if project.is_memory_disabled() {
        return reply(None);
    }

    let root = open_project.root.to_string_lossy();
    let events = host.build_journal_events(&message, Some(&root), (daemon.config.now)());
    // A message without events belongs to no session and needs no answer. Otherwise the first event
    // is the session start: a hook process cannot know whether an earlier one has sent it, so each
    // sends it, and the journal drops the repetitions by their id.
    let Some(first) = events.first() else { return reply(None) };
    let is_subagent = matches!(&first.event, Event::SessionStart(it) if it.parent.is_some());
    let live_session = daemon.live_sessions.get_or_start(first.session, &open_project);
    let is_repetition = live_session.record_message(&message);
    // Also for a repetition, in case the first copy failed; journalled events are dropped by their ids.
    daemon.journal_events(&live_session, &mut project, events)?;
    if is_repetition {
        return reply(None);
    }

    // A wish that was not kept is still in the transcript, from which it is learned.
    let kept = match project.editor().keep_told(&message).await {
        Ok(kept) => kept,
        Err(error) => {
            daemon.background.record_error(format!("a wish of the user was not kept: {error}"));
            None
        }
    };
    let notes = select_injected_text(daemon, &project, &message, &live_session).await?;
    let text = engine::join_blocks(kept, notes);
    // A subagent ends within its parent's session, which is learned as a whole.
    if !is_subagent {
        follow_transcript_later(daemon, &live_session, &project, &message);
    }
    reply(text)
}

/// The text to inject at an event, if any: notes about the event; else, if a step ended (one answer of
/// the model with its tool calls), a note for the next one.
async fn select_injected_text(
    daemon: &Daemon,
    project: &Project,
    message: &HookMessage,
    live_session: &LiveSession,
) -> Result<Option<String>, RequestFailure> {
    match &message.event {
        HookEvent::SessionEnd | HookEvent::Other => return Ok(None),
        HookEvent::SessionStart { .. } => preload_models(daemon),
        HookEvent::Prompt { text } => {
            live_session.set_task(text);
            preload_models(daemon);
        }
        HookEvent::FilesTouched { .. }
        | HookEvent::CallFailed { .. }
        | HookEvent::CommandEnded { .. }
        | HookEvent::StepEnded { .. } => {}
    }
    if project.injector().has_search_text(message) {
        // A failure to embed is no reason to inject nothing.
        project.embedding_indexer().embed_new_memories().await;
    }
    let injection = project.injector().inject(message).await?;
    flag_withheld_later(daemon, project, &injection);

    // Steps are counted even if something else is injected now.
    let step = count_step(daemon, project, message, live_session);
    if !injection.text.is_empty() {
        return Ok(Some(injection.text));
    }
    let Some(step) = step.filter(may_get_note) else { return Ok(None) };
    let context = project.injector().step_context(&step).await?;
    project.injector().record_step(&step, &context)?;
    Ok((!context.text.is_empty()).then_some(context.text))
}

/// Loads the models in the background, so that the first search of the session finds them loaded.
fn preload_models(daemon: &Daemon) {
    daemon.config.models.preload();
    daemon.mark_models_used();
}

/// Counts the end of a step and describes it for the decision about a note; `None` for other events.
fn count_step(
    daemon: &Daemon,
    project: &Project,
    message: &HookMessage,
    live_session: &LiveSession,
) -> Option<StepRequest> {
    let HookEvent::StepEnded { paths, searches, commands, .. } = &message.event else {
        return None;
    };
    // Agents also read files and search through the shell.
    let (shell_paths, shell_searches) = engine::shell_files_and_searches(commands);
    let paths = [paths.as_slice(), &shell_paths].concat();
    let step_files = project.injector().resolve_paths(&paths, &message.cwd);
    let StepProgress { n_steps, task, touched } = live_session.complete_step(&step_files);
    Some(StepRequest {
        session: message.host_session.clone(),
        session_id: live_session.session,
        host: message.host.unwrap_or_default().to_owned(),
        step_number: n_steps,
        trust_level: project.policy.injection.level,
        task,
        step_files,
        session_files: touched,
        searches: [searches.as_slice(), &shell_searches].concat(),
        notes_since: Timestamp((daemon.config.now)().0 - RECENT_NOTE_MILLIS),
    })
}

/// Flags memories for review that were withheld because the code they name no longer exists. Runs
/// after the reply, which must not wait for a write.
pub(super) fn flag_withheld_later(daemon: &Daemon, project: &Project, injection: &Injection) {
    let withheld = injection.withheld();
    if withheld.is_empty() {
        return;
    }
    let (mut project, background) = (project.clone(), Arc::clone(&daemon.background));
    tokio::spawn(async move {
        // After a failure, the memory is flagged when an injection withholds it the next time.
        if let Err(error) = project.editor().flag_missing_references(&withheld).await {
            background.record_error(format!("a memory of something that is gone stays: {error}"));
        }
    });
}

/// Reads on in the host's transcript, after the reply. At the end of the session, reads it to its
/// end and schedules learning.
fn follow_transcript_later(
    daemon: &Arc<Daemon>,
    live_session: &Arc<LiveSession>,
    project: &Project,
    message: &HookMessage,
) {
    let has_ended = message.event == HookEvent::SessionEnd;
    let mode = if has_ended { FollowMode::WaitIfBusy } else { FollowMode::SkipIfBusy };
    let transcript = match &message.source {
        SessionSource::HostTranscript { path } => Some(PathBuf::from(path)),
        // A database has no end to read on from; learning reads the session as a whole. Without a
        // record of the host, the journalled hook messages are all there is.
        SessionSource::HostDatabase { .. } | SessionSource::JournalOnly => None,
    };
    let (daemon, live_session) = (Arc::clone(daemon), Arc::clone(live_session));
    let mut project = project.clone();
    tokio::task::spawn_blocking(move || {
        if let Some(path) = transcript {
            match live_session.follow_transcript(&mut project, &path, mode) {
                // A step has ended: its events are written through to the disk.
                Ok(must_sync) if must_sync => daemon.sync_soon(live_session.session, &project),
                Ok(_) => {}
                // Learning reads the transcript again, so the session is not lost.
                Err(why) => daemon.background.record_error(why.message),
            }
        }
        if has_ended {
            daemon.end_session(&live_session);
        }
    });
}
