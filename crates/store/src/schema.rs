//! The schema as an append-only list of migrations.
//!
//! The version of a file is the number of migrations that ran on it, stored in `PRAGMA
//! user_version`. The writer runs the missing ones when it opens a file. Files of newer versions
//! and of other programs are refused and left untouched.

#[cfg(test)]
mod tests;

use rusqlite::Connection;

use crate::database_state::DatabaseState;
use crate::query::{Db, Query};
use crate::{Error, backup};

/// Migrations of one kind of database file. They are only ever appended: the position is the
/// version.
pub(crate) struct DatabaseSchema {
    pub(crate) migrations: &'static [&'static str],
}

// The number at the end of a name is that of the SQL file.
const MEMORY_1: &str = include_str!("migrations/0001_memory.sql");
const REGISTRY_1: &str = include_str!("migrations/0001_registry.sql");
const AUDIT_CLOCK_2: &str = include_str!("migrations/0002_audit_clock.sql");
const RECALL_3: &str = include_str!("migrations/0003_recall.sql");
const LEARN_4: &str = include_str!("migrations/0004_learn.sql");
const EXPERIENCE_5: &str = include_str!("migrations/0005_experience.sql");
const PLAIN_NAMES_6: &str = include_str!("migrations/0006_plain_names.sql");
const INJECTIONS_7: &str = include_str!("migrations/0007_injections.sql");
const PINNED_8: &str = include_str!("migrations/0008_pinned.sql");

// The version after a migration is its position in the list, counted from 1. In `MEMORY` it is equal to
// the number in the name. `USER` has `REGISTRY_1` in second place, so there everything after it comes
// one later: `RECALL_3` leads to version 3 in `MEMORY`, and to version 4 in `USER`.

/// A project's `memory.db`.
pub(crate) const MEMORY: DatabaseSchema = DatabaseSchema {
    migrations: &[
        MEMORY_1,
        AUDIT_CLOCK_2,
        RECALL_3,
        LEARN_4,
        EXPERIENCE_5,
        PLAIN_NAMES_6,
        INJECTIONS_7,
        PINNED_8,
    ],
};
/// The user's `user.db`: memories of their own, and the registry of projects.
pub(crate) const USER: DatabaseSchema = DatabaseSchema {
    migrations: &[
        MEMORY_1,
        REGISTRY_1,
        AUDIT_CLOCK_2,
        RECALL_3,
        LEARN_4,
        EXPERIENCE_5,
        PLAIN_NAMES_6,
        INJECTIONS_7,
        PINNED_8,
    ],
};

/// `WALO`: marks database files of this program.
const APPLICATION_ID: i64 = 0x5741_4c4f;

/// SQL of every table, index and trigger.
const SELECT_DEFINITIONS: Query = Query::local(
    "definitions",
    "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name",
);

impl DatabaseSchema {
    pub(crate) fn version(&self) -> i64 {
        i64::try_from(self.migrations.len()).unwrap_or(i64::MAX)
    }
}

/// Reads the schema version. Refuses files of newer versions and of other programs.
pub(crate) fn read_version(db: &Db, schema: &DatabaseSchema) -> Result<i64, Error> {
    // `query_pragma` also runs a SELECT: it returns the first value of any statement.
    let number = |sql: &str| db.query_pragma(sql).map(|it| it.parse::<i64>().unwrap_or(-1));
    let found = number("PRAGMA user_version")?;
    let n_tables = number("SELECT count(*) FROM sqlite_schema")?;
    let is_ours = number("PRAGMA application_id")? == APPLICATION_ID;
    if found == 0 && n_tables == 0 {
        // A new, empty file.
        return Ok(0);
    }
    if is_ours && found > schema.version() {
        return Err(Error::NewerSchema { path: db.path.clone(), found, known: schema.version() });
    }
    if is_ours && found > 0 && n_tables > 0 {
        return Ok(found);
    }
    Err(Error::Damaged {
        path: db.path.clone(),
        what: "it is not a database of this program, or its header is damaged".to_owned(),
    })
}

/// Migrates to the newest version, after a backup of the old one. The caller holds the write lock.
pub(crate) fn migrate_with_backup(db: &Db, state: &DatabaseState) -> Result<(), Error> {
    let found = read_version(db, state.schema)?;
    // A new file has nothing to back up.
    if found > 0 && found < state.schema.version() {
        backup::back_up_before_migration(state, db, found)?;
    }
    run_migrations(db, state.schema)
}

/// Runs the missing migrations, each in its own transaction.
pub(crate) fn run_migrations(db: &Db, schema: &DatabaseSchema) -> Result<(), Error> {
    let n_done = usize::try_from(read_version(db, schema)?).unwrap_or(0);
    for (position, sql) in schema.migrations.iter().enumerate().skip(n_done) {
        db.transaction(|db| {
            db.execute_batch(sql)?;
            db.execute_batch(&format!(
                "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {};",
                position + 1
            ))
        })?;
    }
    Ok(())
}

/// Finds tables, indexes and triggers whose definition differs from that of the migrations.
pub(crate) fn find_altered_definitions(
    db: &Db,
    schema: &DatabaseSchema,
) -> Result<Vec<String>, Error> {
    // The reference is built by the same migrations, so SQLite's own spelling is the same.
    let conn = Connection::open_in_memory().map_err(|it| db.error(&it))?;
    let reference = Db::new(conn, &db.path, None);
    run_migrations(&reference, schema)?;
    let definitions = |db: &Db| {
        db.select(&SELECT_DEFINITIONS, &[], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
        })
    };
    let (expected, found) = (definitions(&reference)?, definitions(db)?);
    // A changed definition counts as missing, an additional object as unknown.
    let missing = expected.iter().filter(|it| !found.contains(it));
    let unknown = found.iter().filter(|it| !expected.iter().any(|known| known.0 == it.0));
    Ok(missing.chain(unknown).map(|(name, _)| name.clone()).collect())
}
