//! State shared by all threads of a store: paths, schema, key, and the damage found so far.
//!
//! Checked reads report damage here. An empty result is suspicious, because a damaged index returns
//! nothing as readily as an empty one: `checked` looks closer, `checked_by_id` also searches
//! without indexes.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use model::Timestamp;

use crate::connection::{self, open_writer};
use crate::damage_check::{self, DamageFinding};
use crate::data_dir::DatabasePaths;
use crate::encryption_key::EncryptionKey;
use crate::file_lock::FairFileLock;
use crate::memories::CheckedRows;
use crate::query::Db;
use crate::schema::DatabaseSchema;
use crate::{Error, os};

/// Attempts to open a database that other processes keep replacing.
const MAX_OPEN_ATTEMPTS: usize = 5;

/// One database file with its companions, as one process sees it.
pub(crate) struct DatabaseState {
    pub(crate) paths: DatabasePaths,
    pub(crate) schema: &'static DatabaseSchema,
    pub(crate) key: Option<EncryptionKey>,
    /// Time at which the handle was made, for what opening the database records.
    pub(crate) now: Timestamp,
    findings: Mutex<Vec<DamageFinding>>,
    /// Copies that had to be deleted. Shared with the states of the same file under other keys.
    dropped_copies: Arc<Mutex<Vec<PathBuf>>>,
    #[cfg(feature = "replay")]
    pub(crate) recorder: Option<crate::recorder::StatementRecorder>,
}

impl DatabaseState {
    pub(crate) fn new(
        paths: DatabasePaths,
        schema: &'static DatabaseSchema,
        key: Option<EncryptionKey>,
        now: Timestamp,
    ) -> Self {
        Self {
            paths,
            schema,
            key,
            now,
            findings: Mutex::default(),
            dropped_copies: Arc::default(),
            #[cfg(feature = "replay")]
            recorder: None,
        }
    }

    /// The same database, seen with another key.
    pub(crate) fn with_key(&self, key: Option<EncryptionKey>) -> Self {
        let dropped_copies = Arc::clone(&self.dropped_copies);
        Self { dropped_copies, ..Self::new(self.paths.clone(), self.schema, key, self.now) }
    }

    /// Copies that had to be deleted so far.
    pub(crate) fn dropped(&self) -> Vec<PathBuf> {
        self.dropped_copies.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn record_dropped_copy(&self, path: &Path) {
        self.dropped_copies.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
    }

    /// Opens the database for reading. First does the writes that reading depends on: creation,
    /// migration, a committed restore, an erasure or key change that was begun.
    pub(crate) fn open_reader(&self) -> Result<Db, Error> {
        // A folder of another user is not trusted: its owner could prepare the database.
        if let Some(owner) = os::foreign_owner(&self.paths.dir) {
            return Err(Error::ForeignOwner { path: self.paths.dir.clone(), owner });
        }
        // Markers of an unfinished erasure and of an unfinished key change.
        if ["erasing", "converting"].iter().any(|it| self.paths.with_extension(it).exists()) {
            // Where nothing can be written, the operation waits for a process that can write.
            let _ = self.finish_pending_writes();
        }
        // Another process may replace the file between finishing and opening.
        for _ in 0..MAX_OPEN_ATTEMPTS {
            match connection::open_reader(self)? {
                Some(db) => return Ok(db),
                None => self.finish_pending_writes()?,
            }
        }
        Err(Error::Internal { what: "other processes keep replacing the database".to_owned() })
    }

    /// Waits for the process that is writing, then opens for writing, which finishes everything.
    fn finish_pending_writes(&self) -> Result<(), Error> {
        self.paths.create_folders()?;
        let write_lock = FairFileLock::open(&self.paths)?;
        let _guard = write_lock.acquire()?;
        open_writer(self).map(drop)
    }

    /// Attaches the recorder of the replay build to a new connection.
    #[cfg(feature = "replay")]
    pub(crate) fn with_recorder(&self, db: Db) -> Db {
        let mut db = db;
        db.recorder.clone_from(&self.recorder);
        db
    }

    #[cfg(not(feature = "replay"))]
    #[expect(clippy::unused_self, reason = "only the replay build has something to attach")]
    pub(crate) fn with_recorder(&self, db: Db) -> Db {
        db
    }

    pub(crate) fn findings(&self) -> Vec<DamageFinding> {
        self.findings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds findings to the report, each of them once.
    pub(crate) fn report_findings(&self, findings: Vec<DamageFinding>) {
        let mut known = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        for finding in findings {
            if !known.contains(&finding) {
                known.push(finding);
            }
        }
    }

    /// Reports the damaged rows and returns the others.
    pub(crate) fn report_damage<T>(&self, read: CheckedRows<T>) -> Vec<T> {
        self.report_findings(read.damaged);
        read.found
    }

    /// Like `report_damage`, for queries that usually find something. An empty result is checked;
    /// `cross_check` returns whether another index finds something.
    pub(crate) fn checked<T>(
        &self,
        db: &Db,
        read: CheckedRows<T>,
        cross_check: impl FnOnce(&Db) -> Result<bool, Error>,
    ) -> Result<Vec<T>, Error> {
        if read.is_empty() {
            self.report_findings(damage_check::check_empty_result(db, cross_check)?);
        }
        Ok(self.report_damage(read))
    }

    /// Like `checked`, for memories requested by id. If the file proves damaged, `search` reads all
    /// rows without using an index.
    pub(crate) fn checked_by_id<T>(
        &self,
        db: &Db,
        read: CheckedRows<T>,
        cross_check: impl FnOnce(&Db) -> Result<bool, Error>,
        search: impl FnOnce(&Db) -> Result<CheckedRows<T>, Error>,
    ) -> Result<Vec<T>, Error> {
        if !read.is_empty() {
            return Ok(self.report_damage(read));
        }
        let findings = damage_check::check_empty_result(db, cross_check)?;
        let read = if findings.is_empty() { read } else { search(db)? };
        self.report_findings(findings);
        Ok(self.report_damage(read))
    }
}
