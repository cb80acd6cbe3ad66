//! Live sessions: project, recent messages, progress, and the position in the host's transcript.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use engine::{HookMessage, Project, TranscriptTail};
use model::{Event, EventEnvelope, ProjectPath, SessionId};
use tokio::time::Instant;

use crate::open_projects::{OpenProject, lock};
use crate::wire::RequestFailure;

/// Event ids kept to detect duplicates at once; older ones are detected when the journal is folded.
const MAX_SEEN: usize = 1 << 12;
/// Limits of live sessions; any other session is found again by its journal.
const MAX_LIVE_SESSIONS: usize = 4_096;
const SESSION_IDLE_TIMEOUT: Duration = Duration::from_hours(1);

/// A live session.
pub(crate) struct LiveSession {
    pub(crate) session: SessionId,
    pub(crate) project: Arc<OpenProject>,
    seen: Mutex<SeenEvents>,
    tail: Mutex<Option<TranscriptTail>>,
    used: Mutex<Instant>,
    steps: Mutex<StepProgress>,
    /// Hashes of the latest messages and the times of their arrival.
    recent_messages: Mutex<VecDeque<(u64, Instant)>>,
}

/// Progress of a session as seen by this daemon.
#[derive(Clone, Default)]
pub(crate) struct StepProgress {
    /// Completed steps.
    pub(crate) number: u32,
    /// The task: the first user message.
    pub(crate) task: String,
    /// Recently touched files.
    pub(crate) touched: Vec<ProjectPath>,
}

/// Time within which an equal message is a repetition: hooks of one event run side by side.
const REPETITION_WINDOW: Duration = Duration::from_secs(5);
/// Most messages remembered for that.
const MAX_RECENT_MESSAGES: usize = 64;

/// Touched files kept per session, and those that count as recent.
const MAX_TOUCHED_FILES: usize = 200;
const AT_HAND: usize = 8;

/// The behaviour of [`LiveSession::follow_transcript`] while another thread follows the same transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FollowMode {
    /// Leave the work to that thread.
    IfIdle,
    /// Wait for it, because nothing may be missed.
    ToEnd,
}

impl StepProgress {
    fn add_files(&mut self, files: &[ProjectPath]) {
        self.touched.retain(|it| !files.contains(it));
        self.touched.extend_from_slice(files);
        let n_old = self.touched.len().saturating_sub(MAX_TOUCHED_FILES);
        self.touched.drain(..n_old);
    }
}

#[derive(Default)]
struct SeenEvents {
    ids: HashSet<u64>,
    order: VecDeque<u64>,
}

impl SeenEvents {
    /// Inserts an id; true if it is new.
    fn insert_new(&mut self, id: &str) -> bool {
        let id = hash_id(id);
        if !self.ids.insert(id) {
            return false;
        }
        self.order.push_back(id);
        if self.order.len() > MAX_SEEN
            && let Some(old) = self.order.pop_front()
        {
            self.ids.remove(&old);
        }
        true
    }
}

fn hash_id(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

impl LiveSession {
    fn new(session: SessionId, project: Arc<OpenProject>) -> Self {
        let (seen, tail, used) = (Mutex::default(), Mutex::default(), Mutex::new(Instant::now()));
        let (steps, recent_messages) = (Mutex::default(), Mutex::default());
        Self { session, project, seen, tail, used, steps, recent_messages }
    }

    /// True if an equal message arrived just before. A host with two hooks of ours sends each
    /// event twice, and the first copy was answered. Different events hardly ever have equal
    /// messages within that time, because nearly all carry an id or a time.
    pub(crate) fn is_repetition(&self, message: &HookMessage) -> bool {
        let mut recent = lock(&self.recent_messages);
        recent.retain(|it| it.1.elapsed() < REPETITION_WINDOW);
        let hash = message.content_hash();
        let is_known = recent.iter().any(|it| it.0 == hash);
        recent.push_front((hash, Instant::now()));
        recent.truncate(MAX_RECENT_MESSAGES);
        is_known
    }

    /// Sets the task if it is not known yet.
    pub(crate) fn set_task(&self, task: &str) {
        let mut steps = lock(&self.steps);
        if steps.task.is_empty() {
            task.clone_into(&mut steps.task);
        }
    }

    /// Records the end of a step that touched these files.
    pub(crate) fn next_step(&self, files: &[ProjectPath]) -> StepProgress {
        let mut steps = lock(&self.steps);
        steps.number += 1;
        steps.add_files(files);
        steps.clone()
    }

    /// The most recent files first; the next query is likely about them.
    pub(crate) fn recent_files(&self) -> Vec<ProjectPath> {
        lock(&self.steps).touched.iter().rev().take(AT_HAND).cloned().collect()
    }

    /// Journals the events that are new, in order; returns true if the journal must be synced.
    pub(crate) fn append(
        &self,
        engine: &mut Project,
        events: Vec<EventEnvelope>,
    ) -> Result<bool, RequestFailure> {
        let mut seen = lock(&self.seen);
        let fresh: Vec<EventEnvelope> =
            events.into_iter().filter(|it| seen.insert_new(&it.id)).collect();
        if fresh.is_empty() {
            return Ok(false);
        }
        let calls = fresh.iter().filter_map(|it| match &it.event {
            Event::ToolCall(call) => Some(call.args.paths.as_slice()),
            _ => None,
        });
        calls.for_each(|it| lock(&self.steps).add_files(it));
        engine.session_journal().append_events(&fresh).map_err(|error| {
            // Not journalled, so a repetition must not count as a duplicate.
            *seen = SeenEvents::default();
            error.into()
        })
    }

    /// Journals the events that the host has appended to its transcript since the last call, and
    /// returns whether the journal must be synced. Blocks on the disk.
    pub(crate) fn follow_transcript(
        &self,
        engine: &mut Project,
        transcript: &Path,
        mode: FollowMode,
    ) -> Result<bool, RequestFailure> {
        let mut tail = match mode {
            FollowMode::ToEnd => lock(&self.tail),
            FollowMode::IfIdle => {
                let Ok(tail) = self.tail.try_lock() else { return Ok(false) };
                tail
            }
        };
        let mut known = HashSet::new();
        if tail.as_ref().is_none_or(|it| it.path() != transcript) {
            *tail = Some(TranscriptTail::new(transcript, &self.project.root));
            // An earlier daemon may have journalled a part of the transcript.
            known = engine.session_history().journalled_event_ids(self.session);
        }
        let (mut must_sync, mut is_more) = (false, true);
        while let Some(tail) = tail.as_mut().filter(|_| is_more) {
            let (mut events, has_rest) = tail.read_new_events();
            is_more = has_rest;
            events.retain(|it| it.session == self.session && !known.contains(&it.id));
            // The hook has journalled the start, with the path of the transcript.
            events.retain(|it| !matches!(it.event, Event::SessionStart(_)));
            must_sync |= self.append(engine, events)?;
        }
        Ok(must_sync)
    }
}

/// All live sessions.
#[derive(Default)]
pub(crate) struct LiveSessions {
    all: Mutex<HashMap<SessionId, Arc<LiveSession>>>,
}

impl LiveSessions {
    pub(crate) fn get(&self, session: SessionId) -> Option<Arc<LiveSession>> {
        let found = lock(&self.all).get(&session).cloned();
        if let Some(found) = &found {
            *lock(&found.used) = Instant::now();
        }
        found
    }

    /// Returns the session and true if it was added now.
    pub(crate) fn get_or_start(
        &self,
        session: SessionId,
        project: &Arc<OpenProject>,
    ) -> (Arc<LiveSession>, bool) {
        let mut all = lock(&self.all);
        if let Some(known) = all.get(&session).filter(|it| Arc::ptr_eq(&it.project, project)) {
            *lock(&known.used) = Instant::now();
            return (Arc::clone(known), false);
        }
        let fresh = Arc::new(LiveSession::new(session, Arc::clone(project)));
        all.insert(session, Arc::clone(&fresh));
        (fresh, true)
    }

    pub(crate) fn len(&self) -> usize {
        lock(&self.all).len()
    }

    /// True for a live session; its journal must not be closed.
    pub(crate) fn is_live(&self, session: SessionId) -> bool {
        lock(&self.all).contains_key(&session)
    }

    pub(crate) fn remove(&self, session: SessionId) {
        lock(&self.all).remove(&session);
    }

    /// Removes idle sessions and those whose project was closed.
    pub(crate) fn remove_idle(&self, open: &[Arc<OpenProject>]) {
        let mut all = lock(&self.all);
        let mut ages: Vec<Duration> = all.values().map(|it| lock(&it.used).elapsed()).collect();
        ages.sort_unstable();
        let limit = ages
            .get(MAX_LIVE_SESSIONS)
            .copied()
            .unwrap_or(SESSION_IDLE_TIMEOUT)
            .min(SESSION_IDLE_TIMEOUT);
        let is_open = |project: &Arc<OpenProject>| open.iter().any(|it| Arc::ptr_eq(it, project));
        all.retain(|_, it| lock(&it.used).elapsed() < limit && is_open(&it.project));
    }
}
