//! Live sessions: the state that the daemon keeps per running session of an agent. That is: the
//! project, the ids of journalled events, recent hook messages, the progress of the session, and the
//! position in the host's transcript.
//!
//! Events of a session reach the daemon in two ways: as *hook messages*, which the host (the program
//! that runs the agent) sends while the agent works, and from the *transcript*, the log that the host
//! itself writes. Both end in the *journal*, the daemon's own file of events. An event that comes both
//! ways has the same id, so it is journalled once.
//!
//! Nothing here must survive the daemon: a session that is not live is restored from its journal.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use engine::{HookMessage, Project, TranscriptTail};
use model::{Event, EventEnvelope, ProjectPath, SessionId};
use tokio::time::Instant;

use crate::mutex::lock_mutex;
use crate::open_projects::OpenProject;
use crate::wire::RequestFailure;

/// Event ids kept per session to detect duplicates at once; older duplicates are dropped when learning
/// reads the journal.
const MAX_SEEN_EVENT_IDS: usize = 1 << 12;
/// Limits of live sessions. A session beyond them is restored from its journal when it is needed.
const MAX_LIVE_SESSIONS: usize = 4_096;
const SESSION_IDLE_TIMEOUT: Duration = Duration::from_hours(1);
/// Time within which an equal message is a repetition. If two hooks are installed, the host runs them
/// side by side for the same event.
const REPETITION_WINDOW: Duration = Duration::from_secs(5);
/// Messages kept to detect repetitions.
const MAX_RECENT_MESSAGES: usize = 64;
/// Touched files kept per session, and those that count as recent. A hook without a daemon uses the
/// same number of recent files (`engine/src/injection/recent_files.rs`).
const MAX_TOUCHED_FILES: usize = 200;
const MAX_RECENT_FILES: usize = 8;

/// A live session.
pub(crate) struct LiveSession {
    pub(crate) session: SessionId,
    pub(crate) open_project: Arc<OpenProject>,
    seen_events: Mutex<SeenEvents>,
    /// Position in the host's transcript; `None` until the transcript is read.
    transcript_tail: Mutex<Option<TranscriptTail>>,
    last_used: Mutex<Instant>,
    progress: Mutex<StepProgress>,
    /// Hashes of the latest messages and the times of their arrival.
    recent_messages: Mutex<VecDeque<(u64, Instant)>>,
}

/// Progress of a session as seen by this daemon. A step is one answer of the model together
/// with the tool calls it makes.
#[derive(Clone, Default)]
pub(crate) struct StepProgress {
    /// Completed steps.
    pub(crate) n_steps: u32,
    /// The task: the first user message.
    pub(crate) task: String,
    /// Touched files, the most recent last, each once.
    pub(crate) touched: Vec<ProjectPath>,
}

/// The behaviour of [`LiveSession::follow_transcript`] while another thread follows the same transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FollowMode {
    /// Leave the work to that thread.
    SkipIfBusy,
    /// Wait for it, because nothing may be missed.
    WaitIfBusy,
}

impl StepProgress {
    /// Makes these files the most recent ones and drops the oldest beyond the limit.
    fn add_files(&mut self, files: &[ProjectPath]) {
        self.touched.retain(|it| !files.contains(it));
        self.touched.extend_from_slice(files);
        let n_excess = self.touched.len().saturating_sub(MAX_TOUCHED_FILES);
        self.touched.drain(..n_excess);
    }
}

/// Hashes of the latest event ids: a set for the lookup, a queue to evict the oldest.
#[derive(Default)]
struct SeenEvents {
    hashes: HashSet<u64>,
    oldest_first: VecDeque<u64>,
}

impl SeenEvents {
    /// Inserts an id; true if it is new.
    fn insert_new(&mut self, event_id: &str) -> bool {
        let mut hasher = DefaultHasher::new();
        event_id.hash(&mut hasher);
        let hash = hasher.finish();
        if !self.hashes.insert(hash) {
            return false;
        }
        self.oldest_first.push_back(hash);
        if self.oldest_first.len() > MAX_SEEN_EVENT_IDS
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.hashes.remove(&oldest);
        }
        true
    }
}

impl LiveSession {
    fn new(session: SessionId, open_project: Arc<OpenProject>) -> Self {
        Self {
            session,
            open_project,
            seen_events: Mutex::default(),
            transcript_tail: Mutex::default(),
            last_used: Mutex::new(Instant::now()),
            progress: Mutex::default(),
            recent_messages: Mutex::default(),
        }
    }

    /// Records a message; returns true if it repeats one that arrived within [`REPETITION_WINDOW`]: a
    /// host with two hooks of ours sends each event twice. Different events hardly ever have equal
    /// messages within that time, because nearly all carry an id or a time.
    pub(crate) fn record_message(&self, message: &HookMessage) -> bool {
        let mut recent = lock_mutex(&self.recent_messages);
        recent.retain(|(_, arrived_at)| arrived_at.elapsed() < REPETITION_WINDOW);
        let hash = message.content_hash();
        let is_known = recent.iter().any(|(known, _)| *known == hash);
        recent.push_front((hash, Instant::now()));
        recent.truncate(MAX_RECENT_MESSAGES);
        is_known
    }

    /// Sets the task if it is not known yet.
    pub(crate) fn set_task(&self, task: &str) {
        let mut progress = lock_mutex(&self.progress);
        if progress.task.is_empty() {
            task.clone_into(&mut progress.task);
        }
    }

    /// Records the end of a step that touched these files; returns the progress including it.
    pub(crate) fn complete_step(&self, files: &[ProjectPath]) -> StepProgress {
        let mut progress = lock_mutex(&self.progress);
        progress.n_steps += 1;
        progress.add_files(files);
        progress.clone()
    }

    /// The most recent files first; the next query is likely about them.
    pub(crate) fn recent_files(&self) -> Vec<ProjectPath> {
        lock_mutex(&self.progress).touched.iter().rev().take(MAX_RECENT_FILES).cloned().collect()
    }

    /// Journals the events that are new, in order. Returns true if one of them ended a step: the caller
    /// then schedules a sync, which writes the journal through to the disk.
    pub(crate) fn journal_new_events(
        &self,
        project: &mut Project,
        events: Vec<EventEnvelope>,
    ) -> Result<bool, RequestFailure> {
        // Held until the events are journalled: two threads must not append out of order.
        let mut seen_events = lock_mutex(&self.seen_events);
        let new_events: Vec<EventEnvelope> =
            events.into_iter().filter(|it| seen_events.insert_new(&it.id)).collect();
        if new_events.is_empty() {
            return Ok(false);
        }
        for event in &new_events {
            if let Event::ToolCall(call) = &event.event {
                lock_mutex(&self.progress).add_files(&call.args.paths);
            }
        }
        let appended = project.session_journal().append_events(&new_events);
        if appended.is_err() {
            // Not journalled, so a repetition must not count as a duplicate. Ids of journalled events
            // are forgotten too; learning drops their duplicates.
            *seen_events = SeenEvents::default();
        }
        Ok(appended?)
    }

    /// Journals the events that the host has appended to its transcript since the last call, and
    /// returns whether the journal must be synced. Blocks on the disk.
    pub(crate) fn follow_transcript(
        &self,
        project: &mut Project,
        transcript: &Path,
        mode: FollowMode,
    ) -> Result<bool, RequestFailure> {
        let mut guard = match mode {
            FollowMode::WaitIfBusy => lock_mutex(&self.transcript_tail),
            FollowMode::SkipIfBusy => match self.transcript_tail.try_lock() {
                Ok(guard) => guard,
                Err(_) => return Ok(false),
            },
        };
        // The host may have gone on in another file: the position in the old one is useless.
        guard.take_if(|it| it.path() != transcript);
        // A transcript that this daemon has not read yet is read from its start. An earlier daemon
        // may have journalled a part of it.
        let journalled_ids = match *guard {
            Some(_) => HashSet::new(),
            None => project.session_history().journalled_event_ids(self.session),
        };
        let tail =
            guard.get_or_insert_with(|| TranscriptTail::new(transcript, &self.open_project.root));
        let mut must_sync = false;
        loop {
            let (mut events, has_more) = tail.read_new_events();
            events.retain(|it| it.session == self.session && !journalled_ids.contains(&it.id));
            // The hook has journalled the start, with the path of the transcript.
            events.retain(|it| !matches!(it.event, Event::SessionStart(_)));
            must_sync |= self.journal_new_events(project, events)?;
            if !has_more {
                return Ok(must_sync);
            }
        }
    }
}

/// All live sessions.
#[derive(Default)]
pub(crate) struct LiveSessions {
    by_id: Mutex<HashMap<SessionId, Arc<LiveSession>>>,
}

impl LiveSessions {
    /// A live session; its idle time starts anew.
    pub(crate) fn get(&self, session: SessionId) -> Option<Arc<LiveSession>> {
        let found = lock_mutex(&self.by_id).get(&session).cloned();
        if let Some(found) = &found {
            *lock_mutex(&found.last_used) = Instant::now();
        }
        found
    }

    /// Returns the live session, or starts it. A session whose project was closed and opened again
    /// starts afresh, because it holds the closed project.
    pub(crate) fn get_or_start(
        &self,
        session: SessionId,
        open_project: &Arc<OpenProject>,
    ) -> Arc<LiveSession> {
        let mut by_id = lock_mutex(&self.by_id);
        if let Some(known) = by_id.get(&session)
            && Arc::ptr_eq(&known.open_project, open_project)
        {
            *lock_mutex(&known.last_used) = Instant::now();
            return Arc::clone(known);
        }
        let started = Arc::new(LiveSession::new(session, Arc::clone(open_project)));
        by_id.insert(session, Arc::clone(&started));
        started
    }

    pub(crate) fn len(&self) -> usize {
        lock_mutex(&self.by_id).len()
    }

    /// True for a live session, whose journal is still being written.
    pub(crate) fn is_live(&self, session: SessionId) -> bool {
        lock_mutex(&self.by_id).contains_key(&session)
    }

    pub(crate) fn remove(&self, session: SessionId) {
        lock_mutex(&self.by_id).remove(&session);
    }

    /// Removes idle sessions, the longest idle ones beyond the maximum, and those whose project was
    /// closed.
    pub(crate) fn remove_idle(&self, still_open: &[Arc<OpenProject>]) {
        let mut by_id = lock_mutex(&self.by_id);
        let idle_time = |it: &LiveSession| lock_mutex(&it.last_used).elapsed();
        let mut idle_times: Vec<Duration> = by_id.values().map(|it| idle_time(it)).collect();
        // The most recently used come first.
        idle_times.sort_unstable();
        let limit = match idle_times.get(MAX_LIVE_SESSIONS) {
            // This session is the first one too many: its idle time is a limit that keeps exactly
            // those before it.
            Some(idle_time) => SESSION_IDLE_TIMEOUT.min(*idle_time),
            None => SESSION_IDLE_TIMEOUT,
        };
        let is_open =
            |project: &Arc<OpenProject>| still_open.iter().any(|it| Arc::ptr_eq(it, project));
        by_id.retain(|_, it| idle_time(it) < limit && is_open(&it.open_project));
    }
}
