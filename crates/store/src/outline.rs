//! What a process keeps of every memory in its head, and how it stays in step: one line per memory,
//! and the codes of its vectors.
//!
//! Lines are read from an index alone, all of them once and afterwards only what changed. They say
//! which memories may answer a question; the memories themselves are read, and checked, one by one.

use std::collections::{BTreeSet, HashMap};

use model::{MemoryId, MemoryType, Scope, SessionId, Source, Status, Visibility};
use rusqlite::Row;
use rusqlite::types::ValueRef;

use crate::Error;
use crate::os::FileId;
use crate::query::{Db, Query, both};
use crate::stamp::META;
use crate::vectors::{self, Code};

/// One memory in outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    /// Its number in this file: the order of writing.
    pub n: i64,
    pub id: MemoryId,
    pub status: Status,
    pub kind: MemoryType,
    pub source: Source,
    pub scope: Scope,
    pub visibility: Visibility,
    pub pinned: bool,
    pub branch: Option<String>,
    pub session: Option<SessionId>,
    /// How many words its searchable text has; none once it is forgotten.
    pub words: u32,
}

/// How far somebody has read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    file: Option<FileId>,
    seq: i64,
    vector: i64,
}

/// What has changed since a position; everything, when there is no telling otherwise.
#[derive(Clone, Debug)]
pub struct News {
    pub position: Position,
    /// Whatever was known before is to be forgotten.
    pub everything: bool,
    pub outlines: Vec<Outline>,
    /// All codes of every memory that is named in `outlines` or has new ones.
    pub codes: Vec<Code>,
}

#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[&ALL, &ONE, &LENGTHS, &LENGTH, &CHANGED, &ERASED];

macro_rules! outline {
    () => {
        "SELECT n, id, type, source, scope, visibility, pinned, branch, session, \
         CASE WHEN deleted_at IS NOT NULL THEN 0 WHEN deprecated_at IS NOT NULL THEN 1 WHEN tainted = 1 THEN 2 \
         WHEN stale_at IS NOT NULL THEN 3 WHEN needs_review = 1 THEN 4 ELSE 5 END AS status FROM memories"
    };
}

const ALL: Query =
    both("every_outline", concat!(outline!(), " INDEXED BY memories_outline ORDER BY id"));
const ONE: Query = both("outline", concat!(outline!(), " WHERE id = ?1"));
// What the full-text index itself knows of each text.
const LENGTHS: Query = both("lengths", "SELECT id, sz FROM memories_fts_docsize");
const LENGTH: Query = both("length", "SELECT sz FROM memories_fts_docsize WHERE id = ?1");
// The id is not part of the question: an index on it would be asked, and read from end to end.
const CHANGED: Query = both("changed_since", "SELECT id FROM changes WHERE seq > ?1 ORDER BY seq");
const ERASED: Query =
    both("erased_since", "SELECT count(*) FROM audit WHERE batch > ?1 AND action = 'erase'");

/// Beyond this many changes reading everything is cheaper.
const FEW: usize = 2_000;

/// What happened since `since`; `None` when nothing did.
pub(crate) fn news(db: &Db, model: &str, since: Option<&Position>) -> Result<Option<News>, Error> {
    let seq = db.number(&META, &[&"seq"])?;
    let vector = vectors::last(db, model)?;
    let position = Position { file: db.file(), seq, vector };
    let Some(since) = since.filter(|it| it.file == position.file && it.seq <= seq) else {
        return everything(db, model, position).map(Some);
    };
    if *since == position {
        return Ok(None);
    }
    let changed = db.select(&CHANGED, &[&since.seq], |row| row.get::<_, Option<Vec<u8>>>(0))?;
    let changed: BTreeSet<Vec<u8>> = changed.into_iter().flatten().collect();
    let erased = db.number(&ERASED, &[&since.seq])? > 0;
    if erased || changed.len() > FEW || vector < since.vector {
        return everything(db, model, position).map(Some);
    }
    let (mut outlines, mut codes) = (Vec::new(), Vec::new());
    for id in changed.iter().filter_map(|it| MemoryId::from_bytes(it)) {
        let found = db.one(&ONE, &[&id.0.as_bytes().as_slice()], read)?;
        if let Some(mut outline) = found.flatten() {
            outline.words =
                db.one(&LENGTH, &[&outline.n], |row| Ok(n_words(row.get_ref(0)?)))?.unwrap_or(0);
            outlines.push(outline);
        }
        codes.extend(vectors::codes_of(db, id, model)?);
    }
    let mut added = vectors::codes_after(db, model, since.vector)?;
    added.retain(|it| !outlines.iter().any(|known| known.id == it.owner));
    codes.append(&mut added);
    Ok(Some(News { position, everything: false, outlines, codes }))
}

fn everything(db: &Db, model: &str, position: Position) -> Result<News, Error> {
    let mut outlines: Vec<Outline> = db.select(&ALL, &[], read)?.into_iter().flatten().collect();
    let lengths = db.select(&LENGTHS, &[], |row| Ok((row.get(0)?, n_words(row.get_ref(1)?))))?;
    let lengths: HashMap<i64, u32> = lengths.into_iter().collect();
    for outline in &mut outlines {
        outline.words = lengths.get(&outline.n).copied().unwrap_or(0);
    }
    let codes = vectors::codes_after(db, model, 0)?;
    Ok(News { position, everything: true, outlines, codes })
}

/// The words of all columns together: each column's number, seven bits to a byte, the highest first.
fn n_words(sizes: ValueRef<'_>) -> u32 {
    let (mut all, mut column) = (0_u32, 0_u32);
    for byte in sizes.as_blob().unwrap_or_default() {
        column = column.wrapping_shl(7) | u32::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            all = all.saturating_add(column);
            column = 0;
        }
    }
    all
}

/// A line that makes no sense is left out: the memory behind it is damaged, and reported by whoever
/// reads it.
fn read(row: &Row<'_>) -> rusqlite::Result<Option<Outline>> {
    let text = |at: &str| row.get::<_, String>(at);
    let (kind, source, scope) = (text("type")?, text("source")?, text("scope")?);
    let visibility = text("visibility")?;
    let (id, session): (Vec<u8>, Option<Vec<u8>>) = (row.get("id")?, row.get("session")?);
    let (n, pinned, branch) = (row.get("n")?, row.get("pinned")?, row.get("branch")?);
    let status = Status::ALL.get(row.get::<_, usize>("status")?).copied();
    Ok((|| {
        Some(Outline {
            n,
            id: MemoryId::from_bytes(&id)?,
            status: status?,
            kind: MemoryType::from_slug(&kind).ok()?,
            source: Source::from_slug(&source)?,
            scope: Scope::from_slug(&scope)?,
            visibility: Visibility::from_slug(&visibility)?,
            pinned,
            branch,
            session: session.as_deref().and_then(SessionId::from_bytes),
            words: 0,
        })
    })())
}
