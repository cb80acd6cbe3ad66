//! Converts the arguments of a tool call to [`ToolArgs`].
//!
//! Every host names the same argument differently; the tables of keys below list the names. Some
//! tools do several things, so the arguments may also decide which [`Tool`] a call counts as:
//!
//! ```text
//! Read   {"file_path":"/p/a.rs","offset":70,"limit":10}    read,  paths: a.rs, lines: 70–79
//! shell  {"command":["bash","-lc","ls src"]}               shell, command: ls src
//! shell  {"command":["apply_patch","*** Begin Patch …"]}   edit,  paths: those of the patch
//! ```
//!
//! Of an edit only fingerprints (hashes) of the removed and the added text are kept, by which a later
//! edit that undoes it is recognised, and the names in the changed lines.

use model::{LineSpan, ProjectPath, Tool, ToolArgs, fingerprint_text, is_vendored_path};
use serde_json::Value;

use crate::path_resolver::PathResolver;
use crate::{edit_names, patch};

/// Shortest edited text that gets a fingerprint. Shorter texts recur by chance, so an edit that
/// restores one is no undo.
const MIN_FINGERPRINT_CHARS: usize = 20;
/// Longest query or URL stored, in bytes.
const MAX_ARGUMENT_BYTES: usize = 4096;
/// Longest command stored, in bytes: its end may fetch what its beginning does not. One byte more than
/// `observe` reads of a command, so that a truncated one is recognised there.
const MAX_COMMAND_BYTES: usize = (32 << 10) + 1;
/// Most paths taken from a list.
const MAX_PATHS: usize = 100;

#[rustfmt::skip]
const PATH_KEYS: &[&str] = &["file_path", "path", "filePath", "notebook_path", "absolute_path", "filename", "file", "dir_path", "target_file"];
const QUERY_KEYS: &[&str] = &["pattern", "query", "regex", "search", "description"];
const COMMAND_KEYS: &[&str] = &["command", "cmd", "code"];
const PATCH_KEYS: &[&str] = &["patch", "input", "patchText"];
const REMOVED_TEXT_KEYS: &[&str] = &["old_string", "old_str", "oldString"];
const ADDED_TEXT_KEYS: &[&str] = &["new_string", "new_str", "newString", "content", "file_text"];

/// Reads the arguments of a call. For a tool with several functions `tool` becomes the one that was
/// used.
pub(crate) fn parse_args(tool: &mut Tool, input: &Value, resolver: &PathResolver) -> ToolArgs {
    if let Some(text) = input.as_str() {
        return parse_text_args(tool, text, resolver);
    }
    // `str_replace_editor` and its like read, create and edit with one tool.
    if *tool == Tool::Edit {
        match input["command"].as_str() {
            Some("view") => *tool = Tool::Read,
            Some("create") => *tool = Tool::Write,
            _ => {}
        }
    }
    // Codex edits through a shell command that applies a patch.
    let command = if *tool == Tool::Shell { find_command(input) } else { None };
    if let Some(patched) = command.as_deref().and_then(patch::find_in_command) {
        *tool = Tool::Edit;
        return ToolArgs {
            paths: resolve_paths(&patch::patched_files(patched), resolver),
            names: edit_names::names_in_patch(patched),
            ..ToolArgs::default()
        };
    }
    // The `description` of a shell command is no query.
    let mut query = None;
    if *tool != Tool::Shell {
        query = first_text(input, QUERY_KEYS).map(truncate_argument);
    }
    // Of several edits in one call only the first is recorded.
    let edit = input["edits"].get(0).unwrap_or(input);
    let (mut removed, mut added, mut names) = (None, None, Vec::new());
    if matches!(tool, Tool::Edit | Tool::Write) {
        names = find_edit_names(input);
        removed = first_text(edit, REMOVED_TEXT_KEYS).and_then(edit_fingerprint);
        added = first_text(edit, ADDED_TEXT_KEYS).and_then(edit_fingerprint);
    }
    ToolArgs {
        paths: find_paths(input, resolver),
        lines: find_line_span(input),
        vendored: names_vendored_file(input),
        query,
        command,
        url: input["url"].as_str().map(truncate_argument),
        removed,
        added,
        names,
    }
}

/// The names in the lines that a call changes, in all of its edits.
fn find_edit_names(input: &Value) -> Vec<String> {
    if let Some(patched) = first_text(input, PATCH_KEYS).filter(|it| patch::is_patch(it)) {
        return edit_names::names_in_patch(patched);
    }
    let edits = input["edits"].as_array().map_or(std::slice::from_ref(input), Vec::as_slice);
    let texts = |edit| {
        let text = |keys| first_text(edit, keys).unwrap_or_default();
        (text(REMOVED_TEXT_KEYS), text(ADDED_TEXT_KEYS))
    };
    edit_names::names_in_changes(edits.iter().map(texts))
}

/// The paths that arguments name: in a patch, as a single argument and in a list.
fn find_paths(input: &Value, resolver: &PathResolver) -> Vec<ProjectPath> {
    let mut acc = Vec::new();
    if let Some(text) = first_text(input, PATCH_KEYS)
        && patch::is_patch(text)
    {
        acc = resolve_paths(&patch::patched_files(text), resolver);
    }
    for name in PATH_KEYS {
        acc.extend(input[name].as_str().and_then(|it| resolver.resolve(it)));
    }
    for path in input["paths"].as_array().into_iter().flatten().take(MAX_PATHS) {
        acc.extend(path.as_str().and_then(|it| resolver.resolve(it)));
    }
    // Some hosts pass the same path under two names.
    acc.dedup();
    acc
}

/// Returns whether a path of the arguments leads into a dependency, inside or outside of the project.
fn names_vendored_file(input: &Value) -> bool {
    let single = PATH_KEYS.iter().filter_map(|it| input[it].as_str());
    let listed = input["paths"].as_array().into_iter().flatten().filter_map(Value::as_str);
    single.chain(listed.take(MAX_PATHS)).any(is_vendored_path)
}

/// Arguments that are one text instead of an object.
fn parse_text_args(tool: &mut Tool, text: &str, resolver: &PathResolver) -> ToolArgs {
    if patch::is_patch(text) {
        *tool = Tool::Edit;
        return ToolArgs {
            paths: resolve_paths(&patch::patched_files(text), resolver),
            names: edit_names::names_in_patch(text),
            ..ToolArgs::default()
        };
    }
    match tool {
        Tool::Shell => ToolArgs { command: Some(truncate_command(text)), ..ToolArgs::default() },
        Tool::Search | Tool::List | Tool::WebSearch => {
            ToolArgs { query: Some(truncate_argument(text)), ..ToolArgs::default() }
        }
        // For every other tool the text may be a path; if it is none, it resolves to nothing.
        _ => ToolArgs {
            paths: resolve_paths(&[text.to_owned()], resolver),
            vendored: is_vendored_path(text),
            ..ToolArgs::default()
        },
    }
}

/// The command as a text. Some hosts pass a list of words, often wrapped in `bash -lc`, which is
/// removed.
fn find_command(input: &Value) -> Option<String> {
    for name in COMMAND_KEYS {
        match &input[name] {
            Value::String(text) => return Some(truncate_command(text)),
            Value::Array(words) => {
                let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                let script = match words[..] {
                    [shell, flag, script] if is_shell_call(shell, flag) => script.to_owned(),
                    _ => words.join(" "),
                };
                return Some(truncate_command(&script));
            }
            // No command under this name.
            _ => {}
        }
    }
    None
}

/// True for `bash -lc`, `sh -c` and the like, which run the script in the next argument.
fn is_shell_call(program: &str, flag: &str) -> bool {
    program.ends_with("sh") && flag.starts_with('-') && flag.ends_with('c')
}

/// The lines that a call reads; `u32::MAX` stands for the end of the file.
fn find_line_span(input: &Value) -> Option<LineSpan> {
    let to_u32 = |value: &Value| value.as_u64().and_then(|it| u32::try_from(it).ok());
    let number = |name: &str| to_u32(&input[name]);
    let range = &input["view_range"];
    if range.is_array() {
        return Some(LineSpan {
            first: to_u32(&range[0])?,
            last: to_u32(&range[1]).unwrap_or(u32::MAX),
        });
    }
    // `offset` and `limit` count lines; `start_line` and `end_line` name the first and the last.
    let first = number("offset").or_else(|| number("start_line"))?.max(1);
    let last = if let Some(limit) = number("limit") {
        first.saturating_add(limit).saturating_sub(1)
    } else {
        number("end_line").unwrap_or(u32::MAX)
    };
    Some(LineSpan { first, last })
}

pub(crate) fn resolve_paths(paths: &[String], resolver: &PathResolver) -> Vec<ProjectPath> {
    paths.iter().filter_map(|it| resolver.resolve(it)).collect()
}

fn first_text<'a>(input: &'a Value, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|it| input[it].as_str())
}

/// Fingerprint of an edited text, by which a later edit that restores it is recognised.
fn edit_fingerprint(text: &str) -> Option<String> {
    let is_long_enough = text.chars().nth(MIN_FINGERPRINT_CHARS - 1).is_some();
    is_long_enough.then(|| fingerprint_text(text))
}

fn truncate_command(text: &str) -> String {
    text[..text.floor_char_boundary(MAX_COMMAND_BYTES)].replace('\0', "\u{fffd}")
}

pub(crate) fn truncate_argument(text: &str) -> String {
    text[..text.floor_char_boundary(MAX_ARGUMENT_BYTES)].replace('\0', "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool_names;
    use expect_test::{Expect, expect};

    /// Compares the tool and the arguments of a call as a host writes it.
    fn check(tool: &str, input: &str, expect: Expect) {
        let mut tool = tool_names::find_tool(tool);
        let input = serde_json::from_str(input).unwrap();
        let args = parse_args(&mut tool, &input, &PathResolver::new(None, "/p"));
        expect.assert_eq(&format!("{tool} {}", serde_json::to_string(&args).unwrap()));
    }

    #[test]
    fn arguments_mean_the_same_for_every_host() {
        check(
            "Read",
            r#"{"file_path":"/p/a.rs","offset":70,"limit":10}"#,
            expect![[r#"read {"paths":["a.rs"],"lines":{"first":70,"last":79}}"#]],
        );
        check(
            "Edit",
            r#"{"file_path":"/p/a.rs","old_string":"let total = sum(x);","new_string":"let total: u64 = sum(x);"}"#,
            expect![[
                r#"edit {"paths":["a.rs"],"added":"9c94d13d4dcf253f","names":["u64","let","total","sum"]}"#
            ]],
        );
        check(
            "str_replace_editor",
            r#"{"command":"view","path":"/p/a.rs","view_range":[1,9]}"#,
            expect![[r#"read {"paths":["a.rs"],"lines":{"first":1,"last":9}}"#]],
        );
        check(
            "shell",
            r#"{"command":["bash","-lc","ls src"]}"#,
            expect![[r#"shell {"command":"ls src"}"#]],
        );
        check(
            "Grep",
            r#"{"pattern":"fn main","path":"/p/src","type":"rust"}"#,
            expect![[r#"search {"paths":["src"],"query":"fn main"}"#]],
        );
        check(
            "apply_patch",
            r#""*** Begin Patch\n*** Update File: /p/src/a.ts\n@@\n-x\n+y\n*** Add File: b.ts\n+z\n*** End Patch""#,
            expect![[r#"edit {"paths":["src/a.ts","b.ts"]}"#]],
        );
        check("TodoWrite", r#"{"todos":[]}"#, expect!["other {}"]);
        check(
            "Read",
            r#"{"file_path":"/home/user/.cargo/registry/src/x/README.md"}"#,
            expect![[r#"read {"vendored":true}"#]],
        );
    }
}
