//! `doctor` names what stops people, and results that cannot be written or trusted are never a success.
//!
//! The cases that need a small disk or another user are in `disk.rs`.

use std::fs;
use std::process::{Command, Stdio};

use crate::disk::MountedDisk;
use crate::sandbox::{Sandbox, has_program, run_command, skip};

/// The check of `doctor --json` with this name and health, if there is one.
fn find_check(sandbox: &Sandbox, name: &str, health: &str) -> Option<serde_json::Value> {
    let report = sandbox.run(&["--json", "doctor"]).json();
    let checks = report["checks"].as_array().unwrap().clone();
    checks.into_iter().find(|it| it["name"] == name && it["health"] == health)
}

#[test]
fn doctor_reports_a_full_disk() {
    let sandbox = Sandbox::new();
    let Some(disk) = MountedDisk::new(&sandbox, "size=4m") else {
        return skip("doctor on a full disk", "mounting a small tmpfs needs root");
    };
    sandbox.remember("a thing");
    assert!(find_check(&sandbox, "data folder", "bad").is_none());
    // Fails when the disk is full.
    let _ = fs::write(sandbox.home.join("filler"), vec![0; 8 << 20]);
    let check = find_check(&sandbox, "data folder", "bad").expect("the full disk is reported");
    assert!(check["detail"].as_str().unwrap().contains("full"), "{check}");
    assert!(check["fix"].as_str().unwrap().contains("free some space"), "{check}");
    fs::remove_file(sandbox.home.join("filler")).unwrap();

    disk.remount("ro");
    let check = find_check(&sandbox, "data folder", "bad").expect("the read-only disk is reported");
    assert!(check["detail"].as_str().unwrap().contains("not writable"), "{check}");
}

#[test]
fn doctor_reports_a_missing_git() {
    let sandbox = Sandbox::new();
    if !has_program("git") {
        return skip("doctor without git", "git is absent");
    }
    let made = Command::new("git").args(["init", "-q"]).current_dir(&sandbox.project).status();
    assert!(made.unwrap().success());
    assert!(find_check(&sandbox, "git", "doubtful").is_none());
    let mut command = sandbox.command(&["doctor"]);
    command.env("PATH", &sandbox.root);
    let output = run_command(command).expect_code(0, "doctor without git");
    assert!(output.out.contains("git") && output.out.contains("was not found"), "{output:?}");
}

#[test]
fn doctor_reports_a_missing_index() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.project.join("a.rs"), "pub fn a() {}").unwrap();
    let check = find_check(&sandbox, "code index", "doubtful").expect("the index is missing");
    assert!(check["fix"].as_str().unwrap().contains("waylore index"), "{check}");
    sandbox.run(&["index"]).expect_code(0, "index");
    assert!(find_check(&sandbox, "code index", "good").is_some());
}

#[test]
fn doctor_reports_the_trouble_of_a_daemon_that_stopped() {
    let sandbox = Sandbox::new();
    sandbox.remember("a thing");
    assert!(find_check(&sandbox, "daemon", "doubtful").is_none());
    fs::create_dir_all(sandbox.home.join("data/serve")).unwrap();
    let file = sandbox.home.join("data/serve/last-error");
    fs::write(&file, "learn: the disk is full").unwrap();
    let check = find_check(&sandbox, "daemon", "doubtful").expect("the trouble is reported");
    assert!(check["detail"].as_str().unwrap().contains("the disk is full"), "{check}");
    // The file is the program's own, so erasing everything removes it.
    sandbox.run(&["purge", "--everything", "--yes"]).expect_code(0, "purge");
    assert!(!file.exists());
}

#[test]
fn a_relative_home_is_refused() {
    let sandbox = Sandbox::new();
    for (variable, other) in [("WAYLORE_HOME", None), ("HOME", Some("WAYLORE_HOME"))] {
        let mut command = sandbox.command(&["remember", "a thing"]);
        command.env(variable, "relative");
        if let Some(other) = other {
            command.env_remove(other);
        }
        let output = run_command(command).expect_code(3, variable);
        assert!(output.err.contains(variable) && output.err.contains("absolute"), "{output:?}");
        assert!(!sandbox.project.join("relative").exists(), "{variable}");
    }
}

#[test]
fn output_into_a_full_device_exits_with_3() {
    let sandbox = Sandbox::new();
    sandbox.remember("the retry limit is 3");
    let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") else {
        return skip("a full device", "/dev/full is absent");
    };
    for args in [
        &["list"][..],
        &["list", "--json"],
        &["search", "retry limit"],
        &["search", "retry limit", "--json"],
        &["export"],
        &["show", "--json", "nothing"],
        &["version"],
        &["help"],
        &["list", "--help"],
    ] {
        let mut command = sandbox.command(args);
        command.stdout(full.try_clone().unwrap()).stderr(Stdio::piped());
        let output = command.spawn().unwrap().wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{args:?}");
        assert!(!output.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn markdown_and_rules_have_no_escape_sequences() {
    let sandbox = Sandbox::new();
    let id = sandbox.remember("clear the \u{1b}[2J screen \u{1b}]0;title\u{7} first");
    // Hidden characters hold it for review; only confirmed memories are exported for people.
    sandbox.run(&["flag", &id, "ok"]).expect_code(0, "confirm");
    for format in ["markdown", "rules"] {
        let output = sandbox.run(&["export", "--format", format]).expect_code(0, format);
        assert!(output.out.contains("screen"), "{output:?}");
        assert!(!output.out.contains(['\u{1b}', '\u{7}']), "{output:?}");
    }
}

#[test]
fn search_all_finds_forgotten_memories_by_their_words() {
    let sandbox = Sandbox::new();
    let id = sandbox.remember("zorblax_42 must be frobnicated twice before a release");
    sandbox.remember("the build uses cmake");
    sandbox.run(&["forget", &id]).expect_code(0, "forget");
    sandbox.run(&["search", "zorblax_42"]).expect_code(1, "forgotten");
    // By keywords alone: a memory that was forgotten before it got a vector has nothing else.
    for filter in [&["--all"][..], &["--status", "forgotten"]] {
        let args = [&["search", "--without", "dense,abstain", "zorblax_42"], filter].concat();
        let output = sandbox.run(&args).expect_code(0, "search --all");
        assert!(output.out.contains(&id[id.len() - 8..]) || output.out.contains("zorblax_42"));
        assert!(output.out.contains("words zorblax_42"), "{output:?}");
    }
}

#[test]
fn a_backup_counts_the_memories_that_a_list_shows() {
    let sandbox = Sandbox::new();
    let id = sandbox.remember("the first thing");
    sandbox.remember("the second thing, which stays");
    sandbox.run(&["forget", &id]).expect_code(0, "forget");
    sandbox.run(&["backup"]).expect_code(0, "backup");
    let listed = sandbox.json(&["list"])["memories"].as_array().unwrap().len();
    assert_eq!(listed, 1);
    let backups = sandbox.json(&["restore-backup"]);
    let newest = &backups["backups"][0];
    assert_eq!(newest["memories"], listed, "{backups}");
    let restored = sandbox.json(&["restore-backup", "--yes", newest["name"].as_str().unwrap()]);
    assert_eq!(restored["memories"], listed, "{restored}");
}
