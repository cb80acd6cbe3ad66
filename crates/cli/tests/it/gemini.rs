//! The real Gemini CLI against an API of our own: its hooks tell us, and what is known reaches the model.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::chat::{self, COMMIT, MISTAKE, REMEDY, Script, text};
use crate::kit::{Desk, skip};
use crate::server::{Reply, Seen, Server};

/// What somebody has set before we came.
const THEIRS: &str = "{\n  \"security\": { \"auth\": { \"selectedType\": \"gemini-api-key\" }, \"folderTrust\": { \"enabled\": false } },\n  \"general\": { \"enableAutoUpdate\": false },\n  \"privacy\": { \"usageStatisticsEnabled\": false }\n}\n";

/// How far the model has come is how often it has spoken.
fn model(script: Script) -> Server {
    Server::start(move |seen: &Seen| {
        let contents = seen.body["contents"].as_array().cloned().unwrap_or_default();
        let n_said = contents.iter().filter(|it| it["role"] == "model").count();
        let part = match script.get(n_said).filter(|_| is_asked(&seen.body)) {
            Some((tool, input)) => {
                let id = format!("call_{n_said}");
                json!({ "functionCall": { "id": id, "name": tool, "args": input }, "thoughtSignature": "bm9uZQ==" })
            }
            None => json!({ "text": "Done." }),
        };
        let candidate = json!({ "index": 0, "finishReason": "STOP", "content": { "role": "model", "parts": [part] } });
        let usage =
            json!({ "promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20 });
        let whole = json!({ "candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted", "totalTokens": 10 });
        if seen.line.contains("streamGenerateContent") {
            Reply::Events(format!("data: {whole}\n\n"))
        } else {
            Reply::Json(whole)
        }
    })
}

/// Whether the agent itself asks, and not the host for a purpose of its own.
fn is_asked(body: &Value) -> bool {
    body["contents"].is_array() && body["tools"].as_array().is_some_and(|it| !it.is_empty())
}

fn session(desk: &Desk, node: &Path, host: &Path, prompt: &str, script: Script) -> Vec<Value> {
    let server = model(script);
    let mut command = Command::new(node);
    desk.surround(&mut command);
    command.arg(host).args([
        "--yolo",
        "-m",
        "gemini-2.5-pro",
        "--output-format",
        "json",
        "-p",
        prompt,
    ]);
    command.env("GEMINI_API_KEY", "none").env("GOOGLE_GEMINI_BASE_URL", server.url());
    command.env("GEMINI_CLI_TRUST_WORKSPACE", "true").env("CI", "1");
    command.env("SHELL", "/bin/bash").env("TMPDIR", &desk.root).env("NO_PROXY", "127.0.0.1");
    chat::run(command);
    let asked = server.seen().into_iter().map(|it| it.body).filter(is_asked);
    asked.map(|it| json!({ "messages": it["contents"], "tools": it["tools"] })).collect()
}

#[test]
fn what_one_session_of_gemini_learned_reaches_the_next() {
    let installed = "gemini/node_modules/@google/gemini-cli/bundle/gemini.js";
    let Some(host) = chat::host("WAYLORE_GEMINI", installed) else {
        let why = "`gemini` is not here; `scripts/setup hosts` installs it";
        return skip("a real session of Gemini CLI", why);
    };
    let Some(node) = chat::node() else {
        let why = "`node` is not here; `scripts/setup hosts` installs it";
        return skip("a real session of Gemini CLI", why);
    };
    let desk = Desk::new();
    let file = chat::repository(&desk);
    let settings = desk.root.join(".gemini/settings.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(&settings, THEIRS).unwrap();
    desk.run(&["connect", "gemini", "--yes"]).ends(0, "connected");

    let run = |command: &str| {
        ("run_shell_command", json!({ "command": command, "description": "Run it" }))
    };
    let read = ("read_file", json!({ "file_path": file }));
    let edit = json!({ "file_path": file, "old_string": "hello", "new_string": "hi", "instruction": "say hi" });
    let first = vec![read.clone(), ("replace", edit), run(MISTAKE), run(REMEDY), run(COMMIT)];
    let ask = ("mcp_waylore_search_memory", chat::question());
    let again = vec![read, run("git show --no-stat HEAD~0"), ask];
    chat::learned_and_told(&desk, first, again, &|prompt, script| {
        session(&desk, &node, &host, prompt, script)
    });

    desk.run(&["disconnect", "gemini", "--yes"]).ends(0, "disconnected");
    let left = text(&settings).unwrap();
    assert!(!left.contains("waylore") && left.contains("gemini-api-key"), "{left}");
}
