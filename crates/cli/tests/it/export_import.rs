//! Tests of `waylore export` and `waylore import`.
//!
//! An export contains every memory, and importing it elsewhere gives equal memories. Without
//! `--trust`, imported memories wait for review and are not shown to agents. One invalid record
//! rejects the whole file unless `--skip-bad` is given.
//!
//! A *tainted* memory comes from outside the project and is not confirmed by the user yet. Exit
//! codes: 1 for an invalid record or nothing to export, 2 for wrong usage, 3 for a file that cannot be
//! written.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, id_of, record, run_command, string};

#[test]
fn an_export_imports_without_loss() {
    let (sandbox, other) = (sandbox_with_every_state(), Sandbox::new());
    let file = export(&sandbox, "json");
    let imported = other.json(&["import", "--trust", file.to_str().unwrap()]);
    assert_eq!(imported["added"], 4, "{imported}");
    let second_file = export(&other, "json");
    assert_eq!(exported_memories(&second_file), exported_memories(&file));

    // A second import of the same file adds nothing.
    let repeated = other.json(&["import", "--trust", file.to_str().unwrap()]);
    assert_eq!((&repeated["added"], &repeated["known"]), (&json!(0), &json!(4)));
}

#[test]
fn imported_memories_wait_for_review() {
    let (sandbox, other) = (sandbox_with_every_state(), Sandbox::new());
    let file = export(&sandbox, "json");
    let imported = other.json(&["import", file.to_str().unwrap()]);
    assert_eq!(imported["held_for_review"], true, "{imported}");
    for memory in other.memories() {
        assert_eq!(
            (&memory["tainted"], &memory["needs_review"], &memory["user_verified"]),
            (&json!(true), &json!(true), &json!(false))
        );
    }

    // The format `rules` is a text for agents: a heading, and one line for each confirmed memory.
    let rules = other.run(&["export", "--format", "rules"]).expect_code(0, "rules");
    assert_eq!(rules.out.lines().count(), 1, "only the heading: {rules:?}");
    let id = string(&other.json(&["list", "--status", "tainted"])["memories"][0]["id"]);
    other.json(&["flag", &id, "ok"]);
    assert_eq!(other.json(&["show", &id])["memory"]["tainted"], false);
    assert_eq!(other.run(&["export", "--format", "rules"]).out.lines().count(), 2);
}

#[test]
fn one_invalid_record_rejects_the_whole_file_without_skip() {
    let sandbox = Sandbox::new();
    // Record 1 is valid, record 2 has a confidence above 1, record 3 contains a secret.
    let good = record(&id_of(3, 1), "a good one");
    let mut bad = record(&id_of(3, 2), "a bad one");
    bad["confidence"] = json!(7);
    let secret = record(&id_of(3, 3), &format!("the key is {}", fake_token()));
    let file = sandbox.root.join("mixed.json");
    fs::write(&file, json!([good, bad, secret]).to_string()).unwrap();
    let path = file.to_str().unwrap();

    // The message names both bad records, but does not print the secret.
    let output = sandbox.run(&["import", path]).expect_code(1, "import");
    assert!(output.err.contains("record 2") && output.err.contains("record 3"), "{output:?}");
    assert!(!output.out_and_err().contains(&fake_token_end()), "{output:?}");
    assert_eq!(sandbox.contents(), Vec::new());

    // `--skip-bad` stores the valid records; `--redact` makes the one with the secret valid. The exit
    // code stays 1, because record 2 is still skipped.
    sandbox.run(&["import", "--dry-run", "--skip-bad", path]).expect_code(1, "dry run");
    assert_eq!(sandbox.contents(), Vec::new());
    sandbox.run(&["import", "--skip-bad", path]).expect_code(1, "skip bad");
    assert_eq!(sandbox.contents().len(), 1);
    sandbox.run(&["import", "--skip-bad", "--redact", path]).expect_code(1, "redact");
    assert!(sandbox.contents()[0].1.contains("[REDACTED"), "{:?}", sandbox.contents());

    sandbox.run(&["import", "nowhere.json"]).expect_code(2, "a file that does not exist");
}

#[test]
fn json_lines_can_be_imported() {
    let sandbox = Sandbox::new();
    let lines: Vec<String> =
        (0..3).map(|it| record(&id_of(4, it), &format!("line {it}")).to_string()).collect();
    let output = sandbox
        .run_with_input(&["import", "--json", "-"], lines.join("\n").as_bytes())
        .expect_code(0, "JSON lines");
    assert_eq!(output.json()["added"], 3);
}

#[test]
fn markdown_and_rules_are_export_formats() {
    let sandbox = sandbox_with_every_state();
    let markdown = sandbox.run(&["export", "--format", "markdown"]).expect_code(0, "markdown").out;
    assert!(markdown.starts_with("# Memories of project"), "{markdown}");
    let rules = sandbox.run(&["export", "--format", "rules"]).expect_code(0, "rules").out;
    for text in [&markdown, &rules] {
        assert!(text.contains("a pinned thing") && text.contains("`src/a.rs`"), "{text}");
        assert!(!text.contains("a forgotten thing"), "a forgotten memory was exported: {text}");
    }
    let user_rules =
        sandbox.run(&["export", "--user", "--format", "rules"]).expect_code(0, "user").out;
    assert!(
        user_rules.contains("a thing of mine") && !user_rules.contains("pinned"),
        "{user_rules}"
    );
}

#[test]
fn an_archive_is_a_complete_database() {
    let sandbox = sandbox_with_every_state();
    let file = sandbox.root.join("archive.db");
    sandbox.run(&["export", "--format", "archive"]).expect_code(2, "without -o");
    let exported = sandbox.json(&["export", "--format", "archive", "-o", file.to_str().unwrap()]);
    assert_eq!(exported["memories"], 4, "{exported}");
    assert!(fs::read(&file).unwrap().starts_with(b"SQLite format 3\0"));
    // A project without a database has nothing to archive.
    Sandbox::new()
        .run(&["export", "--format", "archive", "-o", "x.db"])
        .expect_code(1, "an empty project");
}

#[test]
fn a_failed_write_fails_the_export() {
    let sandbox = sandbox_with_every_state();
    sandbox
        .run(&["export", "-o", "/proc/nowhere/x.json"])
        .expect_code(3, "a path that cannot be written");
    // Every write to /dev/full fails with ENOSPC.
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = sandbox.command(&["export"]);
    command.stdout(full).stderr(std::process::Stdio::piped());
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "a truncated export reported success");
}

/// A sandbox with four memories of the project (pinned, edited, forgotten, outdated) and one of the
/// user.
fn sandbox_with_every_state() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.json(&[
        "remember",
        "--new",
        "a pinned thing",
        "--pin",
        "--file",
        "src/a.rs",
        "--tag",
        "x",
        "--module",
        "m",
    ]);
    let edited = sandbox.remember("a thing worded badly");
    sandbox.json(&["edit", &edited, "--text", "a thing worded well"]);
    let forgotten = sandbox.remember("a forgotten thing");
    sandbox.json(&["forget", &forgotten]);
    let old = sandbox.remember("an old thing");
    sandbox.json(&["flag", &old, "outdated"]);
    sandbox.json(&["remember", "--user", "--new", "a thing of mine"]);
    sandbox
}

/// Exports the project's memories to a file and returns its path.
fn export(sandbox: &Sandbox, format: &str) -> PathBuf {
    let file = sandbox.root.join(format!("export.{format}"));
    let mut command = sandbox.command(&["export", "--format", format, "-o"]);
    command.arg(&file);
    run_command(command).expect_code(0, "export");
    file
}

/// The memories in an export file, without the fields that depend on the database they are stored in.
fn exported_memories(file: &PathBuf) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    let export: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&export["v"], &export["kind"]), (&json!(2), &json!("export")));
    let mut res = export["memories"].as_array().unwrap().clone();
    for memory in &mut res {
        let fields = memory.as_object_mut().unwrap();
        for database_field in ["project_id", "hlc", "version", "updated_at"] {
            fields.remove(database_field);
        }
    }
    res
}

/// A text in the format of a GitHub token. Built from parts, so that secret scanners do not report
/// this file.
fn fake_token() -> String {
    format!("ghp_{}", fake_token_end())
}

fn fake_token_end() -> String {
    ["16C7e42F292c6912", "E7710c838347Ae178B4a"].concat()
}
