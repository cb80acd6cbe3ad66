//! ECMAScript: destructuring patterns and loop variables.
//!
//! A pattern takes a value apart, and each of its names gets the term of its part:
//!
//! ```text
//! { a, b: c }  of value    a = Member(value, "a"), c = Member(value, "b")
//! [a, , b]     of value    a = Member(value, "0"), b = Member(value, "2")
//! a = 1        of value    a = value; the default, if there is no value
//! ```
//!
//! `walker.builder` collects the facts of the file; names are looked up after the walk. The
//! resolver (`crate::resolve`) joins the facts of all files. A *term* is an expression or a type,
//! reduced to what that needs: `Member(Name("rows"), "find")` for `rows.find`.

use tree_sitter::Node;

use super::{Field, NodeKind, ScriptWalker};
use crate::facts::{DefFlags, DefKind, Term, TermId};
use crate::facts_builder::NameBinding;
use crate::lang::syntax_walker::{MAX_LOOKAHEAD_DEPTH, named_children, strip_quotes};
use crate::lang::term_shape::{expression_term, field_expression};

/// Binds the names of a pattern as local variables. `declared` is the type of the whole value,
/// `value` the expression it is inferred from; a part is taken from the type, if there is one.
pub(super) fn bind_pattern(
    walker: &mut ScriptWalker<'_, '_>,
    pattern: Node<'_>,
    declared: Option<TermId>,
    value: Option<TermId>,
) {
    bind_pattern_within(walker, pattern, declared, value, MAX_LOOKAHEAD_DEPTH);
}

/// Binds a pattern that is nested at most `depth` levels deep; what lies deeper binds nothing.
fn bind_pattern_within(
    walker: &mut ScriptWalker<'_, '_>,
    pattern: Node<'_>,
    declared: Option<TermId>,
    value: Option<TermId>,
    depth: u32,
) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match walker.kind(pattern) {
        NodeKind::Identifier | NodeKind::ShorthandPattern => {
            let name = walker.builder.intern_node(pattern);
            walker.builder.bind_local(name, declared, value);
        }
        NodeKind::ObjectPattern => {
            for property in named_children(pattern) {
                bind_property_pattern(walker, property, declared.or(value), depth);
            }
        }
        NodeKind::ArrayPattern => {
            for (position, item_pattern) in walker.list_items(pattern, NodeKind::Comma) {
                let item = declared.or(value).map(|it| walker.builder.terms.item_at(it, position));
                bind_pattern_within(walker, item_pattern, None, item, depth);
            }
        }
        // `a = default`
        NodeKind::AssignmentPattern => {
            let default = field_expression(walker, pattern, Field::Right);
            if let Some(inner) = walker.field(pattern, Field::Left) {
                bind_pattern_within(walker, inner, declared, value.or(default), depth);
            }
        }
        // `...rest`
        NodeKind::RestPattern => {
            if let Some(inner) = pattern.named_child(0) {
                bind_pattern_within(walker, inner, declared, None, depth);
            }
        }
        // `this` as a parameter, comments.
        _ => {}
    }
}

/// Binds one property of an object pattern.
fn bind_property_pattern(
    walker: &mut ScriptWalker<'_, '_>,
    pattern: Node<'_>,
    object: Option<TermId>,
    depth: u32,
) {
    match walker.kind(pattern) {
        // `{ a }`
        NodeKind::ShorthandPattern => {
            let name = walker.text(pattern);
            let member = object.map(|it| walker.builder.terms.member_of(it, name));
            bind_pattern_within(walker, pattern, None, member, depth);
        }
        // `{ a = default }`
        NodeKind::ObjectAssignmentPattern => {
            if let Some(inner) = walker.field(pattern, Field::Left) {
                bind_property_pattern(walker, inner, object, depth);
            }
        }
        // `{ a: inner }`
        NodeKind::PairPattern => {
            let key = walker.field(pattern, Field::Key);
            if let (Some(key), Some(inner)) = (key, walker.field(pattern, Field::Value)) {
                let name = strip_quotes(walker.text(key));
                let member = object.map(|it| walker.builder.terms.member_of(it, name));
                bind_pattern_within(walker, inner, None, member, depth);
            }
        }
        // `{ ...rest }` has the members of the object.
        NodeKind::RestPattern => bind_pattern_within(walker, pattern, object, None, depth),
        // Comments.
        _ => {}
    }
}

/// Defines the variables of `const { a, b } = object` or `const [a, b] = object` at the top of a
/// file.
pub(super) fn define_pattern(
    walker: &mut ScriptWalker<'_, '_>,
    pattern: Node<'_>,
    object: Option<TermId>,
    flags: DefFlags,
) {
    define_pattern_within(walker, pattern, object, flags, MAX_LOOKAHEAD_DEPTH);
}

/// Defines the variables of a pattern that is nested at most `depth` levels deep.
fn define_pattern_within(
    walker: &mut ScriptWalker<'_, '_>,
    pattern: Node<'_>,
    object: Option<TermId>,
    flags: DefFlags,
    depth: u32,
) {
    let Some(depth) = depth.checked_sub(1) else { return };
    for (position, part) in walker.list_items(pattern, NodeKind::Comma) {
        // The node that is bound, and the name of its member in the object. An item of an array has
        // a position instead of a name.
        let (bound, member) = match walker.kind(part) {
            NodeKind::ShorthandPattern => (part, Some(walker.text(part))),
            NodeKind::PairPattern => {
                let key = walker.field(part, Field::Key);
                let (Some(key), Some(bound)) = (key, walker.field(part, Field::Value)) else {
                    continue;
                };
                (bound, Some(strip_quotes(walker.text(key))))
            }
            // `{ a = default }`
            NodeKind::ObjectAssignmentPattern => {
                let Some(left) = walker.field(part, Field::Left) else { continue };
                (left, Some(walker.text(left)))
            }
            // An item of an array pattern.
            NodeKind::Identifier
            | NodeKind::AssignmentPattern
            | NodeKind::ObjectPattern
            | NodeKind::ArrayPattern => (part, None),
            // What `...rest` contains is not followed.
            _ => continue,
        };
        let value = object.map(|it| match member {
            Some(member) => walker.builder.terms.member_of(it, member),
            None => walker.builder.terms.item_at(it, position),
        });
        // `[a = default]` and `{ key: a = default }` bind `a`.
        let inner = match walker.kind(bound) {
            NodeKind::AssignmentPattern => walker.field(bound, Field::Left).unwrap_or(bound),
            _ => bound,
        };
        // `{ a: { b } }`: only `b` is a variable.
        if !matches!(walker.kind(inner), NodeKind::Identifier | NodeKind::ShorthandPattern) {
            define_pattern_within(walker, inner, value, flags, depth);
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
    // The keys of `for (… in object)` are strings.
    let container = walker.field(node, Field::Right).filter(|_| is_of);
    let container = container.map(|it| expression_term(walker, it));
    let element = container.map(|it| walker.builder.terms.add(Term::ElementOf(it)));
    bind_pattern(walker, pattern, None, element);
}
