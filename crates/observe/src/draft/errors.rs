//! Drafts about errors: the command, the message and the fix.
//!
//! The input is the sightings of one error, one per session, whose evidence has the failed command, the
//! message, and the fix if there was one: the next command of the same program and subcommand that
//! succeeded, with the files edited before it. An error is worth a memory only with a fix that another agent
//! can repeat. There are two kinds:
//! - a variant of the command that worked: `gh pr diff --stat` → `gh pr diff --name-only`;
//! - an explanation by the agent, together with the files it then edited.

use model::{ErrorPattern, MemoryKind, Payload, ProjectPath};

use super::{MemoryDraft, SessionSighting, quote_paths};
use crate::error_line::is_generic_message;
use crate::evidence::{CommandFix, Evidence};
use crate::statements;

/// The longest command that is recommended as a fix, in bytes.
const MAX_FIX_BYTES: usize = 120;
/// Words that a fix may add to the failed command; with more, the two have little in common.
const MAX_ADDED_WORDS: usize = 3;
/// Words that both commands must share: the program and the subcommand.
const MIN_SHARED_WORDS: usize = 2;
/// Share of an explanation's words that are in the message, in per cent. From here on it adds nothing.
const REPEATED_PERCENT: usize = 60;
/// The longest list marker, in bytes: `12. **`.
const MAX_LIST_MARKER_BYTES: usize = 6;

/// An error with its fix; `None` while no fix is known that can be described.
pub(super) fn draft_fixed_error(
    fingerprint: &str,
    seen: &[SessionSighting],
) -> Option<MemoryDraft> {
    let Evidence::ErrorRetry { command, message, normalised_message, .. } = &seen.last()?.evidence
    else {
        return None;
    };
    // The newest session gives the error, any session may give the fix.
    let (resolution, files) = describe_fix(seen)?;
    let content = format!("`{command}` fails with “{message}”. {resolution}");
    let payload = Payload::ErrorPattern(ErrorPattern {
        fingerprint: fingerprint.to_owned(),
        tool: "shell".to_owned(),
        message: normalised_message.clone().unwrap_or_else(|| message.clone()),
        resolution: Some(resolution),
    });
    let draft = MemoryDraft::new(MemoryKind::ErrorPattern, content);
    Some(draft.with_files(files).with_payload(payload))
}

/// An error that was fixed in its session.
struct FixedError<'a> {
    command: &'a str,
    message: &'a str,
    explanation: Option<&'a str>,
    fix: &'a CommandFix,
}

/// Describes the fix of the latest session that has one, with the files it edited.
fn describe_fix(seen: &[SessionSighting]) -> Option<(String, Vec<ProjectPath>)> {
    let mut fixed_by_command: Vec<FixedError<'_>> = Vec::new();
    let mut fixed_by_edit: Vec<FixedError<'_>> = Vec::new();
    // The latest session first.
    for sighting in seen.iter().rev() {
        // A session without a fix cannot describe one.
        let Evidence::ErrorRetry { command, message, explanation, fix: Some(fix), .. } =
            &sighting.evidence
        else {
            continue;
        };
        let error = FixedError { command, message, explanation: explanation.as_deref(), fix };
        if fix.edited_files.is_empty() {
            fixed_by_command.push(error);
        } else {
            fixed_by_edit.push(error);
        }
    }
    // A variant of the command that succeeded without an edit is the clearest fix.
    for FixedError { command, fix, .. } in fixed_by_command {
        if is_command_variant(command, &fix.command) {
            return Some((format!("What worked: `{}`.", fix.command), Vec::new()));
        }
    }
    // Otherwise the agent's explanation, if an edit then fixed the error. A generic message does not show
    // which error was explained.
    for FixedError { message, explanation, fix, .. } in fixed_by_edit {
        let Some(reason) = explanation.map(strip_list_marker) else { continue };
        if explains_error(reason, message) && !is_generic_message(message) {
            let (reason, files) = (end_sentence(reason), quote_paths(&fix.edited_files));
            return Some((format!("{reason} It was fixed in {files}."), fix.edited_files.clone()));
        }
    }
    None
}

/// Returns whether two commands differ only in options and paths: then these are the fix. So
/// `gh pr diff 104 --name-only` is a variant of `gh pr diff 104 --stat`.
fn is_command_variant(failed: &str, fixed: &str) -> bool {
    let failed_words: Vec<&str> = failed.split(' ').collect();
    let fixed_words: Vec<&str> = fixed.split(' ').collect();
    let is_option_or_path = |it: &&str| it.starts_with('-') || it.contains(['/', '.']);
    let removed: Vec<&&str> = failed_words.iter().filter(|it| !fixed_words.contains(it)).collect();
    let added: Vec<&&str> = fixed_words.iter().filter(|it| !failed_words.contains(it)).collect();
    // `mise run fmt` after `mise run lint` is another task.
    let is_same_task = removed.iter().all(|it| is_option_or_path(it));
    // `make` that fails and then succeeds does not show what fixed it.
    let has_new_option = added.iter().any(|it| is_option_or_path(it));
    let n_shared = failed_words.len() - removed.len();
    let is_similar = added.len() <= MAX_ADDED_WORDS && n_shared >= MIN_SHARED_WORDS;
    // `a | b`, `a; b` and `a && b` are several commands.
    let is_one_command = !fixed.contains(['|', ';']) && !fixed.contains("&&");
    // A path of one machine is wrong on others.
    let has_local_path = ["/Users/", "/home/", "/tmp/"].iter().any(|it| fixed.contains(it));
    is_same_task
        && has_new_option
        && is_similar
        && is_one_command
        && !has_local_path
        && fixed.len() <= MAX_FIX_BYTES
}

/// A sentence without the number or dash of a list before it: `2. **The …` becomes `The …`.
fn strip_list_marker(text: &str) -> &str {
    let bare = text.trim_start_matches(|it: char| {
        it.is_ascii_digit() || matches!(it, '.' | '-' | ' ' | '*' | ')')
    });
    // More than a few bytes are not a marker.
    if text.len() - bare.len() <= MAX_LIST_MARKER_BYTES { bare } else { text }
}

/// Returns whether a sentence gives the reason of an error, and is neither a plan nor a repetition of the
/// message.
fn explains_error(sentence: &str, message: &str) -> bool {
    const PLAN_OPENINGS: &[&str] = &[
        "let me",
        "i'll",
        "i need",
        "now ",
        "good",
        "great",
        "i see",
        "looking",
        "i was",
        "there ",
        "these ",
        "the test is",
        "the tests are",
        "i ",
        "we ",
    ];
    let lower = sentence.to_ascii_lowercase();
    if PLAN_OPENINGS.iter().any(|it| lower.starts_with(it)) {
        return false;
    }
    // A question, or the introduction of a list.
    if sentence.ends_with([':', '?']) {
        return false;
    }
    // Words of up to three bytes are articles and prepositions.
    let words: Vec<&str> = lower.split_whitespace().filter(|it| it.len() > 3).collect();
    let message = message.to_ascii_lowercase();
    let n_repeated = words.iter().filter(|it| message.contains(**it)).count();
    if n_repeated * 100 >= words.len() * REPEATED_PERCENT {
        return false;
    }
    // It must be clear without the sentences around it.
    statements::extract_fact(sentence).is_some()
}

fn end_sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!']) { text.to_owned() } else { format!("{text}.") }
}

/// The right path of a file that was looked for in the wrong place.
pub(super) fn draft_moved_file(seen: &[SessionSighting]) -> Option<MemoryDraft> {
    let Evidence::MovedFile { wrong, right } = &seen.last()?.evidence else { return None };
    let content = format!("There is no `{wrong}`; the file is `{right}`.");
    Some(MemoryDraft::new(MemoryKind::Gotcha, content).with_files(vec![right.clone()]))
}

/// A command that runs long and then fails.
pub(super) fn draft_slow_command(seen: &[SessionSighting]) -> Option<MemoryDraft> {
    let Evidence::TimeAnomaly { command, seconds } = &seen.last()?.evidence else { return None };
    let minutes = seconds.div_ceil(60);
    let content = format!(
        "`{command}` runs for about {minutes} minutes before it fails; run it with a time limit, or a part of it first."
    );
    Some(MemoryDraft::new(MemoryKind::Gotcha, content))
}
