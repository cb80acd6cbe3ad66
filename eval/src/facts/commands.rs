//! Facts about commands: retries, repetitions, tests that failed and then passed.
//!
//! The input is the scratchpad, the log of one session; a call is given by its number in it. The callers
//! choose when two commands count as one, by a function `identity` from the command line to a text: with
//! `command_head`, `go test ./a` and `go test ./b` are both `go test`.

use std::collections::BTreeMap;

use model::ToolKind;
use observe::shell::command_head;
use observe::{CallEffects, CallState, LoggedCall, Scratchpad};

/// Calls within which another attempt counts as a retry.
const RETRY_WINDOW_CALLS: usize = 6;
/// Runs from which a command counts as repeated.
const MIN_REPEATS: u32 = 3;

/// A failed call and the next attempt. Both are call numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommandRetry {
    pub(crate) failed_call: u32,
    pub(crate) retry_call: u32,
    pub(crate) succeeded: bool,
}

/// Failed calls that were soon retried: the same program and subcommand, or the same file. The exit code
/// alone counts, unlike in [`fail_then_pass`], which also reads failures that a pipe hid.
pub(crate) fn find_retries(pad: &Scratchpad) -> Vec<CommandRetry> {
    let mut acc = Vec::new();
    for (failed_call, call) in (0_u32..).zip(&pad.calls) {
        if call.state != CallState::Failed {
            continue;
        }
        // The next calls with their numbers.
        let next_calls = (failed_call + 1..).zip(&pad.calls[failed_call as usize + 1..]);
        let mut soon = next_calls.take(RETRY_WINDOW_CALLS);
        if let Some((retry_call, retry)) = soon.find(|(_, next)| is_same_attempt(pad, call, next)) {
            let succeeded = retry.state == CallState::Ok;
            acc.push(CommandRetry { failed_call, retry_call, succeeded });
        }
    }
    acc
}

/// Returns whether a call tries the same as a failed one.
fn is_same_attempt(pad: &Scratchpad, failed: &LoggedCall, next: &LoggedCall) -> bool {
    if failed.tool != next.tool {
        return false;
    }
    if let (Some(failed), Some(next)) = (failed.command, next.command) {
        let head = |command| command_head(pad.strings.text(command));
        return failed == next || head(failed) == head(next);
    }
    // Calls without a command line are compared by their files.
    let next_files = pad.touches_of_call(next);
    let is_touched_again = |file| next_files.iter().any(|it| it.file == file);
    pad.touches_of_call(failed).iter().any(|it| is_touched_again(it.file))
}

/// Commands that ran three times or more, with their counts. Commands with the same `identity` are one.
pub(crate) fn repeated_commands(
    pad: &Scratchpad,
    identity: fn(&str) -> String,
) -> BTreeMap<String, u32> {
    let mut acc: BTreeMap<String, u32> = BTreeMap::new();
    for command in pad.calls.iter().filter_map(|it| it.command) {
        *acc.entry(identity(pad.strings.text(command))).or_insert(0) += 1;
    }
    acc.retain(|_, n| *n >= MIN_REPEATS);
    acc
}

/// Test commands that failed and later passed: the calls of the first failure and of the first pass after
/// it. Commands with the same `identity` are one.
pub(crate) fn fail_then_pass(pad: &Scratchpad, identity: fn(&str) -> String) -> Vec<(u32, u32)> {
    // The first failure of each command that has not passed since.
    let mut failing: BTreeMap<String, u32> = BTreeMap::new();
    let mut acc = Vec::new();
    for (number, call) in (0_u32..).zip(&pad.calls) {
        if call.tool != ToolKind::Shell || !call.effects.has_any(CallEffects::RUNS_TEST) {
            continue;
        }
        // A host can omit the command line; such runs cannot be compared.
        let Some(command) = call.command else { continue };
        let command = identity(pad.strings.text(command));
        // The first failure counts, so that the pair spans the whole repair.
        if call.has_failed() {
            failing.entry(command).or_insert(number);
        } else if call.has_succeeded()
            && let Some(first_failure) = failing.remove(&command)
        {
            acc.push((first_failure, number));
        }
    }
    acc
}
