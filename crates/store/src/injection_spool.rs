//! The spool of the injection log: a file beside the project's database to which hooks append the
//! notes they gave to agents.
//!
//! A hook must answer within milliseconds, so it takes no lock of the database. It appends lines
//! here; the daemon, learning and the commands that read the log move them into table `injections`
//! (`injection_log.rs`) later. A reader removes only what it has stored, and the table ignores lines
//! that it has already, so a crash between the two loses and doubles nothing. [`InjectionSpool`] has
//! the only writer and the only parser of the file. With encryption each line is sealed: the host's id of
//! a session may be any text.

use std::fs::{self, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use model::{InjectionMoment, InjectionTier, MemoryId, NoteSubject, ProjectId, Timestamp};
use serde_json::{Value, json};

use crate::data_dir::DatabasePaths;
use crate::line_seal::{LineSeal, TextFileKind, prepare_to_write};
use crate::text_erasure::TextCleaner;
use crate::{EncryptionKey, Error, os};

/// Extension of the file, which has the name of the database.
pub(crate) const INJECTION_SPOOL_EXTENSION: &str = "injections";
/// Bytes of the file above which hooks append nothing more. It is emptied at every learning, so only
/// a project whose database cannot be written gets there.
const MAX_SPOOL_BYTES: u64 = 4 * 1024 * 1024;

/// A note that was given to an agent. Ids and words only, never a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InjectionRow {
    pub at: Timestamp,
    pub project: ProjectId,
    /// The host's id of the session.
    pub session: String,
    /// The slug of the host; empty if the client did not name one.
    pub host: String,
    pub moment: InjectionMoment,
    /// `None` if the agent asked for the note.
    pub tier: Option<InjectionTier>,
    pub subject: NoteSubject,
    /// The memory, if the note is one.
    pub memory: Option<MemoryId>,
    pub tokens: u32,
    /// `None` until the session is learned, and for notes that are no memory.
    pub followed: Option<bool>,
    /// Position among the notes of the session at this time.
    pub position: u32,
}

/// Lines read from the spool, to be removed once they are stored.
pub struct SpooledInjections {
    pub rows: Vec<InjectionRow>,
    bytes: Vec<u8>,
}

/// The spool of one project.
#[derive(Clone, Copy)]
pub struct InjectionSpool<'a> {
    paths: &'a DatabasePaths,
    key: Option<&'a EncryptionKey>,
}

impl<'a> InjectionSpool<'a> {
    pub(crate) fn new(paths: &'a DatabasePaths, key: Option<&'a EncryptionKey>) -> Self {
        Self { paths, key }
    }

    /// Appends notes. Waits only for another process that appends or removes, never for a
    /// transaction.
    pub fn append(self, rows: &[InjectionRow]) -> Result<(), Error> {
        if rows.is_empty() {
            return Ok(());
        }
        let lines: String = rows.iter().map(|it| format_line(it) + "\n").collect();
        self.paths.create_folders()?;
        prepare_to_write(&self.paths.data_dir(), self.key)?;
        let lines = self.seal().seal_lines(&lines)?;
        os::private_file(&self.path()).map_err(|it| self.error(&it))?;
        let written = OpenOptions::new().append(true).open(self.path()).and_then(|mut file| {
            file.lock()?;
            if file.metadata()?.len() < MAX_SPOOL_BYTES {
                file.write_all(lines.as_bytes())?;
            }
            Ok(())
        });
        written.map_err(|it| self.error(&it))
    }

    /// Reads everything that hooks appended. Lines that cannot be parsed, such as one that a crash
    /// cut off, are skipped and removed with the others.
    pub fn read(self) -> Result<SpooledInjections, Error> {
        let bytes = match fs::read(self.path()) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            read => read.map_err(|it| self.error(&it))?,
        };
        let rows = self.seal().open_lines(&bytes).lines().filter_map(parse_line).collect();
        Ok(SpooledInjections { rows, bytes })
    }

    /// Removes lines that were stored. Lines that were appended after they were read stay.
    pub fn remove(self, stored: &SpooledInjections) -> Result<(), Error> {
        self.replace(stored, &[])
    }

    /// Replaces lines that were read by others. Lines that were appended since stay.
    fn replace(self, read: &SpooledInjections, lines: &[u8]) -> Result<(), Error> {
        if read.bytes.is_empty() {
            return Ok(());
        }
        let replaced =
            OpenOptions::new().read(true).write(true).open(self.path()).and_then(|mut file| {
                file.lock()?;
                let mut bytes = Vec::new();
                file.read_to_end(&mut bytes)?;
                // If another process has removed them already, the file begins with other lines.
                let Some(newer) = bytes.strip_prefix(read.bytes.as_slice()) else { return Ok(()) };
                file.seek(SeekFrom::Start(0))?;
                file.write_all(lines)?;
                file.write_all(newer)?;
                file.set_len((lines.len() + newer.len()) as u64)
            });
        replaced.map_err(|it| self.error(&it))
    }

    /// Erases a text, which can only be in the host's id of a session.
    pub(crate) fn erase_text(self, clean: TextCleaner<'_>) -> Result<(), Error> {
        let spooled = self.read()?;
        if let Some(cleaned) = self.seal().clean_lines(&spooled.bytes, clean)? {
            self.replace(&spooled, &cleaned)?;
        }
        Ok(())
    }

    fn seal(self) -> LineSeal {
        LineSeal::new(self.key, TextFileKind::InjectionSpool, &self.path())
    }

    fn path(self) -> PathBuf {
        self.paths.with_extension(INJECTION_SPOOL_EXTENSION)
    }

    fn error(self, error: &std::io::Error) -> Error {
        Error::from_io(&self.path(), error)
    }
}

fn format_line(row: &InjectionRow) -> String {
    json!({
        "at": row.at.0,
        "project": row.project.to_string(),
        // The id comes from the host and may be any text.
        "session": secrets::redact_path(&row.session).text,
        "host": row.host,
        "moment": row.moment.slug(),
        "tier": row.tier.map(InjectionTier::slug),
        "subject": row.subject.slug(),
        "memory": row.memory.map(|it| it.to_string()),
        "tokens": row.tokens,
        "position": row.position,
    })
    .to_string()
}

/// Parses a line; `None` if a field is missing or malformed.
fn parse_line(line: &str) -> Option<InjectionRow> {
    let fields: Value = serde_json::from_str(line).ok()?;
    let text = |name: &str| fields[name].as_str();
    let number = |name: &str| u32::try_from(fields[name].as_u64()?).ok();
    let memory = match text("memory") {
        Some(id) => Some(id.parse().ok()?),
        None => None,
    };
    Some(InjectionRow {
        at: Timestamp(fields["at"].as_i64()?),
        project: text("project")?.parse().ok()?,
        session: text("session")?.to_owned(),
        host: text("host")?.to_owned(),
        moment: InjectionMoment::from_slug(text("moment")?)?,
        tier: text("tier").and_then(InjectionTier::from_slug),
        subject: NoteSubject::from_slug(text("subject")?)?,
        memory,
        tokens: number("tokens")?,
        followed: None,
        position: number("position")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DataDir;

    fn row(position: u32) -> InjectionRow {
        let at = Timestamp(1_700_000_000_000);
        InjectionRow {
            at,
            project: ProjectId::new(at, [1; 10]),
            session: "a \"session\"".to_owned(),
            host: "claude-code".to_owned(),
            moment: InjectionMoment::File,
            tier: Some(InjectionTier::ToolResult),
            subject: NoteSubject::Memory,
            memory: Some(MemoryId::new(at, [2; 10])),
            tokens: 31,
            followed: None,
            position,
        }
    }

    #[test]
    fn what_was_appended_after_reading_stays() {
        let dir = tempfile::tempdir().unwrap();
        let paths = DataDir::new(dir.path()).user_paths();
        let spool = InjectionSpool::new(&paths, None);
        assert_eq!(spool.read().unwrap().rows, []);
        spool.append(&[row(0), row(1)]).unwrap();
        let read = spool.read().unwrap();
        assert_eq!(read.rows, [row(0), row(1)]);
        let twin = spool.read().unwrap();
        spool.append(&[row(2)]).unwrap();
        spool.remove(&read).unwrap();
        assert_eq!(spool.read().unwrap().rows, [row(2)]);
        // A second process that read the same lines removes nothing else.
        spool.remove(&twin).unwrap();
        assert_eq!(spool.read().unwrap().rows, [row(2)]);
    }

    #[test]
    fn a_line_that_was_cut_off_is_skipped() {
        let dir = tempfile::tempdir().unwrap();
        let paths = DataDir::new(dir.path()).user_paths();
        let spool = InjectionSpool::new(&paths, None);
        spool.append(&[row(0)]).unwrap();
        let mut file = OpenOptions::new().append(true).open(spool.path()).unwrap();
        file.write_all(b"{\"at\":17\n").unwrap();
        spool.append(&[row(1)]).unwrap();
        assert_eq!(spool.read().unwrap().rows, [row(0), row(1)]);
    }
}
