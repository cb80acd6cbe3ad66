//! Whether there is an answer at all. Saying nothing is an answer, too, and often the right one.

/// What speaks for the best candidates, whatever their order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// The best cosine with the question; `None` when no vectors could be compared.
    pub cosine: Option<f32>,
    /// The largest share of the weight of the question's terms that one candidate holds.
    pub share: f32,
    /// The largest weight of the terms one candidate holds, rare terms counting more.
    pub mass: f32,
    /// How close two memories of the notebook are on average.
    pub crowding: f32,
    pub n_vectors: usize,
}

/// The decision, with the numbers it rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    Answered {
        strength: f32,
        needed: f32,
    },
    /// Nothing is relevant enough.
    Nothing {
        strength: f32,
        needed: f32,
    },
    /// Nobody decided: the stage was left out, or nothing was asked in words.
    Open,
}

/// Where vectors cannot be asked, a memory that holds this share of the words is an answer.
const BY_WORDS: f32 = 0.5;
/// Who holds all of the words is an answer, whatever its vector says.
const ALL_WORDS: f32 = 0.999;

/// Decides whether anything is relevant.
///
/// A question meets something near by chance where memories are crowded and where there are many.
/// The constants were fitted on questions about other things than the notebook's.
pub fn judge(evidence: Evidence) -> Verdict {
    let Evidence { cosine, share, mass, crowding, n_vectors } = evidence;
    #[expect(clippy::cast_precision_loss, reason = "only its logarithm counts")]
    let many = (n_vectors.max(1) as f32).ln();
    let (strength, needed) = match cosine {
        Some(cosine) => (
            cosine + 0.05 * share + 0.15 * mass / (mass + 10.0),
            0.485 + 0.25 * crowding + 0.02 * many,
        ),
        None => (share, BY_WORDS),
    };
    if strength < needed && share < ALL_WORDS {
        Verdict::Nothing { strength, needed }
    } else {
        Verdict::Answered { strength, needed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVIDENCE: Evidence =
        Evidence { cosine: Some(0.6), share: 0.2, mass: 2.0, crowding: 0.56, n_vectors: 1_000 };

    fn is_answered(evidence: Evidence) -> bool {
        matches!(judge(evidence), Verdict::Answered { .. })
    }

    #[test]
    fn a_stranger_is_no_answer_and_a_near_one_is() {
        assert!(!is_answered(EVIDENCE));
        assert!(is_answered(Evidence { cosine: Some(0.85), ..EVIDENCE }));
    }

    #[test]
    fn where_memories_are_crowded_more_is_needed() {
        let near = Evidence { cosine: Some(0.78), ..EVIDENCE };
        assert!(is_answered(Evidence { crowding: 0.3, n_vectors: 20, ..near }));
        assert!(!is_answered(Evidence { crowding: 0.7, n_vectors: 100_000, ..near }));
    }

    #[test]
    fn words_decide_where_there_are_no_vectors_or_all_of_them_are_there() {
        let words = Evidence { cosine: None, ..EVIDENCE };
        assert!(!is_answered(words));
        assert!(is_answered(Evidence { share: 0.6, ..words }));
        assert!(is_answered(Evidence { share: 1.0, ..EVIDENCE }));
    }
}
