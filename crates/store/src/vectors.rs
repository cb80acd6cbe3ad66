//! Vectors as plain blobs: stored with their model and length, never mixed across models.

use model::MemoryId;

use crate::Error;
use crate::query::{Db, Query, both};

/// An embedding of one memory (or, later, code chunk) by one model.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    pub owner: MemoryId,
    pub model: String,
    pub values: Vec<f32>,
    /// The small integer code that is scanned; the values only rescore.
    pub code: Vec<i8>,
}

#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[&PUT, &OF_OWNER, &CODES];

const PUT: Query = both(
    "put_vector",
    "INSERT INTO embeddings (owner, model, dims, vector, code) VALUES (?1, ?2, ?3, ?4, ?5) \
     ON CONFLICT (owner, model) DO UPDATE SET dims = excluded.dims, vector = excluded.vector, code = excluded.code",
);
const OF_OWNER: Query = both(
    "vector_of_owner",
    "SELECT dims, vector, code FROM embeddings WHERE owner = ?1 AND model = ?2",
);
const CODES: Query = both(
    "vector_codes",
    "SELECT owner, code FROM embeddings WHERE model = ?1 AND dims = ?2 ORDER BY n",
);

pub(crate) fn put(db: &Db, vector: &Vector) -> Result<(), Error> {
    if vector.values.is_empty() || vector.values.iter().any(|it| !it.is_finite()) {
        return Err(Error::Invalid {
            what: format!("a vector of model `{}` is empty or not finite", vector.model),
        });
    }
    let bytes: Vec<u8> = vector.values.iter().flat_map(|it| it.to_le_bytes()).collect();
    let code: Vec<u8> = vector.code.iter().map(|it| it.cast_unsigned()).collect();
    let dims = i64::try_from(vector.values.len()).unwrap_or(i64::MAX);
    db.run(&PUT, &[&vector.owner.0.as_bytes().as_slice(), &vector.model, &dims, &bytes, &code])
        .map(|_| ())
}

pub(crate) fn get(db: &Db, owner: MemoryId, model: &str) -> Result<Option<Vector>, Error> {
    let found = db.one(&OF_OWNER, &[&owner.0.as_bytes().as_slice(), &model], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?, row.get::<_, Vec<u8>>(2)?))
    })?;
    let Some((dims, bytes, code)) = found else {
        return Ok(None);
    };
    let values: Vec<f32> =
        bytes.as_chunks::<4>().0.iter().map(|it| f32::from_le_bytes(*it)).collect();
    let whole = bytes.len() % 4 == 0 && i64::try_from(values.len()) == Ok(dims);
    if !whole || values.iter().any(|it| !it.is_finite()) {
        let what = "a vector is not finite or has another length than it says".to_owned();
        return Err(Error::Damaged { path: db.path.clone(), what });
    }
    let code = code.into_iter().map(u8::cast_signed).collect();
    Ok(Some(Vector { owner, model: model.to_owned(), values, code }))
}

/// The codes of every vector of a model with this length, in order of writing.
pub(crate) fn codes(db: &Db, model: &str, dims: u32) -> Result<Vec<(MemoryId, Vec<i8>)>, Error> {
    let rows = db.select(&CODES, &[&model, &dims], |row| {
        Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, Vec<u8>>(1)?))
    })?;
    let signed = |code: Vec<u8>| code.into_iter().map(u8::cast_signed).collect();
    Ok(rows
        .into_iter()
        .filter_map(|(owner, code)| Some((MemoryId::from_bytes(&owner)?, signed(code))))
        .collect())
}
