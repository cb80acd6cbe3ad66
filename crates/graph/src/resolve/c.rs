//! C and C++: one namespace for all files, divided by `namespace` blocks; headers declare what
//! sources define.
//!
//! Includes are not followed to decide what a file sees: every definition of the project counts,
//! the nearest file first. The index writes a namespace as `GLOBAL_NAMESPACE` followed by its
//! dotted path: `c:a.b` for `namespace a::b`. For example:
//!
//! ```text
//! list.h   int add(int v);                 a *declaration*
//! list.c   int add(int v) { return v; }    the *definition*: implements list.h:add (member)
//! main.c   add(1);                         calls list.c:add (import), not the declaration
//! ```
//!
//! A member may be defined *out of line*, outside the body of its class: `void Engine::start() {}`.
//! Its `owner_type` is the term for `Engine`, an expression as the facts store it. `eval_type`
//! gives its [`AbstractValue`]: `Type` or `Instance` for a class of the project, `Module` for a
//! namespace, `External` and `Unknown` for everything else. A [`DefRef`] is a definition by file
//! and position in its facts; a [`LookupResult`] is what a name led to, `NotFound` without
//! evidence.

use std::cmp::Reverse;

use super::eval::eval_type;
use super::namespace::{find_in_namespace, resolve_relative_path};
use super::overload::param_values;
use super::{
    AbstractValue, EvalContext, LookupResult, ModuleRef, ResolutionKind, Resolver, resolve_module,
};
use crate::facts::{DefFlags, DefId, DefKind};
use crate::file_index::{DefQuery, DefRef, IndexedFile, NameId};
use crate::ids::FileId;
use crate::lang::LanguageFamily;
use crate::lang::generic::c::{ENCLOSING_SEPARATOR, NAMESPACE_PREFIX};

/// The prefix of all C and C++ namespaces in the index; by itself the global namespace.
const GLOBAL_NAMESPACE: &str = LanguageFamily::C.rules().namespace_prefix;

/// The module of an import: a header by its path, or a namespace. For a namespace the extractor
/// writes `NAMESPACE_PREFIX`, the enclosing namespaces, `ENCLOSING_SEPARATOR` and the path in the
/// source: `::a|b` for `using b::f;` inside `namespace a`. That means `a::b` if it exists, else
/// `b`.
pub(super) fn resolve_c_module(
    resolver: &Resolver<'_>,
    indexed: &IndexedFile,
    text: &str,
) -> ModuleRef {
    let namespace =
        text.strip_prefix(NAMESPACE_PREFIX).and_then(|it| it.split_once(ENCLOSING_SEPARATOR));
    let Some((enclosing, path)) = namespace else {
        return resolve_relative_path(resolver, indexed, text);
    };
    if path.is_empty() {
        return ModuleRef::Namespace(GLOBAL_NAMESPACE.into());
    }
    // The innermost enclosing namespace that contains one with this name wins.
    let mut next_outer = Some(enclosing);
    while let Some(outer) = next_outer {
        let full_path = if outer.is_empty() { path.to_owned() } else { [outer, path].join(".") };
        if is_c_namespace(resolver, &full_path) {
            return ModuleRef::Namespace([GLOBAL_NAMESPACE, &full_path].concat().into());
        }
        next_outer = match outer.rsplit_once('.') {
            Some((outer, _)) => Some(outer),
            // The empty path is the global namespace, the last to be tried.
            None => (!outer.is_empty()).then_some(""),
        };
    }
    ModuleRef::External
}

/// Returns whether the project has a namespace with this dotted path.
fn is_c_namespace(resolver: &Resolver<'_>, path: &str) -> bool {
    let (outer, last) = path.rsplit_once('.').unwrap_or(("", path));
    let Some(last) = resolver.view.names().find(last) else { return false };
    let defs = resolver.view.namespace_defs(&[GLOBAL_NAMESPACE, outer].concat(), last);
    defs.iter().any(|it| resolver.def(*it).kind == DefKind::Module)
}

/// The namespace that contains a definition, or that it is itself.
pub(super) fn c_namespace_of(resolver: &Resolver<'_>, file: FileId, def: Option<DefId>) -> String {
    let indexed = resolver.view.file(file);
    let mut segments = Vec::new();
    let mut next_def = def;
    while let Some(def) = next_def.map(|it| indexed.facts.def(it)) {
        if def.kind == DefKind::Module {
            segments.push(resolver.string_text(indexed, def.name));
        }
        next_def = def.parent;
    }
    segments.reverse();
    [GLOBAL_NAMESPACE, &segments.join(".")].concat()
}

/// Looks up an unqualified name: in the enclosing namespaces from the innermost, each followed by
/// those that it uses.
pub(super) fn find_c_name(
    resolver: &Resolver<'_>,
    file: FileId,
    parent: Option<DefId>,
    name: NameId,
    query: DefQuery,
) -> LookupResult {
    let indexed = resolver.view.file(file);
    // The innermost `namespace` block around a definition, which may be one itself.
    let enclosing_module = |mut next: Option<DefId>| {
        while let Some(id) = next {
            let def = indexed.facts.def(id);
            if def.kind == DefKind::Module {
                return next;
            }
            next = def.parent;
        }
        None
    };
    let fits = |id: &DefId| !query.is_call() || indexed.facts.def(*id).accepts(query.n_args);
    // One round per namespace; `None` is the global one.
    let mut module = enclosing_module(parent);
    loop {
        // The own file comes first: a static function or an anonymous namespace is not in the
        // index.
        let in_own_file = match indexed.best_def_named(module, name, query).filter(fits) {
            Some(def) => LookupResult::from_def(file, def, ResolutionKind::Scope),
            None => LookupResult::NotFound,
        };
        let found = in_own_file
            .or_else(|| {
                let namespace = c_namespace_of(resolver, file, module);
                find_in_namespace(resolver, &namespace, name, query, Some(file))
            })
            .or_else(|| find_in_using_directives(resolver, file, module, name, query));
        match module {
            Some(id) if found.is_not_found() => {
                module = enclosing_module(indexed.facts.def(id).parent);
            }
            // A match, or nothing even in the global namespace, the last to be searched.
            _ => return found,
        }
    }
}

/// Looks up a name in the namespaces of `using namespace` directives.
fn find_in_using_directives(
    resolver: &Resolver<'_>,
    file: FileId,
    module: Option<DefId>,
    name: NameId,
    query: DefQuery,
) -> LookupResult {
    let indexed = resolver.view.file(file);
    for import in indexed.star_imports(module) {
        let path = indexed.name_id(indexed.facts.import(import).module);
        // An `#include` is also a star import, but its names are in the shared namespace anyway.
        if resolver.name_text(path).starts_with(NAMESPACE_PREFIX)
            && let Some(ModuleRef::Namespace(namespace)) = resolve_module(resolver, file, path)
        {
            let found = find_in_namespace(resolver, &namespace, name, query, Some(file));
            if !found.is_not_found() {
                return found;
            }
        }
    }
    LookupResult::NotFound
}

/// The definition of a declared function; the declaration itself if the project has none.
pub(super) fn definition_of_declaration(resolver: &Resolver<'_>, declaration: DefRef) -> DefRef {
    let indexed = resolver.view.file(declaration.file);
    let def = indexed.facts.def(declaration.def);
    let name = indexed.name_id(def.name);
    let parent = def.parent.map(|it| DefRef { file: declaration.file, def: it });
    let is_member = parent.is_some_and(|it| resolver.def(it).kind.is_type());
    // A member can only be defined out of line; a function also inside a `namespace` block.
    let mut candidates: Vec<DefRef> = if is_member {
        Vec::new()
    } else {
        resolver.view.namespace_defs(&c_namespace_of(resolver, declaration.file, def.parent), name)
    };
    if let Some(parent) = parent {
        let owner = indexed.name_id(resolver.def(parent).name);
        let members = resolver.view.out_of_line_members(owner, name);
        candidates.extend(members.iter().filter(|it| is_member_of(resolver, **it, parent)));
    }
    let is_definition = |candidate: &&DefRef| {
        !resolver.def(**candidate).flags.has(DefFlags::DECLARATION)
            && have_compatible_signatures(resolver, declaration, **candidate)
    };
    // Platform variants define one function several times: the nearest file is the best guess, the
    // one whose path has the longest common beginning with that of the declaration.
    let distance = |candidate: &&DefRef| {
        let path_pairs = resolver.view.file(candidate.file).path.bytes().zip(indexed.path.bytes());
        Reverse(path_pairs.take_while(|(a, b)| a == b).count())
    };
    let nearest = candidates.iter().filter(is_definition).min_by_key(distance);
    nearest.copied().unwrap_or(declaration)
}

/// The declarations of a definition: prototypes in headers, members in the body of their class.
pub(super) fn declarations_of_definition(
    resolver: &Resolver<'_>,
    definition: DefRef,
) -> Vec<DefRef> {
    let indexed = resolver.view.file(definition.file);
    let def = indexed.facts.def(definition.def);
    let name = indexed.name_id(def.name);
    let in_namespace = |file: FileId, parent: Option<DefId>| {
        resolver.view.namespace_defs(&c_namespace_of(resolver, file, parent), name)
    };
    let candidates: Vec<DefRef> = match def.owner_type {
        // A member that is defined in the body of its class has no other declaration.
        None if def.parent.is_some_and(|it| indexed.facts.def(it).kind.is_type()) => Vec::new(),
        None => in_namespace(definition.file, def.parent),
        Some(owner) => match eval_type(resolver, &EvalContext::of_file(definition.file), owner) {
            AbstractValue::Type(class, _) | AbstractValue::Instance(class, _) => {
                let named = resolver.view.file(class.file).defs_named(Some(class.def), name);
                named.map(|def| DefRef { file: class.file, def }).collect()
            }
            AbstractValue::Module(ModuleRef::Inline(block)) => {
                in_namespace(block.file, Some(block.def))
            }
            // The owner is outside the project or unknown.
            _ => Vec::new(),
        },
    };
    let is_declaration = |candidate: &DefRef| {
        resolver.def(*candidate).flags.has(DefFlags::DECLARATION)
            && have_compatible_signatures(resolver, definition, *candidate)
    };
    candidates.into_iter().filter(is_declaration).collect()
}

/// The type that a constructor constructs; the constructor itself if its type is unknown.
pub(super) fn constructed_type(resolver: &Resolver<'_>, constructor: DefRef) -> DefRef {
    let def = resolver.def(constructor);
    let context = EvalContext::of_file(constructor.file);
    let owner = def.owner_type.map(|it| eval_type(resolver, &context, it));
    match (owner, def.parent) {
        (Some(AbstractValue::Type(it, _) | AbstractValue::Instance(it, _)), _) => it,
        // A constructor in the body of its class.
        (None, Some(parent)) => DefRef { file: constructor.file, def: parent },
        // The class is outside the project or unknown.
        _ => constructor,
    }
}

/// Returns whether an out-of-line member belongs to this type or namespace.
fn is_member_of(resolver: &Resolver<'_>, member: DefRef, parent: DefRef) -> bool {
    let Some(owner) = resolver.def(member).owner_type else { return false };
    match eval_type(resolver, &EvalContext::of_file(member.file), owner) {
        AbstractValue::Type(it, _) | AbstractValue::Instance(it, _) => it == parent,
        // Two blocks of one namespace are different definitions: the names decide.
        AbstractValue::Module(ModuleRef::Inline(it)) => {
            resolver.def(parent).kind == DefKind::Module
                && c_namespace_of(resolver, it.file, Some(it.def))
                    == c_namespace_of(resolver, parent.file, Some(parent.def))
        }
        _ => false,
    }
}

/// Returns whether `other`, a definition with the same name as `function`, is a function that can
/// be its declaration or definition: they agree in the largest number of arguments, and in all
/// parameter types that are known of both.
fn have_compatible_signatures(resolver: &Resolver<'_>, function: DefRef, other: DefRef) -> bool {
    // Defaults are written in the declaration only, so just the upper bounds agree.
    let (def, other_def) = (resolver.def(function), resolver.def(other));
    if !other_def.kind.is_callable() || other_def.arity.max != def.arity.max {
        return false;
    }
    let is_known =
        |it: &AbstractValue| !matches!(it, AbstractValue::Unknown | AbstractValue::External);
    let params = param_values(resolver, function);
    let other_params = param_values(resolver, other);
    for (param, other_param) in params.iter().zip(&other_params) {
        if is_known(param) && is_known(other_param) && param != other_param {
            return false;
        }
    }
    true
}
