//! Opens database files: permissions, key, pragmas, migrations, and the first check for damage.
//!
//! The *log* is `SQLite`'s write-ahead log: a file with the changes that are not merged into the
//! database file yet. The *mark* (high-water mark) is another file beside the database, with the
//! number of the last acknowledged change: a database behind its mark has lost changes. A *staged*
//! database is a restored one that is complete and waits to be moved to the database's name.
//!
//! There are three ways to open a file. `open_writer` prepares the database for writing and
//! finishes whatever an earlier process left unfinished. `open_reader` opens it for reading and
//! returns `None` if something must be written first. `open_file` opens a file that is not in use,
//! such as a backup.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use crate::data_dir::DatabasePaths;
use crate::database_state::DatabaseState;
use crate::encryption_key::{self, EncryptionKey};
use crate::file_lock::OpenGuard;
use crate::high_water_mark::{HighWaterMark, MarkState};
use crate::query::Db;
use crate::{Error, backup, damage_check, erase, fts_occurrences, os, rekey, restore, schema};

/// The first bytes of a database that is not encrypted.
const PLAIN_HEADER: &[u8; 16] = b"SQLite format 3\0";
/// Largest text or blob a row may hold; far above any memory, far below a mistake.
const MAX_VALUE_BYTES: i32 = 64 << 20;
/// Waiting time for `SQLite`'s own locks. Writers queue on a lock file, so only the checkpoints and
/// recoveries of other processes are ever waited for.
const LOCK_TIMEOUT: Duration = Duration::from_mins(1);

/// Access to a file that is opened by itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileAccess {
    ReadOnly,
    ReadWrite,
}

/// Treatment of the write-ahead log by the last connection to close.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogOnClose {
    /// Merge it into the file and remove it.
    Merge,
    /// Leave it as it is.
    Keep,
}

/// Opens the database for writing: finishes interrupted operations, creates, migrates, records
/// losses. The caller holds the write lock.
pub(crate) fn open_writer(state: &DatabaseState) -> Result<Db, Error> {
    let paths = &state.paths;
    // A restore comes first: until it is finished, the file under the database's name is the old
    // one.
    restore::finish_restore(paths)?;
    backup::remove_leftovers(paths)?;
    refuse_vanished(paths)?;
    let path = paths.database();
    os::private_file(&path).map_err(|it| Error::from_io(&path, &it))?;
    // The recorder exists only in the `replay` build of the tests; it notes every statement.
    let db = state.with_recorder(open_shared(state)?);
    // A file of another program or of a newer version is left exactly as it is.
    schema::read_version(&db, state.schema)?;
    db.query_pragma("PRAGMA journal_mode = WAL")?;
    // FULL: a commit is on the disk before it is acknowledged. No automatic checkpoints: the writer
    // merges the log itself, see `WriterConnection`. A merged log file is cut to 4 MiB.
    db.execute_batch(
        "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 4194304;",
    )?;
    schema::migrate_with_backup(&db, state)?;
    // Losses are recorded before the first write moves the sequence past them.
    damage_check::record_loss(&db, state)?;
    state.report_findings(damage_check::compare_with_mark(&db, paths)?);
    rekey::resume_rekey(state, &db)?;
    if let Err(error) = erase::resume_erasure(state, &db) {
        // Reported, not returned: reading must still work, and the next opening tries again.
        state.report_findings(vec![damage_check::DamageFinding::DatabaseReport(format!(
            "an erasure could not be finished: {error}"
        ))]);
    }
    // File and key have proved right, so the last connection to close may merge the log.
    set_log_on_close(&db, LogOnClose::Merge)?;
    Ok(db)
}

/// Opens an existing database for reading. Returns `None` if something must be written first: the
/// database is missing, has an older schema, or a restore is to be finished. Falls back to a frozen
/// view if the folder cannot be written.
pub(crate) fn open_reader(state: &DatabaseState) -> Result<Option<Db>, Error> {
    // A committed restore: the file under the database's name is still the old one.
    if state.paths.staged_database().exists() {
        return Ok(None);
    }
    let opened = open_current(state);
    // A restore that was committed meanwhile may have moved the file away.
    if state.paths.staged_database().exists() { Ok(None) } else { opened }
}

/// Opens the file under the database's name, if it exists and needs no migration.
fn open_current(state: &DatabaseState) -> Result<Option<Db>, Error> {
    let paths = &state.paths;
    refuse_vanished(paths)?;
    if !paths.database().exists() {
        return Ok(None);
    }
    let db = match open_shared(state) {
        // The folder cannot be written, so SQLite cannot create its shared-memory file.
        Err(Error::ReadOnly { .. } | Error::PermissionDenied { .. }) => {
            open_frozen(paths, state.key.as_ref())?
        }
        other => other?,
    };
    if schema::read_version(&db, state.schema)? < state.schema.version() {
        // Only the writer migrates.
        return Ok(None);
    }
    // Eight megabytes hold the index pages that every search reads.
    db.execute_batch("PRAGMA query_only = ON; PRAGMA cache_size = -8192")?;
    fts_occurrences::install_function(&db.conn).map_err(|it| db.error(&it))?;
    state.report_findings(damage_check::compare_with_mark(&db, paths)?);
    Ok(Some(state.with_recorder(db)))
}

/// Opens the database itself, which other connections may have open as well.
fn open_shared(state: &DatabaseState) -> Result<Db, Error> {
    let path = state.paths.database();
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let _guard = OpenGuard::acquire(&state.paths)?;
    connect_with_or_without_key(&path, &path, flags, state.key.as_ref())
}

/// Opens a file that is not in use, such as a backup: no lock, no mark, no migration.
pub(crate) fn open_file(
    path: &Path,
    key: Option<&EncryptionKey>,
    access: FileAccess,
) -> Result<Db, Error> {
    let mode = match access {
        FileAccess::ReadOnly => OpenFlags::SQLITE_OPEN_READ_ONLY,
        FileAccess::ReadWrite => OpenFlags::SQLITE_OPEN_READ_WRITE,
    };
    connect_with_or_without_key(path, path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX, key)
}

/// Opens a database in a folder that cannot be written, without its log. Refused while the log
/// holds changes, which would be missing.
fn open_frozen(paths: &DatabasePaths, key: Option<&EncryptionKey>) -> Result<Db, Error> {
    let path = paths.database();
    let log_has_changes = fs::metadata(paths.wal()).is_ok_and(|it| it.len() > 0);
    if log_has_changes {
        let why = "the folder is read-only and recent changes wait in its log".to_owned();
        return Err(Error::ReadOnly { path, why });
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    connect_with_or_without_key(&frozen_uri(&path), &path, flags, key)
}

/// The URI that opens a file as immutable: without locks, log or shared memory.
fn frozen_uri(path: &Path) -> PathBuf {
    PathBuf::from(to_uri(os::path_bytes(path), cfg!(windows)))
}

/// Encodes a path as an `SQLite` URI. Every byte that has a meaning in a URI is escaped; a path
/// with a drive letter needs a slash before it, and forward slashes within. For example `/a b/x.db`
/// becomes `file:/a%20b/x.db?immutable=1`, and `C:\x.db` becomes `file:///C:/x.db?immutable=1`.
fn to_uri(path: &[u8], has_drives: bool) -> String {
    // The Windows prefix for long paths has no meaning in a URI.
    let path = match path.strip_prefix(br"\\?\") {
        Some(short_path) if has_drives => short_path,
        _ => path,
    };
    let mut uri = String::from(if has_drives { "file:///" } else { "file:" });
    for byte in path {
        match *byte {
            b'\\' if has_drives => uri.push('/'),
            b':' if has_drives => uri.push(':'),
            b'/' | b'.' | b'_' | b'-' => uri.push(char::from(*byte)),
            other if other.is_ascii_alphanumeric() => uri.push(char::from(other)),
            other => {
                let escaped = format!("%{other:02x}");
                uri.push_str(&escaped);
            }
        }
    }
    uri + "?immutable=1"
}

/// Connects with the key, or without it if the file is not encrypted. `target` is what `SQLite`
/// opens, the path itself or a URI of it.
///
/// Both are tried, because the header of the file cannot be read to find out: the file may be in
/// use, and closing any handle of it would end the locks that this process has on it.
fn connect_with_or_without_key(
    target: &Path,
    path: &Path,
    flags: OpenFlags,
    key: Option<&EncryptionKey>,
) -> Result<Db, Error> {
    let result_with_key = try_connect(target, path, flags, key);
    // The errors of a plain file that is opened with a key.
    let may_be_plain = matches!(
        result_with_key,
        Err(Error::NotADatabase { .. } | Error::Damaged { .. } | Error::EncryptionUnavailable)
    );
    // An empty file opens with any key; opening it without one would make it a plain database.
    let is_empty = fs::metadata(path).is_ok_and(|it| it.len() == 0);
    if key.is_none() || !may_be_plain || is_empty {
        return result_with_key;
    }
    match try_connect(target, path, flags, None) {
        // It opens neither with the key nor without one: this build cannot decrypt, or the file is
        // encrypted with another key.
        Err(Error::NotADatabase { path }) => match result_with_key {
            Err(Error::EncryptionUnavailable) => Err(Error::EncryptionUnavailable),
            _ => Err(Error::WrongKey { path }),
        },
        // Opened as a plain file, or failed for a reason that has nothing to do with the key.
        result_without_key => result_without_key,
    }
}

/// Connects, unlocks the file and reads from it for the first time.
fn try_connect(
    target: &Path,
    path: &Path,
    flags: OpenFlags,
    key: Option<&EncryptionKey>,
) -> Result<Db, Error> {
    initialize_library();
    // Taken before opening: if the file is replaced in between, the connection counts as outdated.
    let file = os::file_identity(path);
    let conn =
        Connection::open_with_flags(target, flags).map_err(|it| Error::from_database(path, &it))?;
    let mut db = Db::new(conn, path, file);
    // With a wrong key, merging the log would destroy both log and file.
    set_log_on_close(&db, LogOnClose::Keep)?;
    if let Some(key) = key {
        encryption_key::unlock_connection(&db, key)?;
        db.is_encrypted = true;
    }
    configure_connection(&db)?;
    Ok(db)
}

/// Opens the first connection of the process in one thread. Two threads that opened the first ones at
/// the same time could run a pragma before the cipher extension was registered, and crash.
fn initialize_library() {
    static INITIALIZED: Once = Once::new();
    // An error is reported by the connection that is opened next.
    INITIALIZED.call_once(|| drop(Connection::open_in_memory()));
}

/// Sets what happens to the log if this connection is the last to close.
pub(crate) fn set_log_on_close(db: &Db, log: LogOnClose) -> Result<(), Error> {
    let config = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    let keep = log == LogOnClose::Keep;
    db.conn.set_db_config(config, keep).map(|_| ()).map_err(|it| db.error(&it))
}

/// Settings of every connection. `SQLite` applies `secure_delete` and the others per connection,
/// not per file.
fn configure_connection(db: &Db) -> Result<(), Error> {
    let failed = |it: rusqlite::Error| db.error(&it);
    db.conn.busy_timeout(LOCK_TIMEOUT).map_err(failed)?;
    // Room for every statement of the store.
    db.conn.set_prepared_statement_cache_capacity(128);
    db.conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES);
    // Files may come from elsewhere, so their schema is not trusted.
    db.conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).map_err(failed)?;
    db.execute_batch(
        "PRAGMA secure_delete = ON; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;",
    )?;
    // On macOS, `fsync` alone leaves data in the cache of the disk.
    db.execute_batch("PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;")?;
    // The first read of the file: a wrong key or a damaged header shows here.
    db.query_pragma("SELECT count(*) FROM sqlite_schema")?;
    Ok(())
}

/// Returns whether a file that no connection has open is an unencrypted database.
pub(crate) fn is_plain(path: &Path) -> bool {
    let mut head = [0_u8; 16];
    fs::File::open(path).and_then(|mut it| it.read_exact(&mut head)).is_ok()
        && head == *PLAIN_HEADER
}

/// Refuses a file that is empty or missing although changes had been saved in it. It must not even
/// be opened: beside an empty file, `SQLite` would delete a log that still holds the changes.
fn refuse_vanished(paths: &DatabasePaths) -> Result<(), Error> {
    let path = paths.database();
    if fs::metadata(&path).is_ok_and(|it| it.len() > 0) {
        return Ok(());
    }
    let what = match HighWaterMark::read(&paths.mark_file())? {
        MarkState::Valid(HighWaterMark { seq, .. }) if seq > 0 => {
            format!("the file is gone, but {seq} changes had been saved in it")
        }
        MarkState::Unreadable => "the file is gone, and so is the record of its changes".to_owned(),
        // Either nothing was ever saved and the file is new, or the mark is lost as well; backups
        // prove the second.
        MarkState::Valid(_) | MarkState::Absent => {
            if backup::list_backups(paths).is_empty() {
                return Ok(());
            }
            "the file is gone, but it has backups".to_owned()
        }
    };
    Err(Error::Damaged { path, what })
}

#[cfg(test)]
mod tests {
    use model::Timestamp;

    use super::*;
    use crate::schema::MEMORY;
    use crate::{DataDir, change_clock};

    /// A database in a folder whose name has characters with a meaning in URIs.
    fn state(dir: &Path) -> DatabaseState {
        let id = model::ProjectId::new(Timestamp(1), [1; 10]);
        let paths = DataDir::new(dir.join("odd %?# name")).project_paths(id);
        paths.create_folders().unwrap();
        DatabaseState::new(paths, &MEMORY, None, Timestamp(1))
    }

    #[test]
    fn a_frozen_view_reads_and_leaves_no_trace() {
        let dir = tempfile::tempdir().unwrap();
        let state = state(dir.path());
        change_clock::advance_seq(&open_writer(&state).unwrap()).unwrap();
        let file_names = || {
            let entries = fs::read_dir(&state.paths.dir).unwrap().flatten();
            entries.map(|it| it.file_name()).collect::<Vec<_>>()
        };
        let before = file_names();
        let db = open_frozen(&state.paths, None).unwrap();
        assert_eq!(db.select_number(&change_clock::SELECT_META, &[&"seq"]).unwrap(), 1);
        assert!(change_clock::advance_seq(&db).is_err(), "a frozen view cannot be written");
        assert_eq!(file_names(), before);
    }

    #[test]
    fn a_path_becomes_a_uri_on_every_system() {
        assert_eq!(to_uri(b"/a b/x?.db", false), "file:/a%20b/x%3f.db?immutable=1");
        assert_eq!(to_uri(br"C:\data\a b\x.db", true), "file:///C:/data/a%20b/x.db?immutable=1");
        assert_eq!(to_uri(br"\\?\C:\x.db", true), "file:///C:/x.db?immutable=1");
        assert_eq!(to_uri(br"/a\b:c.db", false), "file:/a%5cb%3ac.db?immutable=1");
    }

    #[test]
    fn a_frozen_view_is_refused_while_changes_wait_in_the_log() {
        let dir = tempfile::tempdir().unwrap();
        let state = state(dir.path());
        let db = open_writer(&state).unwrap();
        change_clock::advance_seq(&db).unwrap();
        let res = open_frozen(&state.paths, None).map(drop);
        assert!(matches!(res, Err(Error::ReadOnly { .. })), "{res:?}");
    }
}
