//! The queries about a project's code graph, one method each. The handle shares the threads of the
//! `GraphStore` it comes from, which does the writing.
//!
//! The stored data of a source file: its *stamp* (id, path, size, modification time and content
//! hash; while size and time are unchanged, so is the content), its *outline* (the symbols it
//! defines) and *body* (the references in it, by name), its *edges* (these references resolved to
//! symbols of other files), the *keys* (the names that were looked up to resolve them, so that a
//! change of one of these names resolves the file again), and *precise* (its references according
//! to an index of a compiler, such as SCIP, if there is one). All but the stamp are opaque bytes
//! here; the graph crate encodes them.
//!
//! Methods whose rows must fit together (`neighbors`, `history`, the module map) run their
//! statements in one snapshot, so that a write between two of them is not seen by half. A single
//! statement is a snapshot by itself, and the other methods return rows that are independent.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use super::history::{self, CommitRow, FileHistoryRow, FileNameRow};
use super::links::{self, FileNeighbors};
use super::module_map::{self, ModuleMapRows};
use super::{GraphBody, GraphFile, GraphSkippedFile, GraphStamp, SELECT_GENERATION, SELECT_STATE};
use crate::Error;
use crate::query::{Db, Query};
use crate::worker_threads::ReaderPool;

/// Every file, with its edges if they are resolved.
const SELECT_FILES: Query = Query::local(
    "graph_files",
    "SELECT id, path, size, modified, hash, generated, outline, edges FROM files LEFT JOIN edges USING (id)",
);
/// The data of every file that only updates need: `body`, `keys` and `precise`, see above.
const SELECT_BODIES: Query = Query::local(
    "graph_bodies",
    "SELECT id, body, keys, precise FROM bodies LEFT JOIN edges USING (id)",
);
/// The stamps of all files.
const SELECT_STAMPS: Query =
    Query::local("graph_stamps", "SELECT id, path, size, modified, hash, generated FROM files");
/// The stamp of one file.
const SELECT_STAMP: Query = Query::local(
    "graph_stamp_of",
    "SELECT id, path, size, modified, hash, generated FROM files WHERE path = ?1",
);
/// Paths of the files that a program wrote.
const SELECT_GENERATED: Query =
    Query::local("graph_generated", "SELECT path FROM files WHERE generated");
/// Files that were not indexed.
const SELECT_SKIPPED: Query = Query::local(
    "graph_skipped",
    "SELECT path, size, modified, reason FROM skipped_files ORDER BY path",
);

/// Reads the code graph of one project.
///
/// No method changes the graph. There is one side effect on the disk: the first query creates a
/// missing database file, or replaces one that is damaged or of another version with an empty one.
#[derive(Clone)]
pub struct GraphReader {
    path: PathBuf,
    workers: Arc<ReaderPool>,
}

impl GraphReader {
    pub(super) fn new(path: PathBuf, workers: ReaderPool) -> Self {
        Self { path, workers: Arc::new(workers) }
    }

    pub fn exists(&self) -> bool {
        self.path.exists()
    }

    /// Bytes on disk: the database file and its write-ahead log, in which `SQLite` keeps the
    /// changes that are not merged into the file yet. A missing file has 0 bytes.
    pub fn size(&self) -> u64 {
        let log = self.path.with_extension("db-wal");
        let bytes_of = |path: &PathBuf| fs::metadata(path).map_or(0, |it| it.len());
        bytes_of(&self.path) + bytes_of(&log)
    }

    pub async fn files(&self) -> Result<Vec<GraphFile>, Error> {
        self.run(|db| {
            db.select(&SELECT_FILES, &[], |row| {
                Ok(GraphFile { stamp: read_stamp(row)?, outline: row.get(6)?, edges: row.get(7)? })
            })
        })
        .await
    }

    pub async fn bodies(&self) -> Result<Vec<GraphBody>, Error> {
        self.run(|db| {
            db.select(&SELECT_BODIES, &[], |row| {
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
        self.run(|db| db.select(&SELECT_STAMPS, &[], read_stamp)).await
    }

    /// Stamps of some files, in their order. Files that were not indexed are left out.
    pub async fn stamps_of(&self, paths: Vec<String>) -> Result<Vec<GraphStamp>, Error> {
        self.run(move |db| {
            let mut stamps = Vec::with_capacity(paths.len());
            for path in &paths {
                // `extend` by an `Option`: nothing is added for a file that was not indexed.
                stamps.extend(db.select_one(&SELECT_STAMP, &[path], read_stamp)?);
            }
            Ok(stamps)
        })
        .await
    }

    /// Paths of the indexed files that a program wrote.
    pub async fn generated_files(&self) -> Result<Vec<String>, Error> {
        self.run(|db| db.select(&SELECT_GENERATED, &[], |row| row.get(0))).await
    }

    pub async fn skipped_files(&self) -> Result<Vec<GraphSkippedFile>, Error> {
        self.run(|db| {
            db.select(&SELECT_SKIPPED, &[], |row| {
                Ok(GraphSkippedFile {
                    path: row.get(0)?,
                    size: read_unsigned(row, 1)?,
                    modified: read_unsigned(row, 2)?,
                    reason: row.get(3)?,
                })
            })
        })
        .await
    }

    /// One fact about the whole graph, such as the commit up to which its history is
    /// indexed; `None` if it was never set.
    pub async fn get_state(&self, key: &'static str) -> Result<Option<String>, Error> {
        self.run(move |db| db.select_one(&SELECT_STATE, &[&key], |row| row.get(0))).await
    }

    /// Counts the changes of the graph, by any process; 0 before the first.
    pub async fn generation(&self) -> Result<i64, Error> {
        self.run(|db| db.select_number(&SELECT_GENERATION, &[])).await
    }

    /// Neighbours of each of some files, in their order.
    pub async fn neighbors(&self, paths: Vec<String>) -> Result<Vec<FileNeighbors>, Error> {
        self.run(move |db| {
            db.read_snapshot(|db| paths.iter().map(|it| links::find_neighbors(db, it)).collect())
        })
        .await
    }

    /// Recent churn of each of some files. Files unknown to the history are left out.
    pub async fn churn_of(&self, paths: Vec<String>) -> Result<HashMap<String, f32>, Error> {
        self.run(move |db| links::read_churn(db, paths)).await
    }

    /// Files that some words name, by whole path or by file name.
    pub async fn files_named(&self, words: Vec<String>) -> Result<Vec<String>, Error> {
        self.run(move |db| links::find_files_named(db, &words)).await
    }

    /// Commits in their order, and all file names.
    pub async fn history(&self) -> Result<(Vec<CommitRow>, Vec<FileNameRow>), Error> {
        self.run(|db| db.read_snapshot(history::read_history)).await
    }

    /// Numbers of commits and of files in the history.
    pub async fn count_history(&self) -> Result<(usize, usize), Error> {
        self.run(history::count_history).await
    }

    /// Statistics of every file in the git history.
    pub async fn file_histories(&self) -> Result<Vec<FileHistoryRow>, Error> {
        self.run(history::read_file_histories).await
    }

    pub async fn file_history_of(&self, path: String) -> Result<Option<FileHistoryRow>, Error> {
        self.run(move |db| history::read_file_history(db, &path)).await
    }

    pub async fn module_map(&self) -> Result<ModuleMapRows, Error> {
        self.run(|db| db.read_snapshot(module_map::read_module_map)).await
    }

    pub async fn count_modules(&self) -> Result<usize, Error> {
        self.run(module_map::count_modules).await
    }

    /// The module map without the files of its modules.
    pub async fn module_map_outline(&self) -> Result<ModuleMapRows, Error> {
        self.run(|db| db.read_snapshot(module_map::read_outline)).await
    }

    /// References between files: from, to, summed weight of the edges between them.
    pub async fn file_links(&self) -> Result<Vec<(u32, u32, u32)>, Error> {
        self.run(module_map::read_file_links).await
    }

    /// Queues `job` for one of the threads. `GraphStore` shares them and runs its writes here, too.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Db) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.workers.run(job).await
    }
}

/// Reads a stamp from the first six columns.
fn read_stamp(row: &rusqlite::Row<'_>) -> rusqlite::Result<GraphStamp> {
    Ok(GraphStamp {
        id: row.get(0)?,
        path: row.get(1)?,
        size: read_unsigned(row, 2)?,
        modified: read_unsigned(row, 3)?,
        hash: row.get(4)?,
        is_generated: row.get(5)?,
    })
}

/// Sizes and times fit in 63 bits; a negative number was not written by this program and is read
/// as 0.
fn read_unsigned(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(|it| u64::try_from(it).unwrap_or_default())
}
