//! Memories by number: which of them hold some words, which are about a file, and the rows themselves.
//!
//! The parts a ranking is made of. Whoever ranks says by number which memories may answer, before
//! the best are chosen: a limit never comes before a filter.

use model::Memory;

use crate::Error;
use crate::check::Finding;
use crate::filter::Filter;
use crate::memories::Read;
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
    &[&MATCHES, &N_MATCHES, &NUMBERED, &ABOUT_FILE, &IN_MODULE, &TAGGED];

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
