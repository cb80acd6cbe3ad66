//! Expressions and types of Java as terms.

use tree_sitter::Node;

use super::super::walk::{MAX_TERM, children};
use super::{F, Java, K};
use crate::facts::{Term, TermId};
use crate::sketch::Sketch;

impl Java<'_, '_> {
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
            K::This => self.w.s.class().map_or(Sketch::UNKNOWN, |it| self.w.s.term(Term::This(it))),
            K::Super => {
                self.w.s.class().map_or(Sketch::UNKNOWN, |it| self.w.s.term(Term::Super(it)))
            }
            K::FieldAccess => {
                let (of, name) = (self.w.field(node, F::Object), self.w.field(node, F::Field));
                let (Some(of), Some(name)) = (of, name) else { return Sketch::UNKNOWN };
                let of = self.term_within(of, left);
                if self.w.kind(name) == K::This {
                    return self.w.s.object(of);
                }
                let name = self.w.text(name);
                self.w.s.member(of, name)
            }
            K::Invocation => {
                let Some(name) = self.w.field(node, F::Name) else { return Sketch::UNKNOWN };
                let text = self.w.text(name);
                let of = match self.w.field(node, F::Object) {
                    Some(of) => {
                        let of = self.term_within(of, left);
                        self.w.s.member(of, text)
                    }
                    None => self.w.s.implicit(text),
                };
                self.w.s.term(Term::Call(of))
            }
            K::Creation => match self.w.field(node, F::Type) {
                Some(of) => {
                    let of = self.type_name(of);
                    self.w.s.object(of)
                }
                None => Sketch::UNKNOWN,
            },
            K::Parenthesized => {
                node.named_child(0).map_or(Sketch::UNKNOWN, |it| self.term_within(it, left))
            }
            K::Cast => self.w.field(node, F::Type).map_or(Sketch::UNKNOWN, |it| self.type_term(it)),
            K::Assignment => self
                .w
                .field(node, F::Right)
                .map_or(Sketch::UNKNOWN, |it| self.term_within(it, left)),
            K::Ternary => {
                let sides =
                    [self.w.field(node, F::Consequence), self.w.field(node, F::Alternative)];
                let items: Vec<TermId> =
                    sides.into_iter().flatten().map(|it| self.term_within(it, left)).collect();
                self.w.s.either(&items)
            }
            K::ArrayAccess => match self.w.field(node, F::Array) {
                Some(of) => {
                    let of = self.term_within(of, left);
                    self.w.s.term(Term::Element(of))
                }
                None => Sketch::UNKNOWN,
            },
            K::ArrayCreation => {
                let of =
                    self.w.field(node, F::Type).map_or(Sketch::UNKNOWN, |it| self.type_term(it));
                self.w.s.term(Term::Many(of))
            }
            K::Text => self.w.s.literal("String"),
            K::Int | K::HexInt | K::BinaryInt | K::OctalInt => {
                let is_long = self.w.text(node).ends_with(['l', 'L']);
                self.w.s.literal(if is_long { "long" } else { "int" })
            }
            K::Float => {
                let is_short = self.w.text(node).ends_with(['f', 'F']);
                self.w.s.literal(if is_short { "float" } else { "double" })
            }
            K::Char => self.w.s.literal("char"),
            K::True | K::False | K::InstanceOf => self.w.s.literal("boolean"),
            K::Null => self.w.s.literal("null"),
            K::Lambda | K::MethodReference => self.w.s.literal("lambda"),
            K::Unary => match (self.w.field(node, F::Operator), self.w.field(node, F::Operand)) {
                (Some(sign), _) if self.w.text(sign) == "!" => self.w.s.literal("boolean"),
                (_, Some(of)) => self.term_within(of, left),
                _ => Sketch::UNKNOWN,
            },
            K::Binary => self.combined(node, left),
            K::ClassLiteral => self.w.s.literal("Class"),
            K::GenericType | K::TypeIdentifier | K::ScopedType => self.type_name(node),
            _ => Sketch::UNKNOWN,
        }
    }

    /// What two values become: text where one is text, the wider of two numbers.
    fn combined(&mut self, node: Node<'_>, left: u32) -> TermId {
        let sign = self.w.field(node, F::Operator).map_or("", |it| self.w.text(it));
        if matches!(sign, "==" | "!=" | "<" | ">" | "<=" | ">=" | "&&" | "||") {
            return self.w.s.literal("boolean");
        }
        let sides = [self.w.field(node, F::Left), self.w.field(node, F::Right)];
        let sides = sides.map(|it| it.map_or(Sketch::UNKNOWN, |it| self.term_within(it, left)));
        for of in ["String", "double", "float", "long"] {
            let of = self.w.s.literal(of);
            if sides.contains(&of) {
                return of;
            }
        }
        let int = self.w.s.literal("int");
        if sides == [int, int] { int } else { Sketch::UNKNOWN }
    }

    pub(super) fn type_term(&mut self, node: Node<'_>) -> TermId {
        if self.n_types >= MAX_TERM {
            return Sketch::UNKNOWN;
        }
        self.n_types += 1;
        let res = self.type_within(node);
        self.n_types -= 1;
        res
    }

    fn type_within(&mut self, node: Node<'_>) -> TermId {
        match self.w.kind(node) {
            K::TypeIdentifier if self.w.text(node) == "var" => Sketch::UNKNOWN,
            K::TypeIdentifier | K::ScopedType | K::GenericType => {
                let of = self.type_name(node);
                self.w.s.object(of)
            }
            K::ArrayType => {
                let of =
                    self.w.field(node, F::Element).map_or(Sketch::UNKNOWN, |it| self.type_term(it));
                self.w.s.term(Term::Many(of))
            }
            K::Integral | K::Floating | K::BooleanType | K::Void => {
                let word = self.w.s.word_of(node);
                self.w.s.term(Term::Literal(word))
            }
            // `? extends T`.
            K::Wildcard => node.named_child(0).map_or(Sketch::UNKNOWN, |it| self.type_term(it)),
            _ => Sketch::UNKNOWN,
        }
    }

    /// The type itself.
    pub(super) fn type_name(&mut self, node: Node<'_>) -> TermId {
        match self.w.kind(node) {
            K::TypeIdentifier => {
                let text = self.w.text(node);
                self.w.s.free(text)
            }
            K::ScopedType => {
                let grammar = self.w.grammar;
                let parts: Vec<Node<'_>> = children(node)
                    .filter(|it| {
                        matches!(
                            grammar.kind(*it),
                            K::TypeIdentifier | K::ScopedType | K::GenericType
                        )
                    })
                    .collect();
                let Some((first, rest)) = parts.split_first() else { return Sketch::UNKNOWN };
                let mut res = self.type_name(*first);
                for it in rest {
                    let name = self.w.text(*it);
                    res = self.w.s.member(res, name);
                }
                res
            }
            K::GenericType => {
                let Some(of) = node.named_child(0) else { return Sketch::UNKNOWN };
                let of = self.type_name(of);
                let grammar = self.w.grammar;
                let mut items = vec![of];
                let arguments = children(node).find(|it| grammar.kind(*it) == K::TypeArguments);
                for it in arguments.into_iter().flat_map(children).take(4) {
                    items.push(self.type_term(it));
                }
                let list = self.w.s.list(&items);
                self.w.s.term(Term::Args(list))
            }
            _ => Sketch::UNKNOWN,
        }
    }
}
