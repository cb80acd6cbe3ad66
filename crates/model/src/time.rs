//! Time: wall-clock milliseconds, the calendar, and the hybrid logical clock that orders changes
//! across devices. Nothing here reads a clock; the caller passes the time.

use crate::DAY_MS;

/// Milliseconds since the epoch, UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

impl Timestamp {
    #[must_use]
    pub const fn plus_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// Milliseconds from `earlier` to here; negative when the clock went backwards.
    pub const fn millis_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The beginning of a day in UTC. A day beyond the end of its month counts on into the next one.
    pub const fn of_day(year: i64, month: i64, day: i64) -> Self {
        // Count years from March, so that the leap day is the last day of a year.
        let year = if month <= 2 { year - 1 } else { year };
        let months_since_march = (month + 9) % 12;
        // Any five months in a row from March on have 153 days.
        let day_of_year = (153 * months_since_march + 2) / 5 + day - 1;
        let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
        Self((year * 365 + leap_days + day_of_year - DAYS_TO_EPOCH) * DAY_MS)
    }

    /// Year, month and day in UTC.
    pub const fn day(self) -> (i64, i64, i64) {
        civil_from_days(self.0.div_euclid(DAY_MS))
    }

    /// `YYYY-MM-DD HH:MM` in UTC, for people.
    pub fn format_minute(self) -> String {
        let (year, month, day) = self.day();
        let minutes = self.0.rem_euclid(DAY_MS) / 60_000;
        format!("{year:04}-{month:02}-{day:02} {:02}:{:02}", minutes / 60, minutes % 60)
    }

    /// `YYYY-MM-DD` in UTC.
    pub fn format_date(self) -> String {
        let (year, month, day) = self.day();
        format!("{year:04}-{month:02}-{day:02}")
    }
}

/// Days from the first of March of the year 0 to the epoch.
const DAYS_TO_EPOCH: i64 = 719_468;
/// Days of an era of 400 years, after which the Gregorian calendar repeats.
const DAYS_PER_ERA: i64 = 146_097;

/// Year, month and day of the proleptic Gregorian calendar from days since the epoch. The inverse of
/// [`Timestamp::of_day`]; the algorithm is `civil_from_days` by Howard Hinnant ("chrono-Compatible Low-Level
/// Date Algorithms").
const fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + DAYS_TO_EPOCH;
    let era = shifted.div_euclid(DAYS_PER_ERA);
    let day_of_era = shifted.rem_euclid(DAYS_PER_ERA);
    // Without the leap days after 4, 100 and 400 years, every year has 365 days.
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let months_since_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * months_since_march + 2) / 5 + 1;
    let month =
        if months_since_march < 10 { months_since_march + 3 } else { months_since_march - 9 };
    // January and February belong to the year that began in the March before.
    let year = year_of_era + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

/// A hybrid logical clock (Kulkarni et al. 2014): wall milliseconds and a counter in one integer
/// that only grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HybridTimestamp(pub i64);

impl HybridTimestamp {
    /// Low bits that count the changes within a millisecond; the milliseconds are above them.
    const COUNTER_BITS: u32 = 16;

    /// The next reading after `self`: follows the wall clock forward and never goes back with it.
    #[must_use]
    pub const fn advance(self, now: Timestamp) -> Self {
        let wall = now.0.saturating_mul(1 << Self::COUNTER_BITS);
        // If the wall clock stands still or went back, only the counter grows.
        let counted = self.0.saturating_add(1);
        Self(if wall > counted { wall } else { counted })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_formatted_as_dates() {
        assert_eq!(Timestamp(0).format_minute(), "1970-01-01 00:00");
        assert_eq!(Timestamp(951_782_400_000).format_date(), "2000-02-29");
        assert_eq!(Timestamp(1_794_700_800_000).format_minute(), "2026-11-15 00:00");
        assert_eq!(Timestamp(-1).format_date(), "1969-12-31");
        assert_eq!(Timestamp(i64::MIN).millis_since(Timestamp(i64::MAX)), i64::MIN);
    }

    #[test]
    fn a_day_and_its_date_are_converted_both_ways() {
        // Among them a leap day, the first day of the calendar and the length of an era.
        for day in [-719_468, -1, 0, 59, 11_016, 19_485, 20_772, 146_097] {
            let (year, month, day_of_month) = Timestamp(day * DAY_MS + 1).day();
            assert_eq!(Timestamp::of_day(year, month, day_of_month), Timestamp(day * DAY_MS));
        }
    }

    #[test]
    fn the_hybrid_clock_never_goes_back() {
        let first = HybridTimestamp::default().advance(Timestamp(1_000));
        let after_jump_back = first.advance(Timestamp(10));
        assert!(after_jump_back > first);
        assert!(after_jump_back.advance(Timestamp(2_000)).0 >= 2_000 << 16);
    }
}
