//! Lists memories by a filter, and chooses the words by which similar memories are looked up.
//!
//! Both avoid reading the whole table: a list begins with the part of the filter that has an index,
//! and of the words of a text only the rarest are searched. `MemoryQueries` calls these functions.

use model::Memory;

use crate::Error;
use crate::memories::{CheckedRows, select_memories};
use crate::memory_filter::{MemoryFilter, filter_condition, status_position, with_filter_params};
use crate::memory_row::columns;
use crate::query::{Db, Query};

/// Most matches that are ranked to find similar memories. Ranking reads every matching row.
const MAX_COMPARED_MATCHES: i64 = 2_000;

/// Every statement of this file, for the tests that replay them on a server.
#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[
    &SELECT_FILTERED,
    &SELECT_FILTERED_BY_TYPE,
    &SELECT_FILTERED_PINNED,
    &SELECT_FILTERED_BY_FILE,
    &SELECT_FILTERED_BY_TAG,
    &SELECT_FILTERED_BY_MODULE,
    &COUNT_MATCHES_UP_TO,
];

/// Memories that pass a filter, last written first.
const SELECT_FILTERED: Query = Query::shared(
    "list",
    concat!(
        "SELECT ",
        columns!(),
        " FROM memories m WHERE ",
        filter_condition!(),
        " ORDER BY n DESC LIMIT ?10 OFFSET ?11"
    ),
);
/// The same for a filter that names a type: the index has the rows of each type in the order of writing.
const SELECT_FILTERED_BY_TYPE: Query = Query::shared(
    "list_by_type",
    concat!(
        "SELECT ",
        columns!(),
        " FROM memories m INDEXED BY memories_type WHERE type = ?2 AND ",
        filter_condition!(),
        " ORDER BY n DESC LIMIT ?10 OFFSET ?11"
    ),
);
/// The same for a filter that wants pinned memories, which are few.
const SELECT_FILTERED_PINNED: Query = Query::shared(
    "list_pinned",
    concat!(
        "SELECT ",
        columns!(),
        " FROM memories m INDEXED BY memories_pinned WHERE pinned = 1 AND ",
        filter_condition!(),
        " ORDER BY n DESC LIMIT ?10 OFFSET ?11"
    ),
);
/// The same for a filter that names a file.
// The subquery makes SQLite start from the few memories of the file instead of reading all. It
// repeats a criterion of the filter, and so do the next two.
const SELECT_FILTERED_BY_FILE: Query = Query::shared(
    "list_by_file",
    concat!(
        "SELECT ",
        columns!(),
        " FROM memories m WHERE n IN (SELECT n FROM memory_files WHERE file = ?6) AND ",
        filter_condition!(),
        " ORDER BY n DESC LIMIT ?10 OFFSET ?11"
    ),
);
/// The same for a filter that names a tag.
const SELECT_FILTERED_BY_TAG: Query = Query::shared(
    "list_by_tag",
    concat!(
        "SELECT ",
        columns!(),
        " FROM memories m WHERE n IN (SELECT n FROM memory_tags WHERE tag = ?8) AND ",
        filter_condition!(),
        " ORDER BY n DESC LIMIT ?10 OFFSET ?11"
    ),
);
/// The same for a filter that names a module.
const SELECT_FILTERED_BY_MODULE: Query = Query::shared(
    "list_by_module",
    concat!(
        "SELECT ",
        columns!(),
        " FROM memories m WHERE n IN (SELECT n FROM memory_modules WHERE module = ?7) AND ",
        filter_condition!(),
        " ORDER BY n DESC LIMIT ?10 OFFSET ?11"
    ),
);
/// Number of memories that match a full-text expression, at most `?2`.
const COUNT_MATCHES_UP_TO: Query = Query::shared(
    "count_matches_up_to",
    "SELECT count(*) FROM (SELECT 1 FROM memories_fts WHERE memories_fts MATCH ?1 LIMIT ?2)",
);

/// Selects the newest memories that pass the filter, in the order of writing rather than of the
/// clock.
pub(crate) fn select_filtered(
    db: &Db,
    filter: &MemoryFilter,
) -> Result<CheckedRows<Memory>, Error> {
    // If the filter names several, the one that usually has fewest memories is read first. All
    // statements test the whole filter; they differ only in where `SQLite` starts.
    let query = if filter.file.is_some() {
        &SELECT_FILTERED_BY_FILE
    } else if filter.tag.is_some() {
        &SELECT_FILTERED_BY_TAG
    } else if filter.module.is_some() {
        &SELECT_FILTERED_BY_MODULE
    } else if filter.pinned == Some(true) {
        &SELECT_FILTERED_PINNED
    } else if filter.kind.is_some() {
        &SELECT_FILTERED_BY_TYPE
    } else {
        &SELECT_FILTERED
    };
    with_filter_params(filter, None, |params| select_memories(db, query, params))
}

/// Joins the rarest of some terms to an expression that matches any of them. As many terms are taken as
/// have at most [`MAX_COMPARED_MATCHES`] matches together, at least one.
pub(crate) fn join_rarest_terms(db: &Db, terms: &[String]) -> Result<String, Error> {
    // A count beyond the limit is not needed, so that a common word costs no more than a rare one.
    let limit = MAX_COMPARED_MATCHES + 1;
    let mut counted = Vec::with_capacity(terms.len());
    for (place, term) in terms.iter().enumerate() {
        counted.push((db.select_number(&COUNT_MATCHES_UP_TO, &[term, &limit])?, place));
    }
    counted.sort_unstable();
    let (mut chosen, mut n_matches) = (Vec::new(), 0);
    for (count, place) in counted {
        n_matches += count;
        if n_matches > MAX_COMPARED_MATCHES && !chosen.is_empty() {
            break;
        }
        chosen.push(place);
    }
    // In the order of the text, as if no term had been left out.
    chosen.sort_unstable();
    let chosen: Vec<&str> = chosen.iter().map(|it| terms[*it].as_str()).collect();
    Ok(chosen.join(" OR "))
}
