//! Records every statement with its parameters and result, so that a test can replay it on a server
//! and compare. The server is a libSQL server (`sqld`) that `tests/it/server.rs` starts; outside of
//! tests the store only uses local files. Only in builds with the `replay` feature.
//!
//! `Db` calls the `record_` functions. The `inside_` functions let tests run their own SQL on the
//! threads of a store.

use std::sync::{Arc, Mutex, PoisonError};

use model::Timestamp;
use rusqlite::types::{ToSqlOutput, Value};
use rusqlite::{Connection, ToSql};

use crate::data_dir::DatabasePaths;
use crate::database_state::DatabaseState;
use crate::query::{Db, Query, QueryTarget};
use crate::store::Store;
use crate::{
    Error, apply_batch, change_clock, cross_check, damage_check, erase, erasure_proof, history,
    index_delta, index_snapshot, injection_log, learning, lookup_tables, maintenance, memories,
    memory_list, registry, schema, settings, term_lookup, text_erasure, vectors,
};

/// One recorded statement.
#[derive(Clone, Debug)]
pub struct RecordedStatement {
    pub name: &'static str,
    pub sql: String,
    pub params: Vec<Value>,
    pub result: RecordedResult,
    /// True if the libSQL server must give the same result. Statements about the local file itself,
    /// such as its integrity check, are not replayed.
    pub runs_on_server: bool,
}

/// Result of a statement on the local file.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordedResult {
    Rows(Vec<Vec<Value>>),
    Changed(usize),
    /// A transaction boundary. It has no result, but its position matters.
    Boundary,
}

/// A shared list of recorded statements.
#[derive(Clone, Debug, Default)]
pub struct StatementRecorder(Arc<Mutex<Vec<RecordedStatement>>>);

impl StatementRecorder {
    pub fn lines(&self) -> Vec<RecordedStatement> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn add(&self, line: RecordedStatement) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }
}

/// A statement of the store.
pub struct NamedStatement {
    pub name: &'static str,
    pub sql: &'static str,
    /// True if the libSQL server of the test must run it, too.
    pub runs_on_server: bool,
}

/// Lists every statement of the store.
pub fn list_statements() -> Vec<NamedStatement> {
    let all = [
        apply_batch::STATEMENTS,
        damage_check::STATEMENTS,
        erase::STATEMENTS,
        history::STATEMENTS,
        learning::STATEMENTS,
        lookup_tables::STATEMENTS,
        maintenance::STATEMENTS,
        term_lookup::STATEMENTS,
        memories::STATEMENTS,
        memory_list::STATEMENTS,
        index_delta::STATEMENTS,
        index_snapshot::STATEMENTS,
        injection_log::STATEMENTS,
        registry::STATEMENTS,
        erasure_proof::STATEMENTS,
        text_erasure::STATEMENTS,
        settings::STATEMENTS,
        change_clock::STATEMENTS,
        vectors::STATEMENTS,
        cross_check::STATEMENTS,
    ];
    let to_named = |it: &&Query| NamedStatement {
        name: it.name,
        sql: it.sql,
        runs_on_server: it.target == QueryTarget::LocalAndServer,
    };
    all.iter().flat_map(|it| it.iter()).map(to_named).collect()
}

/// Lists the migrations of the user's database, which include those of a project's.
pub fn list_migrations() -> Vec<&'static str> {
    schema::USER.migrations.to_vec()
}

/// Records a query with its rows.
pub(crate) fn record_rows(db: &Db, query: &Query, params: &[&dyn ToSql]) {
    let Some(recorder) = &db.recorder else { return };
    // Runs a second time, because the caller's `read` consumed the rows of the first run.
    let mut statement = db.conn.prepare(query.sql).expect("the statement has just run");
    let width = statement.column_count();
    let mut rows = statement.query(params).expect("the statement has just run");
    let mut rows_read = Vec::new();
    while let Ok(Some(row)) = rows.next() {
        rows_read.push((0..width).filter_map(|column| row.get::<_, Value>(column).ok()).collect());
    }
    recorder.add(to_recorded(query, params, RecordedResult::Rows(rows_read)));
}

/// Records a change with the number of changed rows.
pub(crate) fn record_change(db: &Db, query: &Query, params: &[&dyn ToSql], changed: usize) {
    let Some(recorder) = &db.recorder else { return };
    recorder.add(to_recorded(query, params, RecordedResult::Changed(changed)));
}

/// Records the beginning or end of a transaction. Other statements about the file are left out.
pub(crate) fn record_boundary(db: &Db, sql: &str) {
    let Some(recorder) = &db.recorder else { return };
    let boundaries = ["BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE"];
    if boundaries.iter().any(|it| sql.starts_with(it)) {
        let result = RecordedResult::Boundary;
        recorder.add(RecordedStatement {
            name: "boundary",
            sql: sql.to_owned(),
            params: Vec::new(),
            result,
            runs_on_server: true,
        });
    }
}

fn to_recorded(query: &Query, params: &[&dyn ToSql], result: RecordedResult) -> RecordedStatement {
    let owned = |it: &&dyn ToSql| match it.to_sql() {
        Ok(ToSqlOutput::Owned(value)) => value,
        Ok(ToSqlOutput::Borrowed(value)) => value.into(),
        _ => Value::Null,
    };
    RecordedStatement {
        name: query.name,
        sql: query.sql.to_owned(),
        params: params.iter().map(owned).collect(),
        result,
        runs_on_server: query.target == QueryTarget::LocalAndServer,
    }
}

/// Opens a user's store that records every statement it runs.
pub fn recorded_store(paths: DatabasePaths, now: Timestamp, recorder: StatementRecorder) -> Store {
    let mut state = DatabaseState::new(paths, &schema::USER, None, now);
    state.recorder = Some(recorder);
    Store::from_state(state)
}

/// Runs `job` with the connection of a write transaction, to test its effect on other writes.
pub async fn inside_write(
    store: &Store,
    job: impl FnOnce(&Connection) -> Result<(), rusqlite::Error> + Send + 'static,
) -> Result<(), Error> {
    store.write(move |db| job(&db.conn).map_err(|it| db.error(&it))).await
}

/// Runs `job` exclusively on the writer thread, with the write lock held.
pub async fn inside_exclusive(
    store: &Store,
    job: impl FnOnce(&Connection) -> Result<(), rusqlite::Error> + Send + 'static,
) -> Result<(), Error> {
    store.run_exclusive(move |db| job(&db.conn).map_err(|it| db.error(&it))).await
}

/// Runs `job` on a reader thread.
pub async fn inside_read(
    store: &Store,
    job: impl FnOnce(&Connection) -> Result<(), rusqlite::Error> + Send + 'static,
) -> Result<(), Error> {
    store.read(move |db| job(&db.conn).map_err(|it| db.error(&it))).await
}
