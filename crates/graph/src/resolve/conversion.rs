//! Conversion costs: how well an argument of one type fits a parameter of another. Overload
//! selection (`overload.rs`) adds them up.
//!
//! Java's rules are strict, so a conversion can be ruled out. In C++ and C# nearly everything can
//! be converted, so costs only order the candidates. Distances are small numbers that rank
//! conversions of the same kind; only their order matters. For example, for `f(1)` in Java:
//!
//! ```text
//! f(int)      Subtype, 0       exact: the edge `calls f(int)`
//! f(long)     Subtype, 2       to a wider number
//! f(Integer)  Boxing, 0        worse than any `Subtype`
//! f(String)   None             impossible
//! ```
//!
//! Arguments and parameters are [`AbstractValue`]s, which for types means:
//!
//! * `Instance(def, _)`: of a type that the project defines; `def` is a [`DefRef`], a definition by
//!   file and position in it.
//! * `Builtin(name, args)`: of a type of the language or a library, known only by its simple name:
//!   `int`, `String`. An array is a `Builtin` with the name [`LIST_NAME`], whose text is `Array`,
//!   and with its element type as the argument.
//! * `AnyOf(parts)`: one of several; `AllOf(parts)`: all at once, here the bases of a class.
//! * All others (`Unknown`, `External`, functions) say nothing about the type.

use super::eval::base_instances;
use super::{AbstractValue, MAX_INHERITANCE_DEPTH, Resolver};
use crate::facts::DefKind;
use crate::file_index::{DefRef, LIST_NAME};
use crate::lang::LanguageFamily;

/// Java's numeric types in the order of widening conversions.
const JAVA_NUMERIC_ORDER: &[&str] = &["byte", "short", "int", "long", "float", "double"];

/// Java's primitive types with the classes that box them.
#[rustfmt::skip]
const JAVA_BOXED_TYPES: &[(&str, &str)] = &[
    ("byte", "Byte"), ("short", "Short"), ("int", "Integer"), ("long", "Long"), ("float", "Float"), ("double", "Double"),
    ("char", "Character"), ("boolean", "Boolean"),
];

/// External types that cannot be extended, with their supertypes other than `Object`.
#[rustfmt::skip]
const JAVA_FINAL_TYPES: &[(&str, &[&str])] = &[
    ("String", &["CharSequence", "Comparable", "Serializable"]),
    ("Class", &["Type", "GenericDeclaration", "AnnotatedElement", "Serializable"]),
    ("Byte", &["Number", "Comparable", "Serializable"]), ("Short", &["Number", "Comparable", "Serializable"]),
    ("Integer", &["Number", "Comparable", "Serializable"]), ("Long", &["Number", "Comparable", "Serializable"]),
    ("Float", &["Number", "Comparable", "Serializable"]), ("Double", &["Number", "Comparable", "Serializable"]),
    ("Character", &["Comparable", "Serializable"]), ("Boolean", &["Comparable", "Serializable"]),
    ("StringBuilder", &["CharSequence", "Appendable", "Serializable"]),
    ("StringBuffer", &["CharSequence", "Appendable", "Serializable"]),
    ("UUID", &["Comparable", "Serializable"]), ("URI", &["Comparable", "Serializable"]), ("URL", &["Serializable"]),
    ("Locale", &["Serializable"]), ("Optional", &[]),
];

/// External types with supertypes that their names do not end with.
#[rustfmt::skip]
const JAVA_KNOWN_SUPERTYPES: &[(&str, &str)] = &[
    ("List", "Collection"), ("Set", "Collection"), ("ArrayList", "Collection"), ("HashSet", "Collection"), ("List", "Iterable"),
    ("Set", "Iterable"), ("Collection", "Iterable"), ("BigDecimal", "Number"), ("BigInteger", "Number"), ("AtomicInteger", "Number"),
    ("AtomicLong", "Number"), ("Writer", "Appendable"), ("StringWriter", "Appendable"), ("PrintStream", "Appendable"),
    ("ParameterizedType", "Type"), ("GenericArrayType", "Type"), ("WildcardType", "Type"), ("TypeVariable", "Type"),
    ("PrintStream", "OutputStream"), ("Method", "Executable"), ("Constructor", "Executable"), ("Field", "Member"),
];

/// The numeric types of C++ and C#, which convert to one another.
#[rustfmt::skip]
const C_NUMERIC_TYPES: &[&str] = &[
    "int", "unsigned", "long", "short", "bool", "double", "float", "size_t", "unsigned int", "unsigned long", "long long",
    "unsigned long long", "unsigned char", "uint8_t", "int8_t", "uint16_t", "int16_t", "uint32_t", "int32_t", "uint64_t",
    "int64_t", "ssize_t", "ptrdiff_t", "intptr_t", "uintptr_t",
    "decimal", "byte", "sbyte", "uint", "ulong", "ushort",
];

/// The string types of C++ and C#.
const C_STRING_TYPES: &[&str] = &["char", "string", "string_view"];

/// The kind of conversion that an argument needs, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ConversionStep {
    /// None, or to a supertype, or to a wider number.
    Subtype,
    /// Between a primitive and its class; in C++ and C# a user-defined conversion.
    Boxing,
    /// Several arguments are collected into one list.
    Varargs,
    /// Only in [`ConversionCost::NO_MATCH`].
    Impossible,
}

/// The misfit of an argument: the kind of conversion first, then its distance. Smaller is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ConversionCost {
    pub(super) step: ConversionStep,
    pub(super) distance: u32,
}

impl ConversionCost {
    // The numbers are distances, in steps up the inheritance chain where it is known. The gaps
    // between them leave room for such steps: no chain has 30.
    pub(super) const EXACT_MATCH: Self = Self::subtype(0);
    /// To a type that is one step away, or that accepts `null` or a lambda.
    const NEAR_SUBTYPE: Self = Self::subtype(1);
    /// To a known supertype of a final class, or between two numeric types of C++.
    const FAR_SUBTYPE: Self = Self::subtype(2);
    /// Of `null` to `Object`: `null` prefers every other class.
    const NULL_TO_OBJECT: Self = Self::subtype(5);
    /// To the root of all classes: farther than any other supertype.
    const TO_OBJECT: Self = Self::subtype(30);
    /// Nothing known contradicts it. Every known conversion is closer.
    pub(super) const UNKNOWN_MATCH: Self = Self::subtype(40);
    /// By a constructor or an operator of C++ or C#.
    const USER_DEFINED: Self = Self::boxing(5);
    /// Worse than any cost: where a search for the least cost starts. The functions of this file never
    /// return it; for them an impossible conversion is `None`.
    pub(super) const NO_MATCH: Self = Self { step: ConversionStep::Impossible, distance: 0 };

    const fn subtype(distance: u32) -> Self {
        Self { step: ConversionStep::Subtype, distance }
    }

    const fn boxing(distance: u32) -> Self {
        Self { step: ConversionStep::Boxing, distance }
    }

    /// The cost of both conversions together.
    pub(super) fn plus(self, other: Self) -> Self {
        Self { step: self.step.max(other.step), distance: self.distance + other.distance }
    }
}

/// The cost of passing a value to a parameter; `None` if that is impossible.
pub(super) fn conversion_cost(
    resolver: &Resolver<'_>,
    arg: &AbstractValue,
    param: &AbstractValue,
) -> Option<ConversionCost> {
    match resolver.view.own_file().facts.lang.family() {
        LanguageFamily::C | LanguageFamily::CSharp => Some(c_conversion_cost(resolver, arg, param)),
        // Only Java is left: no other language selects overloads by type.
        _ => java_conversion_cost(resolver, arg, param),
    }
}

/// The cost in Java, by the kinds of the two types; `None` if the conversion is impossible.
fn java_conversion_cost(
    resolver: &Resolver<'_>,
    arg: &AbstractValue,
    param: &AbstractValue,
) -> Option<ConversionCost> {
    match (arg, param) {
        // One of several values, `flag ? a : b`: the worst decides, and all must be possible.
        (AbstractValue::AnyOf(parts), _) => {
            let mut worst = None;
            for part in parts.iter() {
                worst = worst.max(Some(java_conversion_cost(resolver, part, param)?));
            }
            worst
        }
        // Two classes of the project: the parameter must be a supertype.
        (AbstractValue::Instance(arg, _), AbstractValue::Instance(param, _)) => {
            inheritance_distance(resolver, *arg, *param, MAX_INHERITANCE_DEPTH)
                .map(ConversionCost::subtype)
        }
        // A class of the project to one of a library: its bases decide.
        (AbstractValue::Instance(arg, _), AbstractValue::Builtin(param, _)) => {
            cost_to_external_base(resolver, *arg, resolver.name_text(*param))
        }
        // A class of a library never extends one of the project. The extractor gives `null` and
        // lambdas types with these names, which convert to more than a subtype does.
        (AbstractValue::Builtin(arg, _), AbstractValue::Instance(param, _)) => {
            match resolver.name_text(*arg) {
                "null" => Some(ConversionCost::NEAR_SUBTYPE),
                "lambda" => (resolver.def(*param).kind == DefKind::Interface)
                    .then_some(ConversionCost::NEAR_SUBTYPE),
                _ => None,
            }
        }
        // Two arrays: `String[]` converts to `Object[]`, `int[]` not to `Integer[]`.
        (AbstractValue::Builtin(LIST_NAME, arg), AbstractValue::Builtin(LIST_NAME, param)) => {
            match (arg.first(), param.first()) {
                (Some(arg), Some(param)) => java_conversion_cost(resolver, arg, param)
                    .filter(|it| it.step == ConversionStep::Subtype),
                // An array without a known element type.
                _ => Some(ConversionCost::UNKNOWN_MATCH),
            }
        }
        // Two types of the language or of libraries.
        (AbstractValue::Builtin(arg, _), AbstractValue::Builtin(param, _)) => {
            builtin_conversion_cost(resolver.name_text(*arg), resolver.name_text(*param))
        }
        // One of the two is unknown, external or a function, or the parameter is one of several types
        // (`AnyOf`), of which none is known to be meant.
        _ => Some(ConversionCost::UNKNOWN_MATCH),
    }
}

/// The cost in C++ and C#, where a constructor or an operator may convert nearly everything.
/// Nothing is excluded, but an argument without such a conversion comes first.
fn c_conversion_cost(
    resolver: &Resolver<'_>,
    arg: &AbstractValue,
    param: &AbstractValue,
) -> ConversionCost {
    match (arg, param) {
        // Everything in C# converts to `object`.
        (
            AbstractValue::Instance(..) | AbstractValue::Builtin(..),
            AbstractValue::Builtin(param, _),
        ) if resolver.name_text(*param) == "object" => ConversionCost::TO_OBJECT,
        (AbstractValue::Instance(arg, _), AbstractValue::Instance(param, _)) => {
            inheritance_distance(resolver, *arg, *param, MAX_INHERITANCE_DEPTH)
                .map_or(ConversionCost::USER_DEFINED, ConversionCost::subtype)
        }
        (AbstractValue::Builtin(arg, _), AbstractValue::Builtin(param, _)) => {
            let (arg, param) = (resolver.name_text(*arg), resolver.name_text(*param));
            let are_both_in = |types: &[&str]| types.contains(&arg) && types.contains(&param);
            if arg == param {
                ConversionCost::EXACT_MATCH
            } else if are_both_in(C_NUMERIC_TYPES) {
                ConversionCost::FAR_SUBTYPE
            } else if are_both_in(C_STRING_TYPES) {
                ConversionCost::NEAR_SUBTYPE
            } else {
                ConversionCost::USER_DEFINED
            }
        }
        (AbstractValue::Instance(..), AbstractValue::Builtin(..))
        | (AbstractValue::Builtin(..), AbstractValue::Instance(..)) => ConversionCost::USER_DEFINED,
        // One of the two is unknown, external or a function, or one of several types (`AnyOf`): unlike
        // in Java nothing is excluded, so its parts are not compared.
        _ => ConversionCost::UNKNOWN_MATCH,
    }
}

/// The number of steps from a type up to one of its supertypes; `None` if it is no supertype.
/// `depth_left` ends a cycle in broken code, where a class extends itself.
fn inheritance_distance(
    resolver: &Resolver<'_>,
    from: DefRef,
    to: DefRef,
    depth_left: u32,
) -> Option<u32> {
    if from == to {
        return Some(0);
    }
    let depth_left = depth_left.checked_sub(1)?;
    let AbstractValue::AllOf(bases) = base_instances(resolver, from, &None) else { return None };
    let mut nearest: Option<u32> = None;
    for base in bases.iter() {
        // An external base does not lead back to a type of the project.
        let AbstractValue::Instance(base, _) = base else { continue };
        if let Some(distance) = inheritance_distance(resolver, *base, to, depth_left) {
            nearest = Some(nearest.map_or(distance, |it| it.min(distance)));
        }
    }
    // One step from the type to its base.
    nearest.map(|distance| distance + 1)
}

/// The cost of converting an instance of the project to an external supertype, by the external
/// bases of its class and of the classes that it extends. `None` if it is no supertype.
fn cost_to_external_base(
    resolver: &Resolver<'_>,
    from: DefRef,
    to: &str,
) -> Option<ConversionCost> {
    if to == "Object" {
        return Some(ConversionCost::TO_OBJECT);
    }
    let is_array = to == resolver.name_text(LIST_NAME);
    if is_primitive(to) || is_final_class(to) || is_array {
        // No class extends these.
        return None;
    }
    let AbstractValue::AllOf(bases) = base_instances(resolver, from, &None) else { return None };
    let costs = bases.iter().filter_map(|it| match it {
        AbstractValue::Builtin(base, _) => builtin_conversion_cost(resolver.name_text(*base), to),
        // `with_budget` returns `None` when the resolver's limit of steps is reached, which ends a
        // cycle as `depth_left` does above.
        AbstractValue::Instance(base, _) => {
            resolver.with_budget(None, || cost_to_external_base(resolver, *base, to))
        }
        // An unknown base may be the wanted one.
        _ => Some(ConversionCost::UNKNOWN_MATCH),
    });
    // One step farther than the nearest base.
    costs.min().map(|it| ConversionCost { distance: it.distance + 1, ..it })
}

fn is_primitive(name: &str) -> bool {
    boxed_class(name).is_some()
}

/// The class that boxes a primitive type: `Integer` for `int`.
fn boxed_class(primitive: &str) -> Option<&'static str> {
    JAVA_BOXED_TYPES.iter().find(|(it, _)| *it == primitive).map(|(_, class)| *class)
}

/// The primitive type that a class boxes: `int` for `Integer`.
fn unboxed_primitive(class: &str) -> Option<&'static str> {
    JAVA_BOXED_TYPES.iter().find(|(_, it)| *it == class).map(|(primitive, _)| *primitive)
}

/// The supertypes of a class of the standard library that cannot be extended; `None` for others.
fn supertypes_of_final_class(name: &str) -> Option<&'static [&'static str]> {
    JAVA_FINAL_TYPES.iter().find(|(it, _)| *it == name).map(|(_, supertypes)| *supertypes)
}

fn is_final_class(name: &str) -> bool {
    supertypes_of_final_class(name).is_some()
}

/// The cost between two external types of Java, by their simple names.
fn builtin_conversion_cost(arg: &str, param: &str) -> Option<ConversionCost> {
    if arg == param {
        return Some(ConversionCost::EXACT_MATCH);
    }
    match (is_primitive(arg), is_primitive(param)) {
        // `int` to `long`.
        (true, true) => widening_distance(arg, param).map(ConversionCost::subtype),
        // `int` to `Integer`, and from there to `Number` or `Object`.
        (true, false) => {
            let from_boxed = builtin_conversion_cost(boxed_class(arg)?, param)?;
            Some(ConversionCost::boxing(from_boxed.distance))
        }
        // `Integer` to `int`, and from there to `long`.
        (false, true) => {
            let primitive = unboxed_primitive(arg)?;
            let distance =
                if primitive == param { 0 } else { widening_distance(primitive, param)? };
            Some(ConversionCost::boxing(distance))
        }
        // `String` to `CharSequence`.
        (false, false) => reference_conversion_cost(arg, param),
    }
}

/// The number of steps of a widening conversion (Java Language Specification, 5.1.2).
fn widening_distance(arg: &str, param: &str) -> Option<u32> {
    let rank = |name: &str| JAVA_NUMERIC_ORDER.iter().position(|number| *number == name);
    // A `char` widens to `int` and everything above it.
    let is_char = arg == "char";
    let from = if is_char { rank("int")? } else { rank(arg)? };
    let to = rank(param)?;
    let is_wider = to > from || (is_char && to == from);
    // One more than the ranks: a conversion of `char` to `int` is not an exact match.
    is_wider.then(|| u32::try_from(to - from + 1).unwrap_or(0))
}

/// The cost between two different external classes of Java, by name. `Array` is the name of all
/// array types, `null` and `lambda` are the types that the extractor gives to such arguments.
fn reference_conversion_cost(arg: &str, param: &str) -> Option<ConversionCost> {
    match (arg, param) {
        ("null", "Object") => return Some(ConversionCost::NULL_TO_OBJECT),
        ("null", _) => return Some(ConversionCost::NEAR_SUBTYPE),
        // A lambda needs an interface; these types and the final classes are none.
        ("lambda", "Object" | "Array" | "Number") => return None,
        ("lambda", _) => {
            return (!is_final_class(param)).then_some(ConversionCost::NEAR_SUBTYPE);
        }
        (_, "Object") => return Some(ConversionCost::TO_OBJECT),
        ("Object", _) => return None,
        // An array has no supertype but `Object`; two arrays are compared by their elements.
        ("Array", _) | (_, "Array") => return None,
        _ => {}
    }
    // The supertypes of a final class are all known.
    if let Some(supertypes) = supertypes_of_final_class(arg) {
        return supertypes.contains(&param).then_some(ConversionCost::FAR_SUBTYPE);
    }
    // A final class has no subtypes.
    if is_final_class(param) {
        return None;
    }
    // By convention the name of a subtype ends with that of its supertype: `FileReader`, `Reader`.
    if arg.ends_with(param) || JAVA_KNOWN_SUPERTYPES.contains(&(arg, param)) {
        return Some(ConversionCost::NEAR_SUBTYPE);
    }
    // A supertype does not convert to its subtype; of two unrelated names nothing is known.
    let is_supertype = param.ends_with(arg) || JAVA_KNOWN_SUPERTYPES.contains(&(param, arg));
    (!is_supertype).then_some(ConversionCost::UNKNOWN_MATCH)
}
