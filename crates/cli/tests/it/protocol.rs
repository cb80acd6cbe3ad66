//! The examples of docs/reference/protocol.md, sent to a real daemon.

use serde_json::Value;

use crate::daemon::{Line, Running};
use crate::hooks::taught;
use crate::kit::workspace;

/// Where the document says the project is.
const PROJECT: &str = "/home/me/shop";
/// What differs from run to run.
const ANYTHING: &str = "…";

/// What was said fits what the document shows: every field, and no other.
fn fits(shown: &Value, said: &Value) -> bool {
    match (shown, said) {
        (Value::String(it), said) if it == ANYTHING => !said.is_null(),
        (Value::Object(shown), Value::Object(said)) => {
            shown.len() == said.len()
                && shown.iter().all(|(key, it)| said.get(key).is_some_and(|said| fits(it, said)))
        }
        (Value::Array(shown), Value::Array(said)) => {
            shown.len() == said.len() && shown.iter().zip(said).all(|(a, b)| fits(a, b))
        }
        (shown, said) => shown == said,
    }
}

#[test]
fn the_document_says_what_the_daemon_does() {
    let desk = taught();
    desk.run(&["index"]).ends(0, "indexed");
    let _running = Running::start(&desk);
    let mut line = Line::to(&desk);
    let path = workspace().join("docs/reference/protocol.md");
    let document = std::fs::read_to_string(path).unwrap();
    let (mut n_sent, mut n_answered) = (0, 0);
    for example in document.split("```ndjson\n").skip(1) {
        for shown in example.split("```").next().unwrap().lines() {
            let project = desk.project.display().to_string();
            if let Some(sent) = shown.strip_prefix("→ ") {
                line.send(&sent.replace(PROJECT, &project));
                n_sent += 1;
            } else if let Some(answer) = shown.strip_prefix("← ") {
                let said = line.next();
                let answer: Value =
                    serde_json::from_str(&answer.replace(PROJECT, &project)).unwrap();
                assert!(fits(&answer, &said), "the document: {answer}\nthe daemon:   {said}");
                n_answered += 1;
            } else {
                panic!("neither sent nor answered: {shown}");
            }
        }
    }
    assert!(n_sent > 15 && n_answered > 12, "{n_sent} and {n_answered} lines were found");
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

#[path = "../../../../fuzz/targets/mutate.rs"]
mod mutate;
#[path = "../../../../fuzz/targets/protocol.rs"]
mod target;

#[test]
fn any_line_is_read_or_refused() {
    mutate::replay("protocol", 4_000, target::run);
}
