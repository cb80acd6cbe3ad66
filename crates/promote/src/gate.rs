//! The gates, one per session type: the condition for judging candidates, the admitted signals, and the
//! number of memories that may pass.
//!
//! A *signal* is a kind of pattern in what a session did or said, such as two files touched together or an
//! error that recurred. A *candidate* is a draft of a memory, made from all sessions that showed the pattern.
//! A session is *validated* if there is evidence that its work holds: the host reported it, tests passed after
//! the last edit, or the edits were committed; the kind of evidence is the basis. For example, a terminal
//! session may teach an error and its fix only if the error occurred twice in it, and three memories at
//! most.
//!
//! This file is the table; `judge.rs` applies it.

use model::{PerMille, SessionType, SignalKind, ValidationBasis, ValidationKind};

/// Condition under which the candidates of a session are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateCondition {
    /// The work was validated in any way.
    Validation,
    /// The session ended.
    SessionEnd,
    /// The host reported this validation, or the work was validated in any other way.
    Report(ValidationKind),
    /// Nothing is learned from sessions of this type.
    Never,
}

/// Rule by which a gate admits a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdmissionRule {
    pub signal: SignalKind,
    pub min_occurrences: u32,
    /// Per mille that the confidence is reduced by: sessions of this type show the signal less reliably.
    pub reduction: u16,
}

/// The gate of a session type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    pub condition: GateCondition,
    /// Memories that one session may become.
    pub max_memories: u32,
    /// Minimum score, in addition to the minimum of the memory kind.
    pub min_score: PerMille,
    /// The memories are marked `needs_review`: they are used, but the user has not confirmed them yet.
    pub needs_review: bool,
    /// The admitted signals; `None` admits all of them.
    pub rules: Option<&'static [AdmissionRule]>,
}

const fn admit(signal: SignalKind, min_occurrences: u32, reduction: u16) -> AdmissionRule {
    AdmissionRule { signal, min_occurrences, reduction }
}

// What the agent recorded, the user corrected or an agent gave up needs no repetition, so that several
// session types share these rules.
const NOTE_RULE: AdmissionRule = admit(SignalKind::Recorded, 1, 0);
const USER_RULE: AdmissionRule = admit(SignalKind::UserCorrection, 1, 0);
const DEAD_END_RULE: AdmissionRule = admit(SignalKind::DeadEnd, 1, 0);

#[rustfmt::skip]
const INSIGHTS_RULES: &[AdmissionRule] = &[
    //    signal                      min occurrences
    //                                |  reduction
    admit(SignalKind::SelfCorrection, 1, 0),
    NOTE_RULE, USER_RULE, DEAD_END_RULE,
];
const ROADMAP_RULES: &[AdmissionRule] = &[NOTE_RULE];
#[rustfmt::skip]
const TERMINAL_RULES: &[AdmissionRule] = &[
    admit(SignalKind::ErrorRetry,     2, 100),
    NOTE_RULE, USER_RULE, DEAD_END_RULE,
];
const SPEC_RULES: &[AdmissionRule] = &[NOTE_RULE, USER_RULE];
#[rustfmt::skip]
const REVIEW_RULES: &[AdmissionRule] = &[
    admit(SignalKind::ErrorRetry,     1, 0),
    admit(SignalKind::SelfCorrection, 1, 0),
    NOTE_RULE, USER_RULE, DEAD_END_RULE,
];

/// The gate of a session type.
#[rustfmt::skip]
pub const fn gate_for(kind: SessionType) -> Gate {
    use SessionType as S;
    match kind {
        //                                                                             max memories
        //                                                                             |   min score
        //                     condition                                               |   |    review rules
        S::Build        => row(GateCondition::Validation,                              20, 650, false, None),
        S::Insights     => row(GateCondition::SessionEnd,                              5,  0,   true,  Some(INSIGHTS_RULES)),
        S::Roadmap      => row(GateCondition::SessionEnd,                              3,  0,   true,  Some(ROADMAP_RULES)),
        S::Terminal     => row(GateCondition::SessionEnd,                              3,  0,   true,  Some(TERMINAL_RULES)),
        S::Changelog    => row(GateCondition::Never,                                   0,  0,   true,  Some(&[])),
        S::SpecCreation => row(GateCondition::Report(ValidationKind::SpecAccepted),    3,  0,   false, Some(SPEC_RULES)),
        S::PrReview     => row(GateCondition::Report(ValidationKind::ReviewCompleted), 8,  0,   false, Some(REVIEW_RULES)),
    }
}

const fn row(
    condition: GateCondition,
    max_memories: u32,
    min_score: u16,
    needs_review: bool,
    rules: Option<&'static [AdmissionRule]>,
) -> Gate {
    Gate { condition, max_memories, min_score: PerMille::new(min_score), needs_review, rules }
}

impl Gate {
    /// Returns whether the gate's condition holds for a finished session.
    pub fn is_open(
        &self,
        basis: Option<ValidationBasis>,
        reported_validations: &[ValidationKind],
    ) -> bool {
        match self.condition {
            GateCondition::Validation => basis.is_some(),
            GateCondition::SessionEnd => true,
            GateCondition::Report(kind) => reported_validations.contains(&kind) || basis.is_some(),
            GateCondition::Never => false,
        }
    }

    /// The rule that admits a signal; `None` if the gate does not admit it.
    pub fn rule_for(&self, signal: SignalKind) -> Option<AdmissionRule> {
        match self.rules {
            // All signals, from the first occurrence, with their full confidence.
            None => Some(admit(signal, 1, 0)),
            Some(rules) => rules.iter().copied().find(|it| it.signal == signal),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::SignalUse;

    #[test]
    fn the_gate_of_a_build_opens_with_validation_and_that_of_a_changelog_never() {
        let build = gate_for(SessionType::Build);
        assert!(!build.is_open(None, &[]));
        assert!(build.is_open(Some(ValidationBasis::Observed), &[]));

        let changelog = gate_for(SessionType::Changelog);
        assert!(!changelog.is_open(Some(ValidationBasis::Said), &[]));

        // Reading code leaves nothing to validate, so that the end of the session is enough.
        let insights = gate_for(SessionType::Insights);
        assert!(insights.is_open(None, &[]));

        let review = gate_for(SessionType::PrReview);
        assert!(!review.is_open(None, &[]));
        assert!(review.is_open(None, &[ValidationKind::ReviewCompleted]));
    }

    #[test]
    fn only_signals_with_a_rule_are_admitted() {
        let terminal = gate_for(SessionType::Terminal);
        assert_eq!(terminal.rule_for(SignalKind::StepOverrun), None);
        assert_eq!(terminal.rule_for(SignalKind::TestOrder), None);
        assert_eq!(
            terminal.rule_for(SignalKind::ErrorRetry).map(|it| (it.min_occurrences, it.reduction)),
            Some((2, 100))
        );
        for signal in SignalKind::ALL {
            assert!(gate_for(SessionType::Build).rule_for(*signal).is_some());
        }
    }

    #[test]
    fn no_signal_has_two_rules_and_no_statistic_has_one() {
        for kind in SessionType::ALL {
            let rules = gate_for(*kind).rules.unwrap_or(&[]);
            for (nth, rule) in rules.iter().enumerate() {
                assert!(rules[..nth].iter().all(|it| it.signal != rule.signal), "{kind}");
                assert_ne!(rule.signal.row().feeds, SignalUse::Statistics, "{kind}");
            }
        }
    }
}
