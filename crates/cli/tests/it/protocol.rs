//! Tests of the daemon's line protocol against its documentation, `docs/reference/protocol.md`.
//!
//! The examples of the document are sent to a real daemon, whose answers must match the documented
//! ones; every request kind, error code and event kind must be documented. Every line is one JSON
//! value, and an example in the document has this form:
//!
//! ```text
//! → {"id":"two","request":"ping"}
//! ← {"id":"two","ok":{}}
//! ```
//!
//! The fuzz target of the protocol runs here over its seeds and mutations of them.

#[path = "../../../../fuzz/targets/mutate.rs"]
mod mutate;
#[path = "../../../../fuzz/targets/protocol.rs"]
mod target;

use serde_json::Value;

use crate::daemon::{DaemonClient, RunningDaemon};
use crate::hooks::sandbox_with_memories;
use crate::sandbox::workspace;

/// The project folder in the examples of the document.
const DOCUMENTED_PROJECT: &str = "/home/me/shop";
/// Stands in the document for a value that differs from run to run.
const ANY_VALUE: &str = "…";

#[test]
fn the_daemon_answers_as_the_document_shows() {
    let sandbox = sandbox_with_memories();
    sandbox.run(&["index"]).expect_code(0, "index");
    let _running = RunningDaemon::start(&sandbox);
    let mut client = DaemonClient::connect(&sandbox);
    let project = sandbox.project.display().to_string();
    let path = workspace().join("docs/reference/protocol.md");
    let document = std::fs::read_to_string(path).unwrap();

    // Play the examples, which stand in blocks of `ndjson`: `→` marks a line of the client, `←` an answer
    // of the daemon.
    let (mut n_sent, mut n_answered) = (0, 0);
    for example in document.split("```ndjson\n").skip(1) {
        for line in example.split("```").next().unwrap().lines() {
            if let Some(request) = line.strip_prefix("→ ") {
                client.send_line(&request.replace(DOCUMENTED_PROJECT, &project));
                n_sent += 1;
            } else if let Some(answer) = line.strip_prefix("← ") {
                let actual = client.read_answer();
                let expected: Value =
                    serde_json::from_str(&answer.replace(DOCUMENTED_PROJECT, &project)).unwrap();
                assert!(
                    matches_example(&expected, &actual),
                    "the document: {expected}\nthe daemon:   {actual}"
                );
                n_answered += 1;
            } else {
                panic!("an example line without `→` or `←`: {line}");
            }
        }
    }
    // Guards against a changed notation, which would leave nothing to test.
    assert!(n_sent > 15 && n_answered > 12, "{n_sent} requests, {n_answered} answers");

    // The lists of the document are complete.
    for kind in serve::wire::RequestKind::ALL {
        assert!(document.contains(&format!("`{kind}`")), "`{kind}` is not in the document");
    }
    for code in serve::wire::ErrorCode::ALL {
        assert!(document.contains(&format!("`{code}`")), "`{code}` is not in the document");
    }
    for event in model::EventKind::ALL {
        assert!(document.contains(&format!("`{event}`")), "`{event}` is not in the document");
    }
}

/// Compares an answer with the documented one: the same fields and no other, with any non-null value
/// where the document has `ANY_VALUE`.
fn matches_example(expected: &Value, actual: &Value) -> bool {
    match (expected, actual) {
        (Value::String(text), actual) if text == ANY_VALUE => !actual.is_null(),
        (Value::Object(expected), Value::Object(actual)) => {
            expected.len() == actual.len()
                && expected.iter().all(|(key, value)| {
                    actual.get(key).is_some_and(|it| matches_example(value, it))
                })
        }
        (Value::Array(expected), Value::Array(actual)) => {
            expected.len() == actual.len()
                && expected.iter().zip(actual).all(|(a, b)| matches_example(a, b))
        }
        (expected, actual) => expected == actual,
    }
}

#[test]
fn any_line_gets_an_answer() {
    const MUTATIONS: usize = 4_000;
    mutate::replay("protocol", MUTATIONS, target::run);
}
