//! Types of TypeScript as terms: each stands for a value of that type.

use tree_sitter::Node;

use super::super::walk::{MAX_TERM, children, unquoted};
use super::{F, K, Script};
use crate::facts::{Term, TermId};
use crate::sketch::Sketch;

impl Script<'_, '_> {
    pub(super) fn type_term(&mut self, node: Node<'_>) -> TermId {
        self.type_within(node, MAX_TERM)
    }

    fn type_within(&mut self, node: Node<'_>, left: u32) -> TermId {
        let Some(left) = left.checked_sub(1) else { return Sketch::UNKNOWN };
        match self.w.kind(node) {
            K::TypeIdentifier | K::Identifier | K::Nested | K::Generic => {
                let of = self.type_name(node);
                self.w.s.object(of)
            }
            K::Predefined => match self.w.text(node) {
                "string" => self.w.s.literal("string"),
                "number" => self.w.s.literal("number"),
                "boolean" => self.w.s.literal("boolean"),
                "void" | "never" | "symbol" | "bigint" => self.w.s.literal("void"),
                _ => Sketch::UNKNOWN,
            },
            K::ArrayType => {
                let of =
                    node.named_child(0).map_or(Sketch::UNKNOWN, |it| self.type_within(it, left));
                self.w.s.term(Term::Many(of))
            }
            K::TypeAnnotation
            | K::ReadonlyType
            | K::ParenthesizedType
            | K::OptionalType
            | K::RestType
            | K::Constraint => {
                node.named_child(0).map_or(Sketch::UNKNOWN, |it| self.type_within(it, left))
            }
            K::Union => {
                let mut items = Vec::new();
                self.union_parts(node, left, &mut items);
                self.w.s.either(&items)
            }
            K::Intersection => {
                let items: Vec<TermId> =
                    children(node).map(|it| self.type_within(it, left)).collect();
                let list = self.w.s.list(&items);
                self.w.s.term(Term::Both(list))
            }
            K::ObjectType => self.object_type(node, left),
            K::FunctionType => {
                let res = self
                    .w
                    .field(node, F::ReturnType)
                    .map_or(Sketch::UNKNOWN, |it| self.type_within(it, left));
                self.w.s.term(Term::Function(res))
            }
            K::Lookup => self.lookup_type(node, left),
            K::TypeQuery => node.named_child(0).map_or(Sketch::UNKNOWN, |it| self.term(it)),
            K::Tuple => {
                let mut items = Vec::new();
                for (i, it) in children(node).enumerate() {
                    let it = self.w.field(it, F::Type).unwrap_or(it);
                    items.extend([self.w.s.word(&i.to_string()), self.type_within(it, left)]);
                }
                let list = self.w.s.list(&items);
                self.w.s.term(Term::Record(list))
            }
            K::Literal => match node.named_child(0).map(|it| self.w.kind(it)) {
                Some(K::Text) => self.w.s.literal("string"),
                Some(K::Number) => self.w.s.literal("number"),
                Some(K::True | K::False) => self.w.s.literal("boolean"),
                _ => Sketch::UNKNOWN,
            },
            K::ThisType => self.this().map_or(Sketch::UNKNOWN, |it| self.w.s.term(it)),
            K::TypePredicate | K::TypePredicateAnnotation => self.w.s.literal("boolean"),
            K::Asserts => self.w.s.literal("void"),
            _ => Sketch::UNKNOWN,
        }
    }

    fn union_parts(&mut self, node: Node<'_>, left: u32, acc: &mut Vec<TermId>) {
        for it in children(node) {
            // Unions nest to the left, one level for every part.
            if self.w.kind(it) == K::Union && left > 0 {
                self.union_parts(it, left - 1, acc);
            } else if acc.len() < 16 {
                acc.push(self.type_within(it, left));
            }
        }
    }

    fn object_type(&mut self, node: Node<'_>, left: u32) -> TermId {
        let mut items = Vec::new();
        for it in children(node).take(64) {
            let Some(name) = self.w.field(it, F::Name) else { continue };
            let value = match self.w.kind(it) {
                K::PropertySignature => self
                    .w
                    .field(it, F::Type)
                    .map_or(Sketch::UNKNOWN, |it| self.type_within(it, left)),
                K::MethodSignature => {
                    let res = self.w.field(it, F::ReturnType);
                    let res = res.map_or(Sketch::UNKNOWN, |it| self.type_within(it, left));
                    self.w.s.term(Term::Function(res))
                }
                _ => continue,
            };
            items.extend([self.w.s.word(unquoted(self.w.text(name))), value]);
        }
        let list = self.w.s.list(&items);
        self.w.s.term(Term::Record(list))
    }

    /// `T["name"]`, `T[number]`.
    fn lookup_type(&mut self, node: Node<'_>, left: u32) -> TermId {
        let (of, key) = (node.named_child(0), node.named_child(1));
        let (Some(of), Some(key)) = (of, key) else { return Sketch::UNKNOWN };
        let of = self.type_within(of, left);
        let text = self.w.text(key);
        if self.w.kind(key) == K::Literal && unquoted(text) != text {
            return self.w.s.member(of, unquoted(text));
        }
        self.w.s.term(Term::Element(of))
    }

    /// The type itself rather than a value of it.
    pub(super) fn type_name(&mut self, node: Node<'_>) -> TermId {
        match self.w.kind(node) {
            K::TypeIdentifier | K::Identifier => {
                let text = self.w.text(node);
                self.w.s.free(text)
            }
            K::Nested => {
                let (module, name) = (self.w.field(node, F::Module), self.w.field(node, F::Name));
                let (Some(module), Some(name)) = (module, name) else { return Sketch::UNKNOWN };
                let of = if self.w.kind(module) == K::Identifier {
                    self.type_name(module)
                } else {
                    self.term(module)
                };
                let name = self.w.text(name);
                self.w.s.member(of, name)
            }
            K::Generic => {
                let Some(name) = self.w.field(node, F::Name) else { return Sketch::UNKNOWN };
                let of = self.type_name(name);
                self.with_arguments(of, self.w.field(node, F::TypeArguments))
            }
            _ => Sketch::UNKNOWN,
        }
    }

    pub(super) fn with_arguments(&mut self, of: TermId, arguments: Option<Node<'_>>) -> TermId {
        let Some(arguments) = arguments else { return of };
        let mut items = vec![of];
        for it in children(arguments).take(8) {
            items.push(self.type_within(it, MAX_TERM / 2));
        }
        let list = self.w.s.list(&items);
        self.w.s.term(Term::Args(list))
    }
}
