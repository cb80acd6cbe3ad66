//! A full disk, a limit on file sizes, read-only folders and folders of another user: the program
//! refuses to write with a message that suggests a solution, and saved memories stay readable.
//!
//! The exit code 3 means a problem of the machine, such as its disk or permissions. `sandbox.home` is
//! the folder of Waylore's data (`WAYLORE_HOME`), not that of the user. An *acknowledged* memory is one
//! whose import has succeeded, as a pair of id and text.
//!
//! Most cases need root, to mount a small disk or to run as another user; otherwise they are skipped.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::sandbox::{
    CommandOutput, Sandbox, binary, copy_program, files, has_program, id_of, is_root, record,
    run_command, skip, string,
};

/// Runs the program with arguments, for example as another user.
type RunProgram = dyn Fn(&[&str]) -> CommandOutput;
/// Makes a command of the program with arguments.
type MakeCommand = dyn Fn(&[&str]) -> Command;

/// Far more imports than any of these disks can hold.
const MAX_IMPORTS_PER_SIZE: u64 = 400;
/// User and group id of an unprivileged account.
const UNPRIVILEGED_USER: u32 = 65534;

#[test]
fn a_full_disk_is_reported_and_writing_works_again_with_free_space() {
    let sandbox = Sandbox::new();
    let Some(disk) = MountedDisk::new(&sandbox, "size=4m") else {
        return skip("full disk", "mounting a small tmpfs needs root");
    };

    // Until the disk is full; a refused import leaves no part of itself behind.
    let mut acknowledged =
        vec![(sandbox.remember("the first thing"), "the first thing".to_owned())];
    let refused = fill_disk(&sandbox, &mut acknowledged, |args| sandbox.run(args));
    assert!(refused.out_and_err().contains("disk"), "{refused:?}");
    assert!(refused.out_and_err().contains("free some space"), "{refused:?}");
    assert_eq!(
        sandbox.contents().len(),
        acknowledged.len(),
        "no refused import left a part behind"
    );
    assert_stored(&sandbox, &acknowledged);
    // Other commands may fail on the full disk, but do not panic.
    for args in [vec!["doctor"], vec!["backup"], vec!["stats"], vec!["search", "thing"]] {
        sandbox.run(&args).expect_no_panic("on a full disk");
    }

    // With a larger disk, writing works again.
    disk.remount("size=16m");
    sandbox.remember("there is room again");
    assert_stored(&sandbox, &acknowledged);
    sandbox.assert_healthy("with room again");
}

#[test]
fn a_file_size_limit_causes_an_error_and_no_crash() {
    /// In blocks of 512 bytes.
    const MAX_FILE_BLOCKS: u32 = 600;
    let sandbox = Sandbox::new();
    let mut acknowledged =
        vec![(sandbox.remember("the first thing"), "the first thing".to_owned())];
    // The shell sets the limit and then becomes the program.
    let run_limited = |args: &[&str]| {
        let mut command = Command::new("sh");
        sandbox.set_environment(&mut command);
        let script = format!("ulimit -f {MAX_FILE_BLOCKS}; exec \"$@\"");
        command.args(["-c", &script, "sh"]).arg(binary()).args(args);
        run_command(command)
    };
    let refused = fill_disk(&sandbox, &mut acknowledged, run_limited);
    assert!(refused.out_and_err().contains("disk"), "{refused:?}");
    assert_stored(&sandbox, &acknowledged);

    sandbox.remember("without the limit");
    sandbox.assert_healthy("without the limit");
}

#[test]
fn memories_on_a_read_only_disk_can_be_read() {
    let sandbox = Sandbox::new();
    let Some(disk) = MountedDisk::new(&sandbox, "size=16m") else {
        return skip("read-only disk", "mounting a tmpfs needs root");
    };
    let id = sandbox.remember("a thing to keep");
    disk.remount("ro");
    assert_only_reading_works(&sandbox, &id, |args| sandbox.run(args));
}

#[test]
fn memories_in_read_only_files_can_be_read() {
    let Some((sandbox, run)) = sandbox_of_other_user("read-only files") else { return };
    let id = string(&run(&["remember", "--json", "a thing to keep"]).json()["memory"]["id"]);
    set_modes(&sandbox.home, FileModes { folders: 0o500, files: 0o400 });
    assert_only_reading_works(&sandbox, &id, &run);
    // So that the sandbox can be removed.
    set_modes(&sandbox.home, FileModes { folders: 0o700, files: 0o600 });
}

#[test]
fn memories_in_a_read_only_database_can_be_read() {
    let Some((sandbox, run)) = sandbox_of_other_user("read-only database") else { return };
    let id = string(&run(&["remember", "--json", "a thing to keep"]).json()["memory"]["id"]);
    let database = sandbox.project_data_dir().join("memory.db");
    fs::set_permissions(database, fs::Permissions::from_mode(0o400)).unwrap();
    assert_only_reading_works(&sandbox, &id, &run);
}

#[test]
fn a_home_folder_of_another_user_is_refused_and_not_changed() {
    let Some((sandbox, run)) = sandbox_of_other_user("foreign folder") else { return };
    if !is_root() {
        return skip("foreign folder", "giving files to another user needs root");
    }
    run(&["remember", "a thing to keep"]).expect_code(0, "remember");
    let given_to_root =
        Command::new("chown").args(["-R", "0:0"]).arg(&sandbox.home).status().unwrap();
    assert!(given_to_root.success());
    // Refused even if the permissions would allow reading or writing.
    for modes in [
        FileModes { folders: 0o700, files: 0o600 },
        FileModes { folders: 0o755, files: 0o644 },
        FileModes { folders: 0o777, files: 0o666 },
    ] {
        set_modes(&sandbox.home, modes);
        let case = format!("with folders of mode {:o}", modes.folders);
        let files_before = files(&sandbox.home);
        for args in [&["list"][..], &["search", "thing"], &["remember", "more"], &["backup"]] {
            let output = run(args).expect_code(3, &format!("{args:?} {case}"));
            assert!(output.err.contains("WAYLORE_HOME"), "a solution is named: {output:?}");
        }
        assert_ne!(run(&["doctor"]).expect_no_panic("doctor").code, 0, "{case}");
        assert_eq!(files(&sandbox.home), files_before, "no file was created or removed");
    }
}

/// A small tmpfs mounted as the home folder, unmounted when dropped.
pub(crate) struct MountedDisk(PathBuf);

impl MountedDisk {
    /// Mounts a disk with options of `mount`; `None` without root.
    pub(crate) fn new(sandbox: &Sandbox, options: &str) -> Option<Self> {
        fs::create_dir(&sandbox.home).unwrap();
        let mut command = Command::new("mount");
        command
            .args(["-t", "tmpfs", "-o", &format!("{options},mode=700"), "tmpfs"])
            .arg(&sandbox.home);
        let is_mounted = is_root() && command.output().is_ok_and(|it| it.status.success());
        is_mounted.then(|| Self(sandbox.home.clone()))
    }

    /// Changes the options of the mounted disk, such as its size.
    pub(crate) fn remount(&self, options: &str) {
        let status =
            Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(&self.0).status();
        assert!(status.unwrap().success(), "remount {options}");
    }
}

impl Drop for MountedDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// Imports memories until an import is refused: first many at a time, then fewer, to fill the last gaps.
/// Adds the imported ones to `acknowledged` and returns the last refusal.
fn fill_disk(
    sandbox: &Sandbox,
    acknowledged: &mut Vec<(String, String)>,
    run: impl Fn(&[&str]) -> CommandOutput,
) -> CommandOutput {
    let file = sandbox.root.join("import.json");
    let mut last_refusal = None;
    for n_memories in [100, 10, 1] {
        for import in 0..MAX_IMPORTS_PER_SIZE {
            let padding = "and so on ".repeat(180);
            let memory = |n: u64| {
                let text = format!("thing {n_memories}.{import}.{n} {padding}");
                // Fewer than 1000 memories per import, so every id is used once.
                (id_of(n_memories, import * 1000 + n), text.trim_end().to_owned())
            };
            let memories: Vec<(String, String)> = (0..n_memories).map(memory).collect();
            let records: Vec<_> = memories.iter().map(|(id, text)| record(id, text)).collect();
            fs::write(&file, serde_json::to_vec(&records).unwrap()).unwrap();
            let output = run(&["import", "--trust", file.to_str().unwrap()]);
            if output.code != 0 {
                let case = format!("import {import} of {n_memories} memories");
                last_refusal = Some(output.expect_code(3, &case));
                break;
            }
            acknowledged.extend(memories);
        }
    }
    last_refusal.expect("the disk filled up")
}

/// Asserts that all acknowledged memories, pairs of id and text, can be read.
fn assert_stored(sandbox: &Sandbox, acknowledged: &[(String, String)]) {
    let stored = sandbox.contents();
    for memory in acknowledged {
        assert!(stored.contains(memory), "{} was acknowledged and is lost", memory.0);
    }
}

/// Asserts that reading commands work, writing ones are refused, and no file is created. The memory `id`
/// must have the text "a thing to keep".
fn assert_only_reading_works(sandbox: &Sandbox, id: &str, run: impl Fn(&[&str]) -> CommandOutput) {
    let files_before = files(&sandbox.home);
    for args in [&["list"][..], &["show", id], &["search", "thing"], &["stats"], &["history", id]] {
        let output = run(args).expect_code(0, &format!("{args:?}"));
        assert!(args[0] == "stats" || output.out.contains("a thing to keep"), "{output:?}");
    }
    for args in [&["remember", "more"][..], &["forget", id], &["undo"], &["pin", id]] {
        let output = run(args).expect_code(3, &format!("{args:?}"));
        assert!(output.err.contains("WAYLORE_HOME"), "a solution is named: {output:?}");
    }
    // `doctor` reports damage of the search index with the word `disagrees`.
    let doctor = run(&["doctor"]).expect_no_panic("doctor");
    assert!(!doctor.out.contains("disagree"), "a read-only database is not damage: {doctor:?}");
    // SQLite creates empty `-wal` and `-shm` files even for reading.
    let files_after = files(&sandbox.home);
    let created: Vec<&PathBuf> =
        files_after.iter().filter(|it| !files_before.contains(it)).collect();
    assert!(created.iter().all(|it| it.to_string_lossy().contains("db-")), "{created:?}");
}

/// Permission bits for the folders and files of a tree.
#[derive(Clone, Copy)]
struct FileModes {
    folders: u32,
    files: u32,
}

fn set_modes(root: &Path, modes: FileModes) {
    let set_mode = |path: &Path, mode: u32| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    // Open while it is read; its own mode is set after those of its contents.
    set_mode(root, 0o700);
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { set_modes(&path, modes) } else { set_mode(&path, modes.files) }
    }
    set_mode(root, modes.folders);
}

/// As [`commands_of_other_user`], with a function that runs the program.
fn sandbox_of_other_user(what: &str) -> Option<(Sandbox, Box<RunProgram>)> {
    let (sandbox, command) = commands_of_other_user(what)?;
    Some((sandbox, Box::new(move |args| run_command(command(args)))))
}

/// A sandbox of another, unprivileged user, and a function that makes commands of the program as this user,
/// because permissions do not limit root. If the tests do not run as root, the current user serves as well.
pub(crate) fn commands_of_other_user(what: &str) -> Option<(Sandbox, Box<MakeCommand>)> {
    if is_root() && !has_program("setpriv") {
        skip(what, "setpriv is not installed, and permissions do not limit root");
        return None;
    }
    let sandbox = Sandbox::new();
    let (root, home) = (sandbox.root.clone(), sandbox.home.clone());
    let project = sandbox.project.clone();
    // Another user may have no access to the build folder.
    let program = root.join("waylore");
    copy_program(&program);
    if is_root() {
        fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).unwrap();
        for path in [&root, &project] {
            std::os::unix::fs::chown(path, Some(UNPRIVILEGED_USER), Some(UNPRIVILEGED_USER))
                .unwrap();
        }
    }
    let make_command = move |args: &[&str]| {
        let mut command = if is_root() {
            let mut res = Command::new("setpriv");
            res.args([
                format!("--reuid={UNPRIVILEGED_USER}"),
                format!("--regid={UNPRIVILEGED_USER}"),
            ]);
            res.arg("--clear-groups").arg(&program);
            res
        } else {
            Command::new(&program)
        };
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", &root).env("WAYLORE_HOME", &home).current_dir(&project).args(args);
        // The tests look at the files that a command leaves; a daemon has files of its own.
        command.env("WAYLORE_SERVE_START", "false");
        command
    };
    Some((sandbox, Box::new(make_command)))
}
