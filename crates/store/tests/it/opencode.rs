//! A host's database is read while the host writes, and is not changed.

use model::Timestamp;
use rusqlite::Connection;
use waylore_store::{Error, read_host_messages, read_host_sessions};

/// The tables of the host, with two sessions.
const TABLES: &str = "
    PRAGMA journal_mode = WAL;
    CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT NOT NULL, time_created INTEGER);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT NOT NULL);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT NOT NULL);
    INSERT INTO session VALUES ('ses_2', 'p', 'ses_1', '/shop', 20), ('ses_1', 'p', NULL, '/shop', 10);
    INSERT INTO message VALUES ('msg_1', 'ses_1', 11, 11, '{\"role\":\"user\"}'), ('msg_9', 'ses_2', 21, 21, '{}');
    INSERT INTO part VALUES ('prt_2', 'msg_1', 'ses_1', 12, 12, '{\"type\":\"text\"}'), ('prt_1', 'msg_1', 'ses_1', 12, 12, '{}');
";

#[test]
fn sessions_and_rows_come_in_their_order_while_the_host_writes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("opencode.db");
    let host = Connection::open(&path).unwrap();
    host.execute_batch(TABLES).unwrap();
    // The host is in the middle of a write.
    host.execute_batch(
        "BEGIN IMMEDIATE; INSERT INTO session VALUES ('ses_3', 'p', NULL, '/x', 30)",
    )
    .unwrap();
    let sessions = read_host_sessions(&path).unwrap();
    let ids: Vec<&str> = sessions.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["ses_1", "ses_2"], "uncommitted rows are not read");
    assert_eq!(sessions[1].parent.as_deref(), Some("ses_1"));
    assert_eq!((sessions[0].directory.as_str(), sessions[0].created), ("/shop", Timestamp(10)));
    let mut seen = Vec::new();
    read_host_messages(&path, "ses_1", |message, parts| {
        let parts: Vec<String> = parts.into_iter().map(|it| it.id).collect();
        seen.push((message.id, parts.join(" ")));
    })
    .unwrap();
    assert_eq!(seen, [("msg_1".to_owned(), "prt_1 prt_2".to_owned())]);
    // Neither the host nor the reader waited for the other.
    host.execute_batch("COMMIT").unwrap();
    assert_eq!(read_host_sessions(&path).unwrap().len(), 3);
}

#[test]
fn another_database_or_none_is_an_error_and_stays_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("opencode.db");
    assert!(read_host_sessions(&path).is_err());
    assert!(!path.exists(), "nothing is created");
    std::fs::write(&path, "not a database, though it is long enough to look like one").unwrap();
    assert!(matches!(read_host_sessions(&path), Err(Error::Damaged { .. })));
    std::fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE other (a)").unwrap();
    assert!(read_host_sessions(&path).is_err());
}
