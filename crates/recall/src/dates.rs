//! A date named in a question speaks for memories from about then.
//!
//! Things are told after they happen, so the days after a date fit as well as the date itself.

use model::{DAY, Timestamp};

use crate::lately;

/// When a question asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// A date of the calendar.
    Named(Named),
    /// A time as far from now: `last week`, `two days ago`.
    Lately(Span),
}

/// From one moment up to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub from: Timestamp,
    pub until: Timestamp,
}

/// A date as far as a question names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    pub year: i64,
    /// 1 to 12.
    pub month: Option<i64>,
    pub day: Option<i64>,
}

const MONTHS: &[&str] = &[
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

/// How many days after a named date something is still likely to be told.
const AFTER: i64 = 10;

/// When a question asks about, if it says so. A date says more than a time from now.
pub fn when(question: &str, now: Timestamp) -> Option<When> {
    let lately = || lately::spoken(question, now).map(When::Lately);
    named(question, now).map(When::Named).or_else(lately)
}

/// How well a moment fits, from 0 to 1.
pub fn fit(when: When, moment: Timestamp) -> f32 {
    match when {
        When::Named(it) => fit_named(it, moment),
        When::Lately(it) => f32::from(it.from <= moment && moment < it.until),
    }
}

/// The date a question names: `8 May 2023`, `May 8, 2023`, `in May 2023`, `2023-05-08`, `in 2023`.
/// A month without a year is the last one before `now`.
fn named(question: &str, now: Timestamp) -> Option<Named> {
    let words: Vec<&str> =
        question.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()).collect();
    let year_of = |it: &&str| it.parse().ok().filter(|year| (1990..2100).contains(year));
    let year: Option<i64> = words.iter().find_map(year_of);
    if let Some(iso) = words.windows(3).find_map(iso) {
        return Some(iso);
    }
    let Some((at, month)) = words.iter().enumerate().find_map(|(at, it)| Some((at, month(it)?)))
    else {
        return year.map(|year| Named { year, month: None, day: None });
    };
    let number = |at: Option<usize>| {
        let word = words.get(at?)?.trim_end_matches(char::is_alphabetic);
        word.parse().ok().filter(|day: &i64| (1..=31).contains(day))
    };
    let day = number(at.checked_sub(1)).or_else(|| number(Some(at + 1)));
    // `may` is mostly a verb; only a number beside it makes it a month.
    if words[at].eq_ignore_ascii_case("may") && day.is_none() && year.is_none() {
        return None;
    }
    let (this_year, this_month, _) = now.day();
    let year = year.unwrap_or(if month > this_month { this_year - 1 } else { this_year });
    Some(Named { year, month: Some(month), day })
}

fn fit_named(named: Named, moment: Timestamp) -> f32 {
    let (year, month, day) = moment.day();
    let Some(named_month) = named.month else {
        return if year == named.year { 0.3 } else { 0.0 };
    };
    let same_month = (year, month) == (named.year, named_month);
    if let Some(named_day) = named.day {
        let named = Timestamp::of_day(named.year, named_month, named_day);
        let since = moment.since(named).div_euclid(DAY);
        return match since {
            -1..=AFTER => 1.0,
            _ if same_month => 0.5,
            _ => 0.0,
        };
    }
    let next = if named_month == 12 { (named.year + 1, 1) } else { (named.year, named_month + 1) };
    match (year, month) {
        _ if same_month => 1.0,
        it if it == next && day <= AFTER => 0.7,
        _ => 0.0,
    }
}

fn month(word: &str) -> Option<i64> {
    let word = word.to_lowercase();
    // Short forms are three letters; `mar` and `sept` name months, `marching` does not.
    let at = MONTHS.iter().position(|it| *it == word || it.get(..3) == Some(&word))?;
    i64::try_from(at + 1).ok()
}

fn iso(words: &[&str]) -> Option<Named> {
    let [year, month, day] = words else { return None };
    let number = |it: &str, range: std::ops::RangeInclusive<i64>| {
        it.parse().ok().filter(|it| range.contains(it))
    };
    Some(Named {
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
        let date = |year, month, day| Some(Named { year, month, day });
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
            assert_eq!(named(question, now), expected, "{question}");
        }
    }

    #[test]
    fn what_was_told_soon_after_fits() {
        let day = Named { year: 2023, month: Some(5), day: Some(28) };
        let said: Vec<f32> = [(5, 27), (5, 28), (6, 7), (6, 8), (5, 2), (4, 28)]
            .map(|(month, date)| fit_named(day, Timestamp::of_day(2023, month, date)))
            .to_vec();
        assert_eq!(said, [1.0, 1.0, 1.0, 0.0, 0.5, 0.0]);
        let month = Named { day: None, ..day };
        let said: Vec<f32> = [(2023, 5, 1), (2023, 6, 10), (2023, 6, 11), (2022, 5, 1)]
            .map(|(year, month_of, date)| fit_named(month, Timestamp::of_day(year, month_of, date)))
            .to_vec();
        assert_eq!(said, [1.0, 0.7, 0.0, 0.0]);
    }
}
