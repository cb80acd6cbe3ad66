//! Boosts hits whose files are close to the files of the best hits in the code graph.
//!
//! The boost reorders within limits: it adds a share of the best score, applies only to the middle of
//! the list, and never lifts a hit above the leaders that it is compared with.

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
pub fn boost_by_files(fused: &mut [FusedHit], touched: impl Fn(u32) -> f32) -> HashMap<u32, f32> {
    let [Some(best), Some(last)] = [0, LEADER_COUNT - 1].map(|it| fused.get(it).map(|it| it.score))
    else {
        return HashMap::new();
    };
    let mut res = HashMap::new();
    for it in fused.iter_mut().skip(LEADER_COUNT).take(MAX_BOOSTED_RANK - LEADER_COUNT) {
        let gain = MAX_BOOST_SHARE * best * touched(it.key).clamp(0.0, 1.0);
        let gain = gain.min(last - it.score);
        if gain > 0.0 {
            it.score += gain;
            res.insert(it.key, gain);
        }
    }
    if !res.is_empty() {
        sort_fused(fused);
    }
    res
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fused(n: u32) -> Vec<FusedHit> {
        #[expect(clippy::cast_precision_loss, reason = "a handful")]
        let score = |it: u32| 1.0 - it as f32 / 100.0;
        (0..n).map(|key| FusedHit { key, score: score(key), traces: Vec::new() }).collect()
    }

    fn place(list: &[FusedHit], key: u32) -> usize {
        list.iter().position(|it| it.key == key).unwrap()
    }

    #[test]
    fn who_touches_the_neighbourhood_rises_by_a_share_of_the_best() {
        let mut list = fused(60);
        let gains = boost_by_files(&mut list, |it| if it == 45 { 0.51 } else { 0.0 });
        assert!((gains[&45] - MAX_BOOST_SHARE * 0.51).abs() < 1e-6 && gains.len() == 1);
        assert_eq!(place(&list, 45), 25, "0.55 + 0.204 is between 0.76 and 0.75");
    }

    #[test]
    fn nobody_rises_above_the_leaders() {
        let mut list = fused(60);
        let gains = boost_by_files(&mut list, |it| if it == 20 || it == 30 { 1.0 } else { 0.0 });
        assert!(gains[&20] < gains[&30] && gains[&30] < MAX_BOOST_SHARE);
        let first: Vec<u32> = list[..5].iter().map(|it| it.key).collect();
        assert_eq!(first, [0, 1, 2, 20, 30]);
    }

    #[test]
    fn the_first_need_it_not_and_the_last_get_it_not() {
        let mut list = fused(60);
        let gains = boost_by_files(&mut list, |it| if (3..50).contains(&it) { 0.0 } else { 1.0 });
        assert!(gains.is_empty());
        assert!(boost_by_files(&mut [], |_| 1.0).is_empty());
    }
}
