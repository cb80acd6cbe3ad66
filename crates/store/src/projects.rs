//! The registry: which projects there are and where they were seen. Lives in the user's file.

use model::{ProjectId, Timestamp};
use rusqlite::Row;

use crate::query::{Db, Query, both};
use crate::{Error, stamp};

/// A project and one place it was seen at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceRow {
    pub project: ProjectId,
    pub name: String,
    pub root_commit: Option<String>,
    pub remote: Option<String>,
    pub key_dir: String,
    pub dir_key: Option<String>,
    pub last_seen: Timestamp,
}

#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[&AT, &ALL, &ADD_PROJECT, &ADD_PLACE, &DROP_PROJECT];

macro_rules! place {
    () => {
        "SELECT p.id, p.name, p.root_commit, p.remote, l.key_dir, l.dir_key, l.last_seen FROM project_places l \
         JOIN projects p ON p.id = l.project"
    };
}

const AT: Query = both("place_at", concat!(place!(), " WHERE l.key_dir = ?1"));
const ALL: Query = both("places", concat!(place!(), " ORDER BY p.id, l.key_dir"));
const ADD_PROJECT: Query = both(
    "add_project",
    "INSERT INTO projects (id, name, root_commit, remote, created_at) VALUES (?1, ?2, ?3, ?4, ?5) \
     ON CONFLICT (id) DO UPDATE SET root_commit = coalesce(excluded.root_commit, root_commit), \
     remote = coalesce(excluded.remote, remote)",
);
const ADD_PLACE: Query = both(
    "add_place",
    "INSERT INTO project_places (key_dir, dir_key, project, last_seen) VALUES (?1, ?2, ?3, ?4) \
     ON CONFLICT (key_dir) DO UPDATE SET dir_key = excluded.dir_key, project = excluded.project, \
     last_seen = excluded.last_seen",
);
const DROP_PROJECT: Query = both("drop_project", "DELETE FROM projects WHERE id = ?1");

/// The project seen at this place, if any.
pub(crate) fn at(db: &Db, key_dir: &str) -> Result<Option<PlaceRow>, Error> {
    Ok(db.select(&AT, &[&key_dir], read_place)?.into_iter().flatten().next())
}

pub(crate) fn all(db: &Db) -> Result<Vec<PlaceRow>, Error> {
    Ok(db.select(&ALL, &[], read_place)?.into_iter().flatten().collect())
}

pub(crate) fn put(db: &Db, place: &PlaceRow) -> Result<(), Error> {
    let id = place.project.0.as_bytes().as_slice();
    db.run(
        &ADD_PROJECT,
        &[&id, &place.name, &place.root_commit, &place.remote, &place.last_seen.0],
    )?;
    db.run(&ADD_PLACE, &[&place.key_dir, &place.dir_key, &id, &place.last_seen.0])?;
    stamp::take_number(db)
}

/// Registers the place of a project that seems new, unless somebody has just done the same; whose
/// place it is now.
pub(crate) fn claim(db: &Db, place: &PlaceRow) -> Result<ProjectId, Error> {
    let same = |it: &PlaceRow| {
        it.dir_key == place.dir_key
            && it.root_commit == place.root_commit
            && it.remote == place.remote
    };
    if let Some(row) = at(db, &place.key_dir)?.filter(same) {
        return Ok(row.project);
    }
    put(db, place)?;
    Ok(place.project)
}

pub(crate) fn drop_project(db: &Db, project: ProjectId) -> Result<(), Error> {
    take_out(db, project)?;
    stamp::take_number(db)
}

/// Takes a project out of the registry or a copy of it; says whether it was in there.
pub(crate) fn take_out(db: &Db, project: ProjectId) -> Result<bool, Error> {
    Ok(db.run(&DROP_PROJECT, &[&project.0.as_bytes().as_slice()])? > 0)
}

fn read_place(row: &Row<'_>) -> rusqlite::Result<Option<PlaceRow>> {
    let Some(project) = ProjectId::from_bytes(&row.get::<_, Vec<u8>>(0)?) else {
        return Ok(None);
    };
    Ok(Some(PlaceRow {
        project,
        name: row.get(1)?,
        root_commit: row.get(2)?,
        remote: row.get(3)?,
        key_dir: row.get(4)?,
        dir_key: row.get(5)?,
        last_seen: Timestamp(row.get(6)?),
    }))
}
