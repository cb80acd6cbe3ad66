//! Which name means what where, inside one file.

use super::Sketch;
use crate::facts::Word;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScopeKind {
    /// A function's or the file's: where wide bindings go.
    Function,
    Block,
    /// A class body whose names its methods do not see: Python's.
    Class,
    /// The body of a type whose members can be named without saying whose they are: Java's.
    Members(u32),
    /// Names outside it are not seen: a Rust module. Its definition answers for the rest.
    Module(u32),
}

/// What a name is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    Local(u32),
    /// A type parameter, which is a local that names a type.
    Type(u32),
    Def(u32),
    Import(u32),
}

/// Whether a name is read as a value or as a type; some languages keep them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Space {
    Value,
    Type,
}

#[derive(Debug)]
pub(super) struct Scope {
    pub(super) parent: Option<u32>,
    pub(super) kind: ScopeKind,
    pub(super) names: Vec<(Word, Bound)>,
}

impl Scope {
    pub(super) const fn root() -> Self {
        Self { parent: None, kind: ScopeKind::Function, names: Vec::new() }
    }
}

impl Sketch<'_> {
    pub(super) fn lookup(&self, name: Word, from: u32, space: Space) -> Option<Bound> {
        let mut at = Some(from);
        while let Some(scope) = at.map(|it| &self.scopes[it as usize]) {
            let is_seen = scope.kind != ScopeKind::Class || at == Some(from);
            let fits = |it: &&(Word, Bound)| it.0 == name && self.fits(it.1, space);
            if is_seen && let Some(found) = scope.names.iter().find(fits) {
                return Some(found.1);
            }
            if matches!(scope.kind, ScopeKind::Module(_)) {
                return None;
            }
            at = scope.parent;
        }
        None
    }

    fn fits(&self, bound: Bound, space: Space) -> bool {
        match (bound, space) {
            (Bound::Import(_), _) => true,
            (Bound::Local(_), space) => space == Space::Value,
            (Bound::Type(_), space) => space == Space::Type,
            (Bound::Def(it), Space::Value) => self.defs[it as usize].kind.is_value(),
            (Bound::Def(it), Space::Type) => {
                let kind = self.defs[it as usize].kind;
                !self.lang.keeps_types_apart() || kind.is_type() || kind == crate::DefKind::Module
            }
        }
    }

    /// The module or type that answers for names no scope knows.
    pub(super) fn module_of(&self, scope: u32) -> Option<u32> {
        let mut at = Some(scope);
        while let Some(scope) = at.map(|it| &self.scopes[it as usize]) {
            if let ScopeKind::Module(def) | ScopeKind::Members(def) = scope.kind {
                return Some(def);
            }
            at = scope.parent;
        }
        None
    }
}
