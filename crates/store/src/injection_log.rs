//! The injection log: table `injections`, the notes that were given to agents.
//!
//! Rows come from the spool (`injection_spool.rs`), to which hooks append. Storing a row counts one
//! access of its memory, in the same transaction; a row that is stored already is ignored, so nothing
//! is counted twice. A row about a memory lies in the database of the memory, every other row in that
//! of the project. Learning sets whether the session followed the memory. The log is bounded by age
//! and by number; the counters of a memory keep what old rows had counted.

use model::{
    DAY_MS, InjectionMoment, InjectionTier, MemoryId, NoteSubject, ProjectId, Timestamp,
    UsageCounters,
};
use rusqlite::{Row, ToSql};

use crate::injection_spool::InjectionRow;
use crate::query::{Db, Query};
use crate::store_reader::StoreReader;
use crate::text_erasure::TextColumn;
use crate::{Error, apply_batch};

/// Days for which a row is kept.
pub const MAX_INJECTION_DAYS: i64 = 180;
/// Rows kept per database; the oldest are removed first.
pub const MAX_INJECTION_ROWS: u32 = 20_000;

/// Every statement of this file, for the tests that replay them on a server.
#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[
    &INSERT_INJECTION,
    &DELETE_OLD,
    &DELETE_EXCESS,
    &JUDGE_UNFOLLOWED,
    &JUDGE_FOLLOWED,
    &SELECT_INJECTIONS,
    &SELECT_TIER_TOTALS,
    &HAS_INJECTIONS,
    &COUNT_OF_MEMORY,
    &DELETE_OF_MEMORY,
    &DELETE_OF_PROJECT,
    &SELECT_SESSIONS,
    &UPDATE_SESSION,
];

/// Stores a note, unless it is stored already.
const INSERT_INJECTION: Query = Query::shared(
    "add_injection",
    "INSERT OR IGNORE INTO injections (at, project, session, host, moment, tier, subject, memory, tokens, followed, key) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, NULL, ?10)",
);
/// Deletes rows that are older than a time.
const DELETE_OLD: Query =
    Query::shared("drop_old_injections", "DELETE FROM injections WHERE at < ?1");
/// Deletes all but the newest rows.
const DELETE_EXCESS: Query = Query::shared(
    "drop_excess_injections",
    "DELETE FROM injections WHERE n <= (SELECT n FROM injections ORDER BY n DESC LIMIT 1 OFFSET ?1)",
);
/// Marks every memory that a session was shown as not followed.
const JUDGE_UNFOLLOWED: Query = Query::shared(
    "judge_unfollowed",
    "UPDATE injections SET followed = 0 WHERE project = ?1 AND session = ?2 AND memory IS NOT NULL",
);
/// Marks a memory that a session was shown as followed.
const JUDGE_FOLLOWED: Query = Query::shared(
    "judge_followed",
    "UPDATE injections SET followed = 1 WHERE project = ?1 AND session = ?2 AND memory = ?3",
);
/// Rows of a project, newest first, of one session and one memory if these are given.
const SELECT_INJECTIONS: Query = Query::shared(
    "list_injections",
    "SELECT at, project, session, host, moment, tier, subject, memory, tokens, followed FROM injections \
     WHERE (?1 IS NULL OR project = ?1) AND (?2 IS NULL OR session = ?2) AND (?3 IS NULL OR memory = ?3) \
     ORDER BY at DESC, n DESC LIMIT ?4",
);
/// Notes, tokens, and judged and followed memories of each tier.
const SELECT_TIER_TOTALS: Query = Query::shared(
    "injection_totals",
    "SELECT tier, count(*), sum(tokens), count(followed), coalesce(sum(followed), 0) FROM injections \
     WHERE project = ?1 GROUP BY tier ORDER BY tier",
);
/// 1 if the file has the log; copies of older versions do not.
const HAS_INJECTIONS: Query =
    Query::shared("has_injections", "SELECT count(*) FROM sqlite_schema WHERE name = 'injections'");
/// Number of rows of a memory.
const COUNT_OF_MEMORY: Query =
    Query::shared("count_injections", "SELECT count(*) FROM injections WHERE memory = ?1");
/// Deletes the rows of a memory.
const DELETE_OF_MEMORY: Query =
    Query::shared("drop_injections", "DELETE FROM injections WHERE memory = ?1");
/// Deletes the rows of a project.
const DELETE_OF_PROJECT: Query =
    Query::shared("drop_project_injections", "DELETE FROM injections WHERE project = ?1");
/// The hosts' ids of sessions, which may be any text.
const SELECT_SESSIONS: Query =
    Query::shared("erase_text_injections", "SELECT n, session FROM injections ORDER BY n");
/// Sets the host's id of a session.
const UPDATE_SESSION: Query =
    Query::shared("erase_text_injection", "UPDATE injections SET session = ?2 WHERE n = ?1");

/// The columns with free text.
pub(crate) const TEXT_COLUMNS: &[TextColumn] = &[(&SELECT_SESSIONS, &UPDATE_SESSION)];

/// Which rows to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InjectionFilter {
    pub project: Option<ProjectId>,
    pub session: Option<String>,
    pub memory: Option<MemoryId>,
    pub limit: u32,
}

/// Totals of one tier; without a tier, of the notes that agents asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TierTotals {
    pub tier: Option<InjectionTier>,
    pub notes: u64,
    pub tokens: u64,
    /// Notes that are memories, of sessions that were learned.
    pub judged: u64,
    /// Judged notes that the session followed.
    pub followed: u64,
}

/// Queries about the injection log.
#[derive(Clone, Copy)]
pub struct InjectionQueries<'a> {
    reader: &'a StoreReader,
}

impl<'a> InjectionQueries<'a> {
    pub(crate) fn new(reader: &'a StoreReader) -> Self {
        Self { reader }
    }

    /// Lists rows, newest first.
    pub async fn list(self, filter: InjectionFilter) -> Result<Vec<InjectionRow>, Error> {
        let rows = self.reader.read(move |db| {
            let project = filter.project.map(|it| it.0.as_bytes().to_vec());
            let memory = filter.memory.map(|it| it.0.as_bytes().to_vec());
            let params: [&dyn ToSql; 4] = [&project, &filter.session, &memory, &filter.limit];
            db.select(&SELECT_INJECTIONS, &params, read_row)
        });
        // Rows with a word of a newer version are left out.
        Ok(rows.await?.into_iter().flatten().collect())
    }

    /// Sums the rows of a project by tier.
    pub async fn totals_by_tier(self, project: ProjectId) -> Result<Vec<TierTotals>, Error> {
        let read = |row: &Row<'_>| {
            let tier: Option<String> = row.get(0)?;
            let number = |it: usize| row.get::<_, i64>(it).map(|it| u64::try_from(it).unwrap_or(0));
            Ok(TierTotals {
                tier: tier.and_then(|it| InjectionTier::from_slug(&it)),
                notes: number(1)?,
                tokens: number(2)?,
                judged: number(3)?,
                followed: number(4)?,
            })
        };
        self.reader
            .read(move |db| {
                db.select(&SELECT_TIER_TOTALS, &[&project.0.as_bytes().as_slice()], read)
            })
            .await
    }
}

/// Stores rows and counts an access of each memory that was not stored yet. Removes what exceeds the
/// bounds. Returns how many rows were new.
pub(crate) fn put_injections(
    db: &Db,
    rows: &[InjectionRow],
    now: Timestamp,
) -> Result<usize, Error> {
    let mut n_new = 0;
    for row in rows {
        let key = format!("{} {} {}", row.session, row.at.0, row.position);
        let params: [&dyn ToSql; 10] = [
            &row.at.0,
            &row.project.0.as_bytes().as_slice(),
            &row.session,
            &row.host,
            &row.moment.slug(),
            &row.tier.map(InjectionTier::slug),
            &row.subject.slug(),
            &row.memory.map(|it| it.0.as_bytes().to_vec()),
            &row.tokens,
            &fingerprint(&key),
        ];
        if db.execute(&INSERT_INJECTION, &params)? == 0 {
            continue;
        }
        n_new += 1;
        if let Some(id) = row.memory {
            apply_batch::change_counters(db, id, |it| count_access(it, row.at))?;
        }
    }
    db.execute(&DELETE_OLD, &[&(now.0 - MAX_INJECTION_DAYS * DAY_MS)])?;
    db.execute(&DELETE_EXCESS, &[&MAX_INJECTION_ROWS])?;
    Ok(n_new)
}

fn count_access(counters: &mut UsageCounters, at: Timestamp) {
    counters.access_count += 1;
    counters.last_accessed_at = counters.last_accessed_at.max(Some(at));
}

/// Hash of the key of a row: the session in it is erased with the column `session` alone.
fn fingerprint(key: &str) -> String {
    blake3::Hash::from(blake3::derive_key("waylore injection 1", key.as_bytes())).to_hex()[..32]
        .to_owned()
}

/// Records which of the memories that a session was shown it followed.
pub(crate) fn judge_injections(
    db: &Db,
    project: ProjectId,
    session: &str,
    followed: &[MemoryId],
) -> Result<(), Error> {
    let project = project.0.as_bytes().as_slice();
    db.execute(&JUDGE_UNFOLLOWED, &[&project, &session])?;
    for id in followed {
        db.execute(&JUDGE_FOLLOWED, &[&project, &session, &id.0.as_bytes().as_slice()])?;
    }
    Ok(())
}

/// Returns whether the file has the log. Copies of older versions have none.
pub(crate) fn has_injections(db: &Db) -> Result<bool, Error> {
    Ok(db.select_number(&HAS_INJECTIONS, &[])? > 0)
}

/// Returns whether the log names a memory.
pub(crate) fn has_injections_of(db: &Db, memory: &[u8]) -> Result<bool, Error> {
    Ok(has_injections(db)? && db.select_number(&COUNT_OF_MEMORY, &[&memory])? > 0)
}

/// Deletes the rows of a project, and returns how many there were.
pub(crate) fn delete_project_injections(db: &Db, project: &[u8]) -> Result<usize, Error> {
    if has_injections(db)? { db.execute(&DELETE_OF_PROJECT, &[&project]) } else { Ok(0) }
}

/// Deletes the rows of a memory.
pub(crate) fn delete_injections(db: &Db, memory: &[u8]) -> Result<(), Error> {
    db.execute(&DELETE_OF_MEMORY, &[&memory]).map(|_| ())
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<Option<InjectionRow>> {
    let (moment, subject): (String, String) = (row.get("moment")?, row.get("subject")?);
    let project: Vec<u8> = row.get("project")?;
    let (tier, memory): (Option<String>, Option<Vec<u8>>) = (row.get("tier")?, row.get("memory")?);
    let (Some(moment), Some(subject), Some(project)) = (
        InjectionMoment::from_slug(&moment),
        NoteSubject::from_slug(&subject),
        ProjectId::from_bytes(&project),
    ) else {
        return Ok(None);
    };
    Ok(Some(InjectionRow {
        at: Timestamp(row.get("at")?),
        project,
        session: row.get("session")?,
        host: row.get("host")?,
        moment,
        tier: tier.and_then(|it| InjectionTier::from_slug(&it)),
        subject,
        memory: memory.and_then(|it| MemoryId::from_bytes(&it)),
        tokens: row.get("tokens")?,
        followed: row.get("followed")?,
        // Only the spool needs it.
        position: 0,
    }))
}
