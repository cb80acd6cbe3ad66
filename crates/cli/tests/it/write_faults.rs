//! Fault injection: a process is killed, or a system call fails with EIO or ENOSPC, at every call
//! with which a command changes files.
//!
//! Afterwards no acknowledged memory (one that an earlier command reported as stored) may be lost, no
//! file damaged or left behind, and the command must not have reported success for work that was not
//! done; repeating it must complete the work. `FaultTrial::check_invariants` checks all of this.
//!
//! Each test prepares a sandbox and describes one command as a `FaultTrial`; `FaultTrial::run` then
//! runs it once per fault, for example with `strace -e inject=fsync:error=EIO:when=3`, which makes the
//! third `fsync` of a thread fail. A *notebook* is a database of memories: the user's or a project's.
//!
//! `strace` injects the fault at the n-th call. It counts calls per thread, so `fault_points` does
//! the same. Every call is tried, but usually not with every fault: see `faults_at_call`. `make
//! proofs` sets `WAYLORE_FAULTS=all`, which tries all combinations.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::sandbox::{
    self, CommandOutput, Sandbox, binary, files, files_containing, id_of, record, run_command, skip,
};

/// System calls that change files or sync them to disk, as an option of `strace`.
const TRACED_CALLS: &str = "write,pwrite64,writev,fsync,fdatasync,ftruncate,fallocate,copy_file_range,\
                     rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir";
/// The faults, in the notation of `strace`.
const KILL_FAULT: &str = "signal=KILL";
const ERROR_FAULTS: [&str; 2] = ["error=EIO", "error=ENOSPC"];
/// A command with at most this many calls is killed at each of them and also gets an error at each;
/// for longer ones, kills and errors alternate.
const MAX_CALLS_WITH_ALL_FAULTS: usize = 60;
/// Parts of the names of temporary files, which must not be left behind.
const TEMPORARY_NAMES: &[&str] =
    &["unproved", "rewriting", "sealing", "restor", "writing", "erasing", "convert"];

/// Text of a memory that restoring a backup rightly removes.
const NEWER_THAN_BACKUP: &str = "stored after the backup";

/// A command under test, to be run once per fault from the same initial state.
struct FaultTrial<'a> {
    /// Its current state is the initial state of every run.
    sandbox: &'a Sandbox,
    args: Vec<String>,
    /// Returns whether the command's work is done, and panics if it is half done.
    is_done: &'a dyn Fn(&Sandbox) -> bool,
    /// Whether the command succeeds when its work is done already.
    is_repeatable: bool,
}

#[test]
fn a_memory_survives_a_fault_at_any_call() {
    let sandbox = sandbox_with_memories(3);
    let is_done = |sandbox: &Sandbox| has_memory(sandbox, "the fourth thing");
    let args = ["remember", "--new", "--json", "--key", "once", "the fourth thing"];
    FaultTrial { args: to_strings(&args), is_done: &is_done, ..new_trial(&sandbox) }.run();
}

#[test]
fn a_large_transaction_survives_a_fault_at_any_call() {
    let sandbox = sandbox_with_memories(3);
    let file = sandbox.root.join("twenty.json");
    let records: Vec<Value> =
        (0..20).map(|it| record(&id_of(1, it), &format!("imported thing {it}"))).collect();
    fs::write(&file, serde_json::to_vec(&records).unwrap()).unwrap();

    // One transaction stores all records or none.
    let is_done = |sandbox: &Sandbox| {
        let memories = sandbox.contents();
        let n_stored = memories.iter().filter(|(_id, text)| text.starts_with("imported")).count();
        assert!(n_stored == 0 || n_stored == records.len(), "{n_stored} records were stored");
        n_stored == records.len()
    };
    let args = ["import", "--json", "--trust", file.to_str().unwrap()];
    FaultTrial { args: to_strings(&args), is_done: &is_done, ..new_trial(&sandbox) }.run();
}

#[test]
fn the_first_databases_survive_a_fault_during_creation() {
    // Neither the user's database nor the project's exists.
    let empty = Sandbox::in_memory();
    fs::create_dir(&empty.home).unwrap();
    let is_done = |sandbox: &Sandbox| has_memory(sandbox, "the very first thing");
    let args = to_strings(&["remember", "--new", "--key", "once", "the very first thing"]);
    FaultTrial { args: args.clone(), is_done: &is_done, ..new_trial(&empty) }.run();

    // The same where the user's database exists and only that of a second project is created.
    let (sandbox, second_project) = (sandbox_with_memories(3), empty.project.clone());
    let in_second_project = to_strings(&["-C", second_project.to_str().unwrap()]);
    let is_done = |sandbox: &Sandbox| {
        let listed = sandbox.json(&["-C", second_project.to_str().unwrap(), "list"]);
        listed["memories"].as_array().unwrap().len() == 1
    };
    let args = [in_second_project, args].concat();
    FaultTrial { args, is_done: &is_done, ..new_trial(&sandbox) }.run();
}

#[test]
fn a_faulted_backup_is_complete_or_not_listed() {
    let sandbox = sandbox_with_memories(3);
    let is_done = |sandbox: &Sandbox| {
        let listed = sandbox.run(&["restore-backup", "--json"]).json();
        let backups = listed["backups"].as_array().unwrap();
        for backup in backups {
            assert!(backup["problem"].is_null(), "a listed backup is damaged: {backup}");
        }
        // The automatic backup after the first change holds fewer memories.
        backups.iter().any(|it| it["memories"] == 3)
    };
    let args = to_strings(&["backup", "--json"]);
    FaultTrial { args, is_done: &is_done, ..new_trial(&sandbox) }.run();
}

#[test]
fn a_faulted_purge_completes_when_repeated() {
    let sandbox = sandbox_with_memories(3);
    let id = sandbox.remember("canarybird sings in the mine");
    sandbox.run(&["edit", &id, "--text", "canarybird sang in the mine"]).expect_code(0, "edit");
    sandbox.json(&["backup"]);

    // The text is in the database, in the history of the edited memory and in the backup. A purge that
    // is done has removed it from everywhere.
    let purged_id = id.clone();
    let is_done = move |sandbox: &Sandbox| {
        let output = sandbox.run(&["show", &purged_id]).expect_no_panic("show");
        let is_known = match output.code {
            0 => true,
            1 => false,
            _failure => panic!("{output:?}"),
        };
        if is_known {
            return false;
        }
        let remaining = files_containing(&sandbox.home, "canarybird");
        assert!(remaining.is_empty(), "the purged text is still in {remaining:?}");
        true
    };
    let args = to_strings(&["purge", "--yes", &id]);
    let trial = new_trial(&sandbox);
    // A second purge fails, because the id is unknown by then.
    FaultTrial { args, is_done: &is_done, is_repeatable: false, ..trial }.run();
}

#[test]
fn a_faulted_restore_leaves_the_old_or_the_new_state() {
    let sandbox = sandbox_with_memories(3);
    let backup = sandbox.json(&["backup"])["backups"][0]["name"].clone();
    let newer_id = sandbox.remember(NEWER_THAN_BACKUP);
    // The backup does not contain the newer memory.
    let is_done =
        move |sandbox: &Sandbox| sandbox.contents().iter().all(|(id, _text)| *id != newer_id);
    let args = to_strings(&["restore-backup", "--yes", "--json", backup.as_str().unwrap()]);
    FaultTrial { args, is_done: &is_done, ..new_trial(&sandbox) }.run();
}

#[test]
fn a_faulted_migration_keeps_the_user_notebook() {
    let sandbox = Sandbox::in_memory();
    fs::create_dir_all(sandbox.home.join("data")).unwrap();
    let database = sandbox.home.join("data/user.db");
    assert_migration_survives(&sandbox, "user-2.db", &database, &["--user"]);
}

#[test]
fn a_faulted_migration_keeps_the_project_notebook() {
    let sandbox = sandbox_with_memories(1);
    // The project is known, but its data folder is empty.
    let data_dir = sandbox.project_data_dir();
    fs::remove_dir_all(&data_dir).unwrap();
    fs::create_dir(&data_dir).unwrap();
    assert_migration_survives(&sandbox, "memory-1.db", &data_dir.join("memory.db"), &[]);
}

/// Puts the database of an older version (a fixture of `store`) at `path`, and stores a memory in it,
/// which migrates it first. `notebook_args` selects the notebook.
fn assert_migration_survives(
    sandbox: &Sandbox,
    fixture: &str,
    path: &Path,
    notebook_args: &[&str],
) {
    fs::copy(sandbox::workspace().join("crates/store/tests/fixtures").join(fixture), path).unwrap();

    // A migration first copies the old database.
    let old_version = schema_version(path);
    let old_copy = path.with_file_name(format!("backups/schema-{old_version}.db"));
    let is_done = |sandbox: &Sandbox| {
        // Reading the memories is enough to complete an interrupted migration.
        let is_stored = has_memory(sandbox, "stored by the newer version");
        assert!(old_copy.exists(), "no copy of the old database");
        // The migration may still be in the write-ahead log; a backup writes it to the file.
        sandbox.json(&["backup"]);
        assert!(schema_version(path) > old_version, "the database was not migrated");
        is_stored
    };

    let args = ["remember", "--new", "--key", "once", "stored by the newer version"];
    let args = to_strings(&[&args, notebook_args].concat());
    FaultTrial { args, is_done: &is_done, ..new_trial(sandbox) }.run();
}

/// The schema version of a database: `user_version`, bytes 60 to 63 of the file header.
fn schema_version(path: &Path) -> u32 {
    let bytes = fs::read(path).unwrap();
    u32::from_be_bytes(bytes[60..64].try_into().unwrap())
}

/// A place for a fault: the n-th call (from 1) of a system call by one thread.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct FaultPoint {
    call: String,
    n: usize,
}

impl FaultTrial<'_> {
    /// Runs the command once per fault and checks the invariants after each run.
    fn run(self) {
        // Save before reading: even reading the memories may change files (it completes a migration).
        let saved = self.sandbox.save_home("saved");
        let before: HashMap<String, String> = self.sandbox.contents().into_iter().collect();
        self.sandbox.restore_home(&saved);

        let Some(points) = self.fault_points() else {
            return skip("faults at every call", "strace is absent or may not trace here");
        };

        let n_points = points.len();
        for (index, FaultPoint { call, n }) in points.into_iter().enumerate() {
            for fault in faults_at_call(index, n_points) {
                self.sandbox.restore_home(&saved);
                let inject = format!("inject={call}:{fault}:when={n}");
                let output =
                    self.run_traced(&["-e", &format!("trace={call}"), "-e", &inject], "/dev/null");
                let case = format!("{} with {inject}", self.args.join(" "));
                self.check_invariants(&output, &before, &case);
            }
        }
    }

    /// Checks the state after a fault. `before` holds the memories (id → text) of the initial state.
    fn check_invariants(
        &self,
        output: &CommandOutput,
        before: &HashMap<String, String>,
        case: &str,
    ) {
        let sandbox = self.sandbox;
        assert!(!output.err.contains("panicked"), "{case}: {output:?}");

        // Success is reported only for work that is done, and nothing is damaged.
        let is_done = (self.is_done)(sandbox);
        assert!(output.code != 0 || is_done, "{case}: reported success without effect: {output:?}");
        sandbox.assert_healthy(&format!("{case}: {output:?}"));

        // Repeating the command completes the work.
        if !is_done || self.is_repeatable {
            let args: Vec<&str> = self.args.iter().map(String::as_str).collect();
            sandbox.run(&args).expect_code(0, &format!("{case}, repeated"));
            assert!((self.is_done)(sandbox), "{case}: not done after it was repeated");
        }

        // All memories are left, except those that the command itself removes.
        let now: HashMap<String, String> = sandbox.contents().into_iter().collect();
        for (id, text) in before {
            let is_removed = self.args.contains(id) || text == NEWER_THAN_BACKUP;
            assert!(is_removed || now.get(id) == Some(text), "{case}: {id} is lost");
        }

        // No temporary files are left. `replaced` holds the database before a restored backup.
        for path in files(&sandbox.home) {
            // Only the part below the home folder, because the folder's own name is random.
            let name = path.strip_prefix(&sandbox.home).unwrap().to_string_lossy();
            let is_temporary = TEMPORARY_NAMES.iter().any(|it| name.contains(it));
            assert!(!is_temporary || name.contains("replaced/"), "{case}: {name} left behind");
        }
    }

    /// All fault points of the command, found by tracing a run without faults: for each system call
    /// the numbers from 1 to the most calls by any one thread. `None` where `strace` does not work.
    fn fault_points(&self) -> Option<Vec<FaultPoint>> {
        if !sandbox::has_program("strace") {
            return None;
        }
        let log = self.sandbox.root.join("calls");
        let output =
            self.run_traced(&["-e", &format!("trace={TRACED_CALLS}")], log.to_str().unwrap());

        // Count the calls of each thread.
        let text = fs::read_to_string(&log).ok()?;
        let mut calls_by_thread: HashMap<(&str, &str), usize> = HashMap::new();
        for line in text.lines() {
            // `12345 write(7, …) = 42`; other lines report signals and exits of threads.
            let Some((thread, rest)) = line.split_once(' ') else { continue };
            let Some((call, _arguments)) = rest.trim().split_once('(') else { continue };
            *calls_by_thread.entry((thread, call)).or_default() += 1;
        }

        // `strace` injects at the n-th call of any thread, so the busiest thread sets the range of n.
        let mut max_calls: HashMap<&str, usize> = HashMap::new();
        for ((_thread, call), n_calls) in calls_by_thread {
            let max = max_calls.entry(call).or_default();
            *max = n_calls.max(*max);
        }
        let mut res = Vec::new();
        for (call, max) in max_calls {
            for n in 1..=max {
                res.push(FaultPoint { call: call.to_owned(), n });
            }
        }
        res.sort();

        // A writing command makes more than ten such calls; fewer mean that tracing is not permitted.
        (output.code == 0 && res.len() > 10).then_some(res)
    }

    /// Runs the command under `strace` with these options, writing the trace to `log`.
    fn run_traced(&self, strace_options: &[&str], log: &str) -> CommandOutput {
        let mut command = Command::new("strace");
        self.sandbox.set_environment(&mut command);
        // Embedding happens after the write and can be repeated at any time; it would only slow down
        // the thousands of runs.
        command.env("WAYLORE_EMBEDDINGS_AT_ONCE", "false");
        command.args(["-f", "--seccomp-bpf", "-qq", "-o", log]).args(strace_options);
        command.arg(binary()).args(&self.args);
        run_command(command)
    }
}

/// The faults to try at one of `n_points` fault points:
///
/// ```text
/// point          0     1     2     3       4     5
/// few points     both  both  both  both    both  both     (a kill, and the error of the group)
/// many points    kill  EIO   kill  ENOSPC  kill  EIO
/// ```
///
/// The two errors alternate every two points, so that both occur in the second row, too.
fn faults_at_call(index: usize, n_points: usize) -> Vec<&'static str> {
    let error = ERROR_FAULTS[index / 2 % ERROR_FAULTS.len()];
    if std::env::var_os("WAYLORE_FAULTS").is_some_and(|it| it == "all") {
        [&[KILL_FAULT], ERROR_FAULTS.as_slice()].concat()
    } else if n_points <= MAX_CALLS_WITH_ALL_FAULTS {
        vec![KILL_FAULT, error]
    } else {
        vec![if index.is_multiple_of(2) { KILL_FAULT } else { error }]
    }
}

/// A trial with default values, to be completed by the caller.
fn new_trial(sandbox: &Sandbox) -> FaultTrial<'_> {
    FaultTrial { sandbox, args: Vec::new(), is_done: &|_| true, is_repeatable: true }
}

/// A sandbox with `n` acknowledged memories.
fn sandbox_with_memories(n: usize) -> Sandbox {
    let sandbox = Sandbox::in_memory();
    for it in 0..n {
        sandbox.remember(&format!("acknowledged thing {it}"));
    }
    sandbox
}

/// Returns whether a text is stored, and asserts that it is not stored twice.
fn has_memory(sandbox: &Sandbox, text: &str) -> bool {
    let memories = sandbox.contents();
    let n_stored = memories.iter().filter(|(_id, content)| content == text).count();
    assert!(n_stored <= 1, "{text} was stored {n_stored} times");
    n_stored == 1
}

fn to_strings(args: &[&str]) -> Vec<String> {
    args.iter().map(|it| (*it).to_owned()).collect()
}
