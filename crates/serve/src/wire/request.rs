//! Fields of each request. Unknown fields are ignored.

use model::{SessionId, SessionOutcome, ValidationKind};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The project of a request: by folder, or by a started session.
#[derive(Clone, Debug, Deserialize)]
pub struct ProjectSelector {
    #[serde(default)]
    pub project: Option<String>,
    #[serde(default)]
    pub session_id: Option<SessionId>,
}

/// Asks the daemon to exit.
#[derive(Debug, Default, Deserialize)]
pub struct StopRequest {
    /// Version of the requester; the daemon exits only for a newer one. Without it, always.
    #[serde(default)]
    pub for_version: Option<String>,
}

/// A hook message of a host, as the host wrote it.
#[derive(Clone, Debug)]
pub struct HookRequest<'a> {
    pub host: String,
    pub message: &'a RawValue,
}

#[derive(Debug, Deserialize)]
pub struct SearchRequest {
    pub query: String,
    /// Current files, in addition to the recent files of the session.
    #[serde(default)]
    pub files: Vec<String>,
    #[serde(default)]
    pub limit: Option<u32>,
    #[serde(default)]
    pub phase: Option<String>,
}

/// Records a note in the scratchpad of a session.
#[derive(Debug, Deserialize)]
pub struct RecordRequest {
    pub session_id: SessionId,
    #[serde(default)]
    pub event_id: Option<String>,
}

/// A target in the code: a file, a symbol or a line.
#[derive(Debug, Deserialize)]
pub struct CodeRequest {
    pub target: String,
    #[serde(default)]
    pub depth: Option<u32>,
}

/// The module map, or one module.
#[derive(Debug, Deserialize)]
pub struct MapRequest {
    #[serde(default)]
    pub module: Option<String>,
}

/// The recipe for a task.
#[derive(Debug, Deserialize)]
pub struct RecipeRequest {
    pub task: String,
}

/// Predicts the files of a task.
#[derive(Debug, Deserialize)]
pub struct PrefetchRequest {
    pub task: String,
    /// A file that is already known.
    #[serde(default)]
    pub file: Option<String>,
    #[serde(default)]
    pub limit: Option<usize>,
}

/// The calibrated step limit of a task.
#[derive(Debug, Deserialize)]
pub struct StopLimitRequest {
    /// Planned steps.
    pub base: u32,
    #[serde(default)]
    pub module: String,
}

/// A context for session start, for files, or for a pipeline stage.
#[derive(Debug, Deserialize)]
pub struct ContextRequestBody {
    #[serde(default)]
    pub task: String,
    #[serde(default)]
    pub files: Vec<String>,
    #[serde(default)]
    pub phase: Option<String>,
    /// Token budget of the whole text.
    #[serde(default)]
    pub budget: Option<u32>,
    /// Modules of the task.
    #[serde(default)]
    pub modules: Vec<String>,
    /// The report of the failure.
    #[serde(default)]
    pub report: String,
}

/// Notes between two steps: about touched files or a failed call.
#[derive(Debug, Deserialize)]
pub struct StepContextRequest {
    pub session_id: SessionId,
    #[serde(default)]
    pub files: Vec<String>,
    /// The step that ended, counted from 1. Without it, all notes about the files are returned.
    #[serde(default)]
    pub step: Option<u32>,
    /// Files of earlier steps, searches of this step, and the task of the session.
    #[serde(default)]
    pub touched: Vec<String>,
    #[serde(default)]
    pub searches: Vec<String>,
    #[serde(default)]
    pub task: String,
    /// The failed tool, its command and its output.
    #[serde(default)]
    pub tool: Option<String>,
    #[serde(default)]
    pub command: Option<String>,
    #[serde(default)]
    pub error: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct ValidateRequest {
    pub session_id: SessionId,
    pub kind: ValidationKind,
    pub ok: bool,
    #[serde(default)]
    pub event_id: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct FinishRequest {
    pub session_id: SessionId,
    #[serde(default)]
    pub outcome: Option<SessionOutcome>,
    #[serde(default)]
    pub steps: Option<u32>,
    /// Reply only after learning from the session.
    #[serde(default)]
    pub wait: bool,
}
