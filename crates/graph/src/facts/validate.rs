//! Validation of decoded facts: every index must point at an existing item, because bytes from a
//! disk may be damaged.
//!
//! `codec.rs` calls this after decoding and refuses facts that fail. The resolver indexes the arrays
//! of the facts without checks and relies on it. With 3 terms, `Call(TermId(2))` is valid and
//! `Call(TermId(3))` is not.

use super::{
    BaseClause, Definition, ExportEntry, FileFacts, ImportEntry, ListSpan, LocalVariable,
    Reference, StringId, Term,
};

/// The number of items of each kind: an index is valid if it is below.
#[derive(Clone, Copy, Debug)]
pub(super) struct IndexBounds {
    pub(super) strings: usize,
    pub(super) terms: usize,
    pub(super) defs: usize,
    pub(super) locals: usize,
    pub(super) imports: usize,
}

/// Returns whether every index of the facts that other files can see points at an existing item.
pub(super) fn has_valid_indices(facts: &FileFacts) -> bool {
    let bounds = IndexBounds::from_visible(facts);
    let list_item = |index: u32| facts.lists.get(index as usize).copied();
    facts.n_visible_strings as usize <= facts.strings.len()
        && is_none_or_below(facts.namespace, bounds.strings)
        && facts.defs.iter().enumerate().all(|(i, it)| bounds.is_valid_definition(it, i))
        && facts.bases.iter().all(|it| bounds.is_valid_base(*it))
        && facts.imports.iter().all(|it| bounds.is_valid_import(it))
        && facts.exports.iter().all(|it| bounds.is_valid_export(it))
        && facts.locals.iter().all(|it| bounds.is_valid_local(*it))
        && facts.terms.iter().all(|it| bounds.is_valid_term(*it, &list_item))
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

    fn is_valid_string(self, string: StringId) -> bool {
        is_below(string, self.strings)
    }

    fn is_valid_definition(self, def: &Definition, index: usize) -> bool {
        self.is_valid_string(def.name)
            && is_none_or_below(def.owner_name, self.strings)
            // A parent precedes its children, so every walk towards the root ends.
            && is_none_or_below(def.parent, index)
            && is_none_or_below(def.owner_type, self.terms)
            && is_none_or_below(def.param_types, self.terms)
            && is_none_or_below(def.signature, self.terms)
            && is_none_or_below(def.declared_type, self.terms)
            && is_none_or_below(def.inferred_from, self.terms)
            && def.type_params.0 <= def.type_params.1
            // The end of a range may equal the number of items.
            && def.type_params.1.index() <= self.locals
    }

    fn is_valid_base(self, base: BaseClause) -> bool {
        is_below(base.def, self.defs) && is_below(base.term, self.terms)
    }

    fn is_valid_import(self, import: &ImportEntry) -> bool {
        self.is_valid_string(import.module)
            && self.is_valid_string(import.imported_name)
            && self.is_valid_string(import.local_name)
            && is_none_or_below(import.parent_module, self.defs)
    }

    fn is_valid_export(self, export: &ExportEntry) -> bool {
        match *export {
            ExportEntry::Local { name, term } => {
                self.is_valid_string(name) && is_below(term, self.terms)
            }
            ExportEntry::From { name, module, item } => {
                [name, module, item].iter().all(|it| self.is_valid_string(*it))
            }
            ExportEntry::ModuleAs { name, module } => {
                self.is_valid_string(name) && self.is_valid_string(module)
            }
            ExportEntry::Star { module } => self.is_valid_string(module),
        }
    }

    pub(super) fn is_valid_local(self, local: LocalVariable) -> bool {
        is_none_or_below(local.declared_type, self.terms)
            && is_none_or_below(local.inferred_from, self.terms)
    }

    pub(super) fn is_valid_reference(self, reference: Reference) -> bool {
        is_below(reference.term, self.terms)
            && is_none_or_below(reference.arg_types, self.terms)
            && is_none_or_below(reference.enclosing_def, self.defs)
    }

    /// Checks the operands of a term. `list_item` reads `FileFacts::lists`.
    pub(super) fn is_valid_term(self, term: Term, list_item: &dyn Fn(u32) -> Option<u32>) -> bool {
        // `is_valid` gets the position of an item in the list and the item.
        let all_items = |list: ListSpan, is_valid: &dyn Fn(u32, u32) -> bool| {
            (0..list.len).all(|i| {
                let index = list.start.checked_add(i);
                index.and_then(list_item).is_some_and(|item| is_valid(i, item))
            })
        };
        match term {
            Term::Unknown | Term::Unbound(..) => true,
            Term::Literal(name) | Term::Name(name) => self.is_valid_string(name),
            Term::Def(def) | Term::This(def) | Term::Super(def) => is_below(def, self.defs),
            Term::Local(local) => is_below(local, self.locals),
            Term::Import(import) => is_below(import, self.imports),
            Term::Implicit(owner, name) => is_below(owner, self.defs) && self.is_valid_string(name),
            Term::Member(object, name) => {
                is_below(object, self.terms) && self.is_valid_string(name)
            }
            Term::Call(operand)
            | Term::InstanceOf(operand)
            | Term::ElementOf(operand)
            | Term::Unwrapped(operand)
            | Term::ListOf(operand)
            | Term::Function(operand)
            | Term::Rest(operand)
            | Term::Parameter(operand, _) => is_below(operand, self.terms),
            Term::Generic(list)
            | Term::FunctionType(list)
            | Term::AnyOf(list)
            | Term::AllOf(list) => all_items(list, &|_, item| is_below(item, self.terms)),
            // Names at even positions, values at odd ones.
            Term::Record(list) => {
                let limit = |i: u32| if i.is_multiple_of(2) { self.strings } else { self.terms };
                list.len.is_multiple_of(2) && all_items(list, &|i, item| is_below(item, limit(i)))
            }
        }
    }
}

fn is_below(id: impl Into<u32>, limit: usize) -> bool {
    (id.into() as usize) < limit
}

fn is_none_or_below(id: Option<impl Into<u32>>, limit: usize) -> bool {
    id.is_none_or(|it| is_below(it, limit))
}
