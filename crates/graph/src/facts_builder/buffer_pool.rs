//! Buffers of a facts builder, reused from one file to the next on the same thread.
//!
//! A builder takes the pool of its thread when it is created. *Compaction* is its last step
//! (`compaction.rs`): what it collected is copied into the finished facts, with new ids and without
//! what nothing uses. Compaction has buffers of its own. At its end the buffers of both are emptied
//! and returned to the pool. Allocating them anew for every file costs more than 5 % of the time to
//! read it.
//!
//! ```text
//! FactsBuilder::new      takes the pool
//! the walk               fills the builder's buffers
//! FactsBuilder::finish   compaction fills its own buffers, copies the facts, empties and returns all
//! ```

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use model::hasher::FastBuildHasher;

use super::scope::ScopeTree;
use super::term_table::TermTable;
use super::{DeclarationSpace, NameBinding};
use crate::facts::{
    DefId, Definition, FileFacts, LocalId, LocalVariable, OpaqueSpan, RefKind, Reference, StringId,
    Term, TermId,
};

/// The buffers of one builder. Fields mirror those of the builder.
#[derive(Debug, Default)]
pub(super) struct BufferPool {
    pub(super) defs: Vec<Definition>,
    pub(super) locals: Vec<LocalVariable>,
    pub(super) terms: TermTable,
    pub(super) refs: Vec<Reference>,
    pub(super) opaque: Vec<OpaqueSpan>,
    pub(super) scopes: ScopeTree,
    pub(super) compaction: CompactionBuffers,
}

/// Buffers of the compaction. A vector of ids is a translation table: its index is the id in the
/// builder, its item the id in the finished facts.
#[derive(Debug, Default)]
pub(super) struct CompactionBuffers {
    /// `None` for a string that was not copied yet.
    pub(super) strings: Vec<Option<StringId>>,
    /// As `strings`, with one copy as a value and one as a type: a name may mean different things
    /// as each, see [`DeclarationSpace`].
    pub(super) terms: Vec<[Option<TermId>; 2]>,
    /// As `strings`.
    pub(super) locals: Vec<Option<LocalId>>,
    /// The terms of the finished facts, for which equal terms share one id.
    pub(super) term_ids: HashMap<Term, TermId, FastBuildHasher>,
    /// Results of earlier name lookups, by name, scope in which the lookup begins, and kind of name.
    pub(super) lookups:
        HashMap<(StringId, u32, DeclarationSpace), Option<NameBinding>, FastBuildHasher>,
    /// Lines and columns of the names of definitions.
    pub(super) definition_names: HashSet<(u32, u32), FastBuildHasher>,
    /// Uses that were already recorded for a definition.
    pub(super) seen_uses: HashSet<(Option<DefId>, TermId, RefKind), FastBuildHasher>,
    /// The references of the finished facts, before they are encoded.
    pub(super) refs: Vec<Reference>,
    /// The previous file's facts, kept for their capacity.
    pub(super) draft: Option<Box<FileFacts>>,
    /// Bytes to be hashed or encoded.
    pub(super) bytes: Vec<u8>,
}

impl CompactionBuffers {
    fn clear(&mut self) {
        self.strings.clear();
        self.terms.clear();
        self.locals.clear();
        self.term_ids.clear();
        self.lookups.clear();
        self.definition_names.clear();
        self.seen_uses.clear();
        self.refs.clear();
        // `draft` and `bytes` keep their content: their next user clears them first.
    }
}

/// Maximum number of terms, strings or references of a file whose buffers are kept. Clearing the
/// large hash maps of a larger file would slow down all files after it.
const MAX_POOLED_ITEMS: usize = 1 << 14;

thread_local!(static THREAD_POOL: Cell<Option<Box<BufferPool>>> = const { Cell::new(None) });

impl BufferPool {
    /// Takes this thread's buffers. All are empty except `draft` and `bytes` of the compaction, which
    /// clears these two itself.
    pub(super) fn take() -> Self {
        THREAD_POOL.take().map_or_else(Self::default, |it| *it)
    }

    /// Empties the buffers and keeps them for the next file of this thread.
    pub(super) fn return_to_pool(mut self) {
        if self.terms.len().max(self.terms.n_strings()).max(self.refs.len()) > MAX_POOLED_ITEMS {
            return;
        }
        self.defs.clear();
        self.locals.clear();
        self.terms.clear();
        self.refs.clear();
        self.opaque.clear();
        self.scopes.clear();
        self.compaction.clear();
        THREAD_POOL.set(Some(Box::new(self)));
    }
}
