//! A memory as a database row: its columns, the hashes over them, and reading it back.

mod cells;
#[cfg(test)]
mod tests;

use model::{Memory, MemoryId, Timestamp, UsageCounters};
use rusqlite::Row;
use rusqlite::types::{Value, ValueRef};

use cells::RowCells;

/// Columns of a memory in the order they are bound, hashed and read: the content with its hash,
/// then the counts with theirs. Counts have a hash of their own because they change without a new
/// version.
macro_rules! columns {
    () => {
        "id, project, type, source, scope, visibility, content, summary, citation, confidence, tags, files, modules, \
         anchors, work_unit, session, provenance, commit_id, branch, relations, half_life_days, needs_review, \
         user_verified, pinned, tainted, deprecated_at, deprecated_reason, stale_at, deleted_at, payload, created_by, \
         created_at, updated_at, version, hlc, hash, access_count, used_count, last_accessed_at, last_used_at, \
         counts_hash"
    };
}
pub(crate) use columns;

/// The same columns, each set to the parameter of its position.
macro_rules! assignments {
    () => {
        "id = ?1, project = ?2, type = ?3, source = ?4, scope = ?5, visibility = ?6, content = ?7, summary = ?8, \
         citation = ?9, confidence = ?10, tags = ?11, files = ?12, modules = ?13, anchors = ?14, work_unit = ?15, \
         session = ?16, provenance = ?17, commit_id = ?18, branch = ?19, relations = ?20, half_life_days = ?21, \
         needs_review = ?22, user_verified = ?23, pinned = ?24, tainted = ?25, deprecated_at = ?26, \
         deprecated_reason = ?27, stale_at = ?28, deleted_at = ?29, payload = ?30, created_by = ?31, \
         created_at = ?32, updated_at = ?33, version = ?34, hlc = ?35, hash = ?36, access_count = ?37, \
         used_count = ?38, last_accessed_at = ?39, last_used_at = ?40, counts_hash = ?41"
    };
}
pub(crate) use assignments;

/// Number of leading columns that the hash covers. The hash itself comes next.
const HASHED_COLUMNS: usize = 35;
/// Index of the first of the four counts. Their hash follows them.
const FIRST_COUNT_COLUMN: usize = HASHED_COLUMNS + 1;

/// A row whose content does not match its hash, or cannot be decoded. Its content is never
/// returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedRow {
    /// Its id, if at least that can be read.
    pub id: Option<MemoryId>,
    pub what: &'static str,
}

/// Encodes a memory as the values of its row, including the hashes.
pub(crate) fn to_values(memory: &Memory) -> Vec<Value> {
    let text = |it: &str| Value::Text(it.to_owned());
    let json = |it: Result<String, serde_json::Error>| {
        Value::Text(it.expect("plain lists have a JSON form"))
    };
    let flag = |it: bool| Value::Integer(i64::from(it));
    let time = |it: Option<Timestamp>| it.map_or(Value::Null, |it| Value::Integer(it.0));
    let maybe = |it: &Option<String>| it.as_deref().map_or(Value::Null, text);
    let (flags, states) = (&memory.flags, &memory.states);
    let mut values = vec![
        Value::Blob(memory.id.0.as_bytes().to_vec()),
        memory.project.map_or(Value::Null, |it| Value::Blob(it.0.as_bytes().to_vec())),
        text(memory.kind.slug()),
        text(memory.source.slug()),
        text(memory.scope.slug()),
        text(memory.visibility.slug()),
        text(&memory.content),
        text(&memory.summary),
        text(&memory.citation),
        Value::Integer(i64::from(memory.confidence.get())),
        json(serde_json::to_string(&memory.tags)),
        json(serde_json::to_string(&memory.files)),
        json(serde_json::to_string(&memory.modules)),
        json(serde_json::to_string(&memory.anchors)),
        memory.work_unit.as_ref().map_or(Value::Null, |it| json(serde_json::to_string(it))),
        memory.session.map_or(Value::Null, |it| Value::Blob(it.0.as_bytes().to_vec())),
        json(serde_json::to_string(&memory.provenance)),
        maybe(&memory.commit),
        maybe(&memory.branch),
        json(serde_json::to_string(&memory.relations)),
        memory.half_life_days.map_or(Value::Null, |it| Value::Integer(i64::from(it))),
        flag(flags.needs_review),
        flag(flags.user_verified),
        flag(flags.pinned),
        flag(flags.tainted),
        time(states.deprecated_at),
        maybe(&states.deprecated_reason),
        time(states.stale_at),
        time(states.deleted_at),
        memory.payload.as_ref().map_or(Value::Null, |it| Value::Text(it.to_json().to_string())),
        Value::Text(memory.created_by.to_string()),
        Value::Integer(memory.created_at.0),
        Value::Integer(memory.updated_at.0),
        Value::Integer(i64::from(memory.version)),
        Value::Integer(memory.hlc.0),
    ];
    debug_assert_eq!(values.len(), HASHED_COLUMNS);
    let hash = hash_values(values.iter().map(ValueRef::from));
    values.push(Value::Blob(hash.to_vec()));
    values.extend(count_values(memory.id, &memory.counters));
    values
}

/// Encodes the counts of a memory, followed by their hash.
pub(crate) fn count_values(id: MemoryId, counters: &UsageCounters) -> [Value; 5] {
    let [accessed, used, last_accessed, last_used] = plain_counts(counters);
    let hash = Value::Blob(hash_counts(id, counters).to_vec());
    [accessed, used, last_accessed, last_used, hash]
}

fn plain_counts(counters: &UsageCounters) -> [Value; 4] {
    let number = |it: u64| Value::Integer(i64::try_from(it).unwrap_or(i64::MAX));
    let time = |it: Option<Timestamp>| it.map_or(Value::Null, |it| Value::Integer(it.0));
    [
        number(counters.access_count),
        number(counters.used_count),
        time(counters.last_accessed_at),
        time(counters.last_used_at),
    ]
}

fn hash_counts(id: MemoryId, counters: &UsageCounters) -> [u8; 32] {
    let values = plain_counts(counters);
    let id = ValueRef::Blob(id.0.as_bytes());
    hash_values(std::iter::once(id).chain(values.iter().map(ValueRef::from)))
}

/// Reads a memory from a row whose columns begin at `at`, and checks both hashes.
pub(crate) fn read_memory(
    row: &Row<'_>,
    at: usize,
) -> rusqlite::Result<Result<Memory, DamagedRow>> {
    Ok(read_statement(row, at)?.and_then(|memory| {
        let damaged =
            DamagedRow { id: Some(memory.id), what: "its counts do not match their hash" };
        match (RowCells { row, at }).counters(memory.id) {
            Some(counters) => Ok(Memory { counters, ..memory }),
            None => Err(damaged),
        }
    }))
}

/// Reads a memory without its counts, for rows whose counts are damaged.
pub(crate) fn read_statement(
    row: &Row<'_>,
    at: usize,
) -> rusqlite::Result<Result<Memory, DamagedRow>> {
    let mut hasher = RowHasher::default();
    for column in at..at + HASHED_COLUMNS {
        hasher.add_value(row.get_ref(column)?);
    }
    let cells = RowCells { row, at };
    let id = cells.blob(0).and_then(MemoryId::from_bytes);
    if cells.blob(HASHED_COLUMNS) != Some(hasher.finish().as_slice()) {
        return Ok(Err(DamagedRow { id, what: "its content does not match its hash" }));
    }
    Ok(cells.memory().ok_or(DamagedRow { id, what: "it holds values this version cannot read" }))
}

/// Hashes the values of a row. Kind and length go in with each value, so that no two different rows
/// give the same bytes.
fn hash_values<'a>(values: impl Iterator<Item = ValueRef<'a>>) -> [u8; 32] {
    let mut hasher = RowHasher::default();
    values.for_each(|it| hasher.add_value(it));
    hasher.finish()
}

/// Collects the bytes to hash: copying the many small values together is faster than hashing one by
/// one.
struct RowHasher(Vec<u8>);

impl Default for RowHasher {
    fn default() -> Self {
        Self(Vec::with_capacity(1024))
    }
}

impl RowHasher {
    fn add_value(&mut self, value: ValueRef<'_>) {
        let mut part = |kind: u8, bytes: &[u8]| {
            let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
            self.0.push(kind);
            self.0.extend_from_slice(&length.to_le_bytes());
            self.0.extend_from_slice(bytes);
        };
        match value {
            ValueRef::Null => part(0, &[]),
            ValueRef::Integer(it) => part(1, &it.to_le_bytes()),
            ValueRef::Real(it) => part(2, &it.to_le_bytes()),
            ValueRef::Text(it) => part(3, it),
            ValueRef::Blob(it) => part(4, it),
        }
    }

    fn finish(&self) -> [u8; 32] {
        *blake3::hash(&self.0).as_bytes()
    }
}
