//! What is kept of a repository's history: the commits, every name a file had, and the ties that follow.

use rusqlite::ToSql;

use super::GraphStore;
use crate::Error;
use crate::query::{Db, Query, local};

pub(super) const SCHEMA: &str = "
    CREATE TABLE commits (n INTEGER PRIMARY KEY, at INTEGER NOT NULL, words BLOB NOT NULL, files BLOB NOT NULL) STRICT;
    CREATE TABLE names (path TEXT PRIMARY KEY, file INTEGER NOT NULL, current INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE ties (
        path TEXT PRIMARY KEY, commits INTEGER NOT NULL, last INTEGER NOT NULL, churn REAL NOT NULL, together BLOB NOT NULL
    ) STRICT;
";

const COMMITS: Query = local("graph_commits", "SELECT at, words, files FROM commits ORDER BY n");
const NAMES: Query = local("graph_names", "SELECT path, file, current FROM names");
const TIES: Query = local("graph_ties", "SELECT path, commits, last, churn, together FROM ties");
const TIES_OF: Query =
    local("graph_ties_of", "SELECT path, commits, last, churn, together FROM ties WHERE path = ?1");
const ADD_COMMIT: Query =
    local("graph_add_commit", "INSERT INTO commits (at, words, files) VALUES (?1, ?2, ?3)");
const ADD_NAME: Query =
    local("graph_add_name", "INSERT INTO names (path, file, current) VALUES (?1, ?2, ?3)");
const ADD_TIES: Query = local(
    "graph_add_ties",
    "INSERT INTO ties (path, commits, last, churn, together) VALUES (?1, ?2, ?3, ?4, ?5)",
);
const CLEAR_COMMITS: Query = local("graph_clear_commits", "DELETE FROM commits");
const CLEAR_NAMES: Query = local("graph_clear_names", "DELETE FROM names");
const CLEAR_TIES: Query = local("graph_clear_ties", "DELETE FROM ties");

/// A commit, with the hashes of its words and the numbers of its files as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastRow {
    pub at: i64,
    pub words: Vec<u8>,
    pub files: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameRow {
    pub path: String,
    pub file: u32,
    pub is_current: bool,
}

/// What the past says about one file, its partners as bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct TiesRow {
    pub path: String,
    pub n_commits: u32,
    pub last: i64,
    pub churn: f64,
    pub together: Vec<u8>,
}

/// The next part of a history.
#[derive(Clone, Debug, Default)]
pub struct PastBatch {
    /// The last commit that was seen before: whoever saw another since was faster, and nothing is kept.
    pub after: Option<String>,
    /// What was kept before does not count any more.
    pub anew: bool,
    pub commits: Vec<PastRow>,
    /// All of them.
    pub names: Vec<NameRow>,
    pub ties: Vec<TiesRow>,
    /// The last commit that was seen.
    pub head: String,
}

impl GraphStore {
    /// The commits in their order, and every name.
    pub async fn past(&self) -> Result<(Vec<PastRow>, Vec<NameRow>), Error> {
        self.workers
            .run(|db| {
                db.view(|db| {
                    let commits = db.select(&COMMITS, &[], |row| {
                        Ok(PastRow { at: row.get(0)?, words: row.get(1)?, files: row.get(2)? })
                    })?;
                    let names = db.select(&NAMES, &[], |row| {
                        Ok(NameRow {
                            path: row.get(0)?,
                            file: row.get(1)?,
                            is_current: row.get(2)?,
                        })
                    })?;
                    Ok((commits, names))
                })
            })
            .await
    }

    /// What the past says about every file.
    pub async fn ties(&self) -> Result<Vec<TiesRow>, Error> {
        self.workers.run(|db| db.select(&TIES, &[], ties)).await
    }

    pub async fn ties_of(&self, path: String) -> Result<Option<TiesRow>, Error> {
        self.workers.run(move |db| db.one(&TIES_OF, &[&path], ties)).await
    }

    pub async fn keep_past(&self, batch: PastBatch) -> Result<(), Error> {
        self.workers.run(move |db| db.transaction(|db| keep(db, &batch))).await
    }
}

pub(super) fn ties(row: &rusqlite::Row<'_>) -> rusqlite::Result<TiesRow> {
    Ok(TiesRow {
        path: row.get(0)?,
        n_commits: row.get(1)?,
        last: row.get(2)?,
        churn: row.get(3)?,
        together: row.get(4)?,
    })
}

fn keep(db: &Db, batch: &PastBatch) -> Result<(), Error> {
    let seen: Option<String> = db.one(&super::STATE, &[&"history"], |row| row.get(0))?;
    if seen != batch.after {
        return Ok(());
    }
    if batch.anew {
        db.run(&CLEAR_COMMITS, &[])?;
    }
    for it in &batch.commits {
        db.run(&ADD_COMMIT, &[&it.at, &it.words, &it.files])?;
    }
    db.run(&CLEAR_NAMES, &[])?;
    for it in &batch.names {
        db.run(&ADD_NAME, &[&it.path, &it.file, &it.is_current])?;
    }
    db.run(&CLEAR_TIES, &[])?;
    for it in &batch.ties {
        let values: [&dyn ToSql; 5] = [&it.path, &it.n_commits, &it.last, &it.churn, &it.together];
        db.run(&ADD_TIES, &values)?;
    }
    db.run(&super::PUT_STATE, &[&"history", &batch.head]).map(|_| ())
}
