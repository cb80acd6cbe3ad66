//! Checks for damage: the sequence against the mark, rows against their hashes, indexes against
//! rows.
//!
//! Three questions are answered here. Every finding is reported to the user through
//! `DatabaseState`.
//!
//! - Are acknowledged changes missing? Every change takes the next *sequence number*, which is in
//!   the database. The *high-water mark* is a file beside it with the last of these numbers and the
//!   ids of the memories that changed latest. If the mark is at 60 and the database at 57, then the
//!   changes 58 to 60 are lost: `compare_with_mark` reports them, `record_loss` stores the span in
//!   the table `losses`, and they are reported until a person acknowledges them.
//! - Is a row or an index damaged? A full check reads everything and compares.
//! - Is an empty result true? `check_empty_result` decides how much checking it is worth.

use std::fmt;

use model::{Memory, MemoryId, Timestamp};

use crate::change_clock::{SELECT_META, UPDATE_META};
use crate::data_dir::DatabasePaths;
use crate::database_state::DatabaseState;
use crate::high_water_mark::{HighWaterMark, MarkState};
use crate::memory_row::{DamagedRow, columns, read_memory};
use crate::query::{Db, Query};
use crate::schema::{self, DatabaseSchema};
use crate::{Error, memories};

/// Largest file that is fully checked because of an empty result; that takes a few milliseconds.
const MAX_QUICK_CHECK_BYTES: u64 = 8 << 20;

/// Rows that a check of a sample reads among the newest, and again among all.
const SAMPLED_ROWS: i64 = 500;

/// Damage that was found. All damage is reported, and damaged data is never returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DamageFinding {
    /// Acknowledged changes are missing; `known` lists the memories that the mark still names.
    LostChanges { from: i64, to: i64, known: Vec<MemoryId> },
    /// A memory's row is damaged and withheld.
    DamagedMemory(DamagedRow),
    /// An older version of a memory is damaged; the memory itself is not.
    DamagedVersion(DamagedRow),
    /// There are fewer rows than were saved.
    MissingRows { table: &'static str, saved: i64, found: i64 },
    /// `SQLite`'s own check reports a problem.
    DatabaseReport(String),
    /// The search index disagrees with the rows; it can be rebuilt.
    SearchIndex(String),
    /// The mark, which would show a loss, cannot be read; the next write renews it.
    MarkUnreadable,
}

/// Writes the finding as a sentence for the user.
impl fmt::Display for DamageFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LostChanges { from, to, known } => {
                write!(f, "{} saved changes are gone ({from} to {to}", to - from + 1)?;
                for (position, id) in known.iter().enumerate() {
                    let separator = if position == 0 { ", of " } else { ", " };
                    write!(f, "{separator}#{}", id.short())?;
                }
                f.write_str(")")
            }
            Self::DamagedMemory(DamagedRow { id: Some(id), what }) => {
                write!(f, "memory #{} is damaged and withheld: {what}", id.short())
            }
            Self::DamagedMemory(DamagedRow { id: None, what }) => {
                write!(f, "a memory is damaged and withheld: {what}")
            }
            Self::DamagedVersion(row) => {
                write!(f, "an older version of a memory is damaged: {}", row.what)
            }
            Self::MissingRows { table, saved, found } => {
                write!(f, "`{table}` has {found} rows, {saved} were saved")
            }
            Self::DatabaseReport(what) => write!(f, "the database reports: {what}"),
            Self::SearchIndex(what) => {
                write!(f, "the search index disagrees with the memories: {what}")
            }
            Self::MarkUnreadable => f.write_str(
                "the mark that would show a loss cannot be read; the next write renews it",
            ),
        }
    }
}

/// Every statement of this file, for the tests that replay them on a server.
#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[
    &INSERT_LOSS,
    &SELECT_OPEN_LOSSES,
    &ACKNOWLEDGE_LOSSES,
    &SELECT_RECENT_CHANGES,
    &SELECT_ALL_MEMORIES,
    &SELECT_LAST_NUMBER,
    &SELECT_FROM_NUMBER,
    &SELECT_ALL_VERSIONS,
    &COUNT_VERSIONS,
    &CHECK_FTS,
    &CHECK_INTEGRITY,
    &REFRESH_FTS,
];

/// Records a span of lost changes.
const INSERT_LOSS: Query = Query::shared(
    "add_loss",
    "INSERT INTO losses (from_seq, to_seq, noticed_at) VALUES (?1, ?2, ?3)",
);
/// Recorded losses that are not acknowledged yet.
const SELECT_OPEN_LOSSES: Query = Query::shared(
    "open_losses",
    "SELECT from_seq, to_seq FROM losses WHERE acknowledged_at IS NULL ORDER BY from_seq",
);
/// Acknowledges all recorded losses.
const ACKNOWLEDGE_LOSSES: Query = Query::shared(
    "acknowledge_losses",
    "UPDATE losses SET acknowledged_at = ?1 WHERE acknowledged_at IS NULL",
);
/// The newest changes after a sequence number, newest first.
// The mark lists 64 changes at most.
const SELECT_RECENT_CHANGES: Query = Query::shared(
    "recent_changes",
    "SELECT seq, id FROM changes WHERE seq > ?1 AND id IS NOT NULL ORDER BY seq DESC LIMIT 64",
);
/// Every memory.
const SELECT_ALL_MEMORIES: Query =
    Query::shared("all_memories", concat!("SELECT ", columns!(), " FROM memories ORDER BY n"));
/// The highest row number of a memory.
const SELECT_LAST_NUMBER: Query =
    Query::shared("last_number", "SELECT coalesce(max(n), 0) FROM memories");
/// The memory in the first row from a number on.
const SELECT_FROM_NUMBER: Query = Query::shared(
    "from_number",
    concat!("SELECT ", columns!(), " FROM memories WHERE n >= ?1 ORDER BY n LIMIT 1"),
);
/// Every earlier version, in the order they were replaced.
pub(crate) const SELECT_ALL_VERSIONS: Query = Query::shared(
    "all_versions",
    concat!("SELECT ", columns!(), " FROM memory_versions ORDER BY k"),
);
/// Number of all earlier versions.
const COUNT_VERSIONS: Query =
    Query::shared("count_versions", "SELECT count(*) FROM memory_versions");
/// Compares the full-text index with the search texts; fails if they disagree.
const CHECK_FTS: Query = Query::local(
    "check_fts",
    "INSERT INTO memories_fts (memories_fts, rank) VALUES ('integrity-check', 1)",
);

/// `SQLite`'s own check, with at most 20 lines of report.
const CHECK_INTEGRITY: Query = Query::local("check_integrity", "PRAGMA integrity_check(20)");
/// Selects nothing, but makes the full-text index load its newest state.
// Any query makes the full-text index load what other connections wrote. Its own check does not,
// and would compare today's text with an older index (libSQL 0.10, FTS5 3.47).
const REFRESH_FTS: Query =
    Query::shared("refresh_fts", "SELECT rowid FROM memories_fts WHERE rowid = -1");

/// Compares the open database with its mark, without changing either.
pub(crate) fn compare_with_mark(
    db: &Db,
    paths: &DatabasePaths,
) -> Result<Vec<DamageFinding>, Error> {
    // The mark is read before the sequence: it is written after each commit, so it can only be
    // behind.
    let (mark, unreadable) = match HighWaterMark::read(&paths.mark_file())? {
        MarkState::Valid(mark) => (mark, None),
        MarkState::Absent => (HighWaterMark::default(), None),
        MarkState::Unreadable => (HighWaterMark::default(), Some(DamageFinding::MarkUnreadable)),
    };
    // Losses that an earlier opening recorded, and the one that shows now: the first missing change
    // comes after the last that the database has.
    let mut lost_spans: Vec<(i64, i64)> =
        db.select(&SELECT_OPEN_LOSSES, &[], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let seq = db.select_number(&SELECT_META, &[&"seq"])?;
    if mark_seq(&mark) > seq {
        lost_spans.push((seq + 1, mark_seq(&mark)));
    }
    let mut findings = Vec::new();
    for (from, to) in lost_spans {
        let known = mark.changed_between(from, to);
        findings.push(DamageFinding::LostChanges { from, to, known });
    }
    findings.extend(unreadable);
    Ok(findings)
}

/// Records a loss before the first write. The sequence then moves past it: no number is used twice,
/// and new changes cannot hide the loss.
pub(crate) fn record_loss(db: &Db, state: &DatabaseState) -> Result<(), Error> {
    let seq = db.select_number(&SELECT_META, &[&"seq"])?;
    // Without a readable mark nothing can be compared; `compare_with_mark` reports that.
    let MarkState::Valid(mark) = HighWaterMark::read(&state.paths.mark_file())? else {
        return Ok(());
    };
    if mark_seq(&mark) <= seq {
        return Ok(());
    }
    db.transaction(|db| {
        db.execute(&INSERT_LOSS, &[&(seq + 1), &mark_seq(&mark), &state.now.0])?;
        db.execute(&UPDATE_META, &[&"seq", &mark_seq(&mark)]).map(|_| ())
    })
}

/// Updates the mark after a commit.
pub(crate) fn advance_mark(db: &Db, paths: &DatabasePaths) -> Result<(), Error> {
    let path = paths.mark_file();
    let mut mark = match HighWaterMark::read(&path)? {
        MarkState::Valid(mark) => mark,
        MarkState::Absent | MarkState::Unreadable => HighWaterMark::default(),
    };
    let seq = db.select_number(&SELECT_META, &[&"seq"])?;
    if mark_seq(&mark) >= seq {
        return Ok(());
    }
    let mut changed = db.select(&SELECT_RECENT_CHANGES, &[&mark_seq(&mark)], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))
    })?;
    // The newest were selected; the mark lists them oldest first.
    changed.reverse();
    let mut recent = Vec::with_capacity(changed.len());
    for (seq, id_bytes) in changed {
        // A damaged id is left out of the list; the number of the mark counts its change anyway.
        if let Some(id) = MemoryId::from_bytes(&id_bytes) {
            recent.push((seq.unsigned_abs(), id));
        }
    }
    mark.advance(seq.unsigned_abs(), &recent);
    mark.write(&path)
}

/// Acknowledges all losses found so far, so that they are no longer reported.
pub(crate) fn acknowledge_losses(db: &Db, now: Timestamp) -> Result<usize, Error> {
    db.execute(&ACKNOWLEDGE_LOSSES, &[&now.0])
}

/// Checks one file completely: structure, definitions, rows, versions, counts.
pub(crate) fn check_all_rows(
    db: &Db,
    schema: &DatabaseSchema,
) -> Result<Vec<DamageFinding>, Error> {
    // Structure of the file, then the definitions of tables, indexes and triggers.
    let mut findings: Vec<DamageFinding> =
        check_integrity(db)?.into_iter().map(DamageFinding::DatabaseReport).collect();
    for name in schema::find_altered_definitions(db, schema)? {
        let report = format!("`{name}` is not defined as it was");
        findings.push(DamageFinding::DatabaseReport(report));
    }
    // Every row against its hashes.
    let rows = db.select(&SELECT_ALL_MEMORIES, &[], |row| read_memory(row, 0))?;
    let n_rows = i64::try_from(rows.len()).unwrap_or(i64::MAX);
    findings.extend(rows.into_iter().filter_map(Result::err).map(DamageFinding::DamagedMemory));
    let versions = db.select(&SELECT_ALL_VERSIONS, &[], |row| read_memory(row, 0))?;
    findings
        .extend(versions.into_iter().filter_map(Result::err).map(DamageFinding::DamagedVersion));
    // Deleted rows leave no damaged hash, but the number of rows no longer fits.
    findings.extend(compare_count(db, "memories", "n_memories", n_rows)?);
    let n_versions = db.select_number(&COUNT_VERSIONS, &[])?;
    findings.extend(compare_count(db, "memory_versions", "n_versions", n_versions)?);
    Ok(findings)
}

/// Checks a part of one file, in a time that hardly grows with it: definitions, counts, the newest rows
/// and rows spread over the others, each also through the index of ids.
pub(crate) fn check_sampled_rows(
    db: &Db,
    schema: &DatabaseSchema,
) -> Result<Vec<DamageFinding>, Error> {
    let mut findings = Vec::new();
    for name in schema::find_altered_definitions(db, schema)? {
        let report = format!("`{name}` is not defined as it was");
        findings.push(DamageFinding::DatabaseReport(report));
    }
    let last = db.select_number(&SELECT_LAST_NUMBER, &[])?;
    let step = (last / SAMPLED_ROWS).max(1);
    let spread = (1..=last).step_by(usize::try_from(step).unwrap_or(1));
    for n in spread.chain((last - SAMPLED_ROWS).max(1)..=last) {
        let row = db.select_one(&SELECT_FROM_NUMBER, &[&n], |row| read_memory(row, 0))?;
        match row {
            Some(Err(damaged)) => findings.push(DamageFinding::DamagedMemory(damaged)),
            Some(Ok(memory)) if !memories::is_known_by_id(db, memory.id)? => {
                let what = format!("the index of ids does not have #{}", memory.id.short());
                findings.push(DamageFinding::DatabaseReport(what));
            }
            Some(Ok(_)) | None => {}
        }
    }
    findings.dedup();
    findings.extend(compare_count(db, "memories", "n_memories", memories::count_memories(db)?)?);
    let n_versions = db.select_number(&COUNT_VERSIONS, &[])?;
    findings.extend(compare_count(db, "memory_versions", "n_versions", n_versions)?);
    Ok(findings)
}

/// Reads every row without using an index, and returns the memories that `wanted` accepts.
pub(crate) fn scan_memories(
    db: &Db,
    wanted: impl Fn(&Memory) -> bool,
) -> Result<memories::CheckedRows<Memory>, Error> {
    let rows = db.select(&SELECT_ALL_MEMORIES, &[], |row| read_memory(row, 0))?;
    // Damaged rows are left out: whether they are wanted cannot be known.
    let rows = rows.into_iter().filter(|row| row.as_ref().is_ok_and(&wanted)).collect();
    Ok(memories::CheckedRows::partition(rows, DamageFinding::DamagedMemory))
}

/// Decides whether an empty result is true or a sign of damage.
///
/// Row counts are compared each time. `SQLite`'s full check runs once per connection, because files
/// are damaged at rest and empty results are common. A large file gets it only if the counts differ
/// or `cross_check` returns true, which means that another index finds what the query did not: an
/// empty result must not cost seconds.
pub(crate) fn check_empty_result(
    db: &Db,
    cross_check: impl FnOnce(&Db) -> Result<bool, Error>,
) -> Result<Vec<DamageFinding>, Error> {
    let found = memories::count_memories(db)?;
    let mut findings: Vec<DamageFinding> =
        compare_count(db, "memories", "n_memories", found)?.into_iter().collect();
    // A full check on this connection found nothing before.
    if db.known_sound.get() {
        return Ok(findings);
    }
    // A reason for the full check, the cheapest to find out first: the counts differ, the check
    // takes only milliseconds, or another index finds what the query did not.
    if !findings.is_empty() || is_small_file(db)? || cross_check(db)? {
        let problems = check_integrity(db)?;
        db.known_sound.set(problems.is_empty());
        findings.extend(problems.into_iter().map(DamageFinding::DatabaseReport));
    }
    Ok(findings)
}

fn is_small_file(db: &Db) -> Result<bool, Error> {
    let number = |sql: &str| db.query_pragma(sql).map(|it| it.parse::<u64>().unwrap_or(0));
    let (n_pages, page_bytes) = (number("PRAGMA page_count")?, number("PRAGMA page_size")?);
    Ok(n_pages * page_bytes < MAX_QUICK_CHECK_BYTES)
}

/// Checks the full-text index against the rows. Needs a connection that may write.
pub(crate) fn check_search_index(db: &Db) -> Option<DamageFinding> {
    match db.execute(&CHECK_FTS, &[]) {
        // A read-only connection cannot run the check; that is no sign of damage.
        Ok(_) | Err(Error::ReadOnly { .. } | Error::PermissionDenied { .. }) => None,
        Err(error) => Some(DamageFinding::SearchIndex(error.to_string())),
    }
}

/// Compares the number of rows with the number stored under `key` in table `meta`.
fn compare_count(
    db: &Db,
    table: &'static str,
    key: &str,
    found: i64,
) -> Result<Option<DamageFinding>, Error> {
    let saved = db.select_number(&SELECT_META, &[&key])?;
    Ok((saved != found).then_some(DamageFinding::MissingRows { table, saved, found }))
}

/// Runs `SQLite`'s own check and returns what it reports, other than `ok`.
pub(crate) fn check_integrity(db: &Db) -> Result<Vec<String>, Error> {
    // An index too damaged to be read is reported by the check itself.
    let _ = db.select(&REFRESH_FTS, &[], |_| Ok(()));
    let lines = db.select(&CHECK_INTEGRITY, &[], |row| row.get::<_, String>(0))?;
    Ok(lines.into_iter().filter(|it| it != "ok").collect())
}

/// The sequence number of the mark, as the database stores it.
fn mark_seq(mark: &HighWaterMark) -> i64 {
    i64::try_from(mark.seq).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn every_finding_is_printed_as_a_sentence() {
        let id = MemoryId::new(Timestamp(1), [7; 10]);
        let row = |id| DamagedRow { id, what: "its content does not match its hash" };
        let findings = [
            DamageFinding::LostChanges { from: 3, to: 5, known: vec![id, id] },
            DamageFinding::LostChanges { from: 3, to: 3, known: vec![] },
            DamageFinding::DamagedMemory(row(Some(id))),
            DamageFinding::DamagedMemory(row(None)),
            DamageFinding::DamagedVersion(row(None)),
            DamageFinding::MissingRows { table: "memories", saved: 5, found: 4 },
            DamageFinding::DatabaseReport("a page is missing".to_owned()),
            DamageFinding::SearchIndex("malformed".to_owned()),
            DamageFinding::MarkUnreadable,
        ];
        let lines: Vec<String> = findings.iter().map(|it| format!("{it}\n")).collect();
        expect![[r"
            3 saved changes are gone (3 to 5, of #07070707, #07070707)
            1 saved changes are gone (3 to 3)
            memory #07070707 is damaged and withheld: its content does not match its hash
            a memory is damaged and withheld: its content does not match its hash
            an older version of a memory is damaged: its content does not match its hash
            `memories` has 4 rows, 5 were saved
            the database reports: a page is missing
            the search index disagrees with the memories: malformed
            the mark that would show a loss cannot be read; the next write renews it
        "]]
        .assert_eq(&lines.concat());
    }
}
