//! Go packages: every folder is one. Its import path is the module path that a `go.mod` declares,
//! followed by the folder relative to that file. In the index a package is the namespace
//! `go:folder`, to which all files of the folder add their definitions.
//!
//! For example, with `module example.com/app` in `server/go.mod`, the import
//! `"example.com/app/store"` means the folder `server/store`, in the index `go:server/store`. A
//! call `store.Open()` then becomes the edge `main calls Open (import)`. An import path that no
//! `go.mod` of the project covers is [`ModuleRef::External`].

use super::namespace::find_in_own_namespace;
use super::paths::{child_path, join_path, parent_folder};
use super::{LookupResult, ModuleRef, Resolver, find_in_module, resolve_module};
use crate::file_index::{DefQuery, IndexedFile, NameId};
use crate::ids::FileId;

/// The package of an import path.
pub(super) fn resolve_go_module(
    resolver: &Resolver<'_>,
    indexed: &IndexedFile,
    path: &str,
) -> ModuleRef {
    // The enclosing module comes first: several modules may claim the same prefix.
    let mut next_folder = Some(indexed.folder());
    while let Some(folder) = next_folder {
        if let Some(manifest) = resolver.view.file_at_path(&child_path(folder, "go.mod"))
            && let Some(package) = package_in_go_module(resolver, manifest, path)
        {
            return package;
        }
        next_folder = parent_folder(folder);
    }
    // Otherwise the module with the longest matching path.
    let mut next_prefix = Some(path);
    while let Some(prefix) = next_prefix {
        for manifest in resolver.view.package_manifests(prefix) {
            if let Some(package) = package_in_go_module(resolver, manifest, path) {
                return package;
            }
        }
        next_prefix = prefix.rsplit_once('/').map(|it| it.0);
    }
    ModuleRef::External
}

/// The package of an import path if it belongs to the module of this `go.mod`.
fn package_in_go_module(
    resolver: &Resolver<'_>,
    manifest: FileId,
    path: &str,
) -> Option<ModuleRef> {
    let indexed = resolver.view.file(manifest);
    // A manifest of another language may have the same package name.
    if !indexed.path.ends_with("go.mod") {
        return None;
    }
    let module = resolver.string_text(indexed, indexed.facts.namespace?);
    let rest = path.strip_prefix(module)?;
    let folder_in_module = match rest.strip_prefix('/') {
        Some(folder) => folder,
        // The package at the root of the module.
        None if rest.is_empty() => "",
        // `a/bc` does not belong to the module `a/b`.
        None => return None,
    };
    let folder = join_path(indexed.folder(), folder_in_module)?;
    Some(ModuleRef::Namespace(format!("go:{folder}").into()))
}

/// Looks up an unqualified name: in the own package, then in dot imports (`import . "a/b"`), which
/// the facts record as star imports.
pub(super) fn find_go_name(
    resolver: &Resolver<'_>,
    file: FileId,
    name: NameId,
    query: DefQuery,
) -> LookupResult {
    let indexed = resolver.view.file(file);
    find_in_own_namespace(resolver, file, name, query).or_else(|| {
        for import in indexed.star_imports(None) {
            let path = indexed.name_id(indexed.facts.import(import).module);
            if let Some(module) = resolve_module(resolver, file, path) {
                let found = find_in_module(resolver, &module, name, query);
                // An external package may define any name, which is no evidence that it does.
                if !matches!(found, LookupResult::NotFound | LookupResult::External) {
                    return found;
                }
            }
        }
        LookupResult::NotFound
    })
}
