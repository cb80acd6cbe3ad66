//! What came in while nobody was there to take it: a file per session, one event a line.
//!
//! Outside of any project, because whoever writes it has no time to find out which one it is. Texts are
//! redacted by who writes; what a line means is not known here.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use model::{SessionId, Timestamp};

use crate::scrub::Clean;
use crate::{DataDir, Error, journal, os};

/// The most that one session may leave, in bytes; hosts keep logs of their own.
const MOST: u64 = 16 << 20;
/// How often a file may be taken away between opening and locking it.
const TRIES: usize = 10;

/// The folder of what waits.
#[derive(Clone, Debug)]
pub struct Inbox {
    dir: PathBuf,
}

impl Inbox {
    pub fn of(data: &DataDir) -> Self {
        Self { dir: data.root.join("inbox") }
    }

    /// Adds whole lines; `first` goes before them when the session has nothing here yet. A session
    /// that left too much already leaves no more: the answer is then false.
    pub fn add(&self, session: SessionId, first: &str, lines: &str) -> Result<bool, Error> {
        let path = self.path(session);
        let io = |it: std::io::Error| Error::io(&path, &it);
        os::private_dir(&self.dir).map_err(io)?;
        for _ in 0..TRIES {
            // It may be taken away at any moment until it is locked.
            let made = os::private_file(&path);
            let opened = made.and_then(|()| OpenOptions::new().append(true).open(&path));
            let Some(mut file) = opened.map(Some).or_else(unless_missing).map_err(io)? else {
                continue;
            };
            file.lock().map_err(io)?;
            if !os::is_at(&file, &path) {
                continue;
            }
            let length = file.metadata().map_err(io)?.len();
            if length > MOST {
                return Ok(false);
            }
            let text = if length == 0 { format!("{first}{lines}") } else { lines.to_owned() };
            return file.write_all(text.as_bytes()).map(|()| true).map_err(io);
        }
        Err(Error::io(&path, &std::io::Error::other("it is taken away again and again")))
    }

    /// The sessions that wait.
    pub fn waiting(&self) -> Vec<SessionId> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let mut res: Vec<SessionId> =
            entries.filter_map(|it| journal::session_of(&it.path())).collect();
        res.sort_unstable();
        res
    }

    /// What a session left, without taking it.
    pub fn read(&self, session: SessionId) -> Result<String, Error> {
        let path = self.path(session);
        let bytes = fs::read(&path).map_err(|it| Error::io(&path, &it))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Hands over what a session left, and removes it when `take` kept it. Nobody adds meanwhile.
    pub fn take<E: From<Error>>(
        &self,
        session: SessionId,
        take: impl FnOnce(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let path = self.path(session);
        let io = |it: std::io::Error| Error::io(&path, &it);
        let Some(mut file) = File::open(&path).map(Some).or_else(unless_missing).map_err(io)?
        else {
            return Ok(());
        };
        file.lock().map_err(io)?;
        if !os::is_at(&file, &path) {
            return Ok(());
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io)?;
        // Somebody has just made it and is about to write.
        if bytes.is_empty() {
            return Ok(());
        }
        take(&String::from_utf8_lossy(&bytes))?;
        Ok(os::remove(&path).map_err(io)?)
    }

    /// Removes what was last added to before a moment.
    pub fn forget(&self, before: Timestamp) {
        for session in self.waiting() {
            let modified = fs::metadata(self.path(session)).and_then(|it| it.modified()).ok();
            let since = modified.and_then(|it| it.duration_since(UNIX_EPOCH).ok());
            let millis = since.and_then(|it| i64::try_from(it.as_millis()).ok());
            if millis.is_some_and(|it| it < before.0) {
                // One that cannot be removed is met again the next time.
                let _ = self.remove(session);
            }
        }
    }

    pub fn remove(&self, session: SessionId) -> Result<(), Error> {
        let path = self.path(session);
        os::remove(&path).map_err(|it| Error::io(&path, &it))
    }

    /// Removes everything, and the folder.
    pub fn clear(&self) -> Result<(), Error> {
        for session in self.waiting() {
            self.remove(session)?;
        }
        // One with files that are not ours stays.
        let _ = fs::remove_dir(&self.dir);
        Ok(())
    }

    /// Takes a text out of everything that waits.
    pub fn scrub(&self, clean: Clean<'_>) -> Result<(), Error> {
        for session in self.waiting() {
            if let Some(cleaned) = clean(&self.read(session)?) {
                os::write_private(&self.path(session), cleaned.as_bytes())?;
            }
        }
        Ok(())
    }

    fn path(&self, session: SessionId) -> PathBuf {
        self.dir.join(journal::file_name(session))
    }
}

fn unless_missing(error: std::io::Error) -> std::io::Result<Option<File>> {
    if error.kind() == std::io::ErrorKind::NotFound { Ok(None) } else { Err(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(n: u8) -> SessionId {
        SessionId::from_bytes(&[n; 16]).unwrap()
    }

    #[test]
    fn what_was_left_is_taken_once() {
        let dir = tempfile::tempdir().unwrap();
        let inbox = Inbox::of(&DataDir::new(dir.path()));
        assert!(inbox.waiting().is_empty());
        assert!(inbox.add(session(1), "start\n", "one\n").unwrap());
        assert!(inbox.add(session(1), "start\n", "two\n").unwrap());
        assert!(inbox.add(session(2), "", "three\n").unwrap());
        assert_eq!(inbox.waiting(), [session(1), session(2)]);
        let mut seen = String::new();
        let kept: Result<(), Error> = inbox.take(session(1), |text| {
            text.clone_into(&mut seen);
            Ok(())
        });
        kept.unwrap();
        assert_eq!((seen.as_str(), inbox.waiting()), ("start\none\ntwo\n", vec![session(2)]));
        let failed = inbox.take(session(2), |_| Err(Error::Engine { what: "full".to_owned() }));
        assert!(failed.is_err());
        assert_eq!(inbox.waiting(), [session(2)], "what could not be kept still waits");
        inbox.clear().unwrap();
        assert!(fs::read_dir(dir.path()).unwrap().next().is_none());
    }

    #[test]
    fn nothing_is_lost_between_those_who_add_and_those_who_take() {
        let dir = tempfile::tempdir().unwrap();
        let inbox = Inbox::of(&DataDir::new(dir.path()));
        let adding = {
            let inbox = inbox.clone();
            std::thread::spawn(move || {
                for n in 0..500 {
                    inbox.add(session(1), "", &format!("{n}\n")).unwrap();
                }
            })
        };
        let mut seen = String::new();
        loop {
            let is_over = adding.is_finished();
            let taken: Result<(), Error> = inbox.take(session(1), |text| {
                seen.push_str(text);
                Ok(())
            });
            taken.unwrap();
            if is_over {
                break;
            }
        }
        adding.join().unwrap();
        let numbers: Vec<u32> = seen.lines().map(|it| it.parse().unwrap()).collect();
        assert_eq!(numbers, (0..500).collect::<Vec<u32>>());
    }
}
