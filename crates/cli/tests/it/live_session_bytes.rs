//! Byte search of the data folder while a session runs: through hooks without a daemon, the daemon,
//! its protocol and the MCP server, with rare words in every input.
//!
//! With encryption no file holds any of them, neither during the session nor after it was learned or
//! purged. Without encryption the words are found, but no secret is.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::daemon::{DaemonClient, RunningDaemon};
use crate::hooks::{failed_command, file_read, injected_text, session_start, user_prompt};
use crate::sandbox::{Sandbox, files_containing, skip, wait_until};

/// Begins every rare word; letters only, so that no rule takes it for a secret.
const CANARY: &str = "quaggaheron";
/// Session of the client that speaks the protocol.
const SESSION_ID: &str = "018f0000-0000-7000-8000-0000000000ac";

/// A token of a known format, assembled at run time so that no source file holds one.
fn token() -> String {
    ["ghp_", "x7Kq2Lm9Pz4Rt6Vw8Yb1Nc3Df5Gh0Jk2Ls4A"].concat()
}

/// Sends the events of a host's session, each with a rare word and a token.
fn send_hooks(sandbox: &Sandbox, session: &str) {
    let token = token();
    injected_text(sandbox, session, session_start("startup"));
    let prompt = format!("always run {CANARY}prompt before a release, key {token}");
    injected_text(sandbox, session, user_prompt(&prompt));
    let path = format!("src/{CANARY}path/{token}.rs");
    injected_text(sandbox, session, file_read(sandbox, &path));
    let command = format!("deploy {CANARY}command --key {token}");
    let error = format!("Exit code 1\nerror: {CANARY}output is missing, key {token}");
    injected_text(sandbox, session, failed_command(&command, &error));
}

/// The events of a client that speaks the protocol, with words in fields that no host fills.
fn send_protocol(sandbox: &Sandbox) {
    let (mut client, token) = (DaemonClient::connect(sandbox), token());
    let unit = json!({ "methodology": "spec", "hierarchy": [format!("{CANARY}unit {token}")],
        "label": format!("{CANARY}label {token}") });
    let events = [
        json!({ "event": "session_start", "project_root": sandbox.project, "agent": format!("{CANARY}agent {token}"),
            "role": format!("{CANARY}role {token}"), "task": format!("{CANARY}task {token}"), "work_unit": unit }),
        json!({ "event": "record", "type": "gotcha", "content": format!("the {CANARY}note port is taken, {token}"),
            "tags": [format!("{CANARY}tag {token}")], "modules": [format!("{CANARY}module {token}")],
            "files": [format!("{CANARY}file/{token}.rs")],
            "payload": { format!("{CANARY}name {token}"): format!("{CANARY}value {token}") } }),
        json!({ "event": "validation", "kind": "qa_passed", "ok": true, "work_unit": unit }),
        json!({ "event": "step_complete" }),
    ];
    for (nth, mut event) in events.into_iter().enumerate() {
        event["event_id"] = json!(format!("{CANARY}{nth} {token}"));
        event["session_id"] = json!(SESSION_ID);
        event["at"] = json!(1_794_700_000_000_i64 + i64::try_from(nth).unwrap());
        client.send_line(&event.to_string());
    }
    let pong = client.request(json!({ "id": 1, "request": "ping" }));
    assert_eq!(pong["ok"], json!({}), "an event was refused: {pong}");
}

/// Records a note and searches through the MCP server.
fn use_mcp(sandbox: &Sandbox) {
    let call = |id: u32, tool: &str, arguments: Value| {
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": { "name": tool, "arguments": arguments } })
    };
    let client = json!({ "name": format!("{CANARY}client"), "version": "1" });
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let content = format!("the {CANARY}mcp cache is cleared nightly, {}", token());
    let messages = [
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }),
        call(1, "record_memory", json!({ "content": content, "type": "gotcha" })),
        call(2, "search_memory", json!({ "query": format!("{CANARY}query {}", token()) })),
    ];
    let input: String = messages.iter().map(|it| it.to_string() + "\n").collect();
    let output = sandbox.run_with_input(&["mcp"], input.as_bytes()).expect_code(0, "mcp");
    assert!(!output.out.contains("\"isError\":true"), "{}", output.out);
}

/// Runs the whole session and calls `check` at each moment, with its name.
fn run_session(sandbox: &Sandbox, check: impl Fn(&str)) {
    // A note for the start of every session, which the injection log then names.
    sandbox.remember("All times are UTC");
    // The id of a session comes from the host and may be any text.
    send_hooks(sandbox, &format!("{CANARY}s1"));
    check("hooks without a daemon");
    let daemon = RunningDaemon::start(sandbox);
    send_hooks(sandbox, &format!("{CANARY}s2"));
    send_protocol(sandbox);
    check("a daemon during the session");
    use_mcp(sandbox);
    check("an MCP server");
    drop(daemon);
    check("a killed daemon");
    sandbox.run(&["learn"]).expect_code(0, "learn");
    check("learning");
    let notes = format!("{CANARY}note");
    wait_until("the note is a memory", || {
        sandbox.run(&["learn"]);
        sandbox.memories().iter().any(|it| it.to_string().contains(&notes))
    });
    check("the note is a memory");
}

#[test]
fn with_encryption_no_file_holds_a_word_of_a_running_session() {
    let sandbox = Sandbox::new();
    if sandbox.run(&["doctor"]).out.contains("cannot encrypt") {
        skip("bytes of an encrypted session", "this build cannot encrypt");
        return;
    }
    sandbox.json(&["config", "encryption", "file"]);
    let check = |when: &str| {
        assert_eq!(files_containing(&sandbox.home, CANARY), Vec::<PathBuf>::new(), "{when}");
        assert_eq!(files_containing(&sandbox.home, &token()), Vec::<PathBuf>::new(), "{when}");
    };
    run_session(&sandbox, check);
    let doctor = sandbox.run(&["doctor"]);
    assert!(!doctor.out.contains("are plain"), "{}", doctor.out);

    // Decrypted, the words are there: the session was stored. Encrypted again, none is left.
    send_hooks(&sandbox, &format!("{CANARY}s3"));
    let inbox = sandbox.home.join("data/inbox");
    assert_eq!(files_containing(&inbox, "session_start"), Vec::<PathBuf>::new());
    sandbox.json(&["config", "encryption", "off"]);
    assert_eq!(files_containing(&inbox, "session_start").len(), 1);
    for folder in ["shown", "projects"] {
        let plain = files_containing(&sandbox.home.join("data").join(folder), CANARY);
        assert!(!plain.is_empty(), "{folder}");
    }
    sandbox.json(&["config", "encryption", "file"]);
    check("encrypted again");
    sandbox.json(&["purge", "--yes", "--everything"]);
    check("purged");
}

#[test]
fn without_encryption_no_file_holds_a_secret_of_a_running_session() {
    let sandbox = Sandbox::new();
    run_session(&sandbox, |when| {
        assert_eq!(files_containing(&sandbox.home, &token()), Vec::<PathBuf>::new(), "{when}");
        assert!(!files_containing(&sandbox.home, CANARY).is_empty(), "{when}");
    });
}
