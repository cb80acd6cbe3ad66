//! The facts that only a file's own references use. They are the larger part of its facts, and no
//! other file looks at them.
//!
//! They stay encoded until the file is resolved: all files are in memory at once, and few of them
//! are resolved again.

use model::codec::{ByteReader, ByteWriter};

use super::codec::{
    read_local, read_reference, read_term, write_local, write_reference, write_term,
};
use super::validate::IndexBounds;
use super::{FileFacts, LocalVariable, Reference, Term};

/// References with their terms, locals and lists. Their numbering continues that of the visible
/// facts.
#[derive(Debug, Default)]
pub(crate) struct ReferenceFacts {
    pub(crate) terms: Vec<Term>,
    pub(crate) locals: Vec<LocalVariable>,
    pub(crate) lists: Vec<u32>,
    pub(crate) refs: Vec<Reference>,
}

/// Encodes reference facts. `buffer` is reused from file to file.
pub(crate) fn encode_reference_facts(
    (terms, locals, lists): (&[Term], &[LocalVariable], &[u32]),
    refs: &[Reference],
    buffer: &mut Vec<u8>,
) -> Box<[u8]> {
    buffer.clear();
    let mut to = ByteWriter::new(std::mem::take(buffer));
    to.write_len(locals.len());
    locals.iter().for_each(|it| write_local(&mut to, *it));
    to.write_len(terms.len());
    terms.iter().for_each(|it| write_term(&mut to, *it));
    to.write_len(lists.len());
    lists.iter().for_each(|it| to.write_u32(*it));
    to.write_len(refs.len());
    let mut line = 0;
    for reference in refs {
        write_reference(&mut to, *reference, &mut line);
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
        let n_lists = from.read_len()?;
        facts.lists.reserve_exact(n_lists);
        for _ in 0..n_lists {
            facts.lists.push(from.read_u32()?);
        }
        let n_refs = from.read_len()?;
        facts.refs.reserve_exact(n_refs);
        let mut line = 0;
        for _ in 0..n_refs {
            facts.refs.push(read_reference(&mut from, &mut line)?);
        }
        from.is_empty().then_some(facts)
    }

    /// Returns whether every index points at an existing item, given the visible facts of the same
    /// file.
    pub(super) fn has_valid_indices(&self, visible: &FileFacts) -> bool {
        let bounds = IndexBounds {
            strings: visible.strings.len(),
            terms: visible.terms.len() + self.terms.len(),
            locals: visible.locals.len() + self.locals.len(),
            ..IndexBounds::from_visible(visible)
        };
        let item = |at: u32| {
            let at = at as usize;
            visible.lists.get(at).or_else(|| self.lists.get(at.wrapping_sub(visible.lists.len())))
        };
        self.locals.iter().all(|it| bounds.has_local(*it))
            && self.terms.iter().all(|it| bounds.has_term(*it, &|at| item(at).copied()))
            && self.refs.iter().all(|it| bounds.has_reference(*it))
    }
}
