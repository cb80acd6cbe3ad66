//! Tests that a connected host works as if it had never been connected once the program of Waylore is
//! gone: the user deleted it, moved it, or shares the settings with a machine that lacks it.
//!
//! Each test connects a real host with a copy of the program, in a folder whose name contains a space.
//! One session deletes the copy half-way, the next one starts without it. Both must run to their end,
//! the model must get the unchanged results of its commands, and no hook may be reported as failed.
//!
//! A test is skipped if its host is not installed.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::chat_model::{ModelScript, SessionRun, bash_call, create_repository};
use crate::sandbox::{Sandbox, copy_program, files_containing, run_command};
use crate::{claude, codex, copilot, gemini, opencode};

/// Folder of the copied program, below the root of the sandbox.
const PROGRAM_FOLDER: &str = "my programs";
/// Deletes the program; the project is the working directory.
const DELETE_PROGRAM: &str = "rm -r '../my programs'";
/// Prints `RESULT`, and its text does not contain it.
const PRINT_RESULT: &str = "printf 'the answer is %s\\n' forty-two";
const RESULT: &str = "the answer is forty-two";
/// More text than a pipe buffers: a hook that ends without reading its message must not fail the host.
const PRINT_LONG_TEXT: &str = "yes 'a long line of text' | head -n 4000";

/// Connects the host with a copy of the program. `host_folder` is put on the `PATH`.
fn connect_copy(sandbox: &Sandbox, args: &[&str], host_folder: Option<&Path>) {
    let folder = sandbox.root.join(PROGRAM_FOLDER);
    std::fs::create_dir_all(&folder).unwrap();
    let program = folder.join("waylore");
    copy_program(&program);
    let mut command = Command::new(program);
    sandbox.set_environment(&mut command);
    if let Some(host_folder) = host_folder {
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", host_folder.display()));
    }
    command.args(args);
    run_command(command).expect_code(0, "connect");
}

/// Runs a session in which the program disappears and one without it. `run_commands` runs a session
/// whose agent executes these shell commands.
fn assert_survives_our_absence(run_commands: &dyn Fn(&[&str]) -> SessionRun) {
    let during = run_commands(&[DELETE_PROGRAM, PRINT_LONG_TEXT, PRINT_RESULT, "cat greet.py"]);
    assert_undisturbed("deleted during the session", &during);
    let without = run_commands(&[PRINT_LONG_TEXT, PRINT_RESULT, "cat greet.py"]);
    assert_undisturbed("deleted before the session", &without);
}

/// Asserts that the model got the results of its commands and that the host reported no failed hook.
#[track_caller]
fn assert_undisturbed(case: &str, run: &SessionRun) {
    let end = run.requests.last().map(Value::to_string).unwrap_or_default();
    assert!(end.contains(RESULT), "{case}: {end}\n{}", run.printed);
    assert!(end.contains("return 'hello'"), "{case}: {end}\n{}", run.printed);
    // Every host lists an MCP server that it cannot start as failed, which is what the user needs to know.
    let is_server_status = |it: &&str| it.contains("mcp_server") || it.contains("MCP");
    // Gemini CLI measures its own start, and on a busy machine misses a mark of it.
    let is_start_up = |it: &&str| it.starts_with("[STARTUP]");
    let lines = run.printed.lines().filter(|it| !is_server_status(it) && !is_start_up(it));
    for line in lines {
        for complaint in ["my programs/", "not found", "No such file", "Broken pipe", "blocked"] {
            assert!(!line.contains(complaint), "{case}: {complaint}: {line}");
        }
    }
}

#[test]
fn claude_code_survives_our_absence() {
    let Some(host) = claude::find_claude() else { return };
    let sandbox = Sandbox::new();
    create_repository(&sandbox);
    connect_copy(&sandbox, &["connect", "claude-code", "--yes"], host.parent());
    assert_survives_our_absence(&|commands| {
        let script = commands.iter().map(|it| claude::bash(it)).collect();
        claude::run_session_requests(&sandbox, &host, &[], "Please count.", script)
    });
    // Failed hooks are not printed in this mode, but recorded in the transcript and shown by the TUI.
    let transcripts = sandbox.root.join(".claude/projects");
    assert!(!files_containing(&transcripts, RESULT).is_empty(), "there are transcripts");
    for complaint in ["hook_non_blocking_error", "hook_error"] {
        let with_complaint = files_containing(&transcripts, complaint);
        assert!(with_complaint.is_empty(), "{complaint}: {with_complaint:?}");
    }
}

#[test]
fn codex_survives_our_absence() {
    let Some(host_folder) = codex::find_codex_folder() else { return };
    let sandbox = Sandbox::new();
    create_repository(&sandbox);
    codex::write_user_settings(&sandbox);
    connect_copy(&sandbox, &["connect", "codex", "--yes", "--trust"], Some(&host_folder));
    assert_survives_our_absence(&|commands| {
        let script = commands.iter().map(|it| codex::shell(it)).collect();
        codex::run_session_requests(&sandbox, &host_folder, "Please count.", script)
    });
}

#[test]
fn gemini_survives_our_absence() {
    let Some(host) = gemini::find_gemini() else { return };
    let sandbox = Sandbox::new();
    create_repository(&sandbox);
    gemini::write_user_settings(&sandbox);
    connect_copy(&sandbox, &["connect", "gemini", "--yes"], None);
    assert_survives_our_absence(&|commands| {
        let script = commands.iter().map(|it| gemini::run(it)).collect();
        gemini::run_session(&sandbox, &host, "Please count.", script)
    });
}

#[test]
fn copilot_survives_our_absence() {
    let Some(host) = copilot::find_copilot() else { return };
    let sandbox = Sandbox::new();
    create_repository(&sandbox);
    connect_copy(&sandbox, &["connect", "copilot", "--yes"], None);
    assert_survives_our_absence(&|commands| {
        copilot::run_session(&sandbox, &host, "Please count.", chat_script(commands))
    });
}

#[test]
fn opencode_survives_our_absence() {
    let Some(host) = opencode::find_opencode() else { return };
    let sandbox = Sandbox::new();
    create_repository(&sandbox);
    opencode::write_user_settings(&sandbox);
    connect_copy(&sandbox, &["connect", "opencode", "--yes"], None);
    assert_survives_our_absence(&|commands| {
        opencode::run_session(&sandbox, &host, "Please count.", chat_script(commands))
    });
}

fn chat_script(commands: &[&str]) -> ModelScript {
    commands.iter().map(|it| bash_call(it)).collect()
}
