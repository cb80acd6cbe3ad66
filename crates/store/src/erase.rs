//! Erasing for good: rows, words, vectors, versions, backups; and a ledger so that nothing returns.
//!
//! The order makes it restartable: first the ledger says what must go, then everything that
//! matches the ledger goes, file by file. A crash in between only means doing the rest again.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::Path;

use model::{Actor, MemoryId, Timestamp};

use crate::batch::Action;
use crate::layout::Home;
use crate::mark::{Mark, Reading};
use crate::query::{Db, Query, both};
use crate::restore::empty_log;
use crate::site::Site;
use crate::{Error, apply, backup, lessons, lookups, os, stamp};

#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[
    &IDS,
    &NUMBER,
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
];

const IDS: Query = both("erase_ids", "SELECT n, id FROM memories");
const NUMBER: Query = both("number", "SELECT n FROM memories WHERE id = ?1");
const VERSION_IDS: Query = both("erase_version_ids", "SELECT DISTINCT id FROM memory_versions");
const OWNERS: Query = both("erase_owners", "SELECT DISTINCT owner FROM embeddings");
pub(crate) const DROP_VECTORS: Query =
    both("drop_vectors", "DELETE FROM embeddings WHERE owner = ?1");
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

const HASH: usize = 32;
type IdHash = [u8; HASH];

/// What the ledger keeps of an id: enough to recognise it, not to know it.
pub(crate) fn id_hash(id: MemoryId) -> IdHash {
    blake3::derive_key("waylore erase ledger 1", id.0.as_bytes())
}

/// Writes the intention down, outside the database as well: a restore from an old backup must know.
pub(crate) fn intend(home: &Home, ids: &[MemoryId]) -> Result<(), Error> {
    let path = home.beside("ledger");
    let io = |it: std::io::Error| Error::io(&path, &it);
    os::private_file(&path).map_err(io)?;
    let hashes: Vec<u8> = ids.iter().flat_map(|it| id_hash(*it)).collect();
    let mut file = fs::OpenOptions::new().append(true).open(&path).map_err(io)?;
    // A crash may have cut the last entry short; what follows must not be read across it.
    let length = file.metadata().map_err(io)?.len();
    file.set_len(length - length % HASH as u64).map_err(io)?;
    file.write_all(&hashes).and_then(|()| file.sync_all()).map_err(io)?;
    os::private_file(&home.beside("erasing")).and_then(|()| os::sync_dir(&home.dir)).map_err(io)
}

/// Finishes an erasure that was interrupted.
pub(crate) fn resume(site: &Site, db: &Db) -> Result<(), Error> {
    if site.home.beside("erasing").exists() { carry_out(site, db, site.now) } else { Ok(()) }
}

/// Carries out the ledger on the database, its backups and files set aside by a restore.
pub(crate) fn carry_out(site: &Site, db: &Db, now: Timestamp) -> Result<(), Error> {
    let home = &site.home;
    db.transaction(|db| {
        let n_erased = apply_ledger(db, home, now)?;
        if n_erased == 0 {
            return Ok(());
        }
        // That something was erased, when and how much of it may be known; what it was may not.
        apply::note(db, Action::Erase, &Actor::User, Some(&format!("{n_erased} erased")), now)
    })?;
    empty_log(db)?;
    clean_copies(site, |copy| Ok(apply_ledger(copy, home, now)? > 0))?;
    forget_in_mark(db, home)?;
    let intention = home.beside("erasing");
    os::remove(&intention)
        .and_then(|()| os::sync_dir(&home.dir))
        .map_err(|it| Error::io(&intention, &it))
}

/// Changes every backup and what a restore set aside, and removes what an interruption left behind.
/// A copy that can no longer be opened and checked cannot be cleaned: it goes, and is told of.
pub(crate) fn clean_copies(
    site: &Site,
    change: impl Fn(&Db) -> Result<bool, Error>,
) -> Result<(), Error> {
    for old in backup::list(&site.home) {
        if !is_cleaned(backup::rewrite(site, &old.path, &change))? {
            backup::remove(&old.path)?;
            site.note_dropped(&old.path);
        }
    }
    backup::sweep(&site.home)?;
    let Some(aside) = backup::replaced(&site.home) else {
        return discard_replaced(&site.home);
    };
    let closed = backup::close(site, &aside.path);
    if !is_cleaned(closed.and_then(|()| backup::rewrite(site, &aside.path, &change)))? {
        discard_replaced(&site.home)?;
        site.note_dropped(&aside.path);
    }
    Ok(())
}

/// Whether a copy is clean now; an error when it was not the copy's fault.
fn is_cleaned(rewritten: Result<bool, Error>) -> Result<bool, Error> {
    match rewritten {
        Ok(_) => Ok(true),
        Err(
            error
            @ (Error::Full | Error::Io { .. } | Error::Denied { .. } | Error::ReadOnly { .. }),
        ) => Err(error),
        Err(_) => Ok(false),
    }
}

/// Deletes every memory the ledger names; says how many there were.
pub(crate) fn apply_ledger(db: &Db, home: &Home, now: Timestamp) -> Result<usize, Error> {
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
    let ids: HashSet<&[u8]> = doomed.iter().map(|it| it.1.as_slice()).collect();
    Ok(ids.len())
}

/// Deletes memories without a trace in the ledger: what was forgotten long ago may be taught again.
pub(crate) fn remove(db: &Db, ids: &[MemoryId]) -> Result<(), Error> {
    for id in ids {
        let id = id.0.as_bytes().as_slice();
        let n = db.one(&NUMBER, &[&id], |row| row.get(0))?;
        remove_one(db, n, id)?;
    }
    stamp::take_number(db)?;
    recount(db)
}

fn remove_one(db: &Db, n: Option<i64>, id: &[u8]) -> Result<(), Error> {
    if let Some(n) = n {
        lookups::clear(db, n)?;
    }
    for query in [&DROP_VECTORS, &DROP_VERSIONS, &FORGET_CHANGES, &DROP_MEMORY] {
        db.run(query, &[&id])?;
    }
    if lessons::has_lessons(db)? {
        lessons::forget(db, id)?;
    }
    Ok(())
}

fn recount(db: &Db) -> Result<(), Error> {
    db.run(&COUNT_MEMORIES, &[])?;
    db.run(&COUNT_VERSIONS, &[]).map(|_| ())
}

/// All hashes of erased ids, from the table and the file beside it.
fn ledger(db: &Db, home: &Home) -> Result<HashSet<IdHash>, Error> {
    let rows = db.select(&LEDGERED, &[], |row| row.get::<_, Vec<u8>>(0))?;
    let mut res: HashSet<IdHash> =
        rows.iter().filter_map(|it| it.as_slice().try_into().ok()).collect();
    let path = home.beside("ledger");
    match fs::read(&path) {
        Ok(bytes) => res.extend(bytes.as_chunks::<HASH>().0),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(Error::io(&path, &error)),
    }
    Ok(res)
}

/// The mark names the latest changes by id; erased ones are not to be known.
fn forget_in_mark(db: &Db, home: &Home) -> Result<(), Error> {
    if let Reading::Mark(mut mark) = Mark::read(&home.mark())? {
        let ledger = ledger(db, home)?;
        if mark.forget(|it| ledger.contains(&id_hash(it))) {
            mark.write(&home.mark())?;
        }
    }
    Ok(())
}

/// Files a restore set aside hold what the database held then; erasing must reach them too.
pub(crate) fn discard_replaced(home: &Home) -> Result<(), Error> {
    let aside: &Path = &home.replaced();
    match fs::remove_dir_all(aside) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io(aside, &error)),
        _ => Ok(()),
    }
}
