//! Calls and file touches as the scratchpad stores them.
//!
//! The scratchpad is the folded state of one session, which can have hundreds of thousands of calls. So both types
//! are small and `Copy`: strings are interned (a number stands for the text, see `strings.rs`), and the files
//! of a call are a range of [`Scratchpad::touches`](super::Scratchpad). Example: `cat a.rs b.rs` is one call
//! with two touches.

use model::{Timestamp, ToolKind};

use crate::strings::StringId;

/// A tool call as the scratchpad stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedCall {
    /// The time of the call, not of its result.
    pub at: Timestamp,
    /// Its position among all events of the session; its *number* is its index in `Scratchpad::calls`.
    pub order: u32,
    /// The normalised command line of a shell call.
    pub command: Option<StringId>,
    /// The query of a search, or the pattern of a list.
    pub query: Option<StringId>,
    /// The file of a search whose matches are all in one file.
    pub only_hit: Option<StringId>,
    /// The matches of a search, if its result tells them.
    pub n_matches: Option<u32>,
    /// 0 until the result is seen, or if it is unknown.
    pub took_ms: u32,
    pub output_bytes: u32,
    /// Its touches are `touches[first_touch..first_touch + n_touches]` of the scratchpad.
    pub first_touch: u32,
    pub n_touches: u16,
    pub tool: ToolKind,
    pub state: CallState,
    pub effects: CallEffects,
    pub in_plan_mode: bool,
    /// The command exited with success, but its output reports failed tests or checks: a pipe that
    /// shortens the output also hides the exit code.
    pub has_hidden_failure: bool,
    /// A test or check that exited with success without running anything: it has neither succeeded nor
    /// failed.
    pub is_empty_run: bool,
}

impl LoggedCall {
    /// Returns whether the call succeeded, did something, and its output does not report a failure.
    pub fn has_succeeded(&self) -> bool {
        self.state == CallState::Ok && !self.has_hidden_failure && !self.is_empty_run
    }

    /// Returns whether the call failed, openly or behind a pipe. A refused or unanswered call did not.
    pub fn has_failed(&self) -> bool {
        self.state == CallState::Failed || self.has_hidden_failure
    }
}

/// State of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallState {
    /// Its result has not been seen.
    Pending,
    Ok,
    Failed,
    /// The user refused it.
    Rejected,
}

/// Effects of a call apart from touched files, as bits: one command line can have several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallEffects(pub u8);

impl CallEffects {
    /// `cargo test`
    pub const RUNS_TEST: u8 = 1;
    /// `cargo clippy`
    pub const RUNS_CHECK: u8 = 2;
    /// `git commit`
    pub const MAKES_COMMIT: u8 = 4;
    /// `gh pr view`
    pub const READS_REVIEW: u8 = 8;
    /// `curl https://example.com`
    pub const FETCHES_WEB: u8 = 16;
    /// `git restore a.rs`
    pub const RESTORES_FILES: u8 = 32;
    /// `rg verify`
    pub const RUNS_SEARCH: u8 = 64;
    /// `ls src`
    pub const LISTS_FILES: u8 = 128;

    /// Returns whether one of the effects in `bits` is set.
    pub const fn has_any(self, bits: u8) -> bool {
        self.0 & bits != 0
    }
}

/// One file that a call read or wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedTouch {
    /// The number of the call: its index in `Scratchpad::calls`.
    pub call: u32,
    pub file: StringId,
    pub is_write: bool,
}
