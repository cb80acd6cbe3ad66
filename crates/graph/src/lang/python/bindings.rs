//! Python: names that assignments, loops and `as` bind.
//!
//! Python has no declarations, so the first assignment of a name declares it:
//!
//! ```text
//! LIMIT = 10                 at the top of a file: definition, variable `LIMIT`
//! class A:
//!     size = 1               in the body of a class: definition, static field `A.size`
//!     def __init__(self):
//!         self.db = Db()     through `self`: definition, field `A.db` of the value `Db()`
//!         row = self.db      in a function: local variable `row`
//! ```
//!
//! The walk in `python.rs` calls a `visit_…` function with the cursor at the syntax node `node`.
//! The function records what the node defines and uses in `walker.builder`, which collects the
//! facts of the file, and then visits the children. Names are looked up after the walk; the
//! resolver (`crate::resolve`) joins the facts of all files. A *term* is an expression or a type,
//! reduced to what that needs: `Member(Local(db), "find")` for `db.find`.

use tree_sitter::{Node, TreeCursor};

use super::{Field, NodeKind, PythonWalker};
use crate::facts::{DefFlags, DefKind, Term, TermId};
use crate::facts_builder::{NameBinding, UNKNOWN_TERM};
use crate::lang::syntax_walker::{MAX_LOOKAHEAD_DEPTH, named_children};
use crate::lang::term_shape::{expression_term, field_expression, field_type};

/// `x = value`, `x: T = value`, `a, b = value`, `self.x = value`
pub(super) fn visit_assignment(
    walker: &mut PythonWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let declared = field_type(walker, node, Field::Type);
    let value = field_expression(walker, node, Field::Right).unwrap_or(UNKNOWN_TERM);
    let Some(target) = walker.field(node, Field::Left) else {
        return walker.visit_children(cursor);
    };
    if walker.kind(target) == NodeKind::Attribute {
        record_field_assignment(walker, target, node, declared.unwrap_or(value));
    } else {
        bind_or_define(walker, target, node, declared, value);
    }
    walker.visit_children(cursor);
}

/// `self.x = value` declares `x`.
fn record_field_assignment(
    walker: &mut PythonWalker<'_, '_>,
    target: Node<'_>,
    node: Node<'_>,
    value: TermId,
) {
    let object = walker.field(target, Field::Object);
    let name_node = walker.field(target, Field::AttributeName);
    let (Some(object), Some(name_node)) = (object, name_node) else { return };
    // The `self` of the innermost method.
    let self_parameter = walker.state.self_parameters.last();
    // Other objects than the receiver declare nothing.
    if self_parameter.is_some_and(|it| it.0 == walker.text(object))
        && let Some(class) = walker.builder.enclosing_type()
    {
        let name = walker.builder.intern_node(name_node);
        walker.builder.add_field_assignment(class, name, value, name_node, node);
    }
}

/// Binds an assigned name as a local, or defines it as a field of the class or variable of the
/// module.
fn bind_or_define(
    walker: &mut PythonWalker<'_, '_>,
    target: Node<'_>,
    node: Node<'_>,
    declared: Option<TermId>,
    value: TermId,
) {
    if walker.builder.is_inside_function() || walker.kind(target) != NodeKind::Identifier {
        return bind_target(walker, target, declared, value);
    }
    let name = walker.builder.intern_node(target);
    let parent = walker.builder.enclosing_def();
    // The first assignment defines the name; later ones only change its value.
    if walker.builder.defs.iter().any(|it| it.name == name && it.parent == parent) {
        return;
    }
    // A variable in the body of a class is shared by its objects.
    let is_field = parent.is_some_and(|it| walker.builder.defs[it.index()].kind.is_type());
    let kind = if is_field { DefKind::Field } else { DefKind::Variable };
    let flags = DefFlags::default().when(is_field, DefFlags::STATIC);
    let def = walker.builder.add_definition(kind, name, target, node, flags);
    walker.builder.set_types(def, declared, Some(value));
    walker.builder.bind_in_function(name, NameBinding::Def(def));
}

/// Binds the names of an assignment target as local variables.
fn bind_target(
    walker: &mut PythonWalker<'_, '_>,
    target: Node<'_>,
    declared: Option<TermId>,
    value: TermId,
) {
    bind_target_within(walker, target, declared, value, MAX_LOOKAHEAD_DEPTH);
}

/// Binds a target that is nested at most `depth` levels deep; what lies deeper binds nothing.
fn bind_target_within(
    walker: &mut PythonWalker<'_, '_>,
    target: Node<'_>,
    declared: Option<TermId>,
    value: TermId,
    depth: u32,
) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match walker.kind(target) {
        NodeKind::Identifier => {
            let name = walker.builder.intern_node(target);
            walker.builder.assign_local(name, declared, value);
        }
        // `a, b = …`, `(a, b) = …`, `[a, b] = …`
        NodeKind::PatternList | NodeKind::TuplePattern | NodeKind::ListPattern => {
            // Comments are "extra" nodes, which a grammar allows everywhere.
            for (i, item) in named_children(target).filter(|it| !it.is_extra()).enumerate() {
                let value = walker.builder.terms.item_at(value, i);
                bind_target_within(walker, item, None, value, depth);
            }
        }
        // `*rest`, `(a)`
        NodeKind::ListSplat | NodeKind::Parenthesized => {
            if let Some(inner) = target.named_child(0) {
                bind_target_within(walker, inner, None, UNKNOWN_TERM, depth);
            }
        }
        // `xs[0] = …` and `object.x = …` bind no name.
        _ => {}
    }
}

/// `for x in xs`, in a loop or a comprehension: `x` is an element of `xs`.
pub(super) fn bind_loop_target(walker: &mut PythonWalker<'_, '_>, node: Node<'_>) {
    let (target, container) = (walker.field(node, Field::Left), walker.field(node, Field::Right));
    let (Some(target), Some(container)) = (target, container) else { return };
    let container = expression_term(walker, container);
    let element = walker.builder.terms.add(Term::ElementOf(container));
    bind_target(walker, target, None, element);
}

/// `with open(p) as f`, `except E as e`.
pub(super) fn bind_alias(walker: &mut PythonWalker<'_, '_>, node: Node<'_>) {
    let target = walker.field(node, Field::Alias).and_then(|it| it.named_child(0));
    let (Some(target), Some(value)) = (target, node.named_child(0)) else { return };
    let value = expression_term(walker, value);
    // `except E as e` binds an object of `E`; a context manager mostly yields itself.
    let is_except = node.parent().is_some_and(|it| walker.kind(it) == NodeKind::ExceptClause);
    let value = if is_except { walker.builder.terms.instance_of(value) } else { value };
    bind_target(walker, target, None, value);
}

/// `(name := value)`
pub(super) fn bind_walrus(walker: &mut PythonWalker<'_, '_>, node: Node<'_>) {
    let (name, value) = (walker.field(node, Field::Name), walker.field(node, Field::Value));
    if let (Some(name), Some(value)) = (name, value) {
        let value = expression_term(walker, value);
        bind_target(walker, name, None, value);
    }
}
