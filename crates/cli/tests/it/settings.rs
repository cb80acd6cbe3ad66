//! Tests of settings and their precedence, of shell completions, and of file permissions.
//!
//! Precedence, highest first: command line option, environment variable, project setting,
//! configuration file, default.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::sandbox::{Sandbox, binary, files, run_command, string};

#[test]
fn the_most_specific_setting_wins() {
    let sandbox = Sandbox::new();
    for n in 0..9 {
        sandbox.remember(&format!("thing {n}"));
    }
    // Number of memories that `list` shows with an environment variable or without it, and the origin of
    // the setting `list.limit`.
    let limit_and_origin = |environment: Option<&str>| {
        let run = |args: &[&str]| {
            let mut command = sandbox.command(args);
            if let Some(value) = environment {
                command.env("WAYLORE_LIST_LIMIT", value);
            }
            run_command(command)
        };
        let origin = string(&run(&["--json", "config", "get", "list.limit"]).json()["origin"]);
        (run(&["list"]).out.lines().count(), origin)
    };

    // From the lowest precedence to the highest. The default limit is above 9, so all are shown.
    assert_eq!(limit_and_origin(None), (9, "default".to_owned()));
    sandbox.json(&["config", "set", "list.limit", "4"]);
    assert_eq!(limit_and_origin(None), (4, "configuration file".to_owned()));
    sandbox.json(&["config", "set", "list.limit", "3", "--for-project"]);
    assert_eq!(limit_and_origin(None), (3, "this project".to_owned()));
    assert_eq!(limit_and_origin(Some("2")), (2, "WAYLORE_LIST_LIMIT".to_owned()));
    assert_eq!(sandbox.run(&["list", "-n", "1"]).out.lines().count(), 1);

    // Unset again, level by level.
    sandbox.json(&["config", "unset", "list.limit", "--for-project"]);
    sandbox.json(&["config", "unset", "list.limit"]);
    assert_eq!(limit_and_origin(None), (9, "default".to_owned()));

    let mut command = sandbox.command(&["list"]);
    command.env("WAYLORE_LIST_LIMIT", "many");
    let output = run_command(command).expect_code(2, "an invalid variable");
    assert!(output.err.contains("WAYLORE_LIST_LIMIT"), "{output:?}");
}

#[test]
fn memory_disabled_for_a_project_forbids_writing_only() {
    let sandbox = Sandbox::new();
    sandbox.remember("a thing");
    sandbox.json(&["config", "set", "memory.enabled", "false", "--for-project"]);
    sandbox.run(&["remember", "more"]).expect_code(2, "remember with memory disabled");
    sandbox.run(&["list"]).expect_code(0, "list with memory disabled");
}

#[test]
fn an_invalid_configuration_is_reported() {
    let sandbox = Sandbox::new();
    let file = sandbox.home.join("config/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    for text in [
        "[list]\nlimit = \"many\"",
        "[list]\nlimits = 3",
        "nonsense",
        "[types.\"x\"]\nlabel = 1",
        "list = 3",
        "\0",
    ] {
        fs::write(&file, text).unwrap();
        let output = sandbox.run(&["list"]).expect_code(2, text);
        assert!(output.err.contains("config.toml"), "{output:?}");
    }
}

#[test]
fn a_changed_setting_keeps_the_comments_of_the_file() {
    let sandbox = Sandbox::new();
    let file = sandbox.home.join("config/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "# mine\n[list]\nlimit = 5 # few\n").unwrap();
    sandbox.json(&["config", "set", "backup.every_days", "2"]);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("# mine") && text.contains("# few"), "{text}");
}

#[test]
fn completions_exist_for_every_shell() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = sandbox.run(&["completions", shell]).expect_code(0, shell);
        assert!(output.out.contains("waylore") && output.out.contains("restore-backup"), "{shell}");
        let json = sandbox.json(&["completions", shell]);
        assert_eq!((&json["shell"], &json["script"]), (&shell.into(), &output.out.into()));
    }
}

#[test]
fn files_are_private_whatever_the_umask() {
    for umask in ["000", "022", "077"] {
        let sandbox = Sandbox::new();
        // Commands that create files: memories, a backup, the configuration, an export, a restored
        // backup, a purge and a compaction. `$0` is the umask and `$1` the program. The first word of
        // a backup's line is its name; columns 2 to 9 of a memory's line are its short id.
        let script = "umask $0; W=$1; \"$W\" -q remember one; \"$W\" -q remember --user two; \"$W\" -q backup; \
                   \"$W\" -q config set list.limit 9; \"$W\" -q export -o out.json; \"$W\" -q remember --new three; \
                   \"$W\" -q restore-backup --yes $(\"$W\" restore-backup | head -1 | cut -d' ' -f1); \
                   \"$W\" -q purge --yes $(\"$W\" list | head -1 | cut -c2-9); \"$W\" -q maintain --compact";
        let mut command = Command::new("sh");
        sandbox.set_environment(&mut command);
        command.args(["-e", "-c", script, umask]).arg(binary());
        run_command(command).expect_code(0, umask);

        let mut created: Vec<_> = files(&sandbox.home);
        created.push(sandbox.project.join("out.json"));
        // Guards against a script that created next to nothing.
        assert!(created.len() > 8, "{created:?}");
        for file in created {
            assert_eq!(permission_bits(&file), 0o600, "{} under {umask}", file.display());
            // Every folder from the file up to the home folder.
            for folder in file.ancestors().skip(1).take_while(|it| it.starts_with(&sandbox.home)) {
                assert_eq!(permission_bits(folder), 0o700, "{} under {umask}", folder.display());
            }
        }
    }
}

fn permission_bits(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}
