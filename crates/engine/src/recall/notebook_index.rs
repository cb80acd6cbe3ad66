//! The in-memory index of one notebook: the facets that filters test, the quantized vectors, and the
//! statistics of keywords and vectors. Updated before every search with what any process wrote.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use model::{Grain, MemoryId, MemoryScope, MemorySource, MemoryStatus, SessionId};
use recall::{QuantizedVectors, SlotSet, VectorStats};
use store::{IndexDelta, IndexPosition, MemoryFilter, MemoryOutline, VectorCode};

/// Terms whose document frequency is cached; one more empties the cache.
const MAX_CACHED_TERMS: usize = 10_000;
/// The cached document frequencies are dropped once the number of texts has changed by one in this
/// many.
const DOC_FREQ_TOLERANCE: u64 = 64;

/// The index of one notebook. It identifies a memory by its number in the database.
pub(crate) struct NotebookIndex {
    pub(crate) model: String,
    pub(crate) position: Option<IndexPosition>,
    /// By number; `None` where a number is not in use.
    facets: Vec<Option<MemoryFacets>>,
    numbers: HashMap<MemoryId, u32>,
    kinds: SlugIds,
    branches: SlugIds,
    /// The numbers of each session's memories, in the order of writing.
    sessions: HashMap<SessionId, Vec<u32>>,
    /// Quantized vectors of whole texts and parts of texts.
    pub(crate) codes: QuantizedVectors,
    /// Quantized vectors of sentences.
    pub(crate) sentences: QuantizedVectors,
    /// Memories whose text is source code.
    code_memories: SlotSet,
    /// Statistics of `codes`, as of the last update.
    pub(crate) vector_stats: VectorStats,
    doc_freqs: HashMap<String, u64>,
    /// `n_texts` when the first of `doc_freqs` was counted.
    n_texts_counted: u64,
    n_texts: u64,
    n_words: u64,
    unembedded: Vec<i64>,
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
    kind: u16,
    branch: u16,
    session: Option<SessionId>,
    n_words: u32,
}

/// The memories that a search must not return in this project, whatever its filter says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SearchExclusions {
    /// Memories of the user's notebook that the user excluded from this project.
    pub(crate) memories: HashSet<MemoryId>,
    /// Branches that are not merged into the checked-out commit.
    pub(crate) branches: Vec<String>,
}

/// Small ids for strings that many memories share.
#[derive(Default)]
struct SlugIds {
    ids: HashMap<String, u16>,
}

impl SlugIds {
    /// The id of "no string".
    const NO_SLUG: u16 = 0;

    fn get_or_insert(&mut self, slug: &str) -> u16 {
        let next = u16::try_from(self.ids.len() + 1).unwrap_or(u16::MAX);
        *self.ids.entry(slug.to_owned()).or_insert(next)
    }

    fn get(&self, slug: &str) -> Option<u16> {
        self.ids.get(slug).copied()
    }
}

impl NotebookIndex {
    pub(crate) fn new(model: &str, dims: usize) -> Self {
        Self {
            model: model.to_owned(),
            position: None,
            facets: Vec::new(),
            numbers: HashMap::new(),
            kinds: SlugIds::default(),
            branches: SlugIds::default(),
            sessions: HashMap::new(),
            codes: QuantizedVectors::new(dims),
            sentences: QuantizedVectors::new(dims),
            code_memories: SlotSet::new(),
            vector_stats: VectorStats::default(),
            doc_freqs: HashMap::new(),
            n_texts_counted: 0,
            n_texts: 0,
            n_words: 0,
            unembedded: Vec::new(),
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
            let Some(&number) = self.numbers.get(&code.owner) else { continue };
            // The delta has all codes of a memory or none. The first one replaces the old codes of a
            // memory that got new vectors without a new outline.
            if updated.insert(number) && !delta.is_full {
                self.remove_codes(number);
            }
            self.put_code(number, code);
        }
        if !updated.is_empty() || delta.is_full {
            self.vector_stats = VectorStats::from_codes(&self.codes);
        }
        // Document frequencies may be slightly off; IDF changes only with their logarithm.
        if self.n_texts.abs_diff(self.n_texts_counted) > self.n_texts_counted / DOC_FREQ_TOLERANCE {
            self.doc_freqs.clear();
        }
        self.unembedded = self.list_unembedded();
        self.last_allowed = Mutex::new(None);
        // Last: a panic above leaves the old position, and the same delta is applied again.
        self.position = Some(delta.position);
    }

    fn put_outline(&mut self, outline: &MemoryOutline) -> Option<u32> {
        let number = u32::try_from(outline.number).ok()?;
        let at = number as usize;
        if at >= self.facets.len() {
            self.facets.resize(at + 1, None);
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
        if let Some(before) = &self.facets[at] {
            self.n_texts -= u64::from(before.n_words > 0);
            self.n_words -= u64::from(before.n_words);
        }
        self.n_texts += u64::from(facets.n_words > 0);
        self.n_words += u64::from(facets.n_words);
        // A memory keeps its session, so only a new one is added to the list.
        if self.facets[at].is_none()
            && let Some(session) = outline.session
        {
            let numbers = self.sessions.entry(session).or_default();
            // Deltas are not sorted by number.
            let position = numbers.partition_point(|it| *it < number);
            numbers.insert(position, number);
        }
        self.facets[at] = Some(facets);
        self.numbers.insert(outline.id, number);
        Some(number)
    }

    fn put_code(&mut self, number: u32, code: &VectorCode) {
        let codes = match code.grain {
            Grain::Sentence => &mut self.sentences,
            Grain::Part | Grain::Code => &mut self.codes,
        };
        // A code of another length is dropped. The memory then counts as not embedded and gets a new
        // vector.
        let fits = codes.push_row(number, &code.code).is_ok();
        if fits && code.grain == Grain::Code {
            self.code_memories.insert(number);
        }
    }

    fn remove_codes(&mut self, number: u32) {
        self.codes.remove_slot(number);
        self.sentences.remove_slot(number);
        self.code_memories.remove(number);
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
    pub(crate) fn is_code(&self, number: u32) -> bool {
        self.code_memories.contains(number)
    }

    /// The numbers of the memories that pass a filter and are not excluded. `matching` are the
    /// numbers that pass the filter's files, modules and tags; `None` if it names none of these.
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
        let is_same = |it: &&(MemoryFilter, SearchExclusions, Arc<SlotSet>)| {
            it.0 == *filter && it.1 == *exclusions
        };
        if let Some((_, _, allowed)) = last.as_ref().filter(is_same) {
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
        let mut allowed = SlotSet::new();
        // `None`: the filter names a slug that no memory has. `Some(None)`: it names none.
        let slug_id = |slug: &Option<String>, ids: &SlugIds| match slug {
            None => Some(None),
            Some(slug) => ids.get(slug).map(Some),
        };
        let (Some(kind), Some(branch)) =
            (slug_id(&filter.kind, &self.kinds), slug_id(&filter.branch, &self.branches))
        else {
            return allowed;
        };
        let unmerged: HashSet<u16> =
            exclusions.branches.iter().filter_map(|it| self.branches.get(it)).collect();
        let passes = |it: &MemoryFacets| {
            filter.statuses.contains(&it.status)
                && kind.is_none_or(|kind| kind == it.kind)
                && branch.is_none_or(|branch| branch == it.branch)
                && filter.source.is_none_or(|source| source == it.source)
                && filter.scope.is_none_or(|scope| scope == it.scope)
                && filter.pinned.is_none_or(|pinned| pinned == it.pinned)
                // A filter that names a branch wants it even if it is not merged.
                && !(unmerged.contains(&it.branch) && filter.branch.is_none())
                && !exclusions.memories.contains(&it.id)
        };
        let mut test = |number: u32| {
            if self.facets(number).is_some_and(&passes) {
                allowed.insert(number);
            }
        };
        match matching {
            Some(numbers) => numbers.iter().filter_map(|it| u32::try_from(*it).ok()).for_each(test),
            None => (0..u32::try_from(self.facets.len()).unwrap_or(u32::MAX)).for_each(&mut test),
        }
        allowed
    }

    /// The neighbours of a memory in its session: the number of the session's first memory, which
    /// stands for the session, and the memories up to `window` before and after with their distance.
    pub(crate) fn session_neighbours(
        &self,
        number: u32,
        window: usize,
    ) -> Option<(u32, Vec<(u32, isize)>)> {
        let session = self.facets(number)?.session?;
        let numbers = self.sessions.get(&session)?;
        let at = numbers.binary_search(&number).ok()?;
        let (from, to) = (at.saturating_sub(window), (at + window + 1).min(numbers.len()));
        let others = (from..to).filter(|it| *it != at);
        let neighbours = others.map(|it| (numbers[it], it.cast_signed() - at.cast_signed()));
        Some((numbers[0], neighbours.collect()))
    }

    pub(crate) fn id(&self, number: u32) -> Option<MemoryId> {
        Some(self.facets(number)?.id)
    }

    pub(crate) fn number(&self, id: MemoryId) -> Option<u32> {
        self.numbers.get(&id).copied()
    }

    /// The memories that have no vector by the current model, oldest first.
    pub(crate) fn unembedded(&self) -> &[i64] {
        &self.unembedded
    }

    fn list_unembedded(&self) -> Vec<i64> {
        let unembedded = |(number, facets): (usize, &Option<MemoryFacets>)| {
            let is_searched = facets.as_ref().is_some_and(MemoryFacets::is_searched);
            let number = u32::try_from(number).ok()?;
            (is_searched && !self.codes.contains(number)).then_some(i64::from(number))
        };
        self.facets.iter().enumerate().filter_map(unembedded).collect()
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
