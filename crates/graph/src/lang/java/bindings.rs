//! Java: names that are local to a method.
//!
//! ```text
//! Row row = db.find(1);           local `row` of type `Row`
//! for (Row row : rows) { … }      local `row`, an element of `rows`
//! if (x instanceof Row row)       local `row` of type `Row`
//! rows.forEach(row -> …)          local `row`, an element of `rows`
//! ```
//!
//! The walk in `java.rs` calls a `visit_…` function with the cursor at the syntax node `node`. The
//! function records what the node defines and uses in `walker.builder`, which collects the facts
//! of the file, and then visits the children. Names are looked up after the walk; the resolver
//! (`crate::resolve`) joins the facts of all files. A *term* is an expression or a type, reduced
//! to what that needs: `Member(Local(db), "find")` for `db.find`.

use tree_sitter::{Node, TreeCursor};

use super::declarations::bind_parameters;
use super::{Field, JavaWalker, NodeKind};
use crate::facts::Term;
use crate::facts_builder::known_term;
use crate::lang::syntax_walker::named_children;
use crate::lang::term_shape::{field_expression, field_type, type_term};

/// Binds the name of a node that has a type and perhaps a value: the parameter `T x`, the resource
/// `T x = open()`, the patterns `x instanceof T t` and `case T t`.
pub(super) fn bind_typed_name(walker: &mut JavaWalker<'_, '_>, node: Node<'_>) {
    // `x instanceof T t` has its type in the field `right`; `case T t` has no fields at all.
    let type_node = walker.field(node, Field::Type).or_else(|| walker.field(node, Field::Right));
    let (name, type_node) = match walker.field(node, Field::Name) {
        Some(name) => (name, type_node),
        None if walker.kind(node) == NodeKind::TypePattern => match node.named_child(1) {
            Some(name) => (name, node.named_child(0)),
            None => return,
        },
        // `x instanceof T` binds nothing.
        None => return,
    };
    let declared = type_node.map(|it| type_term(walker, it));
    let value = field_expression(walker, node, Field::Value);
    let name = walker.builder.intern_node(name);
    walker.builder.bind_local(name, known_term(declared), value);
}

/// `catch (A | B name)`: the variable is treated as an object of the first type.
pub(super) fn bind_catch_parameter(walker: &mut JavaWalker<'_, '_>, node: Node<'_>) {
    let types = walker.child_of_kind(node, NodeKind::CatchType);
    let declared = types.and_then(|it| it.named_child(0)).map(|it| type_term(walker, it));
    if let Some(name) = walker.field(node, Field::Name) {
        let name = walker.builder.intern_node(name);
        walker.builder.bind_local(name, declared, None);
    }
}

/// `x -> …`, `(x, y) -> …`, `(T x) -> …`. A lambda has no definition; its calls belong to the
/// enclosing method.
pub(super) fn visit_lambda(
    walker: &mut JavaWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    // Known for the first parameter of `xs.forEach(x -> …)`.
    let first_argument = walker.state.lambda_arguments.remove(&node.id());
    walker.builder.enter_function();
    if let Some(parameters) = walker.field(node, Field::Parameters) {
        match walker.kind(parameters) {
            // `x -> …`
            NodeKind::Identifier => {
                let name = walker.builder.intern_node(parameters);
                walker.builder.bind_local(name, None, first_argument);
            }
            // `(x, y) -> …`
            NodeKind::InferredParameters => {
                for (i, name) in named_children(parameters).enumerate() {
                    let name = walker.builder.intern_node(name);
                    walker.builder.bind_local(name, None, first_argument.filter(|_| i == 0));
                }
            }
            // `(T x) -> …`
            _ => {
                bind_parameters(walker, node);
            }
        }
    }
    walker.visit_children(cursor);
    walker.builder.leave_function();
}

/// `T a = x, b;`
pub(super) fn bind_variables(walker: &mut JavaWalker<'_, '_>, node: Node<'_>) {
    let declared = field_type(walker, node, Field::Type);
    for declarator in walker.children_of_kind(node, NodeKind::Declarator) {
        let Some(name) = walker.field(declarator, Field::Name) else { continue };
        let value = field_expression(walker, declarator, Field::Value);
        let name = walker.builder.intern_node(name);
        walker.builder.bind_local(name, declared, value);
    }
}

/// `for (T x : xs)`
pub(super) fn bind_loop_variable(walker: &mut JavaWalker<'_, '_>, node: Node<'_>) {
    let Some(name) = walker.field(node, Field::Name) else { return };
    let declared = field_type(walker, node, Field::Type);
    let container = field_expression(walker, node, Field::Value);
    let element = container.map(|it| walker.builder.terms.add(Term::ElementOf(it)));
    let name = walker.builder.intern_node(name);
    walker.builder.bind_local(name, declared, element);
}
