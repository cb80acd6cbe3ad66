//! Sessions: what kind of work one was, how it ended, and whether what it learned may be kept.

use crate::closed;

closed! {
    /// What a session was for; decides which gate its candidates pass.
    pub enum SessionType : "session type" {
        Build = "build",
        Insights = "insights",
        Roadmap = "roadmap",
        Terminal = "terminal",
        Changelog = "changelog",
        SpecCreation = "spec_creation",
        PrReview = "pr_review",
    }
}

impl SessionType {
    #[rustfmt::skip]
    pub const fn reading(self) -> &'static str {
        match self {
            Self::Build        => "code was changed",
            Self::Insights     => "the code was read and asked about, not changed",
            Self::Roadmap      => "what to do next was planned, beyond one change",
            Self::Terminal     => "commands were run; also everything that fits nowhere else",
            Self::Changelog    => "past work was written up; nothing is learned from it",
            Self::SpecCreation => "one change was planned, not made",
            Self::PrReview     => "somebody's change was reviewed",
        }
    }
}

/// What a session did, as far as its type depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Behaviour {
    /// Calls that changed files of the project.
    pub n_edits: u32,
    /// Calls that only looked: read, search, list.
    pub n_looks: u32,
    /// Commands that read or review a pull request.
    pub n_reviews: u32,
    /// Every other call.
    pub n_others: u32,
    /// The host stayed in its plan mode from the first call to the last.
    pub plan_mode_only: bool,
}

/// One sign by which a session is recognised.
#[derive(Clone, Copy, Debug)]
pub struct Inference {
    pub session_type: SessionType,
    pub sign: fn(Behaviour) -> bool,
    pub reading: &'static str,
}

/// The first sign that shows decides; most telling first. Planning and reviewing consist of
/// looking, so they stand before the sessions that did nothing but look.
pub const INFERENCES: &[Inference] = &[
    infer(SessionType::Build, |it| it.n_edits > 0, "files were edited"),
    infer(SessionType::PrReview, |it| it.n_reviews > 0, "a pull request was read or reviewed"),
    infer(SessionType::SpecCreation, |it| it.plan_mode_only, "the host never left plan mode"),
    infer(SessionType::Insights, only_looked, "files were read and searched, nothing else"),
];

const fn infer(
    session_type: SessionType,
    sign: fn(Behaviour) -> bool,
    reading: &'static str,
) -> Inference {
    Inference { session_type, sign, reading }
}

fn only_looked(facts: Behaviour) -> bool {
    facts.n_looks > 0 && facts.n_others == 0
}

/// What a session was, by what it did; asked only when the host did not say.
pub fn infer_session_type(facts: Behaviour) -> SessionType {
    let shown = INFERENCES.iter().find(|it| (it.sign)(facts));
    shown.map_or(SessionType::Terminal, |it| it.session_type)
}

closed! {
    /// How a session or a unit of work ended.
    pub enum Outcome : "outcome" {
        Success = "success",
        Failure = "failure",
        /// Some of it stands; unlike `failure`, it can be resumed.
        Partial = "partial",
        /// Stopped by a person; unlike `failure`, it says nothing about the approach.
        Cancelled = "cancelled",
    }
}

impl Outcome {
    #[rustfmt::skip]
    pub const fn reading(self) -> &'static str {
        match self {
            Self::Success   => "the task was done",
            Self::Failure   => "the approach did not work",
            Self::Partial   => "some of it was done and can be resumed",
            Self::Cancelled => "a person stopped it",
        }
    }
}

closed! {
    /// What a host can say about work it has checked.
    pub enum ValidationKind : "validation" {
        QaPassed = "qa_passed",
        SpecAccepted = "spec_accepted",
        ReviewCompleted = "review_completed",
        SubtaskSucceeded = "subtask_succeeded",
    }
}

impl ValidationKind {
    #[rustfmt::skip]
    pub const fn reading(self) -> &'static str {
        match self {
            Self::QaPassed         => "the whole work passed its checks",
            Self::SpecAccepted     => "a person accepted the plan",
            Self::ReviewCompleted  => "the review was handed in",
            // Unlike `qa_passed`, it speaks for one part and frees only its recorded notes.
            Self::SubtaskSucceeded => "one subtask of the work succeeded",
        }
    }
}

closed! {
    /// How it came to be known that a session's work holds.
    pub enum ValidationBasis : "validation basis" {
        Said = "said",
        Observed = "observed",
        Deferred = "deferred",
    }
}

impl ValidationBasis {
    #[rustfmt::skip]
    pub const fn reading(self) -> &'static str {
        match self {
            Self::Said     => "the host said so",
            Self::Observed => "a test, build or lint command succeeded after the last edit, or a commit was made",
            Self::Deferred => "the edits were later found in the history of HEAD",
        }
    }
}

/// How long the candidates of an unvalidated session wait for the history to speak, in days.
pub const DEFERRED_DAYS: u32 = 7;

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Facts in words: `edit look review other plan`.
    fn check(script: &str, expect: Expect) {
        let mut facts = Behaviour::default();
        for word in script.split_whitespace() {
            match word {
                "edit" => facts.n_edits += 1,
                "look" => facts.n_looks += 1,
                "review" => facts.n_reviews += 1,
                "plan" => facts.plan_mode_only = true,
                _ => facts.n_others += 1,
            }
        }
        expect.assert_eq(infer_session_type(facts).slug());
    }

    #[test]
    fn a_session_is_recognised_by_what_it_did() {
        check("look edit review plan", expect!["build"]);
        check("look look", expect!["insights"]);
        check("look other", expect!["terminal"]);
        check("look review other", expect!["pr_review"]);
        check("plan look", expect!["spec_creation"]);
        check("other", expect!["terminal"]);
        check("", expect!["terminal"]);
    }

    #[test]
    fn no_type_is_inferred_twice() {
        for (i, row) in INFERENCES.iter().enumerate() {
            assert!(INFERENCES[..i].iter().all(|it| it.session_type != row.session_type));
            assert_ne!(row.session_type, SessionType::Terminal, "terminal is what remains");
        }
    }
}
