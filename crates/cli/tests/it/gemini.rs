//! Waylore with the real Gemini CLI: the test runs the host against a scripted model and inspects the
//! requests that the model receives, because the injected notes are part of them.
//!
//! `assert_sessions_learn_from_one_another` runs three sessions. The first meets an error
//! (`FAILING_COMMAND`), finds the fix (`FIXED_COMMAND`) and commits; the second meets the same error
//! (`FAILING_COMMAND_VARIANT`) and must get the fix; the third has an unrelated task and must get nothing.
//! A script is the list of tool calls that the model makes; tools and their arguments have the names of
//! this host.
//!
//! The model is a local server that speaks the Gemini API. The test is skipped if `gemini` or Node.js is
//! not installed.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::chat_model::{
    COMMIT_COMMAND, FAILING_COMMAND, FAILING_COMMAND_VARIANT, FIXED_COMMAND, ModelScript,
    SessionRun, assert_sessions_learn_from_one_another, create_repository, find_host, find_node,
    read_text, run_host, search_arguments,
};
use crate::http_server::{ReceivedRequest, ServerReply, TestServer};
use crate::sandbox::{Sandbox, skip};

/// The user's settings before `connect`.
const USER_SETTINGS: &str = r#"{
  "security": { "auth": { "selectedType": "gemini-api-key" }, "folderTrust": { "enabled": false } },
  "general": { "enableAutoUpdate": false },
  "privacy": { "usageStatisticsEnabled": false }
}
"#;

#[test]
fn a_session_of_gemini_gets_what_an_earlier_one_learned() {
    let Some(host) = find_gemini() else { return };
    let sandbox = Sandbox::new();
    let file = create_repository(&sandbox);
    let settings = write_user_settings(&sandbox);
    sandbox.run(&["connect", "gemini", "--yes"]).expect_code(0, "connect");

    let read = ("read_file", json!({ "file_path": file }));
    let edit = json!({ "file_path": file, "old_string": "hello", "new_string": "hi", "instruction": "say hi" });
    let learning_script = vec![
        read.clone(),
        ("replace", edit),
        run(FAILING_COMMAND),
        run(FIXED_COMMAND),
        run(COMMIT_COMMAND),
    ];
    let search = ("mcp_waylore_search_memory", search_arguments());
    let repeating_script = vec![read, run(FAILING_COMMAND_VARIANT), search];
    assert_sessions_learn_from_one_another(
        &sandbox,
        learning_script,
        repeating_script,
        &|prompt, script| run_session(&sandbox, &host, prompt, script).requests,
    );

    sandbox.run(&["disconnect", "gemini", "--yes"]).expect_code(0, "disconnect");
    let settings = read_text(&settings).unwrap();
    assert!(!settings.contains("waylore") && settings.contains("gemini-api-key"), "{settings}");
}

/// Node.js and the script that it runs as the host.
pub(crate) struct GeminiProgram {
    node: PathBuf,
    script: PathBuf,
}

pub(crate) fn find_gemini() -> Option<GeminiProgram> {
    let installed = "gemini/node_modules/@google/gemini-cli/bundle/gemini.js";
    if let (Some(script), Some(node)) = (find_host("WAYLORE_GEMINI", installed), find_node()) {
        return Some(GeminiProgram { node, script });
    }
    let reason = "`gemini` or `node` is not installed; `scripts/setup hosts` installs both";
    skip("a real session of Gemini CLI", reason);
    None
}

/// Writes the settings that make the host start without questions. Returns their path.
pub(crate) fn write_user_settings(sandbox: &Sandbox) -> PathBuf {
    let settings = sandbox.root.join(".gemini/settings.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(&settings, USER_SETTINGS).unwrap();
    settings
}

/// A call of the shell tool.
pub(crate) fn run(command: &str) -> (&'static str, Value) {
    ("run_shell_command", json!({ "command": command, "description": "Run it" }))
}

/// Runs one session. The requests have the shape that the chat-completions API would give them: with
/// `messages` and `tools`.
pub(crate) fn run_session(
    sandbox: &Sandbox,
    host: &GeminiProgram,
    prompt: &str,
    script: ModelScript,
) -> SessionRun {
    let server = start_gemini_model(script);
    let mut command = Command::new(&host.node);
    sandbox.set_environment(&mut command);
    command.arg(&host.script).args(["--yolo", "-m", "gemini-2.5-pro"]);
    command.args(["--output-format", "json", "-p", prompt]);
    command.env("GEMINI_API_KEY", "none").env("GOOGLE_GEMINI_BASE_URL", server.url());
    command.env("GEMINI_CLI_TRUST_WORKSPACE", "true").env("CI", "1");
    command.env("SHELL", "/bin/bash").env("TMPDIR", &sandbox.root).env("NO_PROXY", "127.0.0.1");
    let printed = run_host(command);
    let requests = server.requests().into_iter().map(|it| it.body).filter(is_agent_request);
    let to_chat = |it: Value| json!({ "messages": it["contents"], "tools": it["tools"] });
    SessionRun { requests: requests.map(to_chat).collect(), printed }
}

/// Starts a server of the Gemini API that plays a script, then answers "Done.".
fn start_gemini_model(script: ModelScript) -> TestServer {
    TestServer::start(move |request: &ReceivedRequest| {
        // Every request repeats the conversation, so the number of past answers is the script position.
        let contents = request.body["contents"].as_array().cloned().unwrap_or_default();
        let n_answers = contents.iter().filter(|it| it["role"] == "model").count();
        let part = match script.get(n_answers).filter(|_| is_agent_request(&request.body)) {
            Some((tool, input)) => {
                let id = format!("call_{n_answers}");
                json!({ "functionCall": { "id": id, "name": tool, "args": input }, "thoughtSignature": "bm9uZQ==" })
            }
            None => json!({ "text": "Done." }),
        };
        let candidate = json!({ "index": 0, "finishReason": "STOP", "content": { "role": "model", "parts": [part] } });
        let usage =
            json!({ "promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20 });
        // `totalTokens` is the answer to a request that only counts tokens.
        let reply = json!({ "candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted", "totalTokens": 10 });
        // The host reads some answers as a stream of events.
        if request.line.contains("streamGenerateContent") {
            ServerReply::Events(format!("data: {reply}\n\n"))
        } else {
            ServerReply::Json(reply)
        }
    })
}

/// A request of the agent, which offers tools, and not one that the host makes for itself.
fn is_agent_request(body: &Value) -> bool {
    body["contents"].is_array() && body["tools"].as_array().is_some_and(|it| !it.is_empty())
}
