//! The hosts we know: where their settings lie, how we get in and out of them, how each of them speaks.
//!
//! One row a host, one file beside it. A host that has a row is known to every command; what it says
//! is read and answered in its own words, and nothing outside of here knows a host by name.

mod claude_code;
mod codex;
mod copilot;
mod gemini;
mod hooks;
mod kept;
mod listed;
mod opencode;
mod servers;
mod shell;
mod tables;

use std::path::{Path, PathBuf};

use model::{Envelope, Timestamp};
use serde_json::Value;

use crate::heard::Heard;

pub use kept::{Kept, left};

/// A program that runs agents.
#[derive(Debug)]
pub struct Host {
    /// As commands and rule files name it.
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    /// As its makers name it.
    pub title: &'static str,
    /// Where a person's settings are; the first place that the environment speaks of counts.
    pub bases: &'static [Base],
    /// What is written where, in the order in which it is shown.
    pub files: &'static [SettingsFile],
    /// How it speaks; `None` for one that calls nobody.
    pub speech: Option<Speech>,
    /// All that is written, as files of a plugin: paths and texts. With what installs it.
    pub plugin: Option<Plugin>,
    /// How its owner's trust in our hooks is written down; `None` for one that runs what it finds.
    pub trust: Option<Trust>,
    /// Whether real sessions have shown that what is written here works; otherwise only its
    /// documentation says so.
    pub is_tried: bool,
}

/// A place for settings.
#[derive(Clone, Copy, Debug)]
pub struct Base {
    /// The variable that names the root; `None` for the person's home.
    pub variable: Option<&'static str>,
    /// The folder with the settings, below the root.
    pub below: &'static str,
}

/// A file of a host's settings in which something of ours stands.
#[derive(Debug)]
pub struct SettingsFile {
    pub place: FilePlace,
    /// The name under which the bytes from before are kept.
    pub kept: &'static str,
    /// Its text with ours in it; the same when it is there already. No text is a file that is not there.
    pub with: fn(&str, &Setup<'_>) -> Result<String, Unfit>,
    /// Its text without ours; a file with nothing left goes.
    pub without: fn(&str) -> Result<String, Unfit>,
}

/// Where a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePlace {
    /// In the folder with the person's settings.
    Folder(&'static str),
    /// In the root that this folder lies in.
    Root(&'static str),
    /// In the project: settings for everybody who works on it.
    Project(&'static str),
}

/// What a host is to run.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// An absolute path, or a name that is looked up.
    pub program: &'a str,
    /// The version of the host that is installed; `None` when nobody knows, or when it is many.
    pub version: Option<Version>,
}

/// The three numbers of a version.
pub type Version = (u32, u32, u32);

/// The first three numbers in what a program says about its version: `2.1.325 (Claude Code)`.
pub fn read_version(said: &str) -> Option<Version> {
    let word = said.split_whitespace().find(|it| it.split('.').count() >= 3)?;
    let mut numbers = word.trim_start_matches('v').splitn(3, '.');
    let mut next = || {
        let digits = numbers.next()?;
        let end = digits.find(|it: char| !it.is_ascii_digit()).unwrap_or(digits.len());
        digits[..end].parse::<u32>().ok()
    };
    Some((next()?, next()?, next()?))
}

/// How a host speaks to its hooks and wants to be answered.
#[derive(Debug)]
pub struct Speech {
    /// Reads a message; `None` when it is none.
    pub hear: fn(&[u8]) -> Option<Heard>,
    /// What a message says happened, for a project with this root. It begins with the start of the
    /// session, which whoever knows of it may leave out.
    pub events: fn(&[u8], Option<&str>, Timestamp) -> Vec<Envelope>,
    /// The answer that puts a text before the model.
    pub answer: fn(&Heard, &str) -> String,
}

/// What a host can install as a whole.
#[derive(Debug)]
pub struct Plugin {
    /// Paths and texts, for a program and a version. The first file tells that a folder holds ours.
    pub files: fn(&str, &str) -> Vec<(&'static str, String)>,
    /// What installs it from a folder, in the words of a hint.
    pub install: fn(&str) -> String,
}

/// A host that runs no hook that its owner does not trust.
#[derive(Debug)]
pub struct Trust {
    /// The file of a person's settings in which it is written down.
    pub file: &'static str,
    /// The program that says which hooks there are, and its arguments. It takes and gives lines.
    pub program: &'static [&'static str],
    /// What is said to it, for a folder.
    pub asked: fn(&str) -> Vec<String>,
    /// The hooks of ours in a line that it says; `None` when it is about something else.
    pub heard: fn(&str) -> Option<Vec<OurHook>>,
    /// What its owner can do instead, in the words of a hint.
    pub by_hand: &'static str,
    /// The file's text with these hooks trusted.
    pub with: fn(&str, &[OurHook]) -> Result<String, Unfit>,
}

/// A hook of ours as its host knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OurHook {
    pub key: String,
    /// What it does, in the host's own checksum: trust ends when it changes.
    pub hash: String,
    pub is_trusted: bool,
}

/// Why settings cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// The file is not in the format it should be in, and why.
    Unreadable(String),
    /// This part of it is something else than hosts write there.
    Odd(&'static str),
    /// A server that is not ours has our name.
    NameTaken,
}

/// In the order in which they are offered.
pub const HOSTS: &[Host] = &[
    claude_code::HOST,
    codex::HOST,
    gemini::HOST,
    copilot::HOST,
    opencode::HOST,
    listed::CURSOR,
    listed::WINDSURF,
    listed::CLINE_HOST,
    listed::ZED,
];

/// The host that is called so.
pub fn host(name: &str) -> Option<&'static Host> {
    HOSTS.iter().find(|it| it.name == name || it.aliases.contains(&name))
}

impl SettingsFile {
    /// Whether it is the file of this name among a person's settings.
    pub fn is_in_folder(&self, name: &str) -> bool {
        matches!(self.place, FilePlace::Folder(it) if it == name)
    }
}

impl Host {
    /// The root and the folder of a person's settings. `variable` looks into the environment.
    pub fn folder(
        &self,
        home: Option<&Path>,
        variable: impl Fn(&str) -> Option<PathBuf>,
    ) -> Option<(PathBuf, PathBuf)> {
        self.bases.iter().find_map(|it| {
            let root = match it.variable {
                Some(name) => variable(name)?,
                None => home?.to_owned(),
            };
            let folder = if it.below.is_empty() { root.clone() } else { root.join(it.below) };
            Some((root, folder))
        })
    }

    /// The files of a person's settings, or those of a project.
    pub fn files_of(&self, is_project: bool) -> impl Iterator<Item = &'static SettingsFile> {
        let files: &'static [SettingsFile] = self.files;
        files.iter().filter(move |it| matches!(it.place, FilePlace::Project(_)) == is_project)
    }

    /// The program that says its version, for hosts to whom it matters what is written for which.
    pub fn command(&self) -> Option<&'static str> {
        (self.name == "claude-code").then_some("claude")
    }

    /// What a message is about; `None` when it is none.
    pub fn hear(&self, input: &[u8]) -> Option<Heard> {
        self.speech.as_ref().and_then(|it| (it.hear)(input))
    }

    /// What a message says happened.
    pub fn events(&self, input: &[u8], project: Option<&str>, at: Timestamp) -> Vec<Envelope> {
        self.speech.as_ref().map(|it| (it.events)(input, project, at)).unwrap_or_default()
    }

    /// The answer that puts a text before the model.
    pub fn answer(&self, heard: &Heard, text: &str) -> String {
        self.speech.as_ref().map(|it| (it.answer)(heard, text)).unwrap_or_default()
    }
}

/// Whether what stands in settings runs `waylore <job>`, wherever it is installed: as a program and its
/// arguments, as one list of both, or as a line for a shell.
fn runs(entry: &Value, job: &str) -> bool {
    let listed = |it: &Value| -> Option<Vec<String>> {
        Some(it.as_array()?.iter().filter_map(|it| it.as_str().map(str::to_owned)).collect())
    };
    let words = match (&entry["command"], listed(&entry["args"])) {
        (Value::String(program), Some(args)) => [vec![program.clone()], args].concat(),
        (Value::String(line), None) => shell::words(line),
        (command, _) => listed(command).unwrap_or_default(),
    };
    words.first().is_some_and(|it| is_our_name(it)) && words.get(1).is_some_and(|it| it == job)
}

/// Whether a program in settings is ours, by its path or its name: `waylore`, or one that goes on with its
/// version or the like, `waylore-0.2`.
pub fn is_our_name(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    let rest = name.strip_suffix(".exe").unwrap_or(name).strip_prefix("waylore");
    rest.is_some_and(|it| it.is_empty() || it.starts_with(['-', '_', '.']))
}

#[cfg(test)]
mod round_trips;
#[cfg(test)]
mod tests;
