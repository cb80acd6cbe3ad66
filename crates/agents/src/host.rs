//! The table of supported hosts: where each keeps its settings, how Waylore is installed in them
//! and removed again, and which messages the host exchanges with its hooks.
//!
//! A *host* is a program that runs agents, such as Claude Code. It starts *hooks* (programs named in its
//! settings) at events such as the start of a session, passes each a JSON message, and adds the answer
//! to the model's context. An *MCP server* gives the agent tools that it may call. Connecting a host
//! adds `waylore hook` as a hook and `waylore mcp` as a server to its settings. The *journal* is
//! Waylore's own record of the events of a session.
//!
//! A host is one row in [`HOSTS`] and one file in `host/`, which defines the row. All commands work
//! from the table; outside of that folder only [`Host::version_command`] names a host. The readers of
//! the hosts' transcripts are elsewhere, in `*_transcript.rs`.

mod claude_code;
mod codex;
mod copilot;
mod gemini;
mod hook_settings;
mod mcp_only;
mod mcp_servers;
mod opencode;
mod settings_backup;
mod shell;
mod toml_config;

use std::path::{Path, PathBuf};

use model::{EventEnvelope, Timestamp};
use serde_json::{Value, json};

use crate::event_log::EventLog;
use crate::hook_message::{HookMessage, parse_json_body};

pub use settings_backup::{SettingsBackup, text_after_disconnect};

/// A program that runs agents.
#[derive(Debug)]
pub struct Host {
    /// Name in commands and in the rule file table.
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    /// Product name.
    pub title: &'static str,
    /// Locations of the user's settings; the first one that the environment defines is used.
    pub bases: &'static [SettingsBase],
    /// Files that connecting changes, in the order in which they are shown.
    pub files: &'static [SettingsFile],
    /// `None` for a host without hooks.
    pub hook_protocol: Option<HookProtocol>,
    /// The same installation as a plugin of the host.
    pub plugin: Option<HostPlugin>,
    /// `None` for a host that runs every hook it finds.
    pub hook_trust: Option<HookTrust>,
    /// Variables that the host sets for the commands that its agents run in a shell.
    pub shell_variables: &'static [&'static str],
    /// A test with the real program covers this host; otherwise only its documentation was
    /// followed.
    pub is_tested: bool,
}

/// A location of settings.
#[derive(Clone, Copy, Debug)]
pub struct SettingsBase {
    /// Environment variable that names the root; `None` for the home directory.
    pub variable: Option<&'static str>,
    /// Settings folder, relative to the root; empty for the root itself.
    pub folder: &'static str,
}

/// A settings file that holds an entry of ours.
#[derive(Debug)]
pub struct SettingsFile {
    pub place: FilePlace,
    /// Name of the backup; unique among all hosts.
    pub backup_name: &'static str,
    /// Text of the file with our entry added; unchanged if the entry is present. An empty text
    /// stands for a missing file.
    pub install: fn(&str, &HostSetup<'_>) -> Result<String, SettingsError>,
    /// Text of the file without our entry. A file that becomes empty is deleted.
    pub uninstall: fn(&str) -> Result<String, SettingsError>,
}

/// Location of a settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePlace {
    /// In the user's settings folder.
    Folder(&'static str),
    /// In the root above the settings folder.
    Root(&'static str),
    /// In the project, shared by all who work on it.
    Project(&'static str),
}

/// The settings that a command works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsScope {
    User,
    Project,
}

/// Parameters of an installation.
#[derive(Clone, Copy, Debug)]
pub struct HostSetup<'a> {
    /// The `waylore` program: an absolute path or a name on the search path.
    pub program: &'a str,
    /// Installed version of the host; `None` if it is unknown or several are in use.
    pub version: Option<HostVersion>,
}

/// Major, minor and patch version.
pub type HostVersion = (u32, u32, u32);

/// Finds the version in the output of a `--version` command: `2.1.325 (Claude Code)`.
pub fn parse_version(output: &str) -> Option<HostVersion> {
    let word = output.split_whitespace().find(|it| it.split('.').count() >= 3)?;
    let mut numbers = word.trim_start_matches('v').splitn(3, '.');
    let mut next = || {
        let digits = numbers.next()?;
        let end = digits.find(|it: char| !it.is_ascii_digit()).unwrap_or(digits.len());
        digits[..end].parse::<u32>().ok()
    };
    Some((next()?, next()?, next()?))
}

/// The messages that a host sends to its hooks, and the answers it expects: the part of
/// [`Host::parse_message`], [`Host::build_journal_events`] and [`Host::render_answer`] that differs
/// between hosts.
///
/// The functions behind the pointers are in the file of each host, see the field `hook_protocol` of its
/// row. They take parsed JSON: [`Host::parse_message`] alone reads bytes.
#[derive(Debug)]
pub struct HookProtocol {
    /// Interprets the body of a message; `None` if it is not a message of this host.
    pub read_body: fn(Value) -> Option<HookMessage>,
    /// Events to journal for a message, given the project root and the time of the message. The
    /// first one is always the session start; callers that know the session may skip it.
    pub build_events: fn(&HookMessage, Option<&str>, Timestamp) -> Vec<EventEnvelope>,
    /// Answer that adds a text to the model's context.
    pub build_answer: fn(&HookMessage, &str) -> String,
}

/// A plugin that the host installs as a whole.
#[derive(Debug)]
pub struct HostPlugin {
    /// Paths and contents, for the path of our program and our own version. A folder that holds the
    /// first path holds our plugin.
    pub files: fn(&str, &str) -> Vec<(&'static str, String)>,
    /// Hint with the commands that install it from a folder.
    pub install: fn(&str) -> String,
}

/// The trust store of a host that runs only hooks its user trusts.
#[derive(Debug)]
pub struct HookTrust {
    /// File in the user's settings folder that records the trust.
    pub file: &'static str,
    /// Program and arguments that list the hooks. It reads and writes lines of JSON.
    pub program: &'static [&'static str],
    /// Lines to send for a folder.
    pub list_requests: fn(&str) -> Vec<String>,
    /// Our hooks in a line of the reply; `None` for any other line.
    pub parse_hook_list: fn(&str) -> Option<Vec<InstalledHook>>,
    /// Hint on how the user can trust the hooks without us.
    pub manual_hint: &'static str,
    /// Text of the file with these hooks trusted.
    pub write_trust: fn(&str, &[InstalledHook]) -> Result<String, SettingsError>,
}

/// A hook of ours, as its host lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledHook {
    pub key: String,
    /// The host's checksum of the hook; a change of it ends the trust.
    pub hash: String,
    pub is_trusted: bool,
}

/// A reason why settings cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingsError {
    /// The file does not parse; the message of the parser.
    Unreadable(String),
    /// This key holds something that the host would not accept either.
    UnexpectedShape(&'static str),
    /// A server of the same name belongs to another program.
    NameTaken,
}

/// All hosts, in the order in which they are offered.
pub const HOSTS: &[Host] = &[
    claude_code::CLAUDE_CODE,
    codex::CODEX,
    gemini::GEMINI,
    copilot::COPILOT,
    opencode::OPENCODE,
    mcp_only::CURSOR,
    mcp_only::WINDSURF,
    mcp_only::CLINE,
    mcp_only::ZED,
];

/// Finds a host by its name or an alias.
pub fn find_host(name: &str) -> Option<&'static Host> {
    HOSTS.iter().find(|it| it.name == name || it.aliases.contains(&name))
}

impl SettingsFile {
    /// True if this is the file of that name in the user's settings folder.
    pub fn is_in_folder(&self, name: &str) -> bool {
        matches!(self.place, FilePlace::Folder(it) if it == name)
    }
}

impl Host {
    /// Root and settings folder of the user, which [`FilePlace::Root`] and [`FilePlace::Folder`] are
    /// relative to; `None` if neither a variable nor the home directory is known. `variable` reads the
    /// environment.
    pub fn settings_folder(
        &self,
        home: Option<&Path>,
        variable: impl Fn(&str) -> Option<PathBuf>,
    ) -> Option<(PathBuf, PathBuf)> {
        self.bases.iter().find_map(|it| {
            let root = match it.variable {
                Some(name) => variable(name)?,
                None => home?.to_owned(),
            };
            // Joining an empty path would add a trailing slash.
            let folder = if it.folder.is_empty() { root.clone() } else { root.join(it.folder) };
            Some((root, folder))
        })
    }

    /// The files of one scope.
    pub fn files_in(&self, scope: SettingsScope) -> impl Iterator<Item = &'static SettingsFile> {
        let files: &'static [SettingsFile] = self.files;
        files.iter().filter(move |it| {
            let is_project = matches!(it.place, FilePlace::Project(_));
            is_project == (scope == SettingsScope::Project)
        })
    }

    /// Program whose `--version` decides which hooks are installed. Only for Claude Code does that
    /// depend on the version.
    pub fn version_command(&self) -> Option<&'static str> {
        (self.name == "claude-code").then_some("claude")
    }

    /// Parses a message; `None` if it is not one. `declared_event` names the event for hosts that
    /// pass it as an argument of the hook.
    pub fn parse_message(&self, input: &[u8], declared_event: Option<&str>) -> Option<HookMessage> {
        let protocol = self.hook_protocol.as_ref()?;
        (protocol.read_body)(parse_json_body(input, declared_event)?)
    }

    /// Builds the events to journal for a message of this host; writing them is left to the caller.
    pub fn build_journal_events(
        &self,
        message: &HookMessage,
        project: Option<&str>,
        at: Timestamp,
    ) -> Vec<EventEnvelope> {
        let protocol = self.hook_protocol.as_ref();
        protocol.map(|it| (it.build_events)(message, project, at)).unwrap_or_default()
    }

    /// Answer that adds a text to the model's context.
    pub fn render_answer(&self, message: &HookMessage, text: &str) -> String {
        let protocol = self.hook_protocol.as_ref();
        protocol.map(|it| (it.build_answer)(message, text)).unwrap_or_default()
    }
}

/// Answer that adds a text to the model's context, in the form that several hosts share.
fn build_common_answer(message: &HookMessage, text: &str) -> String {
    let output = json!({ "hookEventName": message.event_name, "additionalContext": text });
    json!({ "hookSpecificOutput": output }).to_string()
}

/// A log in which the session of a message has started.
fn start_log(
    agent: &'static str,
    message: &HookMessage,
    project: Option<&str>,
    at: Timestamp,
) -> EventLog {
    let mut log = EventLog::new(agent, project.map(str::to_owned), String::new());
    log.set_time(Some(at));
    log.transcript = message.source.path().map(str::to_owned);
    log.start_session(Some(&message.host_session), None, &message.cwd);
    log
}

/// True if a settings entry runs `waylore <subcommand>`, wherever the program is installed. The
/// entry is a program with arguments, one list of both, or a shell command.
fn runs_waylore(entry: &Value, subcommand: &str) -> bool {
    let text_list = |it: &Value| -> Option<Vec<String>> {
        Some(it.as_array()?.iter().filter_map(|it| it.as_str().map(str::to_owned)).collect())
    };
    let words = match (&entry["command"], text_list(&entry["args"])) {
        // `"command": "/bin/waylore", "args": ["hook", "codex"]`
        (Value::String(program), Some(args)) => [vec![program.clone()], args].concat(),
        // `"command": "/bin/waylore hook codex"`
        (Value::String(line), None) => shell::split_words(line),
        // `"command": ["/bin/waylore", "mcp"]`, or no command at all.
        (command, _) => text_list(command).unwrap_or_default(),
    };
    match &words[..] {
        [program, first_argument, ..] => {
            is_waylore_program(program) && first_argument == subcommand
        }
        _ => false,
    }
}

/// True if a program path names ours: `waylore`, or with a suffix such as its version,
/// `waylore-0.2`.
pub fn is_waylore_program(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    let rest = name.strip_suffix(".exe").unwrap_or(name).strip_prefix("waylore");
    rest.is_some_and(|it| it.is_empty() || it.starts_with(['-', '_', '.']))
}

#[cfg(test)]
mod round_trips;
#[cfg(test)]
mod tests;
