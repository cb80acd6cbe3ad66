//! Go: functions, methods, types.

use tree_sitter::{Node, TreeCursor};

use super::super::walk::{Steps, children};
use super::{F, Go, K};
use crate::facts::{DefKind, Flags, Term, TermId};
use crate::sketch::{ANY_NUMBER, Bound, Sketch};

impl Go<'_, '_> {
    pub(super) fn flags(&self, name: &str) -> Flags {
        let is_exported = name.starts_with(char::is_uppercase);
        let is_test = self.w.s.is_test
            && ["Test", "Benchmark", "Example", "Fuzz"].iter().any(|it| name.starts_with(it));
        Flags::default().when(is_exported, Flags::EXPORTED).when(is_test, Flags::TEST)
    }

    pub(super) fn function(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let Some(name) = self.w.field(node, F::Name) else { return self.inside(cursor) };
        let word = self.w.s.word_of(name);
        // Every file may have several of these, and nobody calls them.
        let is_silent = matches!(self.w.text(name), "init" | "_");
        let flags = self.flags(self.w.text(name)).when(is_silent, Flags::PRIVATE);
        let def = self.w.s.define(DefKind::Function, word, name, node, flags);
        self.w.s.bind(word, Bound::Def(def));
        self.body(cursor, node, def, None);
    }

    pub(super) fn method(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let Some(name) = self.w.field(node, F::Name) else { return self.inside(cursor) };
        let word = self.w.s.word_of(name);
        let flags = self.flags(self.w.text(name));
        let def = self.w.s.define(DefKind::Method, word, name, node, flags);
        let receiver = self.w.field(node, F::Receiver).and_then(|it| it.named_child(0));
        let owner = receiver.and_then(|it| self.w.field(it, F::Type)).map(|it| self.type_name(it));
        let owner = owner.map(|it| match self.w.s.get(it) {
            Term::Args(list) => self.w.s.lists[list.start as usize],
            _ => it,
        });
        self.w.s.def(def).owner = owner.filter(|it| *it != Sketch::UNKNOWN);
        self.body(cursor, node, def, receiver.zip(owner));
    }

    pub(super) fn body(
        &mut self,
        cursor: &mut TreeCursor<'_>,
        node: Node<'_>,
        def: u32,
        receiver: Option<(Node<'_>, TermId)>,
    ) {
        self.w.s.open(def);
        self.w.s.enter_function();
        if let Some((receiver, owner)) = receiver
            && let Some(name) = self.w.field(receiver, F::Name)
        {
            let word = self.w.s.word_of(name);
            let declared = self.w.s.object(owner);
            self.w.s.bind_local(word, Some(declared), None);
        }
        for it in self.w.field(node, F::TypeParameters).into_iter().flat_map(children) {
            if let Some(name) = self.w.field(it, F::Name) {
                let (word, local) = (self.w.s.word_of(name), self.w.s.local(None, None));
                self.w.s.bind(word, Bound::Type(local));
            }
        }
        let takes = self.parameters(node);
        let declared = self.w.field(node, F::Result).map(|it| self.results(it));
        self.w.s.set_body(def, self.w.field(node, F::Body));
        self.inside(cursor);
        let made = self.w.s.leave_function();
        self.w.s.close();
        let some = |it: Option<TermId>| it.filter(|it| *it != Sketch::UNKNOWN);
        let it = self.w.s.def(def);
        (it.takes, it.declared, it.made) = (takes, some(declared), some(Some(made)));
    }

    pub(super) fn parameters(&mut self, node: Node<'_>) -> (u8, u8) {
        let (mut n, mut any) = (0_u8, false);
        for it in self.w.field(node, F::Parameters).into_iter().flat_map(children) {
            let kind = self.w.kind(it);
            if !matches!(kind, K::Parameter | K::Variadic) {
                continue;
            }
            let mut declared =
                self.w.field(it, F::Type).map_or(Sketch::UNKNOWN, |it| self.type_term(it));
            if kind == K::Variadic {
                any = true;
                declared = self.w.s.term(Term::Many(declared));
            }
            let grammar = self.w.grammar;
            let names: Vec<Node<'_>> =
                children(it).filter(|it| grammar.kind(*it) == K::Identifier).collect();
            n = n.saturating_add(u8::try_from(names.len().max(1)).unwrap_or(1));
            for name in names {
                let word = self.w.s.word_of(name);
                self.w.s.bind_local(word, Some(declared), None);
            }
        }
        if any { (n.saturating_sub(1), ANY_NUMBER) } else { (n, n) }
    }

    /// One result is itself; several are a record by their places.
    pub(super) fn results(&mut self, node: Node<'_>) -> TermId {
        if self.w.kind(node) != K::ParameterList {
            return self.type_term(node);
        }
        let mut items = Vec::new();
        let mut place = 0;
        let grammar = self.w.grammar;
        for it in children(node) {
            let n_names =
                children(it).filter(|it| grammar.kind(*it) == K::Identifier).count().max(1);
            let of = self.w.field(it, F::Type).map_or(Sketch::UNKNOWN, |it| self.type_term(it));
            for _ in 0..n_names {
                items.extend([self.w.s.word(&place.to_string()), of]);
                place += 1;
            }
        }
        if let [_, one] = items.as_slice() {
            *one
        } else {
            let list = self.w.s.list(&items);
            self.w.s.term(Term::Record(list))
        }
    }

    pub(super) fn returned(&mut self, node: Node<'_>) {
        let Some(list) = node.named_child(0) else { return };
        let values: Vec<Node<'_>> = children(list).collect();
        if let [value] = values.as_slice() {
            let term = self.term(*value);
            self.w.s.add_return(term);
        }
    }

    pub(super) fn type_spec(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let (Some(name), Some(of)) = (self.w.field(node, F::Name), self.w.field(node, F::Type))
        else {
            return self.inside(cursor);
        };
        let word = self.w.s.word_of(name);
        let kind = match (self.w.kind(node), self.w.kind(of)) {
            (_, K::Interface) => DefKind::Interface,
            (K::TypeAlias, _) => DefKind::TypeAlias,
            _ => DefKind::Class,
        };
        let flags = self.flags(self.w.text(name));
        let is_inside = self.w.s.is_inside_function();
        let def = self.w.s.define(kind, word, name, node, flags.when(is_inside, Flags::PRIVATE));
        self.w.s.bind(word, Bound::Def(def));
        self.w.s.open(def);
        match self.w.kind(of) {
            K::Struct => self.fields(def, of),
            K::Interface => self.elements(def, of),
            _ => {
                let declared = self.type_term(of);
                self.w.s.def(def).declared = Some(declared).filter(|it| *it != Sketch::UNKNOWN);
            }
        }
        self.inside(cursor);
        self.w.s.close();
    }

    pub(super) fn fields(&mut self, def: u32, of: Node<'_>) {
        let grammar = self.w.grammar;
        let Some(list) = children(of).find(|it| grammar.kind(*it) == K::FieldList) else { return };
        for it in children(list).filter(|it| grammar.kind(*it) == K::FieldDeclaration) {
            let Some(of) = self.w.field(it, F::Type) else { continue };
            let declared = self.type_term(of);
            let names: Vec<Node<'_>> =
                children(it).filter(|it| it.kind() == "field_identifier").collect();
            if names.is_empty() {
                // An embedded type lends its members, and is a field of its name.
                let term = self.type_name(of);
                self.w.s.add_base(def, term, false);
                let name = self.last_name(of);
                let word = self.w.s.word_of(name);
                let field = self.w.s.define(DefKind::Field, word, name, it, Flags::default());
                self.w.s.def(field).declared = Some(declared);
            }
            for name in names {
                let word = self.w.s.word_of(name);
                let field = self.w.s.define(DefKind::Field, word, name, it, Flags::default());
                self.w.s.def(field).declared = Some(declared).filter(|it| *it != Sketch::UNKNOWN);
            }
        }
    }

    pub(super) fn elements(&mut self, def: u32, of: Node<'_>) {
        for it in children(of) {
            match self.w.kind(it) {
                K::MethodElem => {
                    let Some(name) = self.w.field(it, F::Name) else { continue };
                    let word = self.w.s.word_of(name);
                    let declared = self.w.field(it, F::Result).map(|it| self.results(it));
                    let method = self.w.s.define(DefKind::Method, word, name, it, Flags::ABSTRACT);
                    self.w.s.def(method).declared = declared.filter(|it| *it != Sketch::UNKNOWN);
                }
                K::TypeElem => {
                    if let Some(of) = it.named_child(0) {
                        let term = self.type_name(of);
                        self.w.s.add_base(def, term, false);
                    }
                }
                _ => {}
            }
        }
    }
}
