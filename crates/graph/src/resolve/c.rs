//! C and C++: one namespace for all files, divided by `namespace` blocks; headers declare what
//! sources define.

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

const GLOBAL_NAMESPACE: &str = LanguageFamily::C.rules().namespace_prefix;

/// The module of an import: a header by its path, or a namespace. For a namespace the extractor
/// writes the enclosing namespaces and the written path.
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
    let mut next = Some(enclosing);
    while let Some(outer) = next {
        let full = if outer.is_empty() { path.to_owned() } else { [outer, path].join(".") };
        if is_c_namespace(resolver, &full) {
            return ModuleRef::Namespace([GLOBAL_NAMESPACE, &full].concat().into());
        }
        next = match outer.rsplit_once('.') {
            Some((outer, _)) => Some(outer),
            None => (!outer.is_empty()).then_some(""),
        };
    }
    ModuleRef::External
}

fn is_c_namespace(resolver: &Resolver<'_>, path: &str) -> bool {
    let (outer, last) = path.rsplit_once('.').unwrap_or(("", path));
    let Some(last) = resolver.view.index.names.find(last) else { return false };
    let defs = resolver.view.namespace_defs(&[GLOBAL_NAMESPACE, outer].concat(), last);
    defs.iter().any(|it| resolver.def(*it).kind == DefKind::Module)
}

/// The namespace that contains a definition, or that it is itself.
pub(super) fn c_namespace_of(resolver: &Resolver<'_>, file: FileId, def: Option<DefId>) -> String {
    let indexed = resolver.view.file(file);
    let mut segments = Vec::new();
    let mut next = def;
    while let Some(def) = next.map(|it| indexed.facts.def(it)) {
        if def.kind == DefKind::Module {
            segments.push(resolver.string_text(indexed, def.name));
        }
        next = def.parent;
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
    let mut module = enclosing_module(parent);
    loop {
        // The own file comes first: a static function or an anonymous namespace is not in the
        // index.
        let own = indexed.best_def_named(module, name, query);
        let own = own.filter(|it| !query.is_call() || indexed.facts.def(*it).accepts(query.n_args));
        let own = own.map_or(LookupResult::NotFound, |it| {
            LookupResult::from_def(file, it, ResolutionKind::Scope)
        });
        let found = own
            .or_else(|| {
                let namespace = c_namespace_of(resolver, file, module);
                find_in_namespace(resolver, &namespace, name, query, Some(file))
            })
            .or_else(|| find_in_using_directives(resolver, file, module, name, query));
        let Some(id) = module.filter(|_| found.is_not_found()) else { return found };
        module = enclosing_module(indexed.facts.def(id).parent);
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
        // An `#include` is a star import, too, but its names are in the shared namespace anyway.
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
pub(super) fn definition_of_declaration(resolver: &Resolver<'_>, at: DefRef) -> DefRef {
    let indexed = resolver.view.file(at.file);
    let def = indexed.facts.def(at.def);
    let name = indexed.name_id(def.name);
    let parent = def.parent.map(|it| DefRef { file: at.file, def: it });
    let is_member = parent.is_some_and(|it| resolver.def(it).kind.is_type());
    // A member can only be defined out of line; a function also inside a `namespace` block.
    let mut candidates: Vec<DefRef> = if is_member {
        Vec::new()
    } else {
        resolver.view.namespace_defs(&c_namespace_of(resolver, at.file, def.parent), name)
    };
    if let Some(parent) = parent {
        let owner = indexed.name_id(resolver.def(parent).name);
        let members = resolver.view.out_of_line_members(owner, name);
        candidates.extend(members.iter().filter(|it| is_member_of(resolver, **it, parent)));
    }
    let is_definition = |it: &&DefRef| {
        let other = resolver.def(**it);
        !other.flags.has(DefFlags::DECLARATION)
            && other.kind.is_callable()
            // Defaults are written in the declaration only, so just the upper bounds agree.
            && other.arity.1 == def.arity.1
            && have_compatible_params(resolver, at, **it)
    };
    // Platform variants define one function several times: the nearest file is the best guess.
    let distance = |it: &&DefRef| {
        let path = resolver.view.file(it.file).path.bytes();
        Reverse(path.zip(indexed.path.bytes()).take_while(|it| it.0 == it.1).count())
    };
    candidates.iter().filter(is_definition).min_by_key(distance).copied().unwrap_or(at)
}

/// The declarations of a definition: prototypes in headers, members in the body of their class.
pub(super) fn declarations_of_definition(resolver: &Resolver<'_>, at: DefRef) -> Vec<DefRef> {
    let indexed = resolver.view.file(at.file);
    let def = indexed.facts.def(at.def);
    let name = indexed.name_id(def.name);
    let in_namespace = |file: FileId, parent: Option<DefId>| {
        resolver.view.namespace_defs(&c_namespace_of(resolver, file, parent), name)
    };
    let candidates: Vec<DefRef> = match def.owner_type {
        // A member that is defined in the body of its class has no other declaration.
        None if def.parent.is_some_and(|it| indexed.facts.def(it).kind.is_type()) => Vec::new(),
        None => in_namespace(at.file, def.parent),
        Some(owner) => match eval_type(resolver, &EvalContext::of_file(at.file), owner) {
            AbstractValue::Type(of, _) | AbstractValue::Instance(of, _) => {
                let named = resolver.view.file(of.file).defs_named(Some(of.def), name);
                named.map(|def| DefRef { file: of.file, def }).collect()
            }
            AbstractValue::Module(ModuleRef::Inline(of)) => in_namespace(of.file, Some(of.def)),
            _ => Vec::new(),
        },
    };
    let is_declaration = |it: &DefRef| {
        let other = resolver.def(*it);
        other.flags.has(DefFlags::DECLARATION)
            && other.kind.is_callable()
            && other.arity.1 == def.arity.1
            && have_compatible_params(resolver, *it, at)
    };
    candidates.into_iter().filter(is_declaration).collect()
}

/// The type that a constructor constructs.
pub(super) fn constructed_type(resolver: &Resolver<'_>, at: DefRef) -> DefRef {
    let def = resolver.def(at);
    let context = EvalContext::of_file(at.file);
    let owner = def.owner_type.map(|it| eval_type(resolver, &context, it));
    match (owner, def.parent) {
        (Some(AbstractValue::Type(it, _) | AbstractValue::Instance(it, _)), _) => it,
        (None, Some(parent)) => DefRef { file: at.file, def: parent },
        _ => at,
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

/// Returns whether two functions agree in all parameter types that are known of both.
fn have_compatible_params(resolver: &Resolver<'_>, a: DefRef, b: DefRef) -> bool {
    let is_open =
        |it: &AbstractValue| matches!(it, AbstractValue::Unknown | AbstractValue::External);
    let (a, b) = (param_values(resolver, a), param_values(resolver, b));
    a.iter().zip(&b).all(|(a, b)| is_open(a) || is_open(b) || a == b)
}
