//! Of several methods with one name, the one that fits what it is given.
//!
//! An argument may be known only in part: then every method that it could be given to stays possible,
//! and a call that leaves several is said to be undecided rather than bound to one of them.

use super::{Found, Here, How, Resolver, Value};
use crate::facts::{Term, TermId};
use crate::lang::Family;
use crate::sketch::ANY_NUMBER;
use crate::world::{DefRef, FileId, LIST, Want};

/// Numbers in the order in which one is taken for the next.
const NUMBERS: &[&str] = &["byte", "short", "int", "long", "float", "double"];

/// Each with the object it is put into where an object is needed.
#[rustfmt::skip]
const BOXES: &[(&str, &str)] = &[
    ("byte", "Byte"), ("short", "Short"), ("int", "Integer"), ("long", "Long"), ("float", "Float"), ("double", "Double"),
    ("char", "Character"), ("boolean", "Boolean"),
];

/// Foreign types that nothing builds on, with what they build on themselves beside `Object`.
#[rustfmt::skip]
const FINAL: &[(&str, &[&str])] = &[
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

/// Foreign types whose name does not end in that of what they build on.
#[rustfmt::skip]
const KNOWN: &[(&str, &str)] = &[
    ("List", "Collection"), ("Set", "Collection"), ("ArrayList", "Collection"), ("HashSet", "Collection"), ("List", "Iterable"),
    ("Set", "Iterable"), ("Collection", "Iterable"), ("BigDecimal", "Number"), ("BigInteger", "Number"), ("AtomicInteger", "Number"),
    ("AtomicLong", "Number"), ("Writer", "Appendable"), ("StringWriter", "Appendable"), ("PrintStream", "Appendable"),
    ("ParameterizedType", "Type"), ("GenericArrayType", "Type"), ("WildcardType", "Type"), ("TypeVariable", "Type"),
    ("PrintStream", "OutputStream"), ("Method", "Executable"), ("Constructor", "Executable"), ("Field", "Member"),
];

/// The numbers of C++ and C#, each of which is taken for any other.
#[rustfmt::skip]
const C_NUMBERS: &[&str] = &[
    "int", "unsigned", "long", "short", "bool", "double", "float", "size_t", "unsigned int", "unsigned long", "long long",
    "unsigned long long", "unsigned char", "uint8_t", "int8_t", "uint16_t", "int16_t", "uint32_t", "int32_t", "uint64_t",
    "int64_t", "ssize_t", "ptrdiff_t", "intptr_t", "uintptr_t",
    "decimal", "byte", "sbyte", "uint", "ulong", "ushort",
];

/// What a text is kept in.
const C_TEXTS: &[&str] = &["char", "string", "string_view"];

/// How badly an argument fits a parameter: first by the kind of step that is needed, then by how far.
type Cost = (u8, u32);

const SAME: Cost = (0, 0);
/// An object is made of a plain value, or the other way round.
const BOXED: u8 = 1;
/// Several arguments become one list.
const GATHERED: u8 = 2;
/// As far as can be seen.
const POSSIBLE: Cost = (0, 40);
const NOT_AT_ALL: Cost = (u8::MAX, 0);

/// How far up a line of types is followed.
const MAX_UP: u32 = 24;

impl Resolver<'_> {
    /// The method meant by a call that found `first` by name and number of arguments. Several where the
    /// arguments do not tell.
    pub(super) fn meant(
        &self,
        here: &Here,
        first: DefRef,
        args: u8,
        given: Option<TermId>,
    ) -> Vec<DefRef> {
        let facts = &self.lens.entry(here.file).facts;
        let terms = match given.map(|it| facts.terms[it as usize]) {
            Some(Term::Both(list)) => facts.list(list),
            _ => &[],
        };
        let mut values: Option<Vec<Value>> = None;
        let (mut at, mut best) = (first, (NOT_AT_ALL, vec![first]));
        for _ in 0..MAX_UP {
            let entry = self.lens.entry(at.file);
            let def = &entry.facts.defs[at.def as usize];
            let name = entry.name(def.name);
            let fits = |it: &u32| {
                let def = &entry.facts.defs[*it as usize];
                def.kind.is_callable() && def.takes.0 <= args && args <= def.takes.1
            };
            let all: Vec<u32> = entry.named(def.parent, name).filter(fits).collect();
            let values = values.get_or_insert_with(|| {
                let unknown = vec![Value::Unknown; usize::from(args).saturating_sub(terms.len())];
                terms.iter().map(|it| self.eval(here, *it, false)).chain(unknown).collect()
            });
            let costs = all.iter().filter_map(|it| {
                let it = DefRef { file: at.file, def: *it };
                Some((self.cost(it, values)?, it))
            });
            let costs: Vec<(Cost, DefRef)> = costs.collect();
            let least = costs.iter().map(|it| it.0).min().unwrap_or(NOT_AT_ALL);
            if least < best.0 {
                let meant = costs.iter().filter(|it| it.0 == least).map(|it| it.1);
                best = (least, meant.collect());
            }
            if least < POSSIBLE {
                break;
            }
            // None of them surely takes this; what the type builds on may have one that does.
            let Some(class) = def.parent else { break };
            let above = self.bases(DefRef { file: at.file, def: class }, &None);
            match self.member(&above, name, Want { as_type: false, args }, How::Member) {
                Found::Def(next, ..) => at = next,
                _ => break,
            }
        }
        best.1
    }

    /// What it costs to give a method these values; nothing if it does not take them.
    fn cost(&self, at: DefRef, given: &[Value]) -> Option<Cost> {
        let entry = self.lens.entry(at.file);
        let def = &entry.facts.defs[at.def as usize];
        let Some(Term::Both(list)) = def.params.map(|it| entry.facts.terms[it as usize]) else {
            return Some(POSSIBLE);
        };
        let params = self.values(at.file, entry.facts.list(list));
        let takes_any = def.takes.1 == ANY_NUMBER;
        let fixed = if takes_any { params.len().checked_sub(1)? } else { params.len() };
        // A list may also be given as it is.
        if takes_any && given.len() == params.len() {
            let gathered = super::builtin::list_of(params[fixed].clone());
            let whole = params[..fixed].iter().chain([&gathered]);
            if let Some(cost) = self.cost_of_all(given.iter().zip(whole)) {
                return Some(cost);
            }
        }
        let rest = params.get(fixed).into_iter().cycle();
        let cost = self.cost_of_all(given.iter().zip(params[..fixed].iter().chain(rest)))?;
        Some(if takes_any { (GATHERED, cost.1) } else { cost })
    }

    /// What the parameters of a definition are.
    pub(super) fn param_values(&self, at: DefRef) -> Vec<Value> {
        let facts = &self.lens.entry(at.file).facts;
        match facts.defs[at.def as usize].params.map(|it| facts.terms[it as usize]) {
            Some(Term::Both(list)) => self.values(at.file, facts.list(list)),
            _ => Vec::new(),
        }
    }

    fn values(&self, file: FileId, terms: &[TermId]) -> Vec<Value> {
        let there = Here { file, env: None };
        terms.iter().map(|it| self.eval(&there, *it, false)).collect()
    }

    fn cost_of_all<'v>(
        &self,
        mut pairs: impl Iterator<Item = (&'v Value, &'v Value)>,
    ) -> Option<Cost> {
        pairs.try_fold(SAME, |acc, (given, param)| {
            let (step, far) = self.cost_of(given, param)?;
            Some((acc.0.max(step), acc.1 + far))
        })
    }

    fn cost_of(&self, given: &Value, param: &Value) -> Option<Cost> {
        if matches!(self.lens.own().facts.lang.family(), Family::C | Family::CSharp) {
            return Some(self.c_cost_of(given, param));
        }
        match (given, param) {
            (Value::Either(parts), _) => {
                let costs: Option<Vec<Cost>> =
                    parts.iter().map(|it| self.cost_of(it, param)).collect();
                costs?.into_iter().max()
            }
            (Value::Object(a, _), Value::Object(b, _)) => {
                self.steps_up(*a, *b, MAX_UP).map(|it| (0, it))
            }
            (Value::Object(a, _), Value::Builtin(b, _)) => self.up_to_foreign(*a, self.text(*b)),
            // What comes from outside does not build on what is ours.
            (Value::Builtin(a, _), Value::Object(b, _)) => match self.text(*a) {
                "null" => Some((0, 1)),
                "lambda" => {
                    let kind = self.lens.entry(b.file).facts.defs[b.def as usize].kind;
                    (kind == crate::DefKind::Interface).then_some((0, 1))
                }
                _ => None,
            },
            (Value::Builtin(a, of), Value::Builtin(b, to)) if (*a, *b) == (LIST, LIST) => {
                match (of.first(), to.first()) {
                    (Some(a), Some(b)) => self.cost_of(a, b).filter(|it| it.0 == 0),
                    _ => Some(POSSIBLE),
                }
            }
            (Value::Builtin(a, _), Value::Builtin(b, _)) => builtin(self.text(*a), self.text(*b)),
            _ => Some(POSSIBLE),
        }
    }

    /// In C++ and C# a constructor or an operator may turn nearly everything into everything else: nothing is
    /// ruled out, but what needs no such step comes first.
    fn c_cost_of(&self, given: &Value, param: &Value) -> Cost {
        const CONVERTED: Cost = (BOXED, 5);
        match (given, param) {
            (Value::Object(..) | Value::Builtin(..), Value::Builtin(b, _))
                if self.text(*b) == "object" =>
            {
                (0, 30)
            }
            (Value::Object(a, _), Value::Object(b, _)) => {
                self.steps_up(*a, *b, MAX_UP).map_or(CONVERTED, |it| (0, it))
            }
            (Value::Builtin(a, _), Value::Builtin(b, _)) => {
                let (a, b) = (self.text(*a), self.text(*b));
                match (C_NUMBERS.contains(&a), C_NUMBERS.contains(&b)) {
                    _ if a == b => SAME,
                    (true, true) => (0, 2),
                    (false, false) if C_TEXTS.contains(&a) && C_TEXTS.contains(&b) => (0, 1),
                    _ => CONVERTED,
                }
            }
            (Value::Object(..), Value::Builtin(..)) | (Value::Builtin(..), Value::Object(..)) => {
                CONVERTED
            }
            _ => POSSIBLE,
        }
    }

    /// How many steps it is from a type up to another.
    fn steps_up(&self, from: DefRef, to: DefRef, left: u32) -> Option<u32> {
        if from == to {
            return Some(0);
        }
        let left = left.checked_sub(1)?;
        let Value::Both(bases) = self.bases(from, &None) else { return None };
        let ups = bases.iter().filter_map(|it| match it {
            Value::Object(above, _) => self.steps_up(*above, to, left),
            _ => None,
        });
        ups.min().map(|it| it + 1)
    }

    fn up_to_foreign(&self, from: DefRef, to: &str) -> Option<Cost> {
        if to == "Object" {
            return Some((0, 30));
        }
        if is_plain(to) || FINAL.iter().any(|it| it.0 == to) || to == self.text(LIST) {
            return None;
        }
        let Value::Both(bases) = self.bases(from, &None) else { return None };
        let ups = bases.iter().filter_map(|it| match it {
            Value::Builtin(above, _) => builtin(self.text(*above), to),
            Value::Object(above, _) => self.step(None, || self.up_to_foreign(*above, to)),
            _ => Some(POSSIBLE),
        });
        ups.min().map(|it| (it.0, it.1 + 1))
    }
}

fn is_plain(name: &str) -> bool {
    BOXES.iter().any(|it| it.0 == name)
}

fn boxed(name: &str) -> Option<&'static str> {
    BOXES.iter().find(|it| it.0 == name).map(|it| it.1)
}

/// How a value of one foreign type is taken for another.
fn builtin(given: &str, param: &str) -> Option<Cost> {
    if given == param {
        return Some(SAME);
    }
    match (is_plain(given), is_plain(param)) {
        (true, true) => widened(given, param).map(|it| (0, it)),
        (true, false) => {
            let (_, far) = builtin(boxed(given)?, param)?;
            Some((BOXED, far))
        }
        (false, true) => {
            let plain = BOXES.iter().find(|it| it.1 == given)?.0;
            let far = if plain == param { 0 } else { widened(plain, param)? };
            Some((BOXED, far))
        }
        (false, false) => object(given, param),
    }
}

fn widened(given: &str, param: &str) -> Option<u32> {
    let place = |it: &str| NUMBERS.iter().position(|number| *number == it);
    let from = if given == "char" { place("int") } else { place(given) };
    let (from, to) = (from?, place(param)?);
    let is_wider = to > from || (given == "char" && to == from);
    is_wider.then(|| u32::try_from(to - from + 1).unwrap_or(0))
}

fn object(given: &str, param: &str) -> Option<Cost> {
    match (given, param) {
        ("null", "Object") => return Some((0, 5)),
        ("null", _) => return Some((0, 1)),
        ("lambda", "Object" | "Array" | "Number") => return None,
        ("lambda", _) => return (!FINAL.iter().any(|it| it.0 == param)).then_some((0, 1)),
        (_, "Object") => return Some((0, 30)),
        ("Object", _) => return None,
        ("Array", _) | (_, "Array") => return None,
        _ => {}
    }
    if let Some((_, above)) = FINAL.iter().find(|it| it.0 == given) {
        return above.contains(&param).then_some((0, 2));
    }
    if FINAL.iter().any(|it| it.0 == param) {
        return None;
    }
    if given.ends_with(param) || KNOWN.contains(&(given, param)) {
        return Some((0, 1));
    }
    // The other way round it cannot be.
    let is_above = param.ends_with(given) || KNOWN.contains(&(param, given));
    (!is_above).then_some(POSSIBLE)
}
