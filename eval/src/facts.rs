//! Facts that the labels of the data name and the product does not use: files reread, searches refined,
//! commands retried.
//!
//! The scratchpad is the log of one session. A fact is an observation in it without a judgement: "`a.rs` was
//! read three times". The labels (`signals.rs`) are scored by these functions, so their score measures how
//! faithful the scratchpad is, not what the product learns.

mod commands;
mod file_touches;
mod searches;

pub(crate) use commands::{fail_then_pass, find_retries, repeated_commands};
pub(crate) use file_touches::{
    churned_files, files_with_reverted_edits, read_abandoned, read_then_edited,
    reread_after_compaction, reread_files,
};
pub(crate) use searches::{missed_searches, refined_searches, repeated_searches};
