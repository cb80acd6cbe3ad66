//! The score of a memory: relevance combined with recency, frequency, phase, trust and confidence.
//!
//! ```text
//! score = (w₁ × relevance + w₂ × recency + w₃ × frequency) × phase × trust × confidence
//! ```
//!
//! The weights depend on the purpose of the search (an explicit search, or a note that an agent gets
//! unasked). Recency decays exponentially with the days since the last use, faster if the files of the
//! memory change often; frequency counts uses. *Phase* is the weight of the memory's kind in the kind
//! of work that the agent does, *trust* that of its source (a user, an agent), *confidence* how likely
//! it still holds. `ranking` calls [`score_memory`] for every candidate; the factors are kept for
//! explanations.

use model::{Memory, PerMille, Phase, closed, words};

use crate::phase_weights;
use crate::ranking_stage::{DisabledStages, RankingStage};
use crate::search_purpose::SearchPurposeRow;

/// All factors of a score, for explanations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreFactors {
    /// Relevance to the query, from 0 to 1.
    pub relevance: f32,
    /// 1 for a new memory, falling to 0.
    pub recency: f32,
    /// 0 for a memory never used, rising to 1.
    pub frequency: f32,
    pub phase: f32,
    pub trust: f32,
    pub confidence: f32,
    pub score: f32,
}

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// Rate of change of the files that a memory names.
    pub enum FileVolatility : "volatility" {
        Source = "source",
        Settings = "settings",
        Prose = "prose",
        /// The memory names no file.
        Unknown = "unknown",
    }
}

impl FileVolatility {
    /// Daily loss of recency, in ten thousandths.
    #[rustfmt::skip]
    pub const fn daily_loss(self) -> u16 {
        match self {
            Self::Source   => 100,
            Self::Settings => 60,
            Self::Prose | Self::Unknown => 30,
        }
    }

    /// Volatility of the fastest changing file of a memory.
    pub fn from_memory(memory: &Memory) -> Self {
        let from_path = |path: &str| match words::file_extension(path) {
            Some("md" | "mdx" | "rst" | "txt") => Self::Prose,
            Some("toml" | "yaml" | "yml" | "json" | "ini" | "cfg" | "conf" | "env" | "lock") => {
                Self::Settings
            }
            // Any other extension, or none, as in `Makefile`.
            _ => Self::Source,
        };
        let volatilities = memory.files.iter().map(|it| from_path(it.as_str()));
        volatilities.max_by_key(|it| it.daily_loss()).unwrap_or(Self::Unknown)
    }
}

/// Time-dependent properties of a memory at query time.
#[derive(Clone, Copy, Debug)]
pub struct MemoryCondition {
    /// Confidence after decay.
    pub current_confidence: PerMille,
    /// Days since last use or change, without quiet spans (months in which Waylore was not used).
    pub days_unused: f32,
    /// Recent changes of its most changed file, if the git history is known; the weight of a change
    /// halves every half year.
    pub churn: Option<f32>,
}

impl MemoryCondition {
    /// Daily loss of recency. Measured churn takes precedence over the volatility of the file type;
    /// seven recent changes equal the default of a source file.
    fn recency_loss(self, memory: &Memory) -> f32 {
        let ten_thousandths = match self.churn {
            Some(churn) => churn_loss(churn),
            None => f32::from(FileVolatility::from_memory(memory).daily_loss()),
        };
        ten_thousandths / 10_000.0
    }
}

/// Additional daily loss of recency per recent change, in ten thousandths.
const LOSS_PER_CHANGE: f32 = 10.0;
/// Highest daily loss by churn, in ten thousandths: twice that of a source file.
const MAX_CHURN_LOSS: f32 = 200.0;

/// Daily loss of recency for a number of recent changes, in ten thousandths.
fn churn_loss(churn: f32) -> f32 {
    let min_loss = f32::from(FileVolatility::Prose.daily_loss());
    (min_loss + LOSS_PER_CHANGE * churn).clamp(min_loss, MAX_CHURN_LOSS)
}

/// Number of uses that gives the full frequency score.
const FREQUENT_USES: f32 = 100.0;

/// Scores a memory, see the head of this file.
pub(crate) fn score_memory(
    memory: &Memory,
    condition: MemoryCondition,
    relevance: f32,
    phase: Option<Phase>,
    purpose: SearchPurposeRow,
    stages: &DisabledStages,
) -> ScoreFactors {
    let per_mille = |thousandths: u16| f32::from(thousandths) / 1000.0;
    #[expect(clippy::cast_precision_loss, reason = "beyond 2^24 uses one more does not matter")]
    let uses = memory.counters.used_count as f32;
    let recency = (-condition.days_unused * condition.recency_loss(memory)).exp();
    // Logarithmic: the second use is stronger evidence than the hundredth.
    let frequency = (uses.ln_1p() / FREQUENT_USES.ln_1p()).min(1.0);

    // A disabled stage leaves its part of the formula out: the sum is the relevance, a factor is 1.
    let weighted_sum = if stages.is_disabled(RankingStage::Habit) {
        relevance
    } else {
        per_mille(purpose.relevance) * relevance
            + per_mille(purpose.recency) * recency
            + per_mille(purpose.frequency) * frequency
    };
    let phase = match phase {
        Some(phase) if stages.is_enabled(RankingStage::Phase) => {
            per_mille(phase_weights::kind_weight(phase, &memory.kind))
        }
        // Disabled, or a search without a phase.
        Some(_) | None => 1.0,
    };
    let (trust, confidence) = if stages.is_disabled(RankingStage::Trust) {
        (1.0, 1.0)
    } else {
        // With a weight below 1, even a memory without confidence keeps a part of its score.
        let weight = per_mille(purpose.confidence_weight);
        let confidence = 1.0 - weight + weight * per_mille(condition.current_confidence.get());
        (per_mille(memory.source.trust()), confidence)
    };
    let score = weighted_sum * phase * trust * confidence;
    ScoreFactors { relevance, recency, frequency, phase, trust, confidence, score }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_daily_loss_grows_with_churn_up_to_a_limit() {
        for (churn, loss) in [(0.0, 30.0), (2.0, 50.0), (7.0, 100.0), (500.0, 200.0)] {
            assert!((churn_loss(churn) - loss).abs() < 1e-3, "{churn}: {}", churn_loss(churn));
        }
    }
}
