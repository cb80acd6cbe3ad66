//! Lookup in open namespaces, to which many files add definitions (Java packages, Go folders, C++
//! namespaces, Ruby constants), and of files that are included by relative path.

use std::cmp::Reverse;

use super::member::find_member;
use super::paths::{child_path, join_path, parent_folder};
use super::{AbstractValue, LookupResult, ModuleRef, ResolutionKind, Resolver, resolve_module};
use crate::facts::{DefFlags, DefKind};
use crate::file_index::{DefQuery, DefRef, IndexedFile, NameId};
use crate::ids::FileId;
use crate::lang::{LanguageFamily, SourceLanguage};

/// Looks up a name in a namespace. Of several definitions, the one that fits the query best wins,
/// then the one whose path shares the longest prefix with the folder of the file `near`.
pub(super) fn find_in_namespace(
    resolver: &Resolver<'_>,
    namespace: &str,
    name: NameId,
    query: DefQuery,
    near: Option<FileId>,
) -> LookupResult {
    let defs = resolver.view.namespace_defs(namespace, name);
    let near_folder = near.map_or("", |it| resolver.view.file(it).folder());
    // Smaller is better; `false` sorts before `true`.
    let rank = |candidate: &&DefRef| {
        let indexed = resolver.view.file(candidate.file);
        let def = indexed.facts.def(candidate.def);
        let fits = !query.is_call() || def.accepts(query.n_args);
        let path_pairs = near_folder.bytes().zip(indexed.path.bytes());
        let n_shared_bytes = path_pairs.take_while(|(a, b)| a == b).count();
        // In C++ a type and a function may have the same name, and either may be called. There a
        // declaration that fits is better than a definition that does not; elsewhere a definition
        // comes first.
        let is_wrong_kind = query.is_type() && !def.kind.is_type() && def.kind != DefKind::Module;
        let is_c = indexed.facts.lang.family() == LanguageFamily::C;
        let is_unfit_in_c = is_c && (is_wrong_kind || !fits);
        let is_declaration = def.flags.has(DefFlags::DECLARATION);
        (is_unfit_in_c, is_declaration, !fits, Reverse(n_shared_bytes))
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
    // In C++ the qualifiers of a name are terms of their own, so they were looked up already.
    if path.starts_with(LanguageFamily::C.rules().namespace_prefix) {
        return LookupResult::NotFound;
    }
    let Some((outer, last)) = path.rsplit_once('.') else { return LookupResult::NotFound };
    // A name that is not interned is defined nowhere.
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
    let mut next_folder = Some(indexed.folder());
    while let Some(folder) = next_folder {
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
        next_folder = parent_folder(folder);
    }
    ModuleRef::External
}
