//! Retrieval logic: scores, fuses, ranks, packs and explains candidates.
//!
//! The engine calls the stages in the order of the modules below: classify the query, search by
//! vector and keyword, fuse and boost the hits, decide whether any is relevant, rank them, and pack
//! the result into a context.
//!
//! Pure and synchronous. Vectors and memories come in as values; this crate computes no embeddings
//! and reads no database and no clock. Searches identify a memory by a number of the caller: vector
//! search calls it *slot*, keyword search *number* (both unique within a notebook), and from fusion on
//! it is the *key*, unique within the query.

// The query and its settings.
mod query_class;
mod ranking_stage;
mod search_purpose;

// Vector search.
mod inverted_lists;
mod kmeans;
mod nearest_slots;
mod quantized_vectors;
mod simd;
mod slot_set;

// Scores of hits, fusion and boosts.
mod bm25;
mod centering;
pub mod dates;
mod dot;
pub mod file_boost;
mod fusion;
mod relative_time;
mod rescoring;
pub mod session_neighbours;

// Ranking and abstention.
pub mod change_decay;
pub mod phase_weights;
mod ranking;
mod relevance_verdict;
mod score;

// Notes and contexts for an agent.
pub mod frame;
mod pack;
pub mod pipeline;
mod silence_reason;
pub mod step_decision;
mod tokens;

pub use bm25::{Bm25, KeywordMatch, best_matches, rarest_terms};
pub use centering::{PRIOR_VECTORS, QueryStats, SimilarityPrior, VectorStats};
pub use dot::dot_product;
pub use fusion::{
    FusedHit, FusionRule, PathHit, PathHits, PathTrace, RetrievalPath, fuse_hits, normalize_by_best,
};
pub use inverted_lists::ClusterPlan;
pub use nearest_slots::{NearSlot, nearest_slots};
pub use pack::{
    BudgetSource, PackItem, PackRequest, PackedContext, PlacedMemory, UnpackedReason, pack_context,
};
pub use pipeline::PipelineContext;
pub use quantized_vectors::{CodeError, QuantizedVectors, StaleClusterPlan};
pub use query_class::{PathWeights, QueryClass, classify_query};
pub use ranking::{ExclusionReason, RankCandidate, RankedHit, rank_candidates};
pub use ranking_stage::{DisabledStages, RankingStage};
pub use relevance_verdict::{NearestScore, RelevanceEvidence, RelevanceVerdict, judge_relevance};
pub use rescoring::rescore_by_exact;
pub use score::{FileVolatility, MemoryCondition, ScoreFactors};
pub use search_purpose::{SearchPurpose, SearchPurposeRow};
pub use silence_reason::SilenceReason;
pub use slot_set::{MAX_SLOTS, SlotSet};
pub use tokens::estimate_tokens;
