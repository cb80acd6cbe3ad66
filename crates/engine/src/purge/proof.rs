//! Proof of an erasure: every byte of every file is searched for the erased text, and every
//! database is opened and queried for it.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use model::Memory;
use store::StoreReader;

use crate::Error;
use crate::memory_texts::list_all_versions;

/// Result of a search of the whole data folder after an erasure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErasureProof {
    pub files: usize,
    pub bytes: u64,
    /// Number of pieces of erased text that were searched for. If zero, no text was long enough to
    /// be told from coincidence, and only the query of the database counts.
    pub pieces: usize,
    /// Files in which a piece was found. Must be empty.
    pub found_in: Vec<PathBuf>,
    /// A database is encrypted: its bytes prove nothing, and only the query of the database counts.
    pub is_encrypted: bool,
    /// A database still returns erased text. Must be false.
    pub found_in_database: bool,
}

impl ErasureProof {
    /// Returns whether nothing was found, neither in the bytes nor in a database.
    pub fn holds(&self) -> bool {
        self.found_in.is_empty() && !self.found_in_database
    }
}

/// Bytes of a piece: long enough not to occur by coincidence, short enough that a text split over
/// database pages still contains whole pieces.
const PIECE_BYTES: usize = 24;
/// Shorter texts occur anywhere by coincidence and prove nothing.
const MIN_PIECE_BYTES: usize = 8;

/// Drops the pieces that a remaining memory contains as well: they are no trace of an erased one.
pub(crate) async fn drop_surviving_pieces(
    pieces: &mut HashSet<Vec<u8>>,
    store: &StoreReader,
) -> Result<(), Error> {
    if !store.exists() {
        return Ok(());
    }
    let lengths = piece_lengths(pieces);
    for memory in list_all_versions(store).await? {
        for length in &lengths {
            memory.content.as_bytes().windows(*length).for_each(|it| drop(pieces.take(it)));
        }
    }
    Ok(())
}

/// Splits a memory's text into overlapping pieces to search for.
pub(crate) fn text_pieces(memory: &Memory) -> Vec<Vec<u8>> {
    let bytes = memory.content.as_bytes();
    if bytes.len() <= PIECE_BYTES {
        let is_long_enough = bytes.len() >= MIN_PIECE_BYTES;
        return is_long_enough.then(|| bytes.to_vec()).into_iter().collect();
    }
    // Half a piece apart: wherever a text is cut, one side of the cut holds a whole piece.
    bytes.windows(PIECE_BYTES).step_by(PIECE_BYTES / 2).map(<[u8]>::to_vec).collect()
}

/// Returns whether a store's file is encrypted. One that cannot be opened counts as encrypted.
pub(crate) async fn is_encrypted(store: &StoreReader) -> bool {
    store.is_encrypted().await.map_or(true, |it| it.unwrap_or(false))
}

/// Searches every file below `root` for the pieces, except in the folders `excluded`.
pub(crate) fn search_files(
    root: &Path,
    excluded: &[PathBuf],
    pieces: &HashSet<Vec<u8>>,
) -> Result<ErasureProof, Error> {
    let mut proof = ErasureProof { pieces: pieces.len(), ..ErasureProof::default() };
    let mut pending = vec![root.to_owned()];
    while let Some(dir) = pending.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                pending.extend(Some(path).filter(|it| !excluded.contains(it)));
                continue;
            }
            let bytes = match store::read_open_database(&path) {
                Ok(bytes) => bytes,
                // SQLite removed a log or lock file after the listing.
                Err(_) if !path.exists() => continue,
                Err(error) => return Err(error.into()),
            };
            proof.files += 1;
            proof.bytes += bytes.len() as u64;
            if contains_any_piece(&bytes, pieces) {
                proof.found_in.push(path);
            }
        }
    }
    Ok(proof)
}

/// One pass over the bytes per piece length; nearly all pieces share one.
fn contains_any_piece(bytes: &[u8], pieces: &HashSet<Vec<u8>>) -> bool {
    let contains = |length: usize| bytes.windows(length).any(|it| pieces.contains(it));
    piece_lengths(pieces).into_iter().any(contains)
}

fn piece_lengths(pieces: &HashSet<Vec<u8>>) -> HashSet<usize> {
    pieces.iter().map(Vec::len).filter(|it| *it > 0).collect()
}
