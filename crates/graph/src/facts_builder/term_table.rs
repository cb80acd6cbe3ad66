//! Interned strings and terms of one file, and the lists that terms point to.
//!
//! A term is an expression or a type, reduced to what name resolution needs. The walkers of the
//! languages build terms bottom-up: `a.b()` is `add(Call(member_of(unbound_name("a"), "b")))`;
//! `unbound_name` is a function of the builder. Equal strings and equal terms get the same id, so
//! that a term which occurs a hundred times is stored once.
//!
//! A term has a fixed size. One with any number of operands, such as `AnyOf`, holds a [`ListSpan`]:
//! the range of its operands in one array for all terms. Such terms are compared by their range, and
//! every list gets a new one, so two of them with the same operands have different ids.

use std::collections::HashMap;
use std::hash::BuildHasher;

use model::hasher::FastBuildHasher;

use super::{UNKNOWN_TERM, to_index};
use crate::facts::{ListSpan, StringId, StringTable, Term, TermId};

/// The terms of a file. A term is made of the ids of others. Equal terms share one id, except those
/// with a list, see above.
#[derive(Debug, Default)]
pub(crate) struct TermTable {
    strings: StringInterner,
    terms: Vec<Term>,
    ids: HashMap<Term, TermId, FastBuildHasher>,
    /// The items of all [`ListSpan`]s.
    lists: Vec<u32>,
}

impl TermTable {
    pub(super) fn intern(&mut self, text: &str) -> StringId {
        self.strings.intern(text)
    }

    pub(super) fn text(&self, string: StringId) -> &str {
        self.strings.text(string)
    }

    pub(super) fn n_strings(&self) -> usize {
        self.strings.len()
    }

    /// Returns the id of a term, which is stored if it is new.
    pub(crate) fn add(&mut self, term: Term) -> TermId {
        if let Some(id) = self.ids.get(&term) {
            return *id;
        }
        let id = TermId::from_index(self.terms.len());
        // Ids are given in the order of first use, which makes them stable for one text.
        self.terms.push(term);
        self.ids.insert(term, id);
        id
    }

    pub(crate) fn get(&self, term: TermId) -> Term {
        self.terms[term.index()]
    }

    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }

    pub(super) fn list(&self, list: ListSpan) -> &[u32] {
        &self.lists[list.start as usize..(list.start + list.len) as usize]
    }

    pub(crate) fn add_list(&mut self, items: &[TermId]) -> ListSpan {
        let start = to_index(self.lists.len());
        self.lists.extend(items.iter().map(|it| it.0));
        ListSpan { start, len: to_index(items.len()) }
    }

    /// A value of the built-in type `type_name`.
    pub(crate) fn literal_of(&mut self, type_name: &str) -> TermId {
        let name = self.intern(type_name);
        self.add(Term::Literal(name))
    }

    pub(crate) fn member_of(&mut self, object: TermId, name: &str) -> TermId {
        let name = self.intern(name);
        self.add(Term::Member(object, name))
    }

    /// The item at a position of a tuple, or of several returned values.
    pub(crate) fn item_at(&mut self, tuple: TermId, position: usize) -> TermId {
        self.member_of(tuple, &position.to_string())
    }

    /// An object of the type that a term names.
    pub(crate) fn instance_of(&mut self, type_name: TermId) -> TermId {
        self.add(Term::InstanceOf(type_name))
    }

    /// A generic type with its arguments.
    pub(crate) fn generic_of(&mut self, head: TermId, arguments: &[TermId]) -> TermId {
        let start = to_index(self.lists.len());
        self.lists.push(head.0);
        self.lists.extend(arguments.iter().map(|it| it.0));
        self.add(Term::Generic(ListSpan { start, len: to_index(arguments.len() + 1) }))
    }

    /// The type of a function with this result and these parameters.
    pub(crate) fn function_type_of(&mut self, result: TermId, parameters: &[TermId]) -> TermId {
        let start = to_index(self.lists.len());
        self.lists.push(result.0);
        self.lists.extend(parameters.iter().map(|it| it.0));
        self.add(Term::FunctionType(ListSpan { start, len: to_index(parameters.len() + 1) }))
    }

    /// The type without its arguments, if a term is a generic type; otherwise the term itself.
    pub(crate) fn generic_head(&self, term: TermId) -> TermId {
        match self.get(term) {
            Term::Generic(list) => TermId(self.list(list)[0]),
            _ => term,
        }
    }

    /// A record of named members: an object literal, a tuple by its positions.
    pub(crate) fn record_of(&mut self, members: &[(StringId, TermId)]) -> TermId {
        let start = to_index(self.lists.len());
        self.lists.extend(members.iter().flat_map(|(name, value)| [name.0, value.0]));
        self.add(Term::Record(ListSpan { start, len: to_index(members.len() * 2) }))
    }

    /// One of several alternatives. Unknown ones are left out.
    pub(crate) fn any_of(&mut self, items: &[TermId]) -> TermId {
        let mut items: Vec<TermId> =
            items.iter().copied().filter(|it| *it != UNKNOWN_TERM).collect();
        // Only adjacent duplicates are removed: alternatives stay in the order of the text.
        items.dedup();
        match items.as_slice() {
            [] => UNKNOWN_TERM,
            [single] => *single,
            _ => {
                let list = self.add_list(&items);
                self.add(Term::AnyOf(list))
            }
        }
    }

    /// The types of all parameters of a function, or of all arguments of a call, in their order.
    /// `None` if every one is unknown: then they cannot select an overload.
    pub(crate) fn all_of(&mut self, items: &[TermId]) -> Option<TermId> {
        items.iter().any(|it| *it != UNKNOWN_TERM).then(|| {
            let list = self.add_list(items);
            self.add(Term::AllOf(list))
        })
    }

    /// The simple name a term ends in: `Server` for `&mut api.Server<T>`.
    pub(crate) fn simple_name(&self, term: TermId) -> Option<StringId> {
        let mut term = term;
        loop {
            term = match self.get(term) {
                Term::Unbound(name, _)
                | Term::Name(name)
                | Term::Member(_, name)
                | Term::Implicit(_, name) => return Some(name),
                Term::InstanceOf(inner) | Term::ListOf(inner) => inner,
                Term::Generic(list) => TermId(*self.list(list).first()?),
                _ => return None,
            };
        }
    }

    pub(super) fn clear(&mut self) {
        self.strings.clear();
        self.terms.clear();
        self.ids.clear();
        self.lists.clear();
    }
}

/// Interned strings of one file.
#[derive(Debug, Default)]
struct StringInterner {
    /// Ids by the hash of the text. On a collision the next free number takes the place of the
    /// hash (linear probing).
    ids: HashMap<u64, StringId, FastBuildHasher>,
    texts: StringTable,
}

impl StringInterner {
    fn intern(&mut self, text: &str) -> StringId {
        let mut key = FastBuildHasher.hash_one(text);
        // The map stores no strings, so a hit is compared with the text in the table.
        while let Some(id) = self.ids.get(&key) {
            if self.text(*id) == text {
                return *id;
            }
            key = key.wrapping_add(1);
        }
        let id = StringId::from_index(self.texts.len());
        self.texts.push(text);
        self.ids.insert(key, id);
        id
    }

    fn text(&self, id: StringId) -> &str {
        self.texts.get(id.index()).unwrap_or_default()
    }

    fn len(&self) -> usize {
        self.texts.len()
    }

    fn clear(&mut self) {
        self.ids.clear();
        self.texts.clear();
    }
}
