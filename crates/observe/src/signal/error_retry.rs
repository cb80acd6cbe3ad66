//! Detects the signal `error_retry`: an error occurred. Its fix, if one is found, is part of the evidence.
//!
//! Input is the scratchpad, the log of one session, which has recognised the errors in the outputs. An error
//! becomes a sighting, whose key, by which sessions are compared, is the fingerprint: a hash of the message
//! without paths and numbers. There are two kinds of fix:
//! - What ended the failure of a command: another command, a step, an edit, a person's words. The failure
//!   episodes (`episode`) find it.
//! - The read of a missing file is fixed by the read of a file with the same name in another folder:
//!   `src/a.rs` does not exist, `src/deep/a.rs` is read. Its key is the missing path.

use crate::episode::{self, EpisodeEnding, FailureEpisode};
use crate::evidence::{CommandFix, Evidence};
use crate::pattern_key::PatternKey;
use crate::scratchpad::{ErrorOccurrence, LoggedCall};
use crate::sighting::{Sighting, to_path_pair};
use crate::strings::StringId;
use crate::{ModuleLookup, Scratchpad};

/// Calls after the read of a missing file within which the file must be found elsewhere.
const MOVED_FILE_WINDOW_CALLS: usize = 8;

pub(super) fn detect(acc: &mut Vec<Sighting>, pad: &Scratchpad, _: &ModuleLookup) {
    // Without an error, no command has to be parsed.
    if pad.errors.is_empty() {
        return;
    }
    // `Sighting::merge` counts the occurrences of an error and prefers the latest one with a fix.
    for found in episode::find_episodes(pad) {
        acc.push(sighting_of(pad, found));
    }
    for error in &pad.errors {
        let call = &pad.calls[error.call as usize];
        // Of the errors of other tools, only a missing file has a fix that can be seen.
        if call.command.is_none() {
            detect_moved_file(acc, pad, error, call);
        }
    }
}

fn sighting_of(pad: &Scratchpad, found: FailureEpisode<'_>) -> Sighting {
    let FailureEpisode { error, command, preceding, ending } = found;
    // The latest text that the evidence quotes decides whether it is tainted: an error that occurred
    // before external text was read can be explained and fixed by that text.
    let fixed_at =
        ending.as_ref().and_then(|it| pad.calls.get(it.call as usize)).map(|it| it.order);
    let order = error.order.max(error.explained_at).max(fixed_at.unwrap_or(0));
    let evidence = Evidence::ErrorRetry {
        command,
        message: error.display_line.clone(),
        normalised_message: Some(error.normalised_message.clone()),
        explanation: Some(error.explanation.clone()).filter(|it| !it.is_empty()),
        preceding,
        error_kind: Some(error.kind),
        fix: ending.map(|it| to_fix(error, it)),
    };
    Sighting::new(PatternKey::error(&error.fingerprint), evidence).seen_at(pad, order)
}

fn to_fix(error: &ErrorOccurrence, ending: EpisodeEnding) -> CommandFix {
    CommandFix {
        kind: Some(ending.kind),
        n_calls: u64::from(ending.call.saturating_sub(error.call)),
        command: ending.command,
        steps: ending.steps,
        edited_files: ending.edited_files,
        names: ending.names,
        remedy: ending.remedy,
    }
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
                7af8a3f07a5d7ca4 ×1 {"files":["a.go"],"command":"mise run lint","message":"error: missing t.Parallel (paralleltest)","normalised":"error: missing t.parallel (paralleltest)","worked":"mise run lint","text":"The linter requires t.Parallel() in every test.","number":2,"ending":"edit","error_kind":"lint_rule"}
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
        let other_work = "read a.rs\n".repeat(40);
        check(
            ErrorRetry,
            &format!("{failure}{other_work}{failure}run V=1 make"),
            expect![[r#"
                1693358535c6fd3b ×2 {"command":"make","message":"error: no rule to make `all`","normalised":"error: no rule to make 'all'","worked":"V=1 make","number":1,"ending":"other_command","error_kind":"other"}
            "#]],
        );
        // A fix that was found is not replaced by a later occurrence without one.
        check(
            ErrorRetry,
            &format!("{failure}run V=1 make\n{failure}read a.rs"),
            expect![[r#"
                1693358535c6fd3b ×2 {"command":"make","message":"error: no rule to make `all`","normalised":"error: no rule to make 'all'","worked":"V=1 make","number":1,"ending":"other_command","error_kind":"other"}
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
