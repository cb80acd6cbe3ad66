//! What becomes of a memory's confidence when what it speaks of has changed since.

use model::{DAY, PerMille, Timestamp};

/// What a file that was wholly rewritten takes of the confidence: as much as one half-life.
const MOST: u64 = 500;
/// From here on a reader is told that a file has changed.
pub const WORTH_SAYING: PerMille = PerMille::new(200);
/// A file that is this much younger than the memory asks for another look at it.
const MUCH_NEWER: i64 = 30 * DAY;

/// How much of a file is not as it was: of all lines it has and had, those that came or went.
pub fn changed(added: u32, removed: u32, lines_now: u32) -> PerMille {
    let (added, removed) = (u64::from(added), u64::from(removed));
    let touched = added + removed;
    let all = (u64::from(lines_now) + removed).max(touched).max(1);
    per_mille(touched * 1000 / all)
}

/// The change of several files together.
pub fn together(changes: &[PerMille]) -> PerMille {
    let sum: u64 = changes.iter().map(|it| u64::from(it.get())).sum();
    per_mille(sum / (changes.len() as u64).max(1))
}

/// What a confidence is worth after such a change.
pub fn lowered(confidence: PerMille, changed: PerMille) -> PerMille {
    per_mille(u64::from(confidence.get()) * kept(changed) / 1000)
}

/// The share of confidence that a change leaves, as a factor.
pub fn factor(changed: PerMille) -> f32 {
    f32::from(per_mille(kept(changed)).get()) / 1000.0
}

/// How many days a file is younger than a memory, when that is reason for doubt.
pub fn newer_by(file: Timestamp, memory: Timestamp) -> Option<i64> {
    let by = file.since(memory);
    (by > MUCH_NEWER).then_some(by / DAY)
}

fn kept(changed: PerMille) -> u64 {
    1000 - u64::from(changed.get()) * MOST / 1000
}

fn per_mille(thousandths: u64) -> PerMille {
    PerMille::new(u16::try_from(thousandths.min(1000)).unwrap_or(1000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn confidence_falls_in_proportion_to_the_change() {
        let of = |added, removed, lines| changed(added, removed, lines).get();
        assert_eq!(of(0, 0, 100), 0);
        assert_eq!(of(10, 0, 100), 100);
        assert_eq!(of(10, 10, 100), 181);
        assert_eq!(of(100, 80, 100), 1000, "nothing is left of what was there");
        assert_eq!(of(0, 50, 0), 1000);
        assert_eq!(of(u32::MAX, u32::MAX, 0), 1000, "a file without lines");
        let after = |share| lowered(PerMille::new(900), PerMille::new(share)).get();
        assert_eq!([after(0), after(100), after(500), after(1000)], [900, 855, 675, 450]);
        assert_eq!(together(&[PerMille::ONE, PerMille::ZERO]).get(), 500);
        assert_eq!(together(&[]), PerMille::ZERO);
    }

    #[test]
    fn a_month_makes_a_file_much_newer() {
        let memory = Timestamp(1_800_000_000_000);
        assert_eq!(newer_by(memory.plus(30 * DAY), memory), None);
        assert_eq!(newer_by(memory.plus(45 * DAY), memory), Some(45));
        assert_eq!(newer_by(memory, memory.plus(45 * DAY)), None);
    }

    proptest! {
        #[test]
        fn more_change_never_leaves_more(
            confidence in 0_u16..=1000, less in 0_u16..=1000, more in 0_u16..=1000,
        ) {
            let (less, more) = (less.min(more), less.max(more));
            let after = |share| lowered(PerMille::new(confidence), PerMille::new(share));
            prop_assert!(after(more) <= after(less) && after(less).get() <= confidence);
        }
    }
}
