//! The list of sessions of a project that could not be learned, with the reason.
//!
//! A session is one conversation of a coding agent; to learn it is to extract memories from its
//! record. The list is a file beside the database, not a table: a session may have failed because
//! the database refused it. Learning adds an entry when a session fails and removes it when a later
//! attempt succeeds; the background process skips listed sessions until the program is upgraded;
//! the commands `doctor` and `stats` show them.
//!
//! One JSON object per line, the earliest failure first:
//!
//! ```text
//! {"session":"…","version":"1.0.0","reason":"the memory changed meanwhile","at":1700000000000}
//! ```

use std::fs;
use std::path::PathBuf;

use model::{SessionId, Timestamp};
use serde_json::{Value, json};

use crate::data_dir::DatabasePaths;
use crate::line_seal::{LineSeal, TextFileKind, prepare_to_write};
use crate::{EncryptionKey, Error, os};

/// Extension of the file, which has the name of the database.
pub(crate) const FAILED_SESSIONS_EXTENSION: &str = "failed-sessions";
/// Most sessions listed; those that failed longest ago are dropped first.
const MAX_FAILED_SESSIONS: usize = 100;

/// A session that could not be learned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedSession {
    pub session: SessionId,
    /// Version of the program that failed. Another version tries again.
    pub program_version: String,
    /// The error message.
    pub reason: String,
    pub failed_at: Timestamp,
}

/// The failed sessions of one database.
#[derive(Clone, Copy)]
pub struct FailedSessionFile<'a> {
    paths: &'a DatabasePaths,
    key: Option<&'a EncryptionKey>,
}

impl<'a> FailedSessionFile<'a> {
    pub(crate) fn new(paths: &'a DatabasePaths, key: Option<&'a EncryptionKey>) -> Self {
        Self { paths, key }
    }

    /// The failed sessions, the earliest failure first. Lines that cannot be parsed are skipped:
    /// their sessions are only tried once more.
    pub fn list(self) -> Vec<FailedSession> {
        let text = self.seal().open_lines(&fs::read(self.path()).unwrap_or_default());
        text.lines().filter_map(parse_line).collect()
    }

    /// Adds a failed session, or replaces its entry.
    pub fn record(self, failed: FailedSession) -> Result<(), Error> {
        let mut all = self.list();
        all.retain(|it| it.session != failed.session);
        all.push(failed);
        let n_excess = all.len().saturating_sub(MAX_FAILED_SESSIONS);
        all.drain(..n_excess);
        self.write(&all)
    }

    /// Removes a session that was learned after all.
    pub fn remove(self, session: SessionId) -> Result<(), Error> {
        let mut all = self.list();
        let n_before = all.len();
        all.retain(|it| it.session != session);
        // The usual case: nothing to remove, so nothing is written.
        if all.len() == n_before { Ok(()) } else { self.write(&all) }
    }

    fn write(self, all: &[FailedSession]) -> Result<(), Error> {
        let lines: String = all.iter().map(|it| format_line(it) + "\n").collect();
        prepare_to_write(&self.paths.data_dir(), self.key)?;
        os::write_private_file(&self.path(), self.seal().seal_lines(&lines)?.as_bytes())
    }

    fn seal(self) -> LineSeal {
        LineSeal::new(self.key, TextFileKind::FailedSessions, &self.path())
    }

    fn path(self) -> PathBuf {
        self.paths.with_extension(FAILED_SESSIONS_EXTENSION)
    }
}

/// The line of an entry, as in the example above.
fn format_line(failed: &FailedSession) -> String {
    json!({
        "session": failed.session.to_string(),
        "version": failed.program_version,
        // An error message may quote a text of the session.
        "reason": secrets::redact(&failed.reason).text,
        "at": failed.failed_at.0,
    })
    .to_string()
}

/// Parses a line; `None` if a field is missing or malformed.
fn parse_line(line: &str) -> Option<FailedSession> {
    let fields: Value = serde_json::from_str(line).ok()?;
    let text = |name: &str| fields[name].as_str();
    Some(FailedSession {
        session: text("session")?.parse().ok()?,
        program_version: text("version")?.to_owned(),
        reason: text("reason")?.to_owned(),
        failed_at: Timestamp(fields["at"].as_i64()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DataDir;

    fn failed(n: u8) -> FailedSession {
        FailedSession {
            session: SessionId::new(Timestamp(i64::from(n)), [n; 10]),
            program_version: "1.0.0".to_owned(),
            reason: "the \"store\" refused it".to_owned(),
            failed_at: Timestamp(i64::from(n)),
        }
    }

    #[test]
    fn entries_are_added_replaced_and_removed() {
        let dir = tempfile::tempdir().unwrap();
        let paths = DataDir::new(dir.path()).user_paths();
        let file = FailedSessionFile::new(&paths, None);
        assert_eq!(file.list(), []);
        file.record(failed(1)).unwrap();
        file.record(failed(2)).unwrap();
        let again = FailedSession { program_version: "2.0.0".to_owned(), ..failed(1) };
        file.record(again.clone()).unwrap();
        assert_eq!(file.list(), [failed(2), again]);
        file.remove(failed(1).session).unwrap();
        assert_eq!(file.list(), [failed(2)]);
    }

    #[test]
    fn the_oldest_entries_are_dropped_and_damaged_lines_are_skipped() {
        let dir = tempfile::tempdir().unwrap();
        let paths = DataDir::new(dir.path()).user_paths();
        let file = FailedSessionFile::new(&paths, None);
        for n in 0..=100 {
            file.record(failed(n)).unwrap();
        }
        let listed = file.list();
        assert_eq!((listed.len(), &listed[0]), (MAX_FAILED_SESSIONS, &failed(1)));
        fs::write(file.path(), "not json\n").unwrap();
        assert_eq!(file.list(), []);
    }
}
