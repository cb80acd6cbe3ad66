//! File locks between processes: one writer at a time, in fair order, and one opener at a time.
//!
//! `SQLite`'s own lock is not fair: under load some writers starve. Here a process takes a gate
//! before the lock. The process that waits for the lock holds the gate, so one that has just
//! released the lock queues behind all that were already waiting. The system releases all locks of
//! a process that dies.
//!
//! Three files beside the database carry the locks: `gate` and `lock` for writing, `door` for
//! opening.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use crate::data_dir::DatabasePaths;
use crate::{Error, os};

/// The fair write lock of a database, made of two lock files.
pub(crate) struct FairFileLock {
    gate: File,
    lock: File,
}

/// Held while a process writes. Dropping it releases the lock; the system does so if the process
/// dies.
pub(crate) struct FileLockGuard<'a>(&'a File);

impl FairFileLock {
    pub(crate) fn open(paths: &DatabasePaths) -> Result<Self, Error> {
        Ok(Self {
            gate: open_lock_file(&paths.with_extension("gate"))?,
            lock: open_lock_file(&paths.with_extension("lock"))?,
        })
    }

    /// Waits for the lock, behind all processes that wait already.
    pub(crate) fn acquire(&self) -> Result<FileLockGuard<'_>, Error> {
        lock_blocking(&self.gate)?;
        let locked = lock_blocking(&self.lock);
        // Unlocking an open file of our own cannot fail; closing the file would release it as well.
        let _ = self.gate.unlock();
        locked.map(|()| FileLockGuard(&self.lock))
    }
}

impl Drop for FileLockGuard<'_> {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Held while a connection is opened and while files are renamed: a connection must not get the
/// database of one moment and the log of another. It also keeps two openings apart: a connection
/// with a wrong key cannot read the log, takes it for empty, and the log's index is shared by all
/// connections.
pub(crate) struct OpenGuard(Option<File>);

impl OpenGuard {
    pub(crate) fn acquire(paths: &DatabasePaths) -> Result<Self, Error> {
        let path = paths.with_extension("door");
        // In a read-only folder the lock file may be missing. Nothing can be renamed there either,
        // so no lock is needed.
        let _ = os::private_file(&path);
        let Ok(file) = File::open(&path) else { return Ok(Self(None)) };
        lock_blocking(&file)?;
        Ok(Self(Some(file)))
    }
}

impl Drop for OpenGuard {
    fn drop(&mut self) {
        if let Some(file) = &self.0 {
            let _ = file.unlock();
        }
    }
}

/// Waits for an exclusive lock on a file.
fn lock_blocking(file: &File) -> Result<(), Error> {
    loop {
        match file.lock() {
            Ok(()) => return Ok(()),
            // A signal interrupted the wait; the process keeps its place in the queue.
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => {
                return Err(Error::Internal { what: format!("cannot take a lock: {error}") });
            }
        }
    }
}

/// Opens a lock file, and creates it if it is missing.
pub(crate) fn open_lock_file(path: &Path) -> Result<File, Error> {
    os::private_file(path).map_err(|it| Error::from_io(path, &it))?;
    File::options().read(true).write(true).open(path).map_err(|it| Error::from_io(path, &it))
}
