//! The query and the results of a search, and the reasons why a memory is not a hit. Plain data:
//! callers build a [`SearchQuery`], `search.rs` answers it.
//!
//! A search has several *retrieval paths* (vectors, keywords, files), whose scores are added up, and
//! then *ranks* the memories by further factors: confidence, age, phase of the work.

use model::{MemoryId, Phase, ProjectPath};
use recall::{
    DisabledStages, PathTrace, QueryClass, RelevanceVerdict, ScoreFactors, SearchPurpose,
};
use store::MemoryFilter;

use crate::{NotebookScope, RatedMemory};

/// A search over memories.
#[derive(Clone, Debug)]
pub struct SearchQuery {
    /// Free text. An empty text lists the newest memories.
    pub text: String,
    /// Files the caller works on. Memories about them and about neighbouring files are candidates.
    pub files: Vec<ProjectPath>,
    /// Restricts the candidates; its limit and offset select the page of results.
    pub filter: MemoryFilter,
    /// The notebook to search; `None` for both.
    pub scope: Option<NotebookScope>,
    /// The kind of work, which prefers some memory types.
    pub phase: Option<Phase>,
    /// The occasion of the search. It sets the least confidence and the stages that have time to run.
    pub purpose: SearchPurpose,
    /// Stages that this search skips.
    pub disabled_stages: DisabledStages,
}

/// The ranked answer to a search, with everything that was left out.
#[derive(Clone, Debug)]
pub struct SearchResults {
    /// Best first. Empty when nothing is relevant.
    pub hits: Vec<SearchHit>,
    /// Candidates that are not hits, with the reason, best first.
    pub excluded: Vec<(SearchHit, RejectionReason)>,
    /// The kind of text: an identifier, a question …
    pub query_class: QueryClass,
    /// The decision whether any memory is relevant to the query.
    pub verdict: RelevanceVerdict,
    /// Degradations the user should know of: a provider that failed, memories without a vector.
    pub notices: Vec<String>,
}

/// A memory found by a search.
#[derive(Clone, Debug)]
pub struct SearchHit {
    pub rated: RatedMemory,
    /// The final score, by which hits are ranked.
    pub score: f32,
    pub explanation: HitExplanation,
}

/// The reasons for the rank of a hit.
#[derive(Clone, Debug)]
pub struct HitExplanation {
    /// Score and rank in each retrieval path that found it.
    pub traces: Vec<PathTrace>,
    /// Query terms that occur in it.
    pub matched_terms: Vec<String>,
    /// Score gained from memories written right before and after it.
    pub neighbour_boost: f32,
    /// Score gained because its files are neighbours of the best hits' files.
    pub file_boost: f32,
    /// Relevance, confidence and the other factors of the final score.
    pub factors: ScoreFactors,
    /// Score of the reranker, 0 to 1.
    pub rerank_score: Option<f32>,
    /// The hit that links to it, if the search itself did not find it.
    pub linked_from: Option<MemoryId>,
    /// Reasons for doubt that do not exclude it.
    pub caveats: Vec<String>,
}

/// The reason why a candidate is not shown. Context blocks and injections add the reasons that a
/// search alone does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RejectionReason {
    /// It is not relevant enough, or nothing is.
    Irrelevant,
    /// Its confidence is below the minimum of the purpose.
    LowConfidence,
    /// No section of the pipeline context takes it.
    OutOfPhase,
    /// It repeats a memory with a higher score.
    Duplicate(MemoryId),
    /// Memories with higher scores filled the page, or it is on an earlier page.
    BeyondLimit,
    /// Its confidence satisfies the purpose but not the project's trust level.
    BelowTrustLevel,
    /// None of the files it names exists.
    FilesMissing,
    /// Its file exists, but none of the symbols it is anchored to.
    SymbolsMissing,
    /// The session was shown it before.
    AlreadyShown,
    /// It is about a file, and is injected when the agent touches that file.
    WaitsForFile,
    /// It is the fix of an error, and is injected when a command fails with that error.
    WaitsForError,
    /// Its text is in a rule file that the host reads itself.
    InHostRules,
    /// It reads like an instruction, or is tainted, and the user has not confirmed it.
    Withheld,
}

impl RejectionReason {
    /// The reason as JSON carries it. Part of the promised output: a variant may be renamed, its slug
    /// may not.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Irrelevant => "irrelevant",
            Self::LowConfidence => "unsure",
            Self::OutOfPhase => "out_of_phase",
            Self::Duplicate(_) => "duplicate",
            Self::BeyondLimit => "beyond",
            Self::BelowTrustLevel => "untrusted",
            Self::FilesMissing => "files_gone",
            Self::SymbolsMissing => "symbols_gone",
            Self::AlreadyShown => "shown",
            Self::WaitsForFile => "special",
            Self::WaitsForError => "waits_for_error",
            Self::InHostRules => "read_by_host",
            Self::Withheld => "withheld",
        }
    }

    /// The reason as a phrase for people.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Irrelevant => "not relevant enough",
            Self::LowConfidence => "its confidence is too low",
            Self::OutOfPhase => "not useful in this phase",
            Self::Duplicate(_) => "repeats a better one",
            Self::BeyondLimit => "better ones filled the results",
            Self::BelowTrustLevel => "its confidence is below the trust level",
            Self::FilesMissing => "the files it names are gone",
            Self::SymbolsMissing => "the code it is anchored to is gone",
            Self::AlreadyShown => "was shown in this session already",
            Self::WaitsForFile => "waits until its file is touched",
            Self::WaitsForError => "waits until its error occurs",
            Self::InHostRules => "is in a rule file that the host reads itself",
            Self::Withheld => "reads like an instruction or comes from outside: confirm it first",
        }
    }
}
