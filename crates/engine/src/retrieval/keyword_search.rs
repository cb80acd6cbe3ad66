//! The keyword retrieval path: BM25 over the memories of one notebook.
//!
//! The full-text index of the store finds the memories that hold a term and counts how often; the
//! crate `recall` turns the counts into scores. `candidate_retrieval` starts one [`KeywordSearch`]
//! per notebook on the store's thread. A memory is identified by its *number*, that of its row in the
//! notebook's database. The *document frequency* of a term is the number of memories that hold it;
//! BM25 gives a rare term a higher weight.

use std::sync::{Arc, PoisonError};

use recall::{Bm25, KeywordMatch, SlotSet};
use store::{TermLookup, TermMatches};

use super::shared_index::{SharedIndex, read_index};
use crate::lookup::any_term_expression;

/// Most matches that are scored. In a larger notebook only the rarest terms are looked up, as long as
/// they have this many matches together. A memory with all terms holds the rarest ones too, so the
/// best matches are not lost.
const MAX_SCORED_MATCHES: u64 = 1_000;

/// A keyword search with everything it needs, so that it runs in one visit to the store's thread.
pub(super) struct KeywordSearch {
    pub(super) terms: Vec<String>,
    pub(super) index: SharedIndex,
    pub(super) allowed: Arc<SlotSet>,
    /// True if forgotten memories are searched as well. The full-text index does not hold them.
    pub(super) includes_forgotten: bool,
}

impl KeywordSearch {
    /// Returns the allowed memories that hold any of the searched terms, scored, in no order.
    pub(super) fn run(&self, lookup: &TermLookup<'_>) -> Result<Vec<KeywordMatch>, store::Error> {
        let mut scored = self.search_index(lookup)?;
        if self.includes_forgotten {
            scored.extend(self.search_forgotten(lookup)?);
        }
        Ok(scored)
    }

    /// Scores the forgotten memories that hold a term. They are few (maintenance removes them after
    /// their time for undo), so their texts are read one by one.
    fn search_forgotten(&self, lookup: &TermLookup<'_>) -> Result<Vec<KeywordMatch>, store::Error> {
        let mut counted = Vec::new();
        for (number, columns) in lookup.forgotten_texts()? {
            let columns = columns.map(|it| it.to_lowercase());
            let counts: Vec<_> =
                self.terms.iter().map(|it| count_in_columns(it, &columns)).collect();
            if let Ok(number) = u32::try_from(number)
                && self.allowed.contains(number)
                && counts.iter().flatten().any(|it| *it > 0)
            {
                let n_words = columns.iter().map(|it| it.split_whitespace().count()).sum::<usize>();
                counted.push((number, u32::try_from(n_words).unwrap_or(u32::MAX), counts));
            }
        }
        if counted.is_empty() {
            return Ok(Vec::new());
        }
        let doc_freqs = self.doc_freqs(lookup)?;
        let index = read_index(&self.index);
        // As if the forgotten memories were still in the index.
        let n_texts = index.n_texts() + counted.len() as u64;
        let n_words = index.n_words() + counted.iter().map(|it| u64::from(it.1)).sum::<u64>();
        let with_forgotten = |(term, in_index): (usize, &u64)| {
            let holds = |counts: &[[u8; 3]]| counts[term].iter().any(|it| *it > 0);
            in_index + counted.iter().filter(|it| holds(&it.2)).count() as u64
        };
        let doc_freqs: Vec<u64> = doc_freqs.iter().enumerate().map(with_forgotten).collect();
        let bm25 = Bm25::new(&doc_freqs, n_texts, n_words);
        let score = |(number, length, counts): &(u32, u32, Vec<[u8; 3]>)| {
            bm25.score_memory(*number, *length, counts.iter().enumerate())
        };
        Ok(counted.iter().map(score).collect())
    }

    /// The matches in the full-text index, scored, in no order.
    fn search_index(&self, lookup: &TermLookup<'_>) -> Result<Vec<KeywordMatch>, store::Error> {
        let all_terms: Vec<usize> = (0..self.terms.len()).collect();
        // In a small notebook one query finds every match, and the document frequencies follow from
        // the matches.
        if read_index(&self.index).n_texts() <= MAX_SCORED_MATCHES {
            let matches = lookup.find_matches(&self.match_any(&all_terms))?;
            let doc_freqs = count_doc_freqs(&matches, all_terms.len());
            return Ok(self.score_matches(&matches, &all_terms, &doc_freqs));
        }
        // In a large notebook the frequencies come first: they decide which terms are looked up.
        let doc_freqs = self.doc_freqs(lookup)?;
        let rarest = recall::rarest_terms(&doc_freqs, MAX_SCORED_MATCHES);
        let matches = lookup.find_matches(&self.match_any(&rarest))?;
        Ok(self.score_matches(&matches, &rarest, &doc_freqs))
    }

    /// The full-text expression that matches any of the terms at these positions.
    fn match_any(&self, terms: &[usize]) -> String {
        let terms: Vec<String> = terms.iter().map(|it| self.terms[*it].clone()).collect();
        any_term_expression(&terms)
    }

    /// Scores matches by BM25. `searched` are the positions of the terms that were looked up;
    /// `doc_freqs` covers all terms.
    fn score_matches(
        &self,
        matches: &TermMatches,
        searched: &[usize],
        doc_freqs: &[u64],
    ) -> Vec<KeywordMatch> {
        let index = read_index(&self.index);
        let bm25 = Bm25::new(doc_freqs, index.n_texts(), index.n_words());
        let mut scored = Vec::new();
        // `counts` are the occurrences of each searched term, in the three text columns of the store.
        for (number, counts) in matches.iter() {
            let Ok(number) = u32::try_from(number) else { continue };
            // Filtered here and not in the query: the allowed set is not known to the store.
            if self.allowed.contains(number) {
                let counts = searched.iter().copied().zip(counts);
                scored.push(bm25.score_memory(number, index.words_of(number), counts));
            }
        }
        scored
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
            let doc_freq = if let Some(doc_freq) = cached {
                doc_freq
            } else {
                let expression = any_term_expression(std::slice::from_ref(term));
                let doc_freq = lookup.count_matches(&expression)?;
                counted.push((term.clone(), doc_freq));
                doc_freq
            };
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

/// Occurrences of a term in the columns of a text in lower case. A term may be a part of an identifier,
/// as in [`shared_terms`](crate::lookup::shared_terms).
fn count_in_columns(term: &str, columns: &[String; 3]) -> [u8; 3] {
    let count = |text: &String| u8::try_from(text.matches(term).count()).unwrap_or(u8::MAX);
    [count(&columns[0]), count(&columns[1]), count(&columns[2])]
}

/// Counts document frequencies from the matches of all terms.
fn count_doc_freqs(matches: &TermMatches, n_terms: usize) -> Vec<u64> {
    let mut doc_freqs = vec![0; n_terms];
    for (_, counts) in matches.iter() {
        // The occurrences of one term are counted per text column.
        for (doc_freq, per_column) in doc_freqs.iter_mut().zip(counts) {
            *doc_freq += u64::from(per_column.iter().any(|it| *it > 0));
        }
    }
    doc_freqs
}
