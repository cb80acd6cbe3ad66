//! What a tool answered: a beginning and an end of it, what it found, which files it names.

use model::{Excerpt, MAX_EXCERPT, ProjectPath, Tool};
use serde_json::Value;

use crate::path::Root;

/// Names of files kept of one answer.
const MAX_PATHS: usize = 200;
/// How much of a long answer is its end, where commands say what went wrong.
const TAIL: usize = 1400;
const GAP: &str = "\n[…]\n";

/// What an answer says when nothing was found, in lower case.
const NOTHING: &[&str] = &["no files found", "no matches found", "no matches", "no results found"];

/// The text of an answer, whichever shape it has.
pub(crate) fn text(content: &Value) -> String {
    let mut acc = String::new();
    push(&mut acc, content);
    acc
}

fn push(acc: &mut String, content: &Value) {
    match content {
        Value::String(text) => acc.push_str(text),
        Value::Array(parts) => {
            for part in parts {
                if !acc.is_empty() {
                    acc.push('\n');
                }
                push(acc, part);
            }
        }
        Value::Object(map) => {
            let named = [
                "text",
                "content",
                "output",
                "llmContent",
                "stdout",
                "error",
                "functionResponse",
                "response",
            ];
            if let Some(part) = named.iter().find_map(|it| map.get(*it)) {
                push(acc, part);
            }
        }
        _ => {}
    }
}

/// Both ends of a text, within the size of an excerpt.
pub(crate) fn excerpt(text: &str) -> Excerpt {
    let text = text.replace('\0', "\u{fffd}");
    if text.len() <= MAX_EXCERPT {
        return Excerpt::new(text);
    }
    let head = &text[..text.floor_char_boundary(MAX_EXCERPT - TAIL - GAP.len())];
    let tail = &text[text.ceil_char_boundary(text.len() - TAIL)..];
    Excerpt::new([head, GAP, tail].concat())
}

/// How many things a search or a list found.
pub(crate) fn matches(tool: &Tool, ok: bool, text: &str) -> Option<u32> {
    if !ok || !matches!(tool, Tool::Search | Tool::List) {
        return None;
    }
    let trimmed = text.trim();
    let lower = trimmed.get(..trimmed.floor_char_boundary(40)).unwrap_or_default().to_lowercase();
    if trimmed.is_empty() || NOTHING.iter().any(|it| lower.starts_with(it)) {
        return Some(0);
    }
    let said = lower.strip_prefix("found ").and_then(|it| it.split(' ').next()?.parse().ok());
    let lines = trimmed.lines().filter(|it| !it.trim().is_empty()).count();
    said.or_else(|| u32::try_from(lines).ok())
}

/// The files a search or list names: at the beginnings of its lines.
pub(crate) fn paths(tool: &Tool, text: &str, root: &Root) -> Vec<ProjectPath> {
    if !matches!(tool, Tool::Search | Tool::List) {
        return Vec::new();
    }
    let mut acc: Vec<ProjectPath> = Vec::new();
    for line in text.lines() {
        let path = line.split(':').next().unwrap_or(line).trim();
        let plausible = path.contains(['/', '.']) && !path.contains(' ') && path.len() < 300;
        if let Some(path) = Some(path).filter(|_| plausible).and_then(|it| root.relative(it))
            && acc.last() != Some(&path)
            && !acc.iter().rev().take(8).any(|it| *it == path)
        {
            acc.push(path);
        }
        if acc.len() == MAX_PATHS {
            break;
        }
    }
    acc
}

/// The exit code a command's answer mentions, in the words of several hosts.
pub(crate) fn exit_code(text: &str) -> Option<i64> {
    let said = ["process exited with code ", "exit code: ", "exit code ", "exited with exit code "];
    let ends = [
        text.get(..text.floor_char_boundary(300)),
        text.get(text.ceil_char_boundary(text.len().saturating_sub(300))..),
    ];
    for part in ends.into_iter().flatten() {
        let lower = part.to_ascii_lowercase();
        for it in said {
            let number = lower.find(it).map(|at| &lower[at + it.len()..]);
            let digits = number.map(|it| it.split(|it: char| !it.is_ascii_digit()).next());
            if let Some(code) = digits.flatten().and_then(|it| it.parse().ok()) {
                return Some(code);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_counted() {
        let of = |text: &str| matches(&Tool::Search, true, text);
        assert_eq!(of("No files found"), Some(0));
        assert_eq!(of("Found 12 files\na.rs"), Some(12));
        assert_eq!(of("a.rs:1:x\nb.rs:2:y\n"), Some(2));
        assert_eq!(of("  \n"), Some(0));
        assert_eq!(matches(&Tool::Read, true, "x"), None);
    }

    #[test]
    fn both_ends_of_a_long_answer_are_kept() {
        let text = format!("begin{}end", "é".repeat(9_000));
        let res = excerpt(&text);
        assert!(res.as_str().starts_with("begin") && res.as_str().ends_with("end"));
        assert!(res.as_str().len() <= MAX_EXCERPT && res.as_str().contains('…'));
    }

    #[test]
    fn exit_codes_are_heard() {
        assert_eq!(exit_code("Chunk ID: 1\nProcess exited with code 3\nOutput:\n"), Some(3));
        assert_eq!(exit_code("Exit code 1\nboom"), Some(1));
        assert_eq!(exit_code("it will exit"), None);
    }
}
