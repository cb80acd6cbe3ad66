//! The edges that leave a file: its references, imports, bases, overrides, and in C and C++ the
//! declarations of its definitions.
//!
//! [`resolve_file`] is the entry point of the resolver. `symbol_graph.rs` calls it for every new or
//! affected file and keeps the result in encoded form. For example, the lines of `admin.ts` below
//! have these edges, each with its evidence, the [`ResolutionKind`]:
//!
//! ```text
//! import { User } from './user'     admin.ts imports user.ts (import)
//!                                   admin.ts imports_symbol user.ts:User (import)
//! class Admin extends User {        Admin extends User (import)
//!   save() { super.save() } }       Admin.save calls User.save (member)
//!                                   Admin.save overrides User.save (member)
//! ```
//!
//! A *term* is an expression or a type as the facts store it. `bind_term` finds the definition that
//! a term names, as a [`LookupResult`]: `External` is known to be outside the project, `NotFound`
//! is without evidence. `eval_type` gives an [`AbstractValue`]: `Type` is a type of the project
//! itself, `Instance` an object of it. An [`EvalContext`] is the file of a term; a [`DefRef`] is a
//! definition by file and position in its facts; a [`LookupKey`] is the hash of a lookup, by which
//! an update finds the files to resolve again. `reset_steps` starts a new limit of resolution
//! steps. All files are read through `resolver.view`, which records the key of every lookup.

use std::collections::{BTreeMap, HashSet};

use model::closed;
use model::hasher::FastBuildHasher;

use super::bind::{bind_term, resolve_import};
use super::c::declarations_of_definition;
use super::eval::{base_instances, eval_type};
use super::member::find_member;
use super::references::resolve_references_with_alternatives;
use super::{
    AbstractValue, EvalContext, LookupResult, ModuleRef, ResolutionKind, Resolver, resolve_module,
};
use crate::facts::{DefFlags, DefId, DefKind, ExportEntry, FnvHasher, ImportKind, RefKind, Term};
use crate::file_index::{DefQuery, DefRef, FileIndex, LookupKey};
use crate::ids::FileId;
use crate::lang::{LanguageFamily, SourceLanguage};

// closed! adds ALL, slug(), from_slug() and parse() to the enum; Display and serde use the slug.
// The text after the colon is the enum's name in error messages.
closed! {
    /// The relation between two symbols.
    pub enum EdgeKind : "kind of edge" {
        Calls = "calls",
        Instantiates = "instantiates",
        /// Named without being called: passed on, stored, compared.
        Uses = "uses",
        TypedAs = "typed_as",
        Extends = "extends",
        /// A type implements an interface; in C and C++ also a definition its declaration.
        Implements = "implements",
        Overrides = "overrides",
        /// From file to file.
        Imports = "imports",
        /// From a file to an imported symbol. Unlike `Imports`, it ends at a definition.
        ImportsSymbol = "imports_symbol",
    }
}

/// One edge of a file. An end without a definition is the file itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolEdge {
    pub from: Option<DefId>,
    pub to_file: FileId,
    pub to: Option<DefId>,
    pub kind: EdgeKind,
    pub resolution: ResolutionKind,
    /// The line of the first reference.
    pub line: u32,
}

/// All edges that leave a file, with the lookups they depend on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileEdges {
    pub edges: Vec<SymbolEdge>,
    /// Sorted.
    pub lookup_keys: Vec<LookupKey>,
    /// The number of references to targets known to be outside the project.
    pub n_external: u32,
    /// The number of calls without a target.
    pub n_unresolved: u32,
    /// Those of them that call a member of an unknown value, sorted.
    pub unknown_receivers: Vec<UnknownReceiverCalls>,
}

/// The calls of a file that call one member of unknown values: `x.run()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnknownReceiverCalls {
    /// The hash of the member's name, by `hash_member_name`.
    pub name_hash: u32,
    pub n_calls: u32,
}

/// The hash by which unresolved calls of a member are counted. Two names with one hash are counted
/// together, which is rare and only affects a number.
pub(crate) fn hash_member_name(name: &str) -> u32 {
    let mut hasher = FnvHasher::default();
    hasher.write_bytes(name.as_bytes());
    // The upper half is the better mixed one.
    (hasher.0 >> 32) as u32
}

/// The kind of evidence of an edge and the line where it was found.
#[derive(Clone, Copy)]
struct Evidence {
    resolution: ResolutionKind,
    line: u32,
}

/// Collects the edges of a file, each once.
struct EdgeCollector {
    file: FileId,
    seen: HashSet<(Option<DefId>, FileId, Option<DefId>, EdgeKind), FastBuildHasher>,
    edges: Vec<SymbolEdge>,
}

impl EdgeCollector {
    fn add(&mut self, edge: SymbolEdge) {
        // A definition that refers to itself is no news, except for recursive calls.
        let is_self_loop = (edge.to_file, edge.to) == (self.file, edge.from);
        let is_dropped = is_self_loop && edge.kind != EdgeKind::Calls;
        if !is_dropped && self.seen.insert((edge.from, edge.to_file, edge.to, edge.kind)) {
            self.edges.push(edge);
        }
    }

    /// Adds an edge from a definition, or the file itself, to a definition.
    fn add_between(
        &mut self,
        from: Option<DefId>,
        to: DefRef,
        kind: EdgeKind,
        Evidence { resolution, line }: Evidence,
    ) {
        self.add(SymbolEdge { from, to_file: to.file, to: Some(to.def), kind, resolution, line });
    }

    /// Adds an import of the file.
    fn add_import(&mut self, to_file: FileId, to: Option<DefId>, kind: EdgeKind, line: u32) {
        let resolution = ResolutionKind::Import;
        self.add(SymbolEdge { from: None, to_file, to, kind, resolution, line });
    }
}

/// Resolves one file: collects its edges and the lookups they depend on.
pub(crate) fn resolve_file(index: &FileIndex, file: FileId) -> FileEdges {
    // The index holds references encoded; this copy of the file has them decoded.
    let Some(own_file) = index.with_references(file) else { return FileEdges::default() };
    let resolver = Resolver::new(index, &own_file);
    let mut acc = EdgeCollector { file, seen: HashSet::default(), edges: Vec::new() };
    let counts = add_reference_edges(&mut acc, &resolver);
    add_import_edges(&mut acc, &resolver);
    add_base_edges(&mut acc, &resolver);
    if own_file.facts.lang.family() == LanguageFamily::C {
        add_declaration_edges(&mut acc, &resolver);
    }
    add_override_edges(&mut acc, &resolver);
    // The edges are stored, so their order must not depend on the order of evaluation.
    acc.edges.sort_unstable();
    let lookup_keys = resolver.view.into_keys();
    let ReferenceCounts { n_external, n_unresolved, unknown_receivers } = counts;
    let to_calls = |(name_hash, n_calls)| UnknownReceiverCalls { name_hash, n_calls };
    let unknown_receivers = unknown_receivers.into_iter().map(to_calls).collect();
    FileEdges { edges: acc.edges, lookup_keys, n_external, n_unresolved, unknown_receivers }
}

/// References of a file without an edge.
#[derive(Default)]
struct ReferenceCounts {
    n_external: u32,
    n_unresolved: u32,
    /// By the hash of the name, in its order.
    unknown_receivers: BTreeMap<u32, u32>,
}

/// Adds the edges of all references and counts those without a target.
fn add_reference_edges(acc: &mut EdgeCollector, resolver: &Resolver<'_>) -> ReferenceCounts {
    let indexed = resolver.view.file(acc.file);
    let targets = resolve_references_with_alternatives(resolver, acc.file);
    // Alternatives, the other overloads that a call may mean, come first. Of two equal edges the
    // collector keeps the first, so the weaker evidence stays: an ambiguous call must not look
    // certain. All alternatives are functions, so the edge is never `Instantiates`.
    for (index, to) in targets.alternatives {
        let reference = &indexed.refs[index];
        let resolution = ResolutionKind::Overload;
        let evidence = Evidence { resolution, line: reference.position.line };
        acc.add_between(reference.enclosing_def, to, EdgeKind::Calls, evidence);
    }
    let mut counts = ReferenceCounts::default();
    for (reference, outcome) in indexed.refs.iter().zip(&targets.references) {
        let Some((to, resolution)) = outcome.target else {
            // The total of unresolved references covers calls only.
            if outcome.is_external {
                counts.n_external += 1;
            } else if reference.kind == RefKind::Call {
                counts.n_unresolved += 1;
                if let Term::Member(_, name) = indexed.facts.term(reference.term) {
                    let hash = hash_member_name(resolver.string_text(indexed, name));
                    *counts.unknown_receivers.entry(hash).or_default() += 1;
                }
            }
            continue;
        };
        let kind = match reference.kind {
            RefKind::Call if resolver.def(to).kind.is_type() => EdgeKind::Instantiates,
            RefKind::Call => EdgeKind::Calls,
            RefKind::New => EdgeKind::Instantiates,
            RefKind::Type => EdgeKind::TypedAs,
            RefKind::Use => EdgeKind::Uses,
        };
        let evidence = Evidence { resolution, line: reference.position.line };
        acc.add_between(reference.enclosing_def, to, kind, evidence);
    }
    counts
}

/// Adds an edge to every imported file and to every imported symbol.
fn add_import_edges(acc: &mut EdgeCollector, resolver: &Resolver<'_>) {
    let file = acc.file;
    let indexed = resolver.view.file(file);
    let facts = &indexed.facts;
    // The exports of a manifest are settings, not modules.
    if facts.lang == SourceLanguage::Manifest {
        return;
    }
    let re_exported = facts.exports.iter().filter_map(|it| match it {
        ExportEntry::From { module, .. }
        | ExportEntry::ModuleAs { module, .. }
        | ExportEntry::Star { module } => Some(*module),
        ExportEntry::Local { .. } => None,
    });
    for module in re_exported {
        resolver.reset_steps();
        let module = resolve_module(resolver, file, indexed.name_id(module));
        if let Some(to) = module.as_ref().and_then(file_of_module) {
            // The facts record no line of a re-export.
            acc.add_import(to, None, EdgeKind::Imports, 0);
        }
    }
    for import in &facts.imports {
        resolver.reset_steps();
        // First the file of the module, then the symbol in it.
        let line = import.line;
        let module = resolve_module(resolver, file, indexed.name_id(import.module));
        if let Some(to) = module.as_ref().and_then(file_of_module) {
            acc.add_import(to, None, EdgeKind::Imports, line);
        }
        // These import a module and no single symbol.
        if matches!(import.kind, ImportKind::Star | ImportKind::Effect | ImportKind::Child) {
            continue;
        }
        let found = resolve_import(resolver, file, import, DefQuery::ANY_VALUE)
            .or_else(|| resolve_import(resolver, file, import, DefQuery::ANY_TYPE));
        match found {
            LookupResult::Def(to, ..) => {
                // With re-exports the definition is in another file than the imported module; that
                // file gets an edge as well.
                acc.add_import(to.file, None, EdgeKind::Imports, line);
                acc.add_import(to.file, Some(to.def), EdgeKind::ImportsSymbol, line);
            }
            LookupResult::Module(module) => {
                if let Some(to) = file_of_module(&module) {
                    acc.add_import(to, None, EdgeKind::Imports, line);
                }
            }
            LookupResult::NotFound | LookupResult::External | LookupResult::Value(_) => {}
        }
    }
}

/// The file that a module is or is inside of; `None` if it is outside the project or not one file.
const fn file_of_module(module: &ModuleRef) -> Option<FileId> {
    match module {
        ModuleRef::File(file) => Some(*file),
        ModuleRef::Inline(block) => Some(block.file),
        ModuleRef::Namespace(_) | ModuleRef::Folder(_) | ModuleRef::External => None,
    }
}

/// Adds the edges from types to their bases.
fn add_base_edges(acc: &mut EdgeCollector, resolver: &Resolver<'_>) {
    let indexed = resolver.view.file(acc.file);
    let context = EvalContext::of_file(acc.file);
    for base in &indexed.facts.bases {
        resolver.reset_steps();
        // Some extractors record a base as an instance of the type.
        let type_term = match indexed.facts.term(base.term) {
            Term::InstanceOf(inner) => inner,
            _ => base.term,
        };
        let found = bind_term(resolver, &context, type_term, DefQuery::ANY_TYPE);
        // A base outside the project has no symbol to lead to.
        let LookupResult::Def(to, _, resolution) = found else { continue };
        let def = indexed.facts.def(base.def);
        // Not every language distinguishes `extends` and `implements` in its syntax.
        let is_interface = resolver.def(to).kind == DefKind::Interface;
        let implements = base.implements || (is_interface && def.kind != DefKind::Interface);
        let kind = if implements { EdgeKind::Implements } else { EdgeKind::Extends };
        let evidence = Evidence { resolution, line: def.position.line };
        acc.add_between(Some(base.def), to, kind, evidence);
    }
}

/// Adds the edges from methods to the inherited methods that they override.
fn add_override_edges(acc: &mut EdgeCollector, resolver: &Resolver<'_>) {
    let file = acc.file;
    let indexed = resolver.view.file(file);
    let context = EvalContext::of_file(file);
    for (id, def) in indexed.facts.defs_with_ids() {
        // Constructors have the same name as those of the base and do not override them.
        if def.kind != DefKind::Method || def.flags.has(DefFlags::CONSTRUCTOR) {
            continue;
        }
        resolver.reset_steps();
        let class = match (def.owner_type, def.parent) {
            // A method outside the body of its type, which `owner_type` names.
            (Some(owner), _) => match eval_type(resolver, &context, owner) {
                AbstractValue::Type(class, _) | AbstractValue::Instance(class, _) => class,
                // The type is outside the project or unknown.
                _ => continue,
            },
            (None, Some(parent)) if indexed.facts.def(parent).kind.is_type() => {
                DefRef { file, def: parent }
            }
            // A method without a type has no bases.
            (None, _) => continue,
        };
        let no_type_env = None;
        let bases = base_instances(resolver, class, &no_type_env);
        // Any number of arguments: an override may add optional parameters.
        let (name, query) = (indexed.name_id(def.name), DefQuery::ANY_VALUE);
        let found = find_member(resolver, &bases, name, query, ResolutionKind::Member);
        if let LookupResult::Def(to, ..) = found {
            let resolution = ResolutionKind::Member;
            let evidence = Evidence { resolution, line: def.position.line };
            acc.add_between(Some(id), to, EdgeKind::Overrides, evidence);
        }
    }
}

/// Adds the edges from C and C++ definitions to their declarations, so that a query for one finds
/// the other.
fn add_declaration_edges(acc: &mut EdgeCollector, resolver: &Resolver<'_>) {
    let indexed = resolver.view.file(acc.file);
    for (id, def) in indexed.facts.defs_with_ids() {
        if !def.kind.is_callable() || def.flags.has(DefFlags::DECLARATION) {
            continue;
        }
        resolver.reset_steps();
        let definition = DefRef { file: acc.file, def: id };
        for to in declarations_of_definition(resolver, definition) {
            let resolution = ResolutionKind::Member;
            let evidence = Evidence { resolution, line: def.position.line };
            acc.add_between(Some(definition.def), to, EdgeKind::Implements, evidence);
        }
    }
}
