//! The request for a context block, and the block that answers it. Plain data: `serve`, `mcp` and
//! `cli` fill a [`ContextRequest`]; `session_context` and `pipeline_context` answer it.
//!
//! A context block is a text of notes that fits a token budget and is put before an agent. The *shown
//! log* of a session records what it was shown, so that nothing is shown twice. *Phase* is the kind of
//! work; a *pipeline stage* is a step of a development pipeline (plan, check, retry, specification).

use std::collections::HashSet;

use model::{MemoryId, PerMille, Phase, ProjectPath};
use observe::FilePrediction;
use recall::{BudgetSource, DisabledStages, PipelineContext, QueryClass, RelevanceVerdict};
use store::ShownEntry;

use crate::retrieval::{RejectionReason, SearchHit};

/// A request for a block of notes to put before an agent.
#[derive(Clone, Debug)]
pub struct ContextRequest {
    /// The task, as free text; empty if there is none yet.
    pub task: String,
    /// The files the agent works on.
    pub files: Vec<ProjectPath>,
    pub phase: Phase,
    /// Tokens of the whole block; `None` takes the phase's default.
    pub token_budget: Option<u32>,
    pub detail: NoteDetail,
    pub disabled_stages: DisabledStages,
    /// Memories the session was shown before; they are left out.
    pub shown_memories: HashSet<MemoryId>,
    /// Memories that the session lost with an earlier conversation; they are shown again if they are
    /// still live.
    pub reinject: HashSet<MemoryId>,
    pub breadth: MemoryBreadth,
    /// The section about errors of earlier sessions. A request with a task never has it.
    pub expected_errors: SectionChoice,
    /// Everything the session was shown before, texts that are not memories included.
    pub shown_texts: HashSet<ShownEntry>,
    /// Files the session touched; memories about them and their neighbours rank higher.
    pub nearby_files: Vec<ProjectPath>,
    /// The modules of the task.
    pub modules: Vec<String>,
    /// The pipeline stage that asks; the block is divided into its sections.
    pub pipeline: Option<PipelineContext>,
    /// The report of a failed attempt. It is repeated at the end of a block that has notes.
    pub failure_report: String,
    /// The host that gets the block. Memories that its own rule files hold are left out.
    pub host: Option<&'static str>,
    /// Confidence that a memory must exceed unless it is pinned; set by the trust level.
    pub min_confidence: PerMille,
}

/// The length of each note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteDetail {
    Summary,
    /// The whole text of the memory.
    Full,
}

/// The memories that a block may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryBreadth {
    All,
    /// Only memories that concern any work: pinned ones, those without a file, and errors that were not
    /// learned here. The others are injected when the agent touches their file or meets their error.
    GeneralOnly,
}

/// The presence of an optional section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionChoice {
    Include,
    Omit,
}

impl ContextRequest {
    /// A request that knows only the phase.
    pub fn new(phase: Phase) -> Self {
        Self {
            task: String::new(),
            files: Vec::new(),
            phase,
            token_budget: None,
            detail: NoteDetail::Summary,
            disabled_stages: DisabledStages::default(),
            shown_memories: HashSet::new(),
            reinject: HashSet::new(),
            breadth: MemoryBreadth::All,
            expected_errors: SectionChoice::Include,
            shown_texts: HashSet::new(),
            nearby_files: Vec::new(),
            modules: Vec::new(),
            pipeline: None,
            failure_report: String::new(),
            host: None,
            min_confidence: PerMille::ZERO,
        }
    }

    /// A request that knows only the pipeline stage.
    pub fn for_pipeline(pipeline: PipelineContext) -> Self {
        Self { pipeline: Some(pipeline), ..Self::new(pipeline.row().phase) }
    }

    /// True if a search by text answers the request. The caller then embeds new memories first, with
    /// [`EmbeddingIndexer::embed_new_memories`](crate::EmbeddingIndexer::embed_new_memories).
    pub fn has_search_text(&self) -> bool {
        !self.task.trim().is_empty() || !self.failure_report.trim().is_empty()
    }
}

/// A block of notes for an agent, and the reasons for everything in it and left out of it.
#[derive(Clone, Debug)]
pub struct ContextBlock {
    /// Empty if no note is worth showing.
    pub text: String,
    /// Tokens of `text`, at most `token_budget`.
    pub used_tokens: u32,
    pub token_budget: u32,
    pub phase: Phase,
    /// The section about errors of earlier sessions, as `text` has it; empty if there is none.
    pub expected_errors: String,
    /// The parts of `text` that are not memories, as entries of the shown log.
    pub shown_entries: Vec<ShownEntry>,
    /// The files that the task will probably need. `None` if they were not looked up, because there
    /// is no task or the session was shown its files before.
    pub predicted_files: Option<FilePrediction>,
    /// In the order of the text.
    pub placed: Vec<ContextPlacement>,
    /// Best first.
    pub omitted: Vec<(SearchHit, OmissionReason)>,
    /// The class of the task (an identifier, a question …), if there is one.
    pub query_class: Option<QueryClass>,
    /// The decision of the search whether any memory is relevant to the task.
    pub verdict: RelevanceVerdict,
    /// Problems that the user should know of.
    pub notices: Vec<String>,
}

/// A memory in a context block.
#[derive(Clone, Debug)]
pub struct ContextPlacement {
    pub hit: SearchHit,
    /// The file heading it is under.
    pub file: Option<ProjectPath>,
    /// The section heading it is under, in a pipeline context.
    pub section: Option<&'static str>,
    /// Tokens it added to the block.
    pub tokens: u32,
    /// The part of the budget that paid for it: the share reserved for its type, or the rest.
    pub paid_by: BudgetSource,
}

/// The reason why a memory is not in a context block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OmissionReason {
    /// It was rejected before the budget counted.
    Excluded(RejectionReason),
    /// It needs `cost` tokens, and only `left` were left at the end.
    OverBudget { cost: u32, left: u32 },
}

impl OmissionReason {
    /// The reason as JSON carries it.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Excluded(reason) => reason.slug(),
            Self::OverBudget { .. } => "over_budget",
        }
    }

    /// The reason as a phrase for people.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Excluded(reason) => reason.description(),
            Self::OverBudget { .. } => "does not fit the budget",
        }
    }
}
