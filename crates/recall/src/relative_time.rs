//! Relative times: `yesterday`, `last week`, `two days ago`, `in the past three months`.
//!
//! People use them loosely and events are recorded later, so each span extends a little beyond its
//! literal meaning.

use model::{DAY_MS, Timestamp};

use crate::dates::TimeSpan;

/// Units of time, with their length in days.
const TIME_UNITS: &[(&str, i64)] =
    &[("day", 1), ("night", 1), ("week", 7), ("weekend", 7), ("month", 30), ("year", 365)];

const NUMBER_WORDS: &[&str] = &[
    "a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
];

/// Starting with Monday; the Unix epoch was a Thursday.
const WEEKDAY_NAMES: &[&str] =
    &["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Larger numbers are not relative times.
const MAX_UNITS_AGO: i64 = 10_000;

/// Parses the first relative time of a query.
pub(crate) fn parse_relative_time(question: &str, now: Timestamp) -> Option<TimeSpan> {
    let question = question.to_lowercase();
    let words: Vec<&str> =
        question.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()).collect();
    let today = now.0.div_euclid(DAY_MS);
    let days = |from: i64, until: i64| TimeSpan {
        from: Timestamp(from * DAY_MS),
        until: Timestamp((until + 1) * DAY_MS),
    };
    (0..words.len()).find_map(|at| {
        let (first, last) = parse_span(&words[at..], today)?;
        Some(days(first, last.min(today)))
    })
}

/// First and last day that the leading words denote.
fn parse_span(words: &[&str], today: i64) -> Option<(i64, i64)> {
    let weekday = |it: &str| WEEKDAY_NAMES.iter().zip(0..).find(|day| *day.0 == it).map(|it| it.1);
    match words {
        ["today" | "tonight", ..] => Some((today, today)),
        ["yesterday", ..] => Some((today - 2, today)),
        // Allow half a unit on both sides.
        [many, unit, "ago", ..] => {
            let ago = parse_number(many)? * unit_days(unit)?;
            let slack = (unit_days(unit)? / 2).max(1);
            Some((today - ago - slack, today - ago + slack))
        }
        ["last" | "past" | "previous", many, unit, ..] if parse_number(many).is_some() => {
            Some((today - parse_number(many)? * unit_days(unit)? - 1, today))
        }
        ["past", unit, ..] => Some((today - unit_days(unit)? - 1, today)),
        ["last", day, ..] if weekday(day).is_some() => {
            // Days since that weekday; if it is today, the one a week ago is meant.
            let since = (today + 3 - weekday(day)?).rem_euclid(7);
            let since = if since == 0 { 7 } else { since };
            Some((today - since - 1, today - since + 3))
        }
        ["last" | "previous", unit, ..] => {
            let length = unit_days(unit)?;
            Some((today - 2 * length, today))
        }
        ["this", unit, ..] => Some((today - unit_days(unit)?, today)),
        _ => None,
    }
}

fn parse_number(word: &str) -> Option<i64> {
    let named = NUMBER_WORDS.iter().position(|it| *it == word).map(|it| it.max(1));
    let number = named.map_or_else(|| word.parse().ok(), |it| i64::try_from(it).ok());
    number.filter(|it| (1..=MAX_UNITS_AGO).contains(it))
}

fn unit_days(unit: &str) -> Option<i64> {
    let unit = unit.strip_suffix('s').unwrap_or(unit);
    TIME_UNITS.iter().find(|it| it.0 == unit).map(|it| it.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_from_now_are_read_as_people_say_them() {
        // A Sunday.
        let now = Timestamp::of_day(2023, 10, 22).plus_millis(DAY_MS / 2);
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
            let said = parse_relative_time(question, now);
            let said = said.map(|it| {
                format!("{} {}", it.from.format_date(), it.until.plus_millis(-1).format_date())
            });
            assert_eq!(said.unwrap_or_default(), expected, "{question}");
        }
    }
}
