//! Rust: macro calls. Their arguments are read as items, statements or a list of expressions.
//!
//! The grammar does not parse the argument of a macro call: it is a `token_tree`, a flat list of
//! tokens and nested token trees. No macro is known by name, so the tokens decide what it contains:
//!
//! ```text
//! cfg_rt! { mod a; }             items: parsed a second time, as a file
//! run! { let a = b(); a.c() }    statements: parsed a second time, as a file
//! assert!(a.b(), "text")         expressions: read from their tokens (`macro_tokens`)
//! cfg_if! { if … { mod a; } }    neither: only the content of the inner braces is read
//! ```
//!
//! A second parse costs as much as the text itself, and several times that if it fails, so only
//! tokens that look like code are parsed. Expressions are by far the most frequent.

use tree_sitter::{Node, Point, Range, TreeCursor};

use super::macro_tokens::{TokenList, read_expressions};
use super::{Field, NodeKind, RustWalk, RustWalker};
use crate::facts::RefKind;
use crate::facts_builder::{ANY_ARG_COUNT, UNKNOWN_TERM};
use crate::lang::syntax_walker::LanguageWalk;

/// Keywords that an item begins with: `pub fn f()`.
const ITEM_KEYWORDS: &[NodeKind] = &[
    NodeKind::PubWord,
    NodeKind::FnWord,
    NodeKind::StructWord,
    NodeKind::EnumWord,
    NodeKind::ImplWord,
    NodeKind::ModWord,
    NodeKind::UseWord,
    NodeKind::TraitWord,
    NodeKind::TypeWord,
    NodeKind::ConstWord,
    NodeKind::StaticWord,
];

/// Maximum number of nested macro calls whose tokens are parsed. Each level parses the same text
/// once more.
const MAX_MACRO_DEPTH: u32 = 4;

/// Maximum number of nested brackets that are read inside a macro call.
const MAX_BRACKET_DEPTH: u32 = 16;

/// `name!(…)`, `a::name![…]`
pub(super) fn visit_macro_call(walker: &mut RustWalker<'_, '_>, node: Node<'_>) {
    let name = walker.field(node, Field::MacroName);
    // A macro that is called by its path (`tokio::select!`) is not looked up.
    if let Some(name) = name.filter(|it| walker.kind(*it) == NodeKind::Identifier) {
        let term = walker.builder.unbound_name(walker.text(name));
        walker.builder.add_reference(RefKind::Call, term, name, ANY_ARG_COUNT);
    }
    if let Some(tokens) = walker.child_of_kind(node, NodeKind::TokenTree) {
        read_macro_argument(walker, tokens, MAX_BRACKET_DEPTH);
    }
}

/// Reads a token tree as code if it looks like code, otherwise as a list of expressions.
pub(super) fn read_macro_argument(walker: &mut RustWalker<'_, '_>, tree: Node<'_>, depth: u32) {
    let tokens = TokenList::from_tree(tree);
    // Looking at the tokens is cheap, a failed parse is not.
    let is_code = walker.state.macro_depth < MAX_MACRO_DEPTH && looks_like_code(walker, &tokens);
    if !is_code || !parse_as_code(walker, tree) {
        // What the macro passes to a closure among the expressions is not known.
        let closure_argument = UNKNOWN_TERM;
        read_expressions(walker, tokens, closure_argument, depth);
    }
}

/// Returns whether tokens look like items or statements, not like expressions. Tokens of a syntax
/// that only the macro itself understands are not code.
fn looks_like_code(walker: &RustWalker<'_, '_>, tokens: &TokenList<'_>) -> bool {
    let is_block = tokens.opening.is_some_and(|it| walker.text(it) == "{");
    let mut is_first = true;
    let mut follows_hash = false;
    // Tokens that only code has were seen. The loop goes on, because a later token may still show
    // that they follow rules of the macro's own.
    let mut is_code = false;
    for token in &tokens.content {
        let kind = walker.kind(*token);
        match kind {
            NodeKind::LineComment | NodeKind::BlockComment => continue,
            // `#![…]`: the bracket is still to come.
            NodeKind::Bang if follows_hash => continue,
            // An attribute: `#[…]`.
            NodeKind::TokenTree if follows_hash => is_code = true,
            // `#name` is a placeholder of a template (`quote!`).
            _ if follows_hash => return false,
            // `a => b` at this level is a rule of the macro's own.
            NodeKind::Arrow => return false,
            NodeKind::LetWord
            | NodeKind::MatchWord
            | NodeKind::ForWord
            | NodeKind::WhileWord
            | NodeKind::LoopWord => is_code = true,
            // Elsewhere a semicolon may be that of `[x; 3]`.
            NodeKind::Semicolon => is_code |= is_block,
            NodeKind::Identifier => {
                is_code |= is_block && walker.text(*token) == "macro_rules";
            }
            // In parentheses only the first token can begin an item.
            _ => is_code |= (is_first || is_block) && ITEM_KEYWORDS.contains(&kind),
        }
        (is_first, follows_hash) = (false, kind == NodeKind::Hash);
    }
    is_code
}

/// Parses a token tree as a file and visits it; does nothing and returns `false` if that fails.
fn parse_as_code(walker: &mut RustWalker<'_, '_>, tokens: Node<'_>) -> bool {
    let mut part = tokens.range();
    // Items and statements in braces are parsed without the braces, which would make them one
    // block. With parentheses or brackets the tree is one expression: `(match x { … })`.
    if walker.text(tokens).starts_with('{') {
        part = range_inside_brackets(part);
    }
    let (grammar, source) = (walker.grammar, walker.builder.source);
    let is_parsed = grammar.parse_part(source, part, |tree| {
        let is_clean = is_cleanly_parsed(tree.root_node());
        if is_clean {
            visit_other_tree(walker, &mut tree.walk());
        }
        is_clean
    });
    is_parsed == Some(true)
}

/// Visits a second tree. Its nodes may have the ids of nodes of the first, so everything that is
/// remembered by id is put aside.
fn visit_other_tree(walker: &mut RustWalker<'_, '_>, cursor: &mut TreeCursor<'_>) {
    let closure_arguments = std::mem::take(&mut walker.state.closure_arguments);
    let outer = walker.builder.scopes.current();
    walker.state.macro_depth += 1;
    walker.without_use_to_skip(|walker| RustWalk::visit_node(walker, cursor));
    walker.state.macro_depth -= 1;
    walker.builder.scopes.return_to(outer);
    walker.state.closure_arguments = closure_arguments;
}

/// The range without its brackets, which are one byte each.
fn range_inside_brackets(range: Range) -> Range {
    let (start, end) = (range.start_point, range.end_point);
    Range {
        start_byte: range.start_byte + 1,
        end_byte: range.end_byte.saturating_sub(1).max(range.start_byte + 1),
        start_point: Point { column: start.column + 1, ..start },
        end_point: Point { column: end.column.saturating_sub(1), ..end },
    }
}

/// Returns whether a tree has no syntax error, except for a missing semicolon at its end: the
/// expression at the end of a block needs none.
fn is_cleanly_parsed(root: Node<'_>) -> bool {
    if !root.has_error() {
        return true;
    }
    // The only broken part of the only broken statement must be the semicolon.
    let mut cursor = root.walk();
    let mut broken_statements = root.children(&mut cursor).filter(Node::has_error);
    let (Some(statement), None) = (broken_statements.next(), broken_statements.next()) else {
        return false;
    };
    let mut cursor = statement.walk();
    let mut broken_parts = statement.children(&mut cursor).filter(Node::has_error);
    let (Some(missing), None) = (broken_parts.next(), broken_parts.next()) else { return false };
    missing.is_missing() && missing.kind() == ";"
}
