//! Tests with real hosts that Waylore recognises a command in the shell of an agent: the variables by which a
//! host marks such commands are facts about its program. What the commands then refuse and withhold is tested
//! in `poisoning.rs`.
//!
//! A test is skipped if its host is not installed.

use serde_json::Value;

use crate::chat_model::{SessionRun, bash_call, create_repository};
use crate::sandbox::{Sandbox, binary};
use crate::{claude, codex, copilot, gemini, opencode};

/// The refusal of a command that is the user's.
const REFUSAL: &str = "an agent runs this command";

/// The shell line of a command that is the user's.
fn review_line() -> String {
    format!("'{}' review 2>&1", binary().display())
}

/// Asserts that the model read the refusal.
#[track_caller]
fn assert_refused(run: &SessionRun) {
    let end = run.requests.last().map(Value::to_string).unwrap_or_default();
    assert!(end.contains(REFUSAL), "{end}\n{}", run.printed);
}

#[test]
fn a_command_in_claude_code_is_an_agents() {
    let Some(host) = claude::find_claude() else { return };
    let sandbox = Sandbox::new();
    create_repository(&sandbox);
    let script = vec![claude::bash(&review_line())];
    assert_refused(&claude::run_session_requests(&sandbox, &host, &[], "Please review.", script));
}

#[test]
fn a_command_in_codex_is_an_agents() {
    let Some(host_folder) = codex::find_codex_folder() else { return };
    let sandbox = Sandbox::new();
    create_repository(&sandbox);
    codex::write_user_settings(&sandbox);
    let script = vec![codex::shell(&review_line())];
    let run = codex::run_session_requests(&sandbox, &host_folder, "Please review.", script);
    assert_refused(&run);
}

#[test]
fn a_command_in_gemini_cli_is_an_agents() {
    let Some(host) = gemini::find_gemini() else { return };
    let sandbox = Sandbox::new();
    create_repository(&sandbox);
    gemini::write_user_settings(&sandbox);
    let script = vec![gemini::run(&review_line())];
    assert_refused(&gemini::run_session(&sandbox, &host, "Please review.", script));
}

#[test]
fn a_command_in_copilot_cli_is_an_agents() {
    let Some(host) = copilot::find_copilot() else { return };
    let sandbox = Sandbox::new();
    create_repository(&sandbox);
    let script = vec![bash_call(&review_line())];
    assert_refused(&copilot::run_session(&sandbox, &host, "Please review.", script));
}

#[test]
fn a_command_in_opencode_is_an_agents() {
    let Some(host) = opencode::find_opencode() else { return };
    let sandbox = Sandbox::new();
    create_repository(&sandbox);
    opencode::write_user_settings(&sandbox);
    let script = vec![bash_call(&review_line())];
    assert_refused(&opencode::run_session(&sandbox, &host, "Please review.", script));
}
