//! The module map as it was last found, and what it is found from.

use super::GraphStore;
use crate::Error;
use crate::query::{Db, Query, local};

pub(super) const SCHEMA: &str = "
    CREATE TABLE modules (id TEXT PRIMARY KEY, place INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
    CREATE TABLE members (path TEXT PRIMARY KEY, module TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE tools (place INTEGER PRIMARY KEY, kind TEXT NOT NULL, value TEXT NOT NULL, origin TEXT NOT NULL) STRICT;
";

const MODULES: Query = local("graph_modules", "SELECT id, body FROM modules ORDER BY place");
const MEMBERS: Query = local("graph_members", "SELECT path, module FROM members ORDER BY path");
const TOOLS: Query = local("graph_tools", "SELECT kind, value, origin FROM tools ORDER BY place");
const LINKS: Query = local("graph_all_links", "SELECT file, other, weight FROM links");
const ADD_MODULE: Query =
    local("graph_add_module", "INSERT INTO modules (id, place, body) VALUES (?1, ?2, ?3)");
const ADD_MEMBER: Query =
    local("graph_add_member", "INSERT INTO members (path, module) VALUES (?1, ?2)");
const ADD_TOOL: Query =
    local("graph_add_tool", "INSERT INTO tools (kind, value, origin) VALUES (?1, ?2, ?3)");
const CLEAR: [Query; 3] = [
    local("graph_clear_modules", "DELETE FROM modules"),
    local("graph_clear_members", "DELETE FROM members"),
    local("graph_clear_tools", "DELETE FROM tools"),
];

/// A map: modules as bytes in their order, the module of each file, and tools as kind, value, origin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MapRows {
    pub modules: Vec<(String, Vec<u8>)>,
    pub members: Vec<(String, String)>,
    pub tools: Vec<(String, String, String)>,
}

impl GraphStore {
    pub async fn map(&self) -> Result<MapRows, Error> {
        self.workers
            .run(|db| {
                db.view(|db| {
                    Ok(MapRows {
                        modules: db.select(&MODULES, &[], |row| Ok((row.get(0)?, row.get(1)?)))?,
                        members: db.select(&MEMBERS, &[], |row| Ok((row.get(0)?, row.get(1)?)))?,
                        tools: db.select(&TOOLS, &[], |row| {
                            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
                        })?,
                    })
                })
            })
            .await
    }

    /// The map without the files of its modules.
    pub async fn map_outline(&self) -> Result<MapRows, Error> {
        self.workers
            .run(|db| {
                db.view(|db| {
                    let modules = db.select(&MODULES, &[], |row| Ok((row.get(0)?, row.get(1)?)))?;
                    let tools =
                        db.select(&TOOLS, &[], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
                    Ok(MapRows { modules, members: Vec::new(), tools })
                })
            })
            .await
    }

    /// Keeps a map in the place of the last one.
    pub async fn keep_map(&self, rows: MapRows) -> Result<(), Error> {
        self.workers.run(move |db| db.transaction(|db| keep(db, &rows))).await
    }

    /// Which files refer to which, by their numbers, with the weight of all edges between them.
    pub async fn links(&self) -> Result<Vec<(u32, u32, u32)>, Error> {
        self.workers
            .run(|db| db.select(&LINKS, &[], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))))
            .await
    }
}

fn keep(db: &Db, rows: &MapRows) -> Result<(), Error> {
    for it in &CLEAR {
        db.run(it, &[])?;
    }
    for (place, (id, body)) in (0_i64..).zip(&rows.modules) {
        db.run(&ADD_MODULE, &[id, &place, body])?;
    }
    for (path, module) in &rows.members {
        db.run(&ADD_MEMBER, &[path, module])?;
    }
    for (kind, value, origin) in &rows.tools {
        db.run(&ADD_TOOL, &[kind, value, origin])?;
    }
    Ok(())
}
