//! Rescores hits of a truncated-vector scan by their full vectors.
//!
//! A scan over the leading dimensions (Matryoshka embeddings) finds the right candidates but not
//! their exact order. Normalised scores come from the scan; this function reassigns the same values
//! in the order of the exact scores.

use crate::fusion::PathHit;

/// Sets the exact score of each hit that has one, and reassigns their normalised scores in that
/// order. Hits without an exact score keep both.
pub fn rescore_by_exact(found: &mut [PathHit], exact: impl Fn(&PathHit) -> Option<f32>) {
    let mut known: Vec<(usize, f32)> =
        found.iter().enumerate().filter_map(|(at, it)| Some((at, exact(it)?))).collect();
    let mut places: Vec<f32> = known.iter().map(|it| found[it.0].normalized).collect();
    places.sort_by(|a, b| b.total_cmp(a));
    known.sort_by(|a, b| b.1.total_cmp(&a.1).then(found[a.0].key.cmp(&found[b.0].key)));
    for ((at, score), place) in known.into_iter().zip(places) {
        found[at].score = score;
        found[at].normalized = place;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_the_whole_vectors_and_the_places_are_the_same() {
        let row = |(key, place): (u32, f32)| PathHit { key, score: place, normalized: place };
        let mut found = [(1, 0.9), (2, 0.7), (3, 0.4), (4, 0.2)].map(row);
        rescore_by_exact(&mut found, |it| {
            [None, Some(0.5), Some(0.8), None, Some(0.6)][it.key as usize]
        });
        let said = found.map(|it| (it.key, it.score, it.normalized));
        assert_eq!(said, [(1, 0.5, 0.2), (2, 0.8, 0.9), (3, 0.4, 0.4), (4, 0.6, 0.7)]);
    }
}
