//! Putting another database in the place of this one, so that a crash at any point leaves one of the two.

use std::fs;
use std::path::Path;

use model::Timestamp;

use crate::backup::{self, Contents};
use crate::connection::open_file;
use crate::layout::Home;
use crate::lock::Door;
use crate::mark::{Mark, Reading};
use crate::query::Db;
use crate::site::Site;
use crate::stamp::{META, SET_META};
use crate::{Error, check, erase, os, schema};

/// Prepares a verified backup to become the database: erased memories stay erased, and the
/// sequence goes on where it had got.
pub(crate) fn stage(site: &Site, backup: &Path, now: Timestamp) -> Result<Contents, Error> {
    let contents = backup::verify(site, backup)?;
    let staging = site.home.staging();
    backup::sweep(&site.home)?;
    os::private_copy(backup, &staging).map_err(|it| Error::io(&staging, &it))?;
    {
        let db = open_file(&staging, site.key.as_ref(), true)?;
        db.pragma("PRAGMA journal_mode = MEMORY")?;
        schema::upgrade(&db, site.schema)?;
        db.transaction(|db| {
            erase::apply_ledger(db, &site.home, now)?;
            let seq = db.number(&META, &[&"seq"])?.max(reached(&site.home)?) + 1;
            db.run(&SET_META, &[&"seq", &seq])?;
            check::take_note(db, now)
        })?;
    }
    decide(site)?;
    Ok(contents)
}

/// Declares the staged database the one to come. Before, a crash leaves the old one in place;
/// after, whoever opens next finishes.
pub(crate) fn decide(site: &Site) -> Result<(), Error> {
    let (staging, staged) = (site.home.staging(), site.home.staged());
    let io = |it: std::io::Error| Error::io(&staging, &it);
    {
        let db = open_file(&staging, site.key.as_ref(), true)?;
        db.pragma("PRAGMA journal_mode = WAL")?;
        empty_log(&db)?;
    }
    os::sync_file(&staging).map_err(io)?;
    fs::rename(&staging, &staged).map_err(io)?;
    os::sync_dir(&site.home.dir).map_err(io)?;
    backup::sweep(&site.home)
}

/// Puts a staged database in place; the old files are kept aside. Runs again after a crash.
/// The old log must be gone before the new file has its name: it would be applied to it.
pub(crate) fn finish(home: &Home) -> Result<(), Error> {
    let (staged, target, aside) = (home.staged(), home.database(), home.replaced());
    if !staged.exists() {
        return Ok(());
    }
    let io = |it: std::io::Error| Error::io(&target, &it);
    let _door = Door::pass(home)?;
    if target.exists() {
        // What lies there is from an earlier restore, not from an interrupted run of this one.
        erase::discard_replaced(home)?;
    }
    os::private_dir(&aside).map_err(io)?;
    for old in [target.clone(), home.wal(), home.shm()] {
        let name = old.file_name().expect("database files have names").to_owned();
        match fs::rename(&old, aside.join(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(io(error)),
            _ => {}
        }
    }
    os::sync_dir(&home.dir).map_err(io)?;
    fs::rename(&staged, &target).map_err(io)?;
    os::sync_dir(&home.dir).map_err(io)
}

/// Merges the log of a database into its file and empties it.
pub(crate) fn empty_log(db: &Db) -> Result<(), Error> {
    let busy = db.pragma("PRAGMA wal_checkpoint(TRUNCATE)")?;
    if busy == "0" {
        return Ok(());
    }
    Err(Error::Engine {
        what: "another process is reading; the log could not be emptied yet".to_owned(),
    })
}

/// The highest number that was ever given out, as far as anything outside the database knows.
fn reached(home: &Home) -> Result<i64, Error> {
    let marked = match Mark::read(&home.mark())? {
        Reading::Mark(mark) => i64::try_from(mark.seq).unwrap_or(i64::MAX),
        Reading::Absent | Reading::Unreadable => 0,
    };
    let backed_up = backup::list(home).iter().filter_map(backup::Backup::seq).max();
    Ok(marked.max(backed_up.unwrap_or(0)))
}
