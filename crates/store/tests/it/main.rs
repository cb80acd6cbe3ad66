//! The store on real files: one binary, one module per promise.
#![expect(clippy::unwrap_used, reason = "a test stops at the first thing it did not expect")]

mod kit;

mod backup;
mod clock;
mod crowd;
mod damage;
mod erase;
mod filters;
mod interrupted;
mod lessons;
mod mending;
mod notebook;
mod opencode;
mod processes;
mod recalling;
mod removing;
mod schema;

#[cfg(unix)]
mod private;

#[cfg(feature = "encryption")]
mod encryption;
#[cfg(feature = "replay")]
mod plans;
#[cfg(feature = "replay")]
mod server;
#[cfg(not(feature = "encryption"))]
mod unencrypted;
#[cfg(feature = "replay")]
mod worker;
