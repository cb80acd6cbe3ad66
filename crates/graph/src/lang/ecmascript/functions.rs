//! ECMAScript: functions, their parameters and callbacks.
//!
//! ```text
//! function load<T>(id: string, n = 1): T { … }
//!     definition: function `load`, 1 to 2 arguments, declared type `T`
//!     locals:     type parameter `T`, variables `id` and `n`
//! rows.map(row => row.save())
//!     locals:     variable `row`, an element of `rows`
//! ```
//!
//! The walk in `ecmascript.rs` calls a `visit_…` function with the cursor at the syntax node
//! `node`. The function records what the node defines and uses in `walker.builder`, which collects
//! the facts of the file, and then visits the children. Names are looked up after the walk; the
//! resolver (`crate::resolve`) joins the facts of all files. A *term* is an expression or a type,
//! reduced to what that needs: `Member(Name("rows"), "find")` for `rows.find`.

use tree_sitter::{Node, TreeCursor};

use super::contextual_types::{CallbackContext, add_parameter_types, expect_type, rest_term};
use super::patterns::bind_pattern;
use super::{Field, NodeKind, ScriptWalker, ValueRole};
use crate::facts::{ArityRange, DefFlags, DefId, DefKind, LocalId, Term, TermId};
use crate::facts_builder::{
    ANY_ARG_COUNT, MAX_REQUIRED_PARAMS, NameBinding, UNKNOWN_TERM, known_term, to_index,
};
use crate::lang::syntax_walker::named_children;
use crate::lang::term_shape::{expression_term, field_type, type_term};

/// Methods that pass an element of their object to the callback, and the position of the parameter
/// that gets it: the second one of `xs.reduce((sum, x) => …)`.
#[rustfmt::skip]
const ELEMENT_CALLBACK_METHODS: &[(&str, usize)] = &[
    ("map", 0), ("filter", 0), ("forEach", 0), ("find", 0), ("findIndex", 0), ("findLast", 0), ("some", 0),
    ("every", 0), ("flatMap", 0), ("sort", 0), ("sort", 1), ("toSorted", 0), ("toSorted", 1), ("reduce", 1),
    ("reduceRight", 1), ("partition", 0),
];

/// Returns whether an expression is a function: `x => …`, `function () { … }`,
/// `function* () { … }`.
pub(super) fn is_function(walker: &ScriptWalker<'_, '_>, node: Node<'_>) -> bool {
    matches!(
        walker.kind(node),
        NodeKind::Arrow | NodeKind::FunctionExpression | NodeKind::Generator
    )
}

/// Flags of a definition: exported, if it is the declaration of an `export` statement.
pub(super) fn take_export_flag(walker: &mut ScriptWalker<'_, '_>) -> DefFlags {
    let is_exported = std::mem::take(&mut walker.state.is_exporting);
    DefFlags::default().when(is_exported, DefFlags::EXPORTED)
}

/// `function f() { … }`, or the overload signature `function f(): T;`.
pub(super) fn visit_function_declaration(
    walker: &mut ScriptWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let Some(name_node) = walker.field(node, Field::Name) else {
        return walker.visit_children(cursor);
    };
    let name = walker.builder.intern_node(name_node);
    let is_signature = walker.kind(node) == NodeKind::FunctionSignature;
    let flags = take_export_flag(walker).when(is_signature, DefFlags::ABSTRACT);
    // Overloads are one function: the first signature defines it, the others and the body extend
    // it.
    let parent = walker.builder.enclosing_def();
    let signature = walker.builder.defs.iter().rposition(|it| {
        it.kind == DefKind::Function
            && it.name == name
            && it.parent == parent
            && it.flags.has(DefFlags::ABSTRACT)
    });
    let def = if let Some(position) = signature {
        let def = &mut walker.builder.defs[position];
        def.span.end = to_index(node.end_byte());
        def.lines.1 = to_index(node.end_position().row);
        // Each signature has its own number of arguments, so any number is accepted. `visit_function`
        // overwrites this if none of the earlier signatures has a return type.
        def.arity = ArityRange { min: 0, max: ANY_ARG_COUNT };
        if !is_signature {
            def.flags.0 &= !DefFlags::ABSTRACT.0;
        }
        DefId::from_index(position)
    } else {
        let kind = DefKind::Function;
        let def = walker.builder.add_definition(kind, name, name_node, node, flags);
        walker.builder.bind_name(name, NameBinding::Def(def));
        def
    };
    visit_function(walker, cursor, node, Some(def));
}

/// `x => …`, `function () { … }`: the function of a definition, or part of the code around it.
pub(super) fn visit_function_value(
    walker: &mut ScriptWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
) {
    let def = match walker.state.value_roles.remove(&node.id()) {
        Some(ValueRole::Function(def)) => Some(def),
        Some(ValueRole::Object(_) | ValueRole::Class(_)) | None => None,
    };
    visit_function(walker, cursor, node, def);
}

/// Visits a function of any form, or a signature. Its facts go to `def`, if it has a definition.
pub(super) fn visit_function(
    walker: &mut ScriptWalker<'_, '_>,
    cursor: &mut TreeCursor<'_>,
    node: Node<'_>,
    def: Option<DefId>,
) {
    let context = CallbackContext {
        arguments: walker.state.callback_arguments.remove(&node.id()),
        expected_type: walker.state.expected_types.remove(&node.id()),
    };
    walker.builder.enter_function();
    if let Some(def) = def {
        walker.builder.open_definition(def);
    }
    let type_params = bind_type_parameters(walker, node);
    let (arity, parameter_types) = bind_parameters(walker, node, context);

    let body = walker.field(node, Field::Body);
    // `x => x.y` returns its body.
    if let Some(expression) = body.filter(|it| walker.kind(*it) != NodeKind::Block) {
        let term = expression_term(walker, expression);
        walker.builder.add_return(term);
    }
    let declared = field_type(walker, node, Field::ReturnType);
    let expected_result = known_term(declared)
        .or_else(|| context.expected_type.map(|it| walker.builder.terms.add(Term::Call(it))));
    if let (Some(body), Some(expected)) = (body, expected_result) {
        expect_type(walker, body, expected);
    }
    walker.state.expected_results.push(expected_result);
    walker.visit_children(cursor);
    walker.state.expected_results.pop();
    let returned = walker.builder.leave_function();

    let Some(def) = def else { return };
    walker.builder.close_definition();
    walker.builder.set_body_start(def, body);
    add_parameter_types(walker, def, &parameter_types);
    let def = walker.builder.def_mut(def);
    // Of several overloads the first one with a return type counts. A later one leaves the arity
    // at what the caller set: any number of arguments.
    if def.declared_type.is_none() {
        def.declared_type = known_term(declared);
        def.type_params = type_params;
        def.arity = arity;
    }
    def.inferred_from = known_term(def.inferred_from.or(Some(returned)));
}

/// Binds the type parameters of `<T extends Base, U>` with their constraints; returns them as a
/// range of locals.
pub(super) fn bind_type_parameters(
    walker: &mut ScriptWalker<'_, '_>,
    node: Node<'_>,
) -> (LocalId, LocalId) {
    let start = LocalId::from_index(walker.builder.locals.len());
    let Some(list) = walker.field(node, Field::TypeParameters) else { return (start, start) };
    let mut locals = Vec::new();
    for parameter in walker.children_of_kind(list, NodeKind::TypeParameter) {
        let Some(name) = walker.field(parameter, Field::Name) else { continue };
        let name = walker.builder.intern_node(name);
        let local = walker.builder.add_local(None, None);
        walker.builder.bind_name(name, NameBinding::TypeParameter(local));
        locals.push((local, parameter));
    }
    let end = LocalId::from_index(walker.builder.locals.len());
    // Constraints come after all names: they may mention one another.
    for (local, parameter) in locals {
        let constraint = walker.field(parameter, Field::Constraint);
        let bound = constraint.and_then(|it| it.named_child(0)).map(|it| type_term(walker, it));
        walker.builder.locals[local.index()].declared_type = known_term(bound);
    }
    (start, end)
}

/// Binds the parameters of `(a, b?: T, c = 1, ...rest)`; returns the arity and the declared types,
/// as in a function type.
fn bind_parameters(
    walker: &mut ScriptWalker<'_, '_>,
    node: Node<'_>,
    context: CallbackContext,
) -> (ArityRange, Vec<TermId>) {
    // `x => …` has no parameter list.
    if let Some(single) = walker.field(node, Field::Parameter) {
        let argument = context.argument_at(walker, 0);
        bind_pattern(walker, single, None, argument);
        return (ArityRange { min: 1, max: 1 }, Vec::new());
    }
    let Some(list) = walker.field(node, Field::Parameters) else {
        return (ArityRange { min: 0, max: 0 }, Vec::new());
    };
    let (mut min_args, mut max_args) = (0_u8, 0_u8);
    let mut declared_types = Vec::new();
    let grammar = walker.grammar;
    let is_parameter = |it: &Node<'_>| grammar.kind(*it) != NodeKind::Comment;
    let parameters = named_children(list).filter(is_parameter);
    for (i, parameter) in parameters.enumerate() {
        let kind = walker.kind(parameter);
        // JavaScript has patterns in the list, TypeScript a node around each of them.
        let is_wrapped = matches!(kind, NodeKind::RequiredParameter | NodeKind::OptionalParameter);
        let pattern =
            if is_wrapped { walker.field(parameter, Field::Pattern) } else { Some(parameter) };
        // A parameter without a name is a syntax error.
        let Some(pattern) = pattern else { continue };
        // A bare pattern has no type, and its default is part of the pattern.
        let type_node = walker.field(parameter, Field::Type).filter(|_| is_wrapped);
        let declared = type_node.map(|it| type_term(walker, it));
        let default = walker.field(parameter, Field::Value).filter(|_| is_wrapped);
        let value = match default {
            Some(default) => Some(expression_term(walker, default)),
            None if declared.is_none() => context.argument_at(walker, i),
            None => None,
        };
        let is_rest = walker.kind(pattern) == NodeKind::RestPattern;
        // A parameter named `this` declares the type of `this` and takes no argument.
        if walker.text(pattern) != "this" {
            max_args = max_args.saturating_add(1);
            let is_optional = kind == NodeKind::OptionalParameter
                || default.is_some()
                || kind == NodeKind::AssignmentPattern;
            let is_required = !is_optional && !is_rest;
            min_args += u8::from(is_required && min_args < MAX_REQUIRED_PARAMS);
            let declared = declared.unwrap_or(UNKNOWN_TERM);
            declared_types.push(if is_rest { rest_term(walker, declared) } else { declared });
        }
        if is_rest {
            max_args = ANY_ARG_COUNT;
        }
        bind_pattern(walker, pattern, declared, value);
        define_parameter_property(walker, parameter, pattern, declared);
    }
    (ArityRange { min: min_args, max: max_args }, declared_types)
}

/// `constructor(private app: App)` declares a field.
fn define_parameter_property(
    walker: &mut ScriptWalker<'_, '_>,
    node: Node<'_>,
    pattern: Node<'_>,
    declared: Option<TermId>,
) {
    let mut cursor = node.walk();
    let has_modifier = node.children(&mut cursor).any(|it| {
        matches!(
            walker.kind(it),
            NodeKind::Accessibility | NodeKind::OverrideModifier | NodeKind::ReadonlyWord
        )
    });
    if !has_modifier || walker.kind(pattern) != NodeKind::Identifier {
        return;
    }
    let Some(class) = walker.builder.enclosing_type() else { return };
    let name = walker.builder.intern_node(pattern);
    let flags = DefFlags::default();
    let def = walker.builder.add_definition(DefKind::Field, name, pattern, node, flags);
    let def = walker.builder.def_mut(def);
    (def.parent, def.declared_type) = (Some(class), known_term(declared));
}

/// Remembers, for `xs.map(x => …)` and `promise.then(x => …)`, what `x` is. Returns whether the
/// call is of this form.
pub(super) fn record_callback_arguments(
    walker: &mut ScriptWalker<'_, '_>,
    callee: Node<'_>,
    call: Node<'_>,
) -> bool {
    if walker.kind(callee) != NodeKind::MemberAccess {
        return false;
    }
    let object = walker.field(callee, Field::Object);
    let (Some(object), Some(method)) = (object, walker.field(callee, Field::Property)) else {
        return false;
    };
    let callback = walker.field(call, Field::Arguments).and_then(|it| it.named_child(0));
    let Some(callback) = callback else { return false };
    if !matches!(walker.kind(callback), NodeKind::Arrow | NodeKind::FunctionExpression) {
        return false;
    }
    let method = walker.text(method);
    let mut arguments = [UNKNOWN_TERM; 2];
    // The first parameter of a callback of `then` gets the value of the promise.
    if method == "then" {
        let promise = expression_term(walker, object);
        arguments[0] = walker.builder.terms.add(Term::Unwrapped(promise));
    } else {
        // The positions of the parameters that get an element.
        let mut positions =
            ELEMENT_CALLBACK_METHODS.iter().filter(|it| it.0 == method).map(|it| it.1).peekable();
        if positions.peek().is_none() {
            return false;
        }
        let container = expression_term(walker, object);
        let element = walker.builder.terms.add(Term::ElementOf(container));
        positions.for_each(|it| arguments[it] = element);
    }
    walker.state.callback_arguments.insert(callback.id(), arguments);
    true
}
