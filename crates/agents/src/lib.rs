//! The dialects of agent hosts: transcripts and hook messages become our events.
//!
//! Pure and synchronous: bytes and rows come in as values, events and counts go out. What is damaged is
//! skipped and counted, what is unknown is ignored; nothing here fails. It knows no memory and draws no
//! conclusion: what an event means is a fold, in `observe`.

mod cut;
mod document;
mod mend;
mod time;

mod answer;
mod args;
mod log;
mod name;
mod notes;
mod patch;
mod path;

mod dialect;
mod reader;

mod heard;
mod host;
mod rules;
mod spans;

mod aider;
mod claude_code;
mod codex;
mod copilot;
mod gemini;
mod journal;
mod moatless;
mod opencode;
mod specstory;
mod swe_agent;

pub use cut::{Cutter, MAX_STRING};
pub use dialect::{Dialect, Form, recognise};
pub use heard::{Heard, Moment, with_event};
pub use host::{
    Base, FilePlace, HOSTS, Host, Kept, OurHook, Plugin, SettingsFile, Setup, Speech, Trust, Unfit,
    Version, host, is_our_name, left, read_version,
};
pub use log::{Counts, session_id};
pub use opencode::{MessageRow, PartRow, RowReader, SessionRow};
pub use path::Root;
pub use reader::{Origin, Reader};
pub use rules::{RULE_FILES, RuleFile, Statement, is_read, rule_file, statements};
pub use time::parse_time;

// The targets of the fuzzer name this room by its name.
#[cfg(test)]
extern crate self as agents;
#[cfg(test)]
mod fuzzed;
#[cfg(test)]
mod tests;
