//! The high-water mark: how far the database had got, kept outside the database.
//!
//! A damaged log can make the database open cleanly with its newest changes missing. The mark is
//! written after every commit, so a database behind its mark has lost something, and the mark's
//! ring of recent changes says what.

use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use model::MemoryId;

use crate::{Error, os};

/// How many recent changes the mark can name.
const RING: usize = 64;
const MAGIC: &[u8; 8] = b"WLMARK1\n";
const ENTRY: usize = 24;
/// Magic, sequence, count, checksum.
const HEAD: usize = 8 + 8 + 8 + 16;

/// What the sidecar file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) seq: u64,
    /// The latest changes, oldest first.
    pub(crate) recent: Vec<(u64, MemoryId)>,
}

/// What reading the sidecar gave.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    Absent,
    Unreadable,
    Mark(Mark),
}

impl Mark {
    pub(crate) fn advance(&mut self, seq: u64, changed: &[(u64, MemoryId)]) {
        self.seq = self.seq.max(seq);
        self.recent.extend_from_slice(changed);
        let surplus = self.recent.len().saturating_sub(RING);
        self.recent.drain(..surplus);
    }

    /// Leaves out memories that are not to be known any more; says whether there were any.
    pub(crate) fn forget(&mut self, gone: impl Fn(MemoryId) -> bool) -> bool {
        let before = self.recent.len();
        self.recent.retain(|it| !gone(it.1));
        self.recent.len() < before
    }

    /// The memories changed from one number to another, as far as the ring still names them.
    pub(crate) fn within(&self, from: i64, to: i64) -> Vec<MemoryId> {
        let lies = |seq: u64| i64::try_from(seq).is_ok_and(|it| from <= it && it <= to);
        self.recent.iter().filter(|it| lies(it.0)).map(|it| it.1).collect()
    }

    /// Writes the whole mark with one call at the head of the file. Not synced: it only has to
    /// survive this process, and a mark that lags behind accuses nobody.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Error> {
        let failed = |it: std::io::Error| Error::io(path, &it);
        os::private_file(path).map_err(failed)?;
        let mut file = fs::OpenOptions::new().write(true).open(path).map_err(failed)?;
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        let bytes = self.encode();
        // What lies behind the mark would make it unreadable for good.
        file.write_all(&bytes).and_then(|()| file.set_len(bytes.len() as u64)).map_err(failed)
    }

    /// Reads beside a writer that holds no lock against it: what was caught half written is
    /// different when read again, what is damaged stays the same.
    pub(crate) fn read(path: &Path) -> Result<Reading, Error> {
        let mut bytes = content(path)?;
        loop {
            if bytes.is_empty() {
                return Ok(Reading::Absent);
            }
            if let Some(mark) = Self::decode(&bytes) {
                return Ok(Reading::Mark(mark));
            }
            let again = content(path)?;
            if again == bytes {
                return Ok(Reading::Unreadable);
            }
            bytes = again;
        }
    }

    fn encode(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(HEAD + RING * ENTRY);
        body.extend_from_slice(&self.seq.to_le_bytes());
        body.extend_from_slice(&(self.recent.len() as u64).to_le_bytes());
        for (seq, id) in &self.recent {
            body.extend_from_slice(&seq.to_le_bytes());
            body.extend_from_slice(id.0.as_bytes());
        }
        body.resize(16 + RING * ENTRY, 0);
        let mut res = MAGIC.to_vec();
        res.extend_from_slice(&blake3::hash(&body).as_bytes()[..16]);
        res.extend_from_slice(&body);
        res
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (magic, rest) = bytes.split_at_checked(8)?;
        let (sum, body) = rest.split_at_checked(16)?;
        if magic != MAGIC
            || body.len() != 16 + RING * ENTRY
            || blake3::hash(body).as_bytes()[..16] != *sum
        {
            return None;
        }
        let number = |at: usize| Some(u64::from_le_bytes(body.get(at..at + 8)?.try_into().ok()?));
        let count = usize::try_from(number(8)?).ok().filter(|it| *it <= RING)?;
        let mut recent = Vec::with_capacity(count);
        for i in 0..count {
            let at = 16 + i * ENTRY;
            recent.push((number(at)?, MemoryId::from_bytes(body.get(at + 8..at + ENTRY)?)?));
        }
        Some(Self { seq: number(0)?, recent })
    }
}

/// What the file holds; nothing when it is not there.
fn content(path: &Path) -> Result<Vec<u8>, Error> {
    let mut res = Vec::new();
    let read = fs::File::open(path).and_then(|it| it.take(1 << 16).read_to_end(&mut res));
    match read {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io(path, &error)),
        _ => Ok(res),
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
        assert_eq!(Mark::read(&path).unwrap(), Reading::Absent);
        let mut mark = Mark::default();
        for n in 1..=70_u8 {
            mark.advance(u64::from(n), &[(u64::from(n), id(n))]);
        }
        mark.write(&path).unwrap();
        assert_eq!(Mark::read(&path).unwrap(), Reading::Mark(mark.clone()));
        assert_eq!(mark.within(69, 90), vec![id(69), id(70)]);
        assert_eq!(mark.recent.len(), RING);
    }

    #[test]
    fn any_flipped_bit_makes_it_unreadable() {
        let mut mark = Mark::default();
        mark.advance(9, &[(9, id(1))]);
        let bytes = mark.encode();
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1;
            assert_eq!(Mark::decode(&flipped), None, "byte {at}");
        }
        assert_eq!(Mark::decode(&bytes[..40]), None);
    }
}
