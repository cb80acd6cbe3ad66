//! The scorer: a logistic model over the features of a claim and the embedding of its sentence.

use crate::feature::FeatureSet;
use crate::weights::{BASE_LOGIT, EMBEDDING_WEIGHTS, FEATURE_WEIGHTS};

/// The lowest score of a claim that is kept.
pub const MIN_CLAIM_SCORE: f32 = 0.4;

/// The probability that a reader would keep the claim, by the features and the embedding of the quote. An
/// embedding of another model (with another length) is not weighed.
pub fn score_claim(features: FeatureSet, embedding: Option<&[f32]>) -> f32 {
    let by_features: f32 = features.iter().map(|it| FEATURE_WEIGHTS[it as usize]).sum();
    let by_embedding =
        embedding.filter(|it| it.len() == EMBEDDING_WEIGHTS.len()).map_or(0.0, |vector| {
            vector.iter().zip(EMBEDDING_WEIGHTS).map(|(value, weight)| value * weight).sum()
        });
    let logit: f32 = BASE_LOGIT + by_features + by_embedding;
    1.0 / (1.0 + (-logit).exp())
}
