//! Recall: from candidates to what an agent is shown, ranked, packed and explained.
//!
//! Pure and synchronous. Codes and items come in as values; the room embeds nothing, reads no
//! database and no clock.

mod class;
mod purpose;
mod stage;

pub mod boost;
mod codes;
mod nearest;
mod slots;

mod closeness;
pub mod dates;
mod dot;
mod exact;
mod fuse;
mod lately;
mod lie;
pub mod neighbours;
mod rank;
mod score;
mod verdict;

pub mod decide;
pub mod frame;
mod pack;
pub mod phase;
pub mod pipeline;
mod silence;
pub mod stale;
mod tokens;

mod kmeans;
mod lists;
mod simd;

pub use class::{Class, Weights, classify};
pub use closeness::{Match, Terms, best, rarest};
pub use codes::{CodeError, Codes, StalePlan};
pub use dot::dot;
pub use exact::reorder;
pub use fuse::{Found, Fused, Path, Paths, Rule, Trace, fuse, place_by_best};
pub use lie::{Bearing, FEW_VECTORS, Lie, Prior};
pub use lists::Plan;
pub use nearest::{Near, nearest};
pub use pack::{Brief, Item, Packed, PaidBy, Placed, Unpacked, pack};
pub use pipeline::Pipeline;
pub use purpose::{Purpose, PurposeRow};
pub use rank::{Candidate, LeftOut, Ranked, rank};
pub use score::{Factors, Standing, Volatility};
pub use silence::Silence;
pub use slots::{MAX_SLOTS, Slots};
pub use stage::{Stage, Without};
pub use tokens::tokens;
pub use verdict::{Evidence, Nearness, Verdict, judge};
