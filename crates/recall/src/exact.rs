//! What a scan of short codes found, put in the order of the whole vectors.
//!
//! Where only the beginning of a vector is scanned, the scan knows who is near but not well in which
//! order. How far a memory stands out is measured among the codes, and stays the scale: the nearest
//! by its whole vector gets the best place there was, the second the second, and so on.

use crate::fuse::Found;

/// Gives candidates the scores `exact` knows, and deals the places they had out again by them.
/// Whoever has none keeps its own.
pub fn reorder(found: &mut [Found], exact: impl Fn(&Found) -> Option<f32>) {
    let mut known: Vec<(usize, f32)> =
        found.iter().enumerate().filter_map(|(at, it)| Some((at, exact(it)?))).collect();
    let mut places: Vec<f32> = known.iter().map(|it| found[it.0].place).collect();
    places.sort_by(|a, b| b.total_cmp(a));
    known.sort_by(|a, b| b.1.total_cmp(&a.1).then(found[a.0].key.cmp(&found[b.0].key)));
    for ((at, score), place) in known.into_iter().zip(places) {
        found[at].score = score;
        found[at].place = place;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_the_whole_vectors_and_the_places_are_the_same() {
        let row = |(key, place): (u32, f32)| Found { key, score: place, place };
        let mut found = [(1, 0.9), (2, 0.7), (3, 0.4), (4, 0.2)].map(row);
        reorder(&mut found, |it| [None, Some(0.5), Some(0.8), None, Some(0.6)][it.key as usize]);
        let said = found.map(|it| (it.key, it.score, it.place));
        assert_eq!(said, [(1, 0.5, 0.2), (2, 0.8, 0.9), (3, 0.4, 0.4), (4, 0.6, 0.7)]);
    }
}
