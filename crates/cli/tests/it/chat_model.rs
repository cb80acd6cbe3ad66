//! Support code for the tests that run a real agent host: a model that follows a script instead of
//! thinking, and the test procedure that all hosts share.
//!
//! The host believes it talks to a provider's chat-completions API. `start_scripted_model` answers
//! each request with the next tool call of the script, so that the session always takes the same
//! course. The tests then inspect the requests: they contain the notes that Waylore injected.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::http_server::{ReceivedRequest, ServerReply, TestServer};
use crate::sandbox::{Sandbox, workspace};

/// The tool calls of a session in order: the name of the tool and its input.
pub(crate) type ModelScript = Vec<(&'static str, Value)>;

/// Runs a session with a prompt and a script, and returns the model requests that offered tools.
/// Each has the fields `messages` and `tools`.
pub(crate) type RunSession<'a> = &'a dyn Fn(&str, ModelScript) -> Vec<Value>;

/// The course of a session with a host.
pub(crate) struct SessionRun {
    /// The agent's requests to the model.
    pub(crate) requests: Vec<Value>,
    /// Standard output and standard error of the host.
    pub(crate) printed: String,
}

/// A command that fails, the one that works instead, and one that commits the changes.
pub(crate) const FAILING_COMMAND: &str = "git show --no-stat HEAD";
pub(crate) const FIXED_COMMAND: &str = "git show --stat HEAD";
pub(crate) const COMMIT_COMMAND: &str = "git -c user.name=t -c user.email=t@t commit -qam 'say hi'";
/// Fails with the same error as `FAILING_COMMAND`, but is not the same text.
pub(crate) const FAILING_COMMAND_VARIANT: &str = "git show --no-stat HEAD~0";

/// A host that runs longer than this is considered hung.
const HOST_TIMEOUT: Duration = Duration::from_mins(4);

/// The program of a host: named by an environment variable, or installed by `scripts/setup` at a path
/// below `.tools`. `None` if it is missing.
pub(crate) fn find_host(variable: &str, installed: &str) -> Option<PathBuf> {
    let chosen = std::env::var_os(variable).map(PathBuf::from);
    let installed = workspace().join(".tools").join(installed);
    chosen.or_else(|| installed.canonicalize().ok()).filter(|it| it.is_file())
}

/// Node.js, for hosts written in JavaScript: from the `PATH`, or installed by `scripts/setup`.
pub(crate) fn find_node() -> Option<PathBuf> {
    let runs = |it: &PathBuf| {
        let status = Command::new(it).arg("--version").stdout(Stdio::null()).status();
        status.is_ok_and(|it| it.success())
    };
    let installed = workspace().join(".tools/mcp-node/current/bin/node");
    [PathBuf::from("node"), installed].into_iter().find(runs)
}

/// Starts a chat-completions server that plays a script, then answers "Done.".
pub(crate) fn start_scripted_model(script: ModelScript) -> TestServer {
    TestServer::start(move |request: &ReceivedRequest| {
        if !request.line.contains("/chat/completions") {
            // Hosts also list the available models.
            return ServerReply::Json(json!({ "object": "list", "data": [] }));
        }
        // Every request repeats the conversation, so the number of past answers is the script position.
        let messages = request.body["messages"].as_array().cloned().unwrap_or_default();
        let n_answers = messages.iter().filter(|it| it["role"] == "assistant").count();
        let delta = match script.get(n_answers).filter(|_| offers_tools(&request.body)) {
            Some((tool, input)) => {
                let function = json!({ "name": tool, "arguments": input.to_string() });
                json!({ "tool_calls": [{ "index": 0, "id": format!("call_{n_answers}"), "type": "function", "function": function }] })
            }
            None => json!({ "content": "Done." }),
        };
        chat_completion(&delta, n_answers, request.body["stream"] == true)
    })
}

/// The bodies of the requests that offered tools. Requests without tools are the host's own, for
/// example for a title of the session.
pub(crate) fn requests_with_tools(server: &TestServer) -> Vec<Value> {
    server.requests().into_iter().map(|it| it.body).filter(offers_tools).collect()
}

pub(crate) fn offers_tools(body: &Value) -> bool {
    body["tools"].as_array().is_some_and(|it| !it.is_empty())
}

/// Runs a host until it exits, and asserts success. Returns what it printed.
pub(crate) fn run_host(mut command: Command) -> String {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let (id, (sender, receiver)) = (child.id(), mpsc::channel::<Output>());
    std::thread::spawn(move || sender.send(child.wait_with_output().unwrap()));
    let Ok(output) = receiver.recv_timeout(HOST_TIMEOUT) else {
        let _ = Command::new("kill").args(["-9", &id.to_string()]).status();
        panic!("the host did not exit within {HOST_TIMEOUT:?}");
    };
    let printed = [output.stderr, output.stdout].concat();
    let printed = String::from_utf8_lossy(&printed).into_owned();
    assert!(output.status.success(), "{printed}");
    printed
}

pub(crate) fn run_git(sandbox: &Sandbox, args: &[&str]) {
    let mut command = Command::new("git");
    sandbox.set_environment(&mut command);
    let output =
        command.args(["-c", "user.name=t", "-c", "user.email=t@t"]).args(args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Makes the project a git repository with `greet.py` and `billing.py`. Returns the path of `greet.py`.
pub(crate) fn create_repository(sandbox: &Sandbox) -> String {
    let file = sandbox.project.join("greet.py");
    fs::write(&file, "def greet():\n    return 'hello'\n").unwrap();
    fs::write(sandbox.project.join("billing.py"), "def charge():\n    pass\n").unwrap();
    run_git(sandbox, &["init", "-q"]);
    run_git(sandbox, &["add", "-A"]);
    run_git(sandbox, &["commit", "-qm", "init"]);
    file.display().to_string()
}

/// Input of the MCP tool `search_memory`. The tool's full name differs from host to host.
pub(crate) fn search_arguments() -> Value {
    json!({ "query": "payment webhook arrives twice" })
}

/// A call of the shell tool, under the name that most hosts use.
pub(crate) fn bash_call(command: &str) -> (&'static str, Value) {
    ("bash", json!({ "command": command, "description": "Run it" }))
}

/// Runs three sessions and asserts what Waylore gives to each.
///
/// `learning_script` edits `greet.py`, meets an error, fixes it and commits. `repeating_script` reads
/// `greet.py`, meets the same error and searches the memory.
pub(crate) fn assert_sessions_learn_from_one_another(
    sandbox: &Sandbox,
    learning_script: ModelScript,
    repeating_script: ModelScript,
    run_session: RunSession<'_>,
) {
    let conversations = |requests: Vec<Value>| -> Vec<String> {
        requests.iter().map(|it| it["messages"].to_string()).collect()
    };
    // The first session fails with a command, finds the one that works, and commits its work.
    let requests = run_session("Please make greet.py say hi.", learning_script);
    let tools = requests[0]["tools"].to_string();
    assert!(tools.contains("search_memory"), "the host offers Waylore's MCP tools: {tools}");
    let has_no_notes = |it: &String| !it.contains("waylore-notes");
    assert!(conversations(requests).iter().all(has_no_notes), "nothing is known yet");
    sandbox.run(&["learn"]).expect_code(0, "learn, unless the session's end already did");
    let file_note = "greet() is called by the installer: keep its name";
    sandbox
        .run(&["remember", "--type", "gotcha", "--file", "greet.py", file_note])
        .expect_code(0, "remember a note about greet.py");
    let searched_note = "The payment webhook arrives twice, so charges need an idempotency key";
    sandbox
        .run(&["remember", "--type", "gotcha", "--file", "billing.py", searched_note])
        .expect_code(0, "remember a note about billing.py");

    // The second session gets the file's note, then the fix after the error, and finds the other note
    // by a search.
    #[cfg(unix)]
    let _daemon = crate::daemon::RunningDaemon::start(sandbox);
    let conversation = conversations(run_session("Show me the last change.", repeating_script));
    let end = conversation.last().unwrap();
    assert!(end.contains("keep its name"), "{end}");
    assert!(end.contains(FIXED_COMMAND) && end.contains("seen once"), "{end}");
    // The second request follows the read of the file and precedes the failing command.
    assert!(!conversation[1].contains("seen once"), "not before the error: {}", conversation[1]);
    assert!(end.contains("charges need an idempotency key"), "the search found it: {end}");

    // The third session has an unrelated task and gets nothing.
    let conversation =
        conversations(run_session("What is the boiling point of ethanol?", Vec::new()));
    assert!(!conversation.is_empty() && conversation.iter().all(has_no_notes), "{conversation:?}");

    // Learning from these sessions does not turn the injected notes into memories.
    sandbox.run(&["learn"]).expect_code(0, "learn from all three sessions");
    let memories = sandbox.memories();
    assert!(!serde_json::to_string(&memories).unwrap().contains("waylore-notes"), "{memories:?}");
}

/// The text of a file, or `None` if it does not exist.
pub(crate) fn read_text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// The reply of the chat-completions API, whole or as a stream. `delta` is the new part of the
/// assistant's message.
fn chat_completion(delta: &Value, n_answers: usize, is_stream: bool) -> ServerReply {
    let finish_reason = if delta["tool_calls"].is_array() { "tool_calls" } else { "stop" };
    let usage = json!({ "prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20 });
    let envelope = |object: &str, choice: Value| json!({ "id": format!("chat_{n_answers}"), "created": 1, "model": "scripted", "object": object, "choices": [choice] });
    if !is_stream {
        let mut message = delta.clone();
        message["role"] = json!("assistant");
        let mut reply = envelope(
            "chat.completion",
            json!({ "index": 0, "message": message, "finish_reason": finish_reason }),
        );
        reply["usage"] = usage;
        return ServerReply::Json(reply);
    }
    let chunk = |delta: &Value, finish_reason: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish_reason });
        envelope("chat.completion.chunk", choice)
    };
    let first = chunk(&json!({ "role": "assistant", "content": "" }), Value::Null);
    let mut last = chunk(&json!({}), json!(finish_reason));
    last["usage"] = usage;
    let chunks = [first, chunk(delta, Value::Null), last];
    let events: Vec<String> = chunks.iter().map(|it| format!("data: {it}\n\n")).collect();
    ServerReply::Events(format!("{}data: [DONE]\n\n", events.concat()))
}
