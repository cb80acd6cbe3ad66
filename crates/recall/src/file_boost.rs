//! Boosts hits whose files are close to the files of the best hits in the code graph.
//!
//! The code graph connects files that import or call each other. The files of the best hits (the
//! leaders) and the files near them in the graph form the neighbourhood of a query; the engine looks it
//! up. The boost reorders within limits: it adds a share of the best
//! score, applies only to the middle of the list, and never lifts a hit above the leaders.

use std::collections::HashMap;

use crate::fusion::{FusedHit, sort_fused};

/// Number of best hits whose files form the neighbourhood. More of them cover files all over a
/// project and make every hit a neighbour. Chosen like `MAX_BOOST_SHARE`.
pub const LEADER_COUNT: usize = 3;
/// The last rank that may be boosted.
pub const MAX_BOOSTED_RANK: usize = 50;

/// Gain of a hit that touches the whole neighbourhood, as a share of the best score. Chosen on one
/// half of the questions and confirmed on the other (`docs/reference/eval.md`).
const MAX_BOOST_SHARE: f32 = 0.4;

/// Boosts each hit by the share of the neighbourhood that it touches (0 to 1), at most to the score
/// of the last leader. Sorts best first, ties by key. Returns the gain of each.
pub fn boost_by_files(
    fused: &mut [FusedHit],
    touched_share: impl Fn(u32) -> f32,
) -> HashMap<u32, f32> {
    // With fewer hits than leaders there is nothing to reorder.
    let Some(leaders) = fused.get(..LEADER_COUNT) else { return HashMap::new() };
    let best_score = leaders[0].score;
    let last_leader_score = leaders[LEADER_COUNT - 1].score;

    let mut gains = HashMap::new();
    for hit in fused.iter_mut().skip(LEADER_COUNT).take(MAX_BOOSTED_RANK - LEADER_COUNT) {
        let wanted_gain = MAX_BOOST_SHARE * best_score * touched_share(hit.key).clamp(0.0, 1.0);
        let gain = wanted_gain.min(last_leader_score - hit.score);
        if gain > 0.0 {
            hit.score += gain;
            gains.insert(hit.key, gain);
        }
    }
    if !gains.is_empty() {
        sort_fused(fused);
    }
    gains
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hits with the scores 1.00, 0.99, 0.98 and so on; the key is the rank.
    fn descending_hits(n: u32) -> Vec<FusedHit> {
        #[expect(clippy::cast_precision_loss, reason = "a handful")]
        let score = |it: u32| 1.0 - it as f32 / 100.0;
        (0..n).map(|key| FusedHit { key, score: score(key), traces: Vec::new() }).collect()
    }

    #[test]
    fn a_hit_in_the_neighbourhood_gains_a_share_of_the_best_score() {
        let mut hits = descending_hits(60);
        let gains = boost_by_files(&mut hits, |it| if it == 45 { 0.51 } else { 0.0 });
        assert!((gains[&45] - MAX_BOOST_SHARE * 0.51).abs() < 1e-6 && gains.len() == 1);
        assert_eq!(hits[25].key, 45, "0.55 + 0.204 is between 0.76 and 0.75");
    }

    #[test]
    fn no_hit_rises_above_the_leaders() {
        let mut hits = descending_hits(60);
        let gains = boost_by_files(&mut hits, |it| if it == 20 || it == 30 { 1.0 } else { 0.0 });
        assert!(gains[&20] < gains[&30] && gains[&30] < MAX_BOOST_SHARE);
        let first: Vec<u32> = hits[..5].iter().map(|it| it.key).collect();
        assert_eq!(first, [0, 1, 2, 20, 30]);
    }

    #[test]
    fn neither_leaders_nor_hits_beyond_the_last_boosted_rank_gain() {
        let mut hits = descending_hits(60);
        let gains = boost_by_files(&mut hits, |it| if (3..50).contains(&it) { 0.0 } else { 1.0 });
        assert!(gains.is_empty());
        assert!(boost_by_files(&mut [], |_| 1.0).is_empty());
    }
}
