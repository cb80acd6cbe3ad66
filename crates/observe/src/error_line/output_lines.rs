//! The lines of an output, without what runners and terminals add to them.
//!
//! Escape sequences go, progress bars keep their last state, and prefixes that a runner puts before the lines
//! of the tool it runs (`[lint] `, `web-1  | `, `┃  `) go, so that a family sees what its tool printed.

use std::borrow::Cow;

/// Lines of an output that are searched.
const MAX_SEARCHED_LINES: usize = 300;
/// The longest name before a bracket or bar that can be the name of a task, in bytes.
const MAX_TASK_NAME_BYTES: usize = 40;

/// Words in brackets that are a level of the message, not the name of a task.
const LEVELS: &[&str] = &[
    "error",
    "warn",
    "warning",
    "info",
    "debug",
    "fatal",
    "notice",
    "rejected",
    "remote rejected",
];

/// An output as text and as lines. The text decides quickly if a family can have printed it.
pub(super) struct OutputLines<'a> {
    pub(super) text: &'a str,
    pub(super) lines: Vec<&'a str>,
}

impl<'a> OutputLines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let lines = text.lines().take(MAX_SEARCHED_LINES).map(strip_runner_prefix).collect();
        Self { text, lines }
    }

    pub(super) fn contains_any(&self, marks: &[&str]) -> bool {
        marks.iter().any(|it| self.text.contains(it))
    }

    /// The number of the first line that a predicate accepts.
    pub(super) fn position(&self, accepts: impl Fn(&str) -> bool) -> Option<usize> {
        self.lines.iter().position(|it| accepts(it))
    }

    /// The lines from a number on that are not blank, without white space around them.
    pub(super) fn filled_from(&self, number: usize) -> impl Iterator<Item = &'a str> + Clone {
        let rest = self.lines.get(number..).unwrap_or_default();
        rest.iter().map(|it| it.trim()).filter(|it| !it.is_empty())
    }
}

/// Removes escape sequences of terminals (ECMA-48 CSI and OSC).
pub(super) fn strip_escapes(output: &str) -> Cow<'_, str> {
    if !output.contains('\u{1b}') {
        return Cow::Borrowed(output);
    }
    let mut acc = String::with_capacity(output.len());
    let mut rest = output;
    while let Some(start) = rest.find('\u{1b}') {
        acc.push_str(&rest[..start]);
        rest = &rest[start + 1..];
        let end = match rest.as_bytes().first() {
            Some(b'[') => rest.find(|it: char| it.is_ascii_alphabetic() || it == '~'),
            Some(b']') => rest.find('\u{7}'),
            _ => None,
        };
        // A sequence that does not end is left as it is.
        rest = end.and_then(|it| rest.get(it + 1..)).unwrap_or(rest);
    }
    Cow::Owned(acc + rest)
}

/// The line as the tool printed it, with its indentation.
fn strip_runner_prefix(line: &str) -> &str {
    let line = line.trim_end();
    // A progress bar overwrites its line.
    let line = line.rsplit('\r').next().unwrap_or(line);
    let line = line.trim_start_matches("<tool_use_error>").trim_end_matches("</tool_use_error>");
    // `┃  ` of lefthook, `│ ` of task trees.
    let line = match line.trim_start_matches(['┃', '│']) {
        // The right side of a box.
        inner if inner.len() < line.len() => inner.trim_end_matches(['┃', '│']).trim_end(),
        inner => inner,
    };
    if let Some((name, message)) = line.strip_prefix('[').and_then(|it| it.split_once(']'))
        && is_task_name(name)
        && let Some(message) = message.strip_prefix(": ").or_else(|| message.strip_prefix(' '))
    {
        return message;
    }
    // `web-1  | ` of docker compose, ` 3 | ` is quoted source.
    if let Some((name, message)) = line.split_once(" | ")
        && is_task_name(name.trim_end())
        && name.starts_with(char::is_alphabetic)
    {
        return message;
    }
    // `web:test: ` of turbo.
    if let Some((name, message)) = line.split_once(": ")
        && let Some((package, task)) = name.split_once(':')
        && is_plain_name(package)
        && is_plain_name(task)
    {
        return message;
    }
    line
}

fn is_plain_name(name: &str) -> bool {
    name.starts_with(|it: char| it.is_ascii_lowercase() || it == '@')
        && name.chars().all(|it| it.is_ascii_lowercase() || matches!(it, '-' | '_' | '@' | '/'))
}

fn is_task_name(name: &str) -> bool {
    let is_word = |it: char| it.is_alphanumeric() || "-_:./@".contains(it);
    !name.is_empty()
        && name.len() <= MAX_TASK_NAME_BYTES
        && name.chars().all(is_word)
        && name.contains(char::is_alphabetic)
        && !LEVELS.contains(&name.to_ascii_lowercase().as_str())
}
