//! A model behind the API of chat completions that follows a script, for the hosts that speak it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::kit::{Desk, workspace};
use crate::server::{Reply, Seen, Server};

/// What the model does, step by step: a tool and its input.
pub(crate) type Script = Vec<(&'static str, Value)>;

/// After so long a host that does not end has hung.
const PATIENCE: Duration = Duration::from_mins(4);

/// A host, if it could be had: the variable that names it, and where `scripts/setup` puts it.
pub(crate) fn host(variable: &str, installed: &str) -> Option<PathBuf> {
    let set = std::env::var_os(variable).map(PathBuf::from);
    let installed = workspace().join(".tools").join(installed);
    set.or_else(|| installed.canonicalize().ok()).filter(|it| it.is_file())
}

/// What runs hosts that are written in JavaScript: the person's own, or the one `scripts/setup` puts there.
pub(crate) fn node() -> Option<PathBuf> {
    let runs = |it: &PathBuf| {
        let said = Command::new(it).arg("--version").stdout(Stdio::null()).status();
        said.is_ok_and(|it| it.success())
    };
    let installed = workspace().join(".tools/mcp-node/current/bin/node");
    [PathBuf::from("node"), installed].into_iter().find(runs)
}

/// How far the model has come is how often it has spoken.
pub(crate) fn model(script: Script) -> Server {
    Server::start(move |seen: &Seen| {
        if !seen.line.contains("/chat/completions") {
            return Reply::Json(json!({ "object": "list", "data": [] }));
        }
        let messages = seen.body["messages"].as_array().cloned().unwrap_or_default();
        let n_said = messages.iter().filter(|it| it["role"] == "assistant").count();
        let delta = match script.get(n_said).filter(|_| offers_tools(&seen.body)) {
            Some((tool, input)) => {
                let function = json!({ "name": tool, "arguments": input.to_string() });
                json!({ "tool_calls": [{ "index": 0, "id": format!("call_{n_said}"), "type": "function", "function": function }] })
            }
            None => json!({ "content": "Done." }),
        };
        answer(&delta, n_said, seen.body["stream"] == true)
    })
}

fn answer(delta: &Value, nth: usize, streams: bool) -> Reply {
    let ends = if delta["tool_calls"].is_array() { "tool_calls" } else { "stop" };
    let usage = json!({ "prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20 });
    let base = |object: &str, choice: Value| json!({ "id": format!("chat_{nth}"), "created": 1, "model": "scripted", "object": object, "choices": [choice] });
    if !streams {
        let mut message = delta.clone();
        message["role"] = json!("assistant");
        let mut whole = base(
            "chat.completion",
            json!({ "index": 0, "message": message, "finish_reason": ends }),
        );
        whole["usage"] = usage;
        return Reply::Json(whole);
    }
    let chunk = |delta: &Value, ends: Value| {
        base("chat.completion.chunk", json!({ "index": 0, "delta": delta, "finish_reason": ends }))
    };
    let mut last = chunk(&json!({}), json!(ends));
    last["usage"] = usage;
    let first = json!({ "role": "assistant", "content": "" });
    let all = [chunk(&first, Value::Null), chunk(delta, Value::Null), last];
    let events: Vec<String> = all.iter().map(|it| format!("data: {it}\n\n")).collect();
    Reply::Events(format!("{}data: [DONE]\n\n", events.concat()))
}

fn offers_tools(body: &Value) -> bool {
    body["tools"].as_array().is_some_and(|it| !it.is_empty())
}

/// The requests that offered tools; hosts ask for titles and the like, too.
pub(crate) fn requests(server: &Server) -> Vec<Value> {
    server.seen().into_iter().map(|it| it.body).filter(offers_tools).collect()
}

/// Runs a host to its end.
pub(crate) fn run(mut command: Command) {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let (id, (done, ended)) = (child.id(), mpsc::channel::<Output>());
    std::thread::spawn(move || done.send(child.wait_with_output().unwrap()));
    let Ok(output) = ended.recv_timeout(PATIENCE) else {
        let _ = Command::new("kill").args(["-9", &id.to_string()]).status();
        panic!("the host did not end");
    };
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stdout));
}

pub(crate) fn git(desk: &Desk, args: &[&str]) {
    let mut command = Command::new("git");
    desk.surround(&mut command);
    let done =
        command.args(["-c", "user.name=t", "-c", "user.email=t@t"]).args(args).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// A repository with two files; the path of the first.
pub(crate) fn repository(desk: &Desk) -> String {
    let file = desk.project.join("greet.py");
    fs::write(&file, "def greet():\n    return 'hello'\n").unwrap();
    fs::write(desk.project.join("billing.py"), "def charge():\n    pass\n").unwrap();
    git(desk, &["init", "-q"]);
    git(desk, &["add", "-A"]);
    git(desk, &["commit", "-qm", "init"]);
    file.display().to_string()
}

/// What is asked of our server, whatever a host calls its tools.
pub(crate) fn question() -> Value {
    json!({ "query": "payment webhook arrives twice" })
}

/// A call of the tool that most hosts call so.
pub(crate) fn bash(command: &str) -> (&'static str, Value) {
    ("bash", json!({ "command": command, "description": "Run it" }))
}

/// A command that fails, and what ends that.
pub(crate) const MISTAKE: &str = "git show --no-stat HEAD";
pub(crate) const REMEDY: &str = "git show --stat HEAD";
pub(crate) const COMMIT: &str = "git -c user.name=t -c user.email=t@t commit -qam 'say hi'";

/// One session learns what three are about; `session` runs one with a prompt and a script, and says what
/// the model was sent with each request.
pub(crate) fn learned_and_told(
    desk: &Desk,
    first: Script,
    again: Script,
    session: &dyn Fn(&str, Script) -> Vec<Value>,
) {
    let texts = |all: Vec<Value>| -> Vec<String> {
        all.iter().map(|it| it["messages"].to_string()).collect()
    };
    // The first session makes a mistake, finds the way round it, and commits its work.
    let asked = session("Please make greet.py say hi.", first);
    let tools = asked[0]["tools"].to_string();
    assert!(tools.contains("search_memory"), "the server is offered: {tools}");
    assert!(texts(asked).iter().all(|it| !it.contains("waylore-notes")), "nothing is known yet");
    desk.run(&["learn"]).ends(0, "whether or not the end of the first session was quick enough");
    let about = "greet() is called by the installer: keep its name";
    desk.run(&["remember", "--type", "gotcha", "--file", "greet.py", about]).ends(0, "kept");
    let other = "The payment webhook arrives twice, so charges need an idempotency key";
    desk.run(&["remember", "--type", "gotcha", "--file", "billing.py", other]).ends(0, "kept");

    // The second meets the same error and is told; it is told about the file; and it asks by itself.
    #[cfg(unix)]
    let _running = crate::daemon::Running::start(desk);
    let asked = texts(session("Show me the last change.", again));
    let all = asked.last().unwrap();
    assert!(all.contains("keep its name"), "{all}");
    assert!(all.contains(REMEDY) && all.contains("seen once"), "{all}");
    assert!(!asked[1].contains("seen once"), "not before the error: {}", asked[1]);
    assert!(all.contains("charges need an idempotency key"), "of this project: {all}");

    // A third that has nothing to do with any of it is told nothing.
    let asked = texts(session("What is the boiling point of ethanol?", Vec::new()));
    assert!(!asked.is_empty() && asked.iter().all(|it| !it.contains("waylore-notes")), "{asked:?}");
    // What was told is not learned from again.
    desk.run(&["learn"]).ends(0, "learned");
    let listed = desk.memories();
    assert!(!serde_json::to_string(&listed).unwrap().contains("waylore-notes"), "{listed:?}");
}

pub(crate) fn text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}
