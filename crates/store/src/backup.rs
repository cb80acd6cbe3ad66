//! Backups: made online, believed only after they were opened and checked.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use model::Timestamp;
use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};

use crate::connection::open_file;
use crate::layout::Home;
use crate::query::Db;
use crate::schema;
use crate::site::Site;
use crate::stamp::META;
use crate::{Error, check, memories, os, restore};

/// How many backups are kept; the oldest goes when a new one has proved good.
pub const KEPT: usize = 3;

/// How the name of a backup begins that was made before a migration. Those stay until they are
/// erased: they are the only way back to an older program.
const BEFORE_MIGRATION: &str = "schema-";
/// What is found under these names was left behind by something that was interrupted.
const UNPROVED: &str = ".unproved-";
const REWRITING: &str = "rewriting";
const SEALING: &str = "sealing";

/// One backup file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    pub name: String,
    pub path: PathBuf,
    pub bytes: u64,
    /// When it was made, as its name says it; unknown for one made before a migration, and for what
    /// a restore set aside.
    pub made: Option<Timestamp>,
}

/// What a backup holds, learned by opening it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    pub memories: i64,
    pub seq: i64,
}

impl Backup {
    fn new(name: String, path: PathBuf, bytes: u64) -> Self {
        let made = made(&name);
        Self { name, path, bytes, made }
    }

    fn is_before_migration(&self) -> bool {
        self.name.starts_with(BEFORE_MIGRATION)
    }

    /// How far the database had got, as the name says it.
    pub(crate) fn seq(&self) -> Option<i64> {
        self.name.split('-').next()?.parse().ok()
    }
}

/// The backups of a database, newest first and those made before a migration last. The name begins
/// with the sequence, not with the clock's word.
pub(crate) fn list(home: &Home) -> Vec<Backup> {
    let entries = fs::read_dir(home.backups()).into_iter().flatten().flatten();
    let mut res: Vec<Backup> = entries
        .filter_map(|it| {
            let name = it.file_name().into_string().ok()?;
            let ours = it.path().extension() == Some(OsStr::new("db")) && !name.starts_with('.');
            let bytes = it.metadata().ok()?.len();
            ours.then_some(Backup::new(name, it.path(), bytes))
        })
        .collect();
    res.sort_by(|a, b| (a.is_before_migration(), &b.name).cmp(&(b.is_before_migration(), &a.name)));
    res
}

/// The database that a restore set aside, when there is one. It has no seal: it was in use, and
/// may have been what was damaged.
pub(crate) fn replaced(home: &Home) -> Option<Backup> {
    let file = home.database().file_name()?.to_owned();
    let path = home.replaced().join(&file);
    let bytes = fs::metadata(&path).ok()?.len();
    Some(Backup::new(format!("replaced/{}", file.to_str()?), path, bytes))
}

/// Whether this is the database that a restore set aside, and so has no seal.
fn is_aside(site: &Site, path: &Path) -> bool {
    path.parent() == Some(&site.home.replaced())
}

/// Merges the log that lies beside a database that was set aside, so that the file alone holds
/// everything. Handles from before the restore may still be open, so it stays a file with a log.
pub(crate) fn close(site: &Site, path: &Path) -> Result<(), Error> {
    let db = open_file(path, site.key.as_ref(), true)?;
    schema::version(&db, site.schema)?;
    if db.pragma("PRAGMA journal_mode")? == "wal" {
        restore::empty_log(&db)?;
    }
    Ok(())
}

/// The moment in a name such as `000000000007-2026-11-15-00-00.db`, to the minute.
fn made(name: &str) -> Option<Timestamp> {
    let (_, moment) = name.strip_suffix(".db")?.split_once('-')?;
    let parts: Vec<i64> = moment.split('-').map(|it| it.parse().ok()).collect::<Option<_>>()?;
    let [year, month, day, hour, minute] = parts[..] else { return None };
    if !(0..10_000).contains(&year) || [month, day, hour, minute].iter().any(|it| *it > 99) {
        return None;
    }
    let res = Timestamp::of_day(year, month, day).plus((hour * 60 + minute) * 60_000);
    // A name that was not made of a moment does not become one.
    (stamp(res) == moment).then_some(res)
}

/// A moment as it stands in a name.
fn stamp(moment: Timestamp) -> String {
    moment.minute().replace([' ', ':'], "-")
}

/// Makes a backup, checks it, and lets the oldest go. Runs outside a transaction, under the lock.
pub(crate) fn make(site: &Site, db: &Db, now: Timestamp) -> Result<Backup, Error> {
    let seq = db.number(&META, &[&"seq"])?;
    let res = write(site, db, &format!("{seq:012}-{}.db", stamp(now)))?;
    for old in list(&site.home).iter().filter(|it| !it.is_before_migration()).skip(KEPT) {
        remove(&old.path)?;
    }
    Ok(res)
}

/// Made with the old schema still in place, of which only the structure can be checked.
pub(crate) fn before_migration(site: &Site, db: &Db, version: i64) -> Result<(), Error> {
    write(site, db, &format!("{BEFORE_MIGRATION}{version}.db")).map(|_| ())
}

/// Checks that a backup is whole: its bytes as they were sealed, its rows as they were saved.
pub(crate) fn verify(site: &Site, path: &Path) -> Result<Contents, Error> {
    if is_aside(site, path) {
        close(site, path)?;
        return contents(site, path);
    }
    let damaged = |what: &str| Error::Damaged { path: path.to_owned(), what: what.to_owned() };
    let sealed =
        fs::read_to_string(seal_of(path)).map_err(|_| damaged("its checksum is missing"))?;
    let found = checksum(path)?;
    if !sealed.lines().any(|it| it == found) {
        return Err(damaged("its checksum does not match"));
    }
    contents(site, path)
}

/// What a file holds that passes every check a file can pass by itself.
pub(crate) fn contents(site: &Site, path: &Path) -> Result<Contents, Error> {
    let db = open_file(path, site.key.as_ref(), false)?;
    let damaged = |what: String| Error::Damaged { path: path.to_owned(), what };
    if schema::version(&db, site.schema)? == site.schema.version() {
        if let Some(finding) = check::examine(&db, site.schema)?.into_iter().next() {
            return Err(damaged(finding.to_string()));
        }
    } else if let Some(wrong) = check::integrity(&db)?.into_iter().next() {
        return Err(damaged(wrong));
    }
    outline(&db)
}

/// What an open database holds.
pub(crate) fn outline(db: &Db) -> Result<Contents, Error> {
    Ok(Contents { memories: memories::total(db)?, seq: db.number(&META, &[&"seq"])? })
}

/// Whether a name in the folder of backups is one that is given here.
pub(crate) fn is_ours(name: &str) -> bool {
    let name = name.strip_prefix(UNPROVED).unwrap_or(name);
    let Some((stem, rest)) = name.split_once('.') else { return false };
    let is_numbered = stem
        .split_once('-')
        .is_some_and(|(seq, _)| seq.len() >= 12 && seq.bytes().all(|it| it.is_ascii_digit()));
    let is_schema = stem
        .strip_prefix(BEFORE_MIGRATION)
        .is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()));
    (is_numbered || is_schema)
        && ["db", "blake3", REWRITING, SEALING].iter().any(|it| is_file_of(rest, it))
}

/// Whether a name among what a restore set aside is one that is given there.
pub(crate) fn is_set_aside(database: &Path, name: &str) -> bool {
    let names = [database.to_owned(), scratch(database)];
    names.iter().filter_map(|it| it.file_name()?.to_str()).any(|it| is_file_of(name, it))
}

/// Whether this is the name of a database file, or of what the database keeps beside it.
fn is_file_of(name: &str, file: &str) -> bool {
    name.strip_prefix(file).is_some_and(|it| ["", "-wal", "-shm", "-journal"].contains(&it))
}

/// Where the next form of a backup is prepared.
pub(crate) fn scratch(path: &Path) -> PathBuf {
    path.with_extension(REWRITING)
}

fn write(site: &Site, db: &Db, name: &str) -> Result<Backup, Error> {
    let dir = site.home.backups();
    os::private_dir(&dir).map_err(|it| Error::io(&dir, &it))?;
    let (unproved, path) = (dir.join(format!("{UNPROVED}{name}")), dir.join(name));
    let proved = copy_into(db, &unproved).and_then(|()| contents(site, &unproved));
    if let Err(error) = proved {
        remove(&unproved)?;
        return Err(error);
    }
    put(&unproved, &path)?;
    let bytes = fs::metadata(&path).map_err(|it| Error::io(&path, &it))?.len();
    Ok(Backup::new(name.to_owned(), path, bytes))
}

/// A consistent, compact copy of the open database; keeps its encryption.
fn copy_into(db: &Db, path: &Path) -> Result<(), Error> {
    let io = |it: std::io::Error| Error::io(path, &it);
    os::remove(path).and_then(|()| os::private_file(path)).map_err(io)?;
    let target = ToSqlOutput::Borrowed(ValueRef::Text(os::path_bytes(path)));
    let params: [&dyn ToSql; 1] = [&target];
    db.conn.execute("VACUUM INTO ?1", params).map_err(|it| Error::database(path, &it))?;
    os::sync_file(path).map_err(io)
}

/// Gives a cleaned file the place of the one that was set aside. What lies beside that one is of no
/// use to it: its log is empty by now.
fn put_aside(cleaned: &Path, path: &Path) -> Result<(), Error> {
    let io = |it: std::io::Error| Error::io(path, &it);
    fs::rename(cleaned, path).map_err(io)?;
    for beside in ["db-wal", "db-shm"] {
        os::remove(&path.with_extension(beside)).map_err(io)?;
    }
    sync_folder(path)
}

/// Gives a proved file its name and its seal. The seal is good for what was there and for what
/// comes, until the name has changed hands: a crash in between leaves a good backup either way.
pub(crate) fn put(proved: &Path, path: &Path) -> Result<(), Error> {
    let io = |it: std::io::Error| Error::io(path, &it);
    let new = checksum(proved)?;
    let old = fs::read_to_string(seal_of(path)).unwrap_or_default();
    seal(path, &format!("{}\n{new}\n", old.trim_end()))?;
    fs::rename(proved, path).map_err(io)?;
    sync_folder(path)?;
    seal(path, &format!("{new}\n"))
}

fn seal(path: &Path, text: &str) -> Result<(), Error> {
    let (target, scratch) = (seal_of(path), path.with_extension(SEALING));
    let io = |it: std::io::Error| Error::io(&target, &it);
    os::private_file(&scratch).map_err(io)?;
    fs::write(&scratch, text).and_then(|()| os::sync_file(&scratch)).map_err(io)?;
    fs::rename(&scratch, &target).map_err(io)?;
    sync_folder(&target)
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

fn sync_folder(path: &Path) -> Result<(), Error> {
    let dir = path.parent().unwrap_or(path);
    os::sync_dir(dir).map_err(|it| Error::io(dir, &it))
}

/// Removes a backup with its seal; what is already gone is fine.
pub(crate) fn remove(path: &Path) -> Result<(), Error> {
    for target in [path.to_owned(), seal_of(path)] {
        os::remove(&target).map_err(|it| Error::io(&target, &it))?;
    }
    Ok(())
}

/// Replaces a backup by a version of itself from which `change` removed something; says `false`
/// when there was nothing to remove.
pub(crate) fn rewrite(
    site: &Site,
    path: &Path,
    change: impl FnOnce(&Db) -> Result<bool, Error>,
) -> Result<bool, Error> {
    let scratch = scratch(path);
    let res = (|| {
        os::private_copy(path, &scratch).map_err(|it| Error::io(path, &it))?;
        let db = open_file(&scratch, site.key.as_ref(), true)?;
        // The scratch copy is thrown away when anything fails: no journal need outlive this.
        db.pragma("PRAGMA journal_mode = MEMORY")?;
        let changed = db.transaction(change)?;
        drop(db);
        // Also when nothing was found: what a damaged file does not show, it may still hold.
        contents(site, &scratch)?;
        if changed {
            os::sync_file(&scratch).map_err(|it| Error::io(path, &it))?;
            if is_aside(site, path) {
                put_aside(&scratch, path)?;
            } else {
                put(&scratch, path)?;
            }
        }
        Ok(changed)
    })();
    os::remove(&scratch).map_err(|it| Error::io(&scratch, &it))?;
    res
}

/// Removes what interrupted work left behind: it may hold what has been erased since.
pub(crate) fn sweep(home: &Home) -> Result<(), Error> {
    let staging = home.staging();
    let staging = staging.file_name().unwrap_or_default().to_string_lossy().into_owned();
    remove_matching(&home.dir, |it| it.starts_with(&staging))?;
    for dir in [home.backups(), home.replaced()] {
        remove_matching(&dir, |it| {
            let scratch = |word: &str| it.contains(&format!(".{word}"));
            it.starts_with(UNPROVED) || scratch(REWRITING) || scratch(SEALING)
        })?;
    }
    Ok(())
}

fn remove_matching(dir: &Path, matches: impl Fn(&str) -> bool) -> Result<(), Error> {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if matches(&entry.file_name().to_string_lossy()) {
            os::remove(&entry.path()).map_err(|it| Error::io(&entry.path(), &it))?;
        }
    }
    Ok(())
}
