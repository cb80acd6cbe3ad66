//! C, C++, C#, Ruby and PHP: functions, their owners, parameters and results.
//!
//! ```text
//! int max(int a, int b) { … }           C: function `max`, exactly 2 arguments
//! void Store::run(Db& db) { … }         C++: method `run`, owner `Store`
//! public Row Get(params int[] ids)      C#: method `Get`, any number of arguments, returns a `Row`
//! def self.open(path, mode = 1)         Ruby: static method `open`, 1 to 2 arguments
//! function __construct(private Db $db)  PHP: constructor; also defines the field `db`
//! ```
//!
//! The walk in `generic.rs` calls [`visit_function`] with the cursor at the syntax node of the
//! function. It records the facts of the node in `walker.builder` and then visits its children. The
//! *owner* of a method that is defined outside its type is the term of that type. A term is an
//! expression or a type reduced to what name lookup needs, here `Name("Store")`.

use tree_sitter::{Node, TreeCursor};

use super::c::{
    bind_template_parameters, declared_name, is_declarator, is_static, split_qualified_name,
};
use super::{Field, GenericWalker, NodeKind, OutOfLineMethod, first_field, is_c_family};
use crate::facts::{ArityRange, DefFlags, DefKind, TermId};
use crate::facts_builder::{
    ANY_ARG_COUNT, MAX_REQUIRED_PARAMS, NameBinding, ScopeKind, UNKNOWN_TERM, known_term,
};
use crate::lang::SourceLanguage;
use crate::lang::syntax_walker::named_children;
use crate::lang::term_shape::{field_type, type_term};

/// The number of arguments a function accepts, and the types of its parameters where overloads are
/// selected by them.
pub(super) struct BoundParameters {
    pub(super) arity: ArityRange,
    pub(super) types: Option<TermId>,
}

/// `T f(x) { … }`, `def f(x)`, `function f($x) { … }`, of a file or of a type.
pub(super) fn visit_function(
    walker: &mut GenericWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    // In C and C++ the name is inside the declarator.
    let declarator = walker.field(node, Field::Declarator);
    let name_node = match declarator {
        Some(declarator) => declared_name(walker, declarator).node,
        None => walker.field(node, Field::Name),
    };
    let Some(name_node) = name_node else { return walker.visit_children(cursor) };
    // `void Server::run() {}` belongs to `Server`.
    let (owner, name_node) = split_qualified_name(walker, name_node);
    let text = walker.text(name_node);
    let is_method = walker.builder.enclosing_type().is_some() || owner.is_some();
    let kind = if is_method { DefKind::Method } else { DefKind::Function };
    let name = walker.builder.intern(text);
    let flags = function_flags(walker, node, text, owner);
    let def = walker.builder.add_definition(kind, name, name_node, node, flags);
    walker.builder.def_mut(def).owner_type = owner;
    walker.skip_next_use(name_node);
    if kind == DefKind::Function {
        walker.builder.bind_name(name, NameBinding::Def(def));
    }

    // What follows, up to `close_definition`, is inside the function. `open_definition` makes it the parent
    // of inner definitions; `enter_function`, below, opens the scope of its parameters and locals.
    walker.builder.open_definition(def);
    let outer_method = walker.state.out_of_line_method;
    if let Some(owner) = owner {
        // Bare names in the body may be members of the owner.
        walker.builder.scopes.enter(ScopeKind::Members(def));
        walker.state.out_of_line_method = Some(OutOfLineMethod { method: def, owner });
    }
    walker.builder.enter_function();
    bind_template_parameters(walker, node, def);
    let parameters = bind_parameters(walker, node, declarator);
    let result_type = first_field(walker, node, &[Field::Type, Field::Returns, Field::ReturnType]);
    let declared = result_type.map(|it| type_term(walker, it));
    walker.builder.set_body_start(def, walker.grammar.field(node, Field::Body));
    walker.visit_children(cursor);
    walker.builder.leave_function();
    if owner.is_some() {
        walker.builder.scopes.leave();
    }
    walker.state.out_of_line_method = outer_method;
    walker.builder.close_definition();

    let def = walker.builder.def_mut(def);
    (def.arity, def.param_types) = (parameters.arity, parameters.types);
    def.declared_type = known_term(declared);
}

/// Flags of a function, from its name, its modifiers and the place where it is defined.
fn function_flags(
    walker: &mut GenericWalker<'_, '_>,
    node: Node<'_>,
    name: &str,
    owner: Option<TermId>,
) -> DefFlags {
    let class = walker.builder.enclosing_type();
    // In C++ a constructor has the name of its class.
    let owner_name = match owner {
        Some(owner) => walker.builder.terms.simple_name(owner),
        None => {
            class.filter(|_| is_c_family(walker)).map(|it| walker.builder.defs[it.index()].name)
        }
    };
    // `__construct` is PHP's name and `initialize` Ruby's. The language is not tested.
    let is_constructor = matches!(name, "__construct" | "initialize")
        || walker.kind(node) == NodeKind::ConstructorDeclaration
        || owner_name.is_some_and(|it| it == walker.builder.intern(name));
    // A function that other files cannot call by its bare name.
    let is_hidden = match walker.builder.lang {
        SourceLanguage::C | SourceLanguage::Cpp => {
            walker.state.anonymous_namespace_depth > 0 || is_static(walker, node)
        }
        // Every function is a method. One without a class (see `is_private`) lost it to a syntax error, and
        // nothing can call it by its bare name.
        SourceLanguage::CSharp => true,
        // A method of whatever object runs the enclosing block.
        SourceLanguage::Ruby => walker.state.block_depth > 0,
        _ => false,
    };
    // Only functions outside a class: a method is called through its class in any case.
    let is_private = is_hidden && class.is_none() && owner.is_none();
    // The modifier in any of the languages; `is_static` above reads that of C and C++ only. Outside a class
    // `static` only hides a function from other files, so the flag below also needs a class.
    let has_static =
        walker.kind(node) == NodeKind::SingletonMethod || has_static_modifier(walker, node);
    let is_test =
        walker.builder.is_test && (name.starts_with("test") || has_test_attribute(walker, node));
    // Ruby's grammar has no body field for empty methods.
    let is_abstract =
        walker.field(node, Field::Body).is_none() && walker.builder.lang != SourceLanguage::Ruby;
    DefFlags::default()
        .when(is_constructor, DefFlags::CONSTRUCTOR)
        .when(is_private, DefFlags::PRIVATE)
        .when(has_static && class.is_some(), DefFlags::STATIC)
        .when(is_test, DefFlags::TEST)
        .when(is_abstract, DefFlags::ABSTRACT)
}

/// Returns whether one of a function's modifiers is `static`.
fn has_static_modifier(walker: &GenericWalker<'_, '_>, node: Node<'_>) -> bool {
    named_children(node).any(|it| {
        let is_modifier = matches!(
            walker.kind(it),
            NodeKind::StaticModifier | NodeKind::Modifier | NodeKind::StorageClass
        );
        is_modifier && walker.text(it) == "static"
    })
}

/// `[Test]`, `[Fact]` before a method of C#.
fn has_test_attribute(walker: &GenericWalker<'_, '_>, node: Node<'_>) -> bool {
    let lists = walker.children_of_kind(node, NodeKind::AttributeList);
    lists.flat_map(named_children).any(|it| {
        let name = walker.field(it, Field::Name).map_or("", |it| walker.text(it));
        matches!(name, "Test" | "Fact" | "Theory" | "TestMethod" | "TestCase")
    })
}

/// Binds the parameters of a function. In C and C++ their list is inside the declarator.
pub(super) fn bind_parameters(
    walker: &mut GenericWalker<'_, '_>,
    node: Node<'_>,
    declarator: Option<Node<'_>>,
) -> BoundParameters {
    let list = find_parameter_list(walker, node, declarator);
    let (mut min_args, mut max_args) = (0_u8, 0_u8);
    let mut types = Vec::new();
    // `params T[] rest` of C# has no node of its own: its type and name are fields of the list.
    let rest_type = list
        .filter(|_| walker.builder.lang == SourceLanguage::CSharp)
        .and_then(|it| walker.field(it, Field::Type));
    for parameter in list.into_iter().flat_map(named_children) {
        let kind = walker.kind(parameter);
        let is_part_of_rest = rest_type.is_some() && kind != NodeKind::Parameter;
        // `f(void)` of C takes no argument.
        let is_void = walker.text(parameter) == "void";
        if kind == NodeKind::Comment || is_void || is_part_of_rest {
            continue;
        }
        let is_variadic = is_variadic_parameter(kind);
        let is_required = !is_variadic && !is_optional_parameter(walker, parameter);
        // `ANY_ARG_COUNT` is the highest `u8`, so a parameter after the variadic one adds nothing.
        max_args = if is_variadic { ANY_ARG_COUNT } else { max_args.saturating_add(1) };
        min_args += u8::from(is_required && min_args < MAX_REQUIRED_PARAMS);
        types.push(bind_parameter(walker, parameter).unwrap_or(UNKNOWN_TERM));
    }
    if let (Some(list), Some(rest_type)) = (list, rest_type) {
        types.push(bind_rest_parameter(walker, list, rest_type));
        max_args = ANY_ARG_COUNT;
    }
    // `f(...)` of C takes any further arguments.
    let has_ellipsis =
        list.is_some_and(|it| is_c_family(walker) && walker.text(it).ends_with("...)"));
    if has_ellipsis {
        max_args = ANY_ARG_COUNT;
    }
    let by_type = walker.builder.lang.overloads_by_type();
    let types = if by_type { walker.builder.terms.all_of(&types) } else { None };
    BoundParameters { arity: ArityRange { min: min_args, max: max_args }, types }
}

/// Finds the parameter list of a function; in C it is inside the declarator.
fn find_parameter_list<'t>(
    walker: &GenericWalker<'_, '_>,
    node: Node<'t>,
    declarator: Option<Node<'t>>,
) -> Option<Node<'t>> {
    // `int *f(int a)`: the function declarator is nested in the one of the pointer.
    let mut candidate = declarator;
    while let Some(outer) = candidate {
        let kind = walker.kind(outer);
        if matches!(kind, NodeKind::FunctionDeclarator | NodeKind::AbstractFunctionDeclarator) {
            break;
        }
        candidate = walker
            .field(outer, Field::Declarator)
            .or_else(|| named_children(outer).find(|it| is_declarator(walker.kind(*it))));
    }
    // Without a function declarator the list is a field of the function itself.
    walker.field(candidate.unwrap_or(node), Field::Parameters)
}

/// Returns whether a parameter takes any number of arguments: `...$rest` of PHP, `*rest`,
/// `**options` and `&block` of Ruby, `T... rest` of C++.
const fn is_variadic_parameter(kind: NodeKind) -> bool {
    matches!(
        kind,
        NodeKind::VariadicParameter
            | NodeKind::SplatParameter
            | NodeKind::VariadicDeclaration
            | NodeKind::BlockParameter
            | NodeKind::HashSplatParameter
    )
}

/// Returns whether a call may leave out the argument of a parameter.
fn is_optional_parameter(walker: &GenericWalker<'_, '_>, parameter: Node<'_>) -> bool {
    match walker.kind(parameter) {
        // `n = 1` of Ruby, `int n = 1` of C++
        NodeKind::OptionalParameter | NodeKind::OptionalDeclaration => true,
        // C# has no field for a default value, only the sign before it.
        NodeKind::Parameter => {
            let mut cursor = parameter.walk();
            parameter.children(&mut cursor).any(|it| walker.kind(it) == NodeKind::EqualsSign)
        }
        // `$n = 1` of PHP
        _ => walker.field(parameter, Field::DefaultValue).is_some(),
    }
}

/// Binds the name of one parameter and returns its declared type.
fn bind_parameter(walker: &mut GenericWalker<'_, '_>, parameter: Node<'_>) -> Option<TermId> {
    let declared = field_type(walker, parameter, Field::Type);
    let name_node = match walker.field(parameter, Field::Declarator) {
        // C and C++: `int *rows`.
        Some(declarator) => declared_name(walker, declarator).node,
        // Ruby's plain parameters are their own names; the others have a field for it.
        None if walker.kind(parameter) == NodeKind::Identifier => Some(parameter),
        None => walker.field(parameter, Field::Name),
    };
    let Some(name_node) = name_node else { return declared };
    let name = walker.builder.intern(walker.text(name_node).trim_start_matches('$'));
    walker.builder.bind_local(name, declared, None);
    // PHP's `__construct(private App $app)` declares a field.
    if walker.kind(parameter) == NodeKind::PromotedParameter
        && let Some(class) = walker.builder.enclosing_type()
    {
        let value = declared.unwrap_or(UNKNOWN_TERM);
        walker.builder.add_field_assignment(class, name, value, name_node, parameter);
    }
    declared
}

/// Binds C#'s `params int[] rest` and returns the type of one argument, `int`.
fn bind_rest_parameter(
    walker: &mut GenericWalker<'_, '_>,
    list: Node<'_>,
    rest_type: Node<'_>,
) -> TermId {
    let element_node = walker.field(rest_type, Field::Type).unwrap_or(rest_type);
    let element = type_term(walker, element_node);
    let declared = type_term(walker, rest_type);
    if let Some(name) = walker.field(list, Field::Name) {
        let name = walker.builder.intern_node(name);
        walker.builder.bind_local(name, Some(declared), None);
    }
    element
}
