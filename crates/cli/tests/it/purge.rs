//! Tests of `waylore purge`, which erases memories for good.
//!
//! After a purge, no byte of the erased text is left in any file below Waylore's home folder, and
//! neither a backup nor an import brings the memory back. The tests put a unique word, the canary,
//! into every field and file that can hold text, and search all files for it.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::sandbox::{Sandbox, files, files_containing, run_command, string};

/// A word that occurs nowhere else. The keyword index stores stems, not words; the stem of any word
/// that starts with the canary still contains it.
const CANARY: &str = "zebrawombat";

#[test]
fn a_purged_memory_leaves_no_byte_behind() {
    let sandbox = Sandbox::new();
    sandbox.remember("a memory that stays");
    let ids = put_canary_everywhere(&sandbox);
    assert!(files_containing(&sandbox.home, CANARY).len() > 3, "in databases and backups");
    let mut purge = vec!["purge", "--yes"];
    purge.extend(ids.iter().map(String::as_str));
    let output = sandbox.run(&purge).expect_code(0, "purge");
    assert_eq!(files_containing(&sandbox.home, CANARY), Vec::<PathBuf>::new());
    assert!(output.out.contains(&format!("{} memories erased for good", ids.len())), "{output:?}");
    assert!(output.out.contains("not found anywhere"), "{output:?}");
    assert_eq!(sandbox.contents().len(), 1, "the other memory");
    sandbox.assert_healthy("after the purge");
}

#[test]
fn the_report_counts_searched_texts_and_files() {
    let sandbox = Sandbox::new();
    let text = format!("{CANARY} is part of a sentence that is longer than one searched piece");
    let id = sandbox.remember(&text);
    sandbox.json(&["backup"]);
    let purged = sandbox.json(&["purge", "--yes", &id]);
    assert_eq!(purged["memories"], serde_json::json!([id]));
    assert_eq!(purged["proof"]["found_in"], serde_json::json!([]));
    assert!(purged["proof"]["pieces"].as_u64().unwrap() > 1, "{purged}");
    // At least all files that still exist were searched.
    let n_files = files(&sandbox.home.join("data")).len() as u64;
    assert!(purged["proof"]["files"].as_u64().unwrap() >= n_files, "{purged}, {n_files} files");
}

#[test]
fn nothing_is_purged_without_confirmation() {
    let sandbox = Sandbox::new();
    let id = sandbox.remember(CANARY);
    for what in [id.as_str(), "--this-project", "--everything", "--secrets"] {
        sandbox.run(&["purge", what]).expect_code(2, what);
    }
    sandbox.run(&["purge"]).expect_code(2, "purge without a target");
    let refused = sandbox.run(&["purge", "--secrets"]);
    assert!(refused.err.contains("no memory holds a secret"), "{refused:?}");
    assert_eq!(sandbox.contents().len(), 1);
}

#[test]
fn purging_a_secret_keeps_the_memory() {
    let sandbox = Sandbox::new();
    // The secret occurs in two memories, in one of the user, in an old version and in a backup.
    let secret = format!("{CANARY}-otter-basement");
    let id = sandbox.remember(&format!("the vault opens with {secret} at night"));
    sandbox.remember(&format!("another place for {secret}"));
    sandbox.json(&["remember", "--user", "--new", &format!("mine: {secret}")]);
    sandbox.json(&["edit", &id, "--text", &format!("the vault opened with {secret} last night")]);
    sandbox.json(&["backup"]);

    let output = sandbox
        .run_with_input(&["purge", "--secret"], format!("{secret}\n").as_bytes())
        .expect_code(0, "purge");
    assert!(output.out.contains("3 memories cleaned"), "{output:?}");
    assert!(!output.out_and_err().contains(CANARY), "the secret was printed: {output:?}");
    assert_eq!(files_containing(&sandbox.home, CANARY), Vec::<PathBuf>::new());
    let shown = string(&sandbox.json(&["show", &id])["memory"]["content"]);
    assert_eq!(shown, "the vault opened with [REDACTED: purged] last night");
    sandbox.assert_healthy("after the purge");
}

#[test]
fn a_purged_project_leaves_no_trace() {
    let sandbox = Sandbox::new();
    let other = sandbox.root.join("other");
    fs::create_dir(&other).unwrap();
    sandbox.json(&["-C", other.to_str().unwrap(), "remember", "a memory of another project"]);
    // The canary is in the name of the project's folder as well as in a memory.
    let purged = sandbox.root.join(format!("{CANARY}-project"));
    fs::create_dir(&purged).unwrap();
    let purged_path = purged.to_str().unwrap();
    sandbox.json(&["-C", purged_path, "remember", &format!("{CANARY} in the project")]);
    sandbox.json(&["-C", purged_path, "remember", "--user", "--new", "a memory of mine"]);
    sandbox.json(&["-C", purged_path, "backup"]);

    let purge = ["-C", purged_path, "purge", "--this-project", "--yes"];
    let output = sandbox.run(&purge).expect_code(0, "purge");
    assert!(output.out.contains("not found anywhere"), "{output:?}");
    assert_eq!(files_containing(&sandbox.home, CANARY), Vec::<PathBuf>::new());

    // The memory of the user is left in both projects, that of the other project in its own.
    let other_list = sandbox.json(&["-C", other.to_str().unwrap(), "list"]);
    assert_eq!(other_list["memories"].as_array().unwrap().len(), 2, "{other_list}");
    let purged_list = sandbox.json(&["-C", purged_path, "list"]);
    assert_eq!(purged_list["memories"].as_array().unwrap().len(), 1, "{purged_list}");
}

#[test]
fn purge_everything_empties_the_data_folder() {
    let sandbox = Sandbox::new();
    put_canary_everywhere(&sandbox);
    let output = sandbox.run(&["purge", "--everything", "--yes"]).expect_code(0, "purge");
    assert!(output.out.contains("not found anywhere"), "{output:?}");
    assert_eq!(files(&sandbox.home.join("data")), Vec::<PathBuf>::new());
    assert_eq!(sandbox.contents(), Vec::new());
    sandbox.remember("a first memory again");
}

#[test]
fn purged_memories_do_not_return_from_backups_or_imports() {
    let sandbox = Sandbox::new();
    let stays = sandbox.remember("a memory that stays");
    let id = sandbox.remember(&format!("{CANARY} is to be gone"));
    let backup = sandbox.json(&["backup"])["backups"][0].clone();
    let (file, path) = (sandbox.root.join("export.json"), string(&backup["path"]));
    sandbox.run(&["export", "-o", file.to_str().unwrap()]).expect_code(0, "export");
    // The user has copied the backup and its checksum to a place that `purge` cannot know, and puts
    // the copy back after the purge.
    let copies: Vec<_> = [path.clone(), path.replace(".db", ".blake3")]
        .into_iter()
        .map(|it| (fs::read(&it).unwrap(), it))
        .collect();
    sandbox.json(&["purge", "--yes", &id]);
    for (bytes, path) in copies {
        fs::write(path, bytes).unwrap();
    }

    // Neither the old backup nor the old export brings the memory back.
    sandbox.json(&["restore-backup", "--yes", &string(&backup["name"])]);
    assert_eq!(sandbox.contents().into_iter().map(|it| it.0).collect::<Vec<_>>(), vec![stays]);
    let imported = sandbox.json(&["import", "--trust", file.to_str().unwrap()]);
    assert_eq!(
        (&imported["added"], &imported["erased"], &imported["known"]),
        (&0.into(), &1.into(), &1.into())
    );
    sandbox.run(&["show", &id]).expect_code(1, "show");
    let remaining = files_containing(&sandbox.home.join("data/projects"), CANARY);
    assert_eq!(remaining, vec![PathBuf::from(path)], "only the copy that the user put back");
}

#[test]
fn the_same_text_in_another_memory_is_not_reported_as_left_over() {
    let sandbox = Sandbox::new();
    let text = "the parser reads the whole file before it reports anything about it";
    let id = sandbox.remember(text);
    sandbox.json(&["remember", "--user", "--new", text]);
    let output = sandbox.run(&["purge", "--yes", &id]).expect_code(0, "purge");
    assert!(!output.out_and_err().contains("still found"), "{output:?}");
}

/// Puts the canary into every field and file that can hold a word of the user: text, tag, module, file
/// path, user notebook, old version, forgotten memory, replacement, import, merge, backup and the
/// database replaced by a restored backup. Returns the ids of all memories that contain it.
fn put_canary_everywhere(sandbox: &Sandbox) -> Vec<String> {
    let word = |suffix: &str| format!("{CANARY}{suffix}");
    let id = |output: Value| string(&output["memory"]["id"]);
    let mut ids = vec![
        sandbox.remember(&format!("{} sings, and {} listens", word("ing"), CANARY.to_uppercase())),
        id(sandbox.json(&[
            "remember",
            "--new",
            "a tagged thing",
            "--tag",
            &word("tag"),
            "--module",
            &word("mod"),
        ])),
        id(sandbox.json(&[
            "remember",
            "--new",
            "a filed thing",
            "--file",
            &format!("src/{}.rs", word("File")),
        ])),
        id(sandbox.json(&["remember", "--new", "--user", &format!("mine is {}", word("own"))])),
    ];
    let edited = sandbox.remember(&format!("first it was {}", word("before")));
    sandbox.json(&["edit", &edited, "--text", "now it is something else"]);
    let forgotten = sandbox.remember(&format!("forgotten {}", word("forgot")));
    sandbox.json(&["forget", &forgotten]);
    let old = sandbox.remember(&format!("Always use {} for builds", word("old")));
    let flagged =
        sandbox.json(&["flag", &old, "incorrect", "--text", &format!("never use {}", word("new"))]);
    ids.extend([edited, forgotten, old, string(&flagged["replacement"]["id"])]);
    sandbox.json(&["backup"]);
    ids.extend(import_from_elsewhere(sandbox, &word("imported")));
    // Close enough to the first memory to be merged with it.
    let merged =
        sandbox.json(&["remember", &format!("{} sings, and everyone listens to it", word("ing"))]);
    ids.push(id(merged));
    let backup = sandbox.json(&["backup"])["backups"][0]["name"].clone();
    sandbox.json(&["restore-backup", "--yes", &string(&backup)]);
    ids.sort();
    ids.dedup();
    ids
}

/// Stores a memory with `word` in another home folder, exports it there and imports it here. Returns
/// the ids of all memories that contain `word`.
fn import_from_elsewhere(sandbox: &Sandbox, word: &str) -> Vec<String> {
    let run_elsewhere = |args: &[&str]| {
        let mut command = sandbox.command(args);
        command.env("WAYLORE_HOME", sandbox.root.join("elsewhere"));
        run_command(command)
    };
    run_elsewhere(&["remember", "--new", "--json", &format!("elsewhere it is {word}")]);
    let export = run_elsewhere(&["export"]).out;
    let output = sandbox
        .run_with_input(&["import", "-", "--json"], export.as_bytes())
        .expect_code(0, "import");
    assert_eq!(output.json()["added"], 1, "{output:?}");
    sandbox
        .memories()
        .iter()
        .filter(|it| it["content"].as_str().unwrap().contains(word))
        .map(|it| string(&it["id"]))
        .collect()
}
