//! Vectors as plain blobs: stored with their model and length, never mixed across models.
//!
//! They are derived from what a memory says. Whatever changes that drops them, so a vector that is
//! there is one of the text that is there.

use std::collections::HashMap;

use model::{Grain, Memory, MemoryId};

use crate::Error;
use crate::query::{Db, Query, both};

/// What one model makes of one memory: a vector for each part of its text.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    pub owner: MemoryId,
    /// The version that was read. When there is a newer one by now, nothing is kept.
    pub version: u32,
    pub model: String,
    pub parts: Vec<Part>,
}

/// The vector of one part.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub grain: Grain,
    /// Empty for a sentence: its code is enough.
    pub values: Vec<f32>,
    /// The small integer code that is scanned; the values only rescore.
    pub code: Vec<i8>,
}

/// The vectors of several memories; those without any are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Vectors {
    pub of: HashMap<MemoryId, Vec<Part>>,
    /// Those of which a part is not what was written. They are derived, so that nothing is lost with
    /// them but what they would have said.
    pub damaged: Vec<MemoryId>,
}

/// The code of one part of a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    pub owner: MemoryId,
    pub grain: Grain,
    pub code: Vec<i8>,
}

#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] =
    &[&VERSION, &PUT, &DROP_OF_MODEL, &OF_OWNER, &CODES, &CODES_OF_OWNER, &LAST, &DROP_MODELS];

const VERSION: Query = both("version", "SELECT version FROM memories WHERE id = ?1");
const PUT: Query = both(
    "put_vector",
    "INSERT INTO embeddings (owner, model, part, grain, dims, vector, code) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
);
const DROP_OF_MODEL: Query =
    both("drop_vectors_of_model", "DELETE FROM embeddings WHERE owner = ?1 AND model = ?2");
const OF_OWNER: Query = both(
    "vectors_of_owner",
    "SELECT dims, vector, code, grain FROM embeddings WHERE owner = ?1 AND model = ?2 ORDER BY part",
);
const CODES: Query = both(
    "vector_codes",
    "SELECT owner, code, grain FROM embeddings WHERE model = ?1 AND n > ?2 ORDER BY n",
);
const CODES_OF_OWNER: Query = both(
    "vector_codes_of_owner",
    "SELECT code, grain FROM embeddings WHERE owner = ?1 AND model = ?2 ORDER BY part",
);
const LAST: Query =
    both("last_vector", "SELECT coalesce(max(n), 0) FROM embeddings WHERE model = ?1");
const DROP_MODELS: Query = both("drop_other_models", "DELETE FROM embeddings WHERE model <> ?1");

/// Keeps what a model made of a memory, in place of what it made before. Says whether it was kept:
/// a memory that has gone or changed meanwhile needs another vector.
pub(crate) fn put(db: &Db, embedding: &Embedding) -> Result<bool, Error> {
    let Embedding { owner, version, model, parts } = embedding;
    let broken = |it: &Part| {
        let bare = it.values.is_empty() && it.grain != Grain::Sentence;
        bare || it.code.is_empty() || it.values.iter().any(|it| !it.is_finite())
    };
    if parts.is_empty() || parts.iter().any(broken) {
        let what = format!("a vector of model `{model}` is empty or not finite");
        return Err(Error::Invalid { what });
    }
    let owner = owner.0.as_bytes().as_slice();
    if db.one(&VERSION, &[&owner], |row| row.get::<_, u32>(0))? != Some(*version) {
        return Ok(false);
    }
    db.run(&DROP_OF_MODEL, &[&owner, model])?;
    for (number, part) in (0_i64..).zip(parts) {
        let bytes: Vec<u8> = part.values.iter().flat_map(|it| it.to_le_bytes()).collect();
        let code: Vec<u8> = part.code.iter().map(|it| it.cast_unsigned()).collect();
        let dims = i64::try_from(part.values.len()).unwrap_or(i64::MAX);
        db.run(&PUT, &[&owner, model, &number, &part.grain.slug(), &dims, &bytes, &code])?;
    }
    Ok(true)
}

/// Whether what is embedded of a memory differs between two versions of it.
pub(crate) fn outdated(before: &Memory, after: &Memory) -> bool {
    before.content != after.content
        || before.kind != after.kind
        || before.files != after.files
        || before.modules != after.modules
}

pub(crate) fn get(db: &Db, owner: MemoryId, model: &str) -> Result<Vec<Part>, Error> {
    let what = "a vector is not finite or has another length than it says".to_owned();
    whole(db, owner, model)?.ok_or_else(|| Error::Damaged { path: db.path.clone(), what })
}

/// The vectors of a memory, unless one of them is damaged.
fn whole(db: &Db, owner: MemoryId, model: &str) -> Result<Option<Vec<Part>>, Error> {
    let rows = db.select(&OF_OWNER, &[&owner.0.as_bytes().as_slice(), &model], |row| {
        let (dims, grain) = (row.get::<_, i64>(0)?, row.get::<_, String>(3)?);
        Ok((dims, row.get::<_, Vec<u8>>(1)?, row.get::<_, Vec<u8>>(2)?, grain))
    })?;
    let mut res = Vec::with_capacity(rows.len());
    for (dims, bytes, code, grain) in rows {
        let values: Vec<f32> =
            bytes.as_chunks::<4>().0.iter().map(|it| f32::from_le_bytes(*it)).collect();
        let whole = bytes.len() % 4 == 0 && i64::try_from(values.len()) == Ok(dims);
        let grain = Grain::from_slug(&grain).filter(|_| whole);
        let Some(grain) = grain.filter(|_| values.iter().all(|it| it.is_finite())) else {
            return Ok(None);
        };
        res.push(Part { grain, values, code: signed(code) });
    }
    Ok(Some(res))
}

pub(crate) fn get_all(db: &Db, owners: &[MemoryId], model: &str) -> Result<Vectors, Error> {
    let mut res = Vectors::default();
    for owner in owners {
        match whole(db, *owner, model)? {
            Some(parts) if parts.is_empty() => {}
            Some(parts) => drop(res.of.insert(*owner, parts)),
            None => res.damaged.push(*owner),
        }
    }
    Ok(res)
}

/// The codes of a model that were written after number `after`, in order of writing.
pub(crate) fn codes_after(db: &Db, model: &str, after: i64) -> Result<Vec<Code>, Error> {
    let rows = db.select(&CODES, &[&model, &after], |row| {
        Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, Vec<u8>>(1)?, row.get::<_, String>(2)?))
    })?;
    let read = |(owner, code, grain): (Vec<u8>, Vec<u8>, String)| {
        let (owner, grain) = (MemoryId::from_bytes(&owner)?, Grain::from_slug(&grain)?);
        Some(Code { owner, grain, code: signed(code) })
    };
    Ok(rows.into_iter().filter_map(read).collect())
}

pub(crate) fn codes_of(db: &Db, owner: MemoryId, model: &str) -> Result<Vec<Code>, Error> {
    let params: [&dyn rusqlite::ToSql; 2] = [&owner.0.as_bytes().as_slice(), &model];
    let rows = db.select(&CODES_OF_OWNER, &params, |row| {
        Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, String>(1)?))
    })?;
    let read = |(code, grain): (Vec<u8>, String)| {
        Some(Code { owner, grain: Grain::from_slug(&grain)?, code: signed(code) })
    };
    Ok(rows.into_iter().filter_map(read).collect())
}

/// The number of the last vector of a model.
pub(crate) fn last(db: &Db, model: &str) -> Result<i64, Error> {
    db.number(&LAST, &[&model])
}

/// Drops the vectors of every model but this one; says how many there were.
pub(crate) fn drop_others(db: &Db, model: &str) -> Result<usize, Error> {
    db.run(&DROP_MODELS, &[&model])
}

fn signed(code: Vec<u8>) -> Vec<i8> {
    code.into_iter().map(u8::cast_signed).collect()
}
