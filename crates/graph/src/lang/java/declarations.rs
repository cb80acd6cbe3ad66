//! Java: types, methods and fields.
//!
//! ```text
//! interface Shape extends Named {}        interface `Shape` with the base `Named`
//! record Point(int x, int y) {}           class `Point`, its fields and methods `x` and `y`
//! enum Color { RED }                      enum `Color`, static field `Color.RED`
//! static <T> T pick(T a, T... more)       static method `pick`, 1 or more arguments
//! ```
//!
//! The walk in `java.rs` calls a `visit_…` function with the cursor at the syntax node `node`. The
//! function records what the node defines and uses in `walker.builder`, which collects the facts
//! of the file, and then visits the children. Names are looked up after the walk; the resolver
//! (`crate::resolve`) joins the facts of all files. A *term* is an expression or a type, reduced
//! to what that needs: `Member(Local(db), "find")` for `db.find`.

use tree_sitter::{Node, TreeCursor};

use super::bindings::bind_typed_name;
use super::{Field, JavaWalker, NodeKind};
use crate::facts::{ArityRange, DefFlags, DefId, DefKind, LocalId, Term, TermId};
use crate::facts_builder::{
    ANY_ARG_COUNT, BaseRelation, NameBinding, ScopeKind, UNKNOWN_TERM, known_term,
};
use crate::lang::syntax_walker::named_children;
use crate::lang::term_shape::{field_expression, field_type, type_name, type_term};

/// `class`, `interface`, `enum`, `record` or `@interface`, with its body.
pub(super) fn visit_class(
    walker: &mut JavaWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let Some(name_node) = walker.field(node, Field::Name) else {
        return walker.visit_children(cursor);
    };
    let kind = match walker.kind(node) {
        NodeKind::Interface | NodeKind::Annotation => DefKind::Interface,
        NodeKind::Enum => DefKind::Enum,
        _ => DefKind::Class,
    };
    let name = walker.builder.intern_node(name_node);
    let flags = definition_flags(walker, node);
    let def = walker.builder.add_definition(kind, name, name_node, node, flags);
    walker.builder.bind_name(name, NameBinding::Def(def));
    walker.builder.set_body_start(def, walker.grammar.field(node, Field::Body));
    walker.builder.open_definition(def);
    // Base types are looked up outside the type: its members are not visible in its header.
    walker.builder.scopes.enter(ScopeKind::Block);
    bind_type_parameters(walker, node, def);
    add_bases(walker, node, def);
    walker.builder.scopes.enter(ScopeKind::Members(def));
    // The components are written in the header, but are members.
    if walker.kind(node) == NodeKind::Record {
        define_record_components(walker, node);
    }
    walker.visit_children(cursor);
    walker.builder.scopes.leave();
    walker.builder.scopes.leave();
    walker.builder.close_definition();
}

/// Flags from the modifiers and annotations of a declaration: `@Test public static`.
fn definition_flags(walker: &JavaWalker<'_, '_>, node: Node<'_>) -> DefFlags {
    let mut flags = DefFlags::default();
    let Some(modifiers) = walker.child_of_kind(node, NodeKind::Modifiers) else { return flags };
    // Modifiers are keywords, which are not among the named children.
    let mut cursor = modifiers.walk();
    for modifier in modifiers.children(&mut cursor) {
        flags = match walker.kind(modifier) {
            NodeKind::StaticWord => flags.with(DefFlags::STATIC),
            NodeKind::PublicWord => flags.with(DefFlags::EXPORTED),
            NodeKind::MarkerAnnotation | NodeKind::FullAnnotation => {
                let name = walker.field(modifier, Field::Name).map_or("", |it| walker.text(it));
                let is_test = matches!(name, "Test" | "ParameterizedTest" | "RepeatedTest");
                flags.when(is_test, DefFlags::TEST)
            }
            // `private`, `final` and others change nothing that the graph uses.
            _ => flags,
        };
    }
    flags
}

/// `extends Base implements A, B`
fn add_bases(walker: &mut JavaWalker<'_, '_>, node: Node<'_>, def: DefId) {
    for clause in named_children(node) {
        let relation = match walker.kind(clause) {
            NodeKind::Superclass | NodeKind::ExtendsInterfaces => BaseRelation::Extends,
            NodeKind::SuperInterfaces => BaseRelation::Implements,
            // The name, the body, modifiers and type parameters.
            _ => continue,
        };
        let list = walker.child_of_kind(clause, NodeKind::TypeList).unwrap_or(clause);
        for base in named_children(list) {
            let term = type_name(walker, base);
            walker.builder.add_base(def, term, relation);
        }
    }
}

/// Binds the type parameters of `<T extends Base, U>` with their bounds.
fn bind_type_parameters(walker: &mut JavaWalker<'_, '_>, node: Node<'_>, def: DefId) {
    let start = LocalId::from_index(walker.builder.locals.len());
    let list = walker.field(node, Field::TypeParameters);
    let parameters: Vec<Node<'_>> = list
        .into_iter()
        .flat_map(|it| walker.children_of_kind(it, NodeKind::TypeParameter))
        .collect();
    for parameter in &parameters {
        let local = walker.builder.add_local(None, None);
        if let Some(name) = walker.child_of_kind(*parameter, NodeKind::TypeIdentifier) {
            let name = walker.builder.intern_node(name);
            walker.builder.bind_name(name, NameBinding::TypeParameter(local));
        }
    }
    walker.builder.def_mut(def).type_params =
        (start, LocalId::from_index(walker.builder.locals.len()));
    // Bounds come after all names: they may mention one another.
    for (i, parameter) in parameters.iter().enumerate() {
        let bound = walker.child_of_kind(*parameter, NodeKind::TypeBound);
        let bound = bound.and_then(|it| it.named_child(0)).map(|it| type_term(walker, it));
        walker.builder.locals[start.index() + i].declared_type = known_term(bound);
    }
}

/// Defines each component of `record Point(int x, int y)` as a field and as its accessor method.
fn define_record_components(walker: &mut JavaWalker<'_, '_>, node: Node<'_>) {
    for component in walker.field_children(node, Field::Parameters) {
        let name_node = walker.field(component, Field::Name);
        let declared = field_type(walker, component, Field::Type);
        let (Some(name_node), Some(declared)) = (name_node, declared) else { continue };
        let name = walker.builder.intern_node(name_node);
        for kind in [DefKind::Field, DefKind::Method] {
            let flags = DefFlags::EXPORTED;
            let def = walker.builder.add_definition(kind, name, name_node, component, flags);
            let def = walker.builder.def_mut(def);
            def.declared_type = known_term(Some(declared));
            def.arity = ArityRange { min: 0, max: 0 };
        }
    }
}

/// `T run(A a) { … }`, or a constructor.
pub(super) fn visit_method(
    walker: &mut JavaWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let Some(name_node) = walker.field(node, Field::Name) else {
        return walker.visit_children(cursor);
    };
    // The other kinds are constructors and compact constructors of records.
    let is_constructor = walker.kind(node) != NodeKind::Method;
    let name = walker.builder.intern_node(name_node);
    let body = walker.field(node, Field::Body);
    let flags = definition_flags(walker, node)
        .when(is_constructor, DefFlags::CONSTRUCTOR)
        .when(body.is_none(), DefFlags::ABSTRACT);
    let def = walker.builder.add_definition(DefKind::Method, name, name_node, node, flags);

    walker.builder.open_definition(def);
    walker.builder.enter_function();
    bind_type_parameters(walker, node, def);
    let (arity, param_types) = bind_parameters(walker, node);
    let param_types = walker.builder.terms.all_of(&param_types);
    let declared = field_type(walker, node, Field::Type);
    walker.builder.set_body_start(def, body);
    walker.visit_children(cursor);
    let returned = walker.builder.leave_function();
    walker.builder.close_definition();
    walker.builder.set_types(def, declared, Some(returned));
    let def = walker.builder.def_mut(def);
    (def.arity, def.param_types) = (arity, param_types);
}

/// Binds the parameters of a method; returns its arity and the types of the parameters.
pub(super) fn bind_parameters(
    walker: &mut JavaWalker<'_, '_>,
    node: Node<'_>,
) -> (ArityRange, Vec<TermId>) {
    let (mut n_params, mut is_variadic, mut types) = (0_u8, false, Vec::new());
    for parameter in walker.field_children(node, Field::Parameters) {
        match walker.kind(parameter) {
            NodeKind::FormalParameter => {
                n_params = n_params.saturating_add(1);
                types.push(field_type(walker, parameter, Field::Type).unwrap_or(UNKNOWN_TERM));
                bind_typed_name(walker, parameter);
            }
            NodeKind::SpreadParameter => {
                is_variadic = true;
                types.push(bind_spread_parameter(walker, parameter));
            }
            // The receiver (`this`) and comments.
            _ => {}
        }
    }
    let max = if is_variadic { ANY_ARG_COUNT } else { n_params };
    (ArityRange { min: n_params, max }, types)
}

/// Binds `T... name` to a list and returns the type of one argument.
fn bind_spread_parameter(walker: &mut JavaWalker<'_, '_>, parameter: Node<'_>) -> TermId {
    let declarator = walker.child_of_kind(parameter, NodeKind::Declarator);
    let type_node = named_children(parameter)
        .find(|it| !matches!(walker.kind(*it), NodeKind::Modifiers | NodeKind::Declarator));
    let element = type_node.map_or(UNKNOWN_TERM, |it| type_term(walker, it));
    let declared = walker.builder.terms.add(Term::ListOf(element));
    if let Some(name) = declarator.and_then(|it| walker.field(it, Field::Name)) {
        let name = walker.builder.intern_node(name);
        walker.builder.bind_local(name, Some(declared), None);
    }
    element
}

/// `private T a = x, b;`
pub(super) fn visit_field(
    walker: &mut JavaWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let flags = definition_flags(walker, node);
    let declared = field_type(walker, node, Field::Type);
    let mut first_def = None;
    for declarator in walker.children_of_kind(node, NodeKind::Declarator) {
        let Some(name_node) = walker.field(declarator, Field::Name) else { continue };
        let value = field_expression(walker, declarator, Field::Value);
        let name = walker.builder.intern_node(name_node);
        let def = walker.builder.add_definition(DefKind::Field, name, name_node, node, flags);
        walker.builder.set_types(def, declared, value);
        first_def = first_def.or(Some(def));
    }
    // References in the values belong to the first of the fields.
    if let Some(def) = first_def {
        walker.builder.open_definition(def);
    }
    walker.visit_children(cursor);
    if first_def.is_some() {
        walker.builder.close_definition();
    }
}

/// `RED(1) { … }`: a constant of an enum is a static field whose type is the enum.
pub(super) fn visit_enum_constant(
    walker: &mut JavaWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let name_node = walker.field(node, Field::Name);
    if let (Some(name_node), Some(class)) = (name_node, walker.builder.enclosing_type()) {
        let name = walker.builder.intern_node(name_node);
        let flags = DefFlags::STATIC.with(DefFlags::EXPORTED);
        let def = walker.builder.add_definition(DefKind::Field, name, name_node, node, flags);
        let declared = walker.builder.terms.add(Term::This(class));
        walker.builder.def_mut(def).declared_type = Some(declared);
        // The walk reaches the name later and must not record it as a use.
        walker.skip_next_use(name_node);
    }
    walker.visit_children(cursor);
}
