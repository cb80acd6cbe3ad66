//! What every proof needs: a desk of one's own, the binary, a seeded choice, a loud way to skip.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A data folder and a project folder that nobody else uses.
pub(crate) struct Desk {
    pub(crate) root: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) project: PathBuf,
    /// Hooks take the time they need, however busy the machine is.
    pub(crate) patient: bool,
    _dir: TempDir,
}

/// How a command ended and what it said.
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// The binary under test; `WAYLORE_BIN` puts another in its place.
pub(crate) fn binary() -> PathBuf {
    std::env::var_os("WAYLORE_BIN").map_or_else(|| env!("CARGO_BIN_EXE_waylore").into(), Into::into)
}

/// Puts the binary elsewhere, to be run there. Another process writes it: what this one has open for
/// writing, a child of another test might hold, and a program that is written to cannot be run.
pub(crate) fn copy_program(to: &Path) {
    let copied = Command::new("cp").arg(binary()).arg(to).status().unwrap();
    assert!(copied.success(), "{copied}");
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self::at(tempfile::tempdir().unwrap())
    }

    /// A desk in memory where there is such a place: syncing costs nothing there, and what these
    /// proofs end is the process, not the power.
    pub(crate) fn in_memory() -> Self {
        Self::at(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap())
    }

    fn at(dir: TempDir) -> Self {
        // A path as the system itself names it, or comparing paths would compare symbolic links.
        let root = dir.path().canonicalize().unwrap();
        let (home, project) = (root.join("home"), root.join("project"));
        fs::create_dir(&project).unwrap();
        Self { root, home, project, patient: true, _dir: dir }
    }

    /// The binary, in an environment that holds nothing of the person who runs the tests.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut res = Command::new(binary());
        self.surround(&mut res);
        res.args(args);
        res
    }

    /// Any program, surrounded like the binary.
    pub(crate) fn surround(&self, command: &mut Command) {
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", &self.root).env("WAYLORE_HOME", &self.home);
        // Whoever wants a daemon starts it, and ends it.
        command.env("WAYLORE_SERVE_START", "false");
        if self.patient {
            command.env("WAYLORE_HOOK_PATIENCE_MS", "30000");
        }
        command.current_dir(&self.project).stdin(Stdio::null());
    }

    pub(crate) fn run(&self, args: &[&str]) -> Said {
        finish(self.command(args))
    }

    pub(crate) fn feed(&self, args: &[&str], input: &[u8]) -> Said {
        fed(self.command(args), input)
    }

    /// What a command that must succeed answers as JSON.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let said = self.run(&[&["--json"], args].concat());
        assert_eq!(said.code, 0, "{args:?}: {said:?}");
        said.json()
    }

    /// Keeps a text as a memory of its own; its id.
    pub(crate) fn remember(&self, text: &str) -> String {
        let res = self.json(&["remember", "--new", "--", text]);
        string(&res["memory"]["id"])
    }

    /// Every memory in every state, newest first.
    pub(crate) fn memories(&self) -> Vec<Value> {
        let res = self.json(&["list", "--all", "-n", "1000000"]);
        res["memories"].as_array().unwrap().clone()
    }

    /// The ids and texts of what stands and what does not, in order of the list.
    pub(crate) fn contents(&self) -> Vec<(String, String)> {
        let pair = |it: &Value| (string(&it["id"]), string(&it["content"]));
        self.memories().iter().map(pair).collect()
    }

    /// Asserts that the doctor finds nothing bad.
    pub(crate) fn is_healthy(&self, when: &str) {
        let said = self.run(&["doctor"]);
        assert_eq!(said.code, 0, "{when}: {said:?}");
    }

    /// The folder of the only project there is.
    pub(crate) fn notebook(&self) -> PathBuf {
        let projects = self.home.join("data/projects");
        let mut dirs: Vec<PathBuf> =
            fs::read_dir(&projects).unwrap().map(|it| it.unwrap().path()).collect();
        assert_eq!(dirs.len(), 1, "{dirs:?}");
        dirs.remove(0)
    }

    /// The same files under the same paths' names, at a desk of its own.
    pub(crate) fn save(&self, name: &str) -> PathBuf {
        let res = self.root.join(name);
        copy_dir(&self.home, &res);
        res
    }

    /// Puts back what `save` kept.
    pub(crate) fn reset(&self, saved: &Path) {
        let _ = fs::remove_dir_all(&self.home);
        copy_dir(saved, &self.home);
    }
}

impl Said {
    /// A command ends by one of four codes and never by a panic, whatever it was given.
    #[track_caller]
    pub(crate) fn sound(self, what: &str) -> Self {
        assert!((0..=3).contains(&self.code), "{what}: {self:?}");
        assert!(!self.err.contains("panicked"), "{what}: {self:?}");
        self
    }

    #[track_caller]
    pub(crate) fn ends(self, code: i32, what: &str) -> Self {
        assert_eq!(self.code, code, "{what}: {self:?}");
        self.sound(what)
    }

    /// The answer, which is versioned and says what it is.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let res: Value =
            serde_json::from_str(&self.out).unwrap_or_else(|it| panic!("{it}: {self:?}"));
        assert_eq!(res["v"], 2, "{self:?}");
        assert!(res["kind"].is_string(), "{self:?}");
        res
    }

    pub(crate) fn all(&self) -> String {
        format!("{}{}", self.out, self.err)
    }
}

impl std::fmt::Debug for Said {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let cut = |it: &str| it.chars().take(2000).collect::<String>();
        write!(f, "exit {}\n--- out\n{}\n--- err\n{}", self.code, cut(&self.out), cut(&self.err))
    }
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        let text = |it: Vec<u8>| String::from_utf8(it).expect("what is printed is UTF-8");
        // A process that a signal ended has no code.
        let code = output.status.code().unwrap_or(-1);
        Self { code, out: text(output.stdout), err: text(output.stderr) }
    }
}

/// What a command says to this on standard input.
pub(crate) fn fed(mut command: Command, input: &[u8]) -> Said {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let feeder = std::thread::spawn(move || {
        // A command that refuses early closes its end; that is its right.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    Said::from(output)
}

pub(crate) fn finish(mut command: Command) -> Said {
    Said::from(command.output().unwrap())
}

pub(crate) fn string(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a string: {value}")).to_owned()
}

/// Every file below a folder, in one order.
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

/// The files that hold a text, whatever its case.
pub(crate) fn holding(root: &Path, text: &str) -> Vec<PathBuf> {
    let wanted = text.to_ascii_lowercase().into_bytes();
    let holds = |path: &PathBuf| {
        let bytes = fs::read(path).unwrap_or_default().to_ascii_lowercase();
        bytes.windows(wanted.len()).any(|it| it == wanted)
    };
    files(root).into_iter().filter(holds).collect()
}

pub(crate) fn copy_dir(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, target) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if path.is_dir() { copy_dir(&path, &target) } else { _ = fs::copy(&path, &target).unwrap() }
    }
}

/// A repeatable source of choices. The seed is printed when the test fails.
pub(crate) struct Seeded(u64);

impl Seeded {
    pub(crate) fn new(default: u64) -> Self {
        let given = std::env::var("WAYLORE_SEED").ok().and_then(|it| it.parse().ok());
        let seed = given.unwrap_or(default);
        #[expect(clippy::print_stderr, reason = "captured, and shown only when the test fails")]
        {
            eprintln!("WAYLORE_SEED={seed} repeats these choices");
        }
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    pub(crate) fn at(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap()
    }
}

/// Says loudly that a check could not be made here, and leaves a line for whoever counts them.
pub(crate) fn skip(what: &str, why: &str) {
    // Written past the test harness, which would keep it to itself.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {what}: {why}");
    let path = workspace().join("target/skipped.txt");
    let file = fs::OpenOptions::new().append(true).create(true).open(path);
    let _ = file.and_then(|mut it| writeln!(it, "{what}: {why}"));
}

pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|it| it.status.success())
}

pub(crate) fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|it| it.stdout.trim_ascii() == b"0")
}

/// A record as `import` takes it.
pub(crate) fn record(id: &str, content: &str) -> Value {
    serde_json::json!({
        "id": id, "type": "gotcha", "content": content, "confidence": 0.8, "created_at": 1_700_000_000_000_i64,
    })
}

/// The n-th id of a family.
pub(crate) fn id_of(family: u64, n: u64) -> String {
    format!("018f0000-{:04x}-7000-8000-{n:012x}", family & 0xffff)
}
