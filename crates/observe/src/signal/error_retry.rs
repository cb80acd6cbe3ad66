//! The same error came again; what ended it is kept.

use std::collections::{HashMap, HashSet};

use model::{ProjectPath, SignalKind, ToolKind};

use crate::names::Name;

use crate::scratchpad::{Call, FailureAt};
use crate::sighting::{Evidence, Sighting, path};
use crate::{Modules, Scratchpad, shell};

/// Calls within which what ended an error is looked for.
const PATIENCE: usize = 40;
const MAX_FIXED: usize = 4;

/// The head of each command, worked out once.
type Heads = HashMap<Name, String>;

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &Modules) {
    let heads = if pad.failures.is_empty() { Heads::new() } else { heads_in(pad, &pad.calls) };
    let mut known: HashSet<&str> = HashSet::new();
    for failure in &pad.failures {
        // Of one error the first occurrence that was ended is told; the others only count.
        if known.contains(failure.fingerprint.as_str()) {
            count(acc, &failure.fingerprint);
            continue;
        }
        let call = &pad.calls[failure.call as usize];
        let Some(command) = call.command.filter(|_| call.tool == ToolKind::Shell) else {
            missing_file(acc, pad, failure, call);
            continue;
        };
        let end = what_ended(pad, &heads, failure.call, command);
        if end.is_some() {
            known.insert(&failure.fingerprint);
        }
        let number = end.as_ref().map_or(0, |it| u64::from(it.calls));
        let (worked, edited) = end.map(|it| (it.worked, it.edited)).unzip();
        let command = pad.names.text(command);
        let evidence = Evidence {
            command: Some(shell::essence(command)),
            message: Some(failure.shown.clone()),
            normalised: Some(failure.message.clone()),
            worked,
            files: edited.unwrap_or_default(),
            number,
            text: Some(failure.reply.clone()).filter(|it| !it.is_empty()),
            ..Evidence::default()
        };
        let key = failure.fingerprint.clone();
        acc.push(Sighting::new(SignalKind::ErrorRetry, key, evidence).at(pad, failure.order));
    }
}

fn count(acc: &mut [Sighting], key: &str) {
    if let Some(known) = acc.iter_mut().find(|it| it.key == key) {
        known.n += 1;
    }
}

fn heads_in(pad: &Scratchpad, calls: &[Call]) -> Heads {
    let mut acc = Heads::new();
    for command in calls.iter().filter_map(|it| it.command) {
        acc.entry(command).or_insert_with(|| shell::head(pad.names.text(command)));
    }
    acc
}

/// Calls from one that failed to the next of the same kind that succeeded; `None` when none did soon.
pub(crate) fn calls_until_ended(pad: &Scratchpad, failed: u32) -> Option<u32> {
    let from = failed as usize;
    let command = pad.calls[from].command?;
    let near = &pad.calls[from..pad.calls.len().min(from + 1 + PATIENCE)];
    what_ended(pad, &heads_in(pad, near), failed, command).map(|it| it.calls)
}

/// How an error ended.
struct End {
    worked: String,
    /// What was edited until then.
    edited: Vec<ProjectPath>,
    /// Calls it took, the last one included.
    calls: u32,
}

/// The next command of the same kind that succeeded.
fn what_ended(pad: &Scratchpad, heads: &Heads, failed: u32, command: Name) -> Option<End> {
    let head = heads.get(&command);
    let from = failed as usize + 1;
    let mut edited = Vec::new();
    for (calls, call) in (1..).zip(&pad.calls[from..pad.calls.len().min(from + PATIENCE)]) {
        if let Some(command) = call.command.filter(|it| call.is_good() && heads.get(it) == head) {
            let worked = shell::essence(pad.names.text(command));
            return Some(End { worked, edited, calls });
        }
        if call.is_good() && edited.len() < MAX_FIXED {
            let touched = pad.touches_of(call).iter().filter(|it| it.writes);
            for file in touched.filter_map(|it| path(pad, it.file)) {
                if !edited.contains(&file) {
                    edited.push(file);
                }
            }
        }
    }
    None
}

/// A file that was not where it was looked for, and where it was found.
fn missing_file(acc: &mut Vec<Sighting>, pad: &Scratchpad, failure: &FailureAt, call: &Call) {
    let absent = failure.message.contains("not exist") || failure.message.contains("no such file");
    let Some(wrong) = pad.touches_of(call).first().filter(|_| absent).map(|it| it.file) else {
        return;
    };
    let wrong_path = pad.names.text(wrong);
    let name = |it: &str| it.rsplit('/').next().unwrap_or(it).to_owned();
    let from = failure.call as usize + 1;
    let soon = pad.calls[from..pad.calls.len().min(from + 8)].iter().filter(|it| it.is_good());
    let right = soon
        .flat_map(|it| pad.touches_of(it))
        .map(|it| it.file)
        .find(|it| *it != wrong && name(pad.names.text(*it)) == name(wrong_path));
    if let (Some(wrong), Some(right)) = (path(pad, wrong), right.and_then(|it| path(pad, it))) {
        let key = format!("missing {wrong}");
        let evidence = Evidence { files: vec![wrong, right], ..Evidence::default() };
        acc.push(Sighting::new(SignalKind::ErrorRetry, key, evidence).at(pad, failure.order));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::ErrorRetry;

    #[test]
    fn an_error_keeps_what_ended_it() {
        check(
            ErrorRetry,
            "fail mise run lint: a.go:3:1: error: missing t.Parallel (paralleltest)\nsay The linter requires t.Parallel() in every test.\nedit a.go\nrun mise run lint 2>&1 | tail -3",
            expect![[r#"
                d8fff5f3b283d0f8 ×1 {"files":["a.go"],"command":"mise run lint","message":"error: missing t.Parallel (paralleltest)","normalised":"<path> error: missing t.parallel (paralleltest)","worked":"mise run lint","text":"The linter requires t.Parallel() in every test.","number":2}
            "#]],
        );
        check(
            ErrorRetry,
            "failread src/a.rs: File does not exist.\nread src/deep/a.rs",
            expect![[r#"
                missing src/a.rs ×1 {"files":["src/a.rs","src/deep/a.rs"]}
            "#]],
        );
    }

    #[test]
    fn no_match_and_no_errors_are_no_errors() {
        check(ErrorRetry, "fail grep x a.rs: Exit code 1\nrun make", expect![""]);
        check(ErrorRetry, "run make: 0 errors", expect![""]);
        check(ErrorRetry, "refuse a.rs", expect![""]);
    }
}
