//! Retrieval and injection: search, context blocks, notes at hook events.
//!
//! The ranking itself is in the pure crate `recall`. This module reads candidates, calls models and
//! puts the parts together. Everything here takes a `ProjectReader` and cannot change a notebook,
//! with two exceptions: `embedding` writes vectors and `missing_references` flags memories
//! for review. The shown log, a file per session, is written as well.

// Search, in the order of the pipeline.
mod graph_search;
pub(crate) mod indexed_notebook;
mod keyword_search;
mod notebook_index;
mod query_plan;
mod ranking;
pub(crate) mod search;
mod search_results;
mod unmerged_branches;

// Vectors.
pub(crate) mod embedding;
mod embedding_text;

// Context blocks.
mod conflict_groups;
pub(crate) mod context;
mod context_builder;
mod context_request;
mod duplicates;
mod map_summary;
pub(crate) mod note_format;
pub(crate) mod pipeline_context;
pub(crate) mod staleness;

// Injection.
mod error_fix;
pub(crate) mod file_warnings;
pub(crate) mod injection;
pub(crate) mod missing_references;
mod recent_files;
mod recorded_notes;
pub(crate) mod shown_log;
pub(crate) mod step_context;

pub(crate) mod generated_answer;

pub use context_request::{
    ContextBlock, ContextPlacement, ContextRequest, MemoryBreadth, NoteDetail, OmissionReason,
    SectionChoice,
};
pub use embedding::{EmbeddingCoverage, EmbeddingReport};
pub use file_warnings::WarningSelection;
pub use generated_answer::{AnsweredQuery, GeneratedAnswer};
pub(crate) use indexed_notebook::SharedIndex;
pub use injection::{Injection, shell_files_and_searches};
pub use pipeline_context::{MatchedRecipe, StopLimit};
pub use search_results::{HitExplanation, RejectionReason, SearchHit, SearchQuery, SearchResults};
pub(crate) use shown_log::parse_trial_milestone;
pub use step_context::{StepCandidate, StepContext, StepRequest};
pub(crate) use unmerged_branches::UnmergedBranches;
