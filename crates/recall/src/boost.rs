//! Candidates about files next to those of the best rise.
//!
//! A boost reorders, it does not replace: what it adds is a share of what the best candidate has, only
//! those in the middle of the list get it, and none rises above those it is judged by. The first need
//! none, and the last had their reasons.

use std::collections::HashMap;

use crate::fuse::{Fused, sort};

/// The candidates whose files are looked around in. Few: ten of them have files all over a project, and
/// what is next to all of those is next to nothing. Chosen as `SHARE` is.
pub const LEADERS: usize = 3;
/// The last that may rise.
pub const REACH: usize = 50;

/// What somebody gains who touches everything the leaders touch, as a share of the best score. Chosen on
/// one half of the questions and confirmed on the other (`docs/reference/eval.md`).
const SHARE: f32 = 0.4;

/// Raises candidates by how much of the neighbourhood of the leaders they touch, from 0 to 1, as far as
/// the last of the leaders at most. Best first, ties by key; says what each gained.
pub fn lift(fused: &mut [Fused], touched: impl Fn(u32) -> f32) -> HashMap<u32, f32> {
    let [Some(best), Some(last)] = [0, LEADERS - 1].map(|it| fused.get(it).map(|it| it.score))
    else {
        return HashMap::new();
    };
    let mut res = HashMap::new();
    for it in fused.iter_mut().skip(LEADERS).take(REACH - LEADERS) {
        let gain = SHARE * best * touched(it.key).clamp(0.0, 1.0);
        let gain = gain.min(last - it.score);
        if gain > 0.0 {
            it.score += gain;
            res.insert(it.key, gain);
        }
    }
    if !res.is_empty() {
        sort(fused);
    }
    res
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fused(n: u32) -> Vec<Fused> {
        #[expect(clippy::cast_precision_loss, reason = "a handful")]
        let score = |it: u32| 1.0 - it as f32 / 100.0;
        (0..n).map(|key| Fused { key, score: score(key), traces: Vec::new() }).collect()
    }

    fn place(list: &[Fused], key: u32) -> usize {
        list.iter().position(|it| it.key == key).unwrap()
    }

    #[test]
    fn who_touches_the_neighbourhood_rises_by_a_share_of_the_best() {
        let mut list = fused(60);
        let gains = lift(&mut list, |it| if it == 45 { 0.51 } else { 0.0 });
        assert!((gains[&45] - SHARE * 0.51).abs() < 1e-6 && gains.len() == 1);
        assert_eq!(place(&list, 45), 25, "0.55 + 0.204 is between 0.76 and 0.75");
    }

    #[test]
    fn nobody_rises_above_the_leaders() {
        let mut list = fused(60);
        let gains = lift(&mut list, |it| if it == 20 || it == 30 { 1.0 } else { 0.0 });
        assert!(gains[&20] < gains[&30] && gains[&30] < SHARE);
        let first: Vec<u32> = list[..5].iter().map(|it| it.key).collect();
        assert_eq!(first, [0, 1, 2, 20, 30]);
    }

    #[test]
    fn the_first_need_it_not_and_the_last_get_it_not() {
        let mut list = fused(60);
        let gains = lift(&mut list, |it| if (3..50).contains(&it) { 0.0 } else { 1.0 });
        assert!(gains.is_empty());
        assert!(lift(&mut [], |_| 1.0).is_empty());
    }
}
