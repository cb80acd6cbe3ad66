//! The memory: one validated conclusion about a project or a user's way of working, with its evidence and
//! its state. This is the record that the store keeps and every other crate passes around.
//!
//! To *inject* a memory is to add it to the context of an agent without a request. *External content* is text
//! from outside the project, such as a web page; a memory derived from it is tainted.

use serde::{Deserialize, Serialize};

use crate::{
    Actor, Deprecation, HybridTimestamp, MemoryId, MemoryScope, MemorySource, MemoryType, Payload,
    PerMille, ProjectId, ProjectPath, Relation, SessionId, Timestamp, Visibility, closed,
};

/// One memory as the store keeps it.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    pub id: MemoryId,
    /// `None` if it belongs to the user and applies to all of their projects.
    pub project: Option<ProjectId>,
    pub kind: MemoryType,
    pub source: MemorySource,
    pub scope: MemoryScope,
    pub visibility: Visibility,
    /// The whole text; searched.
    pub content: String,
    /// The short form that is injected.
    pub summary: String,
    /// The first words, at most [`crate::MAX_CITATION`] characters, by which a text refers to it.
    pub citation: String,
    /// Confidence when last changed; [`crate::current_confidence`] applies decay.
    pub confidence: PerMille,
    pub tags: Vec<String>,
    pub files: Vec<ProjectPath>,
    pub modules: Vec<String>,
    pub anchors: Vec<SymbolAnchor>,
    pub work_unit: Option<WorkUnit>,
    /// The session that it was learned or recorded in.
    pub session: Option<SessionId>,
    /// Sessions that confirmed it.
    pub provenance: Vec<SessionId>,
    /// The git commit and branch at the time.
    pub commit: Option<String>,
    pub branch: Option<String>,
    pub relations: Vec<Relation>,
    /// Overrides the half-life of the type.
    pub half_life_days: Option<u32>,
    pub flags: MemoryFlags,
    pub states: SoftStates,
    pub payload: Option<Payload>,
    pub created_by: Actor,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Incremented by every change, for optimistic concurrency.
    pub version: u32,
    /// Orders changes of the same memory on several devices.
    pub hlc: HybridTimestamp,
    pub counters: UsageCounters,
}

/// Flags that decide whether a memory may be injected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent flags, each stored and tested by itself"
)]
pub struct MemoryFlags {
    /// The user has not confirmed it yet.
    pub needs_review: bool,
    /// The user stated or confirmed it.
    pub user_verified: bool,
    /// Never decays.
    pub pinned: bool,
    /// Derived from external content; never injected until the user approves it.
    pub tainted: bool,
    /// A claim that is not sure: never told to an agent until the user, a second session or a model
    /// confirms it. Unlike `needs_review`, use does not clear it and time drops it.
    pub candidate: bool,
}

/// States that can be undone, each with the time at which it began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SoftStates {
    pub deprecated_at: Option<Timestamp>,
    pub deprecated_reason: Option<String>,
    /// The cited code changed or was removed.
    pub stale_at: Option<Timestamp>,
    pub deleted_at: Option<Timestamp>,
}

impl SoftStates {
    /// Deprecates the memory and records the reason.
    pub fn deprecate(&mut self, reason: &Deprecation, at: Timestamp) {
        self.deprecated_at = Some(at);
        self.deprecated_reason = Some(reason.to_string());
    }

    /// The reason why the memory is deprecated, if it is.
    pub fn deprecation(&self) -> Option<Deprecation> {
        // The time decides whether it is deprecated; the reason may be missing in old rows.
        self.deprecated_at?;
        Some(Deprecation::parse(self.deprecated_reason.as_deref().unwrap_or_default()))
    }
}

/// Usage counters. They change without creating a new version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsageCounters {
    /// Times it was shown.
    pub access_count: u64,
    /// Times an agent cited or followed it.
    pub used_count: u64,
    pub last_accessed_at: Option<Timestamp>,
    pub last_used_at: Option<Timestamp>,
}

/// A symbol that the memory refers to, with a hash of its code at that time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SymbolAnchor {
    pub file: ProjectPath,
    pub symbol: String,
    /// Hash of the symbol's syntax tree when the memory was made.
    pub hash: String,
}

/// The unit of planned work that a memory came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkUnit {
    /// Slug of the [`crate::Methodology`].
    pub methodology: String,
    /// Ids of the unit, outermost first: `spec_042`, `subtask_3`.
    pub hierarchy: Vec<String>,
    /// The same for people: `Spec 042 / Subtask 3`.
    pub label: String,
}

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// State of a memory; the first that applies, in this order.
    pub enum MemoryStatus : "status" {
        /// Forgotten, restorable for 30 days.
        Deleted = "deleted",
        /// Wrong or outdated; kept for the record.
        Deprecated = "deprecated",
        /// Derived from external content; needs approval by the user. Unlike `needs_review`, use
        /// never clears it. Ranks before `stale`, so that unapproved text never looks merely outdated.
        Tainted = "tainted",
        /// A claim that is not sure yet; shown in `waylore review`, never told to an agent.
        Candidate = "candidate",
        /// The cited code changed or was removed.
        Stale = "stale",
        /// Used, but the user has not confirmed it yet.
        NeedsReview = "needs_review",
        /// None of the others.
        Live = "live",
    }
}

impl Memory {
    /// The status, tested in the order of [`MemoryStatus`].
    pub const fn status(&self) -> MemoryStatus {
        if self.states.deleted_at.is_some() {
            MemoryStatus::Deleted
        } else if self.states.deprecated_at.is_some() {
            MemoryStatus::Deprecated
        } else if self.flags.candidate {
            // Also if it is tainted: a guess waits apart from what was recorded or checked.
            MemoryStatus::Candidate
        } else if self.flags.tainted {
            MemoryStatus::Tainted
        } else if self.states.stale_at.is_some() {
            MemoryStatus::Stale
        } else if self.flags.needs_review {
            MemoryStatus::NeedsReview
        } else {
            MemoryStatus::Live
        }
    }

    /// Start of decay: the later of last use and last change, so that a memory that was just
    /// confirmed counts as fresh.
    pub fn last_touched(&self) -> Timestamp {
        self.counters.last_used_at.map_or(self.updated_at, |it| it.max(self.updated_at))
    }
}
