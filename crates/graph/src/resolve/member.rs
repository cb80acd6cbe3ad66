//! Member lookup: own members, members defined outside their type, inherited members.

use super::builtin::builtin_property;
use super::eval::{base_instances, eval_type, eval_value, instance_of};
use super::{
    AbstractValue, EvalContext, LookupResult, ResolutionKind, Resolver, TypeEnv, find_in_module,
};
use crate::facts::{DefFlags, DefId, DefKind, ListSpan};
use crate::file_index::{DefQuery, DefRef, NameId};
use crate::ids::FileId;
use crate::lang::LanguageFamily;

/// The length of an inheritance chain after which the lookup stops. Bounds cycles.
const MAX_BASE_DEPTH: u32 = 24;

/// The member that is looked up.
#[derive(Clone, Copy)]
struct MemberQuery {
    name: NameId,
    query: DefQuery,
    /// The evidence to record with a match.
    resolution: ResolutionKind,
}

/// Looks up a member of a value.
pub(crate) fn find_member(
    resolver: &Resolver<'_>,
    owner: &AbstractValue,
    name: NameId,
    query: DefQuery,
    resolution: ResolutionKind,
) -> LookupResult {
    let member = MemberQuery { name, query, resolution };
    resolver.with_budget(LookupResult::NotFound, || {
        find_member_bounded(resolver, owner, member, MAX_BASE_DEPTH)
    })
}

fn find_member_bounded(
    resolver: &Resolver<'_>,
    owner: &AbstractValue,
    member: MemberQuery,
    depth_left: u32,
) -> LookupResult {
    let Some(depth_left) = depth_left.checked_sub(1) else { return LookupResult::NotFound };
    let MemberQuery { name, query, .. } = member;
    match owner {
        AbstractValue::Unknown => LookupResult::NotFound,
        AbstractValue::External => LookupResult::External,
        AbstractValue::Module(module) => {
            find_in_module(resolver, module, name, query).with_resolution(ResolutionKind::Import)
        }
        AbstractValue::Type(def, env) | AbstractValue::Instance(def, env) => {
            find_member_of_def(resolver, *def, env, member, depth_left)
        }
        // JavaScript functions get members by assignment: `Button.displayName = …`.
        AbstractValue::Callable(def, _) => find_out_of_line_member(resolver, *def, member),
        AbstractValue::Builtin(..) => builtin_property(resolver, owner, name)
            .map_or(LookupResult::External, LookupResult::Value),
        AbstractValue::Record(file, list, env) => {
            find_record_member(resolver, *file, *list, env, name)
        }
        // `bind`, `call` and the like.
        AbstractValue::Function(_) => LookupResult::External,
        AbstractValue::AllOf(parts) => {
            let mut result = LookupResult::NotFound;
            for part in parts.iter() {
                match find_member_bounded(resolver, part, member, depth_left) {
                    LookupResult::NotFound => {}
                    // A later part may still have the member.
                    LookupResult::External => result = LookupResult::External,
                    found => return found,
                }
            }
            result
        }
        AbstractValue::AnyOf(parts) => find_common_member(resolver, parts, member, depth_left),
    }
}

/// The member that all alternatives share. Alternatives without it do not count; two different
/// definitions contradict each other.
fn find_common_member(
    resolver: &Resolver<'_>,
    parts: &[AbstractValue],
    member: MemberQuery,
    depth_left: u32,
) -> LookupResult {
    let mut result = LookupResult::NotFound;
    let mut values = Vec::new();
    for part in parts {
        match (find_member_bounded(resolver, part, member, depth_left), &result) {
            (LookupResult::Def(def, ..), LookupResult::Def(known, ..)) if def != *known => {
                return LookupResult::NotFound;
            }
            (found @ LookupResult::Def(..), _) => result = found,
            (LookupResult::Value(it), _) => values.push(it),
            (
                found @ (LookupResult::External | LookupResult::Module(_)),
                LookupResult::NotFound,
            ) => result = found,
            _ => {}
        }
    }
    if matches!(result, LookupResult::NotFound | LookupResult::External) && !values.is_empty() {
        return LookupResult::Value(AbstractValue::any_of(values));
    }
    result
}

fn find_record_member(
    resolver: &Resolver<'_>,
    file: FileId,
    list: ListSpan,
    env: &TypeEnv,
    name: NameId,
) -> LookupResult {
    let indexed = resolver.view.file(file);
    let mut fields = indexed.facts.record_fields(list);
    let field = fields.find(|it| indexed.name_id(it.0) == name);
    field.map_or(LookupResult::NotFound, |it| {
        let context = EvalContext { file, type_env: env.clone() };
        LookupResult::Value(eval_value(resolver, &context, it.1))
    })
}

/// Looks up a member of a type: in its body, outside its body, then in its bases.
fn find_member_of_def(
    resolver: &Resolver<'_>,
    owner: DefRef,
    env: &TypeEnv,
    member: MemberQuery,
    depth_left: u32,
) -> LookupResult {
    let indexed = resolver.view.file(owner.file);
    let family = indexed.facts.lang.family();
    let query = member.query;
    // In Rust a field cannot be called by its name; the variant of an enum, a static field, can.
    let is_eligible = |it: &DefId| {
        let def = indexed.facts.def(*it);
        !(query.is_call() && family == LanguageFamily::Rust)
            || def.kind != DefKind::Field
            || def.flags.has(DefFlags::STATIC)
    };
    let own = indexed.best_def_named(Some(owner.def), member.name, query).filter(is_eligible);
    // A declaration in the body may be defined outside it, and a call prefers a method to a field.
    // C++ declarations are replaced at the end instead, after an overload has been selected.
    let is_replaceable = |it: DefId| {
        let def = indexed.facts.def(it);
        (def.flags.has(DefFlags::DECLARATION) && family != LanguageFamily::C)
            || (query.is_call() && def.kind == DefKind::Field)
    };
    let out_of_line = match own {
        Some(it) if !is_replaceable(it) => LookupResult::NotFound,
        _ => find_out_of_line_member(resolver, owner, member),
    };
    if !out_of_line.is_not_found() {
        return out_of_line;
    }
    if let Some(def) = own {
        let def = DefRef { file: owner.file, def };
        return LookupResult::Def(def, env.clone(), member.resolution);
    }
    let owner_def = indexed.facts.def(owner.def);
    if owner_def.kind == DefKind::TypeAlias && owner_def.declared_type.is_some() {
        let aliased = instance_of(resolver, AbstractValue::Type(owner, env.clone()));
        return find_member_bounded(resolver, &aliased, member, depth_left);
    }
    let bases = base_instances(resolver, owner, env);
    find_member_bounded(resolver, &bases, member, depth_left)
}

/// Looks up a member that is defined outside the body of its type.
fn find_out_of_line_member(
    resolver: &Resolver<'_>,
    owner: DefRef,
    member: MemberQuery,
) -> LookupResult {
    let indexed = resolver.view.file(owner.file);
    let owner_name = indexed.name_id(indexed.facts.def(owner.def).name);
    let query = member.query;
    let mut best: Option<(DefRef, bool)> = None;
    for candidate in resolver.view.out_of_line_members(owner_name, member.name) {
        let def = resolver.def(candidate);
        let Some(owner_type) = def.owner_type else { continue };
        // A constructor has the name of its type; it is meant only by a call.
        if !query.is_call() && def.flags.has(DefFlags::CONSTRUCTOR) {
            continue;
        }
        // The index compares simple names only: another type may have the same name.
        let is_owner = match eval_type(resolver, &EvalContext::of_file(candidate.file), owner_type)
        {
            AbstractValue::Type(it, _)
            | AbstractValue::Instance(it, _)
            | AbstractValue::Callable(it, _) => it == owner,
            _ => false,
        };
        if !is_owner {
            continue;
        }
        let is_weak =
            def.flags.has(DefFlags::DECLARATION) || (query.is_call() && !def.accepts(query.n_args));
        if best.is_none_or(|it| it.1 && !is_weak) {
            best = Some((candidate, is_weak));
        }
    }
    best.map_or(LookupResult::NotFound, |it| LookupResult::Def(it.0, None, member.resolution))
}
