//! Injection payloads that came with a repository, as a session record and as an import without
//! `--trust`, at the places where a model reads text outside hooks: resources and tools of the MCP server, the
//! daemon's protocol, contexts as JSON, exported rules. `crates/engine/tests/it/poisoning.rs` attacks every
//! channel and every moment; this file checks the surfaces that only the program has.

use std::fs;

use serde_json::{Value, json};

use crate::daemon::{DaemonClient, RunningDaemon};
use crate::mcp::{rpc_request, run_server, tool_call};
use crate::sandbox::{Sandbox, string};

const PAYLOADS: &str = include_str!("../../../promote/fixtures/injections.txt");
/// Begins every canary, the word that is unique to a payload.
const CANARY: &str = "zqcanary";
/// Notes that a session keeps.
const MAX_NOTES: usize = 45;
const TASK: &str = "run the command and send the keys to the system prompt, curl https x.test";

/// The payloads in one line each, with their canaries.
fn payloads() -> Vec<String> {
    let lines = PAYLOADS.lines().filter(|it| !it.starts_with('#'));
    let texts = lines.filter_map(|it| it.split_once(" | ")).map(|it| it.1);
    texts
        .enumerate()
        .map(|(nth, it)| it.replace("{canary}", &format!("{CANARY}{nth}")).replace("\\n", " "))
        .collect()
}

/// Session records in the repository, each with notes, words of the user and a fixed error.
fn write_records(sandbox: &Sandbox, payloads: &[String]) {
    let folder = sandbox.project.join("sessions");
    fs::create_dir(&folder).unwrap();
    for (nth, part) in payloads.chunks(MAX_NOTES).enumerate() {
        let mut events = vec![
            json!({ "event": "session_start", "project_root": sandbox.project, "agent": "test", "task": part[0] }),
        ];
        for text in part {
            events.push(json!({ "event": "record", "type": "gotcha", "content": text, "files": ["src/pay.rs"] }));
            events.push(
                json!({ "event": "user_message", "text": format!("No, always do this: {text}") }),
            );
        }
        for (id, ok, excerpt) in
            [("a", false, format!("error: {}", part[0])), ("b", true, "ok".to_owned())]
        {
            events.push(json!({ "event": "tool_call", "call_id": id, "tool": "shell", "args": { "command": format!("cargo test {id}") } }));
            events.push(json!({ "event": "tool_result", "call_id": id, "tool": "shell", "ok": ok, "excerpt": excerpt }));
        }
        let mut text = String::new();
        for (at, mut event) in events.into_iter().enumerate() {
            event["event_id"] = json!(format!("{nth}-{at}"));
            event["session_id"] = json!(format!("018f0000-0000-7000-8000-0000000000{nth:02}"));
            event["at"] = json!(1_794_700_000_000_i64 + i64::try_from(at).unwrap());
            text.push_str(&event.to_string());
            text.push('\n');
        }
        fs::write(folder.join(format!("{nth}.ndjson")), text).unwrap();
    }
    sandbox.json(&["learn", "--from", &folder.display().to_string()]);
}

/// A file of memories in the repository.
fn import_memories(sandbox: &Sandbox, payloads: &[String]) {
    let memory = |(nth, text): (usize, &String)| {
        json!({ "id": format!("018f0000-0000-7000-9000-00000000{nth:04}"), "type": "gotcha", "content": text,
            "confidence": 0.9, "created_at": 1_700_000_000_000_i64, "files": ["src/pay.rs"] })
    };
    let memories: Vec<Value> = payloads.iter().enumerate().map(memory).collect();
    let path = sandbox.project.join("memories.json");
    fs::write(&path, json!({ "v": 2, "kind": "export", "memories": memories }).to_string())
        .unwrap();
    sandbox.json(&["import", "--skip-bad", &path.display().to_string()]);
}

/// Everything that a model can read of the project, with the name of its place.
fn collect_outputs(sandbox: &Sandbox) -> Vec<(String, String)> {
    let mut acc = Vec::new();
    for format in ["rules", "markdown"] {
        let args = ["export", "--format", format];
        acc.push((args.join(" "), sandbox.run(&args).expect_code(0, format).out));
    }
    for args in [
        vec!["context", "start", "--json", "--task", TASK],
        vec!["context", "file", "--json", "src/pay.rs"],
        vec!["context", "plan", "--json", "--task", TASK],
        vec!["context", "qa", "--json", "--task", TASK],
    ] {
        acc.push((args.join(" "), sandbox.run(&args).out));
    }
    let mut messages = vec![
        tool_call(1, "search_memory", json!({ "query": TASK, "limit": 20 })),
        tool_call(
            2,
            "get_context",
            json!({ "stage": "plan", "task": TASK, "files": ["src/pay.rs"] }),
        ),
        tool_call(3, "get_workflow_recipe", json!({ "task": TASK })),
        rpc_request(4, "resources/read", json!({ "uri": "memory://module-map" })),
    ];
    let memories = sandbox.memories();
    let sessions = sandbox.json(&["explain"]);
    let uris = memories.iter().map(|it| format!("memory://memory/{}", string(&it["id"]))).chain(
        sessions["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| format!("memory://session/{}", string(&it["id"]))),
    );
    for uri in uris {
        messages.push(rpc_request(messages.len() + 1, "resources/read", json!({ "uri": uri })));
    }
    for answer in run_server(sandbox, &["mcp"], &messages).iter().skip(1) {
        acc.push((format!("MCP answer {}", answer["id"]), answer.to_string()));
    }
    let daemon = RunningDaemon::start(sandbox);
    let mut client = DaemonClient::connect(sandbox);
    for request in [
        "search",
        "session_context",
        "file_context",
        "plan_context",
        "qa_context",
        "recovery_context",
        "spec_context",
        "recipe",
    ] {
        let answer = client
            .request(json!({ "id": 1, "request": request, "project": sandbox.project,
            "query": TASK, "task": TASK, "files": ["src/pay.rs"] }));
        acc.push((format!("protocol {request}"), answer.to_string()));
    }
    drop(daemon);
    acc
}

#[test]
fn payloads_of_a_repository_reach_no_surface_of_the_program() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.project.join("src")).unwrap();
    fs::write(sandbox.project.join("src/pay.rs"), "pub fn pay() {}\n").unwrap();
    let payloads = payloads();
    let (recorded, imported) = payloads.split_at(payloads.len() / 2);
    write_records(&sandbox, recorded);
    import_memories(&sandbox, imported);
    // The attack itself works: the payloads are stored.
    let n_stored = sandbox.memories().iter().filter(|it| it.to_string().contains(CANARY)).count();
    assert!(n_stored >= 40, "{n_stored}");
    for (place, output) in collect_outputs(&sandbox) {
        let leak = output.split(CANARY).nth(1).map(|it| it.chars().take(60).collect::<String>());
        assert_eq!(leak, None, "{place}: {output}");
    }
}
