//! The domain of the resolver's abstract interpretation: the values that terms evaluate to, and the
//! results of looking up a name.
//!
//! A *term* is an expression of the source as the facts store it; evaluation (`eval.rs`) gives its
//! [`AbstractValue`], binding (`bind.rs`) the [`LookupResult`] of the name in it. In
//!
//! ```text
//! import { Store } from './store'
//! const db = new Store()
//! db.find(1)
//! ```
//!
//! `Store` evaluates to `Type(Store)`, `db` to `Instance(Store)`, and `db.find` is bound to
//! `Def(Store.find, ResolutionKind::Type)`, which becomes the edge `calls store.ts:Store.find`.
//!
//! `Unknown` and `External` differ throughout. `Unknown` (`NotFound` for names) means that there is
//! no evidence, so other evidence may be tried. `External` means that the thing is known to be
//! outside the project, so the search ends.
//!
//! A [`DefRef`] is a definition of the project: its file, and its position in the facts of the
//! file.

use std::rc::Rc;

use super::ResolutionKind;
use crate::facts::{DefId, ListSpan, LocalId};
use crate::file_index::{DefRef, NameId};
use crate::ids::FileId;

/// The values of type parameters: for the members of a `Page<User>` of the project, `T` is `User`.
/// Type parameters are locals of the file that declares them. `None` if no parameter has a value. A
/// list, because there are only a few.
pub(crate) type TypeEnv = Option<Rc<Vec<((FileId, LocalId), AbstractValue)>>>;

/// A module in the form that its language gives it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ModuleRef {
    File(FileId),
    /// A module inside a file. In Rust also a type, because it contains names as well.
    Inline(DefRef),
    /// An open namespace, to which many files add: a Java package, a Go folder.
    Namespace(Rc<str>),
    /// A Python package without `__init__.py`.
    Folder(Rc<str>),
    /// Outside the project.
    External,
}

/// An approximation of the values that an expression can have.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AbstractValue {
    /// Nothing is known: a parameter without a declared type.
    Unknown,
    /// Known to come from outside the project, so no name of the project is meant: the result of a
    /// function of a library.
    External,
    /// `store` after `import * as store from './store'`.
    Module(ModuleRef),
    /// The type itself, not an instance: `Store` in `new Store()`.
    Type(DefRef, TypeEnv),
    /// An instance of a type: `new Store()`; also a variable that is an object with members of its
    /// own: `const api = { load() {} }`.
    Instance(DefRef, TypeEnv),
    /// A function or a method that has a definition, not called: `load` in `run(load)`.
    Callable(DefRef, TypeEnv),
    /// An instance of a built-in or external type, with type arguments: `Array<User>`. As the value
    /// of a type expression, the type itself: no definition tells the two apart.
    Builtin(NameId, Rc<[AbstractValue]>),
    /// A record, such as `{ a: x, b: y }`. Its fields are a list of names and terms in the facts of
    /// this file; the terms are evaluated when a field is needed.
    Record(FileId, ListSpan, TypeEnv),
    /// A function without a definition of its own, such as the lambda `() => x`. Holds the value
    /// that it returns.
    Function(Rc<AbstractValue>),
    /// A function of this function type: the result and the parameters, terms in this file. They
    /// are evaluated when needed.
    Signature(FileId, ListSpan, TypeEnv),
    /// One of several values: a union type.
    AnyOf(Rc<[AbstractValue]>),
    /// All of several values at once: an intersection type, the bases of a class.
    AllOf(Rc<[AbstractValue]>),
}

/// The result of looking up a name.
#[derive(Clone, Debug)]
pub(crate) enum LookupResult {
    /// No evidence. Other lookups may follow.
    NotFound,
    /// Known to be outside the project. Unlike `NotFound`, it ends the search.
    External,
    /// A definition, the values of its type's parameters, and the evidence that led to it.
    Def(DefRef, TypeEnv, ResolutionKind),
    /// The name means a module: `store` in `store.open()`.
    Module(ModuleRef),
    /// Something with a value but without a definition: an entry of a record.
    Value(AbstractValue),
}

impl LookupResult {
    pub(crate) const fn from_def(file: FileId, def: DefId, resolution: ResolutionKind) -> Self {
        Self::Def(DefRef { file, def }, None, resolution)
    }

    pub(crate) const fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound)
    }

    /// The other result if this one is `NotFound`.
    pub(crate) fn or_else(self, other: impl FnOnce() -> Self) -> Self {
        if self.is_not_found() { other() } else { self }
    }

    /// The same definition with other evidence.
    pub(crate) fn with_resolution(self, resolution: ResolutionKind) -> Self {
        match self {
            Self::Def(def, env, _) => Self::Def(def, env, resolution),
            other => other,
        }
    }
}

impl AbstractValue {
    /// The nesting depth of this value, at most, if its parts have the depth `part_depth`: 0
    /// without parts, otherwise one more than theirs. `Array<User>` has the depth 1,
    /// `Array<Array<User>>` the depth 2. The resolver limits the depth (`MAX_VALUE_DEPTH`).
    pub(crate) fn depth_around(&self, part_depth: u32) -> u32 {
        match self {
            Self::Unknown | Self::External | Self::Module(_) => 0,
            // No type parameter has a value, so there are no parts.
            Self::Type(_, None)
            | Self::Instance(_, None)
            | Self::Callable(_, None)
            | Self::Record(_, _, None)
            | Self::Signature(_, _, None) => 0,
            Self::Type(..)
            | Self::Instance(..)
            | Self::Callable(..)
            | Self::Record(..)
            | Self::Signature(..)
            | Self::Function(_)
            | Self::AllOf(_) => part_depth + 1,
            Self::Builtin(_, args) => {
                if args.is_empty() {
                    0
                } else {
                    part_depth + 1
                }
            }
            // Flat: the parts of a union are no unions.
            Self::AnyOf(_) => part_depth,
        }
    }

    /// The union of values: flattened, without duplicates and without unknown ones.
    pub(crate) fn any_of(values: impl IntoIterator<Item = Self>) -> Self {
        let mut union: Vec<Self> = Vec::new();
        for value in values {
            let parts: &[Self] = match &value {
                Self::Unknown => continue,
                Self::AnyOf(parts) => parts,
                _ => std::slice::from_ref(&value),
            };
            for part in parts {
                if !union.contains(part) {
                    union.push(part.clone());
                }
            }
        }
        match union.len() {
            0 => Self::Unknown,
            1 => union.remove(0),
            _ => Self::AnyOf(union.into()),
        }
    }
}
