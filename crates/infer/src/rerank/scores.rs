//! Checks received scores and brings them into the order of the documents and the range 0 to 1.

use super::wire::ScoredDocument;
use crate::error::ResponseFlaw;

/// Scores that are all smaller count as zero: a generative model in a server that expects a ranking
/// head scores everything near 1e-20.
const MIN_SPREAD: f32 = 1e-9;

/// The scores sorted by document. Each document must have exactly one.
pub(super) fn scores_in_order(
    results: Vec<ScoredDocument>,
    n_documents: usize,
) -> Result<Vec<f32>, ResponseFlaw> {
    if results.len() != n_documents {
        return Err(ResponseFlaw::Count { wanted: n_documents, found: results.len() });
    }
    let mut acc = vec![None; n_documents];
    for result in results {
        let score = acc.get_mut(result.index).ok_or(ResponseFlaw::Order)?;
        // Two scores for one document.
        if score.replace(result.score).is_some() {
            return Err(ResponseFlaw::Order);
        }
    }
    acc.into_iter().collect::<Option<_>>().ok_or(ResponseFlaw::Order)
}

/// Scores between 0 and 1. llama.cpp passes the raw output of the model on, which may be any number;
/// then the logistic function is applied to all, which keeps their order.
pub(super) fn to_unit_range(mut scores: Vec<f32>) -> Result<Vec<f32>, ResponseFlaw> {
    if !scores.iter().all(|it| it.is_finite()) {
        return Err(ResponseFlaw::NotFinite);
    }
    if scores.len() > 1 && scores.iter().all(|it| it.abs() < MIN_SPREAD) {
        return Err(ResponseFlaw::Flat);
    }
    if !scores.iter().all(|it| (0.0..=1.0).contains(it)) {
        for score in &mut scores {
            *score = 1.0 / (1.0 + (-*score).exp());
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
    fn every_document_must_have_one_score() {
        assert_eq!(scores_in_order(scored(&[(1, 0.9), (0, 0.1)]), 2), Ok(vec![0.1, 0.9]));
        assert_eq!(scores_in_order(scored(&[]), 0), Ok(Vec::new()));
        assert_eq!(
            scores_in_order(scored(&[(0, 0.9)]), 2),
            Err(ResponseFlaw::Count { wanted: 2, found: 1 })
        );
        assert_eq!(scores_in_order(scored(&[(0, 0.9), (0, 0.1)]), 2), Err(ResponseFlaw::Order));
        assert_eq!(scores_in_order(scored(&[(0, 0.9), (7, 0.1)]), 2), Err(ResponseFlaw::Order));
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
