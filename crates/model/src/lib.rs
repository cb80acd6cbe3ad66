//! Domain types of Waylore, shared by all crates: the memory, the events of sessions, ids, closed enums
//! and tables that more than one crate reads.
//!
//! Pure and synchronous. The crate reads no clock (`now` is always an argument), does no I/O, and knows no
//! SQL and no scores. serde is derived only for stored formats (events, payloads, slugs).

mod answered_claim;
mod closed;
mod cpu;
mod id;
mod permille;
mod time;

mod path;
mod text;
pub mod words;

pub mod codec;
pub mod hasher;

mod kind;
mod label;
mod payload;
mod relation;

mod deprecation;
mod lifecycle;
mod memory;

mod content_channel;
mod injection;
mod methodology;
mod phase;
mod session;
mod signal;
mod tool;
mod trial;
mod trust;
mod vendored;

mod event;

pub use answered_claim::{AnswerRefusal, AnsweredScope, QuoteSource};
pub use closed::{UnknownWord, edit_distance};
pub use content_channel::{ChannelGuard, ContentChannel, ContentChannelRow};
pub use cpu::{CpuLevel, InstructionSet};
pub use deprecation::Deprecation;
pub use event::{
    AgentReasoning, ContextCompaction, EXCERPT_TAIL_BYTES, Event, EventEnvelope, EventError,
    EventKind, LineSpan, MAX_EVENT_ID_BYTES, MAX_EVENT_LINE_BYTES, MAX_EXCERPT, RecordedNote,
    SessionEnd, SessionStart, StepComplete, TextExcerpt, TokenUsage, ToolArgs, ToolCall,
    ToolResult, UserMessage, UserMessageKind, ValidationResult,
};
pub use id::{MemoryId, ProjectId, SessionId};
pub use injection::{InjectionMoment, NoteSubject};
pub use kind::{CustomType, CustomTypeError, MemoryKind, MemoryKindRow, MemoryType};
pub use label::{Actor, Grain, MemoryScope, MemorySource, Visibility};
pub use lifecycle::{
    CANDIDATE_LIFETIME_MS, DAY_MS, DECAY_FLOOR_HALF_LIVES, MAX_COUNTED_GAP_MS, QuietSpan,
    RESTORE_WINDOW_MS, current_confidence, lived_millis,
};
pub use memory::{
    Memory, MemoryFlags, MemoryStatus, SoftStates, SymbolAnchor, UsageCounters, WorkUnit,
};
pub use methodology::{METHODOLOGIES, Methodology, RoleHandover};
pub use path::{PathError, ProjectPath};
pub use payload::{
    CausalDependency, ContextCost, DeadEnd, E2eKind, E2eObservation, ErrorPattern, Payload,
    PayloadError, PrefetchPattern, RecipeStep, StatedPayload, TaskCalibration, WorkUnitOutcome,
    WorkflowRecipe,
};
pub use permille::PerMille;
pub use phase::Phase;
pub use relation::{Relation, RelationKind, RelationTarget};
pub use session::{
    DEFERRED_DAYS, SESSION_TYPE_RULES, SessionBehaviour, SessionOutcome, SessionType,
    SessionTypeRule, ValidationBasis, ValidationKind, infer_session_type,
};
pub use signal::{DropReason, SignalKind, SignalRow, SignalUse};
pub use text::{
    MAX_CITATION, MAX_CONTENT, MAX_LABEL, NOTES_TAG, TextError, clean_label, clean_text,
    elide_middle, fingerprint_text, is_invisible,
};
pub use time::{HybridTimestamp, Timestamp};
pub use tool::{ExternalContent, FileTouch, OWN_SERVER_TOOLS, Tool, ToolKind, ToolRow};
pub use trial::TrialGroup;
pub use trust::{InjectionTier, ReviewMode, TrustAdvance, TrustLevel, TrustRequirements, TrustRow};
pub use vendored::{VENDORED_FOLDERS, is_vendored_path};
