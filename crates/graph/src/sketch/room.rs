//! Room that sketches need for a while, kept from one file to the next.
//!
//! Asking the system for it anew each time costs more than a twentieth of reading a file.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;

use super::scope::Scope;
use super::{Bound, Space, index};
use crate::facts::{Def, Facts, Local, Ranges, Ref, RefKind, Term, TermId, Texts, Word};
use crate::fast::FastHasher;

/// The words of a file: one number each.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// By the hash of their text; of two with one hash, the later has the next number that is free.
    known: HashMap<u64, Word, FastHasher>,
    texts: Texts,
}

impl Words {
    pub(super) fn add(&mut self, text: &str) -> Word {
        let mut at = FastHasher.hash_one(text);
        while let Some(word) = self.known.get(&at) {
            if self.text(*word) == text {
                return *word;
            }
            at = at.wrapping_add(1);
        }
        let word = index(self.texts.len());
        self.texts.push(text);
        self.known.insert(at, word);
        word
    }

    pub(super) fn text(&self, word: Word) -> &str {
        self.texts.get(word as usize).unwrap_or_default()
    }

    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }
}

#[derive(Debug, Default)]
pub(super) struct Room {
    pub(super) words: Words,
    pub(super) defs: Vec<Def>,
    pub(super) locals: Vec<Local>,
    pub(super) terms: Vec<Term>,
    pub(super) known: HashMap<Term, TermId, FastHasher>,
    pub(super) lists: Vec<u32>,
    pub(super) refs: Vec<Ref>,
    pub(super) opaque: Ranges,
    pub(super) scopes: Vec<Scope>,
    pub(super) spare: Vec<Vec<(Word, Bound)>>,
    pub(super) copied: Copied,
}

/// What has been copied into the finished facts, and where it is there.
#[derive(Debug, Default)]
pub(super) struct Copied {
    pub(super) words: Vec<Option<Word>>,
    /// As a value and as a type.
    pub(super) terms: Vec<[Option<TermId>; 2]>,
    pub(super) known: HashMap<Term, TermId, FastHasher>,
    pub(super) locals: Vec<Option<u32>>,
    pub(super) bound: HashMap<(Word, u32, Space), Option<Bound>, FastHasher>,
    /// Where names of definitions stand.
    pub(super) declared: HashSet<(u32, u32), FastHasher>,
    /// Mentions that were met before.
    pub(super) seen: HashSet<(Option<u32>, TermId, RefKind), FastHasher>,
    pub(super) refs: Vec<Ref>,
    /// The facts of the last file, for their room.
    pub(super) draft: Option<Box<Facts>>,
    /// For bytes on their way.
    pub(super) bytes: Vec<u8>,
}

/// A file that needed more than this leaves its room to nobody: emptying it would cost every other.
const MOST: usize = 1 << 14;

thread_local!(static ROOM: Cell<Option<Box<Room>>> = const { Cell::new(None) });

impl Room {
    /// Empty, with what the last file on this thread left.
    pub(super) fn take() -> Self {
        ROOM.take().map_or_else(Self::default, |it| *it)
    }

    pub(super) fn give_back(mut self) {
        if self.terms.len().max(self.words.len()).max(self.refs.len()) > MOST {
            return;
        }
        self.words.known.clear();
        self.words.texts.clear();
        self.defs.clear();
        self.locals.clear();
        self.terms.clear();
        self.known.clear();
        self.lists.clear();
        self.refs.clear();
        self.opaque.0.clear();
        for mut it in self.scopes.drain(..) {
            it.names.clear();
            self.spare.push(it.names);
        }
        let Copied { words, terms, known, locals, bound, declared, seen, refs, .. } =
            &mut self.copied;
        words.clear();
        terms.clear();
        known.clear();
        locals.clear();
        bound.clear();
        declared.clear();
        seen.clear();
        refs.clear();
        ROOM.set(Some(Box::new(self)));
    }
}
