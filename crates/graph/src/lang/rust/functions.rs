//! Rust: functions, closures and their parameters.
//!
//! ```text
//! fn load<T: Read>(from: T) -> Row { … }
//!     definition: function `load`, 1 to 2 arguments (the object of a method may be one more),
//!                 declared type `Row`
//!     locals:     type parameter `T` with the bound `Read`, variable `from` of type `T`
//! ```
//!
//! Inside an `impl` a function is a method, and the type of the `impl` is its *owner*. Types and
//! values are recorded as *terms*, that is, reduced to what name lookup needs. The walk in `rust.rs`
//! calls a `visit_…` function with the cursor at the syntax node `node`. The function records the
//! facts of the node in `walker.builder` and then visits its children.

use tree_sitter::{Node, TreeCursor};

use super::patterns::bind_pattern;
use super::{Field, NodeKind, RustWalker, take_item_flags};
use crate::facts::{ArityRange, DefFlags, DefKind, LocalId};
use crate::facts_builder::{NameBinding, UNKNOWN_TERM, known_term};
use crate::lang::syntax_walker::named_children;
use crate::lang::term_shape::{expression_term, field_type, type_term};

/// `fn f(x: X) -> Y { … }`, or `fn f(&self);` in a trait.
pub(super) fn visit_function(
    walker: &mut RustWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let Some(name_node) = walker.field(node, Field::Name) else {
        return walker.visit_children(cursor);
    };
    let name = walker.builder.intern_node(name_node);
    let body = walker.field(node, Field::Body);
    let flags = take_item_flags(walker, node).when(body.is_none(), DefFlags::ABSTRACT);
    // A function inside a method is not a method.
    let is_nested = walker.builder.is_inside_function();
    let self_type = walker.state.self_types.last().copied().filter(|_| !is_nested);
    let kind = if self_type.is_some() { DefKind::Method } else { DefKind::Function };
    let def = walker.builder.add_definition(kind, name, name_node, node, flags);
    match self_type {
        // The methods of a trait have the trait as their parent; those of an `impl` have an owner.
        Some(owner) if walker.builder.enclosing_type().is_none() => {
            walker.builder.def_mut(def).owner_type = Some(owner.type_name);
        }
        Some(_) => {}
        // Methods are reached through their type only, functions by their bare name.
        None => walker.builder.bind_name(name, NameBinding::Def(def)),
    }

    // What follows, up to `close_definition`, is inside the function.
    walker.builder.open_definition(def);
    walker.builder.enter_function();
    bind_type_parameters(walker, node);
    let arity = bind_parameters(walker, node);
    let declared = field_type(walker, node, Field::ReturnType);
    walker.builder.set_body_start(def, body);
    record_final_expression(walker, body);
    walker.visit_children(cursor);
    let returned = walker.builder.leave_function();
    walker.builder.close_definition();

    let def = walker.builder.def_mut(def);
    (def.arity, def.declared_type) = (arity, known_term(declared));
    // A function without a return type returns `()`. The returned values matter only if there is a
    // return type which the walk cannot read.
    let is_unreadable_type = declared == Some(UNKNOWN_TERM);
    def.inferred_from = known_term(Some(returned)).filter(|_| is_unreadable_type);
}

/// Records the expression at the end of a body as a returned value: `x` in `{ f(); x }`.
fn record_final_expression(walker: &mut RustWalker<'_, '_>, body: Option<Node<'_>>) {
    let last = body.and_then(|it| named_children(it).last());
    // A statement that ends in a semicolon returns nothing.
    let expression = last.filter(|it| {
        !matches!(
            walker.kind(*it),
            NodeKind::Expression | NodeKind::Let | NodeKind::LineComment | NodeKind::BlockComment
        )
    });
    if let Some(expression) = expression {
        let term = expression_term(walker, expression);
        walker.builder.add_return(term);
    }
}

/// Binds the type parameters of `<T: Read, U>` with their bounds; returns them as a range of
/// locals.
pub(super) fn bind_type_parameters(
    walker: &mut RustWalker<'_, '_>,
    node: Node<'_>,
) -> (LocalId, LocalId) {
    let start = LocalId::from_index(walker.builder.locals.len());
    let list = walker.field(node, Field::TypeParameters);
    let parameters: Vec<Node<'_>> = list
        .into_iter()
        .flat_map(|it| walker.children_of_kind(it, NodeKind::TypeParameter))
        .collect();
    for parameter in &parameters {
        let local = walker.builder.add_local(None, None);
        if let Some(name) = walker.field(*parameter, Field::Name) {
            let name = walker.builder.intern_node(name);
            walker.builder.bind_name(name, NameBinding::TypeParameter(local));
        }
    }
    let end = LocalId::from_index(walker.builder.locals.len());
    // Bounds come after all names: they may mention one another.
    for (i, parameter) in parameters.iter().enumerate() {
        let bounds = walker.field(*parameter, Field::Bounds);
        let bound = bounds.and_then(|it| it.named_child(0)).map(|it| type_term(walker, it));
        walker.builder.locals[start.index() + i].declared_type = known_term(bound);
    }
    (start, end)
}

/// Binds the parameters of a function and returns its arity.
fn bind_parameters(walker: &mut RustWalker<'_, '_>, node: Node<'_>) -> ArityRange {
    let mut n_params = 0_u8;
    for parameter in walker.field_children(node, Field::Parameters) {
        match walker.kind(parameter) {
            NodeKind::SelfParameter => {
                if let Some(self_type) = walker.state.self_types.last().copied() {
                    let name = walker.builder.intern("self");
                    walker.builder.bind_local(name, Some(self_type.object), None);
                }
            }
            NodeKind::Parameter => {
                n_params = n_params.saturating_add(1);
                bind_typed_parameter(walker, parameter);
            }
            // Comments and attributes.
            _ => {}
        }
    }
    // A method may be called by its path, with the object as one more argument: `Store::get(s, 1)`.
    ArityRange { min: n_params, max: n_params.saturating_add(1) }
}

/// `name: Type`, `(a, b): (A, B)`
fn bind_typed_parameter(walker: &mut RustWalker<'_, '_>, parameter: Node<'_>) {
    let declared = field_type(walker, parameter, Field::Type).unwrap_or(UNKNOWN_TERM);
    if let Some(pattern) = walker.field(parameter, Field::Pattern) {
        bind_pattern(walker, pattern, declared);
    }
}

/// `|x| …`, `|x: X| …`. A closure has no definition; its calls belong to the enclosing function.
pub(super) fn visit_closure(
    walker: &mut RustWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    // Known for the first parameter of `xs.map(|x| …)`.
    let first_argument = walker.state.closure_arguments.remove(&node.id());
    walker.builder.enter_function();
    let parameters = walker.field(node, Field::Parameters);
    let parameters = parameters.map(|it| walker.list_items(it, NodeKind::Comma));
    for (position, parameter) in parameters.into_iter().flatten() {
        if walker.kind(parameter) == NodeKind::Parameter {
            bind_typed_parameter(walker, parameter);
        } else {
            let value = first_argument.filter(|_| position == 0).unwrap_or(UNKNOWN_TERM);
            bind_pattern(walker, parameter, value);
        }
    }
    walker.visit_children(cursor);
    walker.builder.leave_function();
}
