//! Reads the Markdown history of aider into events of the [`EventLog`], which collects what happened in
//! the session: `####` lines are the user, `>` lines the program, the rest the model.
//!
//! ```text
//! #### support headers               user message
//! I will edit it.                    text of the model
//! > Applied edit to io/rst.py        call of the edit tool, and its result
//! ```
//!
//! A turn has many lines, so it is collected and added as one event when another speaker begins.

use model::Tool;
use serde_json::json;

use crate::event_log::{CallOutcome, EventLog};
use crate::time::parse_iso;

/// The turn being read; one of the two texts is empty.
#[derive(Debug, Default)]
pub(crate) struct AiderState {
    prompt: String,
    reply: String,
    /// Calls so far; the history has no ids, so calls are numbered.
    n_calls: u64,
}

/// Longest prompt or reply stored, in bytes.
const MAX_TURN_BYTES: usize = 64 << 10;

/// Reads one line of the history.
pub(crate) fn read_line(log: &mut EventLog, state: &mut AiderState, line: &str) {
    if let Some(time) = line.strip_prefix("# aider chat started at ") {
        finish(log, state);
        log.set_time(parse_iso(time.trim()));
        log.start_session(None, None, "");
    } else if let Some(prompt) = line.strip_prefix("#### ") {
        flush_reply(log, state);
        append_line(&mut state.prompt, prompt);
    } else if let Some(note) = line.strip_prefix("> ") {
        // A note of the program ends the turn of either speaker.
        finish(log, state);
        read_program_note(log, state, note.trim());
    } else {
        flush_prompt(log, state);
        append_line(&mut state.reply, line);
    }
}

/// Adds the turn read so far. The log ignores an empty text, so that flushing needs no test.
pub(crate) fn finish(log: &mut EventLog, state: &mut AiderState) {
    flush_prompt(log, state);
    flush_reply(log, state);
}

/// Reads a note of the program: it applied an edit, added a file or ran a command.
fn read_program_note(log: &mut EventLog, state: &mut AiderState, note: &str) {
    // The program reports what it has done, so call and result come from the same note.
    let mut push_finished_call = |tool: Tool, input| {
        state.n_calls += 1;
        let id = format!("call:{}", state.n_calls);
        log.push_tool_call(&id, tool, &input);
        log.push_result(&id, CallOutcome::Ok, note);
    };
    if let Some(path) = note.strip_prefix("Applied edit to ") {
        push_finished_call(Tool::Edit, json!({ "path": path }));
    } else if let Some(added) = note.strip_prefix("Added ") {
        // Other notes begin with `Added`, too; only files added to the chat are shown to the model.
        if let Some((path, _)) = added.split_once(" to the chat") {
            push_finished_call(Tool::Read, json!({ "path": path }));
        }
    } else if let Some(command) = note.strip_prefix("Running ") {
        push_finished_call(Tool::Shell, json!({ "command": command }));
    } else {
        log.counts.n_ignored += 1;
    }
}

fn flush_prompt(log: &mut EventLog, state: &mut AiderState) {
    let prompt = std::mem::take(&mut state.prompt);
    log.push_user_message("", prompt.trim());
}

fn flush_reply(log: &mut EventLog, state: &mut AiderState) {
    let reply = std::mem::take(&mut state.reply);
    // The event `reasoning` holds any text of the agent.
    log.push_reasoning("", reply.trim());
}

/// Appends a line unless the turn has its maximum length.
fn append_line(acc: &mut String, line: &str) {
    if acc.len() + line.len() < MAX_TURN_BYTES {
        acc.push_str(line.trim_end());
        acc.push('\n');
    }
}
