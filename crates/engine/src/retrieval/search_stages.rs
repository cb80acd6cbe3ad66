//! The deciding stages of a search: fuse the retrieval paths, judge whether anything is relevant,
//! order the candidates, explain the hits.
//!
//! After two helpers that several stages need, the public functions stand in the order in which
//! `search` calls them. They read the plan and the indexes in memory, never the store. The formulas are
//! in the pure crate `recall`; this file translates between its candidate keys and the memories behind
//! them.
//!
//! Words: the *dense* path is the one by vectors. A *fused* hit has one score from all paths. A *key*
//! is the notebook's position in the plan and the *number* of the memory in that notebook's database.
//! A *verdict* is the decision whether any memory is relevant to the query at all: `Answered`,
//! `Nothing`, or `Open` if it cannot be decided. *Session neighbours* are memories that were written
//! shortly before or after one another in one session. *Calibration* holds the measured cosines of
//! unrelated texts for the embedding model; its *prior* stands in for the statistics of a notebook with
//! few vectors.

use std::collections::HashMap;

use infer::EmbeddingModel;
use model::Timestamp;
use recall::session_neighbours::{NEIGHBOUR_WINDOW, SessionPosition, boost_neighbours};
use recall::{
    FusedHit, FusionRule, MemoryCondition, NearestScore, PRIOR_VECTORS, PathHit, PathHits,
    PathWeights, RankCandidate, RankedHit, RankingStage, RelevanceEvidence, RelevanceVerdict,
    RetrievalPath, dates,
};
use store::MemoryFilter;

use super::candidate_retrieval::{BestEvidence, RetrievedCandidates, score_by_vector};
use super::query_plan::{QueryPlan, candidate_key, notebook_and_number};
use super::search_results::{HitExplanation, SearchHit};
use super::shared_index::read_index;
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
    let paths = &retrieved.paths;
    // A query without text, and without files that lead anywhere, lists the newest memories.
    if plan.terms.is_empty() && paths.dense.is_empty() && paths.graph.is_empty() {
        return (newest_candidates(plan), HashMap::new());
    }
    let rule = if has_absolute_scores(plan) { FusionRule::Scores } else { FusionRule::Ranks };
    let weights = path_weights(plan, &paths.dense);
    let mut fused = recall::fuse_hits(paths, weights, rule);
    let gains = if plan.query.disabled_stages.is_enabled(RankingStage::Neighbours) {
        boost_session_neighbours(plan, retrieved, &mut fused, weights, rule)
    } else {
        HashMap::new()
    };
    (fused, gains)
}

/// The weights of the paths for this query. Code is found better by vectors than by words, so they
/// depend on the share of code among the nearest candidates. All candidates share them: scores with
/// different weights would not be comparable.
fn path_weights(plan: &QueryPlan<'_>, dense: &[PathHit]) -> PathWeights {
    let is_source_code = |it: &&PathHit| {
        let (notebook, number) = notebook_and_number(it.key);
        read_index(&plan.notebooks[notebook].index).is_source_code(number)
    };
    let nearest = &dense[..CODE_VOTERS.min(dense.len())];
    let n_code = nearest.iter().filter(is_source_code).count();
    plan.class.weights_among(n_code, nearest.len())
}

/// Raises candidates that were written right before or after another candidate in the same session.
/// Memories that no path found can enter the list this way. Returns the gain of each.
fn boost_session_neighbours(
    plan: &QueryPlan<'_>,
    retrieved: &RetrievedCandidates,
    fused: &mut Vec<FusedHit>,
    weights: PathWeights,
    rule: FusionRule,
) -> HashMap<u32, f32> {
    let RetrievedCandidates { paths, query_vector, .. } = retrieved;

    // The candidates around a candidate in its session, as keys.
    let session_position = |key: u32| {
        let (notebook, number) = notebook_and_number(key);
        let index = read_index(&plan.notebooks[notebook].index);
        let found = index.session_neighbours(number, NEIGHBOUR_WINDOW)?;
        let to_key = |(number, distance)| (candidate_key(notebook, number), distance);
        Some(SessionPosition {
            session: candidate_key(notebook, found.first_of_session),
            neighbours: found.neighbours.into_iter().map(to_key).collect(),
        })
    };

    // A neighbour that no path found is scored by its vector alone; it holds none of the terms.
    let own_score = |key: u32| {
        let (notebook, number) = notebook_and_number(key);
        // A neighbour that the filter of the query excludes does not enter the list.
        if !plan.notebooks[notebook].allowed.contains(number) {
            return None;
        }
        // A neighbour that no path found has no rank that could be fused.
        if rule == FusionRule::Ranks {
            return None;
        }
        // Without the vector of the query there is nothing to score it by.
        let query = query_vector.as_ref()?;
        let dense = score_by_vector(plan, notebook, query, std::iter::once(number));
        let unmatched = vec![PathHit { key, score: 0.0, normalized: 0.0 }];
        // If the graph path found anything, it counts against a memory that this path missed it.
        let graph = if paths.graph.is_empty() { Vec::new() } else { unmatched.clone() };
        recall::fuse_hits(&PathHits { dense, keyword: unmatched, graph }, weights, rule).pop()
    };
    let n_words = |key: u32| {
        let (notebook, number) = notebook_and_number(key);
        read_index(&plan.notebooks[notebook].index).words_of(number)
    };
    boost_neighbours(fused, session_position, own_score, n_words)
}

/// The newest allowed memories of each notebook.
fn newest_candidates(plan: &QueryPlan<'_>) -> Vec<FusedHit> {
    let mut candidates = Vec::new();
    for (position, searched) in plan.notebooks.iter().enumerate() {
        // Numbers grow with time, so the last ones are the newest.
        let mut numbers: Vec<u32> = searched.allowed.iter().collect();
        numbers.reverse();
        let fused = |number: u32| FusedHit {
            key: candidate_key(position, number),
            score: 1.0,
            traces: Vec::new(),
        };
        candidates.extend(numbers.into_iter().take(n_candidates(plan)).map(fused));
    }
    candidates
}

/// Decides if any candidate is relevant. A query without text, or one that the evidence cannot
/// decide, gets the verdict `Open`.
pub(super) fn judge_query_relevance(
    plan: &QueryPlan<'_>,
    candidates: &[MemoryCandidate],
    best: BestEvidence,
) -> RelevanceVerdict {
    let disabled = &plan.query.disabled_stages;

    // The thresholds combine both kinds of evidence and mean nothing for one alone.
    let lacks_path =
        disabled.is_disabled(RankingStage::Dense) || disabled.is_disabled(RankingStage::Keyword);

    // The thresholds for cosines were measured on the built-in model. A provider's cosines are
    // standardized instead, which needs enough vectors for a mean and a deviation.
    let is_provider = matches!(plan.embeddings, Some(EmbeddingModel::Provider(_)));
    let (mean_similarity, n_vectors) = vector_density(plan);
    let lacks_vectors = is_provider && n_vectors < usize::from(PRIOR_VECTORS);
    if plan.text.trim().is_empty()
        || disabled.is_disabled(RankingStage::Abstain)
        || lacks_path
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
            // Judged again, by words alone.
            let nearest = NearestScore::Unknown;
            recall::judge_relevance(RelevanceEvidence { nearest, ..evidence })
        }
        verdict => verdict,
    }
}

/// The mean similarity of vectors in the densest notebook, and the number of vectors in all. In a
/// dense notebook a high similarity to the query means less.
fn vector_density(plan: &QueryPlan<'_>) -> (f32, usize) {
    let (mut mean_similarity, mut n_vectors) = (0.0_f32, 0);
    for searched in &plan.notebooks {
        let index = read_index(&searched.index);
        mean_similarity =
            mean_similarity.max(index.vector_stats.mean_similarity(plan.calibration.prior()));
        n_vectors += index.codes.len();
    }
    (mean_similarity, n_vectors)
}

/// Orders candidates by relevance, confidence, age and phase.
pub(super) fn order_candidates(
    plan: &QueryPlan<'_>,
    candidates: &[MemoryCandidate],
    now: Timestamp,
) -> Vec<RankedHit> {
    let query = plan.query;
    let uses_dates = query.disabled_stages.is_enabled(RankingStage::Dates);
    // A query such as "what broke last week" prefers memories of that time.
    let time = dates::find_time_reference(plan.text, now).filter(|_| uses_dates);
    let relevance = |it: &MemoryCandidate| {
        let fit = time.map_or(0.0, |time| dates::time_fit(time, it.rated.memory.created_at));
        it.rerank_score.unwrap_or(it.fused.score) * (1.0 + DATE_BOOST * fit)
    };
    // With the date boost a relevance can exceed 1, the maximum that ranking expects; then all are
    // scaled down.
    let max_relevance = candidates.iter().map(relevance).fold(1.0, f32::max);
    let mut to_rank = Vec::new();
    for candidate in candidates {
        to_rank.push(RankCandidate {
            memory: &candidate.rated.memory,
            condition: candidate.condition,
            fused: candidate.fused.clone(),
            relevance: relevance(candidate) / max_relevance,
            files_missing: candidate.files_missing,
        });
    }
    recall::rank_candidates(&to_rank, query.phase, query.purpose.row(), &query.disabled_stages)
}

/// Builds the hit with its explanation.
pub(super) fn to_hit(
    plan: &QueryPlan<'_>,
    ranked: RankedHit,
    candidate: MemoryCandidate,
    boosts: &ScoreBoosts,
) -> SearchHit {
    // A candidate without a boost is not in the map.
    let key = ranked.fused.key;
    let boost = |gains: &HashMap<u32, f32>| gains.get(&key).copied().unwrap_or_default();
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
