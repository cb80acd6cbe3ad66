//! Split-half validation: constants chosen on one half of the questions are confirmed on the other.

use std::collections::HashMap;

/// The half a question belongs to: the parity of the one bits in the FNV-1a hash of its id.
pub(crate) fn question_half(id: &str) -> usize {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325, mix);
    usize::from(hash.count_ones() % 2 == 1)
}

/// nDCG@10 (Järvelin and Kekäläinen 2002) as the scorer of the data computes it: relevance counts
/// at most three.
pub(crate) fn ndcg_at_10(ranked: &[String], relevance: &HashMap<String, f64>) -> f64 {
    let mut best: Vec<f64> = relevance.values().map(|it| it.min(3.0)).collect();
    best.sort_by(|a, b| b.total_cmp(a));
    let gained = ranked.iter().map(|it| relevance.get(it).map_or(0.0, |it| it.min(3.0)));
    discounted_gain(gained) / discounted_gain(best.into_iter())
}

/// Discounted cumulative gain of the first ten.
fn discounted_gain(gains: impl Iterator<Item = f64>) -> f64 {
    gains.take(10).zip(2_u32..).map(|(it, place)| it / f64::from(place).log2()).sum()
}

/// The means of both halves, in percent.
pub(crate) fn half_means(scores: &[(usize, f64)]) -> [f64; 2] {
    // An empty half has a mean of 0.
    [0, 1].map(|half| {
        let own: Vec<f64> = scores.iter().filter(|it| it.0 == half).map(|it| it.1).collect();
        100.0 * own.iter().sum::<f64>() / own.len().max(1) as f64
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranking_by_relevance_is_the_best_order() {
        let relevance = HashMap::from([("a".to_owned(), 1.0), ("b".to_owned(), 5.0)]);
        let ranked = |it: &str| it.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!((ndcg_at_10(&ranked("b a x"), &relevance) - 1.0).abs() < 1e-9);
        let (worse, best) = (1.0 + 3.0 / 3_f64.log2(), 3.0 + 1.0 / 3_f64.log2());
        assert!((ndcg_at_10(&ranked("a b x"), &relevance) - worse / best).abs() < 1e-9);
        assert!(ndcg_at_10(&ranked("x y z"), &relevance).abs() < 1e-9);
    }

    #[test]
    fn a_question_stays_in_its_half() {
        let halves: Vec<usize> =
            ["django__django-11999", "django__django-12143", "q1"].map(question_half).into();
        assert_eq!(halves, [0, 0, 1]);
        let [one, other] = half_means(&[(0, 1.0), (1, 0.25), (0, 0.0)]);
        assert!((one - 50.0).abs() < 1e-9 && (other - 25.0).abs() < 1e-9);
    }
}
