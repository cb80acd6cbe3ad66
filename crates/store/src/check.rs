//! Looking for damage: the mark against the sequence, rows against their hashes, indexes against rows.

use std::fmt;

use model::{Memory, MemoryId, Timestamp};

use crate::layout::Home;
use crate::mark::{Mark, Reading};
use crate::query::{Db, Query, both, local};
use crate::row::{DamagedRow, columns, read_memory};
use crate::schema::{self, Schema};
use crate::site::Site;
use crate::stamp::{META, SET_META};
use crate::{Error, memories};

/// Below this many bytes the thorough check takes a few milliseconds, which an empty answer may cost.
const SMALL: u64 = 8 << 20;

/// Something that is not as it was saved. Every finding is reported; none is served over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Acknowledged changes are gone; `known` names those the mark still remembers.
    Lost { from: i64, to: i64, known: Vec<MemoryId> },
    /// A memory's row is damaged and withheld.
    Row(DamagedRow),
    /// An older version of a memory is damaged; the memory itself is not.
    Version(DamagedRow),
    /// There are fewer rows than were saved.
    Count { table: &'static str, saved: i64, found: i64 },
    /// The database itself says something is wrong.
    Database(String),
    /// The search index disagrees with the rows; it can be rebuilt.
    SearchIndex(String),
    /// The sidecar that would show a loss cannot be read; the next write renews it.
    MarkUnreadable,
}

/// A finding as a person reads it.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost { from, to, known } => {
                write!(f, "{} saved changes are gone ({from} to {to}", to - from + 1)?;
                for (at, id) in known.iter().enumerate() {
                    write!(f, "{}#{}", if at == 0 { ", of " } else { ", " }, id.short())?;
                }
                f.write_str(")")
            }
            Self::Row(DamagedRow { id: Some(id), what }) => {
                write!(f, "memory #{} is damaged and withheld: {what}", id.short())
            }
            Self::Row(DamagedRow { id: None, what }) => {
                write!(f, "a memory is damaged and withheld: {what}")
            }
            Self::Version(row) => {
                write!(f, "an older version of a memory is damaged: {}", row.what)
            }
            Self::Count { table, saved, found } => {
                write!(f, "`{table}` has {found} rows, {saved} were saved")
            }
            Self::Database(what) => write!(f, "the database reports: {what}"),
            Self::SearchIndex(what) => {
                write!(f, "the search index disagrees with the memories: {what}")
            }
            Self::MarkUnreadable => f.write_str(
                "the mark that would show a loss cannot be read; the next write renews it",
            ),
        }
    }
}

#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[
    &NOTE_LOSS,
    &OPEN_LOSSES,
    &TAKE_NOTE,
    &RECENT_CHANGES,
    &EVERY_ROW,
    &EVERY_VERSION,
    &N_VERSIONS,
    &FTS_CHECK,
    &INTEGRITY,
    &REFRESH,
];

const NOTE_LOSS: Query =
    both("note_loss", "INSERT INTO losses (from_seq, to_seq, noticed_at) VALUES (?1, ?2, ?3)");
const OPEN_LOSSES: Query = both(
    "open_losses",
    "SELECT from_seq, to_seq FROM losses WHERE noted_at IS NULL ORDER BY from_seq",
);
const TAKE_NOTE: Query =
    both("take_note", "UPDATE losses SET noted_at = ?1 WHERE noted_at IS NULL");
const RECENT_CHANGES: Query = both(
    "recent_changes",
    "SELECT seq, id FROM changes WHERE seq > ?1 AND id IS NOT NULL ORDER BY seq DESC LIMIT 64",
);
const EVERY_ROW: Query =
    both("every_row", concat!("SELECT ", columns!(), " FROM memories ORDER BY n"));
pub(crate) const EVERY_VERSION: Query =
    both("every_version", concat!("SELECT ", columns!(), " FROM memory_versions ORDER BY k"));
const N_VERSIONS: Query = both("n_versions", "SELECT count(*) FROM memory_versions");
const FTS_CHECK: Query = local(
    "fts_check",
    "INSERT INTO memories_fts (memories_fts, rank) VALUES ('integrity-check', 1)",
);

const INTEGRITY: Query = local("integrity", "PRAGMA integrity_check(20)");
// Any question makes the search index notice what other connections have written. Its own check does
// not, and would compare today's text with the index of an earlier moment (libSQL 0.10, FTS5 3.47).
const REFRESH: Query = both("refresh", "SELECT rowid FROM memories_fts WHERE rowid = -1");

/// Compares the open database with its mark; only looks.
pub(crate) fn against_mark(db: &Db, home: &Home) -> Result<Vec<Finding>, Error> {
    // The mark is read first: it is written after the commit, so it can only be behind.
    let (mark, unreadable) = match Mark::read(&home.mark())? {
        Reading::Mark(mark) => (mark, None),
        Reading::Absent => (Mark::default(), None),
        Reading::Unreadable => (Mark::default(), Some(Finding::MarkUnreadable)),
    };
    let mut spans = db.select(&OPEN_LOSSES, &[], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let seq = db.number(&META, &[&"seq"])?;
    if mark_seq(&mark) > seq {
        spans.push((seq + 1, mark_seq(&mark)));
    }
    let lost = |(from, to): (i64, i64)| Finding::Lost { from, to, known: mark.within(from, to) };
    Ok(spans.into_iter().map(lost).chain(unreadable).collect())
}

/// Compares the database with its mark before writing. A loss is written down, and the sequence
/// moves past it: numbers are not used twice, and the loss is not papered over by new changes.
pub(crate) fn settle_mark(db: &Db, site: &Site) -> Result<(), Error> {
    let seq = db.number(&META, &[&"seq"])?;
    let Reading::Mark(mark) = Mark::read(&site.home.mark())? else {
        return Ok(());
    };
    if mark_seq(&mark) <= seq {
        return Ok(());
    }
    db.transaction(|db| {
        db.run(&NOTE_LOSS, &[&(seq + 1), &mark_seq(&mark), &site.now.0])?;
        db.run(&SET_META, &[&"seq", &mark_seq(&mark)]).map(|_| ())
    })
}

/// Renews the mark from what is committed.
pub(crate) fn advance_mark(db: &Db, home: &Home) -> Result<(), Error> {
    let path = home.mark();
    let mut mark = match Mark::read(&path)? {
        Reading::Mark(mark) => mark,
        Reading::Absent | Reading::Unreadable => Mark::default(),
    };
    let seq = db.number(&META, &[&"seq"])?;
    if mark_seq(&mark) >= seq {
        return Ok(());
    }
    let mut changed = db.select(&RECENT_CHANGES, &[&mark_seq(&mark)], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))
    })?;
    changed.reverse();
    let changed: Vec<_> = changed
        .iter()
        .filter_map(|it| Some((it.0.unsigned_abs(), MemoryId::from_bytes(&it.1)?)))
        .collect();
    mark.advance(seq.unsigned_abs(), &changed);
    mark.write(&path)
}

/// Takes note of every loss found so far: it is no longer reported.
pub(crate) fn take_note(db: &Db, now: Timestamp) -> Result<usize, Error> {
    db.run(&TAKE_NOTE, &[&now.0])
}

/// The complete examination of a file by itself: structure, definitions, rows, versions, counts.
pub(crate) fn examine(db: &Db, schema: &Schema) -> Result<Vec<Finding>, Error> {
    let mut res: Vec<Finding> = integrity(db)?.into_iter().map(Finding::Database).collect();
    let altered = schema::altered(db, schema)?.into_iter();
    res.extend(altered.map(|it| Finding::Database(format!("`{it}` is not defined as it was"))));
    let rows = db.select(&EVERY_ROW, &[], |row| read_memory(row, 0))?;
    let found = i64::try_from(rows.len()).unwrap_or(i64::MAX);
    res.extend(rows.into_iter().filter_map(Result::err).map(Finding::Row));
    let versions = db.select(&EVERY_VERSION, &[], |row| read_memory(row, 0))?;
    res.extend(versions.into_iter().filter_map(Result::err).map(Finding::Version));
    res.extend(count_finding(db, "memories", "n_memories", found)?);
    res.extend(count_finding(db, "memory_versions", "n_versions", db.number(&N_VERSIONS, &[])?)?);
    Ok(res)
}

/// Every memory a condition holds for, past all indexes.
pub(crate) fn scan(
    db: &Db,
    wanted: impl Fn(&Memory) -> bool,
) -> Result<memories::Read<Memory>, Error> {
    let rows = db.select(&EVERY_ROW, &[], |row| read_memory(row, 0))?;
    let rows = rows.into_iter().filter(|it| it.as_ref().is_ok_and(&wanted)).collect();
    Ok(memories::Read::part(rows, Finding::Row))
}

/// The examination behind an empty answer: is it empty, or did something go missing? The thorough
/// part is done once per connection: damage comes to files at rest, and an empty answer is common.
/// A large file gets it only when its numbers do not agree or a second `witness` says otherwise: an
/// empty answer must not cost seconds.
pub(crate) fn doubt(
    db: &Db,
    witness: impl FnOnce(&Db) -> Result<bool, Error>,
) -> Result<Vec<Finding>, Error> {
    let found = memories::total(db)?;
    let mut res: Vec<Finding> =
        count_finding(db, "memories", "n_memories", found)?.into_iter().collect();
    if db.known_sound.get() {
        return Ok(res);
    }
    if !res.is_empty() || is_small(db)? || witness(db)? {
        let wrong = integrity(db)?;
        db.known_sound.set(wrong.is_empty());
        res.extend(wrong.into_iter().map(Finding::Database));
    }
    Ok(res)
}

fn is_small(db: &Db) -> Result<bool, Error> {
    let number = |sql: &str| db.pragma(sql).map(|it| it.parse::<u64>().unwrap_or(0));
    Ok(number("PRAGMA page_count")? * number("PRAGMA page_size")? < SMALL)
}

/// Asks the search index to check itself against the rows; needs a connection that may write.
pub(crate) fn search_index(db: &Db) -> Option<Finding> {
    match db.run(&FTS_CHECK, &[]) {
        // Not being able to ask is not an answer.
        Ok(_) | Err(Error::ReadOnly { .. } | Error::Denied { .. }) => None,
        Err(error) => Some(Finding::SearchIndex(error.to_string())),
    }
}

fn count_finding(
    db: &Db,
    table: &'static str,
    key: &str,
    found: i64,
) -> Result<Option<Finding>, Error> {
    let saved = db.number(&META, &[&key])?;
    Ok((saved != found).then_some(Finding::Count { table, saved, found }))
}

/// What the database's own check says, other than `ok`.
pub(crate) fn integrity(db: &Db) -> Result<Vec<String>, Error> {
    // An index too damaged to be asked is what the check is there to report.
    let _ = db.select(&REFRESH, &[], |_| Ok(()));
    let lines = db.select(&INTEGRITY, &[], |row| row.get::<_, String>(0))?;
    Ok(lines.into_iter().filter(|it| it != "ok").collect())
}

fn mark_seq(mark: &Mark) -> i64 {
    i64::try_from(mark.seq).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn findings_read_as_sentences() {
        let id = MemoryId::new(Timestamp(1), [7; 10]);
        let row = |id| DamagedRow { id, what: "its content does not match its hash" };
        let findings = [
            Finding::Lost { from: 3, to: 5, known: vec![id, id] },
            Finding::Lost { from: 3, to: 3, known: vec![] },
            Finding::Row(row(Some(id))),
            Finding::Row(row(None)),
            Finding::Version(row(None)),
            Finding::Count { table: "memories", saved: 5, found: 4 },
            Finding::Database("a page is missing".to_owned()),
            Finding::SearchIndex("malformed".to_owned()),
            Finding::MarkUnreadable,
        ];
        let lines: Vec<String> = findings.iter().map(|it| format!("{it}\n")).collect();
        expect![[r"
            3 saved changes are gone (3 to 5, of #07070707, #07070707)
            1 saved changes are gone (3 to 3)
            memory #07070707 is damaged and withheld: its content does not match its hash
            a memory is damaged and withheld: its content does not match its hash
            an older version of a memory is damaged: its content does not match its hash
            `memories` has 4 rows, 5 were saved
            the database reports: a page is missing
            the search index disagrees with the memories: malformed
            the mark that would show a loss cannot be read; the next write renews it
        "]]
        .assert_eq(&lines.concat());
    }
}
