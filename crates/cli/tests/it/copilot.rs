//! Waylore with the real Copilot CLI in its offline mode: the test runs the host against a scripted
//! model and inspects the requests that the model receives, because the injected notes are part of
//! them.
//!
//! `assert_sessions_learn_from_one_another` runs three sessions. The first meets an error
//! (`FAILING_COMMAND`), finds the fix (`FIXED_COMMAND`) and commits; the second meets the same error
//! (`FAILING_COMMAND_VARIANT`) and must get the fix; the third has an unrelated task and must get nothing.
//! A script is the list of tool calls that the model makes; tools and their arguments have the names of
//! this host.
//!
//! The test is skipped if `copilot` is not installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::chat_model::{
    COMMIT_COMMAND, FAILING_COMMAND, FAILING_COMMAND_VARIANT, FIXED_COMMAND, ModelScript,
    SessionRun, assert_sessions_learn_from_one_another, bash_call, create_repository, find_host,
    read_text, requests_with_tools, run_host, search_arguments, start_scripted_model,
};
#[cfg(unix)]
use crate::hooks::{failed_command, injected_text};
#[cfg(unix)]
use crate::sandbox::wait_until;
use crate::sandbox::{Sandbox, skip};

/// The user's list of MCP servers before `connect`.
const USER_SERVERS: &str = r#"{
  "mcpServers": {
    "mine": { "type": "local", "command": "true", "args": [], "tools": [] }
  }
}
"#;

#[test]
fn a_session_of_copilot_gets_what_an_earlier_one_learned() {
    let Some(host) = find_copilot() else { return };
    let sandbox = Sandbox::new();
    let file = create_repository(&sandbox);
    let folder = sandbox.root.join(".copilot");
    let (servers, hooks) = (folder.join("mcp-config.json"), folder.join("hooks/waylore.json"));
    fs::create_dir_all(&folder).unwrap();
    fs::write(&servers, USER_SERVERS).unwrap();
    sandbox.run(&["connect", "copilot", "--yes"]).expect_code(0, "connect");

    let view = ("view", json!({ "path": file }));
    let edit = json!({ "path": file, "old_str": "hello", "new_str": "hi" });
    let learning_script = vec![
        view.clone(),
        ("edit", edit),
        bash_call(FAILING_COMMAND),
        bash_call(FIXED_COMMAND),
        bash_call(COMMIT_COMMAND),
    ];
    let search = ("waylore-search_memory", search_arguments());
    let repeating_script = vec![view, bash_call(FAILING_COMMAND_VARIANT), search];
    assert_sessions_learn_from_one_another(
        &sandbox,
        learning_script,
        repeating_script,
        &|prompt, script| run_session(&sandbox, &host, prompt, script).requests,
    );

    sandbox.run(&["disconnect", "copilot", "--yes"]).expect_code(0, "disconnect");
    assert_eq!(read_text(&servers).as_deref(), Some(USER_SERVERS), "byte for byte");
    assert_eq!(read_text(&hooks), None);
    assert!(!folder.join("hooks").exists(), "no empty folder is left");
}

/// The host writes the end of its transcript after the hook of the session's end has run.
#[cfg(unix)]
#[test]
fn the_last_calls_of_a_copilot_session_are_learned() {
    let Some(host) = find_copilot() else { return };
    let sandbox = Sandbox::new();
    let file = create_repository(&sandbox);
    sandbox.run(&["connect", "copilot", "--yes"]).expect_code(0, "connect");
    let _daemon = crate::daemon::RunningDaemon::start(&sandbox);
    let edit = json!({ "path": file, "old_str": "hello", "new_str": "hi" });
    let script = vec![
        ("edit", edit),
        bash_call(COMMIT_COMMAND),
        bash_call(FAILING_COMMAND),
        bash_call(FIXED_COMMAND),
    ];
    run_session(&sandbox, &host, "Please make greet.py say hi.", script);

    // The fix was the last call. Each attempt is a session of its own, because a session gets a note
    // once; a busy machine may leave an attempt without an answer. Several attempts may make a memory of
    // what was seen once. The daemon learns every attempt as well, so the next one waits until something
    // was learned.
    let error = "fatal: unrecognized argument: --no-stat";
    let (mut n_attempts, mut learned) = (0, serde_json::Value::Null);
    wait_until("a later session is told the fix", || {
        let now = sandbox.json(&["explain"]);
        if now == learned {
            return false;
        }
        learned = now;
        n_attempts += 1;
        let event = failed_command(FAILING_COMMAND_VARIANT, error);
        let note = injected_text(&sandbox, &format!("later-{n_attempts}"), event);
        note.contains(FIXED_COMMAND)
    });
}

pub(crate) fn find_copilot() -> Option<PathBuf> {
    let found = find_host("WAYLORE_COPILOT", "copilot/current/copilot");
    if found.is_none() {
        let reason = "`copilot` is not installed; `scripts/setup hosts` installs it";
        skip("a real session of Copilot CLI", reason);
    }
    found
}

/// Runs one session.
pub(crate) fn run_session(
    sandbox: &Sandbox,
    host: &Path,
    prompt: &str,
    script: ModelScript,
) -> SessionRun {
    let server = start_scripted_model(script);
    let mut command = Command::new(host);
    sandbox.set_environment(&mut command);
    command.args(["--allow-all", "--no-color", "--output-format", "json", "-p", prompt]);
    command.env("COPILOT_OFFLINE", "true").env("COPILOT_ALLOW_ALL", "true");
    command.env("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", server.url()));
    command.env("COPILOT_PROVIDER_API_KEY", "none").env("COPILOT_MODEL", "gpt-4.1");
    command.env("SHELL", "/bin/bash").env("TMPDIR", &sandbox.root).env("NO_PROXY", "127.0.0.1");
    let printed = run_host(command);
    SessionRun { requests: requests_with_tools(&server), printed }
}
