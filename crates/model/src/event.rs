//! Events: what an agent host tells us, one JSON object a line. A session is a log of them.
//!
//! This is the stored format of journals and the wire of hooks, so a field may be added and never
//! renamed. It does not say what an event means: that is a fold, in `observe`.

mod body;

use serde::{Deserialize, Serialize};

use crate::{SessionId, Timestamp, UnknownWord, closed};

pub use body::{
    Compaction, Excerpt, LineSpan, MAX_EXCERPT, Reasoning, RecordedNote, SessionEnd, SessionStart,
    StepComplete, TokenUsage, ToolArgs, ToolCall, ToolResult, UserMessage, Validation,
};

/// The longest line that is read, in bytes.
pub const MAX_LINE: usize = 8 << 20;
/// The longest event id, in bytes: ids are kept to recognise repeats.
pub const MAX_EVENT_ID: usize = 128;

closed! {
    /// What happened.
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
    pub const fn reading(self) -> &'static str {
        match self {
            Self::SessionStart => "a session began, was resumed, or a subagent was started",
            Self::UserMessage  => "a person said something",
            Self::ToolCall     => "a tool is about to run",
            Self::ToolResult   => "a tool answered",
            Self::Reasoning    => "the agent thought or spoke",
            Self::StepComplete => "one model step ended",
            Self::Record       => "the agent asked to remember something; it goes to the scratchpad, not to the store",
            Self::Validation   => "the host checked the work",
            Self::Compaction   => "the host replaced the conversation so far by a summary",
            Self::SessionEnd   => "the session ended",
        }
    }
}

/// One event with what it carries.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    SessionStart(SessionStart),
    UserMessage(UserMessage),
    ToolCall(ToolCall),
    ToolResult(ToolResult),
    Reasoning(Reasoning),
    StepComplete(StepComplete),
    Record(RecordedNote),
    Validation(Validation),
    Compaction(Compaction),
    SessionEnd(SessionEnd),
}

/// An event as it is sent and stored: which one, of which session, when.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Envelope {
    /// Given by the sender; a second event with the same id is a repeat and counts for nothing.
    #[serde(rename = "event_id")]
    pub id: String,
    #[serde(rename = "session_id")]
    pub session: SessionId,
    #[serde(serialize_with = "millis")]
    pub at: Timestamp,
    #[serde(flatten)]
    pub event: Event,
}

/// Why a line is not an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventError {
    Unknown(UnknownWord),
    TooLong {
        bytes: usize,
    },
    /// The id is empty or longer than [`MAX_EVENT_ID`].
    Id {
        bytes: usize,
    },
    Malformed {
        /// `None` when not even the name of the event could be read.
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

impl Envelope {
    /// Reads one line. Unknown fields are ignored; an unknown event is an error that names the known ones.
    pub fn read(line: &str) -> Result<Self, EventError> {
        if line.len() > MAX_LINE {
            return Err(EventError::TooLong { bytes: line.len() });
        }
        // Two passes over the text instead of one into a tree: the body is then read straight
        // into its struct, whatever number format other rooms ask serde_json for.
        let head: Head = serde_json::from_str(line).map_err(|it| malformed(None, &it))?;
        let kind = EventKind::parse(&head.event).map_err(EventError::Unknown)?;
        if head.event_id.is_empty() || head.event_id.len() > MAX_EVENT_ID {
            return Err(EventError::Id { bytes: head.event_id.len() });
        }
        let event = read_body(kind, line).map_err(|it| malformed(Some(kind), &it))?;
        Ok(Self { id: head.event_id, session: head.session_id, at: Timestamp(head.at), event })
    }

    /// The line to store or send, without its line end.
    pub fn line(&self) -> String {
        serde_json::to_string(self).expect("events have string keys and finite numbers")
    }
}

#[derive(Deserialize)]
struct Head {
    event: String,
    event_id: String,
    session_id: SessionId,
    at: i64,
}

fn read_body(kind: EventKind, line: &str) -> Result<Event, serde_json::Error> {
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

fn malformed(event: Option<EventKind>, error: &serde_json::Error) -> EventError {
    EventError::Malformed { event, problem: error.to_string() }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn millis<S: serde::Serializer>(at: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_i64(at.0)
}

impl std::fmt::Display for EventError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown(word) => word.fmt(f),
            Self::TooLong { bytes } => {
                write!(f, "the line has {bytes} bytes, the limit is {MAX_LINE}")
            }
            Self::Id { bytes } => {
                write!(f, "an `event_id` has 1 to {MAX_EVENT_ID} bytes, this one has {bytes}")
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
