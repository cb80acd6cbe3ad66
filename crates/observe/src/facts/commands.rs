//! Facts about commands: retries, repetitions, tests that failed and then passed.

use std::collections::BTreeMap;

use model::ToolKind;

use crate::scratchpad::{CallEffects, CallState, LoggedCall};
use crate::{Scratchpad, shell};

/// Calls within which another attempt counts as a retry.
const RETRY_WINDOW_CALLS: usize = 6;
/// Runs from which a command counts as repeated.
const MIN_REPEATS: u32 = 3;

/// A failed call and the next attempt. Both are call numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandRetry {
    pub failed_call: u32,
    pub retry_call: u32,
    pub succeeded: bool,
}

/// Failed calls that were soon retried: the same program and subcommand, or the same file.
pub fn find_retries(pad: &Scratchpad) -> Vec<CommandRetry> {
    let mut acc = Vec::new();
    let failed = |it: &(u32, &LoggedCall)| it.1.state == CallState::Failed;
    for (failed_call, call) in (0_u32..).zip(&pad.calls).filter(failed) {
        let from = failed_call as usize + 1;
        let next = &pad.calls[from..pad.calls.len().min(from + RETRY_WINDOW_CALLS)];
        if let Some(at) = next.iter().position(|it| is_same_attempt(pad, call, it)) {
            let retry_call = failed_call + 1 + u32::try_from(at).unwrap_or(0);
            let succeeded = pad.calls[retry_call as usize].state == CallState::Ok;
            acc.push(CommandRetry { failed_call, retry_call, succeeded });
        }
    }
    acc
}

fn is_same_attempt(pad: &Scratchpad, failed: &LoggedCall, next: &LoggedCall) -> bool {
    if failed.tool != next.tool {
        return false;
    }
    if let (Some(a), Some(b)) = (failed.command, next.command) {
        return a == b
            || shell::command_head(pad.strings.text(a))
                == shell::command_head(pad.strings.text(b));
    }
    let files =
        |it: &LoggedCall| pad.touches_of_call(it).iter().map(|it| it.file).collect::<Vec<_>>();
    let (a, b) = (files(failed), files(next));
    a.iter().any(|it| b.contains(it))
}

/// Commands that ran three times or more, with their counts. Commands with the same `identity` are one.
pub fn repeated_commands(pad: &Scratchpad, identity: fn(&str) -> String) -> BTreeMap<String, u32> {
    let mut acc: BTreeMap<String, u32> = BTreeMap::new();
    for command in pad.calls.iter().filter_map(|it| it.command) {
        *acc.entry(identity(pad.strings.text(command))).or_insert(0) += 1;
    }
    acc.retain(|_, n| *n >= MIN_REPEATS);
    acc
}

/// Test commands that failed and later passed: the calls of the first failure and of the first pass after
/// it. Commands with the same `identity` are one.
pub fn fail_then_pass(pad: &Scratchpad, identity: fn(&str) -> String) -> Vec<(u32, u32)> {
    let mut failing: BTreeMap<String, u32> = BTreeMap::new();
    let mut acc = Vec::new();
    let tests = (0_u32..)
        .zip(&pad.calls)
        .filter(|it| it.1.tool == ToolKind::Shell && it.1.effects.has_any(CallEffects::RUNS_TEST));
    for (number, call) in tests {
        let Some(command) = call.command else { continue };
        let command = identity(pad.strings.text(command));
        // The first failure counts, so that the pair spans the whole repair.
        if call.has_failed() {
            failing.entry(command).or_insert(number);
        } else if call.has_succeeded() {
            acc.extend(failing.remove(&command).map(|it| (it, number)));
        }
    }
    acc
}
