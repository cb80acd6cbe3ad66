//! Binding: from a term to the definition that it names.
//!
//! A [`Term`] is an expression or a type as the facts of a file store it. The extractor has bound
//! the names that the file's own scopes decide ([`Term::Def`], [`Term::Import`]). What is left
//! leads to other files: imports, members, free names. For example, after
//! `import { open } from './db'; const db: Store = open()`:
//!
//! ```text
//! open()      Import(open)               bound by the import     calls db.ts:open (import)
//! db.save()   Member(Local(db), "save")  bound in type `Store`   calls db.ts:Store.save (type)
//! ```
//!
//! * The result is a [`LookupResult`]: a definition with its evidence, a module or a value.
//!   `NotFound` means no evidence, so the caller tries something else; `External` means known to be
//!   outside the project, so it stops.
//! * To bind a member, the owner is evaluated (`eval.rs`) to an [`AbstractValue`]: a type, an
//!   instance of one, a module, and so on; `Unknown` if nothing is known.
//! * A [`DefQuery`] states what is wanted: a value or a type, and for a call the number of
//!   arguments.
//! * An [`EvalContext`] is the file of the term, with the values of type parameters.
//! * Binding is recursive and code may be cyclic. `with_budget` returns its first argument when the
//!   resolver's limit of depth or steps is reached.

use super::c::find_c_name;
use super::eval::{eval_type, eval_value, instance_of};
use super::member::find_member;
use super::rust::find_extension_method;
use super::{
    AbstractValue, EvalContext, LookupResult, ModuleRef, ResolutionKind, Resolver, find_in_module,
    resolve_free_name, resolve_module,
};
use crate::facts::{DefId, DefKind, ImportEntry, ImportId, ImportKind, StringId, Term, TermId};
use crate::file_index::{DefQuery, DefRef, NameId};
use crate::ids::FileId;
use crate::lang::LanguageFamily;

/// The definition, module or value that a term names.
pub(crate) fn bind_term(
    resolver: &Resolver<'_>,
    context: &EvalContext,
    term: TermId,
    query: DefQuery,
) -> LookupResult {
    resolver
        .with_budget(LookupResult::NotFound, || bind_within_budget(resolver, context, term, query))
}

/// Binds a term by its kind.
fn bind_within_budget(
    resolver: &Resolver<'_>,
    context: &EvalContext,
    term: TermId,
    query: DefQuery,
) -> LookupResult {
    let indexed = resolver.view.file(context.file);
    match indexed.facts.term(term) {
        Term::Def(def) => bind_definition(resolver, context.file, def, query),
        Term::Import(import) => bind_import(resolver, context.file, import, query),
        Term::Name(name) => {
            resolve_free_name(resolver, context.file, None, indexed.name_id(name), query)
        }
        Term::Implicit(def, name) => {
            bind_implicit(resolver, context, def, indexed.name_id(name), query)
        }
        Term::Member(owner, name) => bind_member(resolver, context, (owner, name), query),
        // The arguments of a generic type do not change the definition.
        Term::Generic(list) => match indexed.facts.term_list(list).next() {
            Some(head) => bind_term(resolver, context, head, query),
            None => LookupResult::NotFound,
        },
        // Locals have no definition of their own; all others are expressions and not names.
        Term::Unknown
        | Term::Unbound(..)
        | Term::Literal(_)
        | Term::Local(_)
        | Term::This(_)
        | Term::Super(_)
        | Term::Call(_)
        | Term::InstanceOf(_)
        | Term::ElementOf(_)
        | Term::Unwrapped(_)
        | Term::ListOf(_)
        | Term::Function(_)
        | Term::FunctionType(_)
        | Term::Rest(_)
        | Term::Parameter(..)
        | Term::AnyOf(_)
        | Term::AllOf(_)
        | Term::Record(_) => LookupResult::NotFound,
    }
}

/// Binds a definition of the same file. The scope found the first of several with the name; the
/// query selects among them.
fn bind_definition(
    resolver: &Resolver<'_>,
    file: FileId,
    first: DefId,
    query: DefQuery,
) -> LookupResult {
    let indexed = resolver.view.file(file);
    let parent = indexed.facts.def(first).parent;
    let name = indexed.name_id(indexed.facts.def(first).name);
    let best = indexed.best_def_named(parent, name, query).unwrap_or(first);
    let in_own_file = LookupResult::from_def(file, best, ResolutionKind::Scope);
    // In C++ the overload that fits may be in another file of the namespace.
    let fits = indexed.facts.def(best).accepts(query.n_args);
    if indexed.facts.lang.family() == LanguageFamily::C && query.is_call() && !fits {
        return find_c_name(resolver, file, parent, name, query).or_else(|| in_own_file);
    }
    in_own_file
}

/// Binds an imported name.
fn bind_import(
    resolver: &Resolver<'_>,
    file: FileId,
    import: ImportId,
    query: DefQuery,
) -> LookupResult {
    let indexed = resolver.view.file(file);
    let entry = indexed.facts.import(import);
    match resolve_import(resolver, file, entry, query) {
        // A module cannot be called: another import of the same name is meant, if there is one.
        LookupResult::Module(module) if query.is_call() => {
            let name = indexed.name_id(entry.local_name);
            for other in indexed.imports_named(entry.parent_module, name) {
                if other == import {
                    continue;
                }
                let found = resolve_import(resolver, file, indexed.facts.import(other), query);
                if matches!(found, LookupResult::Def(..)) {
                    return found;
                }
            }
            LookupResult::Module(module)
        }
        found => found,
    }
}

/// Binds `owner.name`. The evidence is stronger if the owner is `this` or a type named outright.
fn bind_member(
    resolver: &Resolver<'_>,
    context: &EvalContext,
    (owner, name): (TermId, StringId),
    query: DefQuery,
) -> LookupResult {
    let indexed = resolver.view.file(context.file);
    let name = indexed.name_id(name);
    let value = eval_value(resolver, context, owner);
    let is_own_type = matches!(indexed.facts.term(owner), Term::This(_) | Term::Super(_));
    let resolution = if is_own_type || matches!(value, AbstractValue::Type(..)) {
        ResolutionKind::Member
    } else {
        ResolutionKind::Type
    };
    let found = find_member(resolver, &value, name, query, resolution);
    let is_not_in_project = matches!(found, LookupResult::NotFound | LookupResult::External);
    // A type with an external base may have any method, so an imported extension trait is stronger
    // evidence than `External`.
    if is_not_in_project && query.is_call() && indexed.facts.lang.family() == LanguageFamily::Rust {
        return find_extension_method(resolver, context.file, &value, name, query)
            .or_else(|| found);
    }
    found
}

/// Binds an unqualified name inside a type or a module: members of the enclosing definitions from
/// the innermost, then the top level, imports, and other files.
fn bind_implicit(
    resolver: &Resolver<'_>,
    context: &EvalContext,
    enclosing: DefId,
    name: NameId,
    query: DefQuery,
) -> LookupResult {
    let file = context.file;
    let indexed = resolver.view.file(file);
    if indexed.facts.def(enclosing).kind == DefKind::Module {
        return resolve_free_name(resolver, file, Some(enclosing), name, query);
    }
    let mut next_enclosing = Some(enclosing);
    while let Some(id) = next_enclosing {
        let def = indexed.facts.def(id);
        let receiver = match def.owner_type {
            // A method outside the body of its type sees the members of the type.
            Some(owner) => instance_of(resolver, eval_type(resolver, context, owner)),
            None if def.kind.is_type() => AbstractValue::Instance(DefRef { file, def: id }, None),
            // A function has no members.
            None => AbstractValue::Unknown,
        };
        let found = find_member(resolver, &receiver, name, query, ResolutionKind::Member);
        // `External` does not end the search: a class with a base outside the project might inherit
        // any name, and the enclosing definitions are better evidence.
        if matches!(found, LookupResult::Def(..)) {
            return found;
        }
        next_enclosing = def.parent;
    }
    // C++ searches the enclosing namespaces, each across all files, before anything else.
    if indexed.facts.lang.family() == LanguageFamily::C {
        return resolve_free_name(resolver, file, Some(enclosing), name, query);
    }
    if let Some(def) = indexed.best_def_named(None, name, query) {
        return LookupResult::from_def(file, def, ResolutionKind::Scope);
    }
    let imported = match indexed.imports_named(None, name).next() {
        Some(it) => resolve_import(resolver, file, indexed.facts.import(it), query),
        None => LookupResult::NotFound,
    };
    imported.or_else(|| resolve_free_name(resolver, file, None, name, query))
}

/// The target of an import. It may lead through re-exports to another file than the imported one.
pub(super) fn resolve_import(
    resolver: &Resolver<'_>,
    file: FileId,
    import: &ImportEntry,
    query: DefQuery,
) -> LookupResult {
    let indexed = resolver.view.file(file);
    let module = resolve_module(resolver, file, indexed.name_id(import.module));
    let Some(module) = module else { return LookupResult::NotFound };
    if module == ModuleRef::External {
        return LookupResult::External;
    }
    match import.kind {
        ImportKind::Module | ImportKind::Child | ImportKind::Effect => LookupResult::Module(module),
        // Names behind a star are found by `resolve_free_name`.
        ImportKind::Star => LookupResult::NotFound,
        ImportKind::Named | ImportKind::Default => {
            let name = indexed.name_id(import.imported_name);
            let found = resolver.with_budget(LookupResult::NotFound, || {
                find_in_module(resolver, &module, name, query)
            });
            if !found.is_not_found() {
                return found.with_resolution(ResolutionKind::Import);
            }
            // A CommonJS module has no default export; the import means the module itself.
            if import.kind == ImportKind::Default {
                return LookupResult::Module(module);
            }
            match module {
                // A package that does not define the imported name belongs to a library.
                ModuleRef::Namespace(_) => LookupResult::External,
                ModuleRef::File(_)
                | ModuleRef::Inline(_)
                | ModuleRef::Folder(_)
                | ModuleRef::External => LookupResult::NotFound,
            }
        }
    }
}
