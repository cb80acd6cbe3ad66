//! Gates by session type: when candidates are looked at, which signals count, how many may pass.

use model::{PerMille, SessionType, SignalKind, ValidationBasis, ValidationKind};

/// What must have happened before a session's candidates are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateCondition {
    /// The work was validated, in whichever way.
    Validation,
    /// The session ended.
    SessionEnd,
    /// The host said this.
    Report(ValidationKind),
    Never,
}

/// A signal at a gate: how often it must be seen, and what it loses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdmissionRule {
    pub signal: SignalKind,
    pub min_occurrences: u32,
    /// Taken off the confidence, in thousandths.
    pub reduction: u16,
}

/// What a session of one type may teach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    pub condition: GateCondition,
    pub max_memories: u32,
    /// Candidates below it do not pass, whatever their threshold.
    pub min_score: PerMille,
    pub needs_review: bool,
    /// `None`: every signal, as often as its own row says.
    pub rules: Option<&'static [AdmissionRule]>,
}

const fn admit(signal: SignalKind, occurrences: u32, reduction: u16) -> AdmissionRule {
    AdmissionRule { signal, min_occurrences: occurrences, reduction }
}

// What a person says, what an agent records and what it gave up teach in every session that teaches.
const STATED_RULES: [AdmissionRule; 3] = [
    admit(SignalKind::Recorded, 1, 0),
    admit(SignalKind::UserCorrection, 1, 0),
    admit(SignalKind::DeadEnd, 1, 0),
];

#[rustfmt::skip]
const INSIGHTS_RULES: &[AdmissionRule] = &[
    //     signal                      seen reduction
    admit(SignalKind::CoAccess,       1,   150),
    admit(SignalKind::SelfCorrection, 1,   0),
    admit(SignalKind::RepeatedGrep,   1,   100),
    STATED_RULES[0], STATED_RULES[1], STATED_RULES[2],
];
const ROADMAP_RULES: &[AdmissionRule] = &[STATED_RULES[0]];
#[rustfmt::skip]
const TERMINAL_RULES: &[AdmissionRule] = &[
    admit(SignalKind::ErrorRetry,     2,   100),
    admit(SignalKind::Sequence,       3,   200),
    STATED_RULES[0], STATED_RULES[1], STATED_RULES[2],
];
#[rustfmt::skip]
const SPEC_RULES: &[AdmissionRule] = &[
    admit(SignalKind::FileAccess,     1,   250),
    STATED_RULES[0], STATED_RULES[1],
];
#[rustfmt::skip]
const REVIEW_RULES: &[AdmissionRule] = &[
    admit(SignalKind::ErrorRetry,     1,   0),
    admit(SignalKind::SelfCorrection, 1,   0),
    STATED_RULES[0], STATED_RULES[1], STATED_RULES[2],
];

#[rustfmt::skip]
pub const fn gate_for(kind: SessionType) -> Gate {
    use SessionType as S;
    match kind {
        //                         opens on                                        most floor review tickets
        S::Build        => row(GateCondition::Validation,                              20, 650, false, None),
        S::Insights     => row(GateCondition::SessionEnd,                                  5,  0,   true,  Some(INSIGHTS_RULES)),
        S::Roadmap      => row(GateCondition::SessionEnd,                                  3,  0,   true,  Some(ROADMAP_RULES)),
        S::Terminal     => row(GateCondition::SessionEnd,                                  3,  0,   true,  Some(TERMINAL_RULES)),
        S::Changelog    => row(GateCondition::Never,                                  0,  0,   true,  Some(&[])),
        S::SpecCreation => row(GateCondition::Report(ValidationKind::SpecAccepted),     3,  0,   false, Some(SPEC_RULES)),
        S::PrReview     => row(GateCondition::Report(ValidationKind::ReviewCompleted),  8,  0,   false, Some(REVIEW_RULES)),
    }
}

const fn row(
    opens: GateCondition,
    most: u32,
    floor: u16,
    needs_review: bool,
    tickets: Option<&'static [AdmissionRule]>,
) -> Gate {
    Gate {
        condition: opens,
        max_memories: most,
        min_score: PerMille::new(floor),
        needs_review,
        rules: tickets,
    }
}

impl Gate {
    /// Whether what is known of a session opens its gate.
    pub fn is_open(&self, validated: Option<ValidationBasis>, said: &[ValidationKind]) -> bool {
        match self.condition {
            GateCondition::Validation => validated.is_some(),
            GateCondition::SessionEnd => true,
            // A review or a plan that was checked in any other way holds as well.
            GateCondition::Report(kind) => said.contains(&kind) || validated.is_some(),
            GateCondition::Never => false,
        }
    }

    /// How a signal passes; `None` when it does not.
    pub fn rule_for(&self, signal: SignalKind) -> Option<AdmissionRule> {
        match self.rules {
            None => Some(admit(signal, 1, 0)),
            Some(tickets) => tickets.iter().copied().find(|it| it.signal == signal),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_opens_when_it_holds_and_a_changelog_never() {
        let build = gate_for(SessionType::Build);
        assert!(!build.is_open(None, &[]) && build.is_open(Some(ValidationBasis::Observed), &[]));
        assert!(!gate_for(SessionType::Changelog).is_open(Some(ValidationBasis::Said), &[]));
        assert!(gate_for(SessionType::Insights).is_open(None, &[]));
        let review = gate_for(SessionType::PrReview);
        assert!(
            !review.is_open(None, &[]) && review.is_open(None, &[ValidationKind::ReviewCompleted])
        );
    }

    #[test]
    fn only_signals_with_a_ticket_pass() {
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
    fn no_signal_has_two_tickets() {
        for kind in SessionType::ALL {
            let tickets = gate_for(*kind).rules.unwrap_or(&[]);
            for (i, it) in tickets.iter().enumerate() {
                assert!(tickets[..i].iter().all(|other| other.signal != it.signal), "{kind}");
            }
        }
    }
}
