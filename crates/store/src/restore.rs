//! Replaces the database by another one. A crash at any point leaves one of the two complete.
//!
//! It takes three steps. `stage_backup` prepares a copy under a name that is discarded after a
//! crash. `commit_staged` renames it, which commits the replacement. `finish_restore` moves the old
//! files aside and the new one to its place; the next opening repeats it after a crash. A key
//! change uses the last two steps as well.

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
use crate::{Error, damage_check, erase, os, schema};

/// Prepares a backup to become the database: migrated, without erased memories, with a sequence
/// number that was never used.
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
        // The old database is still in place, so what the folder holds is from an earlier restore.
        // After a crash in the loop below the target is gone, and the folder must be kept.
        erase::discard_replaced(paths)?;
    }
    os::private_dir(&replaced).map_err(io)?;
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
