//! Memories by number: which of them hold some words, which are about a file, and the rows themselves.
//!
//! The parts a ranking is made of. Whoever ranks says by number which memories may answer, before
//! the best are chosen: a limit never comes before a filter.

use model::{Kind, Memory, ProjectPath, QuietSpan, Timestamp};

use crate::Error;
use crate::check::Finding;
use crate::filter::Filter;
use crate::history;
use crate::memories::{self, Read};
use crate::query::{Db, Query, both, local};
use crate::rank::Closeness;
use crate::row::{columns, read_memory};

/// A memory that holds some of the words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Match {
    pub n: i64,
    /// Higher is better.
    pub score: f64,
    /// The weight of the terms it holds, rare ones counting more.
    pub mass: f64,
    /// Their share in the weight of all terms.
    pub share: f64,
}

#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] =
    &[&MATCHES, &N_MATCHES, &NUMBERED, &ABOUT_FILE, &IN_MODULE, &TAGGED, &WARNINGS];

const MATCHES: Query = local(
    "matches",
    "SELECT rowid, closeness(memories_fts) FROM memories_fts WHERE memories_fts MATCH ?1",
);
const N_MATCHES: Query =
    both("n_matches", "SELECT count(*) FROM memories_fts WHERE memories_fts MATCH ?1");
const NUMBERED: Query =
    both("numbered", concat!("SELECT ", columns!(), " FROM memories WHERE n = ?1"));
const ABOUT_FILE: Query = both("about_file", "SELECT n FROM memory_files WHERE file = ?1");
const IN_MODULE: Query = both("in_module", "SELECT n FROM memory_modules WHERE module = ?1");
const TAGGED: Query = both("tagged", "SELECT n FROM memory_tags WHERE tag = ?1");
const WARNINGS: Query = both(
    "warnings",
    concat!(
        "SELECT ",
        columns!(),
        " FROM memories WHERE n IN (SELECT n FROM memory_files WHERE file = ?1) \
         AND type IN (?2, ?3, ?4) AND deleted_at IS NULL AND deprecated_at IS NULL \
         AND tainted = 0 AND stale_at IS NULL AND needs_review = 0 ORDER BY n DESC LIMIT ?5"
    ),
);

/// The types one wants to know of before touching a file.
pub const WARNING_KINDS: [Kind; 3] = [Kind::Gotcha, Kind::ErrorPattern, Kind::DeadEnd];

/// What one should know of some files, with what it takes to say what that is worth now.
#[derive(Clone, Debug, Default)]
pub struct Warnings {
    /// Newest first, each once.
    pub memories: Vec<Memory>,
    pub quiet: Vec<QuietSpan>,
    /// When the file was last written to.
    pub last_write: Option<Timestamp>,
}

/// Whose matches are wanted.
pub struct Wanted<F> {
    pub may_answer: F,
    /// How many of the best.
    pub limit: usize,
    /// Those that are wanted however well they match, sorted.
    pub also: Vec<i64>,
}

/// The best of the memories that match a full-text expression and may answer, best first, and
/// behind them whoever else was asked for and matches at all.
pub(crate) fn matches(
    db: &Db,
    expression: &str,
    wanted: &Wanted<impl Fn(i64) -> bool>,
) -> Result<Vec<Match>, Error> {
    let read = |row: &rusqlite::Row<'_>| {
        let Closeness { score, mass, whole } =
            Closeness::read(row.get_ref(1)?.as_blob()?).unwrap_or_default();
        Ok(Match { n: row.get(0)?, score, mass, share: mass / whole.max(f64::MIN_POSITIVE) })
    };
    let mut res = db.select(&MATCHES, &[&expression], read)?;
    res.retain(|it| (wanted.may_answer)(it.n));
    let better = |a: &Match, b: &Match| b.score.total_cmp(&a.score).then(a.n.cmp(&b.n));
    if wanted.limit < res.len() {
        res.select_nth_unstable_by(wanted.limit, better);
        let mut rest = res.split_off(wanted.limit);
        rest.retain(|it| wanted.also.binary_search(&it.n).is_ok());
        res.append(&mut rest);
    }
    res.sort_unstable_by(better);
    Ok(res)
}

/// How many memories hold a term.
pub(crate) fn count(db: &Db, expression: &str) -> Result<u64, Error> {
    Ok(db.number(&N_MATCHES, &[&expression])?.unsigned_abs())
}

pub(crate) fn numbered(db: &Db, numbers: &[i64]) -> Result<Read<(i64, Memory)>, Error> {
    let mut rows = Vec::with_capacity(numbers.len());
    for n in numbers {
        let found = db.one(&NUMBERED, &[n], |row| read_memory(row, 0))?;
        rows.extend(found.map(|it| it.map(|memory| (*n, memory))));
    }
    Ok(Read::part(rows, Finding::Row))
}

/// Live warnings about any of the files, at most `limit` of each. Everything in one visit: an agent
/// waits for it at every step.
pub(crate) fn warnings(
    db: &Db,
    files: &[ProjectPath],
    limit: u32,
) -> Result<(Warnings, Vec<Finding>), Error> {
    let [first, second, third] = WARNING_KINDS.map(Kind::slug);
    let (mut res, mut damaged) = (Warnings::default(), Vec::new());
    for file in files {
        let asked: [&dyn rusqlite::ToSql; 5] = [&file.as_str(), &first, &second, &third, &limit];
        let rows = db.select(&WARNINGS, &asked, |row| read_memory(row, 0))?;
        let read = Read::part(rows, Finding::Row);
        let is_new = |it: &Memory| res.memories.iter().all(|known| known.id != it.id);
        let fresh: Vec<Memory> = read.found.into_iter().filter(is_new).collect();
        res.memories.extend(fresh);
        damaged.extend(read.damaged);
    }
    if !res.memories.is_empty() {
        res.quiet = memories::quiet_spans(db)?;
        res.last_write = history::recent(db, 1)?.first().map(|it| it.at);
    }
    Ok((res, damaged))
}

/// The numbers of the memories that pass what a filter says about files, modules and tags; `None`
/// when it says nothing about them.
pub(crate) fn about(db: &Db, filter: &Filter) -> Result<Option<Vec<i64>>, Error> {
    let file = filter.file.as_ref().map(|it| it.as_str().to_owned());
    let asked = [(&ABOUT_FILE, &file), (&IN_MODULE, &filter.module), (&TAGGED, &filter.tag)];
    let mut res: Option<Vec<i64>> = None;
    for (query, value) in asked {
        let Some(value) = value else { continue };
        let found: Vec<i64> = db.select(query, &[value], |row| row.get(0))?;
        res = Some(match res {
            None => found,
            Some(before) => before.into_iter().filter(|it| found.contains(it)).collect(),
        });
    }
    Ok(res)
}
