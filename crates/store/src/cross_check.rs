//! Asks a second index when the first one finds nothing.
//!
//! A damaged index key makes a query return nothing while all row counts still agree. Ids and short
//! ids have an index each, and every lookup table has two, so one can be compared with the other.
//! Reads of `memories` call this for empty results only.
//!
//! Full-text search has no second index. Only the texts themselves could tell, and reading all of
//! them is the job of `doctor`.

use model::{MemoryId, ProjectPath};

use crate::Error;
use crate::memory_filter::MemoryFilter;
use crate::query::{Db, Query};

/// Every statement of this file, for the tests that replay them on a server.
#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[
    &COUNT_ID_BY_SHORT,
    &COUNT_SHORT_BY_ID,
    &COMPARE_FILE_INDEXES,
    &COMPARE_TAG_INDEXES,
    &COMPARE_MODULE_INDEXES,
];

/// Memories with an id, found by the index of short ids.
// All local only: a server looks after its own indexes.
const COUNT_ID_BY_SHORT: Query = Query::local(
    "cross_check_id",
    "SELECT count(*) FROM memories INDEXED BY memories_short WHERE short = ?1 AND id = ?2",
);
/// Memories whose short id is in a range, found by reading all ids.
// The short id is the last four of sixteen bytes; `substr` counts from 1.
const COUNT_SHORT_BY_ID: Query = Query::local(
    "cross_check_short",
    "SELECT count(*) FROM memories WHERE substr(id, 13) BETWEEN ?1 AND ?2",
);
/// 1 if the two indexes of `memory_files` disagree about a file.
const COMPARE_FILE_INDEXES: Query = Query::local(
    "cross_check_file",
    "SELECT (SELECT count(*) FROM memory_files WHERE file = ?1) <> \
     (SELECT count(*) FROM memory_files INDEXED BY memory_files_n WHERE file = ?1)",
);
/// 1 if the two indexes of `memory_tags` disagree about a tag.
const COMPARE_TAG_INDEXES: Query = Query::local(
    "cross_check_tag",
    "SELECT (SELECT count(*) FROM memory_tags WHERE tag = ?1) <> \
     (SELECT count(*) FROM memory_tags INDEXED BY memory_tags_n WHERE tag = ?1)",
);
/// 1 if the two indexes of `memory_modules` disagree about a module.
const COMPARE_MODULE_INDEXES: Query = Query::local(
    "cross_check_module",
    "SELECT (SELECT count(*) FROM memory_modules WHERE module = ?1) <> \
     (SELECT count(*) FROM memory_modules INDEXED BY memory_modules_n WHERE module = ?1)",
);

/// Hexadecimal digits of a short id.
const SHORT_ID_DIGITS: usize = 8;

/// Returns whether the index of short ids has a memory that the index of ids does not find.
pub(crate) fn is_known_by_short_id(db: &Db, id: MemoryId) -> Result<bool, Error> {
    Ok(db.select_number(&COUNT_ID_BY_SHORT, &[&id.short(), &id.0.as_bytes().as_slice()])? > 0)
}

/// Returns whether the index of ids has a memory whose short id begins with `prefix`.
pub(crate) fn is_prefix_known_by_id(db: &Db, prefix: &str) -> Result<bool, Error> {
    // The range of short ids with this prefix: the missing digits all `0`, and all `f`.
    let fill_up = |digit: &str| {
        let missing = SHORT_ID_DIGITS.saturating_sub(prefix.len());
        let digits = format!("{prefix}{}", digit.repeat(missing));
        u32::from_str_radix(&digits, 16).map(u32::to_be_bytes)
    };
    // A prefix that is not hexadecimal is no short id.
    let (Ok(low), Ok(high)) = (fill_up("0"), fill_up("f")) else { return Ok(false) };
    Ok(db.select_number(&COUNT_SHORT_BY_ID, &[&low.as_slice(), &high.as_slice()])? > 0)
}

/// Returns whether a lookup table disagrees with its own index about a value of the filter.
pub(crate) fn lookup_disagrees(db: &Db, filter: &MemoryFilter) -> Result<bool, Error> {
    let file = filter.file.as_ref().map(ProjectPath::as_str);
    let lookups = [
        (&COMPARE_FILE_INDEXES, file),
        (&COMPARE_TAG_INDEXES, filter.tag.as_deref()),
        (&COMPARE_MODULE_INDEXES, filter.module.as_deref()),
    ];
    for (query, value) in lookups {
        if let Some(value) = value
            && db.select_number(query, &[&value])? != 0
        {
            return Ok(true);
        }
    }
    Ok(false)
}
