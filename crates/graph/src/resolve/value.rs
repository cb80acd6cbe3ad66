//! What a term can turn out to be.

use std::rc::Rc;

use super::How;
use crate::facts::List;
use crate::world::{DefRef, FileId, Name};

/// What type parameters stand for: a local of a file, and its value. Short lists.
pub(crate) type Env = Option<Rc<Vec<((FileId, u32), Value)>>>;

/// A module, however a language makes them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Place {
    File(FileId),
    /// A module inside a file.
    Def(DefRef),
    /// An open namespace: a Java package, a Go folder.
    Space(Rc<str>),
    /// A folder of modules without a file of its own: Python's.
    Folder(Rc<str>),
    /// Not of this repository.
    External,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Unknown,
    /// Known to come from outside: no name of the repository is meant.
    External,
    Module(Place),
    /// A type itself.
    Type(DefRef, Env),
    /// An object of a type; also a variable that is an object with members of its own.
    Object(DefRef, Env),
    Callable(DefRef, Env),
    /// An object of a type that the language brings along, with type arguments.
    Builtin(Name, Rc<[Value]>),
    Record(FileId, List, Env),
    Function(Rc<Value>),
    Either(Rc<[Value]>),
    Both(Rc<[Value]>),
}

/// What a name leads to.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    Nothing,
    External,
    Def(DefRef, Env, How),
    Module(Place),
    Value(Value),
}

impl Found {
    pub(crate) const fn def(file: FileId, def: u32, how: How) -> Self {
        Self::Def(DefRef { file, def }, None, how)
    }

    pub(crate) const fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    /// The first that is something.
    pub(crate) fn or_else(self, other: impl FnOnce() -> Self) -> Self {
        if self.is_nothing() { other() } else { self }
    }

    /// The same definition, reached in another way.
    pub(crate) fn by(self, how: How) -> Self {
        match self {
            Self::Def(def, env, _) => Self::Def(def, env, how),
            other => other,
        }
    }
}

impl Value {
    /// One of several: equal ones are one, unknown ones do not count.
    pub(crate) fn either(values: impl IntoIterator<Item = Self>) -> Self {
        let mut res: Vec<Self> = Vec::new();
        for value in values {
            let parts: &[Self] = match &value {
                Self::Unknown => continue,
                Self::Either(parts) => parts,
                _ => std::slice::from_ref(&value),
            };
            for part in parts {
                if !res.contains(part) {
                    res.push(part.clone());
                }
            }
        }
        match res.len() {
            0 => Self::Unknown,
            1 => res.remove(0),
            _ => Self::Either(res.into()),
        }
    }
}
