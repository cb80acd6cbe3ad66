//! ECMAScript: variable declarations, and functions or classes that are their values.
//!
//! ```text
//! const limit = 10;               definition: variable `limit`
//! const run = (x) => …;           definition: function `run`
//! const A = class { … };          definition: class `A`
//! const { a, b } = options;       definitions: variables `a` and `b`, members of `options`
//! const db = require("./db");     import: module `./db` as `db`
//! ```
//!
//! Inside a function they are local variables, except for the import.
//!
//! The walk in `ecmascript.rs` calls a `visit_…` function with the cursor at the syntax node
//! `node`. The function records what the node defines and uses in `walker.builder`, which collects
//! the facts of the file, and then visits the children. Names are looked up after the walk; the
//! resolver (`crate::resolve`) joins the facts of all files. A *term* is an expression or a type,
//! reduced to what that needs: `Member(Name("rows"), "find")` for `rows.find`.

use tree_sitter::{Node, TreeCursor};

use super::contextual_types::expect_type;
use super::functions::take_export_flag;
use super::imports::{bind_required_module, required_module};
use super::patterns::{bind_pattern, define_pattern};
use super::terms::strip_wrappers;
use super::{Field, NodeKind, ScriptWalk, ScriptWalker, ValueRole};
use crate::facts::DefKind;
use crate::facts_builder::NameBinding;
use crate::lang::syntax_walker::LanguageWalk;
use crate::lang::term_shape::{expression_term, field_type};

/// `const a = …, b = …`, `var a`
pub(super) fn visit_variables(walker: &mut ScriptWalker<'_, '_>, cursor: &mut TreeCursor<'_>) {
    let is_exporting = std::mem::take(&mut walker.state.is_exporting);
    walker.for_each_child(cursor, |walker, cursor| {
        let node = cursor.node();
        if walker.kind(node) == NodeKind::Declarator {
            // Every variable of an exported declaration is exported.
            walker.state.is_exporting = is_exporting;
            visit_variable(walker, cursor, node);
        } else {
            ScriptWalk::visit_node(walker, cursor);
        }
    });
    walker.state.is_exporting = false;
}

/// One variable of a declaration: `a = …`, `{ a, b } = …`.
fn visit_variable(walker: &mut ScriptWalker<'_, '_>, cursor: &mut TreeCursor<'_>, node: Node<'_>) {
    let flags = take_export_flag(walker);
    let Some(pattern) = walker.field(node, Field::Name) else {
        return walker.visit_children(cursor);
    };
    let value = walker.field(node, Field::Value);
    let declared = field_type(walker, node, Field::Type);
    if let Some(module) = value.and_then(|it| required_module(walker, it)) {
        bind_required_module(walker, pattern, module, node);
        return walker.visit_children(cursor);
    }
    if let (Some(value), Some(declared)) = (value, declared) {
        expect_type(walker, value, declared);
    }
    let value_term = value.map(|it| expression_term(walker, it));
    // Variables of a function are locals, those of the file are definitions.
    if walker.builder.is_inside_function() {
        bind_pattern(walker, pattern, declared, value_term);
        return walker.visit_children(cursor);
    }
    if walker.kind(pattern) != NodeKind::Identifier {
        define_pattern(walker, pattern, declared.or(value_term), flags);
        return walker.visit_children(cursor);
    }
    let name = walker.builder.intern_node(pattern);
    let inner = value.map(|it| strip_wrappers(walker, it));
    let inner_kind = inner.map(|it| walker.kind(it));
    let kind = match inner_kind {
        Some(NodeKind::Arrow | NodeKind::FunctionExpression | NodeKind::Generator) => {
            DefKind::Function
        }
        Some(NodeKind::Class) => DefKind::Class,
        _ => DefKind::Variable,
    };
    let def = walker.builder.add_definition(kind, name, pattern, node, flags);
    walker.builder.bind_name(name, NameBinding::Def(def));
    // The walk reaches the value later and finds its role by the node.
    let role = match inner_kind {
        Some(NodeKind::Arrow | NodeKind::FunctionExpression | NodeKind::Generator) => {
            Some(ValueRole::Function(def))
        }
        Some(NodeKind::Class) => Some(ValueRole::Class(def)),
        Some(NodeKind::Object) => Some(ValueRole::Object(def)),
        _ => None,
    };
    if let (Some(role), Some(inner)) = (role, inner) {
        walker.state.value_roles.insert(inner.id(), role);
    }
    // A function or class is opened by the visit of its value.
    if kind == DefKind::Variable {
        walker.builder.set_types(def, declared, value_term);
        walker.builder.open_definition(def);
        walker.visit_children(cursor);
        walker.builder.close_definition();
    } else {
        walker.visit_children(cursor);
    }
}
