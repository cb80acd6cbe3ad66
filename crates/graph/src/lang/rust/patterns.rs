//! Rust: patterns and the expressions that bind them.
//!
//! A pattern takes a value apart, and each of its names becomes a local variable with the term of
//! its part. A *term* is an expression reduced to what name lookup needs. The resolver evaluates it
//! where the variable is used: `x.save()` needs the type of `x`.
//!
//! ```text
//! let (a, b) = pair;             a = Member(pair, "0"), b = Member(pair, "1")
//! let Point { x, .. } = p;       x = Member(InstanceOf(Point), "x")
//! for row in rows { … }          row = ElementOf(rows)
//! if let Some(row) = next { … }  row = Unwrapped(next), the content of the option
//! ```

use tree_sitter::{Node, TreeCursor};

use super::{Field, NodeKind, RustWalker};
use crate::facts::{Term, TermId};
use crate::facts_builder::{ScopeKind, UNKNOWN_TERM};
use crate::lang::syntax_walker::{MAX_LOOKAHEAD_DEPTH, named_children};
use crate::lang::term_shape::{field_expression, field_type, type_name};

/// `let pattern: Type = value;`
pub(super) fn visit_let(
    walker: &mut RustWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let declared = field_type(walker, node, Field::Type);
    let value = field_expression(walker, node, Field::Value).unwrap_or(UNKNOWN_TERM);
    walker.visit_children(cursor);
    // The names are visible from here to the end of the block, not in the value above.
    walker.builder.scopes.enter(ScopeKind::Block);
    if let Some(pattern) = walker.field(node, Field::Pattern) {
        bind_pattern(walker, pattern, declared.unwrap_or(value));
    }
}

/// `let pattern = value` in an `if` or a `while`.
pub(super) fn visit_let_condition(
    walker: &mut RustWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let value = field_expression(walker, node, Field::Value).unwrap_or(UNKNOWN_TERM);
    if let Some(pattern) = walker.field(node, Field::Pattern) {
        bind_pattern(walker, pattern, value);
    }
    walker.visit_children(cursor);
}

/// `for pattern in container`
pub(super) fn bind_loop_pattern(walker: &mut RustWalker<'_, '_>, node: Node<'_>) {
    let container = field_expression(walker, node, Field::Value).unwrap_or(UNKNOWN_TERM);
    let element = walker.builder.terms.add(Term::ElementOf(container));
    if let Some(pattern) = walker.field(node, Field::Pattern) {
        bind_pattern(walker, pattern, element);
    }
}

/// `match value { … }`
pub(super) fn visit_match(
    walker: &mut RustWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let value = field_expression(walker, node, Field::Value).unwrap_or(UNKNOWN_TERM);
    walker.state.matched_values.push(value);
    walker.visit_children(cursor);
    walker.state.matched_values.pop();
}

/// `pattern => …`: binds the pattern to the value of the innermost `match`.
pub(super) fn bind_arm_pattern(walker: &mut RustWalker<'_, '_>, arm: Node<'_>) {
    let value = walker.state.matched_values.last().copied().unwrap_or(UNKNOWN_TERM);
    let pattern = walker.field(arm, Field::Pattern).and_then(|it| it.named_child(0));
    if let Some(pattern) = pattern {
        bind_pattern(walker, pattern, value);
    }
}

/// Binds the names of a pattern to the parts of `value` that they match.
pub(super) fn bind_pattern(walker: &mut RustWalker<'_, '_>, pattern: Node<'_>, value: TermId) {
    bind_pattern_within(walker, pattern, value, MAX_LOOKAHEAD_DEPTH);
}

/// Binds a pattern that is nested at most `depth` levels deep; what lies deeper binds nothing.
fn bind_pattern_within(
    walker: &mut RustWalker<'_, '_>,
    pattern: Node<'_>,
    value: TermId,
    depth: u32,
) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match walker.kind(pattern) {
        NodeKind::Identifier => {
            let text = walker.text(pattern);
            // A name in upper case is a constant or a variant.
            if !text.starts_with(char::is_uppercase) {
                let name = walker.builder.intern(text);
                walker.builder.shadow_local(name, value);
            }
        }
        // `ref x`, `&x`, `mut x`
        NodeKind::RefPattern | NodeKind::ReferencePattern | NodeKind::MutPattern => {
            if let Some(inner) = named_children(pattern).last() {
                bind_pattern_within(walker, inner, value, depth);
            }
        }
        // `name @ pattern`
        NodeKind::CapturedPattern => {
            for inner in named_children(pattern) {
                bind_pattern_within(walker, inner, value, depth);
            }
        }
        // `(a, b)`
        NodeKind::TuplePattern => {
            for (position, inner) in walker.list_items(pattern, NodeKind::Comma) {
                let item = walker.builder.terms.item_at(value, position);
                bind_pattern_within(walker, inner, item, depth);
            }
        }
        NodeKind::TupleStruct => bind_tuple_struct(walker, pattern, value, depth),
        NodeKind::StructPattern => bind_struct(walker, pattern, value, depth),
        // `A(x) | B(x)`: all alternatives bind the same names.
        NodeKind::OrPattern => {
            if let Some(first) = pattern.named_child(0) {
                bind_pattern_within(walker, first, value, depth);
            }
        }
        // Literals, ranges and paths bind no name; slices are not followed.
        _ => {}
    }
}

/// `Some(x)`, `Shape::Circle(center, radius)`
fn bind_tuple_struct(
    walker: &mut RustWalker<'_, '_>,
    pattern: Node<'_>,
    value: TermId,
    depth: u32,
) {
    let name = walker.field(pattern, Field::Type);
    // Only the content of these two is known without the definition of the variant.
    let is_wrapper = name.is_some_and(|it| matches!(walker.text(it), "Some" | "Ok"));
    let content =
        if is_wrapper { walker.builder.terms.add(Term::Unwrapped(value)) } else { UNKNOWN_TERM };
    // The first child is the path before the parentheses.
    for inner in named_children(pattern).skip(1) {
        bind_pattern_within(walker, inner, content, depth);
    }
}

/// `Point { x, y: (a, b) }`
fn bind_struct(walker: &mut RustWalker<'_, '_>, pattern: Node<'_>, value: TermId, depth: u32) {
    let object = match walker.field(pattern, Field::Type) {
        Some(type_node) => {
            let type_name = type_name(walker, type_node);
            walker.builder.terms.instance_of(type_name)
        }
        None => value,
    };
    for field in walker.children_of_kind(pattern, NodeKind::FieldPattern) {
        let Some(name) = walker.field(field, Field::Name) else { continue };
        let text = walker.text(name);
        let member = walker.builder.terms.member_of(object, text);
        if let Some(inner) = walker.field(field, Field::Pattern) {
            bind_pattern_within(walker, inner, member, depth);
        } else {
            // `Point { x }` is short for `Point { x: x }`.
            let name = walker.builder.intern(text);
            walker.builder.shadow_local(name, member);
        }
    }
}
