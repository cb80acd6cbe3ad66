//! Proves an erasure by searching the database and every copy of it, with the key.
//!
//! `erase` removes memories; this file looks for what it may have missed. For plain files the
//! caller also searches the bytes, which says nothing about encrypted ones.

use model::MemoryId;

use crate::connection::{FileAccess, open_file};
use crate::database_state::DatabaseState;
use crate::query::{Db, Query};
use crate::{Error, backup, index_snapshot, injection_log};

/// Every statement of this file, for the tests that replay them on a server.
#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[&COUNT_TRACES, &COUNT_ORPHANED_TEXTS];

/// Rows of any table that still name a memory.
const COUNT_TRACES: Query = Query::shared(
    "count_traces",
    "SELECT (SELECT count(*) FROM memories WHERE id = ?1) + (SELECT count(*) FROM memory_versions WHERE id = ?1) \
     + (SELECT count(*) FROM embeddings WHERE owner = ?1) + (SELECT count(*) FROM changes WHERE id = ?1)",
);
/// Search texts and full-text entries that belong to no memory.
// Search text refers to its memory by row number only. If that row is gone, the text may be an
// erased one.
const COUNT_ORPHANED_TEXTS: Query = Query::local(
    "count_orphaned_texts",
    "SELECT (SELECT count(*) FROM memory_text WHERE n NOT IN (SELECT n FROM memories)) \
     + (SELECT count(*) FROM memories_fts_docsize WHERE id NOT IN (SELECT n FROM memory_text))",
);

/// Returns whether the database or a copy still holds anything of these memories. The caller holds
/// the write lock, so no copy appears or disappears meanwhile.
pub(crate) fn has_traces_of(
    state: &DatabaseState,
    db: &Db,
    ids: &[MemoryId],
) -> Result<bool, Error> {
    if has_traces(db, ids)? || index_snapshot::has_snapshot_of(state, ids) {
        return Ok(true);
    }
    let mut copies = backup::list_backups(&state.paths);
    if let Some(replaced) = backup::find_replaced(&state.paths) {
        // Changes in its log would be missed by a read-only connection.
        backup::merge_replaced_log(state, &replaced.path)?;
        copies.push(replaced);
    }
    for copy in copies {
        if has_traces(&open_file(&copy.path, state.key.as_ref(), FileAccess::ReadOnly)?, ids)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Searches one file.
fn has_traces(db: &Db, ids: &[MemoryId]) -> Result<bool, Error> {
    for id in ids {
        let id = id.0.as_bytes().as_slice();
        if db.select_number(&COUNT_TRACES, &[&id])? > 0 || injection_log::has_injections_of(db, id)?
        {
            return Ok(true);
        }
    }
    Ok(db.select_number(&COUNT_ORPHANED_TEXTS, &[])? > 0)
}
