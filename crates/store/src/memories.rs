//! Reads memories: by id, by filter, by words, by the files they name.
//!
//! `MemoryQueries` is the public handle; below it stand the SQL statements and one function per
//! statement. A memory has an *id* of 16 bytes, a *short id* (its last 8 hexadecimal digits, which
//! people type) and a *row number* `n`, by which ranking refers to it.
//!
//! Every row carries a hash. Rows that do not match theirs are left out and reported as *findings*.
//! An index whose pages are damaged may also find nothing at all, so a read that usually finds
//! something goes through `DatabaseState::checked`: an empty result is compared with a second index
//! (`cross_check`). Reads by id use `checked_by_id`, which in case of damage also scans all rows.

use std::sync::Arc;

use model::{Memory, MemoryId, MemoryStatus, ProjectPath, QuietSpan, RelationKind, Timestamp};
use rusqlite::ToSql;

use crate::damage_check::{self, DamageFinding};
use crate::database_state::DatabaseState;
use crate::index_delta::{self, IndexDelta, IndexPosition};
use crate::index_snapshot::{self, IndexSnapshot};
use crate::memory_filter::{MemoryFilter, filter_condition, status_position, with_filter_params};
use crate::memory_row::{DamagedRow, columns, read_memory};
use crate::query::{Db, Query};
use crate::store_reader::StoreReader;
use crate::term_lookup::{self, FileWarnings, MemorySubjects, QuietPeriods, TermLookup};
use crate::{Error, apply_batch, cross_check, memory_list};

/// A memory found by full-text search. The score only orders hits of one search.
#[derive(Clone, Debug)]
pub struct TextHit {
    pub memory: Memory,
    pub score: f64,
}

/// Number of memories of one type and status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusCount {
    pub kind: String,
    pub status: MemoryStatus,
    pub count: u64,
}

/// Rows that passed their checks, and findings about those that did not.
pub(crate) struct CheckedRows<T> {
    pub(crate) found: Vec<T>,
    pub(crate) damaged: Vec<DamageFinding>,
}

impl<T> CheckedRows<T> {
    /// Returns whether there was no row at all, not even a damaged one.
    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty() && self.damaged.is_empty()
    }

    /// Separates undamaged rows from damaged ones.
    pub(crate) fn partition(
        rows: Vec<Result<T, DamagedRow>>,
        to_finding: fn(DamagedRow) -> DamageFinding,
    ) -> Self {
        let mut checked = Self { found: Vec::with_capacity(rows.len()), damaged: Vec::new() };
        for row in rows {
            match row {
                Ok(found) => checked.found.push(found),
                Err(damaged) => checked.damaged.push(to_finding(damaged)),
            }
        }
        checked
    }
}

/// Queries about memories: by id, by filter, by words, by the files they name.
#[derive(Clone, Copy)]
pub struct MemoryQueries<'a> {
    reader: &'a StoreReader,
}

impl<'a> MemoryQueries<'a> {
    pub(crate) fn new(reader: &'a StoreReader) -> Self {
        Self { reader }
    }

    /// Reads one memory.
    pub async fn get(self, id: MemoryId) -> Result<Option<Memory>, Error> {
        let state = Arc::clone(self.reader.state());
        self.reader.read(move |db| get_checked(db, &state, id)).await
    }

    /// Reads several memories, in the given order. Missing ones are left out.
    pub async fn get_many(self, ids: Vec<MemoryId>) -> Result<Vec<Memory>, Error> {
        let state = Arc::clone(self.reader.state());
        self.reader
            .read(move |db| {
                // One by one: each empty result gets its own check for damage.
                let mut memories = Vec::with_capacity(ids.len());
                for id in ids {
                    memories.extend(get_checked(db, &state, id)?);
                }
                Ok(memories)
            })
            .await
    }

    /// Finds memories whose short id begins with `prefix`.
    pub async fn find_by_short_id(self, prefix: String) -> Result<Vec<Memory>, Error> {
        let state = Arc::clone(self.reader.state());
        self.reader
            .read(move |db| {
                let read = select_by_short_id(db, &prefix)?;
                let second_index = |db: &Db| cross_check::is_prefix_known_by_id(db, &prefix);
                let scan = |db: &Db| {
                    damage_check::scan_memories(db, |it| it.id.short().starts_with(&prefix))
                };
                state.checked_by_id(db, read, second_index, scan)
            })
            .await
    }

    /// Finds memories whose full id begins or ends with `part`, hexadecimal digits without hyphens. Reads the
    /// index of ids only, so an id that is missing there is not found.
    pub async fn find_by_id_part(self, part: String) -> Result<Vec<Memory>, Error> {
        let state = Arc::clone(self.reader.state());
        self.reader
            .read(move |db| {
                let (beginning, end) = (format!("{part}%"), format!("%{part}"));
                let ids = db.select(&SELECT_IDS_BY_PART, &[&beginning, &end], |row| {
                    Ok(MemoryId::from_bytes(row.get_ref(0)?.as_blob()?))
                })?;
                let mut memories = Vec::new();
                for id in ids.into_iter().flatten() {
                    memories.extend(get_checked(db, &state, id)?);
                }
                Ok(memories)
            })
            .await
    }

    /// Lists the newest memories that pass the filter.
    pub async fn list(self, filter: MemoryFilter) -> Result<Vec<Memory>, Error> {
        let state = Arc::clone(self.reader.state());
        self.reader
            .read(move |db| {
                let read = memory_list::select_filtered(db, &filter)?;
                state.checked(db, read, |db| cross_check::lookup_disagrees(db, &filter))
            })
            .await
    }

    /// Finds memories that match a full-text expression; `model::words` builds such expressions.
    pub async fn search(
        self,
        expression: String,
        filter: MemoryFilter,
    ) -> Result<Vec<TextHit>, Error> {
        let state = Arc::clone(self.reader.state());
        self.reader
            .read(move |db| {
                let read = select_matching(db, &expression, &filter)?;
                state.checked(db, read, |db| cross_check::lookup_disagrees(db, &filter))
            })
            .await
    }

    /// Finds the memories that share words with a text, best first: for each filter its own, so that
    /// the matches of one do not displace those of another. `terms` are full-text expressions, one
    /// per word. Where common words match too many memories, only the rarest words are looked up:
    /// two texts that say the same share those as well.
    pub async fn find_similar(
        self,
        terms: Vec<String>,
        filters: Vec<MemoryFilter>,
    ) -> Result<Vec<Memory>, Error> {
        let state = Arc::clone(self.reader.state());
        self.reader
            .read(move |db| {
                let expression = memory_list::join_rarest_terms(db, &terms)?;
                let mut found = Vec::new();
                for filter in filters {
                    let read = select_matching(db, &expression, &filter)?;
                    let hits =
                        state.checked(db, read, |db| cross_check::lookup_disagrees(db, &filter))?;
                    found.extend(hits.into_iter().map(|it| it.memory));
                }
                Ok(found)
            })
            .await
    }

    /// Lists memories with a relation of `kind` to `target`.
    pub async fn list_related_to(
        self,
        target: MemoryId,
        kind: RelationKind,
    ) -> Result<Vec<Memory>, Error> {
        let state = Arc::clone(self.reader.state());
        // An empty result is usual here, so it is not checked for damage.
        self.reader
            .read(move |db| Ok(state.report_damage(select_related_to(db, target, kind)?)))
            .await
    }

    /// Counts memories by type and status.
    pub async fn count_by_status(self) -> Result<Vec<StatusCount>, Error> {
        self.reader.read(select_status_counts).await
    }

    /// Spans in which the store was not used; memories do not age in them.
    pub async fn quiet_periods(self) -> Result<QuietPeriods, Error> {
        self.reader.read(term_lookup::select_quiet_periods).await
    }

    /// The changes that bring an in-memory search index from a position up to date (everything for
    /// the position `None`), with the vector codes of one embedding model. Returns `None` if there
    /// are no changes.
    pub async fn index_delta(
        self,
        model: String,
        since: Option<IndexPosition>,
    ) -> Result<Option<IndexDelta>, Error> {
        self.reader.read(move |db| index_delta::read_index_delta(db, &model, since.as_ref())).await
    }

    /// Reads the snapshot of a search index over the codes of one embedding model; `None` if there is
    /// none that fits this database. The changes since its position are a delta.
    pub async fn index_snapshot(self, model: String) -> Result<Option<IndexSnapshot>, Error> {
        let state = Arc::clone(self.reader.state());
        self.reader.read(move |db| index_snapshot::read_snapshot(&state, db, &model)).await
    }

    /// Runs any number of full-text lookups in one visit to the file. An empty result is checked
    /// for damage. Not an `async fn`: the job is queued when this returns, so the caller can do
    /// other work before awaiting it.
    pub fn look_up_terms<T: Send + 'static>(
        self,
        job: impl FnOnce(&TermLookup<'_>) -> Result<Vec<T>, Error> + Send + 'static,
    ) -> impl Future<Output = Result<Vec<T>, Error>> + Send {
        let state = Arc::clone(self.reader.state());
        self.reader.read(move |db| {
            let found = job(&TermLookup { db })?;
            // Full-text search has no second index to compare with, so none ever disagrees.
            state.checked(db, CheckedRows { found, damaged: Vec::new() }, |_| Ok(false))
        })
    }

    /// Reads memories by row number, in the given order. Damaged ones are left out and reported.
    pub async fn get_by_numbers(self, numbers: Vec<i64>) -> Result<Vec<(i64, Memory)>, Error> {
        let state = Arc::clone(self.reader.state());
        self.reader
            .read(move |db| Ok(state.report_damage(term_lookup::select_by_numbers(db, &numbers)?)))
            .await
    }

    /// Reads memories by row number together with the quiet periods that ranking needs, in one
    /// visit to the file.
    pub async fn get_candidates(
        self,
        numbers: Vec<i64>,
    ) -> Result<(Vec<(i64, Memory)>, QuietPeriods), Error> {
        let state = Arc::clone(self.reader.state());
        self.reader
            .read(move |db| {
                let found = state.report_damage(term_lookup::select_by_numbers(db, &numbers)?);
                Ok((found, term_lookup::select_quiet_periods(db)?))
            })
            .await
    }

    /// Row numbers of the memories that match the files, modules and tags of a filter; `None` if
    /// the filter has none.
    pub async fn numbers_matching(self, filter: MemoryFilter) -> Result<Option<Vec<i64>>, Error> {
        self.reader.read(move |db| term_lookup::select_numbers_matching(db, &filter)).await
    }

    /// Row numbers of the memories about each of some files, in their order.
    pub async fn numbers_by_file(self, files: Vec<String>) -> Result<Vec<Vec<i64>>, Error> {
        self.reader.read(move |db| term_lookup::select_numbers_by_file(db, &files)).await
    }

    /// Files that each of some memories is about, in their order.
    pub async fn files_of(self, numbers: Vec<i64>) -> Result<Vec<Vec<String>>, Error> {
        self.reader.read(move |db| term_lookup::select_files_of(db, &numbers)).await
    }

    /// Every file that any memory is about, once.
    pub async fn list_files(self) -> Result<Vec<String>, Error> {
        self.reader.read(term_lookup::select_distinct_files).await
    }

    /// Files and modules of all active memories.
    pub async fn list_subjects(self) -> Result<MemorySubjects, Error> {
        self.reader.read(term_lookup::select_subjects).await
    }

    /// Live memories about these files, at most `limit` per file; gotchas, error patterns and dead ends first.
    pub async fn file_warnings(
        self,
        files: Vec<ProjectPath>,
        limit: u32,
    ) -> Result<FileWarnings, Error> {
        let state = Arc::clone(self.reader.state());
        // An empty result is usual here, so it is not checked for damage.
        self.reader
            .read(move |db| {
                let (found, damaged) = term_lookup::select_file_warnings(db, &files, limit)?;
                state.report_findings(damaged);
                Ok(found)
            })
            .await
    }

    /// Returns whether a memory was erased for good, and so must not come back.
    pub async fn is_erased(self, id: MemoryId) -> Result<bool, Error> {
        self.reader.read(move |db| apply_batch::is_erased(db, id)).await
    }

    /// Returns those of the memories that were erased for good.
    pub async fn filter_erased(self, ids: Vec<MemoryId>) -> Result<Vec<MemoryId>, Error> {
        self.reader
            .read(move |db| {
                let mut erased = Vec::new();
                for id in ids {
                    if apply_batch::is_erased(db, id)? {
                        erased.push(id);
                    }
                }
                Ok(erased)
            })
            .await
    }
}

/// Every statement of this file, for the tests that replay them on a server.
#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[
    &SELECT_BY_ID,
    &SELECT_BY_SHORT_ID,
    &SELECT_IDS_BY_PART,
    &COUNT_BY_ID,
    &SELECT_MATCHING,
    &SELECT_RELATED_TO,
    &SELECT_QUIET_SPANS,
    &COUNT_MEMORIES,
    &COUNT_ACTIVE_MEMORIES,
    &SELECT_STATUS_COUNTS,
];

/// The memory with an id.
const SELECT_BY_ID: Query =
    Query::shared("by_id", concat!("SELECT ", columns!(), " FROM memories WHERE id = ?1"));
/// Memories whose short id is in a range.
const SELECT_BY_SHORT_ID: Query = Query::shared(
    "by_short_id",
    concat!("SELECT ", columns!(), " FROM memories WHERE short >= ?1 AND short < ?2 ORDER BY n"),
);
/// Ids that begin or end with some hexadecimal digits, by patterns of `LIKE`.
const SELECT_IDS_BY_PART: Query = Query::shared(
    "ids_by_part",
    "SELECT id FROM memories WHERE hex(id) LIKE ?1 OR hex(id) LIKE ?2 ORDER BY id",
);
/// Memories that match a full-text expression and pass a filter, best first.
// The parameters 1 to 9 are the filter's criteria, 10 and 11 its limit and offset, 12 is the
// expression.
// CROSS JOIN makes SQLite read the full-text index first; the other order is a thousand times
// slower. The numbers given to `bm25` are the weights of the columns content, tags and files.
const SELECT_MATCHING: Query = Query::shared(
    "search",
    concat!(
        "SELECT ",
        columns!(),
        ", score FROM (SELECT rowid AS hit, bm25(memories_fts, 1.0, 0.6, 0.8) AS score FROM memories_fts \
         WHERE memories_fts MATCH ?12) CROSS JOIN memories m ON m.n = hit WHERE ",
        filter_condition!(),
        " ORDER BY score, n LIMIT ?10 OFFSET ?11"
    ),
);
/// Memories with a relation of some kind to a memory.
const SELECT_RELATED_TO: Query = Query::shared(
    "related_to",
    concat!(
        "SELECT ",
        columns!(),
        " FROM memories WHERE n IN (SELECT n FROM memory_relations WHERE target = ?1 AND kind = ?2) ORDER BY n"
    ),
);
/// Spans in which the store was not used.
const SELECT_QUIET_SPANS: Query =
    Query::shared("quiet_spans", "SELECT from_ms, to_ms FROM quiet_spans ORDER BY from_ms");
/// 1 if the index of ids has a memory.
const COUNT_BY_ID: Query =
    Query::shared("count_by_id", "SELECT count(*) FROM memories WHERE id = ?1");
/// Number of all memories, in any status.
const COUNT_MEMORIES: Query = Query::shared("count_memories", "SELECT count(*) FROM memories");
/// Number of memories that are neither forgotten nor deprecated.
const COUNT_ACTIVE_MEMORIES: Query = Query::local(
    "count_active_memories",
    "SELECT count(*) FROM memories WHERE deleted_at IS NULL AND deprecated_at IS NULL",
);
/// Number of memories by type and status.
const SELECT_STATUS_COUNTS: Query = Query::shared(
    "status_counts",
    concat!(
        "SELECT type, ",
        status_position!(),
        " AS status, count(*) FROM memories GROUP BY type, status ORDER BY type, status"
    ),
);

/// Reads one memory. If the index of ids has none, the index of short ids and, in case of damage, a
/// scan of all rows decide whether that is true.
fn get_checked(db: &Db, state: &DatabaseState, id: MemoryId) -> Result<Option<Memory>, Error> {
    let read = select_by_id(db, id)?;
    let second_index = |db: &Db| cross_check::is_known_by_short_id(db, id);
    let scan = |db: &Db| damage_check::scan_memories(db, |it| it.id == id);
    let found = state.checked_by_id(db, read, second_index, scan)?;
    Ok(found.into_iter().next())
}

pub(crate) fn select_by_id(db: &Db, id: MemoryId) -> Result<CheckedRows<Memory>, Error> {
    select_memories(db, &SELECT_BY_ID, &[&id.0.as_bytes().as_slice()])
}

/// Selects memories by the beginning of their short id, which is what people type.
pub(crate) fn select_by_short_id(db: &Db, prefix: &str) -> Result<CheckedRows<Memory>, Error> {
    // All strings with the prefix lie in this range: `~` sorts after every hexadecimal digit.
    select_memories(db, &SELECT_BY_SHORT_ID, &[&prefix, &format!("{prefix}~")])
}

/// Returns whether the index of ids has a memory.
pub(crate) fn is_known_by_id(db: &Db, id: MemoryId) -> Result<bool, Error> {
    Ok(db.select_number(&COUNT_BY_ID, &[&id.0.as_bytes().as_slice()])? > 0)
}

/// Selects memories that match a full-text expression, best first.
pub(crate) fn select_matching(
    db: &Db,
    expression: &str,
    filter: &MemoryFilter,
) -> Result<CheckedRows<TextHit>, Error> {
    with_filter_params(filter, Some(expression), |params| {
        let rows = db.select(&SELECT_MATCHING, params, |row| {
            let bm25: f64 = row.get("score")?;
            // FTS5's `bm25` is smaller for better matches; callers expect the opposite.
            let score = -bm25;
            Ok(read_memory(row, 0)?.map(|memory| TextHit { memory, score }))
        })?;
        Ok(CheckedRows::partition(rows, DamageFinding::DamagedMemory))
    })
}

/// Selects memories with a relation of `kind` to `target`.
pub(crate) fn select_related_to(
    db: &Db,
    target: MemoryId,
    kind: RelationKind,
) -> Result<CheckedRows<Memory>, Error> {
    select_memories(db, &SELECT_RELATED_TO, &[&target.0.as_bytes().as_slice(), &kind.slug()])
}

pub(crate) fn select_quiet_spans(db: &Db) -> Result<Vec<QuietSpan>, Error> {
    db.select(&SELECT_QUIET_SPANS, &[], |row| {
        Ok(QuietSpan { from: Timestamp(row.get(0)?), to: Timestamp(row.get(1)?) })
    })
}

pub(crate) fn count_memories(db: &Db) -> Result<i64, Error> {
    db.select_number(&COUNT_MEMORIES, &[])
}

/// Counts the memories that a user sees in a list: see [`MemoryFilter::active`].
pub(crate) fn count_active_memories(db: &Db) -> Result<i64, Error> {
    db.select_number(&COUNT_ACTIVE_MEMORIES, &[])
}

pub(crate) fn select_memories(
    db: &Db,
    query: &Query,
    params: &[&dyn ToSql],
) -> Result<CheckedRows<Memory>, Error> {
    Ok(CheckedRows::partition(
        db.select(query, params, |row| read_memory(row, 0))?,
        DamageFinding::DamagedMemory,
    ))
}

pub(crate) fn select_status_counts(db: &Db) -> Result<Vec<StatusCount>, Error> {
    db.select(&SELECT_STATUS_COUNTS, &[], |row| {
        let (kind, position): (String, usize) = (row.get(0)?, row.get(1)?);
        // The statement gives a status as its position in `ALL`, see `status_position`. There is no
        // other position, so the default is never used.
        let status = MemoryStatus::ALL.get(position).copied().unwrap_or(MemoryStatus::Live);
        Ok(StatusCount { kind, status, count: row.get::<_, i64>(2)?.unsigned_abs() })
    })
}
