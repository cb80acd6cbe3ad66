//! Result types of learning, which the command line and the daemon print.
//!
//! [`SessionSummary`] and [`SessionFile`] repeat rows of `store` field by field. They are separate
//! on purpose: a row follows the database schema, these types follow what callers show.

use model::{
    DropReason, Memory, MemoryId, ProjectPath, SessionId, SessionOutcome, SessionType, SignalKind,
    Timestamp, ValidationBasis,
};
use store::{SessionRow, TouchedFileRow};

/// Everything that was learned from one session.
#[derive(Clone, Debug)]
pub struct LearnedSession {
    pub session: SessionSummary,
    pub state: LessonState,
    pub memories: Vec<LearnedMemory>,
    /// Stored memories that this session deprecated.
    pub retired: Vec<MemoryId>,
    pub dropped: Vec<DroppedCandidate>,
    /// Messages for the user about how learning went.
    pub notices: Vec<String>,
}

impl LearnedSession {
    /// A session from which nothing was learned this time; nothing was written.
    pub(super) fn unchanged(session: SessionRow, notices: Vec<String>) -> Self {
        Self {
            session: session.into(),
            state: LessonState::Unchanged,
            memories: Vec::new(),
            retired: Vec::new(),
            dropped: Vec::new(),
            notices,
        }
    }
}

/// A session compared with the lesson that was stored for it before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LessonState {
    /// The session was never learned before.
    New,
    /// The session has continued, or its validation has changed, since it was learned.
    Grown,
    /// Nothing has changed since it was learned; nothing was written.
    Unchanged,
}

/// A memory that a session created, updated or confirmed.
#[derive(Clone, Debug)]
pub struct LearnedMemory {
    /// `None` for a synthesis: all sessions of a module show it, none alone.
    pub signal: Option<SignalKind>,
    pub memory: Memory,
    pub effect: LessonEffect,
}

/// The effect of a session on a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LessonEffect {
    Created,
    /// The memory of the same pattern got a new text.
    Updated,
    /// An existing memory says the same; this session became further evidence for it.
    Confirmed,
    /// A candidate became a live memory.
    Promoted,
    /// The memory replaces one that it contradicts.
    Superseded(MemoryId),
}

/// A candidate that did not become a memory.
#[derive(Clone, Debug)]
pub struct DroppedCandidate {
    pub signal: SignalKind,
    /// The stored form of its pattern key.
    pub key: String,
    /// The draft; `None` if too little evidence exists to compose one.
    pub content: Option<String>,
    pub reason: DropReason,
    pub detail: String,
}

/// The strictness with which candidates are judged in a project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JudgingStrictness {
    /// Memories learned by observation.
    pub n_learned: u32,
    /// Those of them that the user rejected.
    pub n_rejected: u32,
    /// Per mille by which thresholds are raised. Falls back to zero once rejected memories are
    /// restored or outnumbered.
    pub tightening: u16,
}

/// A learned session in brief.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSummary {
    pub id: SessionId,
    pub parent: Option<SessionId>,
    pub agent: String,
    pub kind: SessionType,
    pub outcome: SessionOutcome,
    /// `None` while nothing validates the session's work.
    pub validation_basis: Option<ValidationBasis>,
    pub task: String,
    pub started: Timestamp,
    pub ended: Timestamp,
    pub steps: u32,
    pub tokens: u64,
    pub retries: u32,
    /// The first external source that the session read, if any.
    pub external: Option<String>,
    /// The number of steps that the host announced.
    pub planned_steps: Option<u32>,
}

impl From<SessionRow> for SessionSummary {
    fn from(row: SessionRow) -> Self {
        Self {
            id: row.id,
            parent: row.parent,
            agent: row.agent,
            kind: row.kind,
            outcome: row.outcome,
            validation_basis: row.validation_basis,
            task: row.task,
            started: row.started,
            ended: row.ended,
            steps: row.steps,
            tokens: row.tokens,
            retries: row.retries,
            external: row.external,
            planned_steps: row.planned_steps,
        }
    }
}

/// A file that a session read or edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionFile {
    pub path: ProjectPath,
    pub reads: u32,
    pub edits: u32,
    pub first_step: u32,
}

impl From<TouchedFileRow> for SessionFile {
    fn from(row: TouchedFileRow) -> Self {
        let TouchedFileRow { path, reads, edits, first_step } = row;
        Self { path, reads, edits, first_step }
    }
}
