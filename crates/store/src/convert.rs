//! Encrypting, decrypting or re-keying what exists, backups included.
//!
//! The converted copy is proved before it takes the place of the original, by the same steps as a
//! restore. A note beside the database says that the work is not done until nothing is left in the
//! old form; whoever opens the database next finishes it.

use std::path::Path;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use crate::connection::{is_plain, open_file, open_writer};
use crate::key::{self, Key};
use crate::query::Db;
use crate::site::Site;
use crate::{Error, backup, erase, os, restore};

/// Converts the database of `site` to another key, or none. The caller holds the write lock.
pub(crate) fn convert(site: &Site, to: Option<Key>) -> Result<(), Error> {
    if to.is_some() && !key::AVAILABLE {
        return Err(Error::NoEncryption);
    }
    let home = &site.home;
    let db = open_writer(site)?;
    let note = home.beside("converting");
    os::private_file(&note)
        .and_then(|()| os::sync_dir(&home.dir))
        .map_err(|it| Error::io(&note, &it))?;
    let converted = site.with_key(to);
    copy(&db, &home.staging(), &converted)?;
    drop(db);
    restore::decide(&converted)?;
    // What an earlier restore set aside makes room for the database in its old form, and goes with it.
    if let Some(aside) = backup::replaced(home) {
        site.note_dropped(&aside.path);
    }
    restore::finish(home)?;
    finish(&converted, &[None, site.key.clone()])
}

/// Finishes a conversion that was interrupted, in the form the database has now.
pub(crate) fn resume(site: &Site, db: &Db) -> Result<(), Error> {
    if !site.home.beside("converting").exists() {
        return Ok(());
    }
    let converted = site.with_key(site.key.clone().filter(|_| db.is_encrypted));
    finish(&converted, &[None, site.key.clone()])?;
    if backup::list(&site.home).is_empty() {
        backup::make(&converted, db, site.now)?;
    }
    Ok(())
}

/// Brings the backups into the form of the database and removes whatever is still in another.
fn finish(site: &Site, old_keys: &[Option<Key>]) -> Result<(), Error> {
    let home = &site.home;
    for old in backup::list(home) {
        let is_done =
            is_plain(&old.path) == site.key.is_none() && backup::verify(site, &old.path).is_ok();
        if !is_done {
            convert_backup(site, &old.path, old_keys)?;
        }
    }
    backup::sweep(home)?;
    erase::discard_replaced(home)?;
    let note = home.beside("converting");
    os::remove(&note).and_then(|()| os::sync_dir(&home.dir)).map_err(|it| Error::io(&note, &it))
}

/// A backup that none of the keys opens, or that is damaged, cannot be converted: it goes.
fn convert_backup(site: &Site, path: &Path, old_keys: &[Option<Key>]) -> Result<(), Error> {
    for key in old_keys {
        let before = site.with_key(key.clone());
        if backup::verify(&before, path).is_err() {
            continue;
        }
        let scratch = backup::scratch(path);
        copy(&open_file(path, before.key.as_ref(), false)?, &scratch, site)?;
        return backup::put(&scratch, path);
    }
    backup::remove(path)?;
    site.note_dropped(path);
    Ok(())
}

/// A copy of `db` in the form of `site`, proved to hold the same.
fn copy(db: &Db, path: &Path, site: &Site) -> Result<(), Error> {
    let io = |it: std::io::Error| Error::io(path, &it);
    os::remove(path).and_then(|()| os::private_file(path)).map_err(io)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let failed = |it: rusqlite::Error| Error::database(path, &it);
    let conn = Connection::open_with_flags(path, flags).map_err(failed)?;
    let mut target = Db::new(conn, path, None);
    if let Some(key) = &site.key {
        // Before anything is copied: into a target without a key, the copy would be plain text.
        key::unlock(&target, key)?;
    }
    let step =
        Backup::new(&db.conn, &mut target.conn).and_then(|it| it.step(-1)).map_err(failed)?;
    if step != StepResult::Done {
        return Err(Error::Engine { what: format!("copying the database stopped: {step:?}") });
    }
    // The copy comes with the original's way of logging, which a file by itself has no use for.
    target.pragma("PRAGMA journal_mode = DELETE")?;
    drop(target);
    os::sync_file(path).map_err(io)?;
    let expected = backup::outline(db)?;
    let found = backup::contents(site, path)?;
    if found == expected && is_plain(path) == site.key.is_none() {
        return Ok(());
    }
    Err(Error::Damaged { path: path.to_owned(), what: "the converted copy is not the same".into() })
}
