//! Erases memories for good: rows, search text, vectors, versions, copies in backups.
//!
//! The ledger holds a hash of every erased id, in a file beside the database (extension `ledger`)
//! and in table `erase_ledger`, so that an erased memory cannot come back from a backup or another
//! device. The order makes an erasure restartable: the ledger first records what must go, then
//! every file is cleaned of what the ledger names. A file with extension `erasing` exists until
//! that is done; the next opening of the database finishes it after a crash.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::Path;

use model::{Actor, MemoryId, Timestamp};

use crate::data_dir::DatabasePaths;
use crate::database_state::DatabaseState;
use crate::high_water_mark::{HighWaterMark, MarkState};
use crate::query::{Db, Query};
use crate::restore::truncate_log;
use crate::write_batch::AuditAction;
use crate::{
    Error, apply_batch, backup, change_clock, index_delta, index_snapshot, injection_log, learning,
    lookup_tables, os,
};

/// Every statement of this file, for the tests that replay them on a server.
#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[
    &SELECT_MEMORY_IDS,
    &SELECT_NUMBER,
    &SELECT_VERSION_IDS,
    &SELECT_VECTOR_OWNERS,
    &DELETE_VECTORS,
    &DELETE_VERSIONS,
    &ANONYMIZE_CHANGES,
    &DELETE_MEMORY,
    &INSERT_LEDGER_HASH,
    &SELECT_LEDGER_HASHES,
    &RECOUNT_MEMORIES,
    &RECOUNT_VERSIONS,
];

/// Row number and id of every memory.
const SELECT_MEMORY_IDS: Query = Query::shared("erase_ids", "SELECT n, id FROM memories");
/// The row number of a memory.
const SELECT_NUMBER: Query = Query::shared("number_of", "SELECT n FROM memories WHERE id = ?1");
/// Ids that have earlier versions.
const SELECT_VERSION_IDS: Query =
    Query::shared("erase_version_ids", "SELECT DISTINCT id FROM memory_versions");
/// Ids that have vectors.
const SELECT_VECTOR_OWNERS: Query =
    Query::shared("erase_owners", "SELECT DISTINCT owner FROM embeddings");
/// Deletes the vectors of a memory.
pub(crate) const DELETE_VECTORS: Query =
    Query::shared("drop_vectors", "DELETE FROM embeddings WHERE owner = ?1");
/// Deletes the earlier versions of a memory.
const DELETE_VERSIONS: Query =
    Query::shared("drop_versions", "DELETE FROM memory_versions WHERE id = ?1");
/// Removes the id of a memory from the changes; their number stays right.
const ANONYMIZE_CHANGES: Query =
    Query::shared("forget_changes", "UPDATE changes SET id = NULL WHERE id = ?1");
/// Deletes the row of a memory.
const DELETE_MEMORY: Query = Query::shared("drop_memory", "DELETE FROM memories WHERE id = ?1");
/// Adds the hash of an erased id to the ledger.
const INSERT_LEDGER_HASH: Query = Query::shared(
    "add_ledger_hash",
    "INSERT OR IGNORE INTO erase_ledger (id_hash, erased_at) VALUES (?1, ?2)",
);
/// Every hash in the ledger.
const SELECT_LEDGER_HASHES: Query =
    Query::shared("ledger_hashes", "SELECT id_hash FROM erase_ledger");
/// Stores the present number of memories, with which later checks compare.
const RECOUNT_MEMORIES: Query = Query::shared(
    "recount_memories",
    "UPDATE meta SET value = (SELECT count(*) FROM memories) WHERE key = 'n_memories'",
);
/// Stores the present number of earlier versions.
const RECOUNT_VERSIONS: Query = Query::shared(
    "recount_versions",
    "UPDATE meta SET value = (SELECT count(*) FROM memory_versions) WHERE key = 'n_versions'",
);

/// Length of a hash in the ledger.
const HASH_BYTES: usize = 32;
type IdHash = [u8; HASH_BYTES];

/// Hash of an id for the ledger: it recognises the id without revealing it.
pub(crate) fn id_hash(id: MemoryId) -> IdHash {
    blake3::derive_key("waylore erase ledger 1", id.0.as_bytes())
}

/// Records the ids to erase in a file beside the database. The database alone is not enough: a
/// restore from an old backup must know them as well.
pub(crate) fn record_intent(paths: &DatabasePaths, ids: &[MemoryId]) -> Result<(), Error> {
    let path = paths.with_extension("ledger");
    let io = |it: std::io::Error| Error::from_io(&path, &it);
    os::private_file(&path).map_err(io)?;
    let hashes: Vec<u8> = ids.iter().flat_map(|it| id_hash(*it)).collect();
    let mut file = fs::OpenOptions::new().append(true).open(&path).map_err(io)?;
    // A crash may have left the last hash incomplete. It is cut off, because the file is read in
    // steps of a whole hash.
    let length = file.metadata().map_err(io)?.len();
    file.set_len(length - length % HASH_BYTES as u64).map_err(io)?;
    file.write_all(&hashes).and_then(|()| file.sync_all()).map_err(io)?;
    // From here on the erasure is finished by the next opening, whatever happens.
    os::private_file(&paths.with_extension("erasing"))
        .and_then(|()| os::sync_dir(&paths.dir))
        .map_err(io)
}

/// Finishes an interrupted erasure.
pub(crate) fn resume_erasure(state: &DatabaseState, db: &Db) -> Result<(), Error> {
    if state.paths.with_extension("erasing").exists() {
        erase_ledgered(state, db, state.now)
    } else {
        Ok(())
    }
}

/// Erases everything the ledger names from the database, its backups and the replaced database.
pub(crate) fn erase_ledgered(state: &DatabaseState, db: &Db, now: Timestamp) -> Result<(), Error> {
    let paths = &state.paths;
    // It holds the ids and vectors of all memories, and can be made again.
    index_snapshot::remove_snapshot(paths)?;
    db.transaction(|db| {
        let n_erased = apply_ledger(db, paths, now)?;
        if n_erased == 0 {
            return Ok(());
        }
        index_delta::advance_epoch(db)?;
        // The audit trail may say that something was erased, when and how much, but not what.
        apply_batch::add_audit_entry(
            db,
            AuditAction::Erase,
            &Actor::User,
            Some(&format!("{n_erased} erased")),
            now,
        )
    })?;
    // Erased rows must not remain in old pages of the log.
    truncate_log(db)?;
    clean_copies(state, |copy| Ok(apply_ledger(copy, paths, now)? > 0))?;
    remove_from_mark(db, paths)?;
    let marker = paths.with_extension("erasing");
    os::remove_file_if_exists(&marker)
        .and_then(|()| os::sync_dir(&paths.dir))
        .map_err(|it| Error::from_io(&marker, &it))
}

/// Applies `change` to every backup and to the replaced database, and removes leftovers of
/// interrupted operations. A copy that cannot be opened and checked cannot be cleaned either: it is
/// deleted and reported.
pub(crate) fn clean_copies(
    state: &DatabaseState,
    change: impl Fn(&Db) -> Result<bool, Error>,
) -> Result<(), Error> {
    for old in backup::list_backups(&state.paths) {
        if !is_cleaned(backup::rewrite_backup(state, &old.path, &change))? {
            backup::remove_backup(&old.path)?;
            state.record_dropped_copy(&old.path);
        }
    }
    backup::remove_leftovers(&state.paths)?;
    let Some(replaced) = backup::find_replaced(&state.paths) else {
        // No database in the folder, but perhaps a log or another remainder.
        return discard_replaced(&state.paths);
    };
    let merged = backup::merge_replaced_log(state, &replaced.path);
    if !is_cleaned(merged.and_then(|()| backup::rewrite_backup(state, &replaced.path, &change)))? {
        discard_replaced(&state.paths)?;
        state.record_dropped_copy(&replaced.path);
    }
    Ok(())
}

/// Returns whether a copy is clean now; `false` means that the copy itself is unusable. Errors that
/// are not the copy's fault are passed on.
fn is_cleaned(rewritten: Result<bool, Error>) -> Result<bool, Error> {
    match rewritten {
        Ok(_) => Ok(true),
        Err(
            error @ (Error::DiskFull
            | Error::Io { .. }
            | Error::PermissionDenied { .. }
            | Error::ReadOnly { .. }),
        ) => Err(error),
        // Damaged, or encrypted with another key.
        Err(_) => Ok(false),
    }
}

/// Deletes every memory the ledger names, and returns how many there were.
pub(crate) fn apply_ledger(db: &Db, paths: &DatabasePaths, now: Timestamp) -> Result<usize, Error> {
    let ledger = read_ledger(db, paths)?;
    for hash in &ledger {
        db.execute(&INSERT_LEDGER_HASH, &[&hash.as_slice(), &now.0])?;
    }
    // Ids are hashed one by one: the ledger cannot be turned back into ids.
    let is_ledgered =
        |id: &[u8]| MemoryId::from_bytes(id).is_some_and(|id| ledger.contains(&id_hash(id)));
    // Row number, if the memory has a row, and id.
    let mut found: Vec<(Option<i64>, Vec<u8>)> = db.select(&SELECT_MEMORY_IDS, &[], |row| {
        Ok((Some(row.get(0)?), row.get::<_, Vec<u8>>(1)?))
    })?;
    // Versions and vectors may be left without a memory in a damaged file.
    for query in [&SELECT_VERSION_IDS, &SELECT_VECTOR_OWNERS] {
        found.extend(db.select(query, &[], |row| Ok((None, row.get(0)?)))?);
    }
    found.retain(|(_, id)| is_ledgered(id));
    for (n, id) in &found {
        remove_memory(db, *n, id)?;
    }
    recount_rows(db)?;
    // An id occurs once per table that holds it.
    let erased_ids: HashSet<&[u8]> = found.iter().map(|(_, id)| id.as_slice()).collect();
    Ok(erased_ids.len())
}

/// Deletes memories without recording them in the ledger: they were forgotten long ago and may be
/// taught again.
pub(crate) fn remove_memories(
    db: &Db,
    paths: &DatabasePaths,
    ids: &[MemoryId],
) -> Result<(), Error> {
    index_snapshot::remove_snapshot(paths)?;
    index_delta::advance_epoch(db)?;
    for id in ids {
        let id = id.0.as_bytes().as_slice();
        let n = db.select_one(&SELECT_NUMBER, &[&id], |row| row.get(0))?;
        remove_memory(db, n, id)?;
    }
    change_clock::advance_seq(db)?;
    recount_rows(db)
}

/// Deletes everything about one memory. `n` is its row number; without a row, only its remains.
fn remove_memory(db: &Db, n: Option<i64>, id: &[u8]) -> Result<(), Error> {
    if let Some(n) = n {
        lookup_tables::delete_lookups(db, n)?;
    }
    // The audit trail keeps its entries, but no longer names the memory they were about.
    for query in [&DELETE_VECTORS, &DELETE_VERSIONS, &ANONYMIZE_CHANGES, &DELETE_MEMORY] {
        db.execute(query, &[&id])?;
    }
    if learning::has_learning_tables(db)? {
        learning::delete_evidence(db, id)?;
    }
    if injection_log::has_injections(db)? {
        injection_log::delete_injections(db, id)?;
    }
    Ok(())
}

/// Updates the stored numbers of rows after deletions.
fn recount_rows(db: &Db) -> Result<(), Error> {
    db.execute(&RECOUNT_MEMORIES, &[])?;
    db.execute(&RECOUNT_VERSIONS, &[]).map(|_| ())
}

/// Reads all hashes of erased ids, from the table and from the file beside the database.
fn read_ledger(db: &Db, paths: &DatabasePaths) -> Result<HashSet<IdHash>, Error> {
    let rows = db.select(&SELECT_LEDGER_HASHES, &[], |row| row.get::<_, Vec<u8>>(0))?;
    let mut hashes: HashSet<IdHash> =
        rows.iter().filter_map(|it| it.as_slice().try_into().ok()).collect();
    let path = paths.with_extension("ledger");
    match fs::read(&path) {
        Ok(bytes) => hashes.extend(bytes.as_chunks::<HASH_BYTES>().0),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(Error::from_io(&path, &error)),
    }
    Ok(hashes)
}

/// Removes erased memories from the mark, which names the latest changes by id.
fn remove_from_mark(db: &Db, paths: &DatabasePaths) -> Result<(), Error> {
    if let MarkState::Valid(mut mark) = HighWaterMark::read(&paths.mark_file())? {
        let ledger = read_ledger(db, paths)?;
        if mark.remove_changes(|it| ledger.contains(&id_hash(it))) {
            mark.write(&paths.mark_file())?;
        }
    }
    Ok(())
}

/// Deletes the database that a restore replaced.
pub(crate) fn discard_replaced(paths: &DatabasePaths) -> Result<(), Error> {
    let folder: &Path = &paths.replaced_folder();
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::from_io(folder, &error))
        }
        // Deleted, or there was none.
        _ => Ok(()),
    }
}
