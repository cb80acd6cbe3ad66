//! Backups: made online, believed only after they were opened and checked, restored without a gap.

use std::fs;
use std::path::{Path, PathBuf};

use model::Timestamp;

use crate::apply::{META, SET_META};
use crate::check;
use crate::connection::{is_plain, open_file};
use crate::key::Key;
use crate::layout::Home;
use crate::mark::{Mark, Reading};
use crate::query::Db;
use crate::{Error, erase, memories, os};

/// How many backups are kept; the oldest goes when a new one has proved good.
pub const KEPT: usize = 3;

/// One backup file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    pub name: String,
    pub path: PathBuf,
    pub bytes: u64,
}

/// What a backup holds, learned by opening it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    pub memories: i64,
    pub seq: i64,
}

/// The backups of a database, newest first. The name begins with the sequence, not the clock's word.
pub(crate) fn list(home: &Home) -> Vec<Backup> {
    let entries = fs::read_dir(home.backups()).into_iter().flatten().flatten();
    let mut res: Vec<Backup> = entries
        .filter_map(|it| {
            let name = it.file_name().into_string().ok()?;
            let bytes = it.metadata().ok()?.len();
            name.ends_with(".db").then_some(Backup { name, path: it.path(), bytes })
        })
        .filter(|it| !it.name.starts_with('.'))
        .collect();
    res.sort_by(|a, b| b.name.cmp(&a.name));
    res
}

/// Makes a backup, checks it, and lets the oldest go. Runs outside a transaction, under the lock.
pub(crate) fn make(
    db: &Db,
    home: &Home,
    key: Option<&Key>,
    now: Timestamp,
) -> Result<Backup, Error> {
    let seq = db.number(&META, &[&"seq"])?;
    let stamp = now.minute().replace([' ', ':'], "-");
    let res = write(db, home, key, &format!("{seq:012}-{stamp}.db"))?;
    for old in list(home).into_iter().skip(KEPT) {
        remove(&old.path)?;
    }
    Ok(res)
}

/// Called with the old schema still in place, so its contents cannot be examined as the new one.
pub(crate) fn before_migration(db: &Db, home: &Home, version: i64) -> Result<(), Error> {
    let dir = home.backups();
    os::private_dir(&dir).map_err(|it| Error::io(&dir, &it))?;
    let path = dir.join(format!("schema-{version}.db"));
    if path.exists() {
        remove(&path)?;
    }
    copy_into(db, &path)?;
    seal(&path)
}

/// Checks that a backup is whole: its bytes as they were sealed, its rows as they were saved.
pub(crate) fn verify(path: &Path, key: Option<&Key>) -> Result<Contents, Error> {
    let damaged = |what: &str| Error::Damaged { path: path.to_owned(), what: what.to_owned() };
    let sealed =
        fs::read_to_string(seal_of(path)).map_err(|_| damaged("its checksum is missing"))?;
    if sealed.trim() != checksum(path)? {
        return Err(damaged("its checksum does not match"));
    }
    contents(path, key)
}

fn contents(path: &Path, key: Option<&Key>) -> Result<Contents, Error> {
    let db = open_file(path, key.filter(|_| !is_plain(path)), false)?;
    if let Some(finding) = check::examine(&db)?.into_iter().next() {
        return Err(Error::Damaged { path: path.to_owned(), what: format!("{finding:?}") });
    }
    Ok(Contents { memories: memories::total(&db)?, seq: db.number(&META, &[&"seq"])? })
}

fn write(db: &Db, home: &Home, key: Option<&Key>, name: &str) -> Result<Backup, Error> {
    let dir = home.backups();
    os::private_dir(&dir).map_err(|it| Error::io(&dir, &it))?;
    sweep(&dir)?;
    let (unproved, path) = (dir.join(format!(".unproved-{name}")), dir.join(name));
    copy_into(db, &unproved)?;
    if let Err(error) = contents(&unproved, key) {
        remove(&unproved)?;
        return Err(error);
    }
    let io = |it: std::io::Error| Error::io(&path, &it);
    seal(&unproved)?;
    fs::rename(seal_of(&unproved), seal_of(&path)).map_err(io)?;
    fs::rename(&unproved, &path).map_err(io)?;
    os::sync_dir(&dir).map_err(io)?;
    let bytes = fs::metadata(&path).map_err(io)?.len();
    Ok(Backup { name: name.to_owned(), path, bytes })
}

/// Removes what an interrupted backup left behind.
fn sweep(dir: &Path) -> Result<(), Error> {
    for entry in fs::read_dir(dir).map_err(|it| Error::io(dir, &it))?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(".unproved-") {
            fs::remove_file(entry.path()).map_err(|it| Error::io(&entry.path(), &it))?;
        }
    }
    Ok(())
}

/// A consistent, compact copy of the open database; keeps its encryption.
pub(crate) fn copy_into(db: &Db, path: &Path) -> Result<(), Error> {
    let io = |it: std::io::Error| Error::io(path, &it);
    os::private_file(path).map_err(io)?;
    let quoted = path.display().to_string().replace('\'', "''");
    if let Err(error) = db.batch(&format!("VACUUM INTO '{quoted}'")) {
        remove(path)?;
        return Err(error);
    }
    fs::File::open(path).and_then(|it| it.sync_all()).map_err(io)
}

fn seal(path: &Path) -> Result<(), Error> {
    let target = seal_of(path);
    let io = |it: std::io::Error| Error::io(&target, &it);
    os::private_file(&target).map_err(io)?;
    fs::write(&target, checksum(path)?).map_err(io)?;
    fs::File::open(&target).and_then(|it| it.sync_all()).map_err(io)
}

fn seal_of(path: &Path) -> PathBuf {
    path.with_extension("blake3")
}

fn checksum(path: &Path) -> Result<String, Error> {
    let mut hasher = blake3::Hasher::new();
    let mut file = fs::File::open(path).map_err(|it| Error::io(path, &it))?;
    std::io::copy(&mut file, &mut hasher).map_err(|it| Error::io(path, &it))?;
    Ok(hasher.finalize().to_hex().to_string())
}

/// Removes a backup with its seal; what is already gone is fine.
pub(crate) fn remove(path: &Path) -> Result<(), Error> {
    for target in [path.to_owned(), seal_of(path)] {
        match fs::remove_file(&target) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io(&target, &error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Replaces a backup by a version of itself from which something was removed.
pub(crate) fn rewrite(
    path: &Path,
    key: Option<&Key>,
    change: impl FnOnce(&Db) -> Result<bool, Error>,
) -> Result<(), Error> {
    let io = |it: std::io::Error| Error::io(path, &it);
    let scratch = path.with_extension("rewriting");
    fs::copy(path, &scratch).map_err(io)?;
    let changed = {
        let db = open_file(&scratch, key, true)?;
        // The scratch copy is thrown away when anything fails: no journal need outlive this.
        db.pragma("PRAGMA journal_mode = MEMORY")?;
        change(&db)?
    };
    if !changed {
        return fs::remove_file(&scratch).map_err(io);
    }
    fs::File::open(&scratch).and_then(|it| it.sync_all()).map_err(io)?;
    contents(&scratch, key)?;
    fs::rename(&scratch, path).map_err(io)?;
    seal(path)
}

/// Prepares a verified backup to become the database: erased memories stay erased, and the
/// sequence goes on where it had got. From the final rename on, the restore is decided.
pub(crate) fn stage_restore(
    home: &Home,
    backup: &Path,
    key: Option<&Key>,
    now: Timestamp,
) -> Result<Contents, Error> {
    let contents = verify(backup, key)?;
    let (staging, staged) = (home.beside("restoring"), home.beside("restored"));
    let io = |it: std::io::Error| Error::io(&staging, &it);
    os::private_file(&staging).map_err(io)?;
    fs::copy(backup, &staging).map_err(io)?;
    {
        let db = open_file(&staging, key, true)?;
        db.pragma("PRAGMA journal_mode = MEMORY")?;
        erase::apply_ledger(&db, home, now)?;
        let reached = match Mark::read(&home.beside("mark"))? {
            Reading::Mark(mark) => i64::try_from(mark.seq).unwrap_or(i64::MAX),
            Reading::Absent | Reading::Unreadable => 0,
        };
        let seq = db.number(&META, &[&"seq"])?.max(reached) + 1;
        db.run(&SET_META, &[&"seq", &seq])?;
        check::take_note(&db, now)?;
        db.pragma("PRAGMA journal_mode = WAL")?;
    }
    fs::File::open(&staging).and_then(|it| it.sync_all()).map_err(io)?;
    fs::rename(&staging, &staged).map_err(io)?;
    os::sync_dir(&home.dir).map_err(io)?;
    Ok(contents)
}

/// Puts a staged restore in place; the old files are kept aside. Runs again after a crash.
pub(crate) fn finish_interrupted_restore(home: &Home) -> Result<(), Error> {
    let (staged, target) = (home.beside("restored"), home.database());
    if !staged.exists() {
        return Ok(());
    }
    let aside = home.dir.join("replaced");
    let io = |it: std::io::Error| Error::io(&target, &it);
    os::private_dir(&aside).map_err(io)?;
    for old in [target.clone(), home.wal(), home.shm()] {
        let name = old.file_name().expect("database files have names").to_owned();
        match fs::rename(&old, aside.join(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(io(error)),
            _ => {}
        }
    }
    fs::rename(&staged, &target).map_err(io)?;
    os::sync_dir(&home.dir).map_err(io)
}
