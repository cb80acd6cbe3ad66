//! The proof of an erasure: looking into the database and every copy of it, with the key.

use model::MemoryId;

use crate::connection::open_file;
use crate::query::{Db, Query, both, local};
use crate::site::Site;
use crate::{Error, backup};

#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[&TRACES, &ORPHANS];

const TRACES: Query = both(
    "traces",
    "SELECT (SELECT count(*) FROM memories WHERE id = ?1) + (SELECT count(*) FROM memory_versions WHERE id = ?1) \
     + (SELECT count(*) FROM embeddings WHERE owner = ?1) + (SELECT count(*) FROM changes WHERE id = ?1)",
);
// Text knows its memory only by number. When the memory is gone, text without one may be its own.
const ORPHANS: Query = local(
    "orphans",
    "SELECT (SELECT count(*) FROM memory_text WHERE n NOT IN (SELECT n FROM memories)) \
     + (SELECT count(*) FROM memories_fts_docsize WHERE id NOT IN (SELECT n FROM memory_text))",
);

/// Whether the database or a copy holds anything of these memories. The caller holds the write
/// lock, so that no copy comes or goes meanwhile.
pub(crate) fn holds(site: &Site, db: &Db, ids: &[MemoryId]) -> Result<bool, Error> {
    if has_traces(db, ids)? {
        return Ok(true);
    }
    let mut copies = backup::list(&site.home);
    if let Some(aside) = backup::replaced(&site.home) {
        backup::close(site, &aside.path)?;
        copies.push(aside);
    }
    for copy in copies {
        if has_traces(&open_file(&copy.path, site.key.as_ref(), false)?, ids)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn has_traces(db: &Db, ids: &[MemoryId]) -> Result<bool, Error> {
    for id in ids {
        if db.number(&TRACES, &[&id.0.as_bytes().as_slice()])? > 0 {
            return Ok(true);
        }
    }
    Ok(db.number(&ORPHANS, &[])? > 0)
}
