//! How the program treats the person in front of it: nothing of theirs is lost or overwritten, what
//! it says is true and helps, and nothing from outside speaks with its voice.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::kit::{Desk, Said, binary, files, finish, has, id_of, record, skip, string};

/// Runs a line of shell on a terminal of its own; what appears there.
fn on_terminal(desk: &Desk, line: &str, variables: &[(&str, &str)]) -> Option<Said> {
    if !has("script") {
        skip("what is said on a terminal", "script is absent");
        return None;
    }
    let mut command = terminal(desk, line);
    command.envs(variables.iter().copied());
    Some(finish(command))
}

fn terminal(desk: &Desk, line: &str) -> Command {
    let mut res = Command::new("script");
    desk.surround(&mut res);
    res.args(["-qec", line, "/dev/null"]).env("TERM", "xterm").env("W", binary());
    res
}

/// An editor that does what `script` says to the file `$1`.
fn editor(desk: &Desk, script: &str) -> String {
    let path = desk.root.join("editor");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

fn drafts(desk: &Desk) -> Vec<String> {
    let names = files(&desk.home).into_iter().filter_map(|it| {
        let name = it.file_name()?.to_str()?.to_owned();
        name.starts_with("edit-").then_some(name)
    });
    names.collect()
}

#[test]
fn an_export_does_not_write_over_a_file() {
    let desk = Desk::new();
    desk.remember("a thing");
    let file = desk.project.join("CLAUDE.md");
    fs::write(&file, "written by hand").unwrap();
    for format in ["json", "rules", "archive"] {
        let said = desk.run(&["export", "--format", format, "-o", "CLAUDE.md"]).ends(2, format);
        assert!(said.err.contains("--force"), "{said:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "written by hand");
    }
    desk.run(&["export", "--format", "rules", "-o", "CLAUDE.md", "--force"]).ends(0, "--force");
    assert!(fs::read_to_string(&file).unwrap().contains("a thing"));
    desk.run(&["export", "--force"]).ends(2, "there is no file to replace");
}

#[test]
fn a_text_that_is_refused_is_not_lost() {
    let desk = Desk::new();
    let id = desk.remember("a thing");
    let secret = ["ghp_16C7e42F292c6912", "E7710c838347Ae178B4a"].concat();
    let line = format!("\"$W\" edit {id}");
    let write = editor(&desk, &format!("echo 'much thought, and {secret}' > \"$1\""));
    let Some(said) = on_terminal(&desk, &line, &[("VISUAL", ""), ("EDITOR", &write)]) else {
        return;
    };
    let kept = drafts(&desk);
    assert_eq!(kept.len(), 1, "{said:?}");
    assert!(said.code == 1 && said.out.contains(&kept[0]), "the path is said: {said:?}");
    let mend = editor(&desk, "sed -i 's/, and .*//' \"$1\"");
    let said = on_terminal(&desk, &line, &[("EDITOR", &mend)]).unwrap();
    assert!(said.code == 0 && said.out.contains("continuing with"), "{said:?}");
    assert_eq!(desk.contents()[0].1.trim_end(), "much thought");
    assert_eq!(drafts(&desk), Vec::<String>::new(), "what is kept needs no draft");
    let fail = editor(&desk, "exit 1");
    let said = on_terminal(&desk, &line, &[("EDITOR", &fail)]).unwrap();
    assert!(said.code == 2 && drafts(&desk).is_empty(), "nothing was written: {said:?}");
    let fail = editor(&desk, "echo half a thought > \"$1\"; exit 1");
    let said = on_terminal(&desk, &line, &[("EDITOR", &fail)]).unwrap();
    assert!(said.code == 2 && drafts(&desk).len() == 1, "{said:?}");
    desk.run(&["purge", "--yes", &id]).ends(0, "purge");
    assert_eq!(drafts(&desk), Vec::<String>::new(), "a draft does not outlive its memory");
}

#[test]
fn paths_belong_to_the_folder_one_works_in() {
    let desk = Desk::new();
    fs::create_dir_all(desk.project.join("src")).unwrap();
    fs::write(desk.project.join("src/a.rs"), "").unwrap();
    let there = |args: &[&str]| {
        let mut command = desk.command(&["-C", desk.project.to_str().unwrap(), "--json"]);
        command.args(args).current_dir(&desk.root);
        finish(command).ends(0, &format!("{args:?}")).json()
    };
    let kept = there(&["remember", "a thing", "--file", "src/a.rs"]);
    assert_eq!(kept["memory"]["files"][0], "src/a.rs", "{kept}");
    assert_eq!(kept["missing_files"].as_array().unwrap().len(), 0, "{kept}");
    let id = string(&kept["memory"]["id"]);
    let edited = there(&["edit", &id, "--file", "src/b.rs"]);
    assert_eq!(edited["memory"]["files"][0], "src/b.rs", "{edited}");
    let flagged = there(&["flag", &id, "not-here", "--file", "src/a.rs"]);
    assert_eq!(flagged["memory"]["files"][0], "src/a.rs", "{flagged}");
    let listed = there(&["list", "--file", "src/a.rs"]);
    assert_eq!(listed["memories"].as_array().unwrap().len(), 1, "{listed}");
    let found = there(&["search", "thing", "--file", "src/a.rs"]);
    assert_eq!(found["hits"].as_array().unwrap().len(), 1, "{found}");
}

#[test]
fn a_declared_type_is_shown_as_declared() {
    let desk = Desk::new();
    let file = desk.home.join("config/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "[types.\"custom:acme.ritual\"]\nlabel = \"RITUAL\"\nhalf_life_days = 11\n")
        .unwrap();
    let kept = desk.json(&["remember", "--type", "custom:acme.ritual", "tea at five"]);
    let id = string(&kept["memory"]["id"]);
    assert!(desk.run(&["list"]).out.contains("  RITUAL "));
    assert!(desk.run(&["search", "tea"]).out.contains("  RITUAL "));
    let shown = desk.run(&["show", &id]).out;
    assert!(shown.contains("[RITUAL]") && shown.contains("every 11 days"), "{shown}");
    assert!(desk.run(&["export", "--format", "rules"]).out.contains("**RITUAL**"));
}

#[test]
fn who_asks_for_json_gets_json() {
    let desk = Desk::new();
    desk.remember("a thing");
    for args in [&["--json"][..], &["list", "--json", "--nonsense"], &["nonsense", "--json"]] {
        let said = desk.run(args).ends(2, &format!("{args:?}"));
        let error = &said.json()["error"];
        assert_eq!(error["kind"], "usage", "{said:?}");
        let message = string(&error["message"]);
        assert!(!message.is_empty() && !message.contains('\u{1b}') && said.err.is_empty());
    }
    let said = desk.run(&["nonsense", "--", "--json"]).ends(2, "not an option");
    assert!(said.out.is_empty(), "{said:?}");
    if !has("script") {
        return skip("a declined question", "script is absent");
    }
    let answer = desk.root.join("answer");
    fs::write(&answer, "no\n").unwrap();
    for line in ["\"$W\" --json purge --this-project", "\"$W\" --json restore-backup x"] {
        let mut command = terminal(&desk, line);
        command.stdin(fs::File::open(&answer).unwrap());
        let said = finish(command);
        assert!(said.code == 1 && said.out.contains("\"kind\":\"declined\""), "{said:?}");
    }
    assert_eq!(desk.contents().len(), 1);
}

#[test]
fn nothing_to_do_is_a_finding_and_not_a_mistake() {
    let desk = Desk::new();
    for args in [
        &["undo"][..],
        &["export", "--format", "archive", "-o", "x.db"],
        &["purge", "--this-project", "--yes"],
    ] {
        let said = desk.run(&[&["--json"], args].concat()).ends(1, &format!("{args:?}"));
        assert_eq!(said.json()["error"]["kind"], "finding", "{said:?}");
    }
}

#[test]
fn wrong_settings_can_be_seen_and_corrected() {
    let desk = Desk::new();
    desk.remember("a thing");
    let file = desk.home.join("config/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "[list]\nlimit = \"many\"\n[backup]\nevery_days = 4\n").unwrap();
    desk.run(&["list"]).ends(2, "others refuse");
    let said = desk.run(&["config"]).ends(0, "config");
    assert!(said.err.contains("list.limit") && said.err.contains("warning"), "{said:?}");
    assert_eq!(desk.run(&["config", "get", "backup.every_days"]).out, "4\n", "the rest counts");
    let said = desk.run(&["doctor"]).ends(1, "doctor");
    assert!(said.out.contains("bad        configuration"), "{said:?}");
    desk.run(&["config", "set", "list.limit", "5"]).ends(0, "it can be set right");
    desk.run(&["list"]).ends(0, "and all is well");

    for broken in ["[list]\nlimit = = 3\n", "list = 3\n"] {
        fs::write(&file, broken).unwrap();
        desk.run(&["config"]).ends(0, "config");
        desk.run(&["doctor"]).ends(1, "doctor");
        let said = desk.run(&["config", "set", "list.limit", "5"]).ends(2, "not to be mended so");
        assert!(said.err.contains("line 2") || broken.starts_with("list ="), "{said:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), broken, "it is left as it was");
        desk.run(&["config", "encryption", "file"]).ends(2, "no conversion on a guess");
    }
    fs::write(&file, "").unwrap();
    for value in ["0", "-1", "many"] {
        desk.run(&["config", "set", "list.limit", "--", value]).ends(2, value);
    }
}

/// The hint names the key, and a backup only after it: a backup is encrypted with the same key.
fn assert_names_key_first(said: &Said) {
    let text = said.all();
    let (key, backup) = (text.find("encryption.key"), text.find("restore-backup"));
    assert!(key.is_some() && backup.is_none_or(|it| key < Some(it)), "{said:?}");
}

/// Holds in every build: without its key an encrypted database cannot be told from noise.
#[test]
fn the_key_is_named_before_a_backup_if_a_database_is_unreadable() {
    let desk = Desk::new();
    desk.remember("a thing");
    let noise: Vec<u8> =
        (0..8192_u32).map(|it| (it.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    fs::write(desk.notebook().join("memory.db"), noise).unwrap();
    assert_names_key_first(&desk.run(&["list"]).ends(3, "the notebook is noise"));
    assert_names_key_first(&desk.run(&["doctor"]).ends(1, "the notebook is noise"));
}

#[test]
fn a_build_without_encryption_makes_no_key() {
    let desk = Desk::new();
    desk.remember("a thing");
    let said = desk.run(&["config", "encryption", "file"]);
    let is_refused = said.err.contains("cannot encrypt");
    assert_eq!(said.code == 0, !is_refused, "{said:?}");
    assert_eq!(desk.home.join("config/key").exists(), !is_refused);
}

#[test]
fn the_key_is_named_before_a_backup_if_it_is_wrong_or_missing() {
    let desk = Desk::new();
    desk.remember("a thing");
    if desk.run(&["config", "encryption", "file"]).err.contains("cannot encrypt") {
        skip("a wrong or missing key", "this build cannot encrypt");
        return;
    }
    let (key, file) = (desk.home.join("config/key"), desk.home.join("config/config.toml"));
    let right = fs::read_to_string(&key).unwrap();
    fs::write(&key, "another key than the right one").unwrap();
    assert_names_key_first(&desk.run(&["list"]).ends(3, "a wrong key"));
    assert_names_key_first(&desk.run(&["doctor"]).ends(1, "a wrong key"));
    fs::remove_file(&key).unwrap();
    assert_eq!(desk.run(&["config", "get", "encryption.key"]).out, "file\n");
    desk.run(&["list"]).ends(3, "no key");
    fs::write(&key, &right).unwrap();
    let settings = fs::read_to_string(&file).unwrap();
    fs::write(&file, "").unwrap();
    assert_names_key_first(&desk.run(&["list"]).ends(3, "nobody says that there is a key"));
    fs::write(&file, settings).unwrap();
    desk.run(&["list"]).ends(0, "the right key");

    let said = desk.run(&["config", "encryption", "passphrase"]).ends(2, "a second key");
    assert!(said.err.contains("encrypted already, with the key in a file"), "{said:?}");
    desk.run(&["config", "encryption", "off"]).ends(0, "off");
    fs::remove_file(&key).unwrap();
    let secret = |args: &[&str]| {
        let mut command = desk.command(args);
        command.env("WAYLORE_PASSPHRASE", "correct horse battery");
        finish(command)
    };
    secret(&["config", "encryption", "passphrase"]).ends(0, "passphrase");
    secret(&["config", "encryption", "file"]).ends(2, "a second key");
    assert!(!key.exists(), "a refusal leaves no key behind");
}

#[test]
fn names_from_outside_are_only_text() {
    let desk = Desk::new();
    let evil = desk.root.join("a\u{1b}]0;owned\u{7}\u{1b}[5mb\u{202e}");
    fs::create_dir(&evil).unwrap();
    let line = "cd a*; for it in list stats doctor config 'remember x' 'show x' 'export -o .'; \
                do \"$W\" $it; done";
    let line = format!("cd '{}'; {line}", desk.root.display());
    let Some(said) = on_terminal(&desk, &line, &[]) else { return };
    for bad in ["\u{1b}]0", "\u{7}", "\u{1b}[5m", "\u{202e}"] {
        assert!(!said.out.contains(bad), "{bad:?}: {:?}", said.out);
    }
    assert!(said.out.contains("a␛]0;owned␇"), "it is made visible: {:?}", said.out);
    assert!(said.out.contains("\u{1b}[1m"), "our own styles stay: {:?}", said.out);
}

#[test]
fn small_courtesies() {
    let desk = Desk::new();
    desk.run(&["remember", "--user", "I like tea"]).ends(0, "remember");
    let said = desk.run(&["stats"]).ends(0, "stats");
    assert!(said.err.contains("no memories about `project` yet"), "{said:?}");
    let id = desk.remember("a thing");
    desk.json(&["forget", &id]);
    for word in ["forgotten", "deleted"] {
        let said = desk.run(&["list", "--status", word]).ends(0, word);
        assert!(said.out.contains("[forgotten]"), "{said:?}");
    }
    assert!(desk.run(&["stats"]).out.contains("forgotten"));
    assert!(desk.run(&["history", &id]).out.contains("status: forgotten"));
    assert!(desk.run(&["--help"]).out.contains("only warnings and errors"));

    let gone = desk.root.join("gone");
    fs::create_dir(&gone).unwrap();
    let mut command = Command::new("sh");
    desk.surround(&mut command);
    command.args(["-c", "cd \"$0\"; rmdir \"$0\"; exec \"$W\" list"]).arg(&gone);
    command.env("W", binary());
    let said = finish(command).ends(3, "a folder that is gone");
    assert!(
        said.err.contains("current folder") && said.err.contains("change to an existing folder"),
        "{said:?}"
    );
}

#[test]
fn long_work_says_so_to_a_person_only() {
    let desk = Desk::new();
    let records: Vec<_> = (0..5_001).map(|it| record(&id_of(1, it), &format!("no {it}"))).collect();
    let file = desk.project.join("many.json");
    fs::write(&file, serde_json::to_vec(&records).unwrap()).unwrap();
    let line = "import --dry-run --trust many.json";
    let args: Vec<&str> = line.split(' ').collect();
    assert!(!desk.run(&args).ends(0, line).err.contains("importing"));
    let Some(said) = on_terminal(&desk, &format!("\"$W\" {line}"), &[]) else { return };
    assert!(said.out.contains("importing 5001 records …"), "{said:?}");
    for quiet in ["-q", "--json"] {
        let said = on_terminal(&desk, &format!("\"$W\" {quiet} {line}"), &[]).unwrap();
        assert!(!said.out.contains("importing"), "{said:?}");
    }
}

#[test]
fn a_restore_can_be_gone_back_on() {
    let desk = Desk::new();
    desk.remember("one");
    desk.json(&["backup"]);
    desk.remember("two");
    let list = desk.json(&["restore-backup"]);
    assert!(list["replaced"].is_null(), "{list}");
    let name = string(&list["backups"][0]["name"]);
    let said = desk.run(&["restore-backup", &name, "--yes"]).ends(0, "restore");
    assert!(said.err.contains("waylore restore-backup replaced"), "{said:?}");
    assert_eq!(desk.contents().len(), 1);
    let list = desk.run(&["restore-backup"]).ends(0, "list");
    assert!(list.out.contains("replaced  ") && list.out.contains("2 memories"), "{list:?}");
    desk.run(&["restore-backup", "replaced", "--yes"]).ends(0, "back again");
    assert_eq!(desk.contents().len(), 2);
}
