//! Rust: terms of expressions and types.
//!
//! A *term* is an expression or a type reduced to what the resolver (`crate::resolve`) needs to find
//! definitions. To find `save` in `f(1).save()`, it evaluates the term of `f(1)`, which is
//! `Call(f)`, to a type. `InstanceOf(T)` is a value of the type `T`, `Unwrapped` the content of a
//! future, an option or a result.
//!
//! The two tables, [`expression_shape`] and [`type_shape`], map the kinds of syntax nodes to
//! [`TermShape`]s. A shape is the recipe for a term: it tells which parts of the node make it up, or
//! as `Custom` names a function of this file that builds it. The functions return the id of a term
//! in `walker.builder.terms`. `depth` is the number of levels that may still be read below a node;
//! deeper parts are unknown.
//!
//! ```text
//! expression             term
//! self.rows[0]           ElementOf(Member(self, "rows"))
//! Store::open(path)?     Unwrapped(Call(Member(Store, "open")))
//! Arc::new(store)        store
//!
//! type                   term of a value of it
//! &mut Store             InstanceOf(Store)
//! Vec<Row>               InstanceOf(Generic(Vec, InstanceOf(Row)))
//! ```

use tree_sitter::Node;

use super::{Field, NodeKind, RustWalk, RustWalker};
use crate::facts::{Term, TermId};
use crate::facts_builder::UNKNOWN_TERM;
use crate::lang::term_shape::{
    MAX_TYPE_ARGUMENTS, TermOperand, TermShape, expression_within, type_within,
};

/// Functions whose result behaves like their argument. Smart pointers dereference to their content,
/// which has the members that matter.
#[rustfmt::skip]
pub(super) const TRANSPARENT_CONSTRUCTORS: &[&str] = &[
    "Arc::new", "Rc::new", "Box::new", "Box::pin", "Pin::new", "Arc::clone", "Rc::clone", "pin::Pin::new",
    "sync::Arc::new", "std::sync::Arc::new", "std::rc::Rc::new", "std::pin::Pin::new", "std::sync::Arc::clone",
];

/// The table of expressions.
pub(super) fn expression_shape(kind: NodeKind) -> TermShape<RustWalk> {
    match kind {
        NodeKind::Identifier => TermShape::Custom(name_term),
        NodeKind::SelfWord | NodeKind::SuperWord | NodeKind::CrateWord => TermShape::Name,
        NodeKind::FieldExpression => TermShape::Member(Field::Value, Field::Member),
        NodeKind::Scoped => TermShape::Custom(path_term),
        // `f::<T>`
        NodeKind::GenericFunction => TermShape::SameAs(TermOperand::Field(Field::Function)),
        NodeKind::Call => TermShape::Custom(call_term),
        // `x?` and `x.await` both unwrap.
        NodeKind::Try | NodeKind::Await => {
            TermShape::Wrapped(Term::Unwrapped, TermOperand::Child(0))
        }
        // `&x`, `*x`, `(x)`
        NodeKind::Reference | NodeKind::Unary | NodeKind::Parenthesized => {
            TermShape::SameAs(TermOperand::FieldOrFirst(Field::Value))
        }
        NodeKind::Index => TermShape::Wrapped(Term::ElementOf, TermOperand::Child(0)),
        // `x as T`
        NodeKind::TypeCast => TermShape::OfType(TermOperand::Field(Field::Type)),
        NodeKind::StructExpression => TermShape::InstanceOf(TermOperand::Field(Field::Name)),
        NodeKind::Array => TermShape::Wrapped(Term::ListOf, TermOperand::Child(0)),
        NodeKind::Tuple => TermShape::Tuple,
        NodeKind::Text | NodeKind::RawText => TermShape::Literal("str"),
        // One built-in type stands for all of these.
        NodeKind::Int | NodeKind::Float | NodeKind::Char | NodeKind::Bool | NodeKind::Binary => {
            TermShape::Literal("int")
        }
        _ => TermShape::Unknown,
    }
}

/// `name`, `Self`
fn name_term(walker: &mut RustWalker<'_, '_>, node: Node<'_>, _depth: u32) -> TermId {
    match walker.text(node) {
        "Self" => self_type_name(walker),
        text => walker.builder.unbound_name(text),
    }
}

/// `a::b`
fn path_term(walker: &mut RustWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let Some(name) = walker.field(node, Field::Name) else { return UNKNOWN_TERM };
    match walker.field(node, Field::Path) {
        Some(parent) => {
            let parent = path_parent_term(walker, parent, depth);
            walker.builder.terms.member_of(parent, walker.text(name))
        }
        None => walker.builder.unbound_name(walker.text(name)),
    }
}

/// The term before `::`, which may be a type or a module: `Vec::<T>` in `Vec::<T>::new`.
fn path_parent_term(walker: &mut RustWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    match walker.kind(node) {
        NodeKind::GenericType
        | NodeKind::GenericTypeTurbo
        | NodeKind::TypeIdentifier
        | NodeKind::ScopedType => type_name_within(walker, node, depth),
        _ => expression_within(walker, node, depth),
    }
}

/// `f(x)`
fn call_term(walker: &mut RustWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let Some(callee) = walker.field(node, Field::Function) else { return UNKNOWN_TERM };
    if TRANSPARENT_CONSTRUCTORS.contains(&walker.text(callee)) {
        let argument = walker.field(node, Field::Arguments).and_then(|it| it.named_child(0));
        return argument.map_or(UNKNOWN_TERM, |it| expression_within(walker, it, depth));
    }
    let callee = expression_within(walker, callee, depth);
    walker.builder.terms.add(Term::Call(callee))
}

/// The type that `Self` names; unknown outside traits and `impl` blocks.
pub(super) fn self_type_name(walker: &RustWalker<'_, '_>) -> TermId {
    walker.state.self_types.last().map_or(UNKNOWN_TERM, |it| it.type_name)
}

/// The table of types: the terms of their values.
pub(super) fn type_shape(kind: NodeKind) -> TermShape<RustWalk> {
    match kind {
        // `Self` is not a name to be looked up.
        NodeKind::TypeIdentifier => TermShape::Custom(named_type_term),
        NodeKind::ScopedType | NodeKind::GenericType | NodeKind::Identifier => {
            TermShape::InstanceOf(TermOperand::Itself)
        }
        NodeKind::ReferenceType | NodeKind::PointerType => {
            TermShape::SameAs(TermOperand::Field(Field::Type))
        }
        // `dyn Trait`, `impl Trait`
        NodeKind::Dynamic | NodeKind::Abstract => {
            TermShape::SameAs(TermOperand::FieldOrFirst(Field::Trait))
        }
        // `Trait + Send`
        NodeKind::Bounded => TermShape::SameAs(TermOperand::Child(0)),
        NodeKind::ArrayType => TermShape::Wrapped(Term::ListOf, TermOperand::Field(Field::Element)),
        NodeKind::TupleType => TermShape::Tuple,
        NodeKind::FunctionType => {
            TermShape::Wrapped(Term::Function, TermOperand::Field(Field::ReturnType))
        }
        NodeKind::Primitive => TermShape::Literal("int"),
        _ => TermShape::Unknown,
    }
}

/// `Name`, `Self`
fn named_type_term(walker: &mut RustWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    if walker.text(node) == "Self" {
        return walker.state.self_types.last().map_or(UNKNOWN_TERM, |it| it.object);
    }
    let name = type_name_within(walker, node, depth);
    walker.builder.terms.instance_of(name)
}

/// The term of a type itself: `Member(a, "Store")` for `&a::Store`.
pub(super) fn type_name_within(
    walker: &mut RustWalker<'_, '_>,
    node: Node<'_>,
    depth: u32,
) -> TermId {
    let Some(depth) = depth.checked_sub(1) else { return UNKNOWN_TERM };
    match walker.kind(node) {
        NodeKind::TypeIdentifier | NodeKind::Identifier => match walker.text(node) {
            "Self" => self_type_name(walker),
            text => walker.builder.unbound_name(text),
        },
        NodeKind::ScopedType | NodeKind::Scoped => path_term(walker, node, depth),
        NodeKind::GenericType | NodeKind::GenericTypeTurbo => {
            generic_type_name(walker, node, depth)
        }
        NodeKind::ReferenceType => {
            let inner = walker.field(node, Field::Type);
            inner.map_or(UNKNOWN_TERM, |it| type_name_within(walker, it, depth))
        }
        NodeKind::Dynamic | NodeKind::Abstract => {
            let inner = walker.field(node, Field::Trait).or_else(|| node.named_child(0));
            inner.map_or(UNKNOWN_TERM, |it| type_name_within(walker, it, depth))
        }
        _ => UNKNOWN_TERM,
    }
}

/// `Vec<T>`, `Iterator<Item = T>`
fn generic_type_name(walker: &mut RustWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let Some(head) = walker.field(node, Field::Type) else { return UNKNOWN_TERM };
    let head = type_name_within(walker, head, depth);
    let grammar = walker.grammar;
    // `Item = T` and lifetimes do not count as arguments.
    let is_type =
        |it: &Node<'_>| !matches!(grammar.kind(*it), NodeKind::Lifetime | NodeKind::TypeBinding);
    let mut arguments = Vec::new();
    for argument in
        walker.field_children(node, Field::TypeArguments).filter(is_type).take(MAX_TYPE_ARGUMENTS)
    {
        arguments.push(type_within(walker, argument, depth));
    }
    walker.builder.terms.generic_of(head, &arguments)
}
