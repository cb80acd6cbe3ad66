//! ECMAScript: destructuring patterns and loop variables.

use tree_sitter::Node;

use super::{Field, NodeKind, ScriptWalker};
use crate::facts::{DefFlags, DefKind, Term, TermId};
use crate::facts_builder::NameBinding;
use crate::lang::syntax_walker::{named_children, strip_quotes};
use crate::lang::term_shape::{expression_term, field_expression};

/// Binds the names of a pattern to the parts of the value that they take.
pub(super) fn bind_pattern(
    walker: &mut ScriptWalker<'_, '_>,
    pattern: Node<'_>,
    declared: Option<TermId>,
    value: Option<TermId>,
) {
    match walker.kind(pattern) {
        NodeKind::Identifier | NodeKind::ShorthandPattern => {
            let name = walker.builder.intern_node(pattern);
            walker.builder.bind_local(name, declared, value);
        }
        NodeKind::ObjectPattern => {
            for property in named_children(pattern) {
                bind_property_pattern(walker, property, declared.or(value));
            }
        }
        NodeKind::ArrayPattern => {
            for (i, item_pattern) in named_children(pattern).enumerate() {
                let item = declared.or(value).map(|it| walker.builder.terms.item_at(it, i));
                bind_pattern(walker, item_pattern, None, item);
            }
        }
        NodeKind::AssignmentPattern => {
            let default = field_expression(walker, pattern, Field::Right);
            if let Some(inner) = walker.field(pattern, Field::Left) {
                bind_pattern(walker, inner, declared, value.or(default));
            }
        }
        NodeKind::RestPattern => {
            if let Some(inner) = pattern.named_child(0) {
                bind_pattern(walker, inner, declared, None);
            }
        }
        _ => {}
    }
}

/// Binds one property of an object pattern.
fn bind_property_pattern(
    walker: &mut ScriptWalker<'_, '_>,
    pattern: Node<'_>,
    object: Option<TermId>,
) {
    match walker.kind(pattern) {
        NodeKind::ShorthandPattern => {
            let name = walker.text(pattern);
            let member = object.map(|it| walker.builder.terms.member_of(it, name));
            bind_pattern(walker, pattern, None, member);
        }
        NodeKind::ObjectAssignmentPattern => {
            if let Some(inner) = walker.field(pattern, Field::Left) {
                bind_property_pattern(walker, inner, object);
            }
        }
        NodeKind::PairPattern => {
            let key = walker.field(pattern, Field::Key);
            if let (Some(key), Some(inner)) = (key, walker.field(pattern, Field::Value)) {
                let name = strip_quotes(walker.text(key));
                let member = object.map(|it| walker.builder.terms.member_of(it, name));
                bind_pattern(walker, inner, None, member);
            }
        }
        NodeKind::RestPattern => bind_pattern(walker, pattern, object, None),
        _ => {}
    }
}

/// Defines the variables of `const { a, b } = value` at the top of a file.
pub(super) fn define_pattern(
    walker: &mut ScriptWalker<'_, '_>,
    pattern: Node<'_>,
    object: Option<TermId>,
    flags: DefFlags,
) {
    for (i, part) in named_children(pattern).enumerate() {
        // The node that is bound, and the name of its member in the object.
        let (inner, member) = match walker.kind(part) {
            NodeKind::ShorthandPattern => (part, walker.text(part)),
            NodeKind::PairPattern => {
                let key = walker.field(part, Field::Key);
                let (Some(key), Some(inner)) = (key, walker.field(part, Field::Value)) else {
                    continue;
                };
                (inner, strip_quotes(walker.text(key)))
            }
            NodeKind::Identifier => (part, ""),
            NodeKind::ObjectAssignmentPattern | NodeKind::AssignmentPattern => {
                let Some(left) = walker.field(part, Field::Left) else { continue };
                (left, walker.text(left))
            }
            _ => continue,
        };
        let value = object.map(|it| match walker.kind(part) {
            // An item of an array pattern.
            NodeKind::Identifier => walker.builder.terms.item_at(it, i),
            _ => walker.builder.terms.member_of(it, member),
        });
        if !matches!(walker.kind(inner), NodeKind::Identifier | NodeKind::ShorthandPattern) {
            define_pattern(walker, inner, value, flags);
            continue;
        }
        let name = walker.builder.intern_node(inner);
        let def = walker.builder.add_definition(DefKind::Variable, name, inner, part, flags);
        walker.builder.def_mut(def).inferred_from = value;
        walker.builder.bind_name(name, NameBinding::Def(def));
    }
}

/// `catch (error)`
pub(super) fn bind_catch_parameter(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>) {
    if let Some(pattern) = walker.field(node, Field::Parameter) {
        bind_pattern(walker, pattern, None, None);
    }
}

/// `for (const x of xs)`, `for (const key in object)`
pub(super) fn bind_loop_variable(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>) {
    // Without `const`, `let` or `var` the loop assigns to an existing variable.
    if walker.field(node, Field::Kind).is_none() {
        return;
    }
    let operator = walker.field(node, Field::Operator);
    let is_of = operator.is_some_and(|it| walker.kind(it) == NodeKind::OfWord);
    let Some(pattern) = walker.field(node, Field::Left) else { return };
    let container = walker.field(node, Field::Right).filter(|_| is_of);
    let container = container.map(|it| expression_term(walker, it));
    let element = container.map(|it| walker.builder.terms.add(Term::ElementOf(it)));
    bind_pattern(walker, pattern, None, element);
}
