//! Events of agent sessions, one JSON object per line. A session is a log of events.
//!
//! ```text
//! {"event_id":"e1","session_id":"019a0000-…","at":5,"event":"tool_call","call_id":"c","tool":"read","args":{}}
//!  ─────────────────── envelope ──────────────────── ──────────────────────── event ─────────────────────────
//! ```
//!
//! A *host* is the program that runs an agent, such as Claude Code. `agents` translates the messages and
//! transcripts of hosts into events, and `observe` folds them into the state of a session. This is the stored
//! format of journals (the record of a running session) and the wire format of hooks: fields may be added,
//! never renamed.

mod body;

use serde::{Deserialize, Serialize};

use crate::{SessionId, Timestamp, UnknownWord, closed};

pub use body::{
    AgentReasoning, ContextCompaction, EXCERPT_TAIL_BYTES, LineSpan, MAX_EXCERPT, RecordedNote,
    SessionEnd, SessionStart, StepComplete, TextExcerpt, TokenUsage, ToolArgs, ToolCall,
    ToolResult, UserMessage, UserMessageKind, ValidationResult,
};

/// The longest line that is read, in bytes.
pub const MAX_EVENT_LINE_BYTES: usize = 8 << 20;
/// The longest event id, in bytes; ids are stored to detect duplicates.
pub const MAX_EVENT_ID_BYTES: usize = 128;

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// The kind of an event.
    pub enum EventKind : "event" {
        SessionStart = "session_start",
        UserMessage = "user_message",
        ToolCall = "tool_call",
        ToolResult = "tool_result",
        Reasoning = "reasoning",
        StepComplete = "step_complete",
        Record = "record",
        Validation = "validation",
        Compaction = "compaction",
        SessionEnd = "session_end",
    }
}

impl EventKind {
    #[rustfmt::skip]
    pub const fn description(self) -> &'static str {
        match self {
            Self::SessionStart => "a session began, was resumed, or a subagent was started",
            Self::UserMessage  => "the user sent a message",
            Self::ToolCall     => "a tool is about to run",
            Self::ToolResult   => "a tool returned",
            Self::Reasoning    => "the agent reasoned or wrote a message",
            Self::StepComplete => "one model step ended",
            Self::Record       => "the agent recorded a note; it goes to the scratchpad, not to the store",
            Self::Validation   => "the host checked the work",
            Self::Compaction   => "the host replaced the conversation so far by a summary",
            Self::SessionEnd   => "the session ended",
        }
    }
}

/// One event with its body.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    SessionStart(SessionStart),
    UserMessage(UserMessage),
    ToolCall(ToolCall),
    ToolResult(ToolResult),
    Reasoning(AgentReasoning),
    StepComplete(StepComplete),
    Record(RecordedNote),
    Validation(ValidationResult),
    Compaction(ContextCompaction),
    SessionEnd(SessionEnd),
}

/// An event as sent and stored, with its id, session and time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EventEnvelope {
    /// Chosen by the sender; a second event with the same id is a duplicate and ignored.
    #[serde(rename = "event_id")]
    pub id: String,
    #[serde(rename = "session_id")]
    pub session: SessionId,
    #[serde(serialize_with = "serialize_millis")]
    pub at: Timestamp,
    #[serde(flatten)]
    pub event: Event,
}

/// Reasons why a line is not an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventError {
    /// The name of the event is unknown.
    Unknown(UnknownWord),
    TooLong {
        bytes: usize,
    },
    /// The id is empty or longer than [`MAX_EVENT_ID_BYTES`].
    Id {
        bytes: usize,
    },
    Malformed {
        /// `None` if the event name could not be parsed.
        event: Option<EventKind>,
        problem: String,
    },
}

impl Event {
    pub const fn kind(&self) -> EventKind {
        match self {
            Self::SessionStart(_) => EventKind::SessionStart,
            Self::UserMessage(_) => EventKind::UserMessage,
            Self::ToolCall(_) => EventKind::ToolCall,
            Self::ToolResult(_) => EventKind::ToolResult,
            Self::Reasoning(_) => EventKind::Reasoning,
            Self::StepComplete(_) => EventKind::StepComplete,
            Self::Record(_) => EventKind::Record,
            Self::Validation(_) => EventKind::Validation,
            Self::Compaction(_) => EventKind::Compaction,
            Self::SessionEnd(_) => EventKind::SessionEnd,
        }
    }
}

impl EventEnvelope {
    /// Parses one line. Unknown fields are ignored; an unknown event is an error that names the known ones.
    pub fn parse_line(line: &str) -> Result<Self, EventError> {
        if line.len() > MAX_EVENT_LINE_BYTES {
            return Err(EventError::TooLong { bytes: line.len() });
        }
        // Two passes over the text: the header names the kind, then the body is parsed into its struct. A
        // single pass into a `Value` was rejected, because its numbers depend on the features of serde_json
        // that other crates enable.
        let head: EnvelopeHeader =
            serde_json::from_str(line).map_err(|it| malformed_event(None, &it))?;
        // An unknown event is reported before a bad id, because it is the likelier mistake.
        let kind = EventKind::parse(&head.event).map_err(EventError::Unknown)?;
        if head.event_id.is_empty() || head.event_id.len() > MAX_EVENT_ID_BYTES {
            return Err(EventError::Id { bytes: head.event_id.len() });
        }
        let event = parse_body(kind, line).map_err(|it| malformed_event(Some(kind), &it))?;
        Ok(Self { id: head.event_id, session: head.session_id, at: Timestamp(head.at), event })
    }

    /// The line to store or send, without its line end.
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).expect("events have string keys and finite numbers")
    }
}

/// The fields that every event has.
#[derive(Deserialize)]
struct EnvelopeHeader {
    event: String,
    event_id: String,
    session_id: SessionId,
    at: i64,
}

/// Parses the fields of one kind of event. Fields of the header are ignored like unknown ones.
fn parse_body(kind: EventKind, line: &str) -> Result<Event, serde_json::Error> {
    use serde_json::from_str;
    Ok(match kind {
        EventKind::SessionStart => Event::SessionStart(from_str(line)?),
        EventKind::UserMessage => Event::UserMessage(from_str(line)?),
        EventKind::ToolCall => Event::ToolCall(from_str(line)?),
        EventKind::ToolResult => Event::ToolResult(from_str(line)?),
        EventKind::Reasoning => Event::Reasoning(from_str(line)?),
        EventKind::StepComplete => Event::StepComplete(from_str(line)?),
        EventKind::Record => Event::Record(from_str(line)?),
        EventKind::Validation => Event::Validation(from_str(line)?),
        EventKind::Compaction => Event::Compaction(from_str(line)?),
        EventKind::SessionEnd => Event::SessionEnd(from_str(line)?),
    })
}

fn malformed_event(event: Option<EventKind>, error: &serde_json::Error) -> EventError {
    EventError::Malformed { event, problem: error.to_string() }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn serialize_millis<S: serde::Serializer>(at: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_i64(at.0)
}

impl std::fmt::Display for EventError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown(word) => word.fmt(f),
            Self::TooLong { bytes } => {
                write!(f, "the line has {bytes} bytes, the limit is {MAX_EVENT_LINE_BYTES}")
            }
            Self::Id { bytes } => {
                write!(f, "an `event_id` has 1 to {MAX_EVENT_ID_BYTES} bytes, this one has {bytes}")
            }
            Self::Malformed { event: Some(event), problem } => {
                write!(f, "the event `{event}` is malformed: {problem}")
            }
            Self::Malformed { event: None, problem } => write!(f, "not an event: {problem}"),
        }
    }
}

impl std::error::Error for EventError {}

#[cfg(test)]
mod tests;
