//! The proof of an erasure: every byte of every file is searched for what is said to be gone, and
//! every database is opened and asked for it.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use model::Memory;
use store::Store;

use crate::Error;
use crate::texts::ever;

/// A search of the whole data folder, after the fact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    pub files: usize,
    pub bytes: u64,
    /// How many pieces of erased text were looked for. Zero: none was long enough to be told from
    /// chance, and what was found inside decides.
    pub pieces: usize,
    /// Files in which one was found; must be empty.
    pub found_in: Vec<PathBuf>,
    /// Whether a database is encrypted: its bytes show nothing, and what was found inside decides.
    pub encrypted: bool,
    /// Whether a database, opened and read, still holds what was erased; must be false.
    pub inside: bool,
}

impl Proof {
    /// Nothing was found, neither in the bytes nor inside.
    pub fn holds(&self) -> bool {
        self.found_in.is_empty() && !self.inside
    }
}

/// The length of the pieces looked for: long enough to be nobody else's, short enough to survive
/// a text being split over pages.
const PIECE: usize = 24;
/// A text shorter than this is found anywhere by chance and proves nothing.
const SHORTEST: usize = 8;

/// What a memory that stays also says is not a trace of an erased one.
pub(crate) async fn spare(pieces: &mut HashSet<Vec<u8>>, store: &Store) -> Result<(), Error> {
    if !store.exists() {
        return Ok(());
    }
    let lengths = lengths(pieces);
    for kept in ever(store).await? {
        for length in &lengths {
            kept.content.as_bytes().windows(*length).for_each(|it| drop(pieces.take(it)));
        }
    }
    Ok(())
}

/// Pieces of a memory's text that would betray it.
pub(crate) fn pieces_of(memory: &Memory) -> Vec<Vec<u8>> {
    let bytes = memory.content.as_bytes();
    if bytes.len() <= PIECE {
        return vec![bytes.to_vec()].into_iter().filter(|it| it.len() >= SHORTEST).collect();
    }
    bytes.windows(PIECE).step_by(PIECE / 2).map(<[u8]>::to_vec).collect()
}

/// Whether a store's file is encrypted; one that cannot be opened may well be.
pub(crate) async fn is_encrypted(store: &Store) -> bool {
    store.is_encrypted().await.map_or(true, |it| it.unwrap_or(false))
}

/// Looks for the pieces in every file below `root`, the folders in `beside` apart.
pub(crate) fn search_bytes(
    root: &Path,
    beside: &[PathBuf],
    pieces: &HashSet<Vec<u8>>,
) -> Result<Proof, Error> {
    let mut res = Proof { pieces: pieces.len(), ..Proof::default() };
    let mut todo = vec![root.to_owned()];
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                todo.extend(Some(path).filter(|it| !beside.contains(it)));
                continue;
            }
            let bytes = match store::read_in_use(&path) {
                Ok(bytes) => bytes,
                // It was in use, and has been closed.
                Err(_) if !path.exists() => continue,
                Err(error) => return Err(error.into()),
            };
            res.files += 1;
            res.bytes += bytes.len() as u64;
            if holds_any(&bytes, pieces) {
                res.found_in.push(path);
            }
        }
    }
    Ok(res)
}

/// One pass per piece length; most pieces share one.
fn holds_any(bytes: &[u8], pieces: &HashSet<Vec<u8>>) -> bool {
    lengths(pieces).into_iter().any(|length| bytes.windows(length).any(|it| pieces.contains(it)))
}

fn lengths(pieces: &HashSet<Vec<u8>>) -> HashSet<usize> {
    pieces.iter().map(Vec::len).filter(|it| *it > 0).collect()
}
