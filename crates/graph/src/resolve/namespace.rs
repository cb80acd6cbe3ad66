//! Lookup in open namespaces, to which many files add definitions (Java packages, Go folders, C++
//! namespaces, Ruby constants), and of files that are included by relative path.
//!
//! The index holds the definitions of a namespace by name, whatever file they are in. For example,
//! a call `Open()` in the Go package `go:store` is looked up as the name `Open` in that namespace;
//! if `store/open.go` defines it, the edge is `calls store/open.go:Open (import)`.
//!
//! A [`DefQuery`] states what is wanted: a value or a type, and for a call the number of arguments.
//! A [`DefRef`] is a definition: its file, and its position in the facts of the file. Of the
//! results, `NotFound` means no evidence and `External` known to be outside the project.
//! `with_budget` runs a recursive step unless the resolver's limit of steps is reached, and then
//! returns its first argument.

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
    // Compared from the first part to the last; `false` is better than `true`.
    let rank = |candidate: &&DefRef| {
        let indexed = resolver.view.file(candidate.file);
        let def = indexed.facts.def(candidate.def);
        // `open(1)` where the candidate takes two arguments.
        let has_wrong_arity = query.is_call() && !def.accepts(query.n_args);
        // In C++ a function may have the name of a type.
        let can_be_type = def.kind.is_type() || def.kind == DefKind::Module;
        let is_wrong_kind = query.is_type() && !can_be_type;
        // 1. In C and C++ what cannot be meant comes last: there a declaration that fits is better
        //    than the definition of another overload.
        let is_c = indexed.facts.lang.family() == LanguageFamily::C;
        let is_unfit_in_c = is_c && (is_wrong_kind || has_wrong_arity);
        // 2. A definition before a declaration.
        let is_declaration = def.flags.has(DefFlags::DECLARATION);
        // 3. In the other languages the number of arguments decides only now (`has_wrong_arity`).
        // 4. The nearest file: the longest common beginning of the paths.
        let path_pairs = near_folder.bytes().zip(indexed.path.bytes());
        let n_shared_bytes = path_pairs.take_while(|(a, b)| a == b).count();
        (is_unfit_in_c, is_declaration, has_wrong_arity, Reverse(n_shared_bytes))
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
    let Some(last) = resolver.view.names().find(last) else { return LookupResult::NotFound };
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
    for import in &indexed.facts.imports {
        let required = resolve_module(resolver, file, indexed.name_id(import.module));
        if required == Some(ModuleRef::File(def.file)) {
            return found;
        }
    }
    LookupResult::NotFound
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
