//! Opening a database file: permissions, key, pragmas, migrations, and the first look for damage.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use crate::key::{self, Key};
use crate::layout::Home;
use crate::lock::Door;
use crate::mark::{Mark, Reading};
use crate::query::Db;
use crate::site::Site;
use crate::{Error, backup, check, convert, erase, occurrences, os, restore, schema};

/// The first bytes of a database that is not encrypted.
const PLAIN_HEADER: &[u8; 16] = b"SQLite format 3\0";
/// The longest text or blob a row may hold; far above any memory, far below a mistake.
const MAX_VALUE: i32 = 64 << 20;
/// Only other processes' checkpoints and recoveries are ever waited for here.
const PATIENCE: Duration = Duration::from_mins(1);

/// Opens for writing: finishes what was interrupted, creates, migrates, notes losses.
/// The caller holds the write lock.
pub(crate) fn open_writer(site: &Site) -> Result<Db, Error> {
    let home = &site.home;
    restore::finish(home)?;
    backup::sweep(home)?;
    refuse_vanished(home)?;
    let path = home.database();
    os::private_file(&path).map_err(|it| Error::io(&path, &it))?;
    let db = site.watched(open_shared(site)?);
    // A file that is not ours, or newer than we are, is left exactly as it is.
    schema::version(&db, site.schema)?;
    db.pragma("PRAGMA journal_mode = WAL")?;
    db.batch(
        "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 4194304;",
    )?;
    schema::migrate(&db, site)?;
    check::settle_mark(&db, site)?;
    site.add(check::against_mark(&db, home)?);
    convert::resume(site, &db)?;
    if let Err(error) = erase::resume(site, &db) {
        // Not being able to finish must not stop everything else; the next opening tries again.
        site.add(vec![check::Finding::Database(format!(
            "an erasure could not be finished: {error}"
        ))]);
    }
    // From here on it is known to be our file and our key: the last to close may merge the log.
    merge_on_close(&db, true)?;
    Ok(db)
}

/// Opens for reading what exists; falls back to a frozen view when the folder cannot be written.
/// `None`: something must be written first.
pub(crate) fn open_reader(site: &Site) -> Result<Option<Db>, Error> {
    if site.home.staged().exists() {
        return Ok(None);
    }
    let res = open_current(site);
    // A restore that was decided meanwhile may have taken the file away.
    if site.home.staged().exists() { Ok(None) } else { res }
}

fn open_current(site: &Site) -> Result<Option<Db>, Error> {
    let home = &site.home;
    refuse_vanished(home)?;
    if !home.database().exists() {
        return Ok(None);
    }
    let db = match open_shared(site) {
        Err(Error::ReadOnly { .. } | Error::Denied { .. }) => open_frozen(home, site.key.as_ref())?,
        other => other?,
    };
    if schema::version(&db, site.schema)? < site.schema.version() {
        return Ok(None);
    }
    // The pages of an index that every question reads stay at hand: eight megabytes, if they are needed.
    db.batch("PRAGMA query_only = ON; PRAGMA cache_size = -8192")?;
    occurrences::install(&db.conn).map_err(|it| db.error(&it))?;
    site.add(check::against_mark(&db, home)?);
    Ok(Some(site.watched(db)))
}

/// Opens the database itself, which others may have open as well.
fn open_shared(site: &Site) -> Result<Db, Error> {
    let path = site.home.database();
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let _door = Door::pass(&site.home)?;
    connect(&path, &path, flags, site.key.as_ref())
}

/// Opens a closed file, such as a backup, by itself: no lock, no mark, no migration.
pub(crate) fn open_file(path: &Path, key: Option<&Key>, writable: bool) -> Result<Db, Error> {
    let mode =
        if writable { OpenFlags::SQLITE_OPEN_READ_WRITE } else { OpenFlags::SQLITE_OPEN_READ_ONLY };
    connect(path, path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX, key)
}

/// A view of a folder we may not write to: safe only while no log waits to be applied.
fn open_frozen(home: &Home, key: Option<&Key>) -> Result<Db, Error> {
    let path = home.database();
    let waiting = fs::metadata(home.wal()).is_ok_and(|it| it.len() > 0);
    if waiting {
        let why = "the folder is read-only and recent changes wait in its log".to_owned();
        return Err(Error::ReadOnly { path, why });
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    connect(&frozen_uri(&path), &path, flags, key)
}

fn frozen_uri(path: &Path) -> PathBuf {
    PathBuf::from(uri(os::path_bytes(path), cfg!(windows)))
}

/// A path as the database reads it in a URI. Every byte that could mean something there is escaped;
/// a path with a drive needs a slash before it, and forward ones within.
fn uri(path: &[u8], has_drives: bool) -> String {
    let path = path.strip_prefix(br"\\?\").filter(|_| has_drives).unwrap_or(path);
    let plain = |it: u8| it.is_ascii_alphanumeric() || b"/._-".contains(&it);
    let escape = |it: &u8| match *it {
        b'\\' if has_drives => "/".to_owned(),
        b':' if has_drives => ":".to_owned(),
        it if plain(it) => char::from(it).to_string(),
        it => format!("%{it:02x}"),
    };
    let escaped: String = path.iter().map(escape).collect();
    format!("file:{}{escaped}?immutable=1", if has_drives { "///" } else { "" })
}

/// Connects with the key, and to a file that is still plain without it. Which it is, is not read from
/// the file: it may be in use, see `os::private_file`.
fn connect(target: &Path, path: &Path, flags: OpenFlags, key: Option<&Key>) -> Result<Db, Error> {
    let res = try_connect(target, path, flags, key);
    let (Err(Error::Damaged { .. } | Error::NoEncryption), Some(_)) = (&res, key) else {
        return res.map_err(|it| if is_no_database(&it) { unknown(path) } else { it });
    };
    if fs::metadata(path).is_ok_and(|it| it.len() == 0) {
        return res;
    }
    match (try_connect(target, path, flags, None), res) {
        (Err(plain), Err(Error::NoEncryption)) if is_no_database(&plain) => {
            Err(Error::NoEncryption)
        }
        (Err(plain), _) if is_no_database(&plain) => Err(Error::WrongKey { path: path.to_owned() }),
        (plain, _) => plain,
    }
}

/// Neither a plain database nor, with this key, an encrypted one.
fn is_no_database(error: &Error) -> bool {
    matches!(error, Error::Damaged { what, .. } if what.contains("not a database"))
}

fn unknown(path: &Path) -> Error {
    let what = "it is not a database; if it is encrypted, its key is missing".to_owned();
    Error::Damaged { path: path.to_owned(), what }
}

fn try_connect(
    target: &Path,
    path: &Path,
    flags: OpenFlags,
    key: Option<&Key>,
) -> Result<Db, Error> {
    let file = os::identity(path);
    let conn =
        Connection::open_with_flags(target, flags).map_err(|it| Error::database(path, &it))?;
    let mut db = Db::new(conn, path, file);
    // With the wrong key, merging the log would be the end of both.
    merge_on_close(&db, false)?;
    if let Some(key) = key {
        key::unlock(&db, key)?;
        db.is_encrypted = true;
    }
    configure(&db)?;
    Ok(db)
}

/// Whether the last connection to close merges the log into the file and removes it.
pub(crate) fn merge_on_close(db: &Db, merge: bool) -> Result<(), Error> {
    let config = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    db.conn.set_db_config(config, !merge).map(|_| ()).map_err(|it| db.error(&it))
}

/// What every connection is told; `secure_delete` and the rest hold only for the one they are told.
fn configure(db: &Db) -> Result<(), Error> {
    let failed = |it: rusqlite::Error| db.error(&it);
    db.conn.busy_timeout(PATIENCE).map_err(failed)?;
    db.conn.set_prepared_statement_cache_capacity(128);
    db.conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE);
    db.conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).map_err(failed)?;
    db.batch(
        "PRAGMA secure_delete = ON; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;",
    )?;
    // Without these a Mac's disk may still hold in its cache what it said was written.
    db.batch("PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;")?;
    // The first real read: a wrong key or a damaged header shows itself here.
    db.pragma("SELECT count(*) FROM sqlite_schema")?;
    Ok(())
}

/// Whether a file that nobody has open is an unencrypted database.
pub(crate) fn is_plain(path: &Path) -> bool {
    let mut head = [0_u8; 16];
    fs::File::open(path).and_then(|mut it| it.read_exact(&mut head)).is_ok()
        && head == *PLAIN_HEADER
}

/// An empty or absent file where there had been changes is a loss, not a fresh start. It must not
/// even be opened: beside an empty file, the database would remove a log that still holds them.
fn refuse_vanished(home: &Home) -> Result<(), Error> {
    let path = home.database();
    if fs::metadata(&path).is_ok_and(|it| it.len() > 0) {
        return Ok(());
    }
    let what = match Mark::read(&home.mark())? {
        Reading::Mark(Mark { seq, .. }) if seq > 0 => {
            format!("the file is gone, but {seq} changes had been saved in it")
        }
        Reading::Unreadable => "the file is gone, and so is the record of its changes".to_owned(),
        _ if !backup::list(home).is_empty() => "the file is gone, but it has backups".to_owned(),
        _ => return Ok(()),
    };
    Err(Error::Damaged { path, what })
}

#[cfg(test)]
mod tests {
    use model::Timestamp;

    use super::*;
    use crate::schema::MEMORY;
    use crate::{DataDir, stamp};

    fn site(dir: &Path) -> Site {
        let id = model::ProjectId::new(Timestamp(1), [1; 10]);
        let home = DataDir::new(dir.join("odd %?# name")).project(id);
        home.prepare().unwrap();
        Site::new(home, &MEMORY, None, Timestamp(1))
    }

    #[test]
    fn a_frozen_view_reads_and_leaves_no_trace() {
        let dir = tempfile::tempdir().unwrap();
        let site = site(dir.path());
        stamp::take_number(&open_writer(&site).unwrap()).unwrap();
        let names = || {
            let entries = fs::read_dir(&site.home.dir).unwrap().flatten();
            entries.map(|it| it.file_name()).collect::<Vec<_>>()
        };
        let before = names();
        let db = open_frozen(&site.home, None).unwrap();
        assert_eq!(db.number(&stamp::META, &[&"seq"]).unwrap(), 1);
        assert!(stamp::take_number(&db).is_err(), "and cannot be written through");
        assert_eq!(names(), before);
    }

    #[test]
    fn a_path_becomes_a_uri_on_every_system() {
        assert_eq!(uri(b"/a b/x?.db", false), "file:/a%20b/x%3f.db?immutable=1");
        assert_eq!(uri(br"C:\data\a b\x.db", true), "file:///C:/data/a%20b/x.db?immutable=1");
        assert_eq!(uri(br"\\?\C:\x.db", true), "file:///C:/x.db?immutable=1");
        assert_eq!(uri(br"/a\b:c.db", false), "file:/a%5cb%3ac.db?immutable=1");
    }

    #[test]
    fn a_frozen_view_is_refused_while_changes_wait_in_the_log() {
        let dir = tempfile::tempdir().unwrap();
        let site = site(dir.path());
        let db = open_writer(&site).unwrap();
        stamp::take_number(&db).unwrap();
        let res = open_frozen(&site.home, None).map(drop);
        assert!(matches!(res, Err(Error::ReadOnly { .. })), "{res:?}");
    }
}
