//! Interfaces, aliases, enumerations and namespaces.

use tree_sitter::{Node, TreeCursor};

use super::super::walk::{Steps, children, unquoted};
use super::{F, K, Script};
use crate::facts::{DefKind, Flags};
use crate::sketch::{ScopeKind, Sketch};

impl Script<'_, '_> {
    pub(super) fn interface(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let Some(name) = self.w.field(node, F::Name) else { return self.inside(cursor) };
        let word = self.w.s.word_of(name);
        let flags = self.flags();
        let def = self.w.s.define(DefKind::Interface, word, name, node, flags);
        self.bind_def(word, def);
        self.w.s.set_body(def, self.w.field(node, F::Body));
        self.w.s.enter(ScopeKind::Block);
        let generics = self.generics(node);
        self.w.s.def(def).generics = generics;
        let grammar = self.w.grammar;
        for clause in
            children(node).filter(|it| matches!(grammar.kind(*it), K::ExtendsTypes | K::Extends))
        {
            for it in children(clause) {
                let term = self.type_name(it);
                self.w.s.add_base(def, term, false);
            }
        }
        self.w.s.open(def);
        self.members(cursor);
        self.w.s.close();
        self.w.s.leave();
    }

    pub(super) fn type_alias(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let Some(name) = self.w.field(node, F::Name) else { return self.inside(cursor) };
        let word = self.w.s.word_of(name);
        let flags = self.flags();
        let def = self.w.s.define(DefKind::TypeAlias, word, name, node, flags);
        self.bind_def(word, def);
        self.w.s.enter(ScopeKind::Block);
        let generics = self.generics(node);
        self.w.s.def(def).generics = generics;
        let value = self.w.field(node, F::Value);
        let is_object = value.is_some_and(|it| self.has_object(it));
        if let Some(value) = value.filter(|_| !is_object) {
            let term = self.type_term(value);
            self.w.s.def(def).declared = Some(term).filter(|it| *it != Sketch::UNKNOWN);
        }
        self.w.s.open(def);
        match value {
            Some(value) if is_object => {
                self.add_parts(def, value);
                self.alias_members(cursor);
            }
            _ => self.inside(cursor),
        }
        self.w.s.close();
        self.w.s.leave();
    }

    /// Whether a type is an object type, or an intersection with one.
    pub(super) fn has_object(&self, node: Node<'_>) -> bool {
        match self.w.kind(node) {
            K::ObjectType => true,
            K::Intersection | K::ParenthesizedType | K::ReadonlyType => {
                children(node).any(|it| self.has_object(it))
            }
            K::Generic if self.is_transparent(node) => self
                .w
                .field(node, F::TypeArguments)
                .is_some_and(|it| children(it).any(|it| self.has_object(it))),
            _ => false,
        }
    }

    /// Types that only adorn their argument.
    pub(super) fn is_transparent(&self, node: Node<'_>) -> bool {
        let name = self.w.field(node, F::Name).map_or("", |it| self.w.text(it));
        matches!(name, "Readonly" | "Partial" | "Required" | "Merge")
    }

    /// The other parts of an intersection are what the alias builds on.
    pub(super) fn add_parts(&mut self, def: u32, node: Node<'_>) {
        match self.w.kind(node) {
            K::ObjectType | K::Comment => {}
            K::Intersection | K::ParenthesizedType | K::ReadonlyType => {
                children(node).for_each(|it| self.add_parts(def, it));
            }
            K::Generic if self.is_transparent(node) && self.has_object(node) => {
                if let Some(it) = self.w.field(node, F::TypeArguments) {
                    children(it).for_each(|it| self.add_parts(def, it));
                }
            }
            _ => {
                let term = self.type_term(node);
                self.w.s.add_base(def, term, false);
            }
        }
    }

    pub(super) fn alias_members(&mut self, cursor: &mut TreeCursor<'_>) {
        if !self.w.descend(cursor) {
            return;
        }
        loop {
            let node = cursor.node();
            match self.w.kind(node) {
                K::ObjectType => self.members(cursor),
                K::Intersection | K::ParenthesizedType | K::ReadonlyType => {
                    self.alias_members(cursor);
                }
                K::Generic | K::TypeArguments
                    if self.is_transparent(node) || self.w.kind(node) == K::TypeArguments =>
                {
                    self.alias_members(cursor);
                }
                _ => self.visit(cursor),
            }
            if !cursor.goto_next_sibling() {
                break;
            }
        }
        self.w.ascend(cursor);
    }

    pub(super) fn enumeration(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let Some(name) = self.w.field(node, F::Name) else { return self.inside(cursor) };
        let word = self.w.s.word_of(name);
        let flags = self.flags();
        let def = self.w.s.define(DefKind::Enum, word, name, node, flags);
        self.bind_def(word, def);
        self.w.s.open(def);
        for it in self.w.field(node, F::Body).into_iter().flat_map(children) {
            let name = if self.w.kind(it) == K::EnumAssignment {
                self.w.field(it, F::Name)
            } else {
                Some(it)
            };
            if let Some(name) =
                name.filter(|it| matches!(self.w.kind(*it), K::PropertyIdentifier | K::Text))
            {
                let word = self.w.s.word(unquoted(self.w.text(name)));
                self.w.s.define(DefKind::Field, word, name, it, Flags::STATIC);
            }
        }
        self.inside(cursor);
        self.w.s.close();
    }

    pub(super) fn namespace(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let Some(name) = self.w.field(node, F::Name) else { return self.inside(cursor) };
        let word = self.w.s.word(unquoted(self.w.text(name)));
        let flags = self.flags();
        let def = self.w.s.define(DefKind::Module, word, name, node, flags);
        if self.w.kind(name) != K::Text {
            self.bind_def(word, def);
        }
        self.w.s.open(def);
        self.scoped(cursor);
        self.w.s.close();
    }
}
