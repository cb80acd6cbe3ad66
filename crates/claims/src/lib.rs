//! Claims: what a person, a plan or an agent stated in a session, weighed by what happened around it.
//!
//! 1. [`collect_claims`] cuts candidates from the scratchpad of a session (`person`, `spoken`), each with the
//!    features that describe it (`feature`, `surface`): who said it, what was edited afterwards, its wording.
//! 2. [`find_refusal`] refuses what cannot be a lasting claim: taken back later, bound to the moment, about
//!    names that no longer exist.
//! 3. [`score_claim`] weighs the rest with a logistic model over the features and the embedding of the
//!    sentence. Its weights are a table (`weights`), written by `waylore-eval insights --train`.
//! 4. [`choose_claims`] keeps the best of a session, without repetitions.
//!
//! Example: the agent says "The tests fail because `RepoRoot` runs git", edits `paths.go`, and the tests pass.
//! The sentence becomes a claim of the agent about `paths.go`, with the features "states a cause", "after a
//! failure", "the next edits touch its names". Cue words propose candidates and set features; none decides
//! alone.
//!
//! Pure and synchronous. The crate reads no file, embeds nothing, and does not decide whether a claim becomes
//! a memory; the engine and the crate `promote` do.

mod choice;
mod cut;
mod feature;
mod names;
mod person;
mod refusal;
mod scorer;
mod session_view;
mod spoken;
mod surface;
mod weights;

use model::ProjectPath;

pub use choice::{MAX_CLAIMS_PER_SESSION, ScoredClaim, choose_claims};
pub use feature::{ClaimFeature, FeatureSet};
pub use names::mark_known_names;
pub use refusal::{ClaimRefusal, find_refusal};
pub use scorer::{MIN_CLAIM_SCORE, score_claim};
pub use surface::content_words;

use observe::Scratchpad;

/// The moment of a session at which a claim was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClaimMoment {
    /// The first message of the session.
    FirstPrompt,
    /// A later message of a person.
    Remark,
    /// The text with which a person refused a call.
    Refusal,
    /// The answer to a question of the agent.
    Answer,
    /// A plan that a person accepted.
    Plan,
    /// The agent, between a failure and the success of the same command.
    Diagnosis,
    /// The agent's last text before a person spoke again.
    Summary,
    /// Any other text of the agent.
    Conclusion,
}

impl ClaimMoment {
    /// Returns whether the words are a person's own.
    pub const fn is_person(self) -> bool {
        matches!(self, Self::FirstPrompt | Self::Remark | Self::Refusal | Self::Answer)
    }

    /// Returns whether the words are the agent's.
    pub const fn is_agent(self) -> bool {
        matches!(self, Self::Diagnosis | Self::Summary | Self::Conclusion)
    }
}

/// A candidate: something that was stated, and what is known about the moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    pub moment: ClaimMoment,
    /// The text that can stand alone.
    pub text: String,
    /// The sentence as it was said.
    pub quote: String,
    /// The agent's restatement of what a person said; empty if there is none.
    pub restatement: String,
    /// Files that the claim is about.
    pub files: Vec<ProjectPath>,
    /// The number of calls before it.
    pub call: u32,
    /// Its position among the events; 0 for the words of a person, which are never tainted.
    pub order: u32,
    pub features: FeatureSet,
    /// Its consequences in the session, in a few words.
    pub outcome: String,
}

/// All candidates of a session, in the order they were said.
pub fn collect_claims(pad: &Scratchpad) -> Vec<Claim> {
    let view = session_view::SessionView::new(pad);
    let mut acc = person::collect(&view);
    acc.append(&mut spoken::collect(&view));
    for claim in &mut acc {
        claim.outcome = view.outcome_after(claim);
    }
    acc.sort_by_key(|it| it.call);
    acc
}
