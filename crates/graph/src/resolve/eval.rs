//! Terms to values.

use std::rc::Rc;

use super::{Found, Here, How, Place, Resolver, Value};
use crate::facts::{DefKind, Flags, Import, ImportKind, List, Term, TermId};
use crate::lang::Family;
use crate::world::{DefRef, FileId, Name, Want};

impl Resolver<'_> {
    /// The definition that a term names, if it names one.
    pub(crate) fn bind(&self, here: &Here, term: TermId, want: Want) -> Found {
        self.step(Found::Nothing, || self.bind_term(here, term, want))
    }

    fn bind_term(&self, here: &Here, term: TermId, want: Want) -> Found {
        let entry = self.lens.entry(here.file);
        match entry.facts.terms[term as usize] {
            Term::Def(def) => {
                // Of several with one name, the scope found the first; the call decides.
                let it = &entry.facts.defs[def as usize];
                let best = entry.best(entry.named(it.parent, entry.name(it.name)), want);
                let best = best.unwrap_or(def);
                let takes = entry.facts.defs[best as usize].takes;
                let fits = takes.0 <= want.args && want.args <= takes.1;
                // Another file may have the one that is meant.
                if entry.facts.lang.family() == Family::C && want.is_called() && !fits {
                    let other = self.c_name(here.file, it.parent, entry.name(it.name), want);
                    return other.or_else(|| Found::def(here.file, best, How::Scope));
                }
                Found::def(here.file, best, How::Scope)
            }
            Term::Import(import) => {
                let it = &entry.facts.imports[import as usize];
                match self.imported(here.file, it, want) {
                    // What is called is the other of the two that bear the name.
                    Found::Module(place) if want.is_called() => {
                        let others = entry.import(it.within, entry.name(it.local));
                        let mut others = others.filter(|it| *it != import).map(|it| {
                            self.imported(here.file, &entry.facts.imports[it as usize], want)
                        });
                        let found = others.find(|it| matches!(it, Found::Def(..)));
                        found.unwrap_or(Found::Module(place))
                    }
                    found => found,
                }
            }
            Term::Name(name) => self.free_name(here.file, None, entry.name(name), want),
            Term::Implicit(def, name) => self.implicit(here, def, entry.name(name), want),
            Term::Member(of, name) => {
                let how = match entry.facts.terms[of as usize] {
                    Term::This(_) | Term::Super(_) => How::Member,
                    _ => How::Type,
                };
                let value = self.eval(here, of, false);
                let how = if matches!(value, Value::Type(..)) { How::Member } else { how };
                let found = self.member(&value, entry.name(name), want, how);
                let is_rust = entry.facts.lang.family() == Family::Rust;
                // What a type takes from elsewhere may have any method: what is in scope is surer.
                if is_rust && want.is_called() && matches!(found, Found::Nothing | Found::External)
                {
                    let name = entry.name(name);
                    return self.rust_extension(here.file, &value, name, want).or_else(|| found);
                }
                found
            }
            Term::Args(list) => match entry.facts.list(list).first() {
                Some(head) => self.bind(here, *head, want),
                None => Found::Nothing,
            },
            _ => Found::Nothing,
        }
    }

    /// A bare name inside a type or a module: its members first, then those around it.
    fn implicit(&self, here: &Here, def: u32, name: Name, want: Want) -> Found {
        let entry = self.lens.entry(here.file);
        if entry.facts.defs[def as usize].kind == DefKind::Module {
            return self.free_name(here.file, Some(def), name, want);
        }
        let mut at = Some(def);
        while let Some(def) = at {
            let it = &entry.facts.defs[def as usize];
            let this = match it.owner {
                // A method that stands outside its type sees what is in it.
                Some(owner) => self.object_of(self.eval(here, owner, true)),
                None if it.kind.is_type() => Value::Object(DefRef { file: here.file, def }, None),
                None => Value::Unknown,
            };
            let found = self.member(&this, name, want, How::Member);
            if matches!(found, Found::Def(..)) {
                return found;
            }
            at = it.parent;
        }
        if entry.facts.lang.family() == Family::C {
            return self.free_name(here.file, Some(def), name, want);
        }
        let top = entry.member(None, name, want);
        let top = top.map_or(Found::Nothing, |it| Found::def(here.file, it, How::Scope));
        let imported = || entry.import(None, name).next();
        top.or_else(|| {
            imported().map_or(Found::Nothing, |it| {
                self.imported(here.file, &entry.facts.imports[it as usize], want)
            })
        })
        .or_else(|| self.free_name(here.file, None, name, want))
    }

    /// What an import brings in.
    pub(super) fn imported(&self, file: FileId, import: &Import, want: Want) -> Found {
        let entry = self.lens.entry(file);
        let place = self.module(file, entry.name(import.module));
        let Some(place) = place else { return Found::Nothing };
        if place == Place::External {
            return Found::External;
        }
        match import.kind {
            ImportKind::Module | ImportKind::Child | ImportKind::Effect => Found::Module(place),
            ImportKind::Star => Found::Nothing,
            ImportKind::Named | ImportKind::Default => {
                let item = entry.name(import.item);
                let found = self.step(Found::Nothing, || self.module_member(&place, item, want));
                let is_default = import.kind == ImportKind::Default;
                // A module of the other system has no default: the module itself is meant.
                found.by(How::Import).or_else(|| match place {
                    _ if is_default => Found::Module(place),
                    // A package that does not define what is taken from it is somebody else's.
                    Place::Space(_) => Found::External,
                    _ => Found::Nothing,
                })
            }
        }
    }

    pub(crate) fn eval(&self, here: &Here, term: TermId, as_type: bool) -> Value {
        if here.env.is_some() {
            return self.step(Value::Unknown, || self.eval_term(here, term, as_type));
        }
        let key = (here.file, term, as_type);
        if let Some(known) = self.memo.borrow().get(&key) {
            return known.clone();
        }
        // Met again on its own way, it is nothing yet.
        self.memo.borrow_mut().insert(key, Value::Unknown);
        let res = self.step(Value::Unknown, || self.eval_term(here, term, as_type));
        self.memo.borrow_mut().insert(key, res.clone());
        res
    }

    fn eval_term(&self, here: &Here, term: TermId, as_type: bool) -> Value {
        let entry = self.lens.entry(here.file);
        let facts = &entry.facts;
        let want = if as_type { Want::TYPE } else { Want::VALUE };
        match facts.terms[term as usize] {
            Term::Unknown | Term::Free(..) => Value::Unknown,
            Term::Literal(word) => Value::Builtin(entry.name(word), Rc::new([])),
            Term::Name(word) | Term::Implicit(_, word) => match self.bind(here, term, want) {
                // A value that nobody defines comes from a foreign type: its own is not known.
                Found::Nothing if !as_type && facts.lang.tells_by_types() => Value::External,
                // A name that nobody defines is the language's own.
                Found::Nothing if as_type || self.is_global(here.file, entry.name(word)) => {
                    Value::Builtin(entry.name(word), Rc::new([]))
                }
                found => self.value(found),
            },
            Term::Local(local) => self.local(here, local),
            Term::This(def) => Value::Object(DefRef { file: here.file, def }, None),
            Term::Super(def) => self.bases(DefRef { file: here.file, def }, &None),
            Term::Def(_) | Term::Import(_) | Term::Member(..) => {
                self.value(self.bind(here, term, want))
            }
            Term::Args(list) => self.generic(here, list, as_type),
            Term::New(of) => match (self.eval(here, of, true), self.head_name(here, of)) {
                // Where methods are told apart by types, foreign ones have names, too.
                (Value::External, Some(name)) if facts.lang.tells_by_types() => {
                    Value::Builtin(name, Rc::new([]))
                }
                (of, _) => self.object_of(of),
            },
            Term::Call(of) => self.call(here, of),
            Term::Element(of) => self.element(&self.eval(here, of, false)),
            Term::Await(of) => self.awaited(self.eval(here, of, false)),
            Term::Many(of) => {
                let of = self.eval(here, of, false);
                super::builtin::list_of(of)
            }
            Term::Function(of) => Value::Function(Rc::new(self.eval(here, of, false))),
            Term::Either(list) => {
                Value::either(facts.list(list).iter().map(|it| self.eval(here, *it, as_type)))
            }
            Term::Both(list) => {
                let parts: Vec<Value> =
                    facts.list(list).iter().map(|it| self.eval(here, *it, as_type)).collect();
                Value::Both(parts.into())
            }
            Term::Record(list) => Value::Record(here.file, list, here.env.clone()),
        }
    }

    fn local(&self, here: &Here, local: u32) -> Value {
        let known = here.env.iter().flat_map(|it| it.iter()).find(|it| it.0 == (here.file, local));
        if let Some((_, value)) = known {
            return value.clone();
        }
        let it = self.lens.entry(here.file).facts.locals[local as usize];
        let declared = it.declared.map_or(Value::Unknown, |it| self.eval(here, it, false));
        match it.made {
            Some(made) if declared == Value::Unknown && it.declared.is_none() => {
                self.eval(here, made, false)
            }
            _ => declared,
        }
    }

    /// What a found thing is as a value.
    pub(super) fn value(&self, found: Found) -> Value {
        match found {
            Found::Nothing => Value::Unknown,
            Found::External => Value::External,
            Found::Module(place) => Value::Module(place),
            Found::Value(value) => value,
            Found::Def(def, env, _) => self.step(Value::Unknown, || self.value_of(def, env)),
        }
    }

    pub(super) fn value_of(&self, at: DefRef, env: super::Env) -> Value {
        let entry = self.lens.entry(at.file);
        let def = &entry.facts.defs[at.def as usize];
        match def.kind {
            DefKind::Class | DefKind::Interface | DefKind::Enum | DefKind::TypeAlias => {
                Value::Type(at, env)
            }
            DefKind::Module => Value::Module(Place::Def(at)),
            DefKind::Function | DefKind::Method if def.flags.has(Flags::GETTER) => {
                self.returned(at, env)
            }
            DefKind::Function | DefKind::Method => Value::Callable(at, env),
            DefKind::Test => Value::Unknown,
            DefKind::Field | DefKind::Variable => {
                let here = Here { file: at.file, env: env.clone() };
                if let Some(declared) = def.declared {
                    return self.eval(&here, declared, false);
                }
                if entry.has_members(at.def) {
                    return Value::Object(at, env);
                }
                def.made.map_or(Value::Unknown, |it| self.eval(&here, it, false))
            }
        }
    }

    /// What calling a definition gives.
    pub(super) fn returned(&self, at: DefRef, env: super::Env) -> Value {
        let def = &self.lens.entry(at.file).facts.defs[at.def as usize];
        let here = Here { file: at.file, env };
        match (def.declared, def.made) {
            (Some(it), _) | (None, Some(it)) => self.eval(&here, it, false),
            _ => Value::Unknown,
        }
    }

    fn call(&self, here: &Here, of: TermId) -> Value {
        let entry = self.lens.entry(here.file);
        if let Term::Member(object, name) = entry.facts.terms[of as usize] {
            let object = self.eval(here, object, false);
            if let Some(res) = self.builtin_call(&object, entry.name(name)) {
                return res;
            }
        }
        let mut found = self.bind(here, of, Want::VALUE);
        // In Rust a field is not called by its name: a method that bears it, too, is meant.
        if let (Found::Def(def, ..), Term::Member(object, name)) =
            (&found, entry.facts.terms[of as usize])
            && entry.facts.lang.family() == Family::Rust
            && self.lens.entry(def.file).facts.defs[def.def as usize].kind == DefKind::Field
        {
            let object = self.eval(here, object, false);
            let called = Want { as_type: false, args: 0 };
            let method = self.member(&object, entry.name(name), called, How::Type);
            found = method.or_else(|| found);
        }
        if let Found::Def(def, env, _) = &found {
            let kind = self.lens.entry(def.file).facts.defs[def.def as usize].kind;
            if kind.is_callable() {
                return self.returned(*def, env.clone());
            }
        }
        // A function that nobody defines is the language's own.
        if found.is_nothing() && matches!(entry.facts.terms[of as usize], Term::Name(_)) {
            return Value::External;
        }
        let value = if found.is_nothing() { self.eval(here, of, false) } else { self.value(found) };
        self.result_of(value)
    }

    /// What calling a value gives.
    pub(super) fn result_of(&self, value: Value) -> Value {
        match value {
            Value::Function(res) => (*res).clone(),
            Value::Callable(def, env) => self.returned(def, env),
            Value::External => Value::External,
            // Where a type is called to make an object of it.
            Value::Type(def, env) => {
                let ways = self.lens.entry(def.file).facts.lang.family().ways();
                if ways.calls_types { Value::Object(def, env) } else { Value::Unknown }
            }
            Value::Either(parts) => {
                Value::either(parts.iter().map(|it| self.result_of(it.clone())))
            }
            Value::Object(def, _) if !self.is_type(def) => Value::Unknown,
            _ => Value::Unknown,
        }
    }

    fn is_type(&self, def: DefRef) -> bool {
        self.lens.entry(def.file).facts.defs[def.def as usize].kind.is_type()
    }

    /// A generic type with its arguments.
    fn generic(&self, here: &Here, list: List, as_type: bool) -> Value {
        let terms = self.lens.entry(here.file).facts.list(list);
        let Some((head, args)) = terms.split_first() else { return Value::Unknown };
        let args: Vec<Value> = args.iter().map(|it| self.eval(here, *it, false)).collect();
        match self.eval(here, *head, as_type) {
            Value::Type(def, _) => Value::Type(def, self.env_of(def, &args)),
            Value::Callable(def, _) => Value::Callable(def, self.env_of(def, &args)),
            Value::Builtin(name, _) => self.built(name, args),
            // A type from outside: what it holds may still be ours.
            Value::External => match self.head_name(here, *head) {
                Some(name) => self.built(name, args),
                None => Value::External,
            },
            // The path to a type of Rust begins with a crate, if with nothing else: `anyhow::Result<Ours>`.
            Value::Unknown if as_type && self.is_rust(here.file) => {
                let term = self.lens.entry(here.file).facts.terms[*head as usize];
                match self.head_name(here, *head).filter(|_| matches!(term, Term::Member(..))) {
                    Some(name) => self.built(name, args),
                    None => Value::Unknown,
                }
            }
            other => other,
        }
    }

    fn is_rust(&self, file: FileId) -> bool {
        self.lens.entry(file).facts.lang.family() == Family::Rust
    }

    fn built(&self, name: Name, args: Vec<Value>) -> Value {
        match args.first() {
            Some(first) if self.is_transparent(name) => first.clone(),
            _ => Value::Builtin(name, args.into()),
        }
    }

    fn head_name(&self, here: &Here, head: TermId) -> Option<Name> {
        let entry = self.lens.entry(here.file);
        match entry.facts.terms[head as usize] {
            Term::Import(it) => Some(entry.name(entry.facts.imports[it as usize].item)),
            Term::Member(_, it) | Term::Name(it) | Term::Implicit(_, it) => Some(entry.name(it)),
            _ => None,
        }
    }

    fn env_of(&self, def: DefRef, args: &[Value]) -> super::Env {
        let generics = self.lens.entry(def.file).facts.defs[def.def as usize].generics;
        let bound = (generics.0..generics.1).zip(args).filter(|it| *it.1 != Value::Unknown);
        let res: Vec<_> = bound.map(|(local, value)| ((def.file, local), value.clone())).collect();
        (!res.is_empty()).then(|| Rc::new(res))
    }

    /// An object of a type.
    pub(super) fn object_of(&self, of: Value) -> Value {
        match of {
            Value::Type(at, env) => {
                let def = &self.lens.entry(at.file).facts.defs[at.def as usize];
                match def.declared {
                    Some(it) if def.kind == DefKind::TypeAlias => {
                        self.eval(&Here { file: at.file, env }, it, false)
                    }
                    _ => Value::Object(at, env),
                }
            }
            Value::Either(parts) => {
                Value::either(parts.iter().map(|it| self.object_of(it.clone())))
            }
            other => other,
        }
    }

    /// What a type builds on, as objects.
    pub(super) fn bases(&self, at: DefRef, env: &super::Env) -> Value {
        let facts = &self.lens.entry(at.file).facts;
        let here = Here { file: at.file, env: env.clone() };
        let mut parts = Vec::new();
        for base in facts.bases.iter().filter(|it| it.def == at.def) {
            let of = self.eval(&here, base.term, true);
            parts.push(self.object_of(of));
        }
        Value::Both(parts.into())
    }
}
