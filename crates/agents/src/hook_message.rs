//! A hook message: the report of one event that a host sends to its hook, in terms shared by all
//! hosts.
//!
//! A *hook* is a program that a host starts at an event, here `waylore hook`; the host writes a JSON
//! message to it, such as `{"hook_event_name":"SessionStart","session_id":"s1","cwd":"/p"}`, and adds
//! its answer to the model's context. The *journal* is Waylore's own record of a session, for what the
//! host does not record itself. The *daemon* is the background process that computes the answers.
//!
//! Each process parses the bytes of a message once, in [`crate::Host::parse_message`]: the hook
//! process, and again the daemon, to which the hook passes the body on. Everything after that works on
//! the [`HookMessage`]: the injected context, the journalled events and the request to the daemon. The
//! functions of a host take a message or its parsed body, never bytes, so none of them can parse a
//! second time.

use std::hash::{Hash, Hasher};

use serde_json::Value;

/// Longest prompt, command or tool output that a message carries on, in bytes.
const MAX_TEXT_BYTES: usize = 16 << 10;

/// Key under which a message names its event.
pub(crate) const EVENT_KEY: &str = "hook_event_name";

/// One parsed message of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookMessage {
    /// Name of the host as in [`crate::HOSTS`]; `None` for a program that calls the daemon itself.
    pub host: Option<&'static str>,
    /// The host's name for the event. Answers repeat it.
    pub event_name: String,
    /// The host's id of the session, under which the shown log (the notes that the session has seen) is
    /// kept. A subagent's id is distinct from its parent's. The `session` of an event is a
    /// [`model::SessionId`] derived from it.
    pub host_session: String,
    /// Working directory of the host.
    pub cwd: String,
    pub source: SessionSource,
    pub event: HookEvent,
    /// The JSON from which all other fields were read. Only [`crate::Host::parse_message`] sets it.
    pub(crate) body: Value,
}

/// The record from which learning reads a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionSource {
    /// A transcript file that the host appends to. The journal adds only what the file lacks.
    HostTranscript { path: String },
    /// One session in a database of the host. Unlike a transcript it cannot be followed while it
    /// grows, and the file holds the sessions of other projects, too.
    HostDatabase { path: String, host_session: String },
    /// The host names no record of its own, so the journal must hold everything.
    JournalOnly,
}

/// The event that a message reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookEvent {
    SessionStart {
        /// The session continues after its conversation was replaced by a summary.
        compacted: bool,
    },
    Prompt {
        text: String,
    },
    /// A tool read or changed these files. The paths are as the host wrote them.
    FilesTouched {
        paths: Vec<String>,
    },
    /// A command or another tool failed.
    CallFailed {
        /// Slug of the [`model::Tool`].
        tool: String,
        command: Option<String>,
        output: String,
    },
    /// A command ended and the host does not report its exit code: it may have failed or touched
    /// files.
    CommandEnded {
        command: String,
        output: String,
    },
    /// A step ended, with all calls made in it.
    StepEnded {
        /// Files that its tools touched, as the host wrote them.
        paths: Vec<String>,
        searches: Vec<String>,
        commands: Vec<String>,
        refused: Option<RefusedCall>,
    },
    SessionEnd,
    /// An event at which nothing is ever injected.
    Other,
}

/// A call that the host rejected without running it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedCall {
    /// Slug of the [`model::Tool`].
    pub tool: String,
    pub output: String,
}

impl HookMessage {
    /// A message of a program that is no host: it has no body and no transcript.
    pub fn from_program(host_session: String, cwd: String, event: HookEvent) -> Self {
        Self {
            host: None,
            event_name: String::new(),
            host_session,
            cwd,
            source: SessionSource::JournalOnly,
            event,
            body: Value::Null,
        }
    }

    /// Returns whether a subagent sent it, whose prompts another agent writes.
    pub fn is_of_subagent(&self) -> bool {
        const PARENT_KEYS: &[&str] = &["agent_id", "parentID"];
        PARENT_KEYS.iter().any(|it| self.body[*it].is_string())
    }

    /// The message as the host wrote it, with its event named. This is what the daemon is sent.
    pub fn body(&self) -> &Value {
        &self.body
    }

    /// Hash of the body, by which two messages of the same content are recognised within a process.
    pub fn content_hash(&self) -> u64 {
        let mut hasher = std::hash::DefaultHasher::new();
        self.body.hash(&mut hasher);
        hasher.finish()
    }
}

impl SessionSource {
    /// Path of the host's transcript or database.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::HostTranscript { path } | Self::HostDatabase { path, .. } => Some(path),
            Self::JournalOnly => None,
        }
    }

    /// A transcript at this path, or the journal if the host names none.
    pub(crate) fn from_transcript(path: Option<&str>) -> Self {
        match path {
            Some(path) => Self::HostTranscript { path: path.to_owned() },
            None => Self::JournalOnly,
        }
    }
}

/// Parses the bytes of a message into its body: the only place where this happens. A body is any JSON
/// value; `None` if the bytes are no JSON.
///
/// `declared_event` names the event for hosts that pass it as an argument instead of in the
/// message. A name in the message takes precedence.
pub(crate) fn parse_json_body(input: &[u8], declared_event: Option<&str>) -> Option<Value> {
    #[cfg(test)]
    tests::N_PARSES.with(|it| it.set(it.get() + 1));
    let mut body: Value = serde_json::from_slice(input).ok()?;
    if let (Value::Object(fields), Some(event)) = (&mut body, declared_event) {
        // The name goes into the body because the daemon receives only that.
        fields.entry(EVENT_KEY).or_insert_with(|| event.into());
    }
    Some(body)
}

/// A prompt or an output within the size limit of a message. Of a longer one both ends stay: what the user asks
/// stands before or after a pasted log, and the error of a command at its end.
pub(crate) fn bound_text(text: &str) -> String {
    model::elide_middle(text, MAX_TEXT_BYTES, MAX_TEXT_BYTES / 2).into_owned()
}

/// The beginning of a command or an argument, up to the size limit of a message.
pub(crate) fn truncate_text(text: &str) -> String {
    text[..text.floor_char_boundary(MAX_TEXT_BYTES)].to_owned()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        /// Calls of [`parse_json_body`] on this thread; tests run on a thread each.
        pub(crate) static N_PARSES: Cell<u32> = const { Cell::new(0) };
    }

    #[test]
    fn a_declared_event_is_added_where_the_message_names_none() {
        let body =
            |input: &str| parse_json_body(input.as_bytes(), Some("stop")).map(|it| it.to_string());
        assert_eq!(body("{}").as_deref(), Some(r#"{"hook_event_name":"stop"}"#));
        let named = r#"{"hook_event_name":"start"}"#;
        assert_eq!(body(named).as_deref(), Some(named));
        assert_eq!((body("[]").as_deref(), body("{")), (Some("[]"), None));
    }

    #[test]
    fn equal_content_has_an_equal_hash_whatever_the_layout() {
        let message = |body: &str| HookMessage {
            body: parse_json_body(body.as_bytes(), None).unwrap(),
            ..HookMessage::from_program(String::new(), String::new(), HookEvent::Other)
        };
        let hash = |body: &str| message(body).content_hash();
        assert_eq!(hash(r#"{"a":1,"b":2}"#), hash("{ \"b\": 2,\n \"a\": 1 }"));
        assert_ne!(hash(r#"{"a":1}"#), hash(r#"{"a":2}"#));
    }
}
