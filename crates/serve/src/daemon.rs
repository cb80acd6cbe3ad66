//! Shared state of the daemon, and the path of an event from the wire to the journal.
//!
//! Every connection task and the background worker hold the one [`Daemon`] in an `Arc`. An event
//! (from [`Daemon::accept_event`] or a hook request) ends in [`Daemon::journal_events`], which appends
//! it to the *journal* of its session, the file that learning reads later. Journals are synced to the
//! disk a little later, together ([`Daemon::sync_journals_forever`]).
//!
//! A *live session* is the state kept in memory for a running session of an agent. An *open project*
//! is shared by all its sessions; each piece of work gets a [`Project`] handle cloned from it.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use engine::Project;
use model::{Event, EventEnvelope, SessionId, Tool, ValidationKind};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::address::DaemonAddress;
use crate::background_worker::{BackgroundTask, BackgroundWorker};
use crate::live_session::{LiveSession, LiveSessions};
use crate::mutex::lock_mutex;
use crate::open_projects::{OpenProject, OpenProjects, PolicyFreshness};
use crate::os;
use crate::run::Config;
use crate::wire::{ErrorCode, PROTOCOL_VERSION, RequestFailure, StatusWire};

/// Delay before an `fsync`, so that one sync covers several events.
const SYNC_DELAY: Duration = Duration::from_millis(20);
/// Idle time after which the embedding model and the code graph of a project are released.
const IDLE_RELEASE: Duration = Duration::from_mins(3);

pub(crate) struct Daemon {
    pub(crate) config: Config,
    pub(crate) address: DaemonAddress,
    pub(crate) open_projects: OpenProjects,
    pub(crate) live_sessions: LiveSessions,
    pub(crate) background: Arc<BackgroundWorker>,
    pub(crate) counts: DaemonCounters,
    pub(crate) stop: StopSignal,
    /// Sessions whose journals must be synced, each with a handle that can do it.
    unsynced_journals: Mutex<HashMap<SessionId, Project>>,
    /// Wakes [`Daemon::sync_journals_forever`] when `unsynced_journals` got an entry.
    sync_wanted: Notify,
}

/// Counts and times, for `status` and for the decisions about idle models and the exit.
pub(crate) struct DaemonCounters {
    pub(crate) started_at: Instant,
    /// Arrival of the last line of any client.
    pub(crate) last_line_at: Mutex<Instant>,
    /// Last use of the models; `None` while none is loaded.
    pub(crate) models_used_at: Mutex<Option<Instant>>,
    pub(crate) connections: AtomicUsize,
    /// Lines being answered.
    pub(crate) lines_in_progress: AtomicUsize,
    pub(crate) events: AtomicU64,
    pub(crate) requests: AtomicU64,
}

/// Set by a `stop` request; ends the accept loop.
#[derive(Default)]
pub(crate) struct StopSignal {
    is_requested: AtomicBool,
    notify: Notify,
}

impl StopSignal {
    pub(crate) fn request_stop(&self) {
        self.is_requested.store(true, Ordering::Relaxed);
        // `Notify` keeps the call for a task that begins to wait only afterwards.
        self.notify.notify_one();
    }

    pub(crate) fn is_requested(&self) -> bool {
        self.is_requested.load(Ordering::Relaxed)
    }

    pub(crate) async fn wait_for_stop(&self) {
        self.notify.notified().await;
    }
}

impl Daemon {
    pub(crate) fn new(config: Config) -> Self {
        let now = Instant::now();
        let counts = DaemonCounters {
            started_at: now,
            last_line_at: Mutex::new(now),
            models_used_at: Mutex::default(),
            connections: AtomicUsize::new(0),
            lines_in_progress: AtomicUsize::new(0),
            events: AtomicU64::new(0),
            requests: AtomicU64::new(0),
        };
        Self {
            address: DaemonAddress::for_data_dir(&config.data_dir),
            config,
            open_projects: OpenProjects::default(),
            live_sessions: LiveSessions::default(),
            background: Arc::default(),
            counts,
            stop: StopSignal::default(),
            unsynced_journals: Mutex::default(),
            sync_wanted: Notify::new(),
        }
    }

    /// The project of a folder. Opening it schedules what earlier daemons may have left undone.
    pub(crate) async fn get_or_open_project(
        &self,
        folder: &Path,
    ) -> Result<Arc<OpenProject>, RequestFailure> {
        let (open_project, _) = self.open_projects.get_or_open(&self.config, folder).await?;
        // A command may have opened it before; commands learn nothing by themselves.
        if !open_project.has_upkeep.swap(true, Ordering::Relaxed) {
            use BackgroundTask::{Embed, LearnLeftovers, Maintain};
            for task in [LearnLeftovers, Embed, Maintain] {
                self.background.enqueue(task, Some(&open_project));
            }
        }
        Ok(open_project)
    }

    /// The live session. One that an earlier daemon journalled becomes live again.
    pub(crate) async fn get_or_restore_session(
        &self,
        session: SessionId,
    ) -> Result<Arc<LiveSession>, RequestFailure> {
        if let Some(known) = self.live_sessions.get(session) {
            return Ok(known);
        }
        // The journal names the root of its project.
        let (data_dir, key) = (self.config.data_dir.clone(), self.config.key.clone());
        let find_root = move || engine::journalled_session_root(&data_dir, key.as_ref(), session);
        let Some(root) = tokio::task::spawn_blocking(find_root).await.ok().flatten() else {
            let what = format!("the session `{session}` has not begun");
            return Err(RequestFailure::new(ErrorCode::UnknownSession, what));
        };
        let open_project = self.get_or_open_project(&root).await?;
        Ok(self.live_sessions.get_or_start(session, &open_project))
    }

    /// Accepts one event of a client that sends events itself. (Events of a hook come with a `hook`
    /// request, see `requests/hook.rs`.)
    pub(crate) async fn accept_event(&self, event: EventEnvelope) -> Result<(), RequestFailure> {
        self.counts.events.fetch_add(1, Ordering::Relaxed);
        let live_session = match &event.event {
            Event::SessionStart(start) => {
                let open_project = self.get_or_open_project(Path::new(&start.project_root)).await?;
                self.live_sessions.get_or_start(event.session, &open_project)
            }
            // Any other event belongs to a session that has begun.
            _ => self.get_or_restore_session(event.session).await?,
        };
        let has_ended = matches!(event.event, Event::SessionEnd(_));
        let mut project = live_session
            .open_project
            .writable_handle(&self.config, PolicyFreshness::Recent)
            .await?;
        // A compaction removes the notes shown so far from the agent's conversation, so they may be
        // shown again.
        if matches!(event.event, Event::Compaction(_)) {
            project.injector().mark_conversation_lost(&event.session.to_string())?;
        }
        self.journal_events(&live_session, &mut project, vec![event])?;
        if has_ended {
            self.end_session(&live_session);
        }
        Ok(())
    }

    /// Journals events of a session and schedules the work that follows from them.
    pub(crate) fn journal_events(
        &self,
        live_session: &LiveSession,
        project: &mut Project,
        events: Vec<EventEnvelope>,
    ) -> Result<(), RequestFailure> {
        if events.iter().any(is_file_edit) {
            live_session.open_project.has_edits.store(true, Ordering::Relaxed);
        }
        let has_completed_subtask = events.iter().any(completes_subtask);
        let must_sync = live_session.journal_new_events(project, events)?;
        if must_sync {
            self.sync_soon(live_session.session, project);
        }
        // In a long session the notes about finished subtasks are learned before its end.
        if has_completed_subtask {
            self.background.enqueue(
                BackgroundTask::LearnFinishedSubtasks(live_session.session),
                Some(&live_session.open_project),
            );
        }
        Ok(())
    }

    /// Schedules an `fsync` of the journal of a session.
    pub(crate) fn sync_soon(&self, session: SessionId, project: &Project) {
        lock_mutex(&self.unsynced_journals).insert(session, project.clone());
        self.sync_wanted.notify_one();
    }

    /// Ends a session: schedules learning from it, and indexing of the code that it changed.
    pub(crate) fn end_session(&self, live_session: &LiveSession) {
        self.background
            .enqueue(BackgroundTask::Learn(live_session.session), Some(&live_session.open_project));
        self.background.enqueue(BackgroundTask::Index, Some(&live_session.open_project));
        self.live_sessions.remove(live_session.session);
    }

    /// Syncs journals in the background until the daemon ends.
    pub(crate) async fn sync_journals_forever(&self) {
        loop {
            self.sync_wanted.notified().await;
            tokio::time::sleep(SYNC_DELAY).await;
            self.sync_journals().await;
        }
    }

    /// Syncs all journals that are due.
    pub(crate) async fn sync_journals(&self) {
        // Taken out at once, so that events can be journalled during the slow sync.
        let due = std::mem::take(&mut *lock_mutex(&self.unsynced_journals));
        let sync_all = move || {
            let mut first_error = None;
            // One journal that fails does not keep the others from the disk.
            for (session, mut project) in due {
                if let Err(error) = project.session_journal().sync(session) {
                    first_error.get_or_insert(error);
                }
            }
            first_error
        };
        if let Ok(Some(error)) = tokio::task::spawn_blocking(sync_all).await {
            self.background.record_error(format!("a journal is not on the disk: {error}"));
        }
    }

    /// The result of a `status` request.
    pub(crate) fn status(&self) -> StatusWire {
        let background = self.background.status();
        StatusWire {
            pid: std::process::id(),
            version: self.config.version.clone(),
            protocol: PROTOCOL_VERSION,
            seconds_up: self.counts.started_at.elapsed().as_secs(),
            seconds_idle: lock_mutex(&self.counts.last_line_at).elapsed().as_secs(),
            projects: self
                .open_projects
                .list()
                .iter()
                .map(|it| it.root.display().to_string())
                .collect(),
            sessions: self.live_sessions.len(),
            connections: self.counts.connections.load(Ordering::Relaxed),
            events: self.counts.events.load(Ordering::Relaxed),
            requests: self.counts.requests.load(Ordering::Relaxed),
            job: background.running,
            queued: background.n_queued,
            done: background.finished,
            last_trouble: background.last_error,
        }
    }

    /// Writes the last error of this daemon where `doctor` finds it, or removes that of an earlier one. A
    /// failure is ignored: the disk may be the trouble itself, which `doctor` finds by its own check.
    pub(crate) fn store_last_error(&self) {
        let path = self.address.last_error_file();
        let _ = match self.background.status().last_error {
            Some(error) => os::open_private_file(&path)
                .and_then(|mut it| it.set_len(0).and_then(|()| it.write_all(error.as_bytes()))),
            None => std::fs::remove_file(&path),
        };
    }

    /// Schedules indexing for projects with edited files.
    pub(crate) fn index_edited_projects(&self) {
        for open_project in self.open_projects.list() {
            // Reads and clears the flag in one step, so that an edit during indexing sets it again.
            if open_project.has_edits.swap(false, Ordering::Relaxed) {
                self.background.enqueue(BackgroundTask::Index, Some(&open_project));
            }
        }
    }

    /// Closes idle projects and sessions, and frees memory that the next use fills again.
    pub(crate) fn release_idle(&self) {
        self.open_projects.close_idle(self.config.project_idle_timeout);
        let still_open = self.open_projects.list();
        self.live_sessions.remove_idle(&still_open);
        for open_project in still_open {
            if open_project.idle_time() > IDLE_RELEASE {
                open_project.release_memory();
            }
        }
        let mut models_used_at = lock_mutex(&self.counts.models_used_at);
        if models_used_at.is_some_and(|it| it.elapsed() > IDLE_RELEASE) {
            *models_used_at = None;
            self.config.models.release();
        }
    }

    /// Records that the models are in use, which keeps them in memory for a while.
    pub(crate) fn mark_models_used(&self) {
        *lock_mutex(&self.counts.models_used_at) = Some(Instant::now());
    }

    /// True if the daemon is idle or runs with outdated settings.
    pub(crate) fn should_exit(&self) -> bool {
        let silence = lock_mutex(&self.counts.last_line_at).elapsed();
        let is_idle = silence > self.config.daemon_idle_timeout && self.background.is_idle();
        is_idle || (self.config.is_outdated)()
    }
}

/// True if the event is a successful edit of a file.
fn is_file_edit(event: &EventEnvelope) -> bool {
    let Event::ToolResult(result) = &event.event else { return false };
    result.ok && matches!(result.tool, Tool::Edit | Tool::Write)
}

/// True if the event reports a successful subtask.
fn completes_subtask(event: &EventEnvelope) -> bool {
    let Event::Validation(validation) = &event.event else { return false };
    validation.ok && validation.kind == ValidationKind::SubtaskSucceeded
}
