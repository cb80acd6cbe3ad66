//! Tests of notes that agents record and of memories with data: every type with its payload, by MCP, by
//! the protocol and by hand; and what happens to a note after outside content.

use serde_json::{Value, json};

use crate::daemon::{DaemonClient, RunningDaemon};
use crate::mcp::{answer_text, run_server, tool_call};
use crate::sandbox::Sandbox;

const SESSION_ID: &str = "018f0000-0000-7000-8000-0000000000ab";

/// Every type with a statement, and the fields that an agent states; null for types without a payload.
fn statements() -> Vec<(&'static str, &'static str, Value)> {
    let steps = json!(["edit cli.rs", "run make docs"]);
    vec![
        ("gotcha", "The cache key lacks the tenant", Value::Null),
        ("decision", "Ledgers are append-only for auditors", Value::Null),
        ("preference", "Reviews are written in English", Value::Null),
        ("pattern", "Handlers return a Reply, never a string", Value::Null),
        ("requirement", "Exports must finish in an hour", Value::Null),
        ("module_insight", "Billing owns all rounding", Value::Null),
        (
            "error_pattern",
            "Linking fails without lld",
            json!({ "message": "error: linker `lld` not found", "resolution": "install lld" }),
        ),
        (
            "prefetch_pattern",
            "Tax work opens the rate table",
            json!({ "always": ["tax/rates.rs"] }),
        ),
        ("work_state", "The importer is half migrated", json!({ "next": "port the csv reader" })),
        (
            "causal_dependency",
            "A new column needs a new row reader",
            json!({ "from": "schema.sql", "to": "row.rs" }),
        ),
        (
            "task_calibration",
            "Parser work takes three times its plan",
            json!({ "module": "parser", "avg_actual": 30, "avg_planned": 10 }),
        ),
        (
            "e2e_observation",
            "The save button is dead for a second",
            json!({ "kind": "timing", "tool": "browser" }),
        ),
        (
            "dead_end",
            "Caching by url does not work for uploads",
            json!({ "tried": "cache by url", "why_failed": "uploads share one" }),
        ),
        ("work_unit_outcome", "Ticket 12 shipped behind a flag", json!({ "succeeded": true })),
        (
            "workflow_recipe",
            "Flags are added in two steps",
            json!({ "task_pattern": "add a flag", "steps": steps }),
        ),
        (
            "context_cost",
            "Fixtures are expensive to read",
            json!({ "module": "fixtures", "avg_tokens": 9000 }),
        ),
    ]
}

/// Asserts that the notebook has every statement with its type and the stated fields.
fn assert_all_stored(sandbox: &Sandbox) {
    let listed = sandbox.json(&["list", "--all", "--limit", "50"])["memories"].clone();
    for (kind, content, payload) in statements() {
        let memory = listed.as_array().unwrap().iter().find(|it| it["content"] == content);
        let memory = memory.unwrap_or_else(|| panic!("no {kind} in {listed}"));
        assert_eq!(memory["type"], kind);
        for (name, value) in payload.as_object().into_iter().flatten() {
            // The steps of a recipe are completed to objects.
            let stored = match &memory["payload"][name] {
                Value::Array(steps) if name == "steps" => {
                    steps.iter().map(|it| it["description"].clone()).collect()
                }
                other => other.clone(),
            };
            assert_eq!(stored, *value, "{kind}: {name}");
        }
    }
}

#[test]
fn every_type_can_be_remembered_with_its_payload() {
    let sandbox = Sandbox::new();
    for (kind, content, payload) in statements() {
        let payload = payload.to_string();
        let mut args = vec!["remember", "--new", "--type", kind, content];
        if payload != "null" {
            args.extend(["--payload", &payload]);
        }
        sandbox.run(&args).expect_code(0, kind);
    }
    assert_all_stored(&sandbox);
}

#[test]
fn fields_can_be_given_one_by_one_and_mistakes_name_the_fields() {
    let sandbox = Sandbox::new();
    let fields = ["--field", "tried=sed -i", "--field", "why_failed=not on a mac"];
    let args = [&["remember", "-t", "dead_end", "Editing in place with sed fails"], &fields[..]];
    sandbox.run(&args.concat()).expect_code(0, "remember");
    let listed = sandbox.json(&["list"])["memories"].clone();
    assert_eq!(listed[0]["payload"]["tried"], "sed -i", "{listed}");

    let args = [&["remember", "-t", "dead_end", "Half of it"], &fields[..2]].concat();
    let refused = sandbox.run(&args);
    assert_ne!(refused.code, 0);
    assert!(refused.err.contains("why_failed"), "{refused:?}");
    assert!(refused.err.contains("used_instead"), "the hint lists the fields: {refused:?}");
    let refused = sandbox.run(&["remember", "-t", "gotcha", "A trap", "--field", "a=b"]);
    assert!(refused.err.contains("a `gotcha` carries no payload"), "{refused:?}");
    let refused = sandbox.run(&["remember", "A trap", "--field", "a=b"]);
    assert!(refused.err.contains("--type"), "{refused:?}");
}

#[test]
fn an_agent_can_record_every_type_with_its_payload() {
    let sandbox = Sandbox::new();
    let record = |(kind, content, payload): (&str, &str, Value)| {
        let mut note = json!({ "content": content, "type": kind, "modules": ["ledger"] });
        if !payload.is_null() {
            note["payload"] = payload;
        }
        tool_call(1, "record_memory", note)
    };
    // A server is a session of its own.
    for statement in statements() {
        let kind = statement.0;
        let answers = run_server(&sandbox, &["mcp"], &[record(statement)]);
        assert_eq!(answers[1]["result"]["structuredContent"]["type"], kind, "{}", answers[1]);
    }
    sandbox.run(&["learn"]).expect_code(0, "learn");
    assert_all_stored(&sandbox);
    let listed = sandbox.json(&["list", "--all", "--limit", "50"])["memories"].clone();
    for memory in listed.as_array().unwrap() {
        assert_eq!(memory["modules"], json!(["ledger"]), "{memory}");
        assert_eq!(memory["scope"], "module", "{memory}");
    }

    // A payload that does not fit is refused at once, with the fields of the type.
    let answers = run_server(&sandbox, &["mcp"], &[record(("dead_end", "x", json!({ "a": 1 })))]);
    assert!(answer_text(&answers[1]).contains("tried, why_failed"), "{}", answers[1]);
}

#[test]
fn a_note_after_outside_content_waits_for_review_and_the_agent_is_told() {
    let sandbox = Sandbox::new();
    let daemon = RunningDaemon::start(&sandbox);
    let mut client = DaemonClient::connect(&sandbox);
    let mut at = 1_000;
    let mut send = |client: &mut DaemonClient, mut event: Value| {
        at += 1;
        event["event_id"] = json!(format!("e{at}"));
        event["session_id"] = json!(SESSION_ID);
        event["at"] = json!(at);
        client.send_line(&event.to_string());
    };
    let record = |content: &str, kind: &str, payload: Value| json!({ "id": content, "request": "record", "session_id": SESSION_ID, "type": kind, "content": content, "scope": "session", "payload": payload });
    send(
        &mut client,
        json!({ "event": "session_start", "project_root": sandbox.project, "agent": "tester", "type": "build" }),
    );
    let own =
        client.request(record("The upload queue retries five times", "decision", Value::Null));
    assert_eq!(own["ok"]["needs_review"], false, "{own}");

    // The agent fetches a page. What it records after that may repeat the page.
    let url = "https://example.com/retries";
    send(
        &mut client,
        json!({ "event": "tool_call", "call_id": "w", "tool": "web_fetch", "args": { "url": url } }),
    );
    send(
        &mut client,
        json!({ "event": "tool_result", "call_id": "w", "tool": "web_fetch", "ok": true, "excerpt": "a page" }),
    );
    let payload = json!({ "tried": "retry at once", "why_failed": "the server bans the client" });
    let tainted =
        client.request(record("Retrying at once gets the client banned", "dead_end", payload));
    assert_eq!(tainted["ok"]["needs_review"], true, "{tainted}");
    let refused = client.request(record("half", "dead_end", json!({ "tried": "x" })));
    assert!(refused["error"].to_string().contains("why_failed"), "{refused}");

    client.request(json!({ "id": "v", "request": "validate", "session_id": SESSION_ID, "kind": "qa_passed", "ok": true }));
    client.request(json!({ "id": "f", "request": "finish", "session_id": SESSION_ID, "outcome": "success", "wait": true }));
    let listed = sandbox.json(&["list", "--all"])["memories"].clone();
    let find = |part: &str| {
        let mut all = listed.as_array().unwrap().iter();
        all.find(|it| it["content"].as_str().unwrap().contains(part))
            .unwrap_or_else(|| panic!("{listed}"))
    };
    assert_ne!(find("five times")["status"], "tainted");
    let banned = find("banned");
    assert_eq!(
        (&banned["status"], &banned["type"]),
        (&json!("tainted"), &json!("dead_end")),
        "{banned}"
    );
    assert_eq!(
        (&banned["payload"]["tried"], &banned["scope"]),
        (&json!("retry at once"), &json!("session"))
    );
    let waiting = sandbox.run(&["review", "--json"]);
    assert!(waiting.out.contains("banned"), "{waiting:?}");
    drop(daemon);
}
