//! Plain facts in the log: which files went together, what was searched again, which command was retried.
//!
//! A fact says what happened, once; whether it means something is a signal's business. Only calls
//! that succeeded count as touching a file.

mod commands;
mod searches;
mod touches;

pub use commands::{Retry, fail_then_pass, repeated_commands, retries};
pub use searches::{misses, refined, repeated_searches};
pub use touches::{
    FileUse, churned, co_accessed, co_edited, file_uses, read_abandoned, read_then_edited, reread,
    reread_after_compaction, undone,
};
