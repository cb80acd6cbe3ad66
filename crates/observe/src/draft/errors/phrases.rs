//! Parts of sentences about errors: counts of sessions, commands that can be repeated, explanations.

use super::MAX_FIX_BYTES;
use crate::statements;

/// From so many sessions on, the number in a draft is rounded down to tens: a memory is reworded whenever
/// its draft changes.
const MIN_ROUNDED_SESSIONS: u32 = 10;
/// Share of an explanation's words that are in the message, in per cent. From here on it adds nothing.
const REPEATED_PERCENT: usize = 60;
/// The longest list marker, in bytes: `12. **`.
const MAX_LIST_MARKER_BYTES: usize = 6;

/// The number of sessions in brackets, if there are several.
pub(super) fn session_count(n_sessions: u32) -> String {
    if n_sessions < 2 { String::new() } else { format!(" ({})", count_label(n_sessions)) }
}

/// The number of sessions after a comma, if there are several.
pub(super) fn listed_count(n_sessions: u32) -> String {
    if n_sessions < 2 { String::new() } else { format!(", {}", count_label(n_sessions)) }
}

pub(super) fn count_label(n_sessions: u32) -> String {
    match n_sessions {
        it if it < MIN_ROUNDED_SESSIONS => format!("{it} sessions"),
        it => format!("{}+ sessions", it - it % MIN_ROUNDED_SESSIONS),
    }
}

pub(super) fn has_local_path(command: &str) -> bool {
    ["/Users/", "/home/", "/tmp/", "/var/", "C:\\"].iter().any(|it| command.contains(it))
}

/// A command that can be run elsewhere: short enough to be whole, without paths of one machine.
pub(super) fn repeatable(command: &str) -> Option<&str> {
    let is_whole =
        command.len() <= MAX_FIX_BYTES && !command.ends_with('…') && !command.contains('\n');
    (is_whole && !has_local_path(command) && !command.is_empty()).then_some(command)
}

/// Returns whether a message contains a name as a whole word.
pub(super) fn names_word(message: &str, name: &str) -> bool {
    let is_part = |it: char| it.is_alphanumeric() || it == '_';
    message.match_indices(name).any(|(start, _)| {
        !message[..start].ends_with(is_part) && !message[start + name.len()..].starts_with(is_part)
    })
}

pub(super) fn capitalise(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |it| it.to_uppercase().chain(chars).collect())
}

/// A sentence without the number or dash of a list before it: `2. **The …` becomes `The …`.
pub(super) fn strip_list_marker(text: &str) -> &str {
    let bare = text.trim_start_matches(|it: char| {
        it.is_ascii_digit() || matches!(it, '.' | '-' | ' ' | '*' | ')')
    });
    // More than a few bytes are not a marker.
    if text.len() - bare.len() <= MAX_LIST_MARKER_BYTES { bare } else { text }
}

/// Returns whether a sentence gives the reason of an error, and is neither a plan nor a repetition of the
/// message.
pub(super) fn explains_error(sentence: &str, message: &str) -> bool {
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

pub(super) fn end_sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!']) { text.to_owned() } else { format!("{text}.") }
}
