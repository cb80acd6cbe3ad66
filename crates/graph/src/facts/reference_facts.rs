//! The facts of a file have two parts: its *visible* facts, which other files can see, and its
//! *reference* facts, which only its own references use. This file encodes the latter, the larger
//! part.
//!
//! They stay encoded in `FileFacts::reference_bytes` until the resolver reads the file: all files
//! are in memory at once, and few of them are resolved again.
//!
//! Both parts are numbered in one sequence: if the visible facts have 10 terms, `TermId(10)` is the
//! first term here. `compaction.rs` makes both parts; `IndexedFile::with_references` joins them
//! again to resolve the file.

use model::codec::{ByteReader, ByteWriter};

use super::codec::{
    read_local, read_reference, read_term, write_local, write_reference, write_term,
};
use super::validate::IndexBounds;
use super::{FileFacts, LocalVariable, Reference, Term};

/// References with the terms, locals and lists that only they use.
#[derive(Debug, Default)]
pub(crate) struct ReferenceFacts {
    pub(crate) terms: Vec<Term>,
    pub(crate) locals: Vec<LocalVariable>,
    /// The items of the lists in `terms`, as in `FileFacts::lists`.
    pub(crate) lists: Vec<u32>,
    pub(crate) refs: Vec<Reference>,
}

/// Borrowed [`ReferenceFacts`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReferenceSlices<'a> {
    pub(crate) terms: &'a [Term],
    pub(crate) locals: &'a [LocalVariable],
    pub(crate) lists: &'a [u32],
    pub(crate) refs: &'a [Reference],
}

/// Encodes reference facts; [`ReferenceFacts::decode`] is the inverse. `buffer` is reused from file
/// to file.
pub(crate) fn encode_reference_facts(
    facts: ReferenceSlices<'_>,
    buffer: &mut Vec<u8>,
) -> Box<[u8]> {
    let ReferenceSlices { terms, locals, lists, refs } = facts;
    buffer.clear();
    let mut to = ByteWriter::new(std::mem::take(buffer));
    to.write_len(locals.len());
    locals.iter().for_each(|it| write_local(&mut to, *it));
    to.write_len(terms.len());
    terms.iter().for_each(|it| write_term(&mut to, *it));
    to.write_len(lists.len());
    lists.iter().for_each(|it| to.write_u32(*it));
    to.write_len(refs.len());
    // Lines are written as the difference from the line of the reference before.
    let mut previous_line = 0;
    for reference in refs {
        write_reference(&mut to, *reference, &mut previous_line);
    }
    // The result is an exact copy; the buffer keeps its capacity for the next file.
    *buffer = to.bytes;
    buffer.as_slice().into()
}

impl ReferenceFacts {
    /// Decodes `FileFacts::reference_bytes`; `None` for damaged bytes.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut from = ByteReader::new(bytes);
        let mut facts = Self::default();
        let n_locals = from.read_len()?;
        facts.locals.reserve_exact(n_locals);
        for _ in 0..n_locals {
            facts.locals.push(read_local(&mut from)?);
        }
        let n_terms = from.read_len()?;
        facts.terms.reserve_exact(n_terms);
        for _ in 0..n_terms {
            facts.terms.push(read_term(&mut from)?);
        }
        let n_list_items = from.read_len()?;
        facts.lists.reserve_exact(n_list_items);
        for _ in 0..n_list_items {
            facts.lists.push(from.read_u32()?);
        }
        let n_refs = from.read_len()?;
        facts.refs.reserve_exact(n_refs);
        let mut previous_line = 0;
        for _ in 0..n_refs {
            facts.refs.push(read_reference(&mut from, &mut previous_line)?);
        }
        // Bytes behind the last reference are damage, too.
        from.is_empty().then_some(facts)
    }

    /// Returns whether every index points at an existing item, given the visible facts of the same
    /// file.
    pub(super) fn has_valid_indices(&self, visible: &FileFacts) -> bool {
        // Both parts are numbered in one sequence, except definitions, all of which are visible.
        let bounds = IndexBounds {
            strings: visible.strings.len(),
            terms: visible.terms.len() + self.terms.len(),
            locals: visible.locals.len() + self.locals.len(),
            ..IndexBounds::from_visible(visible)
        };
        let n_visible_items = visible.lists.len();
        let list_item = |index: u32| match (index as usize).checked_sub(n_visible_items) {
            Some(own_index) => self.lists.get(own_index).copied(),
            None => visible.lists.get(index as usize).copied(),
        };
        self.locals.iter().all(|it| bounds.is_valid_local(*it))
            && self.terms.iter().all(|it| bounds.is_valid_term(*it, &list_item))
            && self.refs.iter().all(|it| bounds.is_valid_reference(*it))
    }
}
