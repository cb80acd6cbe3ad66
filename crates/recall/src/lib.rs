//! Retrieval logic: scores, fuses, ranks, packs and explains candidates.
//!
//! Pure and synchronous. Vectors and memories come in as values; this crate computes no embeddings
//! and reads no database and no clock.

mod query_class;
mod ranking_stage;
mod search_purpose;

pub mod file_boost;
mod nearest_slots;
mod quantized_vectors;
mod slot_set;

mod bm25;
mod centering;
pub mod dates;
mod dot;
mod fusion;
mod ranking;
mod relative_time;
mod relevance_verdict;
mod rescoring;
mod score;
pub mod session_neighbours;

pub mod change_decay;
pub mod frame;
mod pack;
pub mod phase_weights;
pub mod pipeline;
mod silence_reason;
pub mod step_decision;
mod tokens;

mod inverted_lists;
mod kmeans;
mod simd;

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
