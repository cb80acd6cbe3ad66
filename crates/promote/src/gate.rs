//! Gates by session type: when candidates are looked at, which signals count, how many may pass.

use model::{PerMille, SessionType, SignalKind, ValidationBasis, ValidationKind};

/// What must have happened before a session's candidates are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opens {
    /// The work was validated, in whichever way.
    Validated,
    /// The session ended.
    Ended,
    /// The host said this.
    Said(ValidationKind),
    Never,
}

/// A signal at a gate: how often it must be seen, and what it loses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    pub signal: SignalKind,
    pub occurrences: u32,
    /// Taken off the confidence, in thousandths.
    pub reduction: u16,
}

/// What a session of one type may teach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    pub opens: Opens,
    pub most: u32,
    /// Candidates below it do not pass, whatever their threshold.
    pub floor: PerMille,
    pub needs_review: bool,
    /// `None`: every signal, as often as its own row says.
    pub tickets: Option<&'static [Ticket]>,
}

const fn ticket(signal: SignalKind, occurrences: u32, reduction: u16) -> Ticket {
    Ticket { signal, occurrences, reduction }
}

// What a person says, what an agent records and what it gave up teach in every session that teaches.
const SAID: [Ticket; 3] = [
    ticket(SignalKind::Recorded, 1, 0),
    ticket(SignalKind::UserCorrection, 1, 0),
    ticket(SignalKind::DeadEnd, 1, 0),
];

#[rustfmt::skip]
const INSIGHTS: &[Ticket] = &[
    //     signal                      seen reduction
    ticket(SignalKind::CoAccess,       1,   150),
    ticket(SignalKind::SelfCorrection, 1,   0),
    ticket(SignalKind::RepeatedGrep,   1,   100),
    SAID[0], SAID[1], SAID[2],
];
const ROADMAP: &[Ticket] = &[SAID[0]];
#[rustfmt::skip]
const TERMINAL: &[Ticket] = &[
    ticket(SignalKind::ErrorRetry,     2,   100),
    ticket(SignalKind::Sequence,       3,   200),
    SAID[0], SAID[1], SAID[2],
];
#[rustfmt::skip]
const SPEC: &[Ticket] = &[
    ticket(SignalKind::FileAccess,     1,   250),
    SAID[0], SAID[1],
];
#[rustfmt::skip]
const REVIEW: &[Ticket] = &[
    ticket(SignalKind::ErrorRetry,     1,   0),
    ticket(SignalKind::SelfCorrection, 1,   0),
    SAID[0], SAID[1], SAID[2],
];

#[rustfmt::skip]
pub const fn gate(kind: SessionType) -> Gate {
    use SessionType as S;
    match kind {
        //                         opens on                                        most floor review tickets
        S::Build        => row(Opens::Validated,                              20, 650, false, None),
        S::Insights     => row(Opens::Ended,                                  5,  0,   true,  Some(INSIGHTS)),
        S::Roadmap      => row(Opens::Ended,                                  3,  0,   true,  Some(ROADMAP)),
        S::Terminal     => row(Opens::Ended,                                  3,  0,   true,  Some(TERMINAL)),
        S::Changelog    => row(Opens::Never,                                  0,  0,   true,  Some(&[])),
        S::SpecCreation => row(Opens::Said(ValidationKind::SpecAccepted),     3,  0,   false, Some(SPEC)),
        S::PrReview     => row(Opens::Said(ValidationKind::ReviewCompleted),  8,  0,   false, Some(REVIEW)),
    }
}

const fn row(
    opens: Opens,
    most: u32,
    floor: u16,
    needs_review: bool,
    tickets: Option<&'static [Ticket]>,
) -> Gate {
    Gate { opens, most, floor: PerMille::new(floor), needs_review, tickets }
}

impl Gate {
    /// Whether what is known of a session opens its gate.
    pub fn is_open(&self, validated: Option<ValidationBasis>, said: &[ValidationKind]) -> bool {
        match self.opens {
            Opens::Validated => validated.is_some(),
            Opens::Ended => true,
            // A review or a plan that was checked in any other way holds as well.
            Opens::Said(kind) => said.contains(&kind) || validated.is_some(),
            Opens::Never => false,
        }
    }

    /// How a signal passes; `None` when it does not.
    pub fn ticket(&self, signal: SignalKind) -> Option<Ticket> {
        match self.tickets {
            None => Some(ticket(signal, 1, 0)),
            Some(tickets) => tickets.iter().copied().find(|it| it.signal == signal),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_opens_when_it_holds_and_a_changelog_never() {
        let build = gate(SessionType::Build);
        assert!(!build.is_open(None, &[]) && build.is_open(Some(ValidationBasis::Observed), &[]));
        assert!(!gate(SessionType::Changelog).is_open(Some(ValidationBasis::Said), &[]));
        assert!(gate(SessionType::Insights).is_open(None, &[]));
        let review = gate(SessionType::PrReview);
        assert!(
            !review.is_open(None, &[]) && review.is_open(None, &[ValidationKind::ReviewCompleted])
        );
    }

    #[test]
    fn only_signals_with_a_ticket_pass() {
        let terminal = gate(SessionType::Terminal);
        assert_eq!(terminal.ticket(SignalKind::StepOverrun), None);
        assert_eq!(terminal.ticket(SignalKind::TestOrder), None);
        assert_eq!(
            terminal.ticket(SignalKind::ErrorRetry).map(|it| (it.occurrences, it.reduction)),
            Some((2, 100))
        );
        for signal in SignalKind::ALL {
            assert!(gate(SessionType::Build).ticket(*signal).is_some());
        }
    }

    #[test]
    fn no_signal_has_two_tickets() {
        for kind in SessionType::ALL {
            let tickets = gate(*kind).tickets.unwrap_or(&[]);
            for (i, it) in tickets.iter().enumerate() {
                assert!(tickets[..i].iter().all(|other| other.signal != it.signal), "{kind}");
            }
        }
    }
}
