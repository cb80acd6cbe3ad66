//! Reads the session database of the `OpenCode` host.
//!
//! The file belongs to the host. It is opened read-only and for one query at a time, so the host
//! never waits; its schema is not trusted. The rows are passed on as they are: `agents` knows what
//! the JSON in them means.

use std::path::Path;
use std::time::Duration;

use model::Timestamp;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, Row};

use crate::Error;
use crate::query::{Db, Query};

/// A session in the host's table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSessionRow {
    pub id: String,
    /// Folder in which the session was started.
    pub directory: String,
    /// Session that started this one.
    pub parent: Option<String>,
    pub created: Timestamp,
}

/// A message, or one part of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostMessageRow {
    pub id: String,
    pub created: Timestamp,
    /// JSON according to the host; empty if it is longer than the limit.
    pub data: String,
}

/// All sessions, oldest first.
const SELECT_SESSIONS: Query = Query::local(
    "host_sessions",
    "SELECT id, directory, parent_id, time_created FROM session ORDER BY time_created, id",
);
/// Messages of a session, oldest first.
const SELECT_MESSAGE_IDS: Query = Query::local(
    "host_messages",
    "SELECT id FROM message WHERE session_id = ?1 ORDER BY time_created, id",
);
/// One message.
// Longer values than 16 MiB are read as empty, here and below: a transcript is parsed in memory.
const SELECT_MESSAGE: Query = Query::local(
    "host_message",
    "SELECT id, time_created, CASE WHEN length(data) <= 16777216 THEN data ELSE '' END FROM message WHERE id = ?1",
);
/// The parts of a message, in order.
const SELECT_PARTS: Query = Query::local(
    "host_parts",
    "SELECT id, time_created, CASE WHEN length(data) <= 16777216 THEN data ELSE '' END FROM part \
     WHERE session_id = ?1 AND message_id = ?2 ORDER BY id",
);

/// Waiting time for the host's own writes.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
/// Largest value that `SQLite` loads from this file. The statements above pass on less.
const MAX_VALUE_BYTES: i32 = 64 << 20;

/// Reads the sessions in a host's database, oldest first.
pub fn read_host_sessions(path: &Path) -> Result<Vec<HostSessionRow>, Error> {
    let read = |row: &Row<'_>| {
        Ok(HostSessionRow {
            id: row.get(0)?,
            directory: row.get(1)?,
            parent: row.get(2)?,
            created: Timestamp(row.get(3)?),
        })
    };
    open_read_only(path)?.select(&SELECT_SESSIONS, &[], read).map_err(without_key_hint)
}

/// Visits the messages of a session in order, each with its parts. Only one message is in memory at
/// a time.
pub fn read_host_messages(
    path: &Path,
    session: &str,
    mut visit: impl FnMut(HostMessageRow, Vec<HostMessageRow>),
) -> Result<(), Error> {
    visit_messages(&open_read_only(path)?, session, &mut visit).map_err(without_key_hint)
}

fn visit_messages(
    db: &Db,
    session: &str,
    visit: &mut impl FnMut(HostMessageRow, Vec<HostMessageRow>),
) -> Result<(), Error> {
    let read = |row: &Row<'_>| {
        Ok(HostMessageRow { id: row.get(0)?, created: Timestamp(row.get(1)?), data: row.get(2)? })
    };
    let messages = db.select(&SELECT_MESSAGE_IDS, &[&session], |row| row.get::<_, String>(0))?;
    for id in messages {
        // The host may have deleted the message since.
        let Some(message) = db.select_one(&SELECT_MESSAGE, &[&id], read)? else { continue };
        visit(message, db.select(&SELECT_PARTS, &[&session, &id], read)?);
    }
    Ok(())
}

/// Replaces an error that suggests a missing key: the host's database is never encrypted with a key
/// of this program.
fn without_key_hint(error: Error) -> Error {
    match error {
        Error::NotADatabase { path } => {
            Error::Damaged { path, what: "file is not a database".to_owned() }
        }
        other => other,
    }
}

/// Opens the file without leaving a trace in it.
fn open_read_only(path: &Path) -> Result<Db, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let failed =
        |it: &rusqlite::Error| Error::Damaged { path: path.to_owned(), what: it.to_string() };
    let conn = Connection::open_with_flags(path, flags).map_err(|it| failed(&it))?;
    let configure = || -> rusqlite::Result<()> {
        conn.busy_timeout(LOCK_TIMEOUT)?;
        conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES);
        // Even if this connection closes last, merging the log is left to the host.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        // A malicious schema could otherwise run functions with side effects.
        conn.pragma_update(None, "trusted_schema", false)?;
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        conn.pragma_update(None, "query_only", true)
    };
    configure().map_err(|it| failed(&it))?;
    Ok(Db::new(conn, path, None))
}
