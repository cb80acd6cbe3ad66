//! ECMAScript: terms of TypeScript's types.
//!
//! ```text
//! type               term of a value of it
//! a.Row              InstanceOf(Member(a, "Row"))
//! Map<K, Row>        InstanceOf(Generic(Map, InstanceOf(K), InstanceOf(Row)))
//! Row[]              ListOf(InstanceOf(Row))
//! Row | undefined    InstanceOf(Row); an unknown alternative is left out
//! { id: Id }         Record("id": InstanceOf(Id))
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

use super::contextual_types::function_type_term;
use super::{Field, NodeKind, ScriptWalk, ScriptWalker};
use crate::facts::{Term, TermId};
use crate::facts_builder::UNKNOWN_TERM;
use crate::lang::syntax_walker::{named_children, strip_quotes};
use crate::lang::term_shape::{TermOperand, TermShape, expression_within, type_within};

/// Maximum number of parts stored for a union type.
const MAX_UNION_PARTS: usize = 16;

/// Maximum number of members stored for an object type.
const MAX_OBJECT_MEMBERS: usize = 64;

/// Maximum number of type arguments stored for a generic type. More than in other languages, whose
/// generic types have few.
const MAX_TYPE_ARGUMENTS: usize = 8;

/// The table of types: the terms of their values.
pub(super) fn type_shape(kind: NodeKind) -> TermShape<ScriptWalk> {
    match kind {
        NodeKind::TypeIdentifier | NodeKind::Identifier | NodeKind::Nested | NodeKind::Generic => {
            TermShape::InstanceOf(TermOperand::Itself)
        }
        // `string`, `void`
        NodeKind::Predefined => TermShape::Custom(predefined_type_term),
        NodeKind::ArrayType => TermShape::Wrapped(Term::ListOf, TermOperand::Child(0)),
        NodeKind::TypeAnnotation
        | NodeKind::ReadonlyType
        | NodeKind::ParenthesizedType
        | NodeKind::OptionalType
        | NodeKind::RestType
        | NodeKind::Constraint => TermShape::SameAs(TermOperand::Child(0)),
        NodeKind::Union => TermShape::Custom(union_term),
        NodeKind::Intersection => TermShape::Custom(intersection_term),
        NodeKind::ObjectType => TermShape::Custom(object_type_term),
        NodeKind::FunctionType => TermShape::Custom(function_type_term),
        NodeKind::Lookup => TermShape::Custom(lookup_type_term),
        NodeKind::TypeQuery => TermShape::Custom(type_query_term),
        NodeKind::Tuple => TermShape::Custom(tuple_type_term),
        NodeKind::Literal => TermShape::Custom(literal_type_term),
        NodeKind::ThisType => TermShape::This,
        // `x is T` and `asserts x is T`, as the result of a function.
        NodeKind::TypePredicate | NodeKind::TypePredicateAnnotation => {
            TermShape::Literal("boolean")
        }
        NodeKind::Asserts => TermShape::Literal("void"),
        _ => TermShape::Unknown,
    }
}

/// `string`, `any`
fn predefined_type_term(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>, _depth: u32) -> TermId {
    match walker.text(node) {
        name @ ("string" | "number" | "boolean") => walker.builder.terms.literal_of(name),
        // One name stands for all of these.
        "void" | "never" | "symbol" | "bigint" => walker.builder.terms.literal_of("void"),
        // `any`, `unknown`, `object`
        _ => UNKNOWN_TERM,
    }
}

/// `A | B`
fn union_term(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let mut parts = Vec::new();
    add_union_parts(walker, node, depth, &mut parts);
    walker.builder.terms.any_of(&parts)
}

fn add_union_parts(
    walker: &mut ScriptWalker<'_, '_>,
    node: Node<'_>,
    depth: u32,
    parts: &mut Vec<TermId>,
) {
    for part in named_children(node) {
        // Unions nest to the left, one level per part.
        if walker.kind(part) == NodeKind::Union && depth > 0 {
            add_union_parts(walker, part, depth - 1, parts);
        } else if parts.len() < MAX_UNION_PARTS {
            parts.push(type_within(walker, part, depth));
        }
    }
}

/// `A & B`
fn intersection_term(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let parts: Vec<TermId> =
        named_children(node).map(|it| type_within(walker, it, depth)).collect();
    let list = walker.builder.terms.add_list(&parts);
    walker.builder.terms.add(Term::AllOf(list))
}

/// `{ id: Id; run(): T }`
fn object_type_term(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let (mut members, mut signatures) = (Vec::new(), Vec::new());
    for member in named_children(node).take(MAX_OBJECT_MEMBERS) {
        // An object that can be called: `{ (x: T): U }`.
        if walker.kind(member) == NodeKind::CallSignature {
            signatures.push(function_type_term(walker, member, depth));
        }
        let Some(name) = walker.field(member, Field::Name) else { continue };
        let term = match walker.kind(member) {
            NodeKind::PropertySignature => {
                let declared = walker.field(member, Field::Type);
                declared.map_or(UNKNOWN_TERM, |it| type_within(walker, it, depth))
            }
            NodeKind::MethodSignature => function_type_term(walker, member, depth),
            // Other members, such as index signatures, cannot be reached by a name.
            _ => continue,
        };
        let name = walker.builder.intern(strip_quotes(walker.text(name)));
        members.push((name, term));
    }
    let record = walker.builder.terms.record_of(&members);
    if signatures.is_empty() {
        return record;
    }
    signatures.push(record);
    let parts = walker.builder.terms.add_list(&signatures);
    walker.builder.terms.add(Term::AllOf(parts))
}

/// `T["name"]`, `T[number]`
fn lookup_type_term(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let (Some(object), Some(key)) = (node.named_child(0), node.named_child(1)) else {
        return UNKNOWN_TERM;
    };
    let object = type_within(walker, object, depth);
    let text = walker.text(key);
    let name = strip_quotes(text);
    // Only a quoted key names a member; `number` and type parameters do not.
    if walker.kind(key) == NodeKind::Literal && name != text {
        return walker.builder.terms.member_of(object, name);
    }
    walker.builder.terms.add(Term::ElementOf(object))
}

/// `typeof value`
fn type_query_term(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    node.named_child(0).map_or(UNKNOWN_TERM, |it| expression_within(walker, it, depth))
}

/// `[A, name: B]`
fn tuple_type_term(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>, depth: u32) -> TermId {
    let mut members = Vec::new();
    // Comments are "extra" nodes, which a grammar allows everywhere.
    for (i, item) in named_children(node).filter(|it| !it.is_extra()).enumerate() {
        // A named item has its type in a field.
        let type_node = walker.field(item, Field::Type).unwrap_or(item);
        let name = walker.builder.intern(&i.to_string());
        members.push((name, type_within(walker, type_node, depth)));
    }
    walker.builder.terms.record_of(&members)
}

/// `"text"`, `1`, `true` as types.
fn literal_type_term(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>, _depth: u32) -> TermId {
    match node.named_child(0).map(|it| walker.kind(it)) {
        Some(NodeKind::Text) => walker.builder.terms.literal_of("string"),
        Some(NodeKind::Number) => walker.builder.terms.literal_of("number"),
        Some(NodeKind::True | NodeKind::False) => walker.builder.terms.literal_of("boolean"),
        _ => UNKNOWN_TERM,
    }
}

/// The term of a type itself: `Member(a, "Row")` for `a.Row`.
pub(super) fn type_name_within(
    walker: &mut ScriptWalker<'_, '_>,
    node: Node<'_>,
    depth: u32,
) -> TermId {
    let Some(depth) = depth.checked_sub(1) else { return UNKNOWN_TERM };
    match walker.kind(node) {
        NodeKind::TypeIdentifier | NodeKind::Identifier => {
            walker.builder.unbound_name(walker.text(node))
        }
        NodeKind::Nested => {
            let module = walker.field(node, Field::Module);
            let (Some(module), Some(name)) = (module, walker.field(node, Field::Name)) else {
                return UNKNOWN_TERM;
            };
            // `a.b.T`: everything before the last dot is a path of values.
            let is_name = walker.kind(module) == NodeKind::Identifier;
            let module = if is_name {
                type_name_within(walker, module, depth)
            } else {
                expression_within(walker, module, depth)
            };
            walker.builder.terms.member_of(module, walker.text(name))
        }
        NodeKind::Generic => {
            let Some(head) = walker.field(node, Field::Name) else { return UNKNOWN_TERM };
            let head = type_name_within(walker, head, depth);
            let arguments = walker.field(node, Field::TypeArguments);
            with_type_arguments(walker, head, arguments, depth)
        }
        _ => UNKNOWN_TERM,
    }
}

/// The generic type `head<arguments>`; the head itself if there are no arguments. The arguments are
/// read to `depth` levels.
pub(super) fn with_type_arguments(
    walker: &mut ScriptWalker<'_, '_>,
    head: TermId,
    arguments: Option<Node<'_>>,
    depth: u32,
) -> TermId {
    let Some(arguments) = arguments else { return head };
    let mut terms = Vec::new();
    for argument in named_children(arguments).take(MAX_TYPE_ARGUMENTS) {
        terms.push(type_within(walker, argument, depth));
    }
    walker.builder.terms.generic_of(head, &terms)
}
