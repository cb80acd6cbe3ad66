//! The only place that reads the clock, the environment and the home directory.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use model::Timestamp;

use crate::failure::{Failure, Kind};

/// Where things are for this person.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    pub(crate) home: Option<PathBuf>,
    pub(crate) data: PathBuf,
    pub(crate) config: PathBuf,
    pub(crate) cwd: PathBuf,
    pub(crate) now: Timestamp,
}

impl Environment {
    pub(crate) fn read() -> anyhow::Result<Self> {
        let cwd = env::current_dir().map_err(|it| nowhere(&it))?;
        let home = env::home_dir().filter(|it| !it.as_os_str().is_empty());
        let xdg = |name: &str, below: &str| {
            let set = env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
            set.or_else(|| home.as_ref().map(|it| it.join(below))).map(|it| it.join("waylore"))
        };
        let own =
            env::var_os("WAYLORE_HOME").map(PathBuf::from).filter(|it| !it.as_os_str().is_empty());
        let own = own.map(std::path::absolute).transpose()?;
        let (data, config) = match own {
            Some(own) => (Some(own.join("data")), Some(own.join("config"))),
            None => (xdg("XDG_DATA_HOME", ".local/share"), xdg("XDG_CONFIG_HOME", ".config")),
        };
        let (Some(data), Some(config)) = (data, config) else {
            anyhow::bail!("there is no home directory; set WAYLORE_HOME to a folder for the data");
        };
        Ok(Self { home, data, config, cwd, now: now() })
    }

    pub(crate) fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    pub(crate) fn key_file(&self) -> PathBuf {
        self.config.join("key")
    }

    /// The folder a command works in.
    pub(crate) fn start(&self, project: Option<&Path>) -> PathBuf {
        project.map_or_else(|| self.cwd.clone(), |it| self.cwd.join(it))
    }
}

/// A folder of one's own for what is thrown away.
pub(crate) fn temporary(name: &str) -> PathBuf {
    env::temp_dir().join(format!("waylore-{name}"))
}

/// A shell can stand in a folder that was removed under its feet.
fn nowhere(error: &std::io::Error) -> Failure {
    Failure {
        kind: Kind::Environment,
        message: format!("the current folder cannot be used, it may have been removed: {error}"),
        hint: Some("go to a folder that exists with `cd`, then say it again".to_owned()),
    }
}

/// Milliseconds since the epoch; negative for a clock set before it.
pub(crate) fn now() -> Timestamp {
    let millis = |it: std::time::Duration| i64::try_from(it.as_millis()).unwrap_or(i64::MAX);
    Timestamp(match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(after) => millis(after),
        Err(before) => -millis(before.duration()),
    })
}

/// Where a host keeps its settings, when this variable tells it to keep them elsewhere.
pub(crate) fn folder(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from).filter(|it| it.is_absolute())
}

/// How long a hook may take at any moment, for those who would rather wait: a machine may be slow.
pub(crate) fn patience() -> Option<std::time::Duration> {
    let millis = env::var("WAYLORE_HOOK_PATIENCE_MS").ok()?.parse().ok()?;
    Some(std::time::Duration::from_millis(millis))
}

/// What the daemon says its version is; another one for whoever tries out what a newer program does.
pub(crate) fn version() -> String {
    let pretended = env::var("WAYLORE_PRETEND_VERSION").ok().filter(|it| !it.is_empty());
    pretended.unwrap_or_else(|| env!("CARGO_PKG_VERSION").to_owned())
}

/// What processes that we start are marked with: what they cause is not observed.
const OWN: &str = "WAYLORE_OWN";

/// Whether one of our own processes is behind this one.
pub(crate) fn is_own() -> bool {
    env::var_os(OWN).is_some()
}

/// The folder a host works in, as some say it to what they start.
pub(crate) fn project_dir() -> Option<PathBuf> {
    env::var_os("CLAUDE_PROJECT_DIR").map(PathBuf::from).filter(|it| it.is_absolute())
}

/// The conversation a host started us for, as Claude Code says it to its servers.
pub(crate) fn host_session() -> Option<String> {
    env::var("CLAUDE_CODE_SESSION_ID").ok().filter(|it| !it.trim().is_empty())
}

/// The token that clients of `mcp --http` must show, when a person chose one.
pub(crate) fn mcp_token() -> Option<String> {
    env::var("WAYLORE_MCP_TOKEN").ok().filter(|it| !it.is_empty())
}

/// What a program that is looked up says, if it is there and says it soon.
pub(crate) fn said_by(program: &str, argument: &str) -> Option<String> {
    use std::io::Read as _;
    use std::process::Stdio;
    const SOON: std::time::Duration = std::time::Duration::from_secs(5);
    let mut command = Command::new(program);
    command.arg(argument).env(OWN, "1");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let stdout = child.stdout.take()?;
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let read = stdout.take(4 << 10).read_to_string(&mut text);
        // Nobody listens any more when it took too long.
        let _ = tell.send(read.is_ok().then_some(text));
    });
    let said = told.recv_timeout(SOON).ok().flatten();
    // It may have ended by itself; either way it leaves nothing behind.
    let _ = child.kill();
    let _ = child.wait();
    said
}

/// Starts a process that outlives this one and the host that called it; nobody hears of it.
pub(crate) fn detach(command: &mut Command) -> std::io::Result<()> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    start(command)
}

/// Starts the daemon. It leaves the host by itself, which a process that leads a group cannot.
pub(crate) fn start_daemon() -> std::io::Result<()> {
    start(Command::new(env::current_exe()?).args(["serve", "--detached"]).current_dir("/"))
}

fn start(command: &mut Command) -> std::io::Result<()> {
    use std::process::Stdio;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.env(OWN, "1").spawn().map(|_| ())
}

/// A setting given through the environment: `remember.on_secret` is `WAYLORE_REMEMBER_ON_SECRET`.
pub(crate) fn setting(key: &str) -> Option<String> {
    env::var(variable(key)).ok().filter(|it| !it.is_empty())
}

pub(crate) fn variable(key: &str) -> String {
    format!("WAYLORE_{}", key.replace('.', "_").to_uppercase())
}

pub(crate) fn passphrase() -> Option<String> {
    env::var("WAYLORE_PASSPHRASE").ok().filter(|it| !it.is_empty())
}

/// The first of these variables that says anything.
pub(crate) fn first_of(names: &[&str]) -> Option<String> {
    names.iter().find_map(|it| env::var(it).ok().filter(|it| !it.trim().is_empty()))
}

/// As Ollama itself reads it; empty when it is not set.
pub(crate) fn ollama_host() -> String {
    env::var("OLLAMA_HOST").unwrap_or_default()
}

/// Memory that a model could take, in bytes, as far as the system tells: what is available on Linux,
/// half of all there is on macOS, and elsewhere as much as a small model needs.
pub(crate) fn free_memory() -> u64 {
    const ENOUGH_FOR_A_SMALL_ONE: u64 = 4 << 30;
    let available = || {
        let text = std::fs::read_to_string("/proc/meminfo").ok()?;
        let line = text.lines().find_map(|it| it.strip_prefix("MemAvailable:"))?;
        Some(line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? << 10)
    };
    let half = || {
        let said = Command::new("sysctl").args(["-n", "hw.memsize"]).output().ok()?;
        Some(String::from_utf8(said.stdout).ok()?.trim().parse::<u64>().ok()? / 2)
    };
    let told = match env::consts::OS {
        "linux" => available(),
        "macos" => half(),
        _ => None,
    };
    told.unwrap_or(ENOUGH_FOR_A_SMALL_ONE)
}

pub(crate) fn editor() -> Option<String> {
    let said = |name: &str| env::var(name).ok().filter(|it| !it.trim().is_empty());
    said("VISUAL").or_else(|| said("EDITOR"))
}

/// Ten random bytes for an id.
pub(crate) fn random() -> [u8; 10] {
    let mut res = [0; 10];
    getrandom::fill(&mut res).expect("the system has randomness");
    res
}

/// A fresh key for encryption: 256 random bits in hexadecimal.
pub(crate) fn fresh_key() -> String {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    bytes.iter().fold(String::new(), |acc, it| acc + &format!("{it:02x}"))
}
