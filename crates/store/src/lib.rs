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
mod query;
mod row;
mod schema;

mod apply;
mod history;
mod memories;
mod projects;
mod settings;
mod vectors;

mod backup;
mod check;
mod connection;
mod erase;
mod maintain;

mod store;
mod worker;

#[cfg(feature = "replay")]
pub mod tape;

pub use apply::{Action, Applied, Batch, Change};
pub use backup::{Backup, Contents, KEPT};
pub use check::Finding;
pub use error::Error;
pub use history::{Entry, Step};
pub use key::{AVAILABLE as ENCRYPTION_AVAILABLE, Key};
pub use layout::{DataDir, Home};
pub use memories::{Filter, Tally, TextHit};
pub use os::survive_file_size_limit;
pub use projects::PlaceRow;
pub use row::DamagedRow;
pub use store::{Size, Store};
pub use vectors::Vector;
