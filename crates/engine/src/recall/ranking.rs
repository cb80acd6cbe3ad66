//! From retrieved candidates to ranked hits: fusion of the paths, the relevance verdict, the order.
//! Reads nothing.

use std::collections::HashMap;

use infer::EmbeddingModel;
use model::Timestamp;
use recall::session_neighbours::{NEIGHBOUR_WINDOW, SessionPosition, boost_neighbours};
use recall::{
    FusedHit, FusionRule, MemoryCondition, NearestScore, PRIOR_VECTORS, PathHit, PathHits,
    RankCandidate, RankedHit, RankingStage, RelevanceEvidence, RelevanceVerdict, RetrievalPath,
    dates,
};
use store::MemoryFilter;

use super::indexed_notebook::read_index;
use super::query_plan::{
    BestEvidence, QueryPlan, RetrievedCandidates, candidate_key, notebook_and_number,
};
use super::search_results::{HitExplanation, SearchHit};
use crate::RatedMemory;
use crate::lookup::shared_terms;

/// Candidates that are read and ranked per wanted hit. Confidence and age move a memory by a few
/// ranks, so the rest of the fused list cannot reach the top.
const CANDIDATES_PER_HIT: usize = 3;
/// Hits that are assumed to be wanted at least.
const MIN_WANTED_HITS: usize = 10;
/// Nearest candidates that decide if a query is about source code.
const CODE_VOTERS: usize = 10;
/// Relative boost of a memory created at the date that the query names.
const DATE_BOOST: f32 = 0.5;

/// A candidate with its memory, before ranking.
pub(super) struct MemoryCandidate {
    pub(super) fused: FusedHit,
    pub(super) rated: RatedMemory,
    pub(super) condition: MemoryCondition,
    pub(super) files_missing: bool,
    /// Score of the reranker, 0 to 1.
    pub(super) rerank_score: Option<f32>,
}

/// Score that candidates gained from their surroundings, by candidate key.
#[derive(Default)]
pub(super) struct ScoreBoosts {
    /// From memories of the same session.
    pub(super) neighbours: HashMap<u32, f32>,
    /// From files next to those of the best candidates.
    pub(super) files: HashMap<u32, f32>,
}

/// Number of fused candidates that are read and ranked.
pub(super) fn n_candidates(plan: &QueryPlan<'_>) -> usize {
    let MemoryFilter { limit, offset, .. } = plan.query.filter;
    let n_wanted = usize::try_from(limit.saturating_add(offset)).unwrap_or(usize::MAX);
    n_wanted.max(MIN_WANTED_HITS).saturating_mul(CANDIDATES_PER_HIT)
}

/// True if fused scores have an absolute meaning. Reciprocal ranks only order the candidates.
pub(super) fn has_absolute_scores(plan: &QueryPlan<'_>) -> bool {
    plan.query.disabled_stages.is_enabled(RankingStage::Scores)
}

/// Fuses the paths into one list and boosts session neighbours. Returns the list, best first, and
/// the gain of each candidate.
pub(super) fn fuse_candidates(
    plan: &QueryPlan<'_>,
    retrieved: &RetrievedCandidates,
) -> (Vec<FusedHit>, HashMap<u32, f32>) {
    let RetrievedCandidates { paths, query_vector, .. } = retrieved;
    if plan.terms.is_empty() && paths.dense.is_empty() && paths.graph.is_empty() {
        return (plan.newest_candidates(n_candidates(plan)), HashMap::new());
    }
    let index_of = |key: u32| {
        let (notebook, number) = notebook_and_number(key);
        (read_index(&plan.notebooks[notebook].index), notebook, number)
    };
    let rule = if has_absolute_scores(plan) { FusionRule::Scores } else { FusionRule::Ranks };
    let is_code = |it: &&PathHit| {
        let (index, _, number) = index_of(it.key);
        index.is_code(number)
    };
    // One weighting for the whole query: weights per candidate would not be comparable.
    let nearest = &paths.dense[..CODE_VOTERS.min(paths.dense.len())];
    let n_code = nearest.iter().filter(is_code).count();
    let weights = plan.class.weights_among(n_code, nearest.len());
    let mut fused = recall::fuse_hits(paths, weights, rule);
    if plan.query.disabled_stages.is_disabled(RankingStage::Neighbours) {
        return (fused, HashMap::new());
    }
    let position = |key: u32| {
        let (index, notebook, number) = index_of(key);
        let (session, neighbours) = index.session_neighbours(number, NEIGHBOUR_WINDOW)?;
        let neighbours = neighbours.into_iter();
        let neighbours = neighbours.map(|(it, distance)| (candidate_key(notebook, it), distance));
        let session = candidate_key(notebook, session);
        Some(SessionPosition { session, neighbours: neighbours.collect() })
    };
    // A neighbour that no path found is scored by its vector alone; it holds none of the terms.
    let own_score = |key: u32| {
        let (notebook, number) = notebook_and_number(key);
        let is_allowed = plan.notebooks[notebook].allowed.contains(number);
        let query = query_vector.as_ref().filter(|_| is_allowed && rule == FusionRule::Scores)?;
        let dense = plan.score_by_vector(notebook, query, std::iter::once(number));
        let keyword = vec![PathHit { key, score: 0.0, normalized: 0.0 }];
        // If the graph path found anything, not being found by it counts against a memory.
        let graph = if paths.graph.is_empty() { Vec::new() } else { keyword.clone() };
        recall::fuse_hits(&PathHits { dense, keyword, graph }, weights, rule).pop()
    };
    let n_words = |key: u32| {
        let (index, _, number) = index_of(key);
        index.words_of(number)
    };
    let gains = boost_neighbours(&mut fused, position, own_score, n_words);
    (fused, gains)
}

/// Decides if any candidate is relevant. A query without text, or one that the evidence cannot
/// decide, gets the verdict `Open`.
pub(super) fn judge_candidates(
    plan: &QueryPlan<'_>,
    candidates: &[MemoryCandidate],
    best: BestEvidence,
) -> RelevanceVerdict {
    let disabled = &plan.query.disabled_stages;
    let is_half_disabled =
        disabled.is_disabled(RankingStage::Dense) || disabled.is_disabled(RankingStage::Keyword);
    // The thresholds for cosines were measured on the built-in model. A provider's cosines are
    // standardized instead, which needs enough vectors for a mean and a deviation.
    let is_provider = matches!(plan.embeddings, Some(EmbeddingModel::Provider(_)));
    let (mean_similarity, n_vectors) = plan.vector_density();
    let lacks_vectors = is_provider && n_vectors < usize::from(PRIOR_VECTORS);
    if plan.text.trim().is_empty()
        || disabled.is_disabled(RankingStage::Abstain)
        || is_half_disabled
        || lacks_vectors
    {
        return RelevanceVerdict::Open;
    }
    let cosine = |it: &MemoryCandidate| it.fused.trace_of(RetrievalPath::Dense).map(|it| it.score);
    let nearest = if is_provider {
        best.standardized_score.map(NearestScore::Standardized)
    } else {
        candidates.iter().filter_map(cosine).reduce(f32::max).map(NearestScore::Cosine)
    };
    #[expect(clippy::cast_possible_truncation, reason = "measures, for comparing")]
    let evidence = RelevanceEvidence {
        nearest: nearest.unwrap_or_default(),
        matched_idf: best.matched_idf as f32,
        matched_idf_ratio: best.matched_idf_ratio as f32,
        mean_similarity,
        n_vectors,
    };
    // A memory that is not embedded yet can only be judged by its words.
    let lacks_vector = |it: &MemoryCandidate| {
        it.fused.trace_of(RetrievalPath::Keyword).is_some()
            && it.fused.trace_of(RetrievalPath::Dense).is_none()
    };
    match recall::judge_relevance(evidence) {
        RelevanceVerdict::Nothing { .. } if candidates.iter().any(lacks_vector) => {
            recall::judge_relevance(RelevanceEvidence {
                nearest: NearestScore::Unknown,
                ..evidence
            })
        }
        verdict => verdict,
    }
}

/// Orders candidates by relevance, confidence, age and phase.
pub(super) fn order_candidates(
    plan: &QueryPlan<'_>,
    candidates: &[MemoryCandidate],
    now: Timestamp,
) -> Vec<RankedHit> {
    let query = plan.query;
    let uses_dates = query.disabled_stages.is_enabled(RankingStage::Dates);
    let time = dates::find_time_reference(plan.text, now).filter(|_| uses_dates);
    let relevance = |it: &MemoryCandidate| {
        let fit = time.map_or(0.0, |time| dates::time_fit(time, it.rated.memory.created_at));
        it.rerank_score.unwrap_or(it.fused.score) * (1.0 + DATE_BOOST * fit)
    };
    // The date boost can exceed 1, which is the maximum that ranking expects.
    let max_relevance = candidates.iter().map(relevance).fold(1.0, f32::max);
    let candidates: Vec<RankCandidate<'_>> = candidates
        .iter()
        .map(|it| RankCandidate {
            memory: &it.rated.memory,
            condition: it.condition,
            fused: it.fused.clone(),
            relevance: relevance(it) / max_relevance,
            files_gone: it.files_missing,
        })
        .collect();
    recall::rank_candidates(&candidates, query.phase, query.purpose.row(), &query.disabled_stages)
}

/// Builds the hit with its explanation.
pub(super) fn to_hit(
    plan: &QueryPlan<'_>,
    ranked: RankedHit,
    candidate: MemoryCandidate,
    boosts: &ScoreBoosts,
) -> SearchHit {
    // A candidate without a boost is not in the map.
    let boost = |of: &HashMap<u32, f32>| of.get(&ranked.fused.key).copied().unwrap_or_default();
    let matched_terms = shared_terms(&plan.terms, &candidate.rated.memory);
    let mut caveats = Vec::new();
    if candidate.files_missing {
        caveats.push("the files it names are gone".to_owned());
    }
    SearchHit {
        score: ranked.factors.score,
        explanation: HitExplanation {
            neighbour_boost: boost(&boosts.neighbours),
            file_boost: boost(&boosts.files),
            traces: ranked.fused.traces,
            matched_terms,
            factors: ranked.factors,
            rerank_score: candidate.rerank_score,
            linked_from: None,
            caveats,
        },
        rated: candidate.rated,
    }
}
