//! A disk that is full, a limit on file sizes, folders that cannot be written or are somebody
//! else's: a clean refusal with a way out, and whatever was saved stays readable.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::kit::{
    Desk, Said, binary, copy_program, files, finish, has, id_of, is_root, record, skip, string,
};

/// The binary, run by somebody.
type Run = dyn Fn(&[&str]) -> Said;

/// Far more rounds than it takes to fill what these tests fill.
const ROUNDS: u64 = 400;

#[test]
fn a_full_disk_is_said_and_room_makes_it_work_again() {
    let desk = Desk::new();
    let Some(small) = Mounted::new(&desk, "size=4m") else {
        return skip("full disk", "mounting a small tmpfs needs root");
    };
    let mut kept = vec![(desk.remember("the first thing"), "the first thing".to_owned())];
    let refused = fill(&desk, &mut kept, |args| desk.run(args));
    assert!(refused.all().contains("disk"), "{refused:?}");
    assert!(refused.all().contains("free some space"), "{refused:?}");
    assert_eq!(
        desk.contents().len(),
        kept.len(),
        "what was acknowledged is there, and nothing else"
    );
    is_there(&desk, &kept);
    for args in [vec!["doctor"], vec!["backup"], vec!["stats"], vec!["search", "thing"]] {
        desk.run(&args).sound("beside a full disk");
    }
    small.remount("size=16m");
    desk.remember("there is room again");
    is_there(&desk, &kept);
    desk.is_healthy("with room again");
}

#[test]
fn a_file_size_limit_is_an_error_and_not_the_end() {
    let desk = Desk::new();
    let mut kept = vec![(desk.remember("the first thing"), "the first thing".to_owned())];
    let limited = |args: &[&str]| {
        let mut command = Command::new("sh");
        desk.surround(&mut command);
        command.args(["-c", "ulimit -f 600; exec \"$@\"", "sh"]).arg(binary()).args(args);
        finish(command)
    };
    let refused = fill(&desk, &mut kept, limited);
    assert!(refused.all().contains("disk"), "{refused:?}");
    is_there(&desk, &kept);
    desk.remember("without the limit");
    desk.is_healthy("without the limit");
}

#[test]
fn a_read_only_disk_can_be_read() {
    let desk = Desk::new();
    let Some(small) = Mounted::new(&desk, "size=16m") else {
        return skip("read-only disk", "mounting a tmpfs needs root");
    };
    let id = desk.remember("a thing to keep");
    small.remount("ro");
    only_reading_works(&desk, &id, |args| desk.run(args));
}

#[test]
fn read_only_files_can_be_read() {
    let Some((desk, mine)) = of_nobody("read-only files") else { return };
    let id = string(&mine(&["remember", "--json", "a thing to keep"]).json()["memory"]["id"]);
    set_modes(&desk.home, 0o500, 0o400);
    only_reading_works(&desk, &id, &mine);
    set_modes(&desk.home, 0o700, 0o600);
}

#[test]
fn a_read_only_database_can_be_read() {
    let Some((desk, mine)) = of_nobody("read-only database") else { return };
    let id = string(&mine(&["remember", "--json", "a thing to keep"]).json()["memory"]["id"]);
    fs::set_permissions(desk.notebook().join("memory.db"), fs::Permissions::from_mode(0o400))
        .unwrap();
    only_reading_works(&desk, &id, &mine);
}

#[test]
fn the_folder_of_another_user_is_left_alone() {
    let Some((desk, mine)) = of_nobody("foreign folder") else { return };
    if !is_root() {
        return skip("foreign folder", "giving files to another user needs root");
    }
    mine(&["remember", "a thing to keep"]).ends(0, "remember");
    let owned = Command::new("chown").args(["-R", "0:0"]).arg(&desk.home).status().unwrap();
    assert!(owned.success());
    for (dirs, of_files) in [(0o700, 0o600), (0o755, 0o644), (0o777, 0o666)] {
        set_modes(&desk.home, dirs, of_files);
        let before = names(&desk.home);
        for args in [&["list"][..], &["search", "thing"], &["remember", "more"], &["backup"]] {
            let said = mine(args).ends(3, &format!("{args:?} with {dirs:o}"));
            assert!(said.err.contains("WAYLORE_HOME"), "a way out is named: {said:?}");
        }
        assert_ne!(mine(&["doctor"]).sound("doctor").code, 0, "with {dirs:o}");
        assert_eq!(names(&desk.home), before, "nothing was made or removed");
    }
}

fn only_reading_works(desk: &Desk, id: &str, run: impl Fn(&[&str]) -> Said) {
    let before = names(&desk.home);
    for args in [&["list"][..], &["show", id], &["search", "thing"], &["stats"], &["history", id]] {
        let said = run(args).ends(0, &format!("{args:?}"));
        assert!(args[0] == "stats" || said.out.contains("a thing to keep"), "{said:?}");
    }
    for args in [&["remember", "more"][..], &["forget", id], &["undo"], &["pin", id]] {
        let said = run(args).ends(3, &format!("{args:?}"));
        assert!(said.err.contains("WAYLORE_HOME"), "a way out is named: {said:?}");
    }
    let doctor = run(&["doctor"]).sound("doctor");
    assert!(!doctor.out.contains("disagree"), "not being able to write is not damage: {doctor:?}");
    let after = names(&desk.home);
    // The database's own companions, empty, are no trace of a change.
    let made: Vec<&PathBuf> = after.iter().filter(|it| !before.contains(it)).collect();
    assert!(made.iter().all(|it| it.to_string_lossy().contains("db-")), "{made:?}");
}

/// Writes until it is refused, first in large steps and then in small ones; the last refusal.
fn fill(desk: &Desk, kept: &mut Vec<(String, String)>, run: impl Fn(&[&str]) -> Said) -> Said {
    let file = desk.root.join("much.json");
    let mut refused = None;
    for size in [100, 10, 1] {
        for round in 0..ROUNDS {
            let text = |it: u64| format!("thing {size}.{round}.{it} {}", "and so on ".repeat(180));
            let pairs: Vec<(String, String)> = (0..size)
                .map(|it| (id_of(size, round * 1000 + it), text(it).trim_end().to_owned()))
                .collect();
            let records: Vec<_> = pairs.iter().map(|it| record(&it.0, &it.1)).collect();
            fs::write(&file, serde_json::to_vec(&records).unwrap()).unwrap();
            let said = run(&["import", "--trust", file.to_str().unwrap()]);
            if said.code != 0 {
                refused = Some(said.ends(3, &format!("round {round} of {size}")));
                break;
            }
            kept.extend(pairs);
        }
    }
    refused.expect("it filled up")
}

fn is_there(desk: &Desk, kept: &[(String, String)]) {
    let now = desk.contents();
    for it in kept {
        assert!(now.contains(it), "{} was acknowledged and is lost", it.0);
    }
}

fn names(root: &Path) -> Vec<PathBuf> {
    files(root)
}

fn set_modes(root: &Path, dirs: u32, of_files: u32) {
    let mode = |path: &Path, mode: u32| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    // Opened while it is walked, closed from the inside out.
    mode(root, 0o700);
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { set_modes(&path, dirs, of_files) } else { mode(&path, of_files) }
    }
    mode(root, dirs);
}

/// A desk of the user nobody, and the binary run by them; of the present user where there is no root.
fn of_nobody(what: &str) -> Option<(Desk, Box<Run>)> {
    let desk = Desk::new();
    let root = desk.root.clone();
    let (home, project) = (desk.home.clone(), desk.project.clone());
    if is_root() && !has("setpriv") {
        skip(what, "setpriv is absent, and root is not stopped by permissions");
        return None;
    }
    // Where the binary was built, another user may not even look.
    let program = root.join("waylore");
    copy_program(&program);
    if is_root() {
        fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).unwrap();
        for path in [&root, &project] {
            std::os::unix::fs::chown(path, Some(65534), Some(65534)).unwrap();
        }
    }
    let run = move |args: &[&str]| {
        let mut command = if is_root() {
            let mut res = Command::new("setpriv");
            res.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program);
            res
        } else {
            Command::new(&program)
        };
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", &root).env("WAYLORE_HOME", &home).current_dir(&project);
        finish({
            command.args(args);
            command
        })
    };
    Some((desk, Box::new(run)))
}

/// A small disk in the place of the data folder, taken away again at the end.
pub(crate) struct Mounted(PathBuf);

impl Mounted {
    pub(crate) fn new(desk: &Desk, options: &str) -> Option<Self> {
        fs::create_dir(&desk.home).unwrap();
        let mut command = Command::new("mount");
        command
            .args(["-t", "tmpfs", "-o", &format!("{options},mode=700"), "tmpfs"])
            .arg(&desk.home);
        let mounted = is_root() && command.output().is_ok_and(|it| it.status.success());
        mounted.then(|| Self(desk.home.clone()))
    }

    pub(crate) fn remount(&self, options: &str) {
        let done =
            Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(&self.0).status();
        assert!(done.unwrap().success(), "remount {options}");
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}
