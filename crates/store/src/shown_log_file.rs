//! The file in which one agent session's shown notes are logged, so that nothing is injected twice.
//!
//! To *inject* is to add a note, such as a memory, to the conversation between a user and a coding
//! agent. The *host* is the program that runs the agent. One file per session, one entry per line.
//! The injector reads it before it chooses notes and appends to it afterwards. The log needs no
//! transaction: without a line something is only shown once more. [`ShownEntry`] has the only
//! writer and the only parser of the line format.
//!
//! When a host compacts or clears a conversation, the agent no longer sees the notes in it. These
//! entries are then marked as lost and may be shown again, once per loss. In this example the list of
//! modules was shown, lost, and shown again; the last line is a record about the
//! session, in which 120 tokens were injected after step 4:
//!
//! ```text
//! map parts
//! gone map parts
//! map parts
//! step 4 120
//! ```

use std::collections::HashSet;
use std::fmt;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::str::FromStr;

use model::{MemoryId, ProjectPath, SessionId, Timestamp, TrialGroup};

use crate::line_file::{list_files, rewrite_file};
use crate::line_seal::{LineSeal, TextFileKind, prepare_to_write};
use crate::{DataDir, EncryptionKey, Error, os};

/// Most logs kept; those that were written to longest ago are removed first.
const MAX_SESSION_LOGS: usize = 500;
/// Hexadecimal digits in the name of a log.
const FILE_NAME_DIGITS: usize = 32;
/// Prefix of a line that marks an entry as lost.
const LOST_PREFIX: &str = "gone ";

/// One line of the log: something the session was shown, or a record of what it did.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ShownEntry {
    /// A memory was shown. Written together with `MemoryAt`: this entry keeps the memory from being
    /// shown again and may be lost.
    Memory(MemoryId),
    /// The time at which a memory was shown. Learning compares it with later actions, so it is
    /// never lost.
    MemoryAt { id: MemoryId, at: Timestamp },
    /// One step of a recipe was shown: a memory that lists the steps of a task in their order.
    RecipeStep { recipe: MemoryId, order: u32 },
    /// A note was shown that another session recorded and that is not a memory yet.
    PendingNote { session: SessionId, event: String },
    /// The errors that earlier sessions ran into were shown.
    ExpectedErrors,
    /// The files that the task will probably need were shown.
    PredictedFiles,
    /// A file was named that usually changes with one that the session edited.
    ChangePartner(ProjectPath),
    /// The checks that usually run before a commit were shown.
    UsualChecks,
    /// The build, test and lint commands of the project were shown.
    ProjectCommands,
    /// The list of the project's modules was shown.
    ModuleList,
    /// The description of one module was shown.
    Module(String),
    /// A fix was shown that only one session has found so far. The fingerprint identifies the error
    /// across sessions.
    UnconfirmedFix { fingerprint: String },
    /// The time at which the fix of an error was shown. Learning counts the calls it saved.
    FixAt { fingerprint: String, at: Timestamp },
    /// The time of the session's first access to a file.
    FileTouched { at: Timestamp, path: ProjectPath },
    /// Tokens injected after a step of the session.
    StepTokens { step: u32, tokens: u32 },
    /// The trial group of the session: which notes it receives while a trial measures their worth.
    Group(TrialGroup),
}

impl ShownEntry {
    /// Returns whether the entry stands for text in the conversation, which can be lost. The others
    /// are records about the session, which are never lost.
    pub const fn is_content(&self) -> bool {
        match self {
            Self::Memory(_)
            | Self::RecipeStep { .. }
            | Self::PendingNote { .. }
            | Self::ExpectedErrors
            | Self::PredictedFiles
            | Self::ChangePartner(_)
            | Self::UsualChecks
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

/// Writes the line of an entry. Some words are older names of the variants. They are kept, because
/// running sessions have them on disk.
impl fmt::Display for ShownEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(id) => write!(f, "{id}"),
            Self::MemoryAt { id, at } => write!(f, "{id} at {}", at.0),
            Self::RecipeStep { recipe, order } => write!(f, "{recipe} {order}"),
            Self::PendingNote { session, event } => write!(f, "note {session} {event}"),
            Self::ExpectedErrors => f.write_str("outlook"),
            Self::PredictedFiles => f.write_str("files"),
            Self::ChangePartner(path) => write!(f, "partner {}", path.as_str()),
            Self::UsualChecks => f.write_str("checks"),
            Self::ProjectCommands => f.write_str("map commands"),
            Self::ModuleList => f.write_str("map parts"),
            Self::Module(id) => write!(f, "map part {id}"),
            Self::UnconfirmedFix { fingerprint } => write!(f, "once {fingerprint}"),
            Self::FixAt { fingerprint, at } => write!(f, "fix {fingerprint} {}", at.0),
            // The padding to 13 digits is part of the format; nothing depends on it.
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

/// Parses the lines that are always the same. For example `map parts`.
fn parse_fixed(line: &str) -> Option<ShownEntry> {
    match line {
        "outlook" => Some(ShownEntry::ExpectedErrors),
        "files" => Some(ShownEntry::PredictedFiles),
        "checks" => Some(ShownEntry::UsualChecks),
        "map commands" => Some(ShownEntry::ProjectCommands),
        "map parts" => Some(ShownEntry::ModuleList),
        _ => None,
    }
}

/// Parses the lines that begin with a word for their kind. For example `step 4 120`.
fn parse_prefixed(line: &str) -> Option<ShownEntry> {
    let (word, rest) = line.split_once(' ')?;
    match word {
        "map" => rest.strip_prefix("part ").map(|it| ShownEntry::Module(it.to_owned())),
        "note" => {
            let (session, event) = rest.split_once(' ')?;
            let (session, event) = (session.parse().ok()?, event.to_owned());
            Some(ShownEntry::PendingNote { session, event })
        }
        "partner" => ProjectPath::parse(rest).ok().map(ShownEntry::ChangePartner),
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

/// Parses the three forms that begin with the id of a memory: `ID`, `ID at 1700000000000` and
/// `ID 3`, the third step of a recipe.
fn parse_memory(line: &str) -> Option<ShownEntry> {
    let Some((id, rest)) = line.split_once(' ') else {
        // The id alone.
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
    data: DataDir,
    dir: PathBuf,
    path: PathBuf,
    key: Option<EncryptionKey>,
}

/// Entries of a log after all its lines. An entry is in one of the sets.
#[derive(Default)]
struct LogState {
    /// Still in the conversation.
    shown: HashSet<ShownEntry>,
    /// Lost and not shown again since.
    lost: HashSet<ShownEntry>,
}

impl ShownLog {
    /// `session` is the host's name for the session and may be any text. With a key, lines are sealed.
    pub fn for_session(data: &DataDir, session: &str, key: Option<&EncryptionKey>) -> Self {
        // A hash, because the name may hold anything, even path separators.
        let hash = blake3::hash(session.as_bytes()).to_hex();
        let dir = shown_folder(data);
        let path = dir.join(&hash[..FILE_NAME_DIGITS]);
        Self { data: data.clone(), path, dir, key: key.cloned() }
    }

    /// Everything that was shown and is still in the conversation. An unreadable log counts as
    /// empty.
    pub fn read_entries(&self) -> HashSet<ShownEntry> {
        self.load().shown
    }

    /// Entries that were lost and not shown again since.
    pub fn read_lost(&self) -> HashSet<ShownEntry> {
        self.load().lost
    }

    /// Reads the file and replays its lines.
    fn load(&self) -> LogState {
        let text = self.seal().open_lines(&fs::read(&self.path).unwrap_or_default());
        let mut state = LogState::default();
        // Lines are replayed in order: an entry may be shown, lost and shown again.
        for line in text.lines() {
            let (line, is_lost) = match line.strip_prefix(LOST_PREFIX) {
                Some(entry) => (entry, true),
                None => (line, false),
            };
            // A line of a newer version, or one that was cut off.
            let Ok(entry) = line.parse::<ShownEntry>() else { continue };
            if is_lost {
                state.shown.remove(&entry);
                state.lost.insert(entry);
            } else {
                state.lost.remove(&entry);
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

    /// Marks everything in the conversation as lost, so that it may be shown once more.
    pub fn mark_conversation_lost(&self) -> Result<(), Error> {
        let shown = self.load().shown;
        let newly_lost = shown.iter().filter(|it| it.is_content());
        let mut lines: Vec<String> = newly_lost.map(|it| format!("{LOST_PREFIX}{it}")).collect();
        // A hash set has no order; the same session must write the same file.
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
        prepare_to_write(&self.data, self.key.as_ref())?;
        // Paths and names of modules may hold a token.
        let text = secrets::redact_path(&(lines.join("\n") + "\n")).text;
        let text = self.seal().seal_lines(&text)?;
        let file = fs::OpenOptions::new().append(true).open(&self.path);
        // One write of whole lines: processes that append at once do not mix them.
        file.and_then(|mut it| it.write_all(text.as_bytes())).map_err(io)?;
        if is_new && self.cleans_up() {
            self.remove_old_logs();
        }
        Ok(())
    }

    fn seal(&self) -> LineSeal {
        LineSeal::new(self.key.as_ref(), TextFileKind::ShownLog, &self.path)
    }

    /// Returns whether this session removes old logs. One in sixteen does, because listing the
    /// folder takes longer than everything else here. File names are hashes, so their first digit
    /// is random.
    fn cleans_up(&self) -> bool {
        let name = self.path.file_name().map(|it| it.to_string_lossy().into_owned());
        name.is_some_and(|it| it.starts_with('0'))
    }

    fn remove_old_logs(&self) {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let mut logs = Vec::new();
        for entry in entries {
            // Without a time, such as for a file that was just removed, its age is unknown.
            if let Ok(written_at) = entry.metadata().and_then(|it| it.modified()) {
                logs.push((written_at, entry.path()));
            }
        }
        // Oldest first.
        logs.sort();
        let n_old = logs.len().saturating_sub(MAX_SESSION_LOGS);
        for (_, path) in &logs[..n_old] {
            // Another process may have removed it already.
            let _ = os::remove_file_if_exists(path);
        }
    }
}

/// Erases a text from the logs of all sessions.
pub fn erase_text_from_shown_logs(
    data: &DataDir,
    key: Option<&EncryptionKey>,
    clean: impl Fn(&str) -> Option<String>,
) -> Result<(), Error> {
    for path in list_files(&shown_folder(data)) {
        let seal = LineSeal::new(key, TextFileKind::ShownLog, &path);
        rewrite_file(&path, |bytes| seal.clean_lines(bytes, &clean))?;
    }
    Ok(())
}

pub(crate) fn shown_folder(data: &DataDir) -> PathBuf {
    data.root.join("shown")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory_id(n: u8) -> MemoryId {
        MemoryId::new(Timestamp(1_700_000_000_000), [n; 10])
    }

    /// One entry of each kind.
    fn every_entry() -> Vec<ShownEntry> {
        let at = Timestamp(1_700_000_000_000);
        let fingerprint = "cargo test: E0308 in `a b.rs`".to_owned();
        vec![
            ShownEntry::Memory(memory_id(1)),
            ShownEntry::MemoryAt { id: memory_id(1), at },
            ShownEntry::RecipeStep { recipe: memory_id(2), order: 3 },
            ShownEntry::PendingNote { session: SessionId::new(at, [7; 10]), event: "e-4".into() },
            ShownEntry::ExpectedErrors,
            ShownEntry::PredictedFiles,
            ShownEntry::ProjectCommands,
            ShownEntry::ModuleList,
            ShownEntry::Module("crates/store".to_owned()),
            ShownEntry::ChangePartner(ProjectPath::parse("web/wire b.ts").unwrap()),
            ShownEntry::UsualChecks,
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
        let id = memory_id(1);
        let session = SessionId::new(Timestamp(1_700_000_000_000), [7; 10]);
        let lines: Vec<String> = every_entry().iter().map(ToString::to_string).collect();
        let expected = [
            format!("{id}"),
            format!("{id} at 1700000000000"),
            format!("{} 3", memory_id(2)),
            format!("note {session} e-4"),
            "outlook".to_owned(),
            "files".to_owned(),
            "map commands".to_owned(),
            "map parts".to_owned(),
            "map part crates/store".to_owned(),
            "partner web/wire b.ts".to_owned(),
            "checks".to_owned(),
            "once cargo test: E0308 in `a b.rs`".to_owned(),
            "fix cargo test: E0308 in `a b.rs` 1700000000000".to_owned(),
            "at 1700000000000 src/a b.rs".to_owned(),
            "step 4 120".to_owned(),
            "group passive".to_owned(),
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_lost_entry_may_be_shown_once_more_after_every_loss() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::new(dir.path());
        let log = ShownLog::for_session(&data, "a/../session", None);
        let (one, two) = (ShownEntry::Memory(memory_id(1)), ShownEntry::ExpectedErrors);
        assert!(log.read_entries().is_empty());
        log.record(std::slice::from_ref(&one)).unwrap();
        assert_eq!(log.read_entries(), HashSet::from([one.clone()]));
        assert!(ShownLog::for_session(&data, "another", None).read_entries().is_empty());
        // The first conversation is lost: the entry may be shown once more.
        log.mark_conversation_lost().unwrap();
        assert!(log.read_entries().is_empty());
        assert_eq!(log.read_lost(), HashSet::from([one.clone()]));
        log.record(&[one.clone(), two.clone()]).unwrap();
        assert!(log.read_lost().is_empty(), "it is in the conversation again");
        // The second conversation is lost, too.
        log.mark_conversation_lost().unwrap();
        assert!(log.read_entries().is_empty());
        assert_eq!(log.read_lost(), HashSet::from([one, two]));
    }

    #[test]
    fn records_about_the_session_are_never_lost() {
        let dir = tempfile::tempdir().unwrap();
        let log = ShownLog::for_session(&DataDir::new(dir.path()), "session", None);
        log.record(&every_entry()).unwrap();
        log.mark_conversation_lost().unwrap();
        let kept: HashSet<ShownEntry> =
            every_entry().into_iter().filter(|it| !it.is_content()).collect();
        assert_eq!(log.read_entries(), kept);
    }

    #[test]
    fn old_logs_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::new(dir.path());
        for n in 0..MAX_SESSION_LOGS + 200 {
            let log = ShownLog::for_session(&data, &n.to_string(), None);
            log.record(&[ShownEntry::ExpectedErrors]).unwrap();
        }
        // Not exactly the limit, since only one session in sixteen removes old logs.
        let n_logs = fs::read_dir(dir.path().join("shown")).unwrap().count();
        assert!((MAX_SESSION_LOGS..MAX_SESSION_LOGS + 100).contains(&n_logs), "{n_logs}");
    }
}
