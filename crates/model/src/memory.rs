//! The memory: one validated conclusion, with everything that says why it may be believed.

use serde::{Deserialize, Serialize};

use crate::{
    Actor, Hlc, MemoryId, MemoryType, Payload, PerMille, ProjectId, ProjectPath, Relation, Scope,
    SessionId, Source, Timestamp, Visibility, closed,
};

/// One memory as the store keeps it.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    pub id: MemoryId,
    /// `None`: it belongs to the user and follows them across projects.
    pub project: Option<ProjectId>,
    pub kind: MemoryType,
    pub source: Source,
    pub scope: Scope,
    pub visibility: Visibility,
    /// The whole text, kept for search.
    pub content: String,
    /// The compressed form that is injected.
    pub summary: String,
    /// At most 40 characters, for citation chips.
    pub citation: String,
    /// As stored; see [`crate::current_confidence`] for what it is worth now.
    pub confidence: PerMille,
    pub tags: Vec<String>,
    pub files: Vec<ProjectPath>,
    pub modules: Vec<String>,
    pub anchors: Vec<Anchor>,
    pub work_unit: Option<WorkUnit>,
    pub session: Option<SessionId>,
    /// Every session that confirmed it.
    pub provenance: Vec<SessionId>,
    pub commit: Option<String>,
    pub branch: Option<String>,
    pub relations: Vec<Relation>,
    /// Overrides the half-life of the type.
    pub half_life_days: Option<u32>,
    pub flags: Flags,
    pub states: SoftStates,
    pub payload: Option<Payload>,
    pub created_by: Actor,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Grows by one with every change: optimistic concurrency.
    pub version: u32,
    pub hlc: Hlc,
    pub counters: Counters,
}

/// What is known about how far a memory may be trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "four independent flags, each a column and a checkbox"
)]
pub struct Flags {
    pub needs_review: bool,
    pub user_verified: bool,
    /// Never decays.
    pub pinned: bool,
    /// Rests on external content: never injected until a person approves it.
    pub tainted: bool,
}

/// States that can be taken back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SoftStates {
    pub deprecated_at: Option<Timestamp>,
    pub deprecated_reason: Option<String>,
    pub stale_at: Option<Timestamp>,
    pub deleted_at: Option<Timestamp>,
}

/// Counts of use. Not part of the statement: they change without making a new version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub access_count: u64,
    pub used_count: u64,
    pub last_accessed_at: Option<Timestamp>,
    pub last_used_at: Option<Timestamp>,
}

/// A symbol the memory speaks of, and what its code looked like then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchor {
    pub file: ProjectPath,
    pub symbol: String,
    /// Hash of the symbol's syntax tree when the memory was made.
    pub hash: String,
}

/// The piece of planned work a memory came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkUnit {
    pub methodology: String,
    pub hierarchy: Vec<String>,
    pub label: String,
}

closed! {
    /// Where a memory stands; the first that applies, in this order.
    pub enum Status : "status" {
        /// Forgotten, restorable for 30 days.
        Deleted = "deleted",
        /// Said to be wrong or outdated; kept for the record.
        Deprecated = "deprecated",
        /// Rests on external content; waits for a person. Unlike `needs_review`, use never lifts it,
        /// and it comes before `stale`: what nobody approved is not to be taken for merely outdated.
        Tainted = "tainted",
        /// What it cites has changed or gone.
        Stale = "stale",
        NeedsReview = "needs_review",
        Live = "live",
    }
}

impl Memory {
    pub const fn status(&self) -> Status {
        if self.states.deleted_at.is_some() {
            Status::Deleted
        } else if self.states.deprecated_at.is_some() {
            Status::Deprecated
        } else if self.flags.tainted {
            Status::Tainted
        } else if self.states.stale_at.is_some() {
            Status::Stale
        } else if self.flags.needs_review {
            Status::NeedsReview
        } else {
            Status::Live
        }
    }

    /// The moment decay counts from: the last use or the last change, whichever came later. What was
    /// confirmed a moment ago is not faded, however long ago it was used.
    pub fn last_touched(&self) -> Timestamp {
        self.counters.last_used_at.map_or(self.updated_at, |it| it.max(self.updated_at))
    }
}
