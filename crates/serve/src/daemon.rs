//! What the daemon holds, and what happens to an event.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use engine::Engine;
use model::{Envelope, Event, SessionId, Tool, ValidationKind};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::address::Address;
use crate::background::{Background, Task};
use crate::project::{Project, Shelf, lock};
use crate::run::Config;
use crate::sitting::{Sitting, Sittings};
use crate::wire::{Code, Failure, PROTOCOL, StatusWire};

/// How long the ends of steps are collected before they are brought to the disk together.
const GATHERED: Duration = Duration::from_millis(20);
/// How long the model is kept ready after the last question, and the graph of a project after anything
/// was asked there.
const READY: Duration = Duration::from_mins(3);

pub(crate) struct Daemon {
    pub(crate) config: Config,
    pub(crate) address: Address,
    pub(crate) shelf: Shelf,
    pub(crate) sittings: Sittings,
    pub(crate) background: Arc<Background>,
    pub(crate) counts: Counts,
    pub(crate) stop: Stop,
    /// Journals with the end of a step in them that is not on the disk yet.
    unsynced: Mutex<HashMap<SessionId, Engine>>,
    to_sync: Notify,
}

pub(crate) struct Counts {
    pub(crate) began: Instant,
    pub(crate) last: Mutex<Instant>,
    /// When the model was last needed.
    pub(crate) asked: Mutex<Option<Instant>>,
    pub(crate) connections: AtomicUsize,
    /// Lines that are being answered.
    pub(crate) busy: AtomicUsize,
    pub(crate) events: AtomicU64,
    pub(crate) requests: AtomicU64,
}

#[derive(Default)]
pub(crate) struct Stop {
    is_asked: AtomicBool,
    notify: Notify,
}

impl Stop {
    pub(crate) fn ask(&self) {
        self.is_asked.store(true, Ordering::Relaxed);
        self.notify.notify_one();
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::Relaxed)
    }

    pub(crate) async fn asked(&self) {
        self.notify.notified().await;
    }
}

impl Daemon {
    pub(crate) fn new(config: Config) -> Self {
        let now = Instant::now();
        let counts = Counts {
            began: now,
            last: Mutex::new(now),
            asked: Mutex::default(),
            connections: AtomicUsize::new(0),
            busy: AtomicUsize::new(0),
            events: AtomicU64::new(0),
            requests: AtomicU64::new(0),
        };
        Self {
            address: Address::of(&config.data),
            config,
            shelf: Shelf::default(),
            sittings: Sittings::default(),
            background: Arc::default(),
            counts,
            stop: Stop::default(),
            unsynced: Mutex::default(),
            to_sync: Notify::new(),
        }
    }

    /// The project of a folder. One that is opened now has its left-over work looked at.
    pub(crate) async fn project(&self, folder: &Path) -> Result<Arc<Project>, Failure> {
        let (project, is_new) = self.shelf.project(&self.config, folder).await?;
        if is_new {
            for task in [Task::LearnLeft, Task::Embed, Task::Maintain] {
                self.background.add(task, Some(&project));
            }
        }
        Ok(project)
    }

    /// The session, found by its journal when it is not in mind.
    pub(crate) async fn sitting(&self, session: SessionId) -> Result<Arc<Sitting>, Failure> {
        if let Some(known) = self.sittings.get(session) {
            return Ok(known);
        }
        let data = self.config.data.clone();
        let found = tokio::task::spawn_blocking(move || engine::session_root(&data, session)).await;
        let Some(root) = found.ok().flatten() else {
            let what = format!("the session `{session}` has not begun");
            return Err(Failure::new(Code::UnknownSession, what));
        };
        let project = self.project(&root).await?;
        Ok(self.sittings.begin(session, &project).0)
    }

    /// Takes one event of a program.
    pub(crate) async fn take(&self, event: Envelope) -> Result<(), Failure> {
        self.counts.events.fetch_add(1, Ordering::Relaxed);
        let sitting = match &event.event {
            Event::SessionStart(start) => {
                let project = self.project(Path::new(&start.project_root)).await?;
                self.sittings.begin(event.session, &project).0
            }
            _ => self.sitting(event.session).await?,
        };
        let has_ended = matches!(event.event, Event::SessionEnd(_));
        let engine = sitting.project.for_writing(&self.config).await?;
        if matches!(event.event, Event::Compaction(_)) {
            engine.forget_heard(&event.session.to_string())?;
        }
        self.keep(&sitting, &engine, vec![event])?;
        if has_ended {
            self.end(&sitting);
        }
        Ok(())
    }

    /// Journals events of a session.
    pub(crate) fn keep(
        &self,
        sitting: &Sitting,
        engine: &Engine,
        events: Vec<Envelope>,
    ) -> Result<(), Failure> {
        if events.iter().any(edits) {
            sitting.project.edited.store(true, Ordering::Relaxed);
        }
        let completes = events.iter().any(completes_subtask);
        if sitting.append(engine, events)? {
            self.sync_soon(sitting.session, engine);
        }
        if completes {
            self.background.add(Task::LearnSoFar(sitting.session), Some(&sitting.project));
        }
        Ok(())
    }

    pub(crate) fn sync_soon(&self, session: SessionId, engine: &Engine) {
        lock(&self.unsynced).insert(session, engine.clone());
        self.to_sync.notify_one();
    }

    /// A session said that it ended: it is learned from, and what it did to files is looked at.
    pub(crate) fn end(&self, sitting: &Sitting) {
        self.background.add(Task::Learn(sitting.session), Some(&sitting.project));
        self.background.add(Task::Index, Some(&sitting.project));
        self.sittings.forget(sitting.session);
    }

    /// Brings ends of steps to the disk, forever.
    pub(crate) async fn keep_syncing(&self) {
        loop {
            self.to_sync.notified().await;
            tokio::time::sleep(GATHERED).await;
            self.sync_now().await;
        }
    }

    pub(crate) async fn sync_now(&self) {
        let due = std::mem::take(&mut *lock(&self.unsynced));
        let sync = move || {
            let sync = |(session, engine): (SessionId, Engine)| engine.sync_journal(session).err();
            // All of them, whatever becomes of one.
            let failed: Vec<engine::Error> = due.into_iter().filter_map(sync).collect();
            failed.into_iter().next()
        };
        if let Ok(Some(error)) = tokio::task::spawn_blocking(sync).await {
            self.background.note(format!("a journal is not on the disk: {error}"));
        }
    }

    pub(crate) fn status(&self) -> StatusWire {
        let (job, queued, done, last_trouble) = self.background.status();
        StatusWire {
            pid: std::process::id(),
            version: self.config.version.clone(),
            protocol: PROTOCOL,
            seconds_up: self.counts.began.elapsed().as_secs(),
            seconds_idle: lock(&self.counts.last).elapsed().as_secs(),
            projects: self.shelf.all().iter().map(|it| it.root.display().to_string()).collect(),
            sessions: self.sittings.len(),
            connections: self.counts.connections.load(Ordering::Relaxed),
            events: self.counts.events.load(Ordering::Relaxed),
            requests: self.counts.requests.load(Ordering::Relaxed),
            job,
            queued,
            done,
            last_trouble,
        }
    }

    /// Brings the index of projects up to date in which files were edited.
    pub(crate) fn follow_edits(&self) {
        for project in self.shelf.all() {
            if project.edited.swap(false, Ordering::Relaxed) {
                self.background.add(Task::Index, Some(&project));
            }
        }
    }

    /// Looks after itself; says whether it is time to end.
    pub(crate) fn look_around(&self) -> bool {
        self.shelf.close_quiet(self.config.quiet);
        self.shelf.all().iter().filter(|it| it.quiet() > READY).for_each(|it| it.rest());
        self.sittings.forget_old(&self.shelf.all());
        let mut asked = lock(&self.counts.asked);
        if asked.is_some_and(|it| it.elapsed() > READY) {
            *asked = None;
            self.config.models.release();
        }
        let is_idle = lock(&self.counts.last).elapsed() > self.config.idle;
        (is_idle && self.background.is_idle()) || (self.config.is_outdated)()
    }
}

/// Whether a file may be another one after it.
fn edits(event: &Envelope) -> bool {
    matches!(&event.event, Event::ToolResult(it) if it.ok && matches!(it.tool, Tool::Edit | Tool::Write))
}

/// Whether one of several subtasks is done.
fn completes_subtask(event: &Envelope) -> bool {
    matches!(&event.event, Event::Validation(it) if it.ok && it.kind == ValidationKind::SubtaskSucceeded)
}
