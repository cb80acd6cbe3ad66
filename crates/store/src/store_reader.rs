//! The reading handle of one database: cheap to clone, and without any method that writes.
//!
//! Queries are grouped by topic into small borrowed handles: `memories()`, `learning()`,
//! `vectors()`, `history()`, `registry()` and `journals()`.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use crate::backup::{self, BackupFile};
use crate::damage_check::DamageFinding;
use crate::data_dir::DatabasePaths;
use crate::database_state::DatabaseState;
use crate::failed_sessions::{FailedSession, FailedSessionFile};
use crate::history::HistoryQueries;
use crate::injection_log::InjectionQueries;
use crate::injection_spool::InjectionSpool;
use crate::journal::JournalFiles;
use crate::learning::LearningQueries;
use crate::memories::MemoryQueries;
use crate::query::Db;
use crate::registry::RegistryQueries;
use crate::vectors::VectorQueries;
use crate::worker_threads::ReaderPool;
use crate::{Error, maintenance, settings};

/// Reads one database file. The first query opens it, which creates or migrates the file and
/// finishes an interrupted restore, key change or erasure if needed. Nothing else is written
/// through this handle.
#[derive(Clone)]
pub struct StoreReader {
    inner: Arc<ReaderInner>,
}

struct ReaderInner {
    /// Started by the first query.
    readers: OnceLock<ReaderPool>,
    state: Arc<DatabaseState>,
}

/// Sizes of a database and its companion files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseSize {
    /// Bytes of the database file.
    pub database: u64,
    /// Bytes of the write-ahead log.
    pub log: u64,
    /// Bytes of all backups.
    pub backups: u64,
    /// Pages of the database file that hold nothing.
    pub free_pages: i64,
    pub pages: i64,
}

impl StoreReader {
    pub(crate) fn new(state: Arc<DatabaseState>) -> Self {
        Self { inner: Arc::new(ReaderInner { readers: OnceLock::new(), state }) }
    }

    /// Queries about memories: by id, by filter, by words, by the files they name.
    pub fn memories(&self) -> MemoryQueries<'_> {
        MemoryQueries::new(self)
    }

    /// Queries about what was learned: sessions, sightings, failed calls, milestones.
    pub fn learning(&self) -> LearningQueries<'_> {
        LearningQueries::new(self)
    }

    /// Queries about the injection log: the notes that were given to agents.
    pub fn injections(&self) -> InjectionQueries<'_> {
        InjectionQueries::new(self)
    }

    /// The notes that hooks gave to agents and that are not in the log yet.
    pub fn injection_spool(&self) -> InjectionSpool<'_> {
        InjectionSpool::new(self.paths(), self.inner.state.key.as_ref())
    }

    /// Queries about embedding vectors of memories.
    pub fn vectors(&self) -> VectorQueries<'_> {
        VectorQueries::new(self)
    }

    /// Queries about earlier versions of memories and the audit trail.
    pub fn history(&self) -> HistoryQueries<'_> {
        HistoryQueries::new(self)
    }

    /// Queries about the registry of projects, which only the user's database has.
    pub fn registry(&self) -> RegistryQueries<'_> {
        RegistryQueries::new(self)
    }

    /// The journals of unfinished sessions, which are files beside the database.
    pub fn journals(&self) -> JournalFiles<'_> {
        JournalFiles::new(self.paths())
    }

    /// The sessions that could not be learned, listed in a file beside the database.
    pub fn failed_sessions(&self) -> Vec<FailedSession> {
        FailedSessionFile::new(self.paths(), self.inner.state.key.as_ref()).list()
    }

    pub fn path(&self) -> PathBuf {
        self.paths().database()
    }

    pub fn paths(&self) -> &DatabasePaths {
        &self.inner.state.paths
    }

    /// Returns whether there is anything to read: the file, the mark of a file that vanished, or a
    /// committed restore.
    pub fn exists(&self) -> bool {
        let paths = self.paths();
        // A mark without a database means a loss, which the first query reports.
        [paths.database(), paths.mark_file(), paths.staged_database()].iter().any(|it| it.exists())
    }

    /// Returns whether the file is encrypted; `None` if there is no file. A key also opens a plain
    /// file.
    pub async fn is_encrypted(&self) -> Result<Option<bool>, Error> {
        if !self.exists() {
            return Ok(None);
        }
        self.read(|db| Ok(Some(db.is_encrypted))).await
    }

    /// All damage found so far by any call on this database.
    pub fn findings(&self) -> Vec<DamageFinding> {
        self.inner.state.findings()
    }

    /// Settings of the project or the user, as keys and values.
    pub async fn settings(&self) -> Result<Vec<(String, String)>, Error> {
        self.read(settings::select_settings).await
    }

    /// Measures the database and its companion files.
    pub async fn size(&self) -> Result<DatabaseSize, Error> {
        let paths = self.paths().clone();
        self.read(move |db| maintenance::measure_size(db, &paths)).await
    }

    /// Lists the backups: newest first, those made before a migration last.
    pub fn backups(&self) -> Vec<BackupFile> {
        backup::list_backups(self.paths())
    }

    /// The database that the last restore replaced, which can be restored like a backup. The list
    /// has one entry, or none if nothing was replaced yet.
    pub fn replaced_database(&self) -> Vec<BackupFile> {
        backup::find_replaced(self.paths()).into_iter().collect()
    }

    /// Copies of the database (backups, the replaced database) that an erasure or a change of the
    /// key deleted since this handle was made. Both must rewrite every copy, or it would keep the
    /// erased text or the old key. They delete the replaced database if the key changes, and any
    /// copy that cannot be opened.
    pub fn dropped_copies(&self) -> Vec<PathBuf> {
        self.inner.state.dropped()
    }

    pub(crate) fn state(&self) -> &Arc<DatabaseState> {
        &self.inner.state
    }

    /// Queues `job` for a reader thread, where it sees one consistent snapshot. The job is queued
    /// when this returns; awaiting only waits for its result.
    pub(crate) fn read<T, J>(
        &self,
        job: J,
    ) -> impl Future<Output = Result<T, Error>> + Send + use<T, J>
    where
        T: Send + 'static,
        J: FnOnce(&Db) -> Result<T, Error> + Send + 'static,
    {
        let readers = self.inner.readers.get_or_init(|| {
            let state = Arc::clone(&self.inner.state);
            ReaderPool::start(move || state.open_reader())
        });
        readers.run(move |db| db.read_snapshot(job))
    }
}
