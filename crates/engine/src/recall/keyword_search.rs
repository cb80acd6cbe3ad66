//! The keyword retrieval path: BM25 over the memories of one notebook.

use std::sync::{Arc, PoisonError};

use recall::{Bm25, KeywordMatch, SlotSet};
use store::{TermLookup, TermMatches};

use super::indexed_notebook::{SharedIndex, read_index};
use crate::lookup::match_expression;

/// Matches of a larger notebook that are scored at most: only the rarest terms are looked up, as many
/// as this many memories hold. A memory with all terms holds the rarest ones too, so the best matches
/// are not lost.
const MAX_SCORED_MATCHES: u64 = 1_000;

/// A keyword search with everything it needs, so that it runs in one visit to the store's thread.
pub(super) struct KeywordSearch {
    pub(super) terms: Vec<String>,
    pub(super) index: SharedIndex,
    pub(super) allowed: Arc<SlotSet>,
}

impl KeywordSearch {
    /// Returns the allowed memories that hold any of the searched terms, scored, in no order.
    pub(super) fn run(&self, lookup: &TermLookup<'_>) -> Result<Vec<KeywordMatch>, store::Error> {
        let all: Vec<usize> = (0..self.terms.len()).collect();
        // In a small notebook one query finds every match, and the document frequencies follow from
        // the matches.
        if read_index(&self.index).n_texts() <= MAX_SCORED_MATCHES {
            let matches = lookup.find_matches(&self.match_any(&all))?;
            let doc_freqs = count_doc_freqs(&matches, all.len());
            return Ok(self.score_matches(&matches, &all, &doc_freqs));
        }
        let doc_freqs = self.doc_freqs(lookup)?;
        let rarest = recall::rarest_terms(&doc_freqs, MAX_SCORED_MATCHES);
        let matches = lookup.find_matches(&self.match_any(&rarest))?;
        Ok(self.score_matches(&matches, &rarest, &doc_freqs))
    }

    fn match_any(&self, terms: &[usize]) -> String {
        let terms: Vec<String> = terms.iter().map(|it| self.terms[*it].clone()).collect();
        match_expression(&terms, " OR ")
    }

    /// Scores matches by BM25. `searched` are the terms that were looked up, as indexes into all
    /// terms; `doc_freqs` covers all terms.
    fn score_matches(
        &self,
        matches: &TermMatches,
        searched: &[usize],
        doc_freqs: &[u64],
    ) -> Vec<KeywordMatch> {
        let index = read_index(&self.index);
        let bm25 = Bm25::new(doc_freqs, index.n_texts(), index.n_words());
        let score = |(number, counts): (i64, &[[u8; 3]])| {
            // Filtered here and not in the query: the allowed set is not known to the store.
            let number = u32::try_from(number).ok().filter(|it| self.allowed.contains(*it))?;
            let counts = searched.iter().copied().zip(counts);
            Some(bm25.score_memory(number, index.words_of(number), counts))
        };
        matches.iter().filter_map(score).collect()
    }

    /// The document frequency of each term. Counting is the slowest step of a search, so the index
    /// caches the counts until the notebook has changed noticeably.
    fn doc_freqs(&self, lookup: &TermLookup<'_>) -> Result<Vec<u64>, store::Error> {
        let cached: Vec<Option<u64>> = {
            let index = read_index(&self.index);
            self.terms.iter().map(|it| index.doc_freq(it)).collect()
        };
        let (mut doc_freqs, mut counted) = (Vec::new(), Vec::new());
        for (term, cached) in self.terms.iter().zip(cached) {
            let doc_freq = match cached {
                Some(doc_freq) => doc_freq,
                None => lookup.count_matches(&match_expression(std::slice::from_ref(term), ""))?,
            };
            counted.extend(cached.is_none().then(|| (term.clone(), doc_freq)));
            doc_freqs.push(doc_freq);
        }
        // A write lock stops all searches, so it is taken only if there is something to write.
        if !counted.is_empty() {
            let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
            index.cache_doc_freqs(counted);
        }
        Ok(doc_freqs)
    }
}

/// Counts document frequencies from the matches of all terms.
fn count_doc_freqs(matches: &TermMatches, n_terms: usize) -> Vec<u64> {
    let mut doc_freqs = vec![0; n_terms];
    for (_, counts) in matches.iter() {
        for (doc_freq, counts) in doc_freqs.iter_mut().zip(counts) {
            *doc_freq += u64::from(*counts != [0; 3]);
        }
    }
    doc_freqs
}
