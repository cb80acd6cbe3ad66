//! The formats of agent hosts: reads their transcripts and hook messages into our events, and edits
//! their settings.
//!
//! Pure and synchronous: bytes and database rows come in as values, events and counts go out.
//! Damaged input is skipped and counted, unknown input is ignored; no function fails. The crate
//! knows no memories and draws no conclusions from events; that is the task of `observe`.

// Cutting a transcript into records.
mod document_splitter;
mod json_repair;
mod line_splitter;
mod time;

// From records to events.
mod edit_names;
mod event_log;
mod own_notes;
mod patch;
mod path_resolver;
mod tool_args;
mod tool_names;
mod tool_output;
mod user_replies;

mod transcript_format;
mod transcript_reader;

// Hooks, settings and rule files of hosts.
mod hook_message;
mod host;
mod json_spans;
mod rule_files;

// The readers of the transcript formats.
mod aider_transcript;
mod claude_code_transcript;
mod codex_transcript;
mod copilot_transcript;
mod gemini_transcript;
mod journal;
mod moatless_transcript;
mod opencode_transcript;
mod specstory_transcript;
mod swe_agent_transcript;

pub use event_log::{ReadCounts, derive_session_id};
pub use hook_message::{HookEvent, HookMessage, RefusedCall, SessionSource};
pub use host::{
    FilePlace, HOSTS, HookProtocol, HookTrust, Host, HostPlugin, HostSetup, HostVersion,
    InstalledHook, SettingsBackup, SettingsBase, SettingsError, SettingsFile, SettingsScope,
    find_host, is_waylore_program, parse_version, text_after_disconnect,
};
pub use line_splitter::{LineSplitter, MAX_STRING_BYTES};
pub use opencode_transcript::{OpenCodeMessage, OpenCodePart, OpenCodeReader, OpenCodeSession};
pub use path_resolver::PathResolver;
pub use rule_files::{
    RULE_FILES, RuleFile, RuleStatement, find_rule_file, is_read_by_host, parse_statements,
};
pub use time::parse_time;
pub use transcript_format::{RecordLayout, TranscriptFormat, detect_format};
pub use transcript_reader::{TranscriptOrigin, TranscriptReader};

// The fuzz targets name this crate as a dependency would.
#[cfg(test)]
extern crate self as agents;
#[cfg(test)]
mod fuzzed;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod user_words_tests;
