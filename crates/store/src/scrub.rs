//! Taking a text, such as a secret found late, out of everything that is kept.
//!
//! Unlike an erasure this cannot be resumed by itself, since only the caller knows the text: a call
//! that failed is made again, and finds what is left.

use model::{Actor, Memory, MemoryId, Payload, ProjectPath, RelationTarget};
use rusqlite::ToSql;
use rusqlite::types::Value;
use serde_json::Value as Json;

use crate::erase::{DROP_VECTORS, clean_copies};
use crate::query::{Db, Query, both};
use crate::restore::empty_log;
use crate::row::{assignments, columns, read_memory, to_values};
use crate::site::Site;
use crate::{Error, apply, journal, lessons, stamp};

#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[
    &ROWS,
    &VERSION_ROWS,
    &REPLACE_VERSION,
    &SETTINGS,
    &SET_SETTING,
    &DETAILS,
    &SET_DETAIL,
    &ACTORS,
    &SET_ACTOR,
    &HAS_REGISTRY,
    &NAMES,
    &SET_NAME,
    &REMOTES,
    &SET_REMOTE,
    &COMMITS,
    &SET_COMMIT,
    &PLACES,
    &SET_PLACE,
];

const ROWS: Query =
    both("scrub_rows", concat!("SELECT n, ", columns!(), " FROM memories ORDER BY n"));
const VERSION_ROWS: Query = both(
    "scrub_version_rows",
    concat!("SELECT k, ", columns!(), " FROM memory_versions ORDER BY k"),
);
const REPLACE_VERSION: Query = both(
    "replace_version",
    concat!("UPDATE memory_versions SET ", assignments!(), " WHERE k = ?42"),
);
const SETTINGS: Query = both("scrub_settings", "SELECT key, value FROM settings ORDER BY key");
const SET_SETTING: Query = both("scrub_setting", "UPDATE settings SET value = ?2 WHERE key = ?1");
const DETAILS: Query = both(
    "scrub_details",
    "SELECT batch, detail FROM audit WHERE detail IS NOT NULL ORDER BY batch",
);
const SET_DETAIL: Query = both("scrub_detail", "UPDATE audit SET detail = ?2 WHERE batch = ?1");

const ACTORS: Query = both("scrub_actors", "SELECT batch, actor FROM audit ORDER BY batch");
const SET_ACTOR: Query = both("scrub_actor", "UPDATE audit SET actor = ?2 WHERE batch = ?1");
const HAS_REGISTRY: Query =
    both("has_registry", "SELECT count(*) FROM sqlite_schema WHERE name = 'project_places'");
const NAMES: Query = both("scrub_names", "SELECT id, name FROM projects ORDER BY id");
const SET_NAME: Query = both("scrub_name", "UPDATE projects SET name = ?2 WHERE id = ?1");
const REMOTES: Query =
    both("scrub_remotes", "SELECT id, remote FROM projects WHERE remote IS NOT NULL ORDER BY id");
const SET_REMOTE: Query = both("scrub_remote", "UPDATE projects SET remote = ?2 WHERE id = ?1");
const COMMITS: Query = both(
    "scrub_commits",
    "SELECT id, root_commit FROM projects WHERE root_commit IS NOT NULL ORDER BY id",
);
const SET_COMMIT: Query =
    both("scrub_commit", "UPDATE projects SET root_commit = ?2 WHERE id = ?1");
const PLACES: Query =
    both("scrub_places", "SELECT rowid, key_dir FROM project_places ORDER BY rowid");
const SET_PLACE: Query = both(
    "scrub_place",
    "UPDATE project_places SET key_dir = CASE WHEN EXISTS (SELECT 1 FROM project_places WHERE key_dir = ?2) \
     THEN ?2 || ' ' || rowid ELSE ?2 END WHERE rowid = ?1",
);

/// The texts outside memories: how each is read, with what it is found by, and how it is written.
const TEXTS: &[(&Query, &Query)] = &[(&SETTINGS, &SET_SETTING), (&DETAILS, &SET_DETAIL)];
/// Those of the registry, which only the user's file has. A place that was cleaned is not found
/// again at its folder; the project is then recognised by its commit or remote, or seen as new.
const REGISTRY: &[(&Query, &Query)] =
    &[(&NAMES, &SET_NAME), (&REMOTES, &SET_REMOTE), (&COMMITS, &SET_COMMIT), (&PLACES, &SET_PLACE)];

/// Says what a text becomes; `None` leaves it as it is.
pub(crate) type Clean<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Takes a text out of every row, version, vector and backup; returns the memories it was in.
pub(crate) fn scrub(site: &Site, db: &Db, clean: Clean<'_>) -> Result<Vec<MemoryId>, Error> {
    journal::scrub(&site.home, clean)?;
    let res = db.transaction(|db| scrub_all(db, clean))?;
    empty_log(db)?;
    clean_copies(site, |copy| scrub_all(copy, clean).map(|it| it.changed))?;
    Ok(res.memories)
}

/// What was cleaned.
struct Scrubbed {
    memories: Vec<MemoryId>,
    /// Also true when only settings, the audit trail or the registry were.
    changed: bool,
}

fn scrub_all(db: &Db, clean: Clean<'_>) -> Result<Scrubbed, Error> {
    let mut memories = scrub_rows(db, clean)?;
    memories.extend(scrub_versions(db, clean)?);
    memories.sort_unstable();
    memories.dedup();
    let actor = |text: &str| Some(scrubbed_actor(&Actor::parse(text)?, clean)?.to_string());
    let mut others = scrub_texts(db, &ACTORS, &SET_ACTOR, &actor)?;
    let registry = if db.number(&HAS_REGISTRY, &[])? > 0 { REGISTRY } else { &[] };
    let of_lessons = if lessons::has_lessons(db)? { lessons::TEXTS } else { &[] };
    let expected = if lessons::has_experience(db)? { lessons::EXPERIENCE_TEXTS } else { &[] };
    for (texts, set) in TEXTS.iter().chain(registry).chain(of_lessons).chain(expected) {
        others += scrub_texts(db, texts, set, clean)?;
    }
    let changed = others > 0 || !memories.is_empty();
    if changed {
        // The change is not a version of its own, but it must move the mark.
        stamp::take_number(db)?;
    }
    Ok(Scrubbed { memories, changed })
}

/// Rows keep their version: what they said before must not be found again.
fn scrub_rows(db: &Db, clean: Clean<'_>) -> Result<Vec<MemoryId>, Error> {
    let rows = db.select(&ROWS, &[], |row| Ok((row.get::<_, i64>(0)?, read_memory(row, 1)?)))?;
    let mut res = Vec::new();
    for (n, memory) in rows {
        if let Some(cleaned) = memory.ok().and_then(|it| scrubbed(&it, clean)) {
            apply::overwrite(db, n, &cleaned)?;
            db.run(&DROP_VECTORS, &[&cleaned.id.0.as_bytes().as_slice()])?;
            res.push(cleaned.id);
        }
    }
    Ok(res)
}

fn scrub_versions(db: &Db, clean: Clean<'_>) -> Result<Vec<MemoryId>, Error> {
    let rows =
        db.select(&VERSION_ROWS, &[], |row| Ok((row.get::<_, i64>(0)?, read_memory(row, 1)?)))?;
    let mut res = Vec::new();
    for (k, memory) in rows {
        if let Some(cleaned) = memory.ok().and_then(|it| scrubbed(&it, clean)) {
            let mut values = to_values(&cleaned);
            values.push(Value::Integer(k));
            let params: Vec<&dyn ToSql> = values.iter().map(|it| it as &dyn ToSql).collect();
            db.run(&REPLACE_VERSION, &params)?;
            res.push(cleaned.id);
        }
    }
    Ok(res)
}

/// Cleans the second column of `texts`; says how many had to be.
fn scrub_texts(db: &Db, texts: &Query, set: &Query, clean: Clean<'_>) -> Result<usize, Error> {
    let rows =
        db.select(texts, &[], |row| Ok((row.get::<_, Value>(0)?, row.get::<_, String>(1)?)))?;
    let mut res = 0;
    for (key, text) in rows {
        if let Some(cleaned) = clean(&text).filter(|it| *it != text) {
            res += db.run(set, &[&key, &cleaned])?;
        }
    }
    Ok(res)
}

/// An actor with a clean name, `None` when it had one. Its kind is ours to say and stays readable.
fn scrubbed_actor(actor: &Actor, clean: Clean<'_>) -> Option<Actor> {
    let name = |it: &str| clean(it).map(|it| if it.is_empty() { "?".to_owned() } else { it });
    match actor {
        Actor::User | Actor::Observer => None,
        Actor::Agent(it) => name(it).map(Actor::Agent),
        Actor::Runner(it) => name(it).map(Actor::Runner),
        Actor::Import(it) => name(it).map(Actor::Import),
    }
}

/// The memory with every text cleaned, `None` when nothing had to be.
fn scrubbed(memory: &Memory, clean: Clean<'_>) -> Option<Memory> {
    let mut res = memory.clone();
    let mut each = |text: &mut String| {
        if let Some(cleaned) = clean(text) {
            *text = cleaned;
        }
    };
    each(&mut res.content);
    each(&mut res.summary);
    each(&mut res.citation);
    res.tags.iter_mut().for_each(&mut each);
    res.modules.iter_mut().for_each(&mut each);
    res.commit.iter_mut().for_each(&mut each);
    res.branch.iter_mut().for_each(&mut each);
    res.states.deprecated_reason.iter_mut().for_each(&mut each);
    for anchor in &mut res.anchors {
        each(&mut anchor.symbol);
        each(&mut anchor.hash);
    }
    if let Some(unit) = &mut res.work_unit {
        each(&mut unit.methodology);
        each(&mut unit.label);
        unit.hierarchy.iter_mut().for_each(&mut each);
    }
    // A path that cannot be cleaned and still be a path is left out.
    let path = |it: &ProjectPath| match clean(it.as_str()) {
        Some(cleaned) => ProjectPath::parse(&cleaned).ok(),
        None => Some(it.clone()),
    };
    res.files = res.files.iter().filter_map(path).collect();
    res.anchors.retain_mut(|it| path(&it.file).map(|cleaned| it.file = cleaned).is_some());
    res.relations.retain_mut(|it| match &mut it.target {
        RelationTarget::File(file) => path(file).map(|cleaned| *file = cleaned).is_some(),
        RelationTarget::Memory(_) => true,
    });
    if let Some(cleaned) = scrubbed_actor(&res.created_by, clean) {
        res.created_by = cleaned;
    }
    res.payload = res.payload.as_ref().and_then(|it| scrubbed_payload(it, clean));
    (res != *memory).then_some(res)
}

fn scrubbed_payload(payload: &Payload, clean: Clean<'_>) -> Option<Payload> {
    let mut json = payload.to_json();
    scrub_json(&mut json, clean);
    Payload::parse(payload.kind(), &json).ok()
}

fn scrub_json(json: &mut Json, clean: Clean<'_>) {
    match json {
        Json::String(text) => *text = clean(text).unwrap_or_else(|| std::mem::take(text)),
        Json::Array(items) => items.iter_mut().for_each(|it| scrub_json(it, clean)),
        Json::Object(fields) => fields.values_mut().for_each(|it| scrub_json(it, clean)),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}
