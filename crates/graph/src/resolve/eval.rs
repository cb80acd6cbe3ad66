//! Evaluation: from a term to an approximation of its value, an [`AbstractValue`].
//!
//! This is abstract interpretation: `x.run()` evaluates to the declared or inferred result type of
//! the method, without executing anything. Evaluation and binding (`bind.rs`) call each other.
//!
//! A [`Term`] is an expression or a type as the facts of a file store it. For the call `save()` in
//! `fn sync(db: Store) { db.find(1).save() }`, where `find` is declared to return a `User`:
//!
//! ```text
//! Local(db)                         Instance(Store)        its declared type
//! Member(Local(db), "find")         Callable(Store.find)   a member of `Store`
//! Call(Member(Local(db), "find"))   Instance(User)         the declared result
//! ```
//!
//! With the last value `bind.rs` finds `save` in `User`: the edge `sync calls User.save (type)`.
//!
//! * Of the values, `Type` is a type of the project itself, `Instance` an object of it, `Callable`
//!   a function of the project; `Builtin` is a type of the language or a library, known by name.
//!   `External` is known to be outside the project, `Unknown` is anything.
//! * An [`EvalContext`] is the file of the term, with the values of type parameters: inside
//!   `Page<User>`, `T` is `User`. A [`DefRef`] is a definition by file and position in its facts.
//! * A [`LookupResult`] is the result of binding: a definition, a module, a value, `External` or
//!   `NotFound`.
//! * The *budget* of the [`Resolver`] limits depth and number of evaluations, because code may be
//!   cyclic: `a = b(); b = a`. The *depth* of a value is the nesting of its parts, also limited.

use std::rc::Rc;

use super::bind::bind_term;
use super::builtin::{
    call_builtin_method, element_of, is_builtin_global, is_transparent_wrapper, list_of,
    unwrap_wrapper,
};
use super::member::find_member;
use super::signature::{call_result, parameter_value};
use super::{
    AbstractValue, EvalContext, LookupResult, ModuleRef, ResolutionKind, Resolver, TypeEnv,
};
use crate::facts::{DefFlags, DefKind, ListSpan, LocalId, StringId, Term, TermId};
use crate::facts_builder::DeclarationSpace;
use crate::file_index::{DefQuery, DefRef, NameId};
use crate::lang::LanguageFamily;

/// The value of an expression.
pub(super) fn eval_value(
    resolver: &Resolver<'_>,
    context: &EvalContext,
    term: TermId,
) -> AbstractValue {
    eval_term(resolver, context, term, DeclarationSpace::Value)
}

/// The type that a type expression denotes.
pub(super) fn eval_type(
    resolver: &Resolver<'_>,
    context: &EvalContext,
    term: TermId,
) -> AbstractValue {
    eval_term(resolver, context, term, DeclarationSpace::Type)
}

/// Evaluates a term as a value or as a type, from the cache if possible.
fn eval_term(
    resolver: &Resolver<'_>,
    context: &EvalContext,
    term: TermId,
    space: DeclarationSpace,
) -> AbstractValue {
    // `with_budget` makes the value unknown if the budget is used up, `with_depth` if it is nested
    // too deeply; the latter also returns how deeply it is nested.
    let eval_bounded = || {
        resolver.with_depth(|| {
            resolver.with_budget(AbstractValue::Unknown, || {
                eval_uncached(resolver, context, term, space)
            })
        })
    };
    // This value may become a part of another one, whose evaluation called this function. Every way
    // out therefore reports its depth by `note_part_depth`.
    //
    // With values of type parameters the result depends on more than the cache key holds.
    if context.type_env.is_some() {
        let (value, depth) = eval_bounded();
        resolver.note_part_depth(depth);
        return value;
    }
    let key = (context.file, term, space);
    if let Some((value, depth)) = resolver.value_cache.borrow().get(&key) {
        resolver.note_part_depth(*depth);
        return value.clone();
    }
    // A term that depends on itself (`a = f(a)`) finds this entry and is unknown where it recurs.
    resolver.value_cache.borrow_mut().insert(key, (AbstractValue::Unknown, 0));
    let (value, depth) = eval_bounded();
    resolver.value_cache.borrow_mut().insert(key, (value.clone(), depth));
    resolver.note_part_depth(depth);
    value
}

/// Evaluates a term by its kind.
fn eval_uncached(
    resolver: &Resolver<'_>,
    context: &EvalContext,
    term: TermId,
    space: DeclarationSpace,
) -> AbstractValue {
    let indexed = resolver.view.file(context.file);
    let facts = &indexed.facts;
    let value_of = |it: TermId| eval_value(resolver, context, it);
    let list_values =
        |list: ListSpan| facts.term_list(list).map(|it| eval_term(resolver, context, it, space));
    match facts.term(term) {
        Term::Unknown | Term::Unbound(..) => AbstractValue::Unknown,
        Term::Literal(type_name) => AbstractValue::Builtin(indexed.name_id(type_name), Rc::new([])),
        Term::Name(name) | Term::Implicit(_, name) => {
            eval_free_name(resolver, context, (term, name), space)
        }
        Term::Local(local) => eval_local(resolver, context, local),
        Term::This(def) => AbstractValue::Instance(DefRef { file: context.file, def }, None),
        Term::Super(def) => base_instances(resolver, DefRef { file: context.file, def }, &None),
        Term::Def(_) | Term::Import(_) | Term::Member(..) => {
            let found = bind_term(resolver, context, term, DefQuery::in_space(space));
            value_of_lookup(resolver, found)
        }
        Term::Generic(list) => eval_generic(resolver, context, list, space),
        Term::InstanceOf(type_term) => eval_instance(resolver, context, type_term),
        Term::Call(callee) => eval_call(resolver, context, callee),
        Term::ElementOf(container) => element_of(resolver, &value_of(container)),
        Term::Unwrapped(wrapper) => unwrap_wrapper(resolver, value_of(wrapper)),
        Term::ListOf(element) => list_of(value_of(element)),
        Term::Function(result) => AbstractValue::Function(Rc::new(value_of(result))),
        Term::FunctionType(list) => {
            AbstractValue::Signature(context.file, list, context.type_env.clone())
        }
        Term::Rest(list) => value_of(list),
        Term::Parameter(function, position) => {
            parameter_value(resolver, &value_of(function), position)
        }
        Term::AnyOf(list) => AbstractValue::any_of(list_values(list)),
        Term::AllOf(list) => AbstractValue::AllOf(list_values(list).collect()),
        Term::Record(list) => AbstractValue::Record(context.file, list, context.type_env.clone()),
    }
}

/// The value of a name that no scope of the file binds.
fn eval_free_name(
    resolver: &Resolver<'_>,
    context: &EvalContext,
    (term, name): (TermId, StringId),
    space: DeclarationSpace,
) -> AbstractValue {
    let indexed = resolver.view.file(context.file);
    let name = indexed.name_id(name);
    let is_type = space == DeclarationSpace::Type;
    match bind_term(resolver, context, term, DefQuery::in_space(space)) {
        // Where overloads are selected by type (Java, C++, C#), an undefined value is inherited
        // from an external base. Its type is not known, and a guess would select a wrong overload.
        LookupResult::NotFound if !is_type && indexed.facts.lang.overloads_by_type() => {
            AbstractValue::External
        }
        // Elsewhere an undefined name is built into the language.
        LookupResult::NotFound if is_type || is_builtin_global(resolver, context.file, name) => {
            AbstractValue::Builtin(name, Rc::new([]))
        }
        found => value_of_lookup(resolver, found),
    }
}

/// The value of a local variable, a parameter or a type parameter.
fn eval_local(resolver: &Resolver<'_>, context: &EvalContext, local: LocalId) -> AbstractValue {
    // A type parameter with a value comes first.
    for (param, value) in context.type_env.iter().flat_map(|it| it.iter()) {
        if *param == (context.file, local) {
            return value.clone();
        }
    }
    let variable = resolver.view.file(context.file).facts.local(local);
    // A declared type decides even if it evaluates to unknown: the initial value may be of a
    // subtype, whose members the variable does not have.
    match variable.declared_type.or(variable.inferred_from) {
        Some(term) => eval_value(resolver, context, term),
        None => AbstractValue::Unknown,
    }
}

/// An instance of the type that a term names.
fn eval_instance(
    resolver: &Resolver<'_>,
    context: &EvalContext,
    type_term: TermId,
) -> AbstractValue {
    let overloads_by_type = resolver.view.file(context.file).facts.lang.overloads_by_type();
    match eval_type(resolver, context, type_term) {
        // Overload selection compares external types by name.
        AbstractValue::External if overloads_by_type => {
            match written_type_name(resolver, context, type_term) {
                Some(name) => AbstractValue::Builtin(name, Rc::new([])),
                None => AbstractValue::External,
            }
        }
        value => instance_of(resolver, value),
    }
}

/// The result of a lookup as a value.
pub(super) fn value_of_lookup(resolver: &Resolver<'_>, found: LookupResult) -> AbstractValue {
    match found {
        LookupResult::NotFound => AbstractValue::Unknown,
        LookupResult::External => AbstractValue::External,
        LookupResult::Module(module) => AbstractValue::Module(module),
        LookupResult::Value(value) => value,
        LookupResult::Def(def, env, _) => {
            resolver.with_budget(AbstractValue::Unknown, || value_of_def(resolver, def, env))
        }
    }
}

/// The value of a definition that is named as it is, without being called.
fn value_of_def(resolver: &Resolver<'_>, def_ref: DefRef, env: TypeEnv) -> AbstractValue {
    let indexed = resolver.view.file(def_ref.file);
    let def = indexed.facts.def(def_ref.def);
    match def.kind {
        DefKind::Class | DefKind::Interface | DefKind::Enum | DefKind::TypeAlias => {
            AbstractValue::Type(def_ref, env)
        }
        DefKind::Module => AbstractValue::Module(ModuleRef::Inline(def_ref)),
        // Naming a getter calls it.
        DefKind::Function | DefKind::Method if def.flags.has(DefFlags::GETTER) => {
            return_value(resolver, def_ref, env)
        }
        DefKind::Function | DefKind::Method => AbstractValue::Callable(def_ref, env),
        // A test case has a title; code cannot refer to it.
        DefKind::Test => AbstractValue::Unknown,
        DefKind::Field | DefKind::Variable => {
            let context = EvalContext { file: def_ref.file, type_env: env.clone() };
            if let Some(declared) = def.declared_type {
                return eval_value(resolver, &context, declared);
            }
            // An object literal: its members are definitions of their own.
            if indexed.has_members(def_ref.def) {
                return AbstractValue::Instance(def_ref, env);
            }
            def.inferred_from
                .map_or(AbstractValue::Unknown, |it| eval_value(resolver, &context, it))
        }
    }
}

/// The result of calling a definition.
fn return_value(resolver: &Resolver<'_>, def_ref: DefRef, env: TypeEnv) -> AbstractValue {
    let def = resolver.def(def_ref);
    let context = EvalContext { file: def_ref.file, type_env: env };
    match def.declared_type.or(def.inferred_from) {
        Some(it) => eval_value(resolver, &context, it),
        None => AbstractValue::Unknown,
    }
}

/// The result of calling the function that a term names.
fn eval_call(resolver: &Resolver<'_>, context: &EvalContext, callee: TermId) -> AbstractValue {
    let indexed = resolver.view.file(context.file);
    let callee_term = indexed.facts.term(callee);
    // 1. A method of a built-in type, which has no definition to bind to.
    if let Term::Member(receiver, name) = callee_term {
        let receiver = eval_value(resolver, context, receiver);
        // `users.pop()` of an `Array<User>` is a `User`.
        if let Some(value) = call_builtin_method(resolver, &receiver, indexed.name_id(name)) {
            return value;
        }
    }
    // 2. A function or method of the project: the declared or inferred result.
    let mut found = bind_term(resolver, context, callee, DefQuery::ANY_VALUE);
    // In Rust a field cannot be called by its name: a method with the same name is meant.
    if let (LookupResult::Def(def, ..), Term::Member(receiver, name)) = (&found, callee_term)
        && indexed.facts.lang.family() == LanguageFamily::Rust
        && resolver.def(*def).kind == DefKind::Field
    {
        let receiver = eval_value(resolver, context, receiver);
        let (name, query) = (indexed.name_id(name), DefQuery::call(0));
        let method = find_member(resolver, &receiver, name, query, ResolutionKind::Type);
        found = method.or_else(|| found);
    }
    if let LookupResult::Def(def, env, _) = &found
        && resolver.def(*def).kind.is_callable()
    {
        return return_value(resolver, *def, env.clone());
    }
    // 3. Any other value: the callee is evaluated first, and then called.
    let value = match found {
        // An undefined function is built into the language.
        LookupResult::NotFound if matches!(callee_term, Term::Name(_)) => {
            return AbstractValue::External;
        }
        // The callee is no name but an expression, such as a local variable or `f()()`.
        LookupResult::NotFound => eval_value(resolver, context, callee),
        // A class, a variable that holds a function, or something external.
        found => value_of_lookup(resolver, found),
    };
    call_value(resolver, value)
}

/// The result of calling a value.
fn call_value(resolver: &Resolver<'_>, callee: AbstractValue) -> AbstractValue {
    match callee {
        AbstractValue::Function(result) => (*result).clone(),
        AbstractValue::Callable(def, env) => return_value(resolver, def, env),
        AbstractValue::Signature(..) | AbstractValue::Instance(..) => {
            call_result(resolver, &callee)
        }
        AbstractValue::External => AbstractValue::External,
        AbstractValue::Type(def, env)
            if resolver.family(def.file).rules().calls_type_to_construct =>
        {
            AbstractValue::Instance(def, env)
        }
        AbstractValue::AnyOf(parts) => {
            AbstractValue::any_of(parts.iter().map(|it| call_value(resolver, it.clone())))
        }
        // Nothing else is known to be callable.
        _ => AbstractValue::Unknown,
    }
}

/// A generic type or function with its type arguments. The first term of the list is the type or
/// function, the others are the arguments: `[Page, User]` for `Page<User>`.
fn eval_generic(
    resolver: &Resolver<'_>,
    context: &EvalContext,
    list: ListSpan,
    space: DeclarationSpace,
) -> AbstractValue {
    let facts = &resolver.view.file(context.file).facts;
    let mut terms = facts.term_list(list);
    let Some(head) = terms.next() else { return AbstractValue::Unknown };
    let args: Vec<AbstractValue> = terms.map(|it| eval_value(resolver, context, it)).collect();
    match eval_term(resolver, context, head, space) {
        // `Page<User>` of the project: its type parameter `T` has the value `User`.
        AbstractValue::Type(def, _) => {
            AbstractValue::Type(def, bind_type_params(resolver, def, &args))
        }
        AbstractValue::Callable(def, _) => {
            AbstractValue::Callable(def, bind_type_params(resolver, def, &args))
        }
        // `Array<User>`
        AbstractValue::Builtin(name, _) => instantiate_builtin(resolver, name, args),
        // An external generic type may still contain a type of the project.
        AbstractValue::External => match written_type_name(resolver, context, head) {
            Some(name) => instantiate_builtin(resolver, name, args),
            None => AbstractValue::External,
        },
        // So may an external type that is written as a path, as in Rust: `anyhow::Result<Ours>`.
        AbstractValue::Unknown
            if space == DeclarationSpace::Type
                && facts.lang.family() == LanguageFamily::Rust
                && matches!(facts.term(head), Term::Member(..)) =>
        {
            match written_type_name(resolver, context, head) {
                Some(name) => instantiate_builtin(resolver, name, args),
                None => AbstractValue::Unknown,
            }
        }
        // Not generic, as far as is known: the arguments have no meaning.
        other => other,
    }
}

/// An instance of a built-in or external generic type. `Box<T>` and its like are the same as `T`.
fn instantiate_builtin(
    resolver: &Resolver<'_>,
    name: NameId,
    args: Vec<AbstractValue>,
) -> AbstractValue {
    match args.first() {
        Some(first) if is_transparent_wrapper(resolver, name) => first.clone(),
        _ => AbstractValue::Builtin(name, args.into()),
    }
}

/// The simple name of a type as the term writes it, whether or not it is defined.
fn written_type_name(
    resolver: &Resolver<'_>,
    context: &EvalContext,
    type_term: TermId,
) -> Option<NameId> {
    let indexed = resolver.view.file(context.file);
    match indexed.facts.term(type_term) {
        Term::Import(import) => Some(indexed.name_id(indexed.facts.import(import).imported_name)),
        Term::Member(_, name) | Term::Name(name) | Term::Implicit(_, name) => {
            Some(indexed.name_id(name))
        }
        _ => None,
    }
}

/// The environment in which the type parameters of a definition have these values.
fn bind_type_params(resolver: &Resolver<'_>, def: DefRef, args: &[AbstractValue]) -> TypeEnv {
    let mut env = Vec::new();
    for (param, arg) in resolver.def(def).type_param_ids().zip(args) {
        // An unknown argument is left out: the parameter itself may have a known bound.
        if *arg != AbstractValue::Unknown {
            env.push(((def.file, param), arg.clone()));
        }
    }
    if env.is_empty() { None } else { Some(Rc::new(env)) }
}

/// An instance of a type; of an alias, an instance of the aliased type. Other values stay as they
/// are.
pub(super) fn instance_of(resolver: &Resolver<'_>, value: AbstractValue) -> AbstractValue {
    match value {
        AbstractValue::Type(def_ref, env) => {
            let def = resolver.def(def_ref);
            match def.declared_type {
                Some(aliased) if def.kind == DefKind::TypeAlias => eval_value(
                    resolver,
                    &EvalContext { file: def_ref.file, type_env: env },
                    aliased,
                ),
                _ => AbstractValue::Instance(def_ref, env),
            }
        }
        AbstractValue::AnyOf(parts) => {
            AbstractValue::any_of(parts.iter().map(|it| instance_of(resolver, it.clone())))
        }
        other => other,
    }
}

/// The bases of a type, as instances. Always an `AllOf`, empty for a type without bases.
pub(super) fn base_instances(
    resolver: &Resolver<'_>,
    def_ref: DefRef,
    env: &TypeEnv,
) -> AbstractValue {
    let facts = &resolver.view.file(def_ref.file).facts;
    let context = EvalContext { file: def_ref.file, type_env: env.clone() };
    let bases = facts.bases.iter().filter(|it| it.def == def_ref.def);
    let instances = bases.map(|it| instance_of(resolver, eval_type(resolver, &context, it.term)));
    AbstractValue::AllOf(instances.collect())
}
