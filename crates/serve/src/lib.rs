//! The daemon: one process per person that keeps projects open, answers hooks and programs over a
//! socket, journals what sessions tell, and works in the background.
//!
//! The only wire. Knows no SQL and decides nothing by itself: `engine` does both. The clock, the settings
//! and the way to open a project come from the command line.

mod os;

mod address;
mod error;
mod version;
pub mod wire;

pub mod client;

mod project;
mod sitting;

mod background;

mod answer;
mod connection;
mod daemon;
mod run;

pub use address::Address;
pub use error::Error;
pub use os::leave_host;
pub use project::{Open, Resolve, Resolved};
pub use run::{Config, Ended, run, run_stdio};
pub use version::is_newer;
