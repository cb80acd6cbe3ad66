//! The real Claude Code against an API of our own: what one session learned reaches the next, in what
//! the model is sent.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::chat::{self, git};
use crate::kit::{Desk, binary, finish, skip};
use crate::server::{Reply, Seen, Server};

/// What the model does in one step: what it thinks, if anything, and the tool it calls.
#[derive(Clone)]
struct Step {
    thought: &'static str,
    tool: &'static str,
    input: Value,
    /// Tokens of the conversation, as the model says.
    tokens: u64,
}

type Script = Vec<Step>;

fn step(tool: &'static str, input: Value) -> Step {
    Step { thought: "", tool, input, tokens: 10 }
}

impl Step {
    fn after(self, thought: &'static str) -> Self {
        Self { thought, ..self }
    }

    /// After which the conversation is as long as any may be.
    fn at_last(self) -> Self {
        Self { tokens: 990_000, ..self }
    }
}

/// The host, if it could be had.
fn host() -> Option<PathBuf> {
    chat::host("WAYLORE_CLAUDE", "claude-code/current/claude")
}

/// What a model that is asked to sum up a conversation says.
const SUMMARY: &str = "<analysis>Short.</analysis><summary>We counted.</summary>";

/// A model that follows a script: one step a request, a request that is said again the same step.
fn model(script: Script) -> Server {
    let made = Mutex::new((0, String::new()));
    Server::start(move |seen: &Seen| {
        if !seen.line.starts_with("POST /v1/messages") || seen.line.contains("count_tokens") {
            return Reply::Json(json!({ "data": [], "input_tokens": 1 }));
        }
        let messages = seen.body["messages"].as_array().cloned().unwrap_or_default();
        let id = model::fingerprint_text(&seen.body["messages"].to_string());
        let step = if sums_up(&messages) || !offers_tools(&seen.body) {
            None
        } else {
            let mut made = made.lock().unwrap();
            if made.1 != id {
                *made = (made.0 + 1, id.clone());
            }
            script.get(made.0 - 1)
        };
        let blocks = match step {
            Some(step) => blocks(step, &id),
            None if sums_up(&messages) => vec![json!({ "type": "text", "text": SUMMARY })],
            None => vec![json!({ "type": "text", "text": "Done." })],
        };
        let tokens = step.map_or(10, |it| it.tokens);
        if seen.body["stream"] == true {
            Reply::Events(events(&id, tokens, &blocks))
        } else {
            Reply::Json(message(&id, tokens, &blocks))
        }
    })
}

fn offers_tools(body: &Value) -> bool {
    body["tools"].as_array().is_some_and(|it| !it.is_empty())
}

/// Whether the host asks for a summary to go on with instead of the conversation.
fn sums_up(messages: &[Value]) -> bool {
    let asked = messages.iter().rfind(|it| it["role"] == "user");
    asked.is_some_and(|it| it.to_string().contains("create a detailed summary of the conversation"))
}

fn blocks(step: &Step, id: &str) -> Vec<Value> {
    let thought =
        json!({ "type": "thinking", "thinking": step.thought, "signature": "not-a-signature" });
    let call = json!({ "type": "tool_use", "id": format!("toolu_{id}"), "name": step.tool, "input": step.input });
    if step.thought.is_empty() { vec![call] } else { vec![thought, call] }
}

/// Messages with one id are one message in the eyes of the host.
fn message(id: &str, tokens: u64, content: &[Value]) -> Value {
    json!({ "id": format!("msg_{id}"), "type": "message", "role": "assistant", "model": "scripted", "content": content,
        "stop_reason": "end_turn", "stop_sequence": null, "usage": { "input_tokens": tokens, "output_tokens": 10 } })
}

/// Blocks as they come over a stream.
fn events(id: &str, tokens: u64, blocks: &[Value]) -> String {
    let mut all = vec![json!({ "type": "message_start", "message": message(id, tokens, &[]) })];
    let mut stop = "end_turn";
    for (index, block) in blocks.iter().enumerate() {
        let (start, deltas) = match block["type"].as_str().unwrap() {
            "tool_use" => {
                stop = "tool_use";
                let start = json!({ "type": "tool_use", "id": block["id"], "name": block["name"], "input": {} });
                let input = block["input"].to_string();
                (start, vec![json!({ "type": "input_json_delta", "partial_json": input })])
            }
            "thinking" => {
                let thought = json!({ "type": "thinking_delta", "thinking": block["thinking"] });
                let seal = json!({ "type": "signature_delta", "signature": block["signature"] });
                let start = json!({ "type": "thinking", "thinking": "", "signature": "" });
                (start, vec![thought, seal])
            }
            _ => {
                let text = json!({ "type": "text_delta", "text": block["text"] });
                (json!({ "type": "text", "text": "" }), vec![text])
            }
        };
        all.push(json!({ "type": "content_block_start", "index": index, "content_block": start }));
        let delta = |it| json!({ "type": "content_block_delta", "index": index, "delta": it });
        all.extend(deltas.into_iter().map(delta));
        all.push(json!({ "type": "content_block_stop", "index": index }));
    }
    all.push(json!({ "type": "message_delta", "delta": { "stop_reason": stop, "stop_sequence": null }, "usage": { "output_tokens": 10 } }));
    all.push(json!({ "type": "message_stop" }));
    let line = |it: &Value| format!("event: {}\ndata: {it}\n\n", it["type"].as_str().unwrap());
    all.iter().map(line).collect()
}

/// Runs one session; what the model was sent, request by request.
fn session(desk: &Desk, host: &PathBuf, prompt: &str, script: Script) -> Vec<String> {
    named(desk, host, &[], prompt, script)
}

/// Runs one session, or goes on with it, as arguments say.
fn named(desk: &Desk, host: &PathBuf, which: &[&str], prompt: &str, script: Script) -> Vec<String> {
    let asked = requests(desk, host, which, prompt, script);
    asked.iter().map(|it| it["messages"].to_string()).collect()
}

/// Runs one session; the requests that offered tools.
fn requests(
    desk: &Desk,
    host: &PathBuf,
    which: &[&str],
    prompt: &str,
    script: Script,
) -> Vec<Value> {
    let server = model(script);
    let mut command = Command::new(host);
    desk.surround(&mut command);
    command.args(which).args([
        "-p",
        prompt,
        "--permission-mode",
        "bypassPermissions",
        "--output-format",
        "json",
        "--max-turns",
        "20",
    ]);
    let (path, ours) = (std::env::var("PATH").unwrap_or_default(), binary());
    command.env("PATH", format!("{}:{path}", ours.parent().unwrap().display()));
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
    chat::run(command);
    server.seen().into_iter().map(|it| it.body).filter(offers_tools).collect()
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

fn bash(command: &str) -> Step {
    step("Bash", json!({ "command": command, "description": "Run it" }))
}

/// What the model believes no longer: said in two sessions, it is told to the next.
const CORRECTED: &str =
    "Wait, I was wrong about the quotes. `greet()` in `greet.py` returns plain text, never HTML.";
const FACT: &str = "returns plain text, never HTML";

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
    let read = step("Read", json!({ "file_path": file }));

    // The first session makes a mistake, finds the way round it, corrects itself, and commits its work.
    let first = vec![
        read.clone(),
        step("Edit", json!({ "file_path": file, "old_string": "hello", "new_string": "hi" })),
        bash("git show --no-stat HEAD"),
        bash("git --version").after(CORRECTED),
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
    let mistake = bash("git show --no-stat HEAD~0");
    let again = vec![read.clone(), mistake, bash("git show --stat HEAD~0")];
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
        read.clone(),
        step("Edit", json!({ "file_path": file, "old_string": "hi", "new_string": "hey" })),
        bash("git show --no-stat HEAD"),
        bash("git show --stat HEAD").after(CORRECTED),
        bash("git -c user.name=t -c user.email=t@t commit -qam 'say hey'"),
    ];
    session(&desk, &host, "Please make greet.py say hey.", work);
    desk.run(&["learn"]).ends(0, "if the daemon was not quicker");
    let right = vec![read.clone(), bash("git show --stat HEAD")];
    let asked = session(&desk, &host, "Show me the last change with git show.", right);
    assert!(asked[0].contains("git show --stat HEAD"), "before anything is run: {}", asked[0]);
    assert!(!asked[0].contains(FACT) && asked[1].contains(FACT), "at its file: {}", asked[1]);
    // The first took two calls to find out. The second was told and took one, the last took none.
    desk.run(&["learn"]).ends(0, "learned");
    let saved = desk.json(&["stats"])["activity"]["saved"].clone();
    let counted = (saved["errors"].as_u64(), saved["calls"].as_u64());
    assert!(counted.0 >= Some(2) && counted.1 >= Some(3), "{saved}");
    assert!(saved["tokens"].as_u64() > Some(0), "an estimate from what steps cost: {saved}");

    // Between two steps, something that is searched for and known is told, once, and not too early.
    #[cfg(unix)]
    {
        desk.run(&["config", "set", "trust.level", "confident"]).ends(0, "it is done");
        drop(running);
        // From now on two hooks run at every event, of which one is enough.
        let connect = ["connect", "claude-code", "--scope", "project", "--yes"];
        let said = desk.run(&connect).ends(0, "connected");
        assert!(said.err.contains("two processes run at every event"), "{said:?}");
        let _running = crate::daemon::Running::start(&desk);
        let search = || bash("grep -rn 'greet installer name' .");
        let mut steps = vec![search()];
        steps.extend((0..5).map(|it| bash(&format!("echo {it}"))));
        steps.extend([search(), search()]);
        let name = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
        let began = ["--session-id", name];
        let asked = named(&desk, &host, &began, "Count to five, please, slowly.", steps);
        let told = |it: &String| it.matches("keep its name").count();
        assert_eq!(told(&asked[6]), 0, "too early: {}", asked[6]);
        assert_eq!(told(asked.last().unwrap()), 1, "once: {}", asked.last().unwrap());
        goes_on(&desk, &host, name, &read);
    }
}

/// A session is gone on with: what is still before the model is not told again; what went with a
/// conversation that was summed up is, once; and what it thinks is read on where it ended.
#[cfg(unix)]
fn goes_on(desk: &Desk, host: &PathBuf, name: &str, read: &Step) {
    let again =
        |prompt: &str, script: Script| named(desk, host, &["--resume", name], prompt, script);
    let told = |it: Option<&String>| it.unwrap().matches("keep its name").count();
    let thought = "The rest of the count is in the notes of the second part.";
    let asked = again("And now the file, please.", vec![read.clone().after(thought)]);
    assert_eq!(told(asked.last()), 1, "it is still there: {}", asked.last().unwrap());
    let n_told = asked.last().unwrap().matches(FACT).count();
    assert_eq!(n_told, 1, "what is new is told: {}", asked.last().unwrap());
    let journals = crate::kit::holding(&desk.notebook().join("journals"), thought);
    assert_eq!(journals.len(), 1, "{journals:?}");
    let journal = fs::read_to_string(&journals[0]).unwrap();
    for once in [thought, "Count to five", "And now the file"] {
        assert_eq!(journal.matches(once).count(), 1, "{once}: {journal}");
    }

    // The host sums up by itself what has become too long, and goes on.
    let long = bash("echo and so on").at_last();
    let asked = again("Read it once more, please.", vec![long, read.clone()]);
    let is_summed_up = |it: &String| it.contains("We counted.");
    assert!(
        asked.iter().any(|it| it.contains("detailed summary of the conversation")),
        "{asked:?}"
    );
    let since = asked.iter().find(|it| is_summed_up(it)).expect("the conversation was summed up");
    assert_eq!(told(Some(since)), 1, "told again: {since}");
    assert_eq!(told(asked.last()), 1, "and only once: {}", asked.last().unwrap());
    assert!(is_summed_up(asked.last().unwrap()), "{}", asked.last().unwrap());
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
        step("mcp__waylore__search_memory", json!({ "query": "payment webhook arrives twice" })),
        step("mcp__waylore__record_memory", json!({ "content": note, "type": "decision" })),
    ];
    let asked = requests(&desk, &host, &[], "Look into what is known.", script);
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
