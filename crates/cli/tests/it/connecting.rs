//! Into the settings of every host and out again, with the real binary: a person's settings and a project's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use engine::{FilePlace, HOSTS, Host, SettingsScope};

use crate::chat::text;
use crate::kit::{Desk, copy_program, finish};

/// The files of a host at this desk.
fn files(desk: &Desk, host: &Host, scope: SettingsScope) -> Vec<PathBuf> {
    let (root, folder) = host.settings_folder(Some(&desk.root), |_| None).unwrap();
    host.files_in(scope)
        .map(|it| match it.place {
            FilePlace::Folder(name) => folder.join(name),
            FilePlace::Root(name) => root.join(name),
            FilePlace::Project(name) => desk.project.join(name),
        })
        .collect()
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Settings of somebody, in the format of the file; nothing where the whole file is ours.
fn theirs(path: &Path) -> Option<&'static str> {
    let name = path.to_str().unwrap();
    let is_ours = name.ends_with("waylore.js") || name.ends_with("hooks/waylore.json");
    match path.extension()?.to_str()? {
        "toml" => Some("model = \"mine\" # mine\n"),
        "json" if !is_ours => Some("{\n    \"mine\": [ 1,2 ]\n}"),
        _ => None,
    }
}

#[test]
fn every_host_comes_and_goes_without_a_trace() {
    let desk = Desk::new();
    for host in HOSTS {
        for scope in [SettingsScope::User, SettingsScope::Project] {
            let paths = files(&desk, host, scope);
            let flags: &[&str] = match scope {
                SettingsScope::User => &[],
                SettingsScope::Project => &["--scope", "project"],
            };
            let say = |command: &str| desk.run(&[&[command, host.name, "--yes"], flags].concat());
            if paths.is_empty() {
                say("connect").ends(2, host.name);
                continue;
            }
            for path in &paths {
                theirs(path).inspect(|it| put(path, it));
            }
            let said = say("connect").ends(0, host.name);
            let hint = said.err.contains("it was not tested with a real session");
            assert_eq!(hint, !host.is_tested, "{said:?}");
            let with: Vec<_> = paths.iter().map(|it| text(it)).collect();
            assert!(with.iter().flatten().all(|it| it.contains("waylore")), "{}", host.name);
            say("connect").ends(0, "again");
            assert_eq!(paths.iter().map(|it| text(it)).collect::<Vec<_>>(), with, "twice is once");
            say("disconnect").ends(0, host.name);
            for path in &paths {
                assert_eq!(text(path).as_deref(), theirs(path), "{}", path.display());
            }
        }
    }
}

#[test]
fn who_is_connected_twice_is_told_and_can_tell_it_later() {
    let desk = Desk::new();
    let said = desk.run(&["connect", "claude-code", "--yes"]).ends(0, "connected");
    assert!(!said.err.contains("connected too"), "{said:?}");
    let both = ["connect", "claude-code", "--scope", "project", "--yes"];
    let said = desk.run(&both).ends(0, "connected");
    assert!(said.err.contains("your own settings are connected too"), "{said:?}");
    let named = "connected in both your settings and this project's: claude-code";
    let doctor = desk.run(&["doctor"]);
    assert!(doctor.out.contains(named) && doctor.out.contains("--scope project"), "{doctor:?}");
    let said = desk.run(&["connect", "claude-code", "--yes"]).ends(0, "it is already");
    assert!(said.err.contains("this project's settings are connected too"), "{said:?}");
    desk.run(&["disconnect", "claude-code", "--scope", "project", "--yes"]).ends(0, "one is left");
    assert!(!desk.run(&["doctor"]).out.contains(named));
}

#[test]
fn a_program_that_settings_would_not_know_again_is_not_put_there() {
    let desk = Desk::new();
    for (name, code) in [("wl", 2), ("waylore-next", 0)] {
        let program = desk.root.join(name);
        copy_program(&program);
        let mut command = Command::new(&program);
        desk.surround(&mut command);
        command.args(["connect", "claude-code", "--yes"]);
        finish(command).ends(code, name);
    }
    let settings = files(&desk, engine::find_host("claude-code").unwrap(), SettingsScope::User);
    for path in &settings {
        // Somebody has changed it since, so that the bytes from before are of no use.
        put(path, &text(path).unwrap().replacen('{', "{ \"mine\": 1,", 1));
    }
    desk.run(&["disconnect", "claude-code", "--yes"]).ends(0, "by another name");
    for path in &settings {
        assert!(!text(path).unwrap().contains("waylore"), "{}", path.display());
    }
}

#[test]
fn settings_that_cannot_be_understood_are_left_alone() {
    let desk = Desk::new();
    for host in HOSTS {
        let paths = files(&desk, host, SettingsScope::User);
        // The last one is found broken: nothing may have been written into the others before.
        let broken = paths.last().unwrap();
        put(broken, "{ \"mine\": ");
        let said = desk.run(&["connect", host.name, "--yes"]);
        assert!(said.code != 0 && said.err.contains("nothing was changed"), "{said:?}");
        let name = broken.file_name().unwrap().to_str().unwrap();
        assert!(said.err.contains(name), "it says which: {said:?}");
        assert_eq!(text(broken).as_deref(), Some("{ \"mine\": "), "{}", host.name);
        for other in &paths[..paths.len() - 1] {
            assert!(!other.exists(), "{}", other.display());
        }
        fs::remove_file(broken).unwrap();
    }
}
