//! Times told from now: `yesterday`, `last week`, `two days ago`, `in the past three months`.
//!
//! A day or a week is meant loosely and told afterwards, so that a span reaches a little beyond what
//! the words say.

use model::{DAY, Timestamp};

use crate::dates::Span;

/// Units of time, with their length in days.
const UNITS: &[(&str, i64)] =
    &[("day", 1), ("night", 1), ("week", 7), ("weekend", 7), ("month", 30), ("year", 365)];

const NUMBERS: &[&str] = &[
    "a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
];

/// From Monday on, as the epoch's Thursday is the fourth.
const WEEKDAYS: &[&str] =
    &["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// More than this ago is told as a date.
const MOST: i64 = 10_000;

/// The span a question speaks of.
pub(crate) fn spoken(question: &str, now: Timestamp) -> Option<Span> {
    let question = question.to_lowercase();
    let words: Vec<&str> =
        question.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()).collect();
    let today = now.0.div_euclid(DAY);
    let days = |from: i64, until: i64| Span {
        from: Timestamp(from * DAY),
        until: Timestamp((until + 1) * DAY),
    };
    (0..words.len()).find_map(|at| {
        let (first, last) = span(&words[at..], today)?;
        Some(days(first, last.min(today)))
    })
}

/// The days the first of some words mean, the last one included.
fn span(words: &[&str], today: i64) -> Option<(i64, i64)> {
    let weekday = |it: &str| WEEKDAYS.iter().zip(0..).find(|day| *day.0 == it).map(|it| it.1);
    match words {
        ["today" | "tonight", ..] => Some((today, today)),
        ["yesterday", ..] => Some((today - 2, today)),
        // Seldom older than the word says, often told a little later.
        [many, unit, "ago", ..] => {
            let ago = number(many)? * days_of(unit)?;
            let slack = (days_of(unit)? / 2).max(1);
            Some((today - ago - slack, today - ago + slack))
        }
        ["last" | "past" | "previous", many, unit, ..] if number(many).is_some() => {
            Some((today - number(many)? * days_of(unit)? - 1, today))
        }
        ["past", unit, ..] => Some((today - days_of(unit)? - 1, today)),
        ["last", day, ..] if weekday(day).is_some() => {
            // Days since Monday, and since that weekday; one that is today is a week ago.
            let since = (today + 3 - weekday(day)?).rem_euclid(7);
            let since = if since == 0 { 7 } else { since };
            Some((today - since - 1, today - since + 3))
        }
        ["last" | "previous", unit, ..] => {
            let length = days_of(unit)?;
            Some((today - 2 * length, today))
        }
        ["this", unit, ..] => Some((today - days_of(unit)?, today)),
        _ => None,
    }
}

fn number(word: &str) -> Option<i64> {
    let named = NUMBERS.iter().position(|it| *it == word).map(|it| it.max(1));
    let number = named.map_or_else(|| word.parse().ok(), |it| i64::try_from(it).ok());
    number.filter(|it| (1..=MOST).contains(it))
}

fn days_of(unit: &str) -> Option<i64> {
    let unit = unit.strip_suffix('s').unwrap_or(unit);
    UNITS.iter().find(|it| it.0 == unit).map(|it| it.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_from_now_are_read_as_people_say_them() {
        // A Sunday.
        let now = Timestamp::of_day(2023, 10, 22).plus(DAY / 2);
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
            let said = spoken(question, now);
            let said = said.map(|it| format!("{} {}", it.from.date(), it.until.plus(-1).date()));
            assert_eq!(said.unwrap_or_default(), expected, "{question}");
        }
    }
}
