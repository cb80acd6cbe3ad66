//! What was before: the versions of a memory, and the batches that can be taken back.

use model::{Actor, Hlc, Memory, MemoryId, Timestamp};
use rusqlite::Row;

use crate::Error;
use crate::batch::Action;
use crate::check::{EVERY_VERSION, Finding};
use crate::memories::Read;
use crate::query::{Db, Query, both};
use crate::row::{columns, read_memory};

/// One transaction in the audit trail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub batch: i64,
    pub at: Timestamp,
    pub actor: Actor,
    pub action: Action,
    pub detail: Option<String>,
    pub undone_by: Option<i64>,
    /// What orders entries of different notebooks; the wall clock may have been set back.
    pub hlc: Hlc,
}

/// A memory as a batch left it (`after`) and as it was before, `None` when the batch created it.
#[derive(Clone, Debug)]
pub struct Step {
    pub id: MemoryId,
    /// The version the batch made.
    pub version: u32,
    pub before: Option<Memory>,
}

#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] =
    &[&VERSIONS, &ENTRIES_OF, &LAST_UNDOABLE, &LAST_UNDOABLE_OF, &STEPS, &BEFORE, &RECENT];

const VERSIONS: Query = both(
    "versions",
    concat!("SELECT ", columns!(), " FROM memory_versions WHERE id = ?1 ORDER BY version"),
);
const ENTRIES_OF: Query = both(
    "entries_of",
    "SELECT a.batch, a.at, a.actor, a.action, a.detail, a.undone_by, a.hlc, c.version FROM changes c \
     JOIN audit a ON a.batch = c.batch WHERE c.id = ?1 ORDER BY c.seq",
);
// Both lists are `Action::undoable` and `undoable_of_one`, in words the database knows; see the test.
const LAST_UNDOABLE: Query = both(
    "last_undoable",
    "SELECT batch, at, actor, action, detail, undone_by, hlc FROM audit WHERE undone_by IS NULL \
     AND action IN ('remember', 'merge', 'supersede', 'edit', 'pin', 'flag', 'verify', 'forget', 'restore', 'import') \
     ORDER BY batch DESC LIMIT 1",
);
const LAST_UNDOABLE_OF: Query = both(
    "last_undoable_of",
    "SELECT a.batch, a.at, a.actor, a.action, a.detail, a.undone_by, a.hlc FROM audit a WHERE a.undone_by IS NULL \
     AND a.batch IN (SELECT batch FROM changes WHERE id = ?1) \
     AND a.action NOT IN ('undo', 'settings', 'erase') ORDER BY a.batch DESC LIMIT 1",
);
const STEPS: Query = both(
    "steps",
    "SELECT id, version FROM changes WHERE batch = ?1 AND id IS NOT NULL ORDER BY seq DESC",
);
const BEFORE: Query = both(
    "before",
    concat!("SELECT ", columns!(), " FROM memory_versions WHERE id = ?1 AND version = ?2"),
);
const RECENT: Query = both(
    "recent",
    "SELECT batch, at, actor, action, detail, undone_by, hlc FROM audit ORDER BY batch DESC LIMIT ?1",
);

/// The earlier versions of a memory, oldest first.
pub(crate) fn versions(db: &Db, id: MemoryId) -> Result<Read<Memory>, Error> {
    let rows = db.select(&VERSIONS, &[&id.0.as_bytes().as_slice()], |row| read_memory(row, 0))?;
    Ok(Read::part(rows, Finding::Version))
}

/// The earlier versions of all memories, in the order they were replaced.
pub(crate) fn every_version(db: &Db) -> Result<Read<Memory>, Error> {
    let rows = db.select(&EVERY_VERSION, &[], |row| read_memory(row, 0))?;
    Ok(Read::part(rows, Finding::Version))
}

/// What happened to a memory, oldest first, with the version each batch made.
pub(crate) fn entries_of(db: &Db, id: MemoryId) -> Result<Vec<(Entry, u32)>, Error> {
    db.select(&ENTRIES_OF, &[&id.0.as_bytes().as_slice()], |row| {
        Ok((read_entry(row)?, row.get(7)?))
    })
}

/// The latest batches of the whole store, newest first.
pub(crate) fn recent(db: &Db, limit: u32) -> Result<Vec<Entry>, Error> {
    db.select(&RECENT, &[&limit], read_entry)
}

/// The batch that `undo` would take back: the last one of the store, or of one memory.
pub(crate) fn last_undoable(db: &Db, id: Option<MemoryId>) -> Result<Option<Entry>, Error> {
    match id {
        None => db.one(&LAST_UNDOABLE, &[], read_entry),
        Some(id) => db.one(&LAST_UNDOABLE_OF, &[&id.0.as_bytes().as_slice()], read_entry),
    }
}

/// What a batch did to each memory, last change first.
pub(crate) fn steps(db: &Db, batch: i64) -> Result<Vec<Step>, Error> {
    let changed =
        db.select(&STEPS, &[&batch], |row| Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, u32>(1)?)))?;
    let mut res = Vec::new();
    for (id, version) in changed {
        let before = db.one(&BEFORE, &[&id, &(version - 1)], |row| read_memory(row, 0))?;
        let before = before.transpose().map_err(|it| Error::Damaged {
            path: db.path.clone(),
            what: format!("an older version: {}", it.what),
        })?;
        if let Some(id) = MemoryId::from_bytes(&id) {
            res.push(Step { id, version, before });
        }
    }
    Ok(res)
}

fn read_entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let unreadable = |at: usize| {
        rusqlite::Error::InvalidColumnType(at, "audit".to_owned(), rusqlite::types::Type::Text)
    };
    Ok(Entry {
        batch: row.get(0)?,
        at: Timestamp(row.get(1)?),
        actor: Actor::parse(&row.get::<_, String>(2)?).ok_or_else(|| unreadable(2))?,
        action: Action::from_slug(&row.get::<_, String>(3)?).ok_or_else(|| unreadable(3))?,
        detail: row.get(4)?,
        undone_by: row.get(5)?,
        hlc: Hlc(row.get(6)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(wanted: impl Fn(Action) -> bool) -> String {
        let slugs = Action::ALL.iter().filter(|it| wanted(**it));
        let quoted: Vec<String> = slugs.map(|it| format!("'{}'", it.slug())).collect();
        format!("IN ({})", quoted.join(", "))
    }

    #[test]
    fn the_database_knows_the_same_undoable_actions() {
        let list = listed(Action::undoable);
        assert!(LAST_UNDOABLE.sql.contains(&format!("action {list}")), "{list}");
        let list = listed(|it| !it.undoable_of_one());
        assert!(LAST_UNDOABLE_OF.sql.contains(&format!("action NOT {list}")), "{list}");
    }
}
