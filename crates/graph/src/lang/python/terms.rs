//! Python: terms of expressions and annotations.
//!
//! ```text
//! expression          term
//! self.rows[0]        ElementOf(Member(This(Class), "rows"))
//! super().run()       Call(Member(Super(Class), "run"))
//!
//! annotation          term of a value of it
//! a.Row               InstanceOf(Member(a, "Row"))
//! Optional["Row"]     InstanceOf(Row)
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

use super::{Field, NodeKind, PythonWalk, PythonWalker};
use crate::facts::{Term, TermId};
use crate::facts_builder::UNKNOWN_TERM;
use crate::lang::syntax_walker::{named_children, strip_quotes};
use crate::lang::term_shape::{
    MAX_TYPE_ARGUMENTS, TermOperand, TermShape, enclosing_object, expression_within, type_within,
};

/// The table of expressions.
pub(super) fn expression_shape(kind: NodeKind) -> TermShape<PythonWalk> {
    match kind {
        NodeKind::Identifier => TermShape::Custom(name_term),
        NodeKind::Attribute => TermShape::Member(Field::Object, Field::AttributeName),
        NodeKind::Call => TermShape::Custom(call_term),
        NodeKind::Await => TermShape::Wrapped(Term::Unwrapped, TermOperand::Child(0)),
        NodeKind::Parenthesized => TermShape::SameAs(TermOperand::Child(0)),
        // `a if condition else b`
        NodeKind::Conditional => TermShape::AnyOf(TermOperand::Child(0), TermOperand::Child(2)),
        // `a or b`, `a and b`
        NodeKind::Boolean => {
            TermShape::AnyOf(TermOperand::Field(Field::Left), TermOperand::Field(Field::Right))
        }
        NodeKind::Subscript => {
            TermShape::Wrapped(Term::ElementOf, TermOperand::Field(Field::Value))
        }
        NodeKind::List | NodeKind::Set | NodeKind::ListComprehension | NodeKind::Generator => {
            TermShape::Wrapped(Term::ListOf, TermOperand::Child(0))
        }
        NodeKind::Tuple => TermShape::Tuple,
        NodeKind::Dictionary | NodeKind::DictComprehension => TermShape::Literal("dict"),
        NodeKind::Text | NodeKind::Concatenated => TermShape::Literal("str"),
        // Python has no overloads, so the kinds of numbers need not be told apart.
        NodeKind::Integer | NodeKind::Float => TermShape::Literal("int"),
        NodeKind::True | NodeKind::False => TermShape::Literal("bool"),
        NodeKind::Lambda => TermShape::Custom(lambda_term),
        _ => TermShape::Unknown,
    }
}

/// `name`; the first parameter of an enclosing method (`self`) is the object.
fn name_term(walker: &mut PythonWalker<'_, '_>, node: Node<'_>, _depth: u32) -> TermId {
    let text = walker.text(node);
    // The `self` or `cls` of each enclosing method with its value, innermost last.
    let mut self_parameters = walker.state.self_parameters.iter().rev();
    match self_parameters.find(|(name, _)| *name == text) {
        Some((_, object)) => *object,
        None => walker.builder.unbound_name(text),
    }
}

/// `f(x)`, `super()`
fn call_term(walker: &mut PythonWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let Some(callee) = walker.field(node, Field::Function) else { return UNKNOWN_TERM };
    if walker.kind(callee) == NodeKind::Identifier
        && walker.text(callee) == "super"
        && let Some(class) = walker.builder.enclosing_type()
    {
        return walker.builder.terms.add(Term::Super(class));
    }
    let callee = expression_within(walker, callee, depth);
    walker.builder.terms.add(Term::Call(callee))
}

/// `lambda x: …`. What it returns depends on its parameters.
fn lambda_term(walker: &mut PythonWalker<'_, '_>, _node: Node<'_>, _depth: u32) -> TermId {
    walker.builder.terms.add(Term::Function(UNKNOWN_TERM))
}

/// The table of annotations: the terms of their values.
pub(super) fn type_shape(kind: NodeKind) -> TermShape<PythonWalk> {
    match kind {
        NodeKind::Type => TermShape::SameAs(TermOperand::Child(0)),
        NodeKind::Identifier => TermShape::Custom(named_type_term),
        NodeKind::Attribute => TermShape::InstanceOf(TermOperand::Itself),
        NodeKind::Text => TermShape::Custom(quoted_type_term),
        NodeKind::Binary | NodeKind::Union => TermShape::Custom(union_term),
        NodeKind::GenericType | NodeKind::Subscript => TermShape::Custom(generic_type_term),
        _ => TermShape::Unknown,
    }
}

/// `Name`, `Self`
fn named_type_term(walker: &mut PythonWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    if walker.text(node) == "Self" {
        return enclosing_object(walker, Term::This);
    }
    let name = expression_within(walker, node, depth);
    walker.builder.terms.instance_of(name)
}

/// `A | B`
fn union_term(walker: &mut PythonWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let items: Vec<TermId> =
        named_children(node).map(|it| type_within(walker, it, depth)).collect();
    walker.builder.terms.any_of(&items)
}

/// A type written as a string because it is defined further down: `"Node"`, `"a.Node | None"`.
fn quoted_type_term(walker: &mut PythonWalker<'_, '_>, node: Node<'_>, _depth: u32) -> TermId {
    let text = strip_quotes(walker.text(node));
    let alternatives: Vec<&str> =
        text.split('|').map(str::trim).filter(|it| *it != "None").collect();
    // Anything but one dotted path and `None` would need a parser of its own.
    let [path] = alternatives.as_slice() else { return UNKNOWN_TERM };
    let is_dotted_path =
        path.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'.'));
    if !is_dotted_path || path.is_empty() {
        return UNKNOWN_TERM;
    }
    // `a.Node` is `Member(a, "Node")`.
    let (first, members) = path.split_once('.').map_or((*path, None), |(a, b)| (a, Some(b)));
    let mut class = walker.builder.unbound_name(first);
    for name in members.into_iter().flat_map(|it| it.split('.')) {
        class = walker.builder.terms.member_of(class, name);
    }
    walker.builder.terms.instance_of(class)
}

/// `list[T]`, `Optional[T]`, `Callable[[A], B]`.
fn generic_type_term(walker: &mut PythonWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let Some(head) = node.named_child(0) else { return UNKNOWN_TERM };
    let name = walker.text(head).rsplit('.').next().unwrap_or_default();
    let mut argument_nodes: Vec<Node<'_>> = Vec::new();
    for child in named_children(node).skip(1) {
        // The arguments of a `generic_type` have a node around them, those of a subscript do not.
        if walker.kind(child) == NodeKind::TypeParameter {
            argument_nodes.extend(named_children(child));
        } else {
            argument_nodes.push(child);
        }
    }
    let mut arguments = Vec::new();
    for argument in argument_nodes.into_iter().take(MAX_TYPE_ARGUMENTS) {
        arguments.push(type_within(walker, argument, depth));
    }
    let first = arguments.first().copied().unwrap_or(UNKNOWN_TERM);
    match name {
        // These only add something to the type of the value.
        "Optional" | "Final" | "ClassVar" | "Annotated" | "Required" | "NotRequired" => first,
        "Union" => walker.builder.terms.any_of(&arguments),
        // The last argument is the result: `Callable[[A], B]`.
        "Callable" => {
            let returned = arguments.last().copied().unwrap_or(UNKNOWN_TERM);
            walker.builder.terms.add(Term::Function(returned))
        }
        // `type[C]` is the class, not an object of it.
        "Type" | "type" => match walker.builder.terms.get(first) {
            Term::InstanceOf(class) => class,
            _ => UNKNOWN_TERM,
        },
        _ => {
            let head = expression_within(walker, head, depth);
            let generic = walker.builder.terms.generic_of(head, &arguments);
            walker.builder.terms.instance_of(generic)
        }
    }
}
