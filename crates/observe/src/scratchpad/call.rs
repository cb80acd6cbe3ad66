//! One call in few bytes.

use model::{Timestamp, ToolKind};

use crate::names::Name;

/// A call as the log keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    pub at: Timestamp,
    /// Its place among all events of the session.
    pub order: u32,
    /// The command line, for a shell.
    pub command: Option<Name>,
    /// What is looked for.
    pub query: Option<Name>,
    /// The first file a search found.
    pub hit: Option<Name>,
    pub matches: Option<u32>,
    pub took_ms: u32,
    /// Bytes of the answer.
    pub size: u32,
    pub first_touch: u32,
    pub n_touches: u16,
    pub tool: ToolKind,
    pub state: State,
    pub does: Does,
    pub planning: bool,
    /// The output says that tests or checks failed, though the command succeeded: a pipe that shortens
    /// the output also hides the exit code.
    pub hidden: bool,
}

impl Call {
    /// Succeeded, and its output does not say otherwise.
    pub fn is_good(&self) -> bool {
        self.state == State::Ok && !self.hidden
    }

    pub fn is_bad(&self) -> bool {
        self.state == State::Failed || self.hidden
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Pending,
    Ok,
    Failed,
    /// A person refused it.
    Rejected,
}

/// What a call did beside touching files, as bits: one command line does several things.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Does(pub u8);

impl Does {
    pub const TEST: u8 = 1;
    pub const CHECK: u8 = 2;
    pub const COMMIT: u8 = 4;
    pub const REVIEW: u8 = 8;
    pub const FETCH: u8 = 16;
    pub const RESTORE: u8 = 32;
    pub const SEARCH: u8 = 64;
    pub const LIST: u8 = 128;

    pub const fn any(self, bits: u8) -> bool {
        self.0 & bits != 0
    }
}

/// One file that a call read or wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    pub call: u32,
    pub file: Name,
    pub writes: bool,
}
