//! The stored git history: commits, all names each file had, and per-file statistics derived from
//! them.
//!
//! The engine reads new commits from git, computes the statistics and passes both as a
//! `HistoryBatch`. Commits are appended; names and statistics are written anew each time. The last
//! stored commit is a row of table `state`.

use rusqlite::ToSql;

use crate::Error;
use crate::query::{Db, Query};

/// Key of the last stored commit in table `state`. The engine reads it under the same key.
const HEAD_KEY: &str = "history";

/// Tables of the git history. `commits` is a table, and in `file_histories` a count.
pub(super) const HISTORY_SCHEMA: &str = "
    CREATE TABLE commits (n INTEGER PRIMARY KEY, at INTEGER NOT NULL, words BLOB NOT NULL, files BLOB NOT NULL) STRICT;
    CREATE TABLE file_names (path TEXT PRIMARY KEY, file INTEGER NOT NULL, current INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE file_histories (
        path TEXT PRIMARY KEY, commits INTEGER NOT NULL, last_commit_at INTEGER NOT NULL, churn REAL NOT NULL,
        co_changed BLOB NOT NULL
    ) STRICT;
";

/// All commits, in the order they were stored.
const SELECT_COMMITS: Query =
    Query::local("graph_commits", "SELECT at, words, files FROM commits ORDER BY n");
/// All names that files have or had.
const SELECT_FILE_NAMES: Query =
    Query::local("graph_names", "SELECT path, file, current FROM file_names");
/// Numbers of commits and of files, present and earlier ones.
const COUNT_HISTORY: Query = Query::local(
    "graph_count_history",
    "SELECT (SELECT count(*) FROM commits), (SELECT coalesce(max(file) + 1, 0) FROM file_names)",
);
/// Statistics of all files.
const SELECT_FILE_HISTORIES: Query = Query::local(
    "graph_histories",
    "SELECT path, commits, last_commit_at, churn, co_changed FROM file_histories",
);
/// Statistics of one file.
const SELECT_FILE_HISTORY: Query = Query::local(
    "graph_history_of",
    "SELECT path, commits, last_commit_at, churn, co_changed FROM file_histories WHERE path = ?1",
);
/// Appends a commit.
const ADD_COMMIT: Query =
    Query::local("graph_add_commit", "INSERT INTO commits (at, words, files) VALUES (?1, ?2, ?3)");
/// Adds a name of a file.
const ADD_NAME: Query = Query::local(
    "graph_add_name",
    "INSERT INTO file_names (path, file, current) VALUES (?1, ?2, ?3)",
);
/// Adds the statistics of a file.
const ADD_FILE_HISTORY: Query = Query::local(
    "graph_add_history",
    "INSERT INTO file_histories (path, commits, last_commit_at, churn, co_changed) VALUES (?1, ?2, ?3, ?4, ?5)",
);
/// Deletes all commits.
const DELETE_COMMITS: Query = Query::local("graph_clear_commits", "DELETE FROM commits");
/// Deletes all names.
const DELETE_FILE_NAMES: Query = Query::local("graph_clear_names", "DELETE FROM file_names");
/// Deletes all statistics.
const DELETE_FILE_HISTORIES: Query =
    Query::local("graph_clear_histories", "DELETE FROM file_histories");

/// A commit. The hashes of the words of its message and the numbers of its files are encoded by the
/// crate `history` and opaque here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitRow {
    /// Seconds since the epoch.
    pub at: i64,
    pub words: Vec<u8>,
    pub files: Vec<u8>,
}

/// A name that a file has or had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileNameRow {
    pub path: String,
    /// Number that all names of one file share; commits refer to files by it.
    pub file: u32,
    pub is_current: bool,
}

/// Statistics of one file from the git history. The files that changed in the same commits are
/// encoded by the crate `history` and opaque here.
#[derive(Clone, Debug, PartialEq)]
pub struct FileHistoryRow {
    pub path: String,
    pub n_commits: u32,
    pub last_commit_at: i64,
    pub churn: f64,
    pub co_changed: Vec<u8>,
}

/// The next part of a git history.
#[derive(Clone, Debug, Default)]
pub struct HistoryBatch {
    /// Last commit that was stored when the batch was computed. If another process stored more
    /// since, nothing is written.
    pub previous_head: Option<String>,
    /// The stored history is replaced, not continued.
    pub replaces_all: bool,
    pub commits: Vec<CommitRow>,
    /// All names, also those stored before.
    pub names: Vec<FileNameRow>,
    /// Statistics of all files.
    pub file_histories: Vec<FileHistoryRow>,
    /// Last commit of this batch.
    pub head: String,
}

/// Stores a batch inside the caller's transaction.
pub(super) fn put_history(db: &Db, batch: &HistoryBatch) -> Result<(), Error> {
    let stored_head: Option<String> =
        db.select_one(&super::SELECT_STATE, &[&HEAD_KEY], |row| row.get(0))?;
    if stored_head != batch.previous_head {
        // Another process was faster; the next update continues from its result.
        return Ok(());
    }
    // Only commits are appended; names and statistics are recomputed as a whole.
    if batch.replaces_all {
        db.execute(&DELETE_COMMITS, &[])?;
    }
    for commit in &batch.commits {
        db.execute(&ADD_COMMIT, &[&commit.at, &commit.words, &commit.files])?;
    }
    db.execute(&DELETE_FILE_NAMES, &[])?;
    for name in &batch.names {
        db.execute(&ADD_NAME, &[&name.path, &name.file, &name.is_current])?;
    }
    db.execute(&DELETE_FILE_HISTORIES, &[])?;
    for file in &batch.file_histories {
        let values: [&dyn ToSql; 5] =
            [&file.path, &file.n_commits, &file.last_commit_at, &file.churn, &file.co_changed];
        db.execute(&ADD_FILE_HISTORY, &values)?;
    }
    db.execute(&super::PUT_STATE, &[&HEAD_KEY, &batch.head]).map(|_| ())
}

pub(super) fn read_file_history_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<FileHistoryRow> {
    Ok(FileHistoryRow {
        path: row.get(0)?,
        n_commits: row.get(1)?,
        last_commit_at: row.get(2)?,
        churn: row.get(3)?,
        co_changed: row.get(4)?,
    })
}

pub(super) fn read_history(db: &Db) -> Result<(Vec<CommitRow>, Vec<FileNameRow>), Error> {
    let commits = db.select(&SELECT_COMMITS, &[], |row| {
        Ok(CommitRow { at: row.get(0)?, words: row.get(1)?, files: row.get(2)? })
    })?;
    let names = db.select(&SELECT_FILE_NAMES, &[], |row| {
        Ok(FileNameRow { path: row.get(0)?, file: row.get(1)?, is_current: row.get(2)? })
    })?;
    Ok((commits, names))
}

/// Counts the commits and the files, as reading the whole history would.
pub(super) fn count_history(db: &Db) -> Result<(usize, usize), Error> {
    let counts = db.select_one(&COUNT_HISTORY, &[], |row| {
        Ok((row.get::<_, u32>(0)? as usize, row.get::<_, u32>(1)? as usize))
    })?;
    Ok(counts.unwrap_or_default())
}

pub(super) fn read_file_histories(db: &Db) -> Result<Vec<FileHistoryRow>, Error> {
    db.select(&SELECT_FILE_HISTORIES, &[], read_file_history_row)
}

pub(super) fn read_file_history(db: &Db, path: &str) -> Result<Option<FileHistoryRow>, Error> {
    db.select_one(&SELECT_FILE_HISTORY, &[&path], read_file_history_row)
}
