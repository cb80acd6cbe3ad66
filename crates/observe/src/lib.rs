//! Session events → scratchpad → signals → drafts of memories.
//!
//! Pure and synchronous: a fold over events and functions of its result. It knows no host by name, reads
//! no clock and no file, and fails at nothing: what is malformed is counted and left. It does not judge
//! whether a draft becomes a memory; that is `promote`'s.

mod names;

mod config;
mod fingerprint;
mod imports;
mod outlook;
pub mod said;
mod sentence;
pub mod shell;

mod journal;
mod scratchpad;

pub mod facts;

mod session;
mod sighting;
mod signal;

mod draft;
mod expected;
mod modules;
mod prefetch;
mod spared;
mod synthesis;
mod together;
mod used;

#[cfg(test)]
mod script;

pub use config::is_config;
pub use draft::{Draft, Seen, Support, draft};
pub use expected::{Expected, FEWEST as FEWEST_ALIKE, Foreseen, expected};
pub use fingerprint::{Failure, failure, is_generic, normalised};
pub use journal::{Folded, fold};
pub use modules::Modules;
pub use names::{Name, Names};
pub use outlook::{MAX_OUTLOOK, outlook};
pub use prefetch::{FromCommits, Past, PastSession, Task, prefetch};
pub use scratchpad::{
    Call, Does, FailureAt, Listing, MAX_CALLS, MAX_NOTES, Message, Remark, RemarkKind, Scratchpad,
    State, Stumble, Tokens, Touch, Trouble, Undone,
};
pub use sentence::{code_words, names_code, sentences};
pub use session::{FileRow, Session, session};
pub use sighting::{Evidence, Sighting, are_twins, is_test, module_of};
pub use signal::{parallel_conflicts, sightings, taken_back, urgency};
pub use spared::{avoided, ended_after};
pub use synthesis::{MILESTONES, MOST_INSIGHTS, Visit, about_module, about_pairs, modules_of};
pub use together::{Worked, worked};
pub use used::{cited, followed};
