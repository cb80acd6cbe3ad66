//! What every thread of a store knows: where the file is, what it should hold, what was found wrong.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use model::Timestamp;

use crate::check::{self, Finding};
use crate::connection::{self, open_writer};
use crate::key::Key;
use crate::layout::Home;
use crate::lock::Turnstile;
use crate::memories::Read;
use crate::query::Db;
use crate::schema::Schema;
use crate::{Error, os};

/// How often a reader lets others finish before it says that they never do.
const ATTEMPTS: usize = 5;

/// One database file and its companions, as one process sees them.
pub(crate) struct Site {
    pub(crate) home: Home,
    pub(crate) schema: &'static Schema,
    pub(crate) key: Option<Key>,
    pub(crate) now: Timestamp,
    findings: Mutex<Vec<Finding>>,
    /// Copies that had to be deleted; known to whoever sees the same file with another key, too.
    dropped: Arc<Mutex<Vec<PathBuf>>>,
    #[cfg(feature = "replay")]
    pub(crate) tape: Option<crate::tape::Tape>,
}

impl Site {
    pub(crate) fn new(
        home: Home,
        schema: &'static Schema,
        key: Option<Key>,
        now: Timestamp,
    ) -> Self {
        Self {
            home,
            schema,
            key,
            now,
            findings: Mutex::default(),
            dropped: Arc::default(),
            #[cfg(feature = "replay")]
            tape: None,
        }
    }

    /// The same file, as it is in the eyes of somebody with another key.
    pub(crate) fn with_key(&self, key: Option<Key>) -> Self {
        let dropped = Arc::clone(&self.dropped);
        Self { dropped, ..Self::new(self.home.clone(), self.schema, key, self.now) }
    }

    pub(crate) fn dropped(&self) -> Vec<PathBuf> {
        self.dropped.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn note_dropped(&self, path: &Path) {
        self.dropped.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
    }

    /// Opens for reading, after whatever must be written first: creation, migration, a restore
    /// that was decided, an erasure or conversion that was begun.
    pub(crate) fn open_reader(&self) -> Result<Db, Error> {
        if let Some(owner) = os::foreign_owner(&self.home.dir) {
            return Err(Error::ForeignOwner { path: self.home.dir.clone(), owner });
        }
        if ["erasing", "converting"].iter().any(|it| self.home.beside(it).exists()) {
            // Where nothing can be written, what was begun waits for somebody who can.
            let _ = self.settle();
        }
        for _ in 0..ATTEMPTS {
            match connection::open_reader(self)? {
                Some(db) => return Ok(db),
                None => self.settle()?,
            }
        }
        Err(Error::Engine { what: "the database is being replaced again and again".to_owned() })
    }

    /// Waits for whoever is writing, then does what an opening for writing does.
    fn settle(&self) -> Result<(), Error> {
        self.home.prepare()?;
        let turnstile = Turnstile::open(&self.home)?;
        let _turn = turnstile.enter()?;
        open_writer(self).map(drop)
    }

    #[cfg(feature = "replay")]
    pub(crate) fn watched(&self, db: Db) -> Db {
        let mut db = db;
        db.tape.clone_from(&self.tape);
        db
    }

    #[cfg(not(feature = "replay"))]
    #[expect(clippy::unused_self, reason = "only the replay build has something to attach")]
    pub(crate) fn watched(&self, db: Db) -> Db {
        db
    }

    pub(crate) fn findings(&self) -> Vec<Finding> {
        self.findings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Remembers damage, each only once.
    pub(crate) fn add(&self, findings: Vec<Finding>) {
        let mut known = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        for finding in findings {
            if !known.contains(&finding) {
                known.push(finding);
            }
        }
    }

    /// Remembers damage and passes on the rest.
    pub(crate) fn note<T>(&self, read: Read<T>) -> Vec<T> {
        self.add(read.damaged);
        read.found
    }

    /// Like `note`, for questions that usually have an answer. Nothing found at all is reason to
    /// look closer: a damaged index answers "nothing" as readily as an empty one. The `witness` says
    /// whether another index knows of something.
    pub(crate) fn sift<T>(
        &self,
        db: &Db,
        read: Read<T>,
        witness: impl FnOnce(&Db) -> Result<bool, Error>,
    ) -> Result<Vec<T>, Error> {
        if read.is_empty() {
            self.add(check::doubt(db, witness)?);
        }
        Ok(self.note(read))
    }

    /// Like `sift`, for memories asked for by name: when the file turns out to be unsound, `search`
    /// goes through all rows, past every index.
    pub(crate) fn seek<T>(
        &self,
        db: &Db,
        read: Read<T>,
        witness: impl FnOnce(&Db) -> Result<bool, Error>,
        search: impl FnOnce(&Db) -> Result<Read<T>, Error>,
    ) -> Result<Vec<T>, Error> {
        if !read.is_empty() {
            return Ok(self.note(read));
        }
        let doubts = check::doubt(db, witness)?;
        let read = if doubts.is_empty() { read } else { search(db)? };
        self.add(doubts);
        Ok(self.note(read))
    }
}
