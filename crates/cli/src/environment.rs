//! The only module that reads the clock, the environment variables, the home directory and random bytes,
//! and that starts processes of ours. Everything else gets these as values, so tests can replace them.
//!
//! A *host* is the program that runs an agent, for example Claude Code; it starts our hooks and MCP servers
//! and passes them variables of its own.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use model::Timestamp;

use crate::failure::{CliFailure, FailureKind};

/// Folders and time of this invocation.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    pub(crate) home: Option<PathBuf>,
    /// Folder of the databases.
    pub(crate) data: PathBuf,
    /// Folder of the settings file and the key file.
    pub(crate) config: PathBuf,
    pub(crate) cwd: PathBuf,
    pub(crate) now: Timestamp,
}

impl Environment {
    /// Reads the environment. `WAYLORE_HOME` holds everything; otherwise the XDG folders are used:
    /// `~/.local/share/waylore` and `~/.config/waylore`, unless variables name others.
    pub(crate) fn read() -> anyhow::Result<Self> {
        let cwd = env::current_dir().map_err(|it| no_current_dir(&it))?;
        let home = env::home_dir().filter(|it| !it.as_os_str().is_empty());
        let home = home.map(|it| absolute_home("HOME", it)).transpose()?;
        let (data, config) = match waylore_home()? {
            Some(folder) => (Some(folder.join("data")), Some(folder.join("config"))),
            None => (
                xdg_folder("XDG_DATA_HOME", home.as_deref(), ".local/share"),
                xdg_folder("XDG_CONFIG_HOME", home.as_deref(), ".config"),
            ),
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

    /// The working folder of a command: the folder given with `-C`, otherwise the current one.
    pub(crate) fn working_folder(&self, project: Option<&Path>) -> PathBuf {
        project.map_or_else(|| self.cwd.clone(), |it| self.cwd.join(it))
    }
}

/// The folder in `WAYLORE_HOME`. A relative one is refused: every working folder would have its own
/// memories, and the daemon, which runs in `/`, others again.
fn waylore_home() -> Result<Option<PathBuf>, CliFailure> {
    let Some(folder) = env::var_os("WAYLORE_HOME").filter(|it| !it.is_empty()) else {
        return Ok(None);
    };
    absolute_home("WAYLORE_HOME", folder.into()).map(Some)
}

/// The path, if it is absolute; otherwise the error about the variable that named it.
fn absolute_home(variable: &str, folder: PathBuf) -> Result<PathBuf, CliFailure> {
    if folder.is_absolute() {
        return Ok(folder);
    }
    Err(CliFailure {
        kind: FailureKind::Environment,
        message: format!("{variable} is the relative path `{}`", folder.display()),
        hint: Some(format!("set {variable} to an absolute path")),
    })
}

/// Our folder below the one that a variable names, or below its default in the home directory. A relative
/// path in the variable is ignored, as the XDG specification wants.
fn xdg_folder(variable: &str, home: Option<&Path>, default: &str) -> Option<PathBuf> {
    let base = match folder_variable(variable) {
        Some(folder) => folder,
        None => home?.join(default),
    };
    Some(base.join("waylore"))
}

/// A path for temporary files.
pub(crate) fn temporary_path(name: &str) -> PathBuf {
    env::temp_dir().join(format!("waylore-{name}"))
}

/// The error for a working folder that was removed.
fn no_current_dir(error: &std::io::Error) -> CliFailure {
    CliFailure {
        kind: FailureKind::Environment,
        message: format!("the current folder cannot be used, it may have been removed: {error}"),
        hint: Some("change to an existing folder and run the command again".to_owned()),
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

/// A folder given by an environment variable, such as a host's settings folder. Relative paths are ignored.
pub(crate) fn folder_variable(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from).filter(|it| it.is_absolute())
}

/// The time limit of hooks that the user chose, for slow machines.
pub(crate) fn hook_timeout() -> Option<std::time::Duration> {
    let millis = env::var("WAYLORE_HOOK_PATIENCE_MS").ok()?.parse().ok()?;
    Some(std::time::Duration::from_millis(millis))
}

/// True if commands and MCP servers must not use the daemon.
pub(crate) fn is_daemon_off() -> bool {
    env::var("WAYLORE_DAEMON").is_ok_and(|it| it == "off")
}

/// The arguments of this process without its name; `None` if one is not UTF-8.
pub(crate) fn utf8_arguments() -> Option<Vec<String>> {
    env::args_os().skip(1).map(|it| it.into_string().ok()).collect()
}

/// The reported version; can be overridden to test upgrades.
pub(crate) fn own_version() -> String {
    let overridden = env::var("WAYLORE_PRETEND_VERSION").ok().filter(|it| !it.is_empty());
    overridden.unwrap_or_else(|| env!("CARGO_PKG_VERSION").to_owned())
}

/// Marks processes started by Waylore, whose activity is not observed.
const OWN_PROCESS_VARIABLE: &str = "WAYLORE_OWN";

/// True if this process was started by Waylore.
pub(crate) fn started_by_waylore() -> bool {
    env::var_os(OWN_PROCESS_VARIABLE).is_some() || env::var_os(engine::ASK_MARKER).is_some()
}

/// The path of a program that a shell would run.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&folders).map(|it| it.join(&file)).find(|it| it.is_file())
}

/// The project folder that some hosts pass to their child processes.
pub(crate) fn project_dir() -> Option<PathBuf> {
    folder_variable("CLAUDE_PROJECT_DIR")
}

/// The session id that Claude Code passes to its MCP servers.
pub(crate) fn host_session() -> Option<String> {
    env::var("CLAUDE_CODE_SESSION_ID").ok().filter(|it| !it.trim().is_empty())
}

/// The token for `mcp --http`, if the user chose one.
pub(crate) fn mcp_token() -> Option<String> {
    env::var("WAYLORE_MCP_TOKEN").ok().filter(|it| !it.is_empty())
}

/// Output of a program with one argument, if it exists and answers in time.
pub(crate) fn command_output(program: &str, argument: &str) -> Option<String> {
    use std::io::Read as _;
    use std::process::Stdio;
    const OUTPUT_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);
    const MAX_OUTPUT_BYTES: u64 = 4 << 10;
    let mut command = Command::new(program);
    command.arg(argument).env(OWN_PROCESS_VARIABLE, "1");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let stdout = child.stdout.take()?;
    // A read may block forever, so it happens on a thread.
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let read = stdout.take(MAX_OUTPUT_BYTES).read_to_string(&mut text);
        // Fails only after the timeout.
        let _ = sender.send(read.is_ok().then_some(text));
    });
    let answer = receiver.recv_timeout(OUTPUT_TIMEOUT);
    // Fails if the program has exited already; in both cases no process is left behind.
    let _ = child.kill();
    let _ = child.wait();
    // `None` also if there was no answer in time.
    answer.unwrap_or_default()
}

/// Starts a process that outlives this one and its host, without output.
pub(crate) fn spawn_detached(command: &mut Command) -> std::io::Result<()> {
    // A group of its own: signals to the group of the host do not reach it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    spawn_silently(command)
}

/// Starts the daemon. Unlike [`spawn_detached`] it gets no process group of its own: the daemon calls
/// `setsid` to detach, and the leader of a group may not do that.
pub(crate) fn start_daemon() -> std::io::Result<()> {
    spawn_silently(Command::new(env::current_exe()?).args(["serve", "--detached"]).current_dir("/"))
}

/// Starts a process without input and output, marked as ours.
fn spawn_silently(command: &mut Command) -> std::io::Result<()> {
    use std::process::Stdio;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.env(OWN_PROCESS_VARIABLE, "1").spawn().map(|_| ())
}

/// A setting given through the environment: `remember.on_secret` is `WAYLORE_REMEMBER_ON_SECRET`.
pub(crate) fn setting_variable(key: &str) -> Option<String> {
    env::var(variable_name(key)).ok().filter(|it| !it.is_empty())
}

/// The environment variable of a setting.
pub(crate) fn variable_name(key: &str) -> String {
    format!("WAYLORE_{}", key.replace('.', "_").to_uppercase())
}

/// The passphrase of encrypted data.
pub(crate) fn passphrase_variable() -> Option<String> {
    env::var("WAYLORE_PASSPHRASE").ok().filter(|it| !it.is_empty())
}

/// The first of these variables that is set and not empty.
pub(crate) fn first_set_variable(names: &[&str]) -> Option<String> {
    names.iter().find_map(|it| env::var(it).ok().filter(|it| !it.trim().is_empty()))
}

/// `OLLAMA_HOST`, as Ollama reads it; empty if not set.
pub(crate) fn ollama_host() -> String {
    env::var("OLLAMA_HOST").unwrap_or_default()
}

/// Memory available for a model, in bytes: available memory on Linux, half of the total on macOS,
/// elsewhere as much as a small model needs.
pub(crate) fn free_memory() -> u64 {
    const SMALL_MODEL_BYTES: u64 = 4 << 30;
    let available_on_linux = || -> Option<u64> {
        let text = std::fs::read_to_string("/proc/meminfo").ok()?;
        // `MemAvailable:   12345678 kB`
        let amount = text.lines().find_map(|it| it.strip_prefix("MemAvailable:"))?;
        let kibibytes: u64 = amount.trim().trim_end_matches("kB").trim().parse().ok()?;
        Some(kibibytes * 1024)
    };
    let half_on_macos = || -> Option<u64> {
        let output = Command::new("sysctl").args(["-n", "hw.memsize"]).output().ok()?;
        let total_bytes: u64 = String::from_utf8(output.stdout).ok()?.trim().parse().ok()?;
        Some(total_bytes / 2)
    };
    let free = match env::consts::OS {
        "linux" => available_on_linux(),
        "macos" => half_on_macos(),
        _ => None,
    };
    // Not known: assume that a small model fits.
    free.unwrap_or(SMALL_MODEL_BYTES)
}

/// The user's editor, with its arguments.
pub(crate) fn editor_command() -> Option<String> {
    first_set_variable(&["VISUAL", "EDITOR"])
}

/// Ten random bytes for an id.
pub(crate) fn random_bytes() -> [u8; 10] {
    let mut res = [0; 10];
    getrandom::fill(&mut res).expect("the system has randomness");
    res
}

/// A fresh key for encryption: 256 random bits in hexadecimal.
pub(crate) fn random_key() -> String {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    bytes.map(|it| format!("{it:02x}")).concat()
}
