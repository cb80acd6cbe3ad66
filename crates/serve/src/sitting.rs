//! Sessions that go on: whose they are, what was heard of them lately, how far their host's log was read.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use engine::{Engine, Tail};
use model::{Envelope, Event, ProjectPath, SessionId};
use tokio::time::Instant;

use crate::project::{Project, lock};
use crate::wire::Failure;

/// Ids kept to recognise repeats at once; those that come later are recognised when the journal is folded.
const MAX_SEEN: usize = 1 << 12;
/// Sessions kept in mind at most, and for how long; any other is found again by its journal.
const MOST: usize = 4_096;
const FORGOTTEN: Duration = Duration::from_hours(1);

/// A session.
pub(crate) struct Sitting {
    pub(crate) session: SessionId,
    pub(crate) project: Arc<Project>,
    seen: Mutex<Seen>,
    tail: Mutex<Option<Tail>>,
    used: Mutex<Instant>,
    steps: Mutex<Steps>,
    heard: Mutex<VecDeque<(u64, Instant)>>,
}

/// How far a session has come, as far as it was heard here.
#[derive(Clone, Default)]
pub(crate) struct Steps {
    /// Steps that ended.
    pub(crate) number: u32,
    /// What it is about: what was said first.
    pub(crate) task: String,
    /// Files it touched, the last ones.
    pub(crate) touched: Vec<ProjectPath>,
}

/// For so long, and of so many messages, it is known that they came: hooks of one event run side by side.
const MOMENT: Duration = Duration::from_secs(5);
const HEARD: usize = 64;

/// Files of a session that are kept in mind, and those that are at hand.
const TOUCHED: usize = 200;
const AT_HAND: usize = 8;

impl Steps {
    fn touch(&mut self, files: &[ProjectPath]) {
        self.touched.retain(|it| !files.contains(it));
        self.touched.extend_from_slice(files);
        let n_old = self.touched.len().saturating_sub(TOUCHED);
        self.touched.drain(..n_old);
    }
}

#[derive(Default)]
struct Seen {
    ids: HashSet<u64>,
    order: VecDeque<u64>,
}

impl Seen {
    /// Whether it is new.
    fn add(&mut self, id: &str) -> bool {
        let id = hash(id);
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

fn hash(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

impl Sitting {
    fn new(session: SessionId, project: Arc<Project>) -> Self {
        let (seen, tail, used) = (Mutex::default(), Mutex::default(), Mutex::new(Instant::now()));
        let (steps, heard) = (Mutex::default(), Mutex::default());
        Self { session, project, seen, tail, used, steps, heard }
    }

    /// Whether a host said the very same a moment ago: it has two hooks of ours, and the other one was
    /// answered. Events of a host are hardly ever told in the same words within that time: nearly all have an
    /// id or their time in them.
    pub(crate) fn hears_again(&self, message: &str) -> bool {
        let mut heard = lock(&self.heard);
        heard.retain(|it| it.1.elapsed() < MOMENT);
        let message = hash(message);
        let again = heard.iter().any(|it| it.0 == message);
        heard.push_front((message, Instant::now()));
        heard.truncate(HEARD);
        again
    }

    /// What the session is about, when that is not known yet.
    pub(crate) fn about(&self, task: &str) {
        let mut steps = lock(&self.steps);
        if steps.task.is_empty() {
            task.clone_into(&mut steps.task);
        }
    }

    /// A step ended that touched these files.
    pub(crate) fn step(&self, files: &[ProjectPath]) -> Steps {
        let mut steps = lock(&self.steps);
        steps.number += 1;
        steps.touch(files);
        steps.clone()
    }

    /// The files it went over last, the last first: what it asks next is likely about them.
    pub(crate) fn at_hand(&self) -> Vec<ProjectPath> {
        lock(&self.steps).touched.iter().rev().take(AT_HAND).cloned().collect()
    }

    /// Journals events, those that were not heard before, in the order they come; says whether the
    /// journal is to be synced.
    pub(crate) fn append(&self, engine: &Engine, events: Vec<Envelope>) -> Result<bool, Failure> {
        let mut seen = lock(&self.seen);
        let fresh: Vec<Envelope> = events.into_iter().filter(|it| seen.add(&it.id)).collect();
        if fresh.is_empty() {
            return Ok(false);
        }
        let calls = fresh.iter().filter_map(|it| match &it.event {
            Event::ToolCall(call) => Some(call.args.paths.as_slice()),
            _ => None,
        });
        calls.for_each(|it| lock(&self.steps).touch(it));
        engine.append(&fresh).map_err(|error| {
            // It was not kept, so that saying it again is no repeat.
            *seen = Seen::default();
            error.into()
        })
    }

    /// Journals what the host has written into its own log since. Blocks; who finds it at work leaves it
    /// to it, unless all is wanted.
    pub(crate) fn follow(
        &self,
        engine: &Engine,
        transcript: &Path,
        all: bool,
    ) -> Result<bool, Failure> {
        let mut tail = if all {
            lock(&self.tail)
        } else if let Ok(tail) = self.tail.try_lock() {
            tail
        } else {
            return Ok(false);
        };
        let mut known = HashSet::new();
        if tail.as_ref().is_none_or(|it| it.path() != transcript) {
            *tail = Some(Tail::new(transcript, &self.project.root));
            // Whoever was here before has read a part of it.
            known = engine.journalled_events(self.session);
        }
        let (mut sync, mut is_more) = (false, true);
        while let Some(tail) = tail.as_mut().filter(|_| is_more) {
            let (mut events, more) = tail.more();
            is_more = more;
            events.retain(|it| it.session == self.session && !known.contains(&it.id));
            // It began already, and said then where its log is.
            events.retain(|it| !matches!(it.event, Event::SessionStart(_)));
            sync |= self.append(engine, events)?;
        }
        Ok(sync)
    }
}

/// All that are kept in mind.
#[derive(Default)]
pub(crate) struct Sittings {
    all: Mutex<HashMap<SessionId, Arc<Sitting>>>,
}

impl Sittings {
    pub(crate) fn get(&self, session: SessionId) -> Option<Arc<Sitting>> {
        let found = lock(&self.all).get(&session).cloned();
        if let Some(found) = &found {
            *lock(&found.used) = Instant::now();
        }
        found
    }

    /// The session, new to us or not; and whether it is new.
    pub(crate) fn begin(&self, session: SessionId, project: &Arc<Project>) -> (Arc<Sitting>, bool) {
        let mut all = lock(&self.all);
        if let Some(known) = all.get(&session).filter(|it| Arc::ptr_eq(&it.project, project)) {
            *lock(&known.used) = Instant::now();
            return (Arc::clone(known), false);
        }
        let fresh = Arc::new(Sitting::new(session, Arc::clone(project)));
        all.insert(session, Arc::clone(&fresh));
        (fresh, true)
    }

    pub(crate) fn len(&self) -> usize {
        lock(&self.all).len()
    }

    /// Those that were heard of lately: their journals are not closed over their heads.
    pub(crate) fn is_live(&self, session: SessionId) -> bool {
        lock(&self.all).contains_key(&session)
    }

    pub(crate) fn forget(&self, session: SessionId) {
        lock(&self.all).remove(&session);
    }

    /// Forgets those that were not heard of for long, and those whose project was closed.
    pub(crate) fn forget_old(&self, open: &[Arc<Project>]) {
        let mut all = lock(&self.all);
        let mut ages: Vec<Duration> = all.values().map(|it| lock(&it.used).elapsed()).collect();
        ages.sort_unstable();
        let limit = ages.get(MOST).copied().unwrap_or(FORGOTTEN).min(FORGOTTEN);
        let is_open = |project: &Arc<Project>| open.iter().any(|it| Arc::ptr_eq(it, project));
        all.retain(|_, it| lock(&it.used).elapsed() < limit && is_open(&it.project));
    }
}
