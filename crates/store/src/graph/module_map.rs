//! The stored module map, and the links between files from which the engine computes it.
//!
//! The map is always written as a whole. Modules are bytes whose meaning only the engine knows.

use crate::Error;
use crate::query::{Db, Query};

/// Tables of the module map.
pub(super) const MODULE_MAP_SCHEMA: &str = "
    CREATE TABLE modules (id TEXT PRIMARY KEY, position INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
    CREATE TABLE module_members (path TEXT PRIMARY KEY, module TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE project_tools (position INTEGER PRIMARY KEY, kind TEXT NOT NULL, value TEXT NOT NULL, origin TEXT NOT NULL) STRICT;
";

/// All modules, in order.
const SELECT_MODULES: Query =
    Query::local("graph_modules", "SELECT id, body FROM modules ORDER BY position");
/// Number of modules.
const COUNT_MODULES: Query = Query::local("graph_count_modules", "SELECT count(*) FROM modules");
/// Every file with its module.
const SELECT_MEMBERS: Query =
    Query::local("graph_members", "SELECT path, module FROM module_members ORDER BY path");
/// Build, test and lint tools of the project, in order.
const SELECT_TOOLS: Query =
    Query::local("graph_tools", "SELECT kind, value, origin FROM project_tools ORDER BY position");
/// Every link between two files.
const SELECT_LINKS: Query =
    Query::local("graph_all_links", "SELECT file, other, weight FROM links");
/// Adds a module.
const ADD_MODULE: Query = Query::local(
    "graph_add_module",
    "INSERT INTO modules (id, position, body) VALUES (?1, ?2, ?3)",
);
/// Adds a file to a module.
const ADD_MEMBER: Query =
    Query::local("graph_add_member", "INSERT INTO module_members (path, module) VALUES (?1, ?2)");
/// Adds a tool.
const ADD_TOOL: Query = Query::local(
    "graph_add_tool",
    "INSERT INTO project_tools (kind, value, origin) VALUES (?1, ?2, ?3)",
);
/// Deletes the whole map.
const DELETE_ALL: [Query; 3] = [
    Query::local("graph_clear_modules", "DELETE FROM modules"),
    Query::local("graph_clear_members", "DELETE FROM module_members"),
    Query::local("graph_clear_tools", "DELETE FROM project_tools"),
];

/// The rows of a module map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleMapRows {
    /// Id and bytes of each module, in their order.
    pub modules: Vec<(String, Vec<u8>)>,
    /// Path of each file and the id of its module.
    pub members: Vec<(String, String)>,
    /// Kind, value and origin of each tool.
    pub tools: Vec<(String, String, String)>,
}

pub(super) fn put_module_map(db: &Db, rows: &ModuleMapRows) -> Result<(), Error> {
    // The map is computed as a whole, so nothing of the last one stays.
    for query in &DELETE_ALL {
        db.execute(query, &[])?;
    }
    for (position, (id, body)) in (0_i64..).zip(&rows.modules) {
        db.execute(&ADD_MODULE, &[id, &position, body])?;
    }
    for (path, module) in &rows.members {
        db.execute(&ADD_MEMBER, &[path, module])?;
    }
    for (kind, value, origin) in &rows.tools {
        db.execute(&ADD_TOOL, &[kind, value, origin])?;
    }
    Ok(())
}

pub(super) fn read_module_map(db: &Db) -> Result<ModuleMapRows, Error> {
    let members = db.select(&SELECT_MEMBERS, &[], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(ModuleMapRows { members, ..read_outline(db)? })
}

pub(super) fn count_modules(db: &Db) -> Result<usize, Error> {
    Ok(usize::try_from(db.select_number(&COUNT_MODULES, &[])?).unwrap_or_default())
}

/// Reads the map without the files of its modules, which most queries do not need.
pub(super) fn read_outline(db: &Db) -> Result<ModuleMapRows, Error> {
    let modules = db.select(&SELECT_MODULES, &[], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let tools = db.select(&SELECT_TOOLS, &[], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    Ok(ModuleMapRows { modules, members: Vec::new(), tools })
}

/// Reads all links: file, file it refers to, weight.
pub(super) fn read_file_links(db: &Db) -> Result<Vec<(u32, u32, u32)>, Error> {
    db.select(&SELECT_LINKS, &[], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
}
