//! The real Codex against an API of our own: what one session learned reaches the next, in what the model
//! is sent; and nothing is run before its owner trusts it.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::chat::{self, COMMIT, MISTAKE, REMEDY};
use crate::kit::{Desk, Said, finish, skip, workspace};
use crate::server::{Reply, Seen, Server};

/// What the model does, step by step: an item of its answer.
type Script = Vec<Value>;

/// The folder with the host, if it could be had.
fn host() -> Option<PathBuf> {
    let set = std::env::var_os("WAYLORE_CODEX").map(PathBuf::from);
    let installed = workspace().join(".tools/codex/bin");
    set.or_else(|| installed.canonicalize().ok()).filter(|it| it.join("codex").is_file())
}

fn shell(command: &str) -> Value {
    json!({ "type": "function_call", "status": "completed", "name": "exec_command",
        "arguments": json!({ "cmd": command }).to_string() })
}

fn patch(text: &str) -> Value {
    json!({ "type": "custom_tool_call", "status": "completed", "name": "apply_patch", "input": text })
}

/// A model that follows a script: how far it has come is how often it has called a tool.
fn model(script: Script) -> Server {
    Server::start(move |seen: &Seen| {
        if !seen.line.starts_with("POST /v1/responses") {
            return Reply::Json(json!({ "object": "list", "data": [], "models": [] }));
        }
        let items = seen.body["input"].as_array().cloned().unwrap_or_default();
        let is_call = |it: &&Value| it["type"].as_str().is_some_and(|it| it.ends_with("_call"));
        let n_called = items.iter().filter(is_call).count();
        let item = match script.get(n_called) {
            Some(item) => {
                let mut item = item.clone();
                item["id"] = format!("item_{n_called}").into();
                item["call_id"] = format!("call_{n_called}").into();
                item
            }
            None => {
                json!({ "type": "message", "id": "said", "role": "assistant", "status": "completed",
                "content": [{ "type": "output_text", "text": "Done.", "annotations": [] }] })
            }
        };
        Reply::Events(events(&item))
    })
}

/// One item as it comes over a stream.
fn events(item: &Value) -> String {
    let usage = json!({ "input_tokens": 10, "output_tokens": 10, "total_tokens": 20,
        "input_tokens_details": { "cached_tokens": 0 }, "output_tokens_details": { "reasoning_tokens": 0 } });
    let response = |status: &str, output: Value| json!({ "id": "r", "object": "response", "status": status, "output": output, "usage": usage });
    let all = [
        json!({ "type": "response.created", "response": response("in_progress", json!([])) }),
        json!({ "type": "response.output_item.added", "output_index": 0, "item": item }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        json!({ "type": "response.completed", "response": response("completed", json!([item])) }),
    ];
    let line = |it: &Value| format!("event: {}\ndata: {it}\n\n", it["type"].as_str().unwrap());
    all.iter().map(line).collect()
}

/// What somebody has written into the settings before we came.
const THEIRS: &str = r#"# my settings
model = "gpt-5.5"
model_provider = "here"   # not far away
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.here]
name = "here"
base_url = "http://127.0.0.1:1/v1"
env_key = "NOT_A_KEY"
wire_api = "responses"
supports_websockets = false
"#;

fn surround(desk: &Desk, host: &std::path::Path, command: &mut Command) {
    desk.surround(command);
    let old = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(host.to_owned()).chain(std::env::split_paths(&old));
    command.env("PATH", std::env::join_paths(paths).unwrap());
    command.env("NO_PROXY", "127.0.0.1").env("SHELL", "/bin/bash").env("NOT_A_KEY", "none");
}

/// Runs one session; what the model was sent, request by request.
fn session(desk: &Desk, host: &std::path::Path, prompt: &str, script: Script) -> Vec<String> {
    let server = model(script);
    let mut command = Command::new(host.join("codex"));
    surround(desk, host, &mut command);
    let address = format!("model_providers.here.base_url=\"{}/v1\"", server.url());
    command.args(["exec", "--json", "-c", &address, prompt]);
    chat::run(command);
    let asked = server.seen().into_iter().filter(|it| it.body["input"].is_array());
    asked.map(|it| it.body["input"].to_string()).collect()
}

fn waylore(desk: &Desk, host: &std::path::Path, args: &[&str]) -> Said {
    let mut command = desk.command(args);
    surround(desk, host, &mut command);
    finish(command)
}

#[test]
fn what_one_session_learned_reaches_the_next_in_codex() {
    let Some(host) = host() else {
        return skip(
            "a real session of Codex",
            "`codex` is not here; `scripts/setup hosts` installs it",
        );
    };
    let desk = Desk::new();
    chat::repository(&desk);
    let config = desk.root.join(".codex/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(&config, THEIRS).unwrap();

    // Settings change after a yes; trust is another matter, and another yes.
    let said = waylore(&desk, &host, &["--json", "connect", "codex", "--yes"]);
    assert_eq!((said.code, &said.json()["trusted"]), (0, &json!(false)), "{said:?}");
    assert!(!fs::read_to_string(&config).unwrap().contains("trusted_hash"));
    let said = waylore(&desk, &host, &["--json", "connect", "codex", "--yes", "--trust"]);
    assert_eq!((said.code, &said.json()["trusted"]), (0, &json!(true)), "{said:?}");
    let with = fs::read_to_string(&config).unwrap();
    assert!(with.starts_with(THEIRS) && with.contains("[mcp_servers.waylore]"), "{with}");
    waylore(&desk, &host, &["disconnect", "codex", "--yes"]).ends(0, "disconnected");
    assert_eq!(fs::read_to_string(&config).unwrap(), THEIRS);
    assert!(!desk.root.join(".codex/hooks.json").exists(), "there were none before");
    waylore(&desk, &host, &["connect", "codex", "--yes", "--trust"]).ends(0, "connected");

    // The first session makes a mistake, finds the way round it, and commits its work.
    let first = vec![
        shell("cat greet.py"),
        patch(
            "*** Begin Patch\n*** Update File: greet.py\n@@\n def greet():\n-    return 'hello'\n+    return 'hi'\n*** End Patch",
        ),
        shell(MISTAKE),
        shell(REMEDY),
        shell(COMMIT),
    ];
    let asked = session(&desk, &host, "Please make greet.py say hi.", first);
    assert!(asked.iter().all(|it| !it.contains("waylore-notes")), "nothing is known yet");
    let edited = fs::read_to_string(desk.project.join("greet.py")).unwrap();
    assert!(edited.contains("'hi'"), "its patch was applied: {}", asked.last().unwrap());
    desk.run(&[
        "remember",
        "--type",
        "gotcha",
        "--file",
        "greet.py",
        "greet() is called by the installer: keep its name",
    ])
    .ends(0, "kept");
    desk.run(&["learn"]).ends(0, "whether or not the end of the first session was quick enough");

    // The second meets the same error and is told; and it is told about the file.
    #[cfg(unix)]
    let _running = crate::daemon::Running::start(&desk);
    let again = vec![shell("cat greet.py"), shell("git show --no-stat HEAD~0")];
    let asked = session(&desk, &host, "Show me the last change.", again);
    let all = asked.last().unwrap();
    assert!(all.contains("keep its name"), "{all}");
    assert!(all.contains("git show --stat HEAD") && all.contains("seen once"), "{all}");
    assert!(!asked[1].contains("seen once"), "not before the error: {}", asked[1]);
    // What the host wrote down itself was followed while the session went on.
    #[cfg(unix)]
    {
        let journals =
            crate::kit::holding(&desk.notebook().join("journals"), "git show --no-stat HEAD~0");
        assert_eq!(journals.len(), 1, "{journals:?}");
        let journal = fs::read_to_string(&journals[0]).unwrap();
        assert!(journal.contains("Show me the last change."), "{journal}");
    }

    // A third that has nothing to do with any of it is told nothing.
    let asked = session(&desk, &host, "What is the boiling point of ethanol?", Vec::new());
    assert!(asked.iter().all(|it| !it.contains("waylore-notes")), "{asked:?}");

    // What the host has changed meanwhile stays when we go.
    waylore(&desk, &host, &["disconnect", "codex", "--yes"]).ends(0, "disconnected");
    let left = fs::read_to_string(&config).unwrap();
    assert!(left.starts_with(THEIRS) && !left.contains("waylore"), "{left}");
}
