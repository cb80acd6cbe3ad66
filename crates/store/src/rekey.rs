//! Encrypts, decrypts or re-keys a database and its backups.
//!
//! The "form" of a file is plain text or the key that encrypts it. The converted copy is checked
//! before it replaces the original, by the same steps as a restore: it is prepared in the staging
//! file, committed, and moved into place (see `restore`). A marker file beside the database
//! (extension `converting`) stays until nothing is left in the old form; the next process that
//! opens the database finishes an interrupted change.

use std::path::Path;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use crate::connection::{FileAccess, is_plain, open_file, open_writer};
use crate::database_state::DatabaseState;
use crate::encryption_key::{self, EncryptionKey};
use crate::query::Db;
use crate::{Error, backup, erase, index_snapshot, os, restore};

/// Changes the key of a database, or removes it. The caller holds the write lock.
pub(crate) fn change_key(state: &DatabaseState, to: Option<EncryptionKey>) -> Result<(), Error> {
    if to.is_some() && !encryption_key::ENCRYPTION_AVAILABLE {
        return Err(Error::EncryptionUnavailable);
    }
    let paths = &state.paths;
    let db = open_writer(state)?;
    let marker = paths.with_extension("converting");
    os::private_file(&marker)
        .and_then(|()| os::sync_dir(&paths.dir))
        .map_err(|it| Error::from_io(&marker, &it))?;
    // From here on, an interrupted change is finished by the next opening.
    let converted = state.with_key(to);
    copy_database(&db, &paths.staging_database(), &converted)?;
    drop(db);
    restore::commit_staged(&converted)?;
    // `finish_restore` moves the database in its old form to where an earlier replaced one may lie.
    // Both are deleted.
    if let Some(replaced) = backup::find_replaced(paths) {
        state.record_dropped_copy(&replaced.path);
    }
    restore::finish_restore(paths)?;
    rekey_copies(&converted, &[None, state.key.clone()])
}

/// Finishes an interrupted key change, towards the form the database has now.
pub(crate) fn resume_rekey(state: &DatabaseState, db: &Db) -> Result<(), Error> {
    if !state.paths.with_extension("converting").exists() {
        return Ok(());
    }
    // The crash came before or after the converted database took its place. The form that the
    // database has now decides whether the backups are converted or converted back.
    let converted = state.with_key(state.key.clone().filter(|_| db.is_encrypted));
    rekey_copies(&converted, &[None, state.key.clone()])?;
    // All backups may have been dropped because no known key opened them.
    if backup::list_backups(&state.paths).is_empty() {
        backup::make_backup(&converted, db, state.now)?;
    }
    Ok(())
}

/// Brings the backups into the form of the database and removes everything still in another form.
fn rekey_copies(state: &DatabaseState, old_keys: &[Option<EncryptionKey>]) -> Result<(), Error> {
    let paths = &state.paths;
    // Still in the old form, and easily made again.
    index_snapshot::remove_snapshot(paths)?;
    for old in backup::list_backups(paths) {
        // After a crash some backups are converted already. Whether a file is plain is tested
        // first: a plain file also opens with a key set.
        let is_done = is_plain(&old.path) == state.key.is_none()
            && backup::verify_backup(state, &old.path).is_ok();
        if !is_done {
            rekey_backup(state, &old.path, old_keys)?;
        }
    }
    backup::remove_leftovers(paths)?;
    erase::discard_replaced(paths)?;
    let marker = paths.with_extension("converting");
    os::remove_file_if_exists(&marker)
        .and_then(|()| os::sync_dir(&paths.dir))
        .map_err(|it| Error::from_io(&marker, &it))
}

/// Converts one backup. A damaged backup, or one that none of the keys opens, cannot be converted
/// and is deleted.
fn rekey_backup(
    state: &DatabaseState,
    path: &Path,
    old_keys: &[Option<EncryptionKey>],
) -> Result<(), Error> {
    for key in old_keys {
        let before = state.with_key(key.clone());
        if backup::verify_backup(&before, path).is_err() {
            // Damaged, or another of the keys opens it.
            continue;
        }
        let scratch = backup::scratch_path(path);
        copy_database(
            &open_file(path, before.key.as_ref(), FileAccess::ReadOnly)?,
            &scratch,
            state,
        )?;
        return backup::put_backup(&scratch, path);
    }
    backup::remove_backup(path)?;
    state.record_dropped_copy(path);
    Ok(())
}

/// Copies `db` with the key of `state`, and checks that the copy holds the same.
fn copy_database(db: &Db, path: &Path, state: &DatabaseState) -> Result<(), Error> {
    let io = |it: std::io::Error| Error::from_io(path, &it);
    os::remove_file_if_exists(path).and_then(|()| os::private_file(path)).map_err(io)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let failed = |it: rusqlite::Error| Error::from_database(path, &it);
    let conn = Connection::open_with_flags(path, flags).map_err(failed)?;
    let mut target = Db::new(conn, path, None);
    if let Some(key) = &state.key {
        // The key comes before the copy: without one, the target would be plain text.
        encryption_key::unlock_connection(&target, key)?;
    }
    let step =
        Backup::new(&db.conn, &mut target.conn).and_then(|it| it.step(-1)).map_err(failed)?;
    if step != StepResult::Done {
        return Err(Error::Internal { what: format!("copying the database stopped: {step:?}") });
    }
    // The copy inherits WAL mode, which is of no use to a file that is opened by itself.
    target.query_pragma("PRAGMA journal_mode = DELETE")?;
    drop(target);
    os::sync_file(path).map_err(io)?;
    let expected = backup::read_contents(db)?;
    let found = backup::check_contents(state, path)?;
    if found == expected && is_plain(path) == state.key.is_none() {
        return Ok(());
    }
    Err(Error::Damaged { path: path.to_owned(), what: "the converted copy is not the same".into() })
}
