//! Reading memories: by id, by what they are about, by words.

use model::{Memory, MemoryId, QuietSpan, RelationKind, Status, Timestamp};
use rusqlite::ToSql;

use crate::Error;
use crate::check::Finding;
use crate::filter::{Filter, wanted, with_filter};
use crate::query::{Db, Query, both};
use crate::row::{DamagedRow, columns, read_memory};

/// A memory found by words, best first; the score is only good for ordering.
#[derive(Clone, Debug)]
pub struct TextHit {
    pub memory: Memory,
    pub score: f64,
}

/// Memories and what had to be withheld among them.
pub(crate) struct Read<T> {
    pub(crate) found: Vec<T>,
    pub(crate) damaged: Vec<Finding>,
}

impl<T> Read<T> {
    /// Nothing was there, not even something damaged.
    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty() && self.damaged.is_empty()
    }

    /// Parts good rows from damaged ones.
    pub(crate) fn part(rows: Vec<Result<T, DamagedRow>>, name: fn(DamagedRow) -> Finding) -> Self {
        let mut res = Self { found: Vec::with_capacity(rows.len()), damaged: Vec::new() };
        for row in rows {
            match row {
                Ok(found) => res.found.push(found),
                Err(damaged) => res.damaged.push(name(damaged)),
            }
        }
        res
    }
}

#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[
    &BY_ID,
    &BY_SHORT,
    &LIST,
    &LIST_BY_FILE,
    &LIST_BY_TAG,
    &LIST_BY_MODULE,
    &SEARCH,
    &POINTING_AT,
    &QUIET_SPANS,
    &TOTAL,
    &TALLY,
];

const BY_ID: Query = both("by_id", concat!("SELECT ", columns!(), " FROM memories WHERE id = ?1"));
const BY_SHORT: Query = both(
    "by_short",
    concat!("SELECT ", columns!(), " FROM memories WHERE short >= ?1 AND short < ?2 ORDER BY n"),
);
const LIST: Query = both(
    "list",
    concat!(
        "SELECT ",
        columns!(),
        " FROM memories m WHERE ",
        wanted!(),
        " ORDER BY n DESC LIMIT ?10 OFFSET ?11"
    ),
);
const LIST_BY_FILE: Query = both(
    "list_by_file",
    concat!(
        "SELECT ",
        columns!(),
        " FROM memories m WHERE n IN (SELECT n FROM memory_files WHERE file = ?6) AND ",
        wanted!(),
        " ORDER BY n DESC LIMIT ?10 OFFSET ?11"
    ),
);
const LIST_BY_TAG: Query = both(
    "list_by_tag",
    concat!(
        "SELECT ",
        columns!(),
        " FROM memories m WHERE n IN (SELECT n FROM memory_tags WHERE tag = ?8) AND ",
        wanted!(),
        " ORDER BY n DESC LIMIT ?10 OFFSET ?11"
    ),
);
const LIST_BY_MODULE: Query = both(
    "list_by_module",
    concat!(
        "SELECT ",
        columns!(),
        " FROM memories m WHERE n IN (SELECT n FROM memory_modules WHERE module = ?7) AND ",
        wanted!(),
        " ORDER BY n DESC LIMIT ?10 OFFSET ?11"
    ),
);
// CROSS JOIN keeps the full-text index first: any other order costs a thousandfold.
const SEARCH: Query = both(
    "search",
    concat!(
        "SELECT ",
        columns!(),
        ", score FROM (SELECT rowid AS hit, bm25(memories_fts, 1.0, 0.6, 0.8) AS score FROM memories_fts \
         WHERE memories_fts MATCH ?12) CROSS JOIN memories m ON m.n = hit WHERE ",
        wanted!(),
        " ORDER BY score, n LIMIT ?10 OFFSET ?11"
    ),
);
const POINTING_AT: Query = both(
    "pointing_at",
    concat!(
        "SELECT ",
        columns!(),
        " FROM memories WHERE n IN (SELECT n FROM memory_relations WHERE target = ?1 AND kind = ?2) ORDER BY n"
    ),
);
const QUIET_SPANS: Query =
    both("quiet_spans", "SELECT from_ms, to_ms FROM quiet_spans ORDER BY from_ms");
const TOTAL: Query = both("total", "SELECT count(*) FROM memories");

pub(crate) fn by_id(db: &Db, id: MemoryId) -> Result<Read<Memory>, Error> {
    memories(db, &BY_ID, &[&id.0.as_bytes().as_slice()])
}

/// Memories whose short id begins with `prefix`: what people type.
pub(crate) fn by_short(db: &Db, prefix: &str) -> Result<Read<Memory>, Error> {
    memories(db, &BY_SHORT, &[&prefix, &format!("{prefix}~")])
}

/// The newest memories that pass the filter. The order is that of writing, whatever the clock said.
pub(crate) fn list(db: &Db, filter: &Filter) -> Result<Read<Memory>, Error> {
    let query = match filter {
        Filter { file: Some(_), .. } => &LIST_BY_FILE,
        Filter { tag: Some(_), .. } => &LIST_BY_TAG,
        Filter { module: Some(_), .. } => &LIST_BY_MODULE,
        _ => &LIST,
    };
    with_filter(filter, None, |params| memories(db, query, params))
}

/// Memories whose words match a full-text expression, best first.
pub(crate) fn search(db: &Db, expression: &str, filter: &Filter) -> Result<Read<TextHit>, Error> {
    with_filter(filter, Some(expression), |params| {
        let rows = db.select(&SEARCH, params, |row| {
            let score: f64 = row.get("score")?;
            // bm25 is smaller for better; people expect the opposite.
            Ok(read_memory(row, 0)?.map(|memory| TextHit { memory, score: -score }))
        })?;
        Ok(Read::part(rows, Finding::Row))
    })
}

/// Memories that carry a relation of `kind` to `target`.
pub(crate) fn pointing_at(
    db: &Db,
    target: MemoryId,
    kind: RelationKind,
) -> Result<Read<Memory>, Error> {
    memories(db, &POINTING_AT, &[&target.0.as_bytes().as_slice(), &kind.slug()])
}

pub(crate) fn quiet_spans(db: &Db) -> Result<Vec<QuietSpan>, Error> {
    db.select(&QUIET_SPANS, &[], |row| {
        Ok(QuietSpan { from: Timestamp(row.get(0)?), to: Timestamp(row.get(1)?) })
    })
}

pub(crate) fn total(db: &Db) -> Result<i64, Error> {
    db.number(&TOTAL, &[])
}

fn memories(db: &Db, query: &Query, params: &[&dyn ToSql]) -> Result<Read<Memory>, Error> {
    Ok(Read::part(db.select(query, params, |row| read_memory(row, 0))?, Finding::Row))
}

/// How many memories there are, by type and status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    pub kind: String,
    pub status: Status,
    pub count: u64,
}

const TALLY: Query = both(
    "tally",
    "SELECT type, CASE WHEN deleted_at IS NOT NULL THEN 0 WHEN deprecated_at IS NOT NULL THEN 1 \
     WHEN tainted = 1 THEN 2 WHEN stale_at IS NOT NULL THEN 3 WHEN needs_review = 1 THEN 4 ELSE 5 END AS status, \
     count(*) FROM memories GROUP BY 1, 2 ORDER BY 1, 2",
);

pub(crate) fn tally(db: &Db) -> Result<Vec<Tally>, Error> {
    db.select(&TALLY, &[], |row| {
        let status = Status::ALL.get(row.get::<_, usize>(1)?).copied().unwrap_or(Status::Live);
        Ok(Tally { kind: row.get(0)?, status, count: row.get::<_, i64>(2)?.unsigned_abs() })
    })
}
