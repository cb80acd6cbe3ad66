//! Memories by row number: which of them contain some terms, which are about a file, and the rows
//! themselves.
//!
//! These are the building blocks of ranking, which the engine does in memory. Ranking works on row
//! numbers and reads only the best rows at the end, so that a limit never comes before a filter.
//! `MemoryQueries` calls these functions.

use model::{Memory, MemoryKind, ProjectPath, QuietSpan, Timestamp};

use crate::Error;
use crate::damage_check::DamageFinding;
use crate::fts_occurrences::FTS_COLUMNS;
use crate::history;
use crate::memories::{self, CheckedRows};
use crate::memory_filter::MemoryFilter;
use crate::memory_row::{columns, read_memory};
use crate::query::{Db, Query};

/// Memories that contain terms of a full-text expression, with the number of occurrences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TermMatches {
    numbers: Vec<i64>,
    /// One entry per memory and term: the occurrences in each column. Memories are in the order of
    /// `numbers`, and the terms of each in the order of the expression.
    counts: Vec<[u8; FTS_COLUMNS]>,
}

impl TermMatches {
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Iterates over the memories: row number, and per term the occurrences in content, tags and
    /// files.
    pub fn iter(&self) -> impl Iterator<Item = (i64, &[[u8; FTS_COLUMNS]])> {
        // `max` avoids a division by zero and empty chunks if there is no match.
        let n_terms = self.counts.len() / self.numbers.len().max(1);
        self.numbers.iter().copied().zip(self.counts.chunks_exact(n_terms.max(1)))
    }
}

/// Full-text lookups that run in one visit to the file.
pub struct TermLookup<'a> {
    pub(crate) db: &'a Db,
}

impl TermLookup<'_> {
    /// Counts the memories that match an expression.
    pub fn count_matches(&self, expression: &str) -> Result<u64, Error> {
        Ok(self.db.select_number(&COUNT_MATCHES, &[&expression])?.unsigned_abs())
    }

    /// Finds all memories that match an expression.
    pub fn find_matches(&self, expression: &str) -> Result<TermMatches, Error> {
        let mut matches = TermMatches::default();
        self.db.select(&SELECT_TERM_MATCHES, &[&expression], |row| {
            matches.numbers.push(row.get(0)?);
            let counts_per_term = row.get_ref(1)?.as_blob()?.as_chunks::<FTS_COLUMNS>().0;
            matches.counts.extend(counts_per_term);
            Ok(())
        })?;
        Ok(matches)
    }

    /// Row number, text, tags and files of every forgotten memory, which the full-text index lacks.
    pub fn forgotten_texts(&self) -> Result<Vec<(i64, [String; FTS_COLUMNS])>, Error> {
        self.db.select(&SELECT_FORGOTTEN_TEXTS, &[], |row| {
            Ok((row.get(0)?, [row.get(1)?, row.get(2)?, row.get(3)?]))
        })
    }
}

/// Types that warn: worth knowing before a file is touched.
pub const WARNING_KINDS: [MemoryKind; 3] =
    [MemoryKind::Gotcha, MemoryKind::ErrorPattern, MemoryKind::DeadEnd];

/// Memories about some files, with the quiet periods that ranking needs.
#[derive(Clone, Debug, Default)]
pub struct FileWarnings {
    /// Those of the types that warn first, then the newest, without duplicates.
    pub memories: Vec<Memory>,
    pub quiet: QuietPeriods,
}

/// Files and modules of all active memories, each with the row number of the memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemorySubjects {
    pub files: Vec<(String, i64)>,
    pub modules: Vec<(String, i64)>,
}

/// Spans in which the store was not used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuietPeriods {
    pub spans: Vec<QuietSpan>,
    pub last_write: Option<Timestamp>,
}

impl QuietPeriods {
    /// Returns the spans including the one that ends now. The file records that one only with the
    /// next write, but a user who returns after a year reads first.
    pub fn spans_until(mut self, now: Timestamp) -> Vec<QuietSpan> {
        self.spans.extend(self.last_write.and_then(|it| QuietSpan::between(it, now)));
        self.spans
    }
}

/// Every statement of this file, for the tests that replay them on a server.
#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[
    &SELECT_TERM_MATCHES,
    &COUNT_MATCHES,
    &SELECT_FORGOTTEN_TEXTS,
    &SELECT_BY_NUMBER,
    &SELECT_NUMBERS_BY_FILE,
    &SELECT_NUMBERS_BY_MODULE,
    &SELECT_NUMBERS_BY_TAG,
    &SELECT_WARNINGS,
    &SELECT_FILES,
    &SELECT_ALL_FILES,
    &SELECT_DISTINCT_FILES,
    &SELECT_ALL_MODULES,
];

/// Memories that match an expression, with the occurrences of each term per column.
// Local only: `occurrences` is a function of this program's connections.
const SELECT_TERM_MATCHES: Query = Query::local(
    "term_matches",
    "SELECT rowid, occurrences(memories_fts) FROM memories_fts WHERE memories_fts MATCH ?1",
);
/// Number of memories that match an expression.
const COUNT_MATCHES: Query =
    Query::shared("count_matches", "SELECT count(*) FROM memories_fts WHERE memories_fts MATCH ?1");
/// Texts of forgotten memories, with tags and files in their stored form.
const SELECT_FORGOTTEN_TEXTS: Query = Query::local(
    "forgotten_texts",
    "SELECT n, content, tags, files FROM memories WHERE deleted_at IS NOT NULL ORDER BY n",
);
/// Files that a memory is about.
const SELECT_FILES: Query = Query::local("files_of", "SELECT file FROM memory_files WHERE n = ?1");
/// Every file that an active memory is about.
const SELECT_ALL_FILES: Query = Query::local(
    "files_of_all",
    "SELECT f.file, f.n FROM memory_files f JOIN memories m ON m.n = f.n \
     WHERE m.deleted_at IS NULL AND m.deprecated_at IS NULL",
);
/// Every file that any memory is about, once.
// Each step of the recursion looks up the next file in the primary key, so memories of the same file
// are not read.
const SELECT_DISTINCT_FILES: Query = Query::shared(
    "distinct_files",
    "WITH RECURSIVE files (file) AS (SELECT min(file) FROM memory_files UNION ALL \
     SELECT (SELECT min(file) FROM memory_files WHERE file > files.file) FROM files WHERE files.file IS NOT NULL) \
     SELECT file FROM files WHERE file IS NOT NULL",
);
/// Every module that an active memory is about.
const SELECT_ALL_MODULES: Query = Query::local(
    "modules_of_all",
    "SELECT f.module, f.n FROM memory_modules f JOIN memories m ON m.n = f.n \
     WHERE m.deleted_at IS NULL AND m.deprecated_at IS NULL",
);
/// The memory in a row.
const SELECT_BY_NUMBER: Query =
    Query::shared("by_number", concat!("SELECT ", columns!(), " FROM memories WHERE n = ?1"));
/// Rows of the memories about a file.
const SELECT_NUMBERS_BY_FILE: Query =
    Query::shared("numbers_by_file", "SELECT n FROM memory_files WHERE file = ?1");
/// Rows of the memories about a module.
const SELECT_NUMBERS_BY_MODULE: Query =
    Query::shared("numbers_by_module", "SELECT n FROM memory_modules WHERE module = ?1");
/// Rows of the memories with a tag.
const SELECT_NUMBERS_BY_TAG: Query =
    Query::shared("numbers_by_tag", "SELECT n FROM memory_tags WHERE tag = ?1");
/// Live memories of three types about a file, last written first.
// The conditions are those of `MemoryStatus::Live`.
const SELECT_WARNINGS: Query = Query::shared(
    "warnings",
    concat!(
        "SELECT ",
        columns!(),
        " FROM memories WHERE n IN (SELECT n FROM memory_files WHERE file = ?1) \
         AND deleted_at IS NULL AND deprecated_at IS NULL \
         AND tainted = 0 AND stale_at IS NULL AND needs_review = 0 \
         ORDER BY type IN (?2, ?3, ?4) DESC, n DESC LIMIT ?5"
    ),
);

/// Selects the spans in which the store was not used, and the time of the last write.
pub(crate) fn select_quiet_periods(db: &Db) -> Result<QuietPeriods, Error> {
    let last_write = history::select_recent(db, 1)?.first().map(|it| it.at);
    Ok(QuietPeriods { spans: memories::select_quiet_spans(db)?, last_write })
}

/// Selects every file that any memory is about, once.
pub(crate) fn select_distinct_files(db: &Db) -> Result<Vec<String>, Error> {
    db.select(&SELECT_DISTINCT_FILES, &[], |row| row.get(0))
}

/// Selects memories by row number, in the given order.
pub(crate) fn select_by_numbers(
    db: &Db,
    numbers: &[i64],
) -> Result<CheckedRows<(i64, Memory)>, Error> {
    let rows = db.select_each(&SELECT_BY_NUMBER, numbers, |row| read_memory(row, 0))?;
    let rows = rows.into_iter().map(|(n, row)| row.map(|memory| (n, memory)));
    Ok(CheckedRows::partition(rows.collect(), DamageFinding::DamagedMemory))
}

/// Selects live warnings about any of the files, at most `limit` per file. One visit to the file:
/// the agent waits for it at every step.
pub(crate) fn select_file_warnings(
    db: &Db,
    files: &[ProjectPath],
    limit: u32,
) -> Result<(FileWarnings, Vec<DamageFinding>), Error> {
    let [kind_1, kind_2, kind_3] = WARNING_KINDS.map(MemoryKind::slug);
    let (mut warnings, mut damaged) = (FileWarnings::default(), Vec::new());
    for file in files {
        let params: [&dyn rusqlite::ToSql; 5] = [&file.as_str(), &kind_1, &kind_2, &kind_3, &limit];
        let rows = db.select(&SELECT_WARNINGS, &params, |row| read_memory(row, 0))?;
        let checked = CheckedRows::partition(rows, DamageFinding::DamagedMemory);
        // A memory about several of the files is listed once.
        let is_new = |it: &Memory| warnings.memories.iter().all(|known| known.id != it.id);
        let new_memories: Vec<Memory> = checked.found.into_iter().filter(is_new).collect();
        warnings.memories.extend(new_memories);
        damaged.extend(checked.damaged);
    }
    // Most files have no warnings; then the quiet periods are not needed either.
    if !warnings.memories.is_empty() {
        warnings.quiet = select_quiet_periods(db)?;
    }
    Ok((warnings, damaged))
}

/// Selects the row numbers of the memories that match the files, modules and tags of a filter;
/// `None` if the filter has none.
pub(crate) fn select_numbers_matching(
    db: &Db,
    filter: &MemoryFilter,
) -> Result<Option<Vec<i64>>, Error> {
    let file = filter.file.as_ref().map(|it| it.as_str().to_owned());
    let lookups = [
        (&SELECT_NUMBERS_BY_FILE, &file),
        (&SELECT_NUMBERS_BY_MODULE, &filter.module),
        (&SELECT_NUMBERS_BY_TAG, &filter.tag),
    ];
    let mut numbers: Option<Vec<i64>> = None;
    for (query, value) in lookups {
        // The filter leaves this criterion open.
        let Some(value) = value else { continue };
        let found: Vec<i64> = db.select(query, &[value], |row| row.get(0))?;
        // A memory must match every criterion that the filter names.
        numbers = Some(match numbers {
            None => found,
            Some(before) => before.into_iter().filter(|it| found.contains(it)).collect(),
        });
    }
    Ok(numbers)
}

/// Selects the row numbers of the memories about each of some files, in their order.
pub(crate) fn select_numbers_by_file(db: &Db, files: &[String]) -> Result<Vec<Vec<i64>>, Error> {
    files.iter().map(|it| db.select(&SELECT_NUMBERS_BY_FILE, &[it], |row| row.get(0))).collect()
}

/// Selects the files that each of some memories is about, in their order.
pub(crate) fn select_files_of(db: &Db, numbers: &[i64]) -> Result<Vec<Vec<String>>, Error> {
    numbers.iter().map(|it| db.select(&SELECT_FILES, &[it], |row| row.get(0))).collect()
}

/// Selects the files and modules of all active memories, with the row numbers of the memories.
pub(crate) fn select_subjects(db: &Db) -> Result<MemorySubjects, Error> {
    let select_pairs = |query| db.select(query, &[], |row| Ok((row.get(0)?, row.get(1)?)));
    Ok(MemorySubjects {
        files: select_pairs(&SELECT_ALL_FILES)?,
        modules: select_pairs(&SELECT_ALL_MODULES)?,
    })
}
