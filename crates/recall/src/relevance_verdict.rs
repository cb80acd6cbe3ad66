//! Abstention: decides whether any hit of a query is relevant enough to be shown.
//!
//! Compares the strength of the best hits with a threshold. The strength adds the score of the nearest
//! vector and the evidence of keywords. The threshold rises with the similarity and the number of the
//! memories, because then something is near by chance. The constants were fitted on queries unrelated
//! to the notebook (the memories that are searched). In a notebook of 1,000 memories with a mean
//! similarity of 0.56, and without any keyword evidence:
//!
//! ```text
//! nearest cosine   strength   needed
//! 0.85             0.85       0.76     answered
//! 0.60             0.60       0.76     nothing
//! ```
//!
//! Keyword evidence is measured by idf (inverse document frequency): a rare term has a high idf, a
//! term of every memory about 0. The *matched idf* of a hit is the sum over the query terms that it
//! contains; the *ratio* is that sum divided by the sum over all query terms.

use crate::centering::DEVIATIONS_PER_UNIT;

/// Best evidence over all hits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RelevanceEvidence {
    pub nearest: NearestScore,
    /// Largest matched idf ratio of one hit, from 0 to 1.
    pub matched_idf_ratio: f32,
    /// Largest matched idf of one hit.
    pub matched_idf: f32,
    /// Mean similarity of two memories of the notebook.
    pub mean_similarity: f32,
    /// Number of vectors in the notebook.
    pub n_vectors: usize,
}

/// Vector score of the nearest memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum NearestScore {
    /// Vectors were not available.
    #[default]
    Unknown,
    /// Cosine by the built-in model.
    Cosine(f32),
    /// Standardised score, for models whose cosines have another scale: 1 is
    /// `DEVIATIONS_PER_UNIT` standard deviations above the mean of the notebook.
    Standardized(f32),
}

/// The decision with its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RelevanceVerdict {
    /// At least one hit is relevant.
    Answered { strength: f32, needed: f32 },
    /// Nothing is relevant enough.
    Nothing { strength: f32, needed: f32 },
    /// Not decided: the stage is disabled, or the query has no text.
    Open,
}

/// Without vectors, a memory with this matched idf ratio is relevant.
const MIN_IDF_RATIO_ALONE: f32 = 0.5;
/// A memory that contains all query terms is relevant whatever its vector score.
const FULL_IDF_RATIO: f32 = 0.999;

/// Matched idf at which it counts half; it approaches 1 for more.
const HALF_MATCHED_IDF: f32 = 10.0;

// Beside a cosine of the built-in model. All weights are fitted to the scale of its cosines.
/// Strength that the matched idf ratio adds at most.
const COSINE_RATIO_WEIGHT: f32 = 0.05;
/// Strength that the saturated matched idf adds at most.
const COSINE_IDF_WEIGHT: f32 = 0.15;
/// Threshold for one memory without any similarity to others.
const BASE_COSINE: f32 = 0.485;
/// Rise of the threshold per unit of mean similarity: in a notebook on one topic everything is near.
const COSINE_PER_SIMILARITY: f32 = 0.25;
/// Rise of the threshold each time that the number of memories grows by a factor of e.
const COSINE_PER_LOG_COUNT: f32 = 0.02;

// Beside a standardised score. The unit is one standard deviation.
/// Strength that the matched idf ratio adds at most; equivalent to `COSINE_RATIO_WEIGHT`.
const RATIO_DEVIATIONS: f32 = 0.6;
/// Strength that the saturated matched idf adds at most; equivalent to `COSINE_IDF_WEIGHT`.
const IDF_DEVIATIONS: f32 = 1.8;
/// Margin over the expected maximum of as many normal draws, in deviations: among many memories some
/// score high by chance.
const MARGIN_OVER_CHANCE: f32 = 0.9;

/// Decides whether anything is relevant.
pub fn judge_relevance(evidence: RelevanceEvidence) -> RelevanceVerdict {
    let RelevanceEvidence { nearest, matched_idf_ratio, matched_idf, mean_similarity, n_vectors } =
        evidence;
    // From 0 to 1, so that a long query with many matches does not outweigh the vectors.
    let saturated_idf = matched_idf / (matched_idf + HALF_MATCHED_IDF);
    #[expect(clippy::cast_precision_loss, reason = "only its logarithm counts")]
    let log_count = (n_vectors.max(1) as f32).ln();

    let (strength, needed);
    match nearest {
        NearestScore::Cosine(cosine) => {
            strength = cosine
                + COSINE_RATIO_WEIGHT * matched_idf_ratio
                + COSINE_IDF_WEIGHT * saturated_idf;
            needed = BASE_COSINE
                + COSINE_PER_SIMILARITY * mean_similarity
                + COSINE_PER_LOG_COUNT * log_count;
        }
        // Deviations are divided to the unit of `score`.
        NearestScore::Standardized(score) => {
            let keyword_deviations =
                RATIO_DEVIATIONS * matched_idf_ratio + IDF_DEVIATIONS * saturated_idf;
            // The expected maximum of n normal draws is about √(2 ln n) deviations.
            let chance_deviations = (2.0 * log_count).sqrt();
            strength = score + keyword_deviations / DEVIATIONS_PER_UNIT;
            needed = (chance_deviations + MARGIN_OVER_CHANCE) / DEVIATIONS_PER_UNIT;
        }
        NearestScore::Unknown => {
            strength = matched_idf_ratio;
            needed = MIN_IDF_RATIO_ALONE;
        }
    }

    let has_all_terms = matched_idf_ratio >= FULL_IDF_RATIO;
    if strength >= needed || has_all_terms {
        RelevanceVerdict::Answered { strength, needed }
    } else {
        RelevanceVerdict::Nothing { strength, needed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A weak best hit in a notebook of average similarity.
    const EVIDENCE: RelevanceEvidence = RelevanceEvidence {
        nearest: NearestScore::Cosine(0.6),
        matched_idf_ratio: 0.2,
        matched_idf: 2.0,
        mean_similarity: 0.56,
        n_vectors: 1_000,
    };

    fn is_answered(evidence: RelevanceEvidence) -> bool {
        matches!(judge_relevance(evidence), RelevanceVerdict::Answered { .. })
    }

    #[test]
    fn a_near_memory_is_an_answer_and_a_distant_one_is_not() {
        assert!(!is_answered(EVIDENCE));
        assert!(is_answered(RelevanceEvidence { nearest: NearestScore::Cosine(0.85), ..EVIDENCE }));
    }

    #[test]
    fn similar_and_numerous_memories_raise_the_threshold() {
        let near = RelevanceEvidence { nearest: NearestScore::Cosine(0.78), ..EVIDENCE };
        assert!(is_answered(RelevanceEvidence { mean_similarity: 0.3, n_vectors: 20, ..near }));
        assert!(!is_answered(RelevanceEvidence {
            mean_similarity: 0.7,
            n_vectors: 100_000,
            ..near
        }));
    }

    #[test]
    fn a_standardised_score_must_exceed_what_chance_gives_among_as_many_vectors() {
        let evidence = |score, n_vectors| RelevanceEvidence {
            nearest: NearestScore::Standardized(score),
            n_vectors,
            ..EVIDENCE
        };
        assert!(!is_answered(evidence(0.8, 1_000)));
        assert!(is_answered(evidence(1.1, 1_000)));
        assert!(!is_answered(evidence(1.1, 1_000_000)));
    }

    #[test]
    fn keywords_decide_without_vectors_or_if_all_terms_match() {
        let without_vectors = RelevanceEvidence { nearest: NearestScore::Unknown, ..EVIDENCE };
        assert!(!is_answered(without_vectors));
        assert!(is_answered(RelevanceEvidence { matched_idf_ratio: 0.6, ..without_vectors }));
        assert!(is_answered(RelevanceEvidence { matched_idf_ratio: 1.0, ..EVIDENCE }));
    }
}
