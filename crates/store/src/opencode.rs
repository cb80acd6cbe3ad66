//! The database in which `OpenCode` keeps its sessions: somebody else's file, only ever read.
//!
//! Opened for reading alone and for one question at a time, so the host is never kept waiting; nothing
//! in its schema is trusted. What the rows mean, others know.

use std::path::Path;
use std::time::Duration;

use model::Timestamp;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, Row};

use crate::Error;
use crate::query::{Db, Query, local};

/// A session of the host, as its table has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSession {
    pub id: String,
    /// The folder it was started in.
    pub directory: String,
    /// The session that started it.
    pub parent: Option<String>,
    pub created: Timestamp,
}

/// A message, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRow {
    pub id: String,
    pub created: Timestamp,
    /// JSON, by the host's word; empty where it is longer than anything we read.
    pub data: String,
}

const SESSIONS: Query = local(
    "host_sessions",
    "SELECT id, directory, parent_id, time_created FROM session ORDER BY time_created, id",
);
const MESSAGES: Query = local(
    "host_messages",
    "SELECT id FROM message WHERE session_id = ?1 ORDER BY time_created, id",
);
const MESSAGE: Query = local(
    "host_message",
    "SELECT id, time_created, CASE WHEN length(data) <= 16777216 THEN data ELSE '' END FROM message WHERE id = ?1",
);
const PARTS: Query = local(
    "host_parts",
    "SELECT id, time_created, CASE WHEN length(data) <= 16777216 THEN data ELSE '' END FROM part \
     WHERE session_id = ?1 AND message_id = ?2 ORDER BY id",
);

/// How long the host's own writing is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// The longest value that is read at all.
const MAX_VALUE: i32 = 64 << 20;

/// The sessions of a host's database, oldest first.
pub fn host_sessions(path: &Path) -> Result<Vec<HostSession>, Error> {
    let read = |row: &Row<'_>| {
        Ok(HostSession {
            id: row.get(0)?,
            directory: row.get(1)?,
            parent: row.get(2)?,
            created: Timestamp(row.get(3)?),
        })
    };
    open(path)?.select(&SESSIONS, &[], read)
}

/// What one session said and did: its messages in the order they were made, each with its parts, one at
/// a time, however long the session is.
pub fn host_log(
    path: &Path,
    session: &str,
    mut visit: impl FnMut(HostRow, Vec<HostRow>),
) -> Result<(), Error> {
    let read = |row: &Row<'_>| {
        Ok(HostRow { id: row.get(0)?, created: Timestamp(row.get(1)?), data: row.get(2)? })
    };
    let db = open(path)?;
    let messages = db.select(&MESSAGES, &[&session], |row| row.get::<_, String>(0))?;
    for id in messages {
        // The host may take back what it has written.
        let Some(message) = db.one(&MESSAGE, &[&id], read)? else { continue };
        visit(message, db.select(&PARTS, &[&session, &id], read)?);
    }
    Ok(())
}

fn open(path: &Path) -> Result<Db, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let failed =
        |it: &rusqlite::Error| Error::Damaged { path: path.to_owned(), what: it.to_string() };
    let conn = Connection::open_with_flags(path, flags).map_err(|it| failed(&it))?;
    let guarded = || -> rusqlite::Result<()> {
        conn.busy_timeout(PATIENCE)?;
        conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE);
        // Whoever closes last: the host's log is the host's to merge.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        conn.pragma_update(None, "trusted_schema", false)?;
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        conn.pragma_update(None, "query_only", true)
    };
    guarded().map_err(|it| failed(&it))?;
    Ok(Db::new(conn, path, None))
}
