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
//! A *term* is an expression or a type, reduced to what name resolution needs. The tables map each
//! kind of node to a [`TermShape`], which tells what parts of the node make up its term. `depth` is
//! the number of levels that may still be read below a node; deeper parts are unknown.

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
        NodeKind::Await => TermShape::Wrapped(Term::Awaited, TermOperand::Child(0)),
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
    let mut term = UNKNOWN_TERM;
    let text = strip_quotes(walker.text(node));
    for part in text.split('|').map(str::trim).filter(|it| *it != "None") {
        let is_dotted_path =
            part.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'.'));
        // Anything but one dotted path and `None` would need a parser of its own.
        if !is_dotted_path || part.is_empty() || term != UNKNOWN_TERM {
            return UNKNOWN_TERM;
        }
        let mut names = part.split('.');
        let first = names.next();
        let mut path = first.map_or(UNKNOWN_TERM, |it| walker.builder.unbound_name(it));
        for name in names {
            path = walker.builder.terms.member_of(path, name);
        }
        term = walker.builder.terms.instance_of(path);
    }
    term
}

/// `list[T]`, `Optional[T]`, `Callable[[A], B]`.
fn generic_type_term(walker: &mut PythonWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let Some(head) = node.named_child(0) else { return UNKNOWN_TERM };
    let name = walker.text(head).rsplit('.').next().unwrap_or_default();
    let grammar = walker.grammar;
    let arguments = named_children(node).skip(1).flat_map(|it| {
        // The arguments of a `generic_type` have a node around them, those of a subscript do not.
        let inner: Vec<Node<'_>> = if grammar.kind(it) == NodeKind::TypeParameter {
            named_children(it).collect()
        } else {
            vec![it]
        };
        inner
    });
    let arguments: Vec<TermId> =
        arguments.take(MAX_TYPE_ARGUMENTS).map(|it| type_within(walker, it, depth)).collect();
    let first = arguments.first().copied().unwrap_or(UNKNOWN_TERM);
    match name {
        "Optional" | "Final" | "ClassVar" | "Annotated" | "Required" | "NotRequired" => first,
        "Union" => walker.builder.terms.any_of(&arguments),
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
