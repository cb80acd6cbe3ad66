//! Statements as values, and the one way they are run.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Row, ToSql};

use crate::Error;
use crate::os::{self, FileId};

/// Where a statement must give the same answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the local file and on a libSQL server.
    Both,
    /// Only in the local file: it speaks of the file itself.
    Local,
}

/// One statement: a constant with a name, so that plans, traces and tests can speak of it.
#[cfg_attr(
    not(feature = "replay"),
    expect(dead_code, reason = "names and places are read by the replay tests")
)]
pub(crate) struct Query {
    pub(crate) name: &'static str,
    pub(crate) sql: &'static str,
    pub(crate) place: Place,
}

pub(crate) const fn both(name: &'static str, sql: &'static str) -> Query {
    Query { name, sql, place: Place::Both }
}

pub(crate) const fn local(name: &'static str, sql: &'static str) -> Query {
    Query { name, sql, place: Place::Local }
}

/// A connection that knows its file and, in the replay tests, writes down what it ran.
pub(crate) struct Db {
    pub(crate) conn: Connection,
    pub(crate) path: PathBuf,
    /// The file that was opened; another may take its name.
    file: Option<FileId>,
    pub(crate) is_encrypted: bool,
    /// The thorough check was asked for, and found nothing.
    pub(crate) known_sound: Cell<bool>,
    #[cfg(feature = "replay")]
    pub(crate) tape: Option<crate::tape::Tape>,
}

impl Db {
    /// `file` is what the path named just before it was opened.
    pub(crate) fn new(conn: Connection, path: &Path, file: Option<FileId>) -> Self {
        Self {
            conn,
            path: path.to_owned(),
            file,
            is_encrypted: false,
            known_sound: Cell::new(false),
            #[cfg(feature = "replay")]
            tape: None,
        }
    }

    /// Whether the path still names the file that was opened. A restore may have put another there.
    pub(crate) fn is_current(&self) -> bool {
        self.file == os::identity(&self.path)
    }

    pub(crate) const fn file(&self) -> Option<FileId> {
        self.file
    }

    /// Runs `body` in a transaction of its own; an error takes back all of it.
    pub(crate) fn transaction<T>(
        &self,
        body: impl FnOnce(&Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.batch("BEGIN IMMEDIATE")?;
        let res = body(self).and_then(|it| self.batch("COMMIT").map(|()| it));
        self.roll_back();
        res
    }

    /// Runs `body` on one view of the data, whatever is committed meanwhile: two questions that are
    /// compared must have been asked at the same moment.
    pub(crate) fn view<T>(&self, body: impl FnOnce(&Self) -> Result<T, Error>) -> Result<T, Error> {
        // Parsed once: this is most of what a small question costs.
        let begun = self.conn.prepare_cached("BEGIN").and_then(|mut it| it.execute(()));
        begun.map_err(|it| self.error(&it))?;
        #[cfg(feature = "replay")]
        self.record_boundary("BEGIN");
        let res = body(self);
        self.roll_back();
        res
    }

    /// Leaves a transaction that is still open. Should that fail, the connection is not used again,
    /// and the error that led here says more than this one would.
    pub(crate) fn roll_back(&self) {
        if !self.conn.is_autocommit() {
            let _ = self.conn.prepare_cached("ROLLBACK").and_then(|mut it| it.execute(()));
            #[cfg(feature = "replay")]
            self.record_boundary("ROLLBACK");
        }
    }

    /// All rows of a question.
    pub(crate) fn select<T>(
        &self,
        query: &Query,
        params: &[&dyn ToSql],
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Error> {
        let res = (|| {
            let mut statement = self.conn.prepare_cached(query.sql)?;
            let mut rows = statement.query(params)?;
            let mut res = Vec::new();
            while let Some(row) = rows.next()? {
                res.push(read(row)?);
            }
            Ok(res)
        })();
        let res = res.map_err(|it| self.error(&it))?;
        #[cfg(feature = "replay")]
        self.record_rows(query, params);
        Ok(res)
    }

    /// The first row of a question, if there is one.
    pub(crate) fn one<T>(
        &self,
        query: &Query,
        params: &[&dyn ToSql],
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, Error> {
        Ok(self.select(query, params, read)?.into_iter().next())
    }

    /// The same question about many rows, each by its number; those that are not there are left out.
    pub(crate) fn each<T>(
        &self,
        query: &Query,
        numbers: &[i64],
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<(i64, T)>, Error> {
        let res = (|| {
            let mut statement = self.conn.prepare_cached(query.sql)?;
            let mut res = Vec::with_capacity(numbers.len());
            for n in numbers {
                if let Some(row) = statement.query([n])?.next()? {
                    res.push((*n, read(row)?));
                }
            }
            Ok(res)
        })();
        let res = res.map_err(|it| self.error(&it))?;
        #[cfg(feature = "replay")]
        for n in numbers {
            self.record_rows(query, &[n]);
        }
        Ok(res)
    }

    /// One integer, for statements that always give one.
    pub(crate) fn number(&self, query: &Query, params: &[&dyn ToSql]) -> Result<i64, Error> {
        Ok(self.one(query, params, |row| row.get(0))?.unwrap_or_default())
    }

    /// Runs a change; returns how many rows it touched.
    pub(crate) fn run(&self, query: &Query, params: &[&dyn ToSql]) -> Result<usize, Error> {
        let res = self.conn.prepare_cached(query.sql).and_then(|mut it| it.execute(params));
        let changed = res.map_err(|it| self.error(&it))?;
        #[cfg(feature = "replay")]
        self.record_change(query, params, changed);
        Ok(changed)
    }

    /// Runs statements that are about the file or the transaction, not about memories.
    pub(crate) fn batch(&self, sql: &str) -> Result<(), Error> {
        self.conn.execute_batch(sql).map_err(|it| self.error(&it))?;
        #[cfg(feature = "replay")]
        self.record_boundary(sql);
        Ok(())
    }

    /// The first column of a pragma's first row, as text.
    pub(crate) fn pragma(&self, sql: &str) -> Result<String, Error> {
        let res = self.conn.query_row(sql, [], |row| row.get::<_, rusqlite::types::Value>(0));
        match res.map_err(|it| self.error(&it))? {
            rusqlite::types::Value::Integer(it) => Ok(it.to_string()),
            rusqlite::types::Value::Text(it) => Ok(it),
            other => Ok(format!("{other:?}")),
        }
    }

    pub(crate) fn error(&self, error: &rusqlite::Error) -> Error {
        Error::database(&self.path, error)
    }
}
