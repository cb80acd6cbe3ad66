//! Mean-centred cosine similarity, standardised per query.
//!
//! Memories of one project share a topic, so their vectors cluster around a mean and a raw cosine of
//! 0.8 may mean nothing. The score used here is the cosine after subtracting the mean, as a z-score
//! over the cosines of the query with a sample of the notebook.

use crate::dot::dot_product;
use crate::quantized_vectors::QuantizedVectors;

/// Rows sampled for the statistics; more do not change them noticeably.
const MAX_SAMPLED_ROWS: usize = 1_024;
/// A notebook of this many vectors weighs as much as the prior of the model. Below it, statistics of
/// a model without a measured prior are not reliable.
pub const PRIOR_VECTORS: u16 = 50;
const PRIOR_WEIGHT: f32 = PRIOR_VECTORS as f32;
/// Standard deviations that make a normalised score of one.
pub(crate) const DEVIATIONS_PER_UNIT: f32 = 5.0;
/// The z-score that one unrelated pair in a hundred exceeds (normal distribution).
const CHANCE_DEVIATIONS: f32 = 2.33;

/// Mean and centred sample of the vectors of a notebook.
#[derive(Clone, Debug, Default)]
pub struct VectorStats {
    n_rows: usize,
    mean: Vec<f32>,
    /// Centred at the mean and normalised.
    sample: Vec<Vec<f32>>,
    /// Mean cosine of two different rows, without the prior.
    raw_mean_similarity: f32,
}

/// Typical cosines of an embedding model, independent of the notebook.
#[derive(Clone, Copy, Debug)]
pub struct SimilarityPrior {
    pub unrelated: f32,
    /// The cosine that one unrelated pair in a hundred exceeds.
    pub chance: f32,
    /// True if measured for this model; a guess is used only for small notebooks.
    pub measured: bool,
}

/// A centred query with the mean and deviation of its cosines in one notebook.
#[derive(Clone, Debug)]
pub struct QueryStats {
    query: Vec<f32>,
    mean: Vec<f32>,
    mean_score: f32,
    deviation: f32,
    prior: SimilarityPrior,
    notebook_weight: f32,
}

impl VectorStats {
    /// Computes the statistics from an evenly spaced sample of rows.
    pub fn from_codes(codes: &QuantizedVectors) -> Self {
        let n_rows = codes.n_rows();
        let step = n_rows.div_ceil(MAX_SAMPLED_ROWS).max(1);
        let rows: Vec<Vec<f32>> =
            (0..n_rows).step_by(step).filter_map(|it| codes.unit_row(it)).collect();
        let Some(first) = rows.first() else { return Self::default() };
        let mut mean = vec![0.0; first.len()];
        for row in &rows {
            mean.iter_mut().zip(row).for_each(|(acc, it)| *acc += it);
        }
        let n = to_f32(rows.len());
        for it in &mut mean {
            *it /= n;
        }
        let squared = dot_product(&mean, &mean);
        let crowding = if n > 1.0 { (n * squared - 1.0) / (n - 1.0) } else { 0.0 };
        let sample = rows.iter().map(|it| center_and_normalize(it, &mean)).collect();
        Self { n_rows: rows.len() * step, mean, sample, raw_mean_similarity: crowding }
    }

    /// Mean cosine of two memories, shrunk towards the prior for small notebooks.
    pub fn mean_similarity(&self, prior: SimilarityPrior) -> f32 {
        let n = to_f32(self.n_rows);
        (n * self.raw_mean_similarity + PRIOR_WEIGHT * prior.unrelated) / (n + PRIOR_WEIGHT)
    }

    /// Statistics of one query. The query is cut to the dimensions of the codes.
    pub fn query_stats(&self, query: &[f32], prior: SimilarityPrior) -> QueryStats {
        let mean = self.mean.clone();
        let query = center_and_normalize(&query[..mean.len().min(query.len())], &mean);
        let seen: Vec<f32> = self.sample.iter().map(|it| dot_product(it, &query)).collect();
        let n = to_f32(seen.len()).max(1.0);
        let average = seen.iter().sum::<f32>() / n;
        let variance = seen.iter().map(|it| (it - average) * (it - average)).sum::<f32>() / n;
        let n = to_f32(self.n_rows);
        let trust = if !prior.measured && n >= PRIOR_WEIGHT { 1.0 } else { n / (n + PRIOR_WEIGHT) };
        QueryStats {
            query,
            mean,
            mean_score: average,
            deviation: variance.sqrt().max(1e-3),
            prior,
            notebook_weight: trust,
        }
    }
}

impl QueryStats {
    /// Standardised score of a memory, about 1 for a relevant one. Blends the z-score in the notebook
    /// with the one that the prior gives for the plain cosine.
    pub fn standardized_score(&self, vector: &[f32], cosine: f32) -> f32 {
        let SimilarityPrior { unrelated, chance, .. } = self.prior;
        let known = (cosine - unrelated) * CHANCE_DEVIATIONS / (chance - unrelated);
        let vector = &vector[..self.mean.len().min(vector.len())];
        let here = (dot_product(&center_and_normalize(vector, &self.mean), &self.query)
            - self.mean_score)
            / self.deviation;
        (self.notebook_weight * here + (1.0 - self.notebook_weight) * known) / DEVIATIONS_PER_UNIT
    }
}

/// Subtracts the mean and scales to length one.
fn center_and_normalize(vector: &[f32], mean: &[f32]) -> Vec<f32> {
    let mut res: Vec<f32> = vector.iter().zip(mean).map(|(it, mean)| it - mean).collect();
    let length = dot_product(&res, &res).sqrt().max(1e-6);
    for it in &mut res {
        *it /= length;
    }
    res
}

#[expect(clippy::cast_precision_loss, reason = "counts of rows; more than 2^24 say the same")]
fn to_f32(n: usize) -> f32 {
    n as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRIOR: SimilarityPrior = SimilarityPrior { unrelated: 0.5, chance: 0.7, measured: true };

    /// Rows that all share a direction and differ in another.
    fn crowd(n: u32) -> QuantizedVectors {
        let mut codes = QuantizedVectors::new(8);
        for slot in 0..n {
            let mut code = [0_i8; 8];
            code[0] = 100;
            code[1 + slot as usize % 7] = 60;
            codes.push_row(slot, &code).unwrap();
        }
        codes
    }

    fn unit(code: &[f32]) -> Vec<f32> {
        center_and_normalize(code, &[0.0; 8])
    }

    #[test]
    fn what_all_share_does_not_count() {
        let lie = VectorStats::from_codes(&crowd(700));
        let query = unit(&[1.0, 0.6, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let other = unit(&[1.0, 0.0, 0.6, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let bearing = lie.query_stats(&query, PRIOR);
        let place = |it: &[f32]| bearing.standardized_score(it, dot_product(it, &query));
        assert!(dot_product(&other, &query) > 0.7, "they look alike");
        assert!(place(&query) > 0.3 && place(&other) < 0.0, "and are not");
        assert!(lie.mean_similarity(PRIOR) > 0.7);
    }

    #[test]
    fn a_small_notebook_is_measured_by_what_is_known_about_the_model() {
        let lie = VectorStats::from_codes(&crowd(1));
        let query = unit(&[1.0, 0.6, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let bearing = lie.query_stats(&query, PRIOR);
        assert!(bearing.standardized_score(&query, 1.0) > bearing.standardized_score(&query, 0.5));
        assert!((lie.mean_similarity(PRIOR) - PRIOR.unrelated).abs() < 0.05);
        let guess = SimilarityPrior { measured: false, ..PRIOR };
        let (few, many) =
            (VectorStats::from_codes(&crowd(10)), VectorStats::from_codes(&crowd(700)));
        let place = |lie: &VectorStats, cosine| {
            lie.query_stats(&query, guess).standardized_score(&query, cosine)
        };
        assert!(place(&few, 1.0) > place(&few, 0.5), "a guess is better than nothing");
        let same = (place(&many, 1.0) - place(&many, 0.5)).abs();
        assert!(same < 1e-6, "and worse than what the notebook shows");
        let nothing = VectorStats::from_codes(&QuantizedVectors::new(8)).query_stats(&query, PRIOR);
        assert!(nothing.standardized_score(&query, 1.0).is_finite());
    }
}
