//! Expected errors: the failures that a new session is likely to meet, in a few lines.
//!
//! The input is the failed calls of earlier sessions: the head of each (program and subcommand, or the
//! tool) and the simplified start of its output. The output has one line per head with the messages it
//! failed with, the likeliest first:
//!
//! ```text
//! read: file does not exist
//! mise run: exit code [lint] $ golangci-lint run cmd/… result is unused / error not nil
//! ```
//!
//! Recent and frequent failures weigh more. The text is short because it is injected at the start of a
//! session. So a further message of a line has only the words that the line does not contain yet, and a
//! greedy knapsack selects the messages: again and again the one with the most weight per byte.

use std::collections::BTreeMap;

use model::{DAY_MS, Timestamp};

use crate::scratchpad::FailedCall;

/// The longest text, in bytes: about 150 tokens.
pub const MAX_EXPECTED_ERRORS_BYTES: usize = 600;
/// The longest start of an output that is kept, in bytes and in words.
const MAX_OUTPUT_START_BYTES: usize = 170;
const MAX_OUTPUT_START_WORDS: usize = 16;
/// Days after which a failure weighs half.
const HALF_LIFE_DAYS: f64 = 14.0;
/// The same failure again within this time is a repetition in the same spell of work. A failure that comes
/// back on another day is likelier to come again than one that was repeated on one day.
const SAME_SPELL_MS: i64 = DAY_MS / 4;
/// Weight of a repetition within a spell; the first failure of a spell weighs 1.
const REPEAT_WEIGHT: f64 = 0.2;
/// Between two messages of a line.
const MESSAGE_SEPARATOR: &str = " / ";
/// Between the head and the first message of a line.
const HEAD_SEPARATOR: &str = ": ";
/// Least cost in the ratio of weight to cost, so that a message without new words does not divide by zero.
const MIN_COST_BYTES: usize = 4;

/// The start of an output, without digits, quotes and the part of a path below its first folder.
pub(crate) fn output_start(output: &str) -> String {
    // Claude Code encloses the errors of its tools in this tag. The closing tag is left in a short
    // output only; in a longer one it is beyond the limit.
    let output = output.trim().trim_start_matches("<tool_use_error>");
    let start = &output[..output.floor_char_boundary(MAX_OUTPUT_START_BYTES)];
    let start = start.trim_end_matches("</tool_use_error>");
    // Numbers and paths of one machine are empty after simplification.
    let words = start.split_whitespace().map(simplify_word).filter(|it| !it.is_empty());
    words.take(MAX_OUTPUT_START_WORDS).collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The word without digits and punctuation; of a path, only the first folder: `cmd/a.go:3:1:` becomes
/// `cmd/…`.
fn simplify_word(word: &str) -> String {
    let word: String = word.chars().filter(|it| !it.is_ascii_digit()).collect();
    let word = word.trim_matches(|it: char| matches!(it, '"' | '\'' | '`' | '.' | ',' | ':' | ';'));
    match word.split_once('/') {
        // A path of one machine means nothing on another.
        Some(("" | "." | ".." | "~", _)) => String::new(),
        Some((first, _)) => format!("{first}/…"),
        None => word.to_owned(),
    }
}

/// Formats the failures to expect at `now`, given the failed calls of earlier sessions.
pub fn format_expected_errors(failed_calls: &[FailedCall], now: Timestamp) -> String {
    // The errors that are not selected yet, and the lines of those that are.
    let mut weights = weigh_errors(failed_calls, now);
    let mut lines: BTreeMap<&str, ErrorLine> = BTreeMap::new();
    let mut bytes_left = MAX_EXPECTED_ERRORS_BYTES;
    // Greedy knapsack. The costs change with every selection, because words that a line contains already
    // cost nothing.
    while let Some(candidate) = best_candidate(&weights, &lines, bytes_left) {
        let weight = weights.remove(&candidate.key).unwrap_or_default();
        let (head, message) = candidate.key;
        lines.entry(head).or_default().add_message(message, weight);
        bytes_left -= candidate.cost;
    }
    let mut ranked: Vec<(&str, ErrorLine)> = lines.into_iter().collect();
    ranked.sort_by(|(head_a, line_a), (head_b, line_b)| {
        line_b.weight.total_cmp(&line_a.weight).then_with(|| head_a.cmp(head_b))
    });
    let mut acc: Vec<String> = Vec::new();
    for (head, line) in ranked {
        acc.push(format!("{head}{HEAD_SEPARATOR}{}", line.text));
    }
    acc.join("\n")
}

/// A command or tool, and the start of its output.
type ErrorKey<'a> = (&'a str, &'a str);

/// The weight of each error: exponential decay by age, less for repetitions within a spell.
#[expect(clippy::cast_precision_loss, reason = "days and counts are small")]
fn weigh_errors(failed_calls: &[FailedCall], now: Timestamp) -> BTreeMap<ErrorKey<'_>, f64> {
    let mut acc: BTreeMap<ErrorKey<'_>, f64> = BTreeMap::new();
    let mut last_seen: BTreeMap<ErrorKey<'_>, Timestamp> = BTreeMap::new();
    // Later failures are not known at `now`; evaluations replay the past.
    for call in failed_calls.iter().filter(|it| it.at < now) {
        let key = (call.head.as_str(), call.output_start.as_str());
        let days = now.millis_since(call.at) as f64 / DAY_MS as f64;
        // `insert` returns the time before.
        let last = last_seen.insert(key, call.at);
        let is_repeat = last.is_some_and(|it| call.at.millis_since(it).abs() < SAME_SPELL_MS);
        let weight = if is_repeat { REPEAT_WEIGHT } else { 1.0 };
        *acc.entry(key).or_default() += weight * 0.5_f64.powf(days / HALF_LIFE_DAYS);
    }
    acc
}

/// The line of one command or tool.
#[derive(Default)]
struct ErrorLine {
    text: String,
    weight: f64,
}

impl ErrorLine {
    /// The words of a message that the line does not contain yet, not even as a part of another word:
    /// after `golangci-lint`, the word `lint` adds nothing.
    fn missing_words<'a>(&self, message: &'a str) -> Vec<&'a str> {
        message.split(' ').filter(|it| !it.is_empty() && !self.text.contains(it)).collect()
    }

    fn add_message(&mut self, message: &str, weight: f64) {
        let missing = self.missing_words(message).join(" ");
        if !self.text.is_empty() && !missing.is_empty() {
            self.text.push_str(MESSAGE_SEPARATOR);
        }
        self.text.push_str(&missing);
        self.weight += weight;
    }
}

/// An error that could be added to the text next.
struct ErrorCandidate<'a> {
    key: ErrorKey<'a>,
    /// Bytes by which the text would grow.
    cost: usize,
    weight_per_byte: f64,
}

/// The error with the most weight per byte among those that fit.
#[expect(clippy::cast_precision_loss, reason = "a cost is below the length of the text")]
fn best_candidate<'a>(
    weights: &BTreeMap<ErrorKey<'a>, f64>,
    lines: &BTreeMap<&'a str, ErrorLine>,
    bytes_left: usize,
) -> Option<ErrorCandidate<'a>> {
    let mut best: Option<ErrorCandidate<'a>> = None;
    for ((head, message), weight) in weights {
        let cost = match lines.get(head) {
            // A further message of a line; without a new word it only adds its weight.
            Some(line) => match line.missing_words(message).join(" ").len() {
                0 => 0,
                n_bytes => MESSAGE_SEPARATOR.len() + n_bytes,
            },
            // A new line, with its line end.
            None => head.len() + HEAD_SEPARATOR.len() + message.len() + 1,
        };
        if cost > bytes_left {
            continue;
        }
        let weight_per_byte = weight / (cost.max(MIN_COST_BYTES) as f64);
        // Ties go to the first in the order of keys.
        if best.as_ref().is_none_or(|it| weight_per_byte > it.weight_per_byte) {
            best = Some(ErrorCandidate { key: (head, message), cost, weight_per_byte });
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    /// A call that failed on a day, counted from 1970.
    fn failed_call(day: i64, head: &str, output: &str) -> FailedCall {
        FailedCall {
            at: Timestamp(day * DAY_MS),
            head: head.to_owned(),
            output_start: output_start(output),
        }
    }

    #[test]
    fn frequent_and_recent_failures_are_expected() {
        // On day 10, `read` failed twice, on different days. The last failure is after that day.
        let all = [
            failed_call(
                1,
                "mise run",
                "Exit code 1\n[lint] $ golangci-lint run ./...\ncmd/a.go:3:1: error is not nil",
            ),
            failed_call(
                2,
                "mise run",
                "Exit code 1\n[lint] $ golangci-lint run ./...\ncmd/b.go:9:1: result is unused",
            ),
            failed_call(3, "read", "File does not exist."),
            failed_call(9, "read", "File does not exist."),
            failed_call(40, "later", "never seen before"),
        ];
        expect![[r"
            read: file does not exist
            mise run: exit code [lint] $ golangci-lint run cmd/… result is unused / error not nil"]]
        .assert_eq(&format_expected_errors(&all, Timestamp(10 * DAY_MS)));
    }

    #[test]
    fn the_text_is_short_and_ignores_later_failures() {
        let many: Vec<FailedCall> =
            (0..300).map(|it| failed_call(it, &format!("tool{it}"), &"word ".repeat(20))).collect();
        assert!(
            format_expected_errors(&many, Timestamp(400 * DAY_MS)).len()
                <= MAX_EXPECTED_ERRORS_BYTES
        );
        assert_eq!(format_expected_errors(&many, Timestamp(0)), "");
    }
}
