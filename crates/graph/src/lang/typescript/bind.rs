//! Names inside functions of TypeScript: parameters, patterns, loops, callbacks.

use tree_sitter::Node;

use super::super::walk::{children, unquoted};
use super::{F, K, Script};
use crate::facts::{DefKind, Flags, Term, TermId};
use crate::sketch::{ANY_NUMBER, Bound, Sketch};

/// Methods that call their argument with one of what they hold, and which parameter that is.
#[rustfmt::skip]
const WITH_ELEMENT: &[(&str, usize)] = &[
    ("map", 0), ("filter", 0), ("forEach", 0), ("find", 0), ("findIndex", 0), ("findLast", 0), ("some", 0),
    ("every", 0), ("flatMap", 0), ("sort", 0), ("sort", 1), ("toSorted", 0), ("toSorted", 1), ("reduce", 1),
    ("reduceRight", 1), ("partition", 0),
];

impl Script<'_, '_> {
    /// Binds type parameters; their bounds are what is known of them.
    pub(super) fn generics(&mut self, node: Node<'_>) -> (u32, u32) {
        let start = crate::sketch::index(self.w.s.locals.len());
        let Some(list) = self.w.field(node, F::TypeParameters) else { return (start, start) };
        let mut named = Vec::new();
        let grammar = self.w.grammar;
        for it in children(list).filter(|it| grammar.kind(*it) == K::TypeParameter) {
            let Some(name) = self.w.field(it, F::Name) else { continue };
            let word = self.w.s.word_of(name);
            let local = self.w.s.local(None, None);
            self.w.s.bind(word, Bound::Type(local));
            named.push((local, it));
        }
        let end = crate::sketch::index(self.w.s.locals.len());
        for (local, it) in named {
            let bound = self.w.field(it, F::Constraint).and_then(|it| it.named_child(0));
            let bound = bound.map(|it| self.type_term(it)).filter(|it| *it != Sketch::UNKNOWN);
            self.w.s.locals[local as usize].declared = bound;
        }
        (start, end)
    }

    /// Binds parameters; says how many arguments are taken. `context` is what is known of them from
    /// where the function is passed to.
    pub(super) fn parameters(&mut self, node: Node<'_>, context: Option<[TermId; 2]>) -> (u8, u8) {
        let known = |i: usize| context.and_then(|it| it.get(i).copied());
        if let Some(single) = self.w.field(node, F::Parameter) {
            self.bind_pattern(single, None, known(0));
            return (1, 1);
        }
        let Some(list) = self.w.field(node, F::Parameters) else { return (0, 0) };
        let (mut least, mut most) = (0_u8, 0_u8);
        let grammar = self.w.grammar;
        for (i, it) in children(list).filter(|it| grammar.kind(*it) != K::Comment).enumerate() {
            let kind = self.w.kind(it);
            let is_typed = matches!(kind, K::RequiredParameter | K::OptionalParameter);
            let pattern = if is_typed { self.w.field(it, F::Pattern) } else { Some(it) };
            let Some(pattern) = pattern else { continue };
            let declared =
                self.w.field(it, F::Type).filter(|_| is_typed).map(|it| self.type_term(it));
            let initial = self.w.field(it, F::Value).filter(|_| is_typed);
            let made = initial.map(|it| self.term(it)).or(known(i));
            if self.w.text(pattern) != "this" {
                most = most.saturating_add(1);
                let is_optional = kind == K::OptionalParameter
                    || initial.is_some()
                    || kind == K::AssignmentPattern;
                least +=
                    u8::from(!is_optional && self.w.kind(pattern) != K::RestPattern && least < 250);
            }
            if self.w.kind(pattern) == K::RestPattern {
                most = ANY_NUMBER;
            }
            self.bind_pattern(pattern, declared, made);
            self.property_parameter(it, pattern, declared);
        }
        (least, most)
    }

    /// `constructor(private app: App)` declares a field.
    fn property_parameter(&mut self, node: Node<'_>, pattern: Node<'_>, declared: Option<TermId>) {
        let mut cursor = node.walk();
        let modified = node.children(&mut cursor).any(|it| {
            matches!(self.w.kind(it), K::Accessibility | K::OverrideModifier | K::ReadonlyWord)
        });
        if !modified || self.w.kind(pattern) != K::Identifier {
            return;
        }
        let Some(class) = self.w.s.class() else { return };
        let word = self.w.s.word_of(pattern);
        let def = self.w.s.define(DefKind::Field, word, pattern, node, Flags::default());
        let def = self.w.s.def(def);
        (def.parent, def.declared) = (Some(class), declared.filter(|it| *it != Sketch::UNKNOWN));
    }

    /// Binds the names of a pattern to what they take out of the value.
    pub(super) fn bind_pattern(
        &mut self,
        pattern: Node<'_>,
        declared: Option<TermId>,
        made: Option<TermId>,
    ) {
        match self.w.kind(pattern) {
            K::Identifier | K::ShorthandPattern => {
                let word = self.w.s.word_of(pattern);
                self.w.s.bind_local(word, declared, made);
            }
            K::ObjectPattern => {
                for it in children(pattern) {
                    self.bind_property(it, declared.or(made));
                }
            }
            K::ArrayPattern => {
                for (i, it) in children(pattern).enumerate() {
                    let element = declared.or(made).map(|of| self.position(of, i));
                    self.bind_pattern(it, None, element);
                }
            }
            K::AssignmentPattern => {
                let default = self.w.field(pattern, F::Right).map(|it| self.term(it));
                if let Some(it) = self.w.field(pattern, F::Left) {
                    self.bind_pattern(it, declared, made.or(default));
                }
            }
            K::RestPattern => {
                if let Some(it) = pattern.named_child(0) {
                    self.bind_pattern(it, declared, None);
                }
            }
            _ => {}
        }
    }

    fn bind_property(&mut self, node: Node<'_>, of: Option<TermId>) {
        match self.w.kind(node) {
            K::ShorthandPattern => {
                let name = self.w.text(node);
                let made = of.map(|it| self.w.s.member(it, name));
                self.bind_pattern(node, None, made);
            }
            K::ObjectAssignmentPattern => {
                if let Some(left) = self.w.field(node, F::Left) {
                    self.bind_property(left, of);
                }
            }
            K::PairPattern => {
                let (key, value) = (self.w.field(node, F::Key), self.w.field(node, F::Value));
                if let (Some(key), Some(value)) = (key, value) {
                    let name = unquoted(self.w.text(key));
                    let made = of.map(|it| self.w.s.member(it, name));
                    self.bind_pattern(value, None, made);
                }
            }
            K::RestPattern => self.bind_pattern(node, of, None),
            _ => {}
        }
    }

    /// What stands at a place of a tuple or a list.
    pub(super) fn position(&mut self, of: TermId, i: usize) -> TermId {
        let word = self.w.s.word(&i.to_string());
        self.w.s.term(Term::Member(of, word))
    }

    pub(super) fn bind_loop(&mut self, node: Node<'_>) {
        if self.w.field(node, F::Kind).is_none() {
            return;
        }
        let is_of = self.w.field(node, F::Operator).is_some_and(|it| self.w.kind(it) == K::OfWord);
        let (left, right) = (self.w.field(node, F::Left), self.w.field(node, F::Right));
        let Some(left) = left else { return };
        let element = right.filter(|_| is_of).map(|it| {
            let of = self.term(it);
            self.w.s.term(Term::Element(of))
        });
        self.bind_pattern(left, None, element);
    }

    /// What a callback's parameters are, from the method it is passed to.
    pub(super) fn give_context(&mut self, callee: Node<'_>, call: Node<'_>) {
        if self.w.kind(callee) != K::MemberAccess {
            return;
        }
        let (object, property) =
            (self.w.field(callee, F::Object), self.w.field(callee, F::Property));
        let (Some(object), Some(property)) = (object, property) else { return };
        let Some(callback) = self.w.field(call, F::Arguments).and_then(|it| it.named_child(0))
        else {
            return;
        };
        if !matches!(self.w.kind(callback), K::Arrow | K::FunctionExpression) {
            return;
        }
        let name = self.w.text(property);
        let mut known = [Sketch::UNKNOWN; 2];
        if name == "then" {
            let of = self.term(object);
            known[0] = self.w.s.term(Term::Await(of));
        } else {
            let rows: Vec<usize> =
                WITH_ELEMENT.iter().filter(|it| it.0 == name).map(|it| it.1).collect();
            if rows.is_empty() {
                return;
            }
            let of = self.term(object);
            let element = self.w.s.term(Term::Element(of));
            rows.iter().for_each(|it| known[*it] = element);
        }
        self.contexts.insert(callback.id(), known);
    }
}
