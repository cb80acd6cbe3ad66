//! Signatures: the arguments that a function gets and the result that it gives, by its type.
//!
//! The parameters of a callback have no types of their own; the function that takes the callback
//! declares them. In
//!
//! ```text
//! type Handler = (c: Context) => Response
//! class App { get(path: string, ...handlers: Handler[]) {} }
//! app.get('/', c => c.json())
//! ```
//!
//! the term of `c` is `Parameter(Parameter(app.get, 1), 0)`. The argument of `app.get` at position
//! 1 is an element of `Handler[]`, a function of the type `(c: Context) => Response`; its argument
//! at position 0 is an instance of `Context`. So `c.json()` becomes the edge `calls Context.json
//! (type)`.
//!
//! Type parameters of the function itself are not inferred from its other arguments: they count as
//! their constraint, or as unknown. An [`AbstractValue`] is what is known of a value; a *term* is an
//! expression as the facts of a file store it, evaluated in an [`EvalContext`].

use super::builtin::element_of;
use super::eval::{base_instances, eval_value};
use super::{AbstractValue, EvalContext, Resolver, TypeEnv};
use crate::facts::{DefFlags, DefKind, ListSpan, Term, TermId};
use crate::file_index::DefRef;
use crate::ids::FileId;

/// Maximum number of overloads whose parameter or result makes up a value.
const MAX_OVERLOAD_VALUES: usize = 4;

/// The argument that a function gets at a position; unknown if the value is no function.
pub(super) fn parameter_value(
    resolver: &Resolver<'_>,
    function: &AbstractValue,
    position: u32,
) -> AbstractValue {
    first_values(resolver, function, &|resolver, signature| {
        signature_parameter(resolver, signature, position)
    })
}

/// The result of calling a value by its function type.
pub(super) fn call_result(resolver: &Resolver<'_>, callee: &AbstractValue) -> AbstractValue {
    first_values(resolver, callee, &|resolver, signature| {
        let result = signature.result(resolver);
        result.map_or(AbstractValue::Unknown, |it| eval_value(resolver, &signature.context(), it))
    })
}

/// One signature of a function.
#[derive(Clone, Copy)]
struct SignatureRef<'v> {
    /// The file of the terms.
    file: FileId,
    /// The term of the result, followed by those of the parameters.
    terms: ListSpan,
    type_env: &'v TypeEnv,
}

impl SignatureRef<'_> {
    fn result(self, resolver: &Resolver<'_>) -> Option<TermId> {
        resolver.view.file(self.file).facts.term_list(self.terms).next()
    }

    /// The terms of the parameters with their positions.
    fn parameters<'w>(self, resolver: &Resolver<'w>) -> impl Iterator<Item = (u32, TermId)> + 'w {
        (0..).zip(resolver.view.file(self.file).facts.term_list(self.terms).skip(1))
    }

    /// The context in which the terms are evaluated.
    fn context(self) -> EvalContext {
        EvalContext { file: self.file, type_env: self.type_env.clone() }
    }
}

/// Reads a value from a signature.
type SignatureReader<'f> = &'f dyn Fn(&Resolver<'_>, SignatureRef<'_>) -> AbstractValue;

/// Reads a value from the signatures of a function. Of several overloads the first few count from
/// which something is known; which of them the arguments select is not decided.
fn first_values(
    resolver: &Resolver<'_>,
    function: &AbstractValue,
    read: SignatureReader<'_>,
) -> AbstractValue {
    resolver.with_budget(AbstractValue::Unknown, || match function {
        AbstractValue::Signature(file, terms, type_env) => {
            read(resolver, SignatureRef { file: *file, terms: *terms, type_env })
        }
        // The types of a union, the overloads of a function, or the bases of an interface.
        AbstractValue::AnyOf(parts) | AbstractValue::AllOf(parts) => {
            let values = parts.iter().map(|it| first_values(resolver, it, read));
            let known = values.filter(|it| *it != AbstractValue::Unknown);
            AbstractValue::any_of(known.take(MAX_OVERLOAD_VALUES))
        }
        AbstractValue::Callable(def, env) => {
            let signature = declared_signature(resolver, *def, env);
            signature.map_or(AbstractValue::Unknown, |it| first_values(resolver, &it, read))
        }
        // An object of an interface with call signatures, its own or inherited.
        AbstractValue::Instance(def, env) => {
            let signature = declared_signature(resolver, *def, env)
                .unwrap_or_else(|| base_instances(resolver, *def, env));
            first_values(resolver, &signature, read)
        }
        // `new Server(callback)` calls the constructor.
        AbstractValue::Type(class, env) => match find_constructor(resolver, *class) {
            Some(constructor) => {
                let constructor = AbstractValue::Callable(constructor, env.clone());
                first_values(resolver, &constructor, read)
            }
            None => AbstractValue::Unknown,
        },
        // A lambda declares no parameter types. `call_value` knows its result and does not ask here.
        AbstractValue::Function(_) => AbstractValue::Unknown,
        // No function, or none of the project.
        AbstractValue::Unknown
        | AbstractValue::External
        | AbstractValue::Module(_)
        | AbstractValue::Builtin(..)
        | AbstractValue::Record(..) => AbstractValue::Unknown,
    })
}

/// The signatures of a definition, evaluated.
fn declared_signature(
    resolver: &Resolver<'_>,
    def: DefRef,
    env: &TypeEnv,
) -> Option<AbstractValue> {
    let context = EvalContext { file: def.file, type_env: env.clone() };
    resolver.def(def).signature.map(|it| eval_value(resolver, &context, it))
}

/// The constructor in the body of a class.
fn find_constructor(resolver: &Resolver<'_>, class: DefRef) -> Option<DefRef> {
    let facts = &resolver.view.file(class.file).facts;
    if facts.def(class.def).kind != DefKind::Class {
        return None;
    }
    let mut members = facts.defs_with_ids().filter(|(_, it)| it.parent == Some(class.def));
    let constructor = members.find(|(_, it)| it.flags.has(DefFlags::CONSTRUCTOR));
    constructor.map(|(def, _)| DefRef { file: class.file, def })
}

/// The parameter of a signature at a position. A rest parameter takes all further positions.
fn signature_parameter(
    resolver: &Resolver<'_>,
    signature: SignatureRef<'_>,
    position: u32,
) -> AbstractValue {
    let facts = &resolver.view.file(signature.file).facts;
    let context = signature.context();
    for (i, parameter) in signature.parameters(resolver) {
        match facts.term(parameter) {
            // A parameter before it at `position` would have been returned, so `i` is not greater.
            Term::Rest(items) => return rest_item(resolver, &context, items, position - i),
            _ if i == position => return eval_value(resolver, &context, parameter),
            _ => {}
        }
    }
    AbstractValue::Unknown
}

/// The item of a rest parameter at a position: of a tuple the one with that position, of any other
/// list an element.
fn rest_item(
    resolver: &Resolver<'_>,
    context: &EvalContext,
    items: TermId,
    position: u32,
) -> AbstractValue {
    match eval_value(resolver, context, items) {
        // A tuple is a record whose fields are its positions.
        AbstractValue::Record(file, list, env) => {
            let facts = &resolver.view.file(file).facts;
            let item = facts.record_fields(list).nth(position as usize);
            let context = EvalContext { file, type_env: env };
            item.map_or(AbstractValue::Unknown, |(_, it)| eval_value(resolver, &context, it))
        }
        container => element_of(resolver, &container),
    }
}
