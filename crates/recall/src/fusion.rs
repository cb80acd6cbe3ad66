//! Fusion of dense, keyword and graph retrieval into one score.
//!
//! A memory is searched on three *paths*: by its vector (dense), by words (keyword) and by its files
//! in the code graph. The engine runs the paths and passes their hits in; the fused hits go on to the
//! boosts and to `ranking`. With the weights 0.6 (dense) and 0.4 (keyword), and no graph hits:
//!
//! ```text
//! key   dense   keyword   fused score
//!   1     1.0       0.2   0.6 × 1.0 + 0.4 × 0.2 = 0.68
//!   2     0.3       1.0   0.6 × 0.3 + 0.4 × 1.0 = 0.58
//! ```
//!
//! Fuses normalised scores, not ranks: on public data reciprocal rank fusion (Cormack et al. 2009)
//! loses to the better single list, because a rank cannot tell a near miss from a far one. The engine
//! scores every hit on every path, also on those that did not return it. Rank fusion remains as a
//! baseline for measurements.

use std::collections::HashMap;

use model::closed;

use crate::query_class::PathWeights;

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
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
    /// The caller's number for the memory, the same on every path.
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
    /// Raw score of the path, as in [`PathHit`].
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

/// The constant of reciprocal rank fusion, as in the paper.
const RRF_CONSTANT: f32 = 60.0;

/// Fuses the hits of all paths, best first, ties by key. The weight of a path without hits is
/// distributed to the others.
pub fn fuse_hits(paths: &PathHits, weights: PathWeights, rule: FusionRule) -> Vec<FusedHit> {
    let lists = [
        (RetrievalPath::Dense, &paths.dense),
        (RetrievalPath::Keyword, &paths.keyword),
        (RetrievalPath::Graph, &paths.graph),
    ];
    // Only paths with hits share the weight; dividing by their sum distributes that of the others.
    let mut total_weight = 0;
    for (path, hits) in lists {
        if !hits.is_empty() {
            total_weight += weights.for_path(path);
        }
    }
    // Never divided by zero, even if the only paths with hits have no weight.
    let total_weight = total_weight.max(1);

    let mut fused_by_key: HashMap<u32, FusedHit> = HashMap::new();
    for (path, hits) in lists {
        let weight = f32::from(weights.for_path(path)) / f32::from(total_weight);
        for (rank, hit) in (1_u32..).zip(hits) {
            #[expect(clippy::cast_precision_loss, reason = "ranks are small")]
            let unweighted = match rule {
                FusionRule::Scores => hit.normalized,
                FusionRule::Ranks => 1.0 / (RRF_CONSTANT + rank as f32),
            };
            let contribution = weight * unweighted;
            let fused = fused_by_key.entry(hit.key).or_insert_with(|| FusedHit {
                key: hit.key,
                score: 0.0,
                traces: Vec::new(),
            });
            fused.score += contribution;
            fused.traces.push(PathTrace { path, score: hit.score, rank, contribution });
        }
    }
    let mut res: Vec<FusedHit> = fused_by_key.into_values().collect();
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

/// Sets the normalised scores to the shares of the best score, for scores that start at zero:
/// `[8.0, 2.0]` becomes `[1.0, 0.25]`.
pub fn normalize_by_best(hits: &mut [PathHit]) {
    // Starts above zero, so that a list of zeros is not divided by zero.
    let best = hits.iter().map(|it| it.score).fold(f32::MIN_POSITIVE, f32::max);
    for hit in hits {
        hit.normalized = hit.score / best;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::QueryClass;

    /// Hits from keys and normalised scores.
    fn hits(scores: &[(u32, f32)]) -> Vec<PathHit> {
        scores.iter().map(|&(key, score)| PathHit { key, score, normalized: score }).collect()
    }

    /// The keys in the order of their fused scores.
    fn fused_keys(paths: &PathHits) -> Vec<u32> {
        fuse_hits(paths, QueryClass::Semantic.weights(), FusionRule::Scores)
            .iter()
            .map(|it| it.key)
            .collect()
    }

    #[test]
    fn the_weight_of_a_path_without_hits_goes_to_the_others() {
        let found = hits(&[(3, 0.9), (1, 0.2)]);
        let only_dense = PathHits { dense: found.clone(), ..PathHits::default() };
        let res = fuse_hits(&only_dense, QueryClass::Structural.weights(), FusionRule::Scores);
        assert!((res[0].score - 0.9).abs() < 1e-6, "the dense path has the whole weight");
        let only_keyword = PathHits { keyword: found, ..PathHits::default() };
        assert_eq!(fused_keys(&only_keyword), [3, 1]);
        assert!(fused_keys(&PathHits::default()).is_empty());
    }

    #[test]
    fn a_clear_winner_of_one_path_beats_a_weak_second_of_two_paths() {
        let paths = PathHits {
            dense: hits(&[(1, 1.1), (2, 0.2), (3, 0.1)]),
            keyword: hits(&[(4, 1.0), (2, 0.3), (1, 0.2)]),
            graph: Vec::new(),
        };
        assert_eq!(fused_keys(&paths)[0], 1);
    }

    #[test]
    fn the_contributions_of_the_paths_add_up_to_the_score() {
        let paths = PathHits {
            dense: hits(&[(1, 0.92), (2, 0.66)]),
            keyword: hits(&[(2, 1.0), (1, 0.2)]),
            graph: hits(&[(2, 0.5)]),
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
        let dense = hits(&[(9, 0.8), (4, 0.8), (7, 0.8)]);
        assert_eq!(fused_keys(&PathHits { dense, ..PathHits::default() }), [4, 7, 9]);
    }
}
