//! What several paths say about a memory becomes one score.
//!
//! Scores are fused, not ranks: on public data fusion by rank alone loses to the better of the two
//! lists, because it cannot tell a near miss from a far one. And every candidate is measured by
//! every path, also by those that did not name it: a memory that one path names first and the other
//! thirtieth is better than one the other never saw. Ranks remain as an alternative to measure
//! against.

use std::collections::HashMap;

use model::closed;

use crate::class::Weights;

closed! {
    /// A way to find memories.
    pub enum Path : "path" {
        Dense = "dense",
        Keyword = "keyword",
        Graph = "graph",
    }
}

/// What each path says about the candidates, best first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Paths {
    pub dense: Vec<Found>,
    pub keyword: Vec<Found>,
    pub graph: Vec<Found>,
}

/// A candidate as one path sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    pub key: u32,
    /// By the path's own measure: a cosine, a BM25 score, a weight.
    pub score: f32,
    /// The same on a scale that all paths share: about 1 for the best, 0 for what says nothing,
    /// below for what speaks against it.
    pub place: f32,
}

/// What one path said about a memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trace {
    pub path: Path,
    pub score: f32,
    /// Counted from one.
    pub rank: u32,
    /// What it brought to the fused score.
    pub share: f32,
}

/// A memory and what all paths together say about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fused {
    pub key: u32,
    pub score: f32,
    pub traces: Vec<Trace>,
}

impl Fused {
    pub fn trace(&self, path: Path) -> Option<&Trace> {
        self.traces.iter().find(|it| it.path == path)
    }
}

/// How lists are fused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The weighted sum of places.
    Scores,
    /// Reciprocal ranks; kept to be measured against.
    Ranks,
}

/// The constant of reciprocal rank fusion.
const RANKS_FROM: f32 = 60.0;

/// Fuses what the paths found, best first; ties go to the smaller key. A path that found nothing
/// leaves its weight to the others.
pub fn fuse(paths: &Paths, weights: Weights, rule: Rule) -> Vec<Fused> {
    let lists =
        [(Path::Dense, &paths.dense), (Path::Keyword, &paths.keyword), (Path::Graph, &paths.graph)];
    let heard = lists.iter().filter(|it| !it.1.is_empty()).map(|it| weights.of(it.0));
    let heard = f32::from(heard.sum::<u16>().max(1));
    let mut acc: HashMap<u32, Fused> = HashMap::new();
    for (path, list) in lists {
        let weight = f32::from(weights.of(path)) / heard;
        for (rank, found) in (1_u32..).zip(list) {
            #[expect(clippy::cast_precision_loss, reason = "ranks are small")]
            let place = match rule {
                Rule::Scores => found.place,
                Rule::Ranks => 1.0 / (RANKS_FROM + rank as f32),
            };
            let (key, share) = (found.key, weight * place);
            let fused =
                acc.entry(key).or_insert_with(|| Fused { key, score: 0.0, traces: Vec::new() });
            fused.score += share;
            fused.traces.push(Trace { path, score: found.score, rank, share });
        }
    }
    let mut res: Vec<Fused> = acc.into_values().collect();
    // What speaks against a memory makes it worthless, not worse than that.
    for it in &mut res {
        it.score = it.score.max(0.0);
    }
    sort(&mut res);
    res
}

/// Best first, ties by key.
pub(crate) fn sort(fused: &mut [Fused]) {
    fused.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.key.cmp(&b.key)));
}

/// Gives every one of a list its place as a share of the best, for measures that begin at zero.
pub fn place_by_best(list: &mut [Found]) {
    let best = list.iter().map(|it| it.score).fold(f32::MIN_POSITIVE, f32::max);
    for it in list {
        it.place = it.score / best;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Class;

    fn list(places: &[(u32, f32)]) -> Vec<Found> {
        places.iter().map(|&(key, place)| Found { key, score: place, place }).collect()
    }

    fn keys(paths: &Paths, rule: Rule) -> Vec<u32> {
        fuse(paths, Class::Semantic.weights(), rule).iter().map(|it| it.key).collect()
    }

    #[test]
    fn a_path_that_found_nothing_leaves_the_others_working() {
        let dense = list(&[(3, 0.9), (1, 0.2)]);
        let paths = Paths { dense: dense.clone(), ..Paths::default() };
        let res = fuse(&paths, Class::Structural.weights(), Rule::Scores);
        assert!((res[0].score - 0.9).abs() < 1e-6, "the whole weight is the one path's");
        assert_eq!(keys(&Paths { keyword: dense, ..Paths::default() }, Rule::Scores), [3, 1]);
        assert!(keys(&Paths::default(), Rule::Scores).is_empty());
    }

    #[test]
    fn a_clear_winner_of_one_path_beats_two_lukewarm_second_places() {
        let paths = Paths {
            dense: list(&[(1, 1.1), (2, 0.2), (3, 0.1)]),
            keyword: list(&[(4, 1.0), (2, 0.3), (1, 0.2)]),
            graph: Vec::new(),
        };
        assert_eq!(keys(&paths, Rule::Scores)[0], 1);
    }

    #[test]
    fn every_share_is_accounted_for() {
        let paths = Paths {
            dense: list(&[(1, 0.92), (2, 0.66)]),
            keyword: list(&[(2, 1.0), (1, 0.2)]),
            graph: list(&[(2, 0.5)]),
        };
        for rule in [Rule::Scores, Rule::Ranks] {
            for fused in fuse(&paths, Class::Semantic.weights(), rule) {
                let sum: f32 = fused.traces.iter().map(|it| it.share).sum();
                assert!((sum - fused.score).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn ties_go_to_the_smaller_key() {
        let dense = list(&[(9, 0.8), (4, 0.8), (7, 0.8)]);
        assert_eq!(keys(&Paths { dense, ..Paths::default() }, Rule::Scores), [4, 7, 9]);
    }
}
