//! Fields of each request, as parsed from its line. Unknown fields are ignored, so that a newer client
//! can talk to an older daemon. `ProjectSelector` is parsed from most lines in addition: of
//!
//! ```text
//! {"id":4,"request":"search","project":"/home/me/shop","query":"login"}
//! ```
//!
//! it takes `project`, and [`SearchRequest`] takes `query`.
//!
//! A *host* is a program that runs an agent, a *session* one run of it, and a *step* one answer of the
//! model with its tool calls. A *note* is the text of a memory for an agent, and a *context* a block of
//! notes. A *phase* is a kind of work, as a word: `define`, `implement`, `validate` …

use model::{SessionId, SessionOutcome, ValidationKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;
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

/// A hook message of a host, as the host wrote it. Made by `RequestBody::parse_hook_request` instead of
/// `Deserialize`: its two fields were found when the kind of the line was read.
#[derive(Clone, Debug)]
pub struct HookRequest<'a> {
    pub host: String,
    pub message: &'a RawValue,
}

/// Searches the memories of a project.
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

/// Records a note in the scratchpad of a session (its state until it is learned from). The note itself
/// is parsed from the same line as `model::RecordedNote`.
#[derive(Debug, Deserialize)]
pub struct RecordRequest {
    pub session_id: SessionId,
    /// Identifies the note if the client sends it again; by default, a hash of its text.
    #[serde(default)]
    pub event_id: Option<String>,
}

/// Names a target in the code: a file, a symbol or a line.
#[derive(Debug, Deserialize)]
pub struct CodeRequest {
    pub target: String,
    #[serde(default)]
    pub depth: Option<u32>,
}

/// Requests the module map (the parts of the project with their files), or one module of it.
#[derive(Debug, Deserialize)]
pub struct MapRequest {
    #[serde(default)]
    pub module: Option<String>,
}

/// Requests the recipe for a task: the steps that worked for such tasks before.
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

/// Requests the number of steps after which a task should stop, calibrated by past sessions.
#[derive(Debug, Deserialize)]
pub struct StopLimitRequest {
    /// Planned steps.
    pub base: u32,
    #[serde(default)]
    pub module: String,
}

/// Requests a context. The name of the request selects its kind: `session_context`, `file_context`, or,
/// for a stage of a pipeline, `plan_context`, `qa_context`, `recovery_context` or `spec_context`.
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
    /// The report of the failure, for a recovery context.
    #[serde(default)]
    pub report: String,
}

/// Requests notes between two steps. Its fields decide what they are about: with `error` a failed call,
/// with `step` the end of a step, otherwise the touched `files`.
#[derive(Debug, Deserialize)]
pub struct StepContextRequest {
    pub session_id: SessionId,
    #[serde(default)]
    pub files: Vec<String>,
    /// The step that ended, counted from 1.
    #[serde(default)]
    pub step: Option<u32>,
    /// With `step`: files of earlier steps, searches of this step, and the task of the session.
    #[serde(default)]
    pub touched: Vec<String>,
    #[serde(default)]
    pub searches: Vec<String>,
    #[serde(default)]
    pub task: String,
    /// For a failed call: the tool, its command and its output.
    #[serde(default)]
    pub tool: Option<String>,
    #[serde(default)]
    pub command: Option<String>,
    #[serde(default)]
    pub error: Option<String>,
}

/// Reports whether a check of the session's work passed.
#[derive(Debug, Deserialize)]
pub struct ValidateRequest {
    pub session_id: SessionId,
    pub kind: ValidationKind,
    pub ok: bool,
    #[serde(default)]
    pub event_id: Option<String>,
}

/// Ends a session.
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

/// The process that asks the daemon to work in its place. It works alone unless all of this fits the
/// daemon.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CallerFields {
    /// Version of the program.
    pub version: String,
    /// The parts of its environment that decide a result, as the command line compares them.
    pub environment: Value,
    /// The working folder.
    pub folder: String,
    /// Device and inode of that folder: in a container, the same path may be another folder.
    pub folder_identity: Option<(u64, u64)>,
}

/// Announces a command of the command line. `run` on the same connection carries it out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CommandRequest {
    #[serde(flatten)]
    pub caller: CallerFields,
    /// The arguments, without the name of the program.
    pub args: Vec<String>,
    /// The time of the caller, in milliseconds since the epoch.
    pub now: i64,
    pub reader: CommandReader,
}

/// The reader of a command's output. The caller knows it from its own environment; the daemon may have been
/// started by a hook, in the environment of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandReader {
    User,
    /// The model of an agent that runs the command in its shell.
    Agent {
        /// The variable of the environment that shows it.
        variable: String,
    },
}

/// Turns the connection into one of the Model Context Protocol.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct McpRequest {
    #[serde(flatten)]
    pub caller: CallerFields,
    /// The folder that the user or the host gave; without it the client is asked for its roots.
    #[serde(default)]
    pub project: Option<String>,
    /// The session id of the host.
    #[serde(default)]
    pub host_session: Option<String>,
}
