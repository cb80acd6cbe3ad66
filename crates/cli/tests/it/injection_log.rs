//! The injection log as a user sees it: `injections`, `stats` and `show` after hooks gave notes to a
//! session, and `purge`, which erases them. Also which notes a file and a plan bring.

use std::fs;

use serde_json::{Value, json};

use crate::hooks::{file_read, injected_text, sandbox_with_memories, session_start, user_prompt};
use crate::sandbox::Sandbox;

fn json_of(sandbox: &Sandbox, args: &[&str]) -> Value {
    let output = sandbox.run(args).expect_code(0, &args.join(" "));
    serde_json::from_str(&output.out).unwrap()
}

/// Rows of the log as `memory or subject, moment, tier`, oldest first.
fn logged(sandbox: &Sandbox, args: &[&str]) -> Vec<(String, String, String)> {
    let report = json_of(sandbox, &[&["injections", "--json"], args].concat());
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let mut rows: Vec<_> = report["injections"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (text(&it["subject"]), text(&it["moment"]), text(&it["tier"])))
        .collect();
    rows.reverse();
    rows
}

#[test]
fn what_hooks_inject_is_logged_counted_and_erased() {
    let sandbox = sandbox_with_memories();
    assert!(injected_text(&sandbox, "s1", session_start("startup")).contains("UTC"));
    assert!(injected_text(&sandbox, "s1", file_read(&sandbox, "src/auth.rs")).contains("verify()"));
    let row = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
    let all = logged(&sandbox, &[]);
    assert!(all.contains(&row("memory", "start", "start")), "{all:?}");
    assert!(all.contains(&row("memory", "file", "tool_result")), "{all:?}");
    assert!(logged(&sandbox, &["--session", "another"]).is_empty());

    // A second reading counts nothing twice.
    let list = json_of(&sandbox, &["list", "--json", "--type", "gotcha"]);
    let id = list["memories"][0]["id"].as_str().unwrap().to_owned();
    for _ in 0..2 {
        let shown = json_of(&sandbox, &["show", &id, "--json"]);
        assert_eq!(shown["memory"]["access_count"], 1, "{shown}");
        assert!(shown["memory"]["last_accessed_at"].is_i64(), "{shown}");
    }
    let stats = json_of(&sandbox, &["stats", "--json"]);
    assert_eq!(stats["activity"]["shown"], 2, "{stats}");
    let tiers = stats["activity"]["tiers"].as_array().unwrap();
    let names: Vec<&str> = tiers.iter().map(|it| it["tier"].as_str().unwrap()).collect();
    assert_eq!(names, ["start", "tool_result"]);
    assert!(tiers.iter().all(|it| it["tokens"].as_u64().unwrap() > 10), "{tiers:?}");

    // The log holds no text, and nothing of an erased memory.
    assert_eq!(logged(&sandbox, &["--memory", &id]).len(), 1);
    sandbox.run(&["purge", &id, "--yes"]).expect_code(0, "purge");
    let left = logged(&sandbox, &[]);
    assert!(!left.contains(&row("memory", "file", "tool_result")), "{left:?}");
}

/// The event of a successful edit, with the call before it.
fn edit_events(sandbox: &Sandbox, file: &str) -> [Value; 2] {
    let path = sandbox.project.join(file).display().to_string();
    let input = json!({ "file_path": path, "old_string": "a", "new_string": "b" });
    ["PreToolUse", "PostToolUse"].map(|event| {
        json!({ "hook_event_name": event, "tool_name": "Edit", "tool_use_id": "t1", "tool_input": input,
            "tool_response": { "filePath": path } })
    })
}

#[test]
fn a_note_that_a_session_followed_is_marked_in_the_log_the_export_and_the_explanation() {
    let sandbox = sandbox_with_memories();
    injected_text(&sandbox, "s1", session_start("startup"));
    injected_text(&sandbox, "s1", user_prompt("go on"));
    assert!(injected_text(&sandbox, "s1", file_read(&sandbox, "src/auth.rs")).contains("verify()"));
    for event in edit_events(&sandbox, "src/auth.rs") {
        injected_text(&sandbox, "s1", event);
    }
    injected_text(&sandbox, "s1", json!({ "hook_event_name": "SessionEnd", "reason": "exit" }));
    json_of(&sandbox, &["learn", "--json"]);

    let gotcha = json_of(&sandbox, &["list", "--json", "--type", "gotcha"])["memories"][0].clone();
    let is_gotchas = |it: &&Value| it["memory"] == gotcha["id"];
    let log = json_of(&sandbox, &["injections", "--json"]);
    let row = log["injections"].as_array().unwrap().iter().find(is_gotchas).unwrap().clone();
    assert_eq!((&row["followed"], &row["session"]), (&json!(true), &json!("s1")), "{log}");

    let export: Value = json_of(&sandbox, &["export"]);
    let exported = export["injections"].as_array().unwrap();
    assert!(exported.contains(&row), "{exported:?}");
    let explained = json_of(&sandbox, &["explain", gotcha["id"].as_str().unwrap(), "--json"]);
    assert_eq!(explained["injections"], json!([row]), "{explained}");

    // A session is named by the beginning or the end of its id, or as its host names it.
    let sessions = json_of(&sandbox, &["explain", "--json"]);
    let id = sessions["sessions"][0]["id"].as_str().unwrap().to_owned();
    for name in [&id, &id[..8], &id[id.len() - 6..], "s1"] {
        let explained = json_of(&sandbox, &["explain", name, "--json"]);
        assert_eq!(explained["session"]["id"], json!(id), "{name}: {explained}");
        assert!(explained["injections"].as_array().unwrap().contains(&row), "{explained}");
    }
    let text = sandbox.run(&["explain", &id]).expect_code(0, "explain").out;
    assert!(text.contains("given to agents") && text.contains("followed"), "{text}");
}

#[test]
fn a_file_brings_every_memory_about_it_with_warnings_first() {
    let sandbox = sandbox_with_memories();
    let text = "auth.rs stays free of async code";
    sandbox
        .run(&["remember", "--type", "decision", "--file", "src/auth.rs", text])
        .expect_code(0, "remember a decision about the file");
    let notes = injected_text(&sandbox, "s1", file_read(&sandbox, "src/auth.rs"));
    let (gotcha, decision) = (notes.find("verify() wants"), notes.find("free of async"));
    assert!(gotcha.is_some() && gotcha < decision, "{notes}");
}

#[test]
fn a_plan_or_a_test_of_a_named_file_brings_its_gotchas() {
    let sandbox = sandbox_with_memories();
    fs::write(sandbox.project.join("src/other.rs"), "").unwrap();
    for stage in ["plan", "qa"] {
        let task = "Rewrite the clock in src/auth.rs.";
        let output = sandbox.run(&["context", stage, "--task", task]).expect_code(0, stage);
        assert!(output.out.contains("verify() wants seconds"), "{stage}: {}", output.out);
        let other = sandbox.run(&["context", stage, "--task", "Translate src/other.rs"]);
        assert!(!other.out.contains("verify() wants seconds"), "{stage}: {}", other.out);
    }
    assert!(!injected_text(&sandbox, "s1", user_prompt("go on")).contains("verify()"));
}
