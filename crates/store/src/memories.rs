//! Reading memories: by id, by what they are about, by words.

use model::{
    Memory, MemoryId, ProjectPath, QuietSpan, RelationKind, Scope, Source, Status, Timestamp,
};
use rusqlite::ToSql;

use crate::Error;
use crate::check::Finding;
use crate::query::{Db, Query, both};
use crate::row::{DamagedRow, columns, read_memory};

/// Which memories are wanted; an absent field wants all.
#[derive(Clone, Debug)]
pub struct Filter {
    /// The slug of a type, core or custom.
    pub kind: Option<String>,
    pub source: Option<Source>,
    pub scope: Option<Scope>,
    pub file: Option<ProjectPath>,
    pub module: Option<String>,
    pub tag: Option<String>,
    pub pinned: Option<bool>,
    pub statuses: Vec<Status>,
    pub limit: u32,
    pub offset: u32,
}

impl Filter {
    /// Everything that has not been forgotten or deprecated.
    pub fn standing(limit: u32) -> Self {
        use Status::{Live, NeedsReview, Stale, Tainted};
        Self {
            kind: None,
            source: None,
            scope: None,
            file: None,
            module: None,
            tag: None,
            pinned: None,
            statuses: vec![Stale, Tainted, NeedsReview, Live],
            limit,
            offset: 0,
        }
    }
}

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

/// The bit of each status, and the row's status as that bit: the order of `Memory::status`.
macro_rules! wanted {
    () => {
        "((CASE WHEN deleted_at IS NOT NULL THEN 1 WHEN deprecated_at IS NOT NULL THEN 2 \
           WHEN stale_at IS NOT NULL THEN 4 WHEN tainted = 1 THEN 8 WHEN needs_review = 1 THEN 16 ELSE 32 END) & ?1) <> 0 \
         AND (?2 IS NULL OR type = ?2) AND (?3 IS NULL OR source = ?3) AND (?4 IS NULL OR scope = ?4) \
         AND (?5 IS NULL OR pinned = ?5) \
         AND (?6 IS NULL OR EXISTS (SELECT 1 FROM memory_files f WHERE f.file = ?6 AND f.n = m.n)) \
         AND (?7 IS NULL OR EXISTS (SELECT 1 FROM memory_modules o WHERE o.module = ?7 AND o.n = m.n)) \
         AND (?8 IS NULL OR EXISTS (SELECT 1 FROM memory_tags t WHERE t.tag = ?8 AND t.n = m.n))"
    };
}

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
        " ORDER BY n DESC LIMIT ?9 OFFSET ?10"
    ),
);
const LIST_BY_FILE: Query = both(
    "list_by_file",
    concat!(
        "SELECT ",
        columns!(),
        " FROM memories m WHERE n IN (SELECT n FROM memory_files WHERE file = ?6) AND ",
        wanted!(),
        " ORDER BY n DESC LIMIT ?9 OFFSET ?10"
    ),
);
const LIST_BY_TAG: Query = both(
    "list_by_tag",
    concat!(
        "SELECT ",
        columns!(),
        " FROM memories m WHERE n IN (SELECT n FROM memory_tags WHERE tag = ?8) AND ",
        wanted!(),
        " ORDER BY n DESC LIMIT ?9 OFFSET ?10"
    ),
);
const LIST_BY_MODULE: Query = both(
    "list_by_module",
    concat!(
        "SELECT ",
        columns!(),
        " FROM memories m WHERE n IN (SELECT n FROM memory_modules WHERE module = ?7) AND ",
        wanted!(),
        " ORDER BY n DESC LIMIT ?9 OFFSET ?10"
    ),
);
// CROSS JOIN keeps the full-text index first: any other order costs a thousandfold.
const SEARCH: Query = both(
    "search",
    concat!(
        "SELECT ",
        columns!(),
        ", score FROM (SELECT rowid AS hit, bm25(memories_fts, 1.0, 0.6, 0.8) AS score FROM memories_fts \
         WHERE memories_fts MATCH ?11) CROSS JOIN memories m ON m.n = hit WHERE ",
        wanted!(),
        " ORDER BY score, n LIMIT ?9 OFFSET ?10"
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

fn with_filter<T>(
    filter: &Filter,
    expression: Option<&str>,
    ask: impl FnOnce(&[&dyn ToSql]) -> T,
) -> T {
    let bit = |it: &Status| 1_i64 << Status::ALL.iter().position(|known| known == it).unwrap_or(0);
    let mask: i64 = filter.statuses.iter().map(bit).sum();
    let source = filter.source.map(Source::slug);
    let scope = filter.scope.map(Scope::slug);
    let file = filter.file.as_ref().map(ProjectPath::as_str);
    let params: [&dyn ToSql; 11] = [
        &mask,
        &filter.kind,
        &source,
        &scope,
        &filter.pinned,
        &file,
        &filter.module,
        &filter.tag,
        &filter.limit,
        &filter.offset,
        &expression,
    ];
    let wanted = if expression.is_some() { 11 } else { 10 };
    ask(&params[..wanted])
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
     WHEN stale_at IS NOT NULL THEN 2 WHEN tainted = 1 THEN 3 WHEN needs_review = 1 THEN 4 ELSE 5 END AS status, \
     count(*) FROM memories GROUP BY 1, 2 ORDER BY 1, 2",
);

pub(crate) fn tally(db: &Db) -> Result<Vec<Tally>, Error> {
    db.select(&TALLY, &[], |row| {
        let status = Status::ALL.get(row.get::<_, usize>(1)?).copied().unwrap_or(Status::Live);
        Ok(Tally { kind: row.get(0)?, status, count: row.get::<_, i64>(2)?.unsigned_abs() })
    })
}
