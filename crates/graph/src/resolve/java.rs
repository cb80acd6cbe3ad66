//! Java packages, and the namespaces of C# and PHP, which work alike: open namespaces, to which any
//! number of files add definitions. The index finds a definition by namespace and name.
//!
//! This file looks up a name that is neither defined nor imported by name in its file. With
//! `package a; import b.*; class User { void save() { new Repo(); } }` the name `Repo` is looked up
//! in `a`, then in `b`. If `b/Repo.java` defines it, the edge is
//! `User.save instantiates Repo (import)`.
//!
//! PHP needs no rule of its own: its namespaces are looked up like Java packages. A path such as
//! `a.Outer` is called a namespace too, although it may name a class whose members are imported
//! (`import a.Outer.*`).
//!
//! A [`LookupResult`] is `NotFound` without any evidence, and `External` if the name comes from
//! outside the project. A class of the project that extends one of a library is such a case: any name
//! may be inherited from there.

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
    // Files of these languages always have one: the default package has an empty name.
    let Some(own_namespace) = indexed.namespace.as_deref() else { return LookupResult::NotFound };
    let is_csharp = indexed.facts.lang.family() == LanguageFamily::CSharp;
    // The own package, from the innermost namespace outwards. Any result ends the search. `External`
    // does not occur: it needs a path that names a class, and a file cannot be in a class.
    let mut next_namespace = Some(own_namespace);
    while let Some(namespace) = next_namespace {
        // `Some(file)`: of several definitions, the one nearest to this file wins.
        let found = find_in_namespace(resolver, namespace, name, query, Some(file));
        if !found.is_not_found() {
            return found;
        }
        // An inner namespace of C# sees the outer ones; a Java package does not.
        next_namespace = match namespace.rsplit_once('.') {
            Some((outer, _)) if is_csharp => Some(outer),
            _ => None,
        };
    }
    // The packages that are imported as a whole, at the top level of the file (`None`).
    for import in indexed.star_imports(None) {
        let path = indexed.name_id(indexed.facts.import(import).module);
        if let Some(ModuleRef::Namespace(namespace)) = resolve_module(resolver, file, path) {
            let found = find_in_namespace(resolver, &namespace, name, query, Some(file));
            // `External` comes from `import a.Outer.*`, where `Outer` is a class that extends one of a
            // library. That is too weak to end the search, because another import may lead to a
            // definition of the project.
            if !matches!(found, LookupResult::NotFound | LookupResult::External) {
                return found;
            }
        }
    }
    LookupResult::NotFound
}
