//! aider: Markdown where `####` is the person, `>` the program and the rest the model.

use model::Tool;
use serde_json::json;

use crate::log::Log;
use crate::time::iso;

#[derive(Debug, Default)]
pub(crate) struct State {
    asked: String,
    said: String,
    n_calls: u64,
}

const MAX_TURN: usize = 64 << 10;

pub(crate) fn line(log: &mut Log, state: &mut State, line: &str) {
    if let Some(at) = line.strip_prefix("# aider chat started at ") {
        finish(log, state);
        log.at(iso(at.trim()));
        log.start(None, None, "");
    } else if let Some(asked) = line.strip_prefix("#### ") {
        say(log, state);
        push(&mut state.asked, asked);
    } else if let Some(note) = line.strip_prefix("> ") {
        finish(log, state);
        program(log, state, note.trim());
    } else {
        hear(log, state);
        push(&mut state.said, line);
    }
}

pub(crate) fn finish(log: &mut Log, state: &mut State) {
    hear(log, state);
    say(log, state);
}

/// What the program says it did: applied an edit, added a file, ran a command.
fn program(log: &mut Log, state: &mut State, note: &str) {
    let mut act = |tool: Tool, input| {
        state.n_calls += 1;
        let id = format!("call:{}", state.n_calls);
        log.call_tool(&id, tool, &input);
        log.answer(&id, true, false, note);
    };
    if let Some(path) = note.strip_prefix("Applied edit to ") {
        act(Tool::Edit, json!({ "path": path }));
    } else if let Some(path) =
        note.strip_prefix("Added ").and_then(|it| it.split(" to the chat").next())
    {
        if note.contains(" to the chat") {
            act(Tool::Read, json!({ "path": path }));
        }
    } else if let Some(command) = note.strip_prefix("Running ") {
        act(Tool::Shell, json!({ "command": command }));
    } else {
        log.counts.ignored += 1;
    }
}

fn hear(log: &mut Log, state: &mut State) {
    let asked = std::mem::take(&mut state.asked);
    log_if_started(log, &asked, |log, text| log.hear("", text, false));
}

fn say(log: &mut Log, state: &mut State) {
    let said = std::mem::take(&mut state.said);
    log_if_started(log, &said, |log, text| log.say("", text));
}

fn log_if_started(log: &mut Log, text: &str, what: fn(&mut Log, &str)) {
    if !text.trim().is_empty() {
        what(log, text.trim());
    }
}

fn push(acc: &mut String, line: &str) {
    if acc.len() + line.len() < MAX_TURN {
        acc.push_str(line.trim_end());
        acc.push('\n');
    }
}
