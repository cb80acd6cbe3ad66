//! Encryption at rest: switched on, no text of a memory is left on the disk; switched off, all is
//! readable; and without the key nothing is.

use std::fs;
use std::path::PathBuf;

use crate::kit::{Desk, Said, finish, holding, skip};

const CANARY: &str = "zebrawombat";

#[test]
fn nothing_can_be_read_without_the_key() {
    let Some(desk) = written("encryption by a key file") else { return };
    let before = desk.contents();
    assert!(!holding(&desk.home, CANARY).is_empty());
    desk.json(&["config", "encryption", "on"]);
    assert_eq!(holding(&desk.home, CANARY), Vec::<PathBuf>::new());
    assert_eq!(desk.contents(), before);
    desk.remember(&format!("{CANARY} after"));
    desk.json(&["backup"]);
    desk.is_healthy("encrypted");
    assert_eq!(holding(&desk.home, CANARY), Vec::<PathBuf>::new(), "what is written since, too");
    let key = desk.home.join("config/key");
    let right = fs::read(&key).unwrap();
    for wrong in [Some("0123456789abcdef0123456789abcdef"), Some(""), None] {
        match wrong {
            Some(wrong) => fs::write(&key, wrong).unwrap(),
            None => fs::remove_file(&key).unwrap(),
        }
        for args in [
            &["list"][..],
            &["remember", "x"],
            &["search", "x"],
            &["doctor"],
            &["purge", "--yes", "--secrets"],
        ] {
            let said = desk.run(args).sound("without the key");
            assert_ne!(said.code, 0, "{args:?} with {wrong:?}: {said:?}");
            assert!(!said.all().contains(CANARY), "{said:?}");
        }
    }
    fs::write(&key, right).unwrap();
    assert_eq!(desk.contents().len(), before.len() + 1, "the key opens it, whatever was tried");
    desk.json(&["config", "encryption", "off"]);
    assert_eq!(desk.contents().len(), before.len() + 1);
    assert!(!holding(&desk.home, CANARY).is_empty(), "it is plain again");
    desk.is_healthy("decrypted");
}

#[test]
fn a_passphrase_is_a_key() {
    let Some(desk) = written("encryption by a passphrase") else { return };
    let with = |phrase: &str, args: &[&str]| -> Said {
        let mut command = desk.command(args);
        command.env("WAYLORE_PASSPHRASE", phrase);
        finish(command)
    };
    desk.run(&["config", "encryption", "passphrase"]).ends(2, "there is none");
    with("short", &["config", "encryption", "passphrase"]).ends(2, "it is too short");
    with("correct horse battery", &["config", "encryption", "passphrase"]).ends(0, "on");
    assert_eq!(holding(&desk.home, CANARY), Vec::<PathBuf>::new());
    assert_eq!(holding(&desk.home, "correct horse"), Vec::<PathBuf>::new());
    assert!(with("correct horse battery", &["list"]).ends(0, "list").out.contains(CANARY));
    with("another horse battery", &["list"]).ends(3, "the wrong one");
    desk.run(&["list"]).ends(2, "none");
    with("correct horse battery", &["config", "encryption", "off"]).ends(0, "off");
    assert!(desk.run(&["list"]).ends(0, "list").out.contains(CANARY));
}

#[test]
fn a_backup_made_encrypted_is_restored_encrypted() {
    let Some(desk) = written("encrypted backups") else { return };
    desk.json(&["config", "encryption", "on"]);
    let backup = desk.json(&["backup"])["backups"][0]["name"].clone();
    desk.remember(&format!("{CANARY} after the backup"));
    desk.json(&["restore-backup", "--yes", backup.as_str().unwrap()]);
    assert_eq!(holding(&desk.home, CANARY), Vec::<PathBuf>::new());
    assert_eq!(desk.contents().len(), 2);
    let id = desk.contents()[0].0.clone();
    desk.json(&["purge", "--yes", &id]);
    assert_eq!(desk.contents().len(), 1);
}

/// A desk with memories and backups, where this build can encrypt.
fn written(what: &str) -> Option<Desk> {
    let desk = Desk::new();
    desk.remember(&format!("{CANARY} before"));
    desk.json(&["remember", "--user", "--new", &format!("{CANARY} of mine")]);
    desk.json(&["backup"]);
    if desk.run(&["doctor"]).out.contains("cannot encrypt") {
        skip(what, "this build cannot encrypt");
        return None;
    }
    Some(desk)
}
