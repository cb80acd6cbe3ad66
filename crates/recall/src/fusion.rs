//! Fusion of dense, keyword and graph retrieval into one score.
//!
//! Fuses normalised scores, not ranks: on public data reciprocal rank fusion (Cormack et al. 2009)
//! loses to the better single list, because a rank cannot tell a near miss from a far one. Every
//! hit is scored on every path, also on those that did not return it. Rank fusion remains as a
//! baseline for measurements.

use std::collections::HashMap;

use model::closed;

use crate::query_class::PathWeights;

closed! {
    /// A retrieval path.
    pub enum RetrievalPath : "path" {
        Dense = "dense",
        Keyword = "keyword",
        Graph = "graph",
    }
}

/// The hits of each path, best first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathHits {
    pub dense: Vec<PathHit>,
    pub keyword: Vec<PathHit>,
    pub graph: Vec<PathHit>,
}

/// A hit of one path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathHit {
    pub key: u32,
    /// Raw score of the path: a cosine, a BM25 score, a graph weight.
    pub score: f32,
    /// The score on a scale shared by all paths: about 1 for the best, 0 for no evidence, negative for
    /// evidence against it.
    pub normalized: f32,
}

/// Contribution of one path to a fused score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathTrace {
    pub path: RetrievalPath,
    pub score: f32,
    /// Counted from one.
    pub rank: u32,
    /// Part of the fused score.
    pub contribution: f32,
}

/// A memory with its fused score.
#[derive(Clone, Debug, PartialEq)]
pub struct FusedHit {
    pub key: u32,
    pub score: f32,
    pub traces: Vec<PathTrace>,
}

impl FusedHit {
    pub fn trace_of(&self, path: RetrievalPath) -> Option<&PathTrace> {
        self.traces.iter().find(|it| it.path == path)
    }
}

/// The fusion method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FusionRule {
    /// Weighted sum of normalised scores.
    Scores,
    /// Reciprocal rank fusion, as a baseline.
    Ranks,
}

/// The constant of reciprocal rank fusion.
const RRF_CONSTANT: f32 = 60.0;

/// Fuses the hits of all paths, best first, ties by key. The weight of a path without hits is
/// distributed to the others.
pub fn fuse_hits(paths: &PathHits, weights: PathWeights, rule: FusionRule) -> Vec<FusedHit> {
    let lists = [
        (RetrievalPath::Dense, &paths.dense),
        (RetrievalPath::Keyword, &paths.keyword),
        (RetrievalPath::Graph, &paths.graph),
    ];
    let total_weight = lists.iter().filter(|it| !it.1.is_empty()).map(|it| weights.for_path(it.0));
    let total_weight = f32::from(total_weight.sum::<u16>().max(1));
    let mut acc: HashMap<u32, FusedHit> = HashMap::new();
    for (path, list) in lists {
        let weight = f32::from(weights.for_path(path)) / total_weight;
        for (rank, found) in (1_u32..).zip(list) {
            #[expect(clippy::cast_precision_loss, reason = "ranks are small")]
            let place = match rule {
                FusionRule::Scores => found.normalized,
                FusionRule::Ranks => 1.0 / (RRF_CONSTANT + rank as f32),
            };
            let (key, share) = (found.key, weight * place);
            let fused =
                acc.entry(key).or_insert_with(|| FusedHit { key, score: 0.0, traces: Vec::new() });
            fused.score += share;
            fused.traces.push(PathTrace { path, score: found.score, rank, contribution: share });
        }
    }
    let mut res: Vec<FusedHit> = acc.into_values().collect();
    // Negative evidence cancels a score but never makes it negative.
    for it in &mut res {
        it.score = it.score.max(0.0);
    }
    sort_fused(&mut res);
    res
}

/// Best first, ties by key.
pub(crate) fn sort_fused(fused: &mut [FusedHit]) {
    fused.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.key.cmp(&b.key)));
}

/// Normalises by the best score of the list, for scores that start at zero.
pub fn normalize_by_best(list: &mut [PathHit]) {
    let best = list.iter().map(|it| it.score).fold(f32::MIN_POSITIVE, f32::max);
    for it in list {
        it.normalized = it.score / best;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::QueryClass;

    fn list(places: &[(u32, f32)]) -> Vec<PathHit> {
        places
            .iter()
            .map(|&(key, place)| PathHit { key, score: place, normalized: place })
            .collect()
    }

    fn keys(paths: &PathHits, rule: FusionRule) -> Vec<u32> {
        fuse_hits(paths, QueryClass::Semantic.weights(), rule).iter().map(|it| it.key).collect()
    }

    #[test]
    fn a_path_that_found_nothing_leaves_the_others_working() {
        let dense = list(&[(3, 0.9), (1, 0.2)]);
        let paths = PathHits { dense: dense.clone(), ..PathHits::default() };
        let res = fuse_hits(&paths, QueryClass::Structural.weights(), FusionRule::Scores);
        assert!((res[0].score - 0.9).abs() < 1e-6, "the whole weight is the one path's");
        assert_eq!(
            keys(&PathHits { keyword: dense, ..PathHits::default() }, FusionRule::Scores),
            [3, 1]
        );
        assert!(keys(&PathHits::default(), FusionRule::Scores).is_empty());
    }

    #[test]
    fn a_clear_winner_of_one_path_beats_two_lukewarm_second_places() {
        let paths = PathHits {
            dense: list(&[(1, 1.1), (2, 0.2), (3, 0.1)]),
            keyword: list(&[(4, 1.0), (2, 0.3), (1, 0.2)]),
            graph: Vec::new(),
        };
        assert_eq!(keys(&paths, FusionRule::Scores)[0], 1);
    }

    #[test]
    fn every_share_is_accounted_for() {
        let paths = PathHits {
            dense: list(&[(1, 0.92), (2, 0.66)]),
            keyword: list(&[(2, 1.0), (1, 0.2)]),
            graph: list(&[(2, 0.5)]),
        };
        for rule in [FusionRule::Scores, FusionRule::Ranks] {
            for fused in fuse_hits(&paths, QueryClass::Semantic.weights(), rule) {
                let sum: f32 = fused.traces.iter().map(|it| it.contribution).sum();
                assert!((sum - fused.score).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn ties_go_to_the_smaller_key() {
        let dense = list(&[(9, 0.8), (4, 0.8), (7, 0.8)]);
        assert_eq!(keys(&PathHits { dense, ..PathHits::default() }, FusionRule::Scores), [4, 7, 9]);
    }
}
