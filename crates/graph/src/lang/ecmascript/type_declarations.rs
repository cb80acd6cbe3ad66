//! ECMAScript: interfaces, type aliases, enums and namespaces of TypeScript.
//!
//! ```text
//! interface A extends B { x: T }      definitions: interface `A` with the base `B`, field `A.x`
//! type A = B & { x: T };              definitions: type `A` with the base `B`, field `A.x`
//! type A = B | C;                     definition: type `A`, declared type `B | C`
//! enum Color { Red, Green = 2 }       definitions: enum `Color`, static fields `Red`, `Green`
//! namespace a { … }                   definition: module `a`
//! ```
//!
//! The walk in `ecmascript.rs` calls a `visit_…` function with the cursor at the syntax node
//! `node`. The function records what the node defines and uses in `walker.builder`, which collects
//! the facts of the file, and then visits the children. Names are looked up after the walk; the
//! resolver (`crate::resolve`) joins the facts of all files. A *term* is an expression or a type,
//! reduced to what that needs: `Member(Name("rows"), "find")` for `rows.find`.

use tree_sitter::{Node, TreeCursor};

use super::classes::visit_members;
use super::functions::{bind_type_parameters, take_export_flag};
use super::{Field, NodeKind, ScriptWalk, ScriptWalker};
use crate::facts::{DefFlags, DefId, DefKind};
use crate::facts_builder::{BaseRelation, NameBinding, ScopeKind, known_term};
use crate::lang::syntax_walker::{LanguageWalk, MAX_LOOKAHEAD_DEPTH, named_children, strip_quotes};
use crate::lang::term_shape::{type_name, type_term};

/// `interface A<T> extends B { … }`
pub(super) fn visit_interface(
    walker: &mut ScriptWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let Some(def) = define_declaration(walker, node, DefKind::Interface) else {
        return walker.visit_children(cursor);
    };
    walker.builder.set_body_start(def, walker.grammar.field(node, Field::Body));
    walker.builder.scopes.enter(ScopeKind::Block);
    let type_params = bind_type_parameters(walker, node);
    walker.builder.def_mut(def).type_params = type_params;
    for clause in named_children(node) {
        // The grammars differ in the kind of this clause.
        if !matches!(walker.kind(clause), NodeKind::ExtendsTypes | NodeKind::Extends) {
            continue;
        }
        for interface in named_children(clause) {
            let base = type_name(walker, interface);
            walker.builder.add_base(def, base, BaseRelation::Extends);
        }
    }
    walker.builder.open_definition(def);
    visit_members(walker, cursor);
    walker.builder.close_definition();
    walker.builder.scopes.leave();
}

/// Defines a declaration with a plain name and binds the name.
fn define_declaration(
    walker: &mut ScriptWalker<'_, '_>,
    node: Node<'_>,
    kind: DefKind,
) -> Option<DefId> {
    let name_node = walker.field(node, Field::Name)?;
    let name = walker.builder.intern_node(name_node);
    let flags = take_export_flag(walker);
    let def = walker.builder.add_definition(kind, name, name_node, node, flags);
    walker.builder.bind_name(name, NameBinding::Def(def));
    Some(def)
}

/// `type A<T> = …;`
pub(super) fn visit_type_alias(
    walker: &mut ScriptWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let Some(def) = define_declaration(walker, node, DefKind::TypeAlias) else {
        return walker.visit_children(cursor);
    };
    walker.builder.scopes.enter(ScopeKind::Block);
    let type_params = bind_type_parameters(walker, node);
    walker.builder.def_mut(def).type_params = type_params;
    let value = walker.field(node, Field::Value);
    // An alias of an object type has members like an interface; any other is only a name.
    let object = value.filter(|it| contains_object_type(walker, *it, MAX_LOOKAHEAD_DEPTH));
    if object.is_none() {
        let declared = value.map(|it| type_term(walker, it));
        walker.builder.def_mut(def).declared_type = known_term(declared);
    }
    walker.builder.open_definition(def);
    match object {
        Some(object) => {
            add_intersected_bases(walker, def, object, MAX_LOOKAHEAD_DEPTH);
            visit_alias_members(walker, cursor);
        }
        None => walker.visit_children(cursor),
    }
    walker.builder.close_definition();
    walker.builder.scopes.leave();
}

/// Returns whether a type is an object type or an intersection with one: `{ x: T }`,
/// `B & { x: T }`, `Readonly<{ x: T }>`.
fn contains_object_type(walker: &ScriptWalker<'_, '_>, node: Node<'_>, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    match walker.kind(node) {
        NodeKind::ObjectType => true,
        NodeKind::Intersection | NodeKind::ParenthesizedType | NodeKind::ReadonlyType => {
            named_children(node).any(|it| contains_object_type(walker, it, depth))
        }
        NodeKind::Generic if is_transparent(walker, node) => {
            let mut arguments = walker.field_children(node, Field::TypeArguments);
            arguments.any(|it| contains_object_type(walker, it, depth))
        }
        _ => false,
    }
}

/// Returns whether a generic type has the members of its argument: `Readonly<T>`.
fn is_transparent(walker: &ScriptWalker<'_, '_>, node: Node<'_>) -> bool {
    let name = walker.field(node, Field::Name).map_or("", |it| walker.text(it));
    matches!(name, "Readonly" | "Partial" | "Required" | "Merge")
}

/// Adds the parts of an intersection as bases of the alias, except object types: `B` of
/// `type A = B & { x: T }`.
fn add_intersected_bases(
    walker: &mut ScriptWalker<'_, '_>,
    def: DefId,
    node: Node<'_>,
    depth: u32,
) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match walker.kind(node) {
        // The object's own members are defined by the visit that follows.
        NodeKind::ObjectType | NodeKind::Comment => {}
        NodeKind::Intersection | NodeKind::ParenthesizedType | NodeKind::ReadonlyType => {
            named_children(node).for_each(|it| add_intersected_bases(walker, def, it, depth));
        }
        NodeKind::Generic
            if is_transparent(walker, node) && contains_object_type(walker, node, depth) =>
        {
            walker
                .field_children(node, Field::TypeArguments)
                .for_each(|it| add_intersected_bases(walker, def, it, depth));
        }
        // Elsewhere a base is the term of the type itself, `Name("B")`. A part of an intersection
        // may be a type without a name, such as `B[]`, so here it is the term of a value of the
        // type, `InstanceOf(Name("B"))`. The resolver accepts both.
        _ => {
            let base = type_term(walker, node);
            walker.builder.add_base(def, base, BaseRelation::Extends);
        }
    }
}

/// Visits the value of an alias down to its object types, whose declarations are members.
fn visit_alias_members(walker: &mut ScriptWalker<'_, '_>, cursor: &mut TreeCursor<'_>) {
    walker.for_each_child(cursor, |walker, cursor| {
        let node = cursor.node();
        match walker.kind(node) {
            NodeKind::ObjectType => visit_members(walker, cursor),
            NodeKind::Intersection
            | NodeKind::ParenthesizedType
            | NodeKind::ReadonlyType
            | NodeKind::TypeArguments => visit_alias_members(walker, cursor),
            NodeKind::Generic if is_transparent(walker, node) => {
                visit_alias_members(walker, cursor);
            }
            _ => ScriptWalk::visit_node(walker, cursor),
        }
    });
}

/// `enum Color { Red, Green = 2 }`
pub(super) fn visit_enum(
    walker: &mut ScriptWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let Some(def) = define_declaration(walker, node, DefKind::Enum) else {
        return walker.visit_children(cursor);
    };
    walker.builder.open_definition(def);
    for member in walker.field_children(node, Field::Body) {
        // `A = 1` has a node around the name, `A` is the name itself.
        let is_assigned = walker.kind(member) == NodeKind::EnumAssignment;
        let name_node = if is_assigned { walker.field(member, Field::Name) } else { Some(member) };
        let name_node = name_node
            .filter(|it| matches!(walker.kind(*it), NodeKind::PropertyIdentifier | NodeKind::Text));
        if let Some(name_node) = name_node {
            let name = walker.builder.intern(strip_quotes(walker.text(name_node)));
            let flags = DefFlags::STATIC;
            walker.builder.add_definition(DefKind::Field, name, name_node, member, flags);
        }
    }
    walker.visit_children(cursor);
    walker.builder.close_definition();
}

/// `namespace a { … }`, `declare module "a" { … }`
pub(super) fn visit_namespace(
    walker: &mut ScriptWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let Some(name_node) = walker.field(node, Field::Name) else {
        return walker.visit_children(cursor);
    };
    let name = walker.builder.intern(strip_quotes(walker.text(name_node)));
    let flags = take_export_flag(walker);
    let def = walker.builder.add_definition(DefKind::Module, name, name_node, node, flags);
    // A quoted name is that of a package, not of a variable.
    if walker.kind(name_node) != NodeKind::Text {
        walker.builder.bind_name(name, NameBinding::Def(def));
    }
    walker.builder.open_definition(def);
    walker.visit_block(cursor);
    walker.builder.close_definition();
}
