//! Expected errors: the failures that a new session is likely to meet, in a few lines.
//!
//! The input is the failed calls of earlier sessions: the head of each (program and subcommand, or the
//! tool) and its message; and the fixes that became memories. The output has one line per error, the
//! likeliest first, each with what ended it if that is known:
//!
//! ```text
//! `edit`: “File has not been read yet. Read it first before writing to it.”
//! `npm run`: “sh: eslint: command not found”. Run `npm ci` first.
//! ```
//!
//! Recent and frequent failures weigh more, and those with a fix. The text is short because it is injected at
//! the start of a session: a greedy knapsack selects the errors with the most weight per byte.

use std::collections::BTreeMap;

use model::{DAY_MS, Timestamp};

use crate::error_line::normalise_message;
use crate::scratchpad::FailedCall;

/// The longest text, in bytes: about 150 tokens.
pub const MAX_EXPECTED_ERRORS_BYTES: usize = 600;
/// The longest message that is kept, in bytes.
const MAX_MESSAGE_BYTES: usize = 170;
/// Days after which a failure weighs half.
const HALF_LIFE_DAYS: f64 = 14.0;
/// The same failure again within this time is a repetition in the same spell of work. A failure that comes
/// back on another day is likelier to come again than one that was repeated on one day.
const SAME_SPELL_MS: i64 = DAY_MS / 4;
/// Weight of a repetition within a spell; the first failure of a spell weighs 1.
const REPEAT_WEIGHT: f64 = 0.2;
/// Factor of the weight of an error whose fix is known: only then a session can act on it.
const FIXED_WEIGHT: f64 = 2.0;
/// Exponent of the length in the ratio of weight to cost: below 1, because a line is worth more than its
/// bytes if it is likely.
const COST_EXPONENT: f64 = 0.5;

/// A fix that became a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFix {
    /// The text of the memory, which quotes the message.
    pub memory_text: String,
    /// The sentence that says what to do.
    pub resolution: String,
}

/// The message of a failed call whose output names no error: its first line with words.
pub(crate) fn first_message(output: &str) -> String {
    // Claude Code encloses the errors of its tools in this tag.
    let output = output.trim().trim_start_matches("<tool_use_error>");
    let is_message = |it: &&str| {
        let is_exit_code = it.to_ascii_lowercase().starts_with("exit code");
        it.chars().any(char::is_alphabetic) && !is_exit_code
    };
    let line = output.lines().map(str::trim).find(is_message).unwrap_or_default();
    let line = line.trim_end_matches("</tool_use_error>");
    line[..line.floor_char_boundary(MAX_MESSAGE_BYTES)].to_owned()
}

/// Formats the failures to expect at `now`, given the failed calls of earlier sessions and the known fixes.
#[expect(clippy::cast_precision_loss, reason = "a line is short")]
pub fn format_expected_errors(
    failed_calls: &[FailedCall],
    fixes: &[KnownFix],
    now: Timestamp,
) -> String {
    let mut ranked: Vec<(f64, String)> = Vec::new();
    for error in weigh_errors(failed_calls, now) {
        let quoted = format!("“{}”", error.message);
        let fix = fixes.iter().find(|it| it.memory_text.contains(&quoted));
        let line = match fix {
            Some(fix) => format!("`{}`: {quoted}. {}", error.head, fix.resolution),
            None => format!("`{}`: {quoted}", error.head),
        };
        let weight = if fix.is_some() { error.weight * FIXED_WEIGHT } else { error.weight };
        ranked.push((weight / (line.len() as f64).powf(COST_EXPONENT), line));
    }
    // Ties go to the first in the order of lines.
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let mut acc = String::new();
    for (_, line) in ranked {
        if acc.len() + line.len() < MAX_EXPECTED_ERRORS_BYTES {
            if !acc.is_empty() {
                acc.push('\n');
            }
            acc.push_str(&line);
        }
    }
    acc
}

/// An error with its latest message.
struct WeighedError<'a> {
    head: &'a str,
    message: &'a str,
    last_seen: Timestamp,
    weight: f64,
}

/// The weight of each error: exponential decay by age, less for repetitions within a spell. Messages that
/// differ only in paths and numbers are one error.
#[expect(clippy::cast_precision_loss, reason = "days are few")]
fn weigh_errors(failed_calls: &[FailedCall], now: Timestamp) -> Vec<WeighedError<'_>> {
    let mut acc: BTreeMap<(&str, String), WeighedError<'_>> = BTreeMap::new();
    // Later failures are not known at `now`; evaluations replay the past.
    for call in failed_calls.iter().filter(|it| it.at < now) {
        let (head, message) = (call.head.as_str(), call.message.as_str());
        // A word alone says nothing.
        if !message.contains(' ') {
            continue;
        }
        let days = now.millis_since(call.at) as f64 / DAY_MS as f64;
        let decay = 0.5_f64.powf(days / HALF_LIFE_DAYS);
        let known = acc.entry((head, normalise_message(message))).or_insert(WeighedError {
            head,
            message,
            last_seen: Timestamp(i64::MIN / 2),
            weight: 0.0,
        });
        let is_repeat = call.at.millis_since(known.last_seen).abs() < SAME_SPELL_MS;
        known.weight += if is_repeat { REPEAT_WEIGHT } else { 1.0 } * decay;
        if call.at > known.last_seen {
            (known.last_seen, known.message) = (call.at, message);
        }
    }
    acc.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    /// A call that failed on a day, counted from 1970.
    fn failed_call(day: i64, head: &str, message: &str) -> FailedCall {
        let at = Timestamp(day * DAY_MS);
        FailedCall { at, head: head.to_owned(), message: message.to_owned() }
    }

    #[test]
    fn frequent_and_recent_failures_are_expected_with_their_fix() {
        // On day 10, `read` failed twice, on different days. The last failure is after that day.
        let all = [
            failed_call(1, "npm run", "sh: eslint: command not found"),
            failed_call(2, "mise run", "cmd/b.go:9:1: result is unused"),
            failed_call(3, "read", "File does not exist."),
            failed_call(9, "read", "File does not exist."),
            failed_call(40, "later", "never seen before"),
        ];
        let fix = KnownFix {
            memory_text:
                "`npm run lint` fails here with “sh: eslint: command not found”: run `npm ci` first."
                    .to_owned(),
            resolution: "Run `npm ci` first.".to_owned(),
        };
        expect![[r"
            `read`: “File does not exist.”
            `npm run`: “sh: eslint: command not found”. Run `npm ci` first.
            `mise run`: “cmd/b.go:9:1: result is unused”"]]
        .assert_eq(&format_expected_errors(&all, &[fix], Timestamp(10 * DAY_MS)));
    }

    #[test]
    fn the_message_of_an_output_without_an_error_is_its_first_line() {
        assert_eq!(first_message("Exit code 1\n\n12\ngot it wrong\nmore"), "got it wrong");
        assert_eq!(first_message("<tool_use_error>No file.</tool_use_error>"), "No file.");
        assert_eq!(first_message("Exit code 1"), "");
    }

    #[test]
    fn the_text_is_short_and_ignores_later_failures() {
        let many: Vec<FailedCall> =
            (0..300).map(|it| failed_call(it, &format!("tool{it}"), &"word ".repeat(20))).collect();
        let text = format_expected_errors(&many, &[], Timestamp(400 * DAY_MS));
        assert!(!text.is_empty() && text.len() <= MAX_EXPECTED_ERRORS_BYTES);
        assert_eq!(format_expected_errors(&many, &[], Timestamp(0)), "");
    }
}
