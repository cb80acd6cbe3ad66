//! Expressions of TypeScript as terms.

use tree_sitter::Node;

use super::super::walk::{MAX_TERM, children, unquoted};
use super::{F, K, Script};
use crate::facts::{ImportKind, Term, TermId};
use crate::sketch::Sketch;

impl Script<'_, '_> {
    /// What an expression is, as far as names say.
    pub(super) fn term(&mut self, node: Node<'_>) -> TermId {
        self.term_within(node, MAX_TERM)
    }

    fn term_within(&mut self, node: Node<'_>, left: u32) -> TermId {
        let Some(left) = left.checked_sub(1) else { return Sketch::UNKNOWN };
        match self.w.kind(node) {
            K::Identifier => {
                let text = self.w.text(node);
                if text == "undefined" { Sketch::UNKNOWN } else { self.w.s.free(text) }
            }
            K::This => self.this().map_or(Sketch::UNKNOWN, |it| self.w.s.term(it)),
            K::Super => {
                self.w.s.class().map_or(Sketch::UNKNOWN, |it| self.w.s.term(Term::Super(it)))
            }
            K::MemberAccess => {
                let (object, property) =
                    (self.w.field(node, F::Object), self.w.field(node, F::Property));
                let (Some(object), Some(property)) = (object, property) else {
                    return Sketch::UNKNOWN;
                };
                let of = self.term_within(object, left);
                let name = self.w.text(property);
                self.w.s.member(of, name)
            }
            K::NestedIdentifier => {
                let parts: Vec<Node<'_>> = children(node).collect();
                let Some((first, rest)) = parts.split_first() else { return Sketch::UNKNOWN };
                let mut res = self.term_within(*first, left);
                for it in rest {
                    let name = self.w.text(*it);
                    res = self.w.s.member(res, name);
                }
                res
            }
            K::Subscript => self.subscript(node, left),
            K::Call => self.called(node, left),
            K::New => {
                let Some(of) = self.w.field(node, F::Constructor) else { return Sketch::UNKNOWN };
                let of = self.term_within(of, left);
                let of = self.with_arguments(of, self.w.field(node, F::TypeArguments));
                self.w.s.object(of)
            }
            K::Await => match node.named_child(0) {
                Some(it) => {
                    let it = self.term_within(it, left);
                    self.w.s.term(Term::Await(it))
                }
                None => Sketch::UNKNOWN,
            },
            K::Parenthesized | K::NonNull | K::Satisfies => {
                node.named_child(0).map_or(Sketch::UNKNOWN, |it| self.term_within(it, left))
            }
            K::As => {
                let declared = node.named_child(1).map(|it| self.type_term(it));
                let declared = declared.filter(|it| *it != Sketch::UNKNOWN);
                declared
                    .or_else(|| node.named_child(0).map(|it| self.term_within(it, left)))
                    .unwrap_or(Sketch::UNKNOWN)
            }
            K::Assignment => self
                .w
                .field(node, F::Right)
                .map_or(Sketch::UNKNOWN, |it| self.term_within(it, left)),
            K::Ternary => {
                let sides =
                    [self.w.field(node, F::Consequence), self.w.field(node, F::Alternative)];
                self.any_of(sides.into_iter().flatten(), left)
            }
            K::Binary => self.binary(node, left),
            K::Sequence => {
                children(node).last().map_or(Sketch::UNKNOWN, |it| self.term_within(it, left))
            }
            K::Object => self.record(node, left),
            K::Array => {
                let items: Vec<Node<'_>> = children(node).take(3).collect();
                let of = self.any_of(items.into_iter(), left);
                self.w.s.term(Term::Many(of))
            }
            K::Text | K::Template => self.w.s.literal("string"),
            K::Number => self.w.s.literal("number"),
            K::Regex => self.w.s.literal("RegExp"),
            K::True | K::False => self.w.s.literal("boolean"),
            K::JsxElement | K::JsxSelfClosing => self.w.s.literal("Element"),
            K::Arrow | K::FunctionExpression => self.returned(node, left),
            _ => Sketch::UNKNOWN,
        }
    }

    fn any_of<'t>(&mut self, nodes: impl Iterator<Item = Node<'t>>, left: u32) -> TermId {
        let items: Vec<TermId> = nodes.map(|it| self.term_within(it, left)).collect();
        self.w.s.either(&items)
    }

    fn binary(&mut self, node: Node<'_>, left: u32) -> TermId {
        let operator = self.w.field(node, F::Operator).map_or("", |it| self.w.text(it));
        let sides = [self.w.field(node, F::Left), self.w.field(node, F::Right)];
        match operator {
            "||" | "??" => self.any_of(sides.into_iter().flatten(), left),
            "&&" => sides[1].map_or(Sketch::UNKNOWN, |it| self.term_within(it, left)),
            "+" | "-" | "*" | "/" | "%" | "**" => self.w.s.literal("number"),
            _ => self.w.s.literal("boolean"),
        }
    }

    fn subscript(&mut self, node: Node<'_>, left: u32) -> TermId {
        let (object, index) = (self.w.field(node, F::Object), self.w.field(node, F::Index));
        let (Some(object), Some(index)) = (object, index) else { return Sketch::UNKNOWN };
        let of = self.term_within(object, left);
        match self.w.kind(index) {
            K::Text => {
                let name = unquoted(self.w.text(index));
                self.w.s.member(of, name)
            }
            K::Number => {
                let name = self.w.text(index);
                self.w.s.member(of, name)
            }
            _ => self.w.s.term(Term::Element(of)),
        }
    }

    fn called(&mut self, node: Node<'_>, left: u32) -> TermId {
        let Some(callee) = self.w.field(node, F::Function) else { return Sketch::UNKNOWN };
        if self.w.kind(callee) == K::ImportKeyword {
            return self.imported_later(node);
        }
        if let Some(module) = self.required(node) {
            let import = self.add_import(ImportKind::Module, module, "*", None, node);
            return self.w.s.term(Term::Import(import));
        }
        let of = self.term_within(callee, left);
        let of = self.with_arguments(of, self.w.field(node, F::TypeArguments));
        self.w.s.term(Term::Call(of))
    }

    /// `import("./a")` promises the module.
    fn imported_later(&mut self, node: Node<'_>) -> TermId {
        let module = self.w.field(node, F::Arguments).and_then(|it| it.named_child(0));
        let Some(module) = module.filter(|it| self.w.kind(*it) == K::Text) else {
            return Sketch::UNKNOWN;
        };
        let import =
            self.add_import(ImportKind::Module, unquoted(self.w.text(module)), "*", None, node);
        self.w.s.term(Term::Import(import))
    }

    fn record(&mut self, node: Node<'_>, left: u32) -> TermId {
        let mut items = Vec::new();
        for it in children(node).take(64) {
            match self.w.kind(it) {
                K::Pair => {
                    let (key, value) = (self.w.field(it, F::Key), self.w.field(it, F::Value));
                    let (Some(key), Some(value)) = (key, value) else { continue };
                    let value = self.term_within(value, left.min(4));
                    items.extend([self.w.s.word(unquoted(self.w.text(key))), value]);
                }
                K::ShorthandProperty => {
                    let text = self.w.text(it);
                    items.extend([self.w.s.word(text), self.w.s.free(text)]);
                }
                _ => {}
            }
        }
        let list = self.w.s.list(&items);
        self.w.s.term(Term::Record(list))
    }

    /// What calling a function expression gives.
    fn returned(&mut self, node: Node<'_>, left: u32) -> TermId {
        let declared = self.w.field(node, F::ReturnType).map(|it| self.type_term(it));
        let body = self.w.field(node, F::Body).filter(|it| self.w.kind(*it) != K::Block);
        // An expression that speaks of the parameters means nothing outside.
        let body = body.filter(|_| {
            self.w.field(node, F::Parameters).is_none_or(|it| it.named_child_count() == 0)
        });
        let res = declared
            .or_else(|| body.map(|it| self.term_within(it, left)))
            .unwrap_or(Sketch::UNKNOWN);
        self.w.s.term(Term::Function(res))
    }

    /// The expression inside parentheses and assertions.
    pub(super) fn unwrap<'t>(&self, mut node: Node<'t>) -> Node<'t> {
        while matches!(self.w.kind(node), K::Parenthesized | K::NonNull | K::As | K::Satisfies) {
            let Some(inner) = node.named_child(0) else { break };
            node = inner;
        }
        node
    }
}
