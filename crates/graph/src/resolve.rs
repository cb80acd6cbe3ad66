//! From what files say about themselves to who refers to whom.
//!
//! One file at a time, a pure function of its facts and the world: the same code builds everything
//! and updates one file. Best evidence first: scope, imports, own and inherited members, declared and
//! inferred types, and last a method whose name nobody else bears. What stays unclear stays unbound:
//! a missing edge is better than a wrong one.

mod builtin;
mod c;
mod code;
mod eval;
mod go;
mod java;
mod link;
mod member;
mod open;
mod overload;
mod python;
mod rust;
mod script;
mod value;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use model::closed;

pub use code::{Kept, decode_edges, decode_keys};
pub use link::{Edge, EdgeKind, Links, Site};
pub(crate) use link::{links, sites};
pub(crate) use value::{Env, Found, Place, Value};

use crate::facts::{TermId, Word};
use crate::fast::FastHasher;
use crate::lang::Family;
use crate::world::{Entry, FileId, Lens, Name, Want, World};

closed! {
    /// How a reference was resolved, from the surest to the least sure.
    pub enum How : "way of resolution" {
        /// A precise index of the language's own compiler said so.
        Precise = "precise",
        /// The name is defined in the same file, where the reference sees it.
        Scope = "scope",
        /// Through an import, a module or a package.
        Import = "import",
        /// A member of the own type, of one it builds on, or of a type named outright.
        Member = "member",
        /// By the declared or inferred type of the value.
        Type = "type",
        /// One of several methods of that name which what they are given does not tell apart.
        Overload = "overload",
        /// The only method of that name. Unlike the others, this is a guess.
        Unique = "unique",
    }
}

impl How {
    /// How sure, in thousandths.
    pub const fn confidence(self) -> u16 {
        match self {
            Self::Precise => 1000,
            Self::Scope => 995,
            Self::Import => 990,
            Self::Member => 985,
            Self::Type => 970,
            Self::Overload => 700,
            Self::Unique => 600,
        }
    }
}

/// How deep terms may lead to other terms.
const MAX_DEPTH: u32 = 40;

/// How many steps one reference may take.
const MAX_STEPS: u32 = 4000;

/// Where a term stands.
#[derive(Clone, Debug)]
pub(crate) struct Here {
    pub(crate) file: FileId,
    /// What type parameters stand for.
    pub(crate) env: Env,
}

/// The resolver at work on one file.
pub(crate) struct Resolver<'w> {
    pub(crate) lens: Lens<'w>,
    memo: RefCell<HashMap<(FileId, TermId, bool), Value, FastHasher>>,
    modules: RefCell<HashMap<(FileId, Name), Option<Place>, FastHasher>>,
    depth: Cell<u32>,
    steps: Cell<u32>,
}

impl<'w> Resolver<'w> {
    /// To resolve a file, which is given as a whole.
    pub(crate) fn new(world: &'w World, own: &'w Entry) -> Self {
        Self {
            lens: Lens::new(world, own),
            memo: RefCell::default(),
            modules: RefCell::default(),
            depth: Cell::new(0),
            steps: Cell::new(0),
        }
    }

    fn text(&self, name: Name) -> &'w str {
        self.lens.world.names.text(name)
    }

    fn word(&self, entry: &Entry, word: Word) -> &'w str {
        self.text(entry.name(word))
    }

    /// Runs a step unless the way has become too long.
    fn step<T>(&self, otherwise: T, body: impl FnOnce() -> T) -> T {
        if self.depth.get() >= MAX_DEPTH || self.steps.get() >= MAX_STEPS {
            return otherwise;
        }
        self.depth.set(self.depth.get() + 1);
        self.steps.set(self.steps.get() + 1);
        let res = body();
        self.depth.set(self.depth.get() - 1);
        res
    }

    fn start_over(&self) {
        self.steps.set(0);
    }

    /// The module that an import names.
    pub(crate) fn module(&self, file: FileId, module: Name) -> Option<Place> {
        if let Some(known) = self.modules.borrow().get(&(file, module)) {
            return known.clone();
        }
        let entry = self.lens.entry(file);
        let text = self.text(module);
        let family = entry.facts.lang.family();
        let res = match family {
            Family::Script => self.script_module(entry, text),
            Family::Python => self.python_module(entry, text),
            Family::Rust => self.rust_module(entry, text),
            Family::Go => self.go_module(entry, text),
            Family::Java | Family::CSharp | Family::Php => {
                Some(Place::Space([family.ways().prefix, text].concat().into()))
            }
            Family::C => self.c_module(entry, text),
            Family::Ruby => self.relative_module(entry, text),
            Family::Manifest => None,
        };
        self.modules.borrow_mut().insert((file, module), res.clone());
        res
    }

    /// A name that the scopes of a file do not bind. `within` is the module inside the file.
    fn free_name(&self, file: FileId, within: Option<u32>, name: Name, want: Want) -> Found {
        match self.lens.entry(file).facts.lang.family() {
            Family::Script | Family::Manifest => Found::Nothing,
            Family::Python => self.python_name(file, name, want),
            Family::Rust => self.rust_name(file, within, name, want),
            Family::Go => self.go_name(file, name, want),
            Family::Java | Family::CSharp | Family::Php => self.java_name(file, name, want),
            Family::C => self.c_name(file, within, name, want),
            Family::Ruby => self.ruby_name(file, name, want),
        }
    }

    /// A name of a module that was reached by a path.
    fn module_member(&self, place: &Place, name: Name, want: Want) -> Found {
        match place {
            Place::External => Found::External,
            Place::Space(space) => self.in_space(space, name, want, None),
            Place::Folder(folder) => self.python_child(folder, name),
            Place::Def(def) => self.inner_module_member(*def, name, want),
            Place::File(file) => match self.lens.entry(*file).facts.lang.family() {
                Family::Script => self.export_of(*file, name, want),
                Family::Python => self.python_member(*file, name, want),
                Family::Rust => self.rust_member(*file, None, name, want),
                _ => self.top_of(*file, name, want),
            },
        }
    }

    fn inner_module_member(&self, def: crate::DefRef, name: Name, want: Want) -> Found {
        let entry = self.lens.entry(def.file);
        if entry.facts.lang.family() == Family::Rust {
            return self.rust_member(def.file, Some(def.def), name, want);
        }
        let shared = match entry.facts.lang.family() {
            Family::C => {
                let space = self.c_space(def.file, Some(def.def));
                self.in_space(&space, name, want, Some(def.file))
            }
            _ => Found::Nothing,
        };
        shared.or_else(|| match entry.member(Some(def.def), name, want) {
            Some(it) => Found::def(def.file, it, How::Import),
            None => Found::Nothing,
        })
    }

    fn top_of(&self, file: FileId, name: Name, want: Want) -> Found {
        match self.lens.entry(file).member(None, name, want) {
            Some(it) => Found::def(file, it, How::Import),
            None => Found::Nothing,
        }
    }
}
