//! Neighbouring files, read file by file: queries about a few files need not load the whole graph.
//!
//! A link is a directed pair of files, with the summed weight of the edges between their symbols:
//! `file` refers to `other`. The engine computes it; this file stores it and finds the neighbours
//! of a file in both directions.

use std::collections::HashMap;

use super::history::{self, FileHistoryRow};
use crate::Error;
use crate::query::{Db, Query};

/// SQL: the file name in `path`. The inner `replace` leaves the characters other than `/`; `rtrim`
/// removes them from the end, which leaves the folder; the outer `replace` removes the folder. The
/// index `files_name` is built on the same expression.
macro_rules! file_name {
    () => {
        "replace(path, rtrim(path, replace(path, '/', '')), '')"
    };
}

/// Table of links, with an index for each direction, and the index of file names.
pub(super) const LINKS_SCHEMA: &str = concat!(
    "CREATE TABLE links (
        file INTEGER NOT NULL, other INTEGER NOT NULL, weight INTEGER NOT NULL, PRIMARY KEY (file, other)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX links_other ON links (other, file, weight);
    CREATE INDEX files_name ON files (",
    file_name!(),
    ");"
);

/// Most files that a word may name. A name that more files have is too common to mean any of them.
const MAX_FILES_PER_NAME: usize = 8;

/// The id of a file.
const SELECT_FILE_ID: Query = Query::local("graph_id", "SELECT id FROM files WHERE path = ?1");
/// Files with a name, without generated ones: people do not mean them. The limit is one more than `MAX_FILES_PER_NAME`, to see that there are more.
const SELECT_FILES_BY_NAME: Query = Query::local(
    "graph_called",
    concat!(
        "SELECT path FROM files WHERE ",
        file_name!(),
        " = ?1 AND NOT generated ORDER BY path LIMIT 9"
    ),
);
/// Files that a file refers to, strongest link first.
// The limit, here and below, bounds the work for a file that everything uses. Generated files are no
// suggestions.
const SELECT_LINKS_FROM: Query = Query::local(
    "graph_links_from",
    "SELECT f.path, l.weight FROM links l JOIN files f ON f.id = l.other WHERE l.file = ?1 AND NOT f.generated ORDER BY l.weight DESC LIMIT 64",
);
/// Files that refer to a file, strongest link first.
const SELECT_LINKS_INTO: Query = Query::local(
    "graph_links_into",
    "SELECT f.path, l.weight FROM links l JOIN files f ON f.id = l.file WHERE l.other = ?1 AND NOT f.generated ORDER BY l.weight DESC LIMIT 64",
);
/// Statistics of a file from the git history.
const SELECT_FILE_HISTORY: Query = Query::local(
    "graph_history_near",
    "SELECT path, commits, last_commit_at, churn, co_changed FROM file_histories WHERE path = ?1",
);
/// Recent churn of a file.
const SELECT_CHURN: Query =
    Query::local("graph_churn", "SELECT churn FROM file_histories WHERE path = ?1");
/// Deletes the links from a file.
const DELETE_LINKS: Query = Query::local("graph_drop_links", "DELETE FROM links WHERE file = ?1");
/// Stores a link.
const PUT_LINK: Query = Query::local(
    "graph_put_link",
    "INSERT OR REPLACE INTO links (file, other, weight) VALUES (?1, ?2, ?3)",
);

/// Neighbours of one file in the code graph and in the git history.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileNeighbors {
    pub path: String,
    /// Files it refers to and files that refer to it, with the summed weight of the edges between
    /// them, in thousandths.
    pub links: Vec<(String, u32)>,
    /// Statistics from the git history.
    pub history: Option<FileHistoryRow>,
}

/// Reads the neighbours of one file. A file that was not indexed has no links.
pub(super) fn find_neighbors(db: &Db, path: &str) -> Result<FileNeighbors, Error> {
    let mut neighbors = FileNeighbors { path: path.to_owned(), ..FileNeighbors::default() };
    if let Some(id) = db.select_one(&SELECT_FILE_ID, &[&path], |row| row.get::<_, u32>(0))? {
        for query in [&SELECT_LINKS_FROM, &SELECT_LINKS_INTO] {
            let found: Vec<(String, u32)> =
                db.select(query, &[&id], |row| Ok((row.get(0)?, row.get(1)?)))?;
            neighbors.links.extend(found);
        }
    }
    neighbors.history =
        db.select_one(&SELECT_FILE_HISTORY, &[&path], history::read_file_history_row)?;
    Ok(neighbors)
}

pub(super) fn delete_links(db: &Db, file: u32) -> Result<(), Error> {
    db.execute(&DELETE_LINKS, &[&file]).map(|_| ())
}

/// Replaces the links from a file.
pub(super) fn put_links(db: &Db, file: u32, links: &[(u32, u32)]) -> Result<(), Error> {
    delete_links(db, file)?;
    for (other, weight) in links {
        db.execute(&PUT_LINK, &[&file, other, weight])?;
    }
    Ok(())
}

/// Reads the recent churn of files. Files without a history are left out.
pub(super) fn read_churn(db: &Db, paths: Vec<String>) -> Result<HashMap<String, f32>, Error> {
    let mut churn_by_path = HashMap::new();
    for path in paths {
        if let Some(churn) = db.select_one(&SELECT_CHURN, &[&path], |row| row.get::<_, f64>(0))? {
            #[expect(clippy::cast_possible_truncation, reason = "a sum of shares")]
            churn_by_path.insert(path, churn as f32);
        }
    }
    Ok(churn_by_path)
}

/// Finds the files that words name, by whole path, by the end of a path or by file name.
pub(super) fn find_files_named(db: &Db, words: &[String]) -> Result<Vec<String>, Error> {
    let mut files = Vec::new();
    for word in words {
        // The word is a whole path.
        if db.select_one(&SELECT_FILE_ID, &[word], |row| row.get::<_, u32>(0))?.is_some() {
            files.push(word.clone());
            continue;
        }
        // The index is on file names; the rest of the word is compared below.
        let name = word.rsplit('/').next().unwrap_or(word);
        let candidates: Vec<String> =
            db.select(&SELECT_FILES_BY_NAME, &[&name], |row| row.get(0))?;
        if candidates.len() > MAX_FILES_PER_NAME {
            // Such as `mod.rs`: it could mean any of them.
            continue;
        }
        // A path equal to the word was found above already, unless the file was added since then.
        let ending = format!("/{word}");
        files.extend(candidates.into_iter().filter(|it| it == word || it.ends_with(&ending)));
    }
    Ok(files)
}
