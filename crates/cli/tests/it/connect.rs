//! `connect` and `disconnect` for every host, in the user's settings and in the project's: what they
//! write, that they restore the original bytes, and when they refuse to write.
//!
//! A *host* is a program that runs an agent, such as Claude Code; `engine::HOSTS` lists all that Waylore
//! knows. `connect` adds entries to the host's settings that make it call Waylore.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use engine::{FilePlace, HOSTS, Host, SettingsScope};

use crate::chat_model::read_text;
use crate::sandbox::{Sandbox, copy_program, run_command};

#[test]
fn disconnect_restores_the_settings_of_every_host() {
    let sandbox = Sandbox::new();
    for host in HOSTS {
        for scope in [SettingsScope::User, SettingsScope::Project] {
            let paths = settings_files(&sandbox, host, scope);
            let scope_args: &[&str] = match scope {
                SettingsScope::User => &[],
                SettingsScope::Project => &["--scope", "project"],
            };
            let run =
                |command: &str| sandbox.run(&[&[command, host.name, "--yes"], scope_args].concat());
            if paths.is_empty() {
                // Not every host has settings in the project.
                run("connect").expect_code(2, host.name);
                continue;
            }
            for path in &paths {
                if let Some(settings) = user_settings(path) {
                    write(path, settings);
                }
            }

            let output = run("connect").expect_code(0, host.name);
            // A host that was never tried with a real session is connected with a warning.
            let is_warned = output.err.contains("it was not tested with a real session");
            assert_eq!(is_warned, !host.is_tested, "{output:?}");
            let read_all = || paths.iter().map(|it| read_text(it)).collect::<Vec<_>>();
            let connected = read_all();
            assert!(connected.iter().flatten().all(|it| it.contains("waylore")), "{}", host.name);
            run("connect").expect_code(0, "connect again");
            assert_eq!(read_all(), connected, "a second `connect` changes nothing");

            run("disconnect").expect_code(0, host.name);
            for path in &paths {
                assert_eq!(read_text(path).as_deref(), user_settings(path), "{}", path.display());
            }
        }
    }
}

#[test]
fn a_host_connected_in_both_scopes_is_reported() {
    let sandbox = Sandbox::new();
    let connect_user = ["connect", "claude-code", "--yes"];
    let connect_project = ["connect", "claude-code", "--scope", "project", "--yes"];
    let output = sandbox.run(&connect_user).expect_code(0, "connect in the user's settings");
    assert!(!output.err.contains("connected too"), "{output:?}");
    let output = sandbox.run(&connect_project).expect_code(0, "connect in the project's settings");
    assert!(output.err.contains("your own settings are connected too"), "{output:?}");
    let output = sandbox.run(&connect_user).expect_code(0, "connect once more");
    assert!(output.err.contains("this project's settings are connected too"), "{output:?}");

    let warning = "connected in both your settings and this project's: claude-code";
    let doctor = sandbox.run(&["doctor"]);
    assert!(doctor.out.contains(warning) && doctor.out.contains("--scope project"), "{doctor:?}");
    sandbox
        .run(&["disconnect", "claude-code", "--scope", "project", "--yes"])
        .expect_code(0, "disconnect in the project's settings");
    assert!(!sandbox.run(&["doctor"]).out.contains(warning));
}

/// `disconnect` recognises its entries by the name of the program, so a program whose name does not
/// start with `waylore` must not be written into settings.
#[test]
fn only_a_program_named_waylore_connects() {
    let sandbox = Sandbox::new();
    for (name, exit_code) in [("wl", 2), ("waylore-next", 0)] {
        let program = sandbox.root.join(name);
        copy_program(&program);
        let mut command = Command::new(&program);
        sandbox.set_environment(&mut command);
        command.args(["connect", "claude-code", "--yes"]);
        run_command(command).expect_code(exit_code, name);
    }

    // The usual program removes the entries that `waylore-next` has written.
    let host = engine::find_host("claude-code").unwrap();
    let settings = settings_files(&sandbox, host, SettingsScope::User);
    for path in &settings {
        // Edited since `connect`, so that the saved original cannot simply be written back.
        write(path, &read_text(path).unwrap().replacen('{', "{ \"mine\": 1,", 1));
    }
    sandbox.run(&["disconnect", "claude-code", "--yes"]).expect_code(0, "by the usual name");
    for path in &settings {
        assert!(!read_text(path).unwrap().contains("waylore"), "{}", path.display());
    }
}

#[test]
fn settings_that_cannot_be_parsed_are_not_changed() {
    let sandbox = Sandbox::new();
    let broken_text = "{ \"mine\": ";
    for host in HOSTS {
        let paths = settings_files(&sandbox, host, SettingsScope::User);
        // Only the last file is broken: the others must not have been written before it is read.
        let (broken, others) = paths.split_last().unwrap();
        write(broken, broken_text);
        let output = sandbox.run(&["connect", host.name, "--yes"]);
        assert!(output.code != 0 && output.err.contains("nothing was changed"), "{output:?}");
        let name = broken.file_name().unwrap().to_str().unwrap();
        assert!(output.err.contains(name), "the message names the file: {output:?}");
        assert_eq!(read_text(broken).as_deref(), Some(broken_text), "{}", host.name);
        for other in others {
            assert!(!other.exists(), "{}", other.display());
        }
        fs::remove_file(broken).unwrap();
    }
}

/// The settings files of a host in this sandbox: in its settings folder, in the folder above that, or
/// in the project.
fn settings_files(sandbox: &Sandbox, host: &Host, scope: SettingsScope) -> Vec<PathBuf> {
    let (root, folder) = host.settings_folder(Some(&sandbox.root), |_| None).unwrap();
    host.files_in(scope)
        .map(|it| match it.place {
            FilePlace::Folder(name) => folder.join(name),
            FilePlace::Root(name) => root.join(name),
            FilePlace::Project(name) => sandbox.project.join(name),
        })
        .collect()
}

/// Settings of a user, in the format of the file; `None` for a file that only Waylore writes.
fn user_settings(path: &Path) -> Option<&'static str> {
    let name = path.to_str().unwrap();
    let is_our_own = name.ends_with("waylore.js") || name.ends_with("hooks/waylore.json");
    match path.extension()?.to_str()? {
        "toml" => Some("model = \"mine\" # mine\n"),
        "json" if !is_our_own => Some("{\n    \"mine\": [ 1,2 ]\n}"),
        _ => None,
    }
}

/// Writes a file and the folders above it.
fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
