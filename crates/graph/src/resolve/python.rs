//! Python modules: the dotted path of an import is a path of folders below a search root.
//!
//! The search roots of a project are not recorded anywhere. Candidates are the folders above the
//! importing file that are not packages themselves, and `src` and `lib` in them. For example, in
//! `app/tests/test_db.py` (a package is a folder with `__init__.py`; `app` and `tests` are none):
//!
//! ```text
//! from pkg.db import open    tries app/tests/pkg/db.py, …, app/pkg/db.py, app/src/pkg/db.py, …
//! open()                     found in app/src/pkg/db.py: calls app/src/pkg/db.py:open (import)
//! ```
//!
//! A [`ModuleRef`] is the module of an import: a file, a folder without `__init__.py`, or
//! `External`, outside the project. `None` in its place means that the project has the package but
//! not the module. A [`LookupResult`] is what a name led to, `NotFound` without evidence.
//! `with_budget` returns its first argument when the resolver's limit of steps is reached: modules
//! may import one another in a cycle.

use super::bind::resolve_import;
use super::paths::{child_path, join_path, parent_folder};
use super::{LookupResult, ModuleRef, ResolutionKind, Resolver, resolve_module};
use crate::file_index::{DefQuery, IndexedFile, NameId};
use crate::ids::FileId;

/// The module of a dotted path, absolute or relative to the importing file.
pub(super) fn resolve_python_module(
    resolver: &Resolver<'_>,
    indexed: &IndexedFile,
    module: &str,
) -> Option<ModuleRef> {
    let dotted_path = module.trim_start_matches('.');
    let path = dotted_path.replace('.', "/");
    let n_leading_dots = module.len() - dotted_path.len();
    if n_leading_dots > 0 {
        let mut folder = indexed.folder();
        // One dot is the own package; each further dot is one level up.
        for _ in 1..n_leading_dots {
            folder = parent_folder(folder)?;
        }
        let path = join_path(folder, &path)?;
        // The path stays in the project, so without a file it can only be a folder.
        let file = python_file_at(resolver, &path);
        return Some(file.unwrap_or_else(|| ModuleRef::Folder(path.into())));
    }
    let top_package = path.split('/').next().unwrap_or(&path);
    let mut next_folder = Some(indexed.folder());
    while let Some(folder) = next_folder {
        next_folder = parent_folder(folder);
        // A folder inside a package is never a search root.
        if resolver.view.file_at_path(&child_path(folder, "__init__.py")).is_some() {
            continue;
        }
        for root in [folder.to_owned(), child_path(folder, "src"), child_path(folder, "lib")] {
            if let Some(module) = python_file_at(resolver, &child_path(&root, &path)) {
                return Some(module);
            }
            // The package is here but has no such module, so no other root is searched.
            if python_file_at(resolver, &child_path(&root, top_package)).is_some() {
                return None;
            }
        }
    }
    find_package_elsewhere(resolver, top_package, &path)
}

/// A module of a package that is in none of the enclosing folders: another part of the project.
fn find_package_elsewhere(
    resolver: &Resolver<'_>,
    top_package: &str,
    path: &str,
) -> Option<ModuleRef> {
    let mut roots: Vec<&str> = Vec::new();
    for file in resolver.view.python_packages(top_package) {
        let folder = resolver.view.file(file).folder();
        // `__init__.py` at the top of the project: its folder has no name to import.
        let Some(root) = parent_folder(folder) else { continue };
        let is_inside_package =
            resolver.view.file_at_path(&child_path(root, "__init__.py")).is_some();
        if !is_inside_package && !roots.contains(&root) {
            roots.push(root);
        }
    }
    match roots.as_slice() {
        [root] => python_file_at(resolver, &child_path(root, path)),
        // No package with the name, or several, of which none is more likely than the others.
        _ => Some(ModuleRef::External),
    }
}

/// The file of a module: `path.py`, the package `path/__init__.py` or the stub `path.pyi`.
fn python_file_at(resolver: &Resolver<'_>, path: &str) -> Option<ModuleRef> {
    let file = resolver.view.file_at_path(&format!("{path}.py"));
    let file = file.or_else(|| resolver.view.file_at_path(&child_path(path, "__init__.py")));
    file.or_else(|| resolver.view.file_at_path(&format!("{path}.pyi"))).map(ModuleRef::File)
}

/// Looks up a module in a folder.
pub(super) fn find_submodule(resolver: &Resolver<'_>, folder: &str, name: NameId) -> LookupResult {
    match python_file_at(resolver, &child_path(folder, resolver.name_text(name))) {
        Some(module) => LookupResult::Module(module),
        None => LookupResult::NotFound,
    }
}

/// Looks up a name in a module from outside it. Imported names count: Python re-exports them.
pub(super) fn find_in_python_module(
    resolver: &Resolver<'_>,
    file: FileId,
    name: NameId,
    query: DefQuery,
) -> LookupResult {
    resolver.with_budget(LookupResult::NotFound, || {
        let indexed = resolver.view.file(file);
        if let Some(def) = indexed.best_def_named(None, name, query) {
            return LookupResult::from_def(file, def, ResolutionKind::Import);
        }
        // A later import of the same name replaces an earlier one.
        let import = indexed.imports_named(None, name).last();
        let imported = import.map_or(LookupResult::NotFound, |it| {
            resolve_import(resolver, file, indexed.facts.import(it), query)
        });
        if !imported.is_not_found() {
            return imported;
        }
        // `from pkg import db` may name the file `pkg/db.py`.
        if indexed.path.ends_with("__init__.py") {
            let submodule = find_submodule(resolver, indexed.folder(), name);
            if !submodule.is_not_found() {
                return submodule;
            }
        }
        find_in_star_imports(resolver, file, name, query)
    })
}

/// Looks up a name in the modules that a file imports with `*`.
pub(super) fn find_in_star_imports(
    resolver: &Resolver<'_>,
    file: FileId,
    name: NameId,
    query: DefQuery,
) -> LookupResult {
    let indexed = resolver.view.file(file);
    for import in indexed.star_imports(None) {
        let path = indexed.name_id(indexed.facts.import(import).module);
        let found = match resolve_module(resolver, file, path) {
            Some(ModuleRef::File(from)) if from != file => {
                find_in_python_module(resolver, from, name, query)
            }
            // The file itself was searched before; the names of a library are not known.
            _ => LookupResult::NotFound,
        };
        if !found.is_not_found() {
            return found.with_resolution(ResolutionKind::Import);
        }
    }
    LookupResult::NotFound
}
