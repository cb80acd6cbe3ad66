//! What each event carries. Hosts tell different amounts, so most fields may be missing.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::{
    MemoryType, Methodology, Outcome, Phase, ProjectPath, Scope, SessionId, SessionType, Tool,
    ValidationKind, WorkUnit,
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
    /// What was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned_steps: Option<u32>,
    /// Read leniently: a methodology's own word becomes its phase, an unknown one exploring.
    #[serde(default, deserialize_with = "any_phase", skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// The agent's role in a relay, e.g. `coder`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The session that started this one as a subagent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<SessionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_unit: Option<WorkUnit>,
    /// Where the host keeps its own log of the session, which is fuller than what it tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Option<String>,
}

/// A person said something; kept only as task text and for corrections.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserMessage {
    pub text: String,
    /// The person stopped the agent in the middle of its work.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupts: bool,
}

/// A tool is about to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    pub call_id: String,
    pub tool: Tool,
    #[serde(default)]
    pub args: ToolArgs,
    /// Missing where the host does not count; the fold then counts itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// The host was in its plan mode.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub planning: bool,
}

/// The arguments of a call, as far as they mean the same for every host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolArgs {
    /// The files or folders the call names, those of the project only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<ProjectPath>,
    /// The region that is read or edited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<LineSpan>,
    /// What is looked for: a pattern, a glob, words for the web.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Fingerprint of the text an edit takes out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<String>,
    /// Fingerprint of the text it puts in; an edit whose two are swapped undoes this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<String>,
}

/// Lines of a file, counted from 1, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineSpan {
    pub first: u32,
    pub last: u32,
}

/// A tool answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    pub call_id: String,
    pub tool: Tool,
    pub ok: bool,
    /// A person refused the call, so it never ran; `ok` is then false and says nothing about the tool.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rejected: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Bytes of the whole answer, of which the excerpt is the beginning, and the end where it is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    #[serde(default, skip_serializing_if = "Excerpt::is_empty")]
    pub excerpt: Excerpt,
    /// The files of the project that the answer names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<ProjectPath>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matches: Option<u32>,
}

/// The agent thought or spoke.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reasoning {
    pub text: String,
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
    /// Everything the model was given, cached or not.
    pub input: u64,
    pub output: u64,
    /// The part of `input` that came from a cache.
    pub cached: u64,
}

/// A note the agent asked to keep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedNote {
    #[serde(rename = "type", serialize_with = "type_slug", deserialize_with = "stored_type")]
    pub kind: MemoryType,
    pub content: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<ProjectPath>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<String>,
    /// As it was given; validated against the type when the note is judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
}

/// The host checked the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validation {
    pub kind: ValidationKind,
    pub ok: bool,
    /// The part of the work it speaks of; missing, it speaks of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_unit: Option<WorkUnit>,
}

/// The host replaced the conversation so far by a summary; what the agent had read is forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compaction {}

/// The session ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEnd {
    /// Missing where the host only says that it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
}

/// The longest excerpt, in bytes.
pub const MAX_EXCERPT: usize = 4096;

/// The beginning of a tool's answer, at most [`MAX_EXCERPT`] bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Excerpt(String);

impl Excerpt {
    /// Cuts at a character. Redact first: half a secret is not recognised as one.
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

impl<'de> Deserialize<'de> for Excerpt {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(Self::new)
    }
}

fn any_phase<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Phase>, D::Error> {
    let word = Option::<String>::deserialize(from)?;
    Ok(word.map(|it| Methodology::phase_of_any(&it)))
}

fn type_slug<S: Serializer>(kind: &MemoryType, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(kind.slug())
}

fn stored_type<'de, D: Deserializer<'de>>(from: D) -> Result<MemoryType, D::Error> {
    let slug = String::deserialize(from)?;
    MemoryType::from_slug(&slug).map_err(serde::de::Error::custom)
}
