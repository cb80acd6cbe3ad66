//! Dates in a query, matched against the time of memories.
//!
//! The engine finds the time reference of a query once and boosts each memory by its *fit*, a number
//! from 0 to 1. Events are recorded after they happen, so the days after a date match as well as the
//! date itself. For `what broke on 8 May 2023?`:
//!
//! ```text
//! memory of     fit
//! 2023-05-08    1.0   the named day
//! 2023-05-18    1.0   up to ten days later
//! 2023-05-30    0.5   the same month
//! 2023-06-01    0.0
//! ```

use model::{DAY_MS, Timestamp};

use crate::relative_time;

/// The time that a query refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeReference {
    /// A calendar date.
    Date(NamedDate),
    /// A time relative to now: `last week`, `two days ago`.
    Relative(TimeSpan),
}

/// A half-open interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeSpan {
    pub from: Timestamp,
    pub until: Timestamp,
}

/// A date as precise as the query gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedDate {
    pub year: i64,
    /// 1 to 12.
    pub month: Option<i64>,
    pub day: Option<i64>,
}

const MONTH_NAMES: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Days after a date on which an event is still likely to be recorded.
const MAX_DAYS_AFTER: i64 = 10;

/// Years that a number in a query may mean, alone or in a date; any other number is no year but, for
/// example, a port or a size.
const PLAUSIBLE_YEARS: std::ops::RangeInclusive<i64> = 1990..=2099;

/// Fit of a memory in the right year, if the query names only a year. Low, because a year separates
/// few memories.
const SAME_YEAR_FIT: f32 = 0.3;
/// Fit of a memory in the right month, if the query names another day of it.
const SAME_MONTH_FIT: f32 = 0.5;
/// Fit of a memory recorded in the first days after the named month.
const SOON_AFTER_MONTH_FIT: f32 = 0.7;

/// Finds a time reference in a query. A date takes precedence over a relative time.
pub fn find_time_reference(question: &str, now: Timestamp) -> Option<TimeReference> {
    if let Some(date) = parse_named_date(question, now) {
        return Some(TimeReference::Date(date));
    }
    relative_time::parse_relative_time(question, now).map(TimeReference::Relative)
}

/// Match of a timestamp with the reference, from 0 to 1.
pub fn time_fit(reference: TimeReference, time: Timestamp) -> f32 {
    match reference {
        TimeReference::Date(it) => named_date_fit(it, time),
        TimeReference::Relative(it) => f32::from(it.from <= time && time < it.until),
    }
}

/// Parses a date in a query: `8 May 2023`, `May 8, 2023`, `in May 2023`, `2023-05-08`, `in 2023`.
/// A month without a year is the last one before `now`.
fn parse_named_date(question: &str, now: Timestamp) -> Option<NamedDate> {
    let words: Vec<&str> =
        question.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()).collect();
    if let Some(iso) = words.windows(3).find_map(parse_iso_date) {
        return Some(iso);
    }
    let year = words.iter().find_map(|word| parse_in_range(word, PLAUSIBLE_YEARS));
    let month = words.iter().enumerate().find_map(|(i, word)| Some((i, parse_month(word)?)));
    // No month: the year alone, if there is one.
    let Some((month_index, month)) = month else {
        return year.map(|year| NamedDate { year, month: None, day: None });
    };

    // The day is beside the month: `8 May`, `May 8th`.
    let parse_day = |index: Option<usize>| {
        let without_suffix = words.get(index?)?.trim_end_matches(char::is_alphabetic);
        parse_in_range(without_suffix, 1..=31)
    };
    let day = parse_day(month_index.checked_sub(1)).or_else(|| parse_day(Some(month_index + 1)));
    // "may" is mostly a verb; it counts as a month only with a day beside it or a year in the query.
    if words[month_index].eq_ignore_ascii_case("may") && day.is_none() && year.is_none() {
        return None;
    }
    // Without a year, the last such month is meant: in October, `december` is that of last year.
    let (this_year, this_month, _) = now.day();
    let last_year_of_month = if month > this_month { this_year - 1 } else { this_year };
    Some(NamedDate { year: year.unwrap_or(last_year_of_month), month: Some(month), day })
}

/// Fit of a timestamp with a date of any precision, from 0 to 1.
fn named_date_fit(named: NamedDate, time: Timestamp) -> f32 {
    let (year, month, day) = time.day();
    // The query names only a year.
    let Some(named_month) = named.month else {
        return if year == named.year { SAME_YEAR_FIT } else { 0.0 };
    };
    let is_same_month = (year, month) == (named.year, named_month);

    // The query names a day.
    if let Some(named_day) = named.day {
        let named_start = Timestamp::of_day(named.year, named_month, named_day);
        let days_after = time.millis_since(named_start).div_euclid(DAY_MS);
        // The day before fits, too: timestamps are in UTC, and a local date may begin earlier.
        return if (-1..=MAX_DAYS_AFTER).contains(&days_after) {
            1.0
        } else if is_same_month {
            SAME_MONTH_FIT
        } else {
            0.0
        };
    }

    // The query names a month.
    let month_after =
        if named_month == 12 { (named.year + 1, 1) } else { (named.year, named_month + 1) };
    if is_same_month {
        1.0
    } else if (year, month) == month_after && day <= MAX_DAYS_AFTER {
        SOON_AFTER_MONTH_FIT
    } else {
        0.0
    }
}

fn parse_month(word: &str) -> Option<i64> {
    let word = word.to_lowercase();
    // Full names and three letters: `march` and `mar` are months, `marching` is not.
    let index = MONTH_NAMES.iter().position(|it| *it == word || it.get(..3) == Some(&word))?;
    i64::try_from(index + 1).ok()
}

/// Parses three consecutive words as year, month and day: `2023-05-08` was split at its dashes.
fn parse_iso_date(words: &[&str]) -> Option<NamedDate> {
    let [year, month, day] = words else { return None };
    Some(NamedDate {
        year: parse_in_range(year, PLAUSIBLE_YEARS)?,
        month: Some(parse_in_range(month, 1..=12)?),
        day: Some(parse_in_range(day, 1..=31)?),
    })
}

fn parse_in_range(word: &str, range: std::ops::RangeInclusive<i64>) -> Option<i64> {
    word.parse().ok().filter(|it| range.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calendar_dates_are_parsed_as_people_write_them() {
        let now = Timestamp::of_day(2023, 10, 22);
        let date = |year, month, day| Some(NamedDate { year, month, day });
        for (question, expected) in [
            ("What did we decide on 8 May 2023?", date(2023, Some(5), Some(8))),
            ("since May 8th, 2023", date(2023, Some(5), Some(8))),
            ("in the week of 2023-05-08", date(2023, Some(5), Some(8))),
            ("what broke in May 2022", date(2022, Some(5), None)),
            ("the release in 2021", date(2021, None, None)),
            ("what happened in august", date(2023, Some(8), None)),
            ("what happened in December", date(2022, Some(12), None)),
            ("2099-12-31", date(2099, Some(12), Some(31))),
            ("2100-01-01", None),
            ("may I push to main", None),
            ("port 8080 or 1024 bytes", None),
            // Unlike "may", every other name of a month counts as one, even if it is a verb here.
            ("why march on", date(2023, Some(3), None)),
            ("", None),
        ] {
            assert_eq!(parse_named_date(question, now), expected, "{question}");
        }
    }

    #[test]
    fn the_days_soon_after_a_date_fit_as_well() {
        let named_day = NamedDate { year: 2023, month: Some(5), day: Some(28) };
        for (month, day, expected) in [
            (5, 27, 1.0), // The day before, for other time zones.
            (5, 28, 1.0),
            (6, 7, 1.0), // Ten days after.
            (6, 8, 0.0),
            (5, 2, 0.5), // The same month.
            (4, 28, 0.0),
        ] {
            let fit = named_date_fit(named_day, Timestamp::of_day(2023, month, day));
            assert!((fit - expected).abs() < 1e-6, "{month}-{day}: {fit}");
        }

        let named_month = NamedDate { day: None, ..named_day };
        for (year, month, day, expected) in [
            (2023, 5, 1, 1.0),
            (2023, 6, 10, 0.7), // Soon after the month.
            (2023, 6, 11, 0.0),
            (2022, 5, 1, 0.0),
        ] {
            let fit = named_date_fit(named_month, Timestamp::of_day(year, month, day));
            assert!((fit - expected).abs() < 1e-6, "{year}-{month}-{day}: {fit}");
        }
    }
}
