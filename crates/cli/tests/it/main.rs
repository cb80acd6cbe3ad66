//! The promises of the command line, kept by the real binary on real files: one module per promise.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be made is a failed test")]

mod chat;
mod kit;
mod server;

#[cfg(unix)]
mod at_hand;
mod beginning;
mod carry;
mod claude;
mod clock;
mod code;
mod codex;
mod conformance;
mod connecting;
mod context;
mod copilot;
mod crowd;
#[cfg(unix)]
mod daemon;
mod damage;
mod disk;
mod encryption;
mod erase;
mod faults;
mod gemini;
mod hooks;
mod hostile;
mod identity;
mod indexing;
mod kill;
mod learning;
mod manners;
mod map;
mod mcp;
mod notebook;
mod open;
mod opencode;
mod pipelines;
mod precise;
#[cfg(unix)]
mod protocol;
mod providers;
#[cfg(unix)]
mod safety;
mod settings;
mod watching;
mod wire;
