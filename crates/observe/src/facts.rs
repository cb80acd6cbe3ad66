//! Facts in the scratchpad: how each file was used, and which were touched or edited together.
//!
//! The scratchpad is the log of one session. A fact is an observation in it without a judgement: "`a.rs` was
//! read three times". The signal detectors build on them. A file counts as touched only by calls that
//! succeeded.

mod file_touches;

pub use file_touches::{FileUse, co_accessed, co_edited, file_uses};
