//! ECMAScript: classes and the members of classes, interfaces and objects.
//!
//! ```text
//! class Store extends Base implements Named {    definition: class `Store` with two bases
//!   static limit = 1;                            definition: static field `Store.limit`
//!   get size() { … }                             definition: method `Store.size`, a getter
//!   run = () => { … };                           definition: method `Store.run`
//! }
//! const api = { get(id) { … } };                 definition: method `api.get`
//! ```
//!
//! The walk in `ecmascript.rs` calls a `visit_…` function with the cursor at the syntax node
//! `node`. The function records what the node defines and uses in `walker.builder`, which collects
//! the facts of the file, and then visits the children. Names are looked up after the walk; the
//! resolver (`crate::resolve`) joins the facts of all files. A *term* is an expression or a type,
//! reduced to what that needs: `Member(Name("rows"), "find")` for `rows.find`.

use tree_sitter::{Node, TreeCursor};

use super::contextual_types::{add_call_signature, expect_type};
use super::functions::{bind_type_parameters, is_function, take_export_flag, visit_function};
use super::terms::strip_wrappers;
use super::type_terms::with_type_arguments;
use super::{Field, NodeKind, ScriptWalk, ScriptWalker, ValueRole};
use crate::facts::{ArityRange, DefFlags, DefId, DefKind};
use crate::facts_builder::{ANY_ARG_COUNT, BaseRelation, NameBinding, ScopeKind};
use crate::lang::syntax_walker::{LanguageWalk, MAX_LOOKAHEAD_DEPTH, named_children, strip_quotes};
use crate::lang::term_shape::{expression_term, field_type, type_name};

/// `class A<T> extends B { … }`, as a declaration or as an expression.
pub(super) fn visit_class(
    walker: &mut ScriptWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let def = class_definition(walker, node);
    walker.builder.set_body_start(def, walker.grammar.field(node, Field::Body));
    walker.builder.scopes.enter(ScopeKind::Block);
    let type_params = bind_type_parameters(walker, node);
    walker.builder.def_mut(def).type_params = type_params;
    for heritage in walker.children_of_kind(node, NodeKind::Heritage) {
        add_bases(walker, def, heritage);
    }
    walker.builder.open_definition(def);
    visit_members(walker, cursor);
    walker.builder.close_definition();
    walker.builder.scopes.leave();
}

/// The definition of a class: the variable it is the value of, or one of its own.
fn class_definition(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>) -> DefId {
    if let Some(ValueRole::Class(def)) = walker.state.value_roles.remove(&node.id()) {
        return def;
    }
    let flags = take_export_flag(walker);
    if let Some(name_node) = walker.field(node, Field::Name) {
        let name = walker.builder.intern_node(name_node);
        let def = walker.builder.add_definition(DefKind::Class, name, name_node, node, flags);
        walker.builder.bind_name(name, NameBinding::Def(def));
        return def;
    }
    // Only a default export may leave out the name.
    let name = walker.builder.intern("default");
    walker.builder.add_definition(DefKind::Class, name, node, node, flags)
}

/// `extends Base<T> implements A, B`
fn add_bases(walker: &mut ScriptWalker<'_, '_>, def: DefId, heritage: Node<'_>) {
    for clause in named_children(heritage) {
        match walker.kind(clause) {
            NodeKind::Extends => {
                let Some(value) = walker.field(clause, Field::Value) else { continue };
                let base = expression_term(walker, value);
                let arguments = walker.field(clause, Field::TypeArguments);
                let base = with_type_arguments(walker, base, arguments, MAX_LOOKAHEAD_DEPTH);
                walker.builder.add_base(def, base, BaseRelation::Extends);
            }
            NodeKind::Implements => {
                for interface in named_children(clause) {
                    let base = type_name(walker, interface);
                    walker.builder.add_base(def, base, BaseRelation::Implements);
                }
            }
            // JavaScript's grammar has no clause around the base.
            NodeKind::Identifier | NodeKind::MemberAccess | NodeKind::Call => {
                let base = expression_term(walker, clause);
                walker.builder.add_base(def, base, BaseRelation::Extends);
            }
            // Comments, and bases that an expression computes.
            _ => {}
        }
    }
}

/// Visits the children of a class, interface or object type. Declarations directly in its body are
/// its members.
pub(super) fn visit_members(walker: &mut ScriptWalker<'_, '_>, cursor: &mut TreeCursor<'_>) {
    walker.for_each_child(cursor, |walker, cursor| {
        let node = cursor.node();
        let is_body = walker.grammar.is_field(cursor.field_id().map(u16::from), Field::Body);
        match walker.kind(node) {
            // The grammars differ in the kind of the body.
            NodeKind::ClassBody | NodeKind::ObjectType => visit_members(walker, cursor),
            _ if is_body => visit_members(walker, cursor),
            NodeKind::MethodDefinition | NodeKind::AbstractMethod | NodeKind::MethodSignature => {
                visit_method(walker, cursor, node);
            }
            NodeKind::FieldDefinition | NodeKind::JsField | NodeKind::PropertySignature => {
                visit_property(walker, cursor, node);
            }
            NodeKind::CallSignature => {
                add_call_signature(walker, node);
                walker.visit_children(cursor);
            }
            _ => ScriptWalk::visit_node(walker, cursor),
        }
    });
}

/// `run(x) { … }`, `static run() { … }`, `get size() { … }`, or the signature `run(x): T;`.
fn visit_method(walker: &mut ScriptWalker<'_, '_>, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
    let Some(name_node) = walker.field(node, Field::Name) else {
        return walker.visit_children(cursor);
    };
    let name = walker.builder.intern(strip_quotes(walker.text(name_node)));
    let is_signature = walker.kind(node) != NodeKind::MethodDefinition;
    let is_constructor = walker.text(name_node) == "constructor";
    let flags = DefFlags::default()
        .when(is_signature, DefFlags::ABSTRACT)
        .when(has_keyword(walker, node, NodeKind::StaticWord), DefFlags::STATIC)
        .when(has_keyword(walker, node, NodeKind::GetWord), DefFlags::GETTER)
        .when(is_constructor, DefFlags::CONSTRUCTOR);
    // Overloads are one method, defined by the first signature.
    let parent = walker.builder.enclosing_def();
    let signature = walker.builder.defs.iter().rposition(|it| {
        it.kind == DefKind::Method
            && it.name == name
            && it.parent == parent
            && it.flags.has(DefFlags::ABSTRACT)
    });
    let def = match signature {
        // Each signature has its own number of arguments. A getter has no overloads.
        Some(position) if !flags.has(DefFlags::GETTER) => {
            walker.builder.defs[position].arity = ArityRange { min: 0, max: ANY_ARG_COUNT };
            DefId::from_index(position)
        }
        _ => walker.builder.add_definition(DefKind::Method, name, name_node, node, flags),
    };
    visit_function(walker, cursor, node, Some(def));
}

/// Returns whether a keyword is a direct child. Keywords are not among the named children.
fn has_keyword(walker: &ScriptWalker<'_, '_>, node: Node<'_>, keyword: NodeKind) -> bool {
    let mut cursor = node.walk();
    node.children(&mut cursor).any(|it| walker.kind(it) == keyword)
}

/// `name: T = value;`
fn visit_property(walker: &mut ScriptWalker<'_, '_>, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
    // JavaScript's grammar calls the field of the name `property`.
    let name = walker.field(node, Field::Name).or_else(|| walker.field(node, Field::Property));
    let Some(name) = name else { return walker.visit_children(cursor) };
    let value = walker.field(node, Field::Value).map(|it| strip_wrappers(walker, it));
    visit_member_value(walker, cursor, node, name, value);
}

/// Defines a property with its value. A function as the value makes it a method.
fn visit_member_value(
    walker: &mut ScriptWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
    name_node: Node<'_>,
    value: Option<Node<'_>>,
) {
    let name = walker.builder.intern(strip_quotes(walker.text(name_node)));
    let function = value.filter(|it| is_function(walker, *it));
    let kind = if function.is_some() { DefKind::Method } else { DefKind::Field };
    let is_static = has_keyword(walker, node, NodeKind::StaticWord);
    let flags = DefFlags::default().when(is_static, DefFlags::STATIC);
    let def = walker.builder.add_definition(kind, name, name_node, node, flags);
    let declared = field_type(walker, node, Field::Type);
    if let (Some(value), Some(declared)) = (value, declared) {
        expect_type(walker, value, declared);
    }
    if let Some(function) = function {
        walker.state.value_roles.insert(function.id(), ValueRole::Function(def));
        return walker.visit_children(cursor);
    }
    let value_term = value.map(|it| expression_term(walker, it));
    if let Some(object) = value.filter(|it| walker.kind(*it) == NodeKind::Object) {
        walker.state.value_roles.insert(object.id(), ValueRole::Object(def));
    }
    walker.builder.set_types(def, declared, value_term);
    // References in the initial value belong to the field.
    walker.builder.open_definition(def);
    walker.visit_children(cursor);
    walker.builder.close_definition();
}

/// `{ a: 1, run() { … } }` as the value of a definition: its properties are members of that.
pub(super) fn visit_object_members(
    walker: &mut ScriptWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let Some(ValueRole::Object(owner)) = walker.state.value_roles.remove(&node.id()) else {
        return walker.visit_children(cursor);
    };
    walker.builder.open_definition(owner);
    walker.for_each_child(cursor, |walker, cursor| {
        let node = cursor.node();
        match (walker.kind(node), walker.field(node, Field::Key)) {
            (NodeKind::MethodDefinition, _) => visit_method(walker, cursor, node),
            (NodeKind::Pair, Some(key)) => {
                let value = walker.field(node, Field::Value).map(|it| strip_wrappers(walker, it));
                visit_member_value(walker, cursor, node, key, value);
            }
            _ => ScriptWalk::visit_node(walker, cursor),
        }
    });
    walker.builder.close_definition();
}
