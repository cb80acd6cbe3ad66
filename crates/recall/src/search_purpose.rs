//! Purposes of a search: score weights, eligibility and optional stages.

use model::{MemoryStatus, PerMille, closed};

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

/// Settings of one purpose. Weights are per mille and add up to 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchPurposeRow {
    pub relevance: u16,
    pub recency: u16,
    pub frequency: u16,
    /// Influence of the current confidence on the score. Explicit results show the confidence, so it
    /// matters less there than for unsolicited notes.
    pub confidence_weight: u16,
    /// Memories below this confidence are excluded.
    pub min_confidence: PerMille,
    /// True if an agent gets the result unasked; then only live memories are eligible.
    pub is_unsolicited: bool,
    /// True if there is time for a reranker.
    pub uses_reranker: bool,
    /// True if a second search by `HyDE` (Gao et al. 2022) is worth its time.
    pub uses_hyde: bool,
}

impl SearchPurpose {
    #[rustfmt::skip]
    pub const fn row(self) -> SearchPurposeRow {
        match self {
            //                  relevance recency frequency sureness least automatic reranks imagines
            Self::Search => row(960,      25,     15,       200,     0,    false,    true,   true),
            Self::Start  => row(600,      250,    150,      1000,    400,  true,     true,   false),
            Self::File | Self::Step => row(600, 250, 150,   1000,    400,  true,     false,  false),
        }
    }

    /// Eligible statuses; an explicit filter overrides them.
    pub const fn statuses(self) -> &'static [MemoryStatus] {
        if self.row().is_unsolicited {
            &[MemoryStatus::Live]
        } else {
            &[
                MemoryStatus::Tainted,
                MemoryStatus::Stale,
                MemoryStatus::NeedsReview,
                MemoryStatus::Live,
            ]
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "one for each column of the table above")]
const fn row(
    relevance: u16,
    recency: u16,
    frequency: u16,
    sureness: u16,
    least: u16,
    automatic: bool,
    reranks: bool,
    imagines: bool,
) -> SearchPurposeRow {
    assert!(relevance + recency + frequency == 1000, "a row must add up to 1000");
    assert!(sureness <= 1000, "a share");
    let least = PerMille::new(least);
    SearchPurposeRow {
        relevance,
        recency,
        frequency,
        confidence_weight: sureness,
        min_confidence: least,
        is_unsolicited: automatic,
        uses_reranker: reranks,
        uses_hyde: imagines,
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
