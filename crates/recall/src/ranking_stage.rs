//! Names of the retrieval stages, for ablation: measurements switch single stages off to find out what
//! each contributes. In normal use every stage is enabled.

use model::closed;

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// An optional stage of retrieval.
    pub enum RankingStage : "stage" {
        /// Vector search.
        Dense = "dense",
        /// Keyword search.
        Keyword = "keyword",
        /// Graph search: memories about files near the recent or named ones, if the code is indexed.
        Graph = "graph",
        /// Fusion of scores; if disabled, ranks are fused.
        Scores = "scores",
        /// Boost of memories recorded next to a good hit in the same session.
        Neighbours = "neighbours",
        /// Boost of memories about files near those of the best hits.
        Boost = "boost",
        /// Boost of memories from a date in the query.
        Dates = "dates",
        /// Recency and frequency of use.
        Habit = "habit",
        /// Weights of the phase.
        Phase = "phase",
        /// Trust in the source and current confidence.
        Trust = "trust",
        /// Reranking by a cross-encoder, if configured.
        Rerank = "rerank",
        /// Expansion by related memories.
        Expand = "expand",
        /// A second search with a generated answer (HyDE), if a text provider is configured.
        Hyde = "hyde",
        /// Abstention if nothing is relevant.
        Abstain = "abstain",
        /// Removal of near duplicates.
        Duplicates = "duplicates",
    }
}

/// The stages that are switched off. Empty in normal use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DisabledStages(pub Vec<RankingStage>);

impl DisabledStages {
    pub fn is_disabled(&self, stage: RankingStage) -> bool {
        self.0.contains(&stage)
    }

    pub fn is_enabled(&self, stage: RankingStage) -> bool {
        !self.is_disabled(stage)
    }
}
