//! Lookup tables of memories: files, modules, tags, relations and search text.
//!
//! They are derived from the rows of `memories` and can be rebuilt from them at any time. Every
//! write of a row calls this file in the same transaction. All tables refer to a memory by its row
//! number `n`.

use model::{Memory, RelationTarget, words};

use crate::Error;
use crate::query::{Db, Query};

/// Every statement of this file, for the tests that replay them on a libSQL server and compare the
/// results.
#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[
    &INSERT_FILE,
    &INSERT_MODULE,
    &INSERT_TAG,
    &INSERT_RELATION,
    &INSERT_TEXT,
    &DELETE_FILES,
    &DELETE_MODULES,
    &DELETE_TAGS,
    &DELETE_RELATIONS,
    &DELETE_TEXT,
];

/// Adds a file that a memory is about.
// OR IGNORE, here and below: a memory may list the same value twice.
const INSERT_FILE: Query =
    Query::shared("add_file", "INSERT OR IGNORE INTO memory_files (file, n) VALUES (?1, ?2)");
/// Adds a module that a memory is about.
const INSERT_MODULE: Query =
    Query::shared("add_module", "INSERT OR IGNORE INTO memory_modules (module, n) VALUES (?1, ?2)");
/// Adds a tag of a memory.
const INSERT_TAG: Query =
    Query::shared("add_tag", "INSERT OR IGNORE INTO memory_tags (tag, n) VALUES (?1, ?2)");
/// Adds a relation of a memory.
const INSERT_RELATION: Query = Query::shared(
    "add_relation",
    "INSERT OR IGNORE INTO memory_relations (n, kind, target) VALUES (?1, ?2, ?3)",
);
/// Deletes the files of a memory.
const DELETE_FILES: Query = Query::shared("drop_files", "DELETE FROM memory_files WHERE n = ?1");
/// Deletes the modules of a memory.
const DELETE_MODULES: Query =
    Query::shared("drop_modules", "DELETE FROM memory_modules WHERE n = ?1");
/// Deletes the tags of a memory.
const DELETE_TAGS: Query = Query::shared("drop_tags", "DELETE FROM memory_tags WHERE n = ?1");
/// Deletes the relations of a memory.
const DELETE_RELATIONS: Query =
    Query::shared("drop_relations", "DELETE FROM memory_relations WHERE n = ?1");
/// Adds the search text of a memory; a trigger passes it on to the full-text index.
const INSERT_TEXT: Query = Query::shared(
    "add_text",
    "INSERT INTO memory_text (n, content, tags, files) VALUES (?1, ?2, ?3, ?4)",
);
/// Deletes the search text of a memory, and through a trigger its full-text entries.
const DELETE_TEXT: Query = Query::shared("drop_text", "DELETE FROM memory_text WHERE n = ?1");

/// Inserts the lookups of a row. A forgotten memory has them, too, but no search text.
pub(crate) fn insert_lookups(db: &Db, n: i64, memory: &Memory) -> Result<(), Error> {
    for file in &memory.files {
        db.execute(&INSERT_FILE, &[&file.as_str(), &n])?;
    }
    for module in &memory.modules {
        db.execute(&INSERT_MODULE, &[module, &n])?;
    }
    for tag in &memory.tags {
        db.execute(&INSERT_TAG, &[tag, &n])?;
    }
    for relation in &memory.relations {
        // Ids and paths share the column; only queries by id read it.
        let target = match &relation.target {
            RelationTarget::Memory(id) => id.0.as_bytes().to_vec(),
            RelationTarget::File(path) => path.as_str().as_bytes().to_vec(),
        };
        db.execute(&INSERT_RELATION, &[&n, &relation.kind.slug(), &target])?;
    }
    // A forgotten memory must not be found by words.
    if memory.states.deleted_at.is_none() {
        let text = words::index_text(&memory.content, &memory.tags, &memory.files);
        db.execute(&INSERT_TEXT, &[&n, &text.content, &text.tags, &text.files])?;
    }
    Ok(())
}

/// Deletes the lookups of a row.
pub(crate) fn delete_lookups(db: &Db, n: i64) -> Result<(), Error> {
    for query in [&DELETE_FILES, &DELETE_MODULES, &DELETE_TAGS, &DELETE_RELATIONS, &DELETE_TEXT] {
        db.execute(query, &[&n])?;
    }
    Ok(())
}
