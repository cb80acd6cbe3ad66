//! Drafts about errors: the command, the message and the fix.

use model::{ErrorPattern, MemoryKind, Payload, ProjectPath};

use super::{MemoryDraft, SessionSighting, quote_paths};
use crate::evidence::Evidence;
use crate::fingerprint::is_generic_message;
use crate::statements;

/// The longest command that is recommended as a fix, in bytes.
const MAX_FIX_BYTES: usize = 120;

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

/// Describes the fix of the latest session that has one, with the files it edited.
fn describe_fix(seen: &[SessionSighting]) -> Option<(String, Vec<ProjectPath>)> {
    let fixed_errors = || {
        seen.iter().rev().filter_map(|it| match &it.evidence {
            Evidence::ErrorRetry { command, message, explanation, fix, .. } => {
                Some((command, message, explanation.as_deref(), fix.as_ref()?))
            }
            _ => None,
        })
    };
    // A variant of the command that succeeded without an edit is the clearest fix.
    for (failed, _, _, fix) in fixed_errors().filter(|it| it.3.edited_files.is_empty()) {
        if is_command_variant(failed, &fix.command) {
            return Some((format!("What worked: `{}`.", fix.command), Vec::new()));
        }
    }
    // Otherwise the agent's explanation, if an edit then fixed the error.
    for (_, message, explanation, fix) in fixed_errors().filter(|it| !it.3.edited_files.is_empty())
    {
        if is_generic_message(message) {
            continue;
        }
        let reason = explanation.map(strip_list_marker).filter(|it| explains_error(it, message));
        if let Some(reason) = reason {
            let (reason, files) = (end_sentence(reason), quote_paths(&fix.edited_files));
            return Some((format!("{reason} It was fixed in {files}."), fix.edited_files.clone()));
        }
    }
    None
}

/// Returns whether two commands differ only in options and paths: then these are the fix.
fn is_command_variant(failed: &str, fixed: &str) -> bool {
    let (a, b): (Vec<&str>, Vec<&str>) = (failed.split(' ').collect(), fixed.split(' ').collect());
    let is_variable = |it: &&str| it.starts_with('-') || it.contains(['/', '.']);
    let removed: Vec<&str> = a.iter().copied().filter(|it| !b.contains(it)).collect();
    let added: Vec<&str> = b.iter().copied().filter(|it| !a.contains(it)).collect();
    removed.iter().all(is_variable)
        && added.iter().any(is_variable)
        && added.len() <= 3
        // Program and subcommand stay.
        && a.len() - removed.len() >= 2
        && fixed.len() <= MAX_FIX_BYTES
        && !fixed.contains(['|', ';'])
        // A path of one machine is wrong on others.
        && !["/Users/", "/home/", "/tmp/", "&&"].iter().any(|it| fixed.contains(it))
}

/// A sentence without the number or dash of a list before it.
fn strip_list_marker(text: &str) -> &str {
    let bare = text.trim_start_matches(|it: char| {
        it.is_ascii_digit() || matches!(it, '.' | '-' | ' ' | '*' | ')')
    });
    // More than a few characters is not a marker.
    if bare.len() + 6 >= text.len() { bare } else { text }
}

/// Returns whether a sentence says why an error occurs, and not only what the agent will do next or what
/// the message says already.
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
    let words: Vec<&str> = lower.split_whitespace().filter(|it| it.len() > 3).collect();
    let message = message.to_ascii_lowercase();
    let n_repeated = words.iter().filter(|it| message.contains(**it)).count();
    // A sentence of which most words are in the message adds nothing.
    !PLAN_OPENINGS.iter().any(|it| lower.starts_with(it))
        && !sentence.ends_with([':', '?'])
        && n_repeated * 10 < words.len() * 6
        && statements::extract_fact(sentence).is_some()
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
