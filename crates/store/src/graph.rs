//! The database of a project's code graph, derived from its source files.
//!
//! Rows hold bytes whose meaning only the graph crate knows. Nothing here is worth a backup, an
//! audit trail or a migration: a file of another version, or a damaged one, is deleted and built
//! again. It is encrypted if there is a key. A generation number counts the changes; an update
//! names the generation it was computed from.

mod history;
mod links;
mod module_map;
mod reader;

use std::fs::{self, File, TryLockError};
use std::ops::Deref;

use crate::connection::{self, FileAccess, LogOnClose, is_plain};
use crate::data_dir::DatabasePaths;
use crate::file_lock::{OpenGuard, open_lock_file};
use crate::query::{Db, Query};
use crate::worker_threads::ReaderPool;
use crate::{EncryptionKey, Error, os};

pub use history::{CommitRow, FileHistoryRow, FileNameRow, HistoryBatch};
pub use links::FileNeighbors;
pub use module_map::ModuleMapRows;
pub use reader::GraphReader;

/// Increases with every change of the tables or of the bytes in them.
const SCHEMA_VERSION: i64 = 18;

/// Tables of files. All ids are those of `files`.
const FILES_SCHEMA: &str = "
    CREATE TABLE files (
        id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, modified INTEGER NOT NULL,
        hash BLOB NOT NULL, generated INTEGER NOT NULL, outline BLOB NOT NULL
    ) STRICT;
    CREATE TABLE bodies (id INTEGER PRIMARY KEY, body BLOB NOT NULL, precise BLOB) STRICT;
    CREATE TABLE edges (id INTEGER PRIMARY KEY, edges BLOB NOT NULL, keys BLOB NOT NULL) STRICT;
    CREATE TABLE skipped_files (path TEXT PRIMARY KEY, size INTEGER NOT NULL, modified INTEGER NOT NULL, reason TEXT NOT NULL) STRICT;
    CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
";

/// One fact about the whole graph.
const SELECT_STATE: Query = Query::local("graph_state", "SELECT value FROM state WHERE key = ?1");
/// Stores a file, replacing its earlier state.
const PUT_FILE: Query = Query::local(
    "graph_put_file",
    "INSERT INTO files (id, path, size, modified, hash, generated, outline) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
     ON CONFLICT (id) DO UPDATE SET path = ?2, size = ?3, modified = ?4, hash = ?5, generated = ?6, outline = ?7",
);
/// Stores the data of a file that only updates need.
const PUT_BODY: Query = Query::local(
    "graph_put_body",
    "INSERT OR REPLACE INTO bodies (id, body, precise) VALUES (?1, ?2, ?3)",
);
/// Stores the resolved edges of a file.
// In a table of their own: edges are known only when all files have been read, and writing them
// must not rewrite the bodies.
const PUT_EDGES: Query = Query::local(
    "graph_put_edges",
    "INSERT OR REPLACE INTO edges (id, edges, keys) VALUES (?1, ?2, ?3)",
);
/// Stores the references of a file according to a precise index.
const PUT_PRECISE: Query =
    Query::local("graph_put_precise", "UPDATE bodies SET precise = ?2 WHERE id = ?1");
/// Sets size and time of a file whose content did not change.
const PUT_STAMP: Query =
    Query::local("graph_put_stamp", "UPDATE files SET size = ?2, modified = ?3 WHERE id = ?1");
/// Deletes a file.
const DELETE_FILE: Query = Query::local("graph_drop_file", "DELETE FROM files WHERE id = ?1");
/// Deletes the body of a file.
const DELETE_BODY: Query = Query::local("graph_drop_body", "DELETE FROM bodies WHERE id = ?1");
/// Deletes the edges of a file.
const DELETE_EDGES: Query = Query::local("graph_drop_edges", "DELETE FROM edges WHERE id = ?1");
/// Deletes the list of files that were not indexed.
const DELETE_ALL_SKIPPED: Query = Query::local("graph_clear_skipped", "DELETE FROM skipped_files");
/// Adds a file that was not indexed.
const PUT_SKIPPED: Query = Query::local(
    "graph_put_skipped",
    "INSERT OR REPLACE INTO skipped_files (path, size, modified, reason) VALUES (?1, ?2, ?3, ?4)",
);
/// Stores a fact about the whole graph.
const PUT_STATE: Query =
    Query::local("graph_put_state", "INSERT OR REPLACE INTO state (key, value) VALUES (?1, ?2)");
/// Number of changes of the graph so far.
const SELECT_GENERATION: Query = Query::local(
    "graph_generation",
    "SELECT CAST(value AS INTEGER) FROM state WHERE key = 'generation'",
);

/// Stamp of a source file when it was read. An unchanged stamp means an unchanged file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphStamp {
    pub id: u32,
    pub path: String,
    pub size: u64,
    pub modified: u64,
    pub hash: Vec<u8>,
    /// Written by a program, not by people.
    pub is_generated: bool,
}

/// Data of a source file that queries need, as bytes of the graph crate: `outline` holds its
/// symbols, `edges` its resolved references. Without edges they are not resolved yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphFile {
    pub stamp: GraphStamp,
    pub outline: Vec<u8>,
    pub edges: Option<Vec<u8>>,
}

/// Data of a source file that only updates need, as bytes of the graph crate: `body` holds its
/// references by name, `keys` what was looked up to resolve them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphBody {
    pub id: u32,
    pub body: Vec<u8>,
    pub keys: Option<Vec<u8>>,
    /// References according to a precise index such as SCIP, valid while the file is unchanged.
    pub precise: Option<Vec<u8>>,
}

/// A source file that was not indexed, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphSkippedFile {
    pub path: String,
    pub size: u64,
    pub modified: u64,
    pub reason: String,
}

/// Changes that are applied together or not at all.
#[derive(Clone, Debug, Default)]
pub struct GraphBatch {
    /// Generation the batch builds on. If the graph has another by now, nothing is changed.
    pub base_generation: i64,
    pub files: Vec<(GraphFile, GraphBody)>,
    /// New edges and keys of indexed files: file id, edges, keys.
    pub resolved: Vec<(u32, Vec<u8>, Vec<u8>)>,
    /// References of indexed files according to a precise index: file id, bytes.
    pub precise: Vec<(u32, Vec<u8>)>,
    /// Files whose stamp changed while their content did not.
    pub restamped: Vec<GraphStamp>,
    /// For each named file, all files it refers to, with weights. They replace the earlier ones.
    pub links: Vec<(u32, Vec<(u32, u32)>)>,
    /// Ids of files that no longer exist.
    pub removed: Vec<u32>,
    /// All files that were not indexed, replacing the stored list; `None` leaves that list.
    pub skipped: Option<Vec<GraphSkippedFile>>,
    /// Facts about the whole graph, such as how complete it is and since when.
    pub state: Vec<(&'static str, String)>,
}

impl GraphBatch {
    /// Returns whether the batch changes nothing. Links are not tested: they come with the files or
    /// edges they were computed from.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
            && self.resolved.is_empty()
            && self.precise.is_empty()
            && self.restamped.is_empty()
            && self.removed.is_empty()
            && self.skipped.is_none()
            && self.state.is_empty()
    }
}

/// The code graph of one project, for reading and writing. Nothing is touched until the first call.
#[derive(Clone)]
pub struct GraphStore {
    paths: DatabasePaths,
    reader: GraphReader,
}

impl Deref for GraphStore {
    type Target = GraphReader;

    fn deref(&self) -> &GraphReader {
        &self.reader
    }
}

/// Lock on changing the code graph of a project. Unlike a transaction it covers everything from the
/// first read to the last write. Dropping it releases the lock; the system does so if the process
/// dies.
pub struct GraphWriteLock(File);

impl Drop for GraphWriteLock {
    fn drop(&mut self) {
        // If this failed, closing the file would release the lock.
        let _ = self.0.unlock();
    }
}

impl GraphStore {
    pub fn new(paths: DatabasePaths, key: Option<EncryptionKey>) -> Self {
        let opened = paths.clone();
        let workers = ReaderPool::start(move || open_or_recreate(&opened, key.as_ref()));
        Self { reader: GraphReader::new(paths.database(), workers), paths }
    }

    /// A handle that can only read; it shares the threads of this one.
    pub fn reader(&self) -> GraphReader {
        self.reader.clone()
    }

    /// Takes the write lock, or returns `None` while another process has it.
    pub fn try_lock(&self) -> Result<Option<GraphWriteLock>, Error> {
        self.paths.create_folders()?;
        let path = self.paths.with_extension("lock");
        let file = open_lock_file(&path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(GraphWriteLock(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(Error::from_io(&path, &error)),
        }
    }

    /// Applies a batch and returns the new generation.
    pub async fn apply(&self, batch: GraphBatch) -> Result<i64, Error> {
        self.run(move |db| db.transaction(|db| apply_graph_batch(db, &batch))).await
    }

    /// Sets one fact about the whole graph.
    pub async fn set_state(&self, key: &'static str, value: String) -> Result<(), Error> {
        self.run(move |db| db.execute(&PUT_STATE, &[&key, &value]).map(|_| ())).await
    }

    /// Adds to the stored git history.
    pub async fn put_history(&self, batch: HistoryBatch) -> Result<(), Error> {
        self.run(move |db| db.transaction(|db| history::put_history(db, &batch))).await
    }

    /// Replaces the module map, and sets a fact about it.
    pub async fn put_module_map(
        &self,
        rows: ModuleMapRows,
        (key, value): (&'static str, String),
    ) -> Result<(), Error> {
        self.run(move |db| {
            db.transaction(|db| {
                module_map::put_module_map(db, &rows)?;
                db.execute(&PUT_STATE, &[&key, &value]).map(|_| ())
            })
        })
        .await
    }
}

/// Applies a batch inside the caller's transaction, and returns the new generation.
fn apply_graph_batch(db: &Db, batch: &GraphBatch) -> Result<i64, Error> {
    if db.select_number(&SELECT_GENERATION, &[])? != batch.base_generation {
        // The caller holds the write lock, so only a reader that replaced a damaged file can have
        // interfered.
        return Err(Error::Internal { what: "the code graph was replaced meanwhile".to_owned() });
    }
    // Removals come first: a renamed file may reuse the path of a removed one.
    for id in &batch.removed {
        db.execute(&DELETE_FILE, &[id])?;
        db.execute(&DELETE_BODY, &[id])?;
        db.execute(&DELETE_EDGES, &[id])?;
        links::delete_links(db, *id)?;
    }
    for (file, body) in &batch.files {
        let GraphStamp { id, path, size, modified, hash, is_generated } = &file.stamp;
        db.execute(
            &PUT_FILE,
            &[
                id,
                path,
                &to_signed(*size),
                &to_signed(*modified),
                hash,
                is_generated,
                &file.outline,
            ],
        )?;
        db.execute(&PUT_BODY, &[&body.id, &body.body, &body.precise])?;
        // A file without edges waits to be resolved; old edges of it must not stay.
        match (&file.edges, &body.keys) {
            (Some(edges), Some(keys)) => db.execute(&PUT_EDGES, &[id, edges, keys])?,
            // Edges and keys are written together or not at all.
            (None, _) | (_, None) => db.execute(&DELETE_EDGES, &[id])?,
        };
        links::delete_links(db, *id)?;
    }
    for (id, edges, keys) in &batch.resolved {
        db.execute(&PUT_EDGES, &[id, edges, keys])?;
    }
    for (id, links) in &batch.links {
        links::put_links(db, *id, links)?;
    }
    for (id, precise) in &batch.precise {
        db.execute(&PUT_PRECISE, &[id, precise])?;
    }
    for stamp in &batch.restamped {
        db.execute(&PUT_STAMP, &[&stamp.id, &to_signed(stamp.size), &to_signed(stamp.modified)])?;
    }
    // The list of skipped files is always written as a whole.
    if let Some(skipped) = &batch.skipped {
        db.execute(&DELETE_ALL_SKIPPED, &[])?;
        for file in skipped {
            db.execute(
                &PUT_SKIPPED,
                &[&file.path, &to_signed(file.size), &to_signed(file.modified), &file.reason],
            )?;
        }
    }
    for (key, value) in &batch.state {
        db.execute(&PUT_STATE, &[key, value])?;
    }
    // Readers compare the generation to notice a change.
    let generation = batch.base_generation + 1;
    db.execute(&PUT_STATE, &[&"generation", &generation.to_string()])?;
    Ok(generation)
}

/// Sizes and times as the database stores them, which has no unsigned integers.
fn to_signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Opens the file, or creates it again if it is unusable.
fn open_or_recreate(paths: &DatabasePaths, key: Option<&EncryptionKey>) -> Result<Db, Error> {
    paths.create_folders()?;
    let _guard = OpenGuard::acquire(paths)?;
    let path = paths.database();
    // Once there is a key, data written without one must not stay readable.
    if key.is_some() && fs::metadata(&path).is_ok_and(|it| it.len() > 0) && is_plain(&path) {
        remove_files(paths)?;
    }
    match open_current_version(paths, key) {
        Ok(Some(db)) => Ok(db),
        Ok(None) | Err(Error::Damaged { .. } | Error::NotADatabase { .. }) => {
            remove_files(paths)?;
            let again = open_current_version(paths, key)?;
            again.ok_or_else(|| Error::Internal {
                what: "the code graph's file cannot be created".to_owned(),
            })
        }
        Err(error) => Err(error),
    }
}

/// Opens the file, or creates it. Returns `None` for a file of another version.
fn open_current_version(
    paths: &DatabasePaths,
    key: Option<&EncryptionKey>,
) -> Result<Option<Db>, Error> {
    let path = paths.database();
    os::private_file(&path).map_err(|it| Error::from_io(&path, &it))?;
    let db = connection::open_file(&path, key, FileAccess::ReadWrite)?;
    db.query_pragma("PRAGMA journal_mode = WAL")?;
    // Changes lost in a power failure are built again, so no sync per commit is needed.
    db.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 4194304;")?;
    connection::set_log_on_close(&db, LogOnClose::Merge)?;
    if db.query_pragma("SELECT count(*) FROM sqlite_schema")? == "0" {
        // Another process may have created the tables between the two checks.
        db.transaction(|db| {
            if db.query_pragma("SELECT count(*) FROM sqlite_schema")? != "0" {
                return Ok(());
            }
            for schema in [
                FILES_SCHEMA,
                history::HISTORY_SCHEMA,
                links::LINKS_SCHEMA,
                module_map::MODULE_MAP_SCHEMA,
            ] {
                db.execute_batch(schema)?;
            }
            db.execute_batch(&format!("PRAGMA user_version = {SCHEMA_VERSION}"))
        })?;
    }
    let is_current = db.query_pragma("PRAGMA user_version")? == SCHEMA_VERSION.to_string();
    Ok(is_current.then_some(db))
}

/// Deletes the code graph of a project. The next indexing builds it again.
pub fn remove_code_graph(paths: &DatabasePaths) -> Result<(), Error> {
    let _guard = OpenGuard::acquire(paths)?;
    remove_files(paths)
}

fn remove_files(paths: &DatabasePaths) -> Result<(), Error> {
    for ending in ["db", "db-wal", "db-shm", "db-journal"] {
        let path = paths.with_extension(ending);
        os::remove_file_if_exists(&path).map_err(|it| Error::from_io(&path, &it))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use model::{ProjectId, Timestamp};

    use super::*;
    use crate::DataDir;

    /// Paths of a project's graph in a temporary data folder.
    fn paths(dir: &Path) -> DatabasePaths {
        DataDir::new(dir).graph_paths(ProjectId::new(Timestamp(1), [1; 10]))
    }

    /// A file that was read but not resolved yet.
    fn file(id: u32, path: &str) -> (GraphFile, GraphBody) {
        let stamp = GraphStamp {
            id,
            path: path.to_owned(),
            size: 3,
            modified: 4,
            hash: vec![5],
            is_generated: true,
        };
        let file = GraphFile { stamp, outline: vec![6], edges: None };
        (file, GraphBody { id, body: vec![7], keys: None, precise: None })
    }

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
    }

    #[test]
    fn a_batch_is_there_after_reopening() {
        let dir = tempfile::tempdir().unwrap();
        // Two batches: the second resolves one file and removes the other.
        let store = GraphStore::new(paths(dir.path()), None);
        let files = vec![file(1, "a.ts"), file(2, "b.ts")];
        run(store.apply(GraphBatch { files, ..GraphBatch::default() })).unwrap();
        let resolved = vec![(1, vec![8], vec![9])];
        run(store.apply(GraphBatch {
            base_generation: 1,
            resolved,
            removed: vec![2],
            ..GraphBatch::default()
        }))
        .unwrap();
        drop(store);
        let store = GraphStore::new(paths(dir.path()), None);
        let mut expected = file(1, "a.ts");
        (expected.0.edges, expected.1.keys) = (Some(vec![8]), Some(vec![9]));
        assert_eq!(run(store.files()).unwrap(), [expected.0]);
        assert_eq!(run(store.bodies()).unwrap(), [expected.1]);
    }

    #[test]
    fn an_unusable_file_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = paths(dir.path()).database();
        run(GraphStore::new(paths(dir.path()), None)
            .apply(GraphBatch { files: vec![file(1, "a")], ..GraphBatch::default() }))
        .unwrap();
        fs::write(&path, "no database at all, but quite a few bytes of something else").unwrap();
        assert!(run(GraphStore::new(paths(dir.path()), None).files()).unwrap().is_empty());
    }

    #[test]
    fn only_one_handle_gets_the_lock() {
        let dir = tempfile::tempdir().unwrap();
        let (one, other) =
            (GraphStore::new(paths(dir.path()), None), GraphStore::new(paths(dir.path()), None));
        let lock = one.try_lock().unwrap();
        assert!(lock.is_some());
        assert!(other.try_lock().unwrap().is_none());
        drop(lock);
        assert!(other.try_lock().unwrap().is_some());
    }

    #[test]
    fn a_batch_for_another_generation_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let store = GraphStore::new(paths(dir.path()), None);
        let batch = |base_generation, id| GraphBatch {
            base_generation,
            files: vec![file(id, "a.ts")],
            ..GraphBatch::default()
        };
        assert_eq!(run(store.apply(batch(0, 1))).unwrap(), 1);
        run(store.apply(batch(0, 2))).unwrap_err();
        assert_eq!(run(store.generation()).unwrap(), 1);
        assert_eq!(run(store.stamps()).unwrap()[0].id, 1);
    }

    #[test]
    fn a_batch_that_fails_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let store = GraphStore::new(paths(dir.path()), None);
        // Two files cannot have one path.
        let files = vec![file(1, "a.ts"), file(2, "a.ts")];
        run(store.apply(GraphBatch { files, ..GraphBatch::default() })).unwrap_err();
        assert!(run(store.files()).unwrap().is_empty());
    }
}
