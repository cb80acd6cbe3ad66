//! Expressions and annotations of Python as terms.

use tree_sitter::Node;

use super::super::walk::{MAX_TERM, children, unquoted};
use super::{F, K, Python};
use crate::facts::{Term, TermId};
use crate::sketch::Sketch;

impl<'s> Python<'_, 's> {
    pub(super) fn term(&mut self, node: Node<'_>) -> TermId {
        self.term_within(node, MAX_TERM)
    }

    fn term_within(&mut self, node: Node<'_>, left: u32) -> TermId {
        let Some(left) = left.checked_sub(1) else { return Sketch::UNKNOWN };
        match self.w.kind(node) {
            K::Identifier => {
                let text = self.w.text(node);
                let own = self.selfs.iter().rev().find(|it| it.0 == text).map(|it| it.1);
                own.unwrap_or_else(|| self.w.s.free(text))
            }
            K::Attribute => {
                let (object, name) =
                    (self.w.field(node, F::Object), self.w.field(node, F::AttributeName));
                let (Some(object), Some(name)) = (object, name) else { return Sketch::UNKNOWN };
                let of = self.term_within(object, left);
                let name = self.w.text(name);
                self.w.s.member(of, name)
            }
            K::Call => self.called(node, left),
            K::Await => match node.named_child(0) {
                Some(it) => {
                    let it = self.term_within(it, left);
                    self.w.s.term(Term::Await(it))
                }
                None => Sketch::UNKNOWN,
            },
            K::Parenthesized => {
                node.named_child(0).map_or(Sketch::UNKNOWN, |it| self.term_within(it, left))
            }
            K::Conditional => {
                let sides = [node.named_child(0), node.named_child(2)];
                let items: Vec<TermId> =
                    sides.into_iter().flatten().map(|it| self.term_within(it, left)).collect();
                self.w.s.either(&items)
            }
            K::Boolean => {
                let sides = [self.w.field(node, F::Left), self.w.field(node, F::Right)];
                let items: Vec<TermId> =
                    sides.into_iter().flatten().map(|it| self.term_within(it, left)).collect();
                self.w.s.either(&items)
            }
            K::Subscript => match self.w.field(node, F::Value) {
                Some(it) => {
                    let of = self.term_within(it, left);
                    self.w.s.term(Term::Element(of))
                }
                None => Sketch::UNKNOWN,
            },
            K::List | K::Set | K::ListComprehension | K::Generator => {
                let of =
                    node.named_child(0).map_or(Sketch::UNKNOWN, |it| self.term_within(it, left));
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
            K::Dictionary | K::DictComprehension => self.w.s.literal("dict"),
            K::Text | K::Concatenated => self.w.s.literal("str"),
            K::Integer | K::Float => self.w.s.literal("int"),
            K::True | K::False => self.w.s.literal("bool"),
            K::Lambda => self.w.s.term(Term::Function(Sketch::UNKNOWN)),
            _ => Sketch::UNKNOWN,
        }
    }

    fn called(&mut self, node: Node<'_>, left: u32) -> TermId {
        let Some(callee) = self.w.field(node, F::Function) else { return Sketch::UNKNOWN };
        if self.w.kind(callee) == K::Identifier
            && self.w.text(callee) == "super"
            && let Some(class) = self.w.s.class()
        {
            return self.w.s.term(Term::Super(class));
        }
        let of = self.term_within(callee, left);
        self.w.s.term(Term::Call(of))
    }

    /// An annotation: a value of the type it names.
    pub(super) fn type_term(&mut self, node: Node<'_>) -> TermId {
        self.type_within(node, MAX_TERM / 2)
    }

    fn type_within(&mut self, node: Node<'_>, left: u32) -> TermId {
        let Some(left) = left.checked_sub(1) else { return Sketch::UNKNOWN };
        match self.w.kind(node) {
            K::Type => node.named_child(0).map_or(Sketch::UNKNOWN, |it| self.type_within(it, left)),
            K::Identifier if self.w.text(node) == "Self" => {
                self.w.s.class().map_or(Sketch::UNKNOWN, |it| self.w.s.term(Term::This(it)))
            }
            K::Identifier | K::Attribute => {
                let of = self.term(node);
                self.w.s.object(of)
            }
            K::Text => self.quoted(unquoted(self.w.text(node))),
            K::Binary | K::Union => {
                let items: Vec<TermId> =
                    children(node).map(|it| self.type_within(it, left)).collect();
                self.w.s.either(&items)
            }
            K::GenericType | K::Subscript => self.generic(node, left),
            _ => Sketch::UNKNOWN,
        }
    }

    /// A type written as a string, because it is defined further down.
    fn quoted(&mut self, text: &'s str) -> TermId {
        let mut res = Sketch::UNKNOWN;
        for part in text.split('|').map(str::trim).filter(|it| *it != "None") {
            let is_path =
                part.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'.'));
            if !is_path || part.is_empty() || res != Sketch::UNKNOWN {
                return Sketch::UNKNOWN;
            }
            let mut names = part.split('.');
            let mut of = names.next().map_or(Sketch::UNKNOWN, |it| self.w.s.free(it));
            for name in names {
                of = self.w.s.member(of, name);
            }
            res = self.w.s.object(of);
        }
        res
    }

    fn generic(&mut self, node: Node<'_>, left: u32) -> TermId {
        let Some(head) = node.named_child(0) else { return Sketch::UNKNOWN };
        let name = self.w.text(head).rsplit('.').next().unwrap_or_default();
        let grammar = self.w.grammar;
        let arguments: Vec<Node<'_>> = children(node)
            .skip(1)
            .flat_map(|it| {
                let inner: Vec<Node<'_>> = if grammar.kind(it) == K::TypeParameter {
                    children(it).collect()
                } else {
                    vec![it]
                };
                inner
            })
            .take(4)
            .collect();
        let items: Vec<TermId> = arguments.iter().map(|it| self.type_within(*it, left)).collect();
        match name {
            "Optional" | "Final" | "ClassVar" | "Annotated" | "Required" | "NotRequired" => {
                items.first().copied().unwrap_or(Sketch::UNKNOWN)
            }
            "Union" => self.w.s.either(&items),
            "Callable" => {
                let res = items.last().copied().unwrap_or(Sketch::UNKNOWN);
                self.w.s.term(Term::Function(res))
            }
            // The type itself is meant.
            "Type" | "type" => match items.first().map(|it| self.w.s.get(*it)) {
                Some(Term::New(of)) => of,
                _ => Sketch::UNKNOWN,
            },
            _ => {
                let head = self.term(head);
                let list = self.w.s.list(&[&[head], items.as_slice()].concat());
                let of = self.w.s.term(Term::Args(list));
                self.w.s.object(of)
            }
        }
    }
}
