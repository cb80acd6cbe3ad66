//! BM25 (Robertson and Zaragoza 2009) with constants for short texts: the keyword path of retrieval.
//!
//! The store's full-text index gives the counts; this file turns them into scores. Each query term adds
//!
//! ```text
//! idf × tf × (k1 + 1) / (tf + k1 × (1 − b + b × length / average length))
//! ```
//!
//! to the score of a memory, where `tf` is how often the memory contains the term, and `idf` (inverse
//! document frequency) is high for a term that few memories contain. The usual constants (k1 1.2,
//! b 0.75) suit articles. Memories are a sentence or two: a repeated word adds little, and length is no
//! defect. Beside the score, a match carries the sum of the idf of its terms (its matched idf), which
//! separates queries that hit their subject from queries that hit a common word.

use model::words;

/// Term frequency saturation: the smaller, the less a repeated term adds.
const BM25_K1: f64 = 0.8;
/// Length normalisation: 0 ignores the length of a memory, 1 takes it fully into account.
const BM25_B: f64 = 0.5;
/// Weight of an occurrence by column: content, tags, files.
const COLUMN_WEIGHTS: [f64; 3] = [1.0, 0.6, 0.8];

/// Occurrences of a term in a memory by column, see [`COLUMN_WEIGHTS`].
type ColumnCounts = [u8; 3];

/// Constants of one query: idf of each term and the average length.
#[derive(Clone, Debug, PartialEq)]
pub struct Bm25 {
    /// Inverse document frequency by term.
    idf: Vec<f64>,
    /// Average length of a memory in words.
    average_length: f64,
}

/// A memory that contains some of the terms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeywordMatch {
    /// The caller's number for the memory.
    pub number: u32,
    /// Higher is better.
    pub score: f64,
    /// Sum of the idf of the terms it contains.
    pub matched_idf: f64,
    /// That sum divided by the idf of all query terms.
    pub matched_idf_ratio: f64,
}

impl Bm25 {
    /// `document_frequencies` counts the memories that contain each term, of `n_memories` with
    /// `n_words` words in total.
    pub fn new(document_frequencies: &[u64], n_memories: u64, n_words: u64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let average = n_words as f64 / n_memories.max(1) as f64;
        let idf = document_frequencies
            .iter()
            .map(|it| words::inverse_document_frequency(n_memories, *it))
            .collect();
        Self { idf, average_length: average.max(1.0) }
    }

    /// Scores a memory of `length` words; `counts` gives the index of each term with its occurrences
    /// by column.
    pub fn score_memory<'a>(
        &self,
        number: u32,
        length: u32,
        counts: impl Iterator<Item = (usize, &'a ColumnCounts)>,
    ) -> KeywordMatch {
        let norm = BM25_K1 * (1.0 - BM25_B + BM25_B * f64::from(length) / self.average_length);
        let (mut score, mut matched_idf) = (0.0, 0.0);
        for (term, counts) in counts {
            // A term that the memory does not contain.
            if *counts == [0; 3] {
                continue;
            }
            // The term frequency of BM25, with columns of different weight as in BM25F.
            let mut frequency = 0.0;
            for (n, weight) in counts.iter().zip(COLUMN_WEIGHTS) {
                frequency += f64::from(*n) * weight;
            }
            score += self.idf[term] * frequency * (BM25_K1 + 1.0) / (frequency + norm);
            matched_idf += self.idf[term];
        }
        // Never zero, so that a query without terms gives a ratio of zero.
        let total_idf = self.idf.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        KeywordMatch { number, score, matched_idf, matched_idf_ratio: matched_idf / total_idf }
    }
}

/// Indexes of the rarest terms whose document frequencies sum to at most `limit`, at least one term.
/// Every memory that contains a chosen term is scored, and common terms cost most and add least.
pub fn rarest_terms(document_frequencies: &[u64], limit: u64) -> Vec<usize> {
    let mut rarest_first: Vec<usize> = (0..document_frequencies.len()).collect();
    rarest_first.sort_by_key(|term| document_frequencies[*term]);

    let mut res = Vec::new();
    // Memories to score so far; one that contains several terms is counted several times.
    let mut n_scored = 0;
    for term in rarest_first {
        n_scored += document_frequencies[term];
        if n_scored > limit && !res.is_empty() {
            break;
        }
        res.push(term);
    }
    // Back to the order of the query.
    res.sort_unstable();
    res
}

/// The best `limit` matches, best first, followed by the other matches listed in `also` (sorted).
pub fn best_matches(
    mut matches: Vec<KeywordMatch>,
    limit: usize,
    also: &[u32],
) -> Vec<KeywordMatch> {
    let best_first = |a: &KeywordMatch, b: &KeywordMatch| {
        b.score.total_cmp(&a.score).then(a.number.cmp(&b.number))
    };
    if limit < matches.len() {
        // Partition before sorting: a common word may match many thousands of memories.
        matches.select_nth_unstable_by(limit, best_first);
        let mut rest = matches.split_off(limit);
        rest.retain(|it| also.binary_search(&it.number).is_ok());
        matches.append(&mut rest);
    }
    // Every match of the rest is worse than the best `limit`, so one sort keeps them behind.
    matches.sort_unstable_by(best_first);
    matches
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three memories of five words on average; the first term is in two of them, the second in one.
    fn query_of_two_terms() -> Bm25 {
        Bm25::new(&[2, 1], 3, 15)
    }

    /// Scores a memory against that query; `counts` has one row per term.
    fn score(number: u32, length: u32, counts: &[ColumnCounts]) -> KeywordMatch {
        query_of_two_terms().score_memory(number, length, counts.iter().enumerate())
    }

    #[test]
    fn the_score_is_bm25_with_our_constants() {
        // The formula written out: k1 + 1 is 1.8, and six words are 6/5 of the average.
        let idf = |frequency: f64| ((3.0 - frequency + 0.5) / (frequency + 0.5)).ln_1p();
        let saturation = |n: f64| n * 1.8 / (n + 0.8 * (0.5 + 0.5 * 6.0 / 5.0));
        let expected = idf(2.0) * saturation(2.0) + idf(1.0) * saturation(1.0);
        let both_terms = score(7, 6, &[[2, 0, 0], [1, 0, 0]]);
        assert!((both_terms.score - expected).abs() < 1e-9, "{both_terms:?} {expected}");
        assert!((both_terms.matched_idf_ratio - 1.0).abs() < 1e-9);

        let one_term = score(8, 6, &[[1, 0, 0], [0, 0, 0]]);
        assert!((one_term.matched_idf - idf(2.0)).abs() < 1e-9);
        assert!(one_term.matched_idf_ratio < 1.0);
    }

    #[test]
    fn a_word_in_the_text_counts_more_than_in_a_file_name_and_that_more_than_in_a_tag() {
        let score_of = |counts: ColumnCounts| score(1, 5, &[counts, [0; 3]]).score;
        let (content, tag, file) = ([1, 0, 0], [0, 1, 0], [0, 0, 1]);
        assert!(score_of(content) > score_of(file) && score_of(file) > score_of(tag));
    }

    #[test]
    fn common_terms_are_left_out_if_they_match_too_many_memories() {
        assert_eq!(rarest_terms(&[900, 3, 40, 0], 1_000), [0, 1, 2, 3]);
        assert_eq!(rarest_terms(&[5_000, 3, 40], 1_000), [1, 2]);
        assert_eq!(rarest_terms(&[5_000, 7_000], 1_000), [0], "one term at least");
    }

    #[test]
    fn memories_asked_for_by_number_follow_the_best_matches() {
        let counts = [[9, 0, 0], [3, 0, 0], [2, 0, 0], [1, 0, 0]];
        let all: Vec<KeywordMatch> =
            (1..).zip(counts).map(|(number, it)| score(number, 5, &[it, [0; 3]])).collect();
        let numbers = |limit, also: &[u32]| {
            best_matches(all.clone(), limit, also).iter().map(|it| it.number).collect::<Vec<_>>()
        };
        assert_eq!(numbers(2, &[]), [1, 2]);
        assert_eq!(numbers(2, &[4]), [1, 2, 4]);
        assert_eq!(numbers(9, &[]), [1, 2, 3, 4]);
    }
}
