//! Learning: a finished session becomes sightings, drafts, verdicts and, in one transaction, memories.
//!
//! Read (what earlier sessions saw), think (drafts and verdicts, plain calls), write (one batch). A
//! session that is learned again replaces what it left behind and changes nothing else.

mod aftermath;
mod author;
mod compose;
mod consolidate;
mod explain;
mod family;
mod files;
mod inbox;
mod journal;
mod modules;
mod outcome;
mod outlook;
mod refresh;
pub(crate) mod saved;
mod synthesis;
mod tail;
mod transcript;
pub(crate) mod uses;

use std::collections::HashMap;

use model::{DAY, DropReason, Memory, MemoryId, Outcome, SessionId, SignalKind, Status};
use observe::{Modules, Scratchpad, Session, Sighting};
use promote::Verdict;
use store::{
    Action, Batch, Change, Lesson, Milestone, SessionRow, SightingRow, Store, StumbleRow,
    TouchedRow,
};

use crate::admit;
use crate::change::by_user;
use crate::{Engine, Error, Reach};

use compose::{Prepared, Reviewed};

pub use explain::{Explained, Told, Visited, Witness};
pub use family::{SiblingNote, framed_notes};
pub use inbox::{Waiting, keep_for_later, waiting};
pub use journal::{Journalled, session_root};
pub use saved::Saved;
pub use tail::Tail;
pub use transcript::{TranscriptRead, transcripts_in};

/// Raised when the same events would teach something else, so that sessions are learned anew.
const LEARNER: u32 = 2;
/// How far ahead of us a host's clock may be.
const FARTHEST: i64 = 30 * DAY;
/// The longest task kept, in characters.
const MAX_TASK: usize = 400;
/// Failed calls kept of one session, and how much of each, in characters.
const MAX_STUMBLES: usize = 200;
const MAX_HEAD: usize = 80;
const MAX_BEGINNING: usize = 200;

/// What one session taught.
#[derive(Clone, Debug)]
pub struct Learned {
    pub session: SessionRow,
    pub standing: Standing,
    pub kept: Vec<Kept>,
    /// Learned memories that this session took back.
    pub retired: Vec<MemoryId>,
    pub dropped: Vec<Dropped>,
    /// What a person should know about how it went.
    pub notices: Vec<String>,
}

/// How a session stands to what was learned before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    New,
    /// It has gone on since it was learned.
    Grown,
    /// Nothing has changed since; nothing was written.
    Known,
}

/// How strictly candidates are judged in a project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strictness {
    pub n_learned: u32,
    pub n_rejected: u32,
    /// Thresholds are this much higher, in thousandths of themselves. Falls to nothing by itself when
    /// what was rejected is restored, or outnumbered.
    pub tighter: u16,
}

/// A memory that was made or strengthened.
#[derive(Clone, Debug)]
pub struct Kept {
    /// `None`: it was not one session that showed it, but all of a module.
    pub signal: Option<SignalKind>,
    pub memory: Memory,
    pub how: KeptHow,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptHow {
    Made,
    /// A memory of the same pattern says it better now.
    Updated,
    /// A memory said the same; this session speaks for it, too.
    Confirmed,
    /// It takes the place of a memory that said otherwise.
    Superseded(MemoryId),
}

/// A candidate that was not kept.
#[derive(Clone, Debug)]
pub struct Dropped {
    pub signal: SignalKind,
    pub key: String,
    pub content: Option<String>,
    pub why: DropReason,
    pub detail: String,
}

impl Engine {
    /// Learns from a finished session.
    pub async fn learn(&mut self, pad: &Scratchpad) -> Result<Option<Learned>, Error> {
        self.learn_part(pad, Part::Whole).await
    }

    pub(crate) async fn learn_part(
        &mut self,
        pad: &Scratchpad,
        part: Part,
    ) -> Result<Option<Learned>, Error> {
        self.refuse_closed()?;
        let Some(mut session) = observe::session(pad) else { return Ok(None) };
        // A host whose clock is years ahead makes no memories of the future.
        let latest = self.now.plus(FARTHEST);
        (session.started, session.ended) = (session.started.min(latest), session.ended.min(latest));
        if part == Part::SoFar {
            // Nobody can say yet whether it holds, or what comes of it.
            (session.validated, session.outcome) = (None, Outcome::Partial);
        }
        let modules = self.modules().await?;
        let lesson = Raw {
            session,
            print: print_of(pad),
            sightings: observe::sightings(pad, &modules),
            stumbles: pad.stumbles.iter().take(MAX_STUMBLES).map(stumble_row).collect(),
            unit: outcome::Unit::of(pad),
            modules,
            part,
            passed: Vec::new(),
        };
        let notebook = self.notebook(Reach::Project).await?;
        let group = uses::heard_as(pad).and_then(|it| self.enrolled(&it, pad.session?));
        let spared = self.spared(&notebook.store, pad).await?;
        let lesson = Raw { passed: group.into_iter().chain(spared).collect(), ..lesson };
        let used = self.used(&notebook.store, pad).await?;
        self.learn_session(notebook.store, lesson, used).await.map(Some)
    }

    async fn learn_session(
        &mut self,
        store: Store,
        raw: Raw,
        used: Vec<Memory>,
    ) -> Result<Learned, Error> {
        let Raw { mut session, print, mut sightings, stumbles, unit, modules, part, passed } = raw;
        if part == Part::Whole {
            session.validated = self.validated(&store, &session).await?;
        }
        if part == Part::Whole
            && let Some(dead_end) = self.taken_back(&session, &sightings)
        {
            session.outcome = Outcome::Failure;
            sightings.push(dead_end);
        }
        sightings.extend(family::conflicts(&store, &session).await?);
        sightings.iter_mut().for_each(mask);
        let known = store.session(session.id).await?;
        let row = session_row(&session, print);
        let standing = match &known {
            None => Standing::New,
            Some(it) if says_less(&row, it) => return Ok(lesser(row)),
            Some(it) if is_known(it, &row) => Standing::Known,
            Some(_) => Standing::Grown,
        };
        if standing == Standing::Known {
            return Ok(Learned {
                session: row,
                standing,
                kept: Vec::new(),
                retired: Vec::new(),
                dropped: Vec::new(),
                notices: Vec::new(),
            });
        }
        let prepared = self.prepare(&store, &session, sightings, &modules).await?;
        let verdicts = compose::judge(&prepared, &session, self.tightening(&store).await?);
        let mut reviewed = self.review(&store, &session, prepared, verdicts).await?;
        let mut synthesis = self.synthesise(&store, &session, &modules).await?;
        if self.may_ask && !synthesis.asked {
            let notices = &mut synthesis.notices;
            author::reword(&self.config.models, &mut reviewed, notices).await;
        }
        let mut changes = self.refresh(&store, &session, &reviewed, &modules).await?;
        let lesson =
            Lesson { session: row, files: files_of(&session), sightings: Vec::new(), stumbles };
        changes.extend(reviewed.iter().flat_map(|it| it.changes.clone()));
        // One change of a memory in a batch: what the session itself says comes first.
        synthesis.changes.retain(|it| !changes.iter().any(|known| replaces_same(it, known)));
        changes.append(&mut synthesis.changes);
        if let Some(unit) = unit {
            changes.extend(self.conclude(&store, &session, unit, &modules).await?);
        }
        uses::count(&mut changes, used);
        changes.extend(passed.into_iter().map(Change::Pass));
        let mut learned = self.write_lesson(&store, lesson, standing, reviewed, changes).await?;
        learned.kept.append(&mut synthesis.kept);
        learned.notices = synthesis.notices;
        if part == Part::Whole && session.subtasks.len() >= consolidate::MANY_PARTS {
            let fresh = self.made_since(&store, session.started).await?;
            learned.retired.extend(self.consolidate(&store, fresh, session.ended).await?);
        }
        Ok(learned)
    }

    /// How much tighter thresholds are here: by how people judged what was learned.
    async fn tightening(&self, store: &Store) -> Result<u16, Error> {
        let (all, rejected) = store.judged().await?;
        Ok(promote::tightening(rejected, all))
    }

    /// How many memories were learned here, how many of them people rejected, and what follows.
    pub async fn strictness(&self) -> Result<Strictness, Error> {
        let Some(store) = self.project_store().filter(Store::exists) else {
            return Ok(Strictness::default());
        };
        let (n_learned, n_rejected) = store.judged().await?;
        let tighter = promote::tightening(n_rejected, n_learned);
        Ok(Strictness { n_learned, n_rejected, tighter })
    }

    async fn write_lesson(
        &self,
        store: &Store,
        mut lesson: Lesson,
        standing: Standing,
        reviewed: Vec<Reviewed>,
        mut changes: Vec<Change>,
    ) -> Result<Learned, Error> {
        let session = lesson.session.clone();
        let (mut kept, mut dropped) = (Vec::new(), Vec::new());
        for it in reviewed {
            let memory = it.kept.as_ref().map(|it| it.memory.id).or(it.memory);
            lesson.sightings.push(SightingRow {
                session: session.id,
                signal: it.prepared.sighting.signal,
                key: it.prepared.sighting.key.clone(),
                times: it.prepared.sighting.n,
                tainted: it.prepared.sighting.tainted,
                evidence: it.prepared.sighting.evidence.write(),
                memory,
                dropped: it.dropped.as_ref().map(|it| (it.why, it.detail.clone())),
            });
            kept.extend(it.kept);
            dropped.extend(it.dropped);
        }
        let retired = changes.iter().filter_map(retired_by).collect();
        changes.push(Change::Learn(Box::new(lesson)));
        let batch = Batch {
            actor: model::Actor::Observer,
            key: Some(format!(
                "learn {} {} {:?} {}",
                session.id, session.print, session.validated, session.outcome
            )),
            ..by_user(Action::Promote, self.now, changes)
        };
        self.write(store, batch).await?;
        Ok(Learned { session, standing, kept, retired, dropped, notices: Vec::new() })
    }
}

/// Whether nothing has changed since a session was learned.
fn is_known(before: &SessionRow, now: &SessionRow) -> bool {
    before.print == now.print && before.validated == now.validated && before.outcome == now.outcome
}

/// How much of a session there is to learn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Whole,
    /// It goes on; one of many subtasks has succeeded.
    SoFar,
}

/// Whether this is another session under the same id, or a copy that breaks off: of the two the longer
/// one is learned, whichever comes first, so that learning both again changes nothing.
fn says_less(now: &SessionRow, known: &SessionRow) -> bool {
    now.print != known.print && (now.steps, now.ended) < (known.steps, known.ended)
}

fn lesser(session: SessionRow) -> Learned {
    let notice = format!(
        "session #{} was learned already, from a longer log; this one was left",
        session.id.short()
    );
    Learned {
        session,
        standing: Standing::Known,
        kept: Vec::new(),
        retired: Vec::new(),
        dropped: Vec::new(),
        notices: vec![notice],
    }
}

/// What a session brings before anything is judged.
struct Raw {
    session: Session,
    print: String,
    sightings: Vec<Sighting>,
    stumbles: Vec<StumbleRow>,
    unit: Option<outcome::Unit>,
    modules: Modules,
    part: Part,
    /// The group of a trial that it was in, and what it was spared.
    passed: Vec<Milestone>,
}

fn files_of(session: &Session) -> Vec<TouchedRow> {
    let row = |it: &observe::FileRow| TouchedRow {
        path: it.path.clone(),
        reads: it.reads,
        edits: it.edits,
        first_step: it.first_step,
    };
    session.files.iter().map(row).collect()
}

fn stumble_row(it: &observe::Stumble) -> StumbleRow {
    let (head, beginning) =
        (admit::masked(&it.head, MAX_HEAD), admit::masked(&it.beginning, MAX_BEGINNING));
    StumbleRow { at: it.at, head, beginning }
}

fn replaces_same(a: &Change, b: &Change) -> bool {
    matches!((a, b), (Change::Replace(a), Change::Replace(b)) if a.id == b.id)
}

/// The memory that a change takes out of what is believed.
fn retired_by(change: &Change) -> Option<MemoryId> {
    match change {
        Change::Replace(memory) if memory.states.deprecated_at.is_some() => Some(memory.id),
        _ => None,
    }
}

/// Secrets in what was seen are masked before anything is kept.
fn mask(sighting: &mut Sighting) {
    let clean = |text: &mut String| {
        if !secrets::scan(text).is_empty() {
            *text = secrets::redact(text).text;
        }
    };
    sighting.evidence.map_texts(clean);
    clean(&mut sighting.key);
}

/// Tells whether the events of a session are those that were learned.
fn print_of(pad: &Scratchpad) -> String {
    let ended = pad.ended.unwrap_or_default().0;
    model::fingerprint(&format!("{LEARNER} {} {} {ended}", pad.n_events(), pad.n_steps()))
}

fn session_row(it: &Session, print: String) -> SessionRow {
    SessionRow {
        id: it.id,
        parent: it.parent,
        agent: it.agent.clone(),
        kind: it.kind,
        outcome: it.outcome,
        validated: it.validated,
        task: admit::masked(&it.task, MAX_TASK),
        started: it.started,
        ended: it.ended,
        steps: it.steps,
        tokens: it.tokens,
        retries: it.retries,
        external: it.external.as_ref().map(|it| admit::masked(it, 200)),
        print,
        planned: it.planned,
    }
}

/// What earlier sessions saw, by pattern.
type Earlier = HashMap<(SignalKind, String), Vec<SightingRow>>;

/// Sessions that count: those whose work holds, and those that change nothing and so need no proof.
fn holding(sessions: Vec<SessionRow>) -> HashMap<SessionId, SessionRow> {
    let holds = |it: &SessionRow| {
        it.outcome != Outcome::Failure && promote::gate(it.kind).is_open(it.validated, &[])
    };
    sessions.into_iter().filter(holds).map(|it| (it.id, it)).collect()
}

fn is_kept(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Keep { .. })
}

/// Whether a memory may still be strengthened: what a person took away stays away.
fn stands(memory: &Memory) -> bool {
    !matches!(memory.status(), Status::Deleted | Status::Deprecated)
}

/// What is prepared for judging, and what becomes of it, share this.
fn content_of(prepared: &Prepared) -> Option<String> {
    prepared.draft.as_ref().map(|it| it.content.clone())
}
