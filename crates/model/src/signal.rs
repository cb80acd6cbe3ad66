//! Signals: patterns in what a session did or what was said in it, from which memories are made.
//!
//! A *sighting* is one occurrence of a signal in one session, for example of `co_access`: the files a.rs and
//! b.rs were touched together. A *candidate* is a draft of a memory, made from all sessions that showed the
//! same pattern. `observe` detects signals and `promote` judges the candidates; both read this table. It also
//! contains the reasons for which a candidate is dropped. *Tainted* is what is derived from text outside the
//! project, such as a web page.

use crate::{MemoryKind, PerMille, closed};

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// A kind of pattern. The last five and `self_correction` are statements, the others are behaviour.
    pub enum SignalKind : "signal" {
        FileAccess = "file_access",
        CoAccess = "co_access",
        ErrorRetry = "error_retry",
        Backtrack = "backtrack",
        ReadAbandon = "read_abandon",
        RepeatedGrep = "repeated_grep",
        Sequence = "sequence",
        TimeAnomaly = "time_anomaly",
        SelfCorrection = "self_correction",
        ExternalReference = "external_reference",
        GlobIgnore = "glob_ignore",
        ImportChase = "import_chase",
        TestOrder = "test_order",
        ConfigTouch = "config_touch",
        StepOverrun = "step_overrun",
        ParallelConflict = "parallel_conflict",
        ContextTokenSpike = "context_token_spike",
        /// The agent said that it gave up an approach; unlike `backtrack`, no edit need be undone.
        DeadEnd = "dead_end",
        /// "Whenever I touch A I have to update B"; unlike `co_access`, the agent or the user said so.
        CausalStatement = "causal_statement",
        /// The user corrected the agent; unlike `self_correction`, the agent did not notice by itself.
        UserCorrection = "user_correction",
        /// The agent asked to remember something.
        Recorded = "recorded",
        /// Something stated at a moment of the session, with what came of it; unlike the other
        /// statements, a scorer weighed it and no wording alone decided.
        Claim = "claim",
    }
}

/// The use that is made of the sightings of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalUse {
    /// Behaviour without a statement: it is counted, and told as a number at the moment it counts, such as
    /// the usual checks at the first edit. It never becomes a memory, because a count says nothing about
    /// the reason, and is outdated by the next session.
    Statistics,
    /// A statement of the agent: it becomes a candidate, which no agent is told of until a second session or a
    /// person confirms it.
    Candidate,
    /// A person's word, a recorded note, or a failure with what ended it: it may become a memory.
    Memory,
}

/// Properties shared by every sighting of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalRow {
    /// Weight as evidence, per mille.
    pub score: PerMille,
    /// The memory kind it usually becomes, if it feeds memories.
    pub becomes: MemoryKind,
    /// Distinct sessions that must show the pattern before it is kept.
    pub sessions: u32,
    /// Derived from text that an agent or a page wrote, not from file accesses, so taint applies.
    pub textual: bool,
    /// The use that is made of it.
    pub feeds: SignalUse,
    pub description: &'static str,
}

impl SignalKind {
    #[rustfmt::skip]
    pub const fn row(self) -> SignalRow {
        use MemoryKind::{CausalDependency as Causal, ContextCost, DeadEnd, ErrorPattern, Gotcha, ModuleInsight as Insight,
                   Preference, PrefetchPattern as Prefetch, TaskCalibration as Calibration, WorkflowRecipe as Recipe};
        use SignalUse::{Candidate, Memory, Statistics};
        match self {
            //                                                sessions
            //                                                |  textual
            //                             score becomes      |  |      feeds
            //                             |    |             |  |      |           description
            Self::FileAccess        => row(720, Prefetch,     3, false, Statistics, "files touched early, session after session"),
            Self::CoAccess          => row(910, Causal,       3, false, Statistics, "two files touched within five steps"),
            Self::ErrorRetry        => row(850, ErrorPattern, 2, true,  Memory,     "an error recurred; its fix is kept"),
            Self::Backtrack         => row(680, Gotcha,       2, true,  Candidate,  "an edit was reverted or redone"),
            Self::ReadAbandon       => row(790, Gotcha,       3, false, Statistics, "a file was read repeatedly and never used"),
            Self::RepeatedGrep      => row(760, Insight,      2, false, Statistics, "the same search was repeated; the query that finally matched is kept"),
            Self::Sequence          => row(730, Recipe,       3, false, Statistics, "the same steps in the same order"),
            Self::TimeAnomaly       => row(480, Gotcha,       3, false, Statistics, "a step took far longer than the others; counts only beside an error or a reverted edit"),
            Self::SelfCorrection    => row(880, Gotcha,       1, true,  Candidate,  "the agent corrected a belief about the code"),
            Self::ExternalReference => row(610, Insight,      3, true,  Statistics, "a page was looked up before an edit"),
            Self::GlobIgnore        => row(640, Gotcha,       2, false, Statistics, "a long file list of which little was read"),
            Self::ImportChase       => row(520, Causal,       4, false, Statistics, "a file was read, then its imports"),
            Self::TestOrder         => row(740, Calibration,  3, false, Statistics, "tests before or after the implementation"),
            Self::ConfigTouch       => row(660, Causal,       2, false, Statistics, "a manifest, lock, build, environment or CI file was edited as well"),
            Self::StepOverrun       => row(710, Calibration,  3, false, Statistics, "the task took more steps than planned"),
            Self::ParallelConflict  => row(820, Gotcha,       1, false, Memory,     "two subagents edited the same file"),
            Self::ContextTokenSpike => row(630, ContextCost,  3, false, Statistics, "files that cost far more tokens than others"),
            Self::DeadEnd           => row(850, DeadEnd,      1, true,  Memory,     "an approach was given up"),
            Self::CausalStatement   => row(800, Causal,       1, true,  Candidate,  "the agent or the user stated that one change requires another"),
            Self::UserCorrection    => row(900, Preference,   1, true,  Memory,     "the user corrected the agent"),
            Self::Recorded          => row(830, Insight,      1, true,  Memory,     "the agent recorded a note"),
            Self::Claim             => row(700, Insight,      1, true,  Candidate,  "something stated by a person, a tool or the agent, with what came of it"),
        }
    }
}

const fn row(
    score: u16,
    becomes: MemoryKind,
    sessions: u32,
    textual: bool,
    feeds: SignalUse,
    description: &'static str,
) -> SignalRow {
    assert!(score >= 400, "a weaker pattern is no signal");
    assert!(sessions > 0, "a pattern is seen at least once");
    SignalRow { score: PerMille::new(score), becomes, sessions, textual, feeds, description }
}

// Evaluates every row at compile time, so a bad row never reaches a user.
const _: () = {
    let mut nth = 0;
    while nth < SignalKind::ALL.len() {
        SignalKind::ALL[nth].row();
        nth += 1;
    }
};

closed! {
    /// The stage that dropped a candidate.
    pub enum DropReason : "drop reason" {
        /// The signal is a statistic: told at its moment, not stored.
        Statistic = "statistic",
        /// The gate of this session type never admits this signal.
        Gate = "gate",
        /// The session is not validated yet; the sighting is held.
        Waiting = "waiting",
        /// The approach failed.
        Failed = "failed",
        /// Not seen in enough sessions yet.
        Frequency = "frequency",
        /// The evidence gives an agent nothing to act on.
        SaysNothing = "says_nothing",
        /// An existing memory states the same.
        Novelty = "novelty",
        /// Reads like an instruction to an agent.
        Trust = "trust",
        /// Below the minimum of its memory kind or of the session type.
        Score = "score",
        /// A claim of a language model that failed a check.
        Check = "check",
        /// Other candidates of the session ranked higher, or added more variety.
        Budget = "budget",
    }
}
