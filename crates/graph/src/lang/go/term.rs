//! Expressions and types of Go as terms.

use tree_sitter::Node;

use super::super::walk::{MAX_TERM, children};
use super::{F, Go, K};
use crate::facts::{Term, TermId};
use crate::sketch::Sketch;

impl Go<'_, '_> {
    pub(super) fn term(&mut self, node: Node<'_>) -> TermId {
        self.term_within(node, MAX_TERM)
    }

    fn term_within(&mut self, node: Node<'_>, left: u32) -> TermId {
        let Some(left) = left.checked_sub(1) else { return Sketch::UNKNOWN };
        match self.w.kind(node) {
            K::Identifier => {
                let text = self.w.text(node);
                self.w.s.free(text)
            }
            K::Selector => {
                let (of, name) = (self.w.field(node, F::Operand), self.w.field(node, F::Field));
                let (Some(of), Some(name)) = (of, name) else { return Sketch::UNKNOWN };
                let of = self.term_within(of, left);
                let name = self.w.text(name);
                self.w.s.member(of, name)
            }
            K::Call => self.called(node, left),
            K::Composite => {
                self.w.field(node, F::Type).map_or(Sketch::UNKNOWN, |it| self.type_term(it))
            }
            K::Unary => self
                .w
                .field(node, F::Operand)
                .map_or(Sketch::UNKNOWN, |it| self.term_within(it, left)),
            K::Parenthesized => {
                node.named_child(0).map_or(Sketch::UNKNOWN, |it| self.term_within(it, left))
            }
            K::TypeAssertion => {
                self.w.field(node, F::Type).map_or(Sketch::UNKNOWN, |it| self.type_term(it))
            }
            K::Index => match self.w.field(node, F::Operand) {
                Some(of) => {
                    let of = self.term_within(of, left);
                    self.w.s.term(Term::Element(of))
                }
                None => Sketch::UNKNOWN,
            },
            K::Slice => self
                .w
                .field(node, F::Operand)
                .map_or(Sketch::UNKNOWN, |it| self.term_within(it, left)),
            K::FuncLiteral => {
                let res =
                    self.w.field(node, F::Result).map_or(Sketch::UNKNOWN, |it| self.results(it));
                self.w.s.term(Term::Function(res))
            }
            K::Text | K::RawText => self.w.s.literal("string"),
            K::Int | K::Float | K::Rune => self.w.s.literal("int"),
            K::True | K::False => self.w.s.literal("bool"),
            _ => Sketch::UNKNOWN,
        }
    }

    fn called(&mut self, node: Node<'_>, left: u32) -> TermId {
        let Some(callee) = self.w.field(node, F::Function) else { return Sketch::UNKNOWN };
        // `new(T)` and `make([]T)` take a type.
        if self.w.kind(callee) == K::Identifier && matches!(self.w.text(callee), "new" | "make") {
            let of = self.w.field(node, F::Arguments).and_then(|it| it.named_child(0));
            return of.map_or(Sketch::UNKNOWN, |it| self.type_term(it));
        }
        if self.w.kind(callee) == K::Identifier && self.w.text(callee) == "append" {
            let of = self.w.field(node, F::Arguments).and_then(|it| it.named_child(0));
            return of.map_or(Sketch::UNKNOWN, |it| self.term_within(it, left));
        }
        let of = self.term_within(callee, left);
        self.w.s.term(Term::Call(of))
    }

    /// A value of a type.
    pub(super) fn type_term(&mut self, node: Node<'_>) -> TermId {
        self.type_within(node, MAX_TERM / 2)
    }

    fn type_within(&mut self, node: Node<'_>, left: u32) -> TermId {
        let Some(left) = left.checked_sub(1) else { return Sketch::UNKNOWN };
        match self.w.kind(node) {
            K::TypeIdentifier | K::Identifier | K::Qualified | K::GenericType => {
                let of = self.type_name(node);
                self.w.s.object(of)
            }
            K::Pointer | K::ParenthesizedType => {
                node.named_child(0).map_or(Sketch::UNKNOWN, |it| self.type_within(it, left))
            }
            K::SliceType | K::ArrayType => {
                let of = self.w.field(node, F::Element);
                let of = of.map_or(Sketch::UNKNOWN, |it| self.type_within(it, left));
                self.w.s.term(Term::Many(of))
            }
            K::ChannelType | K::MapType => {
                let of = self.w.field(node, F::Value);
                let of = of.map_or(Sketch::UNKNOWN, |it| self.type_within(it, left));
                self.w.s.term(Term::Many(of))
            }
            K::FunctionType => {
                let res =
                    self.w.field(node, F::Result).map_or(Sketch::UNKNOWN, |it| self.results(it));
                self.w.s.term(Term::Function(res))
            }
            _ => Sketch::UNKNOWN,
        }
    }

    /// The type itself.
    pub(super) fn type_name(&mut self, node: Node<'_>) -> TermId {
        match self.w.kind(node) {
            K::TypeIdentifier | K::Identifier => {
                let text = self.w.text(node);
                self.w.s.free(text)
            }
            K::Qualified => {
                let (package, name) = (self.w.field(node, F::Package), self.w.field(node, F::Name));
                let (Some(package), Some(name)) = (package, name) else { return Sketch::UNKNOWN };
                let package = self.w.text(package);
                let of = self.w.s.free(package);
                let name = self.w.text(name);
                self.w.s.member(of, name)
            }
            K::Pointer | K::ParenthesizedType | K::TypeElem => {
                node.named_child(0).map_or(Sketch::UNKNOWN, |it| self.type_name(it))
            }
            K::GenericType => {
                let Some(of) = self.w.field(node, F::Type) else { return Sketch::UNKNOWN };
                let of = self.type_name(of);
                let mut items = vec![of];
                for it in
                    self.w.field(node, F::TypeArguments).into_iter().flat_map(children).take(4)
                {
                    let it = it.named_child(0).unwrap_or(it);
                    items.push(self.type_term(it));
                }
                let list = self.w.s.list(&items);
                self.w.s.term(Term::Args(list))
            }
            _ => Sketch::UNKNOWN,
        }
    }
}
