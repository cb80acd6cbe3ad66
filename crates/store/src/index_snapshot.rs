//! The snapshot of a search index: one file beside the database (extension `index`), so that a process
//! need not read every row before its first search.
//!
//! The content is the caller's; this file guards it. A snapshot is valid for one model and for the
//! database it was made from, up to its position: the delta since that position brings it up to date.
//! A file that is damaged, foreign or outdated is treated like a missing one.
//!
//! ```text
//! magic | BLAKE3 of the rest | position | lineage | length and name of the model | content
//! ```
//!
//! With a key, all of that is sealed with ChaCha20-Poly1305 behind a magic of its own.
//!
//! An erasure removes the file, and no process may bring it back from an index it read before. So a
//! snapshot is written in three steps: with the write lock held, the position is checked and an empty
//! scratch file (extension `indexing`) is created; the scratch file is filled without a lock; with the
//! lock held again, the position is checked and the file is renamed. An erasure removes the scratch
//! file, too.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::ops::Range;
use std::path::PathBuf;

use model::MemoryId;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};

use crate::data_dir::DatabasePaths;
use crate::database_state::DatabaseState;
use crate::index_delta::{self, IndexPosition};
use crate::query::{Db, Query};
use crate::{EncryptionKey, Error, line_seal, os};

/// Extension of the snapshot.
pub(crate) const SNAPSHOT_EXTENSION: &str = "index";
/// Extension of a snapshot that is being written.
pub(crate) const SCRATCH_EXTENSION: &str = "indexing";

/// First bytes of a plain snapshot; the digit is the version of the format.
const PLAIN_MAGIC: &[u8; 8] = b"WLINDEX1";
/// First bytes of a sealed snapshot.
const SEALED_MAGIC: &[u8; 8] = b"WLISEAL1";
const CHECKSUM_BYTES: usize = 32;
const ID_BYTES: usize = 16;
/// Purpose of the derived key; part of the format.
const KEY_CONTEXT: &str = "waylore 2026-11-18 sealed index snapshot";

/// Every statement of this file, for the tests that replay them on a server.
#[cfg(feature = "replay")]
pub(crate) const STATEMENTS: &[&Query] = &[&SELECT_LAST_BATCH, &SELECT_LAST_CHANGE];

/// The last batch up to a sequence number, and its clock reading.
const SELECT_LAST_BATCH: Query = Query::shared(
    "last_batch",
    "SELECT batch, hlc FROM audit WHERE batch <= ?1 ORDER BY batch DESC LIMIT 1",
);

/// The last change up to a sequence number, and its memory.
const SELECT_LAST_CHANGE: Query = Query::shared(
    "last_change",
    "SELECT seq, id FROM changes WHERE seq <= ?1 ORDER BY seq DESC LIMIT 1",
);

/// A snapshot as it was read: its position, and the content within the bytes of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexSnapshot {
    pub position: IndexPosition,
    bytes: Vec<u8>,
    content: Range<usize>,
}

impl IndexSnapshot {
    /// The content as the caller wrote it.
    pub fn content(&self) -> &[u8] {
        &self.bytes[self.content.clone()]
    }
}

/// Fingerprint of the last batch and the last change at a position. Two databases that went different
/// ways to the same sequence number differ in it.
type LineageHash = [u8; CHECKSUM_BYTES];

/// Reads the snapshot of a model, if there is one that fits this database.
pub(crate) fn read_snapshot(
    state: &DatabaseState,
    db: &Db,
    model: &str,
) -> Result<Option<IndexSnapshot>, Error> {
    let Some((bytes, header)) = read_file(state) else { return Ok(None) };
    let fits = header.model == model
        && header.lineage == hash_lineage(db, header.position.seq)?
        && index_delta::is_known_position(db, &header.position)?;
    if !fits {
        return Ok(None);
    }
    Ok(Some(IndexSnapshot { position: header.position, content: header.content, bytes }))
}

/// Removes the snapshot and one that is being written. The caller holds the write lock.
pub(crate) fn remove_snapshot(paths: &DatabasePaths) -> Result<(), Error> {
    for extension in [SNAPSHOT_EXTENSION, SCRATCH_EXTENSION] {
        let path = paths.with_extension(extension);
        os::remove_file_if_exists(&path).map_err(|it| Error::from_io(&path, &it))?;
    }
    Ok(())
}

/// Returns whether a snapshot names one of the memories. A file that cannot be read is of no use to an
/// index, but it may hold anything.
pub(crate) fn has_snapshot_of(state: &DatabaseState, ids: &[MemoryId]) -> bool {
    let names_one =
        |bytes: &[u8]| ids.iter().any(|id| bytes.windows(ID_BYTES).any(|it| it == id.0.as_bytes()));
    // A sealed scratch file cannot be opened before it is complete. None is older than the last
    // erasure, which removes it.
    let scratch = fs::read(state.paths.with_extension(SCRATCH_EXTENSION)).unwrap_or_default();
    if names_one(&scratch) {
        return true;
    }
    match read_file(state) {
        Some((bytes, header)) => names_one(&bytes[header.content]),
        None => state.paths.with_extension(SNAPSHOT_EXTENSION).exists(),
    }
}

/// A snapshot that is being written.
pub(crate) struct SnapshotWriter {
    scratch: PathBuf,
    target: PathBuf,
    file: File,
    header: Vec<u8>,
    key: Option<LessSafeKey>,
}

impl SnapshotWriter {
    /// Creates the scratch file; `None` if the database has moved on so that the position is not valid
    /// any more. The caller holds the write lock.
    pub(crate) fn begin(
        state: &DatabaseState,
        db: &Db,
        position: &IndexPosition,
        model: &str,
    ) -> Result<Option<Self>, Error> {
        // A process without the key must not leave plain text beside encrypted data.
        line_seal::prepare_to_write(&state.paths.data_dir(), state.key.as_ref())?;
        if !index_delta::is_known_position(db, position)? {
            return Ok(None);
        }
        let scratch = state.paths.with_extension(SCRATCH_EXTENSION);
        // Left by a process that was killed, or of another process, which then gives up.
        let created = os::remove_file_if_exists(&scratch)
            .and_then(|()| os::private_file(&scratch))
            .and_then(|()| OpenOptions::new().write(true).open(&scratch));
        Ok(Some(Self {
            file: created.map_err(|it| Error::from_io(&scratch, &it))?,
            scratch,
            target: state.paths.with_extension(SNAPSHOT_EXTENSION),
            header: encode_header(position, &hash_lineage(db, position.seq)?, model),
            key: state.key.as_ref().map(|it| derive_key(it, &state.paths)),
        }))
    }

    /// Writes the content, and removes the file if that fails. Needs no lock and is not synced: a file
    /// that a power failure cut off fails its checksum.
    pub(crate) fn fill(mut self, content: &[u8]) -> Result<Self, Error> {
        let parts = match &self.key {
            None => {
                let mut hasher = blake3::Hasher::new();
                hasher.update(&self.header).update(content);
                let checksum = hasher.finalize().as_bytes().to_vec();
                Ok([PLAIN_MAGIC.to_vec(), checksum, self.header.clone(), Vec::new()])
            }
            Some(key) => {
                let mut sealed = [&self.header, content].concat();
                seal_bytes(key, &mut sealed)
                    .map(|nonce| [SEALED_MAGIC.to_vec(), nonce.to_vec(), Vec::new(), sealed])
            }
        };
        let plain = if self.key.is_none() { content } else { &[] };
        let written = parts.and_then(|parts| {
            parts
                .iter()
                .map(Vec::as_slice)
                .chain([plain])
                .try_for_each(|it| self.file.write_all(it))
        });
        match written {
            Ok(()) => Ok(self),
            Err(error) => {
                if os::is_at(&self.file, &self.scratch) {
                    // The first error is returned; the next snapshot removes a leftover.
                    let _ = fs::remove_file(&self.scratch);
                }
                Err(Error::from_io(&self.scratch, &error))
            }
        }
    }

    /// Puts the file into its place. Returns whether it was still wanted: meanwhile an erasure may
    /// have removed it, or another process may have replaced it. The caller holds the write lock.
    pub(crate) fn finish(self, db: &Db, position: &IndexPosition) -> Result<bool, Error> {
        if !os::is_at(&self.file, &self.scratch) {
            return Ok(false);
        }
        let io = |it: io::Error| Error::from_io(&self.scratch, &it);
        if !index_delta::is_known_position(db, position)? {
            os::remove_file_if_exists(&self.scratch).map_err(io)?;
            return Ok(false);
        }
        fs::rename(&self.scratch, &self.target).map_err(io)?;
        Ok(true)
    }
}

/// The header of a snapshot.
struct SnapshotHeader {
    position: IndexPosition,
    lineage: LineageHash,
    model: String,
    /// The content within the bytes that were decoded.
    content: Range<usize>,
}

/// Reads and checks the file; `None` if it is missing, damaged or sealed with another key.
fn read_file(state: &DatabaseState) -> Option<(Vec<u8>, SnapshotHeader)> {
    let path = state.paths.with_extension(SNAPSHOT_EXTENSION);
    let mut bytes = fs::read(path).ok()?;
    let start = match &state.key {
        None => {
            let rest = bytes.strip_prefix(PLAIN_MAGIC)?;
            let (checksum, body) = rest.split_first_chunk::<CHECKSUM_BYTES>()?;
            if blake3::hash(body) != *checksum {
                return None;
            }
            PLAIN_MAGIC.len() + CHECKSUM_BYTES
        }
        Some(key) => {
            let start = SEALED_MAGIC.len() + NONCE_LEN;
            let (head, body) = bytes.split_at_mut_checked(start)?;
            let nonce = Nonce::try_assume_unique_for_key(head.strip_prefix(SEALED_MAGIC)?).ok()?;
            let key = derive_key(key, &state.paths);
            let n_opened = key.open_in_place(nonce, Aad::empty(), body).ok()?.len();
            // The tag stands behind the text.
            bytes.truncate(start + n_opened);
            start
        }
    };
    let header = decode_header(&bytes, start)?;
    Some((bytes, header))
}

fn hash_lineage(db: &Db, seq: i64) -> Result<LineageHash, Error> {
    let batch = db.select_one(&SELECT_LAST_BATCH, &[&seq], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
    })?;
    let change = db.select_one(&SELECT_LAST_CHANGE, &[&seq], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, Option<Vec<u8>>>(1)?))
    })?;
    // The debug form tells missing values from empty ones.
    Ok(*blake3::hash(format!("{batch:?} {change:?}").as_bytes()).as_bytes())
}

/// Encodes everything between the checksum and the content.
fn encode_header(position: &IndexPosition, lineage: &LineageHash, model: &str) -> Vec<u8> {
    let mut acc = Vec::new();
    let (device, inode) = position.file.unwrap_or_default();
    // Zero where the system cannot tell one file from another.
    acc.extend([u8::from(position.file.is_some())]);
    acc.extend(device.to_le_bytes());
    acc.extend(inode.to_le_bytes());
    for number in [position.seq, position.epoch, position.last_vector] {
        acc.extend(number.to_le_bytes());
    }
    acc.extend(lineage);
    acc.extend((model.len() as u64).to_le_bytes());
    acc.extend(model.as_bytes());
    acc
}

/// Decodes the header that begins at `start`.
fn decode_header(bytes: &[u8], start: usize) -> Option<SnapshotHeader> {
    let (&[has_file], mut rest) = bytes.get(start..)?.split_first_chunk::<1>()?;
    let mut next_number = || {
        let (number, after) = rest.split_first_chunk::<8>()?;
        rest = after;
        Some(u64::from_le_bytes(*number))
    };
    let file = (next_number()?, next_number()?);
    let mut next_signed = || next_number().map(u64::cast_signed);
    let (seq, epoch, last_vector) = (next_signed()?, next_signed()?, next_signed()?);
    let (lineage, rest) = rest.split_first_chunk::<CHECKSUM_BYTES>()?;
    let (model_bytes, rest) = rest.split_first_chunk::<8>()?;
    let model_bytes = usize::try_from(u64::from_le_bytes(*model_bytes)).ok()?;
    let model = rest.get(..model_bytes)?;
    Some(SnapshotHeader {
        position: IndexPosition { file: (has_file == 1).then_some(file), seq, epoch, last_vector },
        lineage: *lineage,
        model: String::from_utf8(model.to_vec()).ok()?,
        content: bytes.len() - rest.len() + model_bytes..bytes.len(),
    })
}

/// The key of the snapshot of one database: bound to the name of its file.
fn derive_key(key: &EncryptionKey, paths: &DatabasePaths) -> LessSafeKey {
    let path = paths.with_extension(SNAPSHOT_EXTENSION);
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let derived = blake3::keyed_hash(&key.derive(KEY_CONTEXT), name);
    let unbound = UnboundKey::new(&CHACHA20_POLY1305, derived.as_bytes());
    LessSafeKey::new(unbound.expect("a BLAKE3 hash has the 32 bytes of a key"))
}

/// Seals bytes in place and returns the nonce.
fn seal_bytes(key: &LessSafeKey, bytes: &mut Vec<u8>) -> io::Result<[u8; NONCE_LEN]> {
    let refused = |_| io::Error::other("the index snapshot cannot be encrypted");
    let mut nonce = [0; NONCE_LEN];
    SystemRandom::new().fill(&mut nonce).map_err(refused)?;
    key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), bytes)
        .map_err(refused)?;
    Ok(nonce)
}
