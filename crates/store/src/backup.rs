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
use crate::{Error, check, memories, os};

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
}

/// What a backup holds, learned by opening it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    pub memories: i64,
    pub seq: i64,
}

impl Backup {
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
            ours.then_some(Backup { name, path: it.path(), bytes })
        })
        .collect();
    res.sort_by(|a, b| (a.is_before_migration(), &b.name).cmp(&(b.is_before_migration(), &a.name)));
    res
}

/// Makes a backup, checks it, and lets the oldest go. Runs outside a transaction, under the lock.
pub(crate) fn make(site: &Site, db: &Db, now: Timestamp) -> Result<Backup, Error> {
    let seq = db.number(&META, &[&"seq"])?;
    let stamp = now.minute().replace([' ', ':'], "-");
    let res = write(site, db, &format!("{seq:012}-{stamp}.db"))?;
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
            return Err(damaged(format!("{finding:?}")));
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
    Ok(Backup { name: name.to_owned(), path, bytes })
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
        if changed {
            os::sync_file(&scratch).map_err(|it| Error::io(path, &it))?;
            contents(site, &scratch)?;
            put(&scratch, path)?;
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
    remove_matching(&home.backups(), |it| {
        let scratch = |word: &str| it.contains(&format!(".{word}"));
        it.starts_with(UNPROVED) || scratch(REWRITING) || scratch(SEALING)
    })
}

fn remove_matching(dir: &Path, matches: impl Fn(&str) -> bool) -> Result<(), Error> {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if matches(&entry.file_name().to_string_lossy()) {
            os::remove(&entry.path()).map_err(|it| Error::io(&entry.path(), &it))?;
        }
    }
    Ok(())
}
