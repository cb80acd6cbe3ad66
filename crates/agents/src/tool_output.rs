//! Interprets the output of a tool: its text, an excerpt, the number of matches, the files it lists
//! and the exit code it mentions. The output `Found 2 files\nsrc/a.rs:1:x\nsrc/b.rs:9:y` of a search has
//! two matches and lists `src/a.rs` and `src/b.rs`.
//!
//! The readers of all formats and the hook messages share these functions, because the wordings are
//! those of the tools and models, not of one host.

use model::{EXCERPT_TAIL_BYTES, MAX_EXCERPT, ProjectPath, TextExcerpt, Tool, elide_middle};
use serde_json::Value;

use crate::path_resolver::PathResolver;

/// Most paths taken from one output.
const MAX_LISTED_PATHS: usize = 200;
/// Longest line beginning that is taken for a path, in bytes.
const MAX_PATH_BYTES: usize = 300;
/// Listed paths that a new one is compared with.
const COMPARED_PATHS: usize = 8;
/// Bytes at each end of an output in which an exit code is looked for.
const EXIT_CODE_BYTES: usize = 300;

/// Beginnings of an output that reports no match, in lower case.
const NO_MATCH_PHRASES: &[&str] =
    &["no files found", "no matches found", "no matches", "no results found"];

/// The text of an output in any of the shapes that hosts use: a string, a list of parts, an object.
pub(crate) fn extract_text(content: &Value) -> String {
    let mut acc = String::new();
    append_text(&mut acc, content);
    acc
}

fn append_text(acc: &mut String, content: &Value) {
    match content {
        Value::String(text) => acc.push_str(text),
        Value::Array(parts) => {
            for part in parts {
                if !acc.is_empty() {
                    acc.push('\n');
                }
                append_text(acc, part);
            }
        }
        Value::Object(map) => {
            let text_keys = [
                "text",
                "content",
                "output",
                "llmContent",
                "stdout",
                "error",
                "functionResponse",
                "response",
            ];
            if let Some(part) = text_keys.iter().find_map(|it| map.get(*it)) {
                append_text(acc, part);
            }
        }
        // Numbers, booleans and `null` are no text.
        _ => {}
    }
}

/// Beginning and end of a text, within the size of an excerpt.
pub(crate) fn make_excerpt(text: &str) -> TextExcerpt {
    let text = text.replace('\0', "\u{fffd}");
    TextExcerpt::new(elide_middle(&text, MAX_EXCERPT, EXCERPT_TAIL_BYTES))
}

/// Number of matches of a successful search or list.
pub(crate) fn count_matches(tool: &Tool, text: &str) -> Option<u32> {
    if !matches!(tool, Tool::Search | Tool::List) {
        return None;
    }
    let trimmed = text.trim();
    // Long enough for every phrase in `NO_MATCH_PHRASES` and for `found <number> `.
    let beginning = trimmed[..trimmed.floor_char_boundary(40)].to_lowercase();
    if trimmed.is_empty() || NO_MATCH_PHRASES.iter().any(|it| beginning.starts_with(it)) {
        return Some(0);
    }
    // A count in the text is better than the number of lines, which includes headings and context.
    if let Some(rest) = beginning.strip_prefix("found ")
        && let Some(stated) = rest.split(' ').next().and_then(|it| it.parse().ok())
    {
        return Some(stated);
    }
    let n_lines = trimmed.lines().filter(|it| !it.trim().is_empty()).count();
    u32::try_from(n_lines).ok()
}

/// Files at the beginnings of the lines of a search or list.
pub(crate) fn listed_paths(tool: &Tool, text: &str, resolver: &PathResolver) -> Vec<ProjectPath> {
    if !matches!(tool, Tool::Search | Tool::List) {
        return Vec::new();
    }
    let mut acc: Vec<ProjectPath> = Vec::new();
    for line in text.lines() {
        // `path:line:text` of a search, or the bare path of a list.
        let path = line.split(':').next().unwrap_or(line).trim();
        let is_plausible =
            path.contains(['/', '.']) && !path.contains(' ') && path.len() < MAX_PATH_BYTES;
        if is_plausible
            && let Some(path) = resolver.resolve(path)
            // Matches of one file are adjacent; a full scan would be quadratic for long lists.
            && !acc.iter().rev().take(COMPARED_PATHS).any(|it| *it == path)
        {
            acc.push(path);
        }
        if acc.len() == MAX_LISTED_PATHS {
            break;
        }
    }
    acc
}

/// The exit code that the output of a command mentions, in the wordings of several hosts.
pub(crate) fn find_exit_code(text: &str) -> Option<i64> {
    let phrases =
        ["process exited with code ", "exit code: ", "exit code ", "exited with exit code "];
    // Hosts put the code first or last; in between it would be text of the command itself.
    let head = &text[..text.floor_char_boundary(EXIT_CODE_BYTES)];
    let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(EXIT_CODE_BYTES))..];
    for part in [head, tail] {
        let lower = part.to_ascii_lowercase();
        for phrase in phrases {
            let Some((_, behind)) = lower.split_once(phrase) else { continue };
            // A phrase without digits behind it is text of the command.
            let n_digits = behind.bytes().take_while(u8::is_ascii_digit).count();
            if let Ok(code) = behind[..n_digits].parse() {
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
    fn matches_are_counted_by_a_stated_number_or_by_lines() {
        let count = |text: &str| count_matches(&Tool::Search, text);
        assert_eq!(count("No files found"), Some(0));
        assert_eq!(count("Found 12 files\na.rs"), Some(12));
        assert_eq!(count("a.rs:1:x\nb.rs:2:y\n"), Some(2));
        assert_eq!(count("  \n"), Some(0));
        assert_eq!(count_matches(&Tool::Read, "x"), None);
    }

    #[test]
    fn an_excerpt_has_both_ends_of_a_long_output() {
        let text = format!("begin{}end", "é".repeat(9_000));
        let excerpt = make_excerpt(&text);
        assert!(excerpt.as_str().starts_with("begin") && excerpt.as_str().ends_with("end"));
        assert!(excerpt.as_str().len() <= MAX_EXCERPT && excerpt.as_str().contains('…'));
    }

    #[test]
    fn exit_codes_are_found_in_the_wordings_of_hosts() {
        assert_eq!(find_exit_code("Chunk ID: 1\nProcess exited with code 3\nOutput:\n"), Some(3));
        assert_eq!(find_exit_code("Exit code 1\nboom"), Some(1));
        assert_eq!(find_exit_code("it will exit"), None);
    }
}
