//! Writing: a batch of changes becomes one durable, idempotent, audited transaction.

use model::{Actor, Hlc, Memory, MemoryId, QuietSpan, RelationTarget, Timestamp, closed, words};
use rusqlite::ToSql;
use rusqlite::types::Value;

use crate::Error;
use crate::erase::id_hash;
use crate::query::{Db, Query, both};
use crate::row::{columns, read_memory, to_values};
use crate::vectors::{self, Vector};

closed! {
    /// What a batch did, in the words of the audit trail.
    pub enum Action : "action" {
        Remember = "remember",
        Merge = "merge",
        Supersede = "supersede",
        Edit = "edit",
        Pin = "pin",
        Flag = "flag",
        Verify = "verify",
        Forget = "forget",
        Restore = "restore",
        Undo = "undo",
        Import = "import",
        Promote = "promote",
        Prune = "prune",
        Settings = "settings",
        Vectors = "vectors",
        Erase = "erase",
    }
}

/// Changes that are saved together or not at all.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The caller's idempotency key: a second batch with the same key changes nothing.
    pub key: Option<String>,
    pub action: Action,
    pub actor: Actor,
    /// What the audit trail says beside the action; never content.
    pub detail: Option<String>,
    pub now: Timestamp,
    pub changes: Vec<Change>,
}

/// One change. Versions and clocks are stamped here, not by the caller.
#[derive(Clone, Debug)]
pub enum Change {
    Insert(Box<Memory>),
    /// `memory.version` is the version the caller saw; a newer one in the store is a conflict.
    Replace(Box<Memory>),
    /// The memory was injected (`used: false`) or shown to have been used.
    Count {
        id: MemoryId,
        used: bool,
    },
    Vector(Vector),
    Setting {
        key: String,
        value: Option<String>,
    },
    /// The batch this one takes back.
    Undoes(i64),
}

/// What became of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    pub batch: i64,
    /// The memories it inserted or replaced, in order.
    pub ids: Vec<MemoryId>,
    /// A batch with the same key had been applied before; nothing happened now.
    pub repeated: bool,
}

#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[
    &SEEN_KEY,
    &CHANGED_IDS,
    &META,
    &SET_META,
    &ADD_META,
    &INSERT,
    &CURRENT,
    &KEEP_VERSION,
    &REPLACE,
    &LEDGERED,
    &ADD_FILE,
    &ADD_MODULE,
    &ADD_TAG,
    &ADD_RELATION,
    &DROP_FILES,
    &DROP_MODULES,
    &DROP_TAGS,
    &DROP_RELATIONS,
    &ADD_TEXT,
    &DROP_TEXT,
    &AUDIT,
    &CHANGED,
    &COUNT_ACCESS,
    &COUNT_USE,
    &SET,
    &UNSET,
    &UNDONE,
    &QUIET,
];

const SEEN_KEY: Query = both("seen_key", "SELECT batch FROM audit WHERE key = ?1");
const CHANGED_IDS: Query =
    both("changed_ids", "SELECT id FROM changes WHERE batch = ?1 AND id IS NOT NULL ORDER BY seq");
pub(crate) const META: Query = both("meta", "SELECT value FROM meta WHERE key = ?1");
pub(crate) const SET_META: Query = both("set_meta", "UPDATE meta SET value = ?2 WHERE key = ?1");
const ADD_META: Query = both("add_meta", "UPDATE meta SET value = value + ?2 WHERE key = ?1");
const INSERT: Query = both(
    "insert",
    concat!(
        "INSERT INTO memories (",
        columns!(),
        ", short) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, \
         ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36, ?37, ?38, ?39, ?40, ?41)"
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
const REPLACE: Query = both(
    "replace",
    "UPDATE memories SET id = ?1, project = ?2, type = ?3, source = ?4, scope = ?5, visibility = ?6, content = ?7, \
     summary = ?8, citation = ?9, confidence = ?10, tags = ?11, files = ?12, modules = ?13, anchors = ?14, \
     work_unit = ?15, session = ?16, provenance = ?17, commit_id = ?18, branch = ?19, relations = ?20, \
     half_life_days = ?21, needs_review = ?22, user_verified = ?23, pinned = ?24, tainted = ?25, deprecated_at = ?26, \
     deprecated_reason = ?27, stale_at = ?28, deleted_at = ?29, payload = ?30, created_by = ?31, created_at = ?32, \
     updated_at = ?33, version = ?34, hlc = ?35, hash = ?36, access_count = ?37, used_count = ?38, \
     last_accessed_at = ?39, last_used_at = ?40 WHERE n = ?41",
);
const LEDGERED: Query = both("ledgered", "SELECT count(*) FROM erase_ledger WHERE id_hash = ?1");
const ADD_FILE: Query =
    both("add_file", "INSERT OR IGNORE INTO memory_files (file, n) VALUES (?1, ?2)");
const ADD_MODULE: Query =
    both("add_module", "INSERT OR IGNORE INTO memory_modules (module, n) VALUES (?1, ?2)");
const ADD_TAG: Query =
    both("add_tag", "INSERT OR IGNORE INTO memory_tags (tag, n) VALUES (?1, ?2)");
const ADD_RELATION: Query = both(
    "add_relation",
    "INSERT OR IGNORE INTO memory_relations (n, kind, target) VALUES (?1, ?2, ?3)",
);
const DROP_FILES: Query = both("drop_files", "DELETE FROM memory_files WHERE n = ?1");
const DROP_MODULES: Query = both("drop_modules", "DELETE FROM memory_modules WHERE n = ?1");
const DROP_TAGS: Query = both("drop_tags", "DELETE FROM memory_tags WHERE n = ?1");
const DROP_RELATIONS: Query = both("drop_relations", "DELETE FROM memory_relations WHERE n = ?1");
const ADD_TEXT: Query =
    both("add_text", "INSERT INTO memory_text (n, content, tags, files) VALUES (?1, ?2, ?3, ?4)");
const DROP_TEXT: Query = both("drop_text", "DELETE FROM memory_text WHERE n = ?1");
const AUDIT: Query = both(
    "audit",
    "INSERT INTO audit (batch, key, at, actor, action, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
);
const CHANGED: Query =
    both("changed", "INSERT INTO changes (seq, batch, id, version) VALUES (?1, ?2, ?3, ?4)");
const COUNT_ACCESS: Query = both(
    "count_access",
    "UPDATE memories SET access_count = access_count + 1, last_accessed_at = ?2 WHERE id = ?1",
);
const COUNT_USE: Query = both(
    "count_use",
    "UPDATE memories SET used_count = used_count + 1, last_used_at = ?2 WHERE id = ?1",
);
const SET: Query = both(
    "set",
    "INSERT INTO settings (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
);
const UNSET: Query = both("unset", "DELETE FROM settings WHERE key = ?1");
const UNDONE: Query = both("undone", "UPDATE audit SET undone_by = ?2 WHERE batch = ?1");
const QUIET: Query = both("quiet", "INSERT INTO quiet_spans (from_ms, to_ms) VALUES (?1, ?2)");

/// Applies a batch inside the caller's transaction.
pub(crate) fn apply(db: &Db, batch: &Batch) -> Result<Applied, Error> {
    if let Some(key) = &batch.key {
        if let Some(seen) = db.one(&SEEN_KEY, &[key], |row| row.get::<_, i64>(0))? {
            let ids = db.select(&CHANGED_IDS, &[&seen], |row| row.get::<_, Vec<u8>>(0))?;
            let ids = ids.iter().filter_map(|it| MemoryId::from_bytes(it)).collect();
            return Ok(Applied { batch: seen, ids, repeated: true });
        }
    }
    note_use(db, batch.now)?;
    let mut stamp = Stamp::read(db, batch.now)?;
    let number = stamp.seq + 1;
    let params: [&dyn ToSql; 6] = [
        &number,
        &batch.key,
        &batch.now.0,
        &batch.actor.to_string(),
        &batch.action.slug(),
        &batch.detail,
    ];
    db.run(&AUDIT, &params)?;
    let mut ids = Vec::new();
    for change in &batch.changes {
        if let Some(id) = apply_one(db, change, number, &mut stamp, batch.now)? {
            ids.push(id);
        }
    }
    // A batch that changed no memory still takes its number.
    stamp.seq = stamp.seq.max(number);
    stamp.write(db)?;
    Ok(Applied { batch: number, ids, repeated: false })
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
        Change::Count { id, used } => {
            let counted = if *used { &COUNT_USE } else { &COUNT_ACCESS };
            db.run(counted, &[&id.0.as_bytes().as_slice(), &now.0]).map(|_| None)
        }
        Change::Vector(vector) => vectors::put(db, vector).map(|()| None),
        Change::Setting { key, value: Some(value) } => db.run(&SET, &[key, value]).map(|_| None),
        Change::Setting { key, value: None } => db.run(&UNSET, &[key]).map(|_| None),
        Change::Undoes(undone) => db.run(&UNDONE, &[undone, &batch]).map(|_| None),
    }
}

fn insert(db: &Db, memory: &Memory, batch: i64, stamp: &mut Stamp) -> Result<MemoryId, Error> {
    if db.number(&LEDGERED, &[&id_hash(memory.id).as_slice()])? > 0 {
        return Err(Error::Erased { id: memory.id.short() });
    }
    let memory = Memory { version: 1, hlc: stamp.next(), ..memory.clone() };
    let mut values = to_values(&memory);
    values.push(Value::Text(memory.id.short()));
    let params: Vec<&dyn ToSql> = values.iter().map(|it| it as &dyn ToSql).collect();
    db.run(&INSERT, &params)?;
    let n = db.conn.last_insert_rowid();
    index(db, n, &memory)?;
    db.run(&ADD_META, &[&"n_memories", &1])?;
    note_change(db, batch, stamp, &memory)
}

fn replace(db: &Db, memory: &Memory, batch: i64, stamp: &mut Stamp) -> Result<MemoryId, Error> {
    let id = memory.id.0.as_bytes().as_slice();
    let current =
        db.one(&CURRENT, &[&id], |row| Ok((row.get::<_, i64>(0)?, read_memory(row, 1)?)))?;
    let Some((n, current)) = current else {
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
    note_change(db, batch, stamp, &memory)
}

/// Makes a row hold exactly `memory`, and its lookups with it.
pub(crate) fn overwrite(db: &Db, n: i64, memory: &Memory) -> Result<(), Error> {
    let mut values = to_values(memory);
    values.push(Value::Integer(n));
    let params: Vec<&dyn ToSql> = values.iter().map(|it| it as &dyn ToSql).collect();
    db.run(&REPLACE, &params)?;
    unindex(db, n)?;
    index(db, n, memory)
}

fn note_change(db: &Db, batch: i64, stamp: &Stamp, memory: &Memory) -> Result<MemoryId, Error> {
    db.run(&CHANGED, &[&stamp.seq, &batch, &memory.id.0.as_bytes().as_slice(), &memory.version])?;
    Ok(memory.id)
}

/// Fills the lookups of a row. A forgotten memory keeps them, but not its searchable text.
pub(crate) fn index(db: &Db, n: i64, memory: &Memory) -> Result<(), Error> {
    for file in &memory.files {
        db.run(&ADD_FILE, &[&file.as_str(), &n])?;
    }
    for module in &memory.modules {
        db.run(&ADD_MODULE, &[module, &n])?;
    }
    for tag in &memory.tags {
        db.run(&ADD_TAG, &[tag, &n])?;
    }
    for relation in &memory.relations {
        let target = match &relation.target {
            RelationTarget::Memory(id) => id.0.as_bytes().to_vec(),
            RelationTarget::File(path) => path.as_str().as_bytes().to_vec(),
        };
        db.run(&ADD_RELATION, &[&n, &relation.kind.slug(), &target])?;
    }
    if memory.states.deleted_at.is_none() {
        let text = words::search_text(&memory.content, &memory.tags, &memory.files);
        db.run(&ADD_TEXT, &[&n, &text.content, &text.tags, &text.files])?;
    }
    Ok(())
}

/// Empties the lookups of a row.
pub(crate) fn unindex(db: &Db, n: i64) -> Result<(), Error> {
    for query in [&DROP_FILES, &DROP_MODULES, &DROP_TAGS, &DROP_RELATIONS, &DROP_TEXT] {
        db.run(query, &[&n])?;
    }
    Ok(())
}

/// Notes that the store is in use now; a long gap before becomes a quiet span.
fn note_use(db: &Db, now: Timestamp) -> Result<(), Error> {
    let last = Timestamp(db.number(&META, &[&"last_used"])?);
    if last.0 > 0 {
        if let Some(span) = QuietSpan::between(last, now) {
            db.run(&QUIET, &[&span.from.0, &span.to.0])?;
        }
    }
    db.run(&SET_META, &[&"last_used", &now.0]).map(|_| ())
}

/// The counters that order changes: a dense sequence for this file, a hybrid clock for all devices.
struct Stamp {
    seq: i64,
    hlc: Hlc,
    now: Timestamp,
}

impl Stamp {
    fn read(db: &Db, now: Timestamp) -> Result<Self, Error> {
        let number = |key: &str| db.number(&META, &[&key]);
        Ok(Self { seq: number("seq")?, hlc: Hlc(number("hlc")?), now })
    }

    /// Takes the next sequence number, and the clock reading that goes with it.
    fn next(&mut self) -> Hlc {
        self.seq += 1;
        self.hlc = self.hlc.tick(self.now);
        self.hlc
    }

    fn write(&self, db: &Db) -> Result<(), Error> {
        db.run(&SET_META, &[&"seq", &self.seq])?;
        db.run(&SET_META, &[&"hlc", &self.hlc.0]).map(|_| ())
    }
}
