//! Settings with an order, completions for every shell, files that are only their owner's.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::kit::{Desk, binary, files, finish, string};

#[test]
fn a_setting_is_taken_from_the_nearest_who_says_it() {
    let desk = Desk::new();
    for it in 0..9 {
        desk.remember(&format!("thing {it}"));
    }
    let shown = |environment: Option<&str>| {
        let run = |args: &[&str]| {
            let mut command = desk.command(args);
            if let Some(value) = environment {
                command.env("WAYLORE_LIST_LIMIT", value);
            }
            finish(command)
        };
        let origin = string(&run(&["--json", "config", "get", "list.limit"]).json()["origin"]);
        (run(&["list"]).out.lines().count(), origin)
    };
    assert_eq!(shown(None), (9, "default".to_owned()));
    desk.json(&["config", "set", "list.limit", "4"]);
    assert_eq!(shown(None), (4, "configuration file".to_owned()));
    desk.json(&["config", "set", "list.limit", "3", "--for-project"]);
    assert_eq!(shown(None), (3, "this project".to_owned()));
    assert_eq!(shown(Some("2")), (2, "WAYLORE_LIST_LIMIT".to_owned()));
    assert_eq!(desk.run(&["list", "-n", "1"]).out.lines().count(), 1, "an option goes before all");
    desk.json(&["config", "unset", "list.limit", "--for-project"]);
    desk.json(&["config", "unset", "list.limit"]);
    assert_eq!(shown(None), (9, "default".to_owned()));
    let mut command = desk.command(&["list"]);
    command.env("WAYLORE_LIST_LIMIT", "many");
    assert!(finish(command).ends(2, "a bad value").err.contains("WAYLORE_LIST_LIMIT"));
    desk.json(&["config", "set", "memory.enabled", "false", "--for-project"]);
    desk.run(&["remember", "more"]).ends(2, "memory is off here");
    desk.run(&["list"]).ends(0, "reading goes on");
}

#[test]
fn a_configuration_that_cannot_be_understood_is_named() {
    let desk = Desk::new();
    let file = desk.home.join("config/config.toml");
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
        let said = desk.run(&["list"]).ends(2, text);
        assert!(said.err.contains("config.toml"), "{said:?}");
    }
    fs::write(&file, "# mine\n[list]\nlimit = 5 # few\n").unwrap();
    desk.json(&["config", "set", "backup.every_days", "2"]);
    let kept = fs::read_to_string(&file).unwrap();
    assert!(kept.contains("# mine") && kept.contains("# few"), "comments stay: {kept}");
}

#[test]
fn every_shell_gets_its_completions() {
    let desk = Desk::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let said = desk.run(&["completions", shell]).ends(0, shell);
        assert!(said.out.contains("waylore") && said.out.contains("restore-backup"), "{shell}");
        let told = desk.json(&["completions", shell]);
        assert_eq!((&told["shell"], &told["script"]), (&shell.into(), &said.out.into()));
    }
}

#[test]
fn files_are_only_their_owners_whatever_the_umask() {
    for umask in ["000", "022", "077"] {
        let desk = Desk::new();
        let day = "umask $0; W=$1; \"$W\" -q remember one; \"$W\" -q remember --user two; \"$W\" -q backup; \
                   \"$W\" -q config set list.limit 9; \"$W\" -q export -o out.json; \"$W\" -q remember --new three; \
                   \"$W\" -q restore-backup --yes $(\"$W\" restore-backup | head -1 | cut -d' ' -f1); \
                   \"$W\" -q purge --yes $(\"$W\" list | head -1 | cut -c2-9); \"$W\" -q maintain --compact";
        let mut command = Command::new("sh");
        desk.surround(&mut command);
        finish({
            command.args(["-e", "-c", day, umask]).arg(binary());
            command
        })
        .ends(0, umask);
        let mut seen: Vec<_> = files(&desk.home);
        seen.push(desk.project.join("out.json"));
        assert!(seen.len() > 8, "{seen:?}");
        for path in seen {
            assert_eq!(mode(&path), 0o600, "{} under {umask}", path.display());
            let below = path.ancestors().take_while(|it| it.starts_with(&desk.home)).skip(1);
            below.for_each(|it| assert_eq!(mode(it), 0o700, "{} under {umask}", it.display()));
        }
    }
}

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}
