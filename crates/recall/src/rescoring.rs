//! Rescores hits of a truncated-vector scan by their full vectors.
//!
//! To be fast, vector search may compare only the leading dimensions of a vector (Matryoshka
//! embeddings). That finds the right candidates but not their exact order. Each hit has a raw score
//! (the cosine) and a normalised score (comparable with the scores of keyword search). The raw score
//! becomes the exact one; the normalised scores of the scan are kept as a set and reassigned in the
//! order of the exact scores:
//!
//! ```text
//! key   normalised   exact score   →   key   score   normalised
//!   1          0.9           0.5         1     0.5          0.7
//!   2          0.7           0.8         2     0.8          0.9
//! ```

use crate::fusion::PathHit;

/// Sets the exact score of each hit that has one, and reassigns their normalised scores in that
/// order. Hits without an exact score keep both.
pub fn rescore_by_exact(hits: &mut [PathHit], exact: impl Fn(&PathHit) -> Option<f32>) {
    // The hits to change, and the normalised scores to distribute among them.
    let mut rescored: Vec<&mut PathHit> = Vec::new();
    let mut normalized_scores: Vec<f32> = Vec::new();
    for hit in hits {
        if let Some(exact_score) = exact(hit) {
            hit.score = exact_score;
            normalized_scores.push(hit.normalized);
            rescored.push(hit);
        }
    }

    // Both sorted best first: the best exact score gets the best normalised score, and so on.
    normalized_scores.sort_by(|a, b| b.total_cmp(a));
    rescored.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.key.cmp(&b.key)));
    for (hit, normalized) in rescored.into_iter().zip(normalized_scores) {
        hit.normalized = normalized;
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
