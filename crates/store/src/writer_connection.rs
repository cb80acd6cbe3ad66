//! The life of the writing connection: opening, the write lock, the mark after each commit,
//! checkpoints.
//!
//! The writer thread calls it through `WriterHooks`. "Merging the log" is what `SQLite` calls a
//! checkpoint: pages of the write-ahead log are copied into the database file.

use std::sync::Arc;

use crate::Error;
use crate::connection::open_writer;
use crate::damage_check::{self, DamageFinding};
use crate::database_state::DatabaseState;
use crate::file_lock::FairFileLock;
use crate::query::Db;
use crate::worker_threads::WriterHooks;

/// Log size from which the writer merges the log when it is idle.
const IDLE_MERGE_LOG_BYTES: u64 = 4 << 20;
/// Log size from which the writer merges the log even while jobs wait.
const FORCED_MERGE_LOG_BYTES: u64 = 16 * IDLE_MERGE_LOG_BYTES;

/// The only connection of a process that writes to a database.
pub(crate) struct WriterConnection {
    state: Arc<DatabaseState>,
    /// Set when the database is opened.
    write_lock: Option<Arc<FairFileLock>>,
}

impl WriterConnection {
    pub(crate) fn new(state: Arc<DatabaseState>) -> Self {
        Self { state, write_lock: None }
    }

    /// Merges the log if it is larger than `limit`. Passive: waits for no other connection.
    fn merge_log(&self, db: &Db, limit: u64) {
        if std::fs::metadata(self.state.paths.wal()).is_ok_and(|it| it.len() > limit) {
            // Pages that are in use stay in the log; the next merge tries again.
            let _ = db.query_pragma("PRAGMA wal_checkpoint(PASSIVE)");
        }
    }
}

impl WriterHooks for WriterConnection {
    fn open(&mut self) -> Result<Db, Error> {
        self.state.paths.create_folders()?;
        let write_lock = FairFileLock::open(&self.state.paths)?;
        let db = {
            let _guard = write_lock.acquire()?;
            open_writer(&self.state)?
        };
        self.write_lock = Some(Arc::new(write_lock));
        Ok(db)
    }

    fn with_lock<T>(
        &mut self,
        db: &mut Db,
        body: impl FnOnce(&mut Self, &mut Db) -> T,
    ) -> Result<T, Error> {
        loop {
            let write_lock = self.write_lock.clone().expect("opening the database sets the lock");
            let guard = write_lock.acquire()?;
            if db.is_current() {
                return Ok(body(self, db));
            }
            // A backup was restored: the open file is no longer the database.
            drop(guard);
            *db = self.open()?;
        }
    }

    fn after_commit(&mut self, db: &Db) {
        // The commit is durable already. A mark that cannot be written only weakens later detection
        // of losses.
        if damage_check::advance_mark(db, &self.state.paths).is_err() {
            self.state.report_findings(vec![DamageFinding::MarkUnreadable]);
        }
        self.merge_log(db, FORCED_MERGE_LOG_BYTES);
    }

    fn on_idle(&mut self, db: &Db) {
        self.merge_log(db, IDLE_MERGE_LOG_BYTES);
    }

    fn close(&mut self, db: Db) {
        // The last connection to close merges and removes the log, which must not coincide with a
        // restore.
        let write_lock = self.write_lock.clone();
        let _guard = write_lock.as_ref().and_then(|it| it.acquire().ok());
        drop(db);
    }
}
