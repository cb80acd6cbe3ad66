//! Rust modules: a tree of files below each crate root, and crates by the names of their packages.
//!
//! A module is a whole file or an inline `mod` block in it. Functions take it as `file` and
//! `module`; `module` is `None` for the file itself. Imports are items of a module, so a path may
//! lead through the imports of other files. For example:
//!
//! ```text
//! src/lib.rs      mod store; pub use store::open;
//! src/store.rs    pub fn open() {}
//! src/main.rs     acme::open();    the package `acme` → src/lib.rs → its import → src/store.rs:
//!                                  calls src/store.rs:open (import)
//! ```
//!
//! A [`ModuleRef`] is a module in any of its forms, `External` for one of a library. A
//! [`LookupResult`] is what a name led to: a definition, a module, a value, `External` (known to be
//! outside the project) or `NotFound` (no evidence). An [`AbstractValue`] is what is known of the
//! receiver of a method. A [`DefRef`] is a definition by file and position in its facts; a
//! [`DefQuery`] states whether a value or a type is wanted, and for a call the number of arguments.
//! `with_budget` returns its first argument when the resolver's limit of steps is reached, which
//! ends cyclic imports.

use super::bind::resolve_import;
use super::member::find_member;
use super::paths::{child_path, join_path, parent_folder};
use super::{
    AbstractValue, LookupResult, ModuleRef, ResolutionKind, Resolver, find_in_module,
    resolve_module,
};
use crate::facts::{DefId, DefKind, ExportEntry, ImportKind};
use crate::file_index::{DefQuery, DefRef, IndexedFile, MACRO_NAMESPACE, NameId};
use crate::ids::FileId;

/// The number of parent modules after which the search for the crate root stops.
const MAX_MODULE_DEPTH: u32 = 32;

/// The module of an import path, relative to the file's own module. The extractor writes `mod:name`
/// for a child module and `path:file` for one with a `#[path]` attribute.
pub(super) fn resolve_rust_module(
    resolver: &Resolver<'_>,
    indexed: &IndexedFile,
    path: &str,
) -> Option<ModuleRef> {
    if let Some(child) = path.strip_prefix("mod:") {
        return child_module_file(resolver, indexed, child).map(ModuleRef::File);
    }
    if let Some(path) = path.strip_prefix("path:") {
        let path = join_path(indexed.folder(), path)?;
        return resolver.view.file_at_path(&path).map(ModuleRef::File);
    }
    let mut segments = path.split("::").filter(|it| !it.is_empty());
    let first = segments.next().unwrap_or("self");
    let mut module = resolve_first_segment(resolver, indexed.id, first)?;
    for segment in segments {
        if module == ModuleRef::External {
            return Some(module);
        }
        module = resolve_next_segment(resolver, &module, segment)?;
    }
    Some(module)
}

/// The module that the first segment of a path denotes, seen from the top of a file.
fn resolve_first_segment(
    resolver: &Resolver<'_>,
    file: FileId,
    segment: &str,
) -> Option<ModuleRef> {
    match segment {
        "crate" => Some(ModuleRef::File(crate_root(resolver, file))),
        "self" => Some(ModuleRef::File(file)),
        "super" => parent_module_file(resolver, file).map(ModuleRef::File),
        _ => {
            let found = match resolver.view.names().find(segment) {
                Some(name) => find_rust_name(resolver, file, None, name, DefQuery::ANY_TYPE),
                None => LookupResult::NotFound,
            };
            match found {
                // A name that the project does not define is an external crate.
                LookupResult::NotFound => Some(ModuleRef::External),
                found => as_module_ref(found),
            }
        }
    }
}

/// The module that a further segment denotes within the module before it.
fn resolve_next_segment(
    resolver: &Resolver<'_>,
    module: &ModuleRef,
    segment: &str,
) -> Option<ModuleRef> {
    match (segment, module) {
        ("super", ModuleRef::File(file)) => {
            parent_module_file(resolver, *file).map(ModuleRef::File)
        }
        ("super", ModuleRef::Inline(block)) => {
            Some(inline_or_file(block.file, resolver.def(*block).parent))
        }
        ("self", module) => Some(module.clone()),
        _ => {
            let name = resolver.view.names().find(segment)?;
            as_module_ref(find_in_module(resolver, module, name, DefQuery::ANY_TYPE))
        }
    }
}

/// A module inside a file, or the file itself.
fn inline_or_file(file: FileId, module: Option<DefId>) -> ModuleRef {
    module.map_or(ModuleRef::File(file), |def| ModuleRef::Inline(DefRef { file, def }))
}

/// A lookup result as the start of the next path segment. A type qualifies: it contains its
/// variants.
fn as_module_ref(found: LookupResult) -> Option<ModuleRef> {
    match found {
        LookupResult::Module(module) => Some(module),
        LookupResult::External => Some(ModuleRef::External),
        LookupResult::Def(def, ..) => Some(ModuleRef::Inline(def)),
        LookupResult::Value(AbstractValue::Module(module)) => Some(module),
        // Values contain no names that a path could go on with.
        LookupResult::NotFound | LookupResult::Value(_) => None,
    }
}

/// Looks up an unqualified name: in the module, then among the crates.
pub(super) fn find_rust_name(
    resolver: &Resolver<'_>,
    file: FileId,
    module: Option<DefId>,
    name: NameId,
    query: DefQuery,
) -> LookupResult {
    match resolver.name_text(name) {
        "crate" => return LookupResult::Module(ModuleRef::File(crate_root(resolver, file))),
        "self" => return LookupResult::Module(inline_or_file(file, module)),
        "super" => {
            let own_module = inline_or_file(file, module);
            let parent = resolve_next_segment(resolver, &own_module, "super");
            return parent.map_or(LookupResult::NotFound, LookupResult::Module);
        }
        _ => {}
    }
    find_in_rust_module(resolver, file, module, name, query)
        .or_else(|| find_crate(resolver, file, name))
}

/// Looks up a name in a module: its items, then its imports, then glob imports, then macros.
pub(super) fn find_in_rust_module(
    resolver: &Resolver<'_>,
    file: FileId,
    module: Option<DefId>,
    name: NameId,
    query: DefQuery,
) -> LookupResult {
    resolver.with_budget(LookupResult::NotFound, || {
        let indexed = resolver.view.file(file);
        // 1. Items.
        if let Some(def) = indexed.best_def_named(module, name, query) {
            return LookupResult::from_def(file, def, ResolutionKind::Import);
        }
        // `module` may be a type, whose members are not only in its body: `Enum::Variant`.
        if let Some(def) = module
            && indexed.facts.def(def).kind.is_type()
        {
            let owner = AbstractValue::Type(DefRef { file, def }, None);
            return find_member(resolver, &owner, name, query, ResolutionKind::Member);
        }
        // 2. Imports by name.
        let mut imported_module = LookupResult::NotFound;
        for import in indexed.imports_named(module, name) {
            let found = resolve_import(resolver, file, indexed.facts.import(import), query);
            match found {
                LookupResult::NotFound => {}
                // A function may have the name of its module; a call prefers the function.
                LookupResult::Module(_) if query.is_call() => {
                    imported_module = imported_module.or_else(|| found);
                }
                found => return found,
            }
        }
        if !imported_module.is_not_found() {
            return imported_module;
        }
        // 3. Glob imports: `use store::*`.
        let found = find_in_glob_imports(resolver, indexed, module, name, query);
        // 4. Macros, which have a namespace of their own. The arguments of a macro call are not
        //    counted, so a query with a number of arguments does not mean a macro.
        if found.is_not_found() && query == DefQuery::ANY_VALUE {
            return find_crate_macro(resolver, file, name);
        }
        found
    })
}

/// Looks up a name in the modules that a module imports with `*`.
fn find_in_glob_imports(
    resolver: &Resolver<'_>,
    indexed: &IndexedFile,
    module: Option<DefId>,
    name: NameId,
    query: DefQuery,
) -> LookupResult {
    for import in indexed.star_imports(module) {
        let path = indexed.name_id(indexed.facts.import(import).module);
        let Some(target) = resolve_module(resolver, indexed.id, path) else { continue };
        // The file itself was searched already, unless the import is inside an inline module of it:
        // `use super::*` in a test module. The names of a library are not known.
        let was_searched = module.is_none() && target == ModuleRef::File(indexed.id);
        if was_searched || target == ModuleRef::External {
            continue;
        }
        let found = find_in_module(resolver, &target, name, query);
        if !matches!(found, LookupResult::NotFound | LookupResult::External) {
            return found;
        }
    }
    LookupResult::NotFound
}

/// Looks up a macro of the file's crate. A macro is visible in all of the crate, wherever it is
/// defined, and to other crates at the root. If several files define it, the target is unclear.
fn find_crate_macro(resolver: &Resolver<'_>, file: FileId, name: NameId) -> LookupResult {
    let macros = resolver.view.namespace_defs(MACRO_NAMESPACE, name);
    if macros.is_empty() {
        return LookupResult::NotFound;
    }
    let root = crate_root(resolver, file);
    let mut of_crate = macros.into_iter().filter(|it| crate_root(resolver, it.file) == root);
    let Some(first) = of_crate.next() else { return LookupResult::NotFound };
    // Two in one file are variants of one macro, chosen by `cfg`; two in different files are
    // unclear.
    if of_crate.next().is_some_and(|second| second.file != first.file) {
        return LookupResult::NotFound;
    }
    LookupResult::from_def(first.file, first.def, ResolutionKind::Import)
}

/// Looks up a method that the type itself lacks, in the traits that the file imports. Extension
/// traits are implemented generically, so the type alone does not lead to them. Only a single match
/// counts.
pub(super) fn find_extension_method(
    resolver: &Resolver<'_>,
    file: FileId,
    receiver: &AbstractValue,
    name: NameId,
    query: DefQuery,
) -> LookupResult {
    if !matches!(receiver, AbstractValue::Instance(..)) {
        return LookupResult::NotFound;
    }
    let indexed = resolver.view.file(file);
    let mut method: Option<DefRef> = None;
    for import in indexed.facts.imports.iter().filter(|it| it.kind == ImportKind::Named) {
        // A cheap filter before resolving: traits are capitalised.
        if !resolver.string_text(indexed, import.imported_name).starts_with(char::is_uppercase) {
            continue;
        }
        let found = resolve_import(resolver, file, import, DefQuery::ANY_TYPE);
        // A trait outside the project has no method to lead to.
        let LookupResult::Def(trait_ref, ..) = found else { continue };
        let trait_file = resolver.view.file(trait_ref.file);
        if trait_file.facts.def(trait_ref.def).kind != DefKind::Interface {
            continue;
        }
        let in_trait = trait_file.best_def_named(Some(trait_ref.def), name, query);
        let Some(def) = in_trait else { continue };
        let candidate = DefRef { file: trait_ref.file, def };
        // Two imported traits have such a method: the target is unclear.
        if method.is_some_and(|it| it != candidate) {
            return LookupResult::NotFound;
        }
        method = Some(candidate);
    }
    method.map_or(LookupResult::NotFound, |it| {
        LookupResult::from_def(it.file, it.def, ResolutionKind::Type)
    })
}

/// Looks up a crate of the project by its own name or by the name that a manifest gives it.
fn find_crate(resolver: &Resolver<'_>, file: FileId, name: NameId) -> LookupResult {
    let package = package_of_crate_name(resolver, file, resolver.name_text(name));
    for manifest in resolver.view.package_manifests(package) {
        let indexed = resolver.view.file(manifest);
        // A manifest of another language may have the same package name.
        if !indexed.path.ends_with("Cargo.toml") {
            continue;
        }
        let lib_path = manifest_entry(resolver, indexed, "path").unwrap_or("src/lib.rs");
        let root = join_path(indexed.folder(), lib_path);
        if let Some(root) = root.and_then(|it| resolver.view.file_at_path(&it)) {
            return LookupResult::Module(ModuleRef::File(root));
        }
    }
    LookupResult::NotFound
}

/// The package behind a crate name: the nearest manifest may rename it.
fn package_of_crate_name<'w>(resolver: &Resolver<'w>, file: FileId, name: &'w str) -> &'w str {
    let mut next_folder = Some(resolver.view.file(file).folder());
    while let Some(folder) = next_folder {
        if let Some(manifest) = resolver.view.file_at_path(&child_path(folder, "Cargo.toml"))
            && let Some(renamed) = manifest_entry(resolver, resolver.view.file(manifest), name)
        {
            return renamed;
        }
        next_folder = parent_folder(folder);
    }
    name
}

/// The value that the manifest extractor stored under a key: a renamed dependency, or the `path` of
/// the library.
fn manifest_entry<'w>(
    resolver: &Resolver<'w>,
    manifest: &IndexedFile,
    key: &str,
) -> Option<&'w str> {
    manifest.facts.exports.iter().find_map(|it| match it {
        ExportEntry::ModuleAs { name, module } if resolver.string_text(manifest, *name) == key => {
            Some(resolver.string_text(manifest, *module))
        }
        _ => None,
    })
}

/// The file of a child module: `name.rs` or `name/mod.rs`, next to a root file, otherwise in the
/// folder named after the declaring file.
fn child_module_file(resolver: &Resolver<'_>, indexed: &IndexedFile, name: &str) -> Option<FileId> {
    let (folder, stem) = (indexed.folder(), file_stem(&indexed.path));
    let own_folder = child_path(folder, stem);
    let is_root = matches!(stem, "lib" | "main" | "mod");
    // A file that is none of these may still be a root: that of a test or an example.
    let folders =
        if is_root { vec![folder.to_owned()] } else { vec![own_folder, folder.to_owned()] };
    folders.iter().find_map(|folder| {
        let file = resolver.view.file_at_path(&child_path(folder, &format!("{name}.rs")));
        file.or_else(|| resolver.view.file_at_path(&child_path(folder, &format!("{name}/mod.rs"))))
    })
}

/// The file that declares this file as its child module.
fn parent_module_file(resolver: &Resolver<'_>, file: FileId) -> Option<FileId> {
    let indexed = resolver.view.file(file);
    let (folder, name) = match file_stem(&indexed.path) {
        // Crate roots.
        "lib" | "main" | "build" => return None,
        "mod" => {
            let folder = indexed.folder();
            (parent_folder(folder)?, folder.rsplit('/').next()?)
        }
        stem => (indexed.folder(), stem),
    };
    let mut candidates: Vec<String> =
        ["lib.rs", "main.rs", "mod.rs"].iter().map(|it| child_path(folder, it)).collect();
    if !folder.is_empty() {
        candidates.push(format!("{folder}.rs"));
    }
    // The position alone is not enough: the parent must declare the module.
    let declares_module = |parent: &FileId| {
        let parent = resolver.view.file(*parent);
        let mut children = parent.facts.imports.iter().filter(|it| it.kind == ImportKind::Child);
        children.any(|it| resolver.string_text(parent, it.local_name) == name)
    };
    candidates.iter().filter_map(|it| resolver.view.file_at_path(it)).find(declares_module)
}

/// The file at the root of the crate that a file belongs to.
fn crate_root(resolver: &Resolver<'_>, file: FileId) -> FileId {
    let mut root = file;
    for _ in 0..MAX_MODULE_DEPTH {
        match parent_module_file(resolver, root) {
            Some(parent) if parent != root => root = parent,
            _ => break,
        }
    }
    root
}

fn file_stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".rs").unwrap_or(name)
}
