//! The functions behind [`Retriever`](crate::Retriever) and
//! [`EmbeddingIndexer`](crate::EmbeddingIndexer): search, and the vectors that it needs.
//!
//! `search.rs` is the entry point and the pipeline. It plans (`query_plan`), retrieves candidates
//! from each notebook's index (`candidate_retrieval` with its paths `keyword_search` and
//! `graph_search`), fuses and ranks them (`search_stages`), and returns `search_results`. The arithmetic of
//! scores is in the pure crate `recall`; the files here read from the store, call models and put the
//! parts together. Everything takes a `ProjectReader` and cannot change a notebook, except
//! `embedding`, which writes vectors.

// Search.
mod assessed_memory;
mod candidate_retrieval;
mod file_renames;
mod graph_search;
mod keyword_search;
mod query_plan;
pub(crate) mod search;
mod search_results;
mod search_stages;
mod unmerged_branches;

// The index that a search runs against.
mod notebook_index;
pub(crate) mod shared_index;

// Vectors.
pub(crate) mod embedding;
mod embedding_text;
mod vector_code;

// On top of a search.
pub(crate) mod generated_answer;
pub(crate) mod staleness;

pub(crate) use assessed_memory::{
    AssessedMemory, assess_memory, has_existing_file, rank_equally_relevant,
};
pub(crate) use candidate_retrieval::damaged_vector_notice;
pub use embedding::{EmbeddingCoverage, EmbeddingReport};
pub(crate) use file_renames::{FileRenames, RenameCache, find_renames};
pub use generated_answer::{AnsweredQuery, GeneratedAnswer};
pub use search_results::{HitExplanation, RejectionReason, SearchHit, SearchQuery, SearchResults};
pub(crate) use shared_index::SharedIndex;
pub(crate) use unmerged_branches::{UnmergedBranches, list_unmerged_branches};
