//! End-to-end tests of the command line: the real binary on real files, in a temporary home folder.
//!
//! One module per capability. Three modules are support code: `sandbox` runs the binary,
//! `http_server` plays an HTTP service, and `chat_model` plays a language model for agent hosts.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be created fails the test")]

mod candidates;
mod chat_model;
mod http_server;
mod sandbox;

mod agent_shell;
mod asking;
mod claude;
mod clock;
mod code_graph;
mod codex;
mod concurrency;
mod conformance;
mod connect;
mod context;
mod copilot;
#[cfg(unix)]
mod daemon;
mod damage;
mod demo;
mod disk;
mod edit_notes;
mod encryption;
mod export_import;
mod gemini;
#[cfg(unix)]
mod handover;
#[cfg(unix)]
mod hanging_daemon;
#[cfg(unix)]
mod health;
mod hooks;
mod host_dialects;
mod hostile_input;
mod identity;
#[cfg(unix)]
mod impact;
mod indexing;
mod init;
mod injection_log;
mod kill;
mod large_notebook;
mod learning;
#[cfg(unix)]
mod live_session_bytes;
#[cfg(unix)]
mod manners;
mod map;
mod mcp;
#[cfg(unix)]
mod mcp_relay;
#[cfg(unix)]
mod missing_program;
mod notebook;
mod notes;
mod opencode;
mod people;
mod pipelines;
mod poisoning;
mod precise;
#[cfg(unix)]
mod protocol;
mod providers;
mod purge;
#[cfg(unix)]
mod records;
mod recurring_errors;
mod safety;
#[cfg(unix)]
mod session_files;
mod settings;
#[cfg(unix)]
mod story;
mod terminal;
mod watch;
mod wire;
mod write_faults;
