//! Facts in the scratchpad: files that were touched together, repeated searches, retried commands.
//!
//! The scratchpad is the log of one session. A fact is an observation in it without a judgement: "`a.rs` was
//! read three times". The signal detectors build on some of them; the others are only counted by the
//! evaluation (`eval/src/signals.rs`). A file counts as touched only by calls that succeeded.

mod commands;
mod file_touches;
mod searches;

pub use commands::{CommandRetry, fail_then_pass, find_retries, repeated_commands};
pub use file_touches::{
    FileUse, churned_files, co_accessed, co_edited, file_uses, files_with_reverted_edits,
    read_abandoned, read_then_edited, reread_after_compaction, reread_files,
};
pub use searches::{missed_searches, refined_searches, repeated_searches};
