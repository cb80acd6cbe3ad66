//! The in-memory index of one notebook.
//!
//! It holds what a search needs for every memory: the facets that filters test, the quantized
//! vectors, and the statistics of keywords and vectors. Texts stay in the database and are read for
//! candidates only. `shared_index` updates the index before every search with what any process
//! wrote since; the store describes that as an `IndexDelta`: the outlines (properties without the
//! text) and the codes of all memories that changed. A memory is identified by its number, the small
//! row number that it has in this database; lists and sets are indexed by this number, then called
//! *slot*. A *code* is a quantized vector; source code is always called source code here. The *grain*
//! of a code tells what was embedded: a part of a text, a sentence, or a text that is source code. The
//! *document frequency* of a term is the number of memories that hold it.

mod snapshot_content;
#[cfg(test)]
mod snapshot_tests;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use model::hasher::FastBuildHasher;
use model::{Grain, MemoryId, MemoryScope, MemorySource, MemoryStatus, SessionId};
use recall::{QuantizedVectors, SlotSet, VectorStats};
use store::{IndexDelta, IndexPosition, MemoryFilter, MemoryOutline, VectorCode};

/// Most terms whose document frequency is cached. A full cache is emptied before the next
/// insertion.
const MAX_CACHED_TERMS: usize = 10_000;
/// The cached document frequencies are dropped once one text in this many is new or gone. The weight
/// of a term (IDF) is a logarithm of its frequency, so a smaller change hardly matters.
const DOC_FREQ_TOLERANCE: u64 = 64;

/// Memories from which a notebook has a snapshot; a smaller one is read at once.
const MIN_SNAPSHOT_MEMORIES: usize = 500;
/// A new snapshot is due when more than one memory in this many has changed, within the two limits
/// below. Changed memories are read one by one, each at the cost of writing a few hundred others.
const UNSAVED_ONE_IN: usize = 500;
const MIN_UNSAVED: usize = 100;
const MAX_UNSAVED: usize = 1_000;

/// The index of one notebook.
pub(crate) struct NotebookIndex {
    /// The id of the embedding model whose vectors are in the index.
    pub(crate) model: String,
    /// The state of the database that the index equals; `None` before the first update.
    pub(crate) position: Option<IndexPosition>,
    /// By number; `None` where a number is not in use.
    facets: Vec<Option<MemoryFacets>>,
    numbers: HashMap<MemoryId, u32, FastBuildHasher>,
    kinds: SlugIds,
    branches: SlugIds,
    /// The numbers of each session's memories, in the order of writing.
    sessions: HashMap<SessionId, Vec<u32>, FastBuildHasher>,
    /// Quantized vectors of whole texts and parts of texts.
    pub(crate) codes: QuantizedVectors,
    /// Quantized vectors of sentences.
    pub(crate) sentences: QuantizedVectors,
    /// Memories whose text is source code.
    source_code_memories: SlotSet,
    /// Statistics of `codes`, as of the last update.
    pub(crate) vector_stats: VectorStats,
    /// Cached number of memories that hold a term.
    doc_freqs: HashMap<String, u64>,
    /// `n_texts` when the first of `doc_freqs` was counted.
    n_texts_counted: u64,
    /// Memories with searchable text.
    n_texts: u64,
    /// Words of all searchable texts.
    n_words: u64,
    /// Numbers of the memories that have no vector by `model`, oldest first; `i64` as the store has
    /// them.
    unembedded: Vec<i64>,
    /// Memories that changed since the index was last read from a snapshot or written to one.
    n_unsaved: usize,
    /// The result of the last call of `allowed` without a subject.
    last_allowed: Mutex<Option<(MemoryFilter, SearchExclusions, Arc<SlotSet>)>>,
}

/// The properties of a memory that a filter can test without the store.
#[derive(Clone, Copy)]
struct MemoryFacets {
    id: MemoryId,
    status: MemoryStatus,
    source: MemorySource,
    scope: MemoryScope,
    pinned: bool,
    /// An id of `NotebookIndex::kinds`.
    kind: u16,
    /// An id of `NotebookIndex::branches`.
    branch: u16,
    session: Option<SessionId>,
    /// Words of its searchable text.
    n_words: u32,
}

/// The memories around a memory in its session.
pub(crate) struct SessionNeighbours {
    /// The number of the session's first memory, which stands for the session.
    pub(crate) first_of_session: u32,
    /// Numbers with their distance in the order of writing; negative before the memory.
    pub(crate) neighbours: Vec<(u32, isize)>,
}

/// The memories that a search must not return in this project, whatever its filter says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SearchExclusions {
    /// Memories of the user's notebook that the user excluded from this project.
    pub(crate) user_excluded: HashSet<MemoryId>,
    /// Branches that are not merged into the checked-out commit.
    pub(crate) unmerged_branches: Vec<String>,
}

impl NotebookIndex {
    pub(crate) fn new(model: &str, dims: usize) -> Self {
        Self {
            model: model.to_owned(),
            position: None,
            facets: Vec::new(),
            numbers: HashMap::default(),
            kinds: SlugIds::default(),
            branches: SlugIds::default(),
            sessions: HashMap::default(),
            codes: QuantizedVectors::new(dims),
            sentences: QuantizedVectors::new(dims),
            source_code_memories: SlotSet::new(),
            vector_stats: VectorStats::default(),
            doc_freqs: HashMap::new(),
            n_texts_counted: 0,
            n_texts: 0,
            n_words: 0,
            unembedded: Vec::new(),
            n_unsaved: 0,
            last_allowed: Mutex::new(None),
        }
    }

    /// Applies what changed in the database since `position`.
    pub(crate) fn update(&mut self, delta: IndexDelta) {
        if delta.is_full {
            *self = Self::new(&self.model, self.codes.dims());
            self.codes.reserve_rows(delta.codes.len());
        }
        let mut updated = HashSet::new();
        for outline in &delta.outlines {
            if let Some(number) = self.put_outline(outline) {
                self.remove_codes(number);
                updated.insert(number);
            }
        }
        for code in &delta.codes {
            // A vector whose memory was erased meanwhile has no owner.
            let Some(&number) = self.numbers.get(&code.owner) else { continue };
            // The delta has all codes of a memory or none. The first one replaces the old codes of
            // a memory that got new vectors without a new outline.
            if updated.insert(number) && !delta.is_full {
                self.remove_codes(number);
            }
            self.put_code(number, code);
        }
        if !updated.is_empty() || delta.is_full {
            self.vector_stats = VectorStats::from_codes(&self.codes);
        }
        self.n_unsaved += updated.len();

        // Drops the caches that the change has made wrong.
        if self.n_texts.abs_diff(self.n_texts_counted) > self.n_texts_counted / DOC_FREQ_TOLERANCE {
            self.doc_freqs.clear();
        }
        self.unembedded = self.list_unembedded();
        self.last_allowed = Mutex::new(None);

        // Last: a panic above leaves the old position, and the same delta is applied again.
        self.position = Some(delta.position);
    }

    /// Adds or replaces the facets of a memory. Returns its number.
    fn put_outline(&mut self, outline: &MemoryOutline) -> Option<u32> {
        let number = u32::try_from(outline.number).ok()?;
        let slot = number as usize;
        if slot >= self.facets.len() {
            self.facets.resize(slot + 1, None);
        }
        let branch = outline.branch.as_deref();
        let facets = MemoryFacets {
            id: outline.id,
            status: outline.status,
            source: outline.source,
            scope: outline.scope,
            pinned: outline.pinned,
            kind: self.kinds.get_or_insert(outline.kind.slug()),
            branch: branch.map_or(SlugIds::NO_SLUG, |it| self.branches.get_or_insert(it)),
            session: outline.session,
            n_words: outline.n_words,
        };

        // The totals count each memory once, so its old words are taken off first.
        if let Some(before) = &self.facets[slot] {
            self.n_texts -= u64::from(before.n_words > 0);
            self.n_words -= u64::from(before.n_words);
        }
        self.n_texts += u64::from(facets.n_words > 0);
        self.n_words += u64::from(facets.n_words);

        // A memory keeps its session, so only a new one is added to the list.
        if self.facets[slot].is_none()
            && let Some(session) = outline.session
        {
            let numbers = self.sessions.entry(session).or_default();
            // Deltas are not sorted by number.
            let position = numbers.partition_point(|it| *it < number);
            numbers.insert(position, number);
        }
        self.facets[slot] = Some(facets);
        self.numbers.insert(outline.id, number);
        Some(number)
    }

    fn put_code(&mut self, number: u32, code: &VectorCode) {
        let codes = match code.grain {
            Grain::Sentence => &mut self.sentences,
            Grain::Part | Grain::Code => &mut self.codes,
        };
        // A code of another length is dropped. The memory then counts as not embedded and gets a
        // new vector.
        let fits = codes.push_row(number, &code.code).is_ok();
        if fits && code.grain == Grain::Code {
            self.source_code_memories.insert(number);
        }
    }

    fn remove_codes(&mut self, number: u32) {
        self.codes.remove_slot(number);
        self.sentences.remove_slot(number);
        self.source_code_memories.remove(number);
    }

    /// The cached number of memories that hold a term.
    pub(crate) fn doc_freq(&self, term: &str) -> Option<u64> {
        self.doc_freqs.get(term).copied()
    }

    pub(crate) fn cache_doc_freqs(&mut self, counted: Vec<(String, u64)>) {
        if self.doc_freqs.len() > MAX_CACHED_TERMS {
            self.doc_freqs.clear();
        }
        if self.doc_freqs.is_empty() {
            self.n_texts_counted = self.n_texts;
        }
        self.doc_freqs.extend(counted);
    }

    /// Memories with searchable text.
    pub(crate) fn n_texts(&self) -> u64 {
        self.n_texts
    }

    /// Words of all searchable texts.
    pub(crate) fn n_words(&self) -> u64 {
        self.n_words
    }

    fn facets(&self, number: u32) -> Option<&MemoryFacets> {
        self.facets.get(number as usize)?.as_ref()
    }

    /// Words of one memory's searchable text.
    pub(crate) fn words_of(&self, number: u32) -> u32 {
        self.facets(number).map_or(0, |it| it.n_words)
    }

    /// True if the text of a memory is source code.
    pub(crate) fn is_source_code(&self, number: u32) -> bool {
        self.source_code_memories.contains(number)
    }

    /// The numbers of the memories that pass a filter and are not excluded. `matching` are the
    /// numbers that pass the filter's subject (files, modules, tags), which only the store can
    /// test; `None` if the filter names none.
    pub(crate) fn allowed(
        &self,
        filter: &MemoryFilter,
        matching: Option<&[i64]>,
        exclusions: &SearchExclusions,
    ) -> Arc<SlotSet> {
        if matching.is_some() {
            return Arc::new(self.filter_numbers(filter, matching, exclusions));
        }
        // Agents repeat the same filter, and a filter without a subject tests every memory.
        let mut last = self.last_allowed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((last_filter, last_exclusions, allowed)) = last.as_ref()
            && last_filter == filter
            && last_exclusions == exclusions
        {
            return Arc::clone(allowed);
        }
        let allowed = Arc::new(self.filter_numbers(filter, None, exclusions));
        *last = Some((filter.clone(), exclusions.clone(), Arc::clone(&allowed)));
        allowed
    }

    fn filter_numbers(
        &self,
        filter: &MemoryFilter,
        matching: Option<&[i64]>,
        exclusions: &SearchExclusions,
    ) -> SlotSet {
        let kind = SlugFilter::new(filter.kind.as_deref(), &self.kinds);
        let branch = SlugFilter::new(filter.branch.as_deref(), &self.branches);
        let unmerged: HashSet<u16> =
            exclusions.unmerged_branches.iter().filter_map(|it| self.branches.get(it)).collect();
        let passes = |it: &MemoryFacets| {
            filter.statuses.contains(&it.status)
                && kind.accepts(it.kind)
                && branch.accepts(it.branch)
                && filter.source.is_none_or(|source| source == it.source)
                && filter.scope.is_none_or(|scope| scope == it.scope)
                && filter.pinned.is_none_or(|pinned| pinned == it.pinned)
                // A filter that names a branch wants it even if it is not merged.
                && !(unmerged.contains(&it.branch) && filter.branch.is_none())
                && !exclusions.user_excluded.contains(&it.id)
        };
        let tested: Vec<u32> = match matching {
            Some(numbers) => numbers.iter().filter_map(|it| u32::try_from(*it).ok()).collect(),
            None => (0..u32::try_from(self.facets.len()).unwrap_or(u32::MAX)).collect(),
        };
        let mut allowed = SlotSet::new();
        for number in tested {
            if self.facets(number).is_some_and(passes) {
                allowed.insert(number);
            }
        }
        allowed
    }

    /// The memories up to `window` before and after a memory in its session; `None` if it belongs
    /// to no session.
    pub(crate) fn session_neighbours(
        &self,
        number: u32,
        window: usize,
    ) -> Option<SessionNeighbours> {
        let session = self.facets(number)?.session?;
        let numbers = self.sessions.get(&session)?;
        let own = numbers.binary_search(&number).ok()?;
        let first = own.saturating_sub(window);
        let end = (own + window + 1).min(numbers.len());
        let mut neighbours = Vec::new();
        for (position, number) in numbers.iter().enumerate().take(end).skip(first) {
            if position != own {
                neighbours.push((*number, position.cast_signed() - own.cast_signed()));
            }
        }
        Some(SessionNeighbours { first_of_session: numbers[0], neighbours })
    }

    pub(crate) fn id(&self, number: u32) -> Option<MemoryId> {
        Some(self.facets(number)?.id)
    }

    pub(crate) fn number(&self, id: MemoryId) -> Option<u32> {
        self.numbers.get(&id).copied()
    }

    /// The numbers of the memories that have no vector by the current model, oldest first.
    pub(crate) fn unembedded(&self) -> &[i64] {
        &self.unembedded
    }

    fn list_unembedded(&self) -> Vec<i64> {
        let mut unembedded = Vec::new();
        for (facets, number) in self.facets.iter().zip(0..) {
            let is_searched = facets.as_ref().is_some_and(MemoryFacets::is_searched);
            if is_searched && !self.codes.contains(number) {
                unembedded.push(i64::from(number));
            }
        }
        unembedded
    }

    /// Returns whether reading the changes since the last snapshot costs enough to write another one.
    pub(crate) fn is_snapshot_due(&self) -> bool {
        let n_memories = self.numbers.len();
        let max_unsaved = (n_memories / UNSAVED_ONE_IN).clamp(MIN_UNSAVED, MAX_UNSAVED);
        n_memories >= MIN_SNAPSHOT_MEMORIES && self.n_unsaved > max_unsaved
    }

    /// Counts from the snapshot that is now written.
    pub(crate) fn mark_saved(&mut self, n_unsaved_before: usize) {
        self.n_unsaved = self.n_unsaved.saturating_sub(n_unsaved_before);
    }

    /// Memories that changed since the last snapshot.
    pub(crate) fn n_unsaved(&self) -> usize {
        self.n_unsaved
    }

    /// Memories that are not deleted.
    pub(crate) fn n_memories(&self) -> usize {
        self.facets.iter().flatten().filter(|it| it.is_searched()).count()
    }
}

impl MemoryFacets {
    /// Deleted memories stay in the database for undo, but no search returns them.
    fn is_searched(&self) -> bool {
        self.status != MemoryStatus::Deleted
    }
}

/// Small ids for strings that many memories share.
#[derive(Default)]
struct SlugIds {
    ids: HashMap<String, u16>,
}

impl SlugIds {
    /// The id of "no string".
    const NO_SLUG: u16 = 0;

    /// Beyond 65,534 strings the last id is shared; no project has that many types or branches.
    fn get_or_insert(&mut self, slug: &str) -> u16 {
        let next = u16::try_from(self.ids.len() + 1).unwrap_or(u16::MAX);
        *self.ids.entry(slug.to_owned()).or_insert(next)
    }

    fn get(&self, slug: &str) -> Option<u16> {
        self.ids.get(slug).copied()
    }
}

/// The test of one facet by a filter.
#[derive(Clone, Copy)]
enum SlugFilter {
    /// The filter does not name this facet.
    Any,
    Only(u16),
    /// The filter names a string that no memory has.
    Nothing,
}

impl SlugFilter {
    fn new(slug: Option<&str>, ids: &SlugIds) -> Self {
        match slug.map(|it| ids.get(it)) {
            None => Self::Any,
            Some(Some(id)) => Self::Only(id),
            Some(None) => Self::Nothing,
        }
    }

    const fn accepts(self, id: u16) -> bool {
        match self {
            Self::Any => true,
            Self::Only(wanted) => wanted == id,
            Self::Nothing => false,
        }
    }
}
