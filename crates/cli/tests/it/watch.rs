//! Tests of `waylore watch`, which keeps the index up to date while files and git refs change.
//!
//! After any sequence of changes, the index must equal a fresh index of the same files
//! (`assert_equals_fresh_index`).
//!
//! The watch prints one line of JSON per update of the index, of which the tests use two fields:
//! `{"read_files": ["src/hub.ts", …], "new_commits": 1, …}`.
//!
//! The tests do not sleep. To wait for the watch, `Watcher::catch_up` writes a marker file and reads
//! the output of the watch until it names that file: notifications arrive in order, so all earlier
//! changes have been processed by then.

use std::fs;
use std::io::{BufRead, BufReader, Lines, Read};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::sandbox::{Sandbox, binary, has_program, run_command, skip};

/// Time limit of a watch in seconds, as an argument of `timeout(1)`. It ends a test that waits for an
/// output that never comes; no watch of a passing test takes nearly as long.
const TIMEOUT_SECONDS: &str = "300";
/// Option of `timeout(1)`: forward a signal to the program only. By default it goes to the process
/// group as well; the program would get two, and exit at once instead of finishing its work.
const FOREGROUND: &str = "--foreground";

/// A running `waylore watch`.
struct Watcher {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    stderr: ChildStderr,
    /// Marker files written so far.
    n_markers: usize,
}

impl Watcher {
    fn start(sandbox: &Sandbox) -> Self {
        let mut command = Command::new("timeout");
        command.args([FOREGROUND, TIMEOUT_SECONDS]).arg(binary()).args(["--json", "watch"]);
        Self::from_command(sandbox, command)
    }

    fn from_command(sandbox: &Sandbox, mut command: Command) -> Self {
        sandbox.set_environment(&mut command);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let stderr = child.stderr.take().unwrap();
        let mut res = Self { child, lines, stderr, n_markers: 0 };
        // The first line reports the initial index.
        res.read_line_json();
        res
    }

    fn read_line_json(&mut self) -> Value {
        let line = self.lines.next().expect("the watch runs until it is stopped").unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Waits until the watch has processed all changes so far.
    fn catch_up(&mut self, sandbox: &Sandbox) {
        self.n_markers += 1;
        let marker = format!("mark{}.ts", self.n_markers);
        write_file(sandbox, &marker, &format!("export const mark = {}\n", self.n_markers));
        let names_marker = |line: &Value| {
            line["read_files"].as_array().is_some_and(|it| it.contains(&marker.as_str().into()))
        };
        while !names_marker(&self.read_line_json()) {}
    }

    /// Waits until the watch has read this number of new commits, and asserts that it is not more.
    fn wait_for_commits(&mut self, n_commits: u64) {
        let mut n_read = 0;
        while n_read < n_commits {
            n_read += self.read_line_json()["new_commits"].as_u64().unwrap_or(0);
        }
        assert_eq!(n_read, n_commits);
    }

    /// Stops the watch like Ctrl-C, asserts that it succeeds, and returns its standard error.
    fn stop(mut self) -> String {
        signal("INT", self.child.id());
        let mut stderr = String::new();
        self.stderr.read_to_string(&mut stderr).unwrap();
        assert!(self.child.wait().unwrap().success(), "{stderr}");
        stderr
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // Ends the watch of a failed test. After `stop` these calls have no effect.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal, such as `INT`, to a process.
pub(crate) fn signal(name: &str, process_id: u32) {
    let sent = Command::new("kill").args(["-s", name, &process_id.to_string()]).status().unwrap();
    assert!(sent.success());
}

fn write_file(sandbox: &Sandbox, path: &str, text: &str) {
    let path = sandbox.project.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Runs git without the settings of the machine and without an editor.
fn run_git(sandbox: &Sandbox, args: &[&str]) {
    let mut command = Command::new("git");
    sandbox.set_environment(&mut command);
    let identity = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"];
    command.args(identity).args(args).env("GIT_CONFIG_NOSYSTEM", "1");
    command.env("GIT_EDITOR", "true");
    let output = run_command(command);
    assert_eq!(output.code, 0, "{args:?}: {output:?}");
}

/// A repository with one commit: `src/hub.ts`, and twelve files in three folders that call it.
fn repository() -> Sandbox {
    let sandbox = Sandbox::new();
    write_file(&sandbox, "src/hub.ts", "export function hub() { return 1 }\n");
    for i in 0..12 {
        write_file(&sandbox, &format!("src/part{}/a{i}.ts", i % 3), &caller(i));
    }
    run_git(&sandbox, &["init", "-q", "-b", "main"]);
    commit(&sandbox, "begin");
    sandbox
}

/// A file with one function, which calls the hub.
fn caller(i: usize) -> String {
    format!("import {{ hub }} from '../hub'\nexport function f{i}() {{ return hub() }}\n")
}

fn commit(sandbox: &Sandbox, message: &str) {
    run_git(sandbox, &["add", "-A"]);
    run_git(sandbox, &["commit", "-q", "-m", message]);
}

/// Asserts that the watch has left nothing to index, and that its index equals a fresh one of the
/// same files: in totals, and in the dependencies of every file.
fn assert_equals_fresh_index(sandbox: &Sandbox, when: &str) {
    // `index` finds no file that is new or changed (`read`) or deleted (`gone`).
    let watched = sandbox.json(&["index"]);
    assert_eq!(watched["read"], 0, "{when}: {watched}");
    assert_eq!(watched["gone"], 0, "{when}: {watched}");

    // Put the index of the watch aside, build a new one, and compare the totals.
    let saved = sandbox.save_home("watched");
    fs::remove_dir_all(&sandbox.home).unwrap();
    let fresh = sandbox.json(&["index"]);
    for total in ["files", "symbols", "edges", "unresolved_calls", "foreign_calls", "skipped"] {
        assert_eq!(watched[total], fresh[total], "{when}: {total}");
    }

    // Compare the dependencies by the new index with those by the index of the watch.
    let expected = dependencies_of_all_files(sandbox);
    sandbox.restore_home(&saved);
    fs::remove_dir_all(saved).unwrap();
    assert_eq!(dependencies_of_all_files(sandbox), expected, "{when}");
}

/// The output of `deps` for every TypeScript file of the project, in order of their paths.
fn dependencies_of_all_files(sandbox: &Sandbox) -> Vec<String> {
    let mut res = Vec::new();
    for path in crate::sandbox::files(&sandbox.project) {
        if path.extension().is_some_and(|it| it == "ts") {
            let relative = path.strip_prefix(&sandbox.project).unwrap().to_str().unwrap();
            res.push(sandbox.run(&["--json", "deps", "--depth", "1", relative]).out);
        }
    }
    res
}

#[test]
fn a_watch_follows_edits_renames_deletes_and_new_folders() {
    let sandbox = repository();
    let mut watch = Watcher::start(&sandbox);

    // Edit a file, add one in new folders, delete one, rename a folder and a file.
    write_file(&sandbox, "src/part0/a0.ts", "export function g0() { return 2 }\n");
    write_file(
        &sandbox,
        "src/deep/er/new.ts",
        "import { hub } from '../../hub'\nexport const n = () => hub()\n",
    );
    fs::remove_file(sandbox.project.join("src/part1/a1.ts")).unwrap();
    fs::rename(sandbox.project.join("src/part2"), sandbox.project.join("src/moved")).unwrap();
    fs::rename(sandbox.project.join("src/part0/a3.ts"), sandbox.project.join("src/part0/b3.ts"))
        .unwrap();
    watch.catch_up(&sandbox);

    // Files in folders that did not exist when the watch started, and a new ignore rule.
    write_file(&sandbox, "src/deep/er/new.ts", "export const n = 1\n");
    write_file(&sandbox, "src/moved/a2.ts", "export const m = 1\n");
    write_file(&sandbox, ".gitignore", "src/part1/\n");
    watch.catch_up(&sandbox);
    watch.stop();

    assert_equals_fresh_index(&sandbox, "edits");
    // The new rule ignores `src/part1`. Exit code 2: the file is not part of the index.
    assert_eq!(
        sandbox.run(&["symbols", "src/part1/a4.ts"]).code,
        2,
        "an ignored file is still indexed"
    );
}

#[test]
fn a_watch_notices_commits_without_code_changes() {
    let sandbox = repository();
    let mut watch = Watcher::start(&sandbox);
    // The first commit is part of the repository.
    watch.wait_for_commits(1);

    write_file(&sandbox, "notes.txt", "one");
    commit(&sandbox, "no code");
    watch.wait_for_commits(1);

    // The ref `topic/one` is a file in a folder that does not exist yet, and then a packed ref.
    run_git(&sandbox, &["checkout", "-q", "-b", "topic/one"]);
    run_git(&sandbox, &["pack-refs", "--all"]);
    for text in ["two", "three"] {
        write_file(&sandbox, "notes.txt", text);
        commit(&sandbox, text);
        watch.wait_for_commits(1);
    }
    watch.stop();
}

#[test]
fn a_watch_follows_a_branch_switch_and_a_rebase() {
    // Arrange: a branch `other` with a moved folder, a deleted and a changed file; `main` diverges.
    let sandbox = repository();
    run_git(&sandbox, &["checkout", "-q", "-b", "other"]);
    run_git(&sandbox, &["mv", "src/part0", "src/zero"]);
    run_git(&sandbox, &["rm", "-q", "src/part1/a1.ts"]);
    write_file(
        &sandbox,
        "src/hub.ts",
        "export function hub(n: number) { return n }\nexport function more() {}\n",
    );
    commit(&sandbox, "other");
    write_file(
        &sandbox,
        "src/late/x.ts",
        "import { more } from '../hub'\nexport const x = () => more()\n",
    );
    commit(&sandbox, "later");
    run_git(&sandbox, &["checkout", "-q", "main"]);
    write_file(
        &sandbox,
        "src/part2/a2.ts",
        "import { hub } from '../hub'\nexport const renamed = () => hub()\n",
    );
    commit(&sandbox, "a commit on main");

    // A branch switch. The comparison puts the index of the watch aside and back again, so the watch
    // can go on.
    let mut watch = Watcher::start(&sandbox);
    run_git(&sandbox, &["checkout", "-q", "other"]);
    watch.catch_up(&sandbox);
    assert_equals_fresh_index(&sandbox, "after a switch");

    // A rebase, and two more switches. Git starts from a clean working tree, so the marker file that
    // `catch_up` has written is removed first.
    fs::remove_file(sandbox.project.join("mark1.ts")).unwrap();
    run_git(&sandbox, &["rebase", "-q", "main"]);
    watch.catch_up(&sandbox);
    run_git(&sandbox, &["checkout", "-q", "main"]);
    run_git(&sandbox, &["checkout", "-q", "other"]);
    watch.catch_up(&sandbox);
    watch.stop();
    assert_equals_fresh_index(&sandbox, "after a rebase");
}

#[test]
fn a_watch_follows_a_thousand_files_beside_another_indexer() {
    let sandbox = repository();
    let mut watch = Watcher::start(&sandbox);
    for i in 0..1000 {
        write_file(&sandbox, &format!("src/many{}/m{i}.ts", i % 20), &caller(i));
    }
    // Another process indexes meanwhile; whichever comes second finds the files read.
    let index = sandbox.json(&["index"]);
    assert_eq!(index["complete"], true, "{index}");
    watch.catch_up(&sandbox);

    // Half of the files are deleted, the others change.
    for i in 0..1000 {
        let path = format!("src/many{}/m{i}.ts", i % 20);
        if i % 2 == 0 {
            fs::remove_file(sandbox.project.join(path)).unwrap();
        } else {
            write_file(&sandbox, &path, "export const changed = 1\n");
        }
    }
    watch.catch_up(&sandbox);
    watch.stop();

    // 500 of the new files, the 13 of `repository` and two marker files.
    let index = sandbox.json(&["index"]);
    assert_eq!(index["files"], 500 + 13 + 2, "{index}");
    assert_eq!(index["read"], 0, "the watch has read all of them: {index}");
}

/// In a user namespace of its own, a process can set the limit of inotify watches to zero.
#[cfg(target_os = "linux")]
#[test]
fn without_file_notifications_the_watch_polls_and_reports_it() {
    let no_watches = "echo 0 > /proc/sys/user/max_inotify_watches";
    let mut probe = Command::new("unshare");
    probe.args(["--user", "--map-root-user", "sh", "-c", no_watches]);
    if !has_program("unshare") || !probe.output().is_ok_and(|it| it.status.success()) {
        return skip("watching without inotify", "user namespaces are not available");
    }

    // Start the watch in such a namespace.
    let sandbox = repository();
    let mut command = Command::new("timeout");
    let script = format!("{no_watches} && exec \"$0\" --json watch");
    command.args([FOREGROUND, TIMEOUT_SECONDS]);
    command.args(["unshare", "--user", "--map-root-user", "sh", "-c", &script]);
    command.arg(binary());
    let mut watch = Watcher::from_command(&sandbox, command);

    // It notices a change all the same, and reports that it polls.
    write_file(&sandbox, "src/part0/a0.ts", "export const changed = 1\n");
    watch.catch_up(&sandbox);
    let stderr = watch.stop();
    assert!(stderr.contains("no more watches to give"), "{stderr}");
    assert!(stderr.contains("every five seconds"), "{stderr}");
    assert_equals_fresh_index(&sandbox, "without inotify");
}
