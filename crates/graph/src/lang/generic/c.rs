//! C and C++: declarations, aliases and test macros. Called by `generic` for every node of these two
//! languages, before the code that they share with C#, Ruby and PHP. Declarators, qualified names and
//! namespaces have files of their own.
//!
//! ```text
//! int size(List *list);          definition: function `size`, a declaration, exactly 1 argument
//! static Row *first, *last;      definitions: variables `first` and `last` of type `Row`, private
//! using Rows = List<Row>;        definition: type `Rows`
//! Store store{path};             in a C++ function: local `store`; reference: new `Store`
//! TEST_F(StoreTest, Opens) {}    definition: test `Opens`, owner `StoreTest`
//! ```

mod declarators;
mod names;
mod namespaces;

use tree_sitter::{Node, TreeCursor};

pub(super) use declarators::{declared_name, is_declarator};
pub(super) use names::{
    c_call_term, c_field_term, c_pointer_term, qualified_name_term, split_qualified_name,
    template_type_name,
};

use super::declarations::{define_member, visit_class};
use super::functions::bind_parameters;
use super::imports::add_include;
use super::{Field, GenericWalker, NodeKind, OutOfLineMethod};
use crate::facts::{DefFlags, DefId, DefKind, LocalId, RefKind, Term, TermId};
use crate::facts_builder::{ANY_ARG_COUNT, NameBinding, ScopeKind, known_term};
use crate::lang::SourceLanguage;
use crate::lang::syntax_walker::named_children;
use crate::lang::term_shape::{expression_term, field_type, type_name, type_term};
use declarators::{DeclaredName, declarators};
use names::visit_qualified_name;
use namespaces::{add_using_declaration, alias_namespace, visit_namespace};

/// Prefix of an import's module that is a namespace, not a file: no path begins like this.
/// `using b::f;` inside `namespace a` imports from the module `::a|b`.
pub(crate) const NAMESPACE_PREFIX: &str = "::";

/// Separator between the enclosing namespaces and the named one in the module of such an import.
pub(crate) const ENCLOSING_SEPARATOR: char = '|';

/// The first argument of a test macro.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TestMacroOwner {
    /// The class that the test becomes a member of: `TEST_F(StoreTest, Opens)`.
    Fixture,
    /// A name that groups tests, or nothing: `TEST(Store, Opens)`, `BOOST_AUTO_TEST_CASE(Opens)`.
    Suite,
}

/// Macros of test frameworks (`GoogleTest`, `Boost.Test`) that define a test case.
const TEST_MACROS: &[(&str, TestMacroOwner)] = &[
    ("TEST", TestMacroOwner::Suite),
    ("TEST_F", TestMacroOwner::Fixture),
    ("TEST_P", TestMacroOwner::Fixture),
    ("TYPED_TEST", TestMacroOwner::Fixture),
    ("TYPED_TEST_P", TestMacroOwner::Fixture),
    ("BOOST_AUTO_TEST_CASE", TestMacroOwner::Suite),
];

/// Visits a node that only C and C++ have, or treat differently; returns whether it was one.
pub(super) fn visit_c_node(
    walker: &mut GenericWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
    kind: NodeKind,
) -> bool {
    match kind {
        NodeKind::Include => add_include(walker, node),
        NodeKind::NamespaceDefinition => visit_namespace(walker, cursor, node),
        NodeKind::NamespaceAlias => alias_namespace(walker, node),
        NodeKind::UsingDeclaration => add_using_declaration(walker, node),
        NodeKind::ClassSpecifier | NodeKind::StructSpecifier | NodeKind::UnionSpecifier => {
            visit_type_specifier(walker, cursor, node);
        }
        NodeKind::AliasDeclaration | NodeKind::TypeDefinition => {
            visit_type_alias(walker, cursor, node);
        }
        NodeKind::Declaration | NodeKind::FieldDeclaration => {
            visit_declaration(walker, cursor, node);
        }
        NodeKind::QualifiedIdentifier => visit_qualified_name(walker, cursor, node),
        // Any other function is visited like those of the other languages.
        NodeKind::FunctionDefinition => return visit_test_case(walker, cursor, node),
        NodeKind::CompoundStatement | NodeKind::For | NodeKind::Catch => {
            walker.visit_block(cursor);
        }
        NodeKind::RangeLoop => {
            walker.visit_block_with(cursor, |walker| bind_range_variable(walker, node));
        }
        NodeKind::Lambda => {
            walker.visit_block_with(cursor, |walker| {
                let declarator = walker.field(node, Field::Declarator);
                bind_parameters(walker, node, declarator);
            });
        }
        _ => return false,
    }
    true
}

/// Defines the test of `TEST_F(StoreTest, KeepsOrder) { … }`; returns whether the node was one.
///
/// The grammar reads it as a function without a return type, whose parameters are types without
/// names.
fn visit_test_case(
    walker: &mut GenericWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) -> bool {
    let declarator = walker.field(node, Field::Declarator);
    let declarator = declarator.filter(|it| walker.kind(*it) == NodeKind::FunctionDeclarator);
    let macro_name = declarator.and_then(|it| walker.field(it, Field::Declarator));
    let macro_name = macro_name.map(|it| walker.text(it));
    let Some((_, owner_kind)) = TEST_MACROS.iter().find(|it| Some(it.0) == macro_name) else {
        return false;
    };
    let arguments = declarator.and_then(|it| walker.field(it, Field::Parameters));
    let arguments: Vec<Node<'_>> = arguments.into_iter().flat_map(named_children).collect();
    // With a return type it is a plain function: `int TEST(int a) { … }`.
    let has_type = walker.field(node, Field::Type).is_some();
    let Some(name_node) = arguments.last().filter(|_| !has_type) else { return false };

    let fixture = arguments.first().filter(|_| *owner_kind == TestMacroOwner::Fixture);
    let owner = fixture.map(|it| walker.builder.unbound_name(walker.builder.text(*it)));
    // A test with a fixture has the fixture's name through its owner already: `Opens` with the
    // owner `StoreTest`. Otherwise the suite is part of the name: `Store.Opens`.
    let name_parts = arguments.iter().skip(usize::from(owner.is_some()));
    let name_parts: Vec<&str> = name_parts.map(|it| walker.text(*it)).collect();
    let name = walker.builder.intern(&name_parts.join("."));
    let flags = DefFlags::TEST;
    let def = walker.builder.add_definition(DefKind::Test, name, *name_node, node, flags);
    walker.builder.set_body_start(def, walker.grammar.field(node, Field::Body));
    walker.builder.def_mut(def).owner_type = owner;

    // The body of a test with a fixture is like that of a method of the fixture.
    let fixture_method = owner.map(|owner| OutOfLineMethod { method: def, owner });
    let outer_method = std::mem::replace(&mut walker.state.out_of_line_method, fixture_method);
    walker.builder.open_definition(def);
    walker.builder.scopes.enter(ScopeKind::Members(def));
    walker.builder.enter_function();
    // Only the body is code, not the arguments.
    walker.visit_last_child(cursor);
    walker.builder.leave_function();
    walker.builder.scopes.leave();
    walker.builder.close_definition();
    walker.state.out_of_line_method = outer_method;
    true
}

/// `struct S { … }` defines a type, `struct S x;` only mentions it.
fn visit_type_specifier(
    walker: &mut GenericWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    if walker.field(node, Field::Body).is_some() {
        visit_class(walker, cursor, node, DefKind::Class);
    } else {
        walker.visit_children(cursor);
    }
}

/// `using Short = a::Long;`, `typedef struct long short;`
fn visit_type_alias(
    walker: &mut GenericWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    // `using` has a field for the name; a `typedef` has it deep inside its declarator.
    let name_node = walker.field(node, Field::Name).or_else(|| {
        let declarator = walker.field(node, Field::Declarator)?;
        declared_name(walker, declarator).node
    });
    let name_node = name_node.filter(|it| walker.kind(*it) == NodeKind::TypeIdentifier);
    // An alias inside a function is no definition: nothing outside can name it.
    let Some(name_node) = name_node.filter(|_| !walker.builder.is_inside_function()) else {
        return walker.visit_children(cursor);
    };
    let type_node = walker.field(node, Field::Type);
    // `typedef struct list { … } list;` is one type with one name.
    let type_tag = type_node.and_then(|it| walker.field(it, Field::Name));
    let repeats_tag = type_tag.map(|it| walker.text(it)) == Some(walker.text(name_node));
    if !repeats_tag {
        let name = walker.builder.intern_node(name_node);
        let flags = visible_flags(walker);
        let def = walker.builder.add_definition(DefKind::TypeAlias, name, name_node, node, flags);
        walker.builder.bind_name(name, NameBinding::Def(def));
        let declared = type_node.map(|it| type_term(walker, it));
        walker.builder.def_mut(def).declared_type = known_term(declared);
    }
    walker.skip_next_use(name_node);
    walker.visit_children(cursor);
}

/// Flags of a type: visible outside its file unless an unnamed namespace encloses it.
pub(super) fn visible_flags(walker: &GenericWalker<'_, '_>) -> DefFlags {
    let is_hidden = walker.state.anonymous_namespace_depth > 0;
    if is_hidden { DefFlags::PRIVATE } else { DefFlags::EXPORTED }
}

/// Binds the type parameters of a definition in `template <typename T> …`.
pub(super) fn bind_template_parameters(
    walker: &mut GenericWalker<'_, '_>,
    node: Node<'_>,
    def: DefId,
) {
    let template = node.parent().filter(|it| walker.kind(*it) == NodeKind::TemplateDeclaration);
    let Some(template) = template else { return };
    // The definition stores its parameters as a range of consecutive locals.
    let start = LocalId::from_index(walker.builder.locals.len());
    for parameter in walker.field_children(template, Field::Parameters) {
        // Value parameters (`template <int N>`) count, too: arguments are matched by position.
        let local = walker.builder.add_local(None, None);
        let name = match walker.kind(parameter) {
            NodeKind::TypeParameter | NodeKind::VariadicTypeParameter => parameter.named_child(0),
            NodeKind::OptionalTypeParameter => walker.field(parameter, Field::Name),
            // A value parameter names no type.
            _ => None,
        };
        if let Some(name) = name {
            let name = walker.builder.intern_node(name);
            walker.builder.bind_name(name, NameBinding::TypeParameter(local));
        }
    }
    walker.builder.def_mut(def).type_params =
        (start, LocalId::from_index(walker.builder.locals.len()));
}

/// `T f(int);`, `T field;`, `T a = 1, *b;`: functions without a body, fields or variables.
fn visit_declaration(
    walker: &mut GenericWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let type_node = walker.field(node, Field::Type);
    let declared = type_node.map(|it| type_term(walker, it));
    // The grammar reads `T x(a);` as a function; inside a function it is a variable.
    let is_local = walker.builder.is_inside_function();
    for declarator in declarators(walker, node) {
        let DeclaredName { node: name_node, is_function } = declared_name(walker, declarator);
        // `int Store::count = 0;` defines what the class declares.
        let name_node = name_node.filter(|it| walker.kind(*it) != NodeKind::QualifiedIdentifier);
        let Some(name_node) = name_node else { continue };
        if is_local {
            let value = walker.field(declarator, Field::Value);
            record_construction(walker, type_node, declarator, value);
            let value = value.map(|it| expression_term(walker, it));
            let name = walker.builder.intern_node(name_node);
            walker.builder.bind_local(name, declared, value);
        } else if is_function {
            declare_function(walker, node, declarator, name_node, declared);
        } else {
            define_member(walker, node, Some(name_node), declared);
        }
    }
    walker.visit_children(cursor);
}

/// Defines a function that is declared without a body: `T f(int);`.
fn declare_function(
    walker: &mut GenericWalker<'_, '_>,
    node: Node<'_>,
    declarator: Node<'_>,
    name_node: Node<'_>,
    declared: Option<TermId>,
) {
    let class = walker.builder.enclosing_type();
    let kind = if class.is_some() { DefKind::Method } else { DefKind::Function };
    let name = walker.builder.intern_node(name_node);
    let is_constructor = class.is_some_and(|it| walker.builder.defs[it.index()].name == name);
    let is_static = is_static(walker, node);
    let is_hidden = walker.state.anonymous_namespace_depth > 0 || is_static;
    // `static` hides a function from other files, but makes a method one of the class.
    let flags = DefFlags::DECLARATION
        .when(class.is_none() && is_hidden, DefFlags::PRIVATE)
        .when(is_constructor, DefFlags::CONSTRUCTOR)
        .when(class.is_some() && is_static, DefFlags::STATIC);
    let def = walker.builder.add_definition(kind, name, name_node, node, flags);
    walker.skip_next_use(name_node);
    walker.builder.scopes.enter(ScopeKind::Block);
    bind_template_parameters(walker, node, def);
    let parameters = bind_parameters(walker, node, Some(declarator));
    walker.builder.scopes.leave();
    let def = walker.builder.def_mut(def);
    (def.arity, def.param_types) = (parameters.arity, parameters.types);
    def.declared_type = known_term(declared);
}

/// `static int n;`
pub(super) fn is_static(walker: &GenericWalker<'_, '_>, node: Node<'_>) -> bool {
    walker.children_of_kind(node, NodeKind::StorageClass).any(|it| walker.text(it) == "static")
}

/// Records that `Type name;`, `Type name(…)` and `Type name{…}` create an object in C++.
fn record_construction(
    walker: &mut GenericWalker<'_, '_>,
    type_node: Option<Node<'_>>,
    declarator: Node<'_>,
    value: Option<Node<'_>>,
) {
    if walker.builder.lang != SourceLanguage::Cpp {
        return;
    }
    let constructs = match walker.kind(declarator) {
        // `Type name;`
        NodeKind::Identifier => true,
        // `Type name(…);` and `Type name{…};`, but not `Type name = value;`
        NodeKind::InitDeclarator => {
            let inner = walker.field(declarator, Field::Declarator).map(|it| walker.kind(it));
            let value = value.map(|it| walker.kind(it));
            inner == Some(NodeKind::Identifier)
                && matches!(value, Some(NodeKind::ArgumentList | NodeKind::InitializerList))
        }
        // A pointer or reference constructs nothing.
        _ => false,
    };
    let named_type = type_node.filter(|it| {
        matches!(
            walker.kind(*it),
            NodeKind::TypeIdentifier | NodeKind::QualifiedIdentifier | NodeKind::TemplateType
        )
    });
    if let Some(type_node) = named_type.filter(|_| constructs) {
        let term = type_name(walker, type_node);
        let n_args = value.map_or(0, |it| named_children(it).count());
        let n_args = u8::try_from(n_args).unwrap_or(ANY_ARG_COUNT);
        walker.builder.add_reference(RefKind::New, term, type_node, n_args);
    }
}

/// `for (auto& x : xs)`
fn bind_range_variable(walker: &mut GenericWalker<'_, '_>, node: Node<'_>) {
    let declarator = walker.field(node, Field::Declarator);
    let name = declarator.and_then(|it| declared_name(walker, it).node);
    let (Some(name), Some(container)) = (name, walker.field(node, Field::Right)) else { return };
    let container = expression_term(walker, container);
    let element = walker.builder.terms.add(Term::ElementOf(container));
    let declared = field_type(walker, node, Field::Type);
    let name = walker.builder.intern_node(name);
    walker.builder.bind_local(name, declared, Some(element));
}
