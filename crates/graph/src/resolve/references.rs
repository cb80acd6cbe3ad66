//! Resolution of the single references of a file: from each occurrence of a name to its target.
//!
//! A precise index (written by a compiler, see `precise.rs`) decides where there is one. Otherwise
//! the term of the reference is bound, the overload selected by the arguments, and a method with a
//! unique name guessed as a last resort. For example, in TypeScript:
//!
//! ```text
//! load()              bound through its import         calls api.ts:load (import)
//! store.save()        bound in the type of `store`     calls Store.save (type)
//! item.recompute()    nothing is known of `item`       calls Sheet.recompute (unique), if no other
//!                                                      method of the project has the name
//! ```
//!
//! A *term* is an expression as the facts store it. Binding it gives a [`LookupResult`]: a
//! definition with its evidence, a module, a value, `External` (known to be outside the project) or
//! `NotFound` (no evidence). An [`AbstractValue`] is what is known of a value. A [`DefRef`] is a
//! definition by file and position in its facts. An [`EvalContext`] is the file of a term. Every
//! reference may use a limited number of resolution steps, which `reset_steps` sets back.

use std::collections::HashMap;

use model::hasher::FastBuildHasher;

use super::bind::bind_term;
use super::c::{constructed_type, definition_of_declaration};
use super::eval::eval_value;
use super::overload::select_overloads;
use super::{AbstractValue, EvalContext, LookupResult, ResolutionKind, Resolver};
use crate::facts::{DefFlags, DefKind, FileFacts, RefKind, Reference, SourcePos, Term, TermId};
use crate::file_index::{DefQuery, DefRef, FileIndex, IndexedFile};
use crate::ids::FileId;
use crate::lang::LanguageFamily;
use crate::precise::{NamedDefinition, PreciseReferences, PreciseTarget, definitions_named};

/// A reference with its target.
#[derive(Clone, Copy, Debug)]
pub struct ResolvedReference {
    pub kind: RefKind,
    pub position: SourcePos,
    pub target: Option<(DefRef, ResolutionKind)>,
    /// True if the target is known to be outside the project.
    pub is_external: bool,
}

/// The resolved references of a file.
pub(super) struct ResolvedReferences {
    /// In the order of the file's references.
    pub(super) references: Vec<ResolvedReference>,
    /// Further possible targets of calls, with the index of the reference.
    pub(super) alternatives: Vec<(usize, DefRef)>,
}

/// The outcome of resolving one reference.
#[derive(Clone, Copy)]
enum ReferenceTarget {
    Def(DefRef, ResolutionKind),
    External,
    Unresolved,
}

/// Method names of built-in types. A method of the project that is the only one with such a name is
/// no evidence: the call is more likely to one of the language.
#[rustfmt::skip]
const COMMON_METHOD_NAMES: &[&str] = &[
    "push", "pop", "map", "filter", "forEach", "reduce", "find", "findIndex", "some", "every", "slice", "splice", "concat",
    "join", "includes", "indexOf", "keys", "values", "entries", "items", "get", "set", "has", "delete", "add", "clear", "then",
    "catch", "finally", "toString", "split", "replace", "trim", "match", "test", "exec", "call", "apply", "bind", "sort",
    "reverse", "flat", "flatMap", "fill", "at", "from", "of", "log", "error", "warn", "info", "debug", "stringify", "parse",
    "append", "extend", "update", "remove", "strip", "format", "startswith", "endswith", "lower", "upper", "copy", "index",
    "count", "insert", "setdefault", "discard", "encode", "decode", "read", "write", "close", "open", "flush", "group",
    "search", "sub", "findall", "send", "recv", "run", "start", "stop", "next", "iter", "collect", "unwrap", "expect",
    "clone", "into", "as_ref", "as_str", "len", "is_empty", "contains", "get_mut", "ok", "err", "and_then", "or_else",
    "unwrap_or", "to_string", "to_owned", "equals", "hashCode", "size", "isEmpty", "put", "containsKey", "stream", "build",
    "String", "Error", "Close", "Read", "Write", "Len", "Get", "Set", "Add", "on", "off", "emit", "once", "focus", "blur",
    "drain", "retain", "truncate", "resize", "swap", "take", "entry", "lock", "borrow", "borrow_mut", "wake", "poll", "recv",
    "click", "scale", "rotate", "save", "restore", "stroke", "print", "println", "printf", "execute", "fetch", "load",
];

/// The length, in bytes, below which a method name is no evidence by itself: `go`, `id`, `do`.
const MIN_UNIQUE_NAME_LEN: usize = 3;

/// Resolves every reference of a file.
pub(crate) fn resolve_references(index: &FileIndex, file: FileId) -> Vec<ResolvedReference> {
    let Some(own_file) = index.with_references(file) else { return Vec::new() };
    resolve_references_with_alternatives(&Resolver::new(index, &own_file), file).references
}

/// Resolves every reference of the resolver's own file, with the further targets of unclear calls.
pub(super) fn resolve_references_with_alternatives(
    resolver: &Resolver<'_>,
    file: FileId,
) -> ResolvedReferences {
    let indexed = resolver.view.file(file);
    let context = EvalContext::of_file(file);
    // Equal terms have equal targets: a name that occurs a hundred times is resolved once. The last
    // part of the key is the number of arguments.
    let mut cached: HashMap<(TermId, RefKind, u8), ReferenceTarget, FastBuildHasher> =
        HashMap::default();
    let precise_targets = PreciseTargets::of_file(resolver, indexed);
    let mut references = Vec::with_capacity(indexed.refs.len());
    let mut alternatives = Vec::new();
    let overloads_by_type = indexed.facts.lang.overloads_by_type();
    for reference in &indexed.refs {
        // 1. The target by name and number of arguments, best from a precise index.
        let precise_target =
            precise_targets.as_ref().and_then(|it| it.target_at(reference.position));
        let mut target = precise_target.unwrap_or_else(|| {
            let key = (reference.term, reference.kind, reference.n_args);
            *cached.entry(key).or_insert_with(|| {
                resolver.reset_steps();
                resolve_reference(resolver, &context, reference)
            })
        });
        // 2. Among overloads, the one that fits the types of the arguments.
        let has_typed_args =
            overloads_by_type && reference.kind == RefKind::Call && reference.n_args > 0;
        // A precise target is the right overload already, and a unique name has no overloads.
        if has_typed_args
            && let ReferenceTarget::Def(first, resolution) = target
            && !matches!(resolution, ResolutionKind::Precise | ResolutionKind::Unique)
        {
            // Not cached: equal calls may have different arguments.
            resolver.reset_steps();
            let overloads = select_overloads(resolver, &context, first, reference);
            let reference_index = references.len();
            target = match overloads.as_slice() {
                [] => ReferenceTarget::Unresolved,
                [only] => ReferenceTarget::Def(*only, resolution),
                // The arguments do not decide: all are targets, one of them in `references`.
                [first, others @ ..] => {
                    for other in others {
                        alternatives.push((reference_index, canonical_def(resolver, *other)));
                    }
                    ReferenceTarget::Def(*first, ResolutionKind::Overload)
                }
            };
        }
        // 3. In C and C++ the definition instead of a declaration.
        references.push(ResolvedReference {
            kind: reference.kind,
            position: reference.position,
            target: canonical_target(resolver, target),
            is_external: matches!(target, ReferenceTarget::External),
        });
    }
    ResolvedReferences { references, alternatives }
}

/// The definition that a reference leads to, with the evidence; `None` without one.
fn canonical_target(
    resolver: &Resolver<'_>,
    target: ReferenceTarget,
) -> Option<(DefRef, ResolutionKind)> {
    match target {
        ReferenceTarget::Def(it, resolution) => Some((canonical_def(resolver, it), resolution)),
        ReferenceTarget::External | ReferenceTarget::Unresolved => None,
    }
}

/// The precise index of a file, with its definitions found in the graph.
struct PreciseTargets<'a> {
    references: &'a PreciseReferences,
    /// In the order of `references.definitions`; `None` for a definition that no longer exists.
    definitions: Vec<Option<DefRef>>,
}

impl<'a> PreciseTargets<'a> {
    /// `None` if the file has no precise index.
    fn of_file(resolver: &Resolver<'_>, indexed: &'a IndexedFile) -> Option<Self> {
        let references = indexed.precise.as_deref()?;
        // The index replaces the strings of the facts by interned names, and a precise index names
        // definitions by string. So the complete facts are rebuilt, once per file.
        let mut facts_of: HashMap<FileId, Option<FileFacts>> = HashMap::new();
        let mut find_definition = |named: &NamedDefinition| {
            let file = resolver.view.file_at_path(&named.path)?;
            let facts = facts_of.entry(file).or_insert_with(|| resolver.view.complete_facts(file));
            let mut namesakes = definitions_named(facts.as_ref()?, &named.name);
            Some(DefRef { file, def: namesakes.nth(named.ordinal as usize)? })
        };
        let definitions = references.definitions.iter().map(&mut find_definition).collect();
        Some(Self { references, definitions })
    }

    /// The target at a position; `None` if the index has none there, or if the definition no longer
    /// exists. The reference is then resolved without the index.
    fn target_at(&self, position: SourcePos) -> Option<ReferenceTarget> {
        match self.references.target_at(position)? {
            PreciseTarget::External => Some(ReferenceTarget::External),
            PreciseTarget::Definition(index) => {
                let def = self.definitions[index as usize]?;
                Some(ReferenceTarget::Def(def, ResolutionKind::Precise))
            }
        }
    }
}

/// Resolves one reference without the help of a precise index.
fn resolve_reference(
    resolver: &Resolver<'_>,
    context: &EvalContext,
    reference: &Reference,
) -> ReferenceTarget {
    let indexed = resolver.view.file(context.file);
    let (term, query) = match (reference.kind, indexed.facts.term(reference.term)) {
        // The extractor records a mentioned type as an instance of it.
        (RefKind::Type, Term::InstanceOf(inner)) => (inner, DefQuery::ANY_TYPE),
        (RefKind::Type, _) => (reference.term, DefQuery::ANY_TYPE),
        // In C++ a constructor shares the name of its type; the type is meant.
        (RefKind::New, _) if indexed.facts.lang.family() == LanguageFamily::C => {
            (reference.term, DefQuery::ANY_TYPE)
        }
        _ => (reference.term, DefQuery::call(reference.n_args)),
    };
    let is_module = |it: DefRef| resolver.def(it).kind == DefKind::Module;
    match bind_term(resolver, context, term, query) {
        // A Ruby module cannot be instantiated: its `new` is a method of its own.
        LookupResult::Def(def, ..) if reference.kind == RefKind::New && is_module(def) => {
            ReferenceTarget::Unresolved
        }
        LookupResult::Def(def, _, resolution) => ReferenceTarget::Def(def, resolution),
        LookupResult::External => ReferenceTarget::External,
        // An entry of a record that holds a function or a class: `handlers.save()`.
        LookupResult::Value(AbstractValue::Callable(def, _) | AbstractValue::Type(def, _)) => {
            ReferenceTarget::Def(def, ResolutionKind::Type)
        }
        LookupResult::Value(AbstractValue::External | AbstractValue::Builtin(..)) => {
            ReferenceTarget::External
        }
        // A module is no symbol; the import edge covers it.
        LookupResult::Module(_) => ReferenceTarget::Unresolved,
        // A value without a definition: an entry of a record.
        LookupResult::Value(_) => ReferenceTarget::Unresolved,
        LookupResult::NotFound => {
            match find_unique_method(resolver, context, term, reference.kind) {
                Some(def) => ReferenceTarget::Def(def, ResolutionKind::Unique),
                None => ReferenceTarget::Unresolved,
            }
        }
    }
}

/// The definition that an edge should lead to: the definition instead of its declaration, the type
/// instead of its constructor. Only C and C++ have such pairs.
fn canonical_def(resolver: &Resolver<'_>, def_ref: DefRef) -> DefRef {
    let indexed = resolver.view.file(def_ref.file);
    let def = indexed.facts.def(def_ref.def);
    if indexed.facts.lang.family() != LanguageFamily::C || !def.kind.is_callable() {
        return def_ref;
    }
    if def.flags.has(DefFlags::CONSTRUCTOR) {
        return constructed_type(resolver, def_ref);
    }
    if def.flags.has(DefFlags::DECLARATION) {
        definition_of_declaration(resolver, def_ref)
    } else {
        def_ref
    }
}

/// The only method with the name in the languages that can call one another. A guess, used when
/// nothing is known of the receiver.
fn find_unique_method(
    resolver: &Resolver<'_>,
    context: &EvalContext,
    term: TermId,
    kind: RefKind,
) -> Option<DefRef> {
    let indexed = resolver.view.file(context.file);
    let Term::Member(receiver, name) = indexed.facts.term(term) else { return None };
    let text = resolver.string_text(indexed, name);
    let family = indexed.facts.lang.family();
    // In these languages most methods of unknown receivers belong to the standard library: of the
    // guesses checked by hand, more were wrong than right.
    let is_unreliable =
        matches!(family, LanguageFamily::Rust | LanguageFamily::Ruby | LanguageFamily::CSharp);
    if kind != RefKind::Call || is_unreliable {
        return None;
    }
    let is_weak_name = text.len() < MIN_UNIQUE_NAME_LEN || COMMON_METHOD_NAMES.contains(&text);
    if is_weak_name {
        return None;
    }
    // The receiver is known and has no such member.
    if eval_value(resolver, context, receiver) != AbstractValue::Unknown {
        return None;
    }
    let only = resolver.view.only_method_named(indexed.name_id(name), family)?;
    let is_test = resolver.def(only).flags.has(DefFlags::TEST);
    (!is_test).then_some(only)
}
