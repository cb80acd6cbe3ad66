//! Go: terms of expressions and types.
//!
//! ```text
//! expression         term
//! s.rows[0]          ElementOf(Member(s, "rows"))
//! &Row{}             InstanceOf(Row)
//! make([]Row, 3)     ListOf(InstanceOf(Row))
//!
//! type               term of a value of it
//! *db.Row            InstanceOf(Member(db, "Row")): pointers are looked through
//! map[K]Row          ListOf(InstanceOf(Row)): the keys do not matter
//! ```
//!
//! A *term* is an expression or a type, reduced to what the resolver (`crate::resolve`) needs to
//! find definitions. To find `save` in `f(1).save()`, it evaluates the term of `f(1)`, which is
//! `Call(f)`, to a type. `InstanceOf(T)` is a value of the type `T`.
//!
//! Each table maps the kinds of syntax nodes to [`TermShape`]s. A shape is the recipe for a term:
//! it tells which parts of the node make it up, or as `Custom` names a function of this file that
//! builds it. The functions return the id of a term in `walker.builder.terms`. `depth` is the
//! number of levels that may still be read below a node; deeper parts are unknown.

use tree_sitter::Node;

use super::{Field, GoWalk, GoWalker, NodeKind};
use crate::facts::{Term, TermId};
use crate::facts_builder::UNKNOWN_TERM;
use crate::lang::syntax_walker::{MAX_LOOKAHEAD_DEPTH, named_children};
use crate::lang::term_shape::{
    MAX_TYPE_ARGUMENTS, TermOperand, TermShape, expression_within, type_within,
};

/// The table of expressions.
pub(super) fn expression_shape(kind: NodeKind) -> TermShape<GoWalk> {
    match kind {
        NodeKind::Identifier => TermShape::Name,
        NodeKind::Selector => TermShape::Member(Field::Operand, Field::Member),
        NodeKind::Call => TermShape::Custom(call_term),
        // `T{…}`, `x.(T)`
        NodeKind::Composite | NodeKind::TypeAssertion => {
            TermShape::OfType(TermOperand::Field(Field::Type))
        }
        // `&x`, `*x`, `xs[1:]`
        NodeKind::Unary | NodeKind::Slice => TermShape::SameAs(TermOperand::Field(Field::Operand)),
        NodeKind::Parenthesized => TermShape::SameAs(TermOperand::Child(0)),
        NodeKind::Index => TermShape::Wrapped(Term::ElementOf, TermOperand::Field(Field::Operand)),
        NodeKind::FuncLiteral => TermShape::Custom(function_term),
        NodeKind::Text | NodeKind::RawText => TermShape::Literal("string"),
        // Go has no overloads, so the built-in types need not be told apart.
        NodeKind::Int | NodeKind::Float | NodeKind::Rune => TermShape::Literal("int"),
        NodeKind::True | NodeKind::False => TermShape::Literal("bool"),
        _ => TermShape::Unknown,
    }
}

/// `f(x)`, and the built-in functions whose result follows from their first argument.
fn call_term(walker: &mut GoWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let Some(callee) = walker.field(node, Field::Function) else { return UNKNOWN_TERM };
    if walker.kind(callee) == NodeKind::Identifier {
        let first_argument = walker.field(node, Field::Arguments).and_then(|it| it.named_child(0));
        match walker.text(callee) {
            // `new(T)` and `make([]T)` take a type.
            "new" | "make" => {
                return first_argument.map_or(UNKNOWN_TERM, |it| type_within(walker, it, depth));
            }
            // `append(xs, x)` is of the type of `xs`.
            "append" => {
                return first_argument
                    .map_or(UNKNOWN_TERM, |it| expression_within(walker, it, depth));
            }
            _ => {}
        }
    }
    let callee = expression_within(walker, callee, depth);
    walker.builder.terms.add(Term::Call(callee))
}

/// `func() T { … }`, or the type `func() T`.
fn function_term(walker: &mut GoWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let result = walker.field(node, Field::Result);
    let result = result.map_or(UNKNOWN_TERM, |it| result_within(walker, it, depth));
    walker.builder.terms.add(Term::Function(result))
}

/// The term of the results of a function: of `T` or of `(A, B)`.
pub(super) fn result_term(walker: &mut GoWalker<'_, '_>, node: Node<'_>) -> TermId {
    result_within(walker, node, MAX_LOOKAHEAD_DEPTH)
}

/// The term of results that are at most `depth` levels deep. One result is itself, several are a
/// record by their positions.
fn result_within(walker: &mut GoWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    if walker.kind(node) != NodeKind::ParameterList {
        return type_within(walker, node, depth);
    }
    let mut members = Vec::new();
    for result in named_children(node) {
        let n_names = walker.children_of_kind(result, NodeKind::Identifier).count().max(1);
        let type_node = walker.field(result, Field::Type);
        let declared = type_node.map_or(UNKNOWN_TERM, |it| type_within(walker, it, depth));
        for _ in 0..n_names {
            let position = walker.builder.intern(&members.len().to_string());
            members.push((position, declared));
        }
    }
    match members.as_slice() {
        [(_, result)] => *result,
        _ => walker.builder.terms.record_of(&members),
    }
}

/// The table of types: the terms of their values.
pub(super) fn type_shape(kind: NodeKind) -> TermShape<GoWalk> {
    match kind {
        NodeKind::TypeIdentifier
        | NodeKind::Identifier
        | NodeKind::Qualified
        | NodeKind::GenericType => TermShape::InstanceOf(TermOperand::Itself),
        // Members are reached through a pointer as through the value.
        NodeKind::Pointer | NodeKind::ParenthesizedType => TermShape::SameAs(TermOperand::Child(0)),
        NodeKind::SliceType | NodeKind::ArrayType => {
            TermShape::Wrapped(Term::ListOf, TermOperand::Field(Field::Element))
        }
        NodeKind::ChannelType | NodeKind::MapType => {
            TermShape::Wrapped(Term::ListOf, TermOperand::Field(Field::Value))
        }
        NodeKind::FunctionType => TermShape::Custom(function_term),
        _ => TermShape::Unknown,
    }
}

/// The term of a type itself: `Member(db, "Row")` for `*db.Row`.
pub(super) fn type_name_within(
    walker: &mut GoWalker<'_, '_>,
    node: Node<'_>,
    depth: u32,
) -> TermId {
    let Some(depth) = depth.checked_sub(1) else { return UNKNOWN_TERM };
    match walker.kind(node) {
        NodeKind::TypeIdentifier | NodeKind::Identifier => {
            walker.builder.unbound_name(walker.text(node))
        }
        // `db.Row`
        NodeKind::Qualified => {
            let package = walker.field(node, Field::Package);
            let (Some(package), Some(name)) = (package, walker.field(node, Field::Name)) else {
                return UNKNOWN_TERM;
            };
            let package = walker.builder.unbound_name(walker.text(package));
            walker.builder.terms.member_of(package, walker.text(name))
        }
        NodeKind::Pointer | NodeKind::ParenthesizedType | NodeKind::TypeElem => {
            node.named_child(0).map_or(UNKNOWN_TERM, |it| type_name_within(walker, it, depth))
        }
        // `List[Row]`
        NodeKind::GenericType => {
            let Some(head) = walker.field(node, Field::Type) else { return UNKNOWN_TERM };
            let head = type_name_within(walker, head, depth);
            let mut arguments = Vec::new();
            for argument in
                walker.field_children(node, Field::TypeArguments).take(MAX_TYPE_ARGUMENTS)
            {
                // Each argument is wrapped in a `type_elem`.
                let argument = argument.named_child(0).unwrap_or(argument);
                arguments.push(type_within(walker, argument, depth));
            }
            walker.builder.terms.generic_of(head, &arguments)
        }
        _ => UNKNOWN_TERM,
    }
}
