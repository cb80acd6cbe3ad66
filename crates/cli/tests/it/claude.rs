//! The real Claude Code against an API of our own: what one session learned reaches the next, in what
//! the model is sent.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::kit::{Desk, finish, skip, workspace};
use crate::server::{Reply, Seen, Server};

/// What the model does, step by step: a tool and its input.
type Script = Vec<(&'static str, Value)>;

/// The host, if it could be had.
fn host() -> Option<PathBuf> {
    let set = std::env::var_os("WAYLORE_CLAUDE").map(PathBuf::from);
    let installed = workspace().join(".tools/claude-code/current/claude");
    set.or_else(|| installed.canonicalize().ok()).filter(|it| it.is_file())
}

/// A model that follows a script: how far it has come is how often it has spoken.
fn model(script: Script) -> Server {
    Server::start(move |seen: &Seen| {
        if !seen.line.starts_with("POST /v1/messages") || seen.line.contains("count_tokens") {
            return Reply::Json(json!({ "data": [], "input_tokens": 1 }));
        }
        let messages = seen.body["messages"].as_array().cloned().unwrap_or_default();
        let n_said = messages.iter().filter(|it| it["role"] == "assistant").count();
        let has_tools = seen.body["tools"].as_array().is_some_and(|it| !it.is_empty());
        let block = match script.get(n_said).filter(|_| has_tools) {
            Some((tool, input)) => {
                json!({ "type": "tool_use", "id": format!("toolu_{n_said}"), "name": tool, "input": input })
            }
            None => json!({ "type": "text", "text": "Done." }),
        };
        if seen.body["stream"] == true {
            Reply::Events(events(n_said, &block))
        } else {
            Reply::Json(message(n_said, &[block]))
        }
    })
}

/// Messages with one id are one message in the eyes of the host.
fn message(nth: usize, content: &[Value]) -> Value {
    json!({ "id": format!("msg_{nth}"), "type": "message", "role": "assistant", "model": "scripted", "content": content,
        "stop_reason": "end_turn", "stop_sequence": null, "usage": { "input_tokens": 10, "output_tokens": 10 } })
}

/// One block as it comes over a stream.
fn events(nth: usize, block: &Value) -> String {
    let (start, delta, stop) = if block["type"] == "tool_use" {
        let start =
            json!({ "type": "tool_use", "id": block["id"], "name": block["name"], "input": {} });
        let input = block["input"].to_string();
        (start, json!({ "type": "input_json_delta", "partial_json": input }), "tool_use")
    } else {
        let text = json!({ "type": "text_delta", "text": block["text"] });
        (json!({ "type": "text", "text": "" }), text, "end_turn")
    };
    let all = [
        json!({ "type": "message_start", "message": message(nth, &[]) }),
        json!({ "type": "content_block_start", "index": 0, "content_block": start }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": stop, "stop_sequence": null }, "usage": { "output_tokens": 10 } }),
        json!({ "type": "message_stop" }),
    ];
    all.iter()
        .map(|it| format!("event: {}\ndata: {it}\n\n", it["type"].as_str().unwrap()))
        .collect::<Vec<_>>()
        .concat()
}

/// Runs one session; what the model was sent, request by request.
fn session(desk: &Desk, host: &PathBuf, prompt: &str, script: Script) -> Vec<String> {
    requests(desk, host, prompt, script).iter().map(|it| it["messages"].to_string()).collect()
}

/// Runs one session; the requests that offered tools.
fn requests(desk: &Desk, host: &PathBuf, prompt: &str, script: Script) -> Vec<Value> {
    let server = model(script);
    let mut command = Command::new(host);
    desk.surround(&mut command);
    command.args([
        "-p",
        prompt,
        "--permission-mode",
        "bypassPermissions",
        "--output-format",
        "json",
        "--max-turns",
        "20",
    ]);
    command.env("ANTHROPIC_BASE_URL", server.url()).env("ANTHROPIC_API_KEY", "not-a-key");
    for quiet in [
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "DISABLE_AUTOUPDATER",
        "DISABLE_TELEMETRY",
        "DISABLE_ERROR_REPORTING",
        "IS_SANDBOX",
    ] {
        command.env(quiet, "1");
    }
    command.env("SHELL", "/bin/bash").env("TMPDIR", &desk.root).env("NO_PROXY", "127.0.0.1");
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let asked = server
        .seen()
        .into_iter()
        .filter(|it| it.body["tools"].as_array().is_some_and(|it| !it.is_empty()));
    asked.map(|it| it.body).collect()
}

/// Connects the host, which is looked up to be asked for its version.
fn connect(desk: &Desk, host: &std::path::Path) {
    let mut command = desk.command(&["connect", "claude-code", "--yes"]);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", host.parent().unwrap().display()));
    finish(command).ends(0, "connected");
}

fn unavailable() {
    skip(
        "a real session of Claude Code",
        "`claude` is not here; `scripts/setup hosts` installs it",
    );
}

pub(crate) fn git(desk: &Desk, args: &[&str]) {
    let mut command = Command::new("git");
    desk.surround(&mut command);
    let done =
        command.args(["-c", "user.name=t", "-c", "user.email=t@t"]).args(args).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

fn bash(command: &str) -> (&'static str, Value) {
    ("Bash", json!({ "command": command, "description": "Run it" }))
}

#[test]
fn what_one_session_learned_reaches_the_next() {
    let Some(host) = host() else { return unavailable() };
    let desk = Desk::new();
    let file = desk.project.join("greet.py").display().to_string();
    fs::write(&file, "def greet():\n    return 'hello'\n").unwrap();
    git(&desk, &["init", "-q"]);
    git(&desk, &["add", "-A"]);
    git(&desk, &["commit", "-qm", "init"]);
    connect(&desk, &host);
    let settings = fs::read_to_string(desk.root.join(".claude/settings.json")).unwrap();
    assert!(settings.contains("PostToolBatch"), "this version knows it: {settings}");
    let read = ("Read", json!({ "file_path": file }));

    // The first session makes a mistake, finds the way round it, and commits its work.
    let first = vec![
        read.clone(),
        ("Edit", json!({ "file_path": file, "old_string": "hello", "new_string": "hi" })),
        bash("git show --no-stat HEAD"),
        bash("git show --stat HEAD"),
        bash("git -c user.name=t -c user.email=t@t commit -qam 'say hi'"),
    ];
    let asked = session(&desk, &host, "Please make greet.py say hi.", first);
    assert!(asked.iter().all(|it| !it.contains("waylore-notes")), "nothing is known yet");
    desk.run(&[
        "remember",
        "--type",
        "gotcha",
        "--file",
        "greet.py",
        "greet() is called by the installer: keep its name",
    ])
    .ends(0, "kept");

    // The second meets the same error and is told; and it is told about the file.
    let again = vec![read.clone(), bash("git show --no-stat HEAD~0")];
    desk.run(&["learn"]).ends(0, "whether or not the end of the first session was quick enough");
    #[cfg(unix)]
    let running = crate::daemon::Running::start(&desk);
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
        assert!(
            journal.contains("Show me the last change.") && journal.contains("step_complete"),
            "{journal}"
        );
    }

    // A third that has nothing to do with any of it is told nothing.
    let asked = session(&desk, &host, "What is the boiling point of ethanol?", Vec::new());
    assert!(asked.iter().all(|it| !it.contains("waylore-notes")), "{asked:?}");

    // Once two sessions have shown it, the next is told before it makes the mistake.
    let work = vec![
        read,
        ("Edit", json!({ "file_path": file, "old_string": "hi", "new_string": "hey" })),
        bash("git show --no-stat HEAD"),
        bash("git show --stat HEAD"),
        bash("git -c user.name=t -c user.email=t@t commit -qam 'say hey'"),
    ];
    session(&desk, &host, "Please make greet.py say hey.", work);
    desk.run(&["learn"]).ends(0, "if the daemon was not quicker");
    let asked = session(&desk, &host, "Show me the last change with git show.", Vec::new());
    assert!(asked[0].contains("git show --stat HEAD"), "before anything is run: {}", asked[0]);

    // Between two steps, something that is searched for and known is told, once, and not too early.
    #[cfg(unix)]
    {
        desk.run(&["config", "set", "trust.level", "confident"]).ends(0, "it is done");
        drop(running);
        let _running = crate::daemon::Running::start(&desk);
        let search = || bash("grep -rn 'greet installer name' .");
        let mut steps = vec![search()];
        steps.extend((0..5).map(|it| bash(&format!("echo {it}"))));
        steps.extend([search(), search()]);
        let asked = session(&desk, &host, "Count to five, please, slowly.", steps);
        let told = |it: &String| it.matches("keep its name").count();
        assert_eq!(told(&asked[6]), 0, "too early: {}", asked[6]);
        assert_eq!(told(asked.last().unwrap()), 1, "once: {}", asked.last().unwrap());
    }
}

#[test]
fn an_agent_asks_and_records_by_itself() {
    let Some(host) = host() else { return unavailable() };
    let desk = Desk::new();
    git(&desk, &["init", "-q"]);
    desk.remember("The payment webhook arrives twice, so charges need an idempotency key");
    desk.run(&["connect", "claude-code", "--yes"]).ends(0, "connected");
    let note = "The ledger is append-only because auditors replay it";
    let script = vec![
        ("mcp__waylore__search_memory", json!({ "query": "payment webhook arrives twice" })),
        ("mcp__waylore__record_memory", json!({ "content": note, "type": "decision" })),
    ];
    let asked = requests(&desk, &host, "Look into what is known.", script);
    let names: Vec<&str> =
        asked[0]["tools"].as_array().unwrap().iter().filter_map(|it| it["name"].as_str()).collect();
    assert!(names.contains(&"mcp__waylore__search_memory"), "its schema is there: {names:?}");
    let all = asked.last().unwrap()["messages"].to_string();
    assert!(all.contains("charges need an idempotency key"), "{all}");
    assert!(all.contains("in the scratchpad of this session"), "it is told so: {all}");
    desk.run(&["learn"]).ends(0, "learned");
    let listed = desk.memories();
    assert!(listed.iter().any(|it| it["content"] == note), "{listed:?}");
    desk.run(&["disconnect", "claude-code", "--yes"]).ends(0, "disconnected");
    let servers = fs::read_to_string(desk.root.join(".claude.json")).unwrap();
    assert!(!servers.contains("waylore\": {"), "what the host wrote meanwhile stays: {servers}");
}

#[test]
fn the_plugin_is_valid_in_the_eyes_of_the_host() {
    let Some(host) = host() else { return unavailable() };
    let desk = Desk::new();
    let folder = desk.root.join("plugin").display().to_string();
    desk.run(&["connect", "claude-code", "--plugin", &folder]).ends(0, "written");
    desk.run(&["connect", "claude-code", "--plugin", &folder]).ends(0, "and again");
    for place in [folder.clone(), format!("{folder}/plugins/waylore")] {
        let mut command = Command::new(&host);
        desk.surround(&mut command);
        let said = command.args(["plugin", "validate", &place]).output().unwrap();
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        assert!(said.status.success(), "{text}{}", String::from_utf8_lossy(&said.stderr));
    }
    let taken = desk.project.display().to_string();
    fs::write(desk.project.join("mine"), "").unwrap();
    desk.run(&["connect", "claude-code", "--plugin", &taken]).ends(2, "somebody else's folder");
}
