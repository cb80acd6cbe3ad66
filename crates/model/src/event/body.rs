//! The bodies of events: one struct per kind, with the fields beside those of the envelope (id, session,
//! time).
//!
//! Hosts, the programs that run agents, report different amounts, so that most fields are optional and an
//! absent field is not written: that is what `skip_serializing_if` says at each of them. A *work unit* is a
//! part of planned work, such as "Spec 042 / Subtask 3".

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::{
    MemoryScope, MemoryType, Methodology, Phase, ProjectPath, SessionId, SessionOutcome,
    SessionType, Tool, ValidationKind, WorkUnit, closed,
};

/// A session began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionStart {
    /// The folder the host was started in, as the host names it; `source` finds the project.
    pub project_root: String,
    /// The host, e.g. `claude_code`.
    pub agent: String,
    /// The session's id as the host knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_session: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub session_type: Option<SessionType>,
    /// The request as the user wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned_steps: Option<u32>,
    /// Parsed leniently: a word of a methodology maps to its phase, an unknown word to `explore`.
    #[serde(default, deserialize_with = "any_phase", skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// The role of the agent in a methodology, e.g. `coder`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The session that started this one as a subagent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<SessionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_unit: Option<WorkUnit>,
    /// Path of the host's own transcript, which holds more than the hook messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Option<String>,
}

closed! {
    /// The way in which a person's words reached the agent.
    #[derive(Default)]
    pub enum UserMessageKind : "kind of user message" {
        /// Typed while the agent waited.
        #[default]
        Prompt = "prompt",
        /// Typed while the agent worked; the host delivers it at the agent's next step.
        Queued = "queued",
        /// Why the person did not allow a call.
        Refusal = "refusal",
        /// The answer to a question of the agent, a choice or free text.
        Answer = "answer",
        /// A plan of the agent that the person accepted. Agreed to, not written, by the person.
        AcceptedPlan = "accepted_plan",
    }
}

/// Words of a person: a message, an answer, a reason for a refusal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserMessage {
    pub text: String,
    /// The user interrupted the agent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupts: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub kind: UserMessageKind,
    /// For an answer the question, for a refusal or an accepted plan the id of the call, if the host names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
}

/// A tool is about to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    pub call_id: String,
    pub tool: Tool,
    #[serde(default)]
    pub args: ToolArgs,
    /// Absent if the host does not count steps; `observe` then counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// The host was in its plan mode.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub planning: bool,
}

/// The arguments of a call that have the same meaning for every host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolArgs {
    /// Files or folders of the project that the call names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<ProjectPath>,
    /// The region that is read or edited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<LineSpan>,
    /// One of the named files belongs to a dependency. Needed for those outside the project, whose paths
    /// are not kept.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub vendored: bool,
    /// The search expression: a pattern, a glob or a web query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Fingerprint of the text that an edit removes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<String>,
    /// Fingerprint of the text that it adds. An edit with both swapped reverts this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<String>,
    /// Identifiers in the lines that an edit removes or adds, each once: the distinctive ones first, such as
    /// `parse_total`, then plain words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// Lines of a file, counted from 1, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineSpan {
    pub first: u32,
    pub last: u32,
}

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    pub call_id: String,
    pub tool: Tool,
    pub ok: bool,
    /// The user rejected the call, so that it never ran. `ok` is then false, although the tool did not fail.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rejected: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Size of the whole result in bytes; the excerpt holds its beginning, and its end if it is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    #[serde(default, skip_serializing_if = "TextExcerpt::is_empty")]
    pub excerpt: TextExcerpt,
    /// Files of the project that the result names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<ProjectPath>,
    /// Number of matches of a search or list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matches: Option<u32>,
}

/// Text of the agent: reasoning or a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentReasoning {
    pub text: String,
    /// A thought that the host shows as such, not a message to the user.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub thinking: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
}

/// One model step ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepComplete {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
}

/// Tokens of one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TokenUsage {
    /// All input tokens, cached or not.
    pub input: u64,
    pub output: u64,
    /// The part of `input` that came from a cache.
    pub cached: u64,
}

/// A note that the agent asked to record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedNote {
    #[serde(rename = "type", serialize_with = "type_slug", deserialize_with = "stored_type")]
    pub kind: MemoryType,
    pub content: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<MemoryScope>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<ProjectPath>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<String>,
    /// The payload as received; validated against the memory kind when the note is judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
}

/// The result of a check that the host ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValidationResult {
    pub kind: ValidationKind,
    pub ok: bool,
    /// The checked part of the work; if absent, the whole session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_unit: Option<WorkUnit>,
}

/// The host replaced the conversation by a summary; earlier notes left the context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextCompaction {}

/// The session ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEnd {
    /// Absent if the host reports only that the session ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<SessionOutcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
}

/// The longest excerpt, in bytes.
pub const MAX_EXCERPT: usize = 4096;
/// Bytes of an excerpt that come from the end of a long text, where commands report their errors.
pub const EXCERPT_TAIL_BYTES: usize = 1400;

/// An excerpt of a tool result, at most [`MAX_EXCERPT`] bytes. `agents` takes it from both ends of a long one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TextExcerpt(String);

impl TextExcerpt {
    /// Truncates at a character boundary. Redact first: half a secret is not detected.
    pub fn new(text: impl Into<String>) -> Self {
        let mut text = text.into();
        text.truncate(text.floor_char_boundary(MAX_EXCERPT));
        Self(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de> Deserialize<'de> for TextExcerpt {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(Self::new)
    }
}

/// Returns whether a field has its default, which is not written.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Deserialises any word as a phase.
fn any_phase<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Phase>, D::Error> {
    let word = Option::<String>::deserialize(from)?;
    Ok(word.map(|it| Methodology::phase_for_any_word(&it)))
}

/// Serialises a memory type as its slug.
fn type_slug<S: Serializer>(kind: &MemoryType, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(kind.slug())
}

/// Deserialises the slug of a memory type. Custom types need not be declared.
fn stored_type<'de, D: Deserializer<'de>>(from: D) -> Result<MemoryType, D::Error> {
    let slug = String::deserialize(from)?;
    MemoryType::from_slug(&slug).map_err(serde::de::Error::custom)
}
