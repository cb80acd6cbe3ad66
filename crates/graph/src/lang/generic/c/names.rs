//! C and C++: qualified names and expressions as terms. A *term* is an expression or a type reduced
//! to what the resolver (`crate::resolve`) needs to find definitions: to find `name` in `p->name`,
//! it evaluates the term of `p` to a type. `InstanceOf(T)` is a value of the type `T`, `Literal` one
//! of a type that is not defined in the project. The tables in `generic/terms.rs` name the functions
//! of this file.
//!
//! ```text
//! source                       term
//! a::Store::open               Member(Member(a, "Store"), "open")
//! std::vector<Row>             Generic(Literal("vector"), InstanceOf(Row))
//! p->name                      Member(Unwrapped(p), "name"): what `p` points to
//! std::make_unique<Row>(1)     InstanceOf(Row)
//! ```

use tree_sitter::{Node, TreeCursor};

use super::super::terms::{call_term, type_name_within};
use super::super::{Field, GenericWalk, GenericWalker, NodeKind};
use crate::facts::{RefKind, Term, TermId};
use crate::facts_builder::UNKNOWN_TERM;
use crate::lang::syntax_walker::{LanguageWalk, MAX_LOOKAHEAD_DEPTH};
use crate::lang::term_shape::{
    MAX_TYPE_ARGUMENTS, expression_term, expression_within, type_within,
};

/// Splits `a::Type::name` into the term of `a::Type` and the node of `name`; an unqualified name
/// has no such term.
pub(in crate::lang::generic) fn split_qualified_name<'t>(
    walker: &mut GenericWalker<'_, '_>,
    name: Node<'t>,
) -> (Option<TermId>, Node<'t>) {
    // The grammar nests the name to the right: `a` and (`Type` and `name`). Each round takes one
    // scope off its left end.
    let (mut scope_term, mut name, mut depth) = (None, name, MAX_LOOKAHEAD_DEPTH);
    while walker.kind(name) == NodeKind::QualifiedIdentifier {
        if let Some(scope) = walker.field(name, Field::Scope) {
            // Names are walked in a loop, but their terms nest: the depth bounds the terms.
            depth = depth.saturating_sub(1);
            let is_too_deep = depth == 0;
            let term =
                if is_too_deep { UNKNOWN_TERM } else { scope_name_term(walker, scope_term, scope) };
            scope_term = Some(term);
        }
        match walker.field(name, Field::Name) {
            Some(inner) => name = inner,
            None => break,
        }
    }
    (scope_term, name)
}

/// The term of one scope in a qualified name: of `Type` in `a::Type::name`. `parent` is the scope
/// before it.
fn scope_name_term(
    walker: &mut GenericWalker<'_, '_>,
    parent: Option<TermId>,
    scope: Node<'_>,
) -> TermId {
    let scope = match walker.kind(scope) {
        NodeKind::TemplateType | NodeKind::TemplateFunction => {
            walker.field(scope, Field::Name).unwrap_or(scope)
        }
        // Their meaning depends on the arguments of a template.
        NodeKind::DependentName | NodeKind::Decltype => return UNKNOWN_TERM,
        _ => scope,
    };
    match parent {
        Some(parent) => walker.builder.terms.member_of(parent, walker.text(scope)),
        None => walker.builder.unbound_name(walker.text(scope)),
    }
}

/// The term of `a::b::c`.
pub(in crate::lang::generic) fn qualified_name_term(
    walker: &mut GenericWalker<'_, '_>,
    node: Node<'_>,
    depth: u32,
) -> TermId {
    let is_absolute = walker.field(node, Field::Scope).is_none();
    let (scope, last) = split_qualified_name(walker, node);
    let name = match walker.kind(last) {
        NodeKind::TemplateType | NodeKind::TemplateFunction | NodeKind::TemplateMethod => {
            walker.field(last, Field::Name)
        }
        NodeKind::Identifier
        | NodeKind::TypeIdentifier
        | NodeKind::FieldIdentifier
        | NodeKind::OperatorName
        | NodeKind::DestructorName => Some(last),
        // A name that depends on template arguments.
        _ => None,
    };
    let Some(name) = name else { return UNKNOWN_TERM };
    let text = walker.text(name);
    // The standard library is no part of the project, but its containers are known by name.
    let is_standard = walker.text(node).trim_start_matches(':').starts_with("std::");
    let term = match scope {
        Some(_) if is_standard => walker.builder.terms.literal_of(text),
        Some(scope) => walker.builder.terms.member_of(scope, text),
        // `::name` skips all scopes of this file.
        None if is_absolute => {
            let name = walker.builder.intern(text);
            walker.builder.terms.add(Term::Name(name))
        }
        None => walker.builder.unbound_name(text),
    };
    match walker.kind(last) {
        NodeKind::TemplateType => with_template_arguments(walker, term, last, depth),
        _ => term,
    }
}

/// The type `T<…>`.
pub(in crate::lang::generic) fn template_type_name(
    walker: &mut GenericWalker<'_, '_>,
    node: Node<'_>,
    depth: u32,
) -> TermId {
    let name = walker.field(node, Field::Name);
    let head = name.map_or(UNKNOWN_TERM, |it| type_name_within(walker, it, depth));
    with_template_arguments(walker, head, node, depth)
}

/// The generic type of a head and the arguments of `template`.
fn with_template_arguments(
    walker: &mut GenericWalker<'_, '_>,
    head: TermId,
    template: Node<'_>,
    depth: u32,
) -> TermId {
    let mut arguments = Vec::new();
    for argument in walker.field_children(template, Field::Arguments).take(MAX_TYPE_ARGUMENTS) {
        arguments.push(type_within(walker, argument, depth));
    }
    walker.builder.terms.generic_of(head, &arguments)
}

/// `a::b` that is not a callee: a use of a value or of a type.
pub(super) fn visit_qualified_name(
    walker: &mut GenericWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    if !walker.is_use_to_skip(node) {
        let (_, last) = split_qualified_name(walker, node);
        let kind = match walker.kind(last) {
            NodeKind::TypeIdentifier | NodeKind::TemplateType => Some(RefKind::Type),
            NodeKind::Identifier => Some(RefKind::Use),
            // Operators and destructors are only called.
            _ => None,
        };
        if let Some(kind) = kind {
            let term = expression_term(walker, node);
            walker.builder.add_reference(kind, term, last, 0);
        }
    }
    // Of the children only the arguments of a template have facts of their own. They are the last
    // child of the last child: `a::List<Row>` is `a` and `List<Row>`, which is `List` and `<Row>`.
    if node.named_child_count() > 1 && walker.descend(cursor) {
        while cursor.goto_next_sibling() {}
        let is_template = matches!(
            walker.kind(cursor.node()),
            NodeKind::TemplateType | NodeKind::TemplateFunction
        );
        if is_template && walker.descend(cursor) {
            while cursor.goto_next_sibling() {}
            GenericWalk::visit_node(walker, cursor);
            walker.ascend(cursor);
        }
        walker.ascend(cursor);
    }
}

/// `object.name`, `pointer->name`
pub(in crate::lang::generic) fn c_field_term(
    walker: &mut GenericWalker<'_, '_>,
    node: Node<'_>,
    depth: u32,
) -> TermId {
    let (object, name) = (walker.field(node, Field::Argument), walker.field(node, Field::Member));
    let (Some(object), Some(name)) = (object, name) else { return UNKNOWN_TERM };
    let operator = walker.field(node, Field::Operator);
    let is_arrow = operator.is_some_and(|it| walker.kind(it) == NodeKind::ArrowSign);
    // `this->x` needs no dereference: the term of `this` is the object already.
    let is_dereferenced = is_arrow && walker.kind(object) != NodeKind::This;
    let mut object = expression_within(walker, object, depth);
    if is_dereferenced {
        object = walker.builder.terms.add(Term::Unwrapped(object));
    }
    // A template method has its name one level deeper.
    let name = walker.field(name, Field::Name).unwrap_or(name);
    walker.builder.terms.member_of(object, walker.text(name))
}

/// `*pointer`, `&value`
pub(in crate::lang::generic) fn c_pointer_term(
    walker: &mut GenericWalker<'_, '_>,
    node: Node<'_>,
    depth: u32,
) -> TermId {
    let operand = walker.field(node, Field::Argument).or_else(|| node.named_child(0));
    let operand = operand.map_or(UNKNOWN_TERM, |it| expression_within(walker, it, depth));
    let is_dereferenced = walker.text(node).starts_with('*');
    if is_dereferenced { walker.builder.terms.add(Term::Unwrapped(operand)) } else { operand }
}

/// `f(x)`
pub(in crate::lang::generic) fn c_call_term(
    walker: &mut GenericWalker<'_, '_>,
    node: Node<'_>,
    depth: u32,
) -> TermId {
    let callee = walker.field(node, Field::Function);
    match callee.and_then(|it| standard_call_term(walker, it, node, depth)) {
        Some(term) => term,
        None => call_term(walker, node, depth),
    }
}

/// The result of a cast or a function of the standard library whose result follows from the call:
/// `static_cast<T*>(x)`, `std::make_unique<T>(…)`, `std::move(x)`.
fn standard_call_term(
    walker: &mut GenericWalker<'_, '_>,
    callee: Node<'_>,
    call: Node<'_>,
    depth: u32,
) -> Option<TermId> {
    let name = walker.text(callee).split('<').next()?.trim_start_matches(':');
    match name {
        "static_cast" | "dynamic_cast" | "reinterpret_cast" | "const_cast" | "std::make_unique"
        | "std::make_shared" | "make_unique" | "make_shared" => {
            let (_, last) = split_qualified_name(walker, callee);
            let type_node = walker.field(last, Field::Arguments)?.named_child(0)?;
            Some(type_within(walker, type_node, depth))
        }
        "std::move" | "std::forward" | "std::ref" | "std::cref" => {
            let argument = walker.field(call, Field::Arguments)?.named_child(0)?;
            Some(expression_within(walker, argument, depth))
        }
        _ => None,
    }
}
