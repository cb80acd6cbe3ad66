//! Recurring errors, through the hook of each host: a session that met an error and resolved it is learned,
//! and the next session that meets it is told what ended it, in the host's own dialect.

use serde_json::{Value, json};

use crate::learning::write_transcript;
use crate::sandbox::Sandbox;

/// The message with which a host reports that a command printed an error.
fn failure_message(host: &str, cwd: &str, command: &str, output: &str) -> Value {
    match host {
        "claude-code" => {
            json!({ "session_id": "s2", "cwd": cwd, "hook_event_name": "PostToolUseFailure", "tool_name": "Bash",
                "tool_input": { "command": command }, "error": format!("Exit code 1\n{output}") })
        }
        "codex" => {
            json!({ "session_id": "s2", "cwd": cwd, "hook_event_name": "PostToolUse", "tool_name": "Bash",
                "tool_input": { "command": command }, "tool_response": output })
        }
        "gemini" => {
            json!({ "session_id": "s2", "cwd": cwd, "hook_event_name": "AfterTool", "tool_name": "run_shell_command",
                "tool_input": { "command": command }, "tool_response": { "llmContent": format!("Output: {output}\nExit Code: 1") } })
        }
        "copilot" => {
            json!({ "sessionId": "s2", "cwd": cwd, "hook_event_name": "postToolUse", "toolName": "bash",
                "toolArgs": { "command": command },
                "toolResult": { "resultType": "success", "textResultForLlm": format!("{output}\n<shellId: 0 completed with exit code 1>") } })
        }
        "opencode" => {
            json!({ "sessionID": "s2", "directory": cwd, "hook_event_name": "tool.execute.after", "callID": "c1", "tool": "bash",
                "args": { "command": command }, "output": output, "exit": 1 })
        }
        other => panic!("no message of {other}"),
    }
}

const HOSTS: &[&str] = &["claude-code", "codex", "gemini", "copilot", "opencode"];

/// Sessions that met an error and resolved it, the failure of the next session, and a part of the answer.
const CASES: &[(&str, &str, &str, &str)] = &[
    (
        "fail npm test: Error: DATABASE_URL is not set\nrun DATABASE_URL=sqlite::memory: npm test",
        "npm test",
        "Error: DATABASE_URL is not set",
        "DATABASE_URL=sqlite::memory: npm test",
    ),
    (
        "fail pytest -q: bash: pytest: command not found\nrun python -m pytest -q",
        "pytest -q",
        "bash: pytest: command not found",
        "`python -m pytest -q` instead of `pytest -q`",
    ),
    (
        "fail npm run lint: sh: eslint: command not found\nrun npm ci\nrun npm run lint",
        "npm run lint",
        "sh: eslint: command not found",
        "run `npm ci` first",
    ),
    (
        "fail git push: fatal: The current branch a has no upstream branch.\nrun git push -u origin HEAD",
        "git push",
        "fatal: The current branch b has no upstream branch.",
        "git push -u origin HEAD",
    ),
];

#[test]
fn every_host_is_told_what_ended_a_recurring_error() {
    for (nth, (script, command, output, answer)) in CASES.iter().enumerate() {
        let sandbox = Sandbox::new();
        write_transcript(&sandbox, 1, 5, &format!("user work on the shop\n{script}"));
        sandbox.json(&["learn"]);
        let cwd = sandbox.project.display().to_string();
        for host in HOSTS {
            let ask = |command: &str, output: &str| {
                let mut message = failure_message(host, &cwd, command, output);
                let session = format!("{host}-{nth}-{command}-{}", output.len());
                for key in ["session_id", "sessionId", "sessionID"] {
                    if !message[key].is_null() {
                        message[key] = json!(session);
                    }
                }
                let told = sandbox.run_with_input(&["hook", host], message.to_string().as_bytes());
                assert_eq!((told.code, told.err.as_str()), (0, ""), "{host}");
                told.out
            };
            let told = ask(command, output);
            assert!(told.contains(answer), "{host}, {command}: {told}");
            // Another error of the same command, and the same error of another command.
            let other = ask(command, "Error: expected 3 orders, found 4");
            assert!(!other.contains(answer), "{host}, {command}: {other}");
            let other = ask("make release", output);
            assert!(!other.contains(answer), "{host}, make release: {other}");
        }
    }
}
