//! Notes at an edit that are computed from the git history and from sessions: the partner of the edited
//! file, and the checks that usually run before a commit. Each is told once per session, with its counts.

use std::fs;

use serde_json::{Value, json};

use crate::chat_model::run_git;
use crate::hooks::{file_read, injected_text};
use crate::learning::write_transcript;
use crate::sandbox::Sandbox;

/// The event of a successful edit.
fn file_edit(sandbox: &Sandbox, file: &str) -> Value {
    let path = sandbox.project.join(file).display().to_string();
    json!({ "hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_use_id": format!("edit {file}"),
        "tool_input": { "file_path": path, "old_string": "1", "new_string": "2" }, "tool_response": "ok" })
}

/// Changes these files in one commit.
fn commit_files(sandbox: &Sandbox, nth: usize, paths: &[&str]) {
    for path in paths {
        let file = sandbox.project.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, format!("export const value = {nth}\n")).unwrap();
    }
    run_git(sandbox, &["add", "-A"]);
    let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
    let commit = ["commit", "-q", "-m", "a change"];
    run_git(sandbox, &[&identity[..], &commit[..]].concat());
}

/// A repository in which six of seven commits to `src/api.ts` changed `web/wire.ts` as well. Four of them
/// changed `docs/api.md`, and all six `package-lock.json`.
fn coupled_repository() -> Sandbox {
    let sandbox = Sandbox::new();
    run_git(&sandbox, &["init", "-q", "-b", "main"]);
    for nth in 0..6 {
        let mut paths = vec!["src/api.ts", "web/wire.ts", "package-lock.json"];
        if nth < 4 {
            paths.push("docs/api.md");
        }
        commit_files(&sandbox, nth, &paths);
    }
    commit_files(&sandbox, 6, &["src/api.ts"]);
    sandbox.json(&["index"]);
    sandbox
}

const PARTNER: &str = "6 of 7 commits that changed `src/api.ts` changed `web/wire.ts` as well; this session has not touched it.";

#[test]
fn an_edit_names_the_partner_that_the_history_supports_once_per_session() {
    let sandbox = coupled_repository();
    let told = injected_text(&sandbox, "s1", file_edit(&sandbox, "src/api.ts"));
    assert!(told.contains(PARTNER), "{told}");
    // Too few commits, and a file that a tool writes.
    assert!(!told.contains("docs/api.md") && !told.contains("package-lock"), "{told}");
    assert_eq!(injected_text(&sandbox, "s1", file_edit(&sandbox, "src/api.ts")), "");

    // The log names the note, and a new session is told again.
    let log = sandbox.json(&["injections"]);
    assert!(log.to_string().contains("change_partner"), "{log}");
    assert!(injected_text(&sandbox, "s2", file_edit(&sandbox, "src/api.ts")).contains(PARTNER));
}

#[test]
fn nothing_is_said_of_a_partner_that_was_touched_or_at_a_read() {
    let sandbox = coupled_repository();
    assert_eq!(injected_text(&sandbox, "s1", file_read(&sandbox, "src/api.ts")), "");
    injected_text(&sandbox, "s1", file_read(&sandbox, "web/wire.ts"));
    assert_eq!(injected_text(&sandbox, "s1", file_edit(&sandbox, "src/api.ts")), "");
    // An edit that failed.
    let mut failed = file_edit(&sandbox, "src/api.ts");
    failed["hook_event_name"] = "PostToolUseFailure".into();
    failed["error"] = "String to replace not found".into();
    assert_eq!(injected_text(&sandbox, "s2", failed), "");
}

#[test]
fn a_pair_that_only_an_unmerged_branch_has_says_nothing() {
    let sandbox = Sandbox::new();
    run_git(&sandbox, &["init", "-q", "-b", "main"]);
    commit_files(&sandbox, 0, &["README.md"]);
    run_git(&sandbox, &["checkout", "-q", "-b", "feature"]);
    for nth in 0..6 {
        commit_files(&sandbox, nth, &["src/api.ts", "web/wire.ts"]);
    }
    sandbox.json(&["index"]);
    assert_eq!(injected_text(&sandbox, "s1", file_edit(&sandbox, "src/api.ts")), "");
    run_git(&sandbox, &["checkout", "-q", "main"]);
    run_git(&sandbox, &["merge", "-q", "--ff-only", "feature"]);
    let told = injected_text(&sandbox, "s1", file_edit(&sandbox, "src/api.ts"));
    assert!(told.contains("6 of 6 commits"), "{told}");
}

#[test]
fn the_first_edit_names_the_checks_that_usually_run_before_a_commit() {
    let sandbox = Sandbox::new();
    let checked =
        "user change it\nedit src/a.rs\nrun cargo clippy\nrun cargo test\nrun git commit -qam x\n";
    let unchecked = "user change it\nedit src/a.rs\nrun cargo test\nrun git commit -qam x\n";
    for session in 1..=4 {
        write_transcript(&sandbox, session, session, checked);
    }
    sandbox.json(&["learn"]);
    assert_eq!(injected_text(&sandbox, "s1", file_edit(&sandbox, "src/b.rs")), "", "too few");
    write_transcript(&sandbox, 5, 5, unchecked);
    sandbox.json(&["learn"]);
    assert_eq!(sandbox.contents(), Vec::new(), "nothing of it is stored");

    let told = injected_text(&sandbox, "s2", file_edit(&sandbox, "src/b.rs"));
    let checks = "`cargo clippy` and `cargo test` ran before the commit in 4 of 5 sessions.";
    assert!(told.contains(checks), "{told}");
    assert_eq!(injected_text(&sandbox, "s2", file_edit(&sandbox, "src/c.rs")), "");

    // A rule file that the host reads by itself says it already.
    let rules = "# Rules\n\n- Always run `cargo clippy` and `cargo test` before a commit.\n";
    fs::write(sandbox.project.join("CLAUDE.md"), rules).unwrap();
    assert_eq!(injected_text(&sandbox, "s3", file_edit(&sandbox, "src/b.rs")), "");
}
