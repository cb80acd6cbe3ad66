//! A search by somebody at work is one by somebody with files before them: what is known of those next
//! to them comes first, over the socket and over MCP.

use std::fs;

use serde_json::{Value, json};

use crate::daemon::{Line, Running};
use crate::hooks::{read, told};
use crate::kit::{Desk, fed, string};

const ASKED: &str = "after how many attempts do retries stop";
const BANK: &str = "Retries stop after three attempts: the bank drops the fourth";
const CARRIER: &str = "Retries stop after three attempts: the carrier drops the fourth";

/// Two notes alike, each about a file that another one calls.
fn shop() -> Desk {
    let desk = Desk::new();
    fs::create_dir(desk.project.join("src")).unwrap();
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
        fs::write(desk.project.join("src").join(file), text).unwrap();
    }
    for (file, text) in [("src/ledger.rs", BANK), ("src/parcel.rs", CARRIER)] {
        let args = ["remember", "--new", "--type", "decision", "--file", file, text];
        desk.run(&args).ends(0, "kept");
    }
    desk.run(&["index"]).ends(0, "indexed");
    desk
}

#[test]
fn over_the_socket_the_files_of_a_session_are_at_hand() {
    let desk = shop();
    let _running = Running::start(&desk);
    let mut line = Line::to(&desk);
    let mut first = |about: Value| {
        let mut request =
            json!({ "id": 1, "request": "search", "project": desk.project, "query": ASKED });
        request.as_object_mut().unwrap().extend(about.as_object().unwrap().clone());
        string(&line.ask(request)["ok"]["hits"][0]["content"])
    };
    let by_itself = first(json!({}));
    for (session, file, near) in [
        ("018f0000-0000-7000-8000-0000000000b1", "src/pay.rs", BANK),
        ("018f0000-0000-7000-8000-0000000000b2", "src/ship.rs", CARRIER),
    ] {
        let mut work = Line::to(&desk);
        let event = |body: Value| {
            let mut res = json!({ "event_id": body["event"], "session_id": session, "at": 1 });
            res.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
            res.to_string()
        };
        work.send(&event(
            json!({ "event": "session_start", "project_root": desk.project, "agent": "test" }),
        ));
        work.ask(json!({ "id": 1, "request": "ping" }));
        assert_eq!(first(json!({ "session_id": session })), by_itself, "nothing was touched yet");
        work.send(&event(json!({
            "event": "tool_call", "call_id": "c1", "tool": "read", "args": { "paths": [file] },
        })));
        work.ask(json!({ "id": 2, "request": "ping" }));
        assert_eq!(first(json!({ "session_id": session })), near);
        assert_eq!(first(json!({})), by_itself, "without the session as before");
        assert_eq!(first(json!({ "files": [file] })), near, "a program may name them, too");
    }
}

#[test]
fn over_mcp_the_files_of_the_conversation_are_at_hand() {
    let desk = shop();
    let first = |session: Option<&str>| {
        let client = json!({ "name": "test", "version": "1" });
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        let asked = json!({ "name": "search_memory", "arguments": { "query": ASKED } });
        let line = |id: u32, method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let input =
            format!("{}\n{}\n", line(0, "initialize", params), line(1, "tools/call", asked));
        let mut server = desk.command(&["mcp"]);
        server.envs(session.map(|it| ("CLAUDE_CODE_SESSION_ID", it)));
        let said = fed(server, input.as_bytes());
        let mut answers = said.out.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
        let answer = answers.find(|it| it["id"] == 1).unwrap();
        string(&answer["result"]["structuredContent"]["hits"][0]["files"][0])
    };
    let by_itself = first(None);
    for (session, file, near) in [
        ("11111111-2222-4333-8444-000000000001", "src/pay.rs", "src/ledger.rs"),
        ("11111111-2222-4333-8444-000000000002", "src/ship.rs", "src/parcel.rs"),
    ] {
        assert_eq!(first(Some(session)), by_itself, "it went over nothing yet");
        told(&desk, session, read(&desk, file));
        assert_eq!(first(Some(session)), near);
        assert_eq!(first(None), by_itself, "another conversation is asked as before");
    }
}
