//! Ageing of memories: confidence decays without use, and long periods without use of the whole store do not
//! count. For example, a memory of confidence 0.8 and a half-life of 60 days has 0.4 after 60 days without
//! use. If the store was not used in the last 100 of 160 days, only 30 of them count: it has aged by 90 days.

use crate::{CustomType, Memory, PerMille, Timestamp};

/// One day in milliseconds.
pub const DAY_MS: i64 = 86_400_000;
/// Period in which a forgotten memory can be restored and a change undone.
pub const RESTORE_WINDOW_MS: i64 = 30 * DAY_MS;
/// A memory unused for this many half-lives is forgotten.
pub const DECAY_FLOOR_HALF_LIVES: i64 = 3;
/// A candidate that is neither confirmed nor seen again for this time is dropped.
pub const CANDIDATE_LIFETIME_MS: i64 = 60 * DAY_MS;
/// The most time between two uses of a store that counts towards age.
pub const MAX_COUNTED_GAP_MS: i64 = 30 * DAY_MS;

/// A period without use of the store, beyond [`MAX_COUNTED_GAP_MS`]. It ages nothing: a project
/// left alone for a year, or a clock that jumped thirty years, must not decay its memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuietSpan {
    pub from: Timestamp,
    pub to: Timestamp,
}

impl QuietSpan {
    /// The quiet span between two uses, if they are far enough apart.
    pub const fn between(last: Timestamp, now: Timestamp) -> Option<Self> {
        if now.millis_since(last) <= MAX_COUNTED_GAP_MS {
            return None;
        }
        // The first part of the gap counts like any other time.
        Some(Self { from: last.plus_millis(MAX_COUNTED_GAP_MS), to: now })
    }
}

/// Milliseconds from `since` to `now` without quiet spans; never negative, even if the clock
/// went back.
pub fn lived_millis(since: Timestamp, now: Timestamp, quiet: &[QuietSpan]) -> i64 {
    let mut quiet_millis = 0_i64;
    for span in quiet {
        // The part of the span between `since` and `now`; nothing if it is outside.
        let start = span.from.max(since);
        let end = span.to.min(now);
        quiet_millis = quiet_millis.saturating_add(end.millis_since(start).max(0));
    }
    now.millis_since(since).saturating_sub(quiet_millis).max(0)
}

/// The confidence a memory has now: halved for every half-life since it was last used.
/// Pinned memories and types without a half-life (decisions, requirements) keep theirs.
pub fn current_confidence(
    memory: &Memory,
    declared: &[CustomType],
    now: Timestamp,
    quiet: &[QuietSpan],
) -> PerMille {
    // The memory's own half-life overrides that of its type.
    let half_life = memory.half_life_days.or_else(|| memory.kind.half_life_days(declared));
    let Some(days) = half_life else { return memory.confidence };
    if memory.flags.pinned {
        return memory.confidence;
    }
    let lived = lived_millis(memory.last_touched(), now, quiet);
    // Exponential decay: the confidence is multiplied by ½ per half-life.
    #[expect(
        clippy::cast_precision_loss,
        reason = "milliseconds of a century fit a double exactly"
    )]
    let halvings = lived as f64 / (f64::from(days) * DAY_MS as f64);
    PerMille::from_fraction(memory.confidence.as_fraction() * 0.5_f64.powf(halvings))
        .unwrap_or(PerMille::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    #[test]
    fn ordinary_time_counts_in_full() {
        assert_eq!(lived_millis(NOW.plus_millis(-5 * DAY_MS), NOW, &[]), 5 * DAY_MS);
    }

    #[test]
    fn a_clock_thirty_years_ahead_ages_a_memory_by_a_month_at_most() {
        let ahead = NOW.plus_millis(30 * 365 * DAY_MS);
        let quiet = QuietSpan::between(NOW, ahead).unwrap();
        assert_eq!(lived_millis(NOW, ahead, &[quiet]), MAX_COUNTED_GAP_MS);
        assert_eq!(
            lived_millis(NOW, NOW.plus_millis(DAY_MS), &[quiet]),
            DAY_MS,
            "and back again: nothing remains of the jump"
        );
    }

    #[test]
    fn a_clock_that_went_back_makes_no_negative_age() {
        assert_eq!(lived_millis(NOW, NOW.plus_millis(-400 * DAY_MS), &[]), 0);
    }

    #[test]
    fn a_clock_that_was_behind_and_is_corrected_ages_nothing() {
        let quiet =
            QuietSpan::between(NOW.plus_millis(-400 * DAY_MS), NOW.plus_millis(DAY_MS)).unwrap();
        assert_eq!(lived_millis(NOW, NOW.plus_millis(2 * DAY_MS), &[quiet]), DAY_MS);
    }

    #[test]
    fn extreme_clocks_do_not_overflow() {
        let (first, last) = (Timestamp(i64::MIN), Timestamp(i64::MAX));
        let quiet = QuietSpan { from: first, to: last };
        assert_eq!(lived_millis(first, last, &[quiet, quiet]), 0);
    }
}
