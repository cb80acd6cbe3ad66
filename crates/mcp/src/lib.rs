//! The Model Context Protocol: what an agent can ask for by itself, over stdio or loopback HTTP.
//!
//! Answers the handshake and the lists from tables; the engine is opened by the first call that needs
//! it. Knows no SQL and no ranking. Texts of memories leave this room only as framed notes.

mod desk;
mod guide;
mod http;
mod lines;
mod prompts;
mod resources;
mod server;
mod tools;

pub use desk::{Config, Opener, Opening};
pub use http::{HttpConfig, NotServed, serve_http};
pub use lines::{Incoming, Outgoing, serve_lines};
pub use tools::{ToolRow, schema_tokens, tool_rows};
