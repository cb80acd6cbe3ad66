//! Whether there is an answer at all. Saying nothing is an answer, too, and often the right one.

/// What speaks for the best candidates, whatever their order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// The best cosine with the question.
    pub cosine: f32,
    /// The largest share of the question's terms that one candidate holds.
    pub share: f32,
    /// The largest weight of the terms one candidate holds, rare terms counting more.
    pub mass: f32,
    /// How close two memories of the notebook are on average.
    pub crowding: f32,
    pub n_memories: usize,
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

/// Decides whether anything is relevant. Fitted on questions about other things than the notebook.
///
/// A question meets something nearer by chance where memories are crowded and where there are many.
pub fn judge(evidence: Evidence) -> Verdict {
    let Evidence { cosine, share, mass, crowding, n_memories } = evidence;
    #[expect(clippy::cast_precision_loss, reason = "only its logarithm counts")]
    let many = (n_memories.max(1) as f32).ln();
    let strength = cosine + 0.06 * share + 0.20 * mass / (mass + 10.0);
    let needed = 0.49 + 0.33 * crowding + 0.02 * many;
    if strength < needed {
        Verdict::Nothing { strength, needed }
    } else {
        Verdict::Answered { strength, needed }
    }
}
