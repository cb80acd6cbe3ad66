//! Sessions: the type of work, the outcome, and the evidence that the work holds.
//!
//! The type selects the *gate* of a session: the table in `promote` of what may be learned from it. If the
//! host (the program that runs the agent) does not report the type, it is inferred from the calls by
//! [`SESSION_TYPE_RULES`]: a session that edits a file is `build`, one that only reads is `insights`.

use crate::closed;

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// Purpose of a session; selects the gate for its candidates, the drafts of memories made from it.
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
    pub const fn description(self) -> &'static str {
        match self {
            Self::Build        => "code was changed",
            Self::Insights     => "the code was read and asked about, not changed",
            Self::Roadmap      => "future work was planned, beyond one change",
            Self::Terminal     => "commands were run; also everything that fits nowhere else",
            Self::Changelog    => "past work was written up; nothing is learned from it",
            Self::SpecCreation => "one change was planned, not made",
            Self::PrReview     => "a pull request was reviewed",
        }
    }
}

/// Counts of a session from which its type is inferred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionBehaviour {
    /// Calls that changed files of the project.
    pub n_edits: u32,
    /// Calls that only read: read, search, list.
    pub n_looks: u32,
    /// Commands that read or review a pull request.
    pub n_reviews: u32,
    /// Every other call.
    pub n_others: u32,
    /// The host stayed in its plan mode from the first call to the last.
    pub plan_mode_only: bool,
}

/// One rule for inferring the session type.
#[derive(Clone, Copy, Debug)]
pub struct SessionTypeRule {
    pub session_type: SessionType,
    pub matches: fn(SessionBehaviour) -> bool,
    pub description: &'static str,
}

/// The first matching rule decides. Planning and reviewing consist of reading, so their rules
/// come before the one for sessions that only read.
pub const SESSION_TYPE_RULES: &[SessionTypeRule] = &[
    session_type_rule(SessionType::Build, |it| it.n_edits > 0, "files were edited"),
    session_type_rule(
        SessionType::PrReview,
        |it| it.n_reviews > 0,
        "a pull request was read or reviewed",
    ),
    session_type_rule(
        SessionType::SpecCreation,
        |it| it.plan_mode_only,
        "the host never left plan mode",
    ),
    session_type_rule(
        SessionType::Insights,
        only_looked,
        "files were read and searched, nothing else",
    ),
];

const fn session_type_rule(
    session_type: SessionType,
    matches: fn(SessionBehaviour) -> bool,
    description: &'static str,
) -> SessionTypeRule {
    SessionTypeRule { session_type, matches, description }
}

fn only_looked(behaviour: SessionBehaviour) -> bool {
    behaviour.n_looks > 0 && behaviour.n_others == 0
}

/// Infers the session type from behaviour; used only if the host did not report it. A session that no rule
/// matches is a terminal session.
pub fn infer_session_type(behaviour: SessionBehaviour) -> SessionType {
    let rule = SESSION_TYPE_RULES.iter().find(|it| (it.matches)(behaviour));
    rule.map_or(SessionType::Terminal, |it| it.session_type)
}

closed! {
    /// Outcome of a session or a unit of work.
    pub enum SessionOutcome : "outcome" {
        Success = "success",
        Failure = "failure",
        /// Partly done; unlike `failure`, it can be resumed.
        Partial = "partial",
        /// Stopped by the user; unlike `failure`, it says nothing about the approach.
        Cancelled = "cancelled",
    }
}

impl SessionOutcome {
    #[rustfmt::skip]
    pub const fn description(self) -> &'static str {
        match self {
            Self::Success   => "the task was done",
            Self::Failure   => "the approach did not work",
            Self::Partial   => "some of it was done and can be resumed",
            Self::Cancelled => "the user stopped it",
        }
    }
}

closed! {
    /// Kinds of checks that a host reports. A report is one way to know that work holds; see
    /// [`ValidationBasis`] for all of them.
    pub enum ValidationKind : "validation" {
        QaPassed = "qa_passed",
        SpecAccepted = "spec_accepted",
        ReviewCompleted = "review_completed",
        SubtaskSucceeded = "subtask_succeeded",
    }
}

impl ValidationKind {
    #[rustfmt::skip]
    pub const fn description(self) -> &'static str {
        match self {
            Self::QaPassed         => "the whole work passed its checks",
            Self::SpecAccepted     => "the user accepted the plan",
            Self::ReviewCompleted  => "the review was submitted",
            // Unlike `qa_passed`, it covers one part of the session: only the notes that the agent
            // recorded during that subtask may be learned.
            Self::SubtaskSucceeded => "one subtask of the work succeeded",
        }
    }
}

closed! {
    /// Evidence that the work of a session holds: a report of a [`ValidationKind`] (`said`), or what was
    /// seen in the session or afterwards.
    pub enum ValidationBasis : "validation basis" {
        Said = "said",
        Observed = "observed",
        Deferred = "deferred",
    }
}

impl ValidationBasis {
    #[rustfmt::skip]
    pub const fn description(self) -> &'static str {
        match self {
            Self::Said     => "the host said so",
            Self::Observed => "a test, build or lint command succeeded after the last edit, or a commit was made",
            Self::Deferred => "the edits were later found in the history of HEAD",
        }
    }
}

/// Days for which candidates of an unvalidated session are held until its edits are committed.
pub const DEFERRED_DAYS: u32 = 7;

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Checks the type of a session, given by one word per call: `edit`, `look`, `review`, `other`. The word
    /// `plan` stands for plan mode.
    fn check(script: &str, expect: Expect) {
        let mut behaviour = SessionBehaviour::default();
        for word in script.split_whitespace() {
            match word {
                "edit" => behaviour.n_edits += 1,
                "look" => behaviour.n_looks += 1,
                "review" => behaviour.n_reviews += 1,
                "plan" => behaviour.plan_mode_only = true,
                _ => behaviour.n_others += 1,
            }
        }
        expect.assert_eq(infer_session_type(behaviour).slug());
    }

    #[test]
    fn the_type_is_inferred_from_the_calls() {
        check("look edit review plan", expect!["build"]);
        check("look look", expect!["insights"]);
        check("look other", expect!["terminal"]);
        check("look review other", expect!["pr_review"]);
        check("plan look", expect!["spec_creation"]);
        check("other", expect!["terminal"]);
        check("", expect!["terminal"]);
    }

    #[test]
    fn no_type_has_two_rules() {
        for (nth, rule) in SESSION_TYPE_RULES.iter().enumerate() {
            let earlier = &SESSION_TYPE_RULES[..nth];
            assert!(earlier.iter().all(|it| it.session_type != rule.session_type));
            assert_ne!(rule.session_type, SessionType::Terminal, "the default needs no rule");
        }
    }
}
