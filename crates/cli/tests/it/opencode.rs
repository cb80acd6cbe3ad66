//! Waylore with the real `OpenCode`: the test runs the host against a scripted model and inspects the
//! requests that the model receives, because the injected notes are part of them. The events come from
//! a plugin that `connect` installs in `OpenCode`.
//!
//! `assert_sessions_learn_from_one_another` runs three sessions. The first meets an error
//! (`FAILING_COMMAND`), finds the fix (`FIXED_COMMAND`) and commits; the second meets the same error
//! (`FAILING_COMMAND_VARIANT`) and must get the fix; the third has an unrelated task and must get nothing.
//! A script is the list of tool calls that the model makes; tools and their arguments have the names of
//! this host.
//!
//! The test is skipped if `opencode` is not installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::chat_model::{
    COMMIT_COMMAND, FAILING_COMMAND, FAILING_COMMAND_VARIANT, FIXED_COMMAND, ModelScript,
    SessionRun, assert_sessions_learn_from_one_another, bash_call, create_repository, find_host,
    read_text, requests_with_tools, run_host, search_arguments, start_scripted_model,
};
use crate::sandbox::{Sandbox, skip};

/// The user's settings before `connect`: with comments, trailing commas and an MCP server.
const USER_SETTINGS: &str = r#"{
  "$schema": "https://opencode.ai/config.json",
  // the model of this test
  "model": "scripted/scripted",
  "small_model": "scripted/scripted",
  "autoupdate": false,
  "share": "disabled",
  "permission": { "*": "allow" },
  "provider": {
    "scripted": {
      "npm": "@ai-sdk/openai-compatible",
      "name": "scripted",
      "options": { "baseURL": "{env:SCRIPTED_URL}/v1", "apiKey": "none" },
      "models": { "scripted": { "name": "scripted", "tool_call": true, "limit": { "context": 100000, "output": 8000 } } },
    },
  },
  "mcp": { "mine": { "type": "local", "command": ["mine"], "enabled": false } } /* mine */
}
"#;

#[test]
fn a_session_of_opencode_gets_what_an_earlier_one_learned() {
    let Some(host) = find_opencode() else { return };
    let sandbox = Sandbox::new();
    let file = create_repository(&sandbox);
    let folder = write_user_settings(&sandbox);
    let (settings, plugin) = (folder.join("opencode.json"), folder.join("plugin/waylore.js"));
    sandbox.run(&["connect", "opencode", "--yes"]).expect_code(0, "connect");
    let connected = read_text(&settings).unwrap();
    assert!(
        connected.contains("// the model of this test") && connected.contains("/* mine */"),
        "comments stay: {connected}"
    );

    let read = ("read", json!({ "filePath": file }));
    let edit = json!({ "filePath": file, "oldString": "hello", "newString": "hi" });
    let learning_script = vec![
        read.clone(),
        ("edit", edit),
        bash_call(FAILING_COMMAND),
        bash_call(FIXED_COMMAND),
        bash_call(COMMIT_COMMAND),
    ];
    let search = ("waylore_search_memory", search_arguments());
    let repeating_script = vec![read, bash_call(FAILING_COMMAND_VARIANT), search];
    assert_sessions_learn_from_one_another(
        &sandbox,
        learning_script,
        repeating_script,
        &|prompt, script| run_session(&sandbox, &host, prompt, script).requests,
    );
    #[cfg(unix)]
    assert_search_gets_a_note_between_steps(&sandbox, &host);

    sandbox.run(&["disconnect", "opencode", "--yes"]).expect_code(0, "disconnect");
    assert_eq!(read_text(&settings).as_deref(), Some(USER_SETTINGS), "byte for byte");
    assert_eq!(read_text(&plugin), None);
    assert!(!folder.join("plugin").exists(), "no empty folder is left");
}

/// At the trust level `confident`, a step that searches for something known gets the note before the
/// next step: once, and not in the first steps of a session.
#[cfg(unix)]
fn assert_search_gets_a_note_between_steps(sandbox: &Sandbox, host: &Path) {
    sandbox.run(&["config", "set", "trust.level", "confident"]).expect_code(0, "set the level");
    let _daemon = crate::daemon::RunningDaemon::start(sandbox);
    // A search, five other steps, and two searches again.
    let search = || bash_call("grep -rn 'greet installer name' .");
    let mut script = vec![search()];
    script.extend((0..5).map(|it| bash_call(&format!("echo {it}"))));
    script.extend([search(), search()]);
    let requests = run_session(sandbox, host, "Count to five, please, slowly.", script).requests;
    let n_notes = |it: &Value| it["messages"].to_string().matches("keep its name").count();
    // Request 0 has no step before it, so request 6 follows the first search and the five other steps.
    // The first search came too early for a note.
    let (before_second_search, end) = (&requests[6], requests.last().unwrap());
    assert_eq!(n_notes(before_second_search), 0, "too early: {before_second_search}");
    // Of the last two searches, the first got the note and the second did not get it again.
    assert_eq!(n_notes(end), 1, "once: {end}");
}

pub(crate) fn find_opencode() -> Option<PathBuf> {
    let found = find_host("WAYLORE_OPENCODE", "opencode/current/bin/opencode");
    if found.is_none() {
        let reason = "`opencode` is not installed; `scripts/setup hosts` installs it";
        skip("a real session of OpenCode", reason);
    }
    found
}

/// Writes the settings that make the host talk to the scripted model. Returns their folder.
pub(crate) fn write_user_settings(sandbox: &Sandbox) -> PathBuf {
    // The host tries to fetch types for plugins, which it does not need: a closed port fails at once.
    fs::write(sandbox.root.join(".npmrc"), "registry=http://127.0.0.1:9/\nfetch-retries=0\n")
        .unwrap();
    let folder = sandbox.root.join(".config/opencode");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("opencode.json"), USER_SETTINGS).unwrap();
    folder
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
    command.args(["run", "--format", "json", prompt]);
    for feature in ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS"] {
        command.env(format!("OPENCODE_DISABLE_{feature}"), "1");
    }
    command.env("SCRIPTED_URL", server.url()).env("SHELL", "/bin/bash");
    command.env("TMPDIR", &sandbox.root).env("NO_PROXY", "127.0.0.1");
    let printed = run_host(command);
    SessionRun { requests: requests_with_tools(&server), printed }
}
