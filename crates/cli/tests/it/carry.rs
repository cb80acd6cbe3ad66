//! Memories out and in again: complete, held for review unless vouched for, and equal on the way back.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::kit::{Desk, finish, id_of, record, string};

#[test]
fn an_export_comes_back_as_it_was() {
    let (desk, other) = (filled(), Desk::new());
    let file = export(&desk, "json");
    let taken = other.json(&["import", "--trust", file.to_str().unwrap()]);
    assert_eq!(taken["added"], 4, "{taken}");
    let again = export(&other, "json");
    assert_eq!(memories(&again), memories(&file), "the export of an import equals the export");
    let repeated = other.json(&["import", "--trust", file.to_str().unwrap()]);
    assert_eq!((&repeated["added"], &repeated["known"]), (&json!(0), &json!(4)));
}

#[test]
fn what_comes_from_a_file_waits_for_a_person() {
    let (desk, other) = (filled(), Desk::new());
    let file = export(&desk, "json");
    let taken = other.json(&["import", file.to_str().unwrap()]);
    assert_eq!(taken["held_for_review"], true, "{taken}");
    for memory in other.memories() {
        assert_eq!(
            (&memory["tainted"], &memory["needs_review"], &memory["user_verified"]),
            (&json!(true), &json!(true), &json!(false))
        );
    }
    let rules = other.run(&["export", "--format", "rules"]).ends(0, "rules");
    assert_eq!(rules.out.lines().count(), 1, "nothing of it is for agents yet: {rules:?}");
    let id = string(&other.json(&["list", "--status", "tainted"])["memories"][0]["id"]);
    other.json(&["flag", &id, "ok"]);
    assert_eq!(other.json(&["show", &id])["memory"]["tainted"], false);
    assert_eq!(other.run(&["export", "--format", "rules"]).out.lines().count(), 2);
}

#[test]
fn one_bad_record_keeps_everything_out_unless_told_otherwise() {
    let desk = Desk::new();
    let good = record(&id_of(3, 1), "a good one");
    let mut bad = record(&id_of(3, 2), "a bad one");
    bad["confidence"] = json!(7);
    let secret = record(&id_of(3, 3), &format!("the key is {}", secret()));
    let file = desk.root.join("mixed.json");
    fs::write(&file, json!([good, bad, secret]).to_string()).unwrap();
    let path = file.to_str().unwrap();
    let said = desk.run(&["import", path]).ends(1, "import");
    assert!(said.err.contains("record 2") && said.err.contains("record 3"), "{said:?}");
    assert!(!said.all().contains(&secret_tail()), "{said:?}");
    assert_eq!(desk.contents(), Vec::new());
    desk.run(&["import", "--dry-run", "--skip-bad", path]).ends(1, "dry run");
    assert_eq!(desk.contents(), Vec::new());
    desk.run(&["import", "--skip-bad", path]).ends(1, "skip bad");
    assert_eq!(desk.contents().len(), 1);
    desk.run(&["import", "--skip-bad", "--redact", path]).ends(1, "redact");
    assert!(desk.contents()[0].1.contains("[REDACTED"), "{:?}", desk.contents());
    desk.run(&["import", "nowhere.json"]).ends(2, "no such file");
}

#[test]
fn lines_of_memories_are_a_file_too() {
    let desk = Desk::new();
    let lines: Vec<String> =
        (0..3).map(|it| record(&id_of(4, it), &format!("line {it}")).to_string()).collect();
    let said = desk.feed(&["import", "--json", "-"], lines.join("\n").as_bytes()).ends(0, "lines");
    assert_eq!(said.json()["added"], 3);
}

#[test]
fn there_is_a_form_for_readers_and_one_for_agents() {
    let desk = filled();
    let markdown = desk.run(&["export", "--format", "markdown"]).ends(0, "markdown").out;
    assert!(markdown.starts_with("# Memories of project"), "{markdown}");
    let rules = desk.run(&["export", "--format", "rules"]).ends(0, "rules").out;
    for text in [&markdown, &rules] {
        assert!(text.contains("a pinned thing") && text.contains("`src/a.rs`"), "{text}");
        assert!(!text.contains("a forgotten thing"), "what is forgotten is not shown: {text}");
    }
    let mine = desk.run(&["export", "--user", "--format", "rules"]).ends(0, "user").out;
    assert!(mine.contains("a thing of mine") && !mine.contains("pinned"), "{mine}");
}

#[test]
fn an_archive_is_a_whole_database() {
    let desk = filled();
    let file = desk.root.join("archive.db");
    desk.run(&["export", "--format", "archive"]).ends(2, "it needs a file");
    let made = desk.json(&["export", "--format", "archive", "-o", file.to_str().unwrap()]);
    assert_eq!(made["memories"], 4, "{made}");
    assert!(fs::read(&file).unwrap().starts_with(b"SQLite format 3\0"));
    assert_eq!(
        Desk::new().run(&["export", "--format", "archive", "-o", "x.db"]).code,
        1,
        "there is nothing yet"
    );
}

#[test]
fn an_export_that_cannot_be_written_is_an_error() {
    let desk = filled();
    desk.run(&["export", "-o", "/proc/nowhere/x.json"]).ends(3, "a place that cannot be written");
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = desk.command(&["export"]);
    command.stdout(full).stderr(std::process::Stdio::piped());
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "a truncated export is no success");
}

/// Four memories of a project in four states, and one of the user.
fn filled() -> Desk {
    let desk = Desk::new();
    desk.json(&[
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
    let edited = desk.remember("a thing said badly");
    desk.json(&["edit", &edited, "--text", "a thing said well"]);
    let forgotten = desk.remember("a forgotten thing");
    desk.json(&["forget", &forgotten]);
    let old = desk.remember("an old thing");
    desk.json(&["flag", &old, "outdated"]);
    desk.json(&["remember", "--user", "--new", "a thing of mine"]);
    desk
}

fn export(desk: &Desk, format: &str) -> PathBuf {
    let file = desk.root.join(format!("export.{format}"));
    let mut command = desk.command(&["export", "--format", format, "-o"]);
    command.arg(&file);
    finish(command).ends(0, "export");
    file
}

/// The memories of an export without what says where and when they were written down.
fn memories(file: &PathBuf) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    let whole: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&whole["v"], &whole["kind"]), (&json!(2), &json!("export")));
    let mut res = whole["memories"].as_array().unwrap().clone();
    for it in &mut res {
        let it = it.as_object_mut().unwrap();
        for own in ["project_id", "hlc", "version", "updated_at"] {
            it.remove(own);
        }
    }
    res
}

/// Made of two halves, so that no scanner takes this file for a leak.
fn secret() -> String {
    format!("ghp_{}", secret_tail())
}

fn secret_tail() -> String {
    ["16C7e42F292c6912", "E7710c838347Ae178B4a"].concat()
}
