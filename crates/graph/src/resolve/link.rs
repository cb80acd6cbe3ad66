//! A file's references as edges.

use std::collections::{HashMap, HashSet};

use model::closed;

use super::{Found, Here, How, Place, Resolver, Value};
use crate::facts::{DefKind, Export, Facts, Flags, ImportKind, Pos, RefKind, Term};
use crate::fast::FastHasher;
use crate::lang::Family;
use crate::precise;
use crate::sketch::ANY_NUMBER;
use crate::world::{DefRef, Entry, FileId, Key, Want, World};

closed! {
    /// What one symbol has to do with another.
    pub enum EdgeKind : "kind of edge" {
        Calls = "calls",
        Instantiates = "instantiates",
        /// Named without being called: passed on, stored, compared.
        Uses = "uses",
        TypedAs = "typed_as",
        Extends = "extends",
        Implements = "implements",
        Overrides = "overrides",
        /// From file to file.
        Imports = "imports",
        /// From file to what it names of another.
        ImportsSymbol = "imports_symbol",
    }
}

/// One edge of a file. Without a definition, the file itself is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    pub from: Option<u32>,
    pub to_file: FileId,
    pub to: Option<u32>,
    pub kind: EdgeKind,
    pub how: How,
    /// Where it is said first.
    pub line: u32,
}

/// All edges that leave a file, and what was looked for to find them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    pub edges: Vec<Edge>,
    pub keys: Vec<Key>,
    /// References to something that is known to be foreign.
    pub n_foreign: u32,
    /// References that nothing is known of.
    pub n_unresolved: u32,
}

/// One reference and what became of it.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    pub kind: RefKind,
    pub at: Pos,
    pub to: Option<(DefRef, How)>,
    pub is_foreign: bool,
}

/// Methods of the built-in types: a lone method of ours with such a name is no evidence.
#[rustfmt::skip]
const COMMON: &[&str] = &[
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

/// What a reference leads to, or whether it is known to leave the repository.
type Bound = (Option<(DefRef, How)>, bool);

impl Resolver<'_> {
    /// What every reference of a file leads to, in their order. What else one of them may lead to is
    /// told beside it, by its place in that order.
    fn sites(&self, file: FileId) -> (Vec<Site>, Vec<(usize, DefRef)>) {
        let entry = self.lens.entry(file);
        let here = Here { file, env: None };
        let mut known: HashMap<(u32, RefKind, u8), Bound, FastHasher> = HashMap::default();
        let precise = self.precise(entry);
        let (mut res, mut others) = (Vec::with_capacity(entry.refs.len()), Vec::new());
        let by_types = entry.facts.lang.tells_by_types();
        for it in &entry.refs {
            let key = (it.term, it.kind, it.args);
            let (mut to, is_foreign) =
                if let Some(said) = precise.as_ref().and_then(|said| said(it.at)) {
                    said
                } else if let Some(known) = known.get(&key) {
                    *known
                } else {
                    self.start_over();
                    let found = self.site(&here, it.term, it.kind, it.args);
                    known.insert(key, found);
                    found
                };
            if let Some((first, how)) = to
                && (by_types && it.kind == RefKind::Call && it.args > 0)
                && !matches!(how, How::Precise | How::Unique)
            {
                self.start_over();
                let meant = self.meant(&here, first, it.args, it.given);
                let how = if meant.len() == 1 { how } else { How::Overload };
                to = meant.first().map(|it| (*it, how));
                others.extend(meant.iter().skip(1).map(|it| (res.len(), self.settled(*it))));
            }
            let to = to.map(|(it, how)| (self.settled(it), how));
            res.push(Site { kind: it.kind, at: it.at, to, is_foreign });
        }
        (res, others)
    }

    /// What a precise index says about places of a file, where there is one.
    fn precise<'e>(&self, entry: &'e Entry) -> Option<impl Fn(Pos) -> Option<Bound> + use<'e>> {
        let precise = entry.precise.as_deref()?;
        let mut known: HashMap<FileId, Option<Facts>> = HashMap::new();
        let mut found = |it: &precise::Symbol| {
            let file = self.lens.file(&it.path)?;
            // For the lens to write it down.
            self.lens.entry(file);
            let facts =
                known.entry(file).or_insert_with(|| self.lens.world.facts(file)).as_ref()?;
            let def = precise::namesakes(facts, &it.name).nth(it.nth as usize)?;
            Some(DefRef { file, def })
        };
        let symbols: Vec<Option<DefRef>> = precise.symbols.iter().map(&mut found).collect();
        Some(move |at| match precise.at(at)? {
            None => Some((None, true)),
            // What is no longer there is looked for as if nothing had been said.
            Some(symbol) => symbols[symbol as usize].map(|it| (Some((it, How::Precise)), false)),
        })
    }

    fn site(&self, here: &Here, term: u32, kind: RefKind, args: u8) -> Bound {
        let entry = self.lens.entry(here.file);
        let (term, want) = match (kind, entry.facts.terms[term as usize]) {
            // A mentioned type is written as an object of it.
            (RefKind::Type, Term::New(inner)) => (inner, Want::TYPE),
            (RefKind::Type, _) => (term, Want::TYPE),
            (RefKind::New, _) if entry.facts.lang.family() == Family::C => (term, Want::TYPE),
            _ => (term, Want { as_type: false, args }),
        };
        let found = self.bind(here, term, want);
        match found {
            // A module of Ruby has its own way of making something.
            Found::Def(def, ..) if kind == RefKind::New && self.is_module(def) => (None, false),
            Found::Def(def, _, how) => (Some((def, how)), false),
            Found::External => (None, true),
            Found::Value(Value::Callable(def, _) | Value::Type(def, _)) => {
                (Some((def, How::Type)), false)
            }
            Found::Value(Value::External | Value::Builtin(..)) => (None, true),
            Found::Module(_) | Found::Value(_) => (None, false),
            Found::Nothing => (self.lone_method(here, term, kind), false),
        }
    }

    fn is_module(&self, at: DefRef) -> bool {
        self.lens.entry(at.file).facts.defs[at.def as usize].kind == DefKind::Module
    }

    /// A prototype stands for what it announces, and what makes an object for its type.
    fn settled(&self, at: DefRef) -> DefRef {
        let entry = self.lens.entry(at.file);
        let def = &entry.facts.defs[at.def as usize];
        if entry.facts.lang.family() != Family::C || !def.kind.is_callable() {
            return at;
        }
        if def.flags.has(Flags::CONSTRUCTOR) {
            return self.c_made(at);
        }
        if def.flags.has(Flags::DECLARATION) { self.c_defined(at) } else { at }
    }

    /// The only method of that name in the languages that can call one another.
    fn lone_method(&self, here: &Here, term: u32, kind: RefKind) -> Option<(DefRef, How)> {
        let entry = self.lens.entry(here.file);
        let Term::Member(of, name) = entry.facts.terms[term as usize] else { return None };
        // In these most methods of what is not known are the standard library's: of the guesses that
        // were checked by hand more were wrong than right.
        if kind != RefKind::Call
            || matches!(entry.facts.lang.family(), Family::Rust | Family::Ruby | Family::CSharp)
            || COMMON.contains(&self.word(entry, name))
            || self.word(entry, name).len() < 3
        {
            return None;
        }
        // Something is known of the value, and it has no such member.
        if self.eval(here, of, false) != Value::Unknown {
            return None;
        }
        let methods = self.lens.methods(entry.name(name), entry.facts.lang.family());
        let [only] = methods else { return None };
        let def = &self.lens.entry(only.file).facts.defs[only.def as usize];
        (!def.flags.has(Flags::TEST)).then_some((*only, How::Unique))
    }
}

pub(crate) fn sites(world: &World, file: FileId) -> Vec<Site> {
    world.whole(file).map_or_else(Vec::new, |it| Resolver::new(world, &it).sites(file).0)
}

/// Resolves one file.
pub(crate) fn links(world: &World, file: FileId) -> Links {
    let Some(own) = world.whole(file) else { return Links::default() };
    let resolver = Resolver::new(world, &own);
    let mut res = Links::default();
    let mut seen: HashSet<(Option<u32>, FileId, Option<u32>, EdgeKind), FastHasher> =
        HashSet::default();
    let mut edges = Vec::new();
    let mut add = |edge: Edge| {
        let is_itself =
            (edge.to_file, edge.to) == (file, edge.from) && edge.kind != EdgeKind::Calls;
        if !is_itself && seen.insert((edge.from, edge.to_file, edge.to, edge.kind)) {
            edges.push(edge);
        }
    };
    let entry = resolver.lens.entry(file);
    let (sites, others) = resolver.sites(file);
    for (at, to) in others {
        let it = &entry.refs[at];
        let (how, line) = (How::Overload, it.at.line);
        let kind = EdgeKind::Calls;
        add(Edge { from: it.from, to_file: to.file, to: Some(to.def), kind, how, line });
    }
    for (it, site) in entry.refs.iter().zip(&sites) {
        let Some((to, how)) = site.to else {
            res.n_foreign += u32::from(site.is_foreign);
            res.n_unresolved += u32::from(!site.is_foreign && it.kind == RefKind::Call);
            continue;
        };
        let target = resolver.lens.entry(to.file).facts.defs[to.def as usize].kind;
        let kind = match it.kind {
            RefKind::Call if target.is_type() => EdgeKind::Instantiates,
            RefKind::Call => EdgeKind::Calls,
            RefKind::New => EdgeKind::Instantiates,
            RefKind::Type => EdgeKind::TypedAs,
            RefKind::Use => EdgeKind::Uses,
        };
        add(Edge {
            from: it.from,
            to_file: to.file,
            to: Some(to.def),
            kind,
            how,
            line: it.at.line,
        });
    }
    resolver.import_edges(file, &mut add);
    resolver.type_edges(file, &mut add);
    edges.sort_unstable();
    res.edges = edges;
    res.keys = resolver.lens.into_keys();
    res
}

impl Resolver<'_> {
    fn import_edges(&self, file: FileId, add: &mut dyn FnMut(Edge)) {
        let entry = self.lens.entry(file);
        let facts = &entry.facts;
        let re_exported = facts.exports.iter().filter_map(|it| match it {
            Export::From { module, .. }
            | Export::ModuleAs { module, .. }
            | Export::Star { module } => Some(*module),
            Export::Local { .. } => None,
        });
        let manifest = facts.lang == crate::Lang::Manifest;
        for module in re_exported.filter(|_| !manifest) {
            if let Some(Place::File(to)) = self.module(file, entry.name(module)) {
                add(Edge {
                    from: None,
                    to_file: to,
                    to: None,
                    kind: EdgeKind::Imports,
                    how: How::Import,
                    line: 0,
                });
            }
        }
        if manifest {
            return;
        }
        for import in &facts.imports {
            self.start_over();
            let edge = |to_file, to, kind| Edge {
                from: None,
                to_file,
                to,
                kind,
                how: How::Import,
                line: import.line,
            };
            if let Some(Place::File(to) | Place::Def(DefRef { file: to, .. })) =
                self.module(file, entry.name(import.module))
            {
                add(edge(to, None, EdgeKind::Imports));
            }
            if matches!(import.kind, ImportKind::Star | ImportKind::Effect | ImportKind::Child) {
                continue;
            }
            let found = self
                .imported(file, import, Want::VALUE)
                .or_else(|| self.imported(file, import, Want::TYPE));
            match found {
                Found::Def(to, ..) => {
                    add(edge(to.file, None, EdgeKind::Imports));
                    add(edge(to.file, Some(to.def), EdgeKind::ImportsSymbol));
                }
                Found::Module(Place::File(to)) => add(edge(to, None, EdgeKind::Imports)),
                _ => {}
            }
        }
    }

    /// What types build on, and which methods stand in for inherited ones.
    fn type_edges(&self, file: FileId, add: &mut dyn FnMut(Edge)) {
        let entry = self.lens.entry(file);
        let here = Here { file, env: None };
        for base in &entry.facts.bases {
            self.start_over();
            let term = match entry.facts.terms[base.term as usize] {
                Term::New(inner) => inner,
                _ => base.term,
            };
            let Found::Def(to, _, how) = self.bind(&here, term, Want::TYPE) else { continue };
            let def = &entry.facts.defs[base.def as usize];
            let is_interface =
                self.lens.entry(to.file).facts.defs[to.def as usize].kind == DefKind::Interface;
            let implements = base.implements || (is_interface && def.kind != DefKind::Interface);
            let kind = if implements { EdgeKind::Implements } else { EdgeKind::Extends };
            add(Edge {
                from: Some(base.def),
                to_file: to.file,
                to: Some(to.def),
                kind,
                how,
                line: def.at.line,
            });
        }
        if entry.facts.lang.family() == Family::C {
            self.announced_edges(file, add);
        }
        for (i, def) in entry.facts.defs.iter().enumerate() {
            if def.kind != DefKind::Method || def.flags.has(Flags::CONSTRUCTOR) {
                continue;
            }
            self.start_over();
            let class = match (def.owner, def.parent) {
                (Some(owner), _) => match self.eval(&here, owner, true) {
                    Value::Type(it, _) | Value::Object(it, _) => it,
                    _ => continue,
                },
                (None, Some(parent)) if entry.facts.defs[parent as usize].kind.is_type() => {
                    DefRef { file, def: parent }
                }
                _ => continue,
            };
            let bases = self.bases(class, &None);
            let want = Want { as_type: false, args: ANY_NUMBER };
            if let Found::Def(to, ..) = self.member(&bases, entry.name(def.name), want, How::Member)
            {
                let from = Some(crate::sketch::index(i));
                add(Edge {
                    from,
                    to_file: to.file,
                    to: Some(to.def),
                    kind: EdgeKind::Overrides,
                    how: How::Member,
                    line: def.at.line,
                });
            }
        }
    }

    /// A definition stands in for what headers announce: whoever asks about one means the other, too.
    fn announced_edges(&self, file: FileId, add: &mut dyn FnMut(Edge)) {
        let entry = self.lens.entry(file);
        for (i, def) in entry.facts.defs.iter().enumerate() {
            if !def.kind.is_callable() || def.flags.has(Flags::DECLARATION) {
                continue;
            }
            self.start_over();
            let def = crate::sketch::index(i);
            for to in self.c_announced(DefRef { file, def }) {
                add(Edge {
                    from: Some(def),
                    to_file: to.file,
                    to: Some(to.def),
                    kind: EdgeKind::Implements,
                    how: How::Member,
                    line: entry.facts.defs[i].at.line,
                });
            }
        }
    }
}
