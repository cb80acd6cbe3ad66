//! Batches of changes, and the result of applying one. The engine builds them; `apply_batch` runs
//! them.

use model::{Actor, HybridTimestamp, Memory, MemoryId, Timestamp, closed};

use crate::learning::{Milestone, SessionLesson, SightingRow};

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// Kind of a batch in the audit trail.
    pub enum AuditAction : "action" {
        Remember = "remember",
        Merge = "merge",
        Supersede = "supersede",
        Edit = "edit",
        Pin = "pin",
        Flag = "flag",
        Verify = "verify",
        Forget = "forget",
        Restore = "restore",
        Undo = "undo",
        Import = "import",
        Promote = "promote",
        Prune = "prune",
        Settings = "settings",
        Erase = "erase",
    }
}

impl AuditAction {
    /// Returns whether `undo` without an id takes it back. An undo is not undone itself, so that
    /// repeating it goes one step further back.
    #[rustfmt::skip]
    pub const fn is_undoable(self) -> bool {
        match self {
            Self::Remember | Self::Merge | Self::Supersede | Self::Edit | Self::Pin | Self::Flag
            | Self::Verify | Self::Forget | Self::Restore | Self::Import => true,
            Self::Undo | Self::Promote | Self::Prune | Self::Settings | Self::Erase => false,
        }
    }

    /// Returns whether the undo of one memory takes it back: maintenance can be undone memory by
    /// memory.
    pub const fn is_undoable_for_memory(self) -> bool {
        self.is_undoable() || matches!(self, Self::Promote | Self::Prune)
    }
}

/// Changes that are applied together or not at all.
#[derive(Clone, Debug)]
pub struct WriteBatch {
    /// Idempotency key of the caller: a second batch with the same key changes nothing.
    pub key: Option<String>,
    pub action: AuditAction,
    pub actor: Actor,
    /// Detail for the audit trail; never content.
    pub detail: Option<String>,
    pub now: Timestamp,
    /// Clock reading of another store that the batch must come after.
    pub after_clock: HybridTimestamp,
    pub changes: Vec<StoreChange>,
}

/// One change. The store assigns versions and clock readings, not the caller.
#[derive(Clone, Debug)]
pub enum StoreChange {
    Insert(Box<Memory>),
    /// `memory.version` is the version the caller saw; a newer one in the store is a conflict.
    Replace(Box<Memory>),
    /// A session acted on the memory.
    CountUse {
        id: MemoryId,
    },
    /// Sets a setting, or deletes it if there is no value.
    Setting {
        key: String,
        value: Option<String>,
    },
    /// Marks an earlier batch, by its number, as undone by this one.
    MarkUndone(i64),
    /// Stores what a session adds beside memories.
    PutLesson(Box<SessionLesson>),
    /// Adds sightings to those of a learned session. Unlike those of a lesson, they stay if the session is
    /// learned again.
    AddSightings(Vec<SightingRow>),
    /// Records a milestone, so that it is not announced again.
    PassMilestone(Milestone),
    /// Moves the evidence of one memory to another with the same meaning.
    MoveEvidence {
        from: MemoryId,
        to: MemoryId,
    },
}

/// Result of applying a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedBatch {
    /// Number of the batch in the audit trail.
    pub batch: i64,
    /// Memories that the batch inserted or replaced, in order.
    pub ids: Vec<MemoryId>,
    /// A batch with the same key had been applied before; nothing was changed now.
    pub is_repeat: bool,
}
