//! Go: variables, of packages and of functions.

use tree_sitter::{Node, TreeCursor};

use super::super::walk::{Steps, children};
use super::{F, Go, K};
use crate::facts::{DefKind, Flags, Term, TermId};
use crate::sketch::{Bound, ScopeKind, Sketch, index};

impl Go<'_, '_> {
    pub(super) fn variables(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let declared = self.w.field(node, F::Type).map(|it| self.type_term(it));
        let values: Vec<Node<'_>> =
            self.w.field(node, F::Value).into_iter().flat_map(children).collect();
        let grammar = self.w.grammar;
        let value_list = self.w.field(node, F::Value).map(|it| it.id());
        let names: Vec<Node<'_>> = children(node)
            .filter(|it| grammar.kind(*it) == K::Identifier && Some(it.id()) != value_list)
            .collect();
        let mut first = None;
        self.promise(node, &names, &values);
        for (i, name) in names.iter().enumerate() {
            let made = self.value_at(&values, i, names.len());
            let word = self.w.s.word_of(*name);
            if self.w.s.is_inside_function() {
                self.w.s.bind_local(word, declared, Some(made));
                continue;
            }
            let flags = self.flags(self.w.text(*name));
            let flags = flags.when(self.w.text(*name) == "_", Flags::PRIVATE);
            let def = self.w.s.define(DefKind::Variable, word, *name, node, flags);
            let some = |it: Option<TermId>| it.filter(|it| *it != Sketch::UNKNOWN);
            let it = self.w.s.def(def);
            (it.declared, it.made) = (some(declared), some(Some(made)));
            self.w.s.bind(word, Bound::Def(def));
            first = first.or(Some(def));
        }
        if let Some(def) = first {
            self.w.s.open(def);
        }
        self.inside(cursor);
        if first.is_some() {
            self.w.s.close();
        }
    }

    /// `var _ Shape = (*Circle)(nil)` says in as many words that a type implements an interface.
    pub(super) fn promise(&mut self, node: Node<'_>, names: &[Node<'_>], values: &[Node<'_>]) {
        let ([name], [value]) = (names, values) else { return };
        let Some(of) = self.w.field(node, F::Type).filter(|_| self.w.text(*name) == "_") else {
            return;
        };
        let text = self.w.text(*value);
        let text = text.trim_start_matches(['(', '*', '&']);
        let class =
            text.split(|it: char| !it.is_alphanumeric() && it != '_').next().unwrap_or_default();
        let word = self.w.s.word(class);
        let found =
            self.w.s.defs.iter().position(|it| it.name == word && it.kind == DefKind::Class);
        if let Some(def) = found {
            let term = self.type_name(of);
            self.w.s.add_base(index(def), term, true);
        }
    }

    /// The value that the i-th of several names gets.
    pub(super) fn value_at(&mut self, values: &[Node<'_>], i: usize, n_names: usize) -> TermId {
        match values {
            [] => Sketch::UNKNOWN,
            [call] if n_names > 1 && self.w.kind(*call) == K::Call => {
                let of = self.term(*call);
                let place = self.w.s.word(&i.to_string());
                self.w.s.term(Term::Member(of, place))
            }
            // The second tells whether there was a first.
            [value] if i == 0 => self.term(*value),
            _ => values.get(i).map_or(Sketch::UNKNOWN, |it| self.term(*it)),
        }
    }

    pub(super) fn bind_lists(&mut self, node: Node<'_>) {
        let names: Vec<Node<'_>> =
            self.w.field(node, F::Left).into_iter().flat_map(children).collect();
        let values: Vec<Node<'_>> =
            self.w.field(node, F::Right).into_iter().flat_map(children).collect();
        for (i, name) in names.iter().enumerate() {
            if self.w.kind(*name) == K::Identifier {
                let made = self.value_at(&values, i, names.len());
                let word = self.w.s.word_of(*name);
                self.w.s.bind_local(word, None, Some(made));
            }
        }
    }

    pub(super) fn bind_range(&mut self, node: Node<'_>) {
        let names: Vec<Node<'_>> =
            self.w.field(node, F::Left).into_iter().flat_map(children).collect();
        let Some(of) = self.w.field(node, F::Right).map(|it| self.term(it)) else { return };
        for (i, name) in
            names.iter().enumerate().filter(|it| self.w.grammar.kind(*it.1) == K::Identifier)
        {
            let made =
                if i == 1 { self.w.s.term(Term::Element(of)) } else { self.w.s.literal("int") };
            let word = self.w.s.word_of(*name);
            self.w.s.bind_local(word, None, Some(made));
        }
    }

    /// In a case, the switched name has the case's type.
    pub(super) fn type_case(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        self.w.s.enter(ScopeKind::Block);
        let alias = node
            .parent()
            .and_then(|it| self.w.field(it, F::Alias))
            .and_then(|it| it.named_child(0));
        if let Some(alias) = alias {
            let declared = self.w.field(node, F::Type).map(|it| self.type_term(it));
            let word = self.w.s.word_of(alias);
            self.w.s.bind_local(word, declared, None);
        }
        self.inside(cursor);
        self.w.s.leave();
    }
}
