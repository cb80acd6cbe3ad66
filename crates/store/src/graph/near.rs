//! Which files are one step away, asked file by file: nobody has to load a graph for that.

use std::collections::HashMap;

use super::past::{self, TiesRow};
use super::{GraphStore, PUT_STATE};
use crate::Error;
use crate::query::{Db, Query, local};

/// The last part of a path, as an index knows it.
macro_rules! name {
    () => {
        "replace(path, rtrim(path, replace(path, '/', '')), '')"
    };
}

pub(super) const SCHEMA: &str = concat!(
    "CREATE TABLE links (
        file INTEGER NOT NULL, other INTEGER NOT NULL, weight INTEGER NOT NULL, PRIMARY KEY (file, other)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX links_other ON links (other, file, weight);
    CREATE INDEX files_name ON files (",
    name!(),
    ");"
);

const ID: Query = local("graph_id", "SELECT id FROM files WHERE path = ?1");
const CALLED: Query = local(
    "graph_called",
    concat!("SELECT path FROM files WHERE ", name!(), " = ?1 ORDER BY path LIMIT 9"),
);
const FROM: Query = local(
    "graph_links_from",
    "SELECT f.path, l.weight FROM links l JOIN files f ON f.id = l.other WHERE l.file = ?1 ORDER BY l.weight DESC LIMIT 64",
);
const INTO: Query = local(
    "graph_links_into",
    "SELECT f.path, l.weight FROM links l JOIN files f ON f.id = l.file WHERE l.other = ?1 ORDER BY l.weight DESC LIMIT 64",
);
const TIES_OF: Query = local(
    "graph_ties_near",
    "SELECT path, commits, last, churn, together FROM ties WHERE path = ?1",
);
const CHURN_OF: Query = local("graph_churn", "SELECT churn FROM ties WHERE path = ?1");
const DROP_LINKS: Query = local("graph_drop_links", "DELETE FROM links WHERE file = ?1");
const PUT_LINK: Query = local(
    "graph_put_link",
    "INSERT OR REPLACE INTO links (file, other, weight) VALUES (?1, ?2, ?3)",
);

/// What stands around one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NearRow {
    pub path: String,
    /// Files it refers to and files that refer to it, with the weight of all edges between them, in
    /// thousandths.
    pub links: Vec<(String, u32)>,
    /// What the past says about it.
    pub ties: Option<TiesRow>,
}

impl GraphStore {
    /// What stands around each of some files, in their order.
    pub async fn near(&self, paths: Vec<String>) -> Result<Vec<NearRow>, Error> {
        self.workers
            .run(move |db| db.view(|db| paths.iter().map(|it| near(db, it)).collect()))
            .await
    }

    /// How much each of some files changed of late; nothing of those the history does not know.
    pub async fn churn(&self, paths: Vec<String>) -> Result<HashMap<String, f32>, Error> {
        self.workers
            .run(move |db| {
                let mut res = HashMap::new();
                for path in paths {
                    if let Some(churn) = db.one(&CHURN_OF, &[&path], |row| row.get::<_, f64>(0))? {
                        #[expect(clippy::cast_possible_truncation, reason = "a sum of shares")]
                        res.insert(path, churn as f32);
                    }
                }
                Ok(res)
            })
            .await
    }

    /// The files that some words name, by their whole path or their last part. A name that more files
    /// bear than anybody could mean names none.
    pub async fn named(&self, words: Vec<String>) -> Result<Vec<String>, Error> {
        const MEANT: usize = 8;
        self.workers
            .run(move |db| {
                let mut res = Vec::new();
                for word in &words {
                    if db.one(&ID, &[word], |row| row.get::<_, u32>(0))?.is_some() {
                        res.push(word.clone());
                        continue;
                    }
                    let name = word.rsplit('/').next().unwrap_or(word);
                    let called: Vec<String> = db.select(&CALLED, &[&name], |row| row.get(0))?;
                    if called.len() > MEANT {
                        continue;
                    }
                    let ending = format!("/{word}");
                    res.extend(called.into_iter().filter(|it| it == word || it.ends_with(&ending)));
                }
                Ok(res)
            })
            .await
    }

    pub async fn set_state(&self, key: &'static str, value: String) -> Result<(), Error> {
        self.workers.run(move |db| db.run(&PUT_STATE, &[&key, &value]).map(|_| ())).await
    }
}

fn near(db: &Db, path: &str) -> Result<NearRow, Error> {
    let mut res = NearRow { path: path.to_owned(), ..NearRow::default() };
    if let Some(id) = db.one(&ID, &[&path], |row| row.get::<_, u32>(0))? {
        for query in [&FROM, &INTO] {
            let found: Vec<(String, u32)> =
                db.select(query, &[&id], |row| Ok((row.get(0)?, row.get(1)?)))?;
            res.links.extend(found);
        }
    }
    res.ties = db.one(&TIES_OF, &[&path], past::ties)?;
    Ok(res)
}

pub(super) fn forget(db: &Db, file: u32) -> Result<(), Error> {
    db.run(&DROP_LINKS, &[&file]).map(|_| ())
}

pub(super) fn put(db: &Db, file: u32, links: &[(u32, u32)]) -> Result<(), Error> {
    forget(db, file)?;
    for (other, weight) in links {
        db.run(&PUT_LINK, &[&file, other, weight])?;
    }
    Ok(())
}
