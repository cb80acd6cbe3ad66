//! Signals: patterns in what a session did or said, from which memories are made.
//!
//! How a signal is found is known in `observe`, how it is judged in `promote`; both read this table.

use crate::{Kind, PerMille, closed};

closed! {
    /// What was seen. The first seventeen are patterns of behaviour, the others are things said.
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
        /// An approach was given up, in so many words; unlike `backtrack`, no edit need be undone.
        DeadEnd = "dead_end",
        /// "Whenever I touch A I have to update B"; unlike `co_access`, somebody said so.
        CausalStatement = "causal_statement",
        /// A person set the agent right; unlike `self_correction`, the agent did not notice.
        UserCorrection = "user_correction",
        /// The agent asked to remember something.
        Recorded = "recorded",
    }
}

/// What is true of every sighting of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalRow {
    /// How telling it is.
    pub score: PerMille,
    /// What it usually becomes.
    pub becomes: Kind,
    /// Sessions in which the same pattern must be seen before it is believed.
    pub sessions: u32,
    /// Rests on what an agent or a page wrote, not on which files were touched: taint reaches it.
    pub textual: bool,
    pub reading: &'static str,
}

impl SignalKind {
    #[rustfmt::skip]
    pub const fn row(self) -> SignalRow {
        use Kind::{CausalDependency as Causal, ContextCost, DeadEnd, ErrorPattern, Gotcha, ModuleInsight as Insight,
                   Preference, PrefetchPattern as Prefetch, TaskCalibration as Calibration, WorkflowRecipe as Recipe};
        match self {
            //                               score becomes      sessions textual reading
            Self::FileAccess        => row(720, Prefetch,     3, false, "files touched early, session after session"),
            Self::CoAccess          => row(910, Causal,       3, false, "two files touched within five steps"),
            Self::ErrorRetry        => row(850, ErrorPattern, 2, true,  "the same error came again; what ended it is kept"),
            Self::Backtrack         => row(680, Gotcha,       2, true,  "an edit was undone or made over"),
            Self::ReadAbandon       => row(790, Gotcha,       3, false, "a file was read again and again and never needed"),
            Self::RepeatedGrep      => row(760, Insight,      2, false, "the same thing was searched for; what finally hit is kept"),
            Self::Sequence          => row(730, Recipe,       3, false, "the same steps in the same order"),
            Self::TimeAnomaly       => row(480, Gotcha,       3, false, "a step took far longer than the others; only beside an error or an undone edit"),
            Self::SelfCorrection    => row(880, Gotcha,       1, true,  "the agent corrected a belief about the code"),
            Self::ExternalReference => row(610, Insight,      3, true,  "a page was looked up before an edit"),
            Self::GlobIgnore        => row(640, Gotcha,       2, false, "a long list of which little was read"),
            Self::ImportChase       => row(520, Causal,       4, false, "a file was read, then what it imports"),
            Self::TestOrder         => row(740, Calibration,  3, false, "tests before or after the implementation"),
            Self::ConfigTouch       => row(660, Causal,       2, false, "a manifest, lock, build, environment or CI file was edited along"),
            Self::StepOverrun       => row(710, Calibration,  3, false, "it took more steps than planned"),
            Self::ParallelConflict  => row(820, Gotcha,       1, false, "two subagents edited the same file"),
            Self::ContextTokenSpike => row(630, ContextCost,  3, false, "files that cost far more tokens than others"),
            Self::DeadEnd           => row(850, DeadEnd,      1, true,  "an approach was given up"),
            Self::CausalStatement   => row(800, Causal,       1, true,  "somebody said that one thing means another"),
            Self::UserCorrection    => row(900, Preference,   1, true,  "a person set the agent right"),
            Self::Recorded          => row(830, Insight,      1, true,  "the agent asked to remember it"),
        }
    }
}

const fn row(
    score: u16,
    becomes: Kind,
    sessions: u32,
    textual: bool,
    reading: &'static str,
) -> SignalRow {
    assert!(score >= 400, "what tells less is no signal");
    assert!(sessions > 0, "a pattern is seen at least once");
    SignalRow { score: PerMille::new(score), becomes, sessions, textual, reading }
}

// Evaluates every row at compile time, so a bad row never reaches a user.
const _: () = {
    let mut i = 0;
    while i < SignalKind::ALL.len() {
        SignalKind::ALL[i].row();
        i += 1;
    }
};

closed! {
    /// Why a candidate was dropped: the stage that dropped it.
    pub enum DropReason : "drop reason" {
        /// The session's type teaches nothing of this kind, or its gate is shut for good.
        Gate = "gate",
        /// The session is not validated yet; the sighting waits.
        Waiting = "waiting",
        /// The approach failed.
        Failed = "failed",
        /// Not seen in enough sessions yet.
        Frequency = "frequency",
        /// The evidence says nothing an agent could act on.
        SaysNothing = "says_nothing",
        /// A memory says the same already.
        Novelty = "novelty",
        /// Reads like an order to an agent.
        Trust = "trust",
        Score = "score",
        /// Others of the session were better, or of other kinds.
        Budget = "budget",
    }
}
