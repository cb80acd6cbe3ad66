//! Opening a database file: permissions, key, pragmas, migrations, and the first look for damage.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use model::Timestamp;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use crate::check::{self, Finding};
use crate::key::{self, Key};
use crate::layout::Home;
use crate::lock::Turnstile;
use crate::mark::{Mark, Reading};
use crate::query::Db;
use crate::schema::{self, Schema};
use crate::{Error, backup, erase, os};

/// The first bytes of a database that is not encrypted.
const PLAIN_HEADER: &[u8; 16] = b"SQLite format 3\0";
/// The longest text or blob a row may hold; far above any memory, far below a mistake.
const MAX_VALUE: i32 = 64 << 20;
/// Only other processes' checkpoints and recoveries are ever waited for here.
const PATIENCE: Duration = Duration::from_secs(60);

/// Opens for writing: creates, migrates and notes losses. The turnstile is passed for the duration.
pub(crate) fn open_writer(
    home: &Home,
    schema: &Schema,
    key: Option<&Key>,
    turnstile: &Turnstile,
    now: Timestamp,
) -> Result<Db, Error> {
    let _turn = turnstile.enter()?;
    backup::finish_interrupted_restore(home)?;
    refuse_vanished(home)?;
    let path = home.database();
    os::private_file(&path).map_err(|it| Error::io(&path, &it))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = connect(&path, &path, flags, key)?;
    if schema::version(&db, schema)? == 0 {
        db.pragma("PRAGMA journal_mode = WAL")?;
    }
    db.batch("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;")?;
    schema::migrate(&db, schema, home)?;
    check::settle_mark(&db, home, now)?;
    erase::resume(&db, home, key, now)?;
    Ok(db)
}

/// Opens for reading what exists; falls back to a frozen view when the folder cannot be written.
pub(crate) fn open_reader(
    home: &Home,
    schema: &Schema,
    key: Option<&Key>,
) -> Result<(Db, Vec<Finding>), Error> {
    refuse_vanished(home)?;
    let path = home.database();
    let shared = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = match connect(&path, &path, shared, key) {
        Err(Error::ReadOnly { .. } | Error::Denied { .. }) => open_frozen(home, key)?,
        other => other?,
    };
    let found = schema::version(&db, schema)?;
    if found < schema.version() {
        let what =
            format!("it has schema {found} and must be migrated to {} first", schema.version());
        return Err(Error::ReadOnly { path, why: what });
    }
    db.batch("PRAGMA query_only = ON")?;
    let findings = check::against_mark(&db, home)?;
    Ok((db, findings))
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
    fs::File::open(&path).map_err(|it| Error::io(&path, &it))?;
    let escaped =
        path.display().to_string().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let uri = format!("file:{escaped}?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    connect(Path::new(&uri), &path, flags, key)
}

fn connect(target: &Path, path: &Path, flags: OpenFlags, key: Option<&Key>) -> Result<Db, Error> {
    let key = key.filter(|_| !is_plain(path));
    let conn =
        Connection::open_with_flags(target, flags).map_err(|it| Error::database(path, &it))?;
    let db = Db::new(conn, path);
    if let Some(key) = key {
        key::unlock(&db, key)?;
    }
    configure(&db).map_err(|it| match it {
        Error::Damaged { path, .. } if key.is_some() => Error::WrongKey { path },
        Error::Damaged { path, .. } if !is_plain(&path) => Error::Damaged {
            path,
            what: "it is not a database; if it is encrypted, its key is missing".to_owned(),
        },
        other => other,
    })?;
    Ok(db)
}

fn configure(db: &Db) -> Result<(), Error> {
    let failed = |it: rusqlite::Error| db.error(&it);
    db.conn.busy_timeout(PATIENCE).map_err(failed)?;
    db.conn.set_prepared_statement_cache_capacity(128);
    db.conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE);
    db.conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).map_err(failed)?;
    // `secure_delete` and the rest are per connection, so every opening sets them.
    db.batch(
        "PRAGMA secure_delete = ON; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;",
    )?;
    // The first real read: a wrong key or a damaged header shows itself here.
    db.pragma("SELECT count(*) FROM sqlite_schema")?;
    Ok(())
}

/// Whether the file is an unencrypted database. Empty and absent files are neither.
pub(crate) fn is_plain(path: &Path) -> bool {
    let mut head = [0_u8; 16];
    fs::File::open(path).and_then(|mut it| it.read_exact(&mut head)).is_ok()
        && head == *PLAIN_HEADER
}

/// An empty or absent file where there had been changes is a loss, not a fresh start.
fn refuse_vanished(home: &Home) -> Result<(), Error> {
    let path = home.database();
    let empty = fs::metadata(&path).map_or(true, |it| it.len() == 0);
    let Reading::Mark(Mark { seq, .. }) = Mark::read(&home.beside("mark"))? else {
        return Ok(());
    };
    // A log that was never merged into an empty main file still holds the changes.
    let in_log = fs::metadata(home.wal()).is_ok_and(|it| it.len() > 0);
    if empty && seq > 0 && !in_log {
        return Err(Error::Damaged {
            path,
            what: format!("the file is gone, but {seq} changes had been saved in it"),
        });
    }
    Ok(())
}
