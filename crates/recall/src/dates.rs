//! Dates in a query, matched against the time of memories.
//!
//! Events are recorded after they happen, so days after the date match as well as the date itself.

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

/// Finds a time reference in a query. A date takes precedence over a relative time.
pub fn find_time_reference(question: &str, now: Timestamp) -> Option<TimeReference> {
    let lately = || relative_time::parse_relative_time(question, now).map(TimeReference::Relative);
    parse_named_date(question, now).map(TimeReference::Date).or_else(lately)
}

/// Match of a timestamp with the reference, from 0 to 1.
pub fn time_fit(when: TimeReference, time: Timestamp) -> f32 {
    match when {
        TimeReference::Date(it) => named_date_fit(it, time),
        TimeReference::Relative(it) => f32::from(it.from <= time && time < it.until),
    }
}

/// Parses a date in a query: `8 May 2023`, `May 8, 2023`, `in May 2023`, `2023-05-08`, `in 2023`.
/// A month without a year is the last one before `now`.
fn parse_named_date(question: &str, now: Timestamp) -> Option<NamedDate> {
    let words: Vec<&str> =
        question.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()).collect();
    let year_of = |it: &&str| it.parse().ok().filter(|year| (1990..2100).contains(year));
    let year: Option<i64> = words.iter().find_map(year_of);
    if let Some(iso) = words.windows(3).find_map(parse_iso_date) {
        return Some(iso);
    }
    let Some((at, month)) =
        words.iter().enumerate().find_map(|(at, it)| Some((at, parse_month(it)?)))
    else {
        return year.map(|year| NamedDate { year, month: None, day: None });
    };
    let number = |at: Option<usize>| {
        let word = words.get(at?)?.trim_end_matches(char::is_alphabetic);
        word.parse().ok().filter(|day: &i64| (1..=31).contains(day))
    };
    let day = number(at.checked_sub(1)).or_else(|| number(Some(at + 1)));
    // "may" is mostly a verb; it is a month only with a number beside it.
    if words[at].eq_ignore_ascii_case("may") && day.is_none() && year.is_none() {
        return None;
    }
    let (this_year, this_month, _) = now.day();
    let year = year.unwrap_or(if month > this_month { this_year - 1 } else { this_year });
    Some(NamedDate { year, month: Some(month), day })
}

fn named_date_fit(named: NamedDate, time: Timestamp) -> f32 {
    let (year, month, day) = time.day();
    let Some(named_month) = named.month else {
        return if year == named.year { 0.3 } else { 0.0 };
    };
    let same_month = (year, month) == (named.year, named_month);
    if let Some(named_day) = named.day {
        let named = Timestamp::of_day(named.year, named_month, named_day);
        let since = time.millis_since(named).div_euclid(DAY_MS);
        return match since {
            -1..=MAX_DAYS_AFTER => 1.0,
            _ if same_month => 0.5,
            _ => 0.0,
        };
    }
    let next = if named_month == 12 { (named.year + 1, 1) } else { (named.year, named_month + 1) };
    match (year, month) {
        _ if same_month => 1.0,
        it if it == next && day <= MAX_DAYS_AFTER => 0.7,
        _ => 0.0,
    }
}

fn parse_month(word: &str) -> Option<i64> {
    let word = word.to_lowercase();
    // Short forms are three letters; `mar` and `sept` name months, `marching` does not.
    let at = MONTH_NAMES.iter().position(|it| *it == word || it.get(..3) == Some(&word))?;
    i64::try_from(at + 1).ok()
}

fn parse_iso_date(words: &[&str]) -> Option<NamedDate> {
    let [year, month, day] = words else { return None };
    let number = |it: &str, range: std::ops::RangeInclusive<i64>| {
        it.parse().ok().filter(|it| range.contains(it))
    };
    Some(NamedDate {
        year: number(year, 1990..=2100)?,
        month: Some(number(month, 1..=12)?),
        day: Some(number(day, 1..=31)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_people_write_them() {
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
            ("may I push to main", None),
            ("port 8080 or 1024 bytes", None),
            ("why march on", date(2023, Some(3), None)),
            ("", None),
        ] {
            assert_eq!(parse_named_date(question, now), expected, "{question}");
        }
    }

    #[test]
    fn what_was_told_soon_after_fits() {
        let day = NamedDate { year: 2023, month: Some(5), day: Some(28) };
        let said: Vec<f32> = [(5, 27), (5, 28), (6, 7), (6, 8), (5, 2), (4, 28)]
            .map(|(month, date)| named_date_fit(day, Timestamp::of_day(2023, month, date)))
            .to_vec();
        assert_eq!(said, [1.0, 1.0, 1.0, 0.0, 0.5, 0.0]);
        let month = NamedDate { day: None, ..day };
        let said: Vec<f32> = [(2023, 5, 1), (2023, 6, 10), (2023, 6, 11), (2022, 5, 1)]
            .map(|(year, month_of, date)| {
                named_date_fit(month, Timestamp::of_day(year, month_of, date))
            })
            .to_vec();
        assert_eq!(said, [1.0, 0.7, 0.0, 0.0]);
    }
}
