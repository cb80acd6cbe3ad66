//! Words the rule of a linter that sessions break again and again.
//!
//! The rule is the lesson: code that keeps to it passes. If sessions silenced it with a comment instead, the
//! note says so, because that is what the project accepts.

use super::phrases::{names_word, session_count};
use super::{FixDescription, FixedError, quote_paths};
use crate::error_line::ErrorKind;

/// Words of comments that switch a rule off.
const DIRECTIVE_WORDS: &[&str] = &["nolint", "noqa", "disable", "ignore", "allow", "suppress"];

/// Parts of the names of rules about what half-done work leaves behind. They say nothing to a later session.
const LEFTOVER_RULES: &[&str] = &["unused", "undef", "unresolved", "dead_code"];

/// The rule that an edit ended the breach of; `None` if the message names none, or only one session met it.
pub(super) fn describe_rule(
    error: &FixedError<'_>,
    n_sessions: u32,
    all: &[FixedError<'_>],
) -> Option<FixDescription> {
    // Rows of early versions have no kind.
    let is_lint = matches!(error.error_kind, Some(ErrorKind::LintRule) | None);
    let (finding, rule) = split_lint_rule(error.message).filter(|_| n_sessions >= 2 && is_lint)?;
    if LEFTOVER_RULES.iter().any(|it| rule.contains(it)) {
        return None;
    }
    let command = error.shown_command();
    let silenced: Vec<&FixedError<'_>> = all.iter().filter(|it| silences(it, rule)).collect();
    let missed: Vec<&String> =
        error.fix.names.iter().filter(|it| names_word(finding, it)).collect();
    let mut files = error.fix.edited_files.clone();
    let resolution = match silenced.first() {
        // Most sessions silenced it: then that is how it is handled here.
        Some(latest) if silenced.len() * 2 > all.len() => {
            files.clone_from(&latest.fix.edited_files);
            let place = quote_paths(&files);
            format!("It was silenced by a comment that names `{rule}`, as in {place}.")
        }
        _ => format!("{}.", error.place_of_edit(&missed)),
    };
    let (finding, sessions) = (without_line_numbers(finding), session_count(n_sessions));
    let content =
        format!("Keep to the rule `{rule}` of `{command}`: “{finding}”{sessions}. {resolution}");
    let resolution = format!("Keep to the rule `{rule}`. {resolution}");
    Some(FixDescription { content, resolution, files, is_confirmed: false })
}

/// Returns whether the edit added a comment that switches a rule off: its text names the rule, which is split
/// into words if it has hyphens.
fn silences(error: &FixedError<'_>, rule: &str) -> bool {
    let last = rule.rsplit('/').next().unwrap_or(rule);
    let has = |name: &str| error.fix.names.iter().any(|it| it == name);
    let has_directive = DIRECTIVE_WORDS.iter().any(|it| has(it));
    let mut words = last.split('-').filter(|it| it.len() > 2).peekable();
    let names_words = last.contains('-') && words.peek().is_some() && words.all(has);
    has(last) || (has_directive && names_words)
}

/// A finding without the lines it names: `error is not nil (line 12)` becomes `error is not nil`.
fn without_line_numbers(finding: &str) -> String {
    let mut acc = finding.to_owned();
    while let Some(start) = acc.find(" (line ") {
        let Some(length) = acc[start..].find(')') else { break };
        acc.replace_range(start..=start + length, "");
    }
    acc
}

/// The finding and the rule of a linter's message: `… (nilerr)`, `… [no-unused-vars]`.
fn split_lint_rule(message: &str) -> Option<(&str, &str)> {
    let end = message.trim_end_matches(['.', ' ']);
    let (finding, rule) = [('(', ')'), ('[', ']')].iter().find_map(|(open, close)| {
        let inner = end.strip_suffix(*close)?;
        inner.rsplit_once(*open)
    })?;
    let is_rule_byte = |it: u8| {
        it.is_ascii_lowercase() || it.is_ascii_digit() || matches!(it, b'-' | b'_' | b'/' | b'@')
    };
    let is_rule = rule.len() > 2 && rule.bytes().all(is_rule_byte);
    let finding = finding.trim();
    (is_rule && !finding.is_empty()).then_some((finding, rule))
}
