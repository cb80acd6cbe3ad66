//! Members of values: own, added from outside, inherited.

use super::{Env, Found, Here, How, Resolver, Value};
use crate::facts::Flags;
use crate::lang::Family;
use crate::world::{DefRef, Name, Want};

/// How far up a line of types is followed.
const MAX_BASES: u32 = 24;

impl Resolver<'_> {
    pub(crate) fn member(&self, of: &Value, name: Name, want: Want, how: How) -> Found {
        self.step(Found::Nothing, || self.member_within(of, name, want, how, MAX_BASES))
    }

    fn member_within(&self, of: &Value, name: Name, want: Want, how: How, left: u32) -> Found {
        let Some(left) = left.checked_sub(1) else { return Found::Nothing };
        match of {
            Value::Unknown => Found::Nothing,
            Value::External => Found::External,
            Value::Module(place) => self.module_member(place, name, want).by(How::Import),
            Value::Type(def, env) | Value::Object(def, env) => {
                self.member_of(*def, env, name, want, how, left)
            }
            Value::Callable(def, _) => self.added(*def, name, want, how),
            Value::Builtin(..) => {
                self.builtin_member(of, name).map_or(Found::External, Found::Value)
            }
            Value::Record(file, list, env) => self.record_member(*file, *list, env, name),
            Value::Function(_) => Found::External,
            Value::Both(parts) => {
                let mut res = Found::Nothing;
                for part in parts.iter() {
                    match self.member_within(part, name, want, how, left) {
                        Found::Nothing => {}
                        Found::External => res = res.or_else(|| Found::External),
                        found => return found,
                    }
                }
                res
            }
            Value::Either(parts) => self.common_member(parts, name, want, how, left),
        }
    }

    /// A member that all alternatives share; those that are foreign do not count.
    fn common_member(&self, parts: &[Value], name: Name, want: Want, how: How, left: u32) -> Found {
        let mut res = Found::Nothing;
        let mut values = Vec::new();
        for part in parts {
            match (self.member_within(part, name, want, how, left), &res) {
                (Found::Def(def, ..), Found::Def(known, ..)) if def != *known => {
                    return Found::Nothing;
                }
                (found @ Found::Def(..), _) => res = found,
                (Found::Value(it), _) => values.push(it),
                (found @ (Found::External | Found::Module(_)), Found::Nothing) => res = found,
                _ => {}
            }
        }
        if matches!(res, Found::Nothing | Found::External) && !values.is_empty() {
            return Found::Value(Value::either(values));
        }
        res
    }

    fn record_member(&self, file: u32, list: crate::facts::List, env: &Env, name: Name) -> Found {
        let entry = self.lens.entry(file);
        let pairs = entry.facts.list(list).chunks_exact(2);
        let pair = pairs.into_iter().find(|it| entry.name(it[0]) == name);
        pair.map_or(Found::Nothing, |it| {
            Found::Value(self.eval(&Here { file, env: env.clone() }, it[1], false))
        })
    }

    fn member_of(
        &self,
        at: DefRef,
        env: &Env,
        name: Name,
        want: Want,
        how: How,
        left: u32,
    ) -> Found {
        let entry = self.lens.entry(at.file);
        // A field of Rust is never called by its name; a variant of an enum is.
        let is_callable = |it: &u32| {
            let def = &entry.facts.defs[*it as usize];
            !(want.is_called() && entry.facts.lang == crate::Lang::Rust)
                || def.kind != crate::DefKind::Field
                || def.flags.has(Flags::STATIC)
        };
        let own = entry.member(Some(at.def), name, want).filter(is_callable);
        // A member that is only announced here may be defined elsewhere, and what is called is a method
        // before it is a field of the same name.
        // C is settled at the end, by the one that was chosen among those that are announced.
        let is_c = entry.facts.lang.family() == Family::C;
        let may_be_other = |it: u32| {
            let def = &entry.facts.defs[it as usize];
            let is_called = want.args != crate::sketch::ANY_NUMBER;
            (def.flags.has(Flags::DECLARATION) && !is_c)
                || (is_called && def.kind == crate::DefKind::Field)
        };
        let added = match own {
            Some(it) if !may_be_other(it) => Found::Nothing,
            _ => self.added(at, name, want, how),
        };
        if !added.is_nothing() {
            return added;
        }
        if let Some(def) = own {
            return Found::Def(DefRef { file: at.file, def }, env.clone(), how);
        }
        let def = &entry.facts.defs[at.def as usize];
        if def.kind == crate::DefKind::TypeAlias && def.declared.is_some() {
            let of = self.object_of(Value::Type(at, env.clone()));
            return self.member_within(&of, name, want, how, left);
        }
        let bases = self.bases(at, env);
        match self.member_within(&bases, name, want, how, left) {
            // A type that builds on something foreign may have any member: nothing is said.
            Found::External if entry.facts.lang.family() == Family::Script => Found::External,
            found => found,
        }
    }

    /// A member that stands outside its type.
    fn added(&self, at: DefRef, name: Name, want: Want, how: How) -> Found {
        let entry = self.lens.entry(at.file);
        let owner = entry.name(entry.facts.defs[at.def as usize].name);
        let mut fitting: Option<(DefRef, bool)> = None;
        for candidate in self.lens.outside(owner, name) {
            let other = self.lens.entry(candidate.file);
            let def = &other.facts.defs[candidate.def as usize];
            let Some(term) = def.owner else { continue };
            // What makes an object may bear the name of its type, and is none.
            if !want.is_called() && def.flags.has(Flags::CONSTRUCTOR) {
                continue;
            }
            let here = Here { file: candidate.file, env: None };
            let is_it = match self.eval(&here, term, true) {
                Value::Type(it, _) | Value::Object(it, _) | Value::Callable(it, _) => it == at,
                _ => false,
            };
            if !is_it {
                continue;
            }
            let is_weak = def.flags.has(Flags::DECLARATION)
                || (want.args != crate::sketch::ANY_NUMBER
                    && !(def.takes.0 <= want.args && want.args <= def.takes.1));
            if fitting.is_none_or(|it| it.1 && !is_weak) {
                fitting = Some((candidate, is_weak));
            }
        }
        fitting.map_or(Found::Nothing, |it| Found::Def(it.0, None, how))
    }
}
