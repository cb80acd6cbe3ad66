//! Java packages, and the namespaces of C# and PHP, which work alike: open namespaces by name.

use super::namespace::find_in_namespace;
use super::{LookupResult, ModuleRef, Resolver, resolve_module};
use crate::file_index::{DefQuery, NameId};
use crate::ids::FileId;
use crate::lang::LanguageFamily;

/// Looks up an unqualified name: in the own package (in C# also in the enclosing ones), then in
/// those imported as a whole (`import a.b.*`, `using A.B`).
pub(super) fn find_java_name(
    resolver: &Resolver<'_>,
    file: FileId,
    name: NameId,
    query: DefQuery,
) -> LookupResult {
    let indexed = resolver.view.file(file);
    let Some(own_namespace) = indexed.namespace.as_deref() else { return LookupResult::NotFound };
    let is_csharp = indexed.facts.lang.family() == LanguageFamily::CSharp;
    let mut next_namespace = Some(own_namespace);
    while let Some(namespace) = next_namespace {
        let found = find_in_namespace(resolver, namespace, name, query, Some(file));
        if !found.is_not_found() {
            return found;
        }
        // An inner namespace of C# sees the outer ones; a Java package does not.
        let outer = namespace.rsplit_once('.').filter(|_| is_csharp);
        next_namespace = outer.map(|it| it.0);
    }
    for import in indexed.star_imports(None) {
        let path = indexed.name_id(indexed.facts.import(import).module);
        if let Some(ModuleRef::Namespace(namespace)) = resolve_module(resolver, file, path) {
            let found = find_in_namespace(resolver, &namespace, name, query, Some(file));
            if !matches!(found, LookupResult::NotFound | LookupResult::External) {
                return found;
            }
        }
    }
    LookupResult::NotFound
}
