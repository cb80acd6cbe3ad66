//! Reads Markdown histories of `SpecStory`, a program that records the sessions of several hosts, into
//! events of the [`EventLog`]: one heading per speaker, tool calls in `<tool-use>` blocks of their own.
//!
//! ~~~text
//! _**User (2026-01-16 16:26:02Z)**_                        the next lines are a user message
//! fix it
//! _**Agent (opus 2026-01-16 16:26:05Z)**_                  the next lines are text of the model
//! <tool-use data-tool-type="shell" data-tool-name="Bash">  a call of the shell tool
//! `go test ./...`                                          its argument
//! ```text
//! Exit code 1                                              its result
//! ```
//! </tool-use>
//! ~~~

use model::Tool;
use serde_json::{Value, json};

use crate::event_log::{CallOutcome, EventLog};
use crate::time::parse_iso;
use crate::{tool_names, tool_output};

/// The turn and the tool block being read.
#[derive(Debug, Default)]
pub(crate) struct SpecStoryState {
    /// `None` before the first heading.
    speaker: Option<Speaker>,
    /// Text of the turn.
    text: String,
    /// The tool block being read; `None` outside of one.
    tool: Option<ToolBlock>,
    /// Calls so far; the history has no ids, so calls are numbered.
    n_calls: u64,
}

/// A `<tool-use>` block.
#[derive(Debug)]
struct ToolBlock {
    tool_name: String,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speaker {
    User,
    Agent,
}

/// Longest turn or tool block stored, in bytes.
const MAX_BLOCK_BYTES: usize = 64 << 10;

/// Reads one line of the history.
pub(crate) fn read_line(log: &mut EventLog, state: &mut SpecStoryState, line: &str) {
    if let Some(session) = line.strip_prefix("<!-- ").filter(|it| it.contains(" Session ")) {
        // `<!-- Claude Code Session <id> (<time>) -->` follows the header of the file.
        let id = session.split(" Session ").nth(1).and_then(|it| it.split(' ').next());
        log.start_session(id, None, "");
    } else if let Some(tool) = line.strip_prefix("<tool-use ") {
        flush_turn(log, state);
        let name = tool.split("data-tool-name=\"").nth(1).and_then(|it| it.split('"').next());
        let tool_name = name.unwrap_or_default().to_owned();
        state.tool = Some(ToolBlock { tool_name, text: String::new() });
    } else if line.contains("</tool-use>") {
        flush_turn(log, state);
    // Inside a tool block the same marker is text.
    } else if let Some(heading) = line.strip_prefix("_**").filter(|_| state.tool.is_none()) {
        flush_turn(log, state);
        let is_user = heading.starts_with("User");
        state.speaker = Some(if is_user { Speaker::User } else { Speaker::Agent });
        // `Agent (opus 2026-01-16 16:26:05Z)`: the model may come before the time, which begins with
        // its century.
        let time_start = heading.find("20");
        let time = time_start.and_then(|it| parse_iso(heading[it..].split(')').next()?));
        log.set_time(time);
    } else {
        // A line of the tool block or of the turn.
        let text = match &mut state.tool {
            Some(block) => &mut block.text,
            None => &mut state.text,
        };
        if text.len() + line.len() < MAX_BLOCK_BYTES {
            text.push_str(line);
            text.push('\n');
        }
    }
}

pub(crate) fn finish(log: &mut EventLog, state: &mut SpecStoryState) {
    flush_turn(log, state);
}

/// Adds the events of the turn and of the tool block read so far.
fn flush_turn(log: &mut EventLog, state: &mut SpecStoryState) {
    let text = std::mem::take(&mut state.text);
    match state.speaker {
        Some(Speaker::User) => log.push_user_message("", text.trim()),
        Some(Speaker::Agent) => log.push_reasoning("", text.trim()),
        None => {}
    }

    // The block holds a call with its result.
    let Some(block) = state.tool.take() else { return };
    state.n_calls += 1;
    let id = format!("call:{}", state.n_calls);
    let tool = tool_names::find_tool(&block.tool_name);
    let (input, output) = split_call(&tool, &block.text);
    log.push_tool_call(&id, tool, &input);
    let is_failure = tool_output::find_exit_code(&output).is_some_and(|it| it != 0)
        || output.starts_with("<tool_use_error>");
    let outcome = if !is_failure {
        CallOutcome::Ok
    } else if output.contains("doesn't want to proceed") {
        CallOutcome::Rejected
    } else {
        CallOutcome::Failed
    };
    log.push_result(&id, outcome, &output);
}

/// Arguments and output of a tool block. The argument is in backticks, the output in a code fence;
/// an edit names its file only in the output.
fn split_call(tool: &Tool, block: &str) -> (Value, String) {
    let (before_fence, fenced) = block.split_once("```").unwrap_or((block, ""));
    // Behind the fence, its line holds the language.
    let (_, output) = fenced.split_once('\n').unwrap_or_default();
    // A block that was truncated has no closing fence.
    let (output, _) = output.rsplit_once("```").unwrap_or((output, ""));
    let output = output.trim_end().to_owned();
    let argument = before_fence.split('`').nth(1).unwrap_or_default();
    let path = if argument.is_empty() { find_path_word(&output) } else { argument };
    let input = match tool {
        Tool::Shell => json!({ "command": argument }),
        Tool::Search | Tool::List => json!({ "query": argument }),
        // Tools that work on a file.
        _ => json!({ "path": path }),
    };
    (input, output)
}

/// The first word of an output that looks like a path.
fn find_path_word(output: &str) -> &str {
    let first_line = output.lines().next().unwrap_or_default();
    first_line.split_whitespace().find(|it| it.contains(['/', '.'])).unwrap_or_default()
}
