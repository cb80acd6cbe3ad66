//! The outlook: which errors a session here should expect, in a few lines at its start.
//!
//! One line for each command or tool, with what it failed with before, the likeliest first; what is common
//! to several messages is said once. What came lately and often counts more.

use std::collections::BTreeMap;

use model::{DAY, Timestamp};

use crate::scratchpad::Stumble;

/// The longest outlook, in bytes: about 150 tokens.
pub const MAX_OUTLOOK: usize = 600;
/// How much of an answer is its beginning, in bytes and in words.
const BEGINNING: usize = 170;
const MAX_WORDS: usize = 16;
/// Days after which a stumble counts half.
const HALF_LIFE: f64 = 14.0;
/// Stumbles over the same thing within this time are one spell of work; that it comes back on another
/// day says more than that it was hard that day.
const SPELL: i64 = DAY / 4;
const AGAIN: f64 = 0.2;

/// How an answer begins, without numbers, quoted values and what lies below the first folder of a path.
pub(crate) fn beginning(answer: &str) -> String {
    let answer = answer.trim().trim_start_matches("<tool_use_error>");
    let head = &answer[..answer.floor_char_boundary(BEGINNING)];
    let head = head.trim_end_matches("</tool_use_error>");
    let words = head.split_whitespace().map(plain).filter(|it| !it.is_empty());
    words.take(MAX_WORDS).collect::<Vec<_>>().join(" ").to_lowercase()
}

fn plain(word: &str) -> String {
    let word: String = word.chars().filter(|it| !it.is_ascii_digit()).collect();
    let word = word.trim_matches(|it: char| matches!(it, '"' | '\'' | '`' | '.' | ',' | ':' | ';'));
    match word.split_once('/') {
        // A path of one machine says nothing elsewhere.
        Some(("" | "." | ".." | "~", _)) => String::new(),
        Some((first, _)) => format!("{first}/…"),
        None => word.to_owned(),
    }
}

/// What to expect at `now` after these stumbles of earlier sessions.
#[expect(clippy::cast_precision_loss, reason = "days and counts are small")]
pub fn outlook(stumbles: &[Stumble], now: Timestamp) -> String {
    let mut weights: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    let mut last: BTreeMap<(&str, &str), Timestamp> = BTreeMap::new();
    for it in stumbles.iter().filter(|it| it.at < now) {
        let key = (it.head.as_str(), it.beginning.as_str());
        let days = now.since(it.at) as f64 / DAY as f64;
        let again = last.insert(key, it.at).is_some_and(|last| it.at.since(last).abs() < SPELL);
        let share = if again { AGAIN } else { 1.0 };
        *weights.entry(key).or_default() += share * 0.5_f64.powf(days / HALF_LIFE);
    }
    let mut lines: BTreeMap<&str, Line> = BTreeMap::new();
    let mut left = MAX_OUTLOOK;
    // The most weight for the room it takes, again and again: what a line says already costs nothing.
    while let Some((key, cost)) = best(&weights, &lines, left) {
        let weight = weights.remove(&key).unwrap_or_default();
        let line = lines.entry(key.0).or_default();
        line.add(key.1, weight);
        left -= cost;
    }
    let mut told: Vec<(&str, Line)> = lines.into_iter().collect();
    told.sort_by(|a, b| b.1.weight.total_cmp(&a.1.weight).then_with(|| a.0.cmp(b.0)));
    told.iter().map(|(head, line)| format!("{head}: {}", line.text)).collect::<Vec<_>>().join("\n")
}

#[derive(Default)]
struct Line {
    text: String,
    weight: f64,
}

impl Line {
    /// The words of a message that the line does not have yet.
    fn missing<'a>(&self, message: &'a str) -> Vec<&'a str> {
        message.split(' ').filter(|it| !it.is_empty() && !self.text.contains(it)).collect()
    }

    fn add(&mut self, message: &str, weight: f64) {
        let missing = self.missing(message).join(" ");
        if !self.text.is_empty() && !missing.is_empty() {
            self.text.push_str(" / ");
        }
        self.text.push_str(&missing);
        self.weight += weight;
    }
}

type Key<'a> = (&'a str, &'a str);

#[expect(clippy::cast_precision_loss, reason = "a cost is below the length of an outlook")]
fn best<'a>(
    weights: &BTreeMap<Key<'a>, f64>,
    lines: &BTreeMap<&'a str, Line>,
    left: usize,
) -> Option<(Key<'a>, usize)> {
    let mut res: Option<(f64, Key<'a>, usize)> = None;
    for ((head, message), weight) in weights {
        let cost = match lines.get(head) {
            Some(line) => match line.missing(message).join(" ").len() {
                0 => 0,
                n => n + 3,
            },
            None => head.len() + 3 + message.len(),
        };
        let worth = weight / (cost.max(4) as f64);
        if cost <= left && res.as_ref().is_none_or(|it| worth > it.0) {
            res = Some((worth, (head, message), cost));
        }
    }
    res.map(|it| (it.1, it.2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn stumble(day: i64, head: &str, answer: &str) -> Stumble {
        Stumble { at: Timestamp(day * DAY), head: head.to_owned(), beginning: beginning(answer) }
    }

    #[test]
    fn what_failed_often_and_lately_is_expected() {
        let all = [
            stumble(
                1,
                "mise run",
                "Exit code 1\n[lint] $ golangci-lint run ./...\ncmd/a.go:3:1: error is not nil",
            ),
            stumble(
                2,
                "mise run",
                "Exit code 1\n[lint] $ golangci-lint run ./...\ncmd/b.go:9:1: result is unused",
            ),
            stumble(3, "read", "File does not exist."),
            stumble(9, "read", "File does not exist."),
            stumble(40, "later", "never seen before"),
        ];
        expect![[r"
            read: file does not exist
            mise run: exit code [lint] $ golangci-lint run cmd/… result is unused / error not nil"]]
        .assert_eq(&outlook(&all, Timestamp(10 * DAY)));
    }

    #[test]
    fn an_outlook_is_short_and_knows_nothing_of_the_future() {
        let many: Vec<Stumble> =
            (0..300).map(|it| stumble(it, &format!("tool{it}"), &"word ".repeat(20))).collect();
        assert!(outlook(&many, Timestamp(400 * DAY)).len() <= MAX_OUTLOOK);
        assert_eq!(outlook(&many, Timestamp(0)), "");
    }
}
