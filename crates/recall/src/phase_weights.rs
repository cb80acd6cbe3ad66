//! Table of the phases of work: token budget, weights and budget shares of memory kinds.
//!
//! A *phase* is the kind of work that an agent does at the moment (define, implement, validate, ...).
//! `score` multiplies a memory by the weight of its kind, and `pack` reserves the shares. In
//! `Implement`, for example, a gotcha counts 1.4 times, and 30 % of the context are reserved for
//! gotchas. Custom types (`custom:acme.ritual`) are in no row: they have the default weight and use
//! the share of all others.

use model::{MemoryKind, MemoryType, Phase};

/// Settings of a phase. Weights and shares are per mille.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseRow {
    /// Default token budget of a context.
    pub budget: u32,
    /// Weights of memory kinds; others have the default weight.
    pub weights: &'static [(MemoryKind, u16)],
    /// Reserved shares of the budget by kind; together with `other_share` the whole budget.
    pub shares: &'static [(MemoryKind, u16)],
    /// Share for all other kinds.
    pub other_share: u16,
}

/// Weight of a kind that a phase does not list.
const DEFAULT_KIND_WEIGHT: u16 = 1000;

/// The settings of a phase.
#[rustfmt::skip]
pub const fn phase_row(phase: Phase) -> PhaseRow {
    use MemoryKind::{
        CausalDependency, DeadEnd, Decision, E2eObservation, ErrorPattern, Gotcha, ModuleInsight,
        Pattern, PrefetchPattern, Requirement, TaskCalibration, WorkUnitOutcome, WorkflowRecipe,
    };
    match phase {
        // Four columns: budget in tokens; weights by kind; shares by kind; share of all others.
        Phase::Define => checked_row(
            2500,
            &[(WorkflowRecipe, 1400), (DeadEnd, 1200), (Requirement, 1200), (Decision, 1100), (TaskCalibration, 1100), (Gotcha, 800), (ErrorPattern, 800)],
            &[(WorkflowRecipe, 300), (Requirement, 200), (Decision, 200), (DeadEnd, 150), (TaskCalibration, 100)], 50,
        ),
        Phase::Implement => checked_row(
            3000,
            &[(Gotcha, 1400), (ErrorPattern, 1300), (CausalDependency, 1200), (DeadEnd, 1200), (Pattern, 1100), (PrefetchPattern, 1100), (WorkflowRecipe, 800)],
            &[(Gotcha, 300), (ErrorPattern, 250), (CausalDependency, 150), (Pattern, 150), (DeadEnd, 100)], 50,
        ),
        Phase::Validate => checked_row(
            2500,
            &[(ErrorPattern, 1400), (E2eObservation, 1400), (Requirement, 1200), (WorkUnitOutcome, 1100)],
            &[(ErrorPattern, 300), (Requirement, 250), (E2eObservation, 250), (WorkUnitOutcome, 150)], 50,
        ),
        Phase::Refine => checked_row(
            2000,
            &[(ErrorPattern, 1300), (Gotcha, 1200), (DeadEnd, 1200), (Decision, 900)],
            &[(ErrorPattern, 350), (Gotcha, 250), (DeadEnd, 200), (Pattern, 150)], 50,
        ),
        Phase::Explore => checked_row(
            2000,
            &[(ModuleInsight, 1400), (Decision, 1200), (Pattern, 1100)],
            &[(ModuleInsight, 400), (Decision, 250), (Pattern, 200), (CausalDependency, 150)], 0,
        ),
        Phase::Reflect => checked_row(
            1500,
            &[(WorkUnitOutcome, 1400), (TaskCalibration, 1300), (DeadEnd, 1100)],
            &[(WorkUnitOutcome, 400), (TaskCalibration, 350), (DeadEnd, 150)], 100,
        ),
    }
}

const fn checked_row(
    budget: u32,
    weights: &'static [(MemoryKind, u16)],
    shares: &'static [(MemoryKind, u16)],
    other_share: u16,
) -> PhaseRow {
    let (mut sum, mut i) = (other_share, 0);
    // A `while` loop, because `for` is not allowed in a `const fn`.
    while i < shares.len() {
        let (_, share) = shares[i];
        sum += share;
        i += 1;
    }
    assert!(sum == 1000, "the shares of a phase must add up to 1000");
    PhaseRow { budget, weights, shares, other_share }
}

// Evaluates every row at compile time, so a bad row never reaches a user.
const _: () = {
    let mut i = 0;
    while i < Phase::ALL.len() {
        phase_row(Phase::ALL[i]);
        i += 1;
    }
};

/// Weight of a memory type in a phase, per mille.
pub fn kind_weight(phase: Phase, memory_type: &MemoryType) -> u16 {
    find_kind(phase_row(phase).weights, memory_type)
        .map_or(DEFAULT_KIND_WEIGHT, |(_, weight)| weight)
}

/// Index of the share of a memory type: its place in `shares`, or the one after the last for types
/// that the phase does not list.
pub(crate) fn share_index(row: PhaseRow, memory_type: &MemoryType) -> usize {
    find_kind(row.shares, memory_type).map_or(row.shares.len(), |(index, _)| index)
}

/// Index and value of a type in a column; `None` for a custom type or a kind that is not listed.
fn find_kind(column: &[(MemoryKind, u16)], memory_type: &MemoryType) -> Option<(usize, u16)> {
    let wanted = memory_type.core_kind()?;
    let index = column.iter().position(|(kind, _)| *kind == wanted)?;
    let (_, value) = column[index];
    Some((index, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_phase_lists_a_kind_twice_in_a_column() {
        for phase in Phase::ALL {
            for column in [phase_row(*phase).weights, phase_row(*phase).shares] {
                for (i, (kind, _)) in column.iter().enumerate() {
                    let is_new = column[..i].iter().all(|(earlier, _)| earlier != kind);
                    assert!(is_new, "{phase}: {kind}");
                }
            }
        }
    }

    #[test]
    fn a_type_that_a_phase_does_not_list_has_the_default_weight_and_the_last_share() {
        let custom = MemoryType::Custom("custom:acme.ritual".into());
        assert_eq!(kind_weight(Phase::Implement, &MemoryType::Core(MemoryKind::Gotcha)), 1400);
        assert_eq!(kind_weight(Phase::Define, &MemoryType::Core(MemoryKind::Gotcha)), 800);
        assert_eq!(kind_weight(Phase::Define, &MemoryType::Core(MemoryKind::Preference)), 1000);
        assert_eq!(kind_weight(Phase::Define, &custom), 1000);
        assert_eq!(share_index(phase_row(Phase::Explore), &custom), 4);
    }
}
