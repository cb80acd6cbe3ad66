//! Parser of relative times in a query: `yesterday`, `last week`, `two days ago`, `in the past three
//! months`.
//!
//! The result is a span of days, for example on 2023-10-22: `yesterday` → 2023-10-20 to 2023-10-22.
//! Each span extends a little beyond its literal meaning: a memory of yesterday's work may have been
//! recorded today. Days are counted from the Unix epoch, in UTC. `dates` calls this file if the query
//! names no calendar date.

use model::{DAY_MS, Timestamp};

use crate::dates::TimeSpan;

/// Units of time, with their length in days.
const TIME_UNITS: &[(&str, i64)] =
    &[("day", 1), ("night", 1), ("week", 7), ("weekend", 7), ("month", 30), ("year", 365)];

/// The index is the number, except that `a` at index 0 is also one.
const NUMBER_WORDS: &[&str] = &[
    "a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
];

/// The index is the number of days after Monday.
const WEEKDAY_NAMES: &[&str] =
    &["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// The Unix epoch was a Thursday, three days after a Monday.
const EPOCH_WEEKDAY: i64 = 3;

/// Most units in a relative time; with a larger number the words are no relative time. Also keeps the
/// arithmetic from overflowing.
const MAX_UNITS_AGO: i64 = 10_000;

/// Days that a span extends beyond its literal meaning: work of the evening may be recorded the next day,
/// and days are counted in UTC.
const TOLERANCE_DAYS: i64 = 1;
/// Days after a weekday on which its work may still be recorded.
const TOLERANCE_AFTER_WEEKDAY: i64 = 3;
const DAYS_PER_WEEK: i64 = 7;

/// Parses the first relative time of a query.
pub(crate) fn parse_relative_time(question: &str, now: Timestamp) -> Option<TimeSpan> {
    let question = question.to_lowercase();
    let words: Vec<&str> =
        question.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()).collect();
    let today = now.0.div_euclid(DAY_MS);
    // A phrase may start at any word.
    let days = (0..words.len()).find_map(|start| parse_phrase(&words[start..], today))?;
    // The tolerance of a span must not reach into the future.
    let last_day = days.last.min(today);
    Some(TimeSpan {
        from: Timestamp(days.first * DAY_MS),
        until: Timestamp((last_day + 1) * DAY_MS),
    })
}

/// An inclusive range of days since the Unix epoch.
struct DayRange {
    first: i64,
    last: i64,
}

/// The days that the leading words denote, with some tolerance; `None` if they are no relative time.
fn parse_phrase(words: &[&str], today: i64) -> Option<DayRange> {
    let until_today = |days_back: i64| DayRange { first: today - days_back, last: today };
    match words {
        ["today" | "tonight", ..] => Some(until_today(0)),
        // Up to today, which is the day after.
        ["yesterday", ..] => Some(until_today(1 + TOLERANCE_DAYS)),
        // `two weeks ago`: half a unit of tolerance on both sides.
        [count, unit, "ago", ..] => {
            let days_ago = parse_number(count)? * unit_days(unit)?;
            let slack = (unit_days(unit)? / 2).max(TOLERANCE_DAYS);
            Some(DayRange { first: today - days_ago - slack, last: today - days_ago + slack })
        }
        // `last 3 days`
        ["last" | "past" | "previous", count, unit, ..] if parse_number(count).is_some() => {
            Some(until_today(parse_number(count)? * unit_days(unit)? + TOLERANCE_DAYS))
        }
        // `past week`
        ["past", unit, ..] => Some(until_today(unit_days(unit)? + TOLERANCE_DAYS)),
        // `last friday`
        ["last", day, ..] if weekday_index(day).is_some() => {
            let today_weekday = today + EPOCH_WEEKDAY;
            let days_since = (today_weekday - weekday_index(day)?).rem_euclid(DAYS_PER_WEEK);
            // If it is today, the one a week ago is meant.
            let days_since = if days_since == 0 { DAYS_PER_WEEK } else { days_since };
            Some(DayRange {
                first: today - days_since - TOLERANCE_DAYS,
                last: today - days_since + TOLERANCE_AFTER_WEEKDAY,
            })
        }
        // Two units, so that `last week` covers the last seven days and the calendar week before this
        // one.
        ["last" | "previous", unit, ..] => Some(until_today(2 * unit_days(unit)?)),
        ["this", unit, ..] => Some(until_today(unit_days(unit)?)),
        _ => None,
    }
}

/// Days from Monday to the named weekday.
fn weekday_index(name: &str) -> Option<i64> {
    WEEKDAY_NAMES.iter().zip(0..).find(|(weekday, _)| **weekday == name).map(|(_, index)| index)
}

fn parse_number(word: &str) -> Option<i64> {
    let number = match NUMBER_WORDS.iter().position(|it| *it == word) {
        Some(index) => i64::try_from(index.max(1)).ok()?,
        None => word.parse().ok()?,
    };
    (1..=MAX_UNITS_AGO).contains(&number).then_some(number)
}

/// Length of a unit in days, also in the plural.
fn unit_days(unit: &str) -> Option<i64> {
    let unit = unit.strip_suffix('s').unwrap_or(unit);
    TIME_UNITS.iter().find(|(name, _)| *name == unit).map(|(_, days)| *days)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_times_are_parsed_as_people_use_them() {
        // Noon of a Sunday.
        let now = Timestamp::of_day(2023, 10, 22).plus_millis(DAY_MS / 2);
        // The first and the last day; empty if the query has no relative time.
        for (question, expected) in [
            ("what broke yesterday", "2023-10-20 2023-10-22"),
            ("What did we decide last week?", "2023-10-08 2023-10-22"),
            ("how often in the past two weeks", "2023-10-07 2023-10-22"),
            ("in the last month", "2023-08-23 2023-10-22"),
            ("in the last 3 days", "2023-10-18 2023-10-22"),
            ("two weeks ago", "2023-10-05 2023-10-11"),
            ("what did we do last Saturday", "2023-10-20 2023-10-22"),
            ("what did we do last sunday", "2023-10-14 2023-10-18"),
            ("today", "2023-10-22 2023-10-22"),
            ("why does the last test fail", ""),
            ("this function", ""),
            ("a week", ""),
            ("99999999999999999999 years ago", ""),
            ("", ""),
        ] {
            let days = parse_relative_time(question, now).map(|it| {
                format!("{} {}", it.from.format_date(), it.until.plus_millis(-1).format_date())
            });
            assert_eq!(days.unwrap_or_default(), expected, "{question}");
        }
    }
}
