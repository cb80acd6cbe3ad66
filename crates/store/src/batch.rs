//! What is asked of a store in one go, and what became of it.

use model::{Actor, Hlc, Memory, MemoryId, Timestamp, closed};

use crate::lessons::{Lesson, Milestone};

closed! {
    /// What a batch did, in the words of the audit trail.
    pub enum Action : "action" {
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

impl Action {
    /// Whether `undo` without a name takes it back: what somebody did and may want back. Undoing is
    /// itself not undone, so that asking again goes one step further back.
    #[rustfmt::skip]
    pub const fn undoable(self) -> bool {
        match self {
            Self::Remember | Self::Merge | Self::Supersede | Self::Edit | Self::Pin | Self::Flag
            | Self::Verify | Self::Forget | Self::Restore | Self::Import => true,
            Self::Undo | Self::Promote | Self::Prune | Self::Settings | Self::Erase => false,
        }
    }

    /// Whether the undo of one memory takes it back: upkeep, too, is taken back memory by memory.
    pub const fn undoable_of_one(self) -> bool {
        self.undoable() || matches!(self, Self::Promote | Self::Prune)
    }
}

/// Changes that are saved together or not at all.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The caller's idempotency key: a second batch with the same key changes nothing.
    pub key: Option<String>,
    pub action: Action,
    pub actor: Actor,
    /// What the audit trail says beside the action; never content.
    pub detail: Option<String>,
    pub now: Timestamp,
    /// What the batch comes after, beside what is in its own store: the clock of another notebook.
    pub after: Hlc,
    pub changes: Vec<Change>,
}

/// One change. Versions and clocks are stamped here, not by the caller.
#[derive(Clone, Debug)]
pub enum Change {
    Insert(Box<Memory>),
    /// `memory.version` is the version the caller saw; a newer one in the store is a conflict.
    Replace(Box<Memory>),
    /// The memory was injected (`used: false`) or shown to have been used.
    Count {
        id: MemoryId,
        used: bool,
    },
    Setting {
        key: String,
        value: Option<String>,
    },
    /// The batch this one takes back.
    Undoes(i64),
    /// What a session left behind beside memories.
    Learn(Box<Lesson>),
    /// It need not be done again.
    Pass(Milestone),
    /// What spoke for one memory speaks for another that says the same.
    Relink {
        from: MemoryId,
        to: MemoryId,
    },
}

/// What became of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    pub batch: i64,
    /// The memories it inserted or replaced, in order.
    pub ids: Vec<MemoryId>,
    /// A batch with the same key had been applied before; nothing happened now.
    pub repeated: bool,
}
