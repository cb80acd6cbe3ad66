//! Maintenance of one database file: repairing, compacting, measuring.
//!
//! The writer thread runs repairs and compaction with the write lock held. Repair brings a damaged
//! row back only if a backup holds exactly the row that was saved; it never guesses. Everything
//! derived from the rows is built again.

use std::fs;

use model::{Memory, Timestamp, UsageCounters};

use crate::connection::{FileAccess, open_file};
use crate::data_dir::DatabasePaths;
use crate::database_state::DatabaseState;
use crate::memory_row::{columns, read_memory, read_without_counts};
use crate::query::{Db, Query};
use crate::store_reader::DatabaseSize;
use crate::{Error, apply_batch, backup, damage_check, index_delta, index_snapshot, lookup_tables};

/// Condition for giving free space back to the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactMode {
    /// Only a large file with much free space.
    IfWorthwhile,
    Always,
}

/// Smallest file that `CompactMode::IfWorthwhile` compacts. Below it, little can be gained.
const MIN_COMPACT_BYTES: u64 = 100 << 20;
/// `CompactMode::IfWorthwhile` compacts if at least one of this many pages is free.
const MAX_PAGES_PER_FREE_PAGE: u64 = 4;

/// Every statement of this file, for the tests that replay them on a server.
#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[&SELECT_ALL_ROWS, &SELECT_TWINS, &REBUILD_FTS];

/// Every row, with the values that can identify it even if it is damaged.
// The first four columns are read separately; the memory follows at `ALL_ROWS_MEMORY_COLUMN`.
const SELECT_ALL_ROWS: Query = Query::shared(
    "numbered_rows",
    concat!("SELECT n, id, hlc, hash, ", columns!(), " FROM memories ORDER BY n"),
);
/// Index of the memory's first column in `SELECT_ALL_ROWS`.
const ALL_ROWS_MEMORY_COLUMN: usize = 4;
/// Rows of a backup that equal a damaged row as it was saved.
// Run on a backup. Equal hashes mean equal rows, and so do equal id and clock reading: no two
// versions of a memory share a reading. So a row is found even if one of the three is damaged.
const SELECT_TWINS: Query = Query::local(
    "same_rows",
    concat!("SELECT ", columns!(), " FROM memories WHERE hash = ?3 OR (id = ?1 AND hlc = ?2)"),
);
/// Builds the full-text index again from the search texts.
const REBUILD_FTS: Query =
    Query::local("rebuild_fts", "INSERT INTO memories_fts (memories_fts) VALUES ('rebuild')");

/// Repairs what can be repaired, and returns a sentence for each thing that was done.
pub(crate) fn repair_database(
    state: &DatabaseState,
    db: &Db,
    now: Timestamp,
) -> Result<Vec<String>, Error> {
    let mut done = Vec::new();
    // What is repaired below changes without a version that an index could see.
    index_snapshot::remove_snapshot(&state.paths)?;
    // Indexes come first: the row checks below read through them.
    let is_damaged = !damage_check::check_integrity(db)?.is_empty();
    if is_damaged && db.transaction(|db| db.execute_batch("REINDEX")).is_ok() {
        done.push("rebuilt the indexes from the tables".to_owned());
    }
    db.transaction(|db| {
        index_delta::advance_epoch(db)?;
        let (n_restored, n_reset) = restore_damaged_rows(state, db)?;
        if n_restored > 0 {
            let memories = if n_restored == 1 { "memory" } else { "memories" };
            done.push(format!(
                "brought back {n_restored} damaged {memories} from a backup, exactly as saved"
            ));
        }
        if n_reset > 0 {
            let memories = if n_reset == 1 { "memory" } else { "memories" };
            done.push(format!("reset the damaged use counts of {n_reset} {memories}"));
        }
        // Restored rows bring other text, so the search text has to follow.
        if is_damaged || n_restored > 0 || damage_check::check_search_index(db).is_some() {
            rebuild_lookups(db)?;
            done.push("rebuilt the search index from the memories".to_owned());
        }
        // What could not be restored is lost for good; reporting it again would not help.
        let n_acknowledged = damage_check::acknowledge_losses(db, now)?;
        if n_acknowledged > 0 {
            done.push(format!(
                "took note of {n_acknowledged} reported losses; they are not reported again"
            ));
        }
        Ok(())
    })?;
    Ok(done)
}

/// A row that failed its hashes, with the values that may still be right.
struct UnrepairedRow {
    n: i64,
    id: rusqlite::types::Value,
    hlc: rusqlite::types::Value,
    hash: rusqlite::types::Value,
    /// The memory without its counts, if only those are damaged.
    without_counts: Option<Memory>,
}

/// Replaces damaged rows by the same rows from backups. Returns how many were replaced, and how
/// many others only had their counts reset.
fn restore_damaged_rows(state: &DatabaseState, db: &Db) -> Result<(usize, usize), Error> {
    let mut unrepaired = select_damaged_rows(db)?;
    let n_damaged = unrepaired.len();
    for old in backup::list_backups(&state.paths) {
        // A backup that fails its own checks could bring in other damage.
        if unrepaired.is_empty() || backup::verify_backup(state, &old.path).is_err() {
            continue;
        }
        let copy = open_file(&old.path, state.key.as_ref(), FileAccess::ReadOnly)?;
        let mut still_unrepaired = Vec::new();
        for row in unrepaired {
            // Any of the three may be the damaged value, so all of them are tried.
            let params: [&dyn rusqlite::ToSql; 3] = [&row.id, &row.hlc, &row.hash];
            match copy.select_one(&SELECT_TWINS, &params, |it| read_memory(it, 0))? {
                Some(Ok(memory)) => apply_batch::overwrite_row(db, row.n, &memory)?,
                // No such row, or it is damaged in the backup as well: an older backup may have it.
                None | Some(Err(_)) => still_unrepaired.push(row),
            }
        }
        unrepaired = still_unrepaired;
    }
    let n_restored = n_damaged - unrepaired.len();
    // What no backup has can still be used if only its counts are damaged.
    let mut n_reset = 0;
    for row in unrepaired {
        if let Some(memory) = row.without_counts {
            apply_batch::set_counts(db, row.n, memory.id, &UsageCounters::default())?;
            n_reset += 1;
        }
    }
    Ok((n_restored, n_reset))
}

fn select_damaged_rows(db: &Db) -> Result<Vec<UnrepairedRow>, Error> {
    let rows = db.select(&SELECT_ALL_ROWS, &[], |row| {
        let without_counts = read_without_counts(row, ALL_ROWS_MEMORY_COLUMN)?.ok();
        let damaged_row = UnrepairedRow {
            n: row.get(0)?,
            id: row.get(1)?,
            hlc: row.get(2)?,
            hash: row.get(3)?,
            without_counts,
        };
        Ok(read_memory(row, ALL_ROWS_MEMORY_COLUMN)?.is_err().then_some(damaged_row))
    })?;
    Ok(rows.into_iter().flatten().collect())
}

/// Rebuilds the lookups of undamaged rows. The full-text index is rebuilt first: deleting from an index
/// that disagrees with its text would fail.
fn rebuild_lookups(db: &Db) -> Result<(), Error> {
    db.execute(&REBUILD_FTS, &[])?;
    let rows = db.select(&SELECT_ALL_ROWS, &[], |row| {
        Ok((row.get::<_, i64>(0)?, read_memory(row, ALL_ROWS_MEMORY_COLUMN)?))
    })?;
    for (n, memory) in rows {
        // A damaged row keeps its lookups: a search that finds it reports the damage.
        if let Ok(memory) = memory {
            lookup_tables::delete_lookups(db, n)?;
            lookup_tables::insert_lookups(db, n, &memory)?;
        }
    }
    Ok(())
}

/// Gives free pages back to the file system, and returns how many bytes that gained.
pub(crate) fn compact_database(db: &Db, mode: CompactMode) -> Result<u64, Error> {
    let number = |sql: &str| db.query_pragma(sql).map(|it| it.parse::<u64>().unwrap_or(0));
    let (pages, free) = (number("PRAGMA page_count")?, number("PRAGMA freelist_count")?);
    let page_size = number("PRAGMA page_size")?;
    if mode == CompactMode::IfWorthwhile
        && (pages * page_size < MIN_COMPACT_BYTES || free * MAX_PAGES_PER_FREE_PAGE < pages)
    {
        return Ok(0);
    }
    // VACUUM writes the whole database into the log, which is then merged and emptied.
    db.execute_batch("VACUUM")?;
    db.query_pragma("PRAGMA wal_checkpoint(TRUNCATE)")?;
    Ok(pages.saturating_sub(number("PRAGMA page_count")?) * page_size)
}

/// Measures the database and its companion files.
pub(crate) fn measure_size(db: &Db, paths: &DatabasePaths) -> Result<DatabaseSize, Error> {
    let bytes = |path: std::path::PathBuf| fs::metadata(path).map_or(0, |it| it.len());
    let number = |sql: &str| db.query_pragma(sql).map(|it| it.parse::<i64>().unwrap_or(0));
    Ok(DatabaseSize {
        database: bytes(paths.database()),
        log: bytes(paths.wal()),
        backups: backup::list_backups(paths).iter().map(|it| it.bytes).sum(),
        free_pages: number("PRAGMA freelist_count")?,
        pages: number("PRAGMA page_count")?,
    })
}
