//! The inbox: events of sessions that arrived while no daemon was running. One file per session,
//! one event per line.
//!
//! It lies outside of any project because its writer, a hook, has no time to find out which project
//! a session belongs to. Later the daemon takes the events and removes the file. Writer and reader
//! lock the file, and each checks after locking that the other has not removed it. Only
//! masked events are accepted.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use model::{SessionId, Timestamp};

use crate::line_file::{append_lines, none_if_missing, rewrite_file};
use crate::line_seal::{LineSeal, TextFileKind, holds_sealed_line, prepare_to_write};
use crate::text_erasure::TextCleaner;
use crate::{DataDir, EncryptionKey, Error, MaskedEvent, journal, os};

/// Largest file of one session in the inbox. Hosts keep their own logs, so nothing is lost beyond
/// it.
const MAX_SESSION_BYTES: u64 = 16 << 20;
/// The folder of the inbox.
#[derive(Clone, Debug)]
pub struct Inbox {
    data: DataDir,
    dir: PathBuf,
    key: Option<EncryptionKey>,
}

impl Inbox {
    /// With a key, events are sealed.
    pub fn in_data_dir(data: &DataDir, key: Option<&EncryptionKey>) -> Self {
        Self { data: data.clone(), dir: inbox_folder(data), key: key.cloned() }
    }

    /// Appends events; `first` goes before them if the session has no file yet. Returns `false` if
    /// the file of the session is full.
    pub fn append(
        &self,
        session: SessionId,
        first: &MaskedEvent,
        events: &[MaskedEvent],
    ) -> Result<bool, Error> {
        prepare_to_write(&self.data, self.key.as_ref())?;
        let path = self.path_of(session);
        os::private_dir(&self.dir).map_err(|it| Error::from_io(&path, &it))?;
        let lines: String = events.iter().map(MaskedEvent::to_line).collect();
        let appended = append_lines(&path, |length| {
            if length > MAX_SESSION_BYTES {
                return Ok(None);
            }
            let first = if length == 0 { first.to_line() } else { String::new() };
            self.seal(&path).seal_lines(&(first + &lines)).map(Some)
        })?;
        Ok(appended.is_some())
    }

    /// Sessions that have events in the inbox.
    pub fn list_sessions(&self) -> Vec<SessionId> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let mut sessions: Vec<SessionId> =
            entries.filter_map(|it| journal::session_of(&it.path())).collect();
        sessions.sort_unstable();
        sessions
    }

    /// Reads the events of a session and leaves them in the inbox.
    pub fn read(&self, session: SessionId) -> Result<String, Error> {
        let path = self.path_of(session);
        let bytes = fs::read(&path).map_err(|it| Error::from_io(&path, &it))?;
        self.open(&path, &bytes)
    }

    /// Passes the events of a session to `take` and removes them if it succeeds. The file is locked
    /// meanwhile, so nothing is appended.
    pub fn take<E: From<Error>>(
        &self,
        session: SessionId,
        take: impl FnOnce(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let path = self.path_of(session);
        let io = |it: std::io::Error| Error::from_io(&path, &it);
        let Some(mut file) = File::open(&path).map(Some).or_else(none_if_missing).map_err(io)?
        else {
            return Ok(());
        };
        file.lock().map_err(io)?;
        // Another reader was faster and has taken the events.
        if !os::is_at(&file, &path) {
            return Ok(());
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io)?;
        // A writer has just created the file and is about to write to it.
        if bytes.is_empty() {
            return Ok(());
        }
        take(&self.open(&path, &bytes)?)?;
        Ok(os::remove_file_if_exists(&path).map_err(io)?)
    }

    /// Removes files that were last written before `before`.
    pub fn remove_older_than(&self, before: Timestamp) {
        for session in self.list_sessions() {
            let modified = fs::metadata(self.path_of(session)).and_then(|it| it.modified()).ok();
            let since_epoch = modified.and_then(|it| it.duration_since(UNIX_EPOCH).ok());
            let millis = since_epoch.and_then(|it| i64::try_from(it.as_millis()).ok());
            if millis.is_some_and(|it| it < before.0) {
                // A file that cannot be removed is tried again the next time.
                let _ = self.remove(session);
            }
        }
    }

    pub fn remove(&self, session: SessionId) -> Result<(), Error> {
        let path = self.path_of(session);
        os::remove_file_if_exists(&path).map_err(|it| Error::from_io(&path, &it))
    }

    /// Removes all events and the folder.
    pub fn clear(&self) -> Result<(), Error> {
        for session in self.list_sessions() {
            self.remove(session)?;
        }
        // A folder that holds other files stays.
        let _ = fs::remove_dir(&self.dir);
        Ok(())
    }

    /// Erases a text from all events in the inbox.
    pub fn erase_text(&self, clean: TextCleaner<'_>) -> Result<(), Error> {
        for session in self.list_sessions() {
            let path = self.path_of(session);
            rewrite_file(&path, |bytes| self.seal(&path).clean_lines(bytes, clean))?;
        }
        Ok(())
    }

    fn seal(&self, path: &Path) -> LineSeal {
        LineSeal::new(self.key.as_ref(), TextFileKind::Inbox, path)
    }

    /// Opens the lines of a file. Without its key the file is left alone: its events are not lost, as
    /// they would be if they were taken unread.
    fn open(&self, path: &Path, bytes: &[u8]) -> Result<String, Error> {
        let lines = self.seal(path).open_lines(bytes);
        let first = lines.lines().next().unwrap_or_default();
        if holds_sealed_line(first) {
            return Err(Error::WrongKey { path: path.to_owned() });
        }
        Ok(lines)
    }

    fn path_of(&self, session: SessionId) -> PathBuf {
        self.dir.join(journal::journal_file_name(session))
    }
}

pub(crate) fn inbox_folder(data: &DataDir) -> PathBuf {
    data.root.join("inbox")
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Event, EventEnvelope, UserMessage};

    fn session(n: u8) -> SessionId {
        SessionId::from_bytes(&[n; 16]).unwrap()
    }

    fn event(text: &str) -> MaskedEvent {
        let event =
            Event::UserMessage(UserMessage { text: text.to_owned(), ..UserMessage::default() });
        let (id, at) = (text.to_owned(), Timestamp(1));
        MaskedEvent::new(EventEnvelope { id, session: session(1), at, event }).unwrap()
    }

    /// The ids of the events in these lines, except the start.
    fn event_ids(lines: &str) -> Vec<String> {
        let ids = lines.lines().map(|it| EventEnvelope::parse_line(it).unwrap().id);
        ids.filter(|it| it != "start").collect()
    }

    #[test]
    fn events_are_taken_once() {
        let dir = tempfile::tempdir().unwrap();
        let inbox = Inbox::in_data_dir(&DataDir::new(dir.path()), None);
        assert!(inbox.list_sessions().is_empty());
        assert!(inbox.append(session(1), &event("start"), &[event("one")]).unwrap());
        assert!(inbox.append(session(1), &event("start"), &[event("two")]).unwrap());
        assert!(inbox.append(session(2), &event("three"), &[]).unwrap());
        assert_eq!(inbox.list_sessions(), [session(1), session(2)]);
        // Taking the events of the first session removes them, and only them.
        let mut seen = String::new();
        let taken: Result<(), Error> = inbox.take(session(1), |text| {
            text.clone_into(&mut seen);
            Ok(())
        });
        taken.unwrap();
        assert_eq!((event_ids(&seen).join(" "), seen.lines().count()), ("one two".to_owned(), 3));
        assert_eq!(inbox.list_sessions(), [session(2)]);
        let failed = inbox.take(session(2), |_| Err(Error::Internal { what: "full".to_owned() }));
        assert!(failed.is_err());
        assert_eq!(inbox.list_sessions(), [session(2)], "events that could not be handled stay");
        inbox.clear().unwrap();
        assert!(fs::read_dir(dir.path()).unwrap().next().is_none());
    }

    #[test]
    fn nothing_is_lost_between_writers_and_readers() {
        let dir = tempfile::tempdir().unwrap();
        let inbox = Inbox::in_data_dir(&DataDir::new(dir.path()), None);
        let writer = {
            let inbox = inbox.clone();
            std::thread::spawn(move || {
                for n in 0..500 {
                    inbox.append(session(1), &event("start"), &[event(&n.to_string())]).unwrap();
                }
            })
        };
        let mut seen = String::new();
        loop {
            // Asked before taking, so that the last take comes after the last append.
            let is_over = writer.is_finished();
            let taken: Result<(), Error> = inbox.take(session(1), |text| {
                seen.push_str(text);
                Ok(())
            });
            taken.unwrap();
            if is_over {
                break;
            }
        }
        writer.join().unwrap();
        let numbers: Vec<u32> = event_ids(&seen).iter().map(|it| it.parse().unwrap()).collect();
        assert_eq!(numbers, (0..500).collect::<Vec<u32>>());
    }
}
