//! Expected errors: the failures that a new session is likely to meet, in a few lines.
//!
//! The input is the failed calls of earlier sessions: the head of each (the command without its arguments, or
//! the tool) and its message; and the fixes that became memories. The output has one line per command, the
//! likeliest first, with its likely errors, and what ended each if that is known:
//!
//! ```text
//! `edit` failed on 9 days: “File has not been read yet. Read it first before writing to it.”; “String to …”
//! `npm run lint` (runs `eslint .`): “sh: eslint: command not found” → Run `npm ci` first.
//! ```
//!
//! Recent and frequent failures weigh more, and those with a fix. Most errors of half-done work never come back.
//! So an error that was seen in one spell of work only weighs as much as errors of its command usually come
//! back (Good and Turing's idea: what was seen once tells of what was not seen yet). The text is short because it
//! is injected at the start of a session: a greedy knapsack selects the errors with the most weight per byte.

use std::collections::{BTreeMap, BTreeSet};

use model::{DAY_MS, Timestamp};

use crate::episode::CommandIntent;
use crate::error_line::{is_generic_message, normalise_message};
use crate::scratchpad::FailedCall;
use crate::shell;

/// The longest text, in bytes: about 150 tokens.
pub const MAX_EXPECTED_ERRORS_BYTES: usize = 600;
/// The longest message that is kept, in bytes.
const MAX_MESSAGE_BYTES: usize = 170;
/// The longest message that is told, in bytes. A longer one is cut after a sentence, or here.
const MAX_TOLD_BYTES: usize = 110;
/// Shorter words of a resolution are articles and prepositions.
const MIN_WORD_BYTES: usize = 4;
/// A sentence must have so many bytes to stand for its message.
const MIN_SENTENCE_BYTES: usize = 30;
/// The longest line without its arguments, in bytes.
const MAX_HEAD_BYTES: usize = 48;
/// The longest list of the commands that a script runs, in bytes.
const MAX_ECHO_BYTES: usize = 48;
/// Lines of an output in which a script's commands are searched.
const ECHO_LINES: usize = 12;
/// Separates the command from what it runs in the head of a call.
const ECHO_SEPARATOR: &str = " → ";
/// Separates the commands of a line in the head of a call. The last one is what the line is run for.
const CHAIN_SEPARATOR: &str = " && ";
/// Days after which a failure weighs half.
const HALF_LIFE_DAYS: f64 = 14.0;
/// The same failure again within this time is a repetition in the same spell of work. A failure that comes
/// back on another day is likelier to come again than one that was repeated on one day.
const SAME_SPELL_MS: i64 = DAY_MS / 4;
/// Errors of a command that are assumed to have come back, and to have been seen, before any was.
const PRIOR_RECURRING: f64 = 1.0;
const PRIOR_ERRORS: f64 = 3.0;
/// From so many days with a failure on, their number is told.
const MIN_TOLD_DAYS: usize = 3;
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

impl KnownFix {
    /// Returns whether the resolution says more than the message, which can ask for the same.
    fn adds_to(&self, message: &str) -> bool {
        let (message, resolution) = (message.to_lowercase(), self.resolution.to_lowercase());
        let mut words = resolution.split(|it: char| !it.is_alphanumeric());
        words.any(|it| it.len() >= MIN_WORD_BYTES && !message.contains(it))
    }

    /// Returns whether the memory is about a message. It quotes the finding of a linter without the rule.
    fn is_about(&self, message: &str) -> bool {
        let finding = message.rsplit_once(" (").map_or(message, |it| it.0);
        [message, finding].iter().any(|it| self.memory_text.contains(&format!("“{it}”")))
    }
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

/// The head of a failed command: its words before the arguments. If it printed the commands that it ran, as
/// scripts do, these follow, after the heads of all commands of the line:
/// `mise run fmt && mise run lint → gofmt -w ., golangci-lint run ./...`.
pub(crate) fn call_head(command: &str, output: &str) -> String {
    let intents = CommandIntent::of_line(command);
    let heads: Vec<String> = intents.iter().map(intent_head).collect();
    let Some(head) = heads.last().filter(|it| !it.is_empty() && it.len() <= MAX_HEAD_BYTES) else {
        return shell::command_head(command);
    };
    let Some(echo) = echoed_commands(output).filter(|it| !it.starts_with(head.as_str())) else {
        return head.clone();
    };
    let chain = heads.join(CHAIN_SEPARATOR);
    let shown = if chain.len() <= MAX_HEAD_BYTES { &chain } else { head };
    format!("{shown}{ECHO_SEPARATOR}{echo}")
}

/// The words of a command before its arguments.
fn intent_head(intent: &CommandIntent) -> String {
    // Options before a subcommand: `git -C web push`.
    let is_option = |it: &&String| {
        let has_word = |option: &String| option.split(' ').any(|word| word == it.as_str());
        intent.options.iter().any(has_word)
    };
    // A path of one machine says no more than the name of the program.
    let name = |it: &String| match it.rsplit('/').next() {
        Some(name) if it.starts_with(['/', '~', '$']) => name.to_owned(),
        _ => it.clone(),
    };
    let words = intent.launcher.iter().filter(|it| !is_option(it)).map(name);
    words.collect::<Vec<_>>().join(" ")
}

/// The commands that a script printed before it ran them: `[lint] $ eslint .` of mise, `$ eslint .` of yarn,
/// `> eslint .` of npm, which prints the name of the script before it.
fn echoed_commands(output: &str) -> Option<String> {
    let mut acc = String::new();
    let mut after_script = false;
    for line in output.lines().map(str::trim).take(ECHO_LINES) {
        let is_script = line.starts_with("> ") && line.contains('@');
        let of_task = line.starts_with('[').then(|| line.split_once("] $ ")).flatten();
        let echoed = of_task
            .map(|it| it.1)
            .or_else(|| line.strip_prefix("$ "))
            .or_else(|| line.strip_prefix("> ").filter(|_| after_script));
        after_script = is_script || (after_script && line.is_empty());
        if let Some(command) = echoed.filter(|it| !it.contains('`'))
            && acc.len() + command.len() <= MAX_ECHO_BYTES
        {
            if !acc.is_empty() {
                acc.push_str(", ");
            }
            acc.push_str(command);
        }
    }
    (!acc.is_empty()).then_some(acc)
}

/// Formats the failures to expect at `now`, given the failed calls of earlier sessions and the known fixes.
pub fn format_expected_errors(
    failed_calls: &[FailedCall],
    fixes: &[KnownFix],
    now: Timestamp,
) -> String {
    let commands = summarise_commands(failed_calls, now);
    let mut ranked: Vec<RankedError<'_>> = Vec::new();
    for (command, summary) in &commands {
        let errors = summary.errors.values();
        ranked.extend(errors.map(|it| rank_error(command, summary, it, fixes)));
    }
    // Ties go to the first in the order of texts.
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.text.cmp(&b.text)));
    let mut lines: Vec<(&str, String)> = Vec::new();
    let mut n_bytes = 0;
    for error in ranked {
        let known = lines.iter_mut().find(|it| it.0 == error.command);
        let opening = match &known {
            Some(_) => "; ".to_owned(),
            None => commands[error.command].opening(error.command),
        };
        // A line break before each further line.
        let cost = opening.len() + error.text.len() + usize::from(known.is_none());
        if n_bytes + cost > MAX_EXPECTED_ERRORS_BYTES {
            continue;
        }
        n_bytes += cost;
        match known {
            Some((_, line)) => {
                line.push_str(&opening);
                line.push_str(&error.text);
            }
            None => lines.push((error.command, opening + &error.text)),
        }
    }
    lines.into_iter().map(|it| it.1).collect::<Vec<_>>().join("\n")
}

/// The failures of one command.
#[derive(Default)]
struct CommandSummary<'a> {
    /// The head of the call that shows most of what is run, the latest among equals.
    shown_head: &'a str,
    days: BTreeSet<i64>,
    /// By normalised message: messages that differ only in paths and numbers are one error.
    errors: BTreeMap<String, WeighedError<'a>>,
}

impl CommandSummary<'_> {
    /// The beginning of the line of a command.
    fn opening(&self, command: &str) -> String {
        let often = match self.days.len() {
            n_days if n_days >= MIN_TOLD_DAYS => format!(" failed on {n_days} days"),
            _ => String::new(),
        };
        match self.shown_head.split_once(ECHO_SEPARATOR) {
            Some((line, echo)) => {
                format!("`{line}` (runs `{}`){often}: ", echo.replace(", ", "`, `"))
            }
            None => format!("`{command}`{often}: "),
        }
    }

    /// The share of the errors of this command that came back in another spell.
    #[expect(clippy::cast_precision_loss, reason = "errors are few")]
    fn recurring_share(&self) -> f64 {
        let n_recurring = self.errors.values().filter(|it| it.n_spells > 1).count();
        (n_recurring as f64 + PRIOR_RECURRING) / (self.errors.len() as f64 + PRIOR_ERRORS)
    }
}

/// An error with its latest message.
struct WeighedError<'a> {
    message: &'a str,
    last_seen: Timestamp,
    /// Spells in which it was seen, each decayed by its age.
    weight: f64,
    n_spells: u32,
}

/// An error as it is told.
struct RankedError<'a> {
    /// The weight for its length.
    score: f64,
    command: &'a str,
    /// The message, with what ended it.
    text: String,
}

#[expect(clippy::cast_precision_loss, reason = "a line is short")]
fn rank_error<'a>(
    command: &'a str,
    summary: &CommandSummary<'_>,
    error: &WeighedError<'_>,
    fixes: &[KnownFix],
) -> RankedError<'a> {
    let fix = fixes.iter().find(|it| it.is_about(error.message));
    let quoted = format!("“{}”", shorten_message(error.message));
    let text = match fix {
        Some(fix) if fix.adds_to(error.message) => {
            format!("{quoted} → {}", fix.resolution.trim_end_matches('.'))
        }
        _ => quoted,
    };
    let mut weight = error.weight;
    if error.n_spells < 2 {
        weight *= summary.recurring_share();
    }
    if fix.is_some() {
        weight *= FIXED_WEIGHT;
    }
    RankedError { score: weight / (text.len() as f64).powf(COST_EXPONENT), command, text }
}

/// The failures of each command: exponential decay by age, repetitions within a spell count once.
#[expect(clippy::cast_precision_loss, reason = "days are few")]
fn summarise_commands(
    failed_calls: &[FailedCall],
    now: Timestamp,
) -> BTreeMap<&str, CommandSummary<'_>> {
    let mut acc: BTreeMap<&str, CommandSummary<'_>> = BTreeMap::new();
    // Later failures are not known at `now`; evaluations replay the past.
    for call in failed_calls.iter().filter(|it| it.at < now) {
        let (head, message) = (call.head.as_str(), call.message.as_str());
        // A word alone says nothing, and neither does a count of failures.
        if !message.contains(' ') || is_generic_message(message) {
            continue;
        }
        let command = acc.entry(main_command(head)).or_default();
        command.days.insert(call.at.0.div_euclid(DAY_MS));
        if n_shown_commands(head) >= n_shown_commands(command.shown_head) {
            command.shown_head = head;
        }
        let days = now.millis_since(call.at) as f64 / DAY_MS as f64;
        let known = command.errors.entry(normalise_message(message)).or_insert(WeighedError {
            message,
            last_seen: Timestamp(i64::MIN / 2),
            weight: 0.0,
            n_spells: 0,
        });
        if call.at.millis_since(known.last_seen).abs() >= SAME_SPELL_MS {
            known.weight += 0.5_f64.powf(days / HALF_LIFE_DAYS);
            known.n_spells += 1;
        }
        if call.at > known.last_seen {
            (known.last_seen, known.message) = (call.at, message);
        }
    }
    acc
}

/// The command that a line is run for, of a call's head.
fn main_command(head: &str) -> &str {
    let line = head.split(ECHO_SEPARATOR).next().unwrap_or(head);
    line.rsplit(CHAIN_SEPARATOR).next().unwrap_or(line)
}

/// Commands that a head shows to be run; 0 if it shows none.
fn n_shown_commands(head: &str) -> usize {
    head.split_once(ECHO_SEPARATOR).map_or(0, |it| it.1.split(", ").count())
}

/// The first sentence of a long message, else its beginning.
fn shorten_message(message: &str) -> String {
    if message.len() <= MAX_TOLD_BYTES {
        return message.to_owned();
    }
    let start = &message[..message.floor_char_boundary(MAX_TOLD_BYTES)];
    match start.rfind(". ").filter(|it| *it >= MIN_SENTENCE_BYTES) {
        Some(end) => start[..=end].to_owned(),
        None => format!("{}…", start.trim_end()),
    }
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
            failed_call(1, "npm run lint → eslint .", "sh: eslint: command not found"),
            failed_call(2, "mise run lint", "cmd/b.go:9:1: result is unused"),
            failed_call(3, "read", "File does not exist."),
            failed_call(8, "read", "File content exceeds the maximum allowed tokens."),
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
            `read` failed on 3 days: “File does not exist.”; “File content exceeds the maximum allowed tokens.”
            `npm run lint` (runs `eslint .`): “sh: eslint: command not found” → Run `npm ci` first
            `mise run lint`: “cmd/b.go:9:1: result is unused”"]]
        .assert_eq(&format_expected_errors(&all, &[fix], Timestamp(10 * DAY_MS)));
    }

    #[test]
    fn an_error_of_one_day_gives_way_to_one_that_came_back() {
        let all = [
            failed_call(2, "edit", "File has not been read yet. Read it first."),
            failed_call(5, "edit", "File has not been read yet. Read it first."),
            failed_call(9, "go build", "undefined: x"),
            failed_call(9, "go build", "12 errors"),
        ];
        expect![[r"
            `edit`: “File has not been read yet. Read it first.”
            `go build`: “undefined: x”"]]
        .assert_eq(&format_expected_errors(&all, &[], Timestamp(10 * DAY_MS)));
    }

    #[test]
    fn the_head_is_the_command_and_what_it_runs() {
        let mise = "Exit code 1\n[fmt] $ gofmt -w .\n[lint] $ golangci-lint run ./...\na.go:1:2: x";
        assert_eq!(
            call_head("mise run fmt && mise run lint 2>&1", mise),
            "mise run fmt && mise run lint → gofmt -w ., golangci-lint run ./..."
        );
        let npm = "\n> shop@1.0.0 test\n> vitest run\n\n FAIL  a";
        assert_eq!(call_head("cd web && npm test -- a", npm), "npm test → vitest run");
        assert_eq!(call_head("go test ./a -run X | tail -3", "FAIL"), "go test");
        assert_eq!(call_head("/home/me/bin/tool sync --x y", "no"), "tool sync");
        assert_eq!(call_head("git -C web push", "no"), "git push");
    }

    #[test]
    fn the_message_of_an_output_without_an_error_is_its_first_line() {
        assert_eq!(first_message("Exit code 1\n\n12\ngot it wrong\nmore"), "got it wrong");
        assert_eq!(first_message("<tool_use_error>No file.</tool_use_error>"), "No file.");
        assert_eq!(first_message("Exit code 1"), "");
    }

    #[test]
    fn a_long_message_is_told_in_its_first_sentence() {
        let long = "Found 2 matches of the string to replace, but replace_all is false. To replace all occurrences, set replace_all to true.";
        assert_eq!(
            shorten_message(long),
            "Found 2 matches of the string to replace, but replace_all is false."
        );
        assert!(shorten_message(&"word ".repeat(50)).len() <= MAX_TOLD_BYTES + 3);
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
