//! Waylore with the real Codex: the test runs the host against a scripted model and inspects the
//! requests that the model receives, because the injected notes are part of them. It also covers
//! Codex's trust in hooks, which the user grants separately from the settings.
//!
//! The model is a local server that speaks the responses API of `OpenAI` and answers each request with the
//! next item of a script. Every request repeats the whole conversation so far, so `conversation[i]` is
//! the text that the model received before its answer number `i`, and the last one contains
//! everything. Injected notes stand between `<waylore-notes>` tags.
//!
//! The commands come from `chat_model`: `FAILING_COMMAND` fails, `FIXED_COMMAND` works, and
//! `FAILING_COMMAND_VARIANT` fails with the same error in a later session, which then gets the fix
//! with the remark "seen once". The test is skipped if `codex` is not installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::chat_model::{
    COMMIT_COMMAND, FAILING_COMMAND, FAILING_COMMAND_VARIANT, FIXED_COMMAND, SessionRun,
    create_repository, run_host,
};
use crate::http_server::{ReceivedRequest, ServerReply, TestServer};
use crate::sandbox::{CommandOutput, Sandbox, run_command, skip, workspace};

/// The output items of the model in order, one per request.
type ItemScript = Vec<Value>;

/// The user's settings before `connect`.
const USER_SETTINGS: &str = r#"# my settings
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

/// A change of `greet.py` in Codex's patch format.
const PATCH: &str = "*** Begin Patch\n*** Update File: greet.py\n@@\n def greet():\n-    return 'hello'\n+    return 'hi'\n*** End Patch";

#[test]
fn a_session_of_codex_gets_what_an_earlier_one_learned() {
    let Some(host_folder) = find_codex_folder() else { return };

    // Arrange: a repository, and settings that the user has written.
    let sandbox = Sandbox::new();
    create_repository(&sandbox);
    let config = write_user_settings(&sandbox);
    let waylore = |args: &[&str]| run_waylore(&sandbox, &host_folder, args);

    // `--yes` consents to the settings only; trust in the hooks needs `--trust`. Codex runs a hook only
    // if its settings contain the hash of the hook's definition.
    let output = waylore(&["--json", "connect", "codex", "--yes"]).expect_code(0, "without trust");
    assert_eq!(output.json()["trusted"], false, "{output:?}");
    assert!(!fs::read_to_string(&config).unwrap().contains("trusted_hash"));
    let output = waylore(&["doctor"]);
    assert!(output.out_and_err().contains("does not trust the hooks"), "{output:?}");
    let output =
        waylore(&["--json", "connect", "codex", "--yes", "--trust"]).expect_code(0, "with trust");
    assert_eq!(output.json()["trusted"], true, "{output:?}");
    let output = waylore(&["doctor"]);
    assert!(!output.out_and_err().contains("does not trust the hooks"), "{output:?}");

    // `connect` appends to the user's settings, and `disconnect` restores them exactly.
    let connected = fs::read_to_string(&config).unwrap();
    assert!(connected.starts_with(USER_SETTINGS), "{connected}");
    assert!(connected.contains("[mcp_servers.waylore]"), "{connected}");
    waylore(&["disconnect", "codex", "--yes"]).expect_code(0, "disconnect");
    assert_eq!(fs::read_to_string(&config).unwrap(), USER_SETTINGS);
    assert!(!sandbox.root.join(".codex/hooks.json").exists(), "there was none before");
    waylore(&["connect", "codex", "--yes", "--trust"]).expect_code(0, "connect");

    // The first session fails with a command, finds the one that works, and commits its work.
    let script = vec![
        shell("cat greet.py"),
        apply_patch(PATCH),
        shell(FAILING_COMMAND),
        shell(FIXED_COMMAND),
        shell(COMMIT_COMMAND),
    ];
    let prompt = "Please make greet.py say hi.";
    let conversation = run_session(&sandbox, &host_folder, prompt, script);
    assert!(conversation.iter().all(|it| !it.contains("waylore-notes")), "nothing is known yet");
    let edited = fs::read_to_string(sandbox.project.join("greet.py")).unwrap();
    assert!(edited.contains("'hi'"), "the patch was applied: {}", conversation.last().unwrap());

    // The user adds a note about the file.
    let note = "greet() is called by the installer: keep its name";
    sandbox
        .run(&["remember", "--type", "gotcha", "--file", "greet.py", note])
        .expect_code(0, "remember a note about greet.py");
    sandbox.run(&["learn"]).expect_code(0, "learn, unless the session's end already did");

    // The second session gets the file's note, and the fix after it met the same error.
    #[cfg(unix)]
    let _daemon = crate::daemon::RunningDaemon::start(&sandbox);
    let script = vec![shell("cat greet.py"), shell(FAILING_COMMAND_VARIANT)];
    let conversation = run_session(&sandbox, &host_folder, "Show me the last change.", script);
    let end = conversation.last().unwrap();
    assert!(end.contains("keep its name"), "{end}");
    assert!(end.contains(FIXED_COMMAND) && end.contains("seen once"), "{end}");
    // The second request follows the read of the file and precedes the failing command.
    assert!(!conversation[1].contains("seen once"), "not before the error: {}", conversation[1]);

    // While the second session ran, the daemon read its events from the host's transcript and wrote
    // them to the session's journal, a file in the folder `journals`.
    #[cfg(unix)]
    {
        let journals = crate::sandbox::files_containing(
            &sandbox.project_data_dir().join("journals"),
            FAILING_COMMAND_VARIANT,
        );
        assert_eq!(journals.len(), 1, "{journals:?}");
        let journal = fs::read_to_string(&journals[0]).unwrap();
        assert!(journal.contains("Show me the last change."), "{journal}");
    }

    // The third session has an unrelated task and gets nothing.
    let unrelated = "What is the boiling point of ethanol?";
    let conversation = run_session(&sandbox, &host_folder, unrelated, Vec::new());
    assert!(conversation.iter().all(|it| !it.contains("waylore-notes")), "{conversation:?}");

    // The host has changed its settings since `connect`; only our part is removed.
    waylore(&["disconnect", "codex", "--yes"]).expect_code(0, "disconnect");
    let settings = fs::read_to_string(&config).unwrap();
    assert!(settings.starts_with(USER_SETTINGS) && !settings.contains("waylore"), "{settings}");
}

/// The folder of the program `codex`, from `WAYLORE_CODEX` or where `scripts/setup hosts` installs it;
/// `None` if it is not there.
pub(crate) fn find_codex_folder() -> Option<PathBuf> {
    let chosen = std::env::var_os("WAYLORE_CODEX").map(PathBuf::from);
    let installed = workspace().join(".tools/codex/bin");
    let found =
        chosen.or_else(|| installed.canonicalize().ok()).filter(|it| it.join("codex").is_file());
    if found.is_none() {
        let reason = "`codex` is not installed; `scripts/setup hosts` installs it";
        skip("a real session of Codex", reason);
    }
    found
}

/// Writes the settings that make the host talk to the scripted model. Returns their path.
pub(crate) fn write_user_settings(sandbox: &Sandbox) -> PathBuf {
    let config = sandbox.root.join(".codex/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(&config, USER_SETTINGS).unwrap();
    config
}

/// Runs `waylore` with Codex on the `PATH`.
fn run_waylore(sandbox: &Sandbox, host_folder: &Path, args: &[&str]) -> CommandOutput {
    let mut command = sandbox.command(args);
    set_host_environment(sandbox, host_folder, &mut command);
    run_command(command)
}

/// Runs one session. Returns the conversation as the model received it with each request.
fn run_session(
    sandbox: &Sandbox,
    host_folder: &Path,
    prompt: &str,
    script: ItemScript,
) -> Vec<String> {
    let run = run_session_requests(sandbox, host_folder, prompt, script);
    run.requests.iter().map(|it| it["input"].to_string()).collect()
}

/// As `run_session`, but returns the whole requests, and what the host printed.
pub(crate) fn run_session_requests(
    sandbox: &Sandbox,
    host_folder: &Path,
    prompt: &str,
    script: ItemScript,
) -> SessionRun {
    let server = start_responses_model(script);
    let mut command = Command::new(host_folder.join("codex"));
    set_host_environment(sandbox, host_folder, &mut command);
    let base_url = format!("model_providers.here.base_url=\"{}/v1\"", server.url());
    command.args(["exec", "--json", "-c", &base_url, prompt]);
    let printed = run_host(command);
    // Other requests, such as that for the list of models, carry no conversation.
    let requests = server.requests().into_iter().map(|it| it.body);
    SessionRun { requests: requests.filter(|it| it["input"].is_array()).collect(), printed }
}

/// Puts Codex on the `PATH` of a command in the sandbox.
pub(crate) fn set_host_environment(sandbox: &Sandbox, host_folder: &Path, command: &mut Command) {
    sandbox.set_environment(command);
    let old_path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(host_folder.to_owned()).chain(std::env::split_paths(&old_path));
    command.env("PATH", std::env::join_paths(folders).unwrap());
    command.env("NO_PROXY", "127.0.0.1").env("SHELL", "/bin/bash").env("NOT_A_KEY", "none");
}

/// The output item of a model that runs a shell command.
pub(crate) fn shell(command: &str) -> Value {
    json!({ "type": "function_call", "status": "completed", "name": "exec_command",
        "arguments": json!({ "cmd": command }).to_string() })
}

/// The output item of a model that changes files.
fn apply_patch(text: &str) -> Value {
    json!({ "type": "custom_tool_call", "status": "completed", "name": "apply_patch", "input": text })
}

/// Starts a server of the responses API that plays a script, then answers "Done.".
fn start_responses_model(script: ItemScript) -> TestServer {
    TestServer::start(move |request: &ReceivedRequest| {
        if !request.line.starts_with("POST /v1/responses") {
            // The host also lists the available models.
            return ServerReply::Json(json!({ "object": "list", "data": [], "models": [] }));
        }
        // Every request repeats the conversation, so the number of past calls is the script position.
        let items = request.body["input"].as_array().cloned().unwrap_or_default();
        let is_call = |it: &&Value| it["type"].as_str().is_some_and(|it| it.ends_with("_call"));
        let n_calls = items.iter().filter(is_call).count();
        let item = match script.get(n_calls) {
            Some(item) => {
                let mut item = item.clone();
                item["id"] = format!("item_{n_calls}").into();
                item["call_id"] = format!("call_{n_calls}").into();
                item
            }
            None => {
                json!({ "type": "message", "id": "done", "role": "assistant", "status": "completed",
                "content": [{ "type": "output_text", "text": "Done.", "annotations": [] }] })
            }
        };
        ServerReply::Events(response_events(&item))
    })
}

/// A response with one output item, as a stream of server-sent events.
fn response_events(item: &Value) -> String {
    let usage = json!({ "input_tokens": 10, "output_tokens": 10, "total_tokens": 20,
        "input_tokens_details": { "cached_tokens": 0 }, "output_tokens_details": { "reasoning_tokens": 0 } });
    let response = |status: &str, output: Value| json!({ "id": "r", "object": "response", "status": status, "output": output, "usage": usage });
    let events = [
        json!({ "type": "response.created", "response": response("in_progress", json!([])) }),
        json!({ "type": "response.output_item.added", "output_index": 0, "item": item }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        json!({ "type": "response.completed", "response": response("completed", json!([item])) }),
    ];
    let frame = |it: &Value| format!("event: {}\ndata: {it}\n\n", it["type"].as_str().unwrap());
    events.iter().map(frame).collect()
}
