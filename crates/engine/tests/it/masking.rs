//! Secrets in events: whichever string of whichever event holds one, no file of the data folder does.
//!
//! The examples are serialised and a secret is put into each of their strings in turn, so that the
//! test follows the stored format and not a list of fields.

use std::collections::BTreeSet;
use std::path::Path;

use model::{EventEnvelope, EventKind};
use serde_json::Value;

use crate::learning::{LearningFixture, START, parse_events_at};

/// One event of every kind, with every field that an event can have.
const FULL_SESSION: &[&str] = &[
    r#""event":"session_start","project_root":"/p","agent":"a","host_session":"h","type":"build","task":"t","planned_steps":1,"phase":"implement","role":"r","parent":"019a0000-0000-7000-8000-0000000000ff","work_unit":{"methodology":"m","hierarchy":["s"],"label":"l"},"transcript":"/t""#,
    r#""event":"user_message","text":"No, always run the linter first.","interrupts":true"#,
    r#""event":"tool_call","call_id":"c","tool":"mcp:s/t","step":1,"planning":true,"args":{"paths":["a.rs"],"lines":{"first":1,"last":2},"query":"q","command":"c","url":"u","removed":"f","added":"g"}"#,
    r#""event":"tool_result","call_id":"c","tool":"mcp:s/t","ok":false,"rejected":true,"duration_ms":1,"size":2,"excerpt":"error: no such port","paths":["a.rs"],"matches":1"#,
    r#""event":"reasoning","text":"Actually, `a.rs` rounds per line, never on the sum.","step":1"#,
    r#""event":"step_complete","step":1,"usage":{"input":1,"output":1,"cached":1}"#,
    r#""event":"record","type":"gotcha","content":"the port is taken by the proxy","scope":"module","tags":["t"],"files":["a.rs"],"modules":["m"],"payload":{"k":["v",{"d":"e"}]},"step":1"#,
    r#""event":"validation","kind":"qa_passed","ok":true,"work_unit":{"methodology":"m","hierarchy":["s"],"label":"l"}"#,
    r#""event":"compaction""#,
    r#""event":"session_end","outcome":"success","steps":1"#,
];

/// The secret of one session; all begin with `secret_start()`.
fn secret(session: u8) -> String {
    format!("{}{session:02}", secret_start())
}

/// Assembled at run time, so that no source file holds a token.
fn secret_start() -> String {
    ["ghp_", "x7Kq2Lm9Pz4Rt6Vw8Yb1Nc3Df5Gh0Jk2Ls"].concat()
}

/// The locations of all strings in a value, as JSON pointers.
fn string_locations(acc: &mut Vec<String>, at: &str, value: &Value) {
    match value {
        Value::String(_) => acc.push(at.to_owned()),
        Value::Array(items) => {
            for (nth, item) in items.iter().enumerate() {
                string_locations(acc, &format!("{at}/{nth}"), item);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                string_locations(acc, &format!("{at}/{name}"), field);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Sessions like the full one, each with its secret in another string. Strings that cannot hold one
/// (closed words, ids of sessions) are left out.
fn sessions_with_secrets() -> Vec<(String, Vec<EventEnvelope>)> {
    let mut sessions = Vec::new();
    for nth_event in 0..FULL_SESSION.len() {
        let events = parse_events_at(START, 1, FULL_SESSION);
        let (mut locations, event) =
            (Vec::new(), serde_json::to_value(&events[nth_event]).unwrap());
        string_locations(&mut locations, "", &event);
        for location in locations {
            let session = u8::try_from(sessions.len() + 1).unwrap();
            let mut events = parse_events_at(START, session, FULL_SESSION);
            let mut event = serde_json::to_value(&events[nth_event]).unwrap();
            let text = event.pointer_mut(&location).unwrap();
            *text = Value::from(format!("{} {}", text.as_str().unwrap(), secret(session)));
            let Ok(changed) = EventEnvelope::parse_line(&event.to_string()) else { continue };
            // A closed word that is parsed leniently has dropped the secret already.
            if changed.to_line().contains(&secret_start()) {
                events[nth_event] = changed;
                sessions.push((format!("event {nth_event}, {location}"), events));
            }
        }
    }
    sessions
}

/// Bytes of every file below a folder, with their paths.
fn read_all_files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut acc = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            acc.extend(read_all_files(&entry.path()));
        } else {
            acc.push((entry.path().display().to_string(), std::fs::read(entry.path()).unwrap()));
        }
    }
    acc
}

fn assert_no_secret(data: &Path, sessions: &[(String, Vec<EventEnvelope>)]) {
    let files = read_all_files(data);
    assert!(files.len() > 2, "the data folder holds databases and journals");
    for (session, (location, _)) in sessions.iter().enumerate() {
        let secret = secret(u8::try_from(session + 1).unwrap());
        for (path, bytes) in &files {
            let holds = bytes.windows(secret.len()).any(|it| it == secret.as_bytes());
            assert!(!holds, "{path} holds the secret of {location}");
        }
    }
}

#[test]
fn a_secret_in_any_string_of_any_event_reaches_no_file() {
    let kinds: BTreeSet<&str> =
        parse_events_at(START, 1, FULL_SESSION).iter().map(|it| it.event.kind().slug()).collect();
    assert_eq!(kinds.len(), EventKind::ALL.len(), "one example of every kind");
    let sessions = sessions_with_secrets();
    assert!(sessions.len() >= 30, "only {} strings hold a secret", sessions.len());

    let fixture = LearningFixture::new();
    let mut project = fixture.open_project();
    for (_, events) in &sessions {
        fixture.record(&mut project, events);
    }
    let data = fixture.dir.path().join("data");
    assert_no_secret(&data, &sessions);
    let learned = fixture.learn_journals(&mut project);
    assert!(!learned.texts.is_empty(), "the notes become memories");
    drop(project);
    assert_no_secret(&data, &sessions);
}
