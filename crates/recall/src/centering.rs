//! Mean-centred cosine similarity, standardised per query.
//!
//! Memories of one project share a topic, so their vectors cluster around a mean and a raw cosine of
//! 0.8 may mean nothing. The score used here is the cosine after subtracting the mean, as a z-score
//! (how many standard deviations above the average) over the cosines of the query with a sample of the
//! notebook.
//!
//! A small notebook has no reliable statistics. Its score is blended with a z-score of the plain
//! cosine under a [`SimilarityPrior`]: the typical cosines of the embedding model. [`VectorStats`] is
//! computed once per notebook, [`QueryStats`] once per query. The engine passes the vectors in and uses
//! the scores in `fusion` and `relevance_verdict`. For example, in a notebook of 50 memories, which
//! weighs as much as the prior:
//!
//! ```text
//! centred cosine 0.6, mean 0.0, deviation 0.1                z-score in the notebook   6.0
//! plain cosine 0.8; unrelated 0.5, chance 0.7 (2.33 above)   z-score of the prior      3.5
//! blend with equal weights 4.75, divided by 5                score                     0.95
//! ```

use crate::dot::dot_product;
use crate::quantized_vectors::QuantizedVectors;

/// Rows sampled for the statistics; more do not change them noticeably.
const MAX_SAMPLED_ROWS: usize = 1_024;
/// A notebook of this many vectors weighs as much as the prior of the model. Below it, statistics of
/// a model without a measured prior are not reliable.
pub const PRIOR_VECTORS: u16 = 50;
/// [`PRIOR_VECTORS`] as a float.
const PRIOR_WEIGHT: f32 = PRIOR_VECTORS as f32;
/// Standard deviations that make a normalised score of one.
pub(crate) const DEVIATIONS_PER_UNIT: f32 = 5.0;
/// The z-score that one unrelated pair in a hundred exceeds (normal distribution).
const CHANCE_DEVIATIONS: f32 = 2.33;
/// Least standard deviation, so that a notebook of equal vectors is not divided by zero.
const MIN_DEVIATION: f32 = 1e-3;
/// Least length of a vector, so that one equal to the mean is not divided by zero.
const MIN_LENGTH: f32 = 1e-6;

/// Mean and centred sample of the vectors of a notebook.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VectorStats {
    /// Number of live rows.
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
    /// Centred at the mean of the notebook and normalised.
    query: Vec<f32>,
    /// Mean vector of the notebook.
    mean: Vec<f32>,
    /// Mean centred cosine of the query with the sample.
    mean_score: f32,
    /// Standard deviation of those cosines.
    deviation: f32,
    prior: SimilarityPrior,
    /// Share of the notebook's z-score in the blend, from 0 to 1.
    notebook_weight: f32,
}

impl VectorStats {
    /// Computes the statistics from the rows of evenly spaced slots. The sample depends on slots and
    /// codes only, not on the positions of the rows: an index has the same statistics whether it was
    /// read at once or grew by changes.
    pub fn from_codes(codes: &QuantizedVectors) -> Self {
        let step = codes.len().div_ceil(MAX_SAMPLED_ROWS).max(1);
        let slots = codes.present.iter().step_by(step);
        let rows: Vec<Vec<f32>> = slots
            .flat_map(|slot| codes.ordered_rows_of(slot))
            .filter_map(|row| codes.unit_row(row as usize))
            .collect();
        // An empty notebook: without a mean, every query scores by the prior alone.
        let Some(first) = rows.first() else { return Self::default() };

        let mut mean = vec![0.0; first.len()];
        for row in &rows {
            mean.iter_mut().zip(row).for_each(|(acc, it)| *acc += it);
        }
        let n_sampled = to_f32(rows.len());
        for it in &mut mean {
            *it /= n_sampled;
        }

        // The squared length of the mean of unit vectors is the mean of all their pairwise dot
        // products. Subtracting each row's product with itself leaves the pairs of different rows.
        let mean_of_all_pairs = dot_product(&mean, &mean);
        let raw_mean_similarity = if n_sampled > 1.0 {
            (n_sampled * mean_of_all_pairs - 1.0) / (n_sampled - 1.0)
        } else {
            0.0
        };
        let sample = rows.iter().map(|it| center_and_normalize(it, &mean)).collect();
        Self { n_rows: codes.len(), mean, sample, raw_mean_similarity }
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
        let cosines: Vec<f32> = self.sample.iter().map(|it| dot_product(it, &query)).collect();
        let n_cosines = to_f32(cosines.len()).max(1.0);
        let mean_score = cosines.iter().sum::<f32>() / n_cosines;
        let squared_deviations = cosines.iter().map(|it| (it - mean_score) * (it - mean_score));
        let variance = squared_deviations.sum::<f32>() / n_cosines;

        // A guessed prior is not used once the notebook is large enough.
        let n_rows = to_f32(self.n_rows);
        let notebook_weight = if !prior.measured && n_rows >= PRIOR_WEIGHT {
            1.0
        } else {
            n_rows / (n_rows + PRIOR_WEIGHT)
        };
        QueryStats {
            query,
            mean,
            mean_score,
            deviation: variance.sqrt().max(MIN_DEVIATION),
            prior,
            notebook_weight,
        }
    }
}

impl QueryStats {
    /// Standardised score of a memory, about 1 for a relevant one. Blends the z-score in the notebook
    /// with the one that the prior gives for the plain cosine.
    pub fn standardized_score(&self, vector: &[f32], cosine: f32) -> f32 {
        // `chance` is `CHANCE_DEVIATIONS` above `unrelated`, which gives the scale of the prior.
        let SimilarityPrior { unrelated, chance, .. } = self.prior;
        let prior_z = (cosine - unrelated) * CHANCE_DEVIATIONS / (chance - unrelated);

        let vector = &vector[..self.mean.len().min(vector.len())];
        let centred_cosine = dot_product(&center_and_normalize(vector, &self.mean), &self.query);
        let notebook_z = (centred_cosine - self.mean_score) / self.deviation;

        let weight = self.notebook_weight;
        (weight * notebook_z + (1.0 - weight) * prior_z) / DEVIATIONS_PER_UNIT
    }
}

/// Subtracts the mean and scales to length one.
fn center_and_normalize(vector: &[f32], mean: &[f32]) -> Vec<f32> {
    let mut res: Vec<f32> = vector.iter().zip(mean).map(|(it, mean)| it - mean).collect();
    let length = dot_product(&res, &res).sqrt().max(MIN_LENGTH);
    for it in &mut res {
        *it /= length;
    }
    res
}

#[expect(clippy::cast_precision_loss, reason = "beyond 2^24 rows one more does not matter")]
fn to_f32(n: usize) -> f32 {
    n as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRIOR: SimilarityPrior = SimilarityPrior { unrelated: 0.5, chance: 0.7, measured: true };

    /// `n` rows that share their first dimension and differ in one of the others.
    fn similar_rows(n: u32) -> QuantizedVectors {
        let mut codes = QuantizedVectors::new(8);
        for slot in 0..n {
            let mut code = [0_i8; 8];
            code[0] = 100;
            code[1 + slot as usize % 7] = 60;
            codes.push_row(slot, &code).unwrap();
        }
        codes
    }

    fn unit(vector: &[f32; 8]) -> Vec<f32> {
        center_and_normalize(vector, &[0.0; 8])
    }

    fn query() -> Vec<f32> {
        unit(&[1.0, 0.6, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    }

    #[test]
    fn a_direction_that_all_memories_share_does_not_raise_the_score() {
        let stats = VectorStats::from_codes(&similar_rows(700));
        let query = query();
        let other = unit(&[1.0, 0.0, 0.6, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let query_stats = stats.query_stats(&query, PRIOR);
        let score = |it: &[f32]| query_stats.standardized_score(it, dot_product(it, &query));
        assert!(dot_product(&other, &query) > 0.7, "the plain cosine is high");
        assert!(score(&query) > 0.3 && score(&other) < 0.0, "the centred score is not");
        assert!(stats.mean_similarity(PRIOR) > 0.7);
    }

    #[test]
    fn a_small_notebook_is_scored_by_the_prior_of_the_model() {
        let stats = VectorStats::from_codes(&similar_rows(1));
        let query_stats = stats.query_stats(&query(), PRIOR);
        let score = |cosine| query_stats.standardized_score(&query(), cosine);
        assert!(score(1.0) > score(0.5));
        assert!((stats.mean_similarity(PRIOR) - PRIOR.unrelated).abs() < 0.05);
    }

    #[test]
    fn a_guessed_prior_counts_only_in_a_small_notebook() {
        let guess = SimilarityPrior { measured: false, ..PRIOR };
        let small = VectorStats::from_codes(&similar_rows(10));
        let large = VectorStats::from_codes(&similar_rows(700));
        let score = |stats: &VectorStats, cosine| {
            stats.query_stats(&query(), guess).standardized_score(&query(), cosine)
        };
        assert!(score(&small, 1.0) > score(&small, 0.5));
        assert!((score(&large, 1.0) - score(&large, 0.5)).abs() < 1e-6);
    }

    #[test]
    fn statistics_do_not_depend_on_the_order_in_which_rows_came() {
        let code_of = |slot: u32, part: u32| {
            let bytes = (slot * 31 + part * 7).to_le_bytes().repeat(2);
            bytes.iter().map(|it| it.cast_signed()).collect::<Vec<i8>>()
        };
        let mut in_order = QuantizedVectors::new(8);
        let mut reversed = QuantizedVectors::new(8);
        for slot in 0..900 {
            for part in 0..3 {
                in_order.push_row(slot, &code_of(slot, part)).unwrap();
                reversed.push_row(899 - slot, &code_of(899 - slot, 2 - part)).unwrap();
            }
        }
        // One slot is replaced, so that its rows lie at the end and dead ones between the others.
        in_order.remove_slot(4);
        (0..3).for_each(|part| in_order.push_row(4, &code_of(4, part)).unwrap());
        assert_eq!(VectorStats::from_codes(&in_order), VectorStats::from_codes(&reversed));
    }

    #[test]
    fn an_empty_notebook_gives_a_finite_score() {
        let stats = VectorStats::from_codes(&QuantizedVectors::new(8));
        assert!(stats.query_stats(&query(), PRIOR).standardized_score(&query(), 1.0).is_finite());
    }
}
