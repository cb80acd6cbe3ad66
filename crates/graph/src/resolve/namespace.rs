//! Open namespaces, to which many files add definitions, and files included by relative path.

use super::member::find_member;
use super::paths::{child_path, join_path, parent_folder};
use super::{AbstractValue, LookupResult, ModuleRef, ResolutionKind, Resolver, resolve_module};
use crate::facts::{DefFlags, DefKind};
use crate::file_index::{DefQuery, DefRef, IndexedFile, NameId};
use crate::ids::FileId;
use crate::lang::{LanguageFamily, SourceLanguage};

/// Looks up a name in a namespace. Of several definitions, the one that fits the query best wins,
/// then the one whose path shares the longest prefix with the file `near`.
pub(super) fn find_in_namespace(
    resolver: &Resolver<'_>,
    namespace: &str,
    name: NameId,
    query: DefQuery,
    near: Option<FileId>,
) -> LookupResult {
    let defs = resolver.view.namespace_defs(namespace, name);
    let near = near.map_or("", |it| resolver.view.file(it).folder());
    let rank = |it: &&DefRef| {
        let indexed = resolver.view.file(it.file);
        let def = indexed.facts.def(it.def);
        let fits = !query.is_call() || def.accepts(query.n_args);
        let n_shared = near.bytes().zip(indexed.path.bytes()).take_while(|it| it.0 == it.1).count();
        // In C++ a type and a function may have the same name, and either may be called.
        let is_other_space = query.is_type() && !def.kind.is_type() && def.kind != DefKind::Module;
        let is_c = indexed.facts.lang.family() == LanguageFamily::C;
        let is_declaration = def.flags.has(DefFlags::DECLARATION);
        (is_c && (is_other_space || !fits), is_declaration, !fits, usize::MAX - n_shared)
    };
    if let Some(best) = defs.iter().min_by_key(rank) {
        return LookupResult::Def(*best, None, ResolutionKind::Import);
    }
    find_in_type_of_namespace(resolver, namespace, name, query)
}

/// Looks up a name in a type whose qualified name has the form of a namespace: Java's
/// `import a.Outer.*`.
fn find_in_type_of_namespace(
    resolver: &Resolver<'_>,
    path: &str,
    name: NameId,
    query: DefQuery,
) -> LookupResult {
    // In C++ the qualifiers of a name are terms of their own.
    let path = Some(path).filter(|it| !it.starts_with(LanguageFamily::C.rules().namespace_prefix));
    let Some((outer, last)) = path.and_then(|it| it.rsplit_once('.')) else {
        return LookupResult::NotFound;
    };
    let Some(last) = resolver.view.index.names.find(last) else { return LookupResult::NotFound };
    let owner = resolver.with_budget(LookupResult::NotFound, || {
        find_in_namespace(resolver, outer, last, DefQuery::ANY_TYPE, None)
    });
    let LookupResult::Def(def, ..) = owner else { return LookupResult::NotFound };
    let owner = AbstractValue::Type(def, None);
    find_member(resolver, &owner, name, query, ResolutionKind::Import)
}

/// Looks up a name in the namespace that the file itself adds to.
pub(super) fn find_in_own_namespace(
    resolver: &Resolver<'_>,
    file: FileId,
    name: NameId,
    query: DefQuery,
) -> LookupResult {
    match &resolver.view.file(file).namespace {
        Some(namespace) => find_in_namespace(resolver, namespace, name, query, Some(file)),
        None => LookupResult::NotFound,
    }
}

/// Looks up an unqualified Ruby name. A constant may be in any file. A top-level function counts
/// only from a required file: the others are scripts and tests, each with helpers of its own.
pub(super) fn find_ruby_name(
    resolver: &Resolver<'_>,
    file: FileId,
    name: NameId,
    query: DefQuery,
) -> LookupResult {
    let found = find_in_own_namespace(resolver, file, name, query);
    let LookupResult::Def(def, ..) = &found else { return found };
    if resolver.def(*def).kind != DefKind::Function || def.file == file {
        return found;
    }
    let indexed = resolver.view.file(file);
    let mut required = indexed
        .facts
        .imports
        .iter()
        .map(|it| resolve_module(resolver, file, indexed.name_id(it.module)));
    let is_required = required.any(|it| it == Some(ModuleRef::File(def.file)));
    if is_required { found } else { LookupResult::NotFound }
}

/// The file of `#include "a/b.h"` or `require "a/b"`: searched from the own folder upwards, in each
/// folder and its conventional source folders.
pub(super) fn resolve_relative_path(
    resolver: &Resolver<'_>,
    indexed: &IndexedFile,
    path: &str,
) -> ModuleRef {
    let is_ruby = indexed.facts.lang == SourceLanguage::Ruby;
    let suffixes: &[&str] = if is_ruby { &["", ".rb"] } else { &[""] };
    let mut next = Some(indexed.folder());
    while let Some(folder) = next {
        for root in [
            folder.to_owned(),
            child_path(folder, "include"),
            child_path(folder, "src"),
            child_path(folder, "lib"),
        ] {
            for suffix in suffixes {
                let candidate = join_path(&root, &[path, suffix].concat());
                let file = candidate.and_then(|it| resolver.view.file_at_path(&it));
                if let Some(file) = file {
                    return ModuleRef::File(file);
                }
            }
        }
        next = parent_folder(folder);
    }
    ModuleRef::External
}
