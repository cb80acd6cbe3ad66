//! Journals: the events of sessions that are not finished, one file a session, one event a line.
//!
//! Plain files beside the database, owner-only: an event is kept before anything else happens to it, and
//! nobody waits for a transaction. What a line means is not known here; texts are redacted by who writes.

use std::fs::{self, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use model::SessionId;

use crate::layout::Home;
use crate::scrub::Clean;
use crate::{Error, Store, os};

const ENDING: &str = "ndjson";
/// Written to whenever a note was recorded, so that nobody looks through all journals for none.
const NOTED: &str = "noted";

impl Store {
    /// Appends whole lines to the journal of a session; `durable` waits until they are on the disk.
    pub fn journal(&self, session: SessionId, lines: &str, durable: bool) -> Result<(), Error> {
        let home = self.home();
        home.prepare()?;
        let dir = folder(home);
        os::private_dir(&dir).map_err(|it| Error::io(&dir, &it))?;
        let path = path_of(home, session);
        let io = |it: std::io::Error| Error::io(&path, &it);
        os::private_file(&path).map_err(io)?;
        let mut file = OpenOptions::new().read(true).append(true).open(&path).map_err(io)?;
        // A crash may have cut the last line short; what follows must not be read with it.
        let mut last = [b'\n'];
        if file.seek(SeekFrom::End(-1)).is_ok() {
            file.read_exact(&mut last).map_err(io)?;
        }
        let lines = if last == [b'\n'] { lines.to_owned() } else { format!("\n{lines}") };
        file.write_all(lines.as_bytes()).map_err(io)?;
        if durable { file.sync_data().map_err(io) } else { Ok(()) }
    }

    /// Waits until everything in a session's journal is on the disk.
    pub fn sync_journal(&self, session: SessionId) -> Result<(), Error> {
        let path = path_of(self.home(), session);
        match os::sync_file(&path) {
            // It was learned from and removed meanwhile.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            res => res.map_err(|it| Error::io(&path, &it)),
        }
    }

    /// Where the journal of a session is or would be.
    pub fn journal_path(&self, session: SessionId) -> PathBuf {
        path_of(self.home(), session)
    }

    /// The journals there are, by session.
    pub fn journals(&self) -> Vec<(SessionId, PathBuf)> {
        list(self.home())
    }

    /// Says that a note stands in one of the journals now.
    pub fn mark_noted(&self) -> Result<(), Error> {
        let path = folder(self.home()).join(NOTED);
        let marked = os::private_file(&path).and_then(|()| fs::write(&path, "\n"));
        marked.map_err(|it| Error::io(&path, &it))
    }

    /// The journals in which a note may stand that was recorded since, in milliseconds since the epoch:
    /// those that were written to, the last first; none, if nobody recorded anything.
    pub fn noted_since(&self, since: i64) -> Vec<PathBuf> {
        let folder = folder(self.home());
        let marked = fs::metadata(folder.join(NOTED)).ok().and_then(|it| modified(&it));
        if marked.is_none_or(|it| it < since) {
            return Vec::new();
        }
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut res: Vec<(i64, PathBuf)> = entries
            .filter_map(|it| Some((modified(&it.metadata().ok()?)?, it.path())))
            .filter(|it| it.0 >= since && session_of(&it.1).is_some())
            .collect();
        res.sort_unstable_by(|a, b| b.cmp(a));
        res.into_iter().map(|it| it.1).collect()
    }

    pub fn remove_journal(&self, session: SessionId) -> Result<(), Error> {
        let path = path_of(self.home(), session);
        os::remove(&path).map_err(|it| Error::io(&path, &it))
    }
}

pub(crate) fn folder(home: &Home) -> PathBuf {
    home.dir.join("journals")
}

/// Whether a file in that folder is ours.
pub(crate) fn is_ours(name: &str) -> bool {
    let session = name.strip_suffix(&format!(".{ENDING}"));
    name == NOTED || session.is_some_and(|it| it.parse::<SessionId>().is_ok())
}

/// Takes a text out of every journal.
pub(crate) fn scrub(home: &Home, clean: Clean<'_>) -> Result<(), Error> {
    for (_, path) in list(home) {
        let bytes = fs::read(&path).map_err(|it| Error::io(&path, &it))?;
        if let Some(cleaned) = clean(&String::from_utf8_lossy(&bytes)) {
            os::write_private(&path, cleaned.as_bytes())?;
        }
    }
    Ok(())
}

fn list(home: &Home) -> Vec<(SessionId, PathBuf)> {
    let entries = fs::read_dir(folder(home)).into_iter().flatten().flatten();
    let mut res: Vec<(SessionId, PathBuf)> =
        entries.filter_map(|it| Some((session_of(&it.path())?, it.path()))).collect();
    res.sort();
    res
}

/// When a file was last written to, in milliseconds since the epoch.
fn modified(file: &fs::Metadata) -> Option<i64> {
    let since = file.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok()
}

pub(crate) fn session_of(path: &Path) -> Option<SessionId> {
    let name = path.file_name()?.to_str()?;
    is_ours(name).then(|| path.file_stem()?.to_str()?.parse().ok()).flatten()
}

fn path_of(home: &Home, session: SessionId) -> PathBuf {
    folder(home).join(file_name(session))
}

pub(crate) fn file_name(session: SessionId) -> String {
    format!("{session}.{ENDING}")
}
