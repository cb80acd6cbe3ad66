//! What each phase of work asks of memory: which types count more, how much may be said, and how room is shared.

use model::{Kind, MemoryType, Phase};

/// What a phase asks for. Numbers are thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseRow {
    /// Tokens a context may have when nobody says otherwise.
    pub budget: u32,
    /// How much a type counts; types that are not named count as they are.
    pub weights: &'static [(Kind, u16)],
    /// Room that is kept for a type, together with `other` the whole budget.
    pub shares: &'static [(Kind, u16)],
    /// Room that is kept for all types that are not named.
    pub other: u16,
}

/// The weight of a type that a phase does not name.
const PLAIN: u16 = 1000;

#[rustfmt::skip]
pub const fn row(phase: Phase) -> PhaseRow {
    use Kind::{
        CausalDependency, DeadEnd, Decision, E2eObservation, ErrorPattern, Gotcha, ModuleInsight,
        Pattern, PrefetchPattern, Requirement, TaskCalibration, WorkUnitOutcome, WorkflowRecipe,
    };
    match phase {
        Phase::Define => asks(
            2500,
            &[(WorkflowRecipe, 1400), (DeadEnd, 1200), (Requirement, 1200), (Decision, 1100), (TaskCalibration, 1100), (Gotcha, 800), (ErrorPattern, 800)],
            &[(WorkflowRecipe, 300), (Requirement, 200), (Decision, 200), (DeadEnd, 150), (TaskCalibration, 100)], 50,
        ),
        Phase::Implement => asks(
            3000,
            &[(Gotcha, 1400), (ErrorPattern, 1300), (CausalDependency, 1200), (DeadEnd, 1200), (Pattern, 1100), (PrefetchPattern, 1100), (WorkflowRecipe, 800)],
            &[(Gotcha, 300), (ErrorPattern, 250), (CausalDependency, 150), (Pattern, 150), (DeadEnd, 100)], 50,
        ),
        Phase::Validate => asks(
            2500,
            &[(ErrorPattern, 1400), (E2eObservation, 1400), (Requirement, 1200), (WorkUnitOutcome, 1100)],
            &[(ErrorPattern, 300), (Requirement, 250), (E2eObservation, 250), (WorkUnitOutcome, 150)], 50,
        ),
        Phase::Refine => asks(
            2000,
            &[(ErrorPattern, 1300), (Gotcha, 1200), (DeadEnd, 1200), (Decision, 900)],
            &[(ErrorPattern, 350), (Gotcha, 250), (DeadEnd, 200), (Pattern, 150)], 50,
        ),
        Phase::Explore => asks(
            2000,
            &[(ModuleInsight, 1400), (Decision, 1200), (Pattern, 1100)],
            &[(ModuleInsight, 400), (Decision, 250), (Pattern, 200), (CausalDependency, 150)], 0,
        ),
        Phase::Reflect => asks(
            1500,
            &[(WorkUnitOutcome, 1400), (TaskCalibration, 1300), (DeadEnd, 1100)],
            &[(WorkUnitOutcome, 400), (TaskCalibration, 350), (DeadEnd, 150)], 100,
        ),
    }
}

const fn asks(
    budget: u32,
    weights: &'static [(Kind, u16)],
    shares: &'static [(Kind, u16)],
    other: u16,
) -> PhaseRow {
    let (mut sum, mut i) = (other, 0);
    while i < shares.len() {
        sum += shares[i].1;
        i += 1;
    }
    assert!(sum == 1000, "the shares of a phase must add up to 1000");
    PhaseRow { budget, weights, shares, other }
}

// Evaluates every row at compile time, so a bad row never reaches a user.
const _: () = {
    let mut i = 0;
    while i < Phase::ALL.len() {
        row(Phase::ALL[i]);
        i += 1;
    }
};

/// How much a type counts in a phase, in thousandths.
pub fn weight(phase: Phase, kind: &MemoryType) -> u16 {
    named(row(phase).weights, kind).map_or(PLAIN, |(_, weight)| weight)
}

/// A phase has no use for types below this weight, in thousandths.
const LEAST: u16 = 300;

/// Whether a phase has no use for a type.
pub fn is_out(phase: Phase, kind: &MemoryType) -> bool {
    weight(phase, kind) < LEAST
}

/// The place of a type among the shares of a phase, the last being that of all others.
pub(crate) fn share_of(row: PhaseRow, kind: &MemoryType) -> usize {
    named(row.shares, kind).map_or(row.shares.len(), |(place, _)| place)
}

fn named(among: &[(Kind, u16)], kind: &MemoryType) -> Option<(usize, u16)> {
    let place = among.iter().position(|it| Some(it.0) == kind.core())?;
    Some((place, among[place].1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_names_no_type_twice() {
        for phase in Phase::ALL {
            for named in [row(*phase).weights, row(*phase).shares] {
                for (i, (kind, _)) in named.iter().enumerate() {
                    assert!(named[..i].iter().all(|it| it.0 != *kind), "{phase}: {kind}");
                }
            }
        }
    }

    #[test]
    fn a_type_nobody_names_counts_as_it_is() {
        let custom = MemoryType::Custom("custom:acme.ritual".into());
        assert_eq!(weight(Phase::Implement, &MemoryType::Core(Kind::Gotcha)), 1400);
        assert_eq!(weight(Phase::Define, &MemoryType::Core(Kind::Gotcha)), 800);
        assert_eq!(weight(Phase::Define, &MemoryType::Core(Kind::Preference)), 1000);
        assert_eq!(weight(Phase::Define, &custom), 1000);
        assert_eq!(share_of(row(Phase::Explore), &custom), 4);
    }
}
