//! Java: types, methods, fields.

use tree_sitter::{Node, TreeCursor};

use super::super::walk::{Steps, children};
use super::{F, Java, K};
use crate::facts::{DefKind, Flags, Term, TermId};
use crate::sketch::{ANY_NUMBER, Bound, ScopeKind, Sketch, index};

impl Java<'_, '_> {
    /// What modifiers say, and whether an annotation makes it a test.
    pub(super) fn flags(&self, node: Node<'_>) -> Flags {
        let mut res = Flags::default();
        let Some(modifiers) = children(node).find(|it| self.w.kind(*it) == K::Modifiers) else {
            return res;
        };
        let mut words = modifiers.walk();
        for it in modifiers.children(&mut words) {
            res = match self.w.kind(it) {
                K::StaticWord => res.with(Flags::STATIC),
                K::PublicWord => res.with(Flags::EXPORTED),
                K::MarkerAnnotation | K::FullAnnotation => {
                    let name = self.w.field(it, F::Name).map_or("", |it| self.w.text(it));
                    res.when(
                        matches!(name, "Test" | "ParameterizedTest" | "RepeatedTest"),
                        Flags::TEST,
                    )
                }
                _ => res,
            };
        }
        res
    }

    pub(super) fn class(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let Some(name) = self.w.field(node, F::Name) else { return self.inside(cursor) };
        let kind = match self.w.kind(node) {
            K::Interface | K::Annotation => DefKind::Interface,
            K::Enum => DefKind::Enum,
            _ => DefKind::Class,
        };
        let (word, flags) = (self.w.s.word_of(name), self.flags(node));
        let def = self.w.s.define(kind, word, name, node, flags);
        self.w.s.bind(word, Bound::Def(def));
        self.w.s.set_body(def, self.w.field(node, F::Body));
        self.w.s.open(def);
        // What a type builds on is named from outside it.
        self.w.s.enter(ScopeKind::Block);
        self.generics(node, def);
        self.bases(node, def);
        self.w.s.enter(ScopeKind::Members(def));
        if self.w.kind(node) == K::Record {
            self.components(node);
        }
        self.inside(cursor);
        self.w.s.leave();
        self.w.s.leave();
        self.w.s.close();
    }

    pub(super) fn bases(&mut self, node: Node<'_>, def: u32) {
        for clause in children(node) {
            let implements = match self.w.kind(clause) {
                K::Superclass | K::ExtendsInterfaces => false,
                K::SuperInterfaces => true,
                _ => continue,
            };
            let grammar = self.w.grammar;
            let list =
                children(clause).find(|it| grammar.kind(*it) == K::TypeList).unwrap_or(clause);
            for it in children(list) {
                let term = self.type_name(it);
                self.w.s.add_base(def, term, implements);
            }
        }
    }

    /// Binds type parameters with their bounds.
    pub(super) fn generics(&mut self, node: Node<'_>, def: u32) {
        let start = index(self.w.s.locals.len());
        let grammar = self.w.grammar;
        let list = self.w.field(node, F::TypeParameters);
        let parameters: Vec<Node<'_>> = list
            .into_iter()
            .flat_map(children)
            .filter(|it| grammar.kind(*it) == K::TypeParameter)
            .collect();
        for it in &parameters {
            let local = self.w.s.local(None, None);
            if let Some(name) = children(*it).find(|it| grammar.kind(*it) == K::TypeIdentifier) {
                let word = self.w.s.word_of(name);
                self.w.s.bind(word, Bound::Type(local));
            }
        }
        self.w.s.def(def).generics = (start, index(self.w.s.locals.len()));
        for (i, it) in parameters.iter().enumerate() {
            let bound = children(*it)
                .find(|it| grammar.kind(*it) == K::TypeBound)
                .and_then(|it| it.named_child(0));
            let bound = bound.map(|it| self.type_term(it)).filter(|it| *it != Sketch::UNKNOWN);
            self.w.s.locals[start as usize + i].declared = bound;
        }
    }

    /// A record's components are fields, and methods of the same name.
    pub(super) fn components(&mut self, node: Node<'_>) {
        for it in self.w.field(node, F::Parameters).into_iter().flat_map(children) {
            let (Some(name), Some(of)) = (self.w.field(it, F::Name), self.w.field(it, F::Type))
            else {
                continue;
            };
            let declared = self.type_term(of);
            let word = self.w.s.word_of(name);
            for kind in [DefKind::Field, DefKind::Method] {
                let def = self.w.s.define(kind, word, name, it, Flags::EXPORTED);
                let def = self.w.s.def(def);
                def.declared = Some(declared).filter(|it| *it != Sketch::UNKNOWN);
                def.takes = (0, 0);
            }
        }
    }

    pub(super) fn method(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let Some(name) = self.w.field(node, F::Name) else { return self.inside(cursor) };
        let is_constructor = self.w.kind(node) != K::Method;
        let word = self.w.s.word_of(name);
        let body = self.w.field(node, F::Body);
        let flags = self
            .flags(node)
            .when(is_constructor, Flags::CONSTRUCTOR)
            .when(body.is_none(), Flags::ABSTRACT);
        let def = self.w.s.define(DefKind::Method, word, name, node, flags);
        self.w.s.open(def);
        self.w.s.enter_function();
        self.generics(node, def);
        let (takes, params) = self.parameters(node);
        let params = self.w.s.all_of(&params);
        let declared = self.w.field(node, F::Type).map(|it| self.type_term(it));
        self.w.s.set_body(def, body);
        self.inside(cursor);
        let made = self.w.s.leave_function();
        self.w.s.close();
        let some = |it: Option<TermId>| it.filter(|it| *it != Sketch::UNKNOWN);
        let it = self.w.s.def(def);
        (it.takes, it.params) = (takes, params);
        (it.declared, it.made) = (some(declared), some(Some(made)));
    }

    /// How many there are and what they are.
    pub(super) fn parameters(&mut self, node: Node<'_>) -> ((u8, u8), Vec<TermId>) {
        let (mut n, mut any, mut params) = (0_u8, false, Vec::new());
        for it in self.w.field(node, F::Parameters).into_iter().flat_map(children) {
            match self.w.kind(it) {
                K::FormalParameter => {
                    n = n.saturating_add(1);
                    let of = self.w.field(it, F::Type);
                    params.push(of.map_or(Sketch::UNKNOWN, |it| self.type_term(it)));
                    self.bind_named(it);
                }
                K::SpreadParameter => {
                    any = true;
                    let grammar = self.w.grammar;
                    let name = children(it).find(|it| grammar.kind(*it) == K::Declarator);
                    let of = children(it)
                        .find(|it| !matches!(grammar.kind(*it), K::Modifiers | K::Declarator));
                    let of = of.map_or(Sketch::UNKNOWN, |it| self.type_term(it));
                    params.push(of);
                    let declared = self.w.s.term(Term::Many(of));
                    if let Some(name) = name.and_then(|it| self.w.field(it, F::Name)) {
                        let word = self.w.s.word_of(name);
                        self.w.s.bind_local(word, Some(declared), None);
                    }
                }
                _ => {}
            }
        }
        (if any { (n, ANY_NUMBER) } else { (n, n) }, params)
    }

    pub(super) fn field(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        let flags = self.flags(node);
        let declared = self.w.field(node, F::Type).map(|it| self.type_term(it));
        let grammar = self.w.grammar;
        let mut first = None;
        for it in children(node).filter(|it| grammar.kind(*it) == K::Declarator) {
            let Some(name) = self.w.field(it, F::Name) else { continue };
            let made = self.w.field(it, F::Value).map(|it| self.term(it));
            let word = self.w.s.word_of(name);
            let def = self.w.s.define(DefKind::Field, word, name, node, flags);
            let some = |it: Option<TermId>| it.filter(|it| *it != Sketch::UNKNOWN);
            let def_ref = self.w.s.def(def);
            (def_ref.declared, def_ref.made) = (some(declared), some(made));
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

    pub(super) fn constant(&mut self, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
        if let (Some(name), Some(class)) = (self.w.field(node, F::Name), self.w.s.class()) {
            let word = self.w.s.word_of(name);
            let def = self.w.s.define(
                DefKind::Field,
                word,
                name,
                node,
                Flags::STATIC.with(Flags::EXPORTED),
            );
            let made = self.w.s.term(Term::This(class));
            self.w.s.def(def).declared = Some(made);
            self.spoken = Some(name.id());
        }
        self.inside(cursor);
    }
}
