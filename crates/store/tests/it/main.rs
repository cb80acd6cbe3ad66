//! Tests of the store on real files: one binary, one module per promise.
#![expect(clippy::unwrap_used, reason = "a test stops at the first thing it did not expect")]

mod kit;

mod backup;
mod clock;
mod concurrency;
mod damage;
mod data_removal;
mod erase;
mod filters;
mod index_data;
mod index_snapshot;
mod injections;
mod interrupted;
mod learning;
mod opencode;
mod processes;
mod repair;
mod saving;
mod schema;

#[cfg(unix)]
mod file_modes;

#[cfg(feature = "encryption")]
mod encryption;
#[cfg(feature = "replay")]
mod query_plans;
#[cfg(feature = "replay")]
mod server;
mod similar;
#[cfg(not(feature = "encryption"))]
mod unencrypted;
#[cfg(feature = "replay")]
mod worker_threads;
