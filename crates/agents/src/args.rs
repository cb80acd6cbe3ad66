//! The arguments of a call, by the names hosts give them.

use model::{LineSpan, ProjectPath, Tool, ToolArgs, fingerprint};
use serde_json::Value;

use crate::patch;
use crate::path::Root;

/// Texts below this many characters are swapped by chance; an edit of them undoes nothing.
const TELLING: usize = 20;
/// The longest command, query or address kept, in bytes.
const MAX_ARGUMENT: usize = 4096;

#[rustfmt::skip]
const PATHS: &[&str] = &["file_path", "path", "filePath", "notebook_path", "absolute_path", "filename", "file", "dir_path", "target_file"];
const QUERIES: &[&str] = &["pattern", "query", "regex", "search", "description"];
const COMMANDS: &[&str] = &["command", "cmd", "code"];
const REMOVED: &[&str] = &["old_string", "old_str", "oldString"];
const ADDED: &[&str] = &["new_string", "new_str", "newString", "content", "file_text"];

/// Reads the arguments of a call; a tool that does several things says which it did.
pub(crate) fn args(tool: &mut Tool, input: &Value, root: &Root) -> ToolArgs {
    if let Some(text) = input.as_str() {
        return of_text(tool, text, root);
    }
    if *tool == Tool::Edit {
        // One tool of some hosts reads, creates and edits.
        match input["command"].as_str() {
            Some("view") => *tool = Tool::Read,
            Some("create") => *tool = Tool::Write,
            _ => {}
        }
    }
    let command = if *tool == Tool::Shell { command(input) } else { None };
    if let Some(patched) = command.as_deref().and_then(patch::in_command) {
        *tool = Tool::Edit;
        return ToolArgs { paths: within(&patch::files(patched), root), ..ToolArgs::default() };
    }
    let patched = first(input, &["patch", "input", "patchText"]).filter(|it| patch::is_patch(it));
    let mut paths = patched.map(|it| within(&patch::files(it), root)).unwrap_or_default();
    for name in PATHS {
        paths.extend(input[name].as_str().and_then(|it| root.relative(it)));
    }
    for it in input["paths"].as_array().into_iter().flatten().take(100) {
        paths.extend(it.as_str().and_then(|it| root.relative(it)));
    }
    paths.dedup();
    let edit = input["edits"].get(0).unwrap_or(input);
    let changes = matches!(tool, Tool::Edit | Tool::Write);
    ToolArgs {
        paths,
        lines: lines(input),
        query: first(input, QUERIES).filter(|_| *tool != Tool::Shell).map(cut),
        command,
        url: input["url"].as_str().map(cut),
        removed: first(edit, REMOVED).filter(|_| changes).and_then(mark),
        added: first(edit, ADDED).filter(|_| changes).and_then(mark),
    }
}

fn of_text(tool: &mut Tool, text: &str, root: &Root) -> ToolArgs {
    if patch::is_patch(text) {
        *tool = Tool::Edit;
        return ToolArgs { paths: within(&patch::files(text), root), ..ToolArgs::default() };
    }
    match tool {
        Tool::Shell => ToolArgs { command: Some(cut(text)), ..ToolArgs::default() },
        Tool::Search | Tool::List | Tool::WebSearch => {
            ToolArgs { query: Some(cut(text)), ..ToolArgs::default() }
        }
        _ => ToolArgs { paths: within(&[text.to_owned()], root), ..ToolArgs::default() },
    }
}

/// A command as text, or as the words some hosts pass; their `bash -lc` wrapper is taken off.
fn command(input: &Value) -> Option<String> {
    for name in COMMANDS {
        match &input[name] {
            Value::String(text) => return Some(cut(text)),
            Value::Array(words) => {
                let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                return Some(match words[..] {
                    [shell, flag, script]
                        if shell.ends_with("sh")
                            && flag.starts_with('-')
                            && flag.ends_with('c') =>
                    {
                        cut(script)
                    }
                    _ => cut(&words.join(" ")),
                });
            }
            _ => {}
        }
    }
    None
}

fn lines(input: &Value) -> Option<LineSpan> {
    let number = |name: &str| input[name].as_u64().and_then(|it| u32::try_from(it).ok());
    if let Some(range) = input["view_range"].as_array() {
        let at = |nth: usize| range.get(nth)?.as_u64().and_then(|it| u32::try_from(it).ok());
        return Some(LineSpan { first: at(0)?, last: at(1).unwrap_or(u32::MAX) });
    }
    let first = number("offset").or_else(|| number("start_line"))?.max(1);
    let last = number("limit").map(|it| first.saturating_add(it).saturating_sub(1));
    Some(LineSpan { first, last: last.or_else(|| number("end_line")).unwrap_or(u32::MAX) })
}

pub(crate) fn within(paths: &[String], root: &Root) -> Vec<ProjectPath> {
    paths.iter().filter_map(|it| root.relative(it)).collect()
}

fn first<'a>(input: &'a Value, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|it| input[it].as_str())
}

fn mark(text: &str) -> Option<String> {
    (text.chars().nth(TELLING - 1).is_some()).then(|| fingerprint(text))
}

pub(crate) fn cut(text: &str) -> String {
    text[..text.floor_char_boundary(MAX_ARGUMENT)].replace('\0', "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name;
    use expect_test::{Expect, expect};

    fn check(tool: &str, input: &str, expect: Expect) {
        let mut tool = name::tool(tool);
        let input = serde_json::from_str(input).unwrap();
        let res = args(&mut tool, &input, &Root::new(None, "/p"));
        expect.assert_eq(&format!("{tool} {}", serde_json::to_string(&res).unwrap()));
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
            expect![[r#"edit {"paths":["a.rs"],"added":"9c94d13d4dcf253f"}"#]],
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
    }
}
