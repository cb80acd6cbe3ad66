//! Facts in the making: what the walk over a syntax tree says, in the order it meets it.
//!
//! Names are bound to what their scope holds only at the end, because most languages let a name be
//! used above the line that defines it. What no reference needs is left out.

mod finish;
mod import;
mod room;
mod scope;

use std::collections::HashMap;

use tree_sitter::Node;

use room::{Copied, Room, Words};
use scope::Scope;
pub(crate) use scope::{Bound, ScopeKind, Space};

use crate::facts::{
    Base, Def, DefKind, Export, Flags, Import, List, Local, Opaque, Pos, Ranges, Ref, RefKind,
    Term, TermId, Word,
};
use crate::fast::FastHasher;
use crate::lang::Lang;

/// A call with more arguments, or with some that are spread, takes any number.
pub(crate) const ANY_NUMBER: u8 = 255;

/// An assignment to a property of the object itself, which may be all that declares it.
#[derive(Clone, Copy, Debug)]
struct Assigned {
    class: u32,
    name: Word,
    made: TermId,
    at: Pos,
    bytes: (u32, u32),
}

pub(crate) struct Sketch<'s> {
    pub(crate) source: &'s [u8],
    /// The same, where all of it is text.
    whole: Option<&'s str>,
    pub(crate) lang: Lang,
    words: Words,
    pub(crate) space: Option<Word>,
    pub(crate) defs: Vec<Def>,
    pub(crate) bases: Vec<Base>,
    pub(crate) imports: Vec<Import>,
    pub(crate) exports: Vec<Export>,
    pub(crate) locals: Vec<Local>,
    terms: Vec<Term>,
    known: HashMap<Term, TermId, FastHasher>,
    pub(crate) lists: Vec<u32>,
    refs: Vec<Ref>,
    scopes: Vec<Scope>,
    /// Emptied lists of names, for scopes to come.
    spare: Vec<Vec<(Word, Bound)>>,
    scope: u32,
    /// The definitions around the place the walk is at, outermost first.
    open: Vec<u32>,
    /// What the functions around that place return.
    returns: Vec<Vec<TermId>>,
    assigned: Vec<Assigned>,
    opaque: Ranges,
    copied: Copied,
    pub(crate) is_test: bool,
    pub(crate) n_too_deep: u32,
}

impl<'s> Sketch<'s> {
    pub(crate) fn new(lang: Lang, source: &'s [u8]) -> Self {
        let room = Room::take();
        let mut res = Self {
            source,
            whole: std::str::from_utf8(source).ok(),
            lang,
            words: room.words,
            space: None,
            defs: room.defs,
            bases: Vec::new(),
            imports: Vec::new(),
            exports: Vec::new(),
            locals: room.locals,
            terms: room.terms,
            known: room.known,
            lists: room.lists,
            refs: room.refs,
            scopes: room.scopes,
            spare: room.spare,
            scope: 0,
            open: Vec::new(),
            returns: Vec::new(),
            assigned: Vec::new(),
            opaque: room.opaque,
            copied: room.copied,
            is_test: false,
            n_too_deep: 0,
        };
        res.scopes.push(Scope::root());
        res.term(Term::Unknown);
        res
    }

    pub(crate) const UNKNOWN: TermId = 0;

    /// The text of a node; empty where it is not UTF-8.
    pub(crate) fn text(&self, node: Node<'_>) -> &'s str {
        if let Some(text) = self.whole {
            return text.get(node.byte_range()).unwrap_or_default();
        }
        let text = self.source.get(node.byte_range()).unwrap_or_default();
        std::str::from_utf8(text).unwrap_or_default()
    }

    pub(crate) fn word(&mut self, text: &str) -> Word {
        self.words.add(text)
    }

    pub(crate) fn word_of(&mut self, node: Node<'_>) -> Word {
        let text = self.text(node);
        self.word(text)
    }

    pub(crate) fn term(&mut self, term: Term) -> TermId {
        if let Some(it) = self.known.get(&term) {
            return *it;
        }
        let id = index(self.terms.len());
        self.terms.push(term);
        self.known.insert(term, id);
        id
    }

    pub(crate) fn get(&self, term: TermId) -> Term {
        self.terms[term as usize]
    }

    pub(crate) fn list(&mut self, items: &[u32]) -> List {
        let start = index(self.lists.len());
        self.lists.extend_from_slice(items);
        List { start, len: index(items.len()) }
    }

    /// A name as it is met here.
    pub(crate) fn free(&mut self, text: &'s str) -> TermId {
        let word = self.word(text);
        self.term(Term::Free(word, self.scope))
    }

    /// A bare name that is called: a member of the type around, before anything else.
    pub(crate) fn implicit(&mut self, text: &'s str) -> TermId {
        let word = self.word(text);
        match self.class() {
            Some(class) => self.term(Term::Implicit(class, word)),
            None => self.term(Term::Free(word, self.scope)),
        }
    }

    pub(crate) fn literal(&mut self, of: &'static str) -> TermId {
        let word = self.word(of);
        self.term(Term::Literal(word))
    }

    pub(crate) fn member(&mut self, of: TermId, name: &'s str) -> TermId {
        let name = self.word(name);
        self.term(Term::Member(of, name))
    }

    /// An object of the type that a term names.
    pub(crate) fn object(&mut self, of: TermId) -> TermId {
        self.term(Term::New(of))
    }

    /// One of several; those that say nothing are left out.
    pub(crate) fn either(&mut self, items: &[TermId]) -> TermId {
        let mut items: Vec<TermId> =
            items.iter().copied().filter(|it| *it != Self::UNKNOWN).collect();
        items.dedup();
        match items.as_slice() {
            [] => Self::UNKNOWN,
            [one] => *one,
            _ => {
                let list = self.list(&items);
                self.term(Term::Either(list))
            }
        }
    }

    // Definitions.

    /// Adds a definition inside the one that is open. `whole` is its text, `at` its name.
    pub(crate) fn define(
        &mut self,
        kind: DefKind,
        name: Word,
        at: Node<'_>,
        whole: Node<'_>,
        flags: Flags,
    ) -> u32 {
        let end = index(whole.end_byte());
        let def = index(self.defs.len());
        self.defs.push(Def {
            kind,
            name,
            parent: self.open.last().copied(),
            owner: None,
            owned_by: None,
            flags,
            at: pos(at),
            lines: (index(whole.start_position().row), index(whole.end_position().row)),
            bytes: (index(whole.start_byte()), end, end),
            meaning: 0,
            takes: (0, ANY_NUMBER),
            params: None,
            declared: None,
            made: None,
            generics: (0, 0),
        });
        def
    }

    pub(crate) fn def(&mut self, def: u32) -> &mut Def {
        &mut self.defs[def as usize]
    }

    pub(crate) fn set_body(&mut self, def: u32, body: Option<Node<'_>>) {
        if let Some(body) = body {
            let def = self.def(def);
            def.bytes.1 = index(body.start_byte()).clamp(def.bytes.0, def.bytes.2);
        }
    }

    pub(crate) fn add_base(&mut self, def: u32, term: TermId, implements: bool) {
        if term != Self::UNKNOWN {
            self.bases.push(Base { def, term, implements });
        }
    }

    pub(crate) fn open(&mut self, def: u32) {
        self.open.push(def);
    }

    pub(crate) fn close(&mut self) {
        self.open.pop();
    }

    pub(crate) fn around(&self) -> Option<u32> {
        self.open.last().copied()
    }

    /// The innermost type around the place the walk is at.
    pub(crate) fn class(&self) -> Option<u32> {
        let is_type = |it: &&u32| self.defs[**it as usize].kind.is_type();
        self.open.iter().rev().find(is_type).copied()
    }

    /// The innermost module around it.
    pub(crate) fn module(&self) -> Option<u32> {
        let is_module = |it: &&u32| self.defs[**it as usize].kind == DefKind::Module;
        self.open.iter().rev().find(is_module).copied()
    }

    /// Whether the place is inside something that runs, where a variable is nobody else's business.
    pub(crate) fn is_inside_function(&self) -> bool {
        !self.returns.is_empty()
            || self.open.iter().any(|it| self.defs[*it as usize].kind.is_callable())
    }

    // Functions.

    pub(crate) fn enter_function(&mut self) {
        self.returns.push(Vec::new());
        self.enter(ScopeKind::Function);
    }

    /// What the function returns, as far as that can be seen.
    pub(crate) fn leave_function(&mut self) -> TermId {
        self.leave();
        let returns = self.returns.pop().unwrap_or_default();
        if returns.len() > 4 { Self::UNKNOWN } else { self.either(&returns) }
    }

    pub(crate) fn add_return(&mut self, term: TermId) {
        if let Some(it) = self.returns.last_mut() {
            it.push(term);
        }
    }

    // Names.

    pub(crate) fn enter(&mut self, kind: ScopeKind) {
        let parent = Some(self.scope);
        self.scope = index(self.scopes.len());
        let names = self.spare.pop().unwrap_or_default();
        self.scopes.push(Scope { parent, kind, names });
    }

    pub(crate) fn leave(&mut self) {
        self.scope = self.scopes[self.scope as usize].parent.unwrap_or_default();
    }

    /// The scope the walk is in, to come back to.
    pub(crate) const fn scope(&self) -> u32 {
        self.scope
    }

    /// Leaves every scope that was entered since.
    pub(crate) fn back_to(&mut self, scope: u32) {
        self.scope = scope;
    }

    pub(crate) fn bind(&mut self, name: Word, to: Bound) {
        self.scopes[self.scope as usize].names.push((name, to));
    }

    /// Binds in the scope of the function, or of the file: where `var` and Python's names live.
    pub(crate) fn bind_wide(&mut self, name: Word, to: Bound) {
        let mut at = self.scope;
        while self.scopes[at as usize].kind == ScopeKind::Block {
            at = self.scopes[at as usize].parent.unwrap_or_default();
        }
        self.scopes[at as usize].names.push((name, to));
    }

    pub(crate) fn local(&mut self, declared: Option<TermId>, made: Option<TermId>) -> u32 {
        let some = |it: Option<TermId>| it.filter(|it| *it != Self::UNKNOWN);
        self.locals.push(Local { declared: some(declared), made: some(made) });
        index(self.locals.len() - 1)
    }

    pub(crate) fn bind_local(
        &mut self,
        name: Word,
        declared: Option<TermId>,
        made: Option<TermId>,
    ) {
        let local = self.local(declared, made);
        self.bind(name, Bound::Local(local));
    }

    /// Binds a name of the function around, or says what else it may be when it is bound already.
    pub(crate) fn rebind(&mut self, name: Word, declared: Option<TermId>, made: TermId) {
        let mut at = self.scope;
        while self.scopes[at as usize].kind == ScopeKind::Block {
            at = self.scopes[at as usize].parent.unwrap_or_default();
        }
        let known = self.scopes[at as usize].names.iter().find_map(|it| match it {
            (word, Bound::Local(local)) if *word == name => Some(*local),
            _ => None,
        });
        let Some(local) = known else {
            let local = self.local(declared, Some(made));
            self.scopes[at as usize].names.push((name, Bound::Local(local)));
            return;
        };
        let before = self.locals[local as usize];
        if before.declared.is_none() {
            let either = self.either(&[before.made.unwrap_or(Self::UNKNOWN), made]);
            self.locals[local as usize] = Local { declared, made: Some(either) };
        }
    }

    /// Binds a name that may take the place of an equal one in the same scope; both are possible.
    pub(crate) fn shadow(&mut self, name: Word, made: TermId) {
        let names = &self.scopes[self.scope as usize].names;
        let known = names.iter().find_map(|it| match it {
            (word, Bound::Local(local)) if *word == name => Some(*local),
            _ => None,
        });
        let Some(local) = known else { return self.bind_local(name, None, Some(made)) };
        let before = self.locals[local as usize];
        let either = self.either(&[before.declared.or(before.made).unwrap_or(Self::UNKNOWN), made]);
        self.locals[local as usize] = Local { declared: None, made: Some(either) };
    }

    /// The names of the modules inside this file that the walk is in.
    pub(crate) fn modules_around(&self) -> Vec<String> {
        let modules = self.open.iter().map(|it| &self.defs[*it as usize]);
        let modules = modules.filter(|it| it.kind == DefKind::Module);
        modules.map(|it| self.words.text(it.name).to_owned()).collect()
    }

    pub(crate) fn assign(
        &mut self,
        class: u32,
        name: Word,
        made: TermId,
        at: Node<'_>,
        whole: Node<'_>,
    ) {
        let bytes = (index(whole.start_byte()), index(whole.end_byte()));
        self.assigned.push(Assigned { class, name, made, at: pos(at), bytes });
    }

    // References.

    pub(crate) fn refer(&mut self, kind: RefKind, term: TermId, at: Node<'_>, args: u8) {
        if term != Self::UNKNOWN {
            let given = None;
            self.refs.push(Ref { kind, from: self.around(), term, at: pos(at), args, given });
        }
    }

    /// A call in a language that tells namesakes apart by what they are given.
    pub(crate) fn refer_with(&mut self, term: TermId, at: Node<'_>, given: &[TermId]) {
        let args = u8::try_from(given.len()).unwrap_or(ANY_NUMBER);
        self.refer(RefKind::Call, term, at, args);
        let given = self.all_of(given);
        if let Some(it) = self.refs.last_mut().filter(|it| it.term == term) {
            it.given = given;
        }
    }

    /// Several at once, if anything is known of one of them.
    pub(crate) fn all_of(&mut self, items: &[TermId]) -> Option<TermId> {
        items.iter().any(|it| *it != Self::UNKNOWN).then(|| {
            let list = self.list(items);
            self.term(Term::Both(list))
        })
    }

    pub(crate) fn comment(&mut self, node: Node<'_>) {
        self.opaque.0.push((index(node.start_byte()), index(node.end_byte()), Opaque::Comment));
    }

    pub(crate) fn string(&mut self, node: Node<'_>) {
        self.opaque.0.push((index(node.start_byte()), index(node.end_byte()), Opaque::String));
    }
}

pub(crate) fn pos(node: Node<'_>) -> Pos {
    let at = node.start_position();
    Pos { line: index(at.row), column: index(at.column) }
}

/// Files are far below four gigabytes, so every count inside one fits.
pub(crate) fn index(it: usize) -> u32 {
    u32::try_from(it).expect("a source file is below four gigabytes")
}
