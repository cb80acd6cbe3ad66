//! The code graph of the project: kept up to date, and asked.

mod ask;
mod follow;
mod history;
mod index;
mod keep;
mod live;
mod map;
mod plan;
mod refine;

pub(crate) use ask::Charted;
pub use ask::{Dependency, Freshness, Impact, Link, Mention, Route};
pub use follow::FollowedUp;
pub use history::HistoryRead;
pub use index::{CodeWatch, Indexed};
pub use live::Pass;
pub use map::{MapEdit, MappedModule, ModuleMap};
pub use refine::{Refined, read_index};
