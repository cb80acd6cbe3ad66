//! Go packages: every folder is one. Its import path is the path in the `go.mod` of its module,
//! followed by the folder relative to that file. In the index a package is the namespace
//! `go:folder`.

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
    // `a/bc` does not belong to the module `a/b`.
    let rest = rest.strip_prefix('/').or(rest.is_empty().then_some(""))?;
    Some(ModuleRef::Namespace(format!("go:{}", join_path(indexed.folder(), rest)?).into()))
}

/// Looks up an unqualified name: in the own package, then in dot imports.
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
                if !matches!(found, LookupResult::NotFound | LookupResult::External) {
                    return found;
                }
            }
        }
        LookupResult::NotFound
    })
}
