//! Upkeep of one file: mending, compacting, measuring.

use std::fs;

use model::{Counters, Memory, Timestamp};

use crate::connection::open_file;
use crate::layout::Home;
use crate::query::{Db, Query, both, local};
use crate::row::{columns, read_memory, read_statement};
use crate::site::Site;
use crate::store::Size;
use crate::{Error, apply, backup, check, lookups};

/// Below this size the file is left alone; above it, when a quarter is free.
const WORTH_COMPACTING: u64 = 100 << 20;

#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[&ALL_ROWS, &TWINS, &REBUILD];

const ALL_ROWS: Query =
    both("all_rows", concat!("SELECT n, id, hlc, hash, ", columns!(), " FROM memories ORDER BY n"));
// Asked of a backup. Two rows with one hash are the same, and so are two with one id and clock
// reading: at most one of the three can be what the damage changed.
const TWINS: Query = local(
    "twins",
    concat!("SELECT ", columns!(), " FROM memories WHERE hash = ?3 OR (id = ?1 AND hlc = ?2)"),
);
const REBUILD: Query =
    local("rebuild", "INSERT INTO memories_fts (memories_fts) VALUES ('rebuild')");

/// Mends what can be mended; says in sentences what was done.
pub(crate) fn mend(site: &Site, db: &Db, now: Timestamp) -> Result<Vec<String>, Error> {
    let mut done = Vec::new();
    let unsound = !check::integrity(db)?.is_empty();
    if unsound && db.transaction(|db| db.batch("REINDEX")).is_ok() {
        done.push("rebuilt the indexes from the tables".to_owned());
    }
    db.transaction(|db| {
        let (brought, reset) = bring_back(site, db)?;
        if brought > 0 {
            done.push(format!(
                "brought back {brought} damaged memories from a backup, exactly as they were saved"
            ));
        }
        if reset > 0 {
            done.push(format!("reset the damaged use counts of {reset} memories"));
        }
        if unsound || brought > 0 || check::search_index(db).is_some() {
            reindex(db)?;
            done.push("rebuilt the search index from the memories".to_owned());
        }
        let noted = check::take_note(db, now)?;
        if noted > 0 {
            done.push(format!("took note of {noted} reported losses; they are not reported again"));
        }
        Ok(())
    })?;
    Ok(done)
}

/// A row that failed its hashes, by what may still be right in it.
struct Damaged {
    n: i64,
    id: rusqlite::types::Value,
    hlc: rusqlite::types::Value,
    hash: rusqlite::types::Value,
    /// The memory without its counts, when only those are damaged.
    statement: Option<Memory>,
}

/// Replaces damaged rows by their twins from backups. Says how many were, and how many others only
/// lost their counts.
fn bring_back(site: &Site, db: &Db) -> Result<(usize, usize), Error> {
    let mut missing = damaged(db)?;
    let n_damaged = missing.len();
    for old in backup::list(&site.home) {
        if missing.is_empty() || backup::verify(site, &old.path).is_err() {
            continue;
        }
        let copy = open_file(&old.path, site.key.as_ref(), false)?;
        let mut still = Vec::new();
        for row in missing {
            let params: [&dyn rusqlite::ToSql; 3] = [&row.id, &row.hlc, &row.hash];
            match copy.one(&TWINS, &params, |it| read_memory(it, 0))? {
                Some(Ok(memory)) => apply::overwrite(db, row.n, &memory)?,
                _ => still.push(row),
            }
        }
        missing = still;
    }
    let brought = n_damaged - missing.len();
    let mut reset = 0;
    for row in missing {
        if let Some(memory) = row.statement {
            apply::set_counts(db, row.n, memory.id, &Counters::default())?;
            reset += 1;
        }
    }
    Ok((brought, reset))
}

fn damaged(db: &Db) -> Result<Vec<Damaged>, Error> {
    let rows = db.select(&ALL_ROWS, &[], |row| {
        let statement = read_statement(row, 4)?.ok();
        let row_itself = Damaged {
            n: row.get(0)?,
            id: row.get(1)?,
            hlc: row.get(2)?,
            hash: row.get(3)?,
            statement,
        };
        Ok(read_memory(row, 4)?.is_err().then_some(row_itself))
    })?;
    Ok(rows.into_iter().flatten().collect())
}

/// Rebuilds every lookup from the rows. The index is first made to agree with its text, so that
/// taking old text out of it cannot fail.
fn reindex(db: &Db) -> Result<(), Error> {
    db.run(&REBUILD, &[])?;
    let rows =
        db.select(&ALL_ROWS, &[], |row| Ok((row.get::<_, i64>(0)?, read_memory(row, 4)?)))?;
    for (n, memory) in rows {
        if let Ok(memory) = memory {
            lookups::clear(db, n)?;
            lookups::fill(db, n, &memory)?;
        }
    }
    Ok(())
}

pub(crate) fn compact(db: &Db, always: bool) -> Result<u64, Error> {
    let number = |sql: &str| db.pragma(sql).map(|it| it.parse::<u64>().unwrap_or(0));
    let (pages, free) = (number("PRAGMA page_count")?, number("PRAGMA freelist_count")?);
    let page = number("PRAGMA page_size")?;
    if !always && (pages * page < WORTH_COMPACTING || free * 4 < pages) {
        return Ok(0);
    }
    db.batch("VACUUM")?;
    db.pragma("PRAGMA wal_checkpoint(TRUNCATE)")?;
    Ok(pages.saturating_sub(number("PRAGMA page_count")?) * page)
}

pub(crate) fn size(db: &Db, home: &Home) -> Result<Size, Error> {
    let bytes = |path: std::path::PathBuf| fs::metadata(path).map_or(0, |it| it.len());
    let number = |sql: &str| db.pragma(sql).map(|it| it.parse::<i64>().unwrap_or(0));
    Ok(Size {
        database: bytes(home.database()),
        log: bytes(home.wal()),
        backups: backup::list(home).iter().map(|it| it.bytes).sum(),
        free_pages: number("PRAGMA freelist_count")?,
        pages: number("PRAGMA page_count")?,
    })
}
