//! How memories age: decay by use, and time that nobody lived through.

use crate::{CustomType, Memory, PerMille, Timestamp};

/// One day in milliseconds.
pub const DAY: i64 = 86_400_000;
/// How long a forgotten memory can be restored and a change undone.
pub const RESTORABLE: i64 = 30 * DAY;
/// Unused for this many half-lives, a memory is forgotten.
pub const DECAY_FLOOR_HALF_LIVES: i64 = 3;
/// Between two uses of a store, at most this much time counts as lived.
pub const LONGEST_GAP: i64 = 30 * DAY;

/// A stretch in which the store was not used, beyond [`LONGEST_GAP`]. It ages nothing: a project
/// left alone for a year, or a clock that jumped thirty years, must not cost what was learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuietSpan {
    pub from: Timestamp,
    pub to: Timestamp,
}

impl QuietSpan {
    /// The quiet span between two uses, when they lie far enough apart.
    pub const fn between(last: Timestamp, now: Timestamp) -> Option<Self> {
        if now.since(last) <= LONGEST_GAP {
            return None;
        }
        Some(Self { from: last.plus(LONGEST_GAP), to: now })
    }
}

/// Milliseconds lived from `since` to `now`: quiet spans do not count, and a clock that went back
/// makes nothing younger than new.
pub fn age(since: Timestamp, now: Timestamp, quiet: &[QuietSpan]) -> i64 {
    let slept: i64 = quiet
        .iter()
        .map(|it| (it.to.0.min(now.0)).saturating_sub(it.from.0.max(since.0)).max(0))
        .fold(0, i64::saturating_add);
    now.since(since).saturating_sub(slept).max(0)
}

/// The confidence a memory has now: halved for every half-life since it was last used.
/// Pinned memories, decisions and requirements keep theirs.
pub fn current_confidence(
    memory: &Memory,
    declared: &[CustomType],
    now: Timestamp,
    quiet: &[QuietSpan],
) -> PerMille {
    let half_life = memory.half_life_days.or_else(|| memory.kind.half_life_days(declared));
    let Some(days) = half_life.filter(|_| !memory.flags.pinned) else {
        return memory.confidence;
    };
    let lived = age(memory.last_touched(), now, quiet);
    #[expect(
        clippy::cast_precision_loss,
        reason = "milliseconds of a century fit a double exactly"
    )]
    let halvings = lived as f64 / (f64::from(days) * DAY as f64);
    PerMille::from_fraction(memory.confidence.fraction() * 0.5_f64.powf(halvings))
        .unwrap_or(PerMille::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    #[test]
    fn ordinary_time_counts_in_full() {
        assert_eq!(age(NOW.plus(-5 * DAY), NOW, &[]), 5 * DAY);
    }

    #[test]
    fn a_clock_thirty_years_ahead_ages_a_memory_by_a_month_at_most() {
        let ahead = NOW.plus(30 * 365 * DAY);
        let quiet = QuietSpan::between(NOW, ahead).unwrap();
        assert_eq!(age(NOW, ahead, &[quiet]), LONGEST_GAP);
        assert_eq!(
            age(NOW, NOW.plus(DAY), &[quiet]),
            DAY,
            "and back again: nothing remains of the jump"
        );
    }

    #[test]
    fn a_clock_that_went_back_makes_no_negative_age() {
        assert_eq!(age(NOW, NOW.plus(-400 * DAY), &[]), 0);
    }

    #[test]
    fn returning_from_the_past_costs_nothing() {
        let quiet = QuietSpan::between(NOW.plus(-400 * DAY), NOW.plus(DAY)).unwrap();
        assert_eq!(age(NOW, NOW.plus(2 * DAY), &[quiet]), DAY);
    }

    #[test]
    fn extreme_clocks_do_not_overflow() {
        let (first, last) = (Timestamp(i64::MIN), Timestamp(i64::MAX));
        let quiet = QuietSpan { from: first, to: last };
        assert_eq!(age(first, last, &[quiet, quiet]), 0);
    }
}
