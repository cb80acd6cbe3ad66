//! Tests of `waylore init` and `waylore review`.
//!
//! `init` sets up a project in one command: it indexes the code, learns from past sessions, imports
//! rules from `AGENTS.md` and `CLAUDE.md`, and connects the agent hosts. `review` lets the user
//! confirm, reword or discard the memories that wait for review.
//!
//! `write_transcript(sandbox, session, day, script)` writes a past session of Claude Code. In the JSON,
//! `rules` counts the imported rules: `added`, `changed`, `retired` (no longer in the file) and `known`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::chat_model::run_git;
use crate::hooks::{GIT_SHOW_SESSION, injected_text};
use crate::learning::write_transcript;
use crate::sandbox::{Sandbox, id_of, record, run_command, string};

const AGENTS_MD: &str = "# Shop\n\nA shop.\n\n- Never push to main without a review\n- Prices are whole cents, never floats\n";
const CLAUDE_MD: &str = "- Always run `make fmt` before committing\n";

/// A project with one source file and two rule files, which contain three rules together.
fn shop_project() -> Sandbox {
    let sandbox = Sandbox::new();
    fs::write(sandbox.project.join("AGENTS.md"), AGENTS_MD).unwrap();
    fs::write(sandbox.project.join("CLAUDE.md"), CLAUDE_MD).unwrap();
    fs::write(sandbox.project.join("a.rs"), "fn a() {}\n").unwrap();
    sandbox
}

#[test]
fn init_works_in_an_empty_folder() {
    let sandbox = Sandbox::new();
    // Without sessions, but Claude Code is installed.
    fs::create_dir(sandbox.root.join(".claude")).unwrap();
    let output = sandbox.run(&["init", "--yes"]).expect_code(0, "init");
    assert!(output.err.contains("none found for this project"), "{output:?}");
    // One line names the files that change; their lines are shown on request.
    assert!(
        output.err.contains("connecting it changes `") && !output.err.contains("\"hooks\""),
        "{output:?}"
    );
    assert!(output.err.contains("no actionable memories yet"), "{output:?}");
}

#[test]
fn init_learns_a_repository_and_is_idempotent() {
    let sandbox = shop_project();
    write_transcript(&sandbox, 1, 1, GIT_SHOW_SESSION);
    write_transcript(&sandbox, 2, 2, GIT_SHOW_SESSION);

    // The first run indexes, learns, imports the rules and connects Claude Code.
    let first = sandbox.json(&["init", "--yes"]);
    assert_eq!(first["files"], 1);
    assert_eq!(first["sessions"], 2);
    assert_eq!(first["rules"], json!({ "added": 3, "changed": 0, "retired": 0, "known": 0 }));
    assert_eq!(first["hosts"], json!([{ "host": "claude-code", "connected": true }]));
    assert!(!first["examples"].as_array().unwrap().is_empty());
    let settings = fs::read_to_string(sandbox.root.join(".claude/settings.json")).unwrap();
    assert!(settings.contains(" hook claude-code"), "{settings}");
    sandbox.run(&["map"]).expect_code(0, "map");
    // Both sessions ended with successful tests (`validated`), so something was learned from them.
    let activity = sandbox.json(&["stats"])["activity"].clone();
    assert_eq!(activity["sessions"], 2, "{activity}");
    assert_eq!(activity["validated"], 2, "{activity}");
    assert!(activity["learned"].as_u64().unwrap() > 0, "{activity}");

    // A second run finds everything known.
    let before = sandbox.contents();
    let second = sandbox.json(&["init", "--yes"]);
    assert_eq!(second["rules"], json!({ "added": 0, "changed": 0, "retired": 0, "known": 3 }));
    assert_eq!(second["sessions"], 0);
    assert_eq!(sandbox.contents(), before);
}

/// Runs `init` in a folder and returns its JSON output.
fn run_init_in(sandbox: &Sandbox, folder: &Path) -> Value {
    let mut command = sandbox.command(&["--json", "init", "--yes"]);
    command.current_dir(folder);
    let output = run_command(command).expect_code(0, "init");
    output.json()
}

#[test]
fn init_in_a_subfolder_or_worktree_uses_the_same_project() {
    let sandbox = shop_project();
    let subfolder = sandbox.project.join("web/src");
    fs::create_dir_all(&subfolder).unwrap();
    run_git(&sandbox, &["init", "-q"]);
    run_git(&sandbox, &["add", "-A"]);
    run_git(&sandbox, &["commit", "-qm", "begin"]);
    write_transcript(&sandbox, 1, 1, GIT_SHOW_SESSION);

    // From the subfolder, `init` reads the files and rules of the whole repository.
    let first = run_init_in(&sandbox, &subfolder);
    assert_eq!((&first["files"], &first["sessions"]), (&json!(1), &json!(1)), "{first}");
    assert_eq!(first["rules"]["added"], 3, "{first}");
    let memories = sandbox.contents();
    assert!(!memories.is_empty());

    // A worktree is the same project, so nothing is added.
    let tree = sandbox.root.join("tree");
    run_git(&sandbox, &["worktree", "add", "-q", tree.to_str().unwrap(), "-b", "side"]);
    let second = run_init_in(&sandbox, &tree);
    assert_eq!(second["project"], first["project"]);
    assert_eq!((&second["files"], &second["commits"]), (&json!(1), &json!(1)), "{second}");
    assert_eq!(second["rules"], json!({ "added": 0, "changed": 0, "retired": 0, "known": 3 }));
    assert_eq!(sandbox.contents(), memories);
}

#[test]
fn init_works_without_git_and_without_agents() {
    let sandbox = shop_project();
    write_transcript(&sandbox, 1, 1, GIT_SHOW_SESSION);
    // No host is installed; its old transcripts are in another folder.
    let moved_transcripts = sandbox.root.join("old-transcripts");
    fs::rename(sandbox.root.join(".claude"), &moved_transcripts).unwrap();
    let res = sandbox.json(&["init", "--yes"]);
    assert_eq!((&res["files"], &res["commits"]), (&json!(1), &json!(0)), "{res}");
    assert_eq!((&res["hosts"], &res["sessions"]), (&json!([]), &json!(0)));
    assert_eq!(res["rules"]["added"], 3);
    // `learn --from` still reads those transcripts.
    sandbox
        .run(&["learn", "--from", moved_transcripts.to_str().unwrap()])
        .expect_code(0, "learn --from");
    assert_eq!(sandbox.json(&["stats"])["activity"]["sessions"], 1);
}

#[test]
fn without_consent_init_changes_no_rules_and_no_settings() {
    let sandbox = shop_project();
    write_transcript(&sandbox, 1, 1, GIT_SHOW_SESSION);
    // Without `--yes` and without a terminal to ask, the answer to every question is no.
    let output = sandbox.run(&["init"]).expect_code(0, "init");
    assert!(output.err.contains("2 in AGENTS.md, 1 in CLAUDE.md"), "{output:?}");
    assert!(!sandbox.root.join(".claude/settings.json").exists());
    assert!(!sandbox.contents().iter().any(|it| it.1.contains("push to main")));
}

#[test]
fn a_host_receives_only_rules_it_does_not_read_itself() {
    let sandbox = shop_project();
    // Claude Code is installed, so `init` connects it.
    fs::create_dir_all(sandbox.root.join(".claude")).unwrap();
    sandbox.run(&["init", "--yes"]).expect_code(0, "init");
    let start = json!({ "hook_event_name": "SessionStart", "source": "startup" });
    let output = injected_text(&sandbox, "s1", start);
    assert!(output.contains("Never push to main"), "{output}");
    assert!(!output.contains("make fmt"), "Claude Code reads CLAUDE.md itself: {output}");

    // `context start` prints what the connected host would get; another host gets the other rules.
    let preview = sandbox.run(&["context", "start"]).expect_code(0, "context start").out;
    assert!(preview.contains("Never push to main"), "{preview}");
    assert!(!preview.contains("make fmt"), "{preview}");
    let preview = sandbox.run(&["context", "start", "--host", "codex"]).expect_code(0, "codex").out;
    assert!(preview.contains("make fmt"), "{preview}");
}

#[test]
fn review_takes_one_key_per_memory() {
    let sandbox = Sandbox::new();
    // Memories imported without `--trust` wait for review, marked as `tainted`.
    let file = sandbox.root.join("records.json");
    let texts = ["the pool has 8 connections", "retries stop after 5", "the cache is per user"];
    let records: Vec<_> = (0..).zip(texts).map(|(n, text)| record(&id_of(7, n), text)).collect();
    fs::write(&file, serde_json::to_vec(&records).unwrap()).unwrap();
    sandbox.run(&["import", file.to_str().unwrap()]).expect_code(0, "import");
    let waiting = || sandbox.json(&["review"])["waiting"].as_array().unwrap().len();
    assert_eq!(waiting(), 3);

    // Keys, starting with the newest memory: x discards it, u undoes that, y confirms it; e rewords
    // the second one; q quits, so the third one still waits.
    let output = sandbox
        .run_with_input(&["review"], b"xuyeretries stop after 6\nq")
        .expect_code(0, "review");
    assert!(output.out.contains("1 confirmed, 0 discarded, 1 reworded, 1 left"), "{output:?}");
    assert_eq!(waiting(), 1);
    let confirmed: Vec<String> = sandbox.json(&["list"])["memories"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["tainted"] != true)
        .map(|it| string(&it["content"]))
        .collect();
    assert!(confirmed.contains(&"retries stop after 6".to_owned()), "{confirmed:?}");

    // The third memory is discarded; then nothing is left.
    let output = sandbox.run_with_input(&["review"], b"x").expect_code(0, "review");
    assert!(output.out.contains("0 confirmed, 1 discarded"), "{output:?}");
    let output = sandbox.run(&["review"]).expect_code(0, "review");
    assert!(output.err.contains("nothing to review"), "{output:?}");
}
