//! Abstention: decides whether any hit is relevant.

use crate::centering::DEVIATIONS_PER_UNIT;

/// Best evidence over all hits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RelevanceEvidence {
    pub nearest: NearestScore,
    /// Largest matched idf ratio of one hit.
    pub matched_idf_ratio: f32,
    /// Largest matched idf of one hit.
    pub matched_idf: f32,
    /// Mean similarity of two memories of the notebook.
    pub mean_similarity: f32,
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
    /// Standardised score, for models whose cosines have another scale.
    Standardized(f32),
}

/// The decision with its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RelevanceVerdict {
    Answered {
        strength: f32,
        needed: f32,
    },
    /// Nothing is relevant enough.
    Nothing {
        strength: f32,
        needed: f32,
    },
    /// Not decided: the stage is disabled, or the query has no text.
    Open,
}

/// Without vectors, a memory with this matched idf ratio is relevant.
const MIN_IDF_RATIO_ALONE: f32 = 0.5;
/// A memory that contains all query terms is relevant whatever its vector score.
const FULL_IDF_RATIO: f32 = 0.999;

/// Margin over the expected maximum of as many normal draws, in deviations: among many memories some
/// score high by chance.
const MARGIN_OVER_CHANCE: f32 = 0.9;
/// Weights of matched idf ratio and matched idf beside a standardised score, in deviations; equivalent
/// to their weights beside a cosine of the built-in model.
const KEYWORD_WEIGHTS: [f32; 2] = [0.6, 1.8];

/// Decides whether anything is relevant.
///
/// A query finds something near by chance if memories are similar to one another or numerous. The
/// constants were fitted on queries unrelated to the notebook.
pub fn judge_relevance(evidence: RelevanceEvidence) -> RelevanceVerdict {
    let RelevanceEvidence {
        nearest: nearness,
        matched_idf_ratio: share,
        matched_idf: mass,
        mean_similarity: crowding,
        n_vectors,
    } = evidence;
    #[expect(clippy::cast_precision_loss, reason = "only its logarithm counts")]
    let many = (n_vectors.max(1) as f32).ln();
    let (strength, needed) = match nearness {
        NearestScore::Cosine(cosine) => (
            cosine + 0.05 * share + 0.15 * mass / (mass + 10.0),
            0.485 + 0.25 * crowding + 0.02 * many,
        ),
        NearestScore::Standardized(place) => (
            place
                + (KEYWORD_WEIGHTS[0] * share + KEYWORD_WEIGHTS[1] * mass / (mass + 10.0))
                    / DEVIATIONS_PER_UNIT,
            ((2.0 * many).sqrt() + MARGIN_OVER_CHANCE) / DEVIATIONS_PER_UNIT,
        ),
        NearestScore::Unknown => (share, MIN_IDF_RATIO_ALONE),
    };
    if strength < needed && share < FULL_IDF_RATIO {
        RelevanceVerdict::Nothing { strength, needed }
    } else {
        RelevanceVerdict::Answered { strength, needed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_stranger_is_no_answer_and_a_near_one_is() {
        assert!(!is_answered(EVIDENCE));
        assert!(is_answered(RelevanceEvidence { nearest: NearestScore::Cosine(0.85), ..EVIDENCE }));
    }

    #[test]
    fn where_memories_are_crowded_more_is_needed() {
        let near = RelevanceEvidence { nearest: NearestScore::Cosine(0.78), ..EVIDENCE };
        assert!(is_answered(RelevanceEvidence { mean_similarity: 0.3, n_vectors: 20, ..near }));
        assert!(!is_answered(RelevanceEvidence {
            mean_similarity: 0.7,
            n_vectors: 100_000,
            ..near
        }));
    }

    #[test]
    fn by_another_model_an_answer_stands_out_more_than_chance_would_have_it() {
        let place = |place, n_vectors| RelevanceEvidence {
            nearest: NearestScore::Standardized(place),
            n_vectors,
            ..EVIDENCE
        };
        assert!(!is_answered(place(0.8, 1_000)));
        assert!(is_answered(place(1.1, 1_000)));
        assert!(!is_answered(place(1.1, 1_000_000)), "among more, chance reaches further");
    }

    #[test]
    fn words_decide_where_there_are_no_vectors_or_all_of_them_are_there() {
        let words = RelevanceEvidence { nearest: NearestScore::Unknown, ..EVIDENCE };
        assert!(!is_answered(words));
        assert!(is_answered(RelevanceEvidence { matched_idf_ratio: 0.6, ..words }));
        assert!(is_answered(RelevanceEvidence { matched_idf_ratio: 1.0, ..EVIDENCE }));
    }
}
