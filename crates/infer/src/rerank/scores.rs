//! Scores that came over the wire, in the order of the documents and between 0 and 1.

use super::wire::ScoredDocument;
use crate::error::ResponseFlaw;

/// A generative model in a server that expects a ranking head scores everything near 1e-20.
const MIN_SPREAD: f32 = 1e-9;

/// Each document has one score, at its own place.
pub(super) fn in_order(
    results: Vec<ScoredDocument>,
    n_documents: usize,
) -> Result<Vec<f32>, ResponseFlaw> {
    if results.len() != n_documents {
        return Err(ResponseFlaw::Count { wanted: n_documents, found: results.len() });
    }
    let mut acc = vec![None; n_documents];
    for it in results {
        let place = acc.get_mut(it.index).ok_or(ResponseFlaw::Order)?;
        if place.replace(it.score).is_some() {
            return Err(ResponseFlaw::Order);
        }
    }
    acc.into_iter().collect::<Option<_>>().ok_or(ResponseFlaw::Order)
}

/// llama.cpp passes on what the model says, which may be any number: then all are brought between 0
/// and 1 by the logistic curve, which keeps their order.
pub(super) fn to_unit_range(mut scores: Vec<f32>) -> Result<Vec<f32>, ResponseFlaw> {
    if !scores.iter().all(|it| it.is_finite()) {
        return Err(ResponseFlaw::NotFinite);
    }
    if scores.len() > 1 && scores.iter().all(|it| it.abs() < MIN_SPREAD) {
        return Err(ResponseFlaw::Flat);
    }
    if !scores.iter().all(|it| (0.0..=1.0).contains(it)) {
        for it in &mut scores {
            *it = 1.0 / (1.0 + (-*it).exp());
        }
    }
    Ok(scores)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(results: &[(usize, f32)]) -> Vec<ScoredDocument> {
        results.iter().map(|it| ScoredDocument { index: it.0, score: it.1 }).collect()
    }

    #[test]
    fn every_document_has_one_score_at_its_place() {
        assert_eq!(in_order(scored(&[(1, 0.9), (0, 0.1)]), 2), Ok(vec![0.1, 0.9]));
        assert_eq!(in_order(scored(&[]), 0), Ok(Vec::new()));
        assert_eq!(
            in_order(scored(&[(0, 0.9)]), 2),
            Err(ResponseFlaw::Count { wanted: 2, found: 1 })
        );
        assert_eq!(in_order(scored(&[(0, 0.9), (0, 0.1)]), 2), Err(ResponseFlaw::Order));
        assert_eq!(in_order(scored(&[(0, 0.9), (7, 0.1)]), 2), Err(ResponseFlaw::Order));
    }

    #[test]
    fn scores_are_between_zero_and_one_in_the_same_order() {
        assert_eq!(to_unit_range(vec![0.0, 0.4, 1.0]), Ok(vec![0.0, 0.4, 1.0]));
        let scores = to_unit_range(vec![-8.5, 0.0, 3.2, 300.0]).unwrap();
        assert!(scores.is_sorted() && scores.iter().all(|it| (0.0..=1.0).contains(it)));
        assert_eq!(to_unit_range(vec![0.5, f32::NAN]), Err(ResponseFlaw::NotFinite));
        assert_eq!(to_unit_range(vec![1e-20, 3e-20]), Err(ResponseFlaw::Flat));
        assert_eq!(to_unit_range(vec![0.0]), Ok(vec![0.0]), "one document may simply be wrong");
    }
}
