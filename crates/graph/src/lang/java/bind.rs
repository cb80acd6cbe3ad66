//! Java: names that live inside a method.

use tree_sitter::{Node, TreeCursor};

use super::super::walk::{Steps, children};
use super::{F, Java, K};
use crate::facts::Term;
use crate::sketch::Sketch;

impl Java<'_, '_> {
    /// Binds the name of a node with a type and perhaps a value.
    pub(super) fn bind_named(&mut self, node: Node<'_>) {
        let of = self.w.field(node, F::Type).or_else(|| self.w.field(node, F::Right));
        let (name, of) = match (self.w.field(node, F::Name), of) {
            (Some(name), of) => (name, of),
            (None, _) if self.w.kind(node) == K::TypePattern => {
                match (node.named_child(1), node.named_child(0)) {
                    (Some(name), of) => (name, of),
                    _ => return,
                }
            }
            _ => return,
        };
        let declared = of.map(|it| self.type_term(it));
        let made = self.w.field(node, F::Value).map(|it| self.term(it));
        let word = self.w.s.word_of(name);
        self.w.s.bind_local(word, declared.filter(|it| *it != Sketch::UNKNOWN), made);
    }

    pub(super) fn lambda(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let context = self.contexts.remove(&node.id());
        self.w.s.enter_function();
        if let Some(parameters) = self.w.field(node, F::Parameters) {
            match self.w.kind(parameters) {
                K::Identifier => {
                    let word = self.w.s.word_of(parameters);
                    self.w.s.bind_local(word, None, context);
                }
                K::InferredParameters => {
                    for (i, it) in children(parameters).enumerate() {
                        let word = self.w.s.word_of(it);
                        self.w.s.bind_local(word, None, context.filter(|_| i == 0));
                    }
                }
                _ => {
                    self.parameters(node);
                }
            }
        }
        self.inside(cursor);
        self.w.s.leave_function();
    }

    pub(super) fn bind_variables(&mut self, node: Node<'_>) {
        let declared = self.w.field(node, F::Type).map(|it| self.type_term(it));
        let grammar = self.w.grammar;
        for it in children(node).filter(|it| grammar.kind(*it) == K::Declarator) {
            let Some(name) = self.w.field(it, F::Name) else { continue };
            let made = self.w.field(it, F::Value).map(|it| self.term(it));
            let word = self.w.s.word_of(name);
            self.w.s.bind_local(word, declared, made);
        }
    }

    pub(super) fn bind_loop(&mut self, node: Node<'_>) {
        let Some(name) = self.w.field(node, F::Name) else { return };
        let declared = self.w.field(node, F::Type).map(|it| self.type_term(it));
        let of = self.w.field(node, F::Value).map(|it| self.term(it));
        let made = of.map(|it| self.w.s.term(Term::Element(it)));
        let word = self.w.s.word_of(name);
        self.w.s.bind_local(word, declared, made);
    }
}
