//! Tests of the command line from the point of view of the person at the terminal.
//!
//! Files and unfinished texts of the user are never lost or overwritten; messages and hints are
//! correct and name the next step; control characters from outside (file names, memories) never
//! reach the terminal. Tests that need a terminal run the binary under `script(1)` and are skipped
//! where it is missing.
//!
//! Exit codes: 0 success, 1 nothing to do or a problem was found, 2 wrong usage or settings, 3 a
//! failure of the environment, such as an unreadable database.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::sandbox::{
    CommandOutput, Sandbox, binary, files, has_program, id_of, record, run_command, skip, string,
};

/// Runs a shell line on a pseudo-terminal and returns what appeared there (in `out`, both streams).
/// `$W` is the binary under test. Returns `None`, and reports a skip, where `script` is missing.
fn on_terminal(
    sandbox: &Sandbox,
    shell_line: &str,
    variables: &[(&str, &str)],
) -> Option<CommandOutput> {
    if !has_program("script") {
        skip("output on a terminal", "script is absent");
        return None;
    }
    let mut command = terminal_command(sandbox, shell_line);
    command.envs(variables.iter().copied());
    Some(run_command(command))
}

pub(crate) fn terminal_command(sandbox: &Sandbox, shell_line: &str) -> Command {
    let mut res = Command::new("script");
    sandbox.set_environment(&mut res);
    // Quiet, with the exit code of the command, and without a typescript file.
    res.args(["-qec", shell_line, "/dev/null"]).env("TERM", "xterm").env("W", binary());
    res
}

/// Writes a program to be used as `EDITOR`: a shell script that edits the file `$1`. Returns its path.
fn write_editor(sandbox: &Sandbox, script: &str) -> String {
    let path = sandbox.root.join("editor");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Names of the files in which an unsaved text of `waylore edit` is kept.
fn draft_files(sandbox: &Sandbox) -> Vec<String> {
    let names = files(&sandbox.home).into_iter().filter_map(|it| {
        let name = it.file_name()?.to_str()?.to_owned();
        name.starts_with("edit-").then_some(name)
    });
    names.collect()
}

#[test]
fn an_export_does_not_overwrite_a_file() {
    let sandbox = Sandbox::new();
    sandbox.remember("a thing");
    let file = sandbox.project.join("CLAUDE.md");
    fs::write(&file, "written by hand").unwrap();
    for format in ["json", "rules", "archive"] {
        let output =
            sandbox.run(&["export", "--format", format, "-o", "CLAUDE.md"]).expect_code(2, format);
        assert!(output.err.contains("--force"), "{output:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "written by hand");
    }

    // `--force` does, and is refused where it has no meaning.
    sandbox
        .run(&["export", "--format", "rules", "-o", "CLAUDE.md", "--force"])
        .expect_code(0, "--force");
    assert!(fs::read_to_string(&file).unwrap().contains("a thing"));
    sandbox.run(&["export", "--force"]).expect_code(2, "--force without -o");
}

#[test]
fn a_rejected_edit_is_saved_as_a_draft() {
    let sandbox = Sandbox::new();
    let id = sandbox.remember("a thing");
    // In two parts, so that secret scanners do not report this file.
    let secret = ["ghp_16C7e42F292c6912", "E7710c838347Ae178B4a"].concat();
    let edit = format!("\"$W\" edit {id}");

    // A text with a secret is rejected: the draft keeps it, and the output names the draft.
    let add_secret = write_editor(&sandbox, &format!("echo 'much thought, and {secret}' > \"$1\""));
    let Some(output) = on_terminal(&sandbox, &edit, &[("VISUAL", ""), ("EDITOR", &add_secret)])
    else {
        return;
    };
    let drafts = draft_files(&sandbox);
    assert_eq!(drafts.len(), 1, "{output:?}");
    assert!(output.code == 1 && output.out.contains(&drafts[0]), "draft not named: {output:?}");

    // The next edit continues with the draft; once the text is stored, the draft is removed.
    let remove_secret = write_editor(&sandbox, "sed -i 's/, and .*//' \"$1\"");
    let output = on_terminal(&sandbox, &edit, &[("EDITOR", &remove_secret)]).unwrap();
    assert!(output.code == 0 && output.out.contains("continuing with"), "{output:?}");
    let (_id, text) = &sandbox.contents()[0];
    assert_eq!(text.trim_end(), "much thought");
    assert_eq!(draft_files(&sandbox), Vec::<String>::new(), "draft left after a stored edit");

    // An editor that fails leaves a draft only if it changed the text.
    let fail_unchanged = write_editor(&sandbox, "exit 1");
    let output = on_terminal(&sandbox, &edit, &[("EDITOR", &fail_unchanged)]).unwrap();
    assert!(output.code == 2 && draft_files(&sandbox).is_empty(), "{output:?}");
    let fail_changed = write_editor(&sandbox, "echo half a thought > \"$1\"; exit 1");
    let output = on_terminal(&sandbox, &edit, &[("EDITOR", &fail_changed)]).unwrap();
    assert!(output.code == 2 && draft_files(&sandbox).len() == 1, "{output:?}");

    // A purge of the memory removes its draft, too.
    sandbox.run(&["purge", "--yes", &id]).expect_code(0, "purge");
    assert_eq!(
        draft_files(&sandbox),
        Vec::<String>::new(),
        "draft left after its memory was purged"
    );
}

#[test]
fn paths_are_relative_to_the_folder_of_dash_c() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.project.join("src")).unwrap();
    fs::write(sandbox.project.join("src/a.rs"), "").unwrap();
    // The working directory is another folder; `-C` names the project.
    let run_with_dash_c = |args: &[&str]| {
        let mut command = sandbox.command(&["-C", sandbox.project.to_str().unwrap(), "--json"]);
        command.args(args).current_dir(&sandbox.root);
        run_command(command).expect_code(0, &format!("{args:?}")).json()
    };

    // Commands that store a path.
    let remembered = run_with_dash_c(&["remember", "a thing", "--file", "src/a.rs"]);
    assert_eq!(remembered["memory"]["files"][0], "src/a.rs", "{remembered}");
    assert_eq!(remembered["missing_files"].as_array().unwrap().len(), 0, "{remembered}");
    let id = string(&remembered["memory"]["id"]);
    let edited = run_with_dash_c(&["edit", &id, "--file", "src/b.rs"]);
    assert_eq!(edited["memory"]["files"][0], "src/b.rs", "{edited}");
    let flagged = run_with_dash_c(&["flag", &id, "not-here", "--file", "src/a.rs"]);
    assert_eq!(flagged["memory"]["files"][0], "src/a.rs", "{flagged}");

    // Commands that select memories by a path.
    let listed = run_with_dash_c(&["list", "--file", "src/a.rs"]);
    assert_eq!(listed["memories"].as_array().unwrap().len(), 1, "{listed}");
    let found = run_with_dash_c(&["search", "thing", "--file", "src/a.rs"]);
    assert_eq!(found["hits"].as_array().unwrap().len(), 1, "{found}");
}

#[test]
fn a_custom_type_is_shown_as_declared() {
    let sandbox = Sandbox::new();
    let file = sandbox.home.join("config/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "[types.\"custom:acme.ritual\"]\nlabel = \"RITUAL\"\nhalf_life_days = 11\n")
        .unwrap();
    let remembered = sandbox.json(&["remember", "--type", "custom:acme.ritual", "tea at five"]);
    let id = string(&remembered["memory"]["id"]);
    assert!(sandbox.run(&["list"]).out.contains("  RITUAL "));
    assert!(sandbox.run(&["search", "tea"]).out.contains("  RITUAL "));
    let shown = sandbox.run(&["show", &id]).out;
    assert!(shown.contains("[RITUAL]") && shown.contains("every 11 days"), "{shown}");
    assert!(sandbox.run(&["export", "--format", "rules"]).out.contains("**RITUAL**"));
}

#[test]
fn json_mode_reports_errors_as_json() {
    let sandbox = Sandbox::new();
    sandbox.remember("a thing");
    for args in [&["--json"][..], &["list", "--json", "--nonsense"], &["nonsense", "--json"]] {
        let output = sandbox.run(args).expect_code(2, &format!("{args:?}"));
        let error = &output.json()["error"];
        assert_eq!(error["kind"], "usage", "{output:?}");
        let message = string(&error["message"]);
        assert!(!message.is_empty() && !message.contains('\u{1b}') && output.err.is_empty());
    }

    // After `--` it is an argument, not the option.
    let output = sandbox.run(&["nonsense", "--", "--json"]).expect_code(2, "--json after --");
    assert!(output.out.is_empty(), "{output:?}");

    // The confirmation of a dangerous command is asked on a terminal only; here the answer is no.
    if !has_program("script") {
        return skip("a declined confirmation", "script is absent");
    }
    let answer = sandbox.root.join("answer");
    fs::write(&answer, "no\n").unwrap();
    for line in ["\"$W\" --json purge --this-project", "\"$W\" --json restore-backup x"] {
        let mut command = terminal_command(&sandbox, line);
        command.stdin(fs::File::open(&answer).unwrap());
        let output = run_command(command);
        assert!(output.code == 1 && output.out.contains("\"kind\":\"declined\""), "{output:?}");
    }
    assert_eq!(sandbox.contents().len(), 1);
}

#[test]
fn nothing_to_do_exits_with_code_one() {
    let sandbox = Sandbox::new();
    for args in [
        &["undo"][..],
        &["export", "--format", "archive", "-o", "x.db"],
        &["purge", "--this-project", "--yes"],
    ] {
        let output =
            sandbox.run(&[&["--json"], args].concat()).expect_code(1, &format!("{args:?}"));
        assert_eq!(output.json()["error"]["kind"], "finding", "{output:?}");
    }
}

#[test]
fn invalid_settings_can_be_listed_and_corrected() {
    let sandbox = Sandbox::new();
    sandbox.remember("a thing");
    let file = sandbox.home.join("config/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();

    // One invalid value: other commands fail, while `config` and `doctor` report it and `config set`
    // corrects it.
    fs::write(&file, "[list]\nlimit = \"many\"\n[backup]\nevery_days = 4\n").unwrap();
    sandbox.run(&["list"]).expect_code(2, "list with an invalid setting");
    let output = sandbox.run(&["config"]).expect_code(0, "config");
    assert!(output.err.contains("list.limit") && output.err.contains("warning"), "{output:?}");
    let valid_setting = sandbox.run(&["config", "get", "backup.every_days"]);
    assert_eq!(valid_setting.out, "4\n", "{valid_setting:?}");
    let output = sandbox.run(&["doctor"]).expect_code(1, "doctor");
    assert!(output.out.contains("bad        configuration"), "{output:?}");
    sandbox.run(&["config", "set", "list.limit", "5"]).expect_code(0, "correct the setting");
    sandbox.run(&["list"]).expect_code(0, "list after the correction");

    // A file that is not valid TOML, or has a value where a table belongs, is never rewritten.
    for broken in ["[list]\nlimit = = 3\n", "list = 3\n"] {
        fs::write(&file, broken).unwrap();
        sandbox.run(&["config"]).expect_code(0, "config");
        sandbox.run(&["doctor"]).expect_code(1, "doctor");
        let output = sandbox
            .run(&["config", "set", "list.limit", "5"])
            .expect_code(2, "set in a broken file");
        assert!(output.err.contains("line 2") || broken.starts_with("list ="), "{output:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), broken, "the file was rewritten");
        sandbox
            .run(&["config", "encryption", "file"])
            .expect_code(2, "encrypt with an unreadable configuration");
    }

    // `config set` itself rejects invalid values.
    fs::write(&file, "").unwrap();
    for value in ["0", "-1", "many"] {
        sandbox.run(&["config", "set", "list.limit", "--", value]).expect_code(2, value);
    }
}

/// Asserts that the hint suggests checking the key, and restoring a backup only after that: a backup
/// is encrypted with the same key, so restoring it cannot help against a wrong key.
fn assert_names_key_first(output: &CommandOutput) {
    let text = output.out_and_err();
    let key = text.find("encryption.key").unwrap_or_else(|| panic!("{output:?}"));
    if let Some(backup) = text.find("restore-backup") {
        assert!(key < backup, "{output:?}");
    }
}

/// Also holds for builds without encryption: an encrypted database without its key looks like random
/// bytes, so an unreadable file may always be an encrypted one.
#[test]
fn the_key_is_named_before_a_backup_if_a_database_is_unreadable() {
    let sandbox = Sandbox::new();
    sandbox.remember("a thing");
    // Bytes without a pattern: the high byte of Knuth's multiplicative hash of a counter.
    let noise: Vec<u8> =
        (0..8192_u32).map(|it| (it.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    fs::write(sandbox.project_data_dir().join("memory.db"), noise).unwrap();
    assert_names_key_first(&sandbox.run(&["list"]).expect_code(3, "list"));
    assert_names_key_first(&sandbox.run(&["doctor"]).expect_code(1, "doctor"));
}

#[test]
fn a_build_without_encryption_makes_no_key() {
    let sandbox = Sandbox::new();
    sandbox.remember("a thing");
    let output = sandbox.run(&["config", "encryption", "file"]);
    // Both kinds of build run this test; the message shows which one this is.
    let is_refused = output.err.contains("cannot encrypt");
    assert_eq!(output.code == 0, !is_refused, "{output:?}");
    assert_eq!(sandbox.home.join("config/key").exists(), !is_refused);
}

#[test]
fn the_key_is_named_before_a_backup_if_it_is_wrong_or_missing() {
    let sandbox = Sandbox::new();
    sandbox.remember("a thing");
    if sandbox.run(&["config", "encryption", "file"]).err.contains("cannot encrypt") {
        skip("a wrong or missing key", "this build cannot encrypt");
        return;
    }
    let (key, file) = (sandbox.home.join("config/key"), sandbox.home.join("config/config.toml"));
    let right_key = fs::read_to_string(&key).unwrap();

    // A wrong key.
    fs::write(&key, "another key than the right one").unwrap();
    assert_names_key_first(&sandbox.run(&["list"]).expect_code(3, "a wrong key"));
    assert_names_key_first(&sandbox.run(&["doctor"]).expect_code(1, "a wrong key"));

    // No key; the setting still names the file.
    fs::remove_file(&key).unwrap();
    assert_eq!(sandbox.run(&["config", "get", "encryption.key"]).out, "file\n");
    sandbox.run(&["list"]).expect_code(3, "no key");

    // The right key, but a configuration that does not mention it.
    fs::write(&key, &right_key).unwrap();
    let settings = fs::read_to_string(&file).unwrap();
    fs::write(&file, "").unwrap();
    assert_names_key_first(&sandbox.run(&["list"]).expect_code(3, "no key configured"));
    fs::write(&file, settings).unwrap();
    sandbox.run(&["list"]).expect_code(0, "the right key");

    // A second key is refused, and the refusal creates no key file.
    let output =
        sandbox.run(&["config", "encryption", "passphrase"]).expect_code(2, "a second key");
    assert!(output.err.contains("encrypted already, with the key in a file"), "{output:?}");

    // The same the other way round: first a passphrase, then a file.
    sandbox.run(&["config", "encryption", "off"]).expect_code(0, "off");
    fs::remove_file(&key).unwrap();
    let run_with_passphrase = |args: &[&str]| {
        let mut command = sandbox.command(args);
        command.env("WAYLORE_PASSPHRASE", "correct horse battery");
        run_command(command)
    };
    run_with_passphrase(&["config", "encryption", "passphrase"]).expect_code(0, "passphrase");
    run_with_passphrase(&["config", "encryption", "file"]).expect_code(2, "a second key");
    assert!(!key.exists(), "the refused command created a key file");
}

#[test]
fn control_characters_in_names_are_escaped() {
    let sandbox = Sandbox::new();
    // A folder name that sets the window title, makes text blink and reverses its direction.
    let hostile_dir = sandbox.root.join("a\u{1b}]0;owned\u{7}\u{1b}[5mb\u{202e}");
    fs::create_dir(&hostile_dir).unwrap();
    let commands = "cd a*; for it in list stats doctor config 'remember x' 'show x' 'export -o .'; \
                    do \"$W\" $it; done";
    let shell_line = format!("cd '{}'; {commands}", sandbox.root.display());
    let Some(output) = on_terminal(&sandbox, &shell_line, &[]) else { return };

    // They are replaced by visible characters, while the program's own styles remain.
    for bad in ["\u{1b}]0", "\u{7}", "\u{1b}[5m", "\u{202e}"] {
        assert!(!output.out.contains(bad), "{bad:?}: {:?}", output.out);
    }
    assert!(output.out.contains("a␛]0;owned␇"), "no visible replacement: {:?}", output.out);
    assert!(
        output.out.contains("\u{1b}[1m"),
        "the program's own styles are gone: {:?}",
        output.out
    );
}

#[test]
fn messages_name_the_state_and_the_next_step() {
    let sandbox = Sandbox::new();
    sandbox.run(&["remember", "--user", "I like tea"]).expect_code(0, "remember");
    let output = sandbox.run(&["stats"]).expect_code(0, "stats");
    assert!(output.err.contains("no memories about `project` yet"), "{output:?}");

    // A forgotten memory has the slug `deleted`; people see and may write `forgotten`.
    let id = sandbox.remember("a thing");
    sandbox.json(&["forget", &id]);
    for word in ["forgotten", "deleted"] {
        let output = sandbox.run(&["list", "--status", word]).expect_code(0, word);
        assert!(output.out.contains("[forgotten]"), "{output:?}");
    }
    assert!(sandbox.run(&["stats"]).out.contains("forgotten"));
    assert!(sandbox.run(&["history", &id]).out.contains("status: forgotten"));
    assert!(sandbox.run(&["--help"]).out.contains("only warnings and errors"));

    // The current folder is deleted before the command starts in it.
    let deleted = sandbox.root.join("deleted");
    fs::create_dir(&deleted).unwrap();
    let mut command = Command::new("sh");
    sandbox.set_environment(&mut command);
    command.args(["-c", "cd \"$0\"; rmdir \"$0\"; exec \"$W\" list"]).arg(&deleted);
    command.env("W", binary());
    let output = run_command(command).expect_code(3, "a deleted current folder");
    assert!(
        output.err.contains("current folder")
            && output.err.contains("change to an existing folder"),
        "{output:?}"
    );
}

#[test]
fn progress_is_shown_on_terminals_only() {
    let sandbox = Sandbox::new();
    // Progress is announced above 5,000 records.
    let records: Vec<_> = (0..5_001).map(|it| record(&id_of(1, it), &format!("no {it}"))).collect();
    let file = sandbox.project.join("many.json");
    fs::write(&file, serde_json::to_vec(&records).unwrap()).unwrap();

    // Not in a pipe, but on a terminal, unless `-q` or `--json` asks for quiet.
    let import = "import --dry-run --trust many.json";
    let args: Vec<&str> = import.split(' ').collect();
    assert!(!sandbox.run(&args).expect_code(0, import).err.contains("importing"));
    let Some(output) = on_terminal(&sandbox, &format!("\"$W\" {import}"), &[]) else { return };
    assert!(output.out.contains("importing 5001 records …"), "{output:?}");
    for option in ["-q", "--json"] {
        let output = on_terminal(&sandbox, &format!("\"$W\" {option} {import}"), &[]).unwrap();
        assert!(!output.out.contains("importing"), "{output:?}");
    }
}

#[test]
fn a_restored_backup_can_be_reverted() {
    let sandbox = Sandbox::new();
    sandbox.remember("one");
    sandbox.json(&["backup"]);
    sandbox.remember("two");

    // Before a restore there is nothing to go back to.
    let list = sandbox.json(&["restore-backup"]);
    assert!(list["replaced"].is_null(), "{list}");
    let name = string(&list["backups"][0]["name"]);

    // A restore keeps the replaced database under the name `replaced`.
    let output = sandbox.run(&["restore-backup", &name, "--yes"]).expect_code(0, "restore");
    assert!(output.err.contains("waylore restore-backup replaced"), "{output:?}");
    assert_eq!(sandbox.contents().len(), 1);
    let list = sandbox.run(&["restore-backup"]).expect_code(0, "list");
    assert!(list.out.contains("replaced  ") && list.out.contains("2 memories"), "{list:?}");

    sandbox.run(&["restore-backup", "replaced", "--yes"]).expect_code(0, "revert the restore");
    assert_eq!(sandbox.contents().len(), 2);
}
