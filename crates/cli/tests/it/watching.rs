//! `waylore watch` beside real git: whatever happened, what it has read is what a fresh index would.
//!
//! Nothing here sleeps: a file is written last, and the watch's own lines are read until one names it.
//! What the system tells comes in order, so by then everything before was told, too.

use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::kit::{Desk, binary, finish, has, skip};

/// Long enough for the slowest machine, short enough to end a test that waits in vain.
const PATIENCE: &str = "300";
/// A signal is passed on once: to the program, and not to its group as well. The second Ctrl-C ends at once.
const ONCE: [&str; 1] = ["--foreground"];

struct Watcher {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    talk: ChildStderr,
    n_marks: usize,
}

impl Watcher {
    fn start(desk: &Desk) -> Self {
        let mut command = Command::new("timeout");
        command.args(ONCE).arg(PATIENCE).arg(binary()).args(["--json", "watch"]);
        Self::of(desk, command)
    }

    fn of(desk: &Desk, mut command: Command) -> Self {
        desk.surround(&mut command);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let talk = child.stderr.take().unwrap();
        let mut res = Self { child, lines, talk, n_marks: 0 };
        // The first line says that everything was read.
        res.next();
        res
    }

    fn next(&mut self) -> Value {
        let line = self.lines.next().expect("the watch goes on").unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Waits until all that has happened so far was read.
    fn catch_up(&mut self, desk: &Desk) {
        self.n_marks += 1;
        let mark = format!("mark{}.ts", self.n_marks);
        write(desk, &mark, &format!("export const mark = {}\n", self.n_marks));
        let names = |it: &Value| {
            it["read_files"].as_array().is_some_and(|it| it.contains(&mark.as_str().into()))
        };
        while !names(&self.next()) {}
    }

    /// Waits until so many commits were read.
    fn hear_of(&mut self, n_commits: u64) {
        let mut n_heard = 0;
        while n_heard < n_commits {
            n_heard += self.next()["new_commits"].as_u64().unwrap_or(0);
        }
        assert_eq!(n_heard, n_commits);
    }

    fn stop(mut self) -> String {
        signal("INT", self.child.id());
        let mut talk = String::new();
        std::io::Read::read_to_string(&mut self.talk, &mut talk).unwrap();
        assert!(self.child.wait().unwrap().success(), "{talk}");
        talk
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // A test that failed leaves nobody behind; one that did not has ended it already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn signal(name: &str, id: u32) {
    let sent = Command::new("kill").args(["-s", name, &id.to_string()]).status().unwrap();
    assert!(sent.success());
}

fn write(desk: &Desk, path: &str, text: &str) {
    let path = desk.project.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn git(desk: &Desk, args: &[&str]) {
    let mut command = Command::new("git");
    desk.surround(&mut command);
    let identity = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"];
    command.args(identity).args(args).env("GIT_CONFIG_NOSYSTEM", "1");
    command.env("GIT_EDITOR", "true");
    let said = finish(command);
    assert_eq!(said.code, 0, "{args:?}: {said:?}");
}

/// A small repository: a hub, and files in folders that call it and one another.
fn repository() -> Desk {
    let desk = Desk::new();
    write(&desk, "src/hub.ts", "export function hub() { return 1 }\n");
    for i in 0..12 {
        write(&desk, &format!("src/part{}/a{i}.ts", i % 3), &caller(i));
    }
    git(&desk, &["init", "-q", "-b", "main"]);
    commit(&desk, "begin");
    desk
}

fn caller(i: usize) -> String {
    format!("import {{ hub }} from '../hub'\nexport function f{i}() {{ return hub() }}\n")
}

fn commit(desk: &Desk, what: &str) {
    git(desk, &["add", "-A"]);
    git(desk, &["commit", "-q", "-m", what]);
}

/// What is kept equals what a fresh index of the same files gives, and nothing is left to read.
fn equals_a_fresh_index(desk: &Desk, when: &str) {
    let again = desk.json(&["index"]);
    assert_eq!((&again["read"], &again["gone"]), (&0.into(), &0.into()), "{when}: {again}");
    let saved = desk.save("followed");
    fs::remove_dir_all(&desk.home).unwrap();
    let fresh = desk.json(&["index"]);
    for what in ["files", "symbols", "edges", "unresolved_calls", "foreign_calls", "skipped"] {
        assert_eq!(again[what], fresh[what], "{when}: {what}");
    }
    let all = |desk: &Desk| -> Vec<String> {
        let mut res = Vec::new();
        let files = crate::kit::files(&desk.project).into_iter();
        for path in files.filter(|it| it.extension().is_some_and(|it| it == "ts")) {
            let path = path.strip_prefix(&desk.project).unwrap().to_str().unwrap().to_owned();
            res.push(desk.run(&["--json", "deps", "--depth", "1", &path]).out);
        }
        res
    };
    let expected = all(desk);
    desk.reset(&saved);
    fs::remove_dir_all(saved).unwrap();
    assert_eq!(all(desk), expected, "{when}");
}

#[test]
fn a_watch_follows_edits_renames_deletes_and_new_folders() {
    let desk = repository();
    let mut watch = Watcher::start(&desk);
    write(&desk, "src/part0/a0.ts", "export function g0() { return 2 }\n");
    write(
        &desk,
        "src/deep/er/new.ts",
        "import { hub } from '../../hub'\nexport const n = () => hub()\n",
    );
    fs::remove_file(desk.project.join("src/part1/a1.ts")).unwrap();
    fs::rename(desk.project.join("src/part2"), desk.project.join("src/moved")).unwrap();
    fs::rename(desk.project.join("src/part0/a3.ts"), desk.project.join("src/part0/b3.ts")).unwrap();
    watch.catch_up(&desk);
    // Files of a folder that was not there when the watch began.
    write(&desk, "src/deep/er/new.ts", "export const n = 1\n");
    write(&desk, "src/moved/a2.ts", "export const m = 1\n");
    write(&desk, ".gitignore", "src/part1/\n");
    watch.catch_up(&desk);
    watch.stop();
    equals_a_fresh_index(&desk, "edits");
    assert_eq!(desk.run(&["symbols", "src/part1/a4.ts"]).code, 2, "it is ignored by now");
}

#[test]
fn a_watch_hears_of_commits_that_change_no_code() {
    let desk = repository();
    let mut watch = Watcher::start(&desk);
    watch.hear_of(1);
    write(&desk, "notes.txt", "one");
    commit(&desk, "only said");
    watch.hear_of(1);
    // The ref of a branch like this stands in a folder that is not there yet.
    git(&desk, &["checkout", "-q", "-b", "topic/one"]);
    git(&desk, &["pack-refs", "--all"]);
    for text in ["two", "three"] {
        write(&desk, "notes.txt", text);
        commit(&desk, text);
        watch.hear_of(1);
    }
    watch.stop();
}

#[test]
fn a_watch_follows_a_branch_switch_and_a_rebase() {
    let desk = repository();
    git(&desk, &["checkout", "-q", "-b", "other"]);
    git(&desk, &["mv", "src/part0", "src/zero"]);
    git(&desk, &["rm", "-q", "src/part1/a1.ts"]);
    write(
        &desk,
        "src/hub.ts",
        "export function hub(n: number) { return n }\nexport function more() {}\n",
    );
    commit(&desk, "other");
    write(&desk, "src/late/x.ts", "import { more } from '../hub'\nexport const x = () => more()\n");
    commit(&desk, "later");
    git(&desk, &["checkout", "-q", "main"]);
    write(
        &desk,
        "src/part2/a2.ts",
        "import { hub } from '../hub'\nexport const renamed = () => hub()\n",
    );
    commit(&desk, "main goes on");
    let mut watch = Watcher::start(&desk);
    git(&desk, &["checkout", "-q", "other"]);
    watch.catch_up(&desk);
    equals_a_fresh_index(&desk, "after a switch");
    fs::remove_file(desk.project.join("mark1.ts")).unwrap();
    git(&desk, &["rebase", "-q", "main"]);
    watch.catch_up(&desk);
    git(&desk, &["checkout", "-q", "main"]);
    git(&desk, &["checkout", "-q", "other"]);
    watch.catch_up(&desk);
    watch.stop();
    equals_a_fresh_index(&desk, "after a rebase");
}

#[test]
fn a_watch_follows_a_thousand_files_at_once_and_lets_others_index_beside_it() {
    let desk = repository();
    let mut watch = Watcher::start(&desk);
    for i in 0..1000 {
        write(&desk, &format!("src/many{}/m{i}.ts", i % 20), &caller(i));
    }
    // Somebody cannot wait; whoever comes second finds everything read.
    let index = desk.json(&["index"]);
    assert_eq!(index["complete"], true, "{index}");
    watch.catch_up(&desk);
    for i in 0..1000 {
        let path = format!("src/many{}/m{i}.ts", i % 20);
        if i % 2 == 0 {
            fs::remove_file(desk.project.join(path)).unwrap();
        } else {
            write(&desk, &path, "export const changed = 1\n");
        }
    }
    watch.catch_up(&desk);
    watch.stop();
    let impact = desk.json(&["index"]);
    assert_eq!((&impact["read"], &impact["files"]), (&0.into(), &515.into()), "{impact}");
}

/// In a namespace of one's own the system can be told to give no watches.
#[cfg(target_os = "linux")]
#[test]
fn without_watches_everything_is_looked_at_now_and_then_and_that_is_said() {
    let what = "watching where the system gives no watches";
    let limit = "echo 0 > /proc/sys/user/max_inotify_watches";
    let mut probe = Command::new("unshare");
    probe.args(["--user", "--map-root-user", "sh", "-c", limit]);
    if !has("unshare") || !probe.output().is_ok_and(|it| it.status.success()) {
        return skip(what, "no user namespaces here");
    }
    let desk = repository();
    let mut command = Command::new("timeout");
    let script = format!("{limit} && exec \"$0\" --json watch");
    command.args(ONCE).arg(PATIENCE);
    command.args(["unshare", "--user", "--map-root-user", "sh", "-c", &script]);
    command.arg(binary());
    let mut watch = Watcher::of(&desk, command);
    write(&desk, "src/part0/a0.ts", "export const changed = 1\n");
    watch.catch_up(&desk);
    let talk = watch.stop();
    assert!(talk.contains("no more watches to give"), "{talk}");
    assert!(talk.contains("every five seconds"), "{talk}");
    equals_a_fresh_index(&desk, "without watches");
}
