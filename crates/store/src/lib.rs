//! The only room that knows SQL: memories in libSQL files, with everything that keeps them safe.
//!
//! Async on the outside, owned threads inside. Knows no scores, no clock, no environment: `now`
//! and the data folder come from the caller. What it hands out are the model's plain structs.

mod error;
mod os;

mod layout;
mod lock;
mod mark;

mod key;
mod occurrences;
mod opencode;
mod query;
mod row;
mod schema;
mod shown;
mod stamp;

mod apply;
mod batch;
mod filter;
mod history;
mod inbox;
mod journal;
mod lessons;
mod lookups;
mod matches;
mod memories;
mod outline;
mod projects;
mod settings;
mod vectors;

mod check;
mod connection;
mod site;

mod backup;
mod convert;
mod erase;
mod maintain;
mod proof;
mod remove;
mod restore;
mod scrub;

mod desk;
mod graph;
mod store;
mod witness;
mod worker;

#[cfg(feature = "replay")]
pub mod tape;

pub use backup::{Backup, Contents, KEPT};
pub use batch::{Action, Applied, Batch, Change};
pub use check::Finding;
pub use error::Error;
pub use filter::Filter;
pub use graph::{
    GraphBatch, GraphBody, GraphFile, GraphPassed, GraphStamp, GraphStore, GraphTurn, MapRows,
    NameRow, NearRow, PastBatch, PastRow, TiesRow, remove_graph,
};
pub use history::{Entry, Step};
pub use inbox::Inbox;
pub use key::{AVAILABLE as ENCRYPTION_AVAILABLE, Key};
pub use layout::{DataDir, Home};
pub use lessons::{
    Lesson, Milestone, SessionRow, SightingRow, StumbleRow, TouchedRow, TouchedWith,
};
pub use matches::{Holders, Lookup, Quiet, Subjects, WARNING_KINDS, Warnings};
pub use memories::{Tally, TextHit};
pub use opencode::{HostRow, HostSession, host_log, host_sessions};
pub use os::{open_to_others, read_in_use, survive_file_size_limit, write_private};
pub use outline::{News, Outline, Position};
pub use projects::PlaceRow;
pub use row::DamagedRow;
pub use shown::ShownLog;
pub use store::{Size, Store};
pub use vectors::{Code, Embedding, Part, Vectors};
