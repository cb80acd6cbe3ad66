//! The stages of the pipeline by name, so that each can be left out and its worth measured.

use model::closed;

closed! {
    /// One stage between a question and its answer. What cannot be left out has no name here.
    pub enum Stage : "stage" {
        /// Memories whose vectors are near that of the question.
        Dense = "dense",
        /// Memories that hold the words of the question.
        Keyword = "keyword",
        /// Memories about files next to those at hand or named, where the code is indexed.
        Graph = "graph",
        /// Scores are fused; without it, only ranks are.
        Scores = "scores",
        /// What was learned next to a good answer in the same session rises with it.
        Neighbours = "neighbours",
        /// Memories about files next to those of the best rise.
        Boost = "boost",
        /// A date in the question speaks for memories from about then.
        Dates = "dates",
        /// How recent a memory is, and how often it was of use.
        Habit = "habit",
        /// What the phase of work asks for.
        Phase = "phase",
        /// How far the source is trusted and how sure the memory is by now.
        Trust = "trust",
        /// A model that reads question and memory together, where one is configured.
        Rerank = "rerank",
        /// Memories that are linked to those found.
        Expand = "expand",
        /// A second search with an imagined answer, where a text provider is configured.
        Hyde = "hyde",
        /// The decision that nothing is relevant.
        Abstain = "abstain",
        /// Of two memories that say the same, one is shown.
        Duplicates = "duplicates",
    }
}

/// The stages that are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Without(pub Vec<Stage>);

impl Without {
    pub fn has(&self, stage: Stage) -> bool {
        self.0.contains(&stage)
    }

    /// Whether a stage takes part.
    pub fn keeps(&self, stage: Stage) -> bool {
        !self.has(stage)
    }
}
