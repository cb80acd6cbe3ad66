//! Whether there is an answer at all. Saying nothing is an answer, too, and often the right one.

use crate::lie::FAR;

/// What speaks for the best candidates, whatever their order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    pub nearness: Nearness,
    /// The largest share of the weight of the question's terms that one candidate holds.
    pub share: f32,
    /// The largest weight of the terms one candidate holds, rare terms counting more.
    pub mass: f32,
    /// How close two memories of the notebook are on average.
    pub crowding: f32,
    pub n_vectors: usize,
}

/// How near the nearest is to the question.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Nearness {
    /// No vectors could be compared.
    #[default]
    Unknown,
    /// Its cosine, by the built-in model.
    Cosine(f32),
    /// How far it stands out in its notebook, by a model whose cosines mean something else.
    Place(f32),
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

/// Among many, somebody stands out by chance: by this much more than the most extreme of as many
/// draws, in deviations, is an answer.
const BEYOND_CHANCE: f32 = 0.9;
/// What words are worth beside a place, in deviations: as much as beside a cosine of the built-in model.
const WORDS: [f32; 2] = [0.6, 1.8];

/// Decides whether anything is relevant.
///
/// A question meets something near by chance where memories are crowded and where there are many.
/// The constants were fitted on questions about other things than the notebook's.
pub fn judge(evidence: Evidence) -> Verdict {
    let Evidence { nearness, share, mass, crowding, n_vectors } = evidence;
    #[expect(clippy::cast_precision_loss, reason = "only its logarithm counts")]
    let many = (n_vectors.max(1) as f32).ln();
    let (strength, needed) = match nearness {
        Nearness::Cosine(cosine) => (
            cosine + 0.05 * share + 0.15 * mass / (mass + 10.0),
            0.485 + 0.25 * crowding + 0.02 * many,
        ),
        Nearness::Place(place) => (
            place + (WORDS[0] * share + WORDS[1] * mass / (mass + 10.0)) / FAR,
            ((2.0 * many).sqrt() + BEYOND_CHANCE) / FAR,
        ),
        Nearness::Unknown => (share, BY_WORDS),
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

    const EVIDENCE: Evidence = Evidence {
        nearness: Nearness::Cosine(0.6),
        share: 0.2,
        mass: 2.0,
        crowding: 0.56,
        n_vectors: 1_000,
    };

    fn is_answered(evidence: Evidence) -> bool {
        matches!(judge(evidence), Verdict::Answered { .. })
    }

    #[test]
    fn a_stranger_is_no_answer_and_a_near_one_is() {
        assert!(!is_answered(EVIDENCE));
        assert!(is_answered(Evidence { nearness: Nearness::Cosine(0.85), ..EVIDENCE }));
    }

    #[test]
    fn where_memories_are_crowded_more_is_needed() {
        let near = Evidence { nearness: Nearness::Cosine(0.78), ..EVIDENCE };
        assert!(is_answered(Evidence { crowding: 0.3, n_vectors: 20, ..near }));
        assert!(!is_answered(Evidence { crowding: 0.7, n_vectors: 100_000, ..near }));
    }

    #[test]
    fn by_another_model_an_answer_stands_out_more_than_chance_would_have_it() {
        let place =
            |place, n_vectors| Evidence { nearness: Nearness::Place(place), n_vectors, ..EVIDENCE };
        assert!(!is_answered(place(0.8, 1_000)));
        assert!(is_answered(place(1.1, 1_000)));
        assert!(!is_answered(place(1.1, 1_000_000)), "among more, chance reaches further");
    }

    #[test]
    fn words_decide_where_there_are_no_vectors_or_all_of_them_are_there() {
        let words = Evidence { nearness: Nearness::Unknown, ..EVIDENCE };
        assert!(!is_answered(words));
        assert!(is_answered(Evidence { share: 0.6, ..words }));
        assert!(is_answered(Evidence { share: 1.0, ..EVIDENCE }));
    }
}
