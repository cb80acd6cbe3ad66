//! Erases a text, such as a secret found late, from everything that is stored.
//!
//! The caller passes a cleaner: a function that returns the cleaned form of a text, or `None` to
//! leave it. The cleaner is applied to every text of memories, versions, settings, audit trail,
//! registry and learning tables, in the database and in all copies of it. A row that cannot be
//! decoded, because it is damaged or a newer version wrote it, is not cleaned text by text: if it
//! holds the text, all its texts are overwritten.
//!
//! Unlike the erasure of memories it cannot be resumed automatically, since only the caller knows
//! the text. A failed call is repeated and cleans the rest.

use model::{Actor, Memory, MemoryId, Payload, ProjectPath, RelationTarget};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Row, ToSql};
use serde_json::Value as Json;

use crate::database_state::DatabaseState;
use crate::erase::{DELETE_VECTORS, clean_copies};
use crate::injection_spool::InjectionSpool;
use crate::memory_row::{assignments, columns, read_memory, read_without_counts, to_values};
use crate::query::{Db, Query};
use crate::restore::truncate_log;
use crate::{
    Error, apply_batch, change_clock, index_delta, index_snapshot, injection_log, journal,
    learning, lookup_tables,
};

/// A column with free text: the statement that reads it with its key, and the one that writes it.
pub(crate) type TextColumn = (&'static Query, &'static Query);

/// Returns the cleaned form of a text, or `None` to leave it as it is.
pub(crate) type TextCleaner<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Every statement of this file, for the tests that replay them on a server.
#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[
    &SELECT_MEMORIES,
    &SELECT_VERSIONS,
    &UPDATE_VERSION,
    &BLANK_MEMORY,
    &BLANK_VERSION,
    &SELECT_LOOKUP_TEXTS,
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

/// Every memory with its row number.
const SELECT_MEMORIES: Query = Query::shared(
    "erase_text_rows",
    concat!("SELECT n, ", columns!(), " FROM memories ORDER BY n"),
);
/// Every earlier version with its row number.
const SELECT_VERSIONS: Query = Query::shared(
    "erase_text_version_rows",
    concat!("SELECT k, ", columns!(), " FROM memory_versions ORDER BY k"),
);
/// Overwrites an earlier version; the last parameter is its row number.
const UPDATE_VERSION: Query = Query::shared(
    "replace_version",
    concat!("UPDATE memory_versions SET ", assignments!(), " WHERE k = ?"),
);
/// SQL: assigns an empty value to every column with free text.
// Other columns are left out: writing a damaged value back could violate a constraint.
macro_rules! blank_texts {
    () => {
        "content = '', summary = '', citation = '', tags = '[]', files = '[]', modules = '[]', \
         anchors = '[]', work_unit = NULL, commit_id = NULL, branch = NULL, relations = '[]', \
         deprecated_reason = NULL, payload = NULL, created_by = ''"
    };
}
/// Overwrites the texts of a damaged memory. Its hash stays, so the row remains damaged.
// Local only, like the next two: a server looks after its own damage.
const BLANK_MEMORY: Query =
    Query::local("blank_memory", concat!("UPDATE memories SET ", blank_texts!(), " WHERE n = ?1"));
/// Overwrites the texts of a damaged version, which remains damaged.
const BLANK_VERSION: Query = Query::local(
    "blank_version",
    concat!("UPDATE memory_versions SET ", blank_texts!(), " WHERE k = ?1"),
);
/// Every text that the lookup tables hold of a memory.
const SELECT_LOOKUP_TEXTS: Query = Query::local(
    "erase_text_lookups",
    "SELECT content FROM memory_text WHERE n = ?1 UNION ALL SELECT tags FROM memory_text WHERE n = ?1 \
     UNION ALL SELECT files FROM memory_text WHERE n = ?1 \
     UNION ALL SELECT file FROM memory_files WHERE n = ?1 \
     UNION ALL SELECT module FROM memory_modules WHERE n = ?1 \
     UNION ALL SELECT tag FROM memory_tags WHERE n = ?1 \
     UNION ALL SELECT CAST(target AS TEXT) FROM memory_relations WHERE n = ?1",
);
/// Every setting.
const SELECT_SETTINGS: Query =
    Query::shared("erase_text_settings", "SELECT key, value FROM settings ORDER BY key");
/// Sets the value of a setting.
const UPDATE_SETTING: Query =
    Query::shared("erase_text_setting", "UPDATE settings SET value = ?2 WHERE key = ?1");
/// Details in the audit trail.
const SELECT_AUDIT_DETAILS: Query = Query::shared(
    "erase_text_details",
    "SELECT batch, detail FROM audit WHERE detail IS NOT NULL ORDER BY batch",
);
/// Sets the detail of an audit entry.
const UPDATE_AUDIT_DETAIL: Query =
    Query::shared("erase_text_detail", "UPDATE audit SET detail = ?2 WHERE batch = ?1");

/// Actors in the audit trail.
const SELECT_AUDIT_ACTORS: Query =
    Query::shared("erase_text_actors", "SELECT batch, actor FROM audit ORDER BY batch");
/// Sets the actor of an audit entry.
const UPDATE_AUDIT_ACTOR: Query =
    Query::shared("erase_text_actor", "UPDATE audit SET actor = ?2 WHERE batch = ?1");
/// 1 if the file has the registry of projects.
const HAS_REGISTRY: Query = Query::shared(
    "has_registry",
    "SELECT count(*) FROM sqlite_schema WHERE name = 'project_places'",
);
/// Names of projects.
const SELECT_PROJECT_NAMES: Query =
    Query::shared("erase_text_names", "SELECT id, name FROM projects ORDER BY id");
/// Sets the name of a project.
const UPDATE_PROJECT_NAME: Query =
    Query::shared("erase_text_name", "UPDATE projects SET name = ?2 WHERE id = ?1");
/// Remotes of projects.
const SELECT_REMOTES: Query = Query::shared(
    "erase_text_remotes",
    "SELECT id, remote FROM projects WHERE remote IS NOT NULL ORDER BY id",
);
/// Sets the remote of a project.
const UPDATE_REMOTE: Query =
    Query::shared("erase_text_remote", "UPDATE projects SET remote = ?2 WHERE id = ?1");
/// Root commits of projects.
const SELECT_ROOT_COMMITS: Query = Query::shared(
    "erase_text_commits",
    "SELECT id, root_commit FROM projects WHERE root_commit IS NOT NULL ORDER BY id",
);
/// Sets the root commit of a project.
const UPDATE_ROOT_COMMIT: Query =
    Query::shared("erase_text_commit", "UPDATE projects SET root_commit = ?2 WHERE id = ?1");
/// Folders of projects.
const SELECT_LOCATIONS: Query =
    Query::shared("erase_text_places", "SELECT rowid, key_dir FROM project_places ORDER BY rowid");
/// Sets the folder of a project.
// Folders are unique: if two become equal by cleaning, the second gets its row number appended.
const UPDATE_LOCATION: Query = Query::shared(
    "erase_text_place",
    "UPDATE project_places SET key_dir = CASE WHEN EXISTS (SELECT 1 FROM project_places WHERE key_dir = ?2) \
     THEN ?2 || ' ' || rowid ELSE ?2 END WHERE rowid = ?1",
);

/// Columns with free text that every database has, outside memories.
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

/// Erases a text from all rows, versions, vectors and backups, and returns the memories that held
/// it.
pub(crate) fn erase_text(
    state: &DatabaseState,
    db: &Db,
    clean: TextCleaner<'_>,
) -> Result<Vec<MemoryId>, Error> {
    // Journals first: a session that ends meanwhile would bring the text back into the database.
    journal::erase_text(&state.paths, state.key.as_ref(), clean)?;
    InjectionSpool::new(&state.paths, state.key.as_ref()).erase_text(clean)?;
    // It may hold the vectors of the text and the names of branches.
    index_snapshot::remove_snapshot(&state.paths)?;
    let erased = db.transaction(|db| erase_in_database(db, clean))?;
    // Old pages of the log still hold the text.
    truncate_log(db)?;
    clean_copies(state, |copy| erase_in_database(copy, clean).map(|it| it.changed))?;
    Ok(erased.memories)
}

/// Result of cleaning one database.
#[derive(Default)]
struct ErasedTexts {
    /// Memories that held the text, in any version.
    memories: Vec<MemoryId>,
    /// Also true if only settings, the audit trail, the registry or learning tables changed, or a
    /// damaged row whose id cannot be read.
    changed: bool,
}

fn erase_in_database(db: &Db, clean: TextCleaner<'_>) -> Result<ErasedTexts, Error> {
    let mut erased = ErasedTexts::default();
    erase_in_memories(&mut erased, db, clean)?;
    erase_in_versions(&mut erased, db, clean)?;
    erased.memories.sort_unstable();
    erased.memories.dedup();
    // An actor is a kind and a name; only the name is free text.
    let clean_actor = |text: &str| Some(cleaned_actor(&Actor::parse(text)?, clean)?.to_string());
    let mut n_others =
        erase_in_column(db, &SELECT_AUDIT_ACTORS, &UPDATE_AUDIT_ACTOR, &clean_actor)?;
    let registry = if db.select_number(&HAS_REGISTRY, &[])? > 0 { REGISTRY_COLUMNS } else { &[] };
    let learned = learning::text_columns(db)?;
    let injections =
        if injection_log::has_injections(db)? { injection_log::TEXT_COLUMNS } else { &[] };
    let columns = TEXT_COLUMNS.iter().chain(registry).chain(injections).chain(&learned);
    for (select, update) in columns {
        n_others += erase_in_column(db, select, update, clean)?;
    }
    erased.changed |= n_others > 0;
    if erased.changed {
        // The change makes no new version, but it takes a sequence number like any other: the mark
        // beside the database then shows if it gets lost.
        change_clock::advance_seq(db)?;
        index_delta::advance_epoch(db)?;
    }
    Ok(erased)
}

/// A row of a memory or of an earlier version, as the cleaner sees it.
enum ScannedRow {
    /// It does not hold the text.
    Clean,
    /// The memory without the text, to be written in place of the row.
    Cleaned(Box<Memory>),
    /// It cannot be decoded. `id` is `None` if even the id cannot be read.
    Damaged { id: Option<MemoryId>, holds_text: bool },
}

/// Cleans the memories. Rows keep their version number, and no earlier version is stored: the text
/// must not be found there.
fn erase_in_memories(acc: &mut ErasedTexts, db: &Db, clean: TextCleaner<'_>) -> Result<(), Error> {
    for (n, row) in select_rows(db, &SELECT_MEMORIES, clean)? {
        let id = match row {
            ScannedRow::Clean => continue,
            ScannedRow::Cleaned(memory) => {
                apply_batch::overwrite_row(db, n, &memory)?;
                Some(memory.id)
            }
            ScannedRow::Damaged { id, holds_text } => {
                // The lookups may still hold a text that the damaged row has lost.
                if !holds_text && !lookups_hold_text(db, n, clean)? {
                    continue;
                }
                db.execute(&BLANK_MEMORY, &[&n])?;
                lookup_tables::delete_lookups(db, n)?;
                id
            }
        };
        acc.changed = true;
        if let Some(id) = id {
            // The vectors were computed from the old text.
            db.execute(&DELETE_VECTORS, &[&id.0.as_bytes().as_slice()])?;
            acc.memories.push(id);
        }
    }
    Ok(())
}

/// Cleans the earlier versions. They have no lookups and no vectors.
fn erase_in_versions(acc: &mut ErasedTexts, db: &Db, clean: TextCleaner<'_>) -> Result<(), Error> {
    for (k, row) in select_rows(db, &SELECT_VERSIONS, clean)? {
        let id = match row {
            ScannedRow::Clean | ScannedRow::Damaged { holds_text: false, .. } => continue,
            ScannedRow::Cleaned(memory) => {
                let mut values = to_values(&memory);
                values.push(Value::Integer(k));
                let params: Vec<&dyn ToSql> = values.iter().map(|it| it as &dyn ToSql).collect();
                db.execute(&UPDATE_VERSION, &params)?;
                Some(memory.id)
            }
            ScannedRow::Damaged { id, holds_text: true } => {
                db.execute(&BLANK_VERSION, &[&k])?;
                id
            }
        };
        acc.changed = true;
        acc.memories.extend(id);
    }
    Ok(())
}

/// Runs a statement that selects a row number and a memory, and applies the cleaner to each row.
fn select_rows(
    db: &Db,
    query: &Query,
    clean: TextCleaner<'_>,
) -> Result<Vec<(i64, ScannedRow)>, Error> {
    db.select(query, &[], |row| {
        // Damaged counts alone do not matter here. They are reset if the row is written, as by a
        // repair.
        let memory = match read_memory(row, 1)? {
            Ok(memory) => Ok(memory),
            Err(_) => read_without_counts(row, 1)?,
        };
        let scanned = match memory {
            Ok(memory) => cleaned_memory(&memory, clean)
                .map_or(ScannedRow::Clean, |it| ScannedRow::Cleaned(Box::new(it))),
            Err(damaged) => {
                ScannedRow::Damaged { id: damaged.id, holds_text: row_holds_text(row, clean)? }
            }
        };
        Ok((row.get(0)?, scanned))
    })
}

/// Returns whether the cleaner would change any text of an undecodable row.
fn row_holds_text(row: &Row<'_>, clean: TextCleaner<'_>) -> rusqlite::Result<bool> {
    for column in 0..row.as_ref().column_count() {
        // The other types hold ids, hashes, numbers and times.
        if let ValueRef::Text(bytes) = row.get_ref(column)?
            && is_changed_by(&String::from_utf8_lossy(bytes), clean)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether the cleaner would change any text in the lookup tables of a memory.
fn lookups_hold_text(db: &Db, n: i64, clean: TextCleaner<'_>) -> Result<bool, Error> {
    let texts = db.select(&SELECT_LOOKUP_TEXTS, &[&n], |row| {
        // A relation's target is text only if it is a path; an id is not valid UTF-8.
        Ok(String::from_utf8_lossy(row.get_ref(0)?.as_bytes()?).into_owned())
    })?;
    Ok(texts.iter().any(|it| is_changed_by(it, clean)))
}

fn is_changed_by(cell: &str, clean: TextCleaner<'_>) -> bool {
    // Within JSON, escapes such as `\n` could hide the text from the cleaner.
    let is_changed_json = || {
        serde_json::from_str::<Json>(cell).is_ok_and(|before| {
            let mut after = before.clone();
            clean_json(&mut after, clean);
            after != before
        })
    };
    clean(cell).is_some_and(|it| it != cell) || is_changed_json()
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
    let clean_name = |it: &str| clean(it).map(|it| if it.is_empty() { "?".to_owned() } else { it });
    match actor {
        Actor::User | Actor::Observer => None,
        Actor::Agent(it) => clean_name(it).map(Actor::Agent),
        Actor::Runner(it) => clean_name(it).map(Actor::Runner),
        Actor::Import(it) => clean_name(it).map(Actor::Import),
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
    let clean_path = |it: &ProjectPath| match clean(it.as_str()) {
        Some(text) => ProjectPath::parse(&text).ok(),
        None => Some(it.clone()),
    };
    cleaned.files = cleaned.files.iter().filter_map(clean_path).collect();
    cleaned.anchors.retain_mut(|it| clean_path(&it.file).map(|new| it.file = new).is_some());
    cleaned.relations.retain_mut(|it| match &mut it.target {
        RelationTarget::File(file) => clean_path(file).map(|new| *file = new).is_some(),
        RelationTarget::Memory(_) => true,
    });
    if let Some(actor) = cleaned_actor(&cleaned.created_by, clean) {
        cleaned.created_by = actor;
    }
    cleaned.payload = cleaned.payload.as_ref().and_then(|it| cleaned_payload(it, clean));
    (cleaned != *memory).then_some(cleaned)
}

/// Cleans the payload of a memory; `None` if the cleaned form is no longer valid for its kind.
fn cleaned_payload(payload: &Payload, clean: TextCleaner<'_>) -> Option<Payload> {
    let mut json = payload.to_json();
    clean_json(&mut json, clean);
    Payload::parse(payload.kind(), &json).ok()
}

/// Cleans every string value. Keys are names of fields, not free text.
fn clean_json(json: &mut Json, clean: TextCleaner<'_>) {
    match json {
        Json::String(text) => *text = clean(text).unwrap_or_else(|| std::mem::take(text)),
        Json::Array(items) => items.iter_mut().for_each(|it| clean_json(it, clean)),
        Json::Object(fields) => fields.values_mut().for_each(|it| clean_json(it, clean)),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}
