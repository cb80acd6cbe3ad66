//! Writes down every statement with its parameters and answer, so that a test can run the same
//! statements on a server and compare. Only in builds with the `replay` feature.

use std::sync::{Arc, Mutex, PoisonError};

use model::Timestamp;
use rusqlite::types::{ToSqlOutput, Value};
use rusqlite::{Connection, ToSql};

use crate::layout::Home;
use crate::query::{Db, Place, Query};
use crate::site::Site;
use crate::store::Store;
use crate::{
    Error, apply, check, erase, history, lessons, lookups, maintain, matches, memories, outline,
    projects, proof, schema, scrub, settings, stamp, vectors, witness,
};

/// One statement as it was run.
#[derive(Clone, Debug)]
pub struct Line {
    pub name: &'static str,
    pub sql: String,
    pub params: Vec<Value>,
    pub answer: Answer,
    /// Whether a server must give the same answer.
    pub both: bool,
}

/// What the local file answered.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Rows(Vec<Vec<Value>>),
    Changed(usize),
    /// A transaction boundary: no answer, but its place in the order matters.
    Boundary,
}

/// A shared, growing list of lines.
#[derive(Clone, Debug, Default)]
pub struct Tape(Arc<Mutex<Vec<Line>>>);

impl Tape {
    pub fn lines(&self) -> Vec<Line> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn push(&self, line: Line) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }
}

/// Every named statement of the store, and whether it is meant for a server too.
pub fn statements() -> Vec<(&'static str, &'static str, bool)> {
    let all = [
        apply::STATEMENTS,
        check::STATEMENTS,
        erase::STATEMENTS,
        history::STATEMENTS,
        lessons::STATEMENTS,
        lookups::STATEMENTS,
        maintain::STATEMENTS,
        matches::STATEMENTS,
        memories::STATEMENTS,
        outline::STATEMENTS,
        projects::STATEMENTS,
        proof::STATEMENTS,
        scrub::STATEMENTS,
        settings::STATEMENTS,
        stamp::STATEMENTS,
        vectors::STATEMENTS,
        witness::STATEMENTS,
    ];
    all.iter()
        .flat_map(|it| it.iter())
        .map(|it| (it.name, it.sql, it.place == Place::Both))
        .collect()
}

/// The migrations of the user's file, which hold those of a project's.
pub fn migrations() -> Vec<&'static str> {
    schema::USER.migrations.to_vec()
}

impl Db {
    pub(crate) fn record_rows(&self, query: &Query, params: &[&dyn ToSql]) {
        let Some(tape) = &self.tape else { return };
        let mut statement = self.conn.prepare(query.sql).expect("it ran a moment ago");
        let width = statement.column_count();
        let mut rows = statement.query(params).expect("it ran a moment ago");
        let mut answer = Vec::new();
        while let Ok(Some(row)) = rows.next() {
            answer.push((0..width).filter_map(|at| row.get::<_, Value>(at).ok()).collect());
        }
        tape.push(line(query, params, Answer::Rows(answer)));
    }

    pub(crate) fn record_change(&self, query: &Query, params: &[&dyn ToSql], changed: usize) {
        let Some(tape) = &self.tape else { return };
        tape.push(line(query, params, Answer::Changed(changed)));
    }

    pub(crate) fn record_boundary(&self, sql: &str) {
        let Some(tape) = &self.tape else { return };
        let kept = ["BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE"];
        if kept.iter().any(|it| sql.starts_with(it)) {
            let answer = Answer::Boundary;
            tape.push(Line {
                name: "boundary",
                sql: sql.to_owned(),
                params: Vec::new(),
                answer,
                both: true,
            });
        }
    }
}

fn line(query: &Query, params: &[&dyn ToSql], answer: Answer) -> Line {
    let owned = |it: &&dyn ToSql| match it.to_sql() {
        Ok(ToSqlOutput::Owned(value)) => value,
        Ok(ToSqlOutput::Borrowed(value)) => value.into(),
        _ => Value::Null,
    };
    Line {
        name: query.name,
        sql: query.sql.to_owned(),
        params: params.iter().map(owned).collect(),
        answer,
        both: query.place == Place::Both,
    }
}

impl Store {
    /// A user's store that writes down every statement it runs.
    pub fn taped(home: Home, now: Timestamp, tape: Tape) -> Self {
        let mut site = Site::new(home, &schema::USER, None, now);
        site.tape = Some(tape);
        Self::at(site)
    }

    /// Runs `job` inside a write, with the connection in hand, to see what becomes of its neighbours.
    pub async fn inside_write(
        &self,
        job: impl FnOnce(&Connection) -> Result<(), rusqlite::Error> + Send + 'static,
    ) -> Result<(), Error> {
        self.write(move |db| job(&db.conn).map_err(|it| db.error(&it))).await
    }

    /// Runs `job` alone on the writer's thread, under the lock.
    pub async fn inside_alone(
        &self,
        job: impl FnOnce(&Connection) -> Result<(), rusqlite::Error> + Send + 'static,
    ) -> Result<(), Error> {
        self.alone(move |db| job(&db.conn).map_err(|it| db.error(&it))).await
    }

    /// Runs `job` on a reader's thread.
    pub async fn inside_read(
        &self,
        job: impl FnOnce(&Connection) -> Result<(), rusqlite::Error> + Send + 'static,
    ) -> Result<(), Error> {
        self.read(move |db| job(&db.conn).map_err(|it| db.error(&it))).await
    }
}
