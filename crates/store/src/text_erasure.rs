//! Erases a text, such as a secret found late, from everything that is stored.
//!
//! Unlike the erasure of memories it cannot be resumed automatically, since only the caller knows
//! the text. A failed call is repeated and cleans the rest.

use model::{Actor, Memory, MemoryId, Payload, ProjectPath, RelationTarget};
use rusqlite::ToSql;
use rusqlite::types::Value;
use serde_json::Value as Json;

use crate::database_state::DatabaseState;
use crate::erase::{DELETE_VECTORS, clean_copies};
use crate::memory_row::{assignments, columns, read_memory, to_values};
use crate::query::{Db, Query};
use crate::restore::truncate_log;
use crate::{Error, apply_batch, change_clock, journal, learning};

#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[
    &SELECT_MEMORIES,
    &SELECT_VERSIONS,
    &UPDATE_VERSION,
    &SELECT_SETTINGS,
    &UPDATE_SETTING,
    &SELECT_AUDIT_DETAILS,
    &UPDATE_AUDIT_DETAIL,
    &SELECT_AUDIT_ACTORS,
    &UPDATE_AUDIT_ACTOR,
    &HAS_REGISTRY,
    &SELECT_PROJECT_NAMES,
    &UPDATE_PROJECT_NAME,
    &SELECT_REMOTES,
    &UPDATE_REMOTE,
    &SELECT_ROOT_COMMITS,
    &UPDATE_ROOT_COMMIT,
    &SELECT_LOCATIONS,
    &UPDATE_LOCATION,
];

const SELECT_MEMORIES: Query = Query::shared(
    "erase_text_rows",
    concat!("SELECT n, ", columns!(), " FROM memories ORDER BY n"),
);
const SELECT_VERSIONS: Query = Query::shared(
    "erase_text_version_rows",
    concat!("SELECT k, ", columns!(), " FROM memory_versions ORDER BY k"),
);
const UPDATE_VERSION: Query = Query::shared(
    "replace_version",
    concat!("UPDATE memory_versions SET ", assignments!(), " WHERE k = ?42"),
);
const SELECT_SETTINGS: Query =
    Query::shared("erase_text_settings", "SELECT key, value FROM settings ORDER BY key");
const UPDATE_SETTING: Query =
    Query::shared("erase_text_setting", "UPDATE settings SET value = ?2 WHERE key = ?1");
const SELECT_AUDIT_DETAILS: Query = Query::shared(
    "erase_text_details",
    "SELECT batch, detail FROM audit WHERE detail IS NOT NULL ORDER BY batch",
);
const UPDATE_AUDIT_DETAIL: Query =
    Query::shared("erase_text_detail", "UPDATE audit SET detail = ?2 WHERE batch = ?1");

const SELECT_AUDIT_ACTORS: Query =
    Query::shared("erase_text_actors", "SELECT batch, actor FROM audit ORDER BY batch");
const UPDATE_AUDIT_ACTOR: Query =
    Query::shared("erase_text_actor", "UPDATE audit SET actor = ?2 WHERE batch = ?1");
const HAS_REGISTRY: Query = Query::shared(
    "has_registry",
    "SELECT count(*) FROM sqlite_schema WHERE name = 'project_places'",
);
const SELECT_PROJECT_NAMES: Query =
    Query::shared("erase_text_names", "SELECT id, name FROM projects ORDER BY id");
const UPDATE_PROJECT_NAME: Query =
    Query::shared("erase_text_name", "UPDATE projects SET name = ?2 WHERE id = ?1");
const SELECT_REMOTES: Query = Query::shared(
    "erase_text_remotes",
    "SELECT id, remote FROM projects WHERE remote IS NOT NULL ORDER BY id",
);
const UPDATE_REMOTE: Query =
    Query::shared("erase_text_remote", "UPDATE projects SET remote = ?2 WHERE id = ?1");
const SELECT_ROOT_COMMITS: Query = Query::shared(
    "erase_text_commits",
    "SELECT id, root_commit FROM projects WHERE root_commit IS NOT NULL ORDER BY id",
);
const UPDATE_ROOT_COMMIT: Query =
    Query::shared("erase_text_commit", "UPDATE projects SET root_commit = ?2 WHERE id = ?1");
const SELECT_LOCATIONS: Query =
    Query::shared("erase_text_places", "SELECT rowid, key_dir FROM project_places ORDER BY rowid");
const UPDATE_LOCATION: Query = Query::shared(
    "erase_text_place",
    "UPDATE project_places SET key_dir = CASE WHEN EXISTS (SELECT 1 FROM project_places WHERE key_dir = ?2) \
     THEN ?2 || ' ' || rowid ELSE ?2 END WHERE rowid = ?1",
);

/// Columns with free text outside memories.
const TEXT_COLUMNS: &[TextColumn] =
    &[(&SELECT_SETTINGS, &UPDATE_SETTING), (&SELECT_AUDIT_DETAILS, &UPDATE_AUDIT_DETAIL)];
/// Columns of the registry, which only the user's database has. A cleaned location no longer
/// matches its folder; the project is then recognised by its commit or remote, or seen as new.
const REGISTRY_COLUMNS: &[TextColumn] = &[
    (&SELECT_PROJECT_NAMES, &UPDATE_PROJECT_NAME),
    (&SELECT_REMOTES, &UPDATE_REMOTE),
    (&SELECT_ROOT_COMMITS, &UPDATE_ROOT_COMMIT),
    (&SELECT_LOCATIONS, &UPDATE_LOCATION),
];

/// A column with free text: the statement that reads it with its key, and the one that writes it.
pub(crate) type TextColumn = (&'static Query, &'static Query);

/// Returns the cleaned form of a text, or `None` to leave it as it is.
pub(crate) type TextCleaner<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Erases a text from all rows, versions, vectors and backups, and returns the memories that held
/// it.
pub(crate) fn erase_text(
    state: &DatabaseState,
    db: &Db,
    clean: TextCleaner<'_>,
) -> Result<Vec<MemoryId>, Error> {
    // Journals first: a session that ends meanwhile would bring the text back into the database.
    journal::erase_text(&state.paths, clean)?;
    let erased = db.transaction(|db| erase_in_database(db, clean))?;
    // Old pages of the log still hold the text.
    truncate_log(db)?;
    clean_copies(state, |copy| erase_in_database(copy, clean).map(|it| it.changed))?;
    Ok(erased.memories)
}

/// Result of cleaning one database.
struct ErasedTexts {
    memories: Vec<MemoryId>,
    /// Also true if only settings, the audit trail or the registry changed.
    changed: bool,
}

fn erase_in_database(db: &Db, clean: TextCleaner<'_>) -> Result<ErasedTexts, Error> {
    let mut memories = erase_in_memories(db, clean)?;
    memories.extend(erase_in_versions(db, clean)?);
    memories.sort_unstable();
    memories.dedup();
    let actor = |text: &str| Some(cleaned_actor(&Actor::parse(text)?, clean)?.to_string());
    let mut others = erase_in_column(db, &SELECT_AUDIT_ACTORS, &UPDATE_AUDIT_ACTOR, &actor)?;
    let registry = if db.select_number(&HAS_REGISTRY, &[])? > 0 { REGISTRY_COLUMNS } else { &[] };
    let learned = learning::text_columns(db)?;
    for (select, update) in TEXT_COLUMNS.iter().chain(registry).chain(&learned) {
        others += erase_in_column(db, select, update, clean)?;
    }
    let changed = others > 0 || !memories.is_empty();
    if changed {
        // The change makes no new version, but it must move the mark.
        change_clock::advance_seq(db)?;
    }
    Ok(ErasedTexts { memories, changed })
}

/// Cleans the memories. Rows keep their version number, and no earlier version is stored: the text
/// must not be found there.
fn erase_in_memories(db: &Db, clean: TextCleaner<'_>) -> Result<Vec<MemoryId>, Error> {
    let rows =
        db.select(&SELECT_MEMORIES, &[], |row| Ok((row.get::<_, i64>(0)?, read_memory(row, 1)?)))?;
    let mut cleaned_ids = Vec::new();
    for (n, memory) in rows {
        if let Some(cleaned) = memory.ok().and_then(|it| cleaned_memory(&it, clean)) {
            apply_batch::overwrite_row(db, n, &cleaned)?;
            db.execute(&DELETE_VECTORS, &[&cleaned.id.0.as_bytes().as_slice()])?;
            cleaned_ids.push(cleaned.id);
        }
    }
    Ok(cleaned_ids)
}

fn erase_in_versions(db: &Db, clean: TextCleaner<'_>) -> Result<Vec<MemoryId>, Error> {
    let rows =
        db.select(&SELECT_VERSIONS, &[], |row| Ok((row.get::<_, i64>(0)?, read_memory(row, 1)?)))?;
    let mut cleaned_ids = Vec::new();
    for (k, memory) in rows {
        if let Some(cleaned) = memory.ok().and_then(|it| cleaned_memory(&it, clean)) {
            let mut values = to_values(&cleaned);
            values.push(Value::Integer(k));
            let params: Vec<&dyn ToSql> = values.iter().map(|it| it as &dyn ToSql).collect();
            db.execute(&UPDATE_VERSION, &params)?;
            cleaned_ids.push(cleaned.id);
        }
    }
    Ok(cleaned_ids)
}

/// Cleans the second column of `select`, and returns how many rows changed.
fn erase_in_column(
    db: &Db,
    select: &Query,
    update: &Query,
    clean: TextCleaner<'_>,
) -> Result<usize, Error> {
    let rows =
        db.select(select, &[], |row| Ok((row.get::<_, Value>(0)?, row.get::<_, String>(1)?)))?;
    let mut n_changed = 0;
    for (key, text) in rows {
        // A cleaner may return the same text; that is no change.
        if let Some(cleaned) = clean(&text).filter(|it| *it != text) {
            n_changed += db.execute(update, &[&key, &cleaned])?;
        }
    }
    Ok(n_changed)
}

/// Cleans the name of an actor; `None` if it was clean. The kind of the actor stays readable.
fn cleaned_actor(actor: &Actor, clean: TextCleaner<'_>) -> Option<Actor> {
    // An empty name could not be parsed back.
    let name = |it: &str| clean(it).map(|it| if it.is_empty() { "?".to_owned() } else { it });
    match actor {
        Actor::User | Actor::Observer => None,
        Actor::Agent(it) => name(it).map(Actor::Agent),
        Actor::Runner(it) => name(it).map(Actor::Runner),
        Actor::Import(it) => name(it).map(Actor::Import),
    }
}

/// Cleans every text of a memory; `None` if nothing changed.
fn cleaned_memory(memory: &Memory, clean: TextCleaner<'_>) -> Option<Memory> {
    let mut cleaned = memory.clone();
    let mut clean_text = |text: &mut String| {
        if let Some(new) = clean(text) {
            *text = new;
        }
    };
    clean_text(&mut cleaned.content);
    clean_text(&mut cleaned.summary);
    clean_text(&mut cleaned.citation);
    cleaned.tags.iter_mut().for_each(&mut clean_text);
    cleaned.modules.iter_mut().for_each(&mut clean_text);
    cleaned.commit.iter_mut().for_each(&mut clean_text);
    cleaned.branch.iter_mut().for_each(&mut clean_text);
    cleaned.states.deprecated_reason.iter_mut().for_each(&mut clean_text);
    for anchor in &mut cleaned.anchors {
        clean_text(&mut anchor.symbol);
        clean_text(&mut anchor.hash);
    }
    if let Some(unit) = &mut cleaned.work_unit {
        clean_text(&mut unit.methodology);
        clean_text(&mut unit.label);
        unit.hierarchy.iter_mut().for_each(&mut clean_text);
    }
    // A path that is no path any more after cleaning is left out.
    let path = |it: &ProjectPath| match clean(it.as_str()) {
        Some(text) => ProjectPath::parse(&text).ok(),
        None => Some(it.clone()),
    };
    cleaned.files = cleaned.files.iter().filter_map(path).collect();
    cleaned.anchors.retain_mut(|it| path(&it.file).map(|new| it.file = new).is_some());
    cleaned.relations.retain_mut(|it| match &mut it.target {
        RelationTarget::File(file) => path(file).map(|new| *file = new).is_some(),
        RelationTarget::Memory(_) => true,
    });
    if let Some(actor) = cleaned_actor(&cleaned.created_by, clean) {
        cleaned.created_by = actor;
    }
    cleaned.payload = cleaned.payload.as_ref().and_then(|it| cleaned_payload(it, clean));
    (cleaned != *memory).then_some(cleaned)
}

fn cleaned_payload(payload: &Payload, clean: TextCleaner<'_>) -> Option<Payload> {
    let mut json = payload.to_json();
    clean_json(&mut json, clean);
    Payload::parse(payload.kind(), &json).ok()
}

fn clean_json(json: &mut Json, clean: TextCleaner<'_>) {
    match json {
        Json::String(text) => *text = clean(text).unwrap_or_else(|| std::mem::take(text)),
        Json::Array(items) => items.iter_mut().for_each(|it| clean_json(it, clean)),
        Json::Object(fields) => fields.values_mut().for_each(|it| clean_json(it, clean)),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}
