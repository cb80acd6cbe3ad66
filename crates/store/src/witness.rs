//! A second witness: what another index says when the one that was asked says "nothing". An index
//! with a damaged key answers so, and its numbers still agree.
//!
//! There is none for words: only the texts themselves know better than their index, and to read all
//! of them is what `doctor` is for.

use model::{MemoryId, ProjectPath};

use crate::Error;
use crate::filter::Filter;
use crate::query::{Db, Query, local};

#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] =
    &[&ID_BY_SHORT, &SHORT_BY_IDS, &BY_FILE, &BY_TAG, &BY_MODULE];

// All of them are about the file: on a server, the indexes are the server's.
const ID_BY_SHORT: Query = local(
    "witness_id",
    "SELECT count(*) FROM memories INDEXED BY memories_short WHERE short = ?1 AND id = ?2",
);
// The short id is the end of the id.
const SHORT_BY_IDS: Query =
    local("witness_short", "SELECT count(*) FROM memories WHERE substr(id, 13) BETWEEN ?1 AND ?2");
const BY_FILE: Query = local(
    "witness_file",
    "SELECT (SELECT count(*) FROM memory_files WHERE file = ?1) <> \
     (SELECT count(*) FROM memory_files INDEXED BY memory_files_n WHERE file = ?1)",
);
const BY_TAG: Query = local(
    "witness_tag",
    "SELECT (SELECT count(*) FROM memory_tags WHERE tag = ?1) <> \
     (SELECT count(*) FROM memory_tags INDEXED BY memory_tags_n WHERE tag = ?1)",
);
const BY_MODULE: Query = local(
    "witness_module",
    "SELECT (SELECT count(*) FROM memory_modules WHERE module = ?1) <> \
     (SELECT count(*) FROM memory_modules INDEXED BY memory_modules_n WHERE module = ?1)",
);

/// Whether the index of short ids knows a memory that the index of ids does not.
pub(crate) fn knows(db: &Db, id: MemoryId) -> Result<bool, Error> {
    Ok(db.number(&ID_BY_SHORT, &[&id.short(), &id.0.as_bytes().as_slice()])? > 0)
}

/// Whether the index of ids knows a memory whose short id begins like this.
pub(crate) fn knows_short(db: &Db, prefix: &str) -> Result<bool, Error> {
    let bound = |digit: &str| {
        let digits = format!("{prefix}{}", digit.repeat(8_usize.saturating_sub(prefix.len())));
        u32::from_str_radix(&digits, 16).map(u32::to_be_bytes)
    };
    // No memory is called what is no number.
    let (Ok(low), Ok(high)) = (bound("0"), bound("f")) else { return Ok(false) };
    Ok(db.number(&SHORT_BY_IDS, &[&low.as_slice(), &high.as_slice()])? > 0)
}

/// Whether the lookup that a list went by disagrees with its own index.
pub(crate) fn contradicts(db: &Db, filter: &Filter) -> Result<bool, Error> {
    let file = filter.file.as_ref().map(ProjectPath::as_str);
    let asked = [
        (&BY_FILE, file),
        (&BY_TAG, filter.tag.as_deref()),
        (&BY_MODULE, filter.module.as_deref()),
    ];
    for (query, value) in asked {
        if let Some(value) = value
            && db.number(query, &[&value])? != 0
        {
            return Ok(true);
        }
    }
    Ok(false)
}
