//! Applies a batch of changes as one durable, idempotent, audited transaction.
//!
//! This is the only way memories are written. A batch becomes one row of table `audit`, and every
//! version it makes one row of table `changes`. The number of a batch is the sequence number of its
//! first change. The writer thread calls `apply_batch` inside a transaction that it may share with
//! other batches.

use model::{Actor, HybridTimestamp, Memory, MemoryId, Timestamp, UsageCounters};
use rusqlite::ToSql;
use rusqlite::types::Value;

use crate::change_clock::{ADD_META, ChangeClock, record_use};
use crate::erase::{DELETE_VECTORS, id_hash};
use crate::memory_row::{
    CheckedMemory, assignments, columns, count_values, placeholders, read_memory, to_values,
};
use crate::query::{Db, Query};
use crate::vectors;
use crate::write_batch::{AppliedBatch, AuditAction, StoreChange, WriteBatch};
use crate::{Error, learning, lookup_tables};

/// Every statement of this file, for the tests that replay them on a server.
#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[
    &SELECT_BATCH_BY_KEY,
    &SELECT_CHANGED_IDS,
    &INSERT_MEMORY,
    &SELECT_CURRENT,
    &COPY_TO_VERSIONS,
    &UPDATE_MEMORY,
    &COUNT_ERASED,
    &INSERT_AUDIT_ENTRY,
    &INSERT_CHANGE,
    &SET_COUNTS,
    &PUT_SETTING,
    &DELETE_SETTING,
    &MARK_UNDONE,
];

/// The batch that was applied under an idempotency key.
const SELECT_BATCH_BY_KEY: Query =
    Query::shared("batch_by_key", "SELECT batch FROM audit WHERE key = ?1");
/// Memories that a batch changed, in order.
const SELECT_CHANGED_IDS: Query = Query::shared(
    "changed_ids",
    "SELECT id FROM changes WHERE batch = ?1 AND id IS NOT NULL ORDER BY seq",
);
/// Inserts a memory: its columns, then its short id.
const INSERT_MEMORY: Query = Query::shared(
    "insert_memory",
    concat!("INSERT INTO memories (", columns!(), ", short) VALUES (", placeholders!(), ", ?)"),
);
/// Row number and current version of a memory.
const SELECT_CURRENT: Query = Query::shared(
    "current_memory",
    concat!("SELECT n, ", columns!(), " FROM memories WHERE id = ?1"),
);
/// Keeps the current version of a memory before a batch replaces it.
const COPY_TO_VERSIONS: Query = Query::shared(
    "copy_to_versions",
    concat!(
        "INSERT INTO memory_versions (batch, ",
        columns!(),
        ") SELECT ?1, ",
        columns!(),
        " FROM memories WHERE n = ?2"
    ),
);
/// Overwrites a row with all columns of a memory; the last parameter is the row number.
const UPDATE_MEMORY: Query =
    Query::shared("update_memory", concat!("UPDATE memories SET ", assignments!(), " WHERE n = ?"));
/// 1 if an id is in the ledger of erased memories.
const COUNT_ERASED: Query =
    Query::shared("is_erased", "SELECT count(*) FROM erase_ledger WHERE id_hash = ?1");
/// Adds a batch to the audit trail.
const INSERT_AUDIT_ENTRY: Query = Query::shared(
    "add_audit_entry",
    "INSERT INTO audit (batch, key, at, actor, action, detail, hlc) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
);
/// Records which version of which memory a batch made.
const INSERT_CHANGE: Query = Query::shared(
    "add_change",
    "INSERT INTO changes (seq, batch, id, version) VALUES (?1, ?2, ?3, ?4)",
);
/// Sets the usage counters of a row, with their hash.
const SET_COUNTS: Query = Query::shared(
    "set_counts",
    "UPDATE memories SET access_count = ?2, used_count = ?3, last_accessed_at = ?4, last_used_at = ?5, \
     counts_hash = ?6 WHERE n = ?1",
);
/// Stores a setting, replacing its earlier value.
const PUT_SETTING: Query = Query::shared(
    "put_setting",
    "INSERT INTO settings (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
);
/// Deletes a setting, which then has its default again.
const DELETE_SETTING: Query =
    Query::shared("delete_setting", "DELETE FROM settings WHERE key = ?1");
/// Records which batch undid a batch.
const MARK_UNDONE: Query =
    Query::shared("mark_undone", "UPDATE audit SET undone_by = ?2 WHERE batch = ?1");

/// Applies a batch inside the caller's transaction. A batch whose key was seen before changes
/// nothing.
pub(crate) fn apply_batch(db: &Db, batch: &WriteBatch) -> Result<AppliedBatch, Error> {
    let key = batch.key.as_deref().map(fingerprint_key);
    if let Some(key) = &key
        && let Some(seen) =
            db.select_one(&SELECT_BATCH_BY_KEY, &[key], |row| row.get::<_, i64>(0))?
    {
        let ids = db.select(&SELECT_CHANGED_IDS, &[&seen], |row| row.get::<_, Vec<u8>>(0))?;
        let ids = ids.iter().filter_map(|it| MemoryId::from_bytes(it)).collect();
        // The caller gets the same answer as the first time.
        return Ok(AppliedBatch { batch: seen, ids, is_repeat: true });
    }
    record_use(db, batch.now)?;
    let mut clock = ChangeClock::read(db, batch.now, batch.after_clock)?;
    // The audit entry comes first, with the number that its first change will take: changes refer
    // to it.
    let (number, hlc) = clock.peek();
    let params: [&dyn ToSql; 7] = [
        &number,
        &key,
        &batch.now.0,
        &batch.actor.to_string(),
        &batch.action.slug(),
        &batch.detail,
        &hlc.0,
    ];
    db.execute(&INSERT_AUDIT_ENTRY, &params)?;
    let mut ids = Vec::new();
    for change in &batch.changes {
        if let Some(id) = apply_change(db, change, number, &mut clock, batch.now)? {
            ids.push(id);
        }
    }
    if clock.seq < number {
        // Each batch takes at least one number: the number identifies it in the audit trail.
        clock.next();
    }
    clock.write(db)?;
    Ok(AppliedBatch { batch: number, ids, is_repeat: false })
}

/// Fingerprint of a caller's idempotency key. A key can be any text, even a secret one, so only a
/// hash of it is stored.
fn fingerprint_key(key: &str) -> String {
    blake3::Hash::from(blake3::derive_key("waylore idempotency key 1", key.as_bytes()))
        .to_hex()
        .to_string()
}

/// Adds an audit entry for work done outside a batch.
pub(crate) fn add_audit_entry(
    db: &Db,
    action: AuditAction,
    actor: &Actor,
    detail: Option<&str>,
    now: Timestamp,
) -> Result<(), Error> {
    let mut clock = ChangeClock::read(db, now, HybridTimestamp::default())?;
    let hlc = clock.next();
    let no_key: Option<&str> = None;
    let params: [&dyn ToSql; 7] =
        [&clock.seq, &no_key, &now.0, &actor.to_string(), &action.slug(), &detail, &hlc.0];
    db.execute(&INSERT_AUDIT_ENTRY, &params)?;
    clock.write(db)
}

/// Applies one change. Returns the memory if the change made a new version of it.
fn apply_change(
    db: &Db,
    change: &StoreChange,
    batch: i64,
    clock: &mut ChangeClock,
    now: Timestamp,
) -> Result<Option<MemoryId>, Error> {
    match change {
        StoreChange::Insert(memory) => insert_memory(db, memory, batch, clock).map(Some),
        StoreChange::Replace(memory) => replace_memory(db, memory, batch, clock).map(Some),
        StoreChange::CountUse { id } => {
            let count = |it: &mut UsageCounters| {
                it.used_count += 1;
                it.last_used_at = Some(now);
            };
            change_counters(db, *id, count).map(|()| None)
        }
        StoreChange::Setting { key, value: Some(value) } => {
            db.execute(&PUT_SETTING, &[key, value]).map(|_| None)
        }
        StoreChange::Setting { key, value: None } => {
            db.execute(&DELETE_SETTING, &[key]).map(|_| None)
        }
        StoreChange::MarkUndone(undone) => {
            db.execute(&MARK_UNDONE, &[undone, &batch]).map(|_| None)
        }
        StoreChange::PutLesson(lesson) => learning::put_lesson(db, lesson).map(|()| None),
        StoreChange::AddSightings(sightings) => {
            learning::add_sightings(db, sightings).map(|()| None)
        }
        StoreChange::PassMilestone(milestone) => {
            learning::pass_milestone(db, milestone, now).map(|()| None)
        }
        StoreChange::MoveEvidence { from, to } => {
            learning::move_evidence(db, *from, *to).map(|()| None)
        }
    }
}

/// Inserts a new memory. Erased memories must not come back, so their ids are refused.
fn insert_memory(
    db: &Db,
    memory: &Memory,
    batch: i64,
    clock: &mut ChangeClock,
) -> Result<MemoryId, Error> {
    if is_erased(db, memory.id)? {
        return Err(Error::MemoryErased { id: memory.id.short() });
    }
    // A unique index would refuse it, too, but as a database error.
    if find_current(db, memory.id)?.is_some() {
        return Err(Error::InvalidInput {
            what: format!("memory {} exists already", memory.id.short()),
        });
    }
    let memory = Memory { version: 1, hlc: clock.next(), ..memory.clone() };
    let mut values = to_values(&memory);
    values.push(Value::Text(memory.id.short()));
    let params: Vec<&dyn ToSql> = values.iter().map(|it| it as &dyn ToSql).collect();
    db.execute(&INSERT_MEMORY, &params)?;
    let n = db.conn.last_insert_rowid();
    lookup_tables::insert_lookups(db, n, &memory)?;
    // The count is compared with the table later: a row that vanishes is noticed.
    db.execute(&ADD_META, &[&"n_memories", &1])?;
    record_change(db, batch, clock, &memory)
}

/// Replaces a memory if the caller saw its latest version, and keeps the replaced version.
fn replace_memory(
    db: &Db,
    memory: &Memory,
    batch: i64,
    clock: &mut ChangeClock,
) -> Result<MemoryId, Error> {
    let Some((n, current)) = find_current(db, memory.id)? else {
        return Err(Error::MemoryNotFound { id: memory.id.short() });
    };
    let current =
        current.map_err(|it| Error::Damaged { path: db.path.clone(), what: it.what.to_owned() })?;
    if current.version != memory.version {
        return Err(Error::VersionConflict { expected: memory.version, found: current.version });
    }
    db.execute(&COPY_TO_VERSIONS, &[&batch, &n])?;
    db.execute(&ADD_META, &[&"n_versions", &1])?;
    // The caller's copy of the counters may be outdated: they change without a new version.
    let memory = Memory {
        version: current.version + 1,
        hlc: clock.next(),
        counters: current.counters,
        ..memory.clone()
    };
    overwrite_row(db, n, &memory)?;
    // A stored vector always belongs to the stored text.
    if vectors::is_embedding_outdated(&current, &memory) {
        db.execute(&DELETE_VECTORS, &[&memory.id.0.as_bytes().as_slice()])?;
    }
    record_change(db, batch, clock, &memory)
}

/// Changes the counters of a memory. A missing or damaged memory is skipped: a count is not worth
/// failing the batch.
pub(crate) fn change_counters(
    db: &Db,
    id: MemoryId,
    change: impl FnOnce(&mut UsageCounters),
) -> Result<(), Error> {
    let Some((n, Ok(Memory { mut counters, .. }))) = find_current(db, id)? else {
        return Ok(());
    };
    change(&mut counters);
    set_counts(db, n, id, &counters)
}

/// Overwrites the counters of a row.
pub(crate) fn set_counts(
    db: &Db,
    n: i64,
    id: MemoryId,
    counters: &UsageCounters,
) -> Result<(), Error> {
    let values = count_values(id, counters);
    let mut params: Vec<&dyn ToSql> = vec![&n];
    params.extend(values.iter().map(|it| it as &dyn ToSql));
    db.execute(&SET_COUNTS, &params).map(|_| ())
}

/// Number of a row and the memory in it, if undamaged.
type CurrentRow = (i64, CheckedMemory);

fn find_current(db: &Db, id: MemoryId) -> Result<Option<CurrentRow>, Error> {
    let id = id.0.as_bytes().as_slice();
    db.select_one(&SELECT_CURRENT, &[&id], |row| Ok((row.get(0)?, read_memory(row, 1)?)))
}

/// Makes a row and its lookups hold exactly `memory`.
pub(crate) fn overwrite_row(db: &Db, n: i64, memory: &Memory) -> Result<(), Error> {
    let mut values = to_values(memory);
    values.push(Value::Integer(n));
    let params: Vec<&dyn ToSql> = values.iter().map(|it| it as &dyn ToSql).collect();
    db.execute(&UPDATE_MEMORY, &params)?;
    lookup_tables::delete_lookups(db, n)?;
    lookup_tables::insert_lookups(db, n, memory)
}

/// Returns whether a memory was erased for good.
pub(crate) fn is_erased(db: &Db, id: MemoryId) -> Result<bool, Error> {
    Ok(db.select_number(&COUNT_ERASED, &[&id_hash(id).as_slice()])? > 0)
}

/// Records in the audit trail that the batch made a new version of the memory.
fn record_change(
    db: &Db,
    batch: i64,
    clock: &ChangeClock,
    memory: &Memory,
) -> Result<MemoryId, Error> {
    db.execute(
        &INSERT_CHANGE,
        &[&clock.seq, &batch, &memory.id.0.as_bytes().as_slice(), &memory.version],
    )?;
    Ok(memory.id)
}
