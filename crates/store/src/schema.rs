//! The schema as an append-only list of migrations, and how a file is brought up to date.

use crate::query::Db;
use crate::{Error, Home, backup};

/// One kind of database file. Entries are only ever appended: the position is the version.
pub(crate) struct Schema {
    pub(crate) migrations: &'static [&'static str],
}

const MEMORY_1: &str = include_str!("migrations/0001_memory.sql");
const REGISTRY_1: &str = include_str!("migrations/0001_registry.sql");

/// A project's `memory.db`.
pub(crate) const MEMORY: Schema = Schema { migrations: &[MEMORY_1] };
/// The user's `user.db`: memories of their own, and the registry of projects.
pub(crate) const USER: Schema = Schema { migrations: &[MEMORY_1, REGISTRY_1] };

/// `WALO`: tells our files from anybody else's.
const APPLICATION_ID: i64 = 0x5741_4c4f;

impl Schema {
    pub(crate) fn version(&self) -> i64 {
        i64::try_from(self.migrations.len()).unwrap_or(i64::MAX)
    }
}

/// The version of an open file; refuses files that are newer than we are, or not ours.
pub(crate) fn version(db: &Db, schema: &Schema) -> Result<i64, Error> {
    let number = |sql: &str| db.pragma(sql).map(|it| it.parse::<i64>().unwrap_or(-1));
    let found = number("PRAGMA user_version")?;
    let damaged = |what: &str| Error::Damaged { path: db.path.clone(), what: what.to_owned() };
    if found > schema.version() && number("PRAGMA application_id")? == APPLICATION_ID {
        return Err(Error::TooNew { path: db.path.clone(), found, known: schema.version() });
    }
    let tables = number("SELECT count(*) FROM sqlite_schema")?;
    let ours = number("PRAGMA application_id")? == APPLICATION_ID;
    match (found, tables, ours) {
        (0, 0, _) => Ok(0),
        (1.., 1.., true) if found <= schema.version() => Ok(found),
        _ => Err(damaged("it is not a database of this program, or its header is damaged")),
    }
}

/// Brings the file to the newest version, one transaction a step, after a backup of what was there.
/// The caller holds the write lock.
pub(crate) fn migrate(db: &Db, schema: &Schema, home: &Home) -> Result<(), Error> {
    let found = version(db, schema)?;
    if found == schema.version() {
        return Ok(());
    }
    if found > 0 {
        backup::before_migration(db, home, found)?;
    }
    let done = usize::try_from(found).unwrap_or(0);
    for (at, sql) in schema.migrations.iter().enumerate().skip(done) {
        let step = format!(
            "BEGIN IMMEDIATE; {sql}; PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {}; COMMIT;",
            at + 1
        );
        if let Err(error) = db.batch(&step) {
            // The step failed as a whole; what it began must not linger in the connection.
            if !db.conn.is_autocommit() {
                db.batch("ROLLBACK")?;
            }
            return Err(error);
        }
    }
    Ok(())
}
