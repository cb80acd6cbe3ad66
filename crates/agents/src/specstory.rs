//! `SpecStory`: Markdown with one heading per speaker and tool calls in their own blocks.

use model::Tool;
use serde_json::{Value, json};

use crate::log::Log;
use crate::time::iso;
use crate::{answer, name};

#[derive(Debug, Default)]
pub(crate) struct State {
    by_user: Option<bool>,
    said: String,
    tool: Option<(String, String)>,
    n_calls: u64,
}

const MAX_BLOCK: usize = 64 << 10;

pub(crate) fn line(log: &mut Log, state: &mut State, line: &str) {
    if let Some(session) = line.strip_prefix("<!-- ").filter(|it| it.contains(" Session ")) {
        let id = session.split(" Session ").nth(1).and_then(|it| it.split(' ').next());
        log.start(id, None, "");
    } else if let Some(tool) = line.strip_prefix("<tool-use ") {
        flush(log, state);
        let named = tool.split("data-tool-name=\"").nth(1).and_then(|it| it.split('"').next());
        state.tool = Some((named.unwrap_or_default().to_owned(), String::new()));
    } else if line.contains("</tool-use>") {
        flush(log, state);
    } else if let Some(heading) = line.strip_prefix("_**").filter(|_| state.tool.is_none()) {
        flush(log, state);
        state.by_user = Some(heading.starts_with("User"));
        let at = heading.find("20").and_then(|at| iso(heading.get(at..)?.split(')').next()?));
        log.at(at);
    } else {
        let text = state.tool.as_mut().map_or(&mut state.said, |it| &mut it.1);
        if text.len() + line.len() < MAX_BLOCK {
            text.push_str(line);
            text.push('\n');
        }
    }
}

pub(crate) fn finish(log: &mut Log, state: &mut State) {
    flush(log, state);
}

fn flush(log: &mut Log, state: &mut State) {
    let said = std::mem::take(&mut state.said);
    match state.by_user {
        Some(true) => log.hear("", said.trim(), false),
        Some(false) => log.say("", said.trim()),
        None => {}
    }
    let Some((named, block)) = state.tool.take() else { return };
    state.n_calls += 1;
    let id = format!("call:{}", state.n_calls);
    let tool = name::tool(&named);
    let (input, output) = parts(&tool, &block);
    log.call_tool(&id, tool, &input);
    let failed = answer::exit_code(&output).is_some_and(|it| it != 0)
        || output.starts_with("<tool_use_error>");
    log.answer(&id, !failed, output.contains("doesn't want to proceed"), &output);
}

/// The argument stands in backticks, the answer in a fence; an edit names its file only there.
fn parts(tool: &Tool, block: &str) -> (Value, String) {
    let (before, fenced) = block.split_once("```").unwrap_or((block, ""));
    let output = fenced.split_once('\n').map_or("", |it| it.1);
    let output = output.rsplit_once("```").map_or(output, |it| it.0).trim_end().to_owned();
    let argument = before.split('`').nth(1).unwrap_or_default();
    let path = if argument.is_empty() { named_file(&output) } else { argument };
    let input = match tool {
        Tool::Shell => json!({ "command": argument }),
        Tool::Search | Tool::List => json!({ "query": argument }),
        _ => json!({ "path": path }),
    };
    (input, output)
}

fn named_file(output: &str) -> &str {
    let words = output.lines().next().unwrap_or_default().split_whitespace();
    words.clone().find(|it| it.contains('/') || it.contains('.')).unwrap_or_default()
}
