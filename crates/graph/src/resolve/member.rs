//! Member lookup: the definition of `name` in `owner.name`, once the value of the owner is known.
//!
//! Members are searched in the type's body, then outside it (a Rust `impl` block, a C++ definition
//! `Type::name`, a JavaScript assignment `Type.name = …`), then in the bases. For example, with
//! `class Admin extends User {}` and `class User { save() {} }`, the owner in `new Admin().save()`
//! is an instance of `Admin`. `save` is found in the base, and the edge is
//! `calls User.save (type)`.
//!
//! * The owner is an [`AbstractValue`], the result of evaluating its expression (`eval.rs`): `Type`
//!   is a type of the project itself, `Instance` an object of it, `Builtin` an object of a type
//!   outside the project, `AnyOf` one of several values, `AllOf` all of them at once (the bases of
//!   a type).
//! * The result is a [`LookupResult`]. `NotFound` means no evidence; `External` means that the
//!   member comes from outside the project, or may come from there because a base does.
//! * A [`DefRef`] is a definition of the project, by file and position in the facts of the file. An
//!   [`EvalContext`] is the file of a term with the values of type parameters; a [`TypeEnv`] is
//!   only the latter.
//! * `with_budget` and `depth_left` end cycles in broken code, such as a class that extends itself.

use super::builtin::builtin_property;
use super::eval::{base_instances, eval_type, eval_value, instance_of};
use super::{
    AbstractValue, EvalContext, LookupResult, MAX_INHERITANCE_DEPTH, ResolutionKind, Resolver,
    TypeEnv, find_in_module,
};
use crate::facts::{DefFlags, DefKind, Definition, ListSpan};
use crate::file_index::{DefQuery, DefRef, NameId};
use crate::ids::FileId;
use crate::lang::LanguageFamily;

/// The member that is looked up.
#[derive(Clone, Copy)]
struct MemberQuery {
    name: NameId,
    /// Value or type, and for a call the number of arguments.
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
        find_member_bounded(resolver, owner, member, MAX_INHERITANCE_DEPTH)
    })
}

/// Looks up a member by the kind of its owner. Every base on the way takes one from `depth_left`.
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
        // Members of a function are built-in: `bind`, `call`.
        AbstractValue::Function(_) | AbstractValue::Signature(..) => LookupResult::External,
        // Any of the bases may have the member; the first that has it wins.
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
        let found = find_member_bounded(resolver, part, member, depth_left);
        match (&found, &result) {
            (LookupResult::Def(def, ..), LookupResult::Def(known, ..)) if def != known => {
                return LookupResult::NotFound;
            }
            (LookupResult::Def(..), _) => result = found,
            // Collected, because fields of records may differ: their union is the value.
            (LookupResult::Value(value), _) => values.push(value.clone()),
            (LookupResult::External | LookupResult::Module(_), LookupResult::NotFound) => {
                result = found;
            }
            // An earlier alternative gave better evidence.
            (LookupResult::External | LookupResult::Module(_), _) => {}
            (LookupResult::NotFound, _) => {}
        }
    }
    // A value is better evidence than `External`, a definition better than both.
    if matches!(result, LookupResult::NotFound | LookupResult::External) && !values.is_empty() {
        return LookupResult::Value(AbstractValue::any_of(values));
    }
    result
}

/// Looks up a field of a record.
fn find_record_member(
    resolver: &Resolver<'_>,
    file: FileId,
    list: ListSpan,
    env: &TypeEnv,
    name: NameId,
) -> LookupResult {
    let indexed = resolver.view.file(file);
    let mut fields = indexed.facts.record_fields(list);
    let Some((_, value)) = fields.find(|(it, _)| indexed.name_id(*it) == name) else {
        return LookupResult::NotFound;
    };
    let context = EvalContext { file, type_env: env.clone() };
    LookupResult::Value(eval_value(resolver, &context, value))
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
    let is_call = member.query.is_call();
    // 1. In the body of the type.
    let in_body = indexed.best_def_named(Some(owner.def), member.name, member.query);
    let in_body = in_body.map(|id| (id, indexed.facts.def(id)));
    // 2. Outside the body. A member in the body comes first, with two exceptions.
    let prefers_out_of_line = in_body.is_none_or(|(_, def)| {
        // A declaration in the body may be defined outside it. C++ declarations stay here:
        // `canonical_def` in `references.rs` replaces them after an overload has been selected.
        let is_defined_elsewhere = def.flags.has(DefFlags::DECLARATION)
            && indexed.facts.lang.family() != LanguageFamily::C;
        // A call prefers a method outside the body to a field in it.
        let is_called_field = is_call && def.kind == DefKind::Field;
        is_defined_elsewhere || is_called_field
    });
    if prefers_out_of_line {
        let out_of_line = find_out_of_line_member(resolver, owner, member);
        if !out_of_line.is_not_found() {
            return out_of_line;
        }
    }
    // In Rust `x.len()` never means the field `len`. An enum variant, recorded as a static field,
    // can be called: `Shape::Circle(1)`.
    let is_callable_in_rust =
        |def: &Definition| def.kind != DefKind::Field || def.flags.has(DefFlags::STATIC);
    let is_rust_call = is_call && indexed.facts.lang.family() == LanguageFamily::Rust;
    if let Some((id, def)) = in_body
        && (!is_rust_call || is_callable_in_rust(def))
    {
        let def = DefRef { file: owner.file, def: id };
        return LookupResult::Def(def, env.clone(), member.resolution);
    }
    // 3. An alias has the members of the type that it stands for.
    let owner_def = indexed.facts.def(owner.def);
    if owner_def.kind == DefKind::TypeAlias && owner_def.declared_type.is_some() {
        let aliased = instance_of(resolver, AbstractValue::Type(owner, env.clone()));
        return find_member_bounded(resolver, &aliased, member, depth_left);
    }
    // 4. In the bases.
    let bases = base_instances(resolver, owner, env);
    find_member_bounded(resolver, &bases, member, depth_left)
}

/// Looks up a member that is defined outside the body of its type. Of several, a definition that
/// accepts the arguments wins, then the first.
fn find_out_of_line_member(
    resolver: &Resolver<'_>,
    owner: DefRef,
    member: MemberQuery,
) -> LookupResult {
    let indexed = resolver.view.file(owner.file);
    let owner_name = indexed.name_id(indexed.facts.def(owner.def).name);
    let query = member.query;
    // The best candidate so far, and whether it is a weak one: only a declaration, or a function
    // with another number of parameters.
    let mut best: Option<(DefRef, bool)> = None;
    for candidate in resolver.view.out_of_line_members(owner_name, member.name) {
        let def = resolver.def(candidate);
        // Every out-of-line member has an owner type; without one it cannot be checked.
        let Some(owner_type) = def.owner_type else { continue };
        // A constructor has the name of its type; it is meant only by a call.
        if !query.is_call() && def.flags.has(DefFlags::CONSTRUCTOR) {
            continue;
        }
        // The index compares simple names only: another type may have the same name.
        let context = EvalContext::of_file(candidate.file);
        let is_owner = match eval_type(resolver, &context, owner_type) {
            AbstractValue::Type(found, _)
            | AbstractValue::Instance(found, _)
            | AbstractValue::Callable(found, _) => found == owner,
            _ => false,
        };
        if !is_owner {
            continue;
        }
        let has_wrong_arity = query.is_call() && !def.accepts(query.n_args);
        let is_weak = def.flags.has(DefFlags::DECLARATION) || has_wrong_arity;
        // Of two equally good candidates the first stays.
        if best.is_none_or(|(_, best_is_weak)| best_is_weak && !is_weak) {
            best = Some((candidate, is_weak));
        }
    }
    match best {
        Some((def, _)) => LookupResult::Def(def, None, member.resolution),
        None => LookupResult::NotFound,
    }
}
