//! What each request says. Unknown fields are ignored.

use model::{Outcome, SessionId, ValidationKind};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Which project a request is about: a folder, or that of a session that has begun.
#[derive(Clone, Debug, Deserialize)]
pub struct About {
    #[serde(default)]
    pub project: Option<String>,
    #[serde(default)]
    pub session_id: Option<SessionId>,
}

/// Asks the daemon to end.
#[derive(Debug, Default, Deserialize)]
pub struct StopAsk {
    /// A daemon steps down for a program that is newer than itself; without a version, for anybody.
    #[serde(default)]
    pub for_version: Option<String>,
}

/// The words of a host, as it said them.
#[derive(Debug, Deserialize)]
pub struct HookAsk<'a> {
    pub host: String,
    #[serde(borrow)]
    pub message: &'a RawValue,
}

#[derive(Debug, Deserialize)]
pub struct SearchAsk {
    pub query: String,
    /// What is being worked on, beside what the session went over.
    #[serde(default)]
    pub files: Vec<String>,
    #[serde(default)]
    pub limit: Option<u32>,
    #[serde(default)]
    pub phase: Option<String>,
}

/// A note to the scratchpad of a session.
#[derive(Debug, Deserialize)]
pub struct RecordAsk {
    pub session_id: SessionId,
    #[serde(default)]
    pub event_id: Option<String>,
}

/// Something in the code: a file, a symbol, or what stands on a line.
#[derive(Debug, Deserialize)]
pub struct CodeAsk {
    pub target: String,
    #[serde(default)]
    pub depth: Option<u32>,
}

/// The parts of the project, or one of them.
#[derive(Debug, Deserialize)]
pub struct MapAsk {
    #[serde(default)]
    pub module: Option<String>,
}

/// How a task of this kind is done.
#[derive(Debug, Deserialize)]
pub struct RecipeAsk {
    pub task: String,
}

/// The files a task will probably touch.
#[derive(Debug, Deserialize)]
pub struct PrefetchAsk {
    pub task: String,
    /// One that is at hand.
    #[serde(default)]
    pub file: Option<String>,
    #[serde(default)]
    pub limit: Option<usize>,
}

/// After how many steps a task is to be stopped.
#[derive(Debug, Deserialize)]
pub struct LimitAsk {
    /// The steps that were planned.
    pub base: u32,
    #[serde(default)]
    pub module: String,
}

/// What an agent should know when it begins, about the files at hand, or at a stage of a pipeline.
#[derive(Debug, Deserialize)]
pub struct ContextAsk {
    #[serde(default)]
    pub task: String,
    #[serde(default)]
    pub files: Vec<String>,
    #[serde(default)]
    pub phase: Option<String>,
    /// Tokens of the whole text.
    #[serde(default)]
    pub budget: Option<u32>,
    /// The modules the task is about.
    #[serde(default)]
    pub modules: Vec<String>,
    /// What said that the work failed.
    #[serde(default)]
    pub report: String,
}

/// What to say between two steps: about files that were touched, or about a call that failed.
#[derive(Debug, Deserialize)]
pub struct StepAsk {
    pub session_id: SessionId,
    #[serde(default)]
    pub files: Vec<String>,
    /// The step that ended, counted from 1. Without it, whatever there is about the files is said.
    #[serde(default)]
    pub step: Option<u32>,
    /// Files of earlier steps, what this one searched for, and what the session is about.
    #[serde(default)]
    pub touched: Vec<String>,
    #[serde(default)]
    pub searches: Vec<String>,
    #[serde(default)]
    pub task: String,
    /// The tool that failed, its command and what it answered.
    #[serde(default)]
    pub tool: Option<String>,
    #[serde(default)]
    pub command: Option<String>,
    #[serde(default)]
    pub error: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct ValidateAsk {
    pub session_id: SessionId,
    pub kind: ValidationKind,
    pub ok: bool,
    #[serde(default)]
    pub event_id: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct FinishAsk {
    pub session_id: SessionId,
    #[serde(default)]
    pub outcome: Option<Outcome>,
    #[serde(default)]
    pub steps: Option<u32>,
    /// Answer only when the session was learned from.
    #[serde(default)]
    pub wait: bool,
}
