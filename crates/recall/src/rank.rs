//! Weighing candidates and putting them in order; what is left out is left out with a reason.

use model::{Memory, Phase};

use crate::fuse::Fused;
use crate::phase;
use crate::purpose::PurposeRow;
use crate::score::{self, Factors, Standing};
use crate::stage::{Stage, Without};

/// A memory that was found, and how it stands at the moment of asking.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    pub memory: &'a Memory,
    pub standing: Standing,
    pub fused: Fused,
    /// How well it fits, from 0 to 1: the fused score, or what a reranker said.
    pub relevance: f32,
    /// Every file it speaks of is gone.
    pub files_gone: bool,
}

/// A candidate and its place.
#[derive(Clone, Debug)]
pub struct Ranked {
    pub fused: Fused,
    pub factors: Factors,
    /// Why it may not be shown, if it may not.
    pub left_out: Option<LeftOut>,
}

/// Why a candidate may not be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// Its confidence is below what the purpose asks for.
    Unsure,
    /// The phase has no use for its type.
    OutOfPhase,
    /// Nothing it speaks of is there any more.
    FilesGone,
}

/// Weighs every candidate; best first, ties by key. Those left out keep their place in the order.
pub fn rank(
    candidates: &[Candidate<'_>],
    phase: Option<Phase>,
    purpose: PurposeRow,
    without: &Without,
) -> Vec<Ranked> {
    let rank_one = |it: &Candidate<'_>| {
        let factors = score::weigh(it.memory, it.standing, it.relevance, phase, purpose, without);
        Ranked { fused: it.fused.clone(), factors, left_out: left_out(it, phase, purpose, without) }
    };
    let mut res: Vec<Ranked> = candidates.iter().map(rank_one).collect();
    res.sort_by(|a, b| {
        b.factors.score.total_cmp(&a.factors.score).then(a.fused.key.cmp(&b.fused.key))
    });
    res
}

fn left_out(
    candidate: &Candidate<'_>,
    phase: Option<Phase>,
    purpose: PurposeRow,
    without: &Without,
) -> Option<LeftOut> {
    if candidate.files_gone && purpose.automatic {
        return Some(LeftOut::FilesGone);
    }
    if candidate.standing.current < purpose.least && without.keeps(Stage::Trust) {
        return Some(LeftOut::Unsure);
    }
    let phase = phase.filter(|_| without.keeps(Stage::Phase))?;
    phase::is_out(phase, &candidate.memory.kind).then_some(LeftOut::OutOfPhase)
}
