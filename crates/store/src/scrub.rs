//! Taking a text, such as a secret found late, out of everything that is kept.
//!
//! Unlike an erasure this cannot be resumed by itself, since only the caller knows the text: a call
//! that failed is made again, and finds what is left.

use model::{Memory, MemoryId, Payload, ProjectPath, RelationTarget};
use rusqlite::ToSql;
use rusqlite::types::Value;
use serde_json::Value as Json;

use crate::erase::{DROP_VECTORS, clean_copies};
use crate::query::{Db, Query, both};
use crate::restore::empty_log;
use crate::row::{assignments, columns, read_memory, to_values};
use crate::site::Site;
use crate::{Error, apply, stamp};

#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] =
    &[&ROWS, &VERSION_ROWS, &REPLACE_VERSION, &SETTINGS, &SET_SETTING, &DETAILS, &SET_DETAIL];

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

/// Says what a text becomes; `None` leaves it as it is.
pub(crate) type Clean<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Takes a text out of every row, version, vector and backup; returns the memories it was in.
pub(crate) fn scrub(site: &Site, db: &Db, clean: Clean<'_>) -> Result<Vec<MemoryId>, Error> {
    let res = db.transaction(|db| scrub_all(db, clean))?;
    empty_log(db)?;
    clean_copies(site, |copy| scrub_all(copy, clean).map(|it| it.changed))?;
    Ok(res.memories)
}

/// What was cleaned.
struct Scrubbed {
    memories: Vec<MemoryId>,
    /// Also true when only settings or the audit trail were.
    changed: bool,
}

fn scrub_all(db: &Db, clean: Clean<'_>) -> Result<Scrubbed, Error> {
    let mut memories = scrub_rows(db, clean)?;
    memories.extend(scrub_versions(db, clean)?);
    memories.sort_unstable();
    memories.dedup();
    let others = scrub_texts(db, &SETTINGS, &SET_SETTING, clean)?
        + scrub_texts(db, &DETAILS, &SET_DETAIL, clean)?;
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
        if let Some(cleaned) = clean(&text) {
            res += db.run(set, &[&key, &cleaned])?;
        }
    }
    Ok(res)
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
