//! Whether every index of some facts points at something; bytes from a disk may say anything.

use super::{Export, Facts, List, Local, Ref, Term};

/// How many there are of each kind of thing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) names: usize,
    pub(super) terms: usize,
    pub(super) defs: usize,
    pub(super) locals: usize,
    pub(super) imports: usize,
}

const fn is_below(it: u32, limit: usize) -> bool {
    (it as usize) < limit
}

fn is_none_or_below(it: Option<u32>, limit: usize) -> bool {
    it.is_none_or(|it| is_below(it, limit))
}

impl Bounds {
    /// Those of what others can see.
    pub(super) fn of(facts: &Facts) -> Self {
        Self {
            names: facts.n_outer_names as usize,
            terms: facts.terms.len(),
            defs: facts.defs.len(),
            locals: facts.locals.len(),
            imports: facts.imports.len(),
        }
    }

    fn has_word(self, it: u32) -> bool {
        is_below(it, self.names)
    }

    pub(super) fn has_local(self, it: Local) -> bool {
        is_none_or_below(it.declared, self.terms) && is_none_or_below(it.made, self.terms)
    }

    pub(super) fn has_ref(self, it: Ref) -> bool {
        is_below(it.term, self.terms)
            && is_none_or_below(it.given, self.terms)
            && is_none_or_below(it.from, self.defs)
    }

    /// `item` gives what stands at a place of the lists.
    pub(super) fn has_term(self, term: Term, item: &dyn Fn(u32) -> Option<u32>) -> bool {
        let is_term = |it: u32| is_below(it, self.terms);
        let all = |list: List, is_right: &dyn Fn(u32, u32) -> bool| {
            (0..list.len).all(|i| {
                let at = list.start.checked_add(i);
                at.and_then(item).is_some_and(|it| is_right(i, it))
            })
        };
        match term {
            Term::Unknown | Term::Free(..) => true,
            Term::Literal(it) | Term::Name(it) => self.has_word(it),
            Term::Def(it) | Term::This(it) | Term::Super(it) => is_below(it, self.defs),
            Term::Local(it) => is_below(it, self.locals),
            Term::Import(it) => is_below(it, self.imports),
            Term::Implicit(of, it) => is_below(of, self.defs) && self.has_word(it),
            Term::Member(of, it) => is_term(of) && self.has_word(it),
            Term::Call(it)
            | Term::New(it)
            | Term::Element(it)
            | Term::Await(it)
            | Term::Many(it)
            | Term::Function(it) => is_term(it),
            Term::Args(it) | Term::Either(it) | Term::Both(it) => all(it, &|_, it| is_term(it)),
            Term::Record(it) => {
                let is_right =
                    |i: u32, it| if i.is_multiple_of(2) { self.has_word(it) } else { is_term(it) };
                it.len.is_multiple_of(2) && all(it, &is_right)
            }
        }
    }
}

/// Whether what others can see of a file is in order.
pub(super) fn is_sound(facts: &Facts) -> bool {
    let bounds = Bounds::of(facts);
    let item = |at: u32| facts.lists.get(at as usize).copied();
    facts.n_outer_names as usize <= facts.names.len()
        && facts.defs.iter().enumerate().all(|(i, it)| {
            bounds.has_word(it.name)
                && is_none_or_below(it.owned_by, bounds.names)
                // Parents come first, so that going up ends.
                && is_none_or_below(it.parent, i)
                && is_none_or_below(it.owner, bounds.terms)
                && is_none_or_below(it.params, bounds.terms)
                && is_none_or_below(it.declared, bounds.terms)
                && is_none_or_below(it.made, bounds.terms)
                && it.generics.0 <= it.generics.1
                && it.generics.1 as usize <= bounds.locals
        })
        && is_none_or_below(facts.space, bounds.names)
        && facts
            .bases
            .iter()
            .all(|it| is_below(it.def, bounds.defs) && is_below(it.term, bounds.terms))
        && facts.imports.iter().all(|it| {
            [it.module, it.item, it.local].iter().all(|it| bounds.has_word(*it))
                && is_none_or_below(it.within, bounds.defs)
        })
        && facts.exports.iter().all(|it| match *it {
            Export::Local { name, term } => bounds.has_word(name) && is_below(term, bounds.terms),
            Export::From { name, module, item } => {
                [name, module, item].iter().all(|it| bounds.has_word(*it))
            }
            Export::ModuleAs { name, module } => bounds.has_word(name) && bounds.has_word(module),
            Export::Star { module } => bounds.has_word(module),
        })
        && facts.locals.iter().all(|it| bounds.has_local(*it))
        && facts.terms.iter().all(|it| bounds.has_term(*it, &item))
}
