//! What macros are given: code where it reads as code, else tokens.
//!
//! No macro is known by name. `cfg_rt! { mod a; }` holds items, `assert!(a.b())` an expression; of
//! `cfg_if! { if … { … } }` only what stands in its inner braces can be read.

use std::mem::take;

use tree_sitter::{Node, Point, Range};

use super::super::walk::children;
use super::{F, K, Rust};
use crate::facts::RefKind;
use crate::sketch::ANY_NUMBER;

/// How many macros inside one another are read; each costs another look at the same text.
const MAX_MACROS: u32 = 4;

impl Rust<'_, '_> {
    pub(super) fn macro_call(&mut self, node: Node<'_>) {
        if let Some(name) =
            self.w.field(node, F::MacroName).filter(|it| self.w.kind(*it) == K::Identifier)
        {
            let text = self.w.text(name);
            let term = self.w.s.free(text);
            self.w.s.refer(RefKind::Call, term, name, ANY_NUMBER);
        }
        let grammar = self.w.grammar;
        if let Some(tokens) = children(node).find(|it| grammar.kind(*it) == K::TokenTree) {
            self.given(tokens, 16);
        }
    }

    /// Braces are read as what they hold, other brackets as a list of expressions.
    fn given(&mut self, tokens: Node<'_>, left: u32) {
        if self.n_macros >= MAX_MACROS {
            return self.tokens(tokens, left);
        }
        let mut part = tokens.range();
        if self.w.text(tokens).starts_with('{') {
            part = inside(part);
        }
        let tree = self.w.grammar.parse_part(self.w.s.source, part);
        let Some(tree) = tree.filter(|it| is_clean(it.root_node())) else {
            return self.tokens(tokens, left);
        };
        // Nodes of two trees may bear one number.
        let (contexts, spoken) = (take(&mut self.contexts), self.spoken.take());
        let outer = self.w.s.scope();
        self.n_macros += 1;
        self.visit(&mut tree.walk());
        self.n_macros -= 1;
        self.w.s.back_to(outer);
        (self.contexts, self.spoken) = (contexts, spoken);
    }

    /// Of mere tokens, a name before parentheses is taken for a call.
    fn tokens(&mut self, tree: Node<'_>, left: u32) {
        let mut cursor = tree.walk();
        let tokens: Vec<Node<'_>> = tree.children(&mut cursor).collect();
        let word = |it: Option<&Node<'_>>| it.map_or("", |it| self.w.text(*it)).to_owned();
        let mut found = Vec::new();
        for (i, it) in tokens.iter().enumerate() {
            let is_name = matches!(self.w.kind(*it), K::Identifier | K::SelfWord);
            let is_called = tokens.get(i + 1).is_some_and(|it| {
                self.w.kind(*it) == K::TokenTree && self.w.text(*it).starts_with('(')
            });
            let before = i.checked_sub(1).and_then(|it| tokens.get(it));
            if !is_name || (is_called && word(before) == "fn") {
                continue;
            }
            match word(before).as_str() {
                "." | "::" => {
                    let of = i.checked_sub(2).and_then(|it| tokens.get(it)).copied();
                    let of = of.filter(|it| {
                        matches!(
                            self.w.kind(*it),
                            K::Identifier | K::SelfWord | K::CrateWord | K::SuperWord
                        )
                    });
                    let further = i.checked_sub(3).and_then(|it| tokens.get(it));
                    let is_start = !matches!(word(further).as_str(), "." | "::");
                    if is_called && let Some(of) = of.filter(|_| is_start) {
                        found.push((Some(of), *it, RefKind::Call));
                    }
                }
                _ if is_called => found.push((None, *it, RefKind::Call)),
                _ if self.w.kind(*it) == K::Identifier => found.push((None, *it, RefKind::Use)),
                _ => {}
            }
        }
        for (of, name, kind) in found {
            let text = self.w.text(name);
            let term = match of {
                Some(of) => {
                    let of = self.term(of);
                    self.w.s.member(of, text)
                }
                None => self.w.s.free(text),
            };
            self.w.s.refer(kind, term, name, ANY_NUMBER);
        }
        for it in tokens {
            match self.w.kind(it) {
                K::TokenTree if left == 0 => {}
                K::TokenTree if self.w.text(it).starts_with('{') => {
                    self.n_macros += 1;
                    self.given(it, left - 1);
                    self.n_macros -= 1;
                }
                K::TokenTree => self.tokens(it, left - 1),
                K::Text | K::RawText => self.w.s.string(it),
                K::LineComment | K::BlockComment => self.w.s.comment(it),
                _ => {}
            }
        }
    }
}

/// Without the brackets, which are a byte each.
fn inside(of: Range) -> Range {
    let (start, end) = (of.start_point, of.end_point);
    Range {
        start_byte: of.start_byte + 1,
        end_byte: of.end_byte.saturating_sub(1).max(of.start_byte + 1),
        start_point: Point { column: start.column + 1, ..start },
        end_point: Point { column: end.column.saturating_sub(1), ..end },
    }
}

/// Whether all of it could be read; an expression at the end needs no semicolon.
fn is_clean(root: Node<'_>) -> bool {
    if !root.has_error() {
        return true;
    }
    let mut cursor = root.walk();
    let mut broken = root.children(&mut cursor).filter(Node::has_error);
    let (Some(last), None) = (broken.next(), broken.next()) else { return false };
    let mut cursor = last.walk();
    let mut broken = last.children(&mut cursor).filter(Node::has_error);
    matches!((broken.next(), broken.next()), (Some(it), None) if it.is_missing() && it.kind() == ";")
}
