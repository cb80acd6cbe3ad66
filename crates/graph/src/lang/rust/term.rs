//! Expressions, types and patterns of Rust as terms.

use tree_sitter::Node;

use super::super::walk::{MAX_TERM, children};
use super::{F, K, Rust};
use crate::facts::{Term, TermId};
use crate::sketch::Sketch;

/// Functions whose result is as good as what they are given.
#[rustfmt::skip]
pub(super) const WRAPPERS: &[&str] = &[
    "Arc::new", "Rc::new", "Box::new", "Box::pin", "Pin::new", "Arc::clone", "Rc::clone", "pin::Pin::new", "sync::Arc::new",
    "std::sync::Arc::new", "std::rc::Rc::new", "std::pin::Pin::new", "std::sync::Arc::clone",
];

impl Rust<'_, '_> {
    pub(super) fn term(&mut self, node: Node<'_>) -> TermId {
        self.term_within(node, MAX_TERM)
    }

    fn term_within(&mut self, node: Node<'_>, left: u32) -> TermId {
        let Some(left) = left.checked_sub(1) else { return Sketch::UNKNOWN };
        let inner = |of: &mut Self, it: Option<Node<'_>>| {
            it.map_or(Sketch::UNKNOWN, |it| of.term_within(it, left))
        };
        match self.w.kind(node) {
            K::Identifier if self.w.text(node) == "Self" => self.own_type(),
            K::Identifier | K::SelfWord | K::SuperWord | K::CrateWord => {
                let text = self.w.text(node);
                self.w.s.free(text)
            }
            K::FieldExpression => {
                let (of, name) = (self.w.field(node, F::Value), self.w.field(node, F::Field));
                let (Some(of), Some(name)) = (of, name) else { return Sketch::UNKNOWN };
                let of = self.term_within(of, left);
                let name = self.w.text(name);
                self.w.s.member(of, name)
            }
            K::Scoped => {
                let (path, name) = (self.w.field(node, F::Path), self.w.field(node, F::Name));
                let Some(name) = name else { return Sketch::UNKNOWN };
                let text = self.w.text(name);
                match path {
                    Some(path) => {
                        let of = self.path_within(path, left);
                        self.w.s.member(of, text)
                    }
                    None => self.w.s.free(text),
                }
            }
            K::GenericFunction => {
                let of = self.w.field(node, F::Function);
                inner(self, of)
            }
            K::Call => {
                let Some(of) = self.w.field(node, F::Function) else { return Sketch::UNKNOWN };
                if WRAPPERS.contains(&self.w.text(of)) {
                    let given = self.w.field(node, F::Arguments).and_then(|it| it.named_child(0));
                    return inner(self, given);
                }
                let of = self.term_within(of, left);
                self.w.s.term(Term::Call(of))
            }
            K::Try | K::Await => {
                let of = inner(self, node.named_child(0));
                self.w.s.term(Term::Await(of))
            }
            K::Reference | K::Unary | K::Parenthesized => {
                let of = self.w.field(node, F::Value).or_else(|| node.named_child(0));
                inner(self, of)
            }
            K::Index => {
                let of = inner(self, node.named_child(0));
                self.w.s.term(Term::Element(of))
            }
            K::TypeCast => {
                self.w.field(node, F::Type).map_or(Sketch::UNKNOWN, |it| self.type_term(it))
            }
            K::StructExpression => match self.w.field(node, F::Name) {
                Some(name) => {
                    let of = self.type_name(name);
                    self.w.s.object(of)
                }
                None => Sketch::UNKNOWN,
            },
            K::Array => {
                let of = inner(self, node.named_child(0));
                self.w.s.term(Term::Many(of))
            }
            K::Tuple => {
                let mut items = Vec::new();
                for (i, it) in children(node).take(8).enumerate() {
                    items.extend([self.w.s.word(&i.to_string()), self.term_within(it, left)]);
                }
                let list = self.w.s.list(&items);
                self.w.s.term(Term::Record(list))
            }
            K::Text | K::RawText => self.w.s.literal("str"),
            K::Int | K::Float | K::Char | K::Bool | K::Binary => self.w.s.literal("int"),
            _ => Sketch::UNKNOWN,
        }
    }

    /// What stands before `::`.
    fn path_within(&mut self, node: Node<'_>, left: u32) -> TermId {
        match self.w.kind(node) {
            K::GenericType | K::GenericTypeTurbo | K::TypeIdentifier | K::ScopedType => {
                self.type_name(node)
            }
            _ => self.term_within(node, left),
        }
    }

    pub(super) fn own_type(&self) -> TermId {
        self.owners.last().map_or(Sketch::UNKNOWN, |it| it.0)
    }

    pub(super) fn type_term(&mut self, node: Node<'_>) -> TermId {
        self.type_within(node, MAX_TERM / 2)
    }

    fn type_within(&mut self, node: Node<'_>, left: u32) -> TermId {
        let Some(left) = left.checked_sub(1) else { return Sketch::UNKNOWN };
        match self.w.kind(node) {
            K::TypeIdentifier if self.w.text(node) == "Self" => {
                self.owners.last().map_or(Sketch::UNKNOWN, |it| it.1)
            }
            K::TypeIdentifier | K::ScopedType | K::GenericType | K::Identifier => {
                let of = self.type_name(node);
                self.w.s.object(of)
            }
            K::ReferenceType | K::PointerType => {
                self.w.field(node, F::Type).map_or(Sketch::UNKNOWN, |it| self.type_within(it, left))
            }
            K::Dynamic | K::Abstract => {
                let of = self.w.field(node, F::Trait).or_else(|| node.named_child(0));
                of.map_or(Sketch::UNKNOWN, |it| self.type_within(it, left))
            }
            K::Bounded => {
                node.named_child(0).map_or(Sketch::UNKNOWN, |it| self.type_within(it, left))
            }
            K::ArrayType => {
                let of = self
                    .w
                    .field(node, F::Element)
                    .map_or(Sketch::UNKNOWN, |it| self.type_within(it, left));
                self.w.s.term(Term::Many(of))
            }
            K::TupleType => {
                let mut items = Vec::new();
                for (i, it) in children(node).take(8).enumerate() {
                    items.extend([self.w.s.word(&i.to_string()), self.type_within(it, left)]);
                }
                let list = self.w.s.list(&items);
                self.w.s.term(Term::Record(list))
            }
            K::FunctionType => {
                let res = self
                    .w
                    .field(node, F::ReturnType)
                    .map_or(Sketch::UNKNOWN, |it| self.type_within(it, left));
                self.w.s.term(Term::Function(res))
            }
            K::Primitive => self.w.s.literal("int"),
            _ => Sketch::UNKNOWN,
        }
    }

    /// The type itself.
    pub(super) fn type_name(&mut self, node: Node<'_>) -> TermId {
        match self.w.kind(node) {
            K::TypeIdentifier | K::Identifier if self.w.text(node) == "Self" => self.own_type(),
            K::TypeIdentifier | K::Identifier => {
                let text = self.w.text(node);
                self.w.s.free(text)
            }
            K::ScopedType | K::Scoped => {
                let (path, name) = (self.w.field(node, F::Path), self.w.field(node, F::Name));
                let Some(name) = name else { return Sketch::UNKNOWN };
                let text = self.w.text(name);
                match path {
                    Some(path) => {
                        let of = self.path_within(path, MAX_TERM / 2);
                        self.w.s.member(of, text)
                    }
                    None => self.w.s.free(text),
                }
            }
            K::GenericType | K::GenericTypeTurbo => {
                let Some(of) = self.w.field(node, F::Type) else { return Sketch::UNKNOWN };
                let of = self.type_name(of);
                let mut items = vec![of];
                let arguments = self.w.field(node, F::TypeArguments);
                let grammar = self.w.grammar;
                let of_type =
                    |it: &Node<'_>| it.kind() != "lifetime" && grammar.kind(*it) != K::TypeBinding;
                for it in arguments.into_iter().flat_map(children).filter(of_type).take(4) {
                    items.push(self.type_term(it));
                }
                let list = self.w.s.list(&items);
                self.w.s.term(Term::Args(list))
            }
            K::ReferenceType => {
                self.w.field(node, F::Type).map_or(Sketch::UNKNOWN, |it| self.type_name(it))
            }
            K::Dynamic | K::Abstract => {
                let of = self.w.field(node, F::Trait).or_else(|| node.named_child(0));
                of.map_or(Sketch::UNKNOWN, |it| self.type_name(it))
            }
            _ => Sketch::UNKNOWN,
        }
    }

    pub(super) fn bind_pattern(&mut self, pattern: Node<'_>, of: TermId, left: u32) {
        let Some(left) = left.checked_sub(1) else { return };
        match self.w.kind(pattern) {
            K::Identifier => {
                let text = self.w.text(pattern);
                // A name in upper case is a constant or a variant.
                if !text.starts_with(char::is_uppercase) {
                    let word = self.w.s.word(text);
                    self.w.s.shadow(word, of);
                }
            }
            K::RefPattern | K::ReferencePattern | K::MutPattern => {
                if let Some(it) = children(pattern).last() {
                    self.bind_pattern(it, of, left);
                }
            }
            K::CapturedPattern => {
                for it in children(pattern) {
                    self.bind_pattern(it, of, left);
                }
            }
            K::TuplePattern => {
                for (i, it) in children(pattern).enumerate() {
                    let place = self.w.s.word(&i.to_string());
                    let part = self.w.s.term(Term::Member(of, place));
                    self.bind_pattern(it, part, left);
                }
            }
            K::TupleStruct => {
                let name = self.w.field(pattern, F::Type);
                let is_wrapper = name.is_some_and(|it| matches!(self.w.text(it), "Some" | "Ok"));
                let inner =
                    if is_wrapper { self.w.s.term(Term::Await(of)) } else { Sketch::UNKNOWN };
                for it in children(pattern).skip(1) {
                    self.bind_pattern(it, inner, left);
                }
            }
            K::StructPattern => {
                let of = match self.w.field(pattern, F::Type) {
                    Some(it) => {
                        let of = self.type_name(it);
                        self.w.s.object(of)
                    }
                    None => of,
                };
                let grammar = self.w.grammar;
                for it in children(pattern).filter(|it| grammar.kind(*it) == K::FieldPattern) {
                    let Some(name) = self.w.field(it, F::Name) else { continue };
                    let text = self.w.text(name);
                    let part = self.w.s.member(of, text);
                    if let Some(inner) = self.w.field(it, F::Pattern) {
                        self.bind_pattern(inner, part, left);
                    } else {
                        let word = self.w.s.word(text);
                        self.w.s.shadow(word, part);
                    }
                }
            }
            K::OrPattern => {
                if let Some(it) = pattern.named_child(0) {
                    self.bind_pattern(it, of, left);
                }
            }
            _ => {}
        }
    }
}
