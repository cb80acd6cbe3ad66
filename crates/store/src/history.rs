//! Earlier versions of memories, and the audit trail with what can be undone.
//!
//! Each applied batch is one row of table `audit`, and each version it made is one row of table
//! `changes`. The replaced versions are in `memory_versions`. `apply_batch` writes all three; this
//! file only reads them.

use std::sync::Arc;

use model::{Actor, HybridTimestamp, Memory, MemoryId, Timestamp};
use rusqlite::Row;

use crate::damage_check::{DamageFinding, SELECT_ALL_VERSIONS};
use crate::memories::CheckedRows;
use crate::memory_row::{columns, read_memory};
use crate::query::{Db, Query};
use crate::store_reader::StoreReader;
use crate::write_batch::AuditAction;
use crate::{Error, change_clock};

/// One transaction in the audit trail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    pub batch: i64,
    pub at: Timestamp,
    pub actor: Actor,
    pub action: AuditAction,
    pub detail: Option<String>,
    pub undone_by: Option<i64>,
    /// Orders the entries of different databases. The wall clock may have been set back.
    pub hlc: HybridTimestamp,
}

/// Effect of a batch on one memory: the version it made, and the memory before it (`None` if the
/// batch created it).
#[derive(Clone, Debug)]
pub struct UndoStep {
    pub id: MemoryId,
    /// Version that the batch made.
    pub version: u32,
    pub before: Option<Memory>,
}

/// Queries about earlier versions of memories and about the audit trail.
#[derive(Clone, Copy)]
pub struct HistoryQueries<'a> {
    reader: &'a StoreReader,
}

impl<'a> HistoryQueries<'a> {
    pub(crate) fn new(reader: &'a StoreReader) -> Self {
        Self { reader }
    }

    /// Earlier versions of a memory, oldest first.
    pub async fn list_versions(self, id: MemoryId) -> Result<Vec<Memory>, Error> {
        let state = Arc::clone(self.reader.state());
        self.reader.read(move |db| Ok(state.report_damage(select_versions(db, id)?))).await
    }

    /// The earlier versions of all memories, in the order they were replaced.
    pub async fn list_all_versions(self) -> Result<Vec<Memory>, Error> {
        let state = Arc::clone(self.reader.state());
        self.reader.read(move |db| Ok(state.report_damage(select_all_versions(db)?))).await
    }

    /// Audit entries of a memory, oldest first, with the version each batch made.
    pub async fn audit_entries_of(self, id: MemoryId) -> Result<Vec<(AuditEntry, u32)>, Error> {
        self.reader.read(move |db| select_entries_of(db, id)).await
    }

    /// Latest audit entries, newest first.
    pub async fn recent_entries(self, limit: u32) -> Result<Vec<AuditEntry>, Error> {
        self.reader.read(move |db| select_recent(db, limit)).await
    }

    /// The batch that `undo` would take back: the last one overall, or of one memory.
    pub async fn last_undoable_entry(
        self,
        id: Option<MemoryId>,
    ) -> Result<Option<AuditEntry>, Error> {
        self.reader.read(move |db| select_last_undoable(db, id)).await
    }

    /// Effects of a batch on each memory, last change first.
    pub async fn undo_steps(self, batch: i64) -> Result<Vec<UndoStep>, Error> {
        self.reader.read(move |db| select_undo_steps(db, batch)).await
    }

    /// Last reading of the hybrid clock. Another store continues after it, see
    /// `WriteBatch::after_clock`.
    pub async fn hybrid_clock(self) -> Result<HybridTimestamp, Error> {
        self.reader.read(change_clock::read_clock).await
    }
}

/// Every statement of this file, for the tests that replay them on a server.
#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[
    &SELECT_VERSIONS,
    &SELECT_ENTRIES_OF,
    &SELECT_LAST_UNDOABLE,
    &SELECT_LAST_UNDOABLE_OF,
    &SELECT_CHANGED_VERSIONS,
    &SELECT_VERSION,
    &SELECT_RECENT,
];

/// Earlier versions of a memory, oldest first.
const SELECT_VERSIONS: Query = Query::shared(
    "versions",
    concat!("SELECT ", columns!(), " FROM memory_versions WHERE id = ?1 ORDER BY version"),
);
/// Audit entries of the batches that changed a memory, with the version each made.
const SELECT_ENTRIES_OF: Query = Query::shared(
    "entries_of",
    "SELECT a.batch, a.at, a.actor, a.action, a.detail, a.undone_by, a.hlc, c.version FROM changes c \
     JOIN audit a ON a.batch = c.batch WHERE c.id = ?1 ORDER BY c.seq",
);
/// The newest batch that `undo` may take back.
// The list repeats `AuditAction::is_undoable`; a test compares them.
const SELECT_LAST_UNDOABLE: Query = Query::shared(
    "last_undoable",
    "SELECT batch, at, actor, action, detail, undone_by, hlc FROM audit WHERE undone_by IS NULL \
     AND action IN ('remember', 'merge', 'supersede', 'edit', 'pin', 'flag', 'verify', 'forget', 'restore', 'import') \
     ORDER BY batch DESC LIMIT 1",
);
/// The newest batch that changed a memory and that its undo may take back.
// The list repeats `AuditAction::is_undoable_for_memory`, negated; a test compares them.
const SELECT_LAST_UNDOABLE_OF: Query = Query::shared(
    "last_undoable_of",
    "SELECT a.batch, a.at, a.actor, a.action, a.detail, a.undone_by, a.hlc FROM audit a WHERE a.undone_by IS NULL \
     AND a.batch IN (SELECT batch FROM changes WHERE id = ?1) \
     AND a.action NOT IN ('undo', 'settings', 'erase') ORDER BY a.batch DESC LIMIT 1",
);
/// Versions that a batch made, last change first.
const SELECT_CHANGED_VERSIONS: Query = Query::shared(
    "changed_versions",
    "SELECT id, version FROM changes WHERE batch = ?1 AND id IS NOT NULL ORDER BY seq DESC",
);
/// One earlier version of a memory.
const SELECT_VERSION: Query = Query::shared(
    "version_before",
    concat!("SELECT ", columns!(), " FROM memory_versions WHERE id = ?1 AND version = ?2"),
);
/// The newest audit entries.
const SELECT_RECENT: Query = Query::shared(
    "recent",
    "SELECT batch, at, actor, action, detail, undone_by, hlc FROM audit ORDER BY batch DESC LIMIT ?1",
);

/// Selects the earlier versions of a memory, oldest first.
pub(crate) fn select_versions(db: &Db, id: MemoryId) -> Result<CheckedRows<Memory>, Error> {
    let rows =
        db.select(&SELECT_VERSIONS, &[&id.0.as_bytes().as_slice()], |row| read_memory(row, 0))?;
    Ok(CheckedRows::partition(rows, DamageFinding::DamagedVersion))
}

/// The earlier versions of all memories, in the order they were replaced.
pub(crate) fn select_all_versions(db: &Db) -> Result<CheckedRows<Memory>, Error> {
    let rows = db.select(&SELECT_ALL_VERSIONS, &[], |row| read_memory(row, 0))?;
    Ok(CheckedRows::partition(rows, DamageFinding::DamagedVersion))
}

/// Selects the audit entries of a memory, oldest first, with the version each batch made.
pub(crate) fn select_entries_of(db: &Db, id: MemoryId) -> Result<Vec<(AuditEntry, u32)>, Error> {
    db.select(&SELECT_ENTRIES_OF, &[&id.0.as_bytes().as_slice()], |row| {
        Ok((read_entry(row)?, row.get(7)?))
    })
}

/// Selects the latest audit entries, newest first.
pub(crate) fn select_recent(db: &Db, limit: u32) -> Result<Vec<AuditEntry>, Error> {
    db.select(&SELECT_RECENT, &[&limit], read_entry)
}

/// Selects the batch that `undo` would take back: the last one overall, or of one memory.
pub(crate) fn select_last_undoable(
    db: &Db,
    id: Option<MemoryId>,
) -> Result<Option<AuditEntry>, Error> {
    match id {
        None => db.select_one(&SELECT_LAST_UNDOABLE, &[], read_entry),
        Some(id) => {
            db.select_one(&SELECT_LAST_UNDOABLE_OF, &[&id.0.as_bytes().as_slice()], read_entry)
        }
    }
}

/// Selects what a batch did to each memory, last change first.
pub(crate) fn select_undo_steps(db: &Db, batch: i64) -> Result<Vec<UndoStep>, Error> {
    let changed = db.select(&SELECT_CHANGED_VERSIONS, &[&batch], |row| {
        Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, u32>(1)?))
    })?;
    let mut steps = Vec::new();
    for (id, version) in changed {
        let before =
            db.select_one(&SELECT_VERSION, &[&id, &(version - 1)], |row| read_memory(row, 0))?;
        // Undoing onto a damaged version would save the damage as a new version.
        let before = before.transpose().map_err(|it| Error::Damaged {
            path: db.path.clone(),
            what: format!("an older version: {}", it.what),
        })?;
        // Only this program writes ids, so a malformed one names no memory that could be restored.
        if let Some(id) = MemoryId::from_bytes(&id) {
            steps.push(UndoStep { id, version, before });
        }
    }
    Ok(steps)
}

/// Reads the seven columns of an audit entry, in the order in which all statements above list them.
fn read_entry(row: &Row<'_>) -> rusqlite::Result<AuditEntry> {
    let unreadable = |column: usize| {
        rusqlite::Error::InvalidColumnType(column, "audit".to_owned(), rusqlite::types::Type::Text)
    };
    Ok(AuditEntry {
        batch: row.get(0)?,
        at: Timestamp(row.get(1)?),
        actor: Actor::parse(&row.get::<_, String>(2)?).ok_or_else(|| unreadable(2))?,
        action: AuditAction::from_slug(&row.get::<_, String>(3)?).ok_or_else(|| unreadable(3))?,
        detail: row.get(4)?,
        undone_by: row.get(5)?,
        hlc: HybridTimestamp(row.get(6)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The SQL list of all actions that `wanted` accepts.
    fn sql_list(wanted: impl Fn(AuditAction) -> bool) -> String {
        let slugs = AuditAction::ALL.iter().filter(|it| wanted(**it));
        let quoted: Vec<String> = slugs.map(|it| format!("'{}'", it.slug())).collect();
        format!("IN ({})", quoted.join(", "))
    }

    #[test]
    fn the_database_knows_the_same_undoable_actions() {
        let list = sql_list(AuditAction::is_undoable);
        assert!(SELECT_LAST_UNDOABLE.sql.contains(&format!("action {list}")), "{list}");
        let list = sql_list(|it| !it.is_undoable_for_memory());
        assert!(SELECT_LAST_UNDOABLE_OF.sql.contains(&format!("action NOT {list}")), "{list}");
    }
}
