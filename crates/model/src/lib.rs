//! The words of Waylore: ids, closed enums, shared tables, the memory itself.
//!
//! Pure and synchronous. Knows no time, no I/O, no SQL, no scores: `now` is always an argument.
//! serde is derived only for what is a stored format by definition (events, payloads, slugs).

mod closed;
mod id;
mod permille;
mod time;

mod path;
mod text;
pub mod words;

mod kind;
mod label;
mod payload;
mod relation;

mod lifecycle;
mod memory;

mod methodology;
mod phase;
mod session;
mod signal;
mod tool;
mod trial;
mod trust;

mod event;

pub use closed::UnknownWord;
pub use event::{
    Compaction, Envelope, Event, EventError, EventKind, Excerpt, LineSpan, MAX_EVENT_ID,
    MAX_EXCERPT, MAX_LINE, Reasoning, RecordedNote, SessionEnd, SessionStart, StepComplete,
    TokenUsage, ToolArgs, ToolCall, ToolResult, UserMessage, Validation,
};
pub use id::{MemoryId, ProjectId, SessionId};
pub use kind::{CustomType, CustomTypeError, Kind, KindRow, MemoryType};
pub use label::{Actor, Grain, Scope, Source, Visibility};
pub use lifecycle::{
    DAY, DECAY_FLOOR_HALF_LIVES, LONGEST_GAP, QuietSpan, RESTORABLE, age, current_confidence,
};
pub use memory::{Anchor, Counters, Flags, Memory, SoftStates, Status, WorkUnit};
pub use methodology::{METHODOLOGIES, Methodology, Relay};
pub use path::{PathError, ProjectPath};
pub use payload::{
    CausalDependency, ContextCost, DeadEnd, E2eKind, E2eObservation, ErrorPattern, Payload,
    PayloadError, PrefetchPattern, RecipeStep, TaskCalibration, WorkUnitOutcome, WorkflowRecipe,
};
pub use permille::PerMille;
pub use phase::Phase;
pub use relation::{Relation, RelationKind, RelationTarget};
pub use session::{
    Behaviour, DEFERRED_DAYS, INFERENCES, Inference, Outcome, SessionType, ValidationBasis,
    ValidationKind, infer_session_type,
};
pub use signal::{DropReason, SignalKind, SignalRow};
pub use text::{
    MAX_CITATION, MAX_CONTENT, MAX_LABEL, NOTES_TAG, TextError, clean_label, clean_text,
    fingerprint, is_invisible,
};
pub use time::{Hlc, Timestamp};
pub use tool::{External, Tool, ToolKind, ToolRow, Touch};
pub use trial::Group;
pub use trust::{Advance, ReviewMode, Tier, TrustLevel, TrustNeeds, TrustRow};
