//! Go: variables of packages and of functions.
//!
//! ```text
//! var limit int = 10            definition: variable `limit` of type `int`; local in a function
//! row, err := db.Find(1)        locals: items 0 and 1 of the results of the call
//! for i, row := range rows      locals: `i` is an int, `row` an element of `rows`
//! var _ Shape = (*Dot)(nil)     `Dot` implements `Shape`
//! ```
//!
//! The walk in `go.rs` calls a `visit_…` function with the cursor at the syntax node `node`. The
//! function records what the node defines and uses in `walker.builder`, which collects the facts
//! of the file, and then visits the children. Names are looked up after the walk; the resolver
//! (`crate::resolve`) joins the facts of all files. A *term* is an expression or a type, reduced
//! to what that needs: `Member(Local(s), "rows")` for `s.rows`.

use tree_sitter::{Node, TreeCursor};

use super::declarations::definition_flags;
use super::{Field, GoWalker, NodeKind};
use crate::facts::{DefFlags, DefId, DefKind, Term, TermId};
use crate::facts_builder::{BaseRelation, NameBinding, UNKNOWN_TERM};
use crate::lang::syntax_walker::named_children;
use crate::lang::term_shape::{expression_term, field_expression, field_type, type_name};

/// `var a, b T = x, y`, `const a = 1`
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
    record_interface_assertion(walker, node, &names, &values);
    let mut first_def = None;
    for (i, name_node) in names.iter().enumerate() {
        let value = value_term_at(walker, &values, i, names.len());
        let name = walker.builder.intern_node(*name_node);
        if walker.builder.is_inside_function() {
            walker.builder.bind_local(name, declared, Some(value));
            continue;
        }
        let text = walker.text(*name_node);
        // No code can refer to `_`.
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
    // The type is the first name of `(*Circle)(nil)`, `&Circle{}` or `Circle{}`.
    let value = walker.text(*value).trim_start_matches(['(', '*', '&']);
    let is_separator = |it: char| !it.is_alphanumeric() && it != '_';
    let class = value.split(is_separator).next().unwrap_or_default();
    let class = walker.builder.intern(class);
    let is_class = |it: &crate::facts::Definition| it.name == class && it.kind == DefKind::Class;
    // Only a type above in the same file is found; by convention the assertion follows its type.
    if let Some(def) = walker.builder.defs.iter().position(is_class) {
        let base = type_name(walker, interface);
        walker.builder.add_base(DefId::from_index(def), base, BaseRelation::Implements);
    }
}

/// The value that the `i`-th of `n_names` names is given.
fn value_term_at(
    walker: &mut GoWalker<'_, '_>,
    values: &[Node<'_>],
    i: usize,
    n_names: usize,
) -> TermId {
    match values {
        [] => UNKNOWN_TERM,
        // `a, b := f()`: the call has several results.
        [call] if n_names > 1 && walker.kind(*call) == NodeKind::Call => {
            let results = expression_term(walker, *call);
            walker.builder.terms.item_at(results, i)
        }
        // In `value, ok := m[key]` the second name is a flag of the language.
        [value] if i == 0 => expression_term(walker, *value),
        // `a, b := x, y`
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
        // `for object.x = range xs` assigns to something that exists.
        if walker.kind(*name) != NodeKind::Identifier {
            continue;
        }
        // The first variable is the index, the second the element.
        let value = if i == 1 {
            walker.builder.terms.add(Term::ElementOf(container))
        } else {
            walker.builder.terms.literal_of("int")
        };
        let name = walker.builder.intern_node(*name);
        walker.builder.bind_local(name, None, Some(value));
    }
}

/// `case T:` in `switch x := y.(type)`: the switched variable `x` has the type of the case.
pub(super) fn bind_switched_variable(walker: &mut GoWalker<'_, '_>, case: Node<'_>) {
    let switched = case.parent().and_then(|it| walker.field(it, Field::Alias));
    if let Some(name) = switched.and_then(|it| it.named_child(0)) {
        let declared = field_type(walker, case, Field::Type);
        let name = walker.builder.intern_node(name);
        walker.builder.bind_local(name, declared, None);
    }
}
