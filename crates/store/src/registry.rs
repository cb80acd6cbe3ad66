//! The registry of projects and the folders they were seen in. Only the user's database has it.
//!
//! The engine looks a folder up here to find out which project it belongs to. A project that moved
//! has several locations; `source` decides whether two locations are the same project.

use model::{ProjectId, Timestamp};
use rusqlite::Row;

use crate::query::{Db, Query};
use crate::store_reader::StoreReader;
use crate::{Error, change_clock, injection_log};

/// A project and one location where it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectLocation {
    pub project: ProjectId,
    pub name: String,
    pub root_commit: Option<String>,
    pub remote: Option<String>,
    /// Folder that identifies the project: its git folder, or its root.
    pub key_dir: String,
    /// Identity of that folder in the file system. It survives a rename.
    pub dir_key: Option<String>,
    pub last_seen: Timestamp,
}

/// Queries about the registry of projects.
#[derive(Clone, Copy)]
pub struct RegistryQueries<'a> {
    reader: &'a StoreReader,
}

impl<'a> RegistryQueries<'a> {
    pub(crate) fn new(reader: &'a StoreReader) -> Self {
        Self { reader }
    }

    /// Finds the project registered at a folder.
    pub async fn location_at(self, key_dir: String) -> Result<Option<ProjectLocation>, Error> {
        self.reader.read(move |db| select_location(db, &key_dir)).await
    }

    /// Lists all locations of all projects.
    pub async fn list_locations(self) -> Result<Vec<ProjectLocation>, Error> {
        self.reader.read(select_locations).await
    }
}

/// Every statement of this file, for the tests that replay them on a server.
#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] =
    &[&SELECT_LOCATION, &SELECT_LOCATIONS, &PUT_PROJECT, &PUT_LOCATION, &DELETE_PROJECT];

/// SQL: selects locations with their projects, in the order that `read_location` expects.
macro_rules! select_joined {
    () => {
        "SELECT p.id, p.name, p.root_commit, p.remote, l.key_dir, l.dir_key, l.last_seen FROM project_places l \
         JOIN projects p ON p.id = l.project"
    };
}

/// The location at a folder.
const SELECT_LOCATION: Query =
    Query::shared("location_at", concat!(select_joined!(), " WHERE l.key_dir = ?1"));
/// All locations of all projects.
const SELECT_LOCATIONS: Query =
    Query::shared("locations", concat!(select_joined!(), " ORDER BY p.id, l.key_dir"));
/// Adds a project, or completes what is known of it.
// A commit or remote that is known stays known if the project is seen without it later.
const PUT_PROJECT: Query = Query::shared(
    "add_project",
    "INSERT INTO projects (id, name, root_commit, remote, created_at) VALUES (?1, ?2, ?3, ?4, ?5) \
     ON CONFLICT (id) DO UPDATE SET root_commit = coalesce(excluded.root_commit, root_commit), \
     remote = coalesce(excluded.remote, remote)",
);
/// Adds a location, or moves it to another project.
const PUT_LOCATION: Query = Query::shared(
    "add_location",
    "INSERT INTO project_places (key_dir, dir_key, project, last_seen) VALUES (?1, ?2, ?3, ?4) \
     ON CONFLICT (key_dir) DO UPDATE SET dir_key = excluded.dir_key, project = excluded.project, \
     last_seen = excluded.last_seen",
);
/// Deletes a project.
// Its locations go with it (ON DELETE CASCADE).
const DELETE_PROJECT: Query = Query::shared("drop_project", "DELETE FROM projects WHERE id = ?1");

/// Selects the project seen at a location.
pub(crate) fn select_location(db: &Db, key_dir: &str) -> Result<Option<ProjectLocation>, Error> {
    Ok(db.select(&SELECT_LOCATION, &[&key_dir], read_location)?.into_iter().flatten().next())
}

/// Selects all locations of all projects.
pub(crate) fn select_locations(db: &Db) -> Result<Vec<ProjectLocation>, Error> {
    Ok(db.select(&SELECT_LOCATIONS, &[], read_location)?.into_iter().flatten().collect())
}

/// Registers a location and its project, or updates them.
pub(crate) fn put_location(db: &Db, location: &ProjectLocation) -> Result<(), Error> {
    let id = location.project.0.as_bytes().as_slice();
    db.execute(
        &PUT_PROJECT,
        &[&id, &location.name, &location.root_commit, &location.remote, &location.last_seen.0],
    )?;
    db.execute(&PUT_LOCATION, &[&location.key_dir, &location.dir_key, &id, &location.last_seen.0])?;
    change_clock::advance_seq(db)
}

/// Registers a location for a project that seems new. If another process has just registered the
/// same project there, nothing is changed. Returns the project at the location.
pub(crate) fn claim_location(db: &Db, location: &ProjectLocation) -> Result<ProjectId, Error> {
    // Same folder, same identity: another process registered the project a moment ago.
    let is_same_project = |it: &ProjectLocation| {
        it.dir_key == location.dir_key
            && it.root_commit == location.root_commit
            && it.remote == location.remote
    };
    if let Some(row) = select_location(db, &location.key_dir)?.filter(is_same_project) {
        return Ok(row.project);
    }
    put_location(db, location)?;
    Ok(location.project)
}

/// Deletes a project from the registry, as an acknowledged change.
pub(crate) fn unregister_project(db: &Db, project: ProjectId) -> Result<(), Error> {
    delete_project(db, project)?;
    change_clock::advance_seq(db)
}

/// Deletes a project from the registry or a copy of it, and returns whether it was there.
pub(crate) fn delete_project(db: &Db, project: ProjectId) -> Result<bool, Error> {
    let id = project.0.as_bytes().as_slice();
    // The notes about the user's memories that its sessions got.
    let mut n_deleted = injection_log::delete_project_injections(db, id)?;
    n_deleted += db.execute(&DELETE_PROJECT, &[&id])?;
    Ok(n_deleted > 0)
}

/// Reads a location; `None` if the id of its project is malformed.
fn read_location(row: &Row<'_>) -> rusqlite::Result<Option<ProjectLocation>> {
    let Some(project) = ProjectId::from_bytes(&row.get::<_, Vec<u8>>(0)?) else {
        return Ok(None);
    };
    Ok(Some(ProjectLocation {
        project,
        name: row.get(1)?,
        root_commit: row.get(2)?,
        remote: row.get(3)?,
        key_dir: row.get(4)?,
        dir_key: row.get(5)?,
        last_seen: Timestamp(row.get(6)?),
    }))
}
