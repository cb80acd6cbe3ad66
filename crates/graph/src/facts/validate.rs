//! Validation of decoded facts: every index must point at an existing item, because bytes from a
//! disk may be damaged.

use super::{ExportEntry, FileFacts, ListSpan, LocalVariable, Reference, StringId, Term};

/// The number of items of each kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct IndexBounds {
    pub(super) strings: usize,
    pub(super) terms: usize,
    pub(super) defs: usize,
    pub(super) locals: usize,
    pub(super) imports: usize,
}

fn is_below(id: impl Into<u32>, limit: usize) -> bool {
    (id.into() as usize) < limit
}

fn is_none_or_below(id: Option<impl Into<u32>>, limit: usize) -> bool {
    id.is_none_or(|it| is_below(it, limit))
}

impl IndexBounds {
    /// The bounds of the facts that other files can see.
    pub(super) fn from_visible(facts: &FileFacts) -> Self {
        Self {
            strings: facts.n_visible_strings as usize,
            terms: facts.terms.len(),
            defs: facts.defs.len(),
            locals: facts.locals.len(),
            imports: facts.imports.len(),
        }
    }

    fn has_string(self, string: StringId) -> bool {
        is_below(string, self.strings)
    }

    pub(super) fn has_local(self, local: LocalVariable) -> bool {
        is_none_or_below(local.declared_type, self.terms)
            && is_none_or_below(local.inferred_from, self.terms)
    }

    pub(super) fn has_reference(self, reference: Reference) -> bool {
        is_below(reference.term, self.terms)
            && is_none_or_below(reference.arg_types, self.terms)
            && is_none_or_below(reference.enclosing_def, self.defs)
    }

    /// Checks the operands of a term. `item` reads an item of the lists.
    pub(super) fn has_term(self, term: Term, item: &dyn Fn(u32) -> Option<u32>) -> bool {
        let all = |list: ListSpan, is_valid: &dyn Fn(u32, u32) -> bool| {
            (0..list.len).all(|i| {
                let at = list.start.checked_add(i);
                at.and_then(item).is_some_and(|it| is_valid(i, it))
            })
        };
        match term {
            Term::Unknown | Term::Unbound(..) => true,
            Term::Literal(it) | Term::Name(it) => self.has_string(it),
            Term::Def(it) | Term::This(it) | Term::Super(it) => is_below(it, self.defs),
            Term::Local(it) => is_below(it, self.locals),
            Term::Import(it) => is_below(it, self.imports),
            Term::Implicit(of, it) => is_below(of, self.defs) && self.has_string(it),
            Term::Member(of, it) => is_below(of, self.terms) && self.has_string(it),
            Term::Call(it)
            | Term::InstanceOf(it)
            | Term::ElementOf(it)
            | Term::Awaited(it)
            | Term::ListOf(it)
            | Term::Function(it) => is_below(it, self.terms),
            Term::Generic(it) | Term::AnyOf(it) | Term::AllOf(it) => {
                all(it, &|_, it| is_below(it, self.terms))
            }
            // Strings at even positions, terms at odd ones.
            Term::Record(it) => {
                let limit = |i: u32| if i.is_multiple_of(2) { self.strings } else { self.terms };
                it.len.is_multiple_of(2) && all(it, &|i, it| is_below(it, limit(i)))
            }
        }
    }
}

/// Returns whether every index of the facts that other files can see points at an existing item.
pub(super) fn has_valid_indices(facts: &FileFacts) -> bool {
    let bounds = IndexBounds::from_visible(facts);
    let item = |at: u32| facts.lists.get(at as usize).copied();
    facts.n_visible_strings as usize <= facts.strings.len()
        && facts.defs.iter().enumerate().all(|(i, it)| {
            bounds.has_string(it.name)
                && is_none_or_below(it.owner_name, bounds.strings)
                // A parent precedes its children, so every walk towards the root ends.
                && is_none_or_below(it.parent, i)
                && is_none_or_below(it.owner_type, bounds.terms)
                && is_none_or_below(it.param_types, bounds.terms)
                && is_none_or_below(it.declared_type, bounds.terms)
                && is_none_or_below(it.inferred_from, bounds.terms)
                && it.type_params.0 <= it.type_params.1
                && it.type_params.1.index() <= bounds.locals
        })
        && is_none_or_below(facts.namespace, bounds.strings)
        && facts
            .bases
            .iter()
            .all(|it| is_below(it.def, bounds.defs) && is_below(it.term, bounds.terms))
        && facts.imports.iter().all(|it| {
            [it.module, it.imported_name, it.local_name].iter().all(|it| bounds.has_string(*it))
                && is_none_or_below(it.parent_module, bounds.defs)
        })
        && facts.exports.iter().all(|it| match *it {
            ExportEntry::Local { name, term } => {
                bounds.has_string(name) && is_below(term, bounds.terms)
            }
            ExportEntry::From { name, module, item } => {
                [name, module, item].iter().all(|it| bounds.has_string(*it))
            }
            ExportEntry::ModuleAs { name, module } => {
                bounds.has_string(name) && bounds.has_string(module)
            }
            ExportEntry::Star { module } => bounds.has_string(module),
        })
        && facts.locals.iter().all(|it| bounds.has_local(*it))
        && facts.terms.iter().all(|it| bounds.has_term(*it, &item))
}
