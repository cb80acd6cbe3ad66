//! Python: what assignments and loops bind.

use tree_sitter::{Node, TreeCursor};

use super::super::walk::{Steps, children};
use super::{F, K, Python};
use crate::facts::{DefKind, Flags, TermId};
use crate::sketch::{Bound, Sketch};

impl Python<'_, '_> {
    pub(super) fn assignment(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let declared = self.w.field(node, F::Type).map(|it| self.type_term(it));
        let made = self.w.field(node, F::Right).map_or(Sketch::UNKNOWN, |it| self.term(it));
        let Some(left) = self.w.field(node, F::Left) else { return self.inside(cursor) };
        match self.w.kind(left) {
            K::Attribute => {
                let (object, name) =
                    (self.w.field(left, F::Object), self.w.field(left, F::AttributeName));
                if let (Some(object), Some(name)) = (object, name)
                    && self.selfs.last().is_some_and(|it| it.0 == self.w.text(object))
                    && let Some(class) = self.w.s.class()
                {
                    let word = self.w.s.word_of(name);
                    let made = declared.unwrap_or(made);
                    self.w.s.assign(class, word, made, name, node);
                }
            }
            _ => self.bind_or_define(left, node, declared, made),
        }
        self.inside(cursor);
    }

    /// A name that is assigned: a local, a field of the class, or a variable of the module.
    pub(super) fn bind_or_define(
        &mut self,
        left: Node<'_>,
        node: Node<'_>,
        declared: Option<TermId>,
        made: TermId,
    ) {
        if self.w.s.is_inside_function() || self.w.kind(left) != K::Identifier {
            return self.bind_target(left, declared, made);
        }
        let word = self.w.s.word_of(left);
        let parent = self.w.s.around();
        if self.w.s.defs.iter().any(|it| it.name == word && it.parent == parent) {
            return;
        }
        let is_field = parent.is_some_and(|it| self.w.s.defs[it as usize].kind.is_type());
        let kind = if is_field { DefKind::Field } else { DefKind::Variable };
        let flags = Flags::default().when(is_field, Flags::STATIC);
        let def = self.w.s.define(kind, word, left, node, flags);
        let some = |it: Option<TermId>| it.filter(|it| *it != Sketch::UNKNOWN);
        let it = self.w.s.def(def);
        (it.declared, it.made) = (some(declared), some(Some(made)));
        self.w.s.bind_wide(word, Bound::Def(def));
    }

    /// Binds the names of a target inside a function.
    pub(super) fn bind_target(&mut self, target: Node<'_>, declared: Option<TermId>, made: TermId) {
        match self.w.kind(target) {
            K::Identifier => {
                let word = self.w.s.word_of(target);
                self.w.s.rebind(word, declared, made);
            }
            K::PatternList | K::TuplePattern | K::ListPattern => {
                for (i, it) in children(target).enumerate() {
                    let place = self.w.s.word(&i.to_string());
                    let made = self.w.s.term(crate::facts::Term::Member(made, place));
                    self.bind_target(it, None, made);
                }
            }
            K::ListSplat | K::Parenthesized => {
                if let Some(it) = target.named_child(0) {
                    self.bind_target(it, None, Sketch::UNKNOWN);
                }
            }
            _ => {}
        }
    }

    pub(super) fn bind_loop(&mut self, node: Node<'_>) {
        let (left, right) = (self.w.field(node, F::Left), self.w.field(node, F::Right));
        let (Some(left), Some(right)) = (left, right) else { return };
        let of = self.term(right);
        let element = self.w.s.term(crate::facts::Term::Element(of));
        self.bind_target(left, None, element);
    }

    /// `with open(p) as f`, `except E as e`.
    pub(super) fn bind_alias(&mut self, node: Node<'_>) {
        let target = self.w.field(node, F::Alias).and_then(|it| it.named_child(0));
        let (Some(target), Some(value)) = (target, node.named_child(0)) else { return };
        let value = self.term(value);
        // A class after `except` stands for an object of it; a manager stands for itself, mostly.
        let is_except = node.parent().is_some_and(|it| it.kind() == "except_clause");
        let made = if is_except { self.w.s.object(value) } else { value };
        self.bind_target(target, None, made);
    }
}
