//! Embedding vectors, stored as plain blobs with their model and length. Vectors of different
//! models are never mixed.
//!
//! A memory has one vector per part of its text. The *grain* is the kind of part: `Part` for the text
//! or a piece of it, `Sentence` for one sentence, `Code` for source code. A vector is stored as floats
//! (not that of a sentence) and as a *code* of one signed byte per dimension, which is enough to find
//! candidates. For example the values `[0.5, -0.25]` may have the code `[64, -32]`.
//!
//! Vectors are derived from the text, the type, the files and the modules of a memory, their *owner*.
//! `apply_batch.rs` deletes them when one of these changes, so a stored vector always belongs to the
//! stored memory.

use std::collections::HashMap;

use model::{Grain, Memory, MemoryId};

use crate::Error;
use crate::query::{Db, Query};
use crate::store_reader::StoreReader;

/// Embedding of one memory by one model: a vector per part of its text.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryEmbedding {
    pub owner: MemoryId,
    /// Version of the memory that was embedded. If there is a newer one, nothing is stored.
    pub version: u32,
    pub model: String,
    pub parts: Vec<VectorPart>,
}

/// Vector of one part of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorPart {
    pub grain: Grain,
    /// Empty for a sentence, which needs only its code.
    pub values: Vec<f32>,
    /// Quantised vector. All codes are scanned; the values only rescore the best.
    pub code: Vec<i8>,
}

/// Vectors of several memories. Memories without vectors are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemoryVectors {
    pub parts: HashMap<MemoryId, Vec<VectorPart>>,
    /// Memories with a damaged vector. Vectors can be computed again, so nothing is lost for good.
    pub damaged: Vec<MemoryId>,
}

/// Code of one part of a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorCode {
    pub owner: MemoryId,
    pub grain: Grain,
    pub code: Vec<i8>,
}

/// Queries about embedding vectors.
#[derive(Clone, Copy)]
pub struct VectorQueries<'a> {
    reader: &'a StoreReader,
}

impl<'a> VectorQueries<'a> {
    pub(crate) fn new(reader: &'a StoreReader) -> Self {
        Self { reader }
    }

    /// Reads the vectors of a memory by one model, one per part of its text.
    pub async fn get(self, owner: MemoryId, model: String) -> Result<Vec<VectorPart>, Error> {
        self.reader.read(move |db| select_parts(db, owner, &model)).await
    }

    /// Reads the vectors of several memories. Damaged ones are left out and listed.
    pub async fn get_many(
        self,
        owners: Vec<MemoryId>,
        model: String,
    ) -> Result<MemoryVectors, Error> {
        self.reader.read(move |db| select_parts_of_many(db, &owners, &model)).await
    }
}

/// Every statement of this file, for the tests that replay them on a server.
#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[
    &SELECT_MEMORY_VERSION,
    &INSERT_VECTOR,
    &DELETE_VECTORS_OF_MODEL,
    &SELECT_VECTORS,
    &SELECT_CODES_AFTER,
    &SELECT_CODES,
    &DELETE_OTHER_MODELS,
];

// `Query::shared` is a statement that local files and libSQL servers take alike.

/// The current version number of a memory.
const SELECT_MEMORY_VERSION: Query =
    Query::shared("version", "SELECT version FROM memories WHERE id = ?1");
/// Adds the vector of one part of a memory.
const INSERT_VECTOR: Query = Query::shared(
    "put_vector",
    "INSERT INTO embeddings (owner, model, part, grain, dims, vector, code) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
);
/// Deletes the vectors of a memory by one model.
const DELETE_VECTORS_OF_MODEL: Query = Query::shared(
    "drop_vectors_of_model",
    "DELETE FROM embeddings WHERE owner = ?1 AND model = ?2",
);
/// Vectors of a memory by one model, in the order of its parts.
const SELECT_VECTORS: Query = Query::shared(
    "vectors_of_owner",
    "SELECT dims, vector, code, grain FROM embeddings WHERE owner = ?1 AND model = ?2 ORDER BY part",
);
/// Codes of a model after a vector number, in the order of writing.
const SELECT_CODES_AFTER: Query = Query::shared(
    "vector_codes",
    "SELECT owner, code, grain FROM embeddings WHERE model = ?1 AND n > ?2 ORDER BY n",
);
/// Codes of a memory by one model.
const SELECT_CODES: Query = Query::shared(
    "vector_codes_of_owner",
    "SELECT code, grain FROM embeddings WHERE owner = ?1 AND model = ?2 ORDER BY part",
);
/// Deletes the vectors of all models but one.
const DELETE_OTHER_MODELS: Query =
    Query::shared("drop_other_models", "DELETE FROM embeddings WHERE model <> ?1");

/// Stores the embedding of a memory, replacing an earlier one of the same model. Returns `false` if
/// the memory is gone or changed meanwhile.
pub(crate) fn put_embedding(db: &Db, embedding: &MemoryEmbedding) -> Result<bool, Error> {
    let MemoryEmbedding { owner, version, model, parts } = embedding;
    let is_valid = |part: &VectorPart| {
        // A sentence needs only its code.
        let has_values = !part.values.is_empty() || part.grain == Grain::Sentence;
        let is_finite = part.values.iter().all(|it| it.is_finite());
        has_values && is_finite && !part.code.is_empty()
    };
    if parts.is_empty() || !parts.iter().all(is_valid) {
        let what = format!("a vector of model `{model}` is empty or not finite");
        return Err(Error::InvalidInput { what });
    }
    let owner = owner.0.as_bytes().as_slice();
    // Embedding takes seconds, during which the text may have changed.
    let current_version: Option<u32> =
        db.select_one(&SELECT_MEMORY_VERSION, &[&owner], |row| row.get(0))?;
    if current_version != Some(*version) {
        return Ok(false);
    }
    db.execute(&DELETE_VECTORS_OF_MODEL, &[&owner, model])?;
    for (number, part) in (0_i64..).zip(parts) {
        // Little endian on every platform: databases are copied between machines.
        let bytes: Vec<u8> = part.values.iter().flat_map(|it| it.to_le_bytes()).collect();
        let code: Vec<u8> = part.code.iter().map(|it| it.cast_unsigned()).collect();
        let dims = i64::try_from(part.values.len()).unwrap_or(i64::MAX);
        db.execute(
            &INSERT_VECTOR,
            &[&owner, model, &number, &part.grain.slug(), &dims, &bytes, &code],
        )?;
    }
    Ok(true)
}

/// Returns whether two versions of a memory differ in what is embedded.
pub(crate) fn is_embedding_outdated(before: &Memory, after: &Memory) -> bool {
    before.content != after.content
        || before.kind != after.kind
        || before.files != after.files
        || before.modules != after.modules
}

/// Selects the vectors of a memory. A damaged vector is an error.
pub(crate) fn select_parts(
    db: &Db,
    owner: MemoryId,
    model: &str,
) -> Result<Vec<VectorPart>, Error> {
    let what = "a vector is not finite or has another length than it says".to_owned();
    select_undamaged_parts(db, owner, model)?
        .ok_or_else(|| Error::Damaged { path: db.path.clone(), what })
}

/// Selects the vectors of a memory; `None` if one of them is damaged.
fn select_undamaged_parts(
    db: &Db,
    owner: MemoryId,
    model: &str,
) -> Result<Option<Vec<VectorPart>>, Error> {
    let rows = db.select(&SELECT_VECTORS, &[&owner.0.as_bytes().as_slice(), &model], |row| {
        let (dims, grain) = (row.get::<_, i64>(0)?, row.get::<_, String>(3)?);
        Ok((dims, row.get::<_, Vec<u8>>(1)?, row.get::<_, Vec<u8>>(2)?, grain))
    })?;
    let mut parts = Vec::with_capacity(rows.len());
    for (dims, bytes, code, grain) in rows {
        // Four bytes per float; `is_complete` below rejects a rest.
        let (chunks, _) = bytes.as_chunks::<4>();
        let values: Vec<f32> = chunks.iter().map(|it| f32::from_le_bytes(*it)).collect();
        // Rows of vectors have no hash; length and finiteness are the checks there are.
        let is_complete = bytes.len() % 4 == 0 && i64::try_from(values.len()) == Ok(dims);
        let is_finite = values.iter().all(|it| it.is_finite());
        if !is_complete || !is_finite {
            return Ok(None);
        }
        let Some(grain) = Grain::from_slug(&grain) else { return Ok(None) };
        parts.push(VectorPart { grain, values, code: to_signed_bytes(code) });
    }
    Ok(Some(parts))
}

/// Selects the vectors of several memories, and lists those with a damaged vector.
pub(crate) fn select_parts_of_many(
    db: &Db,
    owners: &[MemoryId],
    model: &str,
) -> Result<MemoryVectors, Error> {
    let mut vectors = MemoryVectors::default();
    for owner in owners {
        match select_undamaged_parts(db, *owner, model)? {
            // Not embedded yet.
            Some(parts) if parts.is_empty() => {}
            Some(parts) => {
                vectors.parts.insert(*owner, parts);
            }
            None => vectors.damaged.push(*owner),
        }
    }
    Ok(vectors)
}

/// Selects the codes of a model written after number `after`, in the order of writing.
pub(crate) fn codes_after(db: &Db, model: &str, after: i64) -> Result<Vec<VectorCode>, Error> {
    let rows = db.select(&SELECT_CODES_AFTER, &[&model, &after], |row| {
        Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, Vec<u8>>(1)?, row.get::<_, String>(2)?))
    })?;
    let mut codes = Vec::with_capacity(rows.len());
    for (owner, code, grain) in rows {
        // A malformed row is left out: its memory is then not found by this vector.
        if let (Some(owner), Some(grain)) = (MemoryId::from_bytes(&owner), Grain::from_slug(&grain))
        {
            codes.push(VectorCode { owner, grain, code: to_signed_bytes(code) });
        }
    }
    Ok(codes)
}

/// Selects the codes of one memory by a model.
pub(crate) fn codes_of(db: &Db, owner: MemoryId, model: &str) -> Result<Vec<VectorCode>, Error> {
    let params: [&dyn rusqlite::ToSql; 2] = [&owner.0.as_bytes().as_slice(), &model];
    let rows = db.select(&SELECT_CODES, &params, |row| {
        Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, String>(1)?))
    })?;
    let mut codes = Vec::with_capacity(rows.len());
    for (code, grain) in rows {
        // An unknown grain is left out, as above.
        if let Some(grain) = Grain::from_slug(&grain) {
            codes.push(VectorCode { owner, grain, code: to_signed_bytes(code) });
        }
    }
    Ok(codes)
}

/// Deletes the vectors of all other models, and returns how many there were.
pub(crate) fn delete_other_models(db: &Db, model: &str) -> Result<usize, Error> {
    db.execute(&DELETE_OTHER_MODELS, &[&model])
}

fn to_signed_bytes(code: Vec<u8>) -> Vec<i8> {
    code.into_iter().map(u8::cast_signed).collect()
}
