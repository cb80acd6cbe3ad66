//! Backups: made while the database is in use, and trusted only after being opened and checked.
//!
//! A backup is a database file in the folder `backups`, named by sequence number and time. It has a
//! seal beside it: a file with the BLAKE3 checksum of its bytes. A new backup is written under a
//! provisional name ("unproved") until it has been checked. Erasing and key changes rewrite
//! backups, which always happens on a scratch copy that then takes the backup's name. The database
//! that a restore replaced lies in its own folder and is treated like a backup without a seal.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use model::Timestamp;
use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};

use crate::change_clock::SELECT_META;
use crate::connection::{FileAccess, open_file};
use crate::data_dir::DatabasePaths;
use crate::database_state::DatabaseState;
use crate::query::Db;
use crate::schema;
use crate::{Error, damage_check, memories, os, restore};

/// Backups kept per database. The oldest is removed once a new one has been checked.
pub const MAX_BACKUPS: usize = 3;

/// Name prefix of a backup made before a migration. These stay until their memories are erased:
/// they are the only way back to an older program.
const MIGRATION_PREFIX: &str = "schema-";
/// Name prefix of a backup that has not been checked yet. Like the extensions below, a file with
/// such a name is the leftover of an interrupted operation.
const UNPROVED_PREFIX: &str = ".unproved-";
/// Extension of a backup's scratch copy while it is rewritten.
const REWRITING_EXTENSION: &str = "rewriting";
/// Extension of a seal that is being written.
const SEALING_EXTENSION: &str = "sealing";

/// One backup file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupFile {
    pub name: String,
    pub path: PathBuf,
    pub bytes: u64,
    /// Creation time, taken from the name. Unknown for a backup made before a migration and for a
    /// database that a restore replaced.
    pub created_at: Option<Timestamp>,
}

/// Size of a backup's contents, read from the opened file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupContents {
    /// Memories in any state.
    pub memories: i64,
    /// Memories that a user would count: neither forgotten nor deprecated.
    pub active: i64,
    pub seq: i64,
}

impl BackupFile {
    fn from_path(name: String, path: PathBuf, bytes: u64) -> Self {
        let created_at = parse_created_at(&name);
        Self { name, path, bytes, created_at }
    }

    fn is_before_migration(&self) -> bool {
        self.name.starts_with(MIGRATION_PREFIX)
    }

    /// Sequence number of the database at that time, taken from the name.
    pub(crate) fn seq(&self) -> Option<i64> {
        self.name.split('-').next()?.parse().ok()
    }
}

/// Lists the backups of a database: newest first, those made before a migration last.
pub(crate) fn list_backups(paths: &DatabasePaths) -> Vec<BackupFile> {
    let entries = fs::read_dir(paths.backups_folder()).into_iter().flatten().flatten();
    let mut backups: Vec<BackupFile> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            // A name with a dot in front is an unchecked backup.
            let is_backup =
                entry.path().extension() == Some(OsStr::new("db")) && !name.starts_with('.');
            let bytes = entry.metadata().ok()?.len();
            is_backup.then_some(BackupFile::from_path(name, entry.path(), bytes))
        })
        .collect();
    // Names begin with the sequence number, so the order does not depend on the wall clock. They
    // are compared in reverse (the name of `b` first): the newest comes first.
    backups.sort_by(|a, b| {
        (a.is_before_migration(), &b.name).cmp(&(b.is_before_migration(), &a.name))
    });
    backups
}

/// Finds the database that the last restore replaced. It has no seal: it was in use, and may have
/// been the damaged one.
pub(crate) fn find_replaced(paths: &DatabasePaths) -> Option<BackupFile> {
    let file = paths.database().file_name()?.to_owned();
    let path = paths.replaced_folder().join(&file);
    let bytes = fs::metadata(&path).ok()?.len();
    Some(BackupFile::from_path(format!("replaced/{}", file.to_str()?), path, bytes))
}

/// Returns whether the file is the database that a restore replaced, which has no seal.
fn is_replaced(state: &DatabaseState, path: &Path) -> bool {
    path.parent() == Some(&state.paths.replaced_folder())
}

/// Merges the log of a replaced database, so that the file alone holds everything. The file stays
/// in WAL mode because handles from before the restore may still have it open.
pub(crate) fn merge_replaced_log(state: &DatabaseState, path: &Path) -> Result<(), Error> {
    let db = open_file(path, state.key.as_ref(), FileAccess::ReadWrite)?;
    schema::read_version(&db, state.schema)?;
    if db.query_pragma("PRAGMA journal_mode")? == "wal" {
        restore::truncate_log(&db)?;
    }
    Ok(())
}

/// Parses the time in a name such as `000000000007-2026-11-15-00-00.db`, to the minute.
fn parse_created_at(name: &str) -> Option<Timestamp> {
    let (_, text) = name.strip_suffix(".db")?.split_once('-')?;
    let parts: Vec<i64> = text.split('-').map(|it| it.parse().ok()).collect::<Option<_>>()?;
    let [year, month, day, hour, minute] = parts[..] else { return None };
    // Larger numbers could overflow below.
    if !(0..10_000).contains(&year) || [month, day, hour, minute].iter().any(|it| *it > 99) {
        return None;
    }
    let created_at = Timestamp::of_day(year, month, day).plus_millis((hour * 60 + minute) * 60_000);
    // Only a text that `format_minute` writes counts: month 13 would have been carried over.
    (format_minute(created_at) == text).then_some(created_at)
}

/// Formats a time for a file name.
fn format_minute(time: Timestamp) -> String {
    time.format_minute().replace([' ', ':'], "-")
}

/// Makes and checks a backup, then removes the oldest. Runs outside a transaction, with the write
/// lock held.
pub(crate) fn make_backup(
    state: &DatabaseState,
    db: &Db,
    now: Timestamp,
) -> Result<BackupFile, Error> {
    let seq = db.select_number(&SELECT_META, &[&"seq"])?;
    let new = write_backup(state, db, &format!("{seq:012}-{}.db", format_minute(now)))?;
    for old in
        list_backups(&state.paths).iter().filter(|it| !it.is_before_migration()).skip(MAX_BACKUPS)
    {
        remove_backup(&old.path)?;
    }
    Ok(new)
}

/// Makes a backup before a migration. Only its structure can be checked: the row checks know the
/// newest schema alone.
pub(crate) fn back_up_before_migration(
    state: &DatabaseState,
    db: &Db,
    version: i64,
) -> Result<(), Error> {
    write_backup(state, db, &format!("{MIGRATION_PREFIX}{version}.db")).map(|_| ())
}

/// Checks a backup: its bytes against the seal, its rows against their hashes.
pub(crate) fn verify_backup(state: &DatabaseState, path: &Path) -> Result<BackupContents, Error> {
    if is_replaced(state, path) {
        merge_replaced_log(state, path)?;
        return check_contents(state, path);
    }
    let damaged = |what: &str| Error::Damaged { path: path.to_owned(), what: what.to_owned() };
    let sealed =
        fs::read_to_string(seal_path(path)).map_err(|_| damaged("its checksum is missing"))?;
    let found = checksum_file(path)?;
    // During a replacement the seal lists two checksums, see `put_backup`.
    if !sealed.lines().any(|it| it == found) {
        return Err(damaged("its checksum does not match"));
    }
    check_contents(state, path)
}

/// Checks a file as far as it can be checked by itself, and returns the size of its contents.
pub(crate) fn check_contents(state: &DatabaseState, path: &Path) -> Result<BackupContents, Error> {
    let db = open_file(path, state.key.as_ref(), FileAccess::ReadOnly)?;
    let is_newest_schema = schema::read_version(&db, state.schema)? == state.schema.version();
    let problem = if is_newest_schema {
        let findings = damage_check::check_all_rows(&db, state.schema)?;
        findings.first().map(ToString::to_string)
    } else {
        // Row checks use the statements of the newest schema, which an older file does not fit.
        damage_check::check_integrity(&db)?.into_iter().next()
    };
    if let Some(problem) = problem {
        return Err(Error::Damaged { path: path.to_owned(), what: problem });
    }
    read_contents(&db)
}

/// Reads the size of an open database's contents.
pub(crate) fn read_contents(db: &Db) -> Result<BackupContents, Error> {
    Ok(BackupContents {
        memories: memories::count_memories(db)?,
        active: memories::count_active_memories(db)?,
        seq: db.select_number(&SELECT_META, &[&"seq"])?,
    })
}

/// Returns whether this program gives such a name to a file in the backup folder.
pub(crate) fn is_backup_file(name: &str) -> bool {
    let name = name.strip_prefix(UNPROVED_PREFIX).unwrap_or(name);
    let Some((stem, rest)) = name.split_once('.') else { return false };
    // `make_backup` pads the sequence number to twelve digits.
    let is_numbered = stem
        .split_once('-')
        .is_some_and(|(seq, _)| seq.len() >= 12 && seq.bytes().all(|it| it.is_ascii_digit()));
    let is_schema = stem
        .strip_prefix(MIGRATION_PREFIX)
        .is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()));
    (is_numbered || is_schema)
        && ["db", "blake3", REWRITING_EXTENSION, SEALING_EXTENSION]
            .iter()
            .any(|it| is_database_file(rest, it))
}

/// Returns whether this program gives such a name to a file in the folder of replaced databases.
pub(crate) fn is_replaced_file(database: &Path, name: &str) -> bool {
    let names = [database.to_owned(), scratch_path(database)];
    names.iter().filter_map(|it| it.file_name()?.to_str()).any(|it| is_database_file(name, it))
}

/// Returns whether the name is `file` or that of a companion `SQLite` keeps beside it.
fn is_database_file(name: &str, file: &str) -> bool {
    name.strip_prefix(file).is_some_and(|it| ["", "-wal", "-shm", "-journal"].contains(&it))
}

/// Path at which the rewritten form of a backup is prepared.
pub(crate) fn scratch_path(path: &Path) -> PathBuf {
    path.with_extension(REWRITING_EXTENSION)
}

/// Copies the database under a provisional name, checks the copy, and gives it its name.
fn write_backup(state: &DatabaseState, db: &Db, name: &str) -> Result<BackupFile, Error> {
    let dir = state.paths.backups_folder();
    os::private_dir(&dir).map_err(|it| Error::from_io(&dir, &it))?;
    let (unproved, path) = (dir.join(format!("{UNPROVED_PREFIX}{name}")), dir.join(name));
    let checked = copy_into(db, &unproved).and_then(|()| check_contents(state, &unproved));
    if let Err(error) = checked {
        remove_backup(&unproved)?;
        return Err(error);
    }
    put_backup(&unproved, &path)?;
    let bytes = fs::metadata(&path).map_err(|it| Error::from_io(&path, &it))?.len();
    Ok(BackupFile::from_path(name.to_owned(), path, bytes))
}

/// Makes a consistent, compact copy of the open database, encrypted if the database is.
fn copy_into(db: &Db, path: &Path) -> Result<(), Error> {
    let io = |it: std::io::Error| Error::from_io(path, &it);
    // `VACUUM INTO` accepts an empty file; creating it here makes it private from the start.
    os::remove_file_if_exists(path).and_then(|()| os::private_file(path)).map_err(io)?;
    let target = ToSqlOutput::Borrowed(ValueRef::Text(os::path_bytes(path)));
    let params: [&dyn ToSql; 1] = [&target];
    db.conn.execute("VACUUM INTO ?1", params).map_err(|it| Error::from_database(path, &it))?;
    os::sync_file(path).map_err(io)
}

/// Puts a cleaned file in the place of the replaced database. The companions of the old file are
/// useless to it: the log was merged before.
fn put_replaced(cleaned: &Path, path: &Path) -> Result<(), Error> {
    let io = |it: std::io::Error| Error::from_io(path, &it);
    fs::rename(cleaned, path).map_err(io)?;
    for companion in ["db-wal", "db-shm"] {
        os::remove_file_if_exists(&path.with_extension(companion)).map_err(io)?;
    }
    sync_parent(path)
}

/// Gives a checked file its name and its seal.
pub(crate) fn put_backup(checked: &Path, path: &Path) -> Result<(), Error> {
    let io = |it: std::io::Error| Error::from_io(path, &it);
    let new = checksum_file(checked)?;
    let old = fs::read_to_string(seal_path(path)).unwrap_or_default();
    // Until the rename is done the seal accepts both files: a crash in between leaves a valid
    // backup.
    write_seal(path, &format!("{}\n{new}\n", old.trim_end()))?;
    fs::rename(checked, path).map_err(io)?;
    sync_parent(path)?;
    write_seal(path, &format!("{new}\n"))
}

/// Replaces the seal of a backup atomically.
fn write_seal(path: &Path, text: &str) -> Result<(), Error> {
    let (target, scratch) = (seal_path(path), path.with_extension(SEALING_EXTENSION));
    let io = |it: std::io::Error| Error::from_io(&target, &it);
    os::private_file(&scratch).map_err(io)?;
    fs::write(&scratch, text).and_then(|()| os::sync_file(&scratch)).map_err(io)?;
    fs::rename(&scratch, &target).map_err(io)?;
    sync_parent(&target)
}

fn seal_path(path: &Path) -> PathBuf {
    path.with_extension("blake3")
}

fn checksum_file(path: &Path) -> Result<String, Error> {
    let mut hasher = blake3::Hasher::new();
    let mut file = fs::File::open(path).map_err(|it| Error::from_io(path, &it))?;
    std::io::copy(&mut file, &mut hasher).map_err(|it| Error::from_io(path, &it))?;
    Ok(hasher.finalize().to_hex().to_string())
}

fn sync_parent(path: &Path) -> Result<(), Error> {
    let dir = path.parent().unwrap_or(path);
    os::sync_dir(dir).map_err(|it| Error::from_io(dir, &it))
}

/// Removes a backup and its seal. Missing files are not an error.
pub(crate) fn remove_backup(path: &Path) -> Result<(), Error> {
    for target in [path.to_owned(), seal_path(path)] {
        os::remove_file_if_exists(&target).map_err(|it| Error::from_io(&target, &it))?;
    }
    Ok(())
}

/// Applies `change` to a copy of a backup and replaces the backup by it. `change` returns whether
/// it changed anything; if not, the backup stays as it is and `false` is returned.
pub(crate) fn rewrite_backup(
    state: &DatabaseState,
    path: &Path,
    change: impl FnOnce(&Db) -> Result<bool, Error>,
) -> Result<bool, Error> {
    let scratch = scratch_path(path);
    // A closure, so that the scratch copy is removed below however it ends.
    let rewritten = (|| {
        os::private_copy(path, &scratch).map_err(|it| Error::from_io(path, &it))?;
        let db = open_file(&scratch, state.key.as_ref(), FileAccess::ReadWrite)?;
        // A failed scratch copy is deleted, so its rollback journal need not survive a crash.
        db.query_pragma("PRAGMA journal_mode = MEMORY")?;
        let changed = db.transaction(change)?;
        drop(db);
        // Checked even if nothing changed: a damaged file may hold the text without showing it.
        check_contents(state, &scratch)?;
        if changed {
            os::sync_file(&scratch).map_err(|it| Error::from_io(path, &it))?;
            if is_replaced(state, path) {
                put_replaced(&scratch, path)?;
            } else {
                put_backup(&scratch, path)?;
            }
        }
        Ok(changed)
    })();
    os::remove_file_if_exists(&scratch).map_err(|it| Error::from_io(&scratch, &it))?;
    rewritten
}

/// Removes the leftovers of interrupted operations: they may hold data that was erased since.
pub(crate) fn remove_leftovers(paths: &DatabasePaths) -> Result<(), Error> {
    // The staging database and its companions.
    let staging = paths.staging_database();
    let staging = staging.file_name().unwrap_or_default().to_string_lossy().into_owned();
    remove_matching(&paths.dir, |it| it.starts_with(&staging))?;
    for dir in [paths.backups_folder(), paths.replaced_folder()] {
        remove_matching(&dir, |it| {
            // `contains`, because companions such as `.rewriting-journal` are left as well.
            let has_extension = |extension: &str| it.contains(&format!(".{extension}"));
            it.starts_with(UNPROVED_PREFIX)
                || has_extension(REWRITING_EXTENSION)
                || has_extension(SEALING_EXTENSION)
        })?;
    }
    Ok(())
}

/// Removes the files of a folder whose name `matches` accepts.
fn remove_matching(dir: &Path, matches: impl Fn(&str) -> bool) -> Result<(), Error> {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if matches(&entry.file_name().to_string_lossy()) {
            os::remove_file_if_exists(&entry.path())
                .map_err(|it| Error::from_io(&entry.path(), &it))?;
        }
    }
    Ok(())
}
