//! Java: terms of expressions and types.
//!
//! Overloads are selected by the types of the arguments, so literals and operators keep their exact
//! built-in types here, unlike in most other languages.
//!
//! ```text
//! expression             term
//! this.rows[0]           ElementOf(Member(This(Class), "rows"))
//! find(1).name           Member(Call(Implicit(Class, "find")), "name")
//! "a" + 1                Literal("String")
//!
//! type                   term of a value of it
//! Map.Entry<K, Row>      InstanceOf(Generic(Member(Map, "Entry"), InstanceOf(K), InstanceOf(Row)))
//! int[]                  ListOf(Literal("int"))
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

use super::{Field, JavaWalk, JavaWalker, NodeKind};
use crate::facts::{Term, TermId};
use crate::facts_builder::UNKNOWN_TERM;
use crate::lang::syntax_walker::named_children;
use crate::lang::term_shape::{
    MAX_TYPE_ARGUMENTS, TermOperand, TermShape, expression_within, type_within,
};

/// The table of expressions.
pub(super) fn expression_shape(kind: NodeKind) -> TermShape<JavaWalk> {
    match kind {
        NodeKind::Identifier => TermShape::Name,
        NodeKind::This => TermShape::This,
        NodeKind::Super => TermShape::Super,
        NodeKind::FieldAccess => TermShape::Custom(field_access_term),
        NodeKind::Invocation => TermShape::Custom(invocation_term),
        NodeKind::Creation => TermShape::InstanceOf(TermOperand::Field(Field::Type)),
        NodeKind::Parenthesized => TermShape::SameAs(TermOperand::Child(0)),
        NodeKind::Cast => TermShape::OfType(TermOperand::Field(Field::Type)),
        NodeKind::Assignment => TermShape::SameAs(TermOperand::Field(Field::Right)),
        NodeKind::Ternary => TermShape::AnyOf(
            TermOperand::Field(Field::Consequence),
            TermOperand::Field(Field::Alternative),
        ),
        NodeKind::ArrayAccess => {
            TermShape::Wrapped(Term::ElementOf, TermOperand::Field(Field::Array))
        }
        NodeKind::ArrayCreation => TermShape::Custom(array_creation_term),
        NodeKind::Text => TermShape::Literal("String"),
        NodeKind::Int | NodeKind::HexInt | NodeKind::BinaryInt | NodeKind::OctalInt => {
            TermShape::Custom(integer_term)
        }
        NodeKind::Float => TermShape::Custom(float_term),
        NodeKind::Char => TermShape::Literal("char"),
        NodeKind::True | NodeKind::False | NodeKind::InstanceOf => TermShape::Literal("boolean"),
        NodeKind::Null => TermShape::Literal("null"),
        // The functional interface that a lambda implements is known only at the called method.
        NodeKind::Lambda | NodeKind::MethodReference => TermShape::Literal("lambda"),
        NodeKind::Unary => TermShape::Custom(unary_term),
        NodeKind::Binary => TermShape::Custom(binary_term),
        NodeKind::ClassLiteral => TermShape::Literal("Class"),
        // The object of `Type::method`.
        NodeKind::GenericType | NodeKind::TypeIdentifier | NodeKind::ScopedType => {
            TermShape::TypeName
        }
        _ => TermShape::Unknown,
    }
}

/// `object.name`, `Outer.this`
fn field_access_term(walker: &mut JavaWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let (object, name) = (walker.field(node, Field::Object), walker.field(node, Field::Member));
    let (Some(object), Some(name)) = (object, name) else { return UNKNOWN_TERM };
    let object = expression_within(walker, object, depth);
    // `Outer.this` is the object of an enclosing type.
    if walker.kind(name) == NodeKind::This {
        return walker.builder.terms.instance_of(object);
    }
    walker.builder.terms.member_of(object, walker.text(name))
}

/// `method(x)`, `object.method(x)`
fn invocation_term(walker: &mut JavaWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let Some(name) = walker.field(node, Field::Name) else { return UNKNOWN_TERM };
    let callee = match walker.field(node, Field::Object) {
        Some(object) => {
            let object = expression_within(walker, object, depth);
            walker.builder.terms.member_of(object, walker.text(name))
        }
        None => walker.builder.implicit_member(walker.text(name)),
    };
    walker.builder.terms.add(Term::Call(callee))
}

/// `new T[3]`
fn array_creation_term(walker: &mut JavaWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let element = walker.field(node, Field::Type);
    let element = element.map_or(UNKNOWN_TERM, |it| type_within(walker, it, depth));
    walker.builder.terms.add(Term::ListOf(element))
}

/// `1`, `0xffL`
fn integer_term(walker: &mut JavaWalker<'_, '_>, node: Node<'_>, _depth: u32) -> TermId {
    let is_long = walker.text(node).ends_with(['l', 'L']);
    walker.builder.terms.literal_of(if is_long { "long" } else { "int" })
}

/// `1.5`, `1.5f`
fn float_term(walker: &mut JavaWalker<'_, '_>, node: Node<'_>, _depth: u32) -> TermId {
    let is_single = walker.text(node).ends_with(['f', 'F']);
    walker.builder.terms.literal_of(if is_single { "float" } else { "double" })
}

/// `!x`, `-x`
fn unary_term(walker: &mut JavaWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let operator = walker.field(node, Field::Operator);
    if operator.is_some_and(|it| walker.text(it) == "!") {
        return walker.builder.terms.literal_of("boolean");
    }
    let operand = walker.field(node, Field::Operand);
    operand.map_or(UNKNOWN_TERM, |it| expression_within(walker, it, depth))
}

/// The result of an operator: a string if one side is a string, else the wider of two numbers
/// (JLS 5.6, binary numeric promotion).
fn binary_term(walker: &mut JavaWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let operator = walker.field(node, Field::Operator).map_or("", |it| walker.text(it));
    if matches!(operator, "==" | "!=" | "<" | ">" | "<=" | ">=" | "&&" | "||") {
        return walker.builder.terms.literal_of("boolean");
    }
    let sides = [walker.field(node, Field::Left), walker.field(node, Field::Right)];
    let sides = sides
        .map(|side| side.map_or(UNKNOWN_TERM, |operand| expression_within(walker, operand, depth)));
    // From the widest type down. Equal terms have one id, so that ids are compared.
    for type_name in ["String", "double", "float", "long"] {
        let literal = walker.builder.terms.literal_of(type_name);
        if sides.contains(&literal) {
            return literal;
        }
    }
    let int = walker.builder.terms.literal_of("int");
    if sides == [int, int] { int } else { UNKNOWN_TERM }
}

/// The table of types: the terms of their values.
pub(super) fn type_shape(kind: NodeKind) -> TermShape<JavaWalk> {
    match kind {
        NodeKind::TypeIdentifier => TermShape::Custom(named_type_term),
        NodeKind::ScopedType | NodeKind::GenericType => TermShape::InstanceOf(TermOperand::Itself),
        NodeKind::ArrayType => TermShape::Custom(array_type_term),
        NodeKind::Integral | NodeKind::Floating | NodeKind::BooleanType | NodeKind::Void => {
            TermShape::LiteralOfText
        }
        // `? extends T`
        NodeKind::Wildcard => TermShape::OfType(TermOperand::Child(0)),
        _ => TermShape::Unknown,
    }
}

/// `Row`, `var`
fn named_type_term(walker: &mut JavaWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    // `var`: the compiler infers the type.
    if walker.text(node) == "var" {
        return UNKNOWN_TERM;
    }
    let name = type_name_within(walker, node, depth);
    walker.builder.terms.instance_of(name)
}

/// `T[]`
fn array_type_term(walker: &mut JavaWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let element = walker.field(node, Field::Element);
    let element = element.map_or(UNKNOWN_TERM, |it| type_within(walker, it, depth));
    walker.builder.terms.add(Term::ListOf(element))
}

/// The term of a type itself: `Member(Map, "Entry")` for `Map.Entry`.
pub(super) fn type_name_within(
    walker: &mut JavaWalker<'_, '_>,
    node: Node<'_>,
    depth: u32,
) -> TermId {
    let Some(depth) = depth.checked_sub(1) else { return UNKNOWN_TERM };
    match walker.kind(node) {
        NodeKind::TypeIdentifier => walker.builder.unbound_name(walker.text(node)),
        // `a.b.Type`
        NodeKind::ScopedType => {
            // There may be annotations between the parts of the name.
            let mut parts = named_children(node).filter(|it| {
                matches!(
                    walker.grammar.kind(*it),
                    NodeKind::TypeIdentifier | NodeKind::ScopedType | NodeKind::GenericType
                )
            });
            let Some(first) = parts.next() else { return UNKNOWN_TERM };
            let rest: Vec<Node<'_>> = parts.collect();
            let mut name = type_name_within(walker, first, depth);
            for part in rest {
                name = walker.builder.terms.member_of(name, walker.text(part));
            }
            name
        }
        // `Type<A, B>`
        NodeKind::GenericType => {
            let Some(head) = node.named_child(0) else { return UNKNOWN_TERM };
            let head = type_name_within(walker, head, depth);
            let list = walker.child_of_kind(node, NodeKind::TypeArguments);
            let mut arguments = Vec::new();
            for argument in list.into_iter().flat_map(named_children).take(MAX_TYPE_ARGUMENTS) {
                arguments.push(type_within(walker, argument, depth));
            }
            walker.builder.terms.generic_of(head, &arguments)
        }
        _ => UNKNOWN_TERM,
    }
}
