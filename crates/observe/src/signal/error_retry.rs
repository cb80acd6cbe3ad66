//! Detects the signal `error_retry`: an error occurred. Its fix, if one is found, is part of the evidence.
//!
//! Input is the scratchpad, the log of one session, which has recognised the errors in the outputs. An error
//! becomes a sighting, whose key, by which sessions are compared, is the fingerprint: a hash of the message
//! without paths and numbers. There are two kinds of fix:
//! - A failed command is fixed by the next command with the same head (program and subcommand) that
//!   succeeded: `gh pr diff --stat` fails, `gh pr diff --name-only` succeeds.
//! - The read of a missing file is fixed by the read of a file with the same name in another folder:
//!   `src/a.rs` does not exist, `src/deep/a.rs` is read. Its key is the missing path.

use std::collections::{HashMap, HashSet};

use model::ToolKind;

use crate::evidence::{CommandFix, Evidence};
use crate::pattern_key::PatternKey;
use crate::scratchpad::{ErrorOccurrence, LoggedCall};
use crate::sighting::{Sighting, to_path, to_path_pair};
use crate::strings::StringId;
use crate::{ModuleLookup, Scratchpad, shell};

/// Calls after an error within which its fix is searched.
const FIX_WINDOW_CALLS: usize = 40;
/// Calls after the read of a missing file within which the file must be found elsewhere.
const MOVED_FILE_WINDOW_CALLS: usize = 8;
/// Files edited before the fix that are recorded.
const MAX_EDITED_FILES: usize = 4;

/// The head (program and subcommand) of each command line, computed once.
type CommandHeads = HashMap<StringId, String>;

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &ModuleLookup) {
    // Without an error, no command has to be parsed.
    if pad.errors.is_empty() {
        return;
    }
    let heads = heads_of_calls(pad, &pad.calls);
    let mut fixed_fingerprints: HashSet<&str> = HashSet::new();
    for error in &pad.errors {
        // After an occurrence with a fix, later ones are only counted. An occurrence without a fix is added
        // again and again, until one has a fix; `Sighting::merge` then prefers that one.
        if fixed_fingerprints.contains(error.fingerprint.as_str()) {
            count_repeat(acc, &PatternKey::error(&error.fingerprint));
            continue;
        }
        let call = &pad.calls[error.call as usize];
        let command = match call.command {
            Some(command) if call.tool == ToolKind::Shell => command,
            // Of the errors of other tools, only a missing file has a fix that can be seen.
            _ => {
                detect_moved_file(acc, pad, error, call);
                continue;
            }
        };
        let fix = find_fix(pad, &heads, error.call, command);
        if fix.is_some() {
            fixed_fingerprints.insert(&error.fingerprint);
        }
        // The latest text that the evidence quotes decides whether it is tainted: an error that occurred
        // before external text was read can be explained and fixed by that text.
        let fixed_at = fix.as_ref().and_then(|it| {
            let call = error.call as usize + usize::try_from(it.n_calls).ok()?;
            pad.calls.get(call).map(|it| it.order)
        });
        let order = error.order.max(error.explained_at).max(fixed_at.unwrap_or(0));
        let evidence = Evidence::ErrorRetry {
            command: shell::essential_command(pad.strings.text(command)),
            message: error.display_line.clone(),
            normalised_message: Some(error.normalised_message.clone()),
            explanation: Some(error.explanation.clone()).filter(|it| !it.is_empty()),
            fix,
        };
        let key = PatternKey::error(&error.fingerprint);
        acc.push(Sighting::new(key, evidence).seen_at(pad, order));
    }
}

/// Counts another occurrence of a pattern whose evidence is complete.
fn count_repeat(acc: &mut [Sighting], key: &PatternKey) {
    if let Some(known) = acc.iter_mut().find(|it| it.key == *key) {
        known.occurrences += 1;
    }
}

/// The heads of the commands of these calls.
fn heads_of_calls(pad: &Scratchpad, calls: &[LoggedCall]) -> CommandHeads {
    let mut acc = CommandHeads::new();
    for command in calls.iter().filter_map(|it| it.command) {
        acc.entry(command).or_insert_with(|| shell::command_head(pad.strings.text(command)));
    }
    acc
}

/// Calls from a failed one to the next with the same program and subcommand that succeeded; `None` if none
/// did soon.
pub(crate) fn calls_until_fixed(pad: &Scratchpad, failed: u32) -> Option<u32> {
    let first = failed as usize;
    let command = pad.calls[first].command?;
    let window = &pad.calls[first..pad.calls.len().min(first + 1 + FIX_WINDOW_CALLS)];
    let fix = find_fix(pad, &heads_of_calls(pad, window), failed, command)?;
    u32::try_from(fix.n_calls).ok()
}

/// The next command with the same head that succeeded, and the files edited before it.
fn find_fix(
    pad: &Scratchpad,
    heads: &CommandHeads,
    failed: u32,
    command: StringId,
) -> Option<CommandFix> {
    let head = heads.get(&command);
    let later_calls = &pad.calls[failed as usize + 1..];
    let mut edited_files = Vec::new();
    for (n_calls, call) in (1..).zip(later_calls.iter().take(FIX_WINDOW_CALLS)) {
        // Another failure neither fixes the error nor edits a file.
        if !call.has_succeeded() {
            continue;
        }
        if let Some(command) = call.command
            && heads.get(&command) == head
        {
            let command = shell::essential_command(pad.strings.text(command));
            return Some(CommandFix { command, edited_files, n_calls });
        }
        // Files that were edited until the fix are likely what fixed it.
        if edited_files.len() < MAX_EDITED_FILES {
            let written = pad.touches_of_call(call).iter().filter(|it| it.is_write);
            for file in written.filter_map(|it| to_path(pad, it.file)) {
                if !edited_files.contains(&file) {
                    edited_files.push(file);
                }
            }
        }
    }
    None
}

/// Detects a file that was looked for in the wrong place and found in another one soon after.
fn detect_moved_file(
    acc: &mut Vec<Sighting>,
    pad: &Scratchpad,
    error: &ErrorOccurrence,
    call: &LoggedCall,
) {
    let message = &error.normalised_message;
    let is_missing = message.contains("not exist") || message.contains("no such file");
    if !is_missing {
        return;
    }
    // The call itself must name the file; a missing file of another kind cannot be compared.
    let Some(wrong) = pad.touches_of_call(call).first().map(|it| it.file) else { return };
    let Some(right) = find_same_name(pad, error.call, wrong) else { return };
    let Some((wrong, right)) = to_path_pair(pad, wrong, right) else { return };
    let key = PatternKey::missing_file(&wrong);
    let evidence = Evidence::MovedFile { wrong, right };
    acc.push(Sighting::new(key, evidence).seen_at(pad, error.order));
}

/// The first file with the same name in another folder that was touched soon after a call.
fn find_same_name(pad: &Scratchpad, call: u32, file: StringId) -> Option<StringId> {
    let file_name = |it: StringId| pad.strings.text(it).rsplit('/').next().unwrap_or_default();
    let later_calls = &pad.calls[call as usize + 1..];
    for later in later_calls.iter().take(MOVED_FILE_WINDOW_CALLS).filter(|it| it.has_succeeded()) {
        for touch in pad.touches_of_call(later) {
            if touch.file != file && file_name(touch.file) == file_name(file) {
                return Some(touch.file);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    //! `check` takes a session as a script, one event per line (notation: `test_script`), and the expected
    //! sightings, one per line: `KEY ×OCCURRENCES [tainted] EVIDENCE`, the evidence as stored JSON.

    use super::super::testing::check;
    use expect_test::expect;
    use model::SignalKind::ErrorRetry;

    #[test]
    fn an_error_is_recorded_with_its_fix() {
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
    fn an_error_fixed_only_at_its_second_occurrence_is_recorded_with_the_fix() {
        let failure = "fail make: error: no rule to make `all`\n";
        // More calls than the fix of the first occurrence is searched in.
        let other_work = "read a.rs\n".repeat(super::FIX_WINDOW_CALLS);
        check(
            ErrorRetry,
            &format!("{failure}{other_work}{failure}run make -k"),
            expect![[r#"
                6236a22c1dd655a8 ×2 {"command":"make","message":"error: no rule to make `all`","normalised":"error: no rule to make 'all'","worked":"make -k","number":1}
            "#]],
        );
        // A fix that was found is not replaced by a later occurrence without one.
        check(
            ErrorRetry,
            &format!("{failure}run make -k\n{failure}read a.rs"),
            expect![[r#"
                6236a22c1dd655a8 ×2 {"command":"make","message":"error: no rule to make `all`","normalised":"error: no rule to make 'all'","worked":"make -k","number":1}
            "#]],
        );
    }

    #[test]
    fn output_without_an_error_is_no_error() {
        check(ErrorRetry, "fail grep x a.rs: Exit code 1\nrun make", expect![""]);
        check(ErrorRetry, "run make: 0 errors", expect![""]);
        check(ErrorRetry, "refuse a.rs", expect![""]);
    }
}
