//! Waylore with the real Claude Code: the tests run the host against a scripted model and inspect the
//! requests that the model receives, because the injected notes are part of them.
//!
//! The model is a local server that speaks Anthropic's messages API and answers each request with
//! the next step of a script. Every request repeats the whole conversation so far, so
//! `conversation[i]` is the text that the model received before its answer number `i`, and the last
//! one contains everything. Injected notes stand between `<waylore-notes>` tags.
//!
//! The commands come from `chat_model`: `FAILING_COMMAND` fails, `FIXED_COMMAND` works, and
//! `FAILING_COMMAND_VARIANT` fails with the same error in a later session, which then gets the fix
//! with the remark "seen once". A file's note is the gotcha about `greet.py` with the words "keep its
//! name". The tests are skipped if `claude` is not installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::chat_model::{
    COMMIT_COMMAND, FAILING_COMMAND, FAILING_COMMAND_VARIANT, FIXED_COMMAND, SessionRun, find_host,
    offers_tools, requests_with_tools, run_git, run_host,
};
use crate::http_server::{ReceivedRequest, ServerReply, TestServer};
use crate::sandbox::{Sandbox, binary, run_command, skip};
#[cfg(unix)]
use crate::{daemon::RunningDaemon, sandbox::files_containing};

/// The model's reaction to one request: an optional thought, and a tool call.
#[derive(Clone)]
pub(crate) struct ModelStep {
    thought: &'static str,
    tool: &'static str,
    input: Value,
    /// Length of the conversation in tokens, as the model reports it.
    reported_tokens: u64,
}

pub(crate) type StepScript = Vec<ModelStep>;

impl ModelStep {
    pub(crate) fn with_thought(self, thought: &'static str) -> Self {
        Self { thought, ..self }
    }

    /// Reports a conversation so long that the host compacts it next.
    fn with_full_context(self) -> Self {
        Self { reported_tokens: 990_000, ..self }
    }
}

/// A thought that corrects an earlier belief. After two sessions with it, Waylore knows `LEARNED_FACT`.
const CORRECTION: &str =
    "Wait, I was wrong about the quotes. `greet()` in `greet.py` returns plain text, never HTML.";
const LEARNED_FACT: &str = "returns plain text, never HTML";

/// The model's answer to a request for a summary, and a part of it.
const SUMMARY: &str = "<analysis>Short.</analysis><summary>We counted.</summary>";
const SUMMARY_TEXT: &str = "We counted.";

#[test]
fn a_session_gets_what_earlier_sessions_learned() {
    let Some(host) = find_claude() else { return };

    // Arrange: a repository with one file, in a host that is connected to Waylore.
    let sandbox = Sandbox::new();
    let file = sandbox.project.join("greet.py").display().to_string();
    fs::write(&file, "def greet():\n    return 'hello'\n").unwrap();
    run_git(&sandbox, &["init", "-q"]);
    run_git(&sandbox, &["add", "-A"]);
    run_git(&sandbox, &["commit", "-qm", "init"]);
    connect(&sandbox, &host);
    let settings = fs::read_to_string(sandbox.root.join(".claude/settings.json")).unwrap();
    // Old versions do not have this event; `connect` has recognised the version of the host.
    assert!(settings.contains("PostToolBatch"), "an event of this version: {settings}");
    let read = step("Read", json!({ "file_path": file }));

    // The first session fails with a command, corrects itself, finds the command that works, and
    // commits its work.
    let script = vec![
        read.clone(),
        step("Edit", json!({ "file_path": file, "old_string": "hello", "new_string": "hi" })),
        bash(FAILING_COMMAND),
        bash("git --version").with_thought(CORRECTION),
        bash(FIXED_COMMAND),
        bash(COMMIT_COMMAND),
    ];
    let conversation = run_session(&sandbox, &host, "Please make greet.py say hi.", script);
    assert!(conversation.iter().all(|it| !it.contains("waylore-notes")), "nothing is known yet");

    // The user adds a note about the file.
    let note = "greet() is called by the installer: keep its name";
    sandbox
        .run(&["remember", "--type", "gotcha", "--file", "greet.py", note])
        .expect_code(0, "remember a note about greet.py");
    sandbox.run(&["learn"]).expect_code(0, "learn, unless the session's end already did");

    // The second session gets the file's note, and the fix after it met the same error.
    #[cfg(unix)]
    let daemon = RunningDaemon::start(&sandbox);
    let script = vec![read.clone(), bash(FAILING_COMMAND_VARIANT), bash("git show --stat HEAD~0")];
    let conversation = run_session(&sandbox, &host, "Show me the last change.", script);
    let end = conversation.last().unwrap();
    assert!(end.contains("keep its name"), "{end}");
    assert!(end.contains(FIXED_COMMAND) && end.contains("seen once"), "{end}");
    // The second request follows the read of the file and precedes the failing command.
    assert!(!conversation[1].contains("seen once"), "not before the error: {}", conversation[1]);

    // The daemon journalled the session from the host's transcript while it ran: a journal is its own
    // file with the events of a session.
    #[cfg(unix)]
    {
        let journal = read_only_journal_with(&sandbox, FAILING_COMMAND_VARIANT);
        assert!(
            journal.contains("Show me the last change.") && journal.contains("step_complete"),
            "{journal}"
        );
    }

    // The third session has an unrelated task and gets nothing.
    let unrelated = "What is the boiling point of ethanol?";
    let conversation = run_session(&sandbox, &host, unrelated, Vec::new());
    assert!(conversation.iter().all(|it| !it.contains("waylore-notes")), "{conversation:?}");

    // The fourth session repeats the error, the correction and the fix, which confirms them. The fifth
    // gets the fix before it runs anything, and the corrected fact when it reads the file.
    let script = vec![
        read.clone(),
        step("Edit", json!({ "file_path": file, "old_string": "hi", "new_string": "hey" })),
        bash(FAILING_COMMAND),
        bash(FIXED_COMMAND).with_thought(CORRECTION),
        bash("git -c user.name=t -c user.email=t@t commit -qam 'say hey'"),
    ];
    run_session(&sandbox, &host, "Please make greet.py say hey.", script);
    sandbox.run(&["learn"]).expect_code(0, "learn, unless the daemon already did");
    let script = vec![read.clone(), bash(FIXED_COMMAND)];
    let prompt = "Show me the last change with git show.";
    let conversation = run_session(&sandbox, &host, prompt, script);
    let (at_prompt, after_read) = (&conversation[0], &conversation[1]);
    assert!(at_prompt.contains(FIXED_COMMAND), "{at_prompt}");
    assert!(!at_prompt.contains(LEARNED_FACT) && after_read.contains(LEARNED_FACT), "{after_read}");

    // Tool calls saved: unaided, the fix took two calls. The second session had the fix and needed one,
    // the fifth avoided the error.
    sandbox.run(&["learn"]).expect_code(0, "learn from all sessions");
    let saved = sandbox.json(&["stats"])["activity"]["saved"].clone();
    assert!(saved["errors"].as_u64() >= Some(2) && saved["calls"].as_u64() >= Some(3), "{saved}");
    assert!(saved["tokens"].as_u64() > Some(0), "an estimate by the usual cost of a step: {saved}");

    #[cfg(unix)]
    {
        sandbox.run(&["config", "set", "trust.level", "confident"]).expect_code(0, "set the level");
        drop(daemon);
        // With hooks in two settings, two hook processes run at every event. Each note must still be
        // injected once.
        let output = sandbox
            .run(&["connect", "claude-code", "--scope", "project", "--yes"])
            .expect_code(0, "connect in the project's settings, too");
        assert!(output.err.contains("two processes run at every event"), "{output:?}");
        let _daemon = RunningDaemon::start(&sandbox);
        let session_id = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
        assert_search_gets_a_note_between_steps(&sandbox, &host, session_id);
        assert_resumed_session_gets_no_note_twice(&sandbox, &host, session_id, &read);
    }
}

/// At the trust level `confident`, a step that searches for something known gets the note before the
/// next step: once, and not in the first steps of a session.
#[cfg(unix)]
fn assert_search_gets_a_note_between_steps(sandbox: &Sandbox, host: &Path, session_id: &str) {
    let search = || bash("grep -rn 'greet installer name' .");
    // Steps: search, five others, search, search.
    let mut script = vec![search()];
    script.extend((0..5).map(|it| bash(&format!("echo {it}"))));
    script.extend([search(), search()]);
    let args = ["--session-id", session_id];
    let prompt = "Count to five, please, slowly.";
    let conversation = run_session_with(sandbox, host, &args, prompt, script);
    // The first request has no step before it, so request 6 comes after six steps.
    let (before_second_search, end) = (&conversation[6], conversation.last().unwrap());
    assert_eq!(n_installer_notes(before_second_search), 0, "too early: {before_second_search}");
    assert_eq!(n_installer_notes(end), 1, "once: {end}");
}

/// Resumes a session twice. Notes that are still in the conversation are not repeated; notes that were
/// lost by compaction are injected again, once.
#[cfg(unix)]
fn assert_resumed_session_gets_no_note_twice(
    sandbox: &Sandbox,
    host: &Path,
    session_id: &str,
    read: &ModelStep,
) {
    let resume = |prompt: &str, script: StepScript| {
        run_session_with(sandbox, host, &["--resume", session_id], prompt, script)
    };

    // Resumed as it was: the old note is still there, and the file's new note is added.
    let thought = "The rest of the count is in the notes of the second part.";
    let script = vec![read.clone().with_thought(thought)];
    let conversation = resume("And now the file, please.", script);
    let end = conversation.last().unwrap();
    assert_eq!(n_installer_notes(end), 1, "not repeated: {end}");
    assert_eq!(end.matches(LEARNED_FACT).count(), 1, "a new note: {end}");
    // The journal continues where the transcript was read last, so it repeats nothing either.
    let journal = read_only_journal_with(sandbox, thought);
    for text in [thought, "Count to five", "And now the file"] {
        assert_eq!(journal.matches(text).count(), 1, "{text}: {journal}");
    }

    // Resumed with a full context: the host compacts the conversation, which removes the notes.
    let fill_context = bash("echo and so on").with_full_context();
    let conversation = resume("Read it once more, please.", vec![fill_context, read.clone()]);
    let asks_for_summary = |it: &String| it.contains("detailed summary of the conversation");
    assert!(conversation.iter().any(asks_for_summary), "{conversation:?}");
    let is_compacted = |it: &&String| it.contains(SUMMARY_TEXT);
    let compacted = conversation.iter().find(is_compacted).expect("the host compacted it");
    assert_eq!(n_installer_notes(compacted), 1, "injected again: {compacted}");
    let end = conversation.last().unwrap();
    assert_eq!(n_installer_notes(end), 1, "only once: {end}");
    assert!(is_compacted(&end), "{end}");
}

#[test]
fn an_agent_searches_and_records_memories_through_mcp() {
    let Some(host) = find_claude() else { return };
    let sandbox = Sandbox::new();
    run_git(&sandbox, &["init", "-q"]);
    sandbox.remember("The payment webhook arrives twice, so charges need an idempotency key");
    sandbox.run(&["connect", "claude-code", "--yes"]).expect_code(0, "connect");
    let note = "The ledger is append-only because auditors replay it";

    // The agent calls two tools of Waylore's MCP server. The host puts `mcp__waylore__` before names.
    let script = vec![
        step("mcp__waylore__search_memory", json!({ "query": "payment webhook arrives twice" })),
        step("mcp__waylore__record_memory", json!({ "content": note, "type": "decision" })),
    ];
    let requests =
        run_session_requests(&sandbox, &host, &[], "Look into what is known.", script).requests;

    // The host offered the tools to the model, and returned their replies to it.
    let tools = requests[0]["tools"].as_array().unwrap();
    let tool_names: Vec<&str> = tools.iter().filter_map(|it| it["name"].as_str()).collect();
    assert!(tool_names.contains(&"mcp__waylore__search_memory"), "{tool_names:?}");
    let end = requests.last().unwrap()["messages"].to_string();
    assert!(end.contains("charges need an idempotency key"), "the search result: {end}");
    assert!(end.contains("in the scratchpad of this session"), "the reply to the record: {end}");

    // A recorded note waits in the scratchpad of its session until `learn` makes it a memory.
    sandbox.run(&["learn"]).expect_code(0, "learn from the session");
    let memories = sandbox.memories();
    assert!(memories.iter().any(|it| it["content"] == note), "{memories:?}");

    // The host has changed the file since `connect`; only our entry is removed.
    sandbox.run(&["disconnect", "claude-code", "--yes"]).expect_code(0, "disconnect");
    let servers = fs::read_to_string(sandbox.root.join(".claude.json")).unwrap();
    assert!(!servers.contains("waylore\": {"), "{servers}");
}

#[test]
fn the_host_accepts_the_generated_plugin() {
    let Some(host) = find_claude() else { return };
    let sandbox = Sandbox::new();
    let folder = sandbox.root.join("plugin").display().to_string();
    let write_plugin = |folder: &str| sandbox.run(&["connect", "claude-code", "--plugin", folder]);
    write_plugin(&folder).expect_code(0, "write the plugin");
    write_plugin(&folder).expect_code(0, "write it again");

    // The folder is a marketplace that contains the plugin; the host validates both.
    for validated in [folder.clone(), format!("{folder}/plugins/waylore")] {
        let mut command = Command::new(&host);
        sandbox.set_environment(&mut command);
        let output = command.args(["plugin", "validate", &validated]).output().unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{stdout}{}", String::from_utf8_lossy(&output.stderr));
    }

    fs::write(sandbox.project.join("mine"), "").unwrap();
    let occupied = sandbox.project.display().to_string();
    write_plugin(&occupied).expect_code(2, "a folder with other files is not overwritten");
}

/// The program of Claude Code; without one, reports the skipped test.
pub(crate) fn find_claude() -> Option<PathBuf> {
    let found = find_host("WAYLORE_CLAUDE", "claude-code/current/claude");
    if found.is_none() {
        let reason = "`claude` is not installed; `scripts/setup hosts` installs it";
        skip("a real session of Claude Code", reason);
    }
    found
}

/// Connects the host. It must be on the `PATH`, because `connect` runs it to get its version.
pub(crate) fn connect(sandbox: &Sandbox, host: &Path) {
    let mut command = sandbox.command(&["connect", "claude-code", "--yes"]);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", host.parent().unwrap().display()));
    run_command(command).expect_code(0, "connect");
}

pub(crate) fn step(tool: &'static str, input: Value) -> ModelStep {
    ModelStep { thought: "", tool, input, reported_tokens: 10 }
}

pub(crate) fn bash(command: &str) -> ModelStep {
    step("Bash", json!({ "command": command, "description": "Run it" }))
}

/// Runs a new session. Returns the conversation as the model received it with each request.
fn run_session(sandbox: &Sandbox, host: &Path, prompt: &str, script: StepScript) -> Vec<String> {
    run_session_with(sandbox, host, &[], prompt, script)
}

/// As `run_session`, with arguments for the host that choose a session id or resume a session.
fn run_session_with(
    sandbox: &Sandbox,
    host: &Path,
    args: &[&str],
    prompt: &str,
    script: StepScript,
) -> Vec<String> {
    let run = run_session_requests(sandbox, host, args, prompt, script);
    run.requests.iter().map(|it| it["messages"].to_string()).collect()
}

/// As `run_session_with`, but returns the whole requests, and what the host printed. Requests without
/// tools are left out: they are the host's own.
pub(crate) fn run_session_requests(
    sandbox: &Sandbox,
    host: &Path,
    args: &[&str],
    prompt: &str,
    script: StepScript,
) -> SessionRun {
    let server = start_messages_model(script);

    // One prompt, without questions about permissions.
    let mut command = Command::new(host);
    sandbox.set_environment(&mut command);
    command.args(args).args(["-p", prompt, "--permission-mode", "bypassPermissions"]);
    command.args(["--output-format", "json", "--max-turns", "20"]);

    // The hooks in the settings call `waylore` by its name.
    let (path, program) = (std::env::var("PATH").unwrap_or_default(), binary());
    command.env("PATH", format!("{}:{path}", program.parent().unwrap().display()));

    // The host reaches no server but the scripted model.
    command.env("ANTHROPIC_BASE_URL", server.url()).env("ANTHROPIC_API_KEY", "not-a-key");
    for variable in [
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "DISABLE_AUTOUPDATER",
        "DISABLE_TELEMETRY",
        "DISABLE_ERROR_REPORTING",
        "IS_SANDBOX",
    ] {
        command.env(variable, "1");
    }
    command.env("SHELL", "/bin/bash").env("TMPDIR", &sandbox.root).env("NO_PROXY", "127.0.0.1");

    let printed = run_host(command);
    SessionRun { requests: requests_with_tools(&server), printed }
}

/// How often the note about `greet.py` is in a conversation.
#[cfg(unix)]
fn n_installer_notes(conversation: &str) -> usize {
    conversation.matches("keep its name").count()
}

/// The text of the journal that contains `text`, asserted to be the only one.
#[cfg(unix)]
fn read_only_journal_with(sandbox: &Sandbox, text: &str) -> String {
    let journals = files_containing(&sandbox.project_data_dir().join("journals"), text);
    assert_eq!(journals.len(), 1, "{journals:?}");
    fs::read_to_string(&journals[0]).unwrap()
}

/// Starts a server of the messages API that plays a script, then answers "Done.".
fn start_messages_model(script: StepScript) -> TestServer {
    /// The position in the script. It is not the number of steps in the conversation, because
    /// compaction shortens that.
    #[derive(Default)]
    struct ScriptProgress {
        n_distinct_requests: usize,
        /// Hash of the last request; a retry of the same request gets the same step.
        last_request: String,
    }
    let progress = Mutex::new(ScriptProgress::default());
    TestServer::start(move |request: &ReceivedRequest| {
        // The host also counts tokens and asks for other data, of which it needs little.
        if !request.line.starts_with("POST /v1/messages") || request.line.contains("count_tokens") {
            return ServerReply::Json(json!({ "data": [], "input_tokens": 1 }));
        }
        let messages = request.body["messages"].as_array().cloned().unwrap_or_default();
        let request_hash = model::fingerprint_text(&request.body["messages"].to_string());
        let is_compaction = asks_for_summary(&messages);
        // Only the agent's own requests advance the script.
        let step = if is_compaction || !offers_tools(&request.body) {
            None
        } else {
            let mut progress = progress.lock().unwrap();
            if progress.last_request != request_hash {
                progress.n_distinct_requests += 1;
                progress.last_request.clone_from(&request_hash);
            }
            // The first request gets step 0.
            script.get(progress.n_distinct_requests - 1)
        };

        let blocks = match step {
            Some(step) => content_blocks(step, &request_hash),
            None if is_compaction => vec![json!({ "type": "text", "text": SUMMARY })],
            None => vec![json!({ "type": "text", "text": "Done." })],
        };
        let tokens = step.map_or(10, |it| it.reported_tokens);
        if request.body["stream"] == true {
            ServerReply::Events(message_events(&request_hash, tokens, &blocks))
        } else {
            ServerReply::Json(message(&request_hash, tokens, &blocks))
        }
    })
}

/// Recognises the request with which the host compacts a conversation.
fn asks_for_summary(messages: &[Value]) -> bool {
    let last = messages.iter().rfind(|it| it["role"] == "user");
    last.is_some_and(|it| it.to_string().contains("create a detailed summary of the conversation"))
}

fn content_blocks(step: &ModelStep, id: &str) -> Vec<Value> {
    let thought =
        json!({ "type": "thinking", "thinking": step.thought, "signature": "not-a-signature" });
    let call = json!({ "type": "tool_use", "id": format!("toolu_{id}"), "name": step.tool, "input": step.input });
    if step.thought.is_empty() { vec![call] } else { vec![thought, call] }
}

/// A whole reply. Ids must differ between replies: the host takes messages with one id for one message.
fn message(id: &str, tokens: u64, content: &[Value]) -> Value {
    json!({ "id": format!("msg_{id}"), "type": "message", "role": "assistant", "model": "scripted", "content": content,
        "stop_reason": "end_turn", "stop_sequence": null, "usage": { "input_tokens": tokens, "output_tokens": 10 } })
}

/// The same reply as a stream of server-sent events.
fn message_events(id: &str, tokens: u64, blocks: &[Value]) -> String {
    let mut events = vec![json!({ "type": "message_start", "message": message(id, tokens, &[]) })];
    let mut stop_reason = "end_turn";
    for (index, block) in blocks.iter().enumerate() {
        // Each block starts empty and is filled by deltas.
        let (start, deltas) = match block["type"].as_str().unwrap() {
            "tool_use" => {
                stop_reason = "tool_use";
                let start = json!({ "type": "tool_use", "id": block["id"], "name": block["name"], "input": {} });
                let input = block["input"].to_string();
                (start, vec![json!({ "type": "input_json_delta", "partial_json": input })])
            }
            "thinking" => {
                let thought = json!({ "type": "thinking_delta", "thinking": block["thinking"] });
                let signature =
                    json!({ "type": "signature_delta", "signature": block["signature"] });
                let start = json!({ "type": "thinking", "thinking": "", "signature": "" });
                (start, vec![thought, signature])
            }
            "text" => {
                let text = json!({ "type": "text_delta", "text": block["text"] });
                (json!({ "type": "text", "text": "" }), vec![text])
            }
            other => panic!("the script makes no block of type {other}"),
        };

        // One event that starts the block, one per delta, and one that ends the block.
        events
            .push(json!({ "type": "content_block_start", "index": index, "content_block": start }));
        for delta in deltas {
            events.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        }
        events.push(json!({ "type": "content_block_stop", "index": index }));
    }
    events.push(json!({ "type": "message_delta", "delta": { "stop_reason": stop_reason, "stop_sequence": null }, "usage": { "output_tokens": 10 } }));
    events.push(json!({ "type": "message_stop" }));
    let frame = |it: &Value| format!("event: {}\ndata: {it}\n\n", it["type"].as_str().unwrap());
    events.iter().map(frame).collect()
}
