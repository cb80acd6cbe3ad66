//! Payloads: structured data that some memory kinds have beside their text, stored as JSON.
//!
//! For example, a dead end has `{"tried": "sed", "why_failed": "no -i on mac"}`. One struct per kind. Code acts
//! on payloads, so that a malformed one is rejected on input: first by the fields of its struct, then by
//! constraints between the fields.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{MemoryKind, PerMille, ProjectPath, SessionId, Timestamp, closed};

/// The data of one memory, by kind. Kinds without a variant here have no payload.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    ErrorPattern(ErrorPattern),
    PrefetchPattern(PrefetchPattern),
    /// Any JSON object: the agent decides what it needs for resuming.
    WorkState(serde_json::Map<String, Value>),
    CausalDependency(CausalDependency),
    TaskCalibration(TaskCalibration),
    E2eObservation(E2eObservation),
    DeadEnd(DeadEnd),
    WorkUnitOutcome(WorkUnitOutcome),
    WorkflowRecipe(WorkflowRecipe),
    ContextCost(ContextCost),
}

/// The fields of a payload as a person or an agent states them, not validated yet.
#[derive(Clone, Debug, PartialEq)]
pub struct StatedPayload(pub Value);

/// A recurring error and its fix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorPattern {
    pub fingerprint: String,
    /// The tool that failed, for instance `shell`.
    pub tool: String,
    /// The message with paths, numbers and names normalised away.
    pub message: String,
    pub resolution: Option<String>,
}

/// Files that work in a module nearly always opens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrefetchPattern {
    /// Touched in more than 80 % of the module's sessions.
    pub always: Vec<ProjectPath>,
    /// Touched in more than 50 %.
    pub often: Vec<ProjectPath>,
    pub trigger_module: Option<String>,
    pub session_count: u32,
}

/// A change of `from` requires a change of `to`. Both are paths, modules or names in code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CausalDependency {
    pub from: String,
    pub to: String,
    /// Sessions that changed both.
    pub sessions: Vec<SessionId>,
    /// Share of the sessions with `from` that also have `to`.
    pub lift: PerMille,
    /// True if `to` follows `from` and not the reverse.
    pub directed: bool,
}

/// Actual against planned steps of the work in a module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskCalibration {
    pub module: String,
    pub methodology: String,
    pub avg_actual: u32,
    pub avg_planned: u32,
    /// Actual over planned, in thousandths; may exceed 1000.
    pub ratio: u32,
    pub samples: u32,
}

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// Category of an observation of the user interface.
    pub enum E2eKind : "observation kind" {
        Precondition = "precondition",
        Timing = "timing",
        UiBehavior = "ui_behavior",
        TestSequence = "test_sequence",
        ToolGotcha = "tool_gotcha",
    }
}

/// A fact about the user interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct E2eObservation {
    pub kind: E2eKind,
    pub tool: String,
    pub app_state: Option<String>,
}

/// An approach that was tried and given up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeadEnd {
    pub tried: String,
    pub why_failed: String,
    pub used_instead: Option<String>,
    pub task_context: Option<String>,
}

/// The result of one unit of work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkUnitOutcome {
    pub succeeded: bool,
    pub files_modified: Vec<ProjectPath>,
    pub decisions: Vec<String>,
    pub steps: u32,
    pub tokens: u64,
    pub retries: u32,
    pub failure_reason: Option<String>,
}

/// The steps of a class of task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkflowRecipe {
    /// The class of task, for instance `finish a change`.
    pub task_pattern: String,
    pub steps: Vec<RecipeStep>,
    pub success_count: u32,
    /// Milliseconds since the epoch.
    pub last_validated_at: i64,
}

/// One step of a recipe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeStep {
    pub order: u32,
    pub description: String,
    pub file: Option<ProjectPath>,
    pub line: Option<u32>,
}

/// The token cost of reading a module or file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextCost {
    /// The name of the module, or the path of the file.
    pub module: String,
    pub avg_tokens: u64,
    /// The 90th percentile.
    pub p90_tokens: u64,
    pub samples: u32,
}

/// Reasons why a payload does not fit its memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PayloadError {
    /// The type carries no payload.
    NotWanted(MemoryKind),
    /// The JSON does not have the type's fields.
    Shape { kind: MemoryKind, problem: String },
    /// The fields are there but do not make sense together.
    Sense { kind: MemoryKind, problem: &'static str },
}

impl Payload {
    /// Parses and validates the payload of a memory of this kind.
    pub fn parse(kind: MemoryKind, json: &Value) -> Result<Self, PayloadError> {
        // The JSON does not have the fields of the kind.
        let shape = |it: serde_json::Error| PayloadError::Shape { kind, problem: it.to_string() };
        let payload = match kind {
            MemoryKind::ErrorPattern => {
                Self::ErrorPattern(Deserialize::deserialize(json).map_err(shape)?)
            }
            MemoryKind::PrefetchPattern => {
                Self::PrefetchPattern(Deserialize::deserialize(json).map_err(shape)?)
            }
            MemoryKind::WorkState => {
                Self::WorkState(Deserialize::deserialize(json).map_err(shape)?)
            }
            MemoryKind::CausalDependency => {
                Self::CausalDependency(Deserialize::deserialize(json).map_err(shape)?)
            }
            MemoryKind::TaskCalibration => {
                Self::TaskCalibration(Deserialize::deserialize(json).map_err(shape)?)
            }
            MemoryKind::E2eObservation => {
                Self::E2eObservation(Deserialize::deserialize(json).map_err(shape)?)
            }
            MemoryKind::DeadEnd => Self::DeadEnd(Deserialize::deserialize(json).map_err(shape)?),
            MemoryKind::WorkUnitOutcome => {
                Self::WorkUnitOutcome(Deserialize::deserialize(json).map_err(shape)?)
            }
            MemoryKind::WorkflowRecipe => {
                Self::WorkflowRecipe(Deserialize::deserialize(json).map_err(shape)?)
            }
            MemoryKind::ContextCost => {
                Self::ContextCost(Deserialize::deserialize(json).map_err(shape)?)
            }
            MemoryKind::Gotcha
            | MemoryKind::Decision
            | MemoryKind::Preference
            | MemoryKind::Pattern
            | MemoryKind::Requirement
            | MemoryKind::ModuleInsight => {
                return Err(PayloadError::NotWanted(kind));
            }
        };
        match payload.find_inconsistency() {
            Some(problem) => Err(PayloadError::Sense { kind, problem }),
            None => Ok(payload),
        }
    }

    pub fn to_json(&self) -> Value {
        let json = match self {
            Self::ErrorPattern(it) => serde_json::to_value(it),
            Self::PrefetchPattern(it) => serde_json::to_value(it),
            Self::WorkState(it) => serde_json::to_value(it),
            Self::CausalDependency(it) => serde_json::to_value(it),
            Self::TaskCalibration(it) => serde_json::to_value(it),
            Self::E2eObservation(it) => serde_json::to_value(it),
            Self::DeadEnd(it) => serde_json::to_value(it),
            Self::WorkUnitOutcome(it) => serde_json::to_value(it),
            Self::WorkflowRecipe(it) => serde_json::to_value(it),
            Self::ContextCost(it) => serde_json::to_value(it),
        };
        json.expect("payloads have string keys and finite numbers")
    }

    pub const fn kind(&self) -> MemoryKind {
        match self {
            Self::ErrorPattern(_) => MemoryKind::ErrorPattern,
            Self::PrefetchPattern(_) => MemoryKind::PrefetchPattern,
            Self::WorkState(_) => MemoryKind::WorkState,
            Self::CausalDependency(_) => MemoryKind::CausalDependency,
            Self::TaskCalibration(_) => MemoryKind::TaskCalibration,
            Self::E2eObservation(_) => MemoryKind::E2eObservation,
            Self::DeadEnd(_) => MemoryKind::DeadEnd,
            Self::WorkUnitOutcome(_) => MemoryKind::WorkUnitOutcome,
            Self::WorkflowRecipe(_) => MemoryKind::WorkflowRecipe,
            Self::ContextCost(_) => MemoryKind::ContextCost,
        }
    }

    /// Checks constraints on the values of parsed fields. The result continues the sentence "the payload of a
    /// `kind` …".
    fn find_inconsistency(&self) -> Option<&'static str> {
        let blank = |it: &str| it.trim().is_empty();
        match self {
            Self::ErrorPattern(it) if blank(&it.fingerprint) || blank(&it.message) => {
                Some("needs a fingerprint and a message")
            }
            Self::PrefetchPattern(it) if it.always.is_empty() && it.often.is_empty() => {
                Some("names no file")
            }
            Self::CausalDependency(it) if blank(&it.from) || blank(&it.to) || it.from == it.to => {
                Some("needs two different ends")
            }
            Self::TaskCalibration(it) if it.samples == 0 || it.avg_planned == 0 => {
                Some("needs at least one sample with planned steps")
            }
            Self::DeadEnd(it) if blank(&it.tried) || blank(&it.why_failed) => {
                Some("must say what was tried and why it failed")
            }
            Self::WorkUnitOutcome(it) if it.succeeded && it.failure_reason.is_some() => {
                Some("succeeded and has a failure reason")
            }
            Self::WorkflowRecipe(it) => recipe_inconsistency(it),
            Self::ContextCost(it) if it.samples == 0 => Some("needs at least one sample"),
            // Consistent, or a kind without constraints.
            _ => None,
        }
    }
}

fn recipe_inconsistency(recipe: &WorkflowRecipe) -> Option<&'static str> {
    if recipe.steps.is_empty() {
        return Some("has no steps");
    }
    let in_order = recipe.steps.windows(2).all(|it| it[0].order < it[1].order);
    if !in_order {
        return Some("has steps that are not in order");
    }
    (Timestamp(recipe.last_validated_at) < Timestamp(0)).then_some("was validated before 1970")
}

impl std::fmt::Display for PayloadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotWanted(kind) => write!(f, "a `{kind}` carries no payload"),
            Self::Shape { kind, problem } => {
                write!(f, "the payload of a `{kind}` is malformed: {problem}")
            }
            Self::Sense { kind, problem } => write!(f, "the payload of a `{kind}` {problem}"),
        }
    }
}

impl std::error::Error for PayloadError {}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Checks the JSON of a parsed payload, or the error. A payload must be parsed again from its own JSON.
    fn check(kind: MemoryKind, json: &str, expect: Expect) {
        let json: Value = serde_json::from_str(json).unwrap();
        let shown = match Payload::parse(kind, &json) {
            Ok(payload) => {
                assert_eq!(payload.kind(), kind);
                assert_eq!(Payload::parse(kind, &payload.to_json()).unwrap(), payload);
                payload.to_json().to_string()
            }
            Err(error) => format!("error: {error}"),
        };
        expect.assert_eq(&shown);
    }

    #[test]
    fn payloads_are_validated_by_kind() {
        check(
            MemoryKind::DeadEnd,
            r#"{"tried":"sed","why_failed":"no -i on mac"}"#,
            expect![[
                r#"{"task_context":null,"tried":"sed","used_instead":null,"why_failed":"no -i on mac"}"#
            ]],
        );
        check(
            MemoryKind::DeadEnd,
            r#"{"tried":" ","why_failed":"x"}"#,
            expect!["error: the payload of a `dead_end` must say what was tried and why it failed"],
        );
        check(MemoryKind::Gotcha, "{}", expect!["error: a `gotcha` carries no payload"]);
        check(
            MemoryKind::ErrorPattern,
            r#"{"fingerprint":"a","tool":"shell","message":"m","resolution":null,"x":1}"#,
            expect![
                "error: the payload of a `error_pattern` is malformed: unknown field `x`, expected one of `fingerprint`, `tool`, `message`, `resolution`"
            ],
        );
        check(
            MemoryKind::PrefetchPattern,
            r#"{"always":["../x"],"often":[],"session_count":3}"#,
            expect![
                "error: the payload of a `prefetch_pattern` is malformed: `../x` leaves the project root"
            ],
        );
        check(
            MemoryKind::WorkflowRecipe,
            r#"{"task_pattern":"add flag","steps":[{"order":2,"description":"b"},{"order":1,"description":"a"}],"success_count":3,"last_validated_at":1}"#,
            expect!["error: the payload of a `workflow_recipe` has steps that are not in order"],
        );
        check(MemoryKind::WorkState, r#"{"todo":["a"]}"#, expect![[r#"{"todo":["a"]}"#]]);
        check(
            MemoryKind::E2eObservation,
            r#"{"kind":"timing","tool":"browser"}"#,
            expect![[r#"{"app_state":null,"kind":"timing","tool":"browser"}"#]],
        );
        check(
            MemoryKind::TaskCalibration,
            r#"{"module":"m","methodology":"tdd","avg_actual":9,"avg_planned":3,"ratio":3000,"samples":2}"#,
            expect![[
                r#"{"avg_actual":9,"avg_planned":3,"methodology":"tdd","module":"m","ratio":3000,"samples":2}"#
            ]],
        );
        check(
            MemoryKind::ContextCost,
            r#"{"module":"m","avg_tokens":9,"p90_tokens":12,"samples":0}"#,
            expect!["error: the payload of a `context_cost` needs at least one sample"],
        );
        check(
            MemoryKind::WorkUnitOutcome,
            r#"{"succeeded":true,"files_modified":["a.rs"],"decisions":[],"steps":3,"tokens":10,"retries":0,"failure_reason":"no"}"#,
            expect![
                "error: the payload of a `work_unit_outcome` succeeded and has a failure reason"
            ],
        );
        check(
            MemoryKind::CausalDependency,
            r#"{"from":"a","to":"a","sessions":[],"lift":100,"directed":true}"#,
            expect!["error: the payload of a `causal_dependency` needs two different ends"],
        );
    }
}
