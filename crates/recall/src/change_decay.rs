//! Loss of confidence when the files of a memory change.
//!
//! The engine compares each file with its state when the memory was last confirmed and passes line
//! counts and times in. A change lowers the confidence in proportion to its size: if half of the file
//! changed, a confidence of 0.90 becomes 0.675. A modification time alone only raises doubt: the note
//! gets a remark.
//!
//! ```text
//! changed_share(added 10, removed 10, lines now 100)   20 of 110 lines   → 181 per mille
//! lower_confidence(900, 181)                           900 × (1 − 0.09)  → 819 per mille
//! ```

use model::{DAY_MS, PerMille, Timestamp};

/// Loss for a completely rewritten file, per mille: as much as one half-life.
const MAX_CONFIDENCE_LOSS: u64 = 500;
/// Smallest change that is reported to the reader.
pub const MIN_REPORTED_CHANGE: PerMille = PerMille::new(200);
/// A file newer than the memory by more than this raises doubt: thirty days.
const NEWER_FILE_MILLIS: i64 = 30 * DAY_MS;

/// Changed share of a file: added and removed lines over all lines it has and had.
pub fn changed_share(added: u32, removed: u32, lines_now: u32) -> PerMille {
    let (added, removed) = (u64::from(added), u64::from(removed));
    let touched = added + removed;
    // The maximum guards against counts that contradict each other.
    let all_lines = (u64::from(lines_now) + removed).max(touched).max(1);
    to_per_mille(touched * 1000 / all_lines)
}

/// Mean change of several files.
pub fn mean_change(changes: &[PerMille]) -> PerMille {
    let sum: u64 = changes.iter().map(|it| u64::from(it.get())).sum();
    to_per_mille(sum / (changes.len() as u64).max(1))
}

/// Confidence after a change.
pub fn lower_confidence(confidence: PerMille, changed: PerMille) -> PerMille {
    to_per_mille(u64::from(confidence.get()) * remaining_confidence(changed) / 1000)
}

/// Remaining share of confidence as a factor.
pub fn confidence_factor(changed: PerMille) -> f32 {
    f32::from(to_per_mille(remaining_confidence(changed)).get()) / 1000.0
}

/// Days by which a file is newer than a memory, if that raises doubt.
pub fn days_newer(file: Timestamp, memory: Timestamp) -> Option<i64> {
    let age_difference = file.millis_since(memory);
    (age_difference > NEWER_FILE_MILLIS).then_some(age_difference / DAY_MS)
}

/// Share of the confidence that is left after a change, in thousandths.
fn remaining_confidence(changed: PerMille) -> u64 {
    1000 - u64::from(changed.get()) * MAX_CONFIDENCE_LOSS / 1000
}

fn to_per_mille(thousandths: u64) -> PerMille {
    PerMille::new(u16::try_from(thousandths.min(1000)).unwrap_or(1000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn confidence_falls_in_proportion_to_the_change() {
        let share = |added, removed, lines_now| changed_share(added, removed, lines_now).get();
        assert_eq!(share(0, 0, 100), 0);
        assert_eq!(share(10, 0, 100), 100);
        assert_eq!(share(10, 10, 100), 181);
        assert_eq!(share(100, 80, 100), 1000, "no old line is left");
        assert_eq!(share(0, 50, 0), 1000);
        assert_eq!(share(u32::MAX, u32::MAX, 0), 1000, "a file without lines");
        let after = |changed| lower_confidence(PerMille::new(900), PerMille::new(changed)).get();
        assert_eq!([after(0), after(100), after(500), after(1000)], [900, 855, 675, 450]);
        assert_eq!(mean_change(&[PerMille::ONE, PerMille::ZERO]).get(), 500);
        assert_eq!(mean_change(&[]), PerMille::ZERO);
    }

    #[test]
    fn a_file_raises_doubt_if_it_is_more_than_a_month_newer() {
        let memory = Timestamp(1_800_000_000_000);
        assert_eq!(days_newer(memory.plus_millis(30 * DAY_MS), memory), None);
        assert_eq!(days_newer(memory.plus_millis(45 * DAY_MS), memory), Some(45));
        assert_eq!(days_newer(memory, memory.plus_millis(45 * DAY_MS)), None);
    }

    proptest! {
        #[test]
        fn a_larger_change_never_leaves_more_confidence(
            confidence in 0_u16..=1000, less in 0_u16..=1000, more in 0_u16..=1000,
        ) {
            let (less, more) = (less.min(more), less.max(more));
            let after = |share| lower_confidence(PerMille::new(confidence), PerMille::new(share));
            prop_assert!(after(more) <= after(less) && after(less).get() <= confidence);
        }
    }
}
