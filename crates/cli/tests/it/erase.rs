//! What is purged is gone: no byte of it is left anywhere below the data folder, and no way back in.

use std::fs;

use serde_json::Value;

use crate::kit::{Desk, files, finish, holding, string};

/// The stem that the search index keeps of any word that begins with it is at least this.
const CANARY: &str = "zebrawombat";

#[test]
fn a_purged_memory_leaves_no_byte_behind() {
    let desk = Desk::new();
    desk.remember("a memory that stays");
    let ids = everywhere(&desk);
    assert!(holding(&desk.home, CANARY).len() > 3, "it is in databases and backups");
    let mut purge = vec!["purge", "--yes"];
    purge.extend(ids.iter().map(String::as_str));
    let said = desk.run(&purge).ends(0, "purge");
    assert_eq!(holding(&desk.home, CANARY), Vec::<std::path::PathBuf>::new());
    assert!(said.out.contains(&format!("{} memories erased for good", ids.len())), "{said:?}");
    assert!(said.out.contains("not found anywhere"), "{said:?}");
    assert_eq!(desk.contents().len(), 1, "the other one stays");
    desk.is_healthy("after the purge");
}

#[test]
fn the_proof_says_what_was_searched() {
    let desk = Desk::new();
    let text = format!("{CANARY} is said in a sentence that is longer than one piece of it");
    let id = desk.remember(&text);
    desk.json(&["backup"]);
    let purged = desk.json(&["purge", "--yes", &id]);
    assert_eq!(purged["memories"], serde_json::json!([id]));
    assert_eq!(purged["proof"]["found_in"], serde_json::json!([]));
    assert!(purged["proof"]["pieces"].as_u64().unwrap() > 1, "{purged}");
    let kept = files(&desk.home.join("data")).len() as u64;
    assert!(purged["proof"]["files"].as_u64().unwrap() >= kept, "{purged}, {kept} files");
}

#[test]
fn nothing_is_purged_without_a_yes() {
    let desk = Desk::new();
    let id = desk.remember(CANARY);
    for what in [id.as_str(), "--this-project", "--everything", "--secrets"] {
        desk.run(&["purge", what]).ends(2, what);
    }
    desk.run(&["purge"]).ends(2, "what to purge must be said");
    assert_eq!(desk.contents().len(), 1);
}

#[test]
fn a_secret_found_late_is_taken_out_and_the_memory_stays() {
    let desk = Desk::new();
    let secret = format!("{CANARY}-otter-basement");
    let id = desk.remember(&format!("the vault opens with {secret} at night"));
    desk.remember(&format!("another place for {secret}"));
    desk.json(&["remember", "--user", "--new", &format!("mine: {secret}")]);
    desk.json(&["edit", &id, "--text", &format!("the vault opened with {secret} last night")]);
    desk.json(&["backup"]);
    let said = desk.feed(&["purge", "--secret"], format!("{secret}\n").as_bytes()).ends(0, "purge");
    assert!(said.out.contains("3 memories cleaned"), "{said:?}");
    assert!(!said.all().contains(CANARY), "it is not printed either: {said:?}");
    assert_eq!(holding(&desk.home, CANARY), Vec::<std::path::PathBuf>::new());
    let shown = string(&desk.json(&["show", &id])["memory"]["content"]);
    assert_eq!(shown, "the vault opened with [REDACTED: purged] last night");
    desk.is_healthy("after the purge");
}

#[test]
fn a_purged_project_never_was_here() {
    let desk = Desk::new();
    let other = desk.root.join("other");
    fs::create_dir(&other).unwrap();
    desk.json(&["-C", other.to_str().unwrap(), "remember", "a memory of another project"]);
    let doomed = desk.root.join(format!("{CANARY}-project"));
    fs::create_dir(&doomed).unwrap();
    let here = doomed.to_str().unwrap();
    desk.json(&["-C", here, "remember", &format!("{CANARY} in the project")]);
    desk.json(&["-C", here, "remember", "--user", "--new", "a memory of mine"]);
    desk.json(&["-C", here, "backup"]);
    let said = desk.run(&["-C", here, "purge", "--this-project", "--yes"]).ends(0, "purge");
    assert!(said.out.contains("not found anywhere"), "{said:?}");
    assert_eq!(
        holding(&desk.home, CANARY),
        Vec::<std::path::PathBuf>::new(),
        "neither text nor name"
    );
    let left = desk.json(&["-C", other.to_str().unwrap(), "list"]);
    assert_eq!(left["memories"].as_array().unwrap().len(), 2, "{left}");
    let here = desk.json(&["-C", here, "list"]);
    assert_eq!(here["memories"].as_array().unwrap().len(), 1, "{here}");
}

#[test]
fn everything_means_everything() {
    let desk = Desk::new();
    everywhere(&desk);
    let said = desk.run(&["purge", "--everything", "--yes"]).ends(0, "purge");
    assert!(said.out.contains("not found anywhere"), "{said:?}");
    assert_eq!(files(&desk.home.join("data")), Vec::<std::path::PathBuf>::new());
    assert_eq!(desk.contents(), Vec::new());
    desk.remember("life goes on");
}

#[test]
fn what_is_purged_does_not_come_back_from_a_backup_or_a_file() {
    let desk = Desk::new();
    let stays = desk.remember("a memory that stays");
    let id = desk.remember(&format!("{CANARY} is to be gone"));
    let backup = desk.json(&["backup"])["backups"][0].clone();
    let (file, path) = (desk.root.join("export.json"), string(&backup["path"]));
    desk.run(&["export", "-o", file.to_str().unwrap()]).ends(0, "export");
    // A person may have kept a copy of the backup where we cannot see it.
    let copies: Vec<_> = [path.clone(), path.replace(".db", ".blake3")]
        .into_iter()
        .map(|it| (fs::read(&it).unwrap(), it))
        .collect();
    desk.json(&["purge", "--yes", &id]);
    for (bytes, path) in copies {
        fs::write(path, bytes).unwrap();
    }
    desk.json(&["restore-backup", "--yes", &string(&backup["name"])]);
    assert_eq!(desk.contents().into_iter().map(|it| it.0).collect::<Vec<_>>(), vec![stays]);
    let again = desk.json(&["import", "--trust", file.to_str().unwrap()]);
    assert_eq!(
        (&again["added"], &again["erased"], &again["known"]),
        (&0.into(), &1.into(), &1.into())
    );
    desk.run(&["show", &id]).ends(1, "it stays away");
    let left = holding(&desk.home.join("data/projects"), CANARY);
    assert_eq!(left, vec![std::path::PathBuf::from(path)], "only the copy the person put there");
}

#[test]
fn the_same_words_in_another_memory_are_not_a_trace() {
    let desk = Desk::new();
    let text = "the parser reads the whole file before it says anything about it";
    let id = desk.remember(text);
    desk.json(&["remember", "--user", "--new", text]);
    let said = desk.run(&["purge", "--yes", &id]).ends(0, "purge");
    assert!(!said.all().contains("still found"), "{said:?}");
}

/// Puts the canary wherever a person can put a word; the ids that know it.
fn everywhere(desk: &Desk) -> Vec<String> {
    let word = |it: &str| format!("{CANARY}{it}");
    let id = |it: Value| string(&it["memory"]["id"]);
    let mut ids = vec![
        desk.remember(&format!("{} sings, and {} listens", word("ing"), CANARY.to_uppercase())),
        id(desk.json(&[
            "remember",
            "--new",
            "a tagged thing",
            "--tag",
            &word("tag"),
            "--module",
            &word("mod"),
        ])),
        id(desk.json(&[
            "remember",
            "--new",
            "a filed thing",
            "--file",
            &format!("src/{}.rs", word("File")),
        ])),
        id(desk.json(&["remember", "--new", "--user", &format!("mine is {}", word("own"))])),
    ];
    let edited = desk.remember(&format!("first it said {}", word("before")));
    desk.json(&["edit", &edited, "--text", "then it said something else"]);
    let forgotten = desk.remember(&format!("forgotten {}", word("forgot")));
    desk.json(&["forget", &forgotten]);
    let old = desk.remember(&format!("Always use {} for builds", word("old")));
    let flagged =
        desk.json(&["flag", &old, "incorrect", "--text", &format!("never use {}", word("new"))]);
    ids.extend([edited, forgotten, old, string(&flagged["replacement"]["id"])]);
    desk.json(&["backup"]);
    ids.extend(imported(desk, &word("imported")));
    let merged =
        desk.json(&["remember", &format!("{} sings, and everyone listens to it", word("ing"))]);
    ids.push(id(merged));
    let backup = desk.json(&["backup"])["backups"][0]["name"].clone();
    desk.json(&["restore-backup", "--yes", &string(&backup)]);
    ids.sort();
    ids.dedup();
    ids
}

/// A memory that came by way of another project's export.
fn imported(desk: &Desk, word: &str) -> Vec<String> {
    let other = desk.root.join("elsewhere");
    let mut command =
        desk.command(&["remember", "--new", "--json", &format!("elsewhere it is {word}")]);
    finish({
        command.env("WAYLORE_HOME", &other);
        command
    });
    let mut command = desk.command(&["export"]);
    command.env("WAYLORE_HOME", &other);
    let said =
        desk.feed(&["import", "-", "--json"], finish(command).out.as_bytes()).ends(0, "import");
    assert_eq!(said.json()["added"], 1, "{said:?}");
    desk.memories()
        .iter()
        .filter(|it| it["content"].as_str().unwrap().contains(word))
        .map(|it| string(&it["id"]))
        .collect()
}
