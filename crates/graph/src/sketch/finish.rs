//! The last step: names are bound, what nothing refers to is dropped, the surface is summed up.

use std::collections::HashSet;

use super::{ANY_NUMBER, Bound, Copied, Room, Sketch, Space, index};
use crate::facts::{
    Base, Def, DefKind, Export, Facts, Flags, Import, List, Local, Ref, RefKind, Term, TermId,
    Word, Writer, encode_inside, meaning, sum, write_export, write_term,
};
use crate::fast::FastHasher;

/// Copies terms, locals and words into the finished facts, each once.
struct Copy<'a, 's> {
    from: &'a Sketch<'s>,
    to: Facts,
    done: Copied,
    /// Locals that have a place but no content yet.
    waiting: Vec<u32>,
}

impl Sketch<'_> {
    pub(crate) fn finish(mut self) -> Facts {
        self.add_assigned_fields();
        let mut done = std::mem::take(&mut self.copied);
        done.words.resize(self.words.len(), None);
        done.terms.resize(self.terms.len(), [None; 2]);
        done.locals.resize(self.locals.len(), None);
        let mut to = done.draft.take().map_or_else(|| Facts::empty(self.lang), |it| *it);
        to.clear(self.lang);
        let mut copy = Copy { to, from: &self, done, waiting: Vec::new() };
        copy.to.n_lines = {
            let breaks = self.source.iter().map(|it| usize::from(*it == b'\n'));
            index(breaks.sum::<usize>()) + 1
        };
        (copy.to.is_test, copy.to.n_too_deep) = (self.is_test, self.n_too_deep);
        // Names of definitions come first: an outline carries no others.
        for def in &self.defs {
            copy.word(def.name);
            def.owner.and_then(|it| self.last_word(it)).map(|it| copy.word(it));
        }
        copy.surface();
        copy.to.surface = surface(&copy.to, &mut copy.done.bytes);
        let to = &mut copy.to;
        to.n_outer_names = index(to.names.len());
        let (n_terms, n_locals, n_lists) = (to.terms.len(), to.locals.len(), to.lists.len());
        copy.refs();
        let Copy { mut to, mut done, .. } = copy;
        let inside = (&to.terms[n_terms..], &to.locals[n_locals..], &to.lists[n_lists..]);
        to.inner = encode_inside(inside, &done.refs, &mut done.bytes);
        to.terms.truncate(n_terms);
        to.locals.truncate(n_locals);
        to.lists.truncate(n_lists);
        // What is handed out is as large as it is; the draft has room for the next file.
        let res = to.clone();
        done.draft = Some(Box::new(to));
        self.give_back(done);
        res
    }

    fn give_back(self, copied: Copied) {
        let Self { words, defs, locals, terms, known, lists, refs, opaque, scopes, spare, .. } =
            self;
        let room =
            Room { words, defs, locals, terms, known, lists, refs, opaque, scopes, spare, copied };
        room.give_back();
    }

    /// Properties that are only ever assigned are fields all the same.
    fn add_assigned_fields(&mut self) {
        if self.assigned.is_empty() {
            return;
        }
        let key = |it: &Def| it.parent.map(|parent| (parent, it.name));
        let declared: HashSet<_, FastHasher> = self.defs.iter().filter_map(key).collect();
        let mut made: Vec<(super::Assigned, Vec<TermId>)> = Vec::new();
        for it in std::mem::take(&mut self.assigned) {
            if declared.contains(&(it.class, it.name)) {
                continue;
            }
            match made.iter_mut().find(|known| (known.0.class, known.0.name) == (it.class, it.name))
            {
                Some(known) => known.1.push(it.made),
                None => made.push((it, vec![it.made])),
            }
        }
        for (it, terms) in made {
            let made = if terms.len() > 4 { Self::UNKNOWN } else { self.either(&terms) };
            self.defs.push(Def {
                kind: DefKind::Field,
                name: it.name,
                parent: Some(it.class),
                owner: None,
                owned_by: None,
                flags: Flags::default(),
                at: it.at,
                lines: (it.at.line, it.at.line),
                bytes: (it.bytes.0, it.bytes.1, it.bytes.1),
                meaning: 0,
                takes: (0, ANY_NUMBER),
                params: None,
                declared: None,
                made: Some(made).filter(|it| *it != Self::UNKNOWN),
                generics: (0, 0),
            });
        }
    }

    /// The simple name a term ends in: `Server` of `&mut api.Server<T>`.
    pub(crate) fn last_word(&self, term: TermId) -> Option<Word> {
        match self.get(term) {
            Term::Free(it, _) | Term::Name(it) | Term::Member(_, it) | Term::Implicit(_, it) => {
                Some(it)
            }
            Term::New(it) | Term::Many(it) => self.last_word(it),
            Term::Args(list) => self.last_word(*self.lists.get(list.start as usize)?),
            _ => None,
        }
    }
}

impl Copy<'_, '_> {
    fn word(&mut self, word: Word) -> Word {
        let names = &mut self.to.names;
        *self.done.words[word as usize].get_or_insert_with(|| {
            names.push(self.from.words.text(word));
            index(names.len() - 1)
        })
    }

    fn surface(&mut self) {
        let from = self.from;
        self.to.space = from.space.map(|it| self.word(it));
        for def in &from.defs {
            let start = index(self.to.locals.len());
            for local in def.generics.0..def.generics.1 {
                let place = self.reserve(local);
                debug_assert_eq!(place, start + local - def.generics.0);
            }
            let generics = (start, index(self.to.locals.len()));
            let owned_by = def.owner.and_then(|it| from.last_word(it)).map(|it| self.word(it));
            let span = (def.bytes.0, def.bytes.2);
            let by_indentation = from.lang.is_by_indentation();
            let def = Def {
                name: self.word(def.name),
                owner: def.owner.map(|it| self.term(it, Space::Type)),
                owned_by,
                params: def.params.map(|it| self.term(it, Space::Value)),
                declared: def.declared.map(|it| self.term(it, Space::Value)),
                made: def.made.map(|it| self.term(it, Space::Value)),
                generics,
                meaning: meaning(from.source, span, &from.opaque, by_indentation),
                ..def.clone()
            };
            self.to.defs.push(def);
        }
        for it in &from.bases {
            let term = self.term(it.term, Space::Type);
            self.to.bases.push(Base { term, ..*it });
        }
        for it in &from.imports {
            let import = Import {
                module: self.word(it.module),
                item: self.word(it.item),
                local: self.word(it.local),
                ..it.clone()
            };
            self.to.imports.push(import);
        }
        for it in &from.exports {
            let export = match *it {
                Export::Local { name, term } => {
                    Export::Local { name: self.word(name), term: self.term(term, Space::Value) }
                }
                Export::From { name, module, item } => Export::From {
                    name: self.word(name),
                    module: self.word(module),
                    item: self.word(item),
                },
                Export::ModuleAs { name, module } => {
                    Export::ModuleAs { name: self.word(name), module: self.word(module) }
                }
                Export::Star { module } => Export::Star { module: self.word(module) },
            };
            self.to.exports.push(export);
        }
        self.fill();
    }

    fn refs(&mut self) {
        // The name of a definition is no mention of it.
        let declared = self.from.defs.iter().map(|it| (it.at.line, it.at.column));
        self.done.declared.extend(declared);
        for it in &self.from.refs {
            let is_type = match it.kind {
                RefKind::Type => true,
                RefKind::New => self.from.lang.family().ways().makes_by_types,
                RefKind::Call | RefKind::Use => false,
            };
            let space = if is_type { Space::Type } else { Space::Value };
            if matches!(it.kind, RefKind::Use | RefKind::Type)
                && !self.leaves_function(it.term, space)
            {
                continue;
            }
            if it.kind == RefKind::Use && self.done.declared.contains(&(it.at.line, it.at.column)) {
                continue;
            }
            let term = self.term(it.term, space);
            let is_itself =
                matches!(self.to.terms[term as usize], Term::Def(def) if Some(def) == it.from);
            let is_repeated = matches!(it.kind, RefKind::Use | RefKind::Type)
                && (is_itself || !self.done.seen.insert((it.from, term, it.kind)));
            if !is_repeated {
                let given = it.given.map(|it| self.term(it, Space::Value));
                self.done.refs.push(Ref { term, given, ..*it });
            }
        }
        self.fill();
    }

    /// Whether a bare name may mean something that others can see.
    fn leaves_function(&mut self, term: TermId, space: Space) -> bool {
        match self.from.get(term) {
            Term::Free(word, scope) => {
                !matches!(self.lookup(word, scope, space), Some(Bound::Local(_) | Bound::Type(_)))
            }
            Term::New(it) => self.leaves_function(it, Space::Type),
            _ => true,
        }
    }

    fn lookup(&mut self, word: Word, scope: u32, space: Space) -> Option<Bound> {
        let from = self.from;
        let bound = &mut self.done.bound;
        *bound.entry((word, scope, space)).or_insert_with(|| from.lookup(word, scope, space))
    }

    fn reserve(&mut self, local: u32) -> u32 {
        if let Some(it) = self.done.locals[local as usize] {
            return it;
        }
        let place = index(self.to.locals.len());
        self.to.locals.push(Local::default());
        self.done.locals[local as usize] = Some(place);
        self.waiting.push(local);
        place
    }

    /// Copies what the locals met so far are made of, which may lead to more of them.
    fn fill(&mut self) {
        while let Some(local) = self.waiting.pop() {
            let Local { declared, made } = self.from.locals[local as usize];
            let declared = declared.map(|it| self.term(it, Space::Value));
            let made = made.map(|it| self.term(it, Space::Value));
            let place = self.reserve(local);
            self.to.locals[place as usize] = Local { declared, made };
        }
    }

    fn term(&mut self, term: TermId, space: Space) -> TermId {
        if let Some(it) = self.done.terms[term as usize][space as usize] {
            return it;
        }
        let made = match self.from.get(term) {
            Term::Free(word, scope) => self.bind(word, scope, space),
            Term::Name(it) => Term::Name(self.word(it)),
            Term::Literal(it) => Term::Literal(self.word(it)),
            Term::Implicit(def, it) => Term::Implicit(def, self.word(it)),
            Term::Member(of, it) => Term::Member(self.term(of, Space::Value), self.word(it)),
            Term::Call(it) => Term::Call(self.term(it, Space::Value)),
            Term::New(it) => Term::New(self.term(it, Space::Type)),
            Term::Element(it) => Term::Element(self.term(it, Space::Value)),
            Term::Await(it) => Term::Await(self.term(it, Space::Value)),
            Term::Many(it) => Term::Many(self.term(it, Space::Value)),
            Term::Function(it) => Term::Function(self.term(it, Space::Value)),
            Term::Args(it) => Term::Args(self.list(it, space)),
            Term::Either(it) => Term::Either(self.list(it, space)),
            Term::Both(it) => Term::Both(self.list(it, space)),
            Term::Record(it) => Term::Record(self.record(it)),
            Term::Local(it) => Term::Local(self.reserve(it)),
            it @ (Term::Unknown
            | Term::Def(_)
            | Term::Import(_)
            | Term::This(_)
            | Term::Super(_)) => it,
        };
        let id = self.add(made);
        self.done.terms[term as usize][space as usize] = Some(id);
        id
    }

    fn add(&mut self, term: Term) -> TermId {
        if let Some(it) = self.done.known.get(&term) {
            return *it;
        }
        let id = index(self.to.terms.len());
        self.to.terms.push(term);
        self.done.known.insert(term, id);
        id
    }

    fn bind(&mut self, word: Word, scope: u32, space: Space) -> Term {
        match self.lookup(word, scope, space) {
            Some(Bound::Local(it) | Bound::Type(it)) => Term::Local(self.reserve(it)),
            Some(Bound::Def(it)) => Term::Def(it),
            Some(Bound::Import(it)) => Term::Import(it),
            None => match self.from.module_of(scope) {
                Some(module) => Term::Implicit(module, self.word(word)),
                None => Term::Name(self.word(word)),
            },
        }
    }

    /// The head of a generic type is a type, its arguments are values of theirs.
    fn list(&mut self, list: List, space: Space) -> List {
        let items = self.from.lists[list.start as usize..(list.start + list.len) as usize].to_vec();
        let space = |i: usize| if i == 0 { space } else { Space::Value };
        let items: Vec<u32> =
            items.iter().enumerate().map(|(i, it)| self.term(*it, space(i))).collect();
        let start = index(self.to.lists.len());
        self.to.lists.extend(items);
        List { start, len: list.len }
    }

    fn record(&mut self, list: List) -> List {
        let items = self.from.lists[list.start as usize..(list.start + list.len) as usize].to_vec();
        let mut res = Vec::with_capacity(items.len());
        for pair in items.chunks_exact(2) {
            res.push(self.word(pair[0]));
            res.push(self.term(pair[1], Space::Value));
        }
        let start = index(self.to.lists.len());
        self.to.lists.extend(&res);
        List { start, len: index(res.len()) }
    }
}

/// Sums up what others can see: everything but places, bodies and references.
fn surface(facts: &Facts, room: &mut Vec<u8>) -> u64 {
    let mut to = Writer(std::mem::take(room));
    to.0.clear();
    facts.names.iter().for_each(|it| to.text(it));
    to.maybe(facts.space);
    to.small(u32::from(facts.is_test));
    for it in &facts.defs {
        to.small(it.kind as u32);
        to.small(it.name);
        to.small(u32::from(it.flags.0));
        to.small(u32::from(it.takes.0));
        to.small(u32::from(it.takes.1));
        [it.parent, it.owner, it.owned_by, it.params, it.declared, it.made]
            .iter()
            .for_each(|it| to.maybe(*it));
        to.small(it.generics.0);
        to.small(it.generics.1);
    }
    for it in &facts.bases {
        to.small(it.def);
        to.small(it.term);
        to.small(u32::from(it.implements));
    }
    for it in &facts.imports {
        [it.kind as u32, it.module, it.item, it.local].iter().for_each(|it| to.small(*it));
        to.maybe(it.within);
        to.small(u32::from(it.public));
    }
    facts.exports.iter().for_each(|it| write_export(&mut to, it));
    for it in &facts.locals {
        to.maybe(it.declared);
        to.maybe(it.made);
    }
    facts.terms.iter().for_each(|it| write_term(&mut to, *it));
    facts.lists.iter().for_each(|it| to.small(*it));
    let res = sum(&to.0);
    *room = to.0;
    res
}
