//! Go: variables of packages and of functions.

use tree_sitter::{Node, TreeCursor};

use super::declarations::definition_flags;
use super::terms::type_name;
use super::{Field, GoWalker, NodeKind};
use crate::facts::{DefFlags, DefId, DefKind, Term, TermId};
use crate::facts_builder::{BaseRelation, NameBinding, UNKNOWN_TERM};
use crate::lang::syntax_walker::named_children;
use crate::lang::term_shape::{expression_term, field_expression, field_type};

/// `var a, b T = x, y`, and constants.
pub(super) fn visit_variables(
    walker: &mut GoWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let declared = field_type(walker, node, Field::Type);
    let value_list = walker.field(node, Field::Value);
    let values: Vec<Node<'_>> = value_list.into_iter().flat_map(named_children).collect();
    // A single value that is a name would otherwise count as one of the declared names.
    let value_id = value_list.map(|it| it.id());
    let names: Vec<Node<'_>> = walker
        .children_of_kind(node, NodeKind::Identifier)
        .filter(|it| Some(it.id()) != value_id)
        .collect();
    let mut first_def = None;
    record_interface_assertion(walker, node, &names, &values);
    for (i, name_node) in names.iter().enumerate() {
        let value = value_term_at(walker, &values, i, names.len());
        let name = walker.builder.intern_node(*name_node);
        if walker.builder.is_inside_function() {
            walker.builder.bind_local(name, declared, Some(value));
            continue;
        }
        let text = walker.text(*name_node);
        let flags = definition_flags(walker, text).when(text == "_", DefFlags::PRIVATE);
        let def = walker.builder.add_definition(DefKind::Variable, name, *name_node, node, flags);
        walker.builder.set_types(def, declared, Some(value));
        walker.builder.bind_name(name, NameBinding::Def(def));
        first_def = first_def.or(Some(def));
    }
    // References in the values belong to the first of the variables.
    if let Some(def) = first_def {
        walker.builder.open_definition(def);
    }
    walker.visit_children(cursor);
    if first_def.is_some() {
        walker.builder.close_definition();
    }
}

/// `var _ Shape = (*Circle)(nil)` states that `Circle` implements `Shape`.
fn record_interface_assertion(
    walker: &mut GoWalker<'_, '_>,
    node: Node<'_>,
    names: &[Node<'_>],
    values: &[Node<'_>],
) {
    let ([name], [value]) = (names, values) else { return };
    let interface = walker.field(node, Field::Type).filter(|_| walker.text(*name) == "_");
    let Some(interface) = interface else { return };
    let value = walker.text(*value).trim_start_matches(['(', '*', '&']);
    let is_separator = |it: char| !it.is_alphanumeric() && it != '_';
    let class = value.split(is_separator).next().unwrap_or_default();
    let class = walker.builder.intern(class);
    let is_class = |it: &crate::facts::Definition| it.name == class && it.kind == DefKind::Class;
    if let Some(def) = walker.builder.defs.iter().position(is_class) {
        let base = type_name(walker, interface);
        walker.builder.add_base(DefId::from_index(def), base, BaseRelation::Implements);
    }
}

/// The value that the `i`-th of several names is given.
fn value_term_at(
    walker: &mut GoWalker<'_, '_>,
    values: &[Node<'_>],
    i: usize,
    n_names: usize,
) -> TermId {
    match values {
        [] => UNKNOWN_TERM,
        [call] if n_names > 1 && walker.kind(*call) == NodeKind::Call => {
            let results = expression_term(walker, *call);
            walker.builder.terms.item_at(results, i)
        }
        // In `value, ok := m[key]` the second name is a flag of the language.
        [value] if i == 0 => expression_term(walker, *value),
        _ => values.get(i).map_or(UNKNOWN_TERM, |it| expression_term(walker, *it)),
    }
}

/// `a, b := x, y`
pub(super) fn bind_short_variables(walker: &mut GoWalker<'_, '_>, node: Node<'_>) {
    let names: Vec<Node<'_>> = walker.field_children(node, Field::Left).collect();
    let values: Vec<Node<'_>> = walker.field_children(node, Field::Right).collect();
    for (i, name) in names.iter().enumerate() {
        if walker.kind(*name) == NodeKind::Identifier {
            let value = value_term_at(walker, &values, i, names.len());
            let name = walker.builder.intern_node(*name);
            walker.builder.bind_local(name, None, Some(value));
        }
    }
}

/// `for i, x := range xs`
pub(super) fn bind_range_variables(walker: &mut GoWalker<'_, '_>, node: Node<'_>) {
    let names: Vec<Node<'_>> = walker.field_children(node, Field::Left).collect();
    let Some(container) = field_expression(walker, node, Field::Right) else { return };
    for (i, name) in names.iter().enumerate() {
        if walker.kind(*name) != NodeKind::Identifier {
            continue;
        }
        // The first variable is the index.
        let value = if i == 1 {
            walker.builder.terms.add(Term::ElementOf(container))
        } else {
            walker.builder.terms.literal_of("int")
        };
        let name = walker.builder.intern_node(*name);
        walker.builder.bind_local(name, None, Some(value));
    }
}

/// In a case of a type switch the switched variable has the type of the case.
pub(super) fn bind_switched_variable(walker: &mut GoWalker<'_, '_>, case: Node<'_>) {
    let switched = case.parent().and_then(|it| walker.field(it, Field::Alias));
    if let Some(name) = switched.and_then(|it| it.named_child(0)) {
        let declared = field_type(walker, case, Field::Type);
        let name = walker.builder.intern_node(name);
        walker.builder.bind_local(name, declared, None);
    }
}
