//! Rescores hits of a truncated-vector scan by their full vectors.
//!
//! A scan over the leading dimensions (Matryoshka embeddings) finds the right candidates but not
//! their exact order. Normalised scores come from the scan; this function reassigns the same values
//! in the order of the exact scores.

use crate::fusion::PathHit;

/// Sets the exact score of each hit that has one, and reassigns their normalised scores in that
/// order. Hits without an exact score keep both.
pub fn rescore_by_exact(hits: &mut [PathHit], exact: impl Fn(&PathHit) -> Option<f32>) {
    // Indexes of the hits that have an exact score, with that score.
    let mut rescored: Vec<(usize, f32)> =
        hits.iter().enumerate().filter_map(|(i, hit)| Some((i, exact(hit)?))).collect();
    let mut normalized: Vec<f32> = rescored.iter().map(|(i, _)| hits[*i].normalized).collect();

    // Both sorted best first: the best exact score gets the best normalised score, and so on.
    normalized.sort_by(|a, b| b.total_cmp(a));
    rescored.sort_by(|a, b| b.1.total_cmp(&a.1).then(hits[a.0].key.cmp(&hits[b.0].key)));
    for ((i, score), normalized) in rescored.into_iter().zip(normalized) {
        hits[i].score = score;
        hits[i].normalized = normalized;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalised_scores_are_reassigned_in_the_order_of_the_exact_scores() {
        let hit = |(key, score): (u32, f32)| PathHit { key, score, normalized: score };
        let mut hits = [(1, 0.9), (2, 0.7), (3, 0.4), (4, 0.2)].map(hit);
        // Exact scores by key; the third hit has none.
        let exact_scores = [None, Some(0.5), Some(0.8), None, Some(0.6)];
        rescore_by_exact(&mut hits, |it| exact_scores[it.key as usize]);
        let rescored = hits.map(|it| (it.key, it.score, it.normalized));
        assert_eq!(rescored, [(1, 0.5, 0.2), (2, 0.8, 0.9), (3, 0.4, 0.4), (4, 0.6, 0.7)]);
    }
}
