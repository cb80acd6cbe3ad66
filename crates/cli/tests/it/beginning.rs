//! The first day: `init` gets to know a repository, `review` decides about what waits.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::chat::git;
use crate::hooks::told;
use crate::kit::{Desk, finish, string};
use crate::learning::put;

const AGENTS: &str = "# Shop\n\nA shop.\n\n- Never push to main without a review\n- Prices are whole cents, never floats\n";
const CLAUDE: &str = "- Always run `make fmt` before committing\n";
const SESSION: &str = "user look at the change\nedit a.rs\nfail git show --no-stat HEAD: fatal: unrecognized argument: --no-stat\nrun git show --stat HEAD\nrun cargo test\n";

fn shop() -> Desk {
    let desk = Desk::new();
    fs::write(desk.project.join("AGENTS.md"), AGENTS).unwrap();
    fs::write(desk.project.join("CLAUDE.md"), CLAUDE).unwrap();
    fs::write(desk.project.join("a.rs"), "fn a() {}\n").unwrap();
    desk
}

#[test]
fn an_empty_folder_is_a_beginning_too() {
    let desk = Desk::new();
    fs::create_dir(desk.root.join(".claude")).unwrap();
    let said = desk.run(&["init", "--yes"]).ends(0, "init");
    assert!(said.err.contains("none found for this project"), "{said:?}");
    assert!(said.err.contains("lines more in `") && !said.err.contains("\"hooks\""), "{said:?}");
    assert!(said.err.contains("no actionable memories yet"), "{said:?}");
}

#[test]
fn a_repository_is_known_after_one_command_and_the_second_changes_nothing() {
    let desk = shop();
    put(&desk, 1, 1, SESSION);
    put(&desk, 2, 2, SESSION);
    let first = desk.json(&["init", "--yes"]);
    assert_eq!(first["files"], 1);
    assert_eq!(first["sessions"], 2);
    assert_eq!(first["rules"], json!({ "added": 3, "changed": 0, "retired": 0, "known": 0 }));
    assert_eq!(first["hosts"], json!([{ "host": "claude-code", "connected": true }]));
    assert!(!first["examples"].as_array().unwrap().is_empty());
    let settings = fs::read_to_string(desk.root.join(".claude/settings.json")).unwrap();
    assert!(settings.contains("\"hook\""), "{settings}");
    desk.run(&["map"]).ends(0, "the modules are known");
    let activity = desk.json(&["stats"])["activity"].clone();
    assert_eq!((&activity["sessions"], &activity["validated"]), (&json!(2), &json!(2)));
    assert!(activity["learned"].as_u64().unwrap() > 0, "{activity}");
    let before = desk.contents();
    let second = desk.json(&["init", "--yes"]);
    assert_eq!(second["rules"], json!({ "added": 0, "changed": 0, "retired": 0, "known": 3 }));
    assert_eq!(second["sessions"], 0);
    assert_eq!(desk.contents(), before);
}

/// What `init` answers in a folder.
fn begun_in(desk: &Desk, folder: &Path) -> Value {
    let mut command = desk.command(&["--json", "init", "--yes"]);
    command.current_dir(folder);
    let said = finish(command).ends(0, "init");
    said.json()
}

#[test]
fn below_a_repository_and_in_its_worktrees_it_is_the_same_project() {
    let desk = shop();
    let below = desk.project.join("web/src");
    fs::create_dir_all(&below).unwrap();
    git(&desk, &["init", "-q"]);
    git(&desk, &["add", "-A"]);
    git(&desk, &["commit", "-qm", "begin"]);
    put(&desk, 1, 1, SESSION);
    let first = begun_in(&desk, &below);
    assert_eq!((&first["files"], &first["sessions"]), (&json!(1), &json!(1)), "{first}");
    assert_eq!(first["rules"]["added"], 3, "those at the top");
    let known = desk.contents();
    assert!(!known.is_empty());

    let tree = desk.root.join("tree");
    git(&desk, &["worktree", "add", "-q", tree.to_str().unwrap(), "-b", "side"]);
    let second = begun_in(&desk, &tree);
    assert_eq!(second["project"], first["project"]);
    assert_eq!((&second["files"], &second["commits"]), (&json!(1), &json!(1)), "{second}");
    assert_eq!(second["rules"], json!({ "added": 0, "changed": 0, "retired": 0, "known": 3 }));
    assert_eq!(desk.contents(), known, "one notebook for all trees");
}

#[test]
fn without_git_and_without_agents_there_is_still_a_beginning() {
    let desk = shop();
    put(&desk, 1, 1, SESSION);
    // The transcripts of an agent that is gone from here.
    let gone = desk.root.join("gone");
    fs::rename(desk.root.join(".claude"), &gone).unwrap();
    let res = desk.json(&["init", "--yes"]);
    assert_eq!((&res["files"], &res["commits"]), (&json!(1), &json!(0)), "{res}");
    assert_eq!((&res["hosts"], &res["sessions"]), (&json!([]), &json!(0)));
    assert_eq!(res["rules"]["added"], 3);
    desk.run(&["learn", "--from", gone.to_str().unwrap()]).ends(0, "learned all the same");
    assert_eq!(desk.json(&["stats"])["activity"]["sessions"], 1);
}

#[test]
fn without_a_yes_rules_and_settings_stay_as_they_are() {
    let desk = shop();
    put(&desk, 1, 1, SESSION);
    let said = desk.run(&["init"]).ends(0, "init");
    assert!(said.err.contains("2 in AGENTS.md, 1 in CLAUDE.md"), "{said:?}");
    assert!(!desk.root.join(".claude/settings.json").exists());
    assert!(!desk.contents().iter().any(|it| it.1.contains("push to main")));
}

#[test]
fn a_host_is_told_the_rules_it_does_not_read_itself() {
    let desk = shop();
    desk.run(&["init", "--yes"]).ends(0, "init");
    let start = json!({ "hook_event_name": "SessionStart", "source": "startup" });
    let said = told(&desk, "s1", start);
    assert!(said.contains("Never push to main"), "{said}");
    assert!(!said.contains("make fmt"), "Claude Code reads CLAUDE.md itself: {said}");
}

#[test]
fn one_key_decides_about_one_memory() {
    let desk = Desk::new();
    let parcel = desk.root.join("parcel.json");
    let texts = ["the pool has 8 connections", "retries stop after 5", "the cache is per user"];
    let records: Vec<_> =
        (0..).zip(texts).map(|(n, it)| crate::kit::record(&crate::kit::id_of(7, n), it)).collect();
    fs::write(&parcel, serde_json::to_vec(&records).unwrap()).unwrap();
    desk.run(&["import", parcel.to_str().unwrap()]).ends(0, "import");
    let waiting = desk.json(&["review"])["waiting"].as_array().unwrap().len();
    assert_eq!(waiting, 3);
    // The newest comes first: wrong, taken back, right; then a better wording; the rest is left.
    let said = desk.feed(&["review"], b"xuyeretries stop after 6\nq").ends(0, "review");
    assert!(said.out.contains("1 confirmed, 0 discarded, 1 reworded, 1 left"), "{said:?}");
    let left = desk.json(&["review"])["waiting"].as_array().unwrap().clone();
    assert_eq!(left.len(), 1);
    let standing: Vec<String> = desk.json(&["list"])["memories"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["tainted"] != true)
        .map(|it| string(&it["content"]))
        .collect();
    assert!(standing.contains(&"retries stop after 6".to_owned()), "{standing:?}");
    let said = desk.feed(&["review"], b"x").ends(0, "review");
    assert!(said.out.contains("0 confirmed, 1 discarded"), "{said:?}");
    let said = desk.run(&["review"]).ends(0, "review");
    assert!(said.err.contains("nothing to review"), "{said:?}");
}
