//! The real `OpenCode` against an API of our own: our plugin says what happens, and what is known reaches
//! the model.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::chat::{self, COMMIT, MISTAKE, REMEDY, Script, bash, text};
use crate::kit::{Desk, skip};

/// A person's settings, with a comment, a comma too many and a server of their own.
const SETTINGS: &str = r#"{
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

fn session(desk: &Desk, host: &Path, prompt: &str, script: Script) -> Vec<Value> {
    let server = chat::model(script);
    let mut command = Command::new(host);
    desk.surround(&mut command);
    command.args(["run", "--format", "json", prompt]);
    for quiet in ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS"] {
        command.env(format!("OPENCODE_DISABLE_{quiet}"), "1");
    }
    command.env("SCRIPTED_URL", server.url()).env("SHELL", "/bin/bash");
    command.env("TMPDIR", &desk.root).env("NO_PROXY", "127.0.0.1");
    chat::run(command);
    chat::requests(&server)
}

#[test]
fn what_one_session_of_opencode_learned_reaches_the_next() {
    let Some(host) = chat::host("WAYLORE_OPENCODE", "opencode/current/bin/opencode") else {
        let why = "`opencode` is not here; `scripts/setup hosts` installs it";
        return skip("a real session of OpenCode", why);
    };
    let desk = Desk::new();
    let file = chat::repository(&desk);
    // It would fetch types for plugins; without them it runs as well.
    fs::write(desk.root.join(".npmrc"), "registry=http://127.0.0.1:9/\nfetch-retries=0\n").unwrap();
    let folder = desk.root.join(".config/opencode");
    let (settings, plugin) = (folder.join("opencode.json"), folder.join("plugin/waylore.js"));
    fs::create_dir_all(&folder).unwrap();
    fs::write(&settings, SETTINGS).unwrap();
    desk.run(&["connect", "opencode", "--yes"]).ends(0, "connected");
    let with = text(&settings).unwrap();
    assert!(with.contains("// the model of this test") && with.contains("/* mine */"), "{with}");

    let read = ("read", json!({ "filePath": file }));
    let edit = json!({ "filePath": file, "oldString": "hello", "newString": "hi" });
    let first = vec![read.clone(), ("edit", edit), bash(MISTAKE), bash(REMEDY), bash(COMMIT)];
    let ask = ("waylore_search_memory", chat::question());
    let again = vec![read, bash("git show --no-stat HEAD~0"), ask];
    chat::learned_and_told(&desk, first, again, &|prompt, script| {
        session(&desk, &host, prompt, script)
    });

    // Between two steps, something that is searched for and known is told, once, and not too early.
    #[cfg(unix)]
    {
        desk.run(&["config", "set", "trust.level", "confident"]).ends(0, "it is done");
        let _running = crate::daemon::Running::start(&desk);
        let search = || bash("grep -rn 'greet installer name' .");
        let mut steps = vec![search()];
        steps.extend((0..5).map(|it| bash(&format!("echo {it}"))));
        steps.extend([search(), search()]);
        let asked = session(&desk, &host, "Count to five, please, slowly.", steps);
        let told = |it: &Value| it["messages"].to_string().matches("keep its name").count();
        assert_eq!(told(&asked[6]), 0, "too early: {}", asked[6]["messages"]);
        assert_eq!(told(asked.last().unwrap()), 1, "once: {}", asked.last().unwrap()["messages"]);
    }

    desk.run(&["disconnect", "opencode", "--yes"]).ends(0, "disconnected");
    assert_eq!(text(&settings).as_deref(), Some(SETTINGS), "byte for byte");
    assert_eq!(text(&plugin), None);
}
