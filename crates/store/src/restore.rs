//! Replaces the database by another one. A crash at any point leaves one of the two complete.
//!
//! It takes three steps:
//!
//! 1. A new database is prepared in the *staging* file, which is discarded after a crash.
//! 2. `commit_staged` renames it to the *staged* file. This commits the replacement.
//! 3. `finish_restore` moves the old files to the *replaced* folder and the staged file to the
//!    place of the database; the next opening repeats it after a crash.
//!
//! `stage_backup` does the first two steps for a backup; a key change (`rekey`) prepares its own
//! staging file and uses steps 2 and 3. The caller holds the write lock.

use std::fs;
use std::path::Path;

use model::Timestamp;

use crate::backup::{self, BackupContents};
use crate::change_clock::{SELECT_META, UPDATE_META};
use crate::connection::{FileAccess, open_file};
use crate::data_dir::DatabasePaths;
use crate::database_state::DatabaseState;
use crate::file_lock::OpenGuard;
use crate::high_water_mark::{HighWaterMark, MarkState};
use crate::query::Db;
use crate::{Error, damage_check, erase, index_snapshot, os, schema};

/// Prepares a backup to become the database (migrated, without erased memories, with a sequence
/// number that was never used) and commits it. `finish_restore` completes the replacement.
pub(crate) fn stage_backup(
    state: &DatabaseState,
    backup: &Path,
    now: Timestamp,
) -> Result<BackupContents, Error> {
    let contents = backup::verify_backup(state, backup)?;
    let staging = state.paths.staging_database();
    // An interrupted earlier attempt may have left a staging file.
    backup::remove_leftovers(&state.paths)?;
    os::private_copy(backup, &staging).map_err(|it| Error::from_io(&staging, &it))?;
    {
        let db = open_file(&staging, state.key.as_ref(), FileAccess::ReadWrite)?;
        db.query_pragma("PRAGMA journal_mode = MEMORY")?;
        schema::run_migrations(&db, state.schema)?;
        db.transaction(|db| {
            erase::apply_ledger(db, &state.paths, now)?;
            // The mark and the backups may have seen higher numbers than the backup holds.
            let seq =
                db.select_number(&SELECT_META, &[&"seq"])?.max(highest_known_seq(&state.paths)?)
                    + 1;
            db.execute(&UPDATE_META, &[&"seq", &seq])?;
            // The user chose this backup, so losses recorded in it need no report any more.
            damage_check::acknowledge_losses(db, now)
        })?;
    }
    commit_staged(state)?;
    Ok(contents)
}

/// Commits the replacement by renaming the prepared database. A crash before leaves the old
/// database; after it, the next process that opens the database finishes.
pub(crate) fn commit_staged(state: &DatabaseState) -> Result<(), Error> {
    let (staging, staged) = (state.paths.staging_database(), state.paths.staged_database());
    let io = |it: std::io::Error| Error::from_io(&staging, &it);
    {
        let db = open_file(&staging, state.key.as_ref(), FileAccess::ReadWrite)?;
        db.query_pragma("PRAGMA journal_mode = WAL")?;
        truncate_log(&db)?;
    }
    // The rename below must never become durable before the bytes.
    os::sync_file(&staging).map_err(io)?;
    fs::rename(&staging, &staged).map_err(io)?;
    os::sync_dir(&state.paths.dir).map_err(io)?;
    backup::remove_leftovers(&state.paths)
}

/// Moves a committed database to its place and the old files aside. Safe to repeat after a crash.
pub(crate) fn finish_restore(paths: &DatabasePaths) -> Result<(), Error> {
    let (staged, target, replaced) =
        (paths.staged_database(), paths.database(), paths.replaced_folder());
    if !staged.exists() {
        return Ok(());
    }
    let io = |it: std::io::Error| Error::from_io(&target, &it);
    let _guard = OpenGuard::acquire(paths)?;
    if target.exists() {
        // The old database is still in place, so the replaced folder holds files of an earlier
        // restore. After a crash in the loop below the old database is already in that folder, no
        // longer at `target`, and the folder must be kept.
        erase::discard_replaced(paths)?;
    }
    os::private_dir(&replaced).map_err(io)?;
    // The snapshot belongs to the old database.
    index_snapshot::remove_snapshot(paths)?;
    // The old log must be gone before the new file gets its name: SQLite would apply it to the new
    // file.
    for old in [target.clone(), paths.wal(), paths.shm()] {
        let name = old.file_name().expect("database files have names").to_owned();
        match fs::rename(&old, replaced.join(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(io(error)),
            // Moved now or before a crash, or there was no such file.
            _ => {}
        }
    }
    os::sync_dir(&paths.dir).map_err(io)?;
    fs::rename(&staged, &target).map_err(io)?;
    os::sync_dir(&paths.dir).map_err(io)
}

/// Merges the log into the database file and truncates it.
pub(crate) fn truncate_log(db: &Db) -> Result<(), Error> {
    let busy = db.query_pragma("PRAGMA wal_checkpoint(TRUNCATE)")?;
    if busy == "0" {
        return Ok(());
    }
    Err(Error::Internal {
        what: "another process is reading; the log could not be emptied yet".to_owned(),
    })
}

/// Highest sequence number that the mark or a backup knows of.
fn highest_known_seq(paths: &DatabasePaths) -> Result<i64, Error> {
    let marked = match HighWaterMark::read(&paths.mark_file())? {
        MarkState::Valid(mark) => i64::try_from(mark.seq).unwrap_or(i64::MAX),
        MarkState::Absent | MarkState::Unreadable => 0,
    };
    let backed_up = backup::list_backups(paths).iter().filter_map(backup::BackupFile::seq).max();
    Ok(marked.max(backed_up.unwrap_or(0)))
}
