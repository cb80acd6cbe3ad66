//! Items of Rust: types, traits, implementations, constants.

use tree_sitter::{Node, TreeCursor};

use super::super::walk::{Steps, children};
use super::{F, K, Rust};
use crate::facts::{DefKind, Flags, Term};
use crate::sketch::{Bound, ScopeKind, Sketch};

impl Rust<'_, '_> {
    /// Defines an item with a name and walks into it with `open`.
    fn item(&mut self, node: Node<'_>, kind: DefKind) -> Option<u32> {
        let name = self.w.field(node, F::Name)?;
        let word = self.w.s.word_of(name);
        let flags = self.flags(node);
        let def = self.w.s.define(kind, word, name, node, flags);
        self.w.s.bind(word, Bound::Def(def));
        self.w.s.set_body(def, self.w.field(node, F::Body));
        Some(def)
    }

    pub(super) fn structure(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let Some(def) = self.item(node, DefKind::Class) else { return self.inside(cursor) };
        self.w.s.open(def);
        self.w.s.enter(ScopeKind::Block);
        let generics = self.generics(node);
        self.w.s.def(def).generics = generics;
        self.fields(node);
        self.inside(cursor);
        self.w.s.leave();
        self.w.s.close();
    }

    fn fields(&mut self, node: Node<'_>) {
        let Some(body) = self.w.field(node, F::Body) else { return };
        let grammar = self.w.grammar;
        if self.w.kind(body) == K::OrderedFields {
            let types = children(body)
                .filter(|it| !matches!(grammar.kind(*it), K::Visibility | K::Attribute));
            for (i, of) in types.enumerate() {
                let word = self.w.s.word(&i.to_string());
                let declared = self.type_term(of);
                let def = self.w.s.define(DefKind::Field, word, of, of, Flags::default());
                self.w.s.def(def).declared = Some(declared).filter(|it| *it != Sketch::UNKNOWN);
            }
            return;
        }
        for it in children(body).filter(|it| grammar.kind(*it) == K::FieldDeclaration) {
            let (Some(name), Some(of)) = (self.w.field(it, F::Name), self.w.field(it, F::Type))
            else {
                continue;
            };
            let word = self.w.s.word_of(name);
            let declared = self.type_term(of);
            let def = self.w.s.define(DefKind::Field, word, name, it, Flags::default());
            self.w.s.def(def).declared = Some(declared).filter(|it| *it != Sketch::UNKNOWN);
        }
    }

    pub(super) fn enumeration(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let Some(def) = self.item(node, DefKind::Enum) else { return self.inside(cursor) };
        self.w.s.open(def);
        self.w.s.enter(ScopeKind::Block);
        let generics = self.generics(node);
        self.w.s.def(def).generics = generics;
        let grammar = self.w.grammar;
        let variants = self.w.field(node, F::Body).into_iter().flat_map(children);
        for it in variants.filter(|it| grammar.kind(*it) == K::Variant) {
            let Some(name) = self.w.field(it, F::Name) else { continue };
            let word = self.w.s.word_of(name);
            let field = self.w.s.define(DefKind::Field, word, name, it, Flags::STATIC);
            // A variant is a value of its enum, or a function to one.
            let value = self.w.s.term(Term::This(def));
            let value = if self.w.field(it, F::Body).is_some() {
                self.w.s.term(Term::Function(value))
            } else {
                value
            };
            self.w.s.def(field).declared = Some(value);
        }
        self.inside(cursor);
        self.w.s.leave();
        self.w.s.close();
    }

    pub(super) fn interface(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let Some(def) = self.item(node, DefKind::Interface) else { return self.inside(cursor) };
        for it in self.w.field(node, F::Bounds).into_iter().flat_map(children) {
            let term = self.type_name(it);
            self.w.s.add_base(def, term, false);
        }
        let (of, value) = (self.w.s.term(Term::Def(def)), self.w.s.term(Term::This(def)));
        self.owners.push((of, value));
        self.w.s.open(def);
        self.w.s.enter(ScopeKind::Block);
        self.generics(node);
        self.inside(cursor);
        self.w.s.leave();
        self.w.s.close();
        self.owners.pop();
    }

    pub(super) fn implementation(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        self.is_test = false;
        let Some(of) = self.w.field(node, F::Type) else { return self.inside(cursor) };
        self.w.s.enter(ScopeKind::Block);
        self.generics(node);
        let owner = self.type_name(of);
        let owner = match self.w.s.get(owner) {
            Term::Args(list) => self.w.s.lists[list.start as usize],
            _ => owner,
        };
        if let Some(of) = self.w.field(node, F::Trait)
            && let Some(name) = self.w.s.last_word(owner)
        {
            let of = self.type_name(of);
            self.implemented.push((name, of));
        }
        let value = self.w.s.object(owner);
        self.owners.push((owner, value));
        self.inside(cursor);
        self.owners.pop();
        self.w.s.leave();
    }

    pub(super) fn alias(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        // The types of an `impl` are not names of the module.
        if !self.owners.is_empty() && self.w.s.class().is_none() {
            return self.inside(cursor);
        }
        let declared = self.w.field(node, F::Type).map(|it| self.type_term(it));
        let Some(def) = self.item(node, DefKind::TypeAlias) else { return self.inside(cursor) };
        self.w.s.def(def).declared = declared.filter(|it| *it != Sketch::UNKNOWN);
        self.w.s.open(def);
        self.inside(cursor);
        self.w.s.close();
    }

    pub(super) fn constant(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let Some(name) = self.w.field(node, F::Name) else { return self.inside(cursor) };
        let declared = self.w.field(node, F::Type).map(|it| self.type_term(it));
        let word = self.w.s.word_of(name);
        if self.w.s.is_inside_function() {
            self.w.s.bind_local(word, declared, None);
            return self.inside(cursor);
        }
        let flags = self.flags(node);
        let owner = self.owners.last().map(|it| it.0);
        let kind = if owner.is_some() { DefKind::Field } else { DefKind::Variable };
        let def = self.w.s.define(kind, word, name, node, flags);
        let class = self.w.s.class();
        let it = self.w.s.def(def);
        it.declared = declared.filter(|it| *it != Sketch::UNKNOWN);
        it.owner = owner.filter(|_| class.is_none());
        if owner.is_none() {
            self.w.s.bind(word, Bound::Def(def));
        }
        self.w.s.open(def);
        self.inside(cursor);
        self.w.s.close();
    }
}
