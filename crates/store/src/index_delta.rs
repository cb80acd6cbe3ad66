//! Changes for the in-memory search index that a process keeps: one outline per memory, and the
//! codes of its vectors.
//!
//! The caller names the position up to which its index is current. It gets the outlines and codes
//! that changed since, or all of them if the changes cannot be told. Outlines are read from an SQL
//! index alone, which is why they carry only a few columns. They decide which memories are
//! candidates; the memories themselves are read and checked one by one.

use std::collections::{BTreeSet, HashMap};

use model::{MemoryId, MemoryScope, MemorySource, MemoryStatus, MemoryType, SessionId, Visibility};
use rusqlite::Row;
use rusqlite::types::ValueRef;

use crate::Error;
use crate::memory_filter::status_position;
use crate::os::FileIdentity;
use crate::query::{Db, Query};
use crate::vectors::{self, VectorCode};

/// Columns of a memory that filtering and ranking need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryOutline {
    /// Row number in this file, in the order of writing.
    pub number: i64,
    pub id: MemoryId,
    pub status: MemoryStatus,
    pub kind: MemoryType,
    pub source: MemorySource,
    pub scope: MemoryScope,
    pub visibility: Visibility,
    pub pinned: bool,
    pub branch: Option<String>,
    pub session: Option<SessionId>,
    /// Words of its search text; 0 once it is forgotten.
    pub n_words: u32,
}

/// Position up to which an index has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexPosition {
    /// The database file that was read. A restore puts another one in its place.
    pub(crate) file: Option<FileIdentity>,
    /// Sequence number of the last change.
    pub(crate) seq: i64,
    /// Number of the last operation that no change records, see [`advance_epoch`].
    pub(crate) epoch: i64,
    /// Number of the last vector of the model.
    pub(crate) last_vector: i64,
}

/// Changes since a position, or the full index if the changes are not known.
#[derive(Clone, Debug)]
pub struct IndexDelta {
    pub position: IndexPosition,
    /// The delta replaces everything the index held before.
    pub is_full: bool,
    pub outlines: Vec<MemoryOutline>,
    /// All codes of every memory that is in `outlines` or has new codes.
    pub codes: Vec<VectorCode>,
}

/// Every statement of this file, for the tests that replay them on a server.
#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[
    &SELECT_ALL_OUTLINES,
    &SELECT_OUTLINE,
    &SELECT_TEXT_LENGTHS,
    &SELECT_TEXT_LENGTH,
    &SELECT_CHANGED_SINCE,
    &COUNT_ERASED_SINCE,
    &SELECT_POSITION,
    &ADVANCE_EPOCH,
];

/// SQL: selects the columns of an outline.
macro_rules! select_outline {
    () => {
        concat!(
            "SELECT n, id, type, source, scope, visibility, pinned, branch, session, ",
            status_position!(),
            " AS status FROM memories"
        )
    };
}

/// The outlines of all memories.
// The index covers all columns, so the wide rows of the table are not read.
const SELECT_ALL_OUTLINES: Query = Query::shared(
    "all_outlines",
    concat!(select_outline!(), " INDEXED BY memories_outline ORDER BY id"),
);
/// The outline of one memory.
const SELECT_OUTLINE: Query =
    Query::shared("outline", concat!(select_outline!(), " WHERE id = ?1"));
/// Row number and length of every search text.
// FTS5 stores the number of tokens per column as varints, see `decode_word_count`.
const SELECT_TEXT_LENGTHS: Query =
    Query::shared("text_lengths", "SELECT id, sz FROM memories_fts_docsize");
/// Length of one search text.
const SELECT_TEXT_LENGTH: Query =
    Query::shared("text_length", "SELECT sz FROM memories_fts_docsize WHERE id = ?1");
/// Memories changed after a sequence number; NULL where the memory was erased.
// There is no condition on `id`: SQLite would choose its index and read it from end to end.
const SELECT_CHANGED_SINCE: Query =
    Query::shared("changed_since", "SELECT id FROM changes WHERE seq > ?1 ORDER BY seq");
/// Erasures after a sequence number.
const COUNT_ERASED_SINCE: Query = Query::shared(
    "erased_since",
    "SELECT count(*) FROM audit WHERE batch > ?1 AND action = 'erase'",
);

/// Sequence number, epoch, and last vector of a model.
// Vector numbers are never reused (AUTOINCREMENT), so a higher one is always newer.
const SELECT_POSITION: Query = Query::shared(
    "index_position",
    "SELECT (SELECT value FROM meta WHERE key = 'seq'), \
     coalesce((SELECT value FROM meta WHERE key = 'index_epoch'), 0), \
     (SELECT coalesce(max(n), 0) FROM embeddings WHERE model = ?1)",
);
/// Begins a new epoch.
const ADVANCE_EPOCH: Query = Query::shared(
    "advance_index_epoch",
    "INSERT INTO meta (key, value) VALUES ('index_epoch', 1) ON CONFLICT (key) DO UPDATE SET value = value + 1",
);

/// Most changes that are read one by one; beyond them, reading the full index is cheaper.
const MAX_INCREMENTAL_CHANGES: usize = 2_000;

/// Reads the changes since a position; `None` if there are none.
pub(crate) fn read_index_delta(
    db: &Db,
    model: &str,
    since: Option<&IndexPosition>,
) -> Result<Option<IndexDelta>, Error> {
    let position = read_position(db, model)?;
    let Some(since) = since.filter(|it| is_before(it, &position)) else {
        return read_full_index(db, model, position).map(Some);
    };
    if *since == position {
        return Ok(None);
    }
    let changed =
        db.select(&SELECT_CHANGED_SINCE, &[&since.seq], |row| row.get::<_, Option<Vec<u8>>>(0))?;
    let changed: BTreeSet<Vec<u8>> = changed.into_iter().flatten().collect();
    // Erasing removes ids from the changes, and vectors can be deleted without a change: neither
    // shows in an incremental delta.
    let has_deleted_vectors = position.last_vector < since.last_vector;
    if has_erasure_since(db, since)?
        || has_deleted_vectors
        || changed.len() > MAX_INCREMENTAL_CHANGES
    {
        return read_full_index(db, model, position).map(Some);
    }
    // Changed memories, each with all its codes.
    let (mut outlines, mut codes) = (Vec::new(), Vec::new());
    for id in changed.iter().filter_map(|it| MemoryId::from_bytes(it)) {
        let found = db.select_one(&SELECT_OUTLINE, &[&id.0.as_bytes().as_slice()], read_outline)?;
        if let Some(mut outline) = found.flatten() {
            outline.n_words = db
                .select_one(&SELECT_TEXT_LENGTH, &[&outline.number], |row| {
                    Ok(decode_word_count(row.get_ref(0)?))
                })?
                .unwrap_or(0);
            outlines.push(outline);
        }
        codes.extend(vectors::codes_of(db, id, model)?);
    }
    // New vectors of unchanged memories; those of changed ones were read above.
    let mut added = vectors::codes_after(db, model, since.last_vector)?;
    added.retain(|it| !outlines.iter().any(|known| known.id == it.owner));
    codes.append(&mut added);
    Ok(Some(IndexDelta { position, is_full: false, outlines, codes }))
}

fn read_position(db: &Db, model: &str) -> Result<IndexPosition, Error> {
    let numbers = db.select_one(&SELECT_POSITION, &[&model], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    })?;
    let (seq, epoch, last_vector) = numbers.unwrap_or_default();
    Ok(IndexPosition { file: db.file(), seq, epoch, last_vector })
}

/// Returns whether a position is one that the same database had before.
// After a restore the file is another one, and its sequence may be lower: an old position has no
// meaning in it.
fn is_before(earlier: &IndexPosition, now: &IndexPosition) -> bool {
    earlier.file == now.file && earlier.epoch == now.epoch && earlier.seq <= now.seq
}

/// Returns whether an index of this position holds nothing that was erased since.
pub(crate) fn is_known_position(db: &Db, position: &IndexPosition) -> Result<bool, Error> {
    // The model does not matter for file, epoch and sequence.
    let now = read_position(db, "")?;
    Ok(is_before(position, &now) && !has_erasure_since(db, position)?)
}

fn has_erasure_since(db: &Db, position: &IndexPosition) -> Result<bool, Error> {
    Ok(db.select_number(&COUNT_ERASED_SINCE, &[&position.seq])? > 0)
}

/// Begins a new epoch: every index must be read again in full. Called by operations that remove or
/// overwrite what an index holds without recording which memories changed.
pub(crate) fn advance_epoch(db: &Db) -> Result<(), Error> {
    db.execute(&ADVANCE_EPOCH, &[]).map(|_| ())
}

fn read_full_index(db: &Db, model: &str, position: IndexPosition) -> Result<IndexDelta, Error> {
    let mut outlines: Vec<MemoryOutline> =
        db.select(&SELECT_ALL_OUTLINES, &[], read_outline)?.into_iter().flatten().collect();
    let lengths = db.select(&SELECT_TEXT_LENGTHS, &[], |row| {
        Ok((row.get(0)?, decode_word_count(row.get_ref(1)?)))
    })?;
    let lengths: HashMap<i64, u32> = lengths.into_iter().collect();
    for outline in &mut outlines {
        outline.n_words = lengths.get(&outline.number).copied().unwrap_or(0);
    }
    let codes = vectors::codes_after(db, model, 0)?;
    Ok(IndexDelta { position, is_full: true, outlines, codes })
}

/// Decodes the token counts of all columns (`SQLite` varints: seven bits per byte, highest first)
/// and adds them up.
fn decode_word_count(sizes: ValueRef<'_>) -> u32 {
    let (mut total, mut column) = (0_u32, 0_u32);
    for byte in sizes.as_blob().unwrap_or_default() {
        // The highest bit is set on every byte of a number but its last.
        column = column.wrapping_shl(7) | u32::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            total = total.saturating_add(column);
            column = 0;
        }
    }
    total
}

/// Reads an outline. A malformed row is left out: its memory is damaged, which is reported when the
/// memory itself is read.
fn read_outline(row: &Row<'_>) -> rusqlite::Result<Option<MemoryOutline>> {
    let text = |column: &str| row.get::<_, String>(column);
    let (kind, source, scope) = (text("type")?, text("source")?, text("scope")?);
    let visibility = text("visibility")?;
    let (id, session): (Vec<u8>, Option<Vec<u8>>) = (row.get("id")?, row.get("session")?);
    let (n, pinned, branch) = (row.get("n")?, row.get("pinned")?, row.get("branch")?);
    let status = MemoryStatus::ALL.get(row.get::<_, usize>("status")?).copied();
    // A closure, so that `?` leaves out the row and not the whole query.
    let decode = || {
        Some(MemoryOutline {
            number: n,
            id: MemoryId::from_bytes(&id)?,
            status: status?,
            kind: MemoryType::from_slug(&kind).ok()?,
            source: MemorySource::from_slug(&source)?,
            scope: MemoryScope::from_slug(&scope)?,
            visibility: Visibility::from_slug(&visibility)?,
            pinned,
            branch,
            session: session.as_deref().and_then(SessionId::from_bytes),
            // The caller fills it in from another table.
            n_words: 0,
        })
    };
    Ok(decode())
}
