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
use crate::occurrences::COLUMNS;
use crate::query::{Db, Query, both, local};
use crate::row::{columns, read_memory};

/// Memories that hold terms of a full-text expression, and how often.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holders {
    numbers: Vec<i64>,
    /// For every memory all terms in the order of the expression, each column by column.
    counts: Vec<[u8; COLUMNS]>,
}

impl Holders {
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The number of each memory, and how often it holds each term in content, tags and files.
    pub fn iter(&self) -> impl Iterator<Item = (i64, &[[u8; COLUMNS]])> {
        let n_terms = self.counts.len() / self.numbers.len().max(1);
        self.numbers.iter().copied().zip(self.counts.chunks_exact(n_terms.max(1)))
    }
}

/// What can be asked about words, as often as it takes, in one visit to the file.
pub struct Lookup<'a> {
    pub(crate) db: &'a Db,
}

impl Lookup<'_> {
    /// How many memories match an expression.
    pub fn n_holding(&self, expression: &str) -> Result<u64, Error> {
        Ok(self.db.number(&N_MATCHES, &[&expression])?.unsigned_abs())
    }

    /// All memories that match an expression.
    pub fn holders(&self, expression: &str) -> Result<Holders, Error> {
        let mut res = Holders::default();
        self.db.select(&HOLDERS, &[&expression], |row| {
            res.numbers.push(row.get(0)?);
            res.counts.extend(row.get_ref(1)?.as_blob()?.as_chunks::<COLUMNS>().0);
            Ok(())
        })?;
        Ok(res)
    }
}

#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] =
    &[&HOLDERS, &N_MATCHES, &NUMBERED, &ABOUT_FILE, &IN_MODULE, &TAGGED, &WARNINGS, &FILES_OF];

const HOLDERS: Query = local(
    "holders",
    "SELECT rowid, occurrences(memories_fts) FROM memories_fts WHERE memories_fts MATCH ?1",
);
const N_MATCHES: Query =
    both("n_matches", "SELECT count(*) FROM memories_fts WHERE memories_fts MATCH ?1");
const FILES_OF: Query = local("files_of", "SELECT file FROM memory_files WHERE n = ?1");
const FILES_OF_ALL: Query = local(
    "files_of_all",
    "SELECT f.file, f.n FROM memory_files f JOIN memories m ON m.n = f.n \
     WHERE m.deleted_at IS NULL AND m.deprecated_at IS NULL",
);
const MODULES_OF_ALL: Query = local(
    "modules_of_all",
    "SELECT f.module, f.n FROM memory_modules f JOIN memories m ON m.n = f.n \
     WHERE m.deleted_at IS NULL AND m.deprecated_at IS NULL",
);
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
    pub quiet: Quiet,
}

/// When nobody was there, as far as the file can tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Quiet {
    pub spans: Vec<QuietSpan>,
    pub last_write: Option<Timestamp>,
}

impl Quiet {
    /// With the span that ends now: the file only learns of it with the next write, and whoever comes
    /// back after a year looks first.
    pub fn until(mut self, now: Timestamp) -> Vec<QuietSpan> {
        self.spans.extend(self.last_write.and_then(|it| QuietSpan::between(it, now)));
        self.spans
    }
}

pub(crate) fn quiet(db: &Db) -> Result<Quiet, Error> {
    let last_write = history::recent(db, 1)?.first().map(|it| it.at);
    Ok(Quiet { spans: memories::quiet_spans(db)?, last_write })
}

pub(crate) fn numbered(db: &Db, numbers: &[i64]) -> Result<Read<(i64, Memory)>, Error> {
    let rows = db.each(&NUMBERED, numbers, |row| read_memory(row, 0))?;
    let rows = rows.into_iter().map(|(n, row)| row.map(|memory| (n, memory)));
    Ok(Read::part(rows.collect(), Finding::Row))
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
        res.quiet = quiet(db)?;
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

/// The numbers of the memories about each of some files, in their order.
pub(crate) fn about_files(db: &Db, files: &[String]) -> Result<Vec<Vec<i64>>, Error> {
    files.iter().map(|it| db.select(&ABOUT_FILE, &[it], |row| row.get(0))).collect()
}

/// The files that each of some memories is about, in their order.
pub(crate) fn files_of(db: &Db, numbers: &[i64]) -> Result<Vec<Vec<String>>, Error> {
    numbers.iter().map(|it| db.select(&FILES_OF, &[it], |row| row.get(0))).collect()
}

/// Every file and every module that a memory which stands is about, with the memory's number.
pub(crate) fn subjects(db: &Db) -> Result<Subjects, Error> {
    let of = |query| db.select(query, &[], |row| Ok((row.get(0)?, row.get(1)?)));
    Ok(Subjects { files: of(&FILES_OF_ALL)?, modules: of(&MODULES_OF_ALL)? })
}

/// What all memories are about, with their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subjects {
    pub files: Vec<(String, i64)>,
    pub modules: Vec<(String, i64)>,
}
