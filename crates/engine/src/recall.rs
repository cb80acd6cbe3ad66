//! Recall: the one pipeline behind everything that reads memory. What thinks is in the room `recall`;
//! here candidates are read, models are asked and the parts are put together.

mod ask;
mod asked;
mod book;
mod embed;
mod hunt;
mod index;
mod near;
mod search;
mod text;
mod weigh;

mod assemble;
mod at_hand;
mod attend;
mod by_file;
mod context;
mod excerpt;
mod fate;
mod likeness;
mod pipeline;
mod recorded;
mod step;
mod tell;
mod verify;

mod reply;

pub use ask::{Answer, Because, Hit, PassedOver, Question};
pub use attend::{Telling, by_shell};
pub(crate) use book::Shared;
pub(crate) use by_file::Branches;
pub use by_file::Warned;
pub use context::{Context, Occasion, Omitted, Placement};
pub use embed::{Coverage, Embedded};
pub use pipeline::{RecipeFound, StopLimit};
pub use reply::{Prose, Reply};
pub use step::{StepAsked, StepContext, StepOffer};
pub(crate) use tell::read_group;
