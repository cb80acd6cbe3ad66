//! What macros are given: items, statements, or a list of expressions.
//!
//! No macro is known by name. `cfg_rt! { mod a; }` holds items, `assert!(a.b())` an expression; of
//! `cfg_if! { if … { … } }` only what stands in its inner braces can be read. Items and statements are
//! parsed once more, which costs what the file cost, and several times that where it fails; expressions,
//! by far the most, are read from their tokens.

use std::mem::take;

use tree_sitter::{Node, Point, Range, TreeCursor};

use super::super::walk::children;
use super::tokens::Tokens;
use super::{F, K, Rust};
use crate::facts::RefKind;
use crate::sketch::{ANY_NUMBER, Sketch};

/// What an item begins with.
const ITEMS: &[K] = &[
    K::PubWord,
    K::FnWord,
    K::StructWord,
    K::EnumWord,
    K::ImplWord,
    K::ModWord,
    K::UseWord,
    K::TraitWord,
    K::TypeWord,
    K::ConstWord,
    K::StaticWord,
];

/// How many macros inside one another are read; each costs another look at the same text.
const MAX_MACROS: u32 = 4;

/// How many brackets inside one another are read.
const MAX_BRACKETS: u32 = 16;

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
            self.given(tokens, MAX_BRACKETS);
        }
    }

    /// Code is read as code, all else as a list of expressions.
    pub(super) fn given(&mut self, tree: Node<'_>, left: u32) {
        let tokens = Tokens::of(tree);
        let is_code = self.n_macros < MAX_MACROS && self.is_code(&tokens);
        if !is_code || !self.code(tree) {
            self.expressions(tokens, Sketch::UNKNOWN, left);
        }
    }

    /// Whether tokens can only be understood as items or statements, and look as if they were.
    fn is_code(&self, tokens: &Tokens<'_>) -> bool {
        let is_block = tokens.bracket.is_some_and(|it| self.w.text(it) == "{");
        let (mut is_first, mut after_hash, mut res) = (true, false, false);
        for it in &tokens.inside {
            let kind = self.w.kind(*it);
            match kind {
                K::LineComment | K::BlockComment => continue,
                K::Bang if after_hash => continue,
                K::TokenTree if after_hash => res = true,
                // What a template fills in, and what a macro has its own rules for.
                _ if after_hash => return false,
                K::Arrow => return false,
                K::LetWord | K::MatchWord | K::ForWord | K::WhileWord | K::LoopWord => res = true,
                K::Semicolon => res |= is_block,
                K::Identifier => res |= is_block && self.w.text(*it) == "macro_rules",
                _ => res |= (is_first || is_block) && ITEMS.contains(&kind),
            }
            (is_first, after_hash) = (false, kind == K::Hash);
        }
        res
    }

    /// Reads tokens as what they say; not at all if they say nothing.
    fn code(&mut self, tokens: Node<'_>) -> bool {
        let mut part = tokens.range();
        if self.w.text(tokens).starts_with('{') {
            part = inside(part);
        }
        let (grammar, source) = (self.w.grammar, self.w.s.source);
        let read = grammar.parse_part(source, part, |tree| {
            is_clean(tree.root_node()) && {
                self.apart(&mut tree.walk());
                true
            }
        });
        read == Some(true)
    }

    /// Visits another tree inside this one.
    fn apart(&mut self, cursor: &mut TreeCursor<'_>) {
        // Nodes of two trees may bear one number.
        let (contexts, spoken) = (take(&mut self.contexts), self.spoken.take());
        let outer = self.w.s.scope();
        self.n_macros += 1;
        self.visit(cursor);
        self.n_macros -= 1;
        self.w.s.back_to(outer);
        (self.contexts, self.spoken) = (contexts, spoken);
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
