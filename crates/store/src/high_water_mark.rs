//! The high-water mark: the last sequence number of a database, stored outside of it.
//!
//! A damaged log can make the database open cleanly with its newest changes missing. The mark is
//! written after every commit, so a database behind its mark has lost changes. The mark also lists
//! the latest changes, which shows what was lost.
//!
//! The file has a fixed length: magic, checksum, then a body of sequence number, number of changes,
//! and room for the changes. All numbers are little-endian.

use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use model::MemoryId;

use crate::{Error, os};

/// Recent changes that the mark lists.
const MAX_RECENT_CHANGES: usize = 64;
/// First bytes of the file; the digit is the version of the format.
const MAGIC: &[u8; 8] = b"WLMARK1\n";
/// Half a BLAKE3 hash: enough against accidents. Nothing here defends against forgery.
const CHECKSUM_BYTES: usize = 16;
/// Start of the body: sequence number and number of changes, eight bytes each.
const BODY_HEADER_BYTES: usize = 8 + 8;
/// One change: sequence number and id.
const ENTRY_BYTES: usize = 8 + 16;
const BODY_BYTES: usize = BODY_HEADER_BYTES + MAX_RECENT_CHANGES * ENTRY_BYTES;
/// Most bytes that are read. A longer file is damaged; reading on would not help.
const MAX_FILE_BYTES: u64 = 1 << 16;

/// Content of the mark file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HighWaterMark {
    pub(crate) seq: u64,
    /// The latest changes, oldest first.
    pub(crate) recent: Vec<(u64, MemoryId)>,
}

/// Result of reading the mark file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum MarkState {
    Absent,
    Unreadable,
    Valid(HighWaterMark),
}

impl HighWaterMark {
    /// Moves the mark forward and adds the changes up to it, dropping the oldest ones.
    pub(crate) fn advance(&mut self, seq: u64, changed: &[(u64, MemoryId)]) {
        self.seq = self.seq.max(seq);
        self.recent.extend_from_slice(changed);
        let surplus = self.recent.len().saturating_sub(MAX_RECENT_CHANGES);
        self.recent.drain(..surplus);
    }

    /// Removes the changes of memories that were erased, and returns whether there were any.
    pub(crate) fn remove_changes(&mut self, is_erased: impl Fn(MemoryId) -> bool) -> bool {
        let before = self.recent.len();
        self.recent.retain(|it| !is_erased(it.1));
        self.recent.len() < before
    }

    /// Memories changed between two sequence numbers, as far as the mark still lists them.
    pub(crate) fn changed_between(&self, from: i64, to: i64) -> Vec<MemoryId> {
        let is_between = |seq: u64| i64::try_from(seq).is_ok_and(|it| from <= it && it <= to);
        self.recent.iter().filter(|it| is_between(it.0)).map(|it| it.1).collect()
    }

    /// Writes the whole mark with one call at the start of the file. It is not synced: it only has
    /// to survive this process, and a mark that lags behind reports no loss.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Error> {
        let failed = |it: std::io::Error| Error::from_io(path, &it);
        os::private_file(path).map_err(failed)?;
        let mut file = fs::OpenOptions::new().write(true).open(path).map_err(failed)?;
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        let bytes = self.encode();
        // Bytes after the mark would make it unreadable for good.
        file.write_all(&bytes).and_then(|()| file.set_len(bytes.len() as u64)).map_err(failed)
    }

    /// Reads the mark without a lock. A mark caught half written reads differently the second time;
    /// a damaged one does not.
    pub(crate) fn read(path: &Path) -> Result<MarkState, Error> {
        let mut bytes = read_bytes(path)?;
        loop {
            if bytes.is_empty() {
                return Ok(MarkState::Absent);
            }
            if let Some(mark) = Self::decode(&bytes) {
                return Ok(MarkState::Valid(mark));
            }
            // A writer may be in the middle of it; its next state differs.
            let again = read_bytes(path)?;
            if again == bytes {
                return Ok(MarkState::Unreadable);
            }
            bytes = again;
        }
    }

    fn encode(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(BODY_BYTES);
        body.extend_from_slice(&self.seq.to_le_bytes());
        body.extend_from_slice(&(self.recent.len() as u64).to_le_bytes());
        for (seq, id) in &self.recent {
            body.extend_from_slice(&seq.to_le_bytes());
            body.extend_from_slice(id.0.as_bytes());
        }
        // Fixed length: a shorter mark is a damaged one.
        body.resize(BODY_BYTES, 0);
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&blake3::hash(&body).as_bytes()[..CHECKSUM_BYTES]);
        bytes.extend_from_slice(&body);
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (magic, rest) = bytes.split_at_checked(MAGIC.len())?;
        let (checksum, body) = rest.split_at_checked(CHECKSUM_BYTES)?;
        if magic != MAGIC
            || body.len() != BODY_BYTES
            || blake3::hash(body).as_bytes()[..CHECKSUM_BYTES] != *checksum
        {
            return None;
        }
        let number =
            |start: usize| Some(u64::from_le_bytes(body.get(start..start + 8)?.try_into().ok()?));
        // Checksum and version (in `MAGIC`) are right, so a higher count can only come from a bug: no mark.
        let count = usize::try_from(number(8)?).ok().filter(|it| *it <= MAX_RECENT_CHANGES)?;
        let mut recent = Vec::with_capacity(count);
        for position in 0..count {
            let start = BODY_HEADER_BYTES + position * ENTRY_BYTES;
            let id = MemoryId::from_bytes(body.get(start + 8..start + ENTRY_BYTES)?)?;
            recent.push((number(start)?, id));
        }
        Some(Self { seq: number(0)?, recent })
    }
}

/// Reads the file; a missing file reads as empty.
fn read_bytes(path: &Path) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|it| it.take(MAX_FILE_BYTES).read_to_end(&mut bytes));
    match read {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::from_io(path, &error))
        }
        _ => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Timestamp;

    fn id(n: u8) -> MemoryId {
        MemoryId::new(Timestamp(1), [n; 10])
    }

    #[test]
    fn a_mark_reads_back_and_keeps_the_latest() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("m.mark");
        assert_eq!(HighWaterMark::read(&path).unwrap(), MarkState::Absent);
        let mut mark = HighWaterMark::default();
        for n in 1..=70_u8 {
            mark.advance(u64::from(n), &[(u64::from(n), id(n))]);
        }
        mark.write(&path).unwrap();
        assert_eq!(HighWaterMark::read(&path).unwrap(), MarkState::Valid(mark.clone()));
        assert_eq!(mark.changed_between(69, 90), vec![id(69), id(70)]);
        assert_eq!(mark.recent.len(), MAX_RECENT_CHANGES);
    }

    #[test]
    fn a_mark_with_any_changed_byte_is_unreadable() {
        let mut mark = HighWaterMark::default();
        mark.advance(9, &[(9, id(1))]);
        let bytes = mark.encode();
        for position in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[position] ^= 1;
            assert_eq!(HighWaterMark::decode(&flipped), None, "byte {position}");
        }
        assert_eq!(HighWaterMark::decode(&bytes[..40]), None, "a file that was cut off");
    }
}
