//! The schema as an append-only list of migrations, and how a file is brought up to date.

#[cfg(test)]
mod tests;

use rusqlite::Connection;

use crate::query::{Db, Query, local};
use crate::site::Site;
use crate::{Error, backup};

/// One kind of database file. Entries are only ever appended: the position is the version.
pub(crate) struct Schema {
    pub(crate) migrations: &'static [&'static str],
}

const MEMORY_1: &str = include_str!("migrations/0001_memory.sql");
const REGISTRY_1: &str = include_str!("migrations/0001_registry.sql");
const AUDIT_CLOCK_2: &str = include_str!("migrations/0002_audit_clock.sql");
const RECALL_3: &str = include_str!("migrations/0003_recall.sql");
const LEARN_4: &str = include_str!("migrations/0004_learn.sql");
const EXPERIENCE_5: &str = include_str!("migrations/0005_experience.sql");

/// A project's `memory.db`.
pub(crate) const MEMORY: Schema =
    Schema { migrations: &[MEMORY_1, AUDIT_CLOCK_2, RECALL_3, LEARN_4, EXPERIENCE_5] };
/// The user's `user.db`: memories of their own, and the registry of projects.
pub(crate) const USER: Schema =
    Schema { migrations: &[MEMORY_1, REGISTRY_1, AUDIT_CLOCK_2, RECALL_3, LEARN_4, EXPERIENCE_5] };

/// `WALO`: tells our files from anybody else's.
const APPLICATION_ID: i64 = 0x5741_4c4f;

const DEFINITIONS: Query =
    local("definitions", "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name");

impl Schema {
    pub(crate) fn version(&self) -> i64 {
        i64::try_from(self.migrations.len()).unwrap_or(i64::MAX)
    }
}

/// The version of an open file; refuses files that are newer than we are, or not ours.
pub(crate) fn version(db: &Db, schema: &Schema) -> Result<i64, Error> {
    let number = |sql: &str| db.pragma(sql).map(|it| it.parse::<i64>().unwrap_or(-1));
    let found = number("PRAGMA user_version")?;
    let tables = number("SELECT count(*) FROM sqlite_schema")?;
    let ours = number("PRAGMA application_id")? == APPLICATION_ID;
    match (found, tables, ours) {
        (0, 0, _) => Ok(0),
        (1.., _, true) if found > schema.version() => {
            Err(Error::TooNew { path: db.path.clone(), found, known: schema.version() })
        }
        (1.., 1.., true) => Ok(found),
        _ => Err(Error::Damaged {
            path: db.path.clone(),
            what: "it is not a database of this program, or its header is damaged".to_owned(),
        }),
    }
}

/// Brings the file to the newest version after a backup of what was there. The caller holds the
/// write lock.
pub(crate) fn migrate(db: &Db, site: &Site) -> Result<(), Error> {
    let found = version(db, site.schema)?;
    if found > 0 && found < site.schema.version() {
        backup::before_migration(site, db, found)?;
    }
    upgrade(db, site.schema)
}

/// Takes the missing steps, each in a transaction of its own.
pub(crate) fn upgrade(db: &Db, schema: &Schema) -> Result<(), Error> {
    let done = usize::try_from(version(db, schema)?).unwrap_or(0);
    for (at, sql) in schema.migrations.iter().enumerate().skip(done) {
        db.transaction(|db| {
            db.batch(sql)?;
            db.batch(&format!(
                "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {};",
                at + 1
            ))
        })?;
    }
    Ok(())
}

/// The tables, indexes and triggers that are not defined as the migrations define them.
pub(crate) fn altered(db: &Db, schema: &Schema) -> Result<Vec<String>, Error> {
    let conn = Connection::open_in_memory().map_err(|it| db.error(&it))?;
    let model = Db::new(conn, &db.path, None);
    upgrade(&model, schema)?;
    let definitions = |db: &Db| {
        db.select(&DEFINITIONS, &[], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))
    };
    let (expected, found) = (definitions(&model)?, definitions(db)?);
    let missing = expected.iter().filter(|it| !found.contains(it));
    let strange = found.iter().filter(|it| !expected.iter().any(|known| known.0 == it.0));
    Ok(missing.chain(strange).map(|it| it.0.clone()).collect())
}
