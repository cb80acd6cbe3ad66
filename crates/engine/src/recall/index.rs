//! What a process keeps in its head of a notebook: which memories there are, and the codes of their
//! vectors. Brought up to date before every question; what others wrote is seen by the next one.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use model::{Grain, MemoryId, Scope, SessionId, Source, Status};
use recall::{Codes, Lie, Slots};
use store::{Code, Filter, News, Outline, Position};

/// How many terms are counted before counting begins anew.
const FREQUENCIES: usize = 10_000;
/// Counts are good until the notebook has changed by one part in so many.
const GROWTH: u64 = 64;

/// One notebook in outline. A memory is known by its number there.
pub(crate) struct Index {
    pub(crate) model: String,
    pub(crate) position: Option<Position>,
    facets: Vec<Option<Facet>>,
    numbers: HashMap<MemoryId, u32>,
    kinds: Words,
    branches: Words,
    /// The numbers of each session's memories, in the order of writing.
    sessions: HashMap<SessionId, Vec<u32>>,
    pub(crate) codes: Codes,
    /// The same for sentences.
    pub(crate) sentences: Codes,
    /// Memories that are code.
    code: Slots,
    /// How the vectors lie, as of the last change.
    pub(crate) lie: Lie,
    /// How many memories hold a term, as far as somebody asked, and how many there were then.
    frequencies: HashMap<String, u64>,
    n_counted: u64,
    /// Memories with searchable text, and the words of all of them.
    n_texts: u64,
    n_words: u64,
    /// Memories that stand and have no vector by this model yet, oldest first.
    unembedded: Vec<i64>,
    /// Who may answer, as somebody last asked.
    last_allowed: Mutex<Option<(Filter, ShutOut, Arc<Slots>)>>,
}

#[derive(Clone, Copy)]
struct Facet {
    id: MemoryId,
    status: Status,
    source: Source,
    scope: Scope,
    pinned: bool,
    kind: u16,
    branch: u16,
    session: Option<SessionId>,
    words: u32,
}

/// Words that many memories share, by number.
#[derive(Default)]
struct Words {
    numbers: HashMap<String, u16>,
}

impl Words {
    /// The number of no word at all.
    const NONE: u16 = 0;

    fn number(&mut self, word: &str) -> u16 {
        let next = u16::try_from(self.numbers.len() + 1).unwrap_or(u16::MAX);
        *self.numbers.entry(word.to_owned()).or_insert(next)
    }

    fn known(&self, word: &str) -> Option<u16> {
        self.numbers.get(word).copied()
    }
}

impl Index {
    pub(crate) fn new(model: &str, dims: usize) -> Self {
        Self {
            model: model.to_owned(),
            position: None,
            facets: Vec::new(),
            numbers: HashMap::new(),
            kinds: Words::default(),
            branches: Words::default(),
            sessions: HashMap::new(),
            codes: Codes::new(dims),
            sentences: Codes::new(dims),
            code: Slots::new(),
            lie: Lie::default(),
            frequencies: HashMap::new(),
            n_counted: 0,
            n_texts: 0,
            n_words: 0,
            unembedded: Vec::new(),
            last_allowed: Mutex::new(None),
        }
    }

    /// Takes in what has changed.
    pub(crate) fn update(&mut self, news: News) {
        if news.everything {
            *self = Self::new(&self.model, self.codes.dims());
            self.codes.reserve(news.codes.len());
        }
        let mut renewed = HashSet::new();
        for outline in &news.outlines {
            if let Some(number) = self.note(outline) {
                self.forget_codes(number);
                renewed.insert(number);
            }
        }
        for code in &news.codes {
            let Some(&number) = self.numbers.get(&code.owner) else { continue };
            if renewed.insert(number) && !news.everything {
                self.forget_codes(number);
            }
            self.take(number, code);
        }
        if !renewed.is_empty() || news.everything {
            self.lie = Lie::of(&self.codes);
        }
        if self.n_texts.abs_diff(self.n_counted) > self.n_counted / GROWTH {
            self.frequencies.clear();
        }
        self.unembedded = self.lacking();
        self.last_allowed = Mutex::new(None);
        self.position = Some(news.position);
    }

    fn note(&mut self, outline: &Outline) -> Option<u32> {
        let number = u32::try_from(outline.n).ok()?;
        let at = number as usize;
        if at >= self.facets.len() {
            self.facets.resize(at + 1, None);
        }
        let branch = outline.branch.as_deref();
        let facet = Facet {
            id: outline.id,
            status: outline.status,
            source: outline.source,
            scope: outline.scope,
            pinned: outline.pinned,
            kind: self.kinds.number(outline.kind.slug()),
            branch: branch.map_or(Words::NONE, |it| self.branches.number(it)),
            session: outline.session,
            words: outline.words,
        };
        if let Some(before) = &self.facets[at] {
            self.n_texts -= u64::from(before.words > 0);
            self.n_words -= u64::from(before.words);
        }
        self.n_texts += u64::from(facet.words > 0);
        self.n_words += u64::from(facet.words);
        if self.facets[at].is_none()
            && let Some(session) = outline.session
        {
            let stream = self.sessions.entry(session).or_default();
            let place = stream.partition_point(|it| *it < number);
            stream.insert(place, number);
        }
        self.facets[at] = Some(facet);
        self.numbers.insert(outline.id, number);
        Some(number)
    }

    fn take(&mut self, number: u32, code: &Code) {
        let codes = match code.grain {
            Grain::Sentence => &mut self.sentences,
            Grain::Part | Grain::Code => &mut self.codes,
        };
        // A code of another length is as good as none: the memory counts as one without a vector,
        // and gets another.
        let fits = codes.push(number, &code.code).is_ok();
        if fits && code.grain == Grain::Code {
            self.code.insert(number);
        }
    }

    fn forget_codes(&mut self, number: u32) {
        self.codes.remove_slot(number);
        self.sentences.remove_slot(number);
        self.code.remove(number);
    }

    pub(crate) fn frequency(&self, term: &str) -> Option<u64> {
        self.frequencies.get(term).copied()
    }

    pub(crate) fn note_frequencies(&mut self, counted: Vec<(String, u64)>) {
        if self.frequencies.len() > FREQUENCIES {
            self.frequencies.clear();
        }
        if self.frequencies.is_empty() {
            self.n_counted = self.n_texts;
        }
        self.frequencies.extend(counted);
    }

    /// Memories with searchable text.
    pub(crate) fn n_texts(&self) -> u64 {
        self.n_texts
    }

    /// The words of all searchable texts.
    pub(crate) fn n_words(&self) -> u64 {
        self.n_words
    }

    /// The words of one memory's searchable text.
    pub(crate) fn words_of(&self, number: u32) -> u32 {
        self.facets.get(number as usize).and_then(Option::as_ref).map_or(0, |it| it.words)
    }

    /// Whether a memory is code rather than prose.
    pub(crate) fn is_code(&self, number: u32) -> bool {
        self.code.contains(number)
    }

    /// The numbers of the memories that pass a filter. `about` are those that pass what it says
    /// about files, modules and tags; `shut_out` are memories and branches that do not count here.
    pub(crate) fn allowed(
        &self,
        filter: &Filter,
        about: Option<&[i64]>,
        shut_out: &ShutOut,
    ) -> Arc<Slots> {
        if about.is_some() {
            return Arc::new(self.passing(filter, about, shut_out));
        }
        let mut last = self.last_allowed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, _, known)) = last.as_ref().filter(|it| it.0 == *filter && it.1 == *shut_out)
        {
            return Arc::clone(known);
        }
        let fresh = Arc::new(self.passing(filter, None, shut_out));
        *last = Some((filter.clone(), shut_out.clone(), Arc::clone(&fresh)));
        fresh
    }

    fn passing(&self, filter: &Filter, about: Option<&[i64]>, shut_out: &ShutOut) -> Slots {
        let mut res = Slots::new();
        let wanted = |word: &Option<String>, among: &Words| match word {
            None => Some(None),
            Some(word) => among.known(word).map(Some),
        };
        let (Some(kind), Some(branch)) =
            (wanted(&filter.kind, &self.kinds), wanted(&filter.branch, &self.branches))
        else {
            return res;
        };
        let closed: HashSet<u16> =
            shut_out.branches.iter().filter_map(|it| self.branches.known(it)).collect();
        let passes = |it: &Facet| {
            filter.statuses.contains(&it.status)
                && kind.is_none_or(|kind| kind == it.kind)
                && branch.is_none_or(|branch| branch == it.branch)
                && filter.source.is_none_or(|source| source == it.source)
                && filter.scope.is_none_or(|scope| scope == it.scope)
                && filter.pinned.is_none_or(|pinned| pinned == it.pinned)
                && !(closed.contains(&it.branch) && filter.branch.is_none())
                && !shut_out.memories.contains(&it.id)
        };
        let mut take = |number: u32| {
            if self.facets.get(number as usize).and_then(Option::as_ref).is_some_and(&passes) {
                res.insert(number);
            }
        };
        match about {
            Some(about) => about.iter().filter_map(|it| u32::try_from(*it).ok()).for_each(take),
            None => (0..u32::try_from(self.facets.len()).unwrap_or(u32::MAX)).for_each(&mut take),
        }
        res
    }

    /// The place of a memory in its session: the first number of the session as its name, and those
    /// that were written right before and after it.
    pub(crate) fn beside(&self, number: u32, window: usize) -> Option<(u32, Vec<(u32, isize)>)> {
        let session = self.facets.get(number as usize)?.as_ref()?.session?;
        let stream = self.sessions.get(&session)?;
        let at = stream.binary_search(&number).ok()?;
        let (from, to) = (at.saturating_sub(window), (at + window + 1).min(stream.len()));
        let others = (from..to).filter(|it| *it != at);
        let beside = others.map(|it| (stream[it], it.cast_signed() - at.cast_signed()));
        Some((stream[0], beside.collect()))
    }

    pub(crate) fn id(&self, number: u32) -> Option<MemoryId> {
        Some(self.facets.get(number as usize)?.as_ref()?.id)
    }

    pub(crate) fn number(&self, id: MemoryId) -> Option<u32> {
        self.numbers.get(&id).copied()
    }

    /// Memories that stand and have no vector by this model yet, oldest first.
    pub(crate) fn unembedded(&self) -> &[i64] {
        &self.unembedded
    }

    fn lacking(&self) -> Vec<i64> {
        let lacks = |(number, facet): (usize, &Option<Facet>)| {
            let stands = facet.as_ref().is_some_and(|it| it.status != Status::Deleted);
            let number = u32::try_from(number).ok()?;
            (stands && !self.codes.contains(number)).then_some(i64::from(number))
        };
        self.facets.iter().enumerate().filter_map(lacks).collect()
    }

    /// How many memories stand.
    pub(crate) fn n_standing(&self) -> usize {
        let stands = |it: &&Facet| it.status != Status::Deleted;
        self.facets.iter().flatten().filter(stands).count()
    }
}

/// What does not count in a project, whatever the filter says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShutOut {
    /// Memories of the user that a person kept out of this project.
    pub(crate) memories: HashSet<MemoryId>,
    /// Branches that are not merged into the one at hand.
    pub(crate) branches: Vec<String>,
}
