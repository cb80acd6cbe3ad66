//! State of the daemon, and the path of an event from the wire to the journal.

use std::collections::HashMap;
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
use crate::open_projects::{Freshness, OpenProject, OpenProjects, lock};
use crate::run::Config;
use crate::wire::{ErrorCode, PROTOCOL_VERSION, RequestFailure, StatusWire};

/// Delay that collects ends of steps for one `fsync`.
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
    /// Journals with an unsynced end of a step.
    unsynced: Mutex<HashMap<SessionId, Project>>,
    to_sync: Notify,
}

pub(crate) struct DaemonCounters {
    pub(crate) began: Instant,
    pub(crate) last: Mutex<Instant>,
    /// Last use of the embedding model.
    pub(crate) asked: Mutex<Option<Instant>>,
    pub(crate) connections: AtomicUsize,
    /// Lines being answered.
    pub(crate) busy: AtomicUsize,
    pub(crate) events: AtomicU64,
    pub(crate) requests: AtomicU64,
}

#[derive(Default)]
pub(crate) struct StopSignal {
    is_asked: AtomicBool,
    notify: Notify,
}

impl StopSignal {
    pub(crate) fn request_stop(&self) {
        self.is_asked.store(true, Ordering::Relaxed);
        self.notify.notify_one();
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::Relaxed)
    }

    pub(crate) async fn wait_for_stop(&self) {
        self.notify.notified().await;
    }
}

impl Daemon {
    pub(crate) fn new(config: Config) -> Self {
        let now = Instant::now();
        let counts = DaemonCounters {
            began: now,
            last: Mutex::new(now),
            asked: Mutex::default(),
            connections: AtomicUsize::new(0),
            busy: AtomicUsize::new(0),
            events: AtomicU64::new(0),
            requests: AtomicU64::new(0),
        };
        Self {
            address: DaemonAddress::for_data_dir(&config.data),
            config,
            open_projects: OpenProjects::default(),
            live_sessions: LiveSessions::default(),
            background: Arc::default(),
            counts,
            stop: StopSignal::default(),
            unsynced: Mutex::default(),
            to_sync: Notify::new(),
        }
    }

    /// The project of a folder. Opening it schedules its leftover work.
    pub(crate) async fn open_project(
        &self,
        folder: &Path,
    ) -> Result<Arc<OpenProject>, RequestFailure> {
        let (project, is_new) = self.open_projects.project(&self.config, folder).await?;
        if is_new {
            for task in [BackgroundTask::LearnLeft, BackgroundTask::Embed, BackgroundTask::Maintain]
            {
                self.background.enqueue(task, Some(&project));
            }
        }
        Ok(project)
    }

    /// The live session, restored from its journal if needed.
    pub(crate) async fn find_session(
        &self,
        session: SessionId,
    ) -> Result<Arc<LiveSession>, RequestFailure> {
        if let Some(known) = self.live_sessions.get(session) {
            return Ok(known);
        }
        let data = self.config.data.clone();
        let found =
            tokio::task::spawn_blocking(move || engine::journalled_session_root(&data, session))
                .await;
        let Some(root) = found.ok().flatten() else {
            let what = format!("the session `{session}` has not begun");
            return Err(RequestFailure::new(ErrorCode::UnknownSession, what));
        };
        let project = self.open_project(&root).await?;
        Ok(self.live_sessions.get_or_start(session, &project).0)
    }

    /// Accepts one event of a client.
    pub(crate) async fn accept_event(&self, event: EventEnvelope) -> Result<(), RequestFailure> {
        self.counts.events.fetch_add(1, Ordering::Relaxed);
        let live_session = match &event.event {
            Event::SessionStart(start) => {
                let project = self.open_project(Path::new(&start.project_root)).await?;
                self.live_sessions.get_or_start(event.session, &project).0
            }
            _ => self.find_session(event.session).await?,
        };
        let has_ended = matches!(event.event, Event::SessionEnd(_));
        let mut engine =
            live_session.project.writable_handle(&self.config, Freshness::Recent).await?;
        if matches!(event.event, Event::Compaction(_)) {
            engine.injector().mark_conversation_lost(&event.session.to_string())?;
        }
        self.journal_events(&live_session, &mut engine, vec![event])?;
        if has_ended {
            self.end_session(&live_session);
        }
        Ok(())
    }

    /// Journals events of a session.
    pub(crate) fn journal_events(
        &self,
        live_session: &LiveSession,
        engine: &mut Project,
        events: Vec<EventEnvelope>,
    ) -> Result<(), RequestFailure> {
        if events.iter().any(is_file_edit) {
            live_session.project.has_edits.store(true, Ordering::Relaxed);
        }
        let completes = events.iter().any(completes_subtask);
        if live_session.append(engine, events)? {
            self.sync_soon(live_session.session, engine);
        }
        if completes {
            self.background.enqueue(
                BackgroundTask::LearnSoFar(live_session.session),
                Some(&live_session.project),
            );
        }
        Ok(())
    }

    pub(crate) fn sync_soon(&self, session: SessionId, engine: &Project) {
        lock(&self.unsynced).insert(session, engine.clone());
        self.to_sync.notify_one();
    }

    /// Ends a session: schedules learning and indexing.
    pub(crate) fn end_session(&self, live_session: &LiveSession) {
        self.background
            .enqueue(BackgroundTask::Learn(live_session.session), Some(&live_session.project));
        self.background.enqueue(BackgroundTask::Index, Some(&live_session.project));
        self.live_sessions.remove(live_session.session);
    }

    /// Syncs journals in the background until the daemon ends.
    pub(crate) async fn sync_journals_forever(&self) {
        loop {
            self.to_sync.notified().await;
            tokio::time::sleep(SYNC_DELAY).await;
            self.sync_journals().await;
        }
    }

    pub(crate) async fn sync_journals(&self) {
        let due = std::mem::take(&mut *lock(&self.unsynced));
        let sync = move || {
            let sync = |(session, mut engine): (SessionId, Project)| {
                engine.session_journal().sync(session).err()
            };
            // Sync every journal, even if one fails.
            let failed: Vec<engine::Error> = due.into_iter().filter_map(sync).collect();
            failed.into_iter().next()
        };
        if let Ok(Some(error)) = tokio::task::spawn_blocking(sync).await {
            self.background.record_trouble(format!("a journal is not on the disk: {error}"));
        }
    }

    pub(crate) fn status(&self) -> StatusWire {
        let (job, queued, done, last_trouble) = self.background.status();
        StatusWire {
            pid: std::process::id(),
            version: self.config.version.clone(),
            protocol: PROTOCOL_VERSION,
            seconds_up: self.counts.began.elapsed().as_secs(),
            seconds_idle: lock(&self.counts.last).elapsed().as_secs(),
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
            job,
            queued,
            done,
            last_trouble,
        }
    }

    /// Schedules indexing for projects with edited files.
    pub(crate) fn follow_edits(&self) {
        for project in self.open_projects.list() {
            if project.has_edits.swap(false, Ordering::Relaxed) {
                self.background.enqueue(BackgroundTask::Index, Some(&project));
            }
        }
    }

    /// Releases idle resources; true if the daemon should exit.
    pub(crate) fn tidy_up(&self) -> bool {
        self.open_projects.close_idle(self.config.quiet);
        self.open_projects
            .list()
            .iter()
            .filter(|it| it.idle_time() > IDLE_RELEASE)
            .for_each(|it| it.release_memory());
        self.live_sessions.remove_idle(&self.open_projects.list());
        let mut asked = lock(&self.counts.asked);
        if asked.is_some_and(|it| it.elapsed() > IDLE_RELEASE) {
            *asked = None;
            self.config.models.release();
        }
        let is_idle = lock(&self.counts.last).elapsed() > self.config.idle;
        (is_idle && self.background.is_idle()) || (self.config.is_outdated)()
    }
}

/// True if the event changed a file.
fn is_file_edit(event: &EventEnvelope) -> bool {
    matches!(&event.event, Event::ToolResult(it) if it.ok && matches!(it.tool, Tool::Edit | Tool::Write))
}

/// True if the event reports a successful subtask.
fn completes_subtask(event: &EventEnvelope) -> bool {
    matches!(&event.event, Event::Validation(it) if it.ok && it.kind == ValidationKind::SubtaskSucceeded)
}
