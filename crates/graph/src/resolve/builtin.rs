//! What languages bring along, as far as it passes our own types on: containers, promises.
//!
//! Only what leads from one value of the repository to another stands here; everything else a
//! built-in type can do is foreign.

use std::rc::Rc;

use super::{Here, Resolver, Value};
use crate::world::{FileId, LIST, Name};

/// Which type argument of a container is what it holds.
#[rustfmt::skip]
const ELEMENTS: &[(&str, usize)] = &[
    ("Array", 0), ("ReadonlyArray", 0), ("Set", 0), ("ReadonlySet", 0), ("Iterable", 0), ("IterableIterator", 0),
    ("AsyncIterable", 0), ("Iterator", 0), ("Generator", 0),
    ("list", 0), ("List", 0), ("Sequence", 0), ("set", 0), ("frozenset", 0), ("tuple", 0), ("Tuple", 0), ("Collection", 0),
    ("Vec", 0), ("Option", 0), ("HashSet", 0), ("BTreeSet", 0), ("VecDeque", 0), ("slice", 0), ("chan", 0),
    ("ArrayList", 0), ("LinkedList", 0), ("Optional", 0), ("Stream", 0), ("ImmutableList", 0), ("ImmutableSet", 0),
    ("vector", 0), ("deque", 0), ("array", 0), ("initializer_list", 0), ("unordered_set", 0), ("multiset", 0), ("span", 0),
];

/// Properties whose type is a type argument.
#[rustfmt::skip]
const MEMBERS: &[(&str, &str, usize)] = &[
    ("Component", "props", 0), ("Component", "state", 1), ("PureComponent", "props", 0), ("PureComponent", "state", 1),
    ("RefObject", "current", 0), ("MutableRefObject", "current", 0),
];

/// Methods that give what a container holds, by the number of the type argument.
#[rustfmt::skip]
const GIVES: &[(&str, &str, usize)] = &[
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

/// Methods that give a container of the same.
const KEEPS: &[&str] = &[
    "filter",
    "slice",
    "concat",
    "reverse",
    "sort",
    "toSorted",
    "toReversed",
    "splice",
    "iter",
    "iter_mut",
    "into_iter",
    "as_ref",
    "as_mut",
    "clone",
    "cloned",
    "to_vec",
    "stream",
    "copy",
    "skip",
    "take",
    "rev",
];

/// Wrappers that are as good as what they hold.
#[rustfmt::skip]
const TRANSPARENT: &[&str] = &[
    "Readonly", "Partial", "Required", "NonNullable", "Omit", "Pick", "Awaited", "Mutable",
    "Box", "Rc", "Arc", "RefCell", "Cell", "Mutex", "RwLock", "Pin", "Cow", "MutexGuard", "RefMut", "Ref",
];

const PROMISES: &[&str] =
    &["Promise", "PromiseLike", "Awaitable", "Coroutine", "Future", "CompletableFuture"];

/// What C++ looks through with an arrow or a star.
const POINTERS: &[&str] = &["unique_ptr", "shared_ptr", "optional", "atomic"];

impl Resolver<'_> {
    fn row(&self, table: &[(&str, &str, usize)], of: Name, name: Name) -> Option<usize> {
        let (of, name) = (self.text(of), self.text(name));
        table.iter().find(|it| it.0 == of && it.1 == name).map(|it| it.2)
    }

    /// Whether an unbound name is a value the language brings along.
    pub(super) fn is_global(&self, file: FileId, name: Name) -> bool {
        let ways = self.lens.entry(file).facts.lang.family().ways();
        ways.has_globals || self.text(name).starts_with(|it: char| it.is_ascii_uppercase())
    }

    pub(super) fn element(&self, of: &Value) -> Value {
        match of {
            Value::Builtin(name, args) => {
                let text = self.text(*name);
                let row = ELEMENTS.iter().find(|it| it.0 == text);
                if let Some((_, i)) = row {
                    return args.get(*i).cloned().unwrap_or(Value::External);
                }
                // A mapping or an index into one: its values are what is asked for by a key.
                match (text, args.len()) {
                    ("Map" | "ReadonlyMap", 2) => Value::Unknown,
                    ("Record" | "dict" | "Dict" | "HashMap" | "map", 2) => args[1].clone(),
                    _ => Value::External,
                }
            }
            Value::Either(parts) => Value::either(parts.iter().map(|it| self.element(it))),
            Value::Both(parts) => Value::either(parts.iter().map(|it| self.element(it))),
            Value::Record(file, list, env) => {
                let here = Here { file: *file, env: env.clone() };
                let pairs = self.lens.entry(*file).facts.list(*list).chunks_exact(2);
                Value::either(pairs.map(|it| self.eval(&here, it[1], false)))
            }
            Value::External => Value::External,
            _ => Value::Unknown,
        }
    }

    pub(super) fn awaited(&self, of: Value) -> Value {
        match &of {
            Value::Builtin(name, args) if PROMISES.contains(&self.text(*name)) => {
                args.last().cloned().unwrap_or(Value::External)
            }
            Value::Builtin(name, args) if POINTERS.contains(&self.text(*name)) => {
                args.first().cloned().unwrap_or(Value::External)
            }
            Value::Builtin(name, args) if matches!(self.text(*name), "Result" | "Option") => {
                args.first().cloned().unwrap_or(Value::External)
            }
            Value::Either(parts) => Value::either(parts.iter().map(|it| self.awaited(it.clone()))),
            _ => of,
        }
    }

    /// The value of a property of a built-in object.
    pub(super) fn builtin_member(&self, of: &Value, name: Name) -> Option<Value> {
        let Value::Builtin(of, args) = of else { return None };
        if let Some(i) = self.row(MEMBERS, *of, name) {
            return Some(args.get(i).cloned().unwrap_or(Value::External));
        }
        // A place of a list.
        let is_place = self.text(name).bytes().all(|it| it.is_ascii_digit());
        is_place.then(|| self.element(&Value::Builtin(*of, Rc::clone(args))))
    }

    /// Whether a generic type is as good as its first argument.
    pub(super) fn is_transparent(&self, name: Name) -> bool {
        TRANSPARENT.contains(&self.text(name))
    }

    /// What calling a method of a built-in object gives.
    pub(super) fn builtin_call(&self, of: &Value, name: Name) -> Option<Value> {
        if let Value::Either(parts) = of {
            let found: Vec<Value> =
                parts.iter().filter_map(|it| self.builtin_call(it, name)).collect();
            return (!found.is_empty()).then(|| Value::either(found));
        }
        let Value::Builtin(kind, args) = of else { return None };
        if let Some(i) = self.row(GIVES, *kind, name) {
            return Some(args.get(i).cloned().unwrap_or(Value::External));
        }
        let text = self.text(name);
        if KEEPS.contains(&text) {
            return Some(of.clone());
        }
        if text == "values" && args.len() == 2 {
            return Some(list_of(args[1].clone()));
        }
        Some(Value::External)
    }
}

pub(super) fn list_of(of: Value) -> Value {
    Value::Builtin(LIST, Rc::new([of]))
}
