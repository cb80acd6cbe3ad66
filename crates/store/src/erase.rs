//! Erasing for good: rows, words, vectors, versions, backups; and a ledger so that nothing returns.
//!
//! The order makes it restartable: first the ledger says what must go, then everything that
//! matches the ledger goes, file by file. A crash in between only means doing the rest again.

use std::fs;
use std::io::Write;
use std::path::Path;

use model::{Memory, MemoryId, Timestamp};
use rusqlite::ToSql;

use crate::apply::{self, META, SET_META};
use crate::backup;
use crate::key::Key;
use crate::layout::Home;
use crate::query::{Db, Query, both, local};
use crate::row::{columns, read_memory, to_values};
use crate::{Error, os};

#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[
    &IDS,
    &VERSION_IDS,
    &OWNERS,
    &DROP_VECTORS,
    &DROP_VERSIONS,
    &FORGET_CHANGES,
    &DROP_MEMORY,
    &LEDGER,
    &LEDGERED,
    &COUNT_MEMORIES,
    &COUNT_VERSIONS,
    &ROWS,
    &VERSION_ROWS,
];

const IDS: Query = both("erase_ids", "SELECT n, id FROM memories");
const VERSION_IDS: Query = both("erase_version_ids", "SELECT DISTINCT id FROM memory_versions");
const OWNERS: Query = both("erase_owners", "SELECT DISTINCT owner FROM embeddings");
const DROP_VECTORS: Query = both("drop_vectors", "DELETE FROM embeddings WHERE owner = ?1");
const DROP_VERSIONS: Query = both("drop_versions", "DELETE FROM memory_versions WHERE id = ?1");
const FORGET_CHANGES: Query = both("forget_changes", "UPDATE changes SET id = NULL WHERE id = ?1");
const DROP_MEMORY: Query = both("drop_memory", "DELETE FROM memories WHERE id = ?1");
const LEDGER: Query =
    both("ledger", "INSERT OR IGNORE INTO erase_ledger (id_hash, erased_at) VALUES (?1, ?2)");
const LEDGERED: Query = both("ledger_hashes", "SELECT id_hash FROM erase_ledger");
const COUNT_MEMORIES: Query = both(
    "recount_memories",
    "UPDATE meta SET value = (SELECT count(*) FROM memories) WHERE key = 'n_memories'",
);
const COUNT_VERSIONS: Query = both(
    "recount_versions",
    "UPDATE meta SET value = (SELECT count(*) FROM memory_versions) WHERE key = 'n_versions'",
);
const ROWS: Query = local("scrub_rows", concat!("SELECT n, ", columns!(), " FROM memories"));
const VERSION_ROWS: Query =
    local("scrub_version_rows", concat!("SELECT k, ", columns!(), " FROM memory_versions"));

/// What the ledger keeps of an id: enough to recognise it, not to know it.
pub(crate) fn id_hash(id: MemoryId) -> [u8; 32] {
    blake3::derive_key("waylore erase ledger 1", id.0.as_bytes())
}

/// Writes the intention down, outside the database as well: a restore from an old backup must know.
pub(crate) fn intend(home: &Home, ids: &[MemoryId]) -> Result<(), Error> {
    let path = home.beside("ledger");
    let io = |it: std::io::Error| Error::io(&path, &it);
    os::private_file(&path).map_err(io)?;
    let hashes: Vec<u8> = ids.iter().flat_map(|it| id_hash(*it)).collect();
    let mut file = fs::OpenOptions::new().append(true).open(&path).map_err(io)?;
    file.write_all(&hashes).and_then(|()| file.sync_all()).map_err(io)?;
    os::private_file(&home.beside("erasing")).and_then(|()| os::sync_dir(&home.dir)).map_err(io)
}

/// Finishes an erasure that was interrupted.
pub(crate) fn resume(db: &Db, home: &Home, key: Option<&Key>, now: Timestamp) -> Result<(), Error> {
    if home.beside("erasing").exists() { carry_out(db, home, key, now) } else { Ok(()) }
}

/// Carries out the ledger on the database, its backups and files set aside by a restore.
pub(crate) fn carry_out(
    db: &Db,
    home: &Home,
    key: Option<&Key>,
    now: Timestamp,
) -> Result<(), Error> {
    db.batch("BEGIN IMMEDIATE")?;
    if let Err(error) = apply_ledger(db, home, now).and_then(|_| db.batch("COMMIT")) {
        db.batch("ROLLBACK")?;
        return Err(error);
    }
    flush(db)?;
    for old in backup_files(home) {
        // A backup that can no longer be opened cannot be cleaned: it goes.
        if backup::rewrite(&old, key, |copy| apply_ledger(copy, home, now)).is_err() {
            backup::remove(&old)?;
        }
    }
    discard_replaced(home)?;
    let intention = home.beside("erasing");
    match fs::remove_file(&intention) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::io(&intention, &error))
        }
        _ => Ok(()),
    }
}

/// Deletes every memory the ledger names; says whether there was any.
pub(crate) fn apply_ledger(db: &Db, home: &Home, now: Timestamp) -> Result<bool, Error> {
    let ledger = ledger(db, home)?;
    for hash in &ledger {
        db.run(&LEDGER, &[&hash.as_slice(), &now.0])?;
    }
    let gone = |id: &[u8]| MemoryId::from_bytes(id).is_some_and(|id| ledger.contains(&id_hash(id)));
    let mut doomed: Vec<(Option<i64>, Vec<u8>)> =
        db.select(&IDS, &[], |row| Ok((Some(row.get(0)?), row.get::<_, Vec<u8>>(1)?)))?;
    for query in [&VERSION_IDS, &OWNERS] {
        doomed.extend(db.select(query, &[], |row| Ok((None, row.get(0)?)))?);
    }
    doomed.retain(|it| gone(&it.1));
    for (n, id) in &doomed {
        remove_one(db, *n, id)?;
    }
    recount(db)?;
    Ok(!doomed.is_empty())
}

/// Deletes memories without a trace in the ledger: what was forgotten long ago may be taught again.
pub(crate) fn remove(db: &Db, ids: &[MemoryId]) -> Result<(), Error> {
    let known =
        db.select(&IDS, &[], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?)))?;
    for (n, id) in &known {
        if ids.iter().any(|it| it.0.as_bytes().as_slice() == id.as_slice()) {
            remove_one(db, Some(*n), id)?;
        }
    }
    recount(db)
}

fn remove_one(db: &Db, n: Option<i64>, id: &[u8]) -> Result<(), Error> {
    if let Some(n) = n {
        apply::unindex(db, n)?;
    }
    for query in [&DROP_VECTORS, &DROP_VERSIONS, &FORGET_CHANGES, &DROP_MEMORY] {
        db.run(query, &[&id])?;
    }
    Ok(())
}

fn recount(db: &Db) -> Result<(), Error> {
    db.run(&COUNT_MEMORIES, &[])?;
    db.run(&COUNT_VERSIONS, &[]).map(|_| ())
}

/// All hashes of erased ids, from the table and the file beside it.
fn ledger(db: &Db, home: &Home) -> Result<std::collections::HashSet<[u8; 32]>, Error> {
    let rows = db.select(&LEDGERED, &[], |row| row.get::<_, Vec<u8>>(0))?;
    let mut res: std::collections::HashSet<[u8; 32]> =
        rows.iter().filter_map(|it| it.as_slice().try_into().ok()).collect();
    let path = home.beside("ledger");
    match fs::read(&path) {
        Ok(bytes) => res.extend(bytes.as_chunks::<32>().0),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(Error::io(&path, &error)),
    }
    Ok(res)
}

/// Takes a text out of every row, version, vector and backup; returns the memories it was in.
pub(crate) fn scrub(
    db: &Db,
    home: &Home,
    key: Option<&Key>,
    clean: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<MemoryId>, Error> {
    db.batch("BEGIN IMMEDIATE")?;
    let res = scrub_rows(db, clean).and_then(|it| db.batch("COMMIT").map(|()| it));
    let res = match res {
        Ok(res) => res,
        Err(error) => {
            db.batch("ROLLBACK")?;
            return Err(error);
        }
    };
    flush(db)?;
    for old in backup_files(home) {
        if backup::rewrite(&old, key, |copy| Ok(!scrub_rows(copy, clean)?.is_empty())).is_err() {
            backup::remove(&old)?;
        }
    }
    discard_replaced(home)?;
    Ok(res)
}

fn scrub_rows(db: &Db, clean: &dyn Fn(&str) -> Option<String>) -> Result<Vec<MemoryId>, Error> {
    let mut res = Vec::new();
    for (n, memory) in
        db.select(&ROWS, &[], |row| Ok((row.get::<_, i64>(0)?, read_memory(row, 1)?)))?
    {
        let Ok(memory) = memory else { continue };
        if let Some(cleaned) = scrubbed(&memory, clean) {
            rewrite_row(db, "memories", "n", n, &cleaned)?;
            apply::unindex(db, n)?;
            apply::index(db, n, &cleaned)?;
            db.run(&DROP_VECTORS, &[&cleaned.id.0.as_bytes().as_slice()])?;
            res.push(cleaned.id);
        }
    }
    for (k, memory) in
        db.select(&VERSION_ROWS, &[], |row| Ok((row.get::<_, i64>(0)?, read_memory(row, 1)?)))?
    {
        let Ok(memory) = memory else { continue };
        if let Some(cleaned) = scrubbed(&memory, clean) {
            rewrite_row(db, "memory_versions", "k", k, &cleaned)?;
            res.push(cleaned.id);
        }
    }
    if !res.is_empty() {
        // The change is not a version of its own, but it must move the mark.
        let seq = db.number(&META, &[&"seq"])? + 1;
        db.run(&SET_META, &[&"seq", &seq])?;
    }
    res.sort_unstable();
    res.dedup();
    Ok(res)
}

/// The memory with every text cleaned, `None` when nothing had to be.
fn scrubbed(memory: &Memory, clean: &dyn Fn(&str) -> Option<String>) -> Option<Memory> {
    let mut res = memory.clone();
    let mut changed = false;
    let mut each = |text: &mut String| {
        if let Some(cleaned) = clean(text) {
            *text = cleaned;
            changed = true;
        }
    };
    each(&mut res.content);
    each(&mut res.summary);
    each(&mut res.citation);
    res.tags.iter_mut().for_each(&mut each);
    res.modules.iter_mut().for_each(&mut each);
    res.states.deprecated_reason.iter_mut().for_each(&mut each);
    if let Some(payload) = &res.payload {
        let json = payload.to_json().to_string();
        if let Some(cleaned) = clean(&json) {
            let value = serde_json::from_str(&cleaned).ok();
            res.payload = value.and_then(|it| model::Payload::parse(payload.kind(), &it).ok());
            changed = true;
        }
    }
    changed.then_some(res)
}

/// Rewrites a row in place: same version, new text, new hash.
fn rewrite_row(db: &Db, table: &str, key: &str, n: i64, memory: &Memory) -> Result<(), Error> {
    let values = to_values(memory);
    let names: Vec<String> = columns!()
        .split(',')
        .enumerate()
        .map(|(at, name)| format!("{} = ?{}", name.trim(), at + 1))
        .collect();
    let sql =
        format!("UPDATE {table} SET {} WHERE {key} = ?{}", names.join(", "), values.len() + 1);
    let mut params: Vec<&dyn ToSql> = values.iter().map(|it| it as &dyn ToSql).collect();
    params.push(&n);
    db.conn.execute(&sql, params.as_slice()).map_err(|it| db.error(&it)).map(|_| ())
}

/// Empties the log into the file, so that no deleted byte lingers there.
pub(crate) fn flush(db: &Db) -> Result<(), Error> {
    let busy = db.pragma("PRAGMA wal_checkpoint(TRUNCATE)")?;
    if busy == "0" {
        return Ok(());
    }
    Err(Error::Engine {
        what: "another process is reading; the log could not be emptied yet".to_owned(),
    })
}

fn backup_files(home: &Home) -> Vec<std::path::PathBuf> {
    backup::list(home).into_iter().map(|it| it.path).collect()
}

/// Files a restore set aside hold what the database held then; erasing must reach them too.
fn discard_replaced(home: &Home) -> Result<(), Error> {
    let aside: &Path = &home.dir.join("replaced");
    match fs::remove_dir_all(aside) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io(aside, &error)),
        _ => Ok(()),
    }
}
