//! SQL statements as named constants, and the connection that runs them.
//!
//! All SQL of the crate goes through `Db`, so that errors name the file and, in the replay build,
//! every statement is recorded.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Row, ToSql};

use crate::Error;
use crate::os::{self, FileIdentity};

/// Databases on which a statement must work.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueryTarget {
    /// The local file and a libSQL server, with the same result.
    LocalAndServer,
    /// The local file only: the statement is about the file itself.
    LocalOnly,
}

/// One SQL statement. Plans, recordings and tests refer to it by its name.
#[cfg_attr(
    not(feature = "replay"),
    expect(dead_code, reason = "names and targets are read by the replay tests")
)]
pub(crate) struct Query {
    pub(crate) name: &'static str,
    pub(crate) sql: &'static str,
    pub(crate) target: QueryTarget,
}

impl Query {
    /// A statement for local files and libSQL servers alike.
    pub(crate) const fn shared(name: &'static str, sql: &'static str) -> Self {
        Self { name, sql, target: QueryTarget::LocalAndServer }
    }

    /// A statement that only makes sense on a local file.
    pub(crate) const fn local(name: &'static str, sql: &'static str) -> Self {
        Self { name, sql, target: QueryTarget::LocalOnly }
    }
}

/// A connection that knows its file and, in the replay build, records the statements it runs.
pub(crate) struct Db {
    pub(crate) conn: Connection,
    pub(crate) path: PathBuf,
    /// Identity of the opened file; a restore may put another one in its place.
    file: Option<FileIdentity>,
    pub(crate) is_encrypted: bool,
    /// The full check ran on this connection and found nothing, see `check_empty_result`.
    pub(crate) known_sound: Cell<bool>,
    #[cfg(feature = "replay")]
    pub(crate) recorder: Option<crate::recorder::StatementRecorder>,
}

impl Db {
    /// `file` is the identity of the path just before it was opened.
    pub(crate) fn new(conn: Connection, path: &Path, file: Option<FileIdentity>) -> Self {
        Self {
            conn,
            path: path.to_owned(),
            file,
            is_encrypted: false,
            known_sound: Cell::new(false),
            #[cfg(feature = "replay")]
            recorder: None,
        }
    }

    /// Returns whether the path still names the opened file. A restore may have replaced it.
    pub(crate) fn is_current(&self) -> bool {
        self.file == os::file_identity(&self.path)
    }

    pub(crate) const fn file(&self) -> Option<FileIdentity> {
        self.file
    }

    /// Runs `body` in a transaction. An error rolls all of it back.
    pub(crate) fn transaction<T>(
        &self,
        body: impl FnOnce(&Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        // IMMEDIATE takes the write lock now: a lock that is taken at the first write can fail.
        self.execute_batch("BEGIN IMMEDIATE")?;
        let committed = body(self).and_then(|it| self.execute_batch("COMMIT").map(|()| it));
        // Does nothing after a successful commit.
        self.roll_back();
        committed
    }

    /// Runs `body` on one snapshot of the data, whatever other connections commit meanwhile:
    /// results that are compared must be from the same moment.
    pub(crate) fn read_snapshot<T>(
        &self,
        body: impl FnOnce(&Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        // A cached statement: parsing is most of the cost of a small query.
        let begun = self.conn.prepare_cached("BEGIN").and_then(|mut it| it.execute(()));
        begun.map_err(|it| self.error(&it))?;
        #[cfg(feature = "replay")]
        crate::recorder::record_boundary(self, "BEGIN");
        let result = body(self);
        // Nothing was written, so there is nothing to commit.
        self.roll_back();
        result
    }

    /// Rolls back a transaction that is still open. A failure is ignored: the caller has a more
    /// telling error, and the connection is not used again.
    pub(crate) fn roll_back(&self) {
        if !self.conn.is_autocommit() {
            let _ = self.conn.prepare_cached("ROLLBACK").and_then(|mut it| it.execute(()));
            #[cfg(feature = "replay")]
            crate::recorder::record_boundary(self, "ROLLBACK");
        }
    }

    /// Runs a query and returns all rows.
    pub(crate) fn select<T>(
        &self,
        query: &Query,
        params: &[&dyn ToSql],
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Error> {
        // A closure, so that all errors of the library are converted in one place.
        let rows_read = (|| {
            let mut statement = self.conn.prepare_cached(query.sql)?;
            let mut rows = statement.query(params)?;
            let mut rows_read = Vec::new();
            while let Some(row) = rows.next()? {
                rows_read.push(read(row)?);
            }
            Ok(rows_read)
        })();
        let rows_read = rows_read.map_err(|it| self.error(&it))?;
        #[cfg(feature = "replay")]
        crate::recorder::record_rows(self, query, params);
        Ok(rows_read)
    }

    /// Runs a query and returns the first row, if there is one.
    pub(crate) fn select_one<T>(
        &self,
        query: &Query,
        params: &[&dyn ToSql],
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, Error> {
        Ok(self.select(query, params, read)?.into_iter().next())
    }

    /// Runs a query once per row number, which is its only parameter. Numbers without a row are
    /// left out.
    pub(crate) fn select_each<T>(
        &self,
        query: &Query,
        numbers: &[i64],
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<(i64, T)>, Error> {
        let rows_read = (|| {
            let mut statement = self.conn.prepare_cached(query.sql)?;
            let mut rows_read = Vec::with_capacity(numbers.len());
            for n in numbers {
                if let Some(row) = statement.query([n])?.next()? {
                    rows_read.push((*n, read(row)?));
                }
            }
            Ok(rows_read)
        })();
        let rows_read = rows_read.map_err(|it| self.error(&it))?;
        #[cfg(feature = "replay")]
        for n in numbers {
            crate::recorder::record_rows(self, query, &[n]);
        }
        Ok(rows_read)
    }

    /// Runs a query and returns its single integer; 0 if there is no row.
    pub(crate) fn select_number(&self, query: &Query, params: &[&dyn ToSql]) -> Result<i64, Error> {
        Ok(self.select_one(query, params, |row| row.get(0))?.unwrap_or_default())
    }

    /// Runs a change and returns how many rows it changed.
    pub(crate) fn execute(&self, query: &Query, params: &[&dyn ToSql]) -> Result<usize, Error> {
        let executed = self.conn.prepare_cached(query.sql).and_then(|mut it| it.execute(params));
        let changed = executed.map_err(|it| self.error(&it))?;
        #[cfg(feature = "replay")]
        crate::recorder::record_change(self, query, params, changed);
        Ok(changed)
    }

    /// Runs statements about the file or the transaction, which have no parameters.
    pub(crate) fn execute_batch(&self, sql: &str) -> Result<(), Error> {
        self.conn.execute_batch(sql).map_err(|it| self.error(&it))?;
        #[cfg(feature = "replay")]
        crate::recorder::record_boundary(self, sql);
        Ok(())
    }

    /// Runs a pragma and returns the first column of its first row as text.
    pub(crate) fn query_pragma(&self, sql: &str) -> Result<String, Error> {
        let value = self.conn.query_row(sql, [], |row| row.get::<_, rusqlite::types::Value>(0));
        match value.map_err(|it| self.error(&it))? {
            rusqlite::types::Value::Integer(it) => Ok(it.to_string()),
            rusqlite::types::Value::Text(it) => Ok(it),
            other => Ok(format!("{other:?}")),
        }
    }

    /// Converts an error of the library into one that names the file.
    pub(crate) fn error(&self, error: &rusqlite::Error) -> Error {
        Error::from_database(&self.path, error)
    }
}
