//! KILL, EIO and ENOSPC at every write-like and sync-like call of what changes files: nothing that
//! was acknowledged is lost, nothing is damaged, and success is only claimed for what is there.
//!
//! strace injects the fault at the n-th call; it counts calls per thread, and so does this. Every
//! call is tried, but not with every fault each time: `make proofs` does that.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::kit::{self, Desk, Said, binary, files, finish, holding, id_of, record, skip};

const CALLS: &str = "write,pwrite64,writev,fsync,fdatasync,ftruncate,fallocate,copy_file_range,\
                     rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir";
const KILL: &str = "signal=KILL";
const ERRORS: [&str; 2] = ["error=EIO", "error=ENOSPC"];
/// Up to so many calls each is tried with the end of the process and with an error; where there are
/// more, they take turns.
const FEW_CALLS: usize = 60;
/// Files under these names are on their way to becoming something else.
const SCRATCH: &[&str] =
    &["unproved", "rewriting", "sealing", "restor", "writing", "erasing", "convert"];

/// A command, and how one sees that it has done its work.
struct Trial<'a> {
    desk: &'a Desk,
    args: Vec<String>,
    done: &'a dyn Fn(&Desk) -> bool,
    /// Whether the command, its work done, can be said again with success.
    repeatable: bool,
}

#[test]
fn a_memory_survives_a_fault_at_any_call() {
    let desk = kept(3);
    let done = |desk: &Desk| has(desk, "the fourth thing");
    let args = ["remember", "--new", "--json", "--key", "once", "the fourth thing"];
    Trial { args: words(&args), done: &done, ..trial(&desk) }.run();
}

#[test]
fn a_large_transaction_survives_a_fault_at_any_call() {
    let desk = kept(3);
    let (file, n) = (desk.root.join("twenty.json"), 20);
    let records: Vec<Value> =
        (0..n).map(|it| record(&id_of(1, it), &format!("imported thing {it}"))).collect();
    fs::write(&file, serde_json::to_vec(&records).unwrap()).unwrap();
    let done = |desk: &Desk| {
        let taken = desk.contents().iter().filter(|it| it.1.starts_with("imported")).count() as u64;
        assert!(taken == 0 || taken == n, "{taken} of {n} were taken");
        taken == n
    };
    let args = ["import", "--json", "--trust", file.to_str().unwrap()];
    Trial { args: words(&args), done: &done, ..trial(&desk) }.run();
}

#[test]
fn the_first_files_survive_a_fault_while_they_are_made() {
    let desk = Desk::in_memory();
    fs::create_dir(&desk.home).unwrap();
    let done = |desk: &Desk| has(desk, "the very first thing");
    let args = words(&["remember", "--new", "--key", "once", "the very first thing"]);
    Trial { args: args.clone(), done: &done, ..trial(&desk) }.run();
    // The same again where the user's file is there and only the project's has to be made.
    let (desk, other) = (kept(3), desk.root.join("project"));
    let here = words(&["-C", other.to_str().unwrap()]);
    let done = |desk: &Desk| {
        let said = desk.json(&["-C", other.to_str().unwrap(), "list"]);
        said["memories"].as_array().unwrap().len() == 1
    };
    let args = [here, args].concat();
    Trial { args, done: &done, ..trial(&desk) }.run();
}

#[test]
fn a_backup_survives_a_fault_or_is_none() {
    let desk = kept(3);
    let done = |desk: &Desk| {
        let backups = desk.run(&["restore-backup", "--json"]).json();
        let backups = backups["backups"].as_array().unwrap().clone();
        for it in &backups {
            assert!(it["problem"].is_null(), "what is listed can be restored: {it}");
        }
        // The one that was made by itself after the first change holds less.
        backups.iter().any(|it| it["memories"] == 3)
    };
    let args = words(&["backup", "--json"]);
    Trial { args, done: &done, ..trial(&desk) }.run();
}

#[test]
fn an_erasure_survives_a_fault_and_leaves_nothing() {
    let desk = kept(3);
    let id = desk.remember("canarybird sings in the mine");
    desk.run(&["edit", &id, "--text", "canarybird sang in the mine"]).ends(0, "edit");
    desk.json(&["backup"]);
    let gone = id.clone();
    let done = move |desk: &Desk| {
        let said = desk.run(&["show", &gone]).sound("show");
        if said.code != 1 {
            assert_eq!(said.code, 0, "it is there or it is not: {said:?}");
            return false;
        }
        let left = holding(&desk.home, "canarybird");
        assert!(left.is_empty(), "it is not shown, but in {left:?}");
        true
    };
    let args = words(&["purge", "--yes", &id]);
    let trial = trial(&desk);
    Trial { args, done: &done, repeatable: false, ..trial }.run();
}

#[test]
fn a_restore_survives_a_fault_and_gives_the_old_or_the_new() {
    let desk = kept(3);
    let backup = desk.json(&["backup"])["backups"][0]["name"].clone();
    let late = desk.remember("said after the backup");
    let done = move |desk: &Desk| !desk.contents().iter().any(|it| it.0 == late);
    let args = words(&["restore-backup", "--yes", "--json", backup.as_str().unwrap()]);
    Trial { args, done: &done, ..trial(&desk) }.run();
}

#[test]
fn an_old_file_of_the_user_survives_a_fault_while_it_is_brought_up_to_date() {
    let desk = Desk::in_memory();
    fs::create_dir_all(desk.home.join("data")).unwrap();
    old_file_survives(&desk, "user-2.db", &desk.home.join("data/user.db"), &["--user"]);
}

#[test]
fn an_old_file_of_a_project_survives_a_fault_while_it_is_brought_up_to_date() {
    let desk = kept(1);
    let notebook = desk.notebook();
    fs::remove_dir_all(&notebook).unwrap();
    fs::create_dir(&notebook).unwrap();
    old_file_survives(&desk, "memory-1.db", &notebook.join("memory.db"), &[]);
}

/// Puts a file of an older program in its place and keeps something in it.
fn old_file_survives(desk: &Desk, fixture: &str, path: &Path, reach: &[&str]) {
    fs::copy(kit::workspace().join("crates/store/tests/fixtures").join(fixture), path).unwrap();
    let old = version(path);
    let way_back = path.with_file_name(format!("backups/schema-{old}.db"));
    let done = |desk: &Desk| {
        let done = has(desk, "said to a newer program");
        assert!(way_back.exists(), "to look was enough to finish it");
        // A look may leave it in the log; whoever writes merges that.
        desk.json(&["backup"]);
        assert!(version(path) > old, "the file is up to date");
        done
    };
    let args = ["remember", "--new", "--key", "once", "said to a newer program"];
    Trial { args: words(&[&args, reach].concat()), done: &done, ..trial(desk) }.run();
}

/// The version of the schema, as the header of a file tells it.
fn version(path: &Path) -> u32 {
    let bytes = fs::read(path).unwrap();
    u32::from_be_bytes(bytes[60..64].try_into().unwrap())
}

impl Trial<'_> {
    fn run(self) {
        let saved = self.desk.save("saved");
        let before: HashMap<String, String> = self.desk.contents().into_iter().collect();
        self.desk.reset(&saved);
        let Some(points) = self.points() else {
            return skip("faults at every call", "strace is absent or may not trace here");
        };
        let n_points = points.len();
        for (at, (call, n)) in points.into_iter().enumerate() {
            for fault in faults(at, n_points) {
                self.desk.reset(&saved);
                let inject = format!("inject={call}:{fault}:when={n}");
                let said =
                    self.traced(&["-e", &format!("trace={call}"), "-e", &inject], "/dev/null");
                self.holds(&said, &before, &format!("{} with {inject}", self.args.join(" ")));
            }
        }
    }

    fn holds(&self, said: &Said, before: &HashMap<String, String>, when: &str) {
        let desk = self.desk;
        assert!(!said.err.contains("panicked"), "{when}: {said:?}");
        let done = (self.done)(desk);
        assert!(said.code != 0 || done, "{when}: success was claimed for nothing: {said:?}");
        desk.is_healthy(&format!("{when}: {said:?}"));
        if !done || self.repeatable {
            let args: Vec<&str> = self.args.iter().map(String::as_str).collect();
            desk.run(&args).ends(0, &format!("{when}, said again"));
            assert!((self.done)(desk), "{when}: said again, it is done");
        }
        let now: HashMap<String, String> = desk.contents().into_iter().collect();
        for (id, text) in before {
            let erased = self.args.contains(id) || text.starts_with("said after");
            assert!(erased || now.get(id) == Some(text), "{when}: {id} is lost");
        }
        let names = files(&desk.home).into_iter().map(|it| it.to_string_lossy().into_owned());
        let names = names.filter(|it| !it.contains("/replaced/"));
        let left: Vec<String> = names
            .filter(|it| {
                SCRATCH.iter().any(|word| it[desk.home.as_os_str().len()..].contains(word))
            })
            .collect();
        assert!(left.is_empty(), "{when}: {left:?} was left behind");
    }

    /// The calls of one run: each with a number, up to the most that any thread makes.
    fn points(&self) -> Option<Vec<(String, usize)>> {
        if !kit::has("strace") {
            return None;
        }
        let log = self.desk.root.join("calls");
        let said = self.traced(&["-e", &format!("trace={CALLS}")], log.to_str().unwrap());
        let text = fs::read_to_string(&log).ok()?;
        let mut made: HashMap<(&str, &str), usize> = HashMap::new();
        for line in text.lines() {
            let Some((thread, call)) = line.split_once(' ') else { continue };
            let Some((call, _)) = call.trim().split_once('(') else { continue };
            *made.entry((thread, call)).or_default() += 1;
        }
        let mut most: HashMap<&str, usize> = HashMap::new();
        for ((_, call), n) in made {
            most.entry(call).and_modify(|it| *it = n.max(*it)).or_insert(n);
        }
        let mut res: Vec<(String, usize)> = most
            .into_iter()
            .flat_map(|(call, n)| (1..=n).map(move |it| (call.to_owned(), it)))
            .collect();
        res.sort();
        (said.code == 0 && res.len() > 10).then_some(res)
    }

    fn traced(&self, how: &[&str], log: &str) -> Said {
        let mut command = Command::new("strace");
        self.desk.surround(&mut command);
        // Vectors are derived and come after the answer; thousands of runs can do without them.
        command.env("WAYLORE_EMBEDDINGS_AT_ONCE", "false");
        command.args(["-f", "--seccomp-bpf", "-qq", "-o", log]).args(how);
        command.arg(binary()).args(&self.args);
        finish(command)
    }
}

/// The faults that are tried at one of so many calls.
fn faults(at: usize, n_points: usize) -> Vec<&'static str> {
    let error = ERRORS[at / 2 % ERRORS.len()];
    if std::env::var_os("WAYLORE_FAULTS").is_some_and(|it| it == "all") {
        [&[KILL], ERRORS.as_slice()].concat()
    } else if n_points <= FEW_CALLS {
        vec![KILL, error]
    } else {
        vec![if at.is_multiple_of(2) { KILL } else { error }]
    }
}

fn trial(desk: &Desk) -> Trial<'_> {
    Trial { desk, args: Vec::new(), done: &|_| true, repeatable: true }
}

/// A desk where some things were acknowledged.
fn kept(n: usize) -> Desk {
    let desk = Desk::in_memory();
    for it in 0..n {
        desk.remember(&format!("acknowledged thing {it}"));
    }
    desk
}

fn has(desk: &Desk, text: &str) -> bool {
    let n = desk.contents().iter().filter(|it| it.1 == text).count();
    assert!(n <= 1, "{text} was kept {n} times");
    n == 1
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|it| (*it).to_owned()).collect()
}
