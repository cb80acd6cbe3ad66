//! Go: functions, methods and types.
//!
//! ```text
//! func Open(path string) (*Store, error)   function `Open`, exported; the result is a record of
//!                                          the items 0 and 1
//! func (s *Store) Get(ids ...int) Row      method `Get`, owner `Store`, 0 or more arguments
//! type Store struct { Base; rows []Row }   class `Store`, base `Base`, fields `Base` and `rows`
//! type Shape interface { Area() int }      interface `Shape`, abstract method `Shape.Area`
//! ```
//!
//! The walk in `go.rs` calls a `visit_…` function with the cursor at the syntax node `node`. The
//! function records what the node defines and uses in `walker.builder`, which collects the facts
//! of the file, and then visits the children. Names are looked up after the walk; the resolver
//! (`crate::resolve`) joins the facts of all files. A *term* is an expression or a type, reduced
//! to what that needs: `Member(Local(s), "rows")` for `s.rows`.

use tree_sitter::{Node, TreeCursor};

use super::terms::result_term;
use super::{Field, GoWalker, NodeKind, last_name_node};
use crate::facts::{ArityRange, DefFlags, DefId, DefKind, Term, TermId};
use crate::facts_builder::{ANY_ARG_COUNT, BaseRelation, NameBinding, UNKNOWN_TERM, known_term};
use crate::lang::syntax_walker::named_children;
use crate::lang::term_shape::{expression_term, field_type, type_name, type_term};

/// Flags from a name: a capital exports it, and `TestOpen` in a test file is a test.
pub(super) fn definition_flags(walker: &GoWalker<'_, '_>, name: &str) -> DefFlags {
    let is_exported = name.starts_with(char::is_uppercase);
    let is_test = walker.builder.is_test
        && ["Test", "Benchmark", "Example", "Fuzz"].iter().any(|it| name.starts_with(it));
    DefFlags::default().when(is_exported, DefFlags::EXPORTED).when(is_test, DefFlags::TEST)
}

/// `func f(x T) R { … }`
pub(super) fn visit_function(
    walker: &mut GoWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let Some(name_node) = walker.field(node, Field::Name) else {
        return walker.visit_children(cursor);
    };
    let name = walker.builder.intern_node(name_node);
    let text = walker.text(name_node);
    // A package may have several of these, and no code can call them.
    let is_uncallable = matches!(text, "init" | "_");
    let flags = definition_flags(walker, text).when(is_uncallable, DefFlags::PRIVATE);
    let def = walker.builder.add_definition(DefKind::Function, name, name_node, node, flags);
    walker.builder.bind_name(name, NameBinding::Def(def));
    visit_function_body(walker, cursor, node, def, None);
}

/// `func (s *Store) f(x T) R { … }`
pub(super) fn visit_method(
    walker: &mut GoWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let Some(name_node) = walker.field(node, Field::Name) else {
        return walker.visit_children(cursor);
    };
    let name = walker.builder.intern_node(name_node);
    let flags = definition_flags(walker, walker.text(name_node));
    let def = walker.builder.add_definition(DefKind::Method, name, name_node, node, flags);
    let receiver = walker.field(node, Field::Receiver).and_then(|it| it.named_child(0));
    // `func (s *Server[T]) Run()` belongs to `Server`: the pointer and the arguments are dropped.
    let owner = receiver.and_then(|it| walker.field(it, Field::Type));
    let owner =
        owner.map(|it| type_name(walker, it)).map(|it| walker.builder.terms.generic_head(it));
    walker.builder.def_mut(def).owner_type = known_term(owner);
    visit_function_body(walker, cursor, node, def, receiver.zip(owner));
}

/// Visits the parameters, results and body of a function. `receiver` is the receiver's node and its
/// type.
fn visit_function_body(
    walker: &mut GoWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
    def: DefId,
    receiver: Option<(Node<'_>, TermId)>,
) {
    walker.builder.open_definition(def);
    walker.builder.enter_function();
    if let Some((receiver, owner)) = receiver
        && let Some(name) = walker.field(receiver, Field::Name)
    {
        let name = walker.builder.intern_node(name);
        let declared = walker.builder.terms.instance_of(owner);
        walker.builder.bind_local(name, Some(declared), None);
    }
    // Constraints are ignored: most of them list built-in types.
    for parameter in walker.field_children(node, Field::TypeParameters) {
        if let Some(name) = walker.field(parameter, Field::Name) {
            let name = walker.builder.intern_node(name);
            let local = walker.builder.add_local(None, None);
            walker.builder.bind_name(name, NameBinding::TypeParameter(local));
        }
    }
    let arity = bind_parameters(walker, node);
    let declared = walker.field(node, Field::Result).map(|it| result_term(walker, it));
    walker.builder.set_body_start(def, walker.grammar.field(node, Field::Body));
    walker.visit_children(cursor);
    let returned = walker.builder.leave_function();
    walker.builder.close_definition();
    walker.builder.set_types(def, declared, Some(returned));
    walker.builder.def_mut(def).arity = arity;
}

/// Binds the parameters of a function and returns its arity.
pub(super) fn bind_parameters(walker: &mut GoWalker<'_, '_>, node: Node<'_>) -> ArityRange {
    // `func f(a, b int, rest ...string)`: one declaration may have several names.
    let (mut n_params, mut is_variadic) = (0_u8, false);
    for parameter in walker.field_children(node, Field::Parameters) {
        let kind = walker.kind(parameter);
        if !matches!(kind, NodeKind::Parameter | NodeKind::Variadic) {
            continue;
        }
        let mut declared = field_type(walker, parameter, Field::Type).unwrap_or(UNKNOWN_TERM);
        if kind == NodeKind::Variadic {
            is_variadic = true;
            declared = walker.builder.terms.add(Term::ListOf(declared));
        }
        let names: Vec<Node<'_>> =
            walker.children_of_kind(parameter, NodeKind::Identifier).collect();
        // A parameter without a name is still one parameter.
        n_params = n_params.saturating_add(u8::try_from(names.len().max(1)).unwrap_or(1));
        for name in names {
            let name = walker.builder.intern_node(name);
            walker.builder.bind_local(name, Some(declared), None);
        }
    }
    if is_variadic {
        // The variadic parameter may get no argument at all.
        ArityRange { min: n_params.saturating_sub(1), max: ANY_ARG_COUNT }
    } else {
        ArityRange { min: n_params, max: n_params }
    }
}

/// `return value`. The values of `return a, b` are left to the declared results.
pub(super) fn record_return(walker: &mut GoWalker<'_, '_>, node: Node<'_>) {
    let Some(list) = walker.child_of_kind(node, NodeKind::ExpressionList) else { return };
    let values: Vec<Node<'_>> = named_children(list).collect();
    if let [value] = values.as_slice() {
        let term = expression_term(walker, *value);
        walker.builder.add_return(term);
    }
}

/// `type A struct { … }`, `type A interface { … }`, `type A B`, `type A = B`
pub(super) fn visit_type_spec(
    walker: &mut GoWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let (name_node, type_node) = (walker.field(node, Field::Name), walker.field(node, Field::Type));
    let (Some(name_node), Some(type_node)) = (name_node, type_node) else {
        return walker.visit_children(cursor);
    };
    let name = walker.builder.intern_node(name_node);
    let kind = match (walker.kind(node), walker.kind(type_node)) {
        (_, NodeKind::Interface) => DefKind::Interface,
        // `type A = B` is the same type as `B`; `type A B` is a new one.
        (NodeKind::TypeAlias, _) => DefKind::TypeAlias,
        _ => DefKind::Class,
    };
    // A type of a function is visible to no other file.
    let is_local = walker.builder.is_inside_function();
    let flags = definition_flags(walker, walker.text(name_node)).when(is_local, DefFlags::PRIVATE);
    let def = walker.builder.add_definition(kind, name, name_node, node, flags);
    walker.builder.bind_name(name, NameBinding::Def(def));
    walker.builder.open_definition(def);
    match walker.kind(type_node) {
        NodeKind::Struct => define_fields(walker, def, type_node),
        NodeKind::Interface => define_interface_elements(walker, def, type_node),
        _ => {
            let declared = type_term(walker, type_node);
            walker.builder.def_mut(def).declared_type = known_term(Some(declared));
        }
    }
    walker.visit_children(cursor);
    walker.builder.close_definition();
}

/// Defines the fields of `struct { a, b T; Embedded }`.
fn define_fields(walker: &mut GoWalker<'_, '_>, def: DefId, struct_node: Node<'_>) {
    let Some(list) = walker.child_of_kind(struct_node, NodeKind::FieldList) else { return };
    for declaration in walker.children_of_kind(list, NodeKind::FieldDeclaration) {
        let Some(type_node) = walker.field(declaration, Field::Type) else { continue };
        let declared = known_term(Some(type_term(walker, type_node)));
        let names: Vec<Node<'_>> =
            walker.children_of_kind(declaration, NodeKind::FieldIdentifier).collect();
        if names.is_empty() {
            // An embedded type lends its members, and is also a field with its own name.
            let base = type_name(walker, type_node);
            walker.builder.add_base(def, base, BaseRelation::Extends);
            let name_node = last_name_node(walker, type_node);
            add_field(walker, declaration, name_node, declared);
        }
        for name_node in names {
            add_field(walker, declaration, name_node, declared);
        }
    }
}

fn add_field(
    walker: &mut GoWalker<'_, '_>,
    declaration: Node<'_>,
    name_node: Node<'_>,
    declared: Option<TermId>,
) {
    let name = walker.builder.intern_node(name_node);
    let flags = DefFlags::default();
    let def = walker.builder.add_definition(DefKind::Field, name, name_node, declaration, flags);
    walker.builder.def_mut(def).declared_type = declared;
}

/// Defines the methods of `interface { Area() int; Named }`; the embedded interface `Named` is a
/// base.
fn define_interface_elements(walker: &mut GoWalker<'_, '_>, def: DefId, interface: Node<'_>) {
    for element in named_children(interface) {
        match walker.kind(element) {
            NodeKind::MethodElem => {
                let Some(name_node) = walker.field(element, Field::Name) else { continue };
                let name = walker.builder.intern_node(name_node);
                let result = walker.field(element, Field::Result);
                let declared = result.map(|it| result_term(walker, it));
                let flags = DefFlags::ABSTRACT;
                let method =
                    walker.builder.add_definition(DefKind::Method, name, name_node, element, flags);
                walker.builder.def_mut(method).declared_type = known_term(declared);
            }
            // An embedded interface.
            NodeKind::TypeElem => {
                if let Some(type_node) = element.named_child(0) {
                    let base = type_name(walker, type_node);
                    walker.builder.add_base(def, base, BaseRelation::Extends);
                }
            }
            // Comments.
            _ => {}
        }
    }
}
