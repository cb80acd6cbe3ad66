//! Scores and sorts candidates; exclusions carry a reason.
//!
//! Input are the fused hits (one score from vector, keyword and graph search) with their memories,
//! read by the engine. A *phase* is the kind of work an agent does, a *purpose* why the search runs
//! (an explicit search, or a note that an agent gets unasked). Excluded candidates stay in the result,
//! because the engine shows them in explanations and filters them afterwards.
//!
//! For two new memories of a trusted source at the start of a session (see `search_purpose`):
//!
//! ```text
//! key   relevance   confidence   score
//!   2   0.6         0.95         (0.6 × 0.6 + 0.25 × 1) × 0.95 = 0.58
//!   1   0.9         0.30         (0.6 × 0.9 + 0.25 × 1) × 0.30 = 0.24   LowConfidence: below 0.40
//! ```

use model::{Memory, Phase};

use crate::fusion::FusedHit;
use crate::ranking_stage::{DisabledStages, RankingStage};
use crate::score::{self, MemoryCondition, ScoreFactors};
use crate::search_purpose::SearchPurposeRow;

/// A retrieved memory with its current condition.
#[derive(Clone, Debug)]
pub struct RankCandidate<'a> {
    pub memory: &'a Memory,
    pub condition: MemoryCondition,
    pub fused: FusedHit,
    /// Relevance from 0 to 1: the fused score, or that of a reranker.
    pub relevance: f32,
    /// True if it names files and none of them exists.
    pub files_missing: bool,
}

/// A scored candidate.
#[derive(Clone, Debug)]
pub struct RankedHit {
    pub fused: FusedHit,
    pub factors: ScoreFactors,
    /// The reason for exclusion, if any.
    pub excluded: Option<ExclusionReason>,
}

/// Reasons to exclude a candidate. The engine reports them as its own `RejectionReason`s, which have the
/// same names and further ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExclusionReason {
    /// The confidence is below the minimum of the purpose.
    LowConfidence,
    /// None of the files it names exists.
    FilesMissing,
}

/// Scores every candidate and sorts best first, ties by key. Excluded ones keep their position.
pub fn rank_candidates(
    candidates: &[RankCandidate<'_>],
    phase: Option<Phase>,
    purpose: SearchPurposeRow,
    stages: &DisabledStages,
) -> Vec<RankedHit> {
    let rank_one = |candidate: &RankCandidate<'_>| {
        let RankCandidate { memory, condition, relevance, .. } = candidate;
        RankedHit {
            fused: candidate.fused.clone(),
            factors: score::score_memory(memory, *condition, *relevance, phase, purpose, stages),
            excluded: exclusion_reason(candidate, purpose, stages),
        }
    };
    let mut res: Vec<RankedHit> = candidates.iter().map(rank_one).collect();
    res.sort_by(|a, b| {
        b.factors.score.total_cmp(&a.factors.score).then(a.fused.key.cmp(&b.fused.key))
    });
    res
}

fn exclusion_reason(
    candidate: &RankCandidate<'_>,
    purpose: SearchPurposeRow,
    stages: &DisabledStages,
) -> Option<ExclusionReason> {
    // A user who searches may still want to know what was recorded about deleted files.
    if candidate.files_missing && purpose.is_unsolicited {
        return Some(ExclusionReason::FilesMissing);
    }
    let is_unsure = candidate.condition.current_confidence < purpose.min_confidence;
    if is_unsure && stages.is_enabled(RankingStage::Trust) {
        return Some(ExclusionReason::LowConfidence);
    }
    None
}
