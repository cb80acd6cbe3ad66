//! Tests that a search inside a session prefers memories about code near the files of that session.
//!
//! The project has two equally relevant memories. Which one comes first must depend on the file that
//! the session has read: the memory about a file that it calls wins. Tested over the daemon's
//! protocol and over MCP.

use std::fs;

use serde_json::{Value, json};

use crate::daemon::{DaemonClient, RunningDaemon};
use crate::hooks::{file_read, injected_text};
use crate::mcp::rpc_request;
use crate::sandbox::{Sandbox, run_command_with_input, string};

const QUERY: &str = "after how many attempts do retries stop";
const BANK_MEMORY: &str = "Retries stop after three attempts: the bank drops the fourth";
const CARRIER_MEMORY: &str = "Retries stop after three attempts: the carrier drops the fourth";

/// An indexed project in which `pay.rs` calls `ledger.rs` and `ship.rs` calls `parcel.rs`, with one
/// memory about each of the two called files.
fn indexed_shop() -> Sandbox {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.project.join("src")).unwrap();
    for (file, text) in [
        ("lib.rs", "mod ledger;\nmod parcel;\nmod pay;\nmod ship;\n"),
        ("ledger.rs", "pub fn book() {}\npub fn close() {}\n"),
        ("parcel.rs", "pub fn weigh() {}\npub fn label() {}\n"),
        (
            "pay.rs",
            "use crate::ledger;\nfn pay() {\n    ledger::book();\n    ledger::close();\n}\n",
        ),
        (
            "ship.rs",
            "use crate::parcel;\nfn ship() {\n    parcel::weigh();\n    parcel::label();\n}\n",
        ),
    ] {
        fs::write(sandbox.project.join("src").join(file), text).unwrap();
    }
    for (file, text) in [("src/ledger.rs", BANK_MEMORY), ("src/parcel.rs", CARRIER_MEMORY)] {
        let args = ["remember", "--new", "--type", "decision", "--file", file, text];
        sandbox.run(&args).expect_code(0, "remember");
    }
    sandbox.run(&["index"]).expect_code(0, "index");
    sandbox
}

#[test]
fn a_protocol_search_prefers_neighbours_of_session_files() {
    let sandbox = indexed_shop();
    let _running = RunningDaemon::start(&sandbox);
    let mut client = DaemonClient::connect(&sandbox);
    // Searches with extra parameters and returns the text of the first hit.
    let mut first_hit = |parameters: Value| {
        let mut request =
            json!({ "id": 1, "request": "search", "project": sandbox.project, "query": QUERY });
        request.as_object_mut().unwrap().extend(parameters.as_object().unwrap().clone());
        string(&client.request(request)["ok"]["hits"][0]["content"])
    };
    // Either memory may come first, but it is always the same one.
    let without_session = first_hit(json!({}));
    for (session, file, expected) in [
        ("018f0000-0000-7000-8000-0000000000b1", "src/pay.rs", BANK_MEMORY),
        ("018f0000-0000-7000-8000-0000000000b2", "src/ship.rs", CARRIER_MEMORY),
    ] {
        let mut session_client = DaemonClient::connect(&sandbox);
        // A line of the protocol for an event. The name of the event serves as its id, because each
        // occurs once.
        let event = |body: Value| {
            let mut res = json!({ "event_id": body["event"], "session_id": session, "at": 1 });
            res.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
            res.to_string()
        };
        session_client.send_line(&event(
            json!({ "event": "session_start", "project_root": sandbox.project, "agent": "test" }),
        ));
        // Events get no answer; the answer to a ping shows that they were processed.
        session_client.request(json!({ "id": 1, "request": "ping" }));
        assert_eq!(
            first_hit(json!({ "session_id": session })),
            without_session,
            "no file read yet"
        );

        session_client.send_line(&event(json!({
            "event": "tool_call", "call_id": "c1", "tool": "read", "args": { "paths": [file] },
        })));
        session_client.request(json!({ "id": 2, "request": "ping" }));
        assert_eq!(first_hit(json!({ "session_id": session })), expected);
        assert_eq!(first_hit(json!({})), without_session, "other searches are not affected");
        // A client can also name the files itself.
        assert_eq!(first_hit(json!({ "files": [file] })), expected);
    }
}

#[test]
fn an_mcp_search_prefers_neighbours_of_session_files() {
    let sandbox = indexed_shop();
    // Runs the MCP server in a session, searches, and returns the file of the first hit.
    let first_hit = |session: Option<&str>| {
        let client = json!({ "name": "test", "version": "1" });
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        let search = json!({ "name": "search_memory", "arguments": { "query": QUERY } });
        let initialize = rpc_request(0, "initialize", params);
        let input = format!("{initialize}\n{}\n", rpc_request(1, "tools/call", search));
        let mut server = sandbox.command(&["mcp"]);
        // The server takes the session from this variable, which Claude Code sets.
        server.envs(session.map(|it| ("CLAUDE_CODE_SESSION_ID", it)));
        let output = run_command_with_input(server, input.as_bytes());
        let mut answers = output.out.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
        let answer = answers.find(|it| it["id"] == 1).unwrap();
        string(&answer["result"]["structuredContent"]["hits"][0]["files"][0])
    };
    let without_session = first_hit(None);
    for (session, file, expected) in [
        ("11111111-2222-4333-8444-000000000001", "src/pay.rs", "src/ledger.rs"),
        ("11111111-2222-4333-8444-000000000002", "src/ship.rs", "src/parcel.rs"),
    ] {
        assert_eq!(first_hit(Some(session)), without_session, "no file read yet");
        // The hook reports that the session has read the file.
        injected_text(&sandbox, session, file_read(&sandbox, file));
        assert_eq!(first_hit(Some(session)), expected);
        assert_eq!(first_hit(None), without_session);
    }
}
