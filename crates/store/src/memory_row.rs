//! A memory as a database row: its columns, the hashes over them, and reading it back.
//!
//! The columns are declared once, as [`MemoryColumn`]; the SQL column lists are generated from the
//! same declaration, so the two cannot drift apart. The tables `memories` and `memory_versions`
//! share these columns.
//!
//! A row carries two hashes, and every read checks both: damage is reported, never served. `hash`
//! covers all columns before it. `counts_hash` covers the usage counters, which change without a
//! new version of the memory.

mod cells;
#[cfg(test)]
mod tests;

use model::{Memory, MemoryFlags, MemoryId, Timestamp, UsageCounters};
use rusqlite::Row;
use rusqlite::types::{Value, ValueRef};

use cells::RowCells;

/// Declares the columns as an enum and as SQL fragments. The fragments are macros because
/// statements are put together by `concat!`, which accepts no constants.
///
/// `declare_columns! { Id = "id", Project = "project", Type = "type", }` expands to the enum
/// `MemoryColumn { Id, Project, Type }` and to three macros:
///
/// | Macro             | Expands to                        |
/// |-------------------|-----------------------------------|
/// | `columns!()`      | `"id, project, type"`             |
/// | `placeholders!()` | `"?, ?, ?"`                       |
/// | `assignments!()`  | `"id = ?, project = ?, type = ?"` |
macro_rules! declare_columns {
    ($first:ident = $first_name:literal, $($column:ident = $name:literal,)+) => {
        /// A column of a memory. The order is that in which values are bound, hashed and read.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum MemoryColumn {
            $first,
            $($column,)+
        }

        /// SQL: `id, project, …`
        macro_rules! columns {
            () => {
                concat!($first_name, $(", ", $name),+)
            };
        }

        /// SQL: `?, ?, …`, one parameter per column. `SQLite` numbers them from 1 upwards.
        // `$(…)+` repeats only text that contains one of the repeated variables. So each column
        // name is passed to the second arm, which ignores it:
        // `concat!("?", placeholders!("project"), placeholders!("type"))` is `"?, ?, ?"`.
        macro_rules! placeholders {
            () => {
                concat!("?", $(placeholders!($name)),+)
            };
            ($ignored_name:literal) => {
                ", ?"
            };
        }

        /// SQL: `id = ?, project = ?, …`
        macro_rules! assignments {
            () => {
                concat!($first_name, " = ?", $(", ", $name, " = ?"),+)
            };
        }

        pub(crate) use {assignments, columns, placeholders};
    };
}

declare_columns! {
    Id = "id",
    Project = "project",
    Type = "type",
    Source = "source",
    Scope = "scope",
    Visibility = "visibility",
    Content = "content",
    Summary = "summary",
    Citation = "citation",
    Confidence = "confidence",
    Tags = "tags",
    Files = "files",
    Modules = "modules",
    Anchors = "anchors",
    WorkUnit = "work_unit",
    Session = "session",
    Provenance = "provenance",
    Commit = "commit_id",
    Branch = "branch",
    Relations = "relations",
    HalfLifeDays = "half_life_days",
    NeedsReview = "needs_review",
    UserVerified = "user_verified",
    Pinned = "pinned",
    Tainted = "tainted",
    DeprecatedAt = "deprecated_at",
    DeprecatedReason = "deprecated_reason",
    StaleAt = "stale_at",
    DeletedAt = "deleted_at",
    Payload = "payload",
    CreatedBy = "created_by",
    CreatedAt = "created_at",
    UpdatedAt = "updated_at",
    Version = "version",
    Hlc = "hlc",
    // Covers all columns above.
    Hash = "hash",
    AccessCount = "access_count",
    UsedCount = "used_count",
    LastAccessedAt = "last_accessed_at",
    LastUsedAt = "last_used_at",
    // Covers the id and the four counts above.
    CountsHash = "counts_hash",
}

/// Number of columns that `hash` covers: all that come before it.
const HASHED_COLUMNS: usize = MemoryColumn::Hash as usize;

/// A memory that was read from a row, or the damage of that row. Readers return it inside a
/// `rusqlite::Result`, whose error means that the database could not be read at all.
pub(crate) type CheckedMemory = Result<Memory, DamagedRow>;

/// A row whose content does not match its hash, or cannot be decoded. Its content is never
/// returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedRow {
    /// Its id, if at least that can be read.
    pub id: Option<MemoryId>,
    pub what: &'static str,
}

/// Encodes a memory as the values of its row, in the order of `MemoryColumn`.
pub(crate) fn to_values(memory: &Memory) -> Vec<Value> {
    use MemoryColumn as Column;
    // One encoder per kind of column.
    let text = |it: &str| Value::Text(it.to_owned());
    let json = |it: Result<String, serde_json::Error>| {
        Value::Text(it.expect("plain lists have a JSON form"))
    };
    let flag = |it: bool| Value::Integer(i64::from(it));
    let nullable_text = |it: &Option<String>| it.as_deref().map_or(Value::Null, text);
    let (flags, states) = (&memory.flags, &memory.states);
    let cells: [(Column, Value); HASHED_COLUMNS] = [
        (Column::Id, Value::Blob(memory.id.0.as_bytes().to_vec())),
        (
            Column::Project,
            memory.project.map_or(Value::Null, |it| Value::Blob(it.0.as_bytes().to_vec())),
        ),
        (Column::Type, text(memory.kind.slug())),
        (Column::Source, text(memory.source.slug())),
        (Column::Scope, text(memory.scope.slug())),
        (Column::Visibility, text(memory.visibility.slug())),
        (Column::Content, text(&memory.content)),
        (Column::Summary, text(&memory.summary)),
        (Column::Citation, text(&memory.citation)),
        (Column::Confidence, Value::Integer(i64::from(memory.confidence.get()))),
        (Column::Tags, json(serde_json::to_string(&memory.tags))),
        (Column::Files, json(serde_json::to_string(&memory.files))),
        (Column::Modules, json(serde_json::to_string(&memory.modules))),
        (Column::Anchors, json(serde_json::to_string(&memory.anchors))),
        (
            Column::WorkUnit,
            memory.work_unit.as_ref().map_or(Value::Null, |it| json(serde_json::to_string(it))),
        ),
        (
            Column::Session,
            memory.session.map_or(Value::Null, |it| Value::Blob(it.0.as_bytes().to_vec())),
        ),
        (Column::Provenance, json(serde_json::to_string(&memory.provenance))),
        (Column::Commit, nullable_text(&memory.commit)),
        (Column::Branch, nullable_text(&memory.branch)),
        (Column::Relations, json(serde_json::to_string(&memory.relations))),
        (
            Column::HalfLifeDays,
            memory.half_life_days.map_or(Value::Null, |it| Value::Integer(i64::from(it))),
        ),
        (Column::NeedsReview, Value::Integer(review_bits(*flags))),
        (Column::UserVerified, flag(flags.user_verified)),
        (Column::Pinned, flag(flags.pinned)),
        (Column::Tainted, flag(flags.tainted)),
        (Column::DeprecatedAt, nullable_time(states.deprecated_at)),
        (Column::DeprecatedReason, nullable_text(&states.deprecated_reason)),
        (Column::StaleAt, nullable_time(states.stale_at)),
        (Column::DeletedAt, nullable_time(states.deleted_at)),
        (
            Column::Payload,
            memory.payload.as_ref().map_or(Value::Null, |it| Value::Text(it.to_json().to_string())),
        ),
        (Column::CreatedBy, Value::Text(memory.created_by.to_string())),
        (Column::CreatedAt, Value::Integer(memory.created_at.0)),
        (Column::UpdatedAt, Value::Integer(memory.updated_at.0)),
        (Column::Version, Value::Integer(i64::from(memory.version))),
        (Column::Hlc, Value::Integer(memory.hlc.0)),
    ];
    let is_in_place =
        |(position, (column, _)): (usize, &(Column, Value))| *column as usize == position;
    debug_assert!(cells.iter().enumerate().all(is_in_place), "the order is that of `MemoryColumn`");
    let mut values: Vec<Value> = cells.into_iter().map(|(_, value)| value).collect();
    let hash = hash_values(values.iter().map(ValueRef::from));
    values.push(Value::Blob(hash.to_vec()));
    values.extend(count_values(memory.id, &memory.counters));
    values
}

/// The bit of `needs_review` that marks a memory to review.
const REVIEW_BIT: i64 = 1;
/// The bit of `needs_review` that marks a candidate.
// A column of its own would be in the hash of no row that exists, and missing in the backups of
// older schemas, which erasing rewrites with the same statements.
const CANDIDATE_BIT: i64 = 2;

/// Encodes the two flags that the column `needs_review` holds.
fn review_bits(flags: MemoryFlags) -> i64 {
    let bit = |is_set: bool, bit: i64| if is_set { bit } else { 0 };
    bit(flags.needs_review, REVIEW_BIT) | bit(flags.candidate, CANDIDATE_BIT)
}

/// Encodes the counts of a memory and their hash: the columns from `AccessCount` to the last.
pub(crate) fn count_values(id: MemoryId, counters: &UsageCounters) -> [Value; 5] {
    let [accessed, used, last_accessed, last_used] = plain_counts(counters);
    let hash = Value::Blob(hash_counts(id, counters).to_vec());
    [accessed, used, last_accessed, last_used, hash]
}

fn plain_counts(counters: &UsageCounters) -> [Value; 4] {
    let number = |it: u64| Value::Integer(i64::try_from(it).unwrap_or(i64::MAX));
    [
        number(counters.access_count),
        number(counters.used_count),
        nullable_time(counters.last_accessed_at),
        nullable_time(counters.last_used_at),
    ]
}

fn nullable_time(time: Option<Timestamp>) -> Value {
    time.map_or(Value::Null, |it| Value::Integer(it.0))
}

/// Hashes the counts together with the id, so that the counts of another memory do not pass.
fn hash_counts(id: MemoryId, counters: &UsageCounters) -> [u8; 32] {
    let values = plain_counts(counters);
    let id = ValueRef::Blob(id.0.as_bytes());
    hash_values(std::iter::once(id).chain(values.iter().map(ValueRef::from)))
}

/// Reads a memory and checks both hashes. `first_column` is the index of its id within the row:
/// statements may select other values before the columns of a memory.
pub(crate) fn read_memory(row: &Row<'_>, first_column: usize) -> rusqlite::Result<CheckedMemory> {
    let memory = match read_without_counts(row, first_column)? {
        Ok(memory) => memory,
        Err(damaged) => return Ok(Err(damaged)),
    };
    let cells = RowCells { row, first_column };
    Ok(match cells.counters(memory.id) {
        Some(counters) => Ok(Memory { counters, ..memory }),
        None => Err(DamagedRow { id: Some(memory.id), what: "its counts do not match their hash" }),
    })
}

/// Reads a memory with all its counts at zero, for rows whose counts are damaged.
pub(crate) fn read_without_counts(
    row: &Row<'_>,
    first_column: usize,
) -> rusqlite::Result<CheckedMemory> {
    let mut hasher = RowHasher::default();
    for column in first_column..first_column + HASHED_COLUMNS {
        hasher.add_value(row.get_ref(column)?);
    }
    let cells = RowCells { row, first_column };
    let id = cells.blob(MemoryColumn::Id).and_then(MemoryId::from_bytes);
    if cells.blob(MemoryColumn::Hash) != Some(hasher.finish().as_slice()) {
        return Ok(Err(DamagedRow { id, what: "its content does not match its hash" }));
    }
    // The hash fits, so nothing is damaged: a newer version wrote a value unknown to this one.
    Ok(cells.memory().ok_or(DamagedRow { id, what: "it holds values this version cannot read" }))
}

/// Hashes the values of a row.
fn hash_values<'a>(values: impl Iterator<Item = ValueRef<'a>>) -> [u8; 32] {
    let mut hasher = RowHasher::default();
    values.for_each(|it| hasher.add_value(it));
    hasher.finish()
}

/// Collects the bytes to hash: copying the many small values together is faster than hashing one by
/// one. Type and length go in with each value, so that no two different rows give the same bytes.
struct RowHasher(Vec<u8>);

impl Default for RowHasher {
    fn default() -> Self {
        Self(Vec::with_capacity(1024))
    }
}

impl RowHasher {
    fn add_value(&mut self, value: ValueRef<'_>) {
        let mut append = |type_code: u8, bytes: &[u8]| {
            let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
            self.0.push(type_code);
            self.0.extend_from_slice(&length.to_le_bytes());
            self.0.extend_from_slice(bytes);
        };
        // The codes, and numbers as eight little-endian bytes, are part of the stored hashes: they
        // never change.
        match value {
            ValueRef::Null => append(0, &[]),
            ValueRef::Integer(it) => append(1, &it.to_le_bytes()),
            ValueRef::Real(it) => append(2, &it.to_le_bytes()),
            ValueRef::Text(it) => append(3, it),
            ValueRef::Blob(it) => append(4, it),
        }
    }

    fn finish(&self) -> [u8; 32] {
        *blake3::hash(&self.0).as_bytes()
    }
}
