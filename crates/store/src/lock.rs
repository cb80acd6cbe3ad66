//! One writing process at a time, and a fair turn for the others; and one at a time through the door.
//!
//! The database's own lock is not fair: under load some writers starve. Here a process passes a
//! turnstile first: whoever waits for the lock holds the gate, so one that just released the lock
//! must queue behind everyone who was already waiting.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use crate::layout::Home;
use crate::{Error, os};

/// The two lock files of a database.
pub(crate) struct Turnstile {
    gate: File,
    lock: File,
}

/// Held while a process writes; released when dropped, also by the system when the process dies.
pub(crate) struct Turn<'a>(&'a File);

impl Turnstile {
    pub(crate) fn open(home: &Home) -> Result<Self, Error> {
        Ok(Self { gate: lock_file(&home.beside("gate"))?, lock: lock_file(&home.beside("lock"))? })
    }

    pub(crate) fn enter(&self) -> Result<Turn<'_>, Error> {
        take(&self.gate)?;
        let res = take(&self.lock);
        // Unlocking an own, open file cannot fail; were it to, closing the file would do it.
        let _ = self.gate.unlock();
        res.map(|()| Turn(&self.lock))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Held while a connection is being opened, and while files change names: a connection must not get
/// the database of one moment and the log of another. Nor may anybody open beside one whose key is
/// wrong: it finds nothing in the log, and until it has closed, others would believe it.
pub(crate) struct Door(Option<File>);

impl Door {
    pub(crate) fn pass(home: &Home) -> Result<Self, Error> {
        let path = home.beside("door");
        // Where it can neither be made nor found, nothing can change names either.
        let _ = os::private_file(&path);
        let Ok(file) = File::open(&path) else { return Ok(Self(None)) };
        take(&file)?;
        Ok(Self(Some(file)))
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        if let Some(file) = &self.0 {
            let _ = file.unlock();
        }
    }
}

fn take(file: &File) -> Result<(), Error> {
    loop {
        match file.lock() {
            Ok(()) => return Ok(()),
            // A signal came while waiting; that is no reason to give up the place in the queue.
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => {
                return Err(Error::Engine { what: format!("cannot take a lock: {error}") });
            }
        }
    }
}

pub(crate) fn lock_file(path: &Path) -> Result<File, Error> {
    os::private_file(path).map_err(|it| Error::io(path, &it))?;
    File::options().read(true).write(true).open(path).map_err(|it| Error::io(path, &it))
}
