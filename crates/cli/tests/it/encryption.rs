//! Encryption at rest, with a key file and with a passphrase: once it is on, no file contains the text
//! of a memory, and no command works without the key; once it is off, everything is readable again.
//!
//! The tests look for a rare word, `CANARY`, in all files of the home folder. Exit codes: 2 means wrong
//! usage, such as a missing passphrase, and 3 that the data cannot be opened.

use std::fs;
use std::path::PathBuf;

use crate::sandbox::{CommandOutput, Sandbox, files_containing, run_command, skip};

const CANARY: &str = "zebrawombat";

#[test]
fn nothing_can_be_read_without_the_key_file() {
    let Some(sandbox) = sandbox_with_canary("encryption by a key file") else { return };
    let plain_contents = sandbox.contents();
    assert!(!files_containing(&sandbox.home, CANARY).is_empty(), "plain before encryption");

    // Encryption covers existing files, and everything that is written later.
    sandbox.json(&["config", "encryption", "on"]);
    assert_no_file_contains(&sandbox, CANARY);
    assert_eq!(sandbox.contents(), plain_contents);
    sandbox.remember(&format!("{CANARY} after"));
    sandbox.json(&["backup"]);
    sandbox.assert_healthy("encrypted");
    assert_no_file_contains(&sandbox, CANARY);
    let n_memories = plain_contents.len() + 1;

    // Every command fails with a wrong, an empty or no key file, and prints no memory.
    let key_file = sandbox.home.join("config/key");
    let right_key = fs::read(&key_file).unwrap();
    for wrong_key in [Some("0123456789abcdef0123456789abcdef"), Some(""), None] {
        match wrong_key {
            Some(wrong_key) => fs::write(&key_file, wrong_key).unwrap(),
            None => fs::remove_file(&key_file).unwrap(),
        }
        for args in [
            &["list"][..],
            &["remember", "x"],
            &["search", "x"],
            &["doctor"],
            &["purge", "--yes", "--secrets"],
        ] {
            let output = sandbox.run(args).expect_no_panic("without the key");
            assert_ne!(output.code, 0, "{args:?} with {wrong_key:?}: {output:?}");
            assert!(!output.out_and_err().contains(CANARY), "{output:?}");
        }
    }

    // With the right key everything is there, and encryption can be turned off.
    fs::write(&key_file, right_key).unwrap();
    assert_eq!(sandbox.contents().len(), n_memories, "the failed attempts changed nothing");

    sandbox.json(&["config", "encryption", "off"]);
    assert_eq!(sandbox.contents().len(), n_memories);
    assert!(!files_containing(&sandbox.home, CANARY).is_empty(), "plain again");
    sandbox.assert_healthy("decrypted");
}

#[test]
fn a_passphrase_can_replace_the_key_file() {
    let Some(sandbox) = sandbox_with_canary("encryption by a passphrase") else { return };
    let run_with_passphrase = |passphrase: &str, args: &[&str]| -> CommandOutput {
        let mut command = sandbox.command(args);
        command.env("WAYLORE_PASSPHRASE", passphrase);
        run_command(command)
    };
    let right = "correct horse battery";
    let turn_on = ["config", "encryption", "passphrase"];
    sandbox.run(&turn_on).expect_code(2, "no passphrase is set");
    run_with_passphrase("short", &turn_on).expect_code(2, "a short passphrase is refused");
    run_with_passphrase(right, &turn_on).expect_code(0, "turn encryption on");
    assert_no_file_contains(&sandbox, CANARY);
    assert_no_file_contains(&sandbox, "correct horse");

    let listed = run_with_passphrase(right, &["list"]).expect_code(0, "the right passphrase");
    assert!(listed.out.contains(CANARY));
    run_with_passphrase("another horse battery", &["list"]).expect_code(3, "a wrong passphrase");
    sandbox.run(&["list"]).expect_code(2, "no passphrase");
    run_with_passphrase(right, &["config", "encryption", "off"])
        .expect_code(0, "turn encryption off");
    assert!(sandbox.run(&["list"]).expect_code(0, "list without it").out.contains(CANARY));
}

#[test]
fn an_encrypted_backup_is_restored_encrypted() {
    let Some(sandbox) = sandbox_with_canary("encrypted backups") else { return };
    sandbox.json(&["config", "encryption", "on"]);
    let backup = sandbox.json(&["backup"])["backups"][0]["name"].clone();
    sandbox.remember(&format!("{CANARY} after the backup"));
    sandbox.json(&["restore-backup", "--yes", backup.as_str().unwrap()]);
    assert_no_file_contains(&sandbox, CANARY);
    assert_eq!(sandbox.contents().len(), 2, "without the memory stored after the backup");
    // The restored database can be written, too: one of its two memories is purged.
    let id = sandbox.contents()[0].0.clone();
    sandbox.json(&["purge", "--yes", &id]);
    assert_eq!(sandbox.contents().len(), 1);
}

/// A sandbox with a project memory, a user memory and backups that contain `CANARY`. `None` if this build
/// cannot encrypt; then the check `what` is reported as skipped.
fn sandbox_with_canary(what: &str) -> Option<Sandbox> {
    let sandbox = Sandbox::new();
    sandbox.remember(&format!("{CANARY} before"));
    sandbox.json(&["remember", "--user", "--new", &format!("{CANARY} of mine")]);
    sandbox.json(&["backup"]);
    if sandbox.run(&["doctor"]).out.contains("cannot encrypt") {
        skip(what, "this build cannot encrypt");
        return None;
    }
    Some(sandbox)
}

#[track_caller]
fn assert_no_file_contains(sandbox: &Sandbox, text: &str) {
    assert_eq!(files_containing(&sandbox.home, text), Vec::<PathBuf>::new());
}
