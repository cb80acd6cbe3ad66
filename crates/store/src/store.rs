//! The writing handle of one database: cheap to clone, async outside, one writer thread inside.
//!
//! It reads as well, through the `StoreReader` it dereferences to. Code that only reads takes a
//! `StoreReader`. Most methods only queue a job for the writer thread; the work is in the module
//! that the job calls.

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use model::{MemoryId, ProjectId, Timestamp};

use crate::backup::{self, BackupContents, BackupFile};
use crate::damage_check::{self, DamageFinding};
use crate::data_dir::DatabasePaths;
use crate::database_state::DatabaseState;
use crate::encryption_key::EncryptionKey;
use crate::failed_sessions::FailedSessionFile;
use crate::file_lock::FairFileLock;
use crate::index_delta::IndexPosition;
use crate::index_snapshot::SnapshotWriter;
use crate::injection_spool::InjectionRow;
use crate::journal::JournalWriter;
use crate::maintenance::CompactMode;
use crate::query::Db;
use crate::registry::{self, ProjectLocation};
use crate::schema::{DatabaseSchema, MEMORY, USER};
use crate::store_reader::StoreReader;
use crate::vectors::{self, MemoryEmbedding};
use crate::worker_threads::WriterThread;
use crate::write_batch::{AppliedBatch, WriteBatch};
use crate::writer_connection::WriterConnection;
use crate::{
    Error, apply_batch, erase, erasure_proof, injection_log, maintenance, rekey, restore,
    text_erasure,
};

/// One database file with its reader threads and its writer thread.
#[derive(Clone)]
pub struct Store {
    // Fields are dropped in this order: the writer closes its connection last and merges the log.
    reader: StoreReader,
    writer: Arc<OnceLock<WriterThread>>,
}

impl Deref for Store {
    type Target = StoreReader;

    fn deref(&self) -> &StoreReader {
        &self.reader
    }
}

impl Store {
    /// A handle for the memories of a project. The first query or write opens the file, and creates
    /// it if it is missing; see `exists`.
    pub fn project(paths: DatabasePaths, key: Option<EncryptionKey>, now: Timestamp) -> Self {
        Self::new(paths, &MEMORY, key, now)
    }

    /// A handle for the user's own memories and the registry of projects.
    pub fn user(paths: DatabasePaths, key: Option<EncryptionKey>, now: Timestamp) -> Self {
        Self::new(paths, &USER, key, now)
    }

    fn new(
        paths: DatabasePaths,
        schema: &'static DatabaseSchema,
        key: Option<EncryptionKey>,
        now: Timestamp,
    ) -> Self {
        Self::from_state(DatabaseState::new(paths, schema, key, now))
    }

    pub(crate) fn from_state(state: DatabaseState) -> Self {
        Self { reader: StoreReader::new(Arc::new(state)), writer: Arc::default() }
    }

    /// A handle that can only read; it shares the reader threads of this one.
    pub fn reader(&self) -> StoreReader {
        self.reader.clone()
    }

    /// Writes the journals of unfinished sessions.
    pub fn journal_writer(&self) -> JournalWriter<'_> {
        JournalWriter::new(self.paths(), self.state().key.as_ref())
    }

    /// Changes the list of sessions that could not be learned.
    pub fn failed_session_file(&self) -> FailedSessionFile<'_> {
        FailedSessionFile::new(self.paths(), self.state().key.as_ref())
    }

    /// Applies a batch in one transaction.
    pub async fn apply(&self, batch: WriteBatch) -> Result<AppliedBatch, Error> {
        self.write(move |db| apply_batch::apply_batch(db, &batch)).await
    }

    /// Stores notes that were given to agents, and counts an access of each of their memories.
    /// Returns how many were new. The audit trail does not mention them: they change no memory.
    pub async fn put_injections(
        &self,
        rows: Vec<InjectionRow>,
        now: Timestamp,
    ) -> Result<usize, Error> {
        self.write(move |db| injection_log::put_injections(db, &rows, now)).await
    }

    /// Records which of the memories that a session was shown it followed.
    pub async fn judge_injections(
        &self,
        project: ProjectId,
        session: String,
        followed: Vec<MemoryId>,
    ) -> Result<(), Error> {
        self.write(move |db| injection_log::judge_injections(db, project, &session, &followed))
            .await
    }

    /// Stores vectors. Returns for each memory whether it still had the text they were made of.
    /// Vectors are derived data, so the audit trail does not mention them.
    pub async fn put_vectors(&self, embeddings: Vec<MemoryEmbedding>) -> Result<Vec<bool>, Error> {
        self.write(move |db| embeddings.iter().map(|it| vectors::put_embedding(db, it)).collect())
            .await
    }

    /// Deletes the vectors of all other models, and returns how many there were.
    pub async fn drop_other_models(&self, model: String) -> Result<usize, Error> {
        self.write(move |db| vectors::delete_other_models(db, &model)).await
    }

    /// Writes a snapshot of a search index at a position of this database. Returns whether it was
    /// written: not if memories were erased since, or if another process writes one now.
    pub async fn put_index_snapshot(
        &self,
        position: IndexPosition,
        model: String,
        content: Vec<u8>,
    ) -> Result<bool, Error> {
        let state = Arc::clone(self.state());
        let begun_at = position.clone();
        let begun = self
            .run_exclusive(move |db| SnapshotWriter::begin(&state, db, &begun_at, &model))
            .await?;
        let Some(writer) = begun else { return Ok(false) };
        // On a reader thread, so that the writer thread is free for other writes.
        let writer = self.read(move |_| writer.fill(&content)).await?;
        self.run_exclusive(move |db| writer.finish(db, &position)).await
    }

    /// Registers a location of a project, or updates it.
    pub async fn put_location(&self, location: ProjectLocation) -> Result<(), Error> {
        self.write(move |db| registry::put_location(db, &location)).await
    }

    /// Registers a project that seems new. Returns another project if another process has just
    /// registered one at the same location.
    pub async fn claim_location(&self, location: ProjectLocation) -> Result<ProjectId, Error> {
        self.write(move |db| registry::claim_location(db, &location)).await
    }

    /// Removes a project from the registry. Backups keep it, see `erase_project`.
    pub async fn unregister_project(&self, project: ProjectId) -> Result<(), Error> {
        self.write(move |db| registry::unregister_project(db, project)).await
    }

    /// Erases memories for good, from the database and all copies of it.
    pub async fn erase(&self, ids: Vec<MemoryId>, now: Timestamp) -> Result<(), Error> {
        let state = Arc::clone(self.state());
        self.run_exclusive(move |db| {
            // From here on a crash cannot stop the erasure: the next opening continues it.
            erase::record_intent(&state.paths, &ids)?;
            erase::erase_ledgered(&state, db, now)
        })
        .await
    }

    /// Returns whether anything of these memories is left in the database, a backup or the replaced
    /// database. It proves an erasure, which for encrypted files cannot be seen from the bytes. A
    /// copy that cannot be opened is an error.
    pub async fn has_traces_of(&self, ids: Vec<MemoryId>) -> Result<bool, Error> {
        let state = Arc::clone(self.state());
        self.run_exclusive(move |db| erasure_proof::has_traces_of(&state, db, &ids)).await
    }

    /// Cleans every stored text with `clean`, which returns `None` to leave it. For secrets found
    /// late.
    pub async fn erase_text(
        &self,
        clean: impl Fn(&str) -> Option<String> + Send + 'static,
    ) -> Result<Vec<MemoryId>, Error> {
        let state = Arc::clone(self.state());
        self.run_exclusive(move |db| text_erasure::erase_text(&state, db, &clean)).await
    }

    /// Removes a project from the registry and from every copy of it.
    pub async fn erase_project(&self, project: ProjectId) -> Result<(), Error> {
        self.unregister_project(project).await?;
        let state = Arc::clone(self.state());
        self.run_exclusive(move |db| {
            // Old pages of the log still hold the project.
            restore::truncate_log(db)?;
            erase::clean_copies(&state, |copy| registry::delete_project(copy, project))
        })
        .await
    }

    /// Deletes memories that were forgotten long ago.
    pub async fn remove_forgotten(&self, ids: Vec<MemoryId>) -> Result<(), Error> {
        let state = Arc::clone(self.state());
        self.write(move |db| erase::remove_memories(db, &state.paths, &ids)).await
    }

    /// Makes a backup, and removes the oldest one if there are too many.
    pub async fn backup(&self, now: Timestamp) -> Result<BackupFile, Error> {
        let state = Arc::clone(self.state());
        self.run_exclusive(move |db| backup::make_backup(&state, db, now)).await
    }

    /// Opens a backup and checks every row of it. Only the writer can: for the replaced database
    /// this merges its log first.
    pub fn verify_backup(&self, backup: &BackupFile) -> Result<BackupContents, Error> {
        backup::verify_backup(self.state(), &backup.path)
    }

    /// Replaces the database by a backup. Works even if the database cannot be opened, so it
    /// bypasses the writer thread. Other handles notice and continue with the restored database.
    pub fn restore(self, backup: &BackupFile, now: Timestamp) -> Result<BackupContents, Error> {
        self.replace_database(|state| {
            let contents = restore::stage_backup(state, &backup.path, now)?;
            restore::finish_restore(&state.paths)?;
            Ok(contents)
        })
    }

    /// Encrypts the database and its backups with another key, or decrypts them; nothing is left in
    /// the old form, and handles with the old key are useless afterwards. Returns the copies that
    /// were deleted: those that no known key opens, and the replaced database.
    pub fn change_key(self, to: Option<EncryptionKey>) -> Result<Vec<PathBuf>, Error> {
        if !self.exists() {
            return Ok(Vec::new());
        }
        self.replace_database(|state| rekey::change_key(state, to).map(|()| state.dropped()))
    }

    /// Closes this handle and runs `body` with the write lock held. The connections must be closed
    /// first, because the file under them is about to be replaced.
    fn replace_database<T>(
        self,
        body: impl FnOnce(&DatabaseState) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let state = Arc::clone(self.state());
        drop(self);
        state.paths.create_folders()?;
        let write_lock = FairFileLock::open(&state.paths)?;
        let _guard = write_lock.acquire()?;
        body(&state)
    }

    /// Checks a part of the database, in a time that hardly grows with it: the mark, definitions, counts
    /// and a sample of the rows.
    pub async fn check_sample(&self) -> Result<Vec<DamageFinding>, Error> {
        let state = Arc::clone(self.state());
        self.read(move |db| {
            let mut findings = damage_check::compare_with_mark(db, &state.paths)?;
            findings.extend(damage_check::check_sampled_rows(db, state.schema)?);
            Ok(findings)
        })
        .await
    }

    /// Checks the whole database. Only the writer can check the search index.
    pub async fn check_database(&self) -> Result<Vec<DamageFinding>, Error> {
        let state = Arc::clone(self.state());
        let mut findings = self
            .read(move |db| {
                let mut findings = damage_check::compare_with_mark(db, &state.paths)?;
                findings.extend(damage_check::check_all_rows(db, state.schema)?);
                Ok(findings)
            })
            .await?;
        // Where nothing can be written, everything but the search index has been checked.
        match self.run_exclusive(|db| Ok(damage_check::check_search_index(db))).await {
            Ok(finding) => findings.extend(finding),
            Err(Error::ReadOnly { .. } | Error::PermissionDenied { .. }) => {}
            Err(error) => return Err(error),
        }
        Ok(findings)
    }

    /// Repairs the database: rebuilds indexes, restores damaged rows from backups that hold exactly
    /// the saved ones, and acknowledges losses. Returns a sentence for each thing that was done.
    pub async fn repair(&self, now: Timestamp) -> Result<Vec<String>, Error> {
        let state = Arc::clone(self.state());
        self.run_exclusive(move |db| maintenance::repair_database(&state, db, now)).await
    }

    /// Gives free space back to the file system, and returns how many bytes that gained.
    pub async fn compact(&self, mode: CompactMode) -> Result<u64, Error> {
        self.run_exclusive(move |db| maintenance::compact_database(db, mode)).await
    }

    /// Runs `job` in a write transaction that it may share with other writes.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Db) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.writer().write(job).await
    }

    /// Runs `job` alone on the writer thread, outside a transaction, with the write lock held.
    pub(crate) async fn run_exclusive<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Db) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.writer().run_exclusive(job).await
    }

    /// The writer thread, started by the first write.
    fn writer(&self) -> &WriterThread {
        let state = self.state();
        self.writer.get_or_init(|| WriterThread::start(WriterConnection::new(Arc::clone(state))))
    }
}
