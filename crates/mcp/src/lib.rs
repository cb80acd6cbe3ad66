//! Server for the Model Context Protocol, over stdio or loopback HTTP.
//!
//! The handshake and the lists are answered from tables; the first call that needs the project opens
//! it. Knows no SQL and no ranking. Texts of memories leave this crate only as framed notes.

mod engine_slot;
mod http;
mod instructions;
mod line_transport;
mod prompts;
mod resources;
mod server;
mod tools;

pub use engine_slot::{Config, OpenFuture, ProjectOpener};
pub use http::{HttpConfig, HttpServeError, serve_http};
pub use line_transport::{LineReader, LineWriter, serve_lines};
pub use tools::{McpToolRow, schema_tokens, tool_rows};
