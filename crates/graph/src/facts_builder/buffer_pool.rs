//! Buffers of a facts builder, reused from one file to the next on the same thread.
//!
//! Allocating them anew for every file costs more than 5 % of the time to read it.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;

use model::hasher::FastBuildHasher;

use super::scope::ScopeTree;
use super::term_table::TermTable;
use super::{DeclarationSpace, NameBinding};
use crate::facts::{
    DefId, Definition, FileFacts, LocalId, LocalVariable, OpaqueSpans, RefKind, Reference,
    StringId, StringTable, Term, TermId,
};

/// Interned strings of one file.
#[derive(Debug, Default)]
pub(super) struct StringInterner {
    /// Ids by the hash of the text. On a collision the next free number takes the place of the
    /// hash.
    ids: HashMap<u64, StringId, FastBuildHasher>,
    texts: StringTable,
}

impl StringInterner {
    pub(super) fn intern(&mut self, text: &str) -> StringId {
        let mut key = FastBuildHasher.hash_one(text);
        // Linear probing over hashes: the map stores no strings, so the table must be asked.
        while let Some(id) = self.ids.get(&key) {
            if self.text(*id) == text {
                return *id;
            }
            key = key.wrapping_add(1);
        }
        let id = StringId::from_index(self.texts.len());
        self.texts.push(text);
        self.ids.insert(key, id);
        id
    }

    pub(super) fn text(&self, id: StringId) -> &str {
        self.texts.get(id.index()).unwrap_or_default()
    }

    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    pub(super) fn clear(&mut self) {
        self.ids.clear();
        self.texts.clear();
    }
}

/// The buffers of one builder. Fields mirror those of the builder.
#[derive(Debug, Default)]
pub(super) struct BufferPool {
    pub(super) defs: Vec<Definition>,
    pub(super) locals: Vec<LocalVariable>,
    pub(super) terms: TermTable,
    pub(super) refs: Vec<Reference>,
    pub(super) opaque: OpaqueSpans,
    pub(super) scopes: ScopeTree,
    pub(super) compaction: CompactionBuffers,
}

/// Buffers of the compaction: builder ids to ids of the finished facts, and what was seen before.
#[derive(Debug, Default)]
pub(super) struct CompactionBuffers {
    pub(super) strings: Vec<Option<StringId>>,
    /// Copies of a term, as a value and as a type.
    pub(super) terms: Vec<[Option<TermId>; 2]>,
    pub(super) term_ids: HashMap<Term, TermId, FastBuildHasher>,
    pub(super) locals: Vec<Option<LocalId>>,
    /// Results of earlier name lookups.
    pub(super) lookups:
        HashMap<(StringId, u32, DeclarationSpace), Option<NameBinding>, FastBuildHasher>,
    /// Lines and columns of the names of definitions.
    pub(super) definition_names: HashSet<(u32, u32), FastBuildHasher>,
    /// Uses that were already recorded for a definition.
    pub(super) seen_uses: HashSet<(Option<DefId>, TermId, RefKind), FastBuildHasher>,
    pub(super) refs: Vec<Reference>,
    /// The previous file's facts, kept for their capacity.
    pub(super) draft: Option<Box<FileFacts>>,
    /// Bytes to be hashed or encoded.
    pub(super) bytes: Vec<u8>,
}

impl CompactionBuffers {
    fn clear(&mut self) {
        // `draft` and `bytes` are cleared by their next use.
        let Self { strings, terms, term_ids, locals, lookups, definition_names, .. } = self;
        strings.clear();
        terms.clear();
        term_ids.clear();
        locals.clear();
        lookups.clear();
        definition_names.clear();
        self.seen_uses.clear();
        self.refs.clear();
    }
}

/// Buffers of a file with more items are not kept: clearing large hash maps would slow down all
/// files after it.
const MAX_POOLED_ITEMS: usize = 1 << 14;

thread_local!(static THREAD_POOL: Cell<Option<Box<BufferPool>>> = const { Cell::new(None) });

impl BufferPool {
    /// Takes this thread's buffers, all of them empty.
    pub(super) fn take() -> Self {
        THREAD_POOL.take().map_or_else(Self::default, |it| *it)
    }

    pub(super) fn return_to_pool(mut self) {
        if self.terms.len().max(self.terms.n_strings()).max(self.refs.len()) > MAX_POOLED_ITEMS {
            return;
        }
        self.defs.clear();
        self.locals.clear();
        self.terms.clear();
        self.refs.clear();
        self.opaque.0.clear();
        self.scopes.clear();
        self.compaction.clear();
        THREAD_POOL.set(Some(Box::new(self)));
    }
}
