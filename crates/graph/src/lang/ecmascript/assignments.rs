//! ECMAScript: assignments that define properties, exports and methods.
//!
//! ```text
//! this.db = new Db();               definition: field `db` of the enclosing class
//! exports.run = () => …;            definition: function `run`, and an export of it (CommonJS)
//! module.exports = { run, stop };   exports of `run` and of `stop`
//! Store.prototype.get = () => …;    definition: method `get`, owner `Store`
//! ```
//!
//! The walk in `ecmascript.rs` calls a `visit_…` function with the cursor at the syntax node
//! `node`. The function records what the node defines and uses in `walker.builder`, which collects
//! the facts of the file, and then visits the children. Names are looked up after the walk; the
//! resolver (`crate::resolve`) joins the facts of all files. A *term* is an expression or a type,
//! reduced to what that needs: `Member(Name("rows"), "find")` for `rows.find`.

use tree_sitter::{Node, TreeCursor};

use super::exports::export_default_value;
use super::functions::is_function;
use super::terms::strip_wrappers;
use super::{Field, NodeKind, ScriptWalker, ValueRole};
use crate::facts::{DefFlags, DefKind, ExportEntry, Term, TermId};
use crate::lang::syntax_walker::{named_children, strip_quotes};
use crate::lang::term_shape::expression_term;

/// `left = right`
pub(super) fn visit_assignment(
    walker: &mut ScriptWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    record_member_assignment(walker, node);
    walker.visit_children(cursor);
}

/// Records `this.x = …` in a class, and assignments to members at the top of a file.
fn record_member_assignment(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>) {
    let (left, right) = (walker.field(node, Field::Left), walker.field(node, Field::Right));
    let (Some(left), Some(right)) = (left, right) else { return };
    // `x = …` and `xs[0] = …` define nothing.
    if walker.kind(left) != NodeKind::MemberAccess {
        return;
    }
    let object = walker.field(left, Field::Object);
    let (Some(object), Some(property)) = (object, walker.field(left, Field::Property)) else {
        return;
    };
    let value = strip_wrappers(walker, right);
    match (walker.kind(object), walker.builder.enclosing_type()) {
        // Only inside a class: `this` of a plain function may be any object.
        (NodeKind::This, Some(class)) => {
            let name = walker.builder.intern_node(property);
            let value = expression_term(walker, value);
            walker.builder.add_field_assignment(class, name, value, property, node);
        }
        _ if !walker.builder.is_inside_function() => {
            record_top_level_assignment(walker, node, object, property, value);
        }
        // Inside a function, assignments to other objects than `this` define nothing.
        _ => {}
    }
}

/// `exports.a = …`, `module.exports = …`, `Class.prototype.a = …`
fn record_top_level_assignment(
    walker: &mut ScriptWalker<'_, '_>,
    node: Node<'_>,
    object: Node<'_>,
    property: Node<'_>,
    value: Node<'_>,
) {
    let (object, property_name) = (walker.text(object), walker.text(property));
    match object {
        "module" if property_name == "exports" => export_module_value(walker, node, value),
        // `exports.a = …`
        "exports" | "module.exports" => {
            let name = walker.builder.intern(property_name);
            let term = exported_value(walker, property, node, value);
            walker.builder.exports.push(ExportEntry::Local { name, term });
        }
        _ if is_function(walker, value) => {
            // `Class.prototype.a = …` is a method, `Class.a = …` a static one.
            let class = object.strip_suffix(".prototype").unwrap_or(object);
            // Anything but a plain name would need to be evaluated first.
            if class.contains(['.', '(']) {
                return;
            }
            let name = walker.builder.intern(property_name);
            let flags = DefFlags::default().when(class == object, DefFlags::STATIC);
            let def = walker.builder.add_definition(DefKind::Method, name, property, node, flags);
            // The class may be defined below, or be a function that is called with `new`.
            let owner = walker.builder.unbound_name(class);
            walker.builder.def_mut(def).owner_type = Some(owner);
            walker.state.value_roles.insert(value.id(), ValueRole::Function(def));
        }
        // `config.limit = 1` changes a value.
        _ => {}
    }
}

/// The term of an exported value; a function becomes a definition with the name of its property.
fn exported_value(
    walker: &mut ScriptWalker<'_, '_>,
    name_node: Node<'_>,
    node: Node<'_>,
    value: Node<'_>,
) -> TermId {
    if !is_function(walker, value) {
        return expression_term(walker, value);
    }
    let name = walker.builder.intern(strip_quotes(walker.text(name_node)));
    let flags = DefFlags::EXPORTED;
    let def = walker.builder.add_definition(DefKind::Function, name, name_node, node, flags);
    walker.state.value_roles.insert(value.id(), ValueRole::Function(def));
    walker.builder.terms.add(Term::Def(def))
}

/// `module.exports = value`; the properties of an object are exported one by one.
fn export_module_value(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>, value: Node<'_>) {
    if walker.kind(value) != NodeKind::Object {
        return export_default_value(walker, node, value);
    }
    for property in named_children(value) {
        let (name, term) = match walker.kind(property) {
            // `{ run }`
            NodeKind::ShorthandProperty => {
                let text = walker.text(property);
                (text, walker.builder.unbound_name(text))
            }
            // `{ run: start }`
            NodeKind::Pair => {
                let key = walker.field(property, Field::Key);
                let (Some(key), Some(value)) = (key, walker.field(property, Field::Value)) else {
                    continue;
                };
                let term = exported_value(walker, key, property, value);
                (strip_quotes(walker.text(key)), term)
            }
            // `...other`, methods and comments.
            _ => continue,
        };
        let name = walker.builder.intern(name);
        walker.builder.exports.push(ExportEntry::Local { name, term });
    }
}
