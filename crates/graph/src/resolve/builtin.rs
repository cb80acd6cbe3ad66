//! Built-in types of all languages, as far as they pass values of the project on: containers,
//! promises, wrappers. `users.find(…)` of an `Array<User>` is a `User` of the project,
//! so in `users.find(…).save()` the call of `save` becomes the edge `calls User.save (type)`.
//!
//! The tables list only members whose result is a type argument or the container itself. Every
//! other member of a built-in type is external. One table serves all languages; names that mean
//! different things in two of them are rare.
//!
//! An [`AbstractValue`] is what the resolver knows of an expression. `Builtin(name, args)` is an
//! object of a type outside the project with its type arguments: `Array<User>` is
//! `Builtin("Array", [Instance(User)])`. `External` is known to be outside the project, so no
//! edge can follow; `Unknown` is without evidence; `AnyOf` is one of several values, `AllOf` all of
//! several at once, as in the intersection type `A & B`. A `Record` holds its fields as terms
//! (expressions as the facts store them), which are evaluated in an [`EvalContext`]: their file and
//! type parameters.

use std::rc::Rc;

use super::eval::eval_value;
use super::{AbstractValue, EvalContext, Resolver};
use crate::file_index::{LIST_NAME, NameId};
use crate::ids::FileId;

/// Containers with the position of the type argument that is their element type.
#[rustfmt::skip]
const CONTAINER_ELEMENT_ARGS: &[(&str, usize)] = &[
    ("Array", 0), ("ReadonlyArray", 0), ("Set", 0), ("ReadonlySet", 0), ("Iterable", 0), ("IterableIterator", 0),
    ("AsyncIterable", 0), ("Iterator", 0), ("Generator", 0),
    ("list", 0), ("List", 0), ("Sequence", 0), ("set", 0), ("frozenset", 0), ("tuple", 0), ("Tuple", 0), ("Collection", 0),
    ("Vec", 0), ("Option", 0), ("HashSet", 0), ("BTreeSet", 0), ("VecDeque", 0), ("slice", 0), ("chan", 0),
    ("ArrayList", 0), ("LinkedList", 0), ("Optional", 0), ("Stream", 0), ("ImmutableList", 0), ("ImmutableSet", 0),
    ("vector", 0), ("deque", 0), ("array", 0), ("initializer_list", 0), ("unordered_set", 0), ("multiset", 0), ("span", 0),
];

/// Properties whose type is a type argument: owner, property, position of the argument.
#[rustfmt::skip]
const PROPERTY_TYPE_ARGS: &[(&str, &str, usize)] = &[
    ("Component", "props", 0), ("Component", "state", 1), ("PureComponent", "props", 0), ("PureComponent", "state", 1),
    ("RefObject", "current", 0), ("MutableRefObject", "current", 0),
];

/// Methods whose result is a type argument: owner, method, position of the argument.
#[rustfmt::skip]
const METHOD_RESULT_ARGS: &[(&str, &str, usize)] = &[
    ("Array", "find", 0), ("Array", "findLast", 0), ("Array", "at", 0), ("Array", "pop", 0), ("Array", "shift", 0),
    ("ReadonlyArray", "find", 0), ("ReadonlyArray", "at", 0), ("ReadonlyArray", "findLast", 0),
    ("Map", "get", 1), ("WeakMap", "get", 1), ("ReadonlyMap", "get", 1),
    ("dict", "get", 1), ("Dict", "get", 1), ("dict", "pop", 1), ("list", "pop", 0),
    ("Option", "unwrap", 0), ("Option", "expect", 0), ("Option", "unwrap_or_default", 0), ("Result", "unwrap", 0),
    ("Result", "expect", 0), ("Vec", "pop", 0), ("Arc", "clone", 0), ("Rc", "clone", 0), ("Option", "take", 0),
    ("List", "get", 0), ("ArrayList", "get", 0), ("HashMap", "get", 1), ("Map", "remove", 1), ("Optional", "get", 0),
    ("Optional", "orElse", 0), ("Optional", "orElseThrow", 0), ("Supplier", "get", 0), ("List", "remove", 0),
    ("unique_ptr", "get", 0), ("shared_ptr", "get", 0), ("unique_ptr", "release", 0), ("optional", "value", 0),
    ("vector", "front", 0), ("vector", "back", 0), ("vector", "at", 0), ("deque", "front", 0), ("deque", "back", 0),
    ("list", "front", 0), ("list", "back", 0), ("map", "at", 1), ("unordered_map", "at", 1),
];

/// Methods that return a container of the same type.
#[rustfmt::skip]
const CONTAINER_PRESERVING_METHODS: &[&str] = &[
    "filter", "slice", "concat", "reverse", "sort", "toSorted", "toReversed", "splice", "iter",
    "iter_mut", "into_iter", "as_ref", "as_mut", "clone", "cloned", "to_vec", "stream", "copy",
    "skip", "take", "rev",
];

/// Generic types that behave like their first argument.
#[rustfmt::skip]
const TRANSPARENT_WRAPPERS: &[&str] = &[
    "Readonly", "Partial", "Required", "NonNullable", "Omit", "Pick", "Awaited", "Mutable",
    "Box", "Rc", "Arc", "RefCell", "Cell", "Mutex", "RwLock", "Pin", "Cow", "MutexGuard", "RefMut", "Ref",
];

/// Types whose last argument is the result of `await`.
const PROMISE_TYPES: &[&str] =
    &["Promise", "PromiseLike", "Awaitable", "Coroutine", "Future", "CompletableFuture"];

/// C++ types that `*` and `->` look through.
const CPP_POINTER_TYPES: &[&str] = &["unique_ptr", "shared_ptr", "optional", "atomic"];

/// The position of the type argument that a member has in one of the tables above.
fn find_arg_position(
    resolver: &Resolver<'_>,
    table: &[(&str, &str, usize)],
    owner: NameId,
    member: NameId,
) -> Option<usize> {
    let wanted = (resolver.name_text(owner), resolver.name_text(member));
    for (owner, member, position) in table {
        if (*owner, *member) == wanted {
            return Some(*position);
        }
    }
    None
}

/// A type argument. If it is missing, the value is of an external type.
fn type_arg(args: &[AbstractValue], position: usize) -> AbstractValue {
    args.get(position).cloned().unwrap_or(AbstractValue::External)
}

/// Returns whether an unbound name is taken for a global of the language.
pub(super) fn is_builtin_global(resolver: &Resolver<'_>, file: FileId, name: NameId) -> bool {
    resolver.family(file).rules().assumes_builtins
        || resolver.name_text(name).starts_with(|it: char| it.is_ascii_uppercase())
}

/// An element of a container.
pub(super) fn element_of(resolver: &Resolver<'_>, container: &AbstractValue) -> AbstractValue {
    match container {
        AbstractValue::Builtin(name, args) => {
            let text = resolver.name_text(*name);
            if let Some((_, position)) = CONTAINER_ELEMENT_ARGS.iter().find(|it| it.0 == text) {
                return type_arg(args, *position);
            }
            match (text, args.len()) {
                // Iterating over a `Map` gives pairs, which have no type here.
                ("Map" | "ReadonlyMap", 2) => AbstractValue::Unknown,
                // These are indexed by a key far more often than iterated: the values are meant.
                ("Record" | "dict" | "Dict" | "HashMap" | "map", 2) => args[1].clone(),
                _ => AbstractValue::External,
            }
        }
        AbstractValue::AnyOf(parts) | AbstractValue::AllOf(parts) => {
            AbstractValue::any_of(parts.iter().map(|it| element_of(resolver, it)))
        }
        AbstractValue::Record(file, list, env) => {
            let context = EvalContext { file: *file, type_env: env.clone() };
            let fields = resolver.view.file(*file).facts.record_fields(*list);
            AbstractValue::any_of(fields.map(|(_, value)| eval_value(resolver, &context, value)))
        }
        AbstractValue::External => AbstractValue::External,
        // A type of the project may be a container, but nothing shows what its elements are.
        _ => AbstractValue::Unknown,
    }
}

/// The value inside a promise (after `await`), a C++ pointer (after `*` or `->`), or a Rust `Result` or
/// `Option` (after `?`). All three are the term `Unwrapped`. Other values are returned as they are.
pub(super) fn unwrap_wrapper(resolver: &Resolver<'_>, value: AbstractValue) -> AbstractValue {
    match &value {
        AbstractValue::Builtin(name, args) => {
            let text = resolver.name_text(*name);
            if PROMISE_TYPES.contains(&text) {
                args.last().cloned().unwrap_or(AbstractValue::External)
            } else if CPP_POINTER_TYPES.contains(&text) || matches!(text, "Result" | "Option") {
                type_arg(args, 0)
            } else {
                value
            }
        }
        AbstractValue::AnyOf(parts) => {
            AbstractValue::any_of(parts.iter().map(|it| unwrap_wrapper(resolver, it.clone())))
        }
        _ => value,
    }
}

/// The value of a property of a built-in instance.
pub(super) fn builtin_property(
    resolver: &Resolver<'_>,
    owner: &AbstractValue,
    name: NameId,
) -> Option<AbstractValue> {
    let AbstractValue::Builtin(type_name, args) = owner else { return None };
    if let Some(position) = find_arg_position(resolver, PROPERTY_TYPE_ARGS, *type_name, name) {
        return Some(type_arg(args, position));
    }
    // A numeric property is a position in a tuple. All elements count as one type.
    let is_position = resolver.name_text(name).bytes().all(|it| it.is_ascii_digit());
    is_position.then(|| element_of(resolver, owner))
}

/// Returns whether a generic type behaves like its first argument.
pub(super) fn is_transparent_wrapper(resolver: &Resolver<'_>, name: NameId) -> bool {
    TRANSPARENT_WRAPPERS.contains(&resolver.name_text(name))
}

/// The result of calling a method of a built-in instance; `None` for other receivers.
pub(super) fn call_builtin_method(
    resolver: &Resolver<'_>,
    receiver: &AbstractValue,
    method: NameId,
) -> Option<AbstractValue> {
    if let AbstractValue::AnyOf(parts) = receiver {
        let results: Vec<AbstractValue> =
            parts.iter().filter_map(|it| call_builtin_method(resolver, it, method)).collect();
        // None of the alternatives is built in.
        return if results.is_empty() { None } else { Some(AbstractValue::any_of(results)) };
    }
    let AbstractValue::Builtin(type_name, args) = receiver else { return None };
    if let Some(position) = find_arg_position(resolver, METHOD_RESULT_ARGS, *type_name, method) {
        return Some(type_arg(args, position));
    }
    let text = resolver.name_text(method);
    if CONTAINER_PRESERVING_METHODS.contains(&text) {
        return Some(receiver.clone());
    }
    // A mapping has two type arguments: keys and values.
    if text == "values" && args.len() == 2 {
        return Some(list_of(args[1].clone()));
    }
    Some(AbstractValue::External)
}

/// A list with such elements.
pub(super) fn list_of(element: AbstractValue) -> AbstractValue {
    AbstractValue::Builtin(LIST_NAME, Rc::new([element]))
}
