//! Upkeep of one file: mending, compacting, measuring.

use std::fs;

use model::Timestamp;

use crate::backup;
use crate::check;
use crate::connection::open_file;
use crate::key::Key;
use crate::layout::Home;
use crate::query::{Db, Query, both, local};
use crate::row::{columns, read_memory};
use crate::store::Size;
use crate::{Error, apply};

/// Below this size the file is left alone; above it, when a quarter is free.
const WORTH_COMPACTING: u64 = 100 << 20;

#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[&HASHES, &BY_HASH, &REBUILD, &ALL_ROWS];

const HASHES: Query =
    both("hashes", concat!("SELECT n, hash, ", columns!(), " FROM memories ORDER BY n"));
const BY_HASH: Query =
    both("by_hash", concat!("SELECT ", columns!(), " FROM memories WHERE hash = ?1"));
const ALL_ROWS: Query = both("all_rows", concat!("SELECT n, ", columns!(), " FROM memories"));
const REBUILD: Query =
    local("rebuild", "INSERT INTO memories_fts (memories_fts) VALUES ('rebuild')");

pub(crate) fn mend(
    db: &Db,
    home: &Home,
    key: Option<&Key>,
    now: Timestamp,
) -> Result<Vec<String>, Error> {
    let mut done = Vec::new();
    db.batch("BEGIN IMMEDIATE")?;
    let res = (|| {
        let brought = bring_back(db, home, key)?;
        if brought > 0 {
            done.push(format!(
                "brought back {brought} damaged memories from a backup, exactly as they were saved"
            ));
        }
        if check::search_index(db).is_some() || brought > 0 {
            reindex(db)?;
            done.push("rebuilt the search index from the memories".to_owned());
        }
        let noted = check::take_note(db, now)?;
        if noted > 0 {
            done.push(format!("took note of {noted} reported losses; they are not reported again"));
        }
        db.batch("COMMIT")
    })();
    if res.is_err() && !db.conn.is_autocommit() {
        db.batch("ROLLBACK")?;
    }
    res.map(|()| done)
}

/// Replaces damaged rows by their equals from a backup: the hash saved with the row says which.
fn bring_back(db: &Db, home: &Home, key: Option<&Key>) -> Result<usize, Error> {
    let rows = db.select(&HASHES, &[], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?, read_memory(row, 2)?))
    })?;
    let damaged: Vec<(i64, Vec<u8>)> =
        rows.into_iter().filter(|it| it.2.is_err()).map(|(n, hash, _)| (n, hash)).collect();
    if damaged.is_empty() {
        return Ok(0);
    }
    let mut brought = 0;
    let mut missing = damaged;
    for old in backup::list(home) {
        if backup::verify(&old.path, key).is_err() {
            continue;
        }
        let copy = open_file(&old.path, key, false)?;
        let mut still = Vec::new();
        for (n, hash) in missing {
            match copy.one(&BY_HASH, &[&hash], |row| read_memory(row, 0))? {
                Some(Ok(memory)) => {
                    apply::overwrite(db, n, &memory)?;
                    brought += 1;
                }
                _ => still.push((n, hash)),
            }
        }
        missing = still;
    }
    Ok(brought)
}

/// Rebuilds every lookup from the rows. The index is first made to agree with its text, so that
/// taking old text out of it cannot fail.
fn reindex(db: &Db) -> Result<(), Error> {
    db.run(&REBUILD, &[])?;
    let rows =
        db.select(&ALL_ROWS, &[], |row| Ok((row.get::<_, i64>(0)?, read_memory(row, 1)?)))?;
    for (n, memory) in rows {
        if let Ok(memory) = memory {
            apply::unindex(db, n)?;
            apply::index(db, n, &memory)?;
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
