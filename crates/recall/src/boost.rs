//! Candidates about files next to those of the best rise.
//!
//! A boost reorders, it does not replace: what it adds is a share of what the best candidate has, and
//! only those in the middle of the list get it. The first need none, and the last had their reasons.

use std::collections::HashMap;

use crate::fuse::{Fused, sort};

/// The candidates whose files are looked around in.
pub const LEADERS: usize = 10;
/// The last that may rise.
pub const REACH: usize = 50;

/// What somebody gains who touches everything the leaders touch, as a share of the best score, in
/// thousandths. Chosen by leaving it out and in (`docs/reference/eval.md`).
const SHARE: f32 = 0.15;

/// Raises candidates by how much of the neighbourhood of the leaders they touch, from 0 to 1. Best
/// first, ties by key; says what each gained.
pub fn lift(fused: &mut [Fused], touched: impl Fn(u32) -> f32) -> HashMap<u32, f32> {
    let best = fused.first().map_or(0.0, |it| it.score);
    let mut res = HashMap::new();
    for it in fused.iter_mut().skip(LEADERS).take(REACH - LEADERS) {
        let gain = SHARE * best * touched(it.key).clamp(0.0, 1.0);
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
        let gains = lift(&mut list, |it| if it == 20 { 1.0 } else { 0.0 });
        assert!((gains[&20] - SHARE).abs() < 1e-6 && gains.len() == 1);
        assert_eq!(place(&list, 20), 5);
        assert_eq!(place(&list, 0), 0);
    }

    #[test]
    fn the_first_need_it_not_and_the_last_get_it_not() {
        let mut list = fused(60);
        let gains = lift(&mut list, |it| if (10..50).contains(&it) { 0.0 } else { 1.0 });
        assert!(gains.is_empty());
        assert!(lift(&mut [], |_| 1.0).is_empty());
    }
}
