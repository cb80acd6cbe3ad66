//! The lookups of a memory: files, modules, tags, relations and words. Derived from the row, and
//! rebuilt from it when in doubt; nothing is known here that the row does not say.

use model::{Memory, RelationTarget, words};

use crate::Error;
use crate::query::{Db, Query, both};

#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[
    &ADD_FILE,
    &ADD_MODULE,
    &ADD_TAG,
    &ADD_RELATION,
    &ADD_TEXT,
    &DROP_FILES,
    &DROP_MODULES,
    &DROP_TAGS,
    &DROP_RELATIONS,
    &DROP_TEXT,
];

const ADD_FILE: Query =
    both("add_file", "INSERT OR IGNORE INTO memory_files (file, n) VALUES (?1, ?2)");
const ADD_MODULE: Query =
    both("add_module", "INSERT OR IGNORE INTO memory_modules (module, n) VALUES (?1, ?2)");
const ADD_TAG: Query =
    both("add_tag", "INSERT OR IGNORE INTO memory_tags (tag, n) VALUES (?1, ?2)");
const ADD_RELATION: Query = both(
    "add_relation",
    "INSERT OR IGNORE INTO memory_relations (n, kind, target) VALUES (?1, ?2, ?3)",
);
const DROP_FILES: Query = both("drop_files", "DELETE FROM memory_files WHERE n = ?1");
const DROP_MODULES: Query = both("drop_modules", "DELETE FROM memory_modules WHERE n = ?1");
const DROP_TAGS: Query = both("drop_tags", "DELETE FROM memory_tags WHERE n = ?1");
const DROP_RELATIONS: Query = both("drop_relations", "DELETE FROM memory_relations WHERE n = ?1");
const ADD_TEXT: Query =
    both("add_text", "INSERT INTO memory_text (n, content, tags, files) VALUES (?1, ?2, ?3, ?4)");
const DROP_TEXT: Query = both("drop_text", "DELETE FROM memory_text WHERE n = ?1");

/// Fills the lookups of a row. A forgotten memory keeps them, but not its searchable text.
pub(crate) fn fill(db: &Db, n: i64, memory: &Memory) -> Result<(), Error> {
    for file in &memory.files {
        db.run(&ADD_FILE, &[&file.as_str(), &n])?;
    }
    for module in &memory.modules {
        db.run(&ADD_MODULE, &[module, &n])?;
    }
    for tag in &memory.tags {
        db.run(&ADD_TAG, &[tag, &n])?;
    }
    for relation in &memory.relations {
        let target = match &relation.target {
            RelationTarget::Memory(id) => id.0.as_bytes().to_vec(),
            RelationTarget::File(path) => path.as_str().as_bytes().to_vec(),
        };
        db.run(&ADD_RELATION, &[&n, &relation.kind.slug(), &target])?;
    }
    if memory.states.deleted_at.is_none() {
        let text = words::search_text(&memory.content, &memory.tags, &memory.files);
        db.run(&ADD_TEXT, &[&n, &text.content, &text.tags, &text.files])?;
    }
    Ok(())
}

/// Empties the lookups of a row.
pub(crate) fn clear(db: &Db, n: i64) -> Result<(), Error> {
    for query in [&DROP_FILES, &DROP_MODULES, &DROP_TAGS, &DROP_RELATIONS, &DROP_TEXT] {
        db.run(query, &[&n])?;
    }
    Ok(())
}
