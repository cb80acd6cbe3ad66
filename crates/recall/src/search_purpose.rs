//! Table of the purposes of a search: score weights, eligibility and optional stages.
//!
//! An explicit search shows its results with their confidence and may take time. A search on behalf of
//! an agent (session start, file, step) must be fast and returns only memories that are certain enough
//! to be injected unasked. `score`, `ranking` and the engine read the rows. A memory with a confidence
//! of 0.30, for example, is found by `waylore search` and never injected, which needs 0.40.

use model::{PerMille, closed};

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// The purpose of a search.
    pub enum SearchPurpose : "purpose" {
        /// A user or agent asked explicitly.
        Search = "search",
        /// Context at session start.
        Start = "start",
        /// Context for files.
        File = "file",
        /// A note between two steps, unasked.
        Step = "step",
    }
}

/// Settings of one purpose. Weights are per mille.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchPurposeRow {
    /// Weights of the three parts of a score; they add up to 1000.
    pub relevance: u16,
    pub recency: u16,
    pub frequency: u16,
    /// Influence of the current confidence on the score, from 0 (none) to 1000 (proportional).
    /// Explicit results show the confidence, so it matters less there than for unsolicited notes.
    pub confidence_weight: u16,
    /// Memories below this confidence are excluded.
    pub min_confidence: PerMille,
    /// True if an agent gets the result unasked. Then only live memories are eligible: none that is
    /// stale, waits for review or stems from text outside the project.
    pub is_unsolicited: bool,
    /// True if there is time for a reranker.
    pub uses_reranker: bool,
    /// True if `HyDE` (Gao et al. 2022) is worth its time: a second search with an answer that a
    /// language model made up for the query.
    pub uses_hyde: bool,
}

impl SearchPurpose {
    #[rustfmt::skip]
    pub const fn row(self) -> SearchPurposeRow {
        match self {
            //                             relevance recency frequency confidence min-conf. unsolicited reranker hyde
            Self::Search            => row(960,      25,     15,       200,       0,        false,      true,    true),
            Self::Start             => row(600,      250,    150,      1000,      400,      true,       true,    false),
            Self::File | Self::Step => row(600,      250,    150,      1000,      400,      true,       false,   false),
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "one for each column of the table above")]
const fn row(
    relevance: u16,
    recency: u16,
    frequency: u16,
    confidence_weight: u16,
    min_confidence: u16,
    is_unsolicited: bool,
    uses_reranker: bool,
    uses_hyde: bool,
) -> SearchPurposeRow {
    assert!(relevance + recency + frequency == 1000, "a row must add up to 1000");
    assert!(confidence_weight <= 1000, "a share of 1000");
    SearchPurposeRow {
        relevance,
        recency,
        frequency,
        confidence_weight,
        min_confidence: PerMille::new(min_confidence),
        is_unsolicited,
        uses_reranker,
        uses_hyde,
    }
}

// Evaluates every row at compile time, so a bad row never reaches a user.
const _: () = {
    let mut i = 0;
    while i < SearchPurpose::ALL.len() {
        SearchPurpose::ALL[i].row();
        i += 1;
    }
};
