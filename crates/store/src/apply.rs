//! Writing: a batch of changes becomes one durable, idempotent, audited transaction.

use model::{Actor, Counters, Hlc, Memory, MemoryId, Timestamp};
use rusqlite::ToSql;
use rusqlite::types::Value;

use crate::batch::{Action, Applied, Batch, Change};
use crate::erase::{DROP_VECTORS, id_hash};
use crate::query::{Db, Query, both};
use crate::row::{DamagedRow, assignments, columns, count_values, read_memory, to_values};
use crate::stamp::{ADD_META, Stamp, note_use};
use crate::vectors;
use crate::{Error, lessons, lookups};

#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[
    &SEEN_KEY,
    &CHANGED_IDS,
    &INSERT,
    &CURRENT,
    &KEEP_VERSION,
    &REPLACE,
    &LEDGERED,
    &AUDIT,
    &CHANGED,
    &SET_COUNTS,
    &SET,
    &UNSET,
    &UNDONE,
];

const SEEN_KEY: Query = both("seen_key", "SELECT batch FROM audit WHERE key = ?1");
const CHANGED_IDS: Query =
    both("changed_ids", "SELECT id FROM changes WHERE batch = ?1 AND id IS NOT NULL ORDER BY seq");
const INSERT: Query = both(
    "insert",
    concat!(
        "INSERT INTO memories (",
        columns!(),
        ", short) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, \
         ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36, ?37, ?38, ?39, ?40, ?41, ?42)"
    ),
);
const CURRENT: Query =
    both("current", concat!("SELECT n, ", columns!(), " FROM memories WHERE id = ?1"));
const KEEP_VERSION: Query = both(
    "keep_version",
    concat!(
        "INSERT INTO memory_versions (batch, ",
        columns!(),
        ") SELECT ?1, ",
        columns!(),
        " FROM memories WHERE n = ?2"
    ),
);
const REPLACE: Query =
    both("replace", concat!("UPDATE memories SET ", assignments!(), " WHERE n = ?42"));
const LEDGERED: Query = both("ledgered", "SELECT count(*) FROM erase_ledger WHERE id_hash = ?1");
const AUDIT: Query = both(
    "audit",
    "INSERT INTO audit (batch, key, at, actor, action, detail, hlc) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
);
const CHANGED: Query =
    both("changed", "INSERT INTO changes (seq, batch, id, version) VALUES (?1, ?2, ?3, ?4)");
const SET_COUNTS: Query = both(
    "set_counts",
    "UPDATE memories SET access_count = ?2, used_count = ?3, last_accessed_at = ?4, last_used_at = ?5, \
     counts_hash = ?6 WHERE n = ?1",
);
const SET: Query = both(
    "set",
    "INSERT INTO settings (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
);
const UNSET: Query = both("unset", "DELETE FROM settings WHERE key = ?1");
const UNDONE: Query = both("undone", "UPDATE audit SET undone_by = ?2 WHERE batch = ?1");

/// What is kept of a caller's key: enough to know it again. A key can be any text, and nothing of
/// it may outlive what it was used for.
fn key_print(key: &str) -> String {
    blake3::Hash::from(blake3::derive_key("waylore idempotency key 1", key.as_bytes()))
        .to_hex()
        .to_string()
}

/// Applies a batch inside the caller's transaction.
pub(crate) fn apply(db: &Db, batch: &Batch) -> Result<Applied, Error> {
    let key = batch.key.as_deref().map(key_print);
    if let Some(key) = &key
        && let Some(seen) = db.one(&SEEN_KEY, &[key], |row| row.get::<_, i64>(0))?
    {
        let ids = db.select(&CHANGED_IDS, &[&seen], |row| row.get::<_, Vec<u8>>(0))?;
        let ids = ids.iter().filter_map(|it| MemoryId::from_bytes(it)).collect();
        return Ok(Applied { batch: seen, ids, repeated: true });
    }
    note_use(db, batch.now)?;
    let mut stamp = Stamp::read(db, batch.now, batch.after)?;
    let (number, hlc) = stamp.peek();
    let params: [&dyn ToSql; 7] = [
        &number,
        &key,
        &batch.now.0,
        &batch.actor.to_string(),
        &batch.action.slug(),
        &batch.detail,
        &hlc.0,
    ];
    db.run(&AUDIT, &params)?;
    let mut ids = Vec::new();
    for change in &batch.changes {
        if let Some(id) = apply_one(db, change, number, &mut stamp, batch.now)? {
            ids.push(id);
        }
    }
    if stamp.seq < number {
        // A batch that changed no memory still takes its number.
        stamp.next();
    }
    stamp.write(db)?;
    Ok(Applied { batch: number, ids, repeated: false })
}

/// Leaves a line in the audit trail for what is done outside a batch.
pub(crate) fn note(
    db: &Db,
    action: Action,
    actor: &Actor,
    detail: Option<&str>,
    now: Timestamp,
) -> Result<(), Error> {
    let mut stamp = Stamp::read(db, now, Hlc::default())?;
    let hlc = stamp.next();
    let no_key: Option<&str> = None;
    let params: [&dyn ToSql; 7] =
        [&stamp.seq, &no_key, &now.0, &actor.to_string(), &action.slug(), &detail, &hlc.0];
    db.run(&AUDIT, &params)?;
    stamp.write(db)
}

fn apply_one(
    db: &Db,
    change: &Change,
    batch: i64,
    stamp: &mut Stamp,
    now: Timestamp,
) -> Result<Option<MemoryId>, Error> {
    match change {
        Change::Insert(memory) => insert(db, memory, batch, stamp).map(Some),
        Change::Replace(memory) => replace(db, memory, batch, stamp).map(Some),
        Change::Count { id, used } => count(db, *id, *used, now).map(|()| None),
        Change::Setting { key, value: Some(value) } => db.run(&SET, &[key, value]).map(|_| None),
        Change::Setting { key, value: None } => db.run(&UNSET, &[key]).map(|_| None),
        Change::Undoes(undone) => db.run(&UNDONE, &[undone, &batch]).map(|_| None),
        Change::Learn(lesson) => lessons::put(db, lesson).map(|()| None),
        Change::Pass(milestone) => lessons::pass(db, milestone, now).map(|()| None),
        Change::Relink { from, to } => lessons::relink(db, *from, *to).map(|()| None),
    }
}

fn insert(db: &Db, memory: &Memory, batch: i64, stamp: &mut Stamp) -> Result<MemoryId, Error> {
    if is_erased(db, memory.id)? {
        return Err(Error::Erased { id: memory.id.short() });
    }
    if current(db, memory.id)?.is_some() {
        return Err(Error::Invalid {
            what: format!("memory {} exists already", memory.id.short()),
        });
    }
    let memory = Memory { version: 1, hlc: stamp.next(), ..memory.clone() };
    let mut values = to_values(&memory);
    values.push(Value::Text(memory.id.short()));
    let params: Vec<&dyn ToSql> = values.iter().map(|it| it as &dyn ToSql).collect();
    db.run(&INSERT, &params)?;
    let n = db.conn.last_insert_rowid();
    lookups::fill(db, n, &memory)?;
    db.run(&ADD_META, &[&"n_memories", &1])?;
    note_change(db, batch, stamp, &memory)
}

fn replace(db: &Db, memory: &Memory, batch: i64, stamp: &mut Stamp) -> Result<MemoryId, Error> {
    let Some((n, current)) = current(db, memory.id)? else {
        return Err(Error::Missing { id: memory.id.short() });
    };
    let current =
        current.map_err(|it| Error::Damaged { path: db.path.clone(), what: it.what.to_owned() })?;
    if current.version != memory.version {
        return Err(Error::Conflict { expected: memory.version, found: current.version });
    }
    db.run(&KEEP_VERSION, &[&batch, &n])?;
    db.run(&ADD_META, &[&"n_versions", &1])?;
    // Counters belong to the store: a caller's copy may be older than the counts.
    let memory = Memory {
        version: current.version + 1,
        hlc: stamp.next(),
        counters: current.counters,
        ..memory.clone()
    };
    overwrite(db, n, &memory)?;
    if vectors::outdated(&current, &memory) {
        db.run(&DROP_VECTORS, &[&memory.id.0.as_bytes().as_slice()])?;
    }
    note_change(db, batch, stamp, &memory)
}

/// Counts an access or a use. A memory that is gone or damaged has nothing to count.
fn count(db: &Db, id: MemoryId, used: bool, now: Timestamp) -> Result<(), Error> {
    let Some((n, Ok(Memory { mut counters, .. }))) = current(db, id)? else {
        return Ok(());
    };
    if used {
        counters.used_count += 1;
        counters.last_used_at = Some(now);
    } else {
        counters.access_count += 1;
        counters.last_accessed_at = Some(now);
    }
    set_counts(db, n, id, &counters)
}

pub(crate) fn set_counts(db: &Db, n: i64, id: MemoryId, counters: &Counters) -> Result<(), Error> {
    let values = count_values(id, counters);
    let mut params: Vec<&dyn ToSql> = vec![&n];
    params.extend(values.iter().map(|it| it as &dyn ToSql));
    db.run(&SET_COUNTS, &params).map(|_| ())
}

type Current = (i64, Result<Memory, DamagedRow>);

fn current(db: &Db, id: MemoryId) -> Result<Option<Current>, Error> {
    let id = id.0.as_bytes().as_slice();
    db.one(&CURRENT, &[&id], |row| Ok((row.get(0)?, read_memory(row, 1)?)))
}

/// Makes a row hold exactly `memory`, and its lookups with it.
pub(crate) fn overwrite(db: &Db, n: i64, memory: &Memory) -> Result<(), Error> {
    let mut values = to_values(memory);
    values.push(Value::Integer(n));
    let params: Vec<&dyn ToSql> = values.iter().map(|it| it as &dyn ToSql).collect();
    db.run(&REPLACE, &params)?;
    lookups::clear(db, n)?;
    lookups::fill(db, n, memory)
}

pub(crate) fn is_erased(db: &Db, id: MemoryId) -> Result<bool, Error> {
    Ok(db.number(&LEDGERED, &[&id_hash(id).as_slice()])? > 0)
}

fn note_change(db: &Db, batch: i64, stamp: &Stamp, memory: &Memory) -> Result<MemoryId, Error> {
    db.run(&CHANGED, &[&stamp.seq, &batch, &memory.id.0.as_bytes().as_slice(), &memory.version])?;
    Ok(memory.id)
}
