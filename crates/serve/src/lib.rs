//! The daemon: one process per user that keeps projects open, answers hooks and clients over a
//! socket, journals events, and runs background jobs.
//!
//! Owns the wire protocol. Knows no SQL and makes no decisions: `engine` does both. The clock, the
//! settings and the function that opens projects come from `cli`.
//!
//! A *host* is the program that runs an agent, for example Claude Code. At each event of a session it
//! starts a *hook*, the short process `waylore hook`, which passes the event on to the daemon. The
//! *journal* of a session is the file to which the daemon appends its events; learning reads it later.
//!
//! The way of a hook event: `cli` sends it with [`client`]; `run` accepts the connection;
//! `connection` reads the line; [`wire`] parses it; `requests/hook` journals it and answers.

mod mutex;
mod os;

mod address;
mod error;
mod version;
pub mod wire;

pub mod client;

mod live_session;
mod open_projects;

mod background_worker;
mod project_pool;

mod command_service;

mod connection;
mod daemon;
mod requests;
mod run;

pub use address::DaemonAddress;
pub use command_service::{CommandCall, CommandService, LocalFuture, McpCall, McpConnection};
pub use error::Error;
pub use open_projects::{OpenProjectFn, ResolvePolicyFn};
pub use os::detach_from_host;
pub use project_pool::{LentProject, ProjectPool};
pub use run::{Config, DaemonExit, run, run_stdio};
pub use version::is_newer;
