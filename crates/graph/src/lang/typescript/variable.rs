//! Variables, and functions that are their values.

use tree_sitter::{Node, TreeCursor};

use super::super::walk::{Steps, children, unquoted};
use super::{F, K, Role, Script};
use crate::facts::{DefKind, Flags, TermId};
use crate::sketch::Sketch;

impl Script<'_, '_> {
    pub(super) fn is_function(&self, node: Node<'_>) -> bool {
        matches!(self.w.kind(node), K::Arrow | K::FunctionExpression | K::Generator)
    }

    pub(super) fn variables(&mut self, cursor: &mut TreeCursor<'_>, _node: Node<'_>) {
        let exporting = std::mem::take(&mut self.exporting);
        if !self.w.descend(cursor) {
            return;
        }
        loop {
            let node = cursor.node();
            if self.w.kind(node) == K::Declarator {
                self.exporting = exporting;
                self.variable(cursor, node);
            } else {
                self.visit(cursor);
            }
            if !cursor.goto_next_sibling() {
                break;
            }
        }
        self.exporting = false;
        self.w.ascend(cursor);
    }

    pub(super) fn variable(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let flags = self.flags();
        let Some(name) = self.w.field(node, F::Name) else { return self.inside(cursor) };
        let value = self.w.field(node, F::Value);
        let declared = self.w.field(node, F::Type).map(|it| self.type_term(it));
        if let Some(module) = value.and_then(|it| self.required(it)) {
            self.bind_required(name, module, node);
            return self.inside(cursor);
        }
        let made = value.map(|it| self.term(it));
        if self.w.s.is_inside_function() {
            self.bind_pattern(name, declared, made);
            return self.inside(cursor);
        }
        if self.w.kind(name) != K::Identifier {
            self.define_pattern(name, declared.or(made), flags);
            return self.inside(cursor);
        }
        let word = self.w.s.word_of(name);
        let inner = value.map(|it| self.unwrap(it));
        let kind = match inner.map(|it| self.w.kind(it)) {
            Some(K::Arrow | K::FunctionExpression | K::Generator) => DefKind::Function,
            Some(K::Class) => DefKind::Class,
            _ => DefKind::Variable,
        };
        let def = self.w.s.define(kind, word, name, node, flags);
        self.bind_def(word, def);
        if kind == DefKind::Variable {
            let some = |it: Option<TermId>| it.filter(|it| *it != Sketch::UNKNOWN);
            let it = self.w.s.def(def);
            (it.declared, it.made) = (some(declared), some(made));
        }
        match (kind, inner) {
            (DefKind::Function, Some(it)) => {
                self.roles.insert(it.id(), Role::Function(def));
                self.inside(cursor);
            }
            (DefKind::Class, Some(it)) => {
                self.roles.insert(it.id(), Role::Class(def));
                self.inside(cursor);
            }
            (_, inner) => {
                if let Some(it) = inner.filter(|it| self.w.kind(*it) == K::Object) {
                    self.roles.insert(it.id(), Role::Object(def));
                }
                self.w.s.open(def);
                self.inside(cursor);
                self.w.s.close();
            }
        }
    }

    /// `const { a, b } = value` at the top of a file.
    pub(super) fn define_pattern(&mut self, pattern: Node<'_>, of: Option<TermId>, flags: Flags) {
        for (i, it) in children(pattern).enumerate() {
            let (name, made) = match self.w.kind(it) {
                K::ShorthandPattern => {
                    let text = self.w.text(it);
                    (it, of.map(|of| self.w.s.member(of, text)))
                }
                K::PairPattern => {
                    let (key, value) = (self.w.field(it, F::Key), self.w.field(it, F::Value));
                    let (Some(key), Some(value)) = (key, value) else { continue };
                    let text = unquoted(self.w.text(key));
                    (value, of.map(|of| self.w.s.member(of, text)))
                }
                K::Identifier => (it, of.map(|of| self.position(of, i))),
                K::ObjectAssignmentPattern | K::AssignmentPattern => {
                    let Some(left) = self.w.field(it, F::Left) else { continue };
                    let text = self.w.text(left);
                    (left, of.map(|of| self.w.s.member(of, text)))
                }
                _ => continue,
            };
            if !matches!(self.w.kind(name), K::Identifier | K::ShorthandPattern) {
                self.define_pattern(name, made, flags);
                continue;
            }
            let word = self.w.s.word_of(name);
            let def = self.w.s.define(DefKind::Variable, word, name, it, flags);
            self.w.s.def(def).made = made;
            self.bind_def(word, def);
        }
    }
}
