//! Lexical scopes of one file and the names bound in them.
//!
//! During the walk every function, block and class enters a scope and binds its names there. Names
//! are looked up after the walk, from the scope they are used in outwards, because a name may be
//! used above its definition. A scope is identified by its position in [`ScopeTree::scopes`].
//!
//! ```text
//! def run(job):             scope 0, the file: binds `run` to a definition
//!     next = job.next()     scope 1, the function: binds `job` and `next` to locals
//!     run(next)             seen from scope 1: `next` is found there, `run` in scope 0
//! ```

use super::to_index;
use crate::facts::{DefId, ImportId, LocalId, StringId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScopeKind {
    /// A function or the file. Names with function scope are bound here, not in the blocks inside:
    /// JavaScript's `var`, all variables of Python.
    Function,
    Block,
    /// A class body whose names its methods do not see, as in Python.
    Class,
    /// The body of a type whose members can be named without a qualifier, as in Java.
    Members(DefId),
    /// A module that hides the names outside it, as in Rust. Names it does not bind belong to the
    /// module definition.
    Module(DefId),
}

/// The meaning of a name in a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameBinding {
    Local(LocalId),
    /// A type parameter: a local that names a type.
    TypeParameter(LocalId),
    Def(DefId),
    Import(ImportId),
}

/// The declaration space a name is looked up in. Some languages keep values and types apart:
/// TypeScript's `interface A {}` and `const A = 1` may stand in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum DeclarationSpace {
    Value,
    Type,
}

#[derive(Debug)]
struct LexicalScope {
    parent: Option<u32>,
    kind: ScopeKind,
    names: Vec<(StringId, NameBinding)>,
}

/// All scopes of a file. A scope that was left stays, because names are looked up after the walk.
#[derive(Debug, Default)]
pub(crate) struct ScopeTree {
    scopes: Vec<LexicalScope>,
    current: u32,
    /// Emptied name lists for scopes to come.
    spare_lists: Vec<Vec<(StringId, NameBinding)>>,
}

impl ScopeTree {
    /// Adds the scope of the file, which every file has exactly once.
    pub(super) fn enter_root(&mut self) {
        self.scopes.push(LexicalScope {
            parent: None,
            kind: ScopeKind::Function,
            names: Vec::new(),
        });
        self.current = 0;
    }

    pub(crate) fn enter(&mut self, kind: ScopeKind) {
        let parent = Some(self.current);
        self.current = to_index(self.scopes.len());
        // Most scopes bind a few names only, so their lists are worth keeping.
        let names = self.spare_lists.pop().unwrap_or_default();
        self.scopes.push(LexicalScope { parent, kind, names });
    }

    pub(crate) fn leave(&mut self) {
        // The scope of the file has no parent and is never left.
        self.current = self.scopes[self.current as usize].parent.unwrap_or_default();
    }

    pub(crate) const fn current(&self) -> u32 {
        self.current
    }

    /// Leaves every scope that was entered since `scope` was the current one.
    pub(crate) fn return_to(&mut self, scope: u32) {
        self.current = scope;
    }

    /// The innermost scope around the current place that is not a block.
    pub(super) fn function_scope(&self) -> u32 {
        let mut scope = self.current;
        while self.scopes[scope as usize].kind == ScopeKind::Block {
            // A block always has a parent: the scope of the file is no block.
            scope = self.scopes[scope as usize].parent.unwrap_or_default();
        }
        scope
    }

    pub(super) fn bind(&mut self, scope: u32, name: StringId, binding: NameBinding) {
        self.scopes[scope as usize].names.push((name, binding));
    }

    /// Finds the local variable that a scope itself, not one around it, binds to a name.
    pub(super) fn find_local(&self, scope: u32, name: StringId) -> Option<LocalId> {
        self.scopes[scope as usize].names.iter().find_map(|it| match it {
            (bound_name, NameBinding::Local(local)) if *bound_name == name => Some(*local),
            _ => None,
        })
    }

    /// Finds the innermost binding of a name, seen from a scope, that `accepts` allows.
    pub(super) fn lookup(
        &self,
        name: StringId,
        from: u32,
        accepts: impl Fn(NameBinding) -> bool,
    ) -> Option<NameBinding> {
        let mut next_scope = Some(from);
        while let Some(scope) = next_scope.map(|it| &self.scopes[it as usize]) {
            // The body of a Python class sees its own names, but the functions inside it do not.
            let is_visible = scope.kind != ScopeKind::Class || next_scope == Some(from);
            let matches = |(bound_name, binding): &&(StringId, NameBinding)| {
                *bound_name == name && accepts(*binding)
            };
            if is_visible && let Some((_, binding)) = scope.names.iter().find(matches) {
                return Some(*binding);
            }
            // Rust's modules do not see the names around them; `use` imports them.
            if matches!(scope.kind, ScopeKind::Module(_)) {
                return None;
            }
            next_scope = scope.parent;
        }
        None
    }

    /// The innermost module or type around a scope. A name that no scope binds may be its member:
    /// inherited in Java, defined in another file in Rust.
    pub(super) fn fallback_owner(&self, from: u32) -> Option<DefId> {
        let mut next_scope = Some(from);
        while let Some(scope) = next_scope.map(|it| &self.scopes[it as usize]) {
            if let ScopeKind::Module(def) | ScopeKind::Members(def) = scope.kind {
                return Some(def);
            }
            next_scope = scope.parent;
        }
        None
    }

    /// Removes all scopes and keeps their name lists for the next file.
    pub(super) fn clear(&mut self) {
        for mut scope in self.scopes.drain(..) {
            scope.names.clear();
            self.spare_lists.push(scope.names);
        }
        self.current = 0;
    }
}
