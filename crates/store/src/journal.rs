//! Journals: the events of unfinished sessions, one file per session, one event per line.
//!
//! Private files beside the database, sealed line by line if there is a key: an event is stored before anything else happens to it,
//! and the hook that stores it waits for no transaction. Only masked events are accepted.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use model::SessionId;

use crate::data_dir::DatabasePaths;
use crate::line_file::{append_lines, rewrite_file};
use crate::line_seal::{LineSeal, TextFileKind, prepare_to_write};
use crate::text_erasure::TextCleaner;
use crate::{EncryptionKey, Error, MaskedEvent, os};

/// Extension of a journal: one JSON value per line.
pub const JOURNAL_EXTENSION: &str = "ndjson";
/// Marker file, written whenever a note is recorded. If it is old, no journal has to be searched
/// for new notes.
const NOTE_MARKER: &str = "noted";

/// The journals of one database.
#[derive(Clone, Copy)]
pub struct JournalFiles<'a> {
    paths: &'a DatabasePaths,
}

/// The part of a journal that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalPart {
    Whole,
    /// At most so many bytes of the file, from its beginning. The last line may be cut off.
    Start(u64),
    /// At most so many bytes of the file, up to its end. The first line may be cut off.
    End(u64),
}

impl<'a> JournalFiles<'a> {
    pub(crate) fn new(paths: &'a DatabasePaths) -> Self {
        Self { paths }
    }

    /// Path of a session's journal, whether it exists or not.
    pub fn path_of(self, session: SessionId) -> PathBuf {
        journal_path(self.paths, session)
    }

    /// Existing journals, by session.
    pub fn list(self) -> Vec<(SessionId, PathBuf)> {
        list_journals(self.paths)
    }

    /// Journals that may hold a note recorded since `since` (milliseconds since the epoch), the
    /// last written first.
    pub fn with_notes_since(self, since: i64) -> Vec<PathBuf> {
        let folder = journals_folder(self.paths);
        let last_note =
            fs::metadata(folder.join(NOTE_MARKER)).ok().and_then(|it| modified_millis(&it));
        // No note since then: the usual case, answered without listing the folder.
        if last_note.is_none_or(|it| it < since) {
            return Vec::new();
        }
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut journals: Vec<(i64, PathBuf)> = entries
            .filter_map(|it| Some((modified_millis(&it.metadata().ok()?)?, it.path())))
            .filter(|it| it.0 >= since && session_of(&it.1).is_some())
            .collect();
        // Latest first.
        journals.sort_unstable_by(|a, b| b.cmp(a));
        journals.into_iter().map(|it| it.1).collect()
    }
}

/// Moment at which appended lines count as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalDurability {
    /// They are in the operating system's cache: they survive this process.
    Buffered,
    /// They are on the disk: they survive a power loss.
    Synced,
}

/// Writes the journals of one database.
#[derive(Clone, Copy)]
pub struct JournalWriter<'a> {
    paths: &'a DatabasePaths,
    key: Option<&'a EncryptionKey>,
}

impl<'a> JournalWriter<'a> {
    pub(crate) fn new(paths: &'a DatabasePaths, key: Option<&'a EncryptionKey>) -> Self {
        Self { paths, key }
    }

    /// Appends events to the journal of a session.
    pub fn append(
        self,
        session: SessionId,
        events: &[MaskedEvent],
        durability: JournalDurability,
    ) -> Result<(), Error> {
        let lines: String = events.iter().map(MaskedEvent::to_line).collect();
        let paths = self.paths;
        paths.create_folders()?;
        let dir = journals_folder(paths);
        os::private_dir(&dir).map_err(|it| Error::from_io(&dir, &it))?;
        prepare_to_write(&paths.data_dir(), self.key)?;
        let path = journal_path(paths, session);
        let lines = LineSeal::new(self.key, TextFileKind::Journal, &path).seal_lines(&lines)?;
        let file = append_lines(&path, |_| Ok(Some(lines.clone())))?;
        match file.filter(|_| durability == JournalDurability::Synced) {
            Some(file) => file.sync_data().map_err(|it| Error::from_io(&path, &it)),
            None => Ok(()),
        }
    }

    /// Waits until the journal of a session is on the disk.
    pub fn sync(self, session: SessionId) -> Result<(), Error> {
        let path = journal_path(self.paths, session);
        match os::sync_file(&path) {
            // The session was learned from and its journal removed meanwhile.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            synced => synced.map_err(|it| Error::from_io(&path, &it)),
        }
    }

    /// Updates the marker whose time is that of the last recorded note.
    pub fn mark_note_recorded(self) -> Result<(), Error> {
        let path = journals_folder(self.paths).join(NOTE_MARKER);
        let marked = os::private_file(&path).and_then(|()| fs::write(&path, "\n"));
        marked.map_err(|it| Error::from_io(&path, &it))
    }

    /// Removes the journal of a session.
    pub fn remove(self, session: SessionId) -> Result<(), Error> {
        let path = journal_path(self.paths, session);
        os::remove_file_if_exists(&path).map_err(|it| Error::from_io(&path, &it))
    }
}

/// Reads a journal, or a part of it, and opens its sealed lines. A line that does not open, such as
/// one that was cut off, stays as it is. `path` may also be that of another file, which is read as it
/// is.
pub fn read_journal(
    path: &Path,
    key: Option<&EncryptionKey>,
    part: JournalPart,
) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    if let JournalPart::End(n_bytes) = part {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(n_bytes)))?;
    }
    let limit = match part {
        JournalPart::Whole => u64::MAX,
        JournalPart::Start(n_bytes) | JournalPart::End(n_bytes) => n_bytes,
    };
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(LineSeal::new(key, TextFileKind::Journal, path).open_lines(&bytes))
}

pub(crate) fn journals_folder(paths: &DatabasePaths) -> PathBuf {
    paths.dir.join("journals")
}

/// Returns whether this program gives such a name to a file in the journal folder.
pub(crate) fn is_journal_file(name: &str) -> bool {
    let session = name.strip_suffix(&format!(".{JOURNAL_EXTENSION}"));
    name == NOTE_MARKER || session.is_some_and(|it| it.parse::<SessionId>().is_ok())
}

/// Erases a text from every journal.
pub(crate) fn erase_text(
    paths: &DatabasePaths,
    key: Option<&EncryptionKey>,
    clean: TextCleaner<'_>,
) -> Result<(), Error> {
    for (_, path) in list_journals(paths) {
        let seal = LineSeal::new(key, TextFileKind::Journal, &path);
        rewrite_file(&path, |bytes| seal.clean_lines(bytes, clean))?;
    }
    Ok(())
}

fn list_journals(paths: &DatabasePaths) -> Vec<(SessionId, PathBuf)> {
    let entries = fs::read_dir(journals_folder(paths)).into_iter().flatten().flatten();
    let mut journals: Vec<(SessionId, PathBuf)> =
        entries.filter_map(|it| Some((session_of(&it.path())?, it.path()))).collect();
    journals.sort();
    journals
}

/// Modification time of a file, in milliseconds since the epoch.
fn modified_millis(file: &fs::Metadata) -> Option<i64> {
    let since_epoch = file.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    i64::try_from(since_epoch.as_millis()).ok()
}

/// The session whose journal a file is; `None` for any other file.
pub(crate) fn session_of(path: &Path) -> Option<SessionId> {
    let name = path.file_name()?.to_str()?;
    is_journal_file(name).then(|| path.file_stem()?.to_str()?.parse().ok()).flatten()
}

fn journal_path(paths: &DatabasePaths, session: SessionId) -> PathBuf {
    journals_folder(paths).join(journal_file_name(session))
}

pub(crate) fn journal_file_name(session: SessionId) -> String {
    format!("{session}.{JOURNAL_EXTENSION}")
}
