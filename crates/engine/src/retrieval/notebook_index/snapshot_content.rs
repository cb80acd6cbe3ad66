//! The content of an index snapshot: a [`NotebookIndex`] as bytes, so that a process need not read
//! every row of the database before its first search.
//!
//! The store keeps the bytes, checks them and adds the position. Only what comes from the database is
//! written: statistics, caches and clusters are computed again. Facets have a fixed length, so they
//! are read in one pass. All numbers are little-endian.
//!
//! ```text
//! layout | dimensions | kinds | branches | facets by number | rows of codes | rows of sentences
//! ```

use model::{MemoryId, MemoryScope, MemorySource, MemoryStatus, SessionId};
use recall::{QuantizedVectors, VectorStats};
use store::IndexPosition;

use super::{MemoryFacets, NotebookIndex, SlugIds};

/// Version of the format. Change it with every change of the bytes or of their meaning.
const FORMAT_VERSION: &str = "1";
/// Bytes of the facets of one number.
const FACET_BYTES: usize = 16 + 16 + 4 + 2 + 2 + 4;

/// Flags of a facet.
const IN_USE_FLAG: u8 = 1;
const PINNED_FLAG: u8 = 1 << 1;
const SESSION_FLAG: u8 = 1 << 2;
const SOURCE_CODE_FLAG: u8 = 1 << 3;

impl NotebookIndex {
    /// Writes the index as bytes; `None` if it has more types or branches than ids.
    pub(crate) fn to_snapshot(&self) -> Option<Vec<u8>> {
        let mut acc = Vec::with_capacity(self.facets.len() * FACET_BYTES);
        acc.extend(layout_fingerprint());
        append_length(&mut acc, self.codes.dims());
        for slugs in [&self.kinds, &self.branches] {
            append_slugs(&mut acc, slugs)?;
        }
        append_length(&mut acc, self.facets.len());
        for (facets, number) in self.facets.iter().zip(0..) {
            // Not a facet: the index keeps it in a set beside the codes.
            let code_flag = if self.is_source_code(number) { SOURCE_CODE_FLAG } else { 0 };
            match facets {
                Some(it) => append_facets(&mut acc, it, code_flag),
                None => acc.extend([0; FACET_BYTES]),
            }
        }
        for rows in [&self.codes, &self.sentences] {
            let length_at = acc.len();
            acc.extend([0; 8]);
            rows.append_bytes(&mut acc);
            let length = (acc.len() - length_at - 8) as u64;
            acc[length_at..length_at + 8].copy_from_slice(&length.to_le_bytes());
        }
        Some(acc)
    }

    /// Reads an index of `dims` dimensions; `None` if the bytes are not those of this version.
    pub(crate) fn from_snapshot(
        model: &str,
        dims: usize,
        position: IndexPosition,
        content: &[u8],
    ) -> Option<Self> {
        let mut bytes = SnapshotBytes(content);
        let mut index = Self::new(model, dims);
        if bytes.take(16)? != layout_fingerprint() || bytes.take_length()? != dims {
            return None;
        }
        index.kinds = read_slugs(&mut bytes)?;
        index.branches = read_slugs(&mut bytes)?;
        let n_facets = bytes.take_length()?;
        let facets = bytes.take(n_facets.checked_mul(FACET_BYTES)?)?;
        index.put_facets(facets.as_chunks::<FACET_BYTES>().0)?;
        for is_sentences in [false, true] {
            let length = bytes.take_length()?;
            let rows = QuantizedVectors::from_bytes(dims, bytes.take(length)?)?;
            *(if is_sentences { &mut index.sentences } else { &mut index.codes }) = rows;
        }
        if !bytes.0.is_empty() {
            return None;
        }
        index.vector_stats = VectorStats::from_codes(&index.codes);
        index.unembedded = index.list_unembedded();
        index.position = Some(position);
        Some(index)
    }

    /// Fills the columns, totals and lists from the facets of all numbers.
    fn put_facets(&mut self, all: &[[u8; FACET_BYTES]]) -> Option<()> {
        self.facets = Vec::with_capacity(all.len());
        self.numbers.reserve(all.len());
        for (bytes, number) in all.iter().zip(0_u32..) {
            let flags = bytes[FACET_BYTES - 1];
            if flags & IN_USE_FLAG == 0 {
                self.facets.push(None);
                continue;
            }
            let facets = read_facets(bytes)?;
            self.n_texts += u64::from(facets.n_words > 0);
            self.n_words += u64::from(facets.n_words);
            self.numbers.insert(facets.id, number);
            if let Some(session) = facets.session {
                // In the order of numbers, which is the order of the lists.
                self.sessions.entry(session).or_default().push(number);
            }
            if flags & SOURCE_CODE_FLAG != 0 {
                self.source_code_memories.insert(number);
            }
            self.facets.push(Some(facets));
        }
        Some(())
    }
}

/// Fingerprint of the format and of the enums whose positions it holds: a new variant in the middle of
/// an enum makes older snapshots unreadable.
fn layout_fingerprint() -> [u8; 16] {
    let statuses = MemoryStatus::ALL.iter().map(|it| it.slug());
    let sources = MemorySource::ALL.iter().map(|it| it.slug());
    let scopes = MemoryScope::ALL.iter().map(|it| it.slug());
    let words: Vec<&str> =
        [FORMAT_VERSION].into_iter().chain(statuses).chain(sources).chain(scopes).collect();
    let fingerprint = model::fingerprint_text(&words.join(" "));
    // Sixteen hexadecimal digits.
    let mut acc = [0; 16];
    acc.iter_mut().zip(fingerprint.bytes()).for_each(|(to, from)| *to = from);
    acc
}

fn append_length(acc: &mut Vec<u8>, length: usize) {
    acc.extend((length as u64).to_le_bytes());
}

fn append_slugs(acc: &mut Vec<u8>, slugs: &SlugIds) -> Option<()> {
    let mut sorted: Vec<(u16, &str)> = slugs.ids.iter().map(|(it, id)| (*id, &**it)).collect();
    sorted.sort_unstable();
    // Beyond the last id several strings share it.
    if sorted.len() >= usize::from(u16::MAX) {
        return None;
    }
    append_length(acc, sorted.len());
    for (_, slug) in sorted {
        append_length(acc, slug.len());
        acc.extend(slug.as_bytes());
    }
    Some(())
}

fn read_slugs(bytes: &mut SnapshotBytes<'_>) -> Option<SlugIds> {
    let mut slugs = SlugIds::default();
    for _ in 0..bytes.take_length()? {
        let length = bytes.take_length()?;
        // In the order of their ids, so each gets the id it had.
        slugs.get_or_insert(std::str::from_utf8(bytes.take(length)?).ok()?);
    }
    Some(slugs)
}

fn append_facets(acc: &mut Vec<u8>, facets: &MemoryFacets, code_flag: u8) {
    let MemoryFacets { id, status, source, scope, pinned, kind, branch, session, n_words } = facets;
    let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    acc.extend(id.0.as_bytes());
    acc.extend(session.map_or([0; 16], |it| it.0.into_bytes()));
    acc.extend(n_words.to_le_bytes());
    acc.extend(kind.to_le_bytes());
    acc.extend(branch.to_le_bytes());
    acc.extend([
        position_in(MemoryStatus::ALL, status),
        position_in(MemorySource::ALL, source),
        position_in(MemoryScope::ALL, scope),
        IN_USE_FLAG
            | flag(*pinned, PINNED_FLAG)
            | flag(session.is_some(), SESSION_FLAG)
            | code_flag,
    ]);
}

fn read_facets(bytes: &[u8; FACET_BYTES]) -> Option<MemoryFacets> {
    let mut bytes = SnapshotBytes(bytes);
    let id = MemoryId::from_bytes(bytes.take(16)?)?;
    let session = SessionId::from_bytes(bytes.take(16)?)?;
    let n_words = u32::from_le_bytes(bytes.take(4)?.try_into().ok()?);
    let kind = u16::from_le_bytes(bytes.take(2)?.try_into().ok()?);
    let branch = u16::from_le_bytes(bytes.take(2)?.try_into().ok()?);
    let &[status, source, scope, flags] = bytes.take(4)? else { return None };
    Some(MemoryFacets {
        id,
        status: *MemoryStatus::ALL.get(usize::from(status))?,
        source: *MemorySource::ALL.get(usize::from(source))?,
        scope: *MemoryScope::ALL.get(usize::from(scope))?,
        pinned: flags & PINNED_FLAG != 0,
        kind,
        branch,
        session: (flags & SESSION_FLAG != 0).then_some(session),
        n_words,
    })
}

/// The position of a value in the list of all values of its enum.
fn position_in<T: PartialEq>(all: &[T], value: &T) -> u8 {
    let position = all.iter().position(|it| it == value);
    position.and_then(|it| u8::try_from(it).ok()).unwrap_or(u8::MAX)
}

/// The bytes of a snapshot that are not read yet.
struct SnapshotBytes<'a>(&'a [u8]);

impl<'a> SnapshotBytes<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn take_length(&mut self) -> Option<usize> {
        let bytes = self.take(8)?.try_into().ok()?;
        usize::try_from(u64::from_le_bytes(bytes)).ok()
    }
}
