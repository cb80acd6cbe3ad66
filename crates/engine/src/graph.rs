//! The code graph of the project: kept up to date, and asked.

mod ask;
mod index;
mod keep;

pub use ask::{Dependency, Freshness, Impact, Link, Mention, Route};
pub use index::Indexed;
