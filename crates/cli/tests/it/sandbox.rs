//! Support code for all tests of the command line.
//!
//! A `Sandbox` is a temporary home and project folder in which a test runs the real binary; a
//! `CommandOutput` is the result of such a run. Besides: polling with a deadline (`wait_until`),
//! repeatable random numbers (`SeededRandom`), and tests that report when they cannot run (`skip`).

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// Time limit of `wait_until`. Generous, because a busy machine must not fail a test.
const WAIT_DEADLINE: Duration = Duration::from_mins(2);
/// Pause between two attempts of `wait_until`.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// The temporary folders of one test, removed when the value is dropped.
pub(crate) struct Sandbox {
    /// Parent of the other two folders, and `HOME` of every command.
    pub(crate) root: PathBuf,
    /// Waylore's own folder (`WAYLORE_HOME`); the program creates it.
    pub(crate) home: PathBuf,
    /// Working directory of every command.
    pub(crate) project: PathBuf,
    /// Gives hooks half a minute instead of milliseconds, so that a busy machine does not fail a test.
    pub(crate) has_long_hook_timeout: bool,
    /// Lets commands and MCP servers use the daemon. By default they work alone, as other processes that
    /// the daemon knows nothing of.
    pub(crate) uses_daemon: bool,
    _dir: TempDir,
}

/// Exit code, standard output and standard error of a finished command.
pub(crate) struct CommandOutput {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// The binary under test. `WAYLORE_BIN` selects another one.
pub(crate) fn binary() -> PathBuf {
    std::env::var_os("WAYLORE_BIN").map_or_else(|| env!("CARGO_BIN_EXE_waylore").into(), Into::into)
}

/// Copies the binary, to be run from `to`. A separate process does the copying: if this process
/// opened the copy for writing, a child forked by another test could inherit the descriptor, and
/// Linux refuses to run a file that is open for writing (`ETXTBSY`).
pub(crate) fn copy_program(to: &Path) {
    let copied = Command::new("cp").arg(binary()).arg(to).status().unwrap();
    assert!(copied.success(), "{copied}");
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self::in_dir(tempfile::tempdir().unwrap())
    }

    /// A sandbox on a RAM disk where there is one. `fsync` is free there, and these tests kill the
    /// process, not the machine.
    pub(crate) fn in_memory() -> Self {
        Self::in_dir(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap())
    }

    fn in_dir(dir: TempDir) -> Self {
        // Canonical, so that paths in the output compare equal where the temporary folder is a link.
        let root = dir.path().canonicalize().unwrap();
        let (home, project) = (root.join("home"), root.join("project"));
        fs::create_dir(&project).unwrap();
        Self {
            root,
            home,
            project,
            has_long_hook_timeout: true,
            uses_daemon: has_daemons(),
            _dir: dir,
        }
    }

    /// The binary with arguments, in a clean environment.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut res = Command::new(binary());
        self.set_environment(&mut res);
        res.args(args);
        res
    }

    /// Gives a command the clean environment of this sandbox, without the developer's own settings.
    pub(crate) fn set_environment(&self, command: &mut Command) {
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", &self.root).env("WAYLORE_HOME", &self.home);
        // A test that needs a daemon starts and stops it itself.
        command.env("WAYLORE_SERVE_START", if has_daemons() { "true" } else { "false" });
        if !self.uses_daemon {
            command.env("WAYLORE_DAEMON", "off");
        }
        if self.has_long_hook_timeout {
            command.env("WAYLORE_HOOK_PATIENCE_MS", "30000");
        }
        command.current_dir(&self.project).stdin(Stdio::null());
    }

    pub(crate) fn run(&self, args: &[&str]) -> CommandOutput {
        run_command(self.command(args))
    }

    pub(crate) fn run_with_input(&self, args: &[&str], input: &[u8]) -> CommandOutput {
        run_command_with_input(self.command(args), input)
    }

    /// Runs a command with `--json`, asserts that it succeeds, and parses its output.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let output = self.run(&[&["--json"], args].concat());
        assert_eq!(output.code, 0, "{args:?}: {output:?}");
        output.json()
    }

    /// Stores a text as a new memory and returns its id.
    pub(crate) fn remember(&self, text: &str) -> String {
        let res = self.json(&["remember", "--new", "--", text]);
        string(&res["memory"]["id"])
    }

    /// All memories in all states, newest first.
    pub(crate) fn memories(&self) -> Vec<Value> {
        let res = self.json(&["list", "--all", "-n", "1000000"]);
        res["memories"].as_array().unwrap().clone()
    }

    /// Id and text of all memories in all states, newest first.
    pub(crate) fn contents(&self) -> Vec<(String, String)> {
        let pair = |it: &Value| (string(&it["id"]), string(&it["content"]));
        self.memories().iter().map(pair).collect()
    }

    /// Asserts that `doctor` reports no problem.
    pub(crate) fn assert_healthy(&self, when: &str) {
        let output = self.run(&["doctor"]);
        assert_eq!(output.code, 0, "{when}: {output:?}");
    }

    /// The data folder of the project, asserted to be the only one.
    pub(crate) fn project_data_dir(&self) -> PathBuf {
        let projects = self.home.join("data/projects");
        let mut dirs: Vec<PathBuf> =
            fs::read_dir(&projects).unwrap().map(|it| it.unwrap().path()).collect();
        assert_eq!(dirs.len(), 1, "{dirs:?}");
        dirs.remove(0)
    }

    /// Copies the home folder to a folder `name` and returns its path.
    pub(crate) fn save_home(&self, name: &str) -> PathBuf {
        let res = self.root.join(name);
        copy_dir(&self.home, &res);
        res
    }

    /// Replaces the home folder by a copy that `save_home` made.
    pub(crate) fn restore_home(&self, saved: &Path) {
        let _ = fs::remove_dir_all(&self.home);
        copy_dir(saved, &self.home);
    }
}

/// True if `WAYLORE_TESTS_WITH_DAEMON` is set: then the commands of all tests start a daemon and use it. It exits
/// when its folder is removed with the sandbox. Tests about daemons and about other processes fail then.
fn has_daemons() -> bool {
    std::env::var_os("WAYLORE_TESTS_WITH_DAEMON").is_some()
}

impl CommandOutput {
    /// Asserts a documented exit code (0 to 3) and no panic.
    #[track_caller]
    pub(crate) fn expect_no_panic(self, what: &str) -> Self {
        assert!((0..=3).contains(&self.code), "{what}: {self:?}");
        assert!(!self.err.contains("panicked"), "{what}: {self:?}");
        self
    }

    /// Asserts the exit code; `what` names the case in the failure message.
    #[track_caller]
    pub(crate) fn expect_code(self, code: i32, what: &str) -> Self {
        assert_eq!(self.code, code, "{what}: {self:?}");
        self.expect_no_panic(what)
    }

    /// Parses standard output as the versioned JSON of the program.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let res: Value =
            serde_json::from_str(&self.out).unwrap_or_else(|it| panic!("{it}: {self:?}"));
        assert_eq!(res["v"], 2, "{self:?}");
        assert!(res["kind"].is_string(), "{self:?}");
        res
    }

    /// Standard output followed by standard error.
    pub(crate) fn out_and_err(&self) -> String {
        format!("{}{}", self.out, self.err)
    }
}

impl std::fmt::Debug for CommandOutput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let cut = |it: &str| it.chars().take(2000).collect::<String>();
        write!(f, "exit {}\n--- out\n{}\n--- err\n{}", self.code, cut(&self.out), cut(&self.err))
    }
}

impl From<Output> for CommandOutput {
    fn from(output: Output) -> Self {
        let text = |it: Vec<u8>| String::from_utf8(it).expect("the program prints UTF-8");
        // A process that was killed by a signal has no exit code.
        let code = output.status.code().unwrap_or(-1);
        Self { code, out: text(output.stdout), err: text(output.stderr) }
    }
}

/// Polls `condition` until it holds; panics with `what` when it still does not at the deadline.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        let waited = started.elapsed();
        assert!(waited < WAIT_DEADLINE, "gave up after {waited:?} waiting until {what}");
        #[expect(
            clippy::disallowed_methods,
            reason = "the awaited process does not notify this one"
        )]
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Runs a command with `input` on standard input.
pub(crate) fn run_command_with_input(mut command: Command, input: &[u8]) -> CommandOutput {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let feeder = std::thread::spawn(move || {
        // A command that rejects its arguments exits without reading, which closes the pipe.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    CommandOutput::from(output)
}

pub(crate) fn run_command(mut command: Command) -> CommandOutput {
    CommandOutput::from(command.output().unwrap())
}

pub(crate) fn string(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a string: {value}")).to_owned()
}

/// All files below a folder, sorted.
pub(crate) fn files(root: &Path) -> Vec<PathBuf> {
    let mut res = Vec::new();
    let mut todo = vec![root.to_owned()];
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { todo.push(path) } else { res.push(path) }
        }
    }
    res.sort();
    res
}

/// The files below a folder that contain a text, ignoring ASCII case.
pub(crate) fn files_containing(root: &Path, text: &str) -> Vec<PathBuf> {
    let needle = text.to_ascii_lowercase().into_bytes();
    let contains_text = |path: &PathBuf| {
        let bytes = fs::read(path).unwrap_or_default().to_ascii_lowercase();
        bytes.windows(needle.len()).any(|it| it == needle)
    };
    files(root).into_iter().filter(contains_text).collect()
}

pub(crate) fn copy_dir(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, target) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if path.is_dir() { copy_dir(&path, &target) } else { _ = fs::copy(&path, &target).unwrap() }
    }
}

/// Repeatable random numbers: `SplitMix64` (Steele, Lea and Flood 2014). The seed is printed when the
/// test fails; `WAYLORE_SEED` runs the test with that seed again.
pub(crate) struct SeededRandom(u64);

impl SeededRandom {
    pub(crate) fn new(default_seed: u64) -> Self {
        let chosen = std::env::var("WAYLORE_SEED").ok().and_then(|it| it.parse().ok());
        let seed = chosen.unwrap_or(default_seed);
        #[expect(clippy::print_stderr, reason = "captured, and shown only when the test fails")]
        {
            eprintln!("WAYLORE_SEED={seed} repeats these choices");
        }
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `limit - 1`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    /// An index into a list of this length.
    pub(crate) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap()
    }
}

/// Reports a check that this machine cannot run, and records it for the summary of `make test`.
pub(crate) fn skip(what: &str, reason: &str) {
    // Written directly to standard error: the test harness captures `eprintln!` of passing tests.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {what}: {reason}");
    let path = workspace().join("target/skipped.txt");
    let file = fs::OpenOptions::new().append(true).create(true).open(path);
    let _ = file.and_then(|mut it| writeln!(it, "{what}: {reason}"));
}

/// The root folder of the repository.
pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn has_program(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|it| it.status.success())
}

pub(crate) fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|it| it.stdout.trim_ascii() == b"0")
}

/// A memory record in the format of `import`.
pub(crate) fn record(id: &str, content: &str) -> Value {
    serde_json::json!({
        "id": id, "type": "gotcha", "content": content, "confidence": 0.8, "created_at": 1_700_000_000_000_i64,
    })
}

/// The n-th memory id of a family; ids of different families never collide.
pub(crate) fn id_of(family: u64, n: u64) -> String {
    format!("018f0000-{:04x}-7000-8000-{n:012x}", family & 0xffff)
}
