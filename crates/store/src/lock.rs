//! One writing process at a time, and a fair turn for the others.
//!
//! The database's own lock is not fair: under load some writers starve. Here a process passes a
//! turnstile first: whoever waits for the lock holds the gate, so one that just released the lock
//! must queue behind everyone who was already waiting.

use std::fs::File;
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
        let failed = |it: std::io::Error| Error::Engine {
            what: format!("cannot take the write lock: {it}"),
        };
        self.gate.lock().map_err(failed)?;
        let res = self.lock.lock().map_err(failed);
        self.gate.unlock().map_err(failed)?;
        res.map(|()| Turn(&self.lock))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // Unlocking an own, open file cannot fail; were it to, closing the file would do it.
        let _ = self.0.unlock();
    }
}

fn lock_file(path: &Path) -> Result<File, Error> {
    os::private_file(path).map_err(|it| Error::io(path, &it))?;
    File::options().read(true).write(true).open(path).map_err(|it| Error::io(path, &it))
}
