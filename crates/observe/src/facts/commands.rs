//! Facts about commands: retried, repeated, failing and then passing.

use std::collections::BTreeMap;

use model::ToolKind;

use crate::scratchpad::{Call, Does, State};
use crate::{Scratchpad, shell};

/// Calls within which another try counts as a retry.
const SOON: usize = 6;
/// A command that is run this often is repeated.
const REPEATED: u32 = 3;

/// A call that failed and was tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    pub failed: u32,
    pub again: u32,
    pub fixed: bool,
}

/// Failed calls that were soon tried again: the same program and subcommand, or the same file.
pub fn retries(pad: &Scratchpad) -> Vec<Retry> {
    let mut acc = Vec::new();
    for (number, call) in (0_u32..).zip(&pad.calls).filter(|it| it.1.state == State::Failed) {
        let from = number as usize + 1;
        let next = &pad.calls[from..pad.calls.len().min(from + SOON)];
        if let Some(at) = next.iter().position(|it| is_same_try(pad, call, it)) {
            let again = number + 1 + u32::try_from(at).unwrap_or(0);
            let fixed = pad.calls[again as usize].state == State::Ok;
            acc.push(Retry { failed: number, again, fixed });
        }
    }
    acc
}

fn is_same_try(pad: &Scratchpad, failed: &Call, next: &Call) -> bool {
    if failed.tool != next.tool {
        return false;
    }
    if let (Some(a), Some(b)) = (failed.command, next.command) {
        return a == b || shell::head(pad.names.text(a)) == shell::head(pad.names.text(b));
    }
    let files = |it: &Call| pad.touches_of(it).iter().map(|it| it.file).collect::<Vec<_>>();
    let (a, b) = (files(failed), files(next));
    a.iter().any(|it| b.contains(it))
}

/// Commands run three times or more, with how often; `identity` says which commands are one.
pub fn repeated_commands(pad: &Scratchpad, identity: fn(&str) -> String) -> BTreeMap<String, u32> {
    let mut acc: BTreeMap<String, u32> = BTreeMap::new();
    for command in pad.calls.iter().filter_map(|it| it.command) {
        *acc.entry(identity(pad.names.text(command))).or_insert(0) += 1;
    }
    acc.retain(|_, n| *n >= REPEATED);
    acc
}

/// Test commands that failed and later passed: the first that failed, the first that passed after
/// it; `identity` says which commands are one.
pub fn fail_then_pass(pad: &Scratchpad, identity: fn(&str) -> String) -> Vec<(u32, u32)> {
    let mut failing: BTreeMap<String, u32> = BTreeMap::new();
    let mut acc = Vec::new();
    let tests = (0_u32..)
        .zip(&pad.calls)
        .filter(|it| it.1.tool == ToolKind::Shell && it.1.does.any(Does::TEST));
    for (number, call) in tests {
        let Some(command) = call.command else { continue };
        let head = identity(pad.names.text(command));
        if call.is_bad() {
            failing.entry(head).or_insert(number);
        } else if call.is_good() {
            acc.extend(failing.remove(&head).map(|it| (it, number)));
        }
    }
    acc
}
