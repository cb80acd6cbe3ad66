//! Scores and sorts candidates; exclusions carry a reason.
//!
//! Input are the fused hits with their memories, read by the engine. Excluded candidates stay in the
//! result, because the engine shows them in explanations and filters them afterwards.

use model::{Memory, Phase};

use crate::fusion::FusedHit;
use crate::phase_weights;
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
    /// True if every file it names is gone.
    pub files_gone: bool,
}

/// A scored candidate.
#[derive(Clone, Debug)]
pub struct RankedHit {
    pub fused: FusedHit,
    pub factors: ScoreFactors,
    /// The reason for exclusion, if any.
    pub excluded: Option<ExclusionReason>,
}

/// Reasons to exclude a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExclusionReason {
    /// The confidence is below the minimum of the purpose.
    Unsure,
    /// The phase excludes its kind.
    OutOfPhase,
    /// All files it names are gone.
    FilesGone,
}

/// Scores every candidate and sorts best first, ties by key. Excluded ones keep their position.
pub fn rank_candidates(
    candidates: &[RankCandidate<'_>],
    phase: Option<Phase>,
    purpose: SearchPurposeRow,
    without: &DisabledStages,
) -> Vec<RankedHit> {
    let rank_one = |candidate: &RankCandidate<'_>| {
        let RankCandidate { memory, condition, relevance, .. } = candidate;
        RankedHit {
            fused: candidate.fused.clone(),
            factors: score::score_memory(memory, *condition, *relevance, phase, purpose, without),
            excluded: exclusion_reason(candidate, phase, purpose, without),
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
    phase: Option<Phase>,
    purpose: SearchPurposeRow,
    without: &DisabledStages,
) -> Option<ExclusionReason> {
    // Who searches may still want to know what was recorded about deleted files.
    if candidate.files_gone && purpose.is_unsolicited {
        return Some(ExclusionReason::FilesGone);
    }
    if candidate.condition.current_confidence < purpose.min_confidence
        && without.is_enabled(RankingStage::Trust)
    {
        return Some(ExclusionReason::Unsure);
    }
    let phase = phase.filter(|_| without.is_enabled(RankingStage::Phase))?;
    phase_weights::is_useless_kind(phase, &candidate.memory.kind)
        .then_some(ExclusionReason::OutOfPhase)
}
