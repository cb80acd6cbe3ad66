//! Overload selection: of several methods with one name, the one that fits the arguments. Applies
//! to Java, C++ and C#, whose extractors record argument and parameter types.
//!
//! Each candidate gets a cost, the sum of the conversions of its arguments (`conversion.rs`); the
//! cheapest wins. An argument may be known only in part. Then every method that could take it stays
//! possible, and the call has several targets instead of a wrong one. For example, in Java:
//!
//! ```text
//! void log(String s) {}   void log(int n) {}
//! log("x")                calls log(String) (member)   an exact match; `int` is impossible
//! log(lib.value())        calls both (overload)        the type of the argument is not known
//! ```
//!
//! A *term* is an expression as the facts store it; `eval_value` gives its [`AbstractValue`], here
//! the type of an argument or a parameter, `Unknown` if nothing is known. The facts hold argument
//! and parameter lists as one term each, [`Term::AllOf`]. A [`DefRef`] is a definition: its file
//! and its position in the facts of the file.

use super::builtin::list_of;
use super::conversion::{ConversionCost, ConversionStep, conversion_cost};
use super::eval::{base_instances, eval_value};
use super::member::find_member;
use super::{
    AbstractValue, EvalContext, LookupResult, MAX_INHERITANCE_DEPTH, ResolutionKind, Resolver,
};
use crate::facts::{ListSpan, Reference, Term};
use crate::facts_builder::ANY_ARG_COUNT;
use crate::file_index::{DefQuery, DefRef};
use crate::ids::FileId;

/// The targets of a call whose name and number of arguments led to `first`. Several if the
/// arguments do not decide.
pub(super) fn select_overloads(
    resolver: &Resolver<'_>,
    context: &EvalContext,
    first: DefRef,
    call: &Reference,
) -> Vec<DefRef> {
    let args = eval_args(resolver, context, call);
    // If no candidate accepts the arguments, `first` stays: the name alone led to it.
    let (mut best_cost, mut best) = (ConversionCost::NO_MATCH, vec![first]);
    // One round per class, from the class of `first` up the inheritance chain. `current` is any
    // overload of that class.
    let mut current = first;
    for _ in 0..MAX_INHERITANCE_DEPTH {
        let (least_cost, cheapest) = cheapest_overloads(resolver, current, call, &args);
        // An inherited overload must be better than those of the subclass, not just as good.
        if least_cost < best_cost {
            (best_cost, best) = (least_cost, cheapest);
        }
        // An overload certainly accepts the arguments.
        if least_cost < ConversionCost::UNKNOWN_MATCH {
            break;
        }
        // None of them certainly does; an overload in a base may.
        let indexed = resolver.view.file(current.file);
        let def = indexed.facts.def(current.def);
        let name = indexed.name_id(def.name);
        let Some(class) = def.parent else { break };
        let bases = base_instances(resolver, DefRef { file: current.file, def: class }, &None);
        let query = DefQuery::call(call.n_args);
        match find_member(resolver, &bases, name, query, ResolutionKind::Member) {
            LookupResult::Def(next, ..) => current = next,
            // The bases define no further overload, or they are outside the project.
            _ => break,
        }
    }
    best
}

/// The overloads of a method in its own class that accept the arguments at the least cost, with
/// that cost. Several if the arguments do not decide between them; none at `NO_MATCH`.
fn cheapest_overloads(
    resolver: &Resolver<'_>,
    method: DefRef,
    call: &Reference,
    args: &[AbstractValue],
) -> (ConversionCost, Vec<DefRef>) {
    let indexed = resolver.view.file(method.file);
    let def = indexed.facts.def(method.def);
    let (mut least_cost, mut cheapest) = (ConversionCost::NO_MATCH, Vec::new());
    for id in indexed.defs_named(def.parent, indexed.name_id(def.name)) {
        let overload = indexed.facts.def(id);
        if !overload.kind.is_callable() || !overload.accepts(call.n_args) {
            continue;
        }
        let candidate = DefRef { file: method.file, def: id };
        // An argument does not convert to its parameter.
        let Some(cost) = call_cost(resolver, candidate, args) else { continue };
        if cost < least_cost {
            (least_cost, cheapest) = (cost, vec![candidate]);
        } else if cost == least_cost {
            cheapest.push(candidate);
        }
    }
    (least_cost, cheapest)
}

/// The arguments of a call; unknown ones where the extractor recorded none.
fn eval_args(
    resolver: &Resolver<'_>,
    context: &EvalContext,
    call: &Reference,
) -> Vec<AbstractValue> {
    let facts = &resolver.view.file(context.file).facts;
    let list = match call.arg_types.map(|it| facts.term(it)) {
        Some(Term::AllOf(list)) => list,
        _ => ListSpan::default(),
    };
    let terms = facts.term_list(list);
    let mut args: Vec<AbstractValue> = terms.map(|it| eval_value(resolver, context, it)).collect();
    let n_args = usize::from(call.n_args).max(args.len());
    args.resize(n_args, AbstractValue::Unknown);
    args
}

/// The cost of calling a method with these arguments; `None` if it does not accept them.
fn call_cost(
    resolver: &Resolver<'_>,
    method: DefRef,
    args: &[AbstractValue],
) -> Option<ConversionCost> {
    let indexed = resolver.view.file(method.file);
    let def = indexed.facts.def(method.def);
    // Without recorded parameter types nothing contradicts the call.
    let Some(Term::AllOf(list)) = def.param_types.map(|it| indexed.facts.term(it)) else {
        return Some(ConversionCost::UNKNOWN_MATCH);
    };
    let params = eval_list(resolver, method.file, list);
    let is_variadic = def.arity.max == ANY_ARG_COUNT;
    if !is_variadic {
        return total_cost(resolver, args.iter().zip(&params));
    }
    let (variadic_param, fixed_params) = params.split_last()?;
    // The variadic parameter also accepts a list as it is: `format(s, objects)` for
    // `format(String s, Object... args)`.
    if args.len() == params.len() {
        let list = list_of(variadic_param.clone());
        let params_with_list = fixed_params.iter().chain([&list]);
        if let Some(cost) = total_cost(resolver, args.iter().zip(params_with_list)) {
            return Some(cost);
        }
    }
    // All further arguments go to the variadic parameter, one by one.
    let repeated_params = fixed_params.iter().chain(std::iter::repeat(variadic_param));
    let cost = total_cost(resolver, args.iter().zip(repeated_params))?;
    // A variadic call is worse than any that needs no list, however well its arguments fit.
    Some(ConversionCost { step: ConversionStep::Varargs, ..cost })
}

/// The parameter types of a definition, as instances.
pub(super) fn param_values(resolver: &Resolver<'_>, def_ref: DefRef) -> Vec<AbstractValue> {
    let facts = &resolver.view.file(def_ref.file).facts;
    match facts.def(def_ref.def).param_types.map(|it| facts.term(it)) {
        Some(Term::AllOf(list)) => eval_list(resolver, def_ref.file, list),
        _ => Vec::new(),
    }
}

/// The values of a list of terms.
fn eval_list(resolver: &Resolver<'_>, file: FileId, list: ListSpan) -> Vec<AbstractValue> {
    let context = EvalContext::of_file(file);
    let terms = resolver.view.file(file).facts.term_list(list);
    terms.map(|it| eval_value(resolver, &context, it)).collect()
}

/// The sum of the costs of pairs of argument and parameter; `None` if one is impossible.
fn total_cost<'v>(
    resolver: &Resolver<'_>,
    pairs: impl Iterator<Item = (&'v AbstractValue, &'v AbstractValue)>,
) -> Option<ConversionCost> {
    let mut total = ConversionCost::EXACT_MATCH;
    for (arg, param) in pairs {
        total = total.plus(conversion_cost(resolver, arg, param)?);
    }
    Some(total)
}
