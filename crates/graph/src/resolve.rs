//! Name resolution: from the facts of all files to the edges between their definitions.
//!
//! The extractors (`lang`) turn every expression that names something into a
//! [`crate::facts::Term`]. Two mutually recursive functions interpret terms: *binding*
//! ([`bind::bind_term`]) finds the definition that a term names, *evaluation*
//! ([`eval::eval_value`]) approximates its value, which is needed to find the members of `x` in
//! `x.name`. `references.rs` and `edges.rs` apply them to all references of a file.
//!
//! A file is resolved on its own, as a pure function of its facts and the file index, so one code
//! path serves both a full build and an update. Evidence is tried from the strongest to the
//! weakest: scope, imports, own and inherited members, declared and inferred types, and last a
//! method name that occurs only once. An unclear reference stays unresolved: a missing edge is
//! better than a wrong one.
//!
//! For example, `fn sync(db: Store) { db.find(1) }` in `sync.rs`, which imports `Store`:
//!
//! ```text
//! term of the call    Member(Local(db), "find")
//! value of Local(db)  Instance(Store)                   by the declared type of `db`
//! lookup of the term  Def(Store.find, evidence Type)    `find` among the members of `Store`
//! edge                sync.rs:sync calls store.rs:Store.find (type)
//! ```
//!
//! The words that all parts share:
//!
//! * An [`AbstractValue`] is what is known of the value of a term; a [`LookupResult`] is what a
//!   name led to. In both, "external" means known to be outside the project, which ends a search;
//!   `Unknown` and `NotFound` mean no evidence, so the next kind of evidence is tried.
//! * A [`DefRef`] is a definition of the project: its file and its position in that file's facts.
//! * A [`DefQuery`] restricts a lookup to values or types, and to a number of arguments.
//! * An [`EvalContext`] is the file that a term belongs to, with the values of type parameters.
//! * The *budget* bounds the recursion and the number of steps spent on one reference. Code may be
//!   cyclic (`a = b; b = a`); what the budget cuts off counts as not found.
//!
//! The parts are free functions that take the [`Resolver`] first, grouped by topic and by language.

mod bind;
mod builtin;
mod c;
mod codec;
mod conversion;
mod ecmascript;
mod edges;
mod eval;
mod go;
mod java;
mod member;
mod namespace;
mod overload;
mod paths;
mod python;
mod references;
mod rust;
mod signature;
mod value;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use model::closed;
use model::hasher::FastBuildHasher;

use c::{c_namespace_of, find_c_name, resolve_c_module};
use ecmascript::{find_export, resolve_ecmascript_module};
use go::{find_go_name, resolve_go_module};
use java::find_java_name;
use namespace::{find_in_namespace, find_ruby_name, resolve_relative_path};
use python::{find_in_python_module, find_in_star_imports, find_submodule, resolve_python_module};
use rust::{find_in_rust_module, find_rust_name, resolve_rust_module};

pub use codec::{EdgeCounts, EncodedFileEdges, decode_edges, decode_keys};
pub use edges::{EdgeKind, FileEdges, SymbolEdge, UnknownReceiverCalls};
pub(crate) use edges::{hash_member_name, resolve_file};
pub use references::ResolvedReference;
pub(crate) use references::resolve_references;
pub(crate) use value::{AbstractValue, LookupResult, ModuleRef, TypeEnv};

use crate::facts::{DefId, Definition, StringId, TermId};
use crate::facts_builder::DeclarationSpace;
use crate::file_index::{DefQuery, DefRef, FileIndex, IndexedFile, NameId, TrackedView};
use crate::ids::FileId;
use crate::lang::LanguageFamily;

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// The evidence by which a reference was resolved, from the most to the least certain.
    pub enum ResolutionKind : "kind of resolution" {
        /// A precise index, written by a compiler of the language.
        Precise = "precise",
        /// The name is defined in the same file, in a scope that the reference sees.
        Scope = "scope",
        /// Through an import, a module or a package.
        Import = "import",
        /// A member of the own type, of one of its bases, or of a type that is named outright.
        Member = "member",
        /// By the declared or inferred type of the value.
        Type = "type",
        /// One of several overloads that the arguments do not distinguish.
        Overload = "overload",
        /// The only method with that name. Unlike the others, this is a guess.
        Unique = "unique",
    }
}

impl ResolutionKind {
    /// The probability that the target is right, per mille.
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

/// The depth of nested evaluations after which a term counts as unknown. Bounds the stack.
const MAX_RECURSION_DEPTH: u32 = 40;

/// The evaluations after which the rest of one reference counts as unknown. Bounds the time.
const MAX_STEPS_PER_REFERENCE: u32 = 4000;

/// The length of an inheritance chain after which a search stops. Bounds cycles.
const MAX_INHERITANCE_DEPTH: u32 = 24;

/// The nesting depth from which on a value counts as unknown. Values are compared and dropped by
/// recursion, and one that is made of cached values may be nested far more deeply than evaluations
/// are: that of `x3` after `x1 = [x0]; x2 = [x1]; x3 = [x2]`.
const MAX_VALUE_DEPTH: u32 = 64;

/// The context in which a term is evaluated.
#[derive(Clone, Debug)]
pub(crate) struct EvalContext {
    pub(crate) file: FileId,
    /// The values of type parameters.
    pub(crate) type_env: TypeEnv,
}

impl EvalContext {
    /// The context of a file in which no type parameter has a value.
    const fn of_file(file: FileId) -> Self {
        Self { file, type_env: None }
    }
}

/// Values of terms that are evaluated without values of type parameters, with their nesting depth.
type ValueCache =
    HashMap<(FileId, TermId, DeclarationSpace), (AbstractValue, u32), FastBuildHasher>;
/// Results of [`resolve_module`] by importing file and import path.
type ModuleCache = HashMap<(FileId, NameId), Option<ModuleRef>, FastBuildHasher>;

/// The state of resolving one file: its view of the index, caches, and the recursion budget.
pub(crate) struct Resolver<'w> {
    pub(crate) view: TrackedView<'w>,
    value_cache: RefCell<ValueCache>,
    module_cache: RefCell<ModuleCache>,
    /// The nested calls of [`Self::with_budget`] that are running.
    recursion_depth: Cell<u32>,
    /// The calls of [`Self::with_budget`] for the current reference.
    steps: Cell<u32>,
    /// The nesting depth of the deepest value that the current evaluation has used so far. The
    /// result may contain these values, so an upper bound of its own depth follows without walking
    /// through it.
    deepest_part: Cell<u32>,
}

impl<'w> Resolver<'w> {
    /// Starts the resolution of one file, which must have its references decoded.
    pub(crate) fn new(index: &'w FileIndex, own_file: &'w IndexedFile) -> Self {
        Self {
            view: TrackedView::new(index, own_file),
            value_cache: RefCell::default(),
            module_cache: RefCell::default(),
            recursion_depth: Cell::new(0),
            steps: Cell::new(0),
            deepest_part: Cell::new(0),
        }
    }

    fn name_text(&self, name: NameId) -> &'w str {
        self.view.names().text(name)
    }

    fn string_text(&self, indexed: &IndexedFile, string: StringId) -> &'w str {
        self.name_text(indexed.name_id(string))
    }

    fn family(&self, file: FileId) -> LanguageFamily {
        self.view.file(file).facts.lang.family()
    }

    fn def(&self, def_ref: DefRef) -> &'w Definition {
        self.view.file(def_ref.file).facts.def(def_ref.def)
    }

    /// Runs a step, or returns `fallback` if the recursion is too deep or the current reference has
    /// used up its steps.
    fn with_budget<T>(&self, fallback: T, body: impl FnOnce() -> T) -> T {
        let depth = self.recursion_depth.get();
        if depth >= MAX_RECURSION_DEPTH || self.steps.get() >= MAX_STEPS_PER_REFERENCE {
            return fallback;
        }
        self.recursion_depth.set(depth + 1);
        self.steps.set(self.steps.get() + 1);
        let result = body();
        self.recursion_depth.set(depth);
        result
    }

    /// Runs an evaluation and returns its value with its nesting depth. A value that would be
    /// nested too deeply is unknown. `eval` reports the values that it uses by [`Self::note_part_depth`]:
    /// if the evaluation of `[x]` uses the value of `x` with the depth 3, the list has the depth 4.
    fn with_depth(&self, eval: impl FnOnce() -> AbstractValue) -> (AbstractValue, u32) {
        // Evaluations are nested: the parts of the outer one are set aside meanwhile.
        let outer_deepest_part = self.deepest_part.replace(0);
        let value = eval();
        let depth = value.depth_around(self.deepest_part.get());
        self.deepest_part.set(outer_deepest_part);
        if depth > MAX_VALUE_DEPTH { (AbstractValue::Unknown, 0) } else { (value, depth) }
    }

    /// Records that the current evaluation uses a value of this depth.
    fn note_part_depth(&self, depth: u32) {
        self.deepest_part.set(self.deepest_part.get().max(depth));
    }

    /// Starts a new budget of steps, for the next reference.
    fn reset_steps(&self) {
        self.steps.set(0);
    }
}

/// The module that an import path denotes; `None` if it is in the project but does not exist, and for
/// manifests.
pub(crate) fn resolve_module(
    resolver: &Resolver<'_>,
    file: FileId,
    path: NameId,
) -> Option<ModuleRef> {
    if let Some(cached) = resolver.module_cache.borrow().get(&(file, path)) {
        return cached.clone();
    }
    let indexed = resolver.view.file(file);
    let text = resolver.name_text(path);
    let family = indexed.facts.lang.family();
    let module = match family {
        LanguageFamily::EcmaScript => resolve_ecmascript_module(resolver, indexed, text),
        LanguageFamily::Python => resolve_python_module(resolver, indexed, text),
        LanguageFamily::Rust => resolve_rust_module(resolver, indexed, text),
        LanguageFamily::Go => Some(resolve_go_module(resolver, indexed, text)),
        // Whether the namespace exists shows when a name is looked up in it.
        LanguageFamily::Java | LanguageFamily::CSharp | LanguageFamily::Php => {
            // The prefix keeps the namespaces of two languages apart: `java:app`.
            Some(ModuleRef::Namespace([family.rules().namespace_prefix, text].concat().into()))
        }
        LanguageFamily::C => Some(resolve_c_module(resolver, indexed, text)),
        LanguageFamily::Ruby => Some(resolve_relative_path(resolver, indexed, text)),
        // The imports of a manifest are settings, which their readers interpret.
        LanguageFamily::Manifest => None,
    };
    resolver.module_cache.borrow_mut().insert((file, path), module.clone());
    module
}

/// Looks up a name that no scope of the file binds. `module` is the module inside the file that the
/// name occurs in.
fn resolve_free_name(
    resolver: &Resolver<'_>,
    file: FileId,
    module: Option<DefId>,
    name: NameId,
    query: DefQuery,
) -> LookupResult {
    match resolver.family(file) {
        // A name of another module is always imported by its name, which a scope binds.
        LanguageFamily::EcmaScript | LanguageFamily::Manifest => LookupResult::NotFound,
        LanguageFamily::Python => find_in_star_imports(resolver, file, name, query),
        LanguageFamily::Rust => find_rust_name(resolver, file, module, name, query),
        LanguageFamily::Go => find_go_name(resolver, file, name, query),
        LanguageFamily::Java | LanguageFamily::CSharp | LanguageFamily::Php => {
            find_java_name(resolver, file, name, query)
        }
        LanguageFamily::C => find_c_name(resolver, file, module, name, query),
        LanguageFamily::Ruby => find_ruby_name(resolver, file, name, query),
    }
}

/// Looks up a name in a module from outside it.
fn find_in_module(
    resolver: &Resolver<'_>,
    module: &ModuleRef,
    name: NameId,
    query: DefQuery,
) -> LookupResult {
    match module {
        ModuleRef::External => LookupResult::External,
        ModuleRef::Namespace(namespace) => {
            find_in_namespace(resolver, namespace, name, query, None)
        }
        // A Python package without `__init__.py` has submodules only.
        ModuleRef::Folder(folder) => find_submodule(resolver, folder, name),
        ModuleRef::Inline(def) => find_in_inline_module(resolver, *def, name, query),
        ModuleRef::File(file) => match resolver.family(*file) {
            LanguageFamily::EcmaScript => find_export(resolver, *file, name, query),
            LanguageFamily::Python => find_in_python_module(resolver, *file, name, query),
            LanguageFamily::Rust => find_in_rust_module(resolver, *file, None, name, query),
            // C headers and Ruby files.
            LanguageFamily::C | LanguageFamily::Ruby => {
                find_at_top_level(resolver, *file, name, query)
            }
            // These languages import namespaces, so that none of their modules is a file.
            LanguageFamily::Go
            | LanguageFamily::Java
            | LanguageFamily::CSharp
            | LanguageFamily::Php
            | LanguageFamily::Manifest => LookupResult::NotFound,
        },
    }
}

/// Looks up a name in a module that is a block inside a file.
fn find_in_inline_module(
    resolver: &Resolver<'_>,
    module: DefRef,
    name: NameId,
    query: DefQuery,
) -> LookupResult {
    let indexed = resolver.view.file(module.file);
    let family = indexed.facts.lang.family();
    if family == LanguageFamily::Rust {
        return find_in_rust_module(resolver, module.file, Some(module.def), name, query);
    }
    // A C++ namespace is open: its blocks in other files are searched as well.
    let in_namespace = if family == LanguageFamily::C {
        let namespace = c_namespace_of(resolver, module.file, Some(module.def));
        find_in_namespace(resolver, &namespace, name, query, Some(module.file))
    } else {
        LookupResult::NotFound
    };
    in_namespace.or_else(|| match indexed.best_def_named(Some(module.def), name, query) {
        Some(def) => LookupResult::from_def(module.file, def, ResolutionKind::Import),
        None => LookupResult::NotFound,
    })
}

fn find_at_top_level(
    resolver: &Resolver<'_>,
    file: FileId,
    name: NameId,
    query: DefQuery,
) -> LookupResult {
    match resolver.view.file(file).best_def_named(None, name, query) {
        Some(def) => LookupResult::from_def(file, def, ResolutionKind::Import),
        None => LookupResult::NotFound,
    }
}
