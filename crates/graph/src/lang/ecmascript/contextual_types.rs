//! ECMAScript: contextual types, that is, types that the code around a function gives its
//! parameters.
//!
//! ```text
//! app.get('/', c => c.json())               c = Parameter(Parameter(app.get, 1), 0)
//! const handle: Handler = c => c.json()     c = Parameter(InstanceOf(Handler), 0)
//! function make(): Handler { return c => …  c = Parameter(InstanceOf(Handler), 0)
//! serve({ fetch: c => c.json() })           c = Parameter(Member(Parameter(serve, 0), "fetch"), 0)
//! ```
//!
//! A declaration or a call *expects* a type of a function before the walk reaches the function; the
//! expectation is remembered by the function's node. The other half are signatures, the declared
//! types of parameters, which the resolver compares the expectation with.
//!
//! A *term* is an expression or a type, reduced to what name resolution needs.

use tree_sitter::Node;

use super::functions::{bind_type_parameters, is_function};
use super::terms::strip_wrappers;
use super::{Field, NodeKind, ScriptWalker};
use crate::facts::{DefId, Term, TermId};
use crate::facts_builder::{ScopeKind, UNKNOWN_TERM, known_term, to_index};
use crate::lang::syntax_walker::{MAX_LOOKAHEAD_DEPTH, named_children, strip_quotes};
use crate::lang::term_shape::{expression_term, type_within};

/// Maximum number of arguments of a call that are expected to have a type.
const MAX_ARGUMENTS: usize = 16;

/// Maximum number of properties of an object literal that are expected to have a type.
const MAX_PROPERTIES: usize = 64;

/// Maximum nesting of object literals in which functions are expected to have a type.
const MAX_OBJECT_DEPTH: u32 = 3;

/// Maximum number of parameters stored of a signature.
const MAX_PARAMETERS: usize = 16;

/// The knowledge about the arguments that a function gets.
#[derive(Clone, Copy, Default)]
pub(super) struct CallbackContext {
    /// The first two arguments, where the name of the called method tells them: `map`, `then`.
    pub(super) arguments: Option<[TermId; 2]>,
    /// The function type that the code around the function expects.
    pub(super) expected_type: Option<TermId>,
}

impl CallbackContext {
    /// The argument at a position.
    pub(super) fn argument_at(
        self,
        walker: &mut ScriptWalker<'_, '_>,
        position: usize,
    ) -> Option<TermId> {
        let known = self.arguments.and_then(|it| it.get(position).copied());
        known_term(known).or_else(|| {
            let term = Term::Parameter(self.expected_type?, to_index(position));
            Some(walker.builder.terms.add(term))
        })
    }
}

/// Expects of each argument of a call the type of the callee's parameter.
pub(super) fn expect_arguments(
    walker: &mut ScriptWalker<'_, '_>,
    callee: Node<'_>,
    call: Node<'_>,
) {
    let Some(arguments) = walker.field(call, Field::Arguments) else { return };
    let arguments = named_children(arguments).filter(|it| !it.is_extra());
    for (position, argument) in arguments.take(MAX_ARGUMENTS).enumerate() {
        match walker.kind(argument) {
            // The positions after `...xs` are not known.
            NodeKind::Spread => return,
            _ if !can_be_expected(walker, argument) => {}
            _ => {
                let function = expression_term(walker, callee);
                if function == UNKNOWN_TERM {
                    return;
                }
                let parameter = Term::Parameter(function, to_index(position));
                let expected = walker.builder.terms.add(parameter);
                expect_type(walker, argument, expected);
            }
        }
    }
}

/// Expects of the value of a `return` statement the declared result of the function.
pub(super) fn expect_returned_value(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>) {
    let expected = walker.state.expected_results.last().copied().flatten();
    let value = named_children(node).find(|it| !it.is_extra());
    if let (Some(expected), Some(value)) = (expected, value) {
        expect_type(walker, value, expected);
    }
}

/// Expects a type of an expression: a function, or an object with functions. Others are left alone.
pub(super) fn expect_type(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>, expected: TermId) {
    if expected != UNKNOWN_TERM {
        expect_type_within(walker, node, expected, MAX_OBJECT_DEPTH);
    }
}

fn expect_type_within(
    walker: &mut ScriptWalker<'_, '_>,
    node: Node<'_>,
    expected: TermId,
    depth: u32,
) {
    let node = strip_wrappers(walker, node);
    if is_function(walker, node) {
        walker.state.expected_types.insert(node.id(), expected);
        return;
    }
    let Some(depth) = depth.checked_sub(1) else { return };
    if walker.kind(node) != NodeKind::Object {
        return;
    }
    for property in named_children(node).take(MAX_PROPERTIES) {
        let (key, value) = match walker.kind(property) {
            NodeKind::Pair => {
                (walker.field(property, Field::Key), walker.field(property, Field::Value))
            }
            NodeKind::MethodDefinition => (walker.field(property, Field::Name), Some(property)),
            // `{ name }` and `{ ...other }` contain no function.
            _ => continue,
        };
        let (Some(key), Some(value)) = (key, value) else { continue };
        let name = strip_quotes(walker.text(key));
        if walker.kind(value) == NodeKind::MethodDefinition {
            let expected = walker.builder.terms.member_of(expected, name);
            walker.state.expected_types.insert(value.id(), expected);
        } else if can_be_expected(walker, value) {
            let expected = walker.builder.terms.member_of(expected, name);
            expect_type_within(walker, value, expected, depth);
        }
    }
}

/// Returns whether an expression is a function or may contain one that has a type by its context.
fn can_be_expected(walker: &ScriptWalker<'_, '_>, node: Node<'_>) -> bool {
    let node = strip_wrappers(walker, node);
    is_function(walker, node) || walker.kind(node) == NodeKind::Object
}

/// `(c: Context, next: Next) => Response` as a type.
pub(super) fn function_type_term(
    walker: &mut ScriptWalker<'_, '_>,
    node: Node<'_>,
    depth: u32,
) -> TermId {
    // The type's own type parameters have a scope of their own.
    walker.builder.scopes.enter(ScopeKind::Block);
    bind_type_parameters(walker, node);
    let result = walker.field(node, Field::ReturnType);
    let result = result.map_or(UNKNOWN_TERM, |it| type_within(walker, it, depth));
    let parameters = parameter_terms(walker, node, depth);
    walker.builder.scopes.leave();
    walker.builder.terms.function_type_of(result, &parameters)
}

/// The types of the parameters of a function type or a call signature.
fn parameter_terms(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>, depth: u32) -> Vec<TermId> {
    let mut terms = Vec::new();
    for parameter in walker.field_children(node, Field::Parameters) {
        if terms.len() == MAX_PARAMETERS {
            break;
        }
        let Some(pattern) = walker.field(parameter, Field::Pattern) else { continue };
        // A parameter named `this` takes no argument.
        if walker.text(pattern) == "this" {
            continue;
        }
        let declared = walker.field(parameter, Field::Type);
        let term = declared.map_or(UNKNOWN_TERM, |it| type_within(walker, it, depth));
        let is_rest = walker.kind(pattern) == NodeKind::RestPattern;
        terms.push(if is_rest { rest_term(walker, term) } else { term });
    }
    terms
}

/// `...rest: T[]`, given the list.
pub(super) fn rest_term(walker: &mut ScriptWalker<'_, '_>, list: TermId) -> TermId {
    walker.builder.terms.add(Term::Rest(list))
}

/// `interface A { (c: Context): Response }`: an object of the enclosing type can be called.
pub(super) fn add_call_signature(walker: &mut ScriptWalker<'_, '_>, node: Node<'_>) {
    if let Some(def) = walker.builder.enclosing_def() {
        let term = function_type_term(walker, node, MAX_LOOKAHEAD_DEPTH);
        walker.builder.add_signature(def, term);
    }
}

/// Records the declared types of a definition's parameters if one of them may be a function. The
/// result is part of the definition itself.
pub(super) fn add_parameter_types(
    walker: &mut ScriptWalker<'_, '_>,
    def: DefId,
    parameter_types: &[TermId],
) {
    let parameter_types = &parameter_types[..parameter_types.len().min(MAX_PARAMETERS)];
    let terms = &mut walker.builder.terms;
    let may_be_function = |it: &TermId| match terms.get(*it) {
        Term::Unknown | Term::Literal(_) => false,
        Term::Rest(list) => list != UNKNOWN_TERM,
        _ => true,
    };
    if parameter_types.iter().any(may_be_function) {
        let signature = terms.function_type_of(UNKNOWN_TERM, parameter_types);
        walker.builder.add_signature(def, signature);
    }
}
