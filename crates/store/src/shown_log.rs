//! The log of what one agent session was shown, so that nothing is injected twice.
//!
//! One file per session, one entry per line. The log needs no transaction: a lost line only means
//! that something is shown once more. [`ShownEntry`] has the only writer and the only parser of the
//! line format.

use std::collections::HashSet;
use std::fmt;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::str::FromStr;

use model::{MemoryId, ProjectPath, SessionId, Timestamp, TrialGroup};

use crate::{DataDir, Error, os};

/// Most logs kept; those that were written to longest ago are removed first.
const MAX_SESSION_LOGS: usize = 500;
/// Prefix of an entry whose conversation is gone, so that the agent no longer sees it.
const GONE_PREFIX: &str = "gone ";

/// One line of the log: something the session was shown, or a record of what it did.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ShownEntry {
    /// A memory was shown.
    Memory(MemoryId),
    /// The time at which a memory was shown. Learning compares it with later actions.
    MemoryAt { id: MemoryId, at: Timestamp },
    /// One step of a workflow recipe was shown.
    RecipeStep { recipe: MemoryId, order: u32 },
    /// A note was shown that another session recorded and that is not a memory yet.
    PendingNote { session: SessionId, event: String },
    /// The errors that earlier sessions ran into were shown.
    ExpectedErrors,
    /// The files that the task will probably need were shown.
    PredictedFiles,
    /// The build, test and lint commands of the project were shown.
    ProjectCommands,
    /// The list of the project's modules was shown.
    ModuleList,
    /// The description of one module was shown.
    Module(String),
    /// A fix was shown that only one session has found so far.
    UnconfirmedFix { fingerprint: String },
    /// The time at which the fix of an error was shown. Learning counts the calls it saved.
    FixAt { fingerprint: String, at: Timestamp },
    /// The time of the session's first access to a file.
    FileTouched { at: Timestamp, path: ProjectPath },
    /// Tokens injected after a step of the session.
    StepTokens { step: u32, tokens: u32 },
    /// The trial group of the session.
    Group(TrialGroup),
}

impl ShownEntry {
    /// Returns whether the entry stands for text in the conversation. The others are records about
    /// the session, which outlive a compacted conversation.
    pub const fn is_content(&self) -> bool {
        match self {
            Self::Memory(_)
            | Self::RecipeStep { .. }
            | Self::PendingNote { .. }
            | Self::ExpectedErrors
            | Self::PredictedFiles
            | Self::ProjectCommands
            | Self::ModuleList
            | Self::Module(_)
            | Self::UnconfirmedFix { .. } => true,
            Self::MemoryAt { .. }
            | Self::FixAt { .. }
            | Self::FileTouched { .. }
            | Self::StepTokens { .. }
            | Self::Group(_) => false,
        }
    }

    /// The memory of a `Memory` entry.
    pub const fn memory_id(&self) -> Option<MemoryId> {
        match self {
            Self::Memory(id) => Some(*id),
            _ => None,
        }
    }
}

impl fmt::Display for ShownEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(id) => write!(f, "{id}"),
            Self::MemoryAt { id, at } => write!(f, "{id} at {}", at.0),
            Self::RecipeStep { recipe, order } => write!(f, "{recipe} {order}"),
            Self::PendingNote { session, event } => write!(f, "note {session} {event}"),
            Self::ExpectedErrors => f.write_str("outlook"),
            Self::PredictedFiles => f.write_str("files"),
            Self::ProjectCommands => f.write_str("map commands"),
            Self::ModuleList => f.write_str("map parts"),
            Self::Module(id) => write!(f, "map part {id}"),
            Self::UnconfirmedFix { fingerprint } => write!(f, "once {fingerprint}"),
            Self::FixAt { fingerprint, at } => write!(f, "fix {fingerprint} {}", at.0),
            // Padded to the width of today's milliseconds, so that lines sort by time.
            Self::FileTouched { at, path } => write!(f, "at {:013} {}", at.0, path.as_str()),
            Self::StepTokens { step, tokens } => write!(f, "step {step} {tokens}"),
            Self::Group(group) => write!(f, "group {group}"),
        }
    }
}

/// A line that is not an entry, such as one written by a newer version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownShownLine;

impl FromStr for ShownEntry {
    type Err = UnknownShownLine;

    fn from_str(line: &str) -> Result<Self, UnknownShownLine> {
        parse_fixed(line)
            .or_else(|| parse_prefixed(line))
            .or_else(|| parse_memory(line))
            .ok_or(UnknownShownLine)
    }
}

fn parse_fixed(line: &str) -> Option<ShownEntry> {
    match line {
        "outlook" => Some(ShownEntry::ExpectedErrors),
        "files" => Some(ShownEntry::PredictedFiles),
        "map commands" => Some(ShownEntry::ProjectCommands),
        "map parts" => Some(ShownEntry::ModuleList),
        _ => None,
    }
}

fn parse_prefixed(line: &str) -> Option<ShownEntry> {
    let (word, rest) = line.split_once(' ')?;
    match word {
        "map" => rest.strip_prefix("part ").map(|it| ShownEntry::Module(it.to_owned())),
        "note" => {
            let (session, event) = rest.split_once(' ')?;
            let (session, event) = (session.parse().ok()?, event.to_owned());
            Some(ShownEntry::PendingNote { session, event })
        }
        "once" => Some(ShownEntry::UnconfirmedFix { fingerprint: rest.to_owned() }),
        "fix" => {
            // A fingerprint may hold blanks; the time after the last one cannot.
            let (fingerprint, at) = rest.rsplit_once(' ')?;
            let at = Timestamp(at.parse().ok()?);
            Some(ShownEntry::FixAt { fingerprint: fingerprint.to_owned(), at })
        }
        "at" => {
            let (at, path) = rest.split_once(' ')?;
            let (at, path) = (Timestamp(at.parse().ok()?), ProjectPath::parse(path).ok()?);
            Some(ShownEntry::FileTouched { at, path })
        }
        "step" => {
            let (step, tokens) = rest.split_once(' ')?;
            Some(ShownEntry::StepTokens { step: step.parse().ok()?, tokens: tokens.parse().ok()? })
        }
        "group" => TrialGroup::from_slug(rest).map(ShownEntry::Group),
        _ => None,
    }
}

/// Parses the three forms that begin with the id of a memory.
fn parse_memory(line: &str) -> Option<ShownEntry> {
    let Some((id, rest)) = line.split_once(' ') else {
        return line.parse().ok().map(ShownEntry::Memory);
    };
    let id: MemoryId = id.parse().ok()?;
    match rest.strip_prefix("at ") {
        Some(at) => Some(ShownEntry::MemoryAt { id, at: Timestamp(at.parse().ok()?) }),
        None => Some(ShownEntry::RecipeStep { recipe: id, order: rest.parse().ok()? }),
    }
}

/// The log of one session.
#[derive(Clone, Debug)]
pub struct ShownLog {
    dir: PathBuf,
    path: PathBuf,
}

/// Entries of a log by what became of the conversation they were shown in.
#[derive(Default)]
struct LogState {
    /// Still in the conversation.
    shown: HashSet<ShownEntry>,
    /// Shown in a conversation that is gone; they may have been shown again since.
    gone: HashSet<ShownEntry>,
}

impl ShownLog {
    /// `session` is the host's name for the session and may be any text.
    pub fn for_session(data: &DataDir, session: &str) -> Self {
        let name = blake3::hash(session.as_bytes()).to_hex();
        let dir = data.root.join("shown");
        Self { path: dir.join(&name[..32]), dir }
    }

    /// Everything that was shown and is still in the conversation. An unreadable log counts as empty.
    pub fn read_entries(&self) -> HashSet<ShownEntry> {
        self.load().shown
    }

    /// Entries that were lost with an earlier conversation and not shown again since.
    pub fn read_lost(&self) -> HashSet<ShownEntry> {
        let LogState { shown, mut gone } = self.load();
        gone.retain(|it| !shown.contains(it));
        gone
    }

    fn load(&self) -> LogState {
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        let mut state = LogState::default();
        // Lines are replayed in order: an entry may be shown, lost and shown again.
        for line in text.lines() {
            let (line, is_gone) = match line.strip_prefix(GONE_PREFIX) {
                Some(line) => (line, true),
                None => (line, false),
            };
            let Ok(entry) = line.parse::<ShownEntry>() else { continue };
            if is_gone {
                state.shown.remove(&entry);
                state.gone.insert(entry);
            } else {
                state.shown.insert(entry);
            }
        }
        state
    }

    /// Waits until no other process injects into this session. Other processes wait until the
    /// returned file is dropped.
    pub fn lock(&self) -> Result<fs::File, Error> {
        let io = |it: std::io::Error| Error::from_io(&self.path, &it);
        os::private_dir(&self.dir).and_then(|()| os::private_file(&self.path)).map_err(io)?;
        let file = fs::File::open(&self.path).map_err(io)?;
        file.lock().map_err(io)?;
        Ok(file)
    }

    /// Appends entries.
    pub fn record(&self, entries: &[ShownEntry]) -> Result<(), Error> {
        self.append(&entries.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    /// Marks everything in the conversation as gone, so that it may be shown once more. An entry that
    /// was gone before and came back stays shown: a third time is too often.
    pub fn forget_conversation(&self) -> Result<(), Error> {
        let LogState { shown, gone } = self.load();
        let lost = shown.iter().filter(|it| it.is_content() && !gone.contains(*it));
        let mut lines: Vec<String> = lost.map(|it| format!("{GONE_PREFIX}{it}")).collect();
        lines.sort();
        self.append(&lines)
    }

    fn append(&self, lines: &[String]) -> Result<(), Error> {
        if lines.is_empty() {
            return Ok(());
        }
        let io = |it: std::io::Error| Error::from_io(&self.path, &it);
        let is_new = fs::metadata(&self.path).map_or(0, |it| it.len()) == 0;
        os::private_dir(&self.dir).and_then(|()| os::private_file(&self.path)).map_err(io)?;
        let text = lines.join("\n") + "\n";
        let file = fs::OpenOptions::new().append(true).open(&self.path);
        // One write of whole lines: processes that append at once do not mix them.
        file.and_then(|mut it| it.write_all(text.as_bytes())).map_err(io)?;
        if is_new && self.cleans_up() {
            self.remove_old_logs();
        }
        Ok(())
    }

    /// Returns whether this session removes old logs. One in sixteen does, because listing the
    /// folder takes longer than everything else here.
    fn cleans_up(&self) -> bool {
        let name = self.path.file_name().map(|it| it.to_string_lossy().into_owned());
        name.is_some_and(|it| it.starts_with('0'))
    }

    fn remove_old_logs(&self) {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let mut logs: Vec<_> = entries
            .filter_map(|it| Some((it.metadata().ok()?.modified().ok()?, it.path())))
            .collect();
        logs.sort();
        let n_old = logs.len().saturating_sub(MAX_SESSION_LOGS);
        for (_, path) in &logs[..n_old] {
            // Another process may have removed it already.
            let _ = os::remove_file_if_exists(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(n: u8) -> MemoryId {
        MemoryId::new(Timestamp(1_700_000_000_000), [n; 10])
    }

    fn every_entry() -> Vec<ShownEntry> {
        let at = Timestamp(1_700_000_000_000);
        let fingerprint = "cargo test: E0308 in `a b.rs`".to_owned();
        vec![
            ShownEntry::Memory(memory(1)),
            ShownEntry::MemoryAt { id: memory(1), at },
            ShownEntry::RecipeStep { recipe: memory(2), order: 3 },
            ShownEntry::PendingNote { session: SessionId::new(at, [7; 10]), event: "e-4".into() },
            ShownEntry::ExpectedErrors,
            ShownEntry::PredictedFiles,
            ShownEntry::ProjectCommands,
            ShownEntry::ModuleList,
            ShownEntry::Module("crates/store".to_owned()),
            ShownEntry::UnconfirmedFix { fingerprint: fingerprint.clone() },
            ShownEntry::FixAt { fingerprint, at },
            ShownEntry::FileTouched { at, path: ProjectPath::parse("src/a b.rs").unwrap() },
            ShownEntry::StepTokens { step: 4, tokens: 120 },
            ShownEntry::Group(TrialGroup::Passive),
        ]
    }

    #[test]
    fn every_entry_reads_back() {
        for entry in every_entry() {
            assert_eq!(entry.to_string().parse(), Ok(entry));
        }
        assert_eq!("a line of a newer version".parse::<ShownEntry>(), Err(UnknownShownLine));
    }

    // The lines as running sessions have them on disk.
    #[test]
    fn the_line_format_does_not_change() {
        let id = memory(1);
        let session = SessionId::new(Timestamp(1_700_000_000_000), [7; 10]);
        let lines: Vec<String> = every_entry().iter().map(ToString::to_string).collect();
        let expected = [
            format!("{id}"),
            format!("{id} at 1700000000000"),
            format!("{} 3", memory(2)),
            format!("note {session} e-4"),
            "outlook".to_owned(),
            "files".to_owned(),
            "map commands".to_owned(),
            "map parts".to_owned(),
            "map part crates/store".to_owned(),
            "once cargo test: E0308 in `a b.rs`".to_owned(),
            "fix cargo test: E0308 in `a b.rs` 1700000000000".to_owned(),
            "at 1700000000000 src/a b.rs".to_owned(),
            "step 4 120".to_owned(),
            "group passive".to_owned(),
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn an_entry_is_known_and_may_come_back_once() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::new(dir.path());
        let log = ShownLog::for_session(&data, "a/../session");
        let (one, two) = (ShownEntry::Memory(memory(1)), ShownEntry::ExpectedErrors);
        assert!(log.read_entries().is_empty());
        log.record(std::slice::from_ref(&one)).unwrap();
        assert_eq!(log.read_entries(), HashSet::from([one.clone()]));
        assert!(ShownLog::for_session(&data, "another").read_entries().is_empty());
        log.forget_conversation().unwrap();
        assert_eq!((log.read_entries().len(), log.read_lost()), (0, HashSet::from([one.clone()])));
        log.record(&[one.clone(), two.clone()]).unwrap();
        log.forget_conversation().unwrap();
        assert_eq!(log.read_entries(), HashSet::from([one]), "a third time is too often");
        assert_eq!(log.read_lost(), HashSet::from([two]));
    }

    #[test]
    fn records_about_the_session_outlive_its_conversation() {
        let dir = tempfile::tempdir().unwrap();
        let log = ShownLog::for_session(&DataDir::new(dir.path()), "session");
        log.record(&every_entry()).unwrap();
        log.forget_conversation().unwrap();
        let kept: HashSet<ShownEntry> =
            every_entry().into_iter().filter(|it| !it.is_content()).collect();
        assert_eq!(log.read_entries(), kept);
    }

    #[test]
    fn old_logs_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::new(dir.path());
        for n in 0..MAX_SESSION_LOGS + 200 {
            let log = ShownLog::for_session(&data, &n.to_string());
            log.record(&[ShownEntry::ExpectedErrors]).unwrap();
        }
        let left = fs::read_dir(dir.path().join("shown")).unwrap().count();
        assert!((MAX_SESSION_LOGS..MAX_SESSION_LOGS + 100).contains(&left), "{left}");
    }
}
