//! The structural layer of a project: derived from its files, kept in a file of its own.
//!
//! Bytes in, bytes out: what they mean is the graph's business. Nothing here is worth a backup, an
//! audit or a migration: a file of another version, or one that is damaged, is thrown away and made
//! anew. It is encrypted when there is a key.

mod map;
mod near;
mod past;

use std::fs::{self, File, TryLockError};
use std::path::PathBuf;
use std::sync::Arc;

use crate::connection::{self, is_plain};
use crate::layout::Home;
use crate::lock::{Door, lock_file};
use crate::query::{Db, Query, local};
use crate::worker::Readers;
use crate::{Error, Key, os};

pub use map::MapRows;
pub use near::NearRow;
pub use past::{NameRow, PastBatch, PastRow, TiesRow};

/// Grows with every change of the tables or of the bytes in them.
const VERSION: i64 = 12;

const SCHEMA: &str = "
    CREATE TABLE files (
        id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, modified INTEGER NOT NULL,
        hash BLOB NOT NULL, outline BLOB NOT NULL
    ) STRICT;
    CREATE TABLE bodies (id INTEGER PRIMARY KEY, body BLOB NOT NULL, precise BLOB) STRICT;
    CREATE TABLE edges (id INTEGER PRIMARY KEY, edges BLOB NOT NULL, keys BLOB NOT NULL) STRICT;
    CREATE TABLE passed (path TEXT PRIMARY KEY, size INTEGER NOT NULL, modified INTEGER NOT NULL, reason TEXT NOT NULL) STRICT;
    CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
";

const FILES: Query = local(
    "graph_files",
    "SELECT id, path, size, modified, hash, outline, edges FROM files LEFT JOIN edges USING (id)",
);
const BODIES: Query =
    local("graph_bodies", "SELECT id, body, keys, precise FROM bodies LEFT JOIN edges USING (id)");
const STAMPS: Query = local("graph_stamps", "SELECT id, path, size, modified, hash FROM files");
const STAMP_OF: Query =
    local("graph_stamp_of", "SELECT id, path, size, modified, hash FROM files WHERE path = ?1");
const PASSED: Query =
    local("graph_passed", "SELECT path, size, modified, reason FROM passed ORDER BY path");
const STATE: Query = local("graph_state", "SELECT value FROM state WHERE key = ?1");
const PUT_FILE: Query = local(
    "graph_put_file",
    "INSERT INTO files (id, path, size, modified, hash, outline) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
     ON CONFLICT (id) DO UPDATE SET path = ?2, size = ?3, modified = ?4, hash = ?5, outline = ?6",
);
const PUT_BODY: Query = local(
    "graph_put_body",
    "INSERT OR REPLACE INTO bodies (id, body, precise) VALUES (?1, ?2, ?3)",
);
// In a table of their own: they come when all files have been read, and nothing else is written again.
const PUT_EDGES: Query =
    local("graph_put_edges", "INSERT OR REPLACE INTO edges (id, edges, keys) VALUES (?1, ?2, ?3)");
const PUT_PRECISE: Query =
    local("graph_put_precise", "UPDATE bodies SET precise = ?2 WHERE id = ?1");
const PUT_STAMP: Query =
    local("graph_put_stamp", "UPDATE files SET size = ?2, modified = ?3 WHERE id = ?1");
const DROP_FILE: Query = local("graph_drop_file", "DELETE FROM files WHERE id = ?1");
const DROP_BODY: Query = local("graph_drop_body", "DELETE FROM bodies WHERE id = ?1");
const DROP_EDGES: Query = local("graph_drop_edges", "DELETE FROM edges WHERE id = ?1");
const CLEAR_PASSED: Query = local("graph_clear_passed", "DELETE FROM passed");
const PUT_PASSED: Query = local(
    "graph_put_passed",
    "INSERT OR REPLACE INTO passed (path, size, modified, reason) VALUES (?1, ?2, ?3, ?4)",
);
const PUT_STATE: Query =
    local("graph_put_state", "INSERT OR REPLACE INTO state (key, value) VALUES (?1, ?2)");
const GENERATION: Query =
    local("graph_generation", "SELECT CAST(value AS INTEGER) FROM state WHERE key = 'generation'");

/// How a file looked when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphStamp {
    pub id: u32,
    pub path: String,
    pub size: u64,
    pub modified: u64,
    pub hash: Vec<u8>,
}

/// What questions need of a file. Without edges, it waits to be resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphFile {
    pub stamp: GraphStamp,
    pub outline: Vec<u8>,
    pub edges: Option<Vec<u8>>,
}

/// What an update needs beside that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphBody {
    pub id: u32,
    pub body: Vec<u8>,
    pub keys: Option<Vec<u8>>,
    /// What a precise index says of its references, as long as the file stays as it is.
    pub precise: Option<Vec<u8>>,
}

/// A file that was passed over, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphPassed {
    pub path: String,
    pub size: u64,
    pub modified: u64,
    pub reason: String,
}

/// Changes that are kept together or not at all.
#[derive(Clone, Debug, Default)]
pub struct GraphBatch {
    /// The generation it builds on. When another has come meanwhile, nothing is changed.
    pub after: i64,
    pub files: Vec<(GraphFile, GraphBody)>,
    /// New edges and keys of files that are there.
    pub resolved: Vec<(u32, Vec<u8>, Vec<u8>)>,
    /// What a precise index says of files that are there.
    pub precise: Vec<(u32, Vec<u8>)>,
    /// Files that were touched without being changed.
    pub touched: Vec<GraphStamp>,
    /// Which files a file refers to, and how much: all of them, for each that is named.
    pub links: Vec<(u32, Vec<(u32, u32)>)>,
    pub gone: Vec<u32>,
    pub passed: Option<Vec<GraphPassed>>,
    /// What is known of the whole: how complete it is, since when.
    pub state: Vec<(&'static str, String)>,
}

impl GraphBatch {
    /// Whether it would change nothing.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
            && self.resolved.is_empty()
            && self.precise.is_empty()
            && self.touched.is_empty()
            && self.gone.is_empty()
            && self.passed.is_none()
            && self.state.is_empty()
    }
}

/// The structural layer of one project. Nothing is touched until the first call.
#[derive(Clone)]
pub struct GraphStore {
    home: Home,
    path: PathBuf,
    workers: Arc<Readers>,
}

/// The right to change the structural layer of a project. Unlike a transaction it lasts from the
/// first look to the last write. Given back when dropped, also by the system when the process dies.
pub struct GraphTurn(File);

impl Drop for GraphTurn {
    fn drop(&mut self) {
        // Were it to fail, closing the file would do it.
        let _ = self.0.unlock();
    }
}

impl GraphStore {
    pub fn new(home: Home, key: Option<Key>) -> Self {
        let (path, opened) = (home.database(), home.clone());
        let workers = Readers::start(move || open(&opened, key.as_ref()));
        Self { home, path, workers: Arc::new(workers) }
    }

    /// Takes the right to change it; `None` while somebody else has it.
    pub fn take_turn(&self) -> Result<Option<GraphTurn>, Error> {
        self.home.prepare()?;
        let path = self.home.beside("lock");
        let file = lock_file(&path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(GraphTurn(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(Error::io(&path, &error)),
        }
    }

    pub fn exists(&self) -> bool {
        self.path.exists()
    }

    /// Bytes on disk, with what waits in the log.
    pub fn size(&self) -> u64 {
        let log = self.path.with_extension("db-wal");
        [&self.path, &log].iter().filter_map(|it| fs::metadata(it).ok()).map(|it| it.len()).sum()
    }

    pub async fn files(&self) -> Result<Vec<GraphFile>, Error> {
        self.workers
            .run(|db| {
                db.view(|db| {
                    db.select(&FILES, &[], |row| {
                        Ok(GraphFile {
                            stamp: stamp(row)?,
                            outline: row.get(5)?,
                            edges: row.get(6)?,
                        })
                    })
                })
            })
            .await
    }

    pub async fn bodies(&self) -> Result<Vec<GraphBody>, Error> {
        self.workers
            .run(|db| {
                db.select(&BODIES, &[], |row| {
                    Ok(GraphBody {
                        id: row.get(0)?,
                        body: row.get(1)?,
                        keys: row.get(2)?,
                        precise: row.get(3)?,
                    })
                })
            })
            .await
    }

    pub async fn stamps(&self) -> Result<Vec<GraphStamp>, Error> {
        self.workers.run(|db| db.select(&STAMPS, &[], stamp)).await
    }

    /// Those of some files, in their order; nothing of files that were not read.
    pub async fn stamps_of(&self, paths: Vec<String>) -> Result<Vec<GraphStamp>, Error> {
        self.workers
            .run(move |db| {
                let found = paths.iter().map(|it| db.one(&STAMP_OF, &[it], stamp));
                found.filter_map(Result::transpose).collect()
            })
            .await
    }

    pub async fn passed(&self) -> Result<Vec<GraphPassed>, Error> {
        self.workers
            .run(|db| {
                db.select(&PASSED, &[], |row| {
                    Ok(GraphPassed {
                        path: row.get(0)?,
                        size: number(row, 1)?,
                        modified: number(row, 2)?,
                        reason: row.get(3)?,
                    })
                })
            })
            .await
    }

    pub async fn state(&self, key: &'static str) -> Result<Option<String>, Error> {
        self.workers.run(move |db| db.one(&STATE, &[&key], |row| row.get(0))).await
    }

    /// Grows by one with every change, whoever makes it; 0 before the first.
    pub async fn generation(&self) -> Result<i64, Error> {
        self.workers.run(|db| db.number(&GENERATION, &[])).await
    }

    /// Changes it; the generation it is in by that.
    pub async fn apply(&self, batch: GraphBatch) -> Result<i64, Error> {
        self.workers.run(move |db| db.transaction(|db| apply(db, &batch))).await
    }
}

fn stamp(row: &rusqlite::Row<'_>) -> rusqlite::Result<GraphStamp> {
    Ok(GraphStamp {
        id: row.get(0)?,
        path: row.get(1)?,
        size: number(row, 2)?,
        modified: number(row, 3)?,
        hash: row.get(4)?,
    })
}

/// Sizes and moments fit in 63 bits; anything else was not written by us.
fn number(row: &rusqlite::Row<'_>, at: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(at).map(|it| u64::try_from(it).unwrap_or_default())
}

fn signed(it: u64) -> i64 {
    i64::try_from(it).unwrap_or(i64::MAX)
}

fn apply(db: &Db, batch: &GraphBatch) -> Result<i64, Error> {
    if db.number(&GENERATION, &[])? != batch.after {
        // Whoever changes it has the turn; so the file was damaged, and made anew by a reader.
        return Err(Error::Engine { what: "the code graph was replaced meanwhile".to_owned() });
    }
    for id in &batch.gone {
        db.run(&DROP_FILE, &[id])?;
        db.run(&DROP_BODY, &[id])?;
        db.run(&DROP_EDGES, &[id])?;
        near::forget(db, *id)?;
    }
    for (file, body) in &batch.files {
        let GraphStamp { id, path, size, modified, hash } = &file.stamp;
        db.run(&PUT_FILE, &[id, path, &signed(*size), &signed(*modified), hash, &file.outline])?;
        db.run(&PUT_BODY, &[&body.id, &body.body, &body.precise])?;
        match (&file.edges, &body.keys) {
            (Some(edges), Some(keys)) => db.run(&PUT_EDGES, &[id, edges, keys])?,
            _ => db.run(&DROP_EDGES, &[id])?,
        };
        near::forget(db, *id)?;
    }
    for (id, edges, keys) in &batch.resolved {
        db.run(&PUT_EDGES, &[id, edges, keys])?;
    }
    for (id, links) in &batch.links {
        near::put(db, *id, links)?;
    }
    for (id, precise) in &batch.precise {
        db.run(&PUT_PRECISE, &[id, precise])?;
    }
    for it in &batch.touched {
        db.run(&PUT_STAMP, &[&it.id, &signed(it.size), &signed(it.modified)])?;
    }
    if let Some(passed) = &batch.passed {
        db.run(&CLEAR_PASSED, &[])?;
        for it in passed {
            db.run(&PUT_PASSED, &[&it.path, &signed(it.size), &signed(it.modified), &it.reason])?;
        }
    }
    for (key, value) in &batch.state {
        db.run(&PUT_STATE, &[key, value])?;
    }
    let generation = batch.after + 1;
    db.run(&PUT_STATE, &[&"generation", &generation.to_string()])?;
    Ok(generation)
}

/// Opens the file, or makes it anew when it is of no use any more.
fn open(home: &Home, key: Option<&Key>) -> Result<Db, Error> {
    home.prepare()?;
    let _door = Door::pass(home)?;
    let path = home.database();
    // With a key, what was written without one must not stay readable.
    if key.is_some() && fs::metadata(&path).is_ok_and(|it| it.len() > 0) && is_plain(&path) {
        remove(home)?;
    }
    match try_open(home, key) {
        Ok(Some(db)) => Ok(db),
        Ok(None) | Err(Error::Damaged { .. }) => {
            remove(home)?;
            let again = try_open(home, key)?;
            again.ok_or_else(|| Error::Engine {
                what: "the code graph's file cannot be made".to_owned(),
            })
        }
        Err(error) => Err(error),
    }
}

/// `None` for a file of another version.
fn try_open(home: &Home, key: Option<&Key>) -> Result<Option<Db>, Error> {
    let path = home.database();
    os::private_file(&path).map_err(|it| Error::io(&path, &it))?;
    let db = connection::open_file(&path, key, true)?;
    db.pragma("PRAGMA journal_mode = WAL")?;
    // What is lost with the power is made again.
    db.batch("PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 4194304;")?;
    connection::merge_on_close(&db, true)?;
    if db.pragma("SELECT count(*) FROM sqlite_schema")? == "0" {
        // Two processes may come here at once; the second finds the tables made.
        db.transaction(|db| {
            if db.pragma("SELECT count(*) FROM sqlite_schema")? != "0" {
                return Ok(());
            }
            for it in [SCHEMA, past::SCHEMA, near::SCHEMA, map::SCHEMA] {
                db.batch(it)?;
            }
            db.batch(&format!("PRAGMA user_version = {VERSION}"))
        })?;
    }
    let is_current = db.pragma("PRAGMA user_version")? == VERSION.to_string();
    Ok(is_current.then_some(db))
}

/// Takes the structural layer of a project away; it can be made again.
pub fn remove_graph(home: &Home) -> Result<(), Error> {
    let _door = Door::pass(home)?;
    remove(home)
}

fn remove(home: &Home) -> Result<(), Error> {
    for ending in ["db", "db-wal", "db-shm", "db-journal"] {
        let path = home.beside(ending);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io(&path, &error));
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use model::{ProjectId, Timestamp};

    use super::*;
    use crate::DataDir;

    fn home(dir: &Path) -> Home {
        DataDir::new(dir).graph(ProjectId::new(Timestamp(1), [1; 10]))
    }

    fn file(id: u32, path: &str) -> (GraphFile, GraphBody) {
        let stamp = GraphStamp { id, path: path.to_owned(), size: 3, modified: 4, hash: vec![5] };
        let file = GraphFile { stamp, outline: vec![6], edges: None };
        (file, GraphBody { id, body: vec![7], keys: None, precise: None })
    }

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
    }

    #[test]
    fn what_was_put_is_there_after_opening_again() {
        let dir = tempfile::tempdir().unwrap();
        let store = GraphStore::new(home(dir.path()), None);
        let files = vec![file(1, "a.ts"), file(2, "b.ts")];
        run(store.apply(GraphBatch { files, ..GraphBatch::default() })).unwrap();
        let resolved = vec![(1, vec![8], vec![9])];
        run(store.apply(GraphBatch { after: 1, resolved, gone: vec![2], ..GraphBatch::default() }))
            .unwrap();
        drop(store);
        let store = GraphStore::new(home(dir.path()), None);
        let mut expected = file(1, "a.ts");
        (expected.0.edges, expected.1.keys) = (Some(vec![8]), Some(vec![9]));
        assert_eq!(run(store.files()).unwrap(), [expected.0]);
        assert_eq!(run(store.bodies()).unwrap(), [expected.1]);
    }

    #[test]
    fn a_file_of_no_use_is_made_anew() {
        let dir = tempfile::tempdir().unwrap();
        let path = home(dir.path()).database();
        run(GraphStore::new(home(dir.path()), None)
            .apply(GraphBatch { files: vec![file(1, "a")], ..GraphBatch::default() }))
        .unwrap();
        fs::write(&path, "no database at all, but quite a few bytes of something else").unwrap();
        assert!(run(GraphStore::new(home(dir.path()), None).files()).unwrap().is_empty());
    }

    #[test]
    fn one_at_a_time_has_the_turn() {
        let dir = tempfile::tempdir().unwrap();
        let (one, other) =
            (GraphStore::new(home(dir.path()), None), GraphStore::new(home(dir.path()), None));
        let turn = one.take_turn().unwrap();
        assert!(turn.is_some());
        assert!(other.take_turn().unwrap().is_none());
        drop(turn);
        assert!(other.take_turn().unwrap().is_some());
    }

    #[test]
    fn what_builds_on_another_generation_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let store = GraphStore::new(home(dir.path()), None);
        let batch =
            |after, n| GraphBatch { after, files: vec![file(n, "a.ts")], ..GraphBatch::default() };
        assert_eq!(run(store.apply(batch(0, 1))).unwrap(), 1);
        run(store.apply(batch(0, 2))).unwrap_err();
        assert_eq!(run(store.generation()).unwrap(), 1);
        assert_eq!(run(store.stamps()).unwrap()[0].id, 1);
    }

    #[test]
    fn a_batch_that_fails_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let store = GraphStore::new(home(dir.path()), None);
        // Two files cannot have one path.
        let files = vec![file(1, "a.ts"), file(2, "a.ts")];
        run(store.apply(GraphBatch { files, ..GraphBatch::default() })).unwrap_err();
        assert!(run(store.files()).unwrap().is_empty());
    }
}
