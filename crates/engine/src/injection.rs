//! The functions behind [`Injector`](crate::Injector): notes that an agent gets without asking, and
//! context blocks on request.
//!
//! There are three entry points. `hook_injection` answers a hook event: with the fix of an error
//! (`error_fix`), warnings about touched files (`file_warnings`), statistics about edited ones
//! (`edit_notes`) or a context block.
//! `session_context` and `pipeline_context` build context blocks: candidates are collected
//! (`context_candidates`), then checked and packed (`context_builder`). `step_context` selects a note
//! between two steps. All of them leave out what the session was shown before (`shown_notes`) and
//! memories that refer to missing code (`missing_references`).
//!
//! Everything takes a `ProjectReader` and writes only the shown log, a file per session, and the spool
//! of the injection log, a file per project. Exceptions are the part of `missing_references` that flags
//! memories for review, and the part of `injection_log` that moves the spool into the notebooks.

// Hook events.
mod edit_notes;
mod error_fix;
pub(crate) mod file_warnings;
pub(crate) mod hook_injection;

// Context blocks.
mod conflict_groups;
mod context_builder;
mod context_candidates;
mod context_request;
mod duplicates;
mod extra_sections;
mod map_summary;
pub(crate) mod pipeline_context;
pub(crate) mod session_context;

// Notes between two steps.
mod recorded_notes;
pub(crate) mod step_context;

// Shared.
pub(crate) mod injection_log;
pub(crate) mod missing_references;
pub(crate) mod note_format;
mod recent_files;
pub(crate) mod shown_notes;
pub(crate) mod trial_group;

pub use context_request::{
    ContextBlock, ContextPlacement, ContextRequest, MemoryBreadth, NoteDetail, OmissionReason,
    SectionChoice,
};
pub use file_warnings::WarningSelection;
pub use hook_injection::{Injection, shell_files_and_searches};
pub use injection_log::InjectionReport;
pub use pipeline_context::{MatchedRecipe, StopLimit};
pub use step_context::{StepCandidate, StepContext, StepRequest};
