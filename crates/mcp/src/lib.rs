//! Server for the Model Context Protocol, over stdio or loopback HTTP.
//!
//! A *client* is a program that runs an agent; its model sees the tools listed here and calls them. The
//! server answers the handshake and the lists (of tools, resources and prompts) from tables; the first
//! call that needs the project opens it. Knows no SQL and no ranking.
//!
//! Texts of memories leave this crate only as *framed notes*: lines inside a tagged block whose header
//! states that they are data and not instructions, and which no note can close.
//!
//! The way of a tool call: a transport (`line_transport` or `http`) reads a message; the `rmcp` library
//! parses it and calls `server`, which locks the project (`project_slot`) and runs a row of `tools`.

mod http;
mod instructions;
mod line_transport;
mod project_slot;
mod prompts;
mod resources;
mod server;
mod tools;

pub use http::{HttpConfig, HttpServeError, serve_http};
pub use line_transport::{LineReader, LineWriter, serve_lines};
pub use project_slot::{BorrowedProject, Config, OpenFuture, OpenedProject, ProjectOpener};
pub use tools::{McpToolRow, schema_tokens, tool_rows};
