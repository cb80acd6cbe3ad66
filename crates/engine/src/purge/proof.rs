//! Erasure proof: searches every byte of every file in the data folder for pieces of the erased
//! text.
//!
//! A piece is a short window of the text (n-gram). Pieces are used instead of whole texts because a
//! database may split a text over several pages. Pieces that remaining memories contain as well are
//! no evidence and dropped. Bytes of encrypted databases prove nothing; for them the purge queries
//! the database instead.

use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use model::Memory;
use store::StoreReader;

use crate::Error;
use crate::memory_texts::list_all_versions;

/// Result of a search of the whole data folder after an erasure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErasureProof {
    /// Number of files that were searched.
    pub files: usize,
    /// Their total size.
    pub bytes: u64,
    /// Number of pieces that were searched for. If zero, all texts were too short to rule out
    /// coincidence or are in remaining memories too, and only the query of the database counts.
    pub pieces: usize,
    /// Files in which a piece was found. Must be empty.
    pub found_in: Vec<PathBuf>,
    /// A database is encrypted, so its bytes prove nothing and only the query of the database
    /// counts.
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

/// Length of a piece: long enough not to occur by coincidence, short enough that a text split over
/// database pages still contains whole pieces.
const PIECE_BYTES: usize = 24;
/// Shortest text that is searched for. Shorter ones occur anywhere by coincidence.
const MIN_PIECE_BYTES: usize = 8;

/// Drops the pieces that a remaining memory contains as well, because finding them proves nothing.
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
            for window in memory.content.as_bytes().windows(*length) {
                pieces.remove(window);
            }
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
    // The pieces overlap by half: wherever a text of twice the length of a piece, or more, is cut in
    // two, one side then holds a whole piece.
    bytes.windows(PIECE_BYTES).step_by(PIECE_BYTES / 2).map(<[u8]>::to_vec).collect()
}

/// Returns whether a store's file is encrypted. One that cannot be opened counts as encrypted: its
/// bytes prove nothing either.
pub(crate) async fn is_encrypted(store: &StoreReader) -> bool {
    match store.is_encrypted().await {
        Ok(Some(is_encrypted)) => is_encrypted,
        // There is no file.
        Ok(None) => false,
        Err(_) => true,
    }
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
        let unreadable = |it| Error::from(source::Error::from_io(&dir, it));
        let entries = match fs::read_dir(&dir) {
            Ok(entries) => entries,
            // Everything was erased, or another process removed the folder after the listing.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            // A folder that cannot be listed may hold the text, so there is no proof.
            Err(error) => return Err(unreadable(error)),
        };
        for entry in entries {
            let path = entry.map_err(unreadable)?.path();
            if path.is_dir() {
                if !excluded.contains(&path) {
                    pending.push(path);
                }
                continue;
            }
            // Sockets and pipes hold no text. The socket of a daemon that was killed stays behind, and
            // a pipe would block.
            if path.exists() && !path.is_file() {
                continue;
            }
            // Reads databases in a way that does not disturb the locks of open connections.
            let bytes = match store::read_open_database(&path) {
                Ok(bytes) => bytes,
                // SQLite removed a log file after the listing.
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

/// Returns the lengths that occur, without 0, for which `windows` panics.
fn piece_lengths(pieces: &HashSet<Vec<u8>>) -> HashSet<usize> {
    pieces.iter().map(Vec::len).filter(|it| *it > 0).collect()
}

/// Searches with one pass over the bytes per piece length; nearly all pieces have the same.
fn contains_any_piece(bytes: &[u8], pieces: &HashSet<Vec<u8>>) -> bool {
    let contains = |length: usize| bytes.windows(length).any(|it| pieces.contains(it));
    piece_lengths(pieces).into_iter().any(contains)
}
