//! From how well a memory fits to how much it is worth here and now, factor by factor.

use model::{Memory, PerMille, Phase, closed, words};

use crate::phase;
use crate::purpose::PurposeRow;
use crate::stage::{Stage, Without};

/// Every factor of a score, as it was used: what scores also explains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factors {
    /// How well it fits the question, from 0 to 1.
    pub relevance: f32,
    /// From 1 for what is new towards 0.
    pub recency: f32,
    /// From 0 for what was never used towards 1.
    pub frequency: f32,
    pub phase: f32,
    pub trust: f32,
    pub confidence: f32,
    pub score: f32,
}

closed! {
    /// How fast what a memory speaks of changes.
    pub enum Volatility : "volatility" {
        Source = "source",
        Settings = "settings",
        Prose = "prose",
        /// It names no file.
        Unknown = "unknown",
    }
}

impl Volatility {
    /// The share of recency that is lost each day, in ten thousandths.
    #[rustfmt::skip]
    pub const fn rate(self) -> u16 {
        match self {
            Self::Source   => 100,
            Self::Settings => 60,
            Self::Prose | Self::Unknown => 30,
        }
    }

    /// Of the files a memory names, the one that changes fastest counts.
    pub fn of(memory: &Memory) -> Self {
        let of_file = |path: &str| match words::extension(path) {
            Some("md" | "mdx" | "rst" | "txt") => Self::Prose,
            Some("toml" | "yaml" | "yml" | "json" | "ini" | "cfg" | "conf" | "env" | "lock") => {
                Self::Settings
            }
            _ => Self::Source,
        };
        let of_files = memory.files.iter().map(|it| of_file(it.as_str()));
        of_files.max_by_key(|it| it.rate()).unwrap_or(Self::Unknown)
    }
}

/// What is known about a memory at the moment of asking.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    /// What its confidence is worth now.
    pub current: PerMille,
    /// Days lived since it was last touched.
    pub days: f32,
    /// How often the file it names that changes most did so of late, where the history is known: each
    /// change counts half with every half year.
    pub churn: Option<f32>,
}

impl Standing {
    /// The share of recency that a memory loses each day. What the history says outranks what the kind
    /// of a file lets one expect: seven changes of late are what a source file is taken to have.
    fn rate(self, memory: &Memory) -> f32 {
        let by_kind = || f32::from(Volatility::of(memory).rate());
        self.churn.map_or_else(by_kind, by_churn) / 10_000.0
    }
}

/// The rate that goes with so many changes of late, in ten thousandths.
fn by_churn(churn: f32) -> f32 {
    let (slowest, fastest) = (f32::from(Volatility::Prose.rate()), 200.0);
    (slowest + 10.0 * churn).clamp(slowest, fastest)
}

/// The number of uses that counts as often.
const OFTEN: f32 = 100.0;

/// Weighs a memory: `(relevance + recency + frequency) × phase × trust × confidence`.
pub(crate) fn weigh(
    memory: &Memory,
    standing: Standing,
    relevance: f32,
    phase: Option<Phase>,
    purpose: PurposeRow,
    without: &Without,
) -> Factors {
    let part = |thousandths: u16| f32::from(thousandths) / 1000.0;
    #[expect(clippy::cast_precision_loss, reason = "beyond 2^24 uses one more does not matter")]
    let uses = memory.counters.used_count as f32;
    let recency = (-standing.days * standing.rate(memory)).exp();
    let frequency = (uses.ln_1p() / OFTEN.ln_1p()).min(1.0);
    let habit = if without.has(Stage::Habit) {
        relevance
    } else {
        part(purpose.relevance) * relevance
            + part(purpose.recency) * recency
            + part(purpose.frequency) * frequency
    };
    let phase = match phase.filter(|_| without.keeps(Stage::Phase)) {
        Some(phase) => part(phase::weight(phase, &memory.kind)),
        None => 1.0,
    };
    let (trust, confidence) = if without.has(Stage::Trust) {
        (1.0, 1.0)
    } else {
        let sureness = part(purpose.sureness);
        let confidence = 1.0 - sureness + sureness * part(standing.current.get());
        (part(memory.source.trust()), confidence)
    };
    let score = habit * phase * trust * confidence;
    Factors { relevance, recency, frequency, phase, trust, confidence, score }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_often_is_outdated_sooner_within_limits() {
        for (churn, rate) in [(0.0, 30.0), (2.0, 50.0), (7.0, 100.0), (500.0, 200.0)] {
            assert!((by_churn(churn) - rate).abs() < 1e-3, "{churn}: {}", by_churn(churn));
        }
    }
}
