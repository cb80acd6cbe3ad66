//! What only a file's own references need: the larger part of its facts, which nobody else looks at.
//!
//! It stays bytes until the file is resolved, because all files are in memory at once and few of them
//! are resolved again.

use super::code::{Reader, Writer, read_local, read_ref, read_term, write_ref, write_term};
use super::sound::Bounds;
use super::{Facts, Local, Ref, Term};

/// Numbers of terms, locals and lists go on where those of the facts end.
#[derive(Debug, Default)]
pub(crate) struct Inside {
    pub(crate) terms: Vec<Term>,
    pub(crate) locals: Vec<Local>,
    pub(crate) lists: Vec<u32>,
    pub(crate) refs: Vec<Ref>,
}

/// The bytes of it; `room` is for them on their way.
pub(crate) fn encode_inside(
    (terms, locals, lists): (&[Term], &[Local], &[u32]),
    refs: &[Ref],
    room: &mut Vec<u8>,
) -> Box<[u8]> {
    room.clear();
    let mut to = Writer(std::mem::take(room));
    to.size(locals.len());
    for it in locals {
        to.maybe(it.declared);
        to.maybe(it.made);
    }
    to.size(terms.len());
    terms.iter().for_each(|it| write_term(&mut to, *it));
    to.size(lists.len());
    lists.iter().for_each(|it| to.small(*it));
    to.size(refs.len());
    let mut line = 0;
    for it in refs {
        write_ref(&mut to, *it, &mut line);
    }
    *room = to.0;
    room.as_slice().into()
}

impl Inside {
    /// Reads what a file's facts hold as bytes; `None` for bytes that nobody wrote so.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut from = Reader(bytes);
        let mut res = Self::default();
        let n_locals = from.size()?;
        res.locals.reserve_exact(n_locals);
        for _ in 0..n_locals {
            res.locals.push(read_local(&mut from)?);
        }
        let n_terms = from.size()?;
        res.terms.reserve_exact(n_terms);
        for _ in 0..n_terms {
            res.terms.push(read_term(&mut from)?);
        }
        let n_lists = from.size()?;
        res.lists.reserve_exact(n_lists);
        for _ in 0..n_lists {
            res.lists.push(from.small()?);
        }
        let n_refs = from.size()?;
        res.refs.reserve_exact(n_refs);
        let mut line = 0;
        for _ in 0..n_refs {
            res.refs.push(read_ref(&mut from, &mut line)?);
        }
        from.0.is_empty().then_some(res)
    }

    /// Whether every index points at something.
    pub(super) fn is_sound(&self, facts: &Facts) -> bool {
        let bounds = Bounds {
            names: facts.names.len(),
            terms: facts.terms.len() + self.terms.len(),
            locals: facts.locals.len() + self.locals.len(),
            ..Bounds::of(facts)
        };
        let item = |at: u32| {
            let at = at as usize;
            facts.lists.get(at).or_else(|| self.lists.get(at.wrapping_sub(facts.lists.len())))
        };
        self.locals.iter().all(|it| bounds.has_local(*it))
            && self.terms.iter().all(|it| bounds.has_term(*it, &|at| item(at).copied()))
            && self.refs.iter().all(|it| bounds.has_ref(*it))
    }
}
