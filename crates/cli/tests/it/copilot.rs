//! The real Copilot CLI, offline, against an API of our own: its hooks tell us, and what is known reaches
//! the model.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::chat::{self, COMMIT, MISTAKE, REMEDY, Script, bash, text};
use crate::kit::{Desk, skip};

const SERVERS: &str = "{\n  \"mcpServers\": {\n    \"mine\": { \"type\": \"local\", \"command\": \"true\", \"args\": [], \"tools\": [] }\n  }\n}\n";

fn session(desk: &Desk, host: &Path, prompt: &str, script: Script) -> Vec<Value> {
    let server = chat::model(script);
    let mut command = Command::new(host);
    desk.surround(&mut command);
    command.args(["--allow-all", "--no-color", "--output-format", "json", "-p", prompt]);
    command.env("COPILOT_OFFLINE", "true").env("COPILOT_ALLOW_ALL", "true");
    command.env("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", server.url()));
    command.env("COPILOT_PROVIDER_API_KEY", "none").env("COPILOT_MODEL", "gpt-4.1");
    command.env("SHELL", "/bin/bash").env("TMPDIR", &desk.root).env("NO_PROXY", "127.0.0.1");
    chat::run(command);
    chat::requests(&server)
}

#[test]
fn what_one_session_of_copilot_learned_reaches_the_next() {
    let Some(host) = chat::host("WAYLORE_COPILOT", "copilot/current/copilot") else {
        let why = "`copilot` is not here; `scripts/setup hosts` installs it";
        return skip("a real session of Copilot CLI", why);
    };
    let desk = Desk::new();
    let file = chat::repository(&desk);
    let folder = desk.root.join(".copilot");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("mcp-config.json"), SERVERS).unwrap();
    desk.run(&["connect", "copilot", "--yes"]).ends(0, "connected");

    let view = ("view", json!({ "path": file }));
    let edit = json!({ "path": file, "old_str": "hello", "new_str": "hi" });
    let first = vec![view.clone(), ("edit", edit), bash(MISTAKE), bash(REMEDY), bash(COMMIT)];
    let ask = ("waylore-search_memory", chat::question());
    let again = vec![view, bash("git show --no-stat HEAD~0"), ask];
    chat::learned_and_told(&desk, first, again, &|prompt, script| {
        session(&desk, &host, prompt, script)
    });

    desk.run(&["disconnect", "copilot", "--yes"]).ends(0, "disconnected");
    assert_eq!(text(&folder.join("mcp-config.json")).as_deref(), Some(SERVERS), "byte for byte");
    assert_eq!(text(&folder.join("hooks/waylore.json")), None);
}
